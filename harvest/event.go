package harvest

import (
	"cmp"
	"fmt"
	"io"

	"github.com/websync-go/websync"
)

// An EventKind is the kind of an Event.
type EventKind uint8

const (
	// Put: the resource is there, in the state that the event describes.
	Put EventKind = iota
	// Delete: the resource with this id is gone.
	Delete
	// SnapshotStart opens a listing of everything there is. Its At is the moment the
	// listing describes.
	SnapshotStart
	// SnapshotEnd closes it.
	SnapshotEnd
	// Mark is a point of rest: the engine finishes what came before it, and so may the
	// Source.
	Mark
	// Problem: a document could not be read or may have been missed. Err says which and
	// why.
	Problem
)

var eventKinds = [...]string{"put", "delete", "snapshot start", "snapshot end", "mark", "problem"}

// String returns the kind in lower-case words.
func (k EventKind) String() string {
	if int(k) < len(eventKinds) {
		return eventKinds[k]
	}
	return fmt.Sprintf("event kind %d", uint8(k))
}

// An Event is what a Source yields: a change, or a statement about its pass. Sources
// yield them oldest first.
type Event struct {
	Kind EventKind

	// At is the time of the change by the publisher's word. Not stated: Resource.Modified
	// stands for it. Of a SnapshotStart it is the moment that the snapshot describes: a
	// record whose change is not before it is not deleted by the snapshot, and is
	// overwritten only by an entry that states a later time. An At before the times of
	// the snapshot's own entries, or one that stays while the listing changes, is a
	// finding and is not used. Times are compared as the periods that they stand for: a
	// Source whose times are instants states them to the nanosecond.
	At websync.Datetime

	// Resource is what is known of the resource. Put needs at least its ID, Delete uses
	// nothing else but Modified.
	Resource websync.Resource

	// Tag, of a Put, distinguishes states of the resource that have the same description:
	// a version, a file's size and inode. It is compared with that of the last time, and
	// goes nowhere else.
	Tag string

	// Hint, of a Put, is what the Source wants its Getter to know about the resource
	// besides its description: a patch, mirrors, its position in a package. It reaches
	// Job.Hint, through the Task if the get is deferred, also in a later run. It has at
	// most 64 KiB; an event with a longer one is a Problem. It is no part of the state: a
	// Hint that differs makes nothing new, and one may be lost, so a Get works without
	// it. That of a later event of the same id, also an empty one, replaces it.
	Hint []byte

	// Open returns the bytes of Resource.Content that came along with the event: a dump's
	// member, inline content. It may be called until the yield of the next Mark returns.
	// Nil: they are fetched from Resource.Content.Href; if that is empty, too, and the
	// Source is no Getter, the resource is kept without a body. A Getter has them from
	// Job.Came or Job.Content.
	Open func() (io.ReadCloser, error)

	// Resume, if set, says that this and all earlier events are covered by it: a later
	// run that starts from this Checkpoint misses nothing. It is not allowed between
	// SnapshotStart and SnapshotEnd, nor after a Problem.
	Resume Checkpoint

	// Complete, of a SnapshotEnd: what was not listed since SnapshotStart is gone.
	Complete bool

	// Skipped, of a SnapshotEnd or a Mark: how many entries could not be read, or may be
	// hidden in what was read over, since the last event that counted them. More than
	// none withholds deletions, and the run is not in step.
	Skipped int

	// Options, of a SnapshotEnd, is a fingerprint of the Source's options that decide
	// what it yields. When it differs from that of the last complete snapshot, deletions
	// are withheld: the publisher did not take those records away.
	Options string

	// Err, of a Problem, names the document and what was wrong with it.
	Err error
}

// time returns the time of the change as far as it is stated.
func (e *Event) time() websync.Datetime { return cmp.Or(e.At, e.Resource.Modified) }

// A Checkpoint records how far a Source has got, in a form that only the Source reads.
// The zero value means from the beginning. A Source that gets a Checkpoint it can't read,
// for instance of another Version, makes a full pass.
type Checkpoint struct {
	Version int    `json:"version"` // of the format of Data; 1 or more
	Data    []byte `json:"data"`    // kept as it is
}

// IsZero reports whether c is the beginning.
func (c Checkpoint) IsZero() bool { return c.Version == 0 && len(c.Data) == 0 }
