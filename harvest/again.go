package harvest

import (
	"time"

	"github.com/websync-go/websync"
)

// isOver reports whether the period that d stands for was over at a moment of the
// publisher's clock: a later change has a later time. A day may end a day later than in
// UTC for its publisher, and two clocks are never the same.
func isOver(d websync.Datetime, now time.Time) bool {
	slack := time.Minute
	if d.Precision() <= websync.PrecisionDay {
		slack = 24 * time.Hour
	}
	return !d.UTC().End().Add(slack).After(now)
}

// isEarly reports whether bodies that were obtained at a moment may change again and
// still be stated to have changed at the same time.
func isEarly(s *slot, next *Record, obtained time.Time) bool {
	t := next.time()
	return !s.ev.identifies() && !t.IsZero() && !isOver(t, obtained)
}

// asksAgain reports whether the bytes of what seems unchanged are to be asked for: all
// when rechecking, and those that were obtained too early, once their time is over or a
// log states it once more.
func (p *pipe) asksAgain(s *slot) bool {
	if p.h.Bodies == SkipBodies || p.getter == nil && !s.ev.hasContent() {
		return false
	}
	early := s.rec.Early && !s.ev.identifies() && (p.snap == nil || isOver(s.rec.time(), p.clock()))
	return early || p.h.Recheck && (p.snap == nil || s.shown)
}

// isFull reports whether the run lists from the beginning.
func (r *run) isFull() bool { return r.h.Full || r.h.Recheck || r.dry.audits() }
