package harvest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/websync-go/websync"
)

// The moment that a snapshot describes is the At of its SnapshotStart, or the latest time
// that its own entries state, if that is later. A publisher may state an At that never
// moves. When such a listing changes nevertheless, it describes at least the moment at
// which it was last read before it changed.

// A listingNote is what is kept of the last complete snapshot that states an At.
type listingNote struct {
	At   websync.Datetime `json:"at"`
	Sum  uint64           `json:"sum"`  // over what was listed, in whatever order
	Read websync.Datetime `json:"read"` // when
	// Since is when the listing was last read before it changed and stated the same At as
	// before. Not stated: it never did.
	Since websync.Datetime `json:"since,omitzero"`
}

// listingKey names the state that keeps a source's listingNote.
func listingKey(source string) string { return "harvest/listing/" + source }

// describes notes which moment the snapshot says that it describes.
func (s *snapshot) describes(ctx context.Context, p *pipe, at websync.Datetime) error {
	if s.note.At = at; at.IsZero() {
		return nil
	}
	data, err := p.h.Store.State(ctx, listingKey(p.key))
	if err != nil {
		return &storeError{err}
	}
	if json.Unmarshal(data, &s.before) != nil || s.before.At != at {
		s.before = listingNote{} // another listing
	}
	s.note.Read, s.note.Since = websync.NewDatetime(p.clock().UTC().Truncate(time.Second)), s.before.Since
	return nil
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

// noteEntry notes an entry of the snapshot.
func (p *pipe) noteEntry(s *slot) {
	snap := p.snap
	if snap.note.At.IsZero() {
		return
	}
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(s.id()) {
		h = (h ^ uint64(s.id()[i])) * 1099511628211
	}
	h = (h ^ s.stated) * 1099511628211
	modified := s.ev.Resource.Modified.UTC().Time()
	h = (h ^ uint64(modified.Unix()) ^ uint64(modified.Nanosecond())<<32) * 1099511628211
	snap.note.Sum += h ^ h>>32
	t := p.timeOf(s)
	if !t.After(snap.note.At) {
		return
	}
	if snap.latest.IsZero() {
		p.momentFinding(snap, fmt.Sprintf("the listing describes the moment %s, and lists %q with the later time %s", snap.note.At, s.id(), t))
	}
	if snap.latest.IsZero() || t.After(snap.latest) {
		snap.latest = t
	}
}

func (p *pipe) momentFinding(snap *snapshot, message string) {
	p.finding(websync.Finding{Document: p.key, Rule: "snapshot-at", Value: snap.note.At.String(), Message: message + ": its moment is not used"})
}

// conclude judges, when a complete snapshot ends, whether its At can be believed.
func (p *pipe) conclude(end *Event) {
	snap := p.snap
	if snap.note.At.IsZero() || snap.noted || !end.Complete || p.report.Skipped+end.Skipped > 0 || p.broken || p.stuck {
		return
	}
	snap.noted = true
	if !snap.before.At.IsZero() && snap.before.Sum != snap.note.Sum {
		snap.note.Since = snap.before.Read
		p.momentFinding(snap, fmt.Sprintf("the listing has changed since %s, and describes the same moment %s", snap.before.Read, snap.note.At))
	}
}

// keepNote adds what is to be kept of a snapshot to the batch that ends it.
func (s *snapshot) keepNote(b *Batch) {
	if !s.noted {
		return
	}
	if b.State == nil {
		b.State = map[string][]byte{}
	}
	b.State[listingKey(b.Source)], _ = json.Marshal(s.note) // times and a number
}
