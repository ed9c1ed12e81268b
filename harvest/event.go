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
	// Put: the resource exists, in the state that the event describes.
	Put EventKind = iota
	// Delete: the resource with this id is gone.
	Delete
	// SnapshotStart begins a listing of all resources. Its At is the moment the listing
	// describes.
	SnapshotStart
	// SnapshotEnd ends the listing.
	SnapshotEnd
	// Mark makes the engine finish all earlier events before yield returns. The Source
	// may then release what they needed.
	Mark
	// Problem: a document could not be read or may have been missed. Err names it and the
	// reason.
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

	// At is the time of the change, as the publisher states it. If it is not stated,
	// Resource.Modified is used instead. In a SnapshotStart it is the moment that the
	// snapshot describes: the snapshot does not delete a record that changed at that
	// moment or later, and overwrites it only with an entry that states a later time. An
	// At that is earlier than the snapshot's own entries, or that stays the same while
	// the listing changes, is a finding and is not used: a record that a listing omitted
	// comes back when the listing has it again, although its At is the same. Times are
	// compared as periods, such as a whole day: a Source whose times are instants states
	// them to the nanosecond.
	At websync.Datetime

	// Followed, in a SnapshotStart: a log of all changes since At follows the snapshot,
	// in this run and in later ones. Then the snapshot deletes nothing that has changed
	// at At or later, although At stays the same while the listing changes.
	Followed bool

	// Resource describes the resource. A Put needs at least its ID. A Delete uses only
	// its ID and Modified.
	Resource websync.Resource

	// Apart, in a Put of a snapshot: the time of the entry is not compared with the At of
	// the SnapshotStart. It comes from another document than the listing, one that
	// changes at other times, such as a TimeMap, or from a listing whose times were
	// corrected.
	Apart bool

	// Listed, in a Put of a snapshot of two lists (see Source), is the time that the
	// listing itself states. The Modified of the Resource is that or, if it is later, the
	// time that the log states. If zero, only the log has the resource.
	Listed websync.Datetime

	// Current, in a Put: the source shows this state now, and the time of the event does
	// not order it. It is a time of publication, or that of an entry in a feed that shows
	// its latest entries only. A live record with another state is older, whatever its
	// time; what was read last counts. A deletion with a later time counts nevertheless.
	// A Source yields one such state of an id in a pass. Of Resource.Modified it matters
	// only whether it is the same: then an equal description means equal bytes.
	Current bool

	// Tag, in a Put, distinguishes states of the resource that have the same description:
	// a version, a file's size and inode. The engine compares it with the Tag of the last
	// state, and uses it for nothing else.
	Tag string

	// Recheck, in a Put of a log, says that the change is a new one, although its time
	// and description may be those of the one before. If nothing in it identifies the
	// bytes, neither a digest nor a Tag, they are asked for, conditionally. In a Put of a
	// snapshot it makes the engine read and compare bytes that come with the event, if
	// there is neither a Modified nor anything that identifies them.
	Recheck bool

	// Hint, in a Put, gives the Getter information besides the description: a patch,
	// mirrors, the position in a package. It reaches Job.Hint, through the Task if the
	// get is deferred, also in a later run. It has at most 64 KiB; an event with a longer
	// one is a Problem. It is no part of the state: another Hint does not make the state
	// new. It may be lost, so a Get must work without it. The Hint of a later event of
	// the same id replaces it, even if it is empty.
	Hint []byte

	// Open returns the bytes of Resource.Content that came with the event: a dump's
	// member, inline content. It may be called until the yield of the next Mark returns.
	// If nil, the bytes are fetched from Resource.Content.Href; if that is empty, too,
	// and the Source is no Getter, the resource is kept without a body. A Getter calls
	// Job.Came or Job.Content.
	Open func() (io.ReadCloser, error)

	// Resume, if set, covers this and all earlier events: a later run that starts from
	// this Checkpoint misses none of them. It is not allowed between SnapshotStart and
	// SnapshotEnd, nor after a Problem.
	Resume Checkpoint

	// Complete, in a SnapshotEnd: what was not listed since SnapshotStart is gone.
	Complete bool

	// Whole, in a SnapshotEnd that is not Complete: every document of the set was read in
	// full in this pass. What was not listed may exist nevertheless, so no record is
	// deleted; but a task of an earlier run ends if its id was not listed and has no live
	// record: there is nothing to get.
	Whole bool

	// Skipped, in a SnapshotEnd or a Mark, counts the entries that could not be read, or
	// that damage may hide, since the last event with a count. If it is not zero,
	// deletions are withheld and the run is not in step.
	Skipped int

	// Options, in a SnapshotEnd, is a fingerprint of the Source's options that decide
	// what it yields. If it differs from that of the last complete snapshot, deletions
	// are withheld: the publisher may not have removed those records.
	Options string

	// Err, in a Problem, names the document and what was wrong with it.
	Err error
}

// time returns the time of the change as far as it is stated.
func (e *Event) time() websync.Datetime { return cmp.Or(e.At, e.Resource.Modified) }

// isCurrent reports whether an event is a put with Current.
func (e *Event) isCurrent() bool { return e.Kind == Put && e.Current }

// A Checkpoint is the position of a Source, in a format that only the Source reads. The
// zero value means from the beginning. A Source that gets a Checkpoint it can't read, for
// instance of another Version, makes a full pass.
type Checkpoint struct {
	Version int    `json:"version"` // of the format of Data; 1 or more
	Data    []byte `json:"data"`    // stored unchanged
}

// IsZero reports whether c means from the beginning.
func (c Checkpoint) IsZero() bool { return c.Version == 0 && len(c.Data) == 0 }
