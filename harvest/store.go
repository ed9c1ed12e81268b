package harvest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/websync-go/websync"
)

// A Store keeps, for each source, the current record of every id and the work still to
// do, and over all sources an append-only log of changes. Package storetest checks an
// implementation against this contract. All methods may be called from several
// goroutines.
//
// Every Store is a [websync.Catalog]: Get, Resources, Changes and Open read what Commit
// wrote, and no iterator holds a lock, transaction, connection or cursor across a yield,
// so any method may be called inside the loop. Resources, Records and Tasks yield at
// least what exists from their beginning to their end. Every iterator ends, even when its
// loop commits in each step: Changes and Resources end at the [websync.Head] of when they
// began, Records yields no record whose Born was assigned since, and Tasks no task of an
// id that had none then. Records may yield tombstones without a number that are newer.
//
// Arguments and results are copied: a caller may change them afterwards without an effect
// on the Store. Times that a Store returns are UTC in whole microseconds; a finer
// Task.Due is truncated.
//
// The numbers of the log are dense, 1, 2, 3 … within a generation, in the order in which
// readers see them. Commit times are whole microseconds UTC and strictly increasing over
// the log, whatever the clock does: max(clock, last + 1 µs). Born numbers are dense too,
// and stay with their id. An id is any string of bytes up to [MaxID].
type Store interface {
	websync.Catalog
	websync.State

	// Claim makes the caller the holder of name for ttl. A process that lists a source
	// claims "source/" and its key; each worker that carries out its tasks claims
	// "work/", a number, "/" and the key. Claim returns ErrHeld while the claim of
	// another holder is valid. It takes over an expired claim, or one whose holder is
	// known to be dead, with a higher Epoch. It also takes over a claim that has more
	// than twice its ttl left: such a claim was made while the clock was ahead, and must
	// not hold the name until the clock gets there again.
	//
	// Every method that takes a Claim returns ErrFenced if it is nil.
	Claim(ctx context.Context, name string, ttl time.Duration) (*Claim, error)
	// Renew extends the claim to its ttl from now. It returns ErrFenced if another holder
	// has the name.
	Renew(ctx context.Context, c *Claim) error
	// Release gives the claim up; the next holder need not wait. It is no error if the
	// claim is already lost.
	Release(ctx context.Context, c *Claim) error

	// Commit applies the batch, all or nothing, durably. It returns ErrFenced if (Epoch,
	// N) of the claim is not the newest. If the Base or the Task of any Put or Touch does
	// not match what the Store holds, Commit applies nothing and returns the ids of all
	// such changes as conflicts, without an error. On success it increases c.N. It
	// succeeds without applying a Batch whose ID is that of the last one applied under
	// this name.
	Commit(ctx context.Context, c *Claim, b *Batch) (conflicts []string, err error)

	// Checkpoint returns the source's checkpoint, zero if there is none.
	Checkpoint(ctx context.Context, source string) (Checkpoint, error)
	// Lookup returns the records of ids, in their order; the zero Record for an unknown
	// one.
	Lookup(ctx context.Context, source string, ids []string) ([]Record, error)
	// Records yields the source's records, tombstones included, whose id is greater than
	// after, in byte order of the id.
	Records(ctx context.Context, source, after string) iter.Seq2[Record, error]
	// Briefs yields what Records does, of each record its Brief only, which costs less.
	Briefs(ctx context.Context, source, after string) iter.Seq2[Brief, error]
	// Fingerprints returns the Fingerprints of the source's live records. It costs a
	// small part of what Briefs does.
	Fingerprints(ctx context.Context, source string) (*Fingerprints, error)

	// Due returns at most n tasks of the source that are due: of kind TaskGet, not
	// parked, with a Due not after now. The earliest Due comes first.
	Due(ctx context.Context, source string, now time.Time, n int) ([]Task, error)
	// LookupTasks returns the tasks of ids, of every kind, in their order; the zero Task
	// for an id that has none.
	LookupTasks(ctx context.Context, source string, ids []string) ([]Task, error)
	// Tasks yields all tasks of the source, of every kind, whose id is greater than
	// after, in byte order of the id.
	Tasks(ctx context.Context, source, after string) iter.Seq2[Task, error]

	// NewBody returns a writer for one body. It may keep a small body in memory until its
	// Commit; a large one goes to a file first.
	NewBody(ctx context.Context) (BodyWriter, error)
}

