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

// A claim is the right to commit under a name. It is used by one goroutine at a time.
type claim struct {
	Name    string
	Epoch   uint64 // rises with every takeover
	N       uint64 // rises with every Commit
	TTL     time.Duration
	Expires time.Time // by the Catalog's clock
	// records is how many the source has if nobody but the holder adds any, tombstones
	// included; -1: somebody did, or may have.
	records int64
}

// A Record is what a Catalog holds of one id: its latest state, or its tombstone (Kind is
// Deleted). The tombstone of an id that was never live has no number: Seq and Born are 0.
type Record struct {
	websync.Item
	// Stated is what the source stated last. Its times differ from those of the Item if
	// the source has stated the same again with other times, or if a Getter found another
	// Modified.
	Stated Stated
	// Validators are those of the representations, one for each URL.
	Validators []Validator
	// Early is set if the bodies were obtained before the period of the stated time was
	// over, such as the day of a date. The engine asks for them once more.
	Early bool
}

// A brief is the part of a Record that shows whether an event states something new.
type brief struct {
	ID        string
	Seq, Born websync.Seq
	Kind      websync.ChangeKind
	Stated    Stated
	Early     bool

	contentMarks
}

// contentMarks are what a Catalog keeps of the content of a record. HasContent is set if
// there is a Body with the name websync.ContentName, and KeepsContent if it has a Key.
type contentMarks struct{ HasContent, KeepsContent bool }

// Live reports whether b is of a record that is not a tombstone.
func (b *brief) Live() bool { return b.ID != "" && b.Kind != websync.Deleted }

// brief returns the part of r that shows whether an event states something new.
func (r *Record) brief() brief {
	content, ok := r.Body(websync.ContentName)
	return brief{ID: r.Resource.ID, Seq: r.Seq, Born: r.Born, Kind: r.Kind, Stated: r.Stated, Early: r.Early,
		contentMarks: contentMarks{HasContent: ok, KeepsContent: !content.Key.IsZero()}}
}

// Stated is what the engine compares with a source's next description of a resource.
type Stated struct {
	// Hash is a fingerprint of the description without times; 0 if there is none. In a
	// tombstone it is 1 if a snapshot did not list the resource, otherwise 0.
	Hash uint64
	// At and Modified are the times of the event and of the resource. In a tombstone
	// without a time, Modified is the last time that was stated before.
	At, Modified websync.Datetime
}

// time returns the time of the change as far as it is stated.
func (s *Stated) time() websync.Datetime { return cmp.Or(s.At, s.Modified) }

// Known reports whether r is a record, live or deleted, rather than the zero Record.
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

// A batch is what one commit applies.
type batch struct {
	ID     [16]byte // random, see newBatch
	Source string   // of everything in the batch

	Checkpoint *Checkpoint // if nil, the stored one stays
	Puts       []change    // each gets a number and an entry of the log, in this order
	// each changes what a record holds beside its Item, and gets no entry of the log
	Touches []change
	// Tasks without an N replace the task of their id. A Task with an N replaces the task
	// with this N only, and is dropped if there is none.
	Tasks  []Task
	Done   []taskRef // applied before Tasks
	Listed []listedIn
	// moved are, after a commit, the records whose document has changed, and Document is
	// the one that they had.
	moved  []listedIn
	Bodies []pendingBody
	State  map[string][]byte // set unconditionally; nil values delete

	taken, waiting amounts // see quota.count
}

// newBatch returns an empty batch with a random ID.
func newBatch(source string) *batch {
	b := &batch{Source: source}
	rand.Read(b.ID[:])
	return b
}

// A change is a new state of one record. A batch holds at most one of each id, in Puts or
// in Touches.
//
// Publishers rely on it that a Catalog changes only with its log. A Touch of a live
// record, or of a tombstone with a number, therefore repeats the Item. This is not
// checked.
//
// In a Put, commit sets Seq, Born, Prior, Time and Source; an id that has a Born keeps
// it, and Prior is the Base. In a Touch it keeps all of these, and Kind. A Touch of an
// unknown id leaves a tombstone without a number, and its Kind must be Deleted. A Touch
// of a tombstone without a number replaces it. Bodies whose Key is set must be in
// batch.Bodies or in the Catalog; otherwise commit returns errNoBody.
type change struct {
	// Base is the Seq of the record when the change was planned, 0 if there was none. If
	// the record has another Seq when the batch is applied, the change is a conflict.
	Base websync.Seq
	// New is set if it is certain that the id had no record when the source had those of
	// which the claim knows: commit need not look for one.
	New bool
	// Task is the N of the task that the change carries out. If the id has no task with
	// this N when the batch is applied, before its Done, the change is a conflict: a
	// Source has yielded something since. If zero, the change carries out no task.
	Task   uint64
	Record Record
	// Document is that of the snapshot that lists the record; 0 leaves it as it is.
	Document documentNumber
}

