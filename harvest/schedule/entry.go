package schedule

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// An Entry is a source of a Scheduler and when it runs.
type Entry struct {
	// Source is what runs. It is required. No two entries have the same Key.
	Source harvest.Source

	// URLs are those of notices, byte for byte.
	URLs []string

	// Every is the time from the end of a run to the next. If zero, it is one hour; if
	// negative, the source runs only after notices, and when tasks are due.
	Every time.Duration

	// Daily are the times of the day at which the source runs instead, each since
	// midnight, less than 24 hours. A time that the clock skips on a day is earlier or
	// later by as much as the clock is put forward.
	Daily []time.Duration

	// Zone is that of Daily. If nil, it is UTC.
	Zone *time.Location

	// Jitter delays each run that Every or Daily causes by a random time up to this, so
	// that sources of one publisher are not all due at once. If zero, it is a tenth of
	// Every, and five minutes with Daily; if negative, there is none.
	Jitter time.Duration

	// Interval is the least time from the end of a run to the beginning of the next,
	// whatever causes it. A payload is applied without waiting, because that reads no
	// document of the publisher. If zero, it is 10 seconds; if negative, there is none.
	Interval time.Duration

	// Budget, if it is not zero, replaces that of the Harvester. What is left when it is
	// spent is stored as tasks, and the source runs again after Interval.
	Budget harvest.Budget

	// SameHost, if set, sets that of the Harvester.
	SameHost bool

	// Quota, if it is not zero, replaces that of the Harvester.
	Quota harvest.Quota

	// Filter and Also, if not empty, replace those of the Harvester.
	Filter harvest.Filter
	Also   []string
}

func (e *Entry) check() error {
	if e.Source == nil {
		return fmt.Errorf("schedule: Entry.Source must be set")
	}
	for _, at := range e.Daily {
		if at < 0 || at >= 24*time.Hour {
			return fmt.Errorf("schedule: %q: Entry.Daily %v must be at least 0 and less than 24h",
				websync.RedactURL(e.Source.Key()), at)
		}
	}
	return nil
}

// next returns when the source is due after a run that ended at ended. Zero is never.
func (e *Entry) next(ended time.Time) time.Time {
	every := cmp.Or(e.Every, time.Hour)
	jitter := cmp.Or(e.Jitter, every/10)
	var due time.Time
	switch {
	case len(e.Daily) > 0:
		jitter = cmp.Or(e.Jitter, 5*time.Minute)
		due = e.nextDaily(ended)
	case every < 0:
		return due
	default:
		due = ended.Add(every)
	}
	if jitter > 0 {
		due = due.Add(rand.N(jitter))
	}
	return due
}

// nextDaily returns the first of the times of Daily that is after a moment.
func (e *Entry) nextDaily(after time.Time) time.Time {
	zone := e.Zone
	if zone == nil {
		zone = time.UTC
	}
	var next time.Time
	year, month, day := after.In(zone).Date()
	for ahead := 0; next.IsZero(); ahead++ {
		for _, at := range e.Daily {
			t := time.Date(year, month, day+ahead, 0, 0, int(at/time.Second), int(at%time.Second), zone)
			if t.After(after) && (next.IsZero() || t.Before(next)) {
				next = t
			}
		}
	}
	return next
}