// MaxID is the greatest length of an id in bytes that every Store must take.
const MaxID = 4096

// A Claim is the right to commit under a name. It is used by one goroutine at a time.
type Claim struct {
	Name    string
	Epoch   uint64 // rises with every takeover
	N       uint64 // rises with every Commit
	TTL     time.Duration
	Expires time.Time // by the Store's clock
}

// A Record is what a Store holds of one id: its latest state, or its tombstone (Kind is
// Deleted). The tombstone of an id that was never live has no number: Seq and Born are 0.
type Record struct {
	websync.Item

	// Stated is what the source stated last. Its times differ from those of the Item if
	// the source has stated the same again with other times, or if Get found another
	// Modified.
	Stated Stated
	// Validators are those of the representations, one for each URL.
	Validators []Validator
	// Early is set if the bodies were obtained before the period of the stated time was
	// over, such as the day of a date. They may have changed since at the same stated
	// time, so the engine asks for them once more.
	Early bool
}

// A Brief is the part of a Record that shows whether an event states something new.
type Brief struct {
	ID        string
	Seq, Born websync.Seq
	Kind      websync.ChangeKind
	Stated    Stated
	Early     bool

	// HasContent is set if there is a Body with the name ContentName, and KeepsContent if
	// it has a Key.
	HasContent, KeepsContent bool
}

// Live reports whether b is of a record that is not a tombstone.
func (b *Brief) Live() bool { return b.ID != "" && b.Kind != websync.Deleted }

// Brief returns the part of r that shows whether an event states something new.
func (r *Record) Brief() Brief {
	content, ok := r.Body(ContentName)
	return Brief{ID: r.Resource.ID, Seq: r.Seq, Born: r.Born, Kind: r.Kind, Stated: r.Stated, Early: r.Early,
		HasContent: ok, KeepsContent: !content.Key.IsZero()}
}

// Stated is the part of a source's description of a resource that the engine compares
// with the next description.
type Stated struct {
	// Hash is a fingerprint of the description, except times; 0 if there is none. In a
	// tombstone it is 1 if a snapshot did not list the resource, otherwise 0.
	Hash uint64
	// At and Modified are the times of the event and of the resource. In a tombstone
	// without a time, Modified is the last time that was stated before.
	At, Modified websync.Datetime
}

// time returns the time of the change as far as it is stated.
func (s *Stated) time() websync.Datetime { return cmp.Or(s.At, s.Modified) }

// Known reports whether r is the record of an id, live or deleted, rather than the zero
// Record.
func (r *Record) Known() bool { return r.Resource.ID != "" }

// Live reports whether r is a record that is not a tombstone.
func (r *Record) Live() bool { return r.Known() && r.Kind != websync.Deleted }

// Validator returns the latest Validator of the representation at url. A nil Record has
// none.
func (r *Record) Validator(url string) Validator {
	if r == nil {
		return Validator{}
	}
	for _, v := range r.Validators {
		if v.URL == url {
			return v
		}
	}
	return Validator{}
}

// A Batch is what one Commit applies.
type Batch struct {
	ID     [16]byte // random, see NewBatch
	Source string   // of everything in the batch

	Checkpoint *Checkpoint // if nil, the stored one stays
	Puts       []Change    // each gets a number and an entry of the log, in this order
	// each changes what a record holds beside its Item, and gets no entry of the log
	Touches []Change
	Tasks   []Task    // each replaces the task of its id
	Done    []TaskRef // applied before Tasks
	Bodies  []BodyWriter
	State   map[string][]byte // set unconditionally; nil values delete
}

// NewBatch returns an empty Batch with a random ID.
func NewBatch(source string) *Batch {
	b := &Batch{Source: source}
	rand.Read(b.ID[:])
	return b
}

