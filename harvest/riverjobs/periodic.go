package riverjobs

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/riverqueue/river"
)

// Periodic returns jobs that River's leader inserts once in every interval, each source
// at its own moment in it, which depends on its Key only. A job is left out while the one
// before it has not ended. The first ones come within the interval; insert the jobs once
// to begin at once.
func Periodic(every time.Duration, sources ...Args) ([]*river.PeriodicJob, error) {
	if every < time.Second {
		return nil, fmt.Errorf("riverjobs: the interval %v of periodic jobs must be at least 1s", every)
	}
	jobs := make([]*river.PeriodicJob, len(sources))
	for i, args := range sources {
		if args.Key == "" {
			return nil, fmt.Errorf("riverjobs: periodic job %d, %s: Args.Key must be set: use Registry.Args", i, args.URL)
		}
		insert := func() (river.JobArgs, *river.InsertOpts) { return args, nil }
		jobs[i] = river.NewPeriodicJob(newSpread(every, args.Key), insert, nil)
	}
	return jobs, nil
}

// A spread is a moment that comes back: offset after each multiple of every.
type spread struct{ every, offset time.Duration }

func newSpread(every time.Duration, key string) spread {
	h := fnv.New64a()
	h.Write([]byte(key))
	return spread{every, time.Duration(h.Sum64() % uint64(every))}
}

// Next implements [river.PeriodicSchedule].
func (s spread) Next(now time.Time) time.Time {
	next := now.Truncate(s.every).Add(s.offset)
	if !next.After(now) {
		next = next.Add(s.every)
	}
	return next
}
