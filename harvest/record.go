package harvest

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/websync-go/websync"
)

// MaxID is the greatest length of an id in bytes.
const MaxID = 4096

// A Claim is the right to commit under a name. It is used by one goroutine at a time.
type Claim struct {
	Name    string
	Epoch   uint64 // rises with every takeover
	N       uint64 // rises with every Commit
	TTL     time.Duration
	Expires time.Time // by the Catalog's clock
}

// A Record is what a Catalog holds of one id: its latest state, or its tombstone (Kind is
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
// record, or of a tombstone with a number, therefore repeats the Item. This is not
// checked.
//
// In a Put, Commit sets Seq, Born, Prior, Time and Source; an id that has a Born keeps
// it, and Prior is the Base. In a Touch it keeps all of these, and Kind. A Touch of an
// unknown id leaves a tombstone without a number, and its Kind must be Deleted. A Touch
// of a tombstone without a number replaces it. Bodies whose Key is set must be in
// Batch.Bodies or in the Catalog; otherwise Commit returns ErrNoBody.
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
	// the earliest time to do it, in whole microseconds UTC; Commit truncates a finer one
	Due    time.Time
	Parked bool // given up until an event states something else
	// the last attempt returned websync.ErrGone; if Parked, so did the one before, and
	// the resource counts as gone
	Gone  bool
	Error string // of the last attempt, or why a deletion is withheld
	// Since, in a TaskGet, is when the source stated a change and the server still sent
	// the bytes of before; zero in all others. The record has these bytes, and a run is
	// in step with such a task, which asks for them again: the server may lag behind.
	Since time.Time

	// Commit sets N, to another number each time the task is replaced. In a Batch, a
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

// A HeldError is the error of a Claim while that of another holder stands. It matches
// ErrHeld.
type HeldError struct {
	Name string // of the claim
	// Expires is when the claim ends if its holder has died, by the Catalog's clock. A
	// holder that is alive renews it before.
	Expires time.Time
}

// Error returns a text with the time.
func (e *HeldError) Error() string {
	return fmt.Sprintf("%v: if that has died, its claim expires at %s", ErrHeld, e.Expires.UTC().Format(time.RFC3339))
}

// Is reports whether target is ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Errors of a Catalog.
var (
	// ErrHeld: another holder's claim stands. A HeldError says until when.
	ErrHeld = errors.New("claimed by another holder")
	// ErrFenced: the claim is not the newest; its holder must stop.
	ErrFenced = errors.New("claim lost to another holder")
	// ErrNoBody: a Batch names a body that is neither in it nor in the Catalog.
	ErrNoBody = errors.New("no such body in the store")
	// ErrBatch: the Batch is invalid in itself: it has an id twice, or an id that is
	// empty or too long.
	ErrBatch = errors.New("not a valid batch")
	// ErrNewer: the Store was written by a newer version of this module.
	ErrNewer = errors.New("written by a newer version")
	// ErrCorrupt: the Store reads other bytes than it wrote.
	ErrCorrupt = errors.New("stored data is damaged")
)