// A TaskKind is the kind of work that a Task stands for.
type TaskKind uint8

const (
	TaskGet      TaskKind = iota // fetch the bodies of the resource
	TaskWithheld                 // delete the resource, which the delete guard withheld
)

// A Task is work that is left to do for a source, at most one for each id.
type Task struct {
	Source   string
	Kind     TaskKind
	Resource websync.Resource
	At       websync.Datetime // of the event
	Tag      string           // of the event
	Hint     []byte           // of the event, or of a later one that means the same
	// Base is the Seq of the record that the event was compared with. If the record has
	// another one, it has changed since.
	Base     websync.Seq
	Run      [16]byte  // the run that listed it
	Attempts int       // so far
	Due      time.Time // not to be carried out before, in whole microseconds UTC
	Parked   bool      // given up until an event states something else
	// Gone is set if the last attempt returned websync.ErrGone. If Parked, so did the one
	// before, and the resource counts as gone.
	Gone  bool
	Error string // of the last attempt, or why a deletion is withheld
	// Since is when the source stated a change and the server sent the bytes from before
	// it. The record has these, and the task asks again; a run is in step with it. In all
	// other tasks it is zero.
	Since time.Time
	// N is another number each time the task is replaced.
	N uint64
	// Document is the number of the document of a snapshot that lists the resource, 0 if
	// none does. Numbers have a meaning for the engine only.
	Document uint32
}

// A documentNumber is that of a document of a source's snapshots; 0 is that of none.
type documentNumber = uint32

// A listedIn states that a live record is listed by a document of a snapshot.
type listedIn struct {
	ID       string
	Born     websync.Seq
	Document documentNumber
}

// A taskRef names a task that is done. It is ignored if the id has no task, or one with
// another N.
type taskRef struct {
	ID string
	N  uint64 // if zero, any
}

// A pendingBody takes the bytes of one body. Finish and Discard may not run at the same
// time as Write.
type pendingBody interface {
	io.Writer
	// Finish ends writing and returns the content address, a sha-256 digest, and the
	// size. It may be called again.
	Finish() (key websync.Digest, size int64, err error)
	// Discard releases the bytes unless a commit has taken them. It may be called at any
	// time, and again.
	Discard() error
}

// A HeldError reports that another holder's claim stands. It matches ErrHeld.
type HeldError struct {
	Name string // of the claim
	// Expires is when the claim ends, by the Catalog's clock, if its holder has died. A
	// living holder renews it before.
	Expires time.Time
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%v: if that has died, its claim expires at %s", ErrHeld, e.Expires.UTC().Format(time.RFC3339))
}

func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Errors of a Catalog.
var (
	// ErrHeld: another holder's claim stands. A HeldError states when it ends.
	ErrHeld = errors.New("claimed by another holder")
	// ErrFenced: the claim is not the newest; its holder must stop.
	ErrFenced = errors.New("claim lost to another holder")
	// errNoBody: a batch names a body that is neither in it nor in the Catalog.
	errNoBody = errors.New("no such body in the store")
	// errBatch: the batch is invalid in itself: it has an id twice, or an id that is
	// empty or too long.
	errBatch = errors.New("not a valid batch")
	// ErrNewer: a newer version of this module wrote the Store.
	ErrNewer = errors.New("written by a newer version")
	// ErrUnfinished: an Import into the Store was not complete, or a newer version has
	// not brought it up to date yet and this process can't.
	ErrUnfinished = errors.New("the Store is unfinished")
	// ErrCorrupt: the Store returned other bytes than it was given.
	ErrCorrupt = errors.New("stored data is damaged")
)
