package harvest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/websync-go/websync"
)

// The moment that a snapshot describes is the At of its SnapshotStart, or the latest time
// of its own entries if that is later. Some publishers state an At that never changes. If
// the listing changes and its At does not, the listing describes at least the moment at
// which it was last read before the change. Only its end shows that it has changed. So an
// entry that an earlier listing of the same moment lacked counts as later than that.

// A snapshot is a listing of everything there is, between its SnapshotStart and its
// SnapshotEnd.
type snapshot struct {
	last     websync.Seq // the last number of the log when it began: greater ones are new
	live     int64       // how many live records there were when it began
	followed bool        // a log of the changes since its At follows
	table    *seenTable
	sample   *sample // nil: none

	tasks map[string]bool // listed ids whose tasks stay as they are
	back  map[int64]bool  // times of records of which it states earlier ones, in nanoseconds since 1970

	latest  websync.Datetime // the latest time of its entries, if that is after its At
	members *members

	note   listingNote // of this listing
	before listingNote // of the last complete listing with the same At
	noted  bool        // note is to be stored
}

// A listingNote is what the Store keeps of the last complete snapshot with an At.
type listingNote struct {
	At   websync.Datetime `json:"at"`
	Sum  uint64           `json:"sum"`  // of the entries, in any order
	Read websync.Datetime `json:"read"` // when it was read
	// Since is when the listing was last read before it changed under the same At. If
	// zero, it never did.
	Since websync.Datetime `json:"since,omitzero"`
}

// startSnapshot fills the table of known and seen ids.
func (p *pipe) startSnapshot(ctx context.Context, s *slot) error {
	if p.snap != nil {
		return &sourceError{errors.New("the source began a snapshot inside a snapshot")}
	}
	began := time.Now()
	head, err := p.catalog.Head(ctx)
	if err != nil {
		return &StoreError{err}
	}
	snap := &snapshot{last: head.Last, followed: s.ev.Followed, tasks: map[string]bool{}, back: map[int64]bool{}}
	if err := snap.describes(ctx, p, s.ev.At); err != nil {
		return err
	}
	// other processes may have added records since Head
	for size, filled := head.Live[p.key], false; !filled; size += 16 + size/2 {
		if filled, err = p.fill(ctx, snap, size); err != nil {
			return err
		}
	}
	if snap.sample, err = p.startSample(ctx, snap.live); err != nil {
		return err
	}
	if snap.members, err = p.startMembers(ctx); err != nil {
		return err
	}
	p.snap = snap
	p.report.Snapshots++
	p.step(ctx, "plan", 0, began)
	return nil
}

// fill makes a table for about size records and enters all of them. It reports whether
// they fit. Records with a task are to be looked up.
func (p *pipe) fill(ctx context.Context, snap *snapshot, size int64) (filled bool, err error) {
	records, err := p.catalog.fingerprints(ctx, p.key)
	if err != nil {
		return false, &StoreError{err}
	}
	snap.table, snap.live = newSeenTable(records.Key, size), 0
	snap.table.whole = records.Others == 0
	for f, err := range snap.table.loading(records.All) {
		if err != nil {
			return false, &StoreError{err}
		}
		if p.members.Last == 0 || p.members.Crowded {
			f.Document = 0 // it means nothing
		}
		if !snap.table.add(f.ID, snap.table.stateOf(f.State, p.keepsContent(f.contentMarks), f.Document)) {
			return false, nil
		}
		snap.live++
	}
	for t, err := range p.catalog.Tasks(ctx, p.key, "") {
		if err != nil {
			return false, &StoreError{err}
		}
		snap.table.forget(t.Resource.ID)
	}
	p.commits.know(snap.live + records.Others)
	return true, nil
}

