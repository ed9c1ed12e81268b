package harvest

import (
	"context"
	"slices"
)

// maxHeld is how many slots are held back at once. Of more, the first one is decided as
// if nothing else came of its id.
const maxHeld = 1024

// holdBack lets a slot wait for what else comes of its id, and reports whether it does.
// It waits when it says something else than what is known, and its time does not show
// that to be later: a snapshot that lists an id twice may go on to say what is known, and
// so may a log that repeats an instant. The latest counts, and at one time the last.
func (p *pipe) holdBack(ctx context.Context, s *slot, d decision) bool {
	if s.task != nil || s.alone || s.ask || d.outcome == OutcomeUnchanged && d.change == nil && !d.get || s.restates() {
		return false
	}
	known := p.believed(s.known())
	held := s.rec.Known() && !p.timeOf(s).After(known)
	if !s.shown {
		held = d.outcome != OutcomeHistory && p.timeOf(s).Overlaps(known)
	}
	if !held {
		return false
	}
	if len(p.held) == maxHeld {
		p.release(ctx)
	}
	s.held = true
	p.held = append(p.held, s)
	p.inflight--
	return true
}

// release decides about the slot that has been held back for the longest time.
func (p *pipe) release(ctx context.Context) {
	s := p.held[0]
	p.letGo(s)
	s.alone = true
	p.dispatch(ctx, s)
}

// letGo takes a slot out of those that are held back.
func (p *pipe) letGo(s *slot) {
	p.held = slices.Delete(p.held, slices.Index(p.held, s), slices.Index(p.held, s)+1)
	s.held = false
	p.inflight++
}

// releaseBefore decides about the slots of a log that were held back in an instant before
// that of s.
func (p *pipe) releaseBefore(ctx context.Context, s *slot) {
	for p.snap == nil && len(p.held) > 0 && p.timeOf(p.held[0]).Before(p.timeOf(s)) {
		p.release(ctx)
	}
}

// drain decides about all slots that are held back. Control is the event that nothing may
// be held back behind, nil at the end of the listing.
func (p *pipe) drain(ctx context.Context, control *slot) {
	if control != nil && control.ev.Kind == SnapshotEnd && p.snap != nil {
		p.conclude(&control.ev)
	}
	for len(p.held) > 0 {
		p.release(ctx)
	}
}

// replace returns which of two slots of one id stands for both: the later one, unless its
// time is earlier. First is held back.
func (p *pipe) replace(first, s *slot) *slot {
	p.letGo(first)
	s.shown = s.ev.Kind == Put && (s.shown || first.shown)
	win, lost := s, first
	if p.timeOf(s).Before(p.timeOf(first)) {
		win, lost = first, s
	}
	p.overtaken(lost)
	return win
}

// overtaken reports a slot whose id has a later event.
func (p *pipe) overtaken(s *slot) {
	p.ledger.leave(s)
	p.inflight--
	p.outcome(s.id(), OutcomeHistory, nil)
}
