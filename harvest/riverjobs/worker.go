package riverjobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/riverqueue/river"

	"github.com/websync-go/websync/harvest"
)

// A Worker runs the jobs. Its fields must not change while it is in use.
type Worker struct {
	river.WorkerDefaults[Args]

	// Harvester brings the sources in step. Its Catalog is on the Store that all machines
	// share. It is required.
	Harvester *harvest.Harvester
	// Registry makes the Sources. It is required.
	Registry Registry

	// Slice is how long a job runs until it goes back to the queue. If zero, it is 10
	// minutes. A negative one is an error: River would never rescue the job of a machine
	// that has died, and its source would never run again.
	Slice time.Duration
	// PerHost limits how many jobs of one host run at the same time, over all machines.
	// If zero, it is 1; if negative, there is no limit.
	PerHost int
	// Concurrency is how many jobs run at the same time on this machine, unless the
	// configuration of the client has the Queue already. If zero or negative, it is 8.
	Concurrency int

	// Ended, if set, is called after each slice. It may be called from several
	// goroutines. The Report is never nil.
	Ended func(args Args, report *harvest.Report, err error)
}

var _ river.Worker[Args] = (*Worker)(nil)

// rescueAfter is how long after its slice a job counts as lost: it needs a moment to end.
const rescueAfter = 10 * time.Second

// Configure adds the Worker and its Queue to the configuration of a client, and sets
// RescueStuckJobsAfter, if it is not set: 10 seconds above the slice and above
// JobTimeout, the limit of the client's other jobs.
func (w *Worker) Configure(config *river.Config) error {
	switch {
	case w.Harvester == nil || w.Harvester.Catalog == nil:
		return errors.New("riverjobs: Worker.Harvester must be set, and have a Store")
	case len(w.Registry) == 0:
		return errors.New("riverjobs: Worker.Registry must have a protocol")
	case w.Slice < 0:
		return fmt.Errorf("riverjobs: Worker.Slice %v must be at least 0", w.Slice)
	}
	least := w.slice() + rescueAfter
	if config.RescueStuckJobsAfter == 0 {
		config.RescueStuckJobsAfter = max(least, cmp.Or(config.JobTimeout, river.JobTimeoutDefault)+rescueAfter)
	}
	if config.RescueStuckJobsAfter < least {
		return fmt.Errorf("riverjobs: Config.RescueStuckJobsAfter %v must be at least %v, which is 10s more than Worker.Slice",
			config.RescueStuckJobsAfter, least)
	}
	if config.Queues == nil {
		config.Queues = map[string]river.QueueConfig{}
	}
	if _, ok := config.Queues[Queue]; !ok {
		n := w.Concurrency
		if n <= 0 {
			n = 8
		}
		config.Queues[Queue] = river.QueueConfig{MaxWorkers: n}
	}
	if config.Workers == nil {
		config.Workers = river.NewWorkers()
	}
	return river.AddWorkerSafely(config.Workers, w)
}

func (w *Worker) slice() time.Duration { return cmp.Or(w.Slice, 10*time.Minute) }

// Timeout implements [river.Worker]: it is the slice of the job.
func (w *Worker) Timeout(job *river.Job[Args]) time.Duration {
	if job.Args.Slice > 0 {
		return job.Args.Slice
	}
	return w.slice()
}

// NextRetry implements [river.Worker].
func (w *Worker) NextRetry(job *river.Job[Args]) time.Time {
	now := time.Now()
	if job.AttemptedAt != nil && now.Sub(*job.AttemptedAt) > w.Timeout(job) {
		return now // its machine has died
	}
	wait := min(time.Minute<<min(len(job.Errors), 6), time.Hour)
	return now.Add(wait - rand.N(wait/2))
}

// Work implements [river.Worker]: it runs the source of the job for a slice.
func (w *Worker) Work(ctx context.Context, job *river.Job[Args]) error {
	src, err := w.Registry.source(ctx, job.Args)
	if err != nil {
		return err
	}
	if src.Key() != job.Args.Key {
		return fmt.Errorf("riverjobs: Args.Key %q must be the Key of the Source, %q: use Registry.Args", job.Args.Key, src.Key())
	}
	return w.answer(ctx, w.run(ctx, src, job.Args))
}

// run runs a source while it holds a slot of its host.
func (w *Worker) run(ctx context.Context, src harvest.Source, args Args) error {
	if n := cmp.Or(w.PerHost, 1); n > 0 {
		held, release, err := w.hold(ctx, harvest.Host(src), n)
		if err != nil {
			return err
		}
		defer release()
		ctx = held
	}
	report, err := w.Harvester.Run(ctx, src)
	if w.Ended != nil {
		w.Ended(args, report, err)
	}
	if err == nil && report.BudgetSpent {
		err = errUnfinished
	}
	return err
}

// hold takes one of n slots of a host: the right to make requests to it. Its context ends
// when the slot is lost. The error matches ErrHeld if others have them all.
func (w *Worker) hold(ctx context.Context, host string, n int) (held context.Context, release func(), err error) {
	err = harvest.ErrHeld
	for i := 0; i < n && errors.Is(err, harvest.ErrHeld); i++ {
		held, release, err = w.Harvester.Catalog.Hold(ctx, "host/"+host+"/"+strconv.Itoa(i), w.ttl())
	}
	if err != nil {
		return ctx, nil, fmt.Errorf("riverjobs: a slot of %s: %w", host, err)
	}
	return held, release, nil
}

// errUnfinished: the budget of the Harvester is spent, and the source has more to do.
var errUnfinished = errors.New("riverjobs: budget spent")

// answer returns what River does with a job after a slice. ctx is that of the job.
func (w *Worker) answer(ctx context.Context, err error) error {
	at, stated := harvest.RetryAfter(err)
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(cause, river.ErrJobCancelledRemotely):
		return cause
	case cause != nil, errors.Is(err, errUnfinished):
		return river.JobSnooze(0) // the slice is over, or the client stops
	case stated:
		return river.JobSnooze(max(time.Until(at), time.Second))
	case errors.Is(err, harvest.ErrHeld), errors.Is(err, harvest.ErrNotYet), errors.Is(err, harvest.ErrFenced):
		// for a part of the time after which the claims of a dead machine end
		return river.JobSnooze(w.ttl()/6 + rand.N(w.ttl()/6))
	}
	return err
}

func (w *Worker) ttl() time.Duration {
	if w.Harvester.TTL <= 0 {
		return time.Minute
	}
	return w.Harvester.TTL
}