// describes notes the At of the snapshot and reads the note of the last one with that At.
func (s *snapshot) describes(ctx context.Context, p *pipe, at websync.Datetime) error {
	if s.note.At = at; at.IsZero() {
		return nil
	}
	before, err := recall[listingNote](ctx, p.run, listingState)
	if err != nil {
		return err
	}
	if before.At == at {
		s.before = before
	}
	s.note.Read, s.note.Since = websync.NewDatetime(p.clock().UTC().Truncate(time.Second)), s.before.Since
	return nil
}

// recognise reports whether the table of the snapshot shows that the event states nothing
// new. It returns false for an id that is listed again, whose record may have changed.
func (p *pipe) recognise(s *slot) bool {
	if p.snap == nil {
		return false
	}
	id := s.id()
	p.noteEntry(s)
	if s.ev.Kind == Delete {
		p.snap.table.forget(id)
		return false
	}
	s.document = p.snap.members.of(id, s.ev.Document)
	same, again, unknown := p.snap.table.see(s.tableHash, p.snap.table.state(&s.statement, s.document))
	s.listed = !again
	if unknown && !p.hasTasks.Load() {
		s.held = p.heldOf(new(Record))
		s.held.certain = true
	}
	return same && !again && !p.rechecks() && !p.dry.audits() && !p.samples(s)
}

// noteEntry adds an entry of the snapshot to its note.
func (p *pipe) noteEntry(s *slot) {
	snap := p.snap
	if snap.note.At.IsZero() || s.ev.Apart {
		return
	}
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(s.id()) {
		h = (h ^ uint64(s.id()[i])) * 1099511628211
	}
	h = (h ^ s.statement.hash) * 1099511628211
	modified := s.ev.Resource.Modified.UTC().Time()
	h = (h ^ uint64(modified.Unix()) ^ uint64(modified.Nanosecond())<<32) * 1099511628211
	snap.note.Sum += h ^ h>>32
	t := p.timeOf(s)
	if !t.After(snap.note.At) {
		return
	}
	if snap.latest.IsZero() {
		const message = "the listing describes the moment %s, and lists %q with the later time %s"
		p.momentFinding(snap, fmt.Sprintf(message, snap.note.At, websync.RedactURL(s.id()), t))
	}
	if snap.latest.IsZero() || t.After(snap.latest) {
		snap.latest = t
	}
}

// moment returns the moment that the snapshot describes, as far as it is known.
func (s *snapshot) moment() websync.Datetime {
	at := s.note.At
	if !s.note.Since.IsZero() {
		at = s.note.Since
	}
	if s.latest.After(at) {
		return s.latest
	}
	return at
}

// stands reports whether the snapshot does not delete a record with this time. If a log
// follows, it has what was put and deleted since At, even if At stays the same while the
// listing changes. If At is a date, whose zone is not known, and the time is not, the day
// may have begun up to 14 hours before it did in UTC.
func (s *snapshot) stands(known websync.Datetime) bool {
	until := s.moment()
	if s.followed && !s.note.At.IsZero() {
		until = s.note.At
		if until.Precision() <= websync.PrecisionDay && known.Precision() > websync.PrecisionDay {
			until = websync.NewDatetime(until.Time().Add(-14 * time.Hour))
		}
	}
	return notBefore(known, until)
}

func (p *pipe) momentFinding(snap *snapshot, message string) {
	p.finding(ruleMoment.Finding(p.key, 0, 0, "", []byte(snap.note.At.String()), message+": its moment is not used"))
}

// conclude checks, at the end of a complete snapshot, whether the listing has changed and
// its At has not.
func (p *pipe) conclude(end *Event) {
	snap := p.snap
	if snap.note.At.IsZero() || snap.noted || !end.Complete || p.report.Skipped+end.Skipped > 0 || p.broken {
		return
	}
	snap.noted = true
	if !snap.before.At.IsZero() && snap.before.Sum != snap.note.Sum {
		snap.note.Since = snap.before.Read
		const message = "the listing has changed since %s, and describes the same moment %s"
		p.momentFinding(snap, fmt.Sprintf(message, snap.before.Read, snap.note.At))
	}
}
