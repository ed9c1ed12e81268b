package harvest

import (
	"time"
)

// isEarly reports whether bodies that were obtained at a moment may change again and
// still be stated to have changed at the same time.
func isEarly(s *slot, next *Record, obtained time.Time) bool {
	t := next.Stated.time()
	return !s.ev.identifies() && !t.IsZero() && !t.IsOver(obtained)
}

// asksAgain reports whether the bytes of what seems unchanged are to be asked for: all
// when rechecking, and those that were obtained too early, once their time is over or a
// log states it once more.
func (p *pipe) asksAgain(s *slot) bool {
	if p.h.Bodies == SkipBodies || p.getter == nil && !s.ev.hasContent() {
		return false
	}
	early := s.rec.Early && !s.ev.identifies() && (p.snap == nil || s.rec.Stated.time().IsOver(p.clock()))
	return early || p.h.Recheck && (p.snap == nil || s.shown)
}

// isFull reports whether the run lists from the beginning.
func (r *run) isFull() bool { return r.h.Full || r.h.Recheck || r.dry.audits() }
