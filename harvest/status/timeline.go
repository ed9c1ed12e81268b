package status

import (
	"math"
	"time"
)

// Classes of entries, by outcome.
const (
	entryChanged = iota
	entryUnchanged
	entryWithheld
	entryFailed
	numEntries
)

// A period is what happened in one period of time.
type period struct {
	requests [numStatuses]int64 // as Request reports them
	attempts [numStatuses]int64 // as Hooks.Attempt reports them
	entries  [numEntries]int64
	bytes    int64
}

func (p *period) add(q *period) {
	for i := range p.requests {
		p.requests[i] += q.requests[i]
		p.attempts[i] += q.attempts[i]
	}
	for i := range p.entries {
		p.entries[i] += q.entries[i]
	}
	p.bytes += q.bytes
}

// maxPeriods limits the periods of a timeline.
const maxPeriods = 120

// widths are the lengths of periods: each is a multiple of the one before. After the last
// one they double.
var widths = [...]time.Duration{
	10 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
	time.Second, 2 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// wider returns the length after width.
func wider(width time.Duration) time.Duration {
	for _, w := range widths {
		if w > width {
			return w
		}
	}
	return 2 * width
}

// A timeline counts what happens in periods of equal length. When they become too many,
// they become longer.
type timeline struct {
	start   time.Time // of the first period
	width   time.Duration
	periods []period
}

// at returns the period of a time. The pointer is valid until the next call.
func (l *timeline) at(t time.Time) *period { return &l.periods[l.index(t)] }

// index returns the number of the period of a time. A time before the start counts as the
// start.
func (l *timeline) index(t time.Time) int {
	if l.periods == nil {
		l.start, l.width, l.periods = t, widths[0], make([]period, 1, maxPeriods)
	}
	since := max(t.Sub(l.start), 0)
	for since/l.width >= maxPeriods && l.width < math.MaxInt64/2 {
		l.widen()
	}
	i := min(int(since/l.width), maxPeriods-1)
	if i >= len(l.periods) {
		l.periods = l.periods[:i+1]
	}
	return i
}

// widen makes the periods longer.
func (l *timeline) widen() {
	width := wider(l.width)
	n := int(width / l.width)
	for i := range l.periods {
		p := l.periods[i]
		l.periods[i] = period{}
		l.periods[i/n].add(&p)
	}
	l.periods, l.width = l.periods[:(len(l.periods)+n-1)/n], width
}

// spread counts bytes that were received between two times.
func (l *timeline) spread(bytes int64, from, to time.Time) {
	last := l.index(to) // which may widen the periods
	first := l.index(from)
	if first > last {
		first = last
	}
	n := int64(last - first + 1)
	for i := first; i <= last; i++ {
		l.periods[i].bytes += bytes / n
	}
	l.periods[last].bytes += bytes % n
}