// A Change is a new state of one record. A Batch holds at most one of each id, in Puts or
// in Touches.
//
// Publishers rely on it that a Catalog changes only with its log. A Touch of a live
// record, or of a tombstone with a number, therefore repeats the Item. Stores need not
// check this.
//
// In a Put the Store sets Seq, Born, Prior, Time and Source; an id that has a Born keeps
// it, and Prior is the Base. In a Touch it keeps all of these, and Kind. A Touch of an
// unknown id leaves a tombstone without a number, and its Kind must be Deleted. A Touch
// of a tombstone without a number replaces it. Bodies whose Key is set must be in
// Batch.Bodies or in the Store; otherwise Commit returns ErrNoBody.
type Change struct {
	// Base is the Seq of the record when the change was planned, 0 if there was none. If
	// the record has another Seq when the batch is applied, the change is a conflict.
	Base websync.Seq
	// Task is the N of the task that the change carries out. If the id has no task with
	// this N when the batch is applied, before its Done, the change is a conflict: a
	// Source has yielded something since. If zero, the change carries out no task.
	Task   uint64
	Record Record
}

// A TaskKind is the kind of work that a Task stands for.
type TaskKind uint8

const (
	// TaskGet: get the bodies of the resource and commit them.
	TaskGet TaskKind = iota
	// TaskWithheld: a deletion that the delete guard withheld. Approve carries it out, or
	// a later snapshot that the guard accepts.
	TaskWithheld
)

// A Task is work that a source still has to do: plain data, at most one for each id.
type Task struct {
	Source   string
	Kind     TaskKind
	Resource websync.Resource
	At       websync.Datetime // of the event
	Tag      string           // of the event
	Hint     []byte           // of the event, or of a later one that means the same
	// of TaskWithheld, the Seq of the record; if the record has another, it has changed
	// since
	Base     websync.Seq
	Run      [16]byte // the run that listed it
	Attempts int      // so far
	// the earliest time to do it; Stores return whole microseconds UTC
	Due    time.Time
	Parked bool // given up until an event states something else
	// the last attempt returned websync.ErrGone; if Parked, so did the one before, and
	// the resource counts as gone
	Gone  bool
	Error string // of the last attempt, or why a deletion is withheld

	// The Store sets N, to another number each time the task is replaced. In a Batch, a
	// Task without an N replaces any task of its id. A Task with an N replaces only the
	// task with this N, and is dropped if there is none.
	N uint64
}

// A TaskRef names a task that is done. It is ignored if the id has no task, or one with
// another N.
type TaskRef struct {
	ID string
	N  uint64 // if zero, any
}

// A BodyWriter takes the bytes of one body. Finish and Discard may not run at the same
// time as Write.
type BodyWriter interface {
	io.Writer
	// Finish ends writing and returns the content address, a sha-256 digest, and the
	// size. It may be called again.
	Finish() (key websync.Digest, size int64, err error)
	// Discard releases the bytes unless a Commit has taken them. It may be called at any
	// time, and again.
	Discard() error
}

// A Maintainer is a Store that can be tidied. It is optional.
type Maintainer interface {
	// Compact writes a new generation of the log beside the old one: the latest state of
	// every id, tombstones included, with their commit times, renumbered. All claims end
	// (their next Commit returns ErrFenced), and tasks refer to the new number of their
	// record. What it copies has the Prior 0. The old generation stays readable by
	// Changes until Drop.
	Compact(ctx context.Context) (generation uint64, err error)
	// Drop removes all generations before the given one.
	Drop(ctx context.Context, before uint64) error
	// Vacuum removes the bodies that no current record has named for at least grace. It
	// may run at the same time as commits.
	Vacuum(ctx context.Context, grace time.Duration) (removed int, err error)
}

// Errors of a Store.
var (
	// ErrHeld: another holder's claim stands.
	ErrHeld = errors.New("claimed by another holder")
	// ErrFenced: the claim is not the newest; its holder must stop.
	ErrFenced = errors.New("claim lost to another holder")
	// ErrNoBody: a Batch names a body that is neither in it nor in the Store.
	ErrNoBody = errors.New("no such body in the store")
	// ErrBatch: the Batch is invalid in itself: it has an id twice, or an id that is
	// empty or too long.
	ErrBatch = errors.New("not a valid batch")
	// ErrNewer: the Store was written by a newer version of this module.
	ErrNewer = errors.New("written by a newer version")
	// ErrCorrupt: the Store reads other bytes than it wrote.
	ErrCorrupt = errors.New("stored data is damaged")
)
