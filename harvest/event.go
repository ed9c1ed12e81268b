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
	Put           EventKind = iota // the resource exists, in the state that is described
	Delete                         // the resource with this id is gone
	SnapshotStart                  // a listing of all resources begins
	SnapshotEnd                    // the listing ends
	// Mark makes the engine finish all earlier events before yield returns. The Source
	// may then release what they needed.
	Mark
	Problem // a document could not be read, or may have been missed
	// Unchanged, in a snapshot without an At: the document with the URL Document, of which
	// Run.Known reports true, lists what it listed when it was read last.
	Unchanged
)

var eventKinds = [...]string{"put", "delete", "snapshot start", "snapshot end", "mark", "problem", "unchanged"}

// String returns the kind as lower-case words.
func (k EventKind) String() string {
	if int(k) < len(eventKinds) {
		return eventKinds[k]
	}
	return fmt.Sprintf("event kind %d", uint8(k))
}

// An Event is what a Source yields: a change, or a statement about its pass.
type Event struct {
	Kind EventKind
	// At is the time of the change as the publisher states it. If zero, Resource.Modified
	// is used. In a SnapshotStart it is the moment that the snapshot describes: the
	// snapshot does not delete a record that changed at that moment or later, and
	// overwrites it only with an entry that states a later time. If an entry of the
	// snapshot has a later time, that is the moment; if the listing changes and At does
	// not, the moment is when it was last read before the change. Both are findings.
	// Times are periods, such as a whole day: a Source states instants to the nanosecond.
	At websync.Datetime
	// Followed, in a SnapshotStart: a log of all changes since At follows, in this run
	// and in later ones. The snapshot deletes nothing that has changed at At or later,
	// even if At stays the same while the listing changes.
	Followed bool
	// Resource describes the resource. A Put needs its ID. A Delete uses only its ID and
	// Modified.
	Resource websync.Resource
	// Apart, in a Put of a snapshot: the time of the entry is not compared with the At of
	// the SnapshotStart. It is from a document that changes at other times, such as a
	// TimeMap, or from a listing whose times were corrected.
	Apart bool
	// Listed, in a Put of a snapshot of two lists (see Source), is the time that the
	// listing states. Resource.Modified is that or, if later, the time that the log
	// states. If zero, only the log has the resource.
	Listed websync.Datetime
	// Current, in a Put: the source has this state now, and the time of the event does
	// not order it, such as a time of publication, or that of an entry in a feed of the
	// latest entries only. The state read last counts, even if its time has moved back,
	// except that a deletion with a later time counts. A pass yields one such state of an
	// id. An equal description with an equal Resource.Modified means equal bytes.
	Current bool
	// Tag, in a Put, distinguishes states that have the same description, such as a
	// version, or a file's size and inode.
	Tag string
	// Document, in a Put of a snapshot, is the URL of the document that lists it, the same
	// in each run. It lets a later snapshot state the document as Unchanged.
	Document string
	// Recheck, in a Put of a log, states a new change, even if its time and description
	// are those of the last one. The bytes are asked for, conditionally, unless a digest
	// or a Tag identifies them. In a Put of a snapshot without Modified, digest and Tag,
	// it makes the engine read and compare the bytes that come with the event.
	Recheck bool
	// Unsure, in a Delete of a log: a listing that may be later has the resource. What the
	// Catalog has of it is asked for, and deleted only if the server has nothing there. A
	// run that gets no bodies keeps it.
	Unsure bool
	// Hint, in a Put, gives a Getter what is not part of the description: a patch,
	// mirrors, the position in a package. It reaches Job.Hint, perhaps in a later run. A
	// later event of the id replaces it, even by none. Another Hint makes no new state.
	// It may be lost: Get must work without it. An event with more than 64 KiB of it is a
	// Problem.
	Hint []byte
	// Open opens the bytes of Resource.Content that came with the event: a dump's member,
	// inline content. It may be called several times, until the yield of the next Mark
	// returns. If nil, the bytes are fetched from Resource.Content.Href; without that,
	// the resource has no body. A Getter calls Job.Came or Job.Content instead.
	Open func() (io.ReadCloser, error)
	// Resume, if set, covers this and all earlier events: a later run that starts from it
	// misses none of them. It is not allowed between SnapshotStart and SnapshotEnd, nor
	// after a Problem.
	Resume Checkpoint
	// Complete, in a SnapshotEnd: what was not listed since SnapshotStart is gone, within
	// the delete guard, and its tasks end.
	Complete bool
	// Whole, in a SnapshotEnd that is not Complete: every document of the set was read in
	// full in this pass, but what was not listed may exist. Nothing is deleted; a task of
	// an earlier run ends if its id was not listed and has no live record.
	Whole bool
	// Skipped, in a SnapshotEnd or a Mark, counts the entries that could not be read, or
	// that damage may hide, since the last such event. If it is not zero, deletions are
	// withheld and the run is not in step.
	Skipped int
	// Options, in a SnapshotEnd, is a fingerprint of the Source's options that decide
	// what it yields. If they have changed since the last complete snapshot, deletions
	// are withheld: the publisher may not have removed those records.
	Options string
	// Err, in a Problem, names the document and the reason.
	Err error
}

// time returns the time of the change as far as it is stated.
func (e *Event) time() websync.Datetime { return cmp.Or(e.At, e.Resource.Modified) }

// isCurrent reports whether an event is a put with Current.
func (e *Event) isCurrent() bool { return e.Kind == Put && e.Current }

// isConclusive reports whether an equal event means equal bytes.
func (e *Event) isConclusive() bool {
	return !e.Resource.Modified.IsZero() || e.Resource.Content.Href == "" && !e.Recheck || e.identifies()
}

// identifies reports whether an event has something that differs for other bytes,
// whatever its time: a digest or a Tag.
func (e *Event) identifies() bool {
	_, ok := e.Resource.Content.Digests.Strongest()
	return ok || e.Tag != ""
}

// hasContent reports whether an event links to bytes or brings them.
func (e *Event) hasContent() bool { return e.Resource.Content.Href != "" || e.Open != nil }

// A Checkpoint is the position of a Source, in a format of its own. The zero value means
// from the beginning. A Source makes a full pass from a Checkpoint that it can't read,
// such as one of another Version.
type Checkpoint struct {
	Version int    `json:"version"` // of the format of Data; 1 or more
	Data    []byte `json:"data"`    // stored unchanged
}

// IsZero reports whether c means from the beginning.
func (c Checkpoint) IsZero() bool { return c.Version == 0 && len(c.Data) == 0 }
