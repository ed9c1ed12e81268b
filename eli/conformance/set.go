package conformance

import (
	"math"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
)

// A day is a calendar day as a document states it, in its own zone: days since 1970.
type day int32

// noDay means that no day is stated.
const noDay day = math.MinInt32

// dayOf returns the first day of d.
func dayOf(d websync.Datetime) day {
	if d.IsZero() {
		return noDay
	}
	t := d.Time()
	_, offset := t.Zone()
	const early = 1_000_000 // days before 1970, so that the quotient is rounded down
	return day((t.Unix()+int64(offset)+early*24*60*60)/(24*60*60) - early)
}

// String returns the day as YYYY-MM-DD.
func (d day) String() string {
	return time.Unix(int64(d)*24*60*60, 0).UTC().Format(time.DateOnly)
}

// addDay enters a URL in a table, and reports whether it is new. One that is not keeps the
// later day.
func addDay(t *docfetch.Table[day], url string, d day) (isNew bool) {
	held, isNew := t.Add(url)
	if isNew || *held < d {
		*held = d
	}
	return isNew
}
