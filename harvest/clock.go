package harvest

import (
	"math"
	"time"

	"github.com/websync-go/websync"
)

// clock returns the time by the publisher's clock: the latest Date of the answers with
// lists, or the start of the run if none had one.
func (r *run) clock() time.Time {
	if date := r.date.Load(); date != 0 {
		return time.Unix(date, 0)
	}
	return r.report.Started
}

// noteDate notes the Date of an answer with a list.
func (r *run) noteDate(resp *Response) {
	at := parseDate(resp.header("Date"))
	for date := r.date.Load(); !at.IsZero() && at.Unix() > date && !r.date.CompareAndSwap(date, at.Unix()); {
		date = r.date.Load()
	}
}

// parseDate parses the Date of an answer; the time is zero if it is none.
func parseDate(text string) time.Time {
	d, _, err := websync.ParseDatetimeLenient(text)
	if err != nil {
		return time.Time{}
	}
	return d.UTC().Time()
}

// horizon returns the run's horizon: a day later than the publisher's clock. If no answer
// had a Date, a full pass takes the local clock; for any other run no time lies in the
// future.
func (r *run) horizon() horizon {
	now := r.date.Load()
	switch {
	case now != 0:
	case r.isFull():
		now = r.report.Started.Unix()
	default:
		return math.MaxInt64
	}
	return horizon(now + 24*60*60)
}

// A horizon is the latest time, in seconds since 1970, that does not lie in the future.
type horizon int64

// past returns t, or the zero Datetime if t lies in the future.
func (h horizon) past(t websync.Datetime) websync.Datetime {
	if h.isBefore(t) {
		return websync.Datetime{}
	}
	return t
}

// timeOf returns the time of a slot's event; zero if it lies in the future.
func (p *pipe) timeOf(s *slot) websync.Datetime { return p.horizon().past(s.ev.time()) }

// isBefore reports whether a stated time lies in the future.
func (h horizon) isBefore(t websync.Datetime) bool {
	return !t.IsZero() && t.UTC().Time().Unix() > int64(h)
}
