package harvest

import (
	"context"
	"slices"
)

// maxHeld limits how many slots are held back at once. If there are more, the oldest one
// is decided as if it were the last of its id.
const maxHeld = 1024

// holdBack reports whether a slot has to wait for later events of its id, and holds it
// back then. It has to wait if it differs from the known state and its time is not later:
// the source may still state the known state, in a snapshot that lists an id twice or in
// a log that repeats an instant. Then the latest time wins, and of equal times the last.
func (p *pipe) holdBack(ctx context.Context, s *slot) bool {
	statesNothing := (s.outcome == OutcomeUnchanged || s.outcome == OutcomeExcluded) && s.change == nil && !s.get
	if s.task != nil || s.state == slotAlone || s.ask || statesNothing || s.restates(s.rec) {
		return false
	}
	known := p.horizon().past(s.held.time())
	waits := s.rec.Known() && !p.timeOf(s).After(known)
	if !s.listed {
		waits = s.outcome != OutcomeHistory && p.timeOf(s).Overlaps(known)
	}
	if !waits {
		return false
	}
	if len(p.waiting) == maxHeld {
		p.release(ctx)
	}
	p.move(s, slotHeld)
	p.waiting = append(p.waiting, s)
	return true
}

// release decides about the slot that has been held back longest.
func (p *pipe) release(ctx context.Context) {
	s := p.waiting[0]
	p.unhold(s, slotAlone)
	p.dispatch(ctx, s)
}

// unhold removes a slot from those that are held back.
func (p *pipe) unhold(s *slot, to slotState) {
	i := slices.Index(p.waiting, s)
	p.waiting = slices.Delete(p.waiting, i, i+1)
	p.move(s, to)
}

// lastOf returns the slot that wins among those that waited for one id; nil if there are
// none. A slot without a time cannot be compared with a later one that has a time: it
// wins, and the rest goes on waiting for it.
func (p *pipe) lastOf(waited []*slot) *slot {
	if len(waited) == 0 {
		return nil
	}
	win := waited[0]
	for i, s := range waited[1:] {
		if p.timeOf(win).IsZero() && !p.timeOf(s).IsZero() {
			win.later = waited[1+i:]
			break
		}
		win = p.winner(win, s)
	}
	return win
}

// winner returns which of two slots of one id wins: s, unless its time is before that of
// the earlier one and orders them. It finishes the other one as history.
func (p *pipe) winner(earlier, s *slot) *slot {
	win, lost := s, earlier
	if !(s.ev.isCurrent() && earlier.ev.Kind == Put) && p.timeOf(s).Before(p.timeOf(earlier)) {
		win, lost = earlier, s
	}
	if p.snap != nil {
		p.snap.members.partial = true // the other one may state something else
	}
	p.ledger.leave(lost)
	p.move(lost, slotFinished)
	p.outcome(lost.id(), OutcomeHistory, nil)
	return win
}
