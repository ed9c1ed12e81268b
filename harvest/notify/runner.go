package notify

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/outgoing"
)

// A Runner runs sources when there are notices for them. Set its fields before the first
// call and leave them alone afterwards. It is safe for concurrent use.
//
// A source runs once at a time. Notices that come meanwhile, or before it may run again,
// make one more run. Notices are not stored: after a restart, Every makes up for those
// that were open.
//
// A run that ends in an error is repeated after 1, 2, 4 and 8 minutes, less a random part
// of up to a half. A run that leaves tasks for later is followed by another one when the
// first of them is due.
type Runner struct {
	// Harvest runs a source: the method Run or List of a harvest.Harvester, or a function
	// around it. Required.
	Harvest func(ctx context.Context, src harvest.Source) (*harvest.Report, error)

	// Sources are what may run, by the URL that notices name, byte for byte. Several URLs
	// may stand for one source, which is known by its Key.
	Sources map[string]harvest.Source

	// Every is how long after a run a source runs again without a notice. If set, all
	// sources also run when Run begins. If zero or negative, they run only after notices.
	Every time.Duration

	// Interval is the time from the end of a run of a source to the beginning of the
	// next, however many notices there are. If zero, it is 10 seconds; if negative, there
	// is none.
	Interval time.Duration

	// Concurrency is how many sources run at once. If zero, it is 4; if negative, there
	// is no limit.
	Concurrency int

	// Log gets runs (debug) and their errors (warning). Nil: silent.
	Log *slog.Logger

	once  sync.Once
	turns []*turn
	named map[string]*turn // by URL
	slots chan struct{}    // if nil, no limit
	log   *slog.Logger
}

// A turn is one source.
type turn struct {
	src      harvest.Source
	notice   chan struct{} // holds one
	failures int           // in a row
}

func (r *Runner) start() {
	r.once.Do(func() {
		r.named = make(map[string]*turn, len(r.Sources))
		byKey := make(map[string]*turn, len(r.Sources))
		for url, src := range r.Sources {
			t := byKey[src.Key()]
			if t == nil {
				t = &turn{src: src, notice: make(chan struct{}, 1)}
				byKey[src.Key()] = t
				r.turns = append(r.turns, t)
			}
			r.named[url] = t
		}
		switch {
		case r.Concurrency == 0:
			r.slots = make(chan struct{}, 4)
		case r.Concurrency > 0:
			r.slots = make(chan struct{}, r.Concurrency)
		}
		r.log = logger(r.Log)
	})
}

func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

// Notify announces that there is something new at url, and reports whether a source has
// that URL. It never waits. It is what the fields Notify of Receiver and Subscriber ask
// for.
func (r *Runner) Notify(url string) bool {
	r.start()
	t := r.named[url]
	if t == nil {
		return false
	}
	raise(t.notice)
	return true
}

// raise leaves a notice unless there is one.
func raise(notice chan struct{}) {
	select {
	case notice <- struct{}{}:
	default:
	}
}

// Run runs sources until ctx ends, and returns the cause once all runs have ended. Call
// it once. Notices from before count, too.
func (r *Runner) Run(ctx context.Context) error {
	r.start()
	var all sync.WaitGroup
	for _, t := range r.turns {
		all.Go(func() { r.serve(ctx, t) })
	}
	all.Wait()
	<-ctx.Done()
	return context.Cause(ctx)
}

// serve runs one source whenever it is time.
func (r *Runner) serve(ctx context.Context, t *turn) {
	if r.Every > 0 {
		raise(t.notice)
	}
	var alarm <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.notice:
		case <-alarm:
		}
		if !r.enter(ctx) {
			return
		}
		select {
		case <-t.notice: // came while there was no room: this run covers it
		default:
		}
		report, err := r.run(ctx, t)
		r.leave()
		alarm = nil
		if wait := r.wait(t, report, err); wait > 0 {
			alarm = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(r.interval()):
		}
	}
}

// enter waits for room to run.
func (r *Runner) enter(ctx context.Context) bool {
	if r.slots == nil {
		return ctx.Err() == nil
	}
	select {
	case <-ctx.Done():
		return false
	case r.slots <- struct{}{}:
		return true
	}
}

func (r *Runner) leave() {
	if r.slots != nil {
		<-r.slots
	}
}

func (r *Runner) run(ctx context.Context, t *turn) (*harvest.Report, error) {
	began := time.Now()
	report, err := r.Harvest(ctx, t.src)
	log := r.log.With("source", t.src.Key(), "dur", time.Since(began))
	switch {
	case err == nil:
		t.failures = 0
		log.Debug("notify: run ended")
	case ctx.Err() == nil:
		t.failures++
		log.Warn("notify: run ended in an error", "attempt", t.failures, "error", err)
	}
	return report, err
}

// wait returns how long to wait for the next run if there is no notice; zero means for
// ever.
func (r *Runner) wait(t *turn, report *harvest.Report, err error) time.Duration {
	const attempts = 5
	wait := max(r.Every, 0)
	sooner := func(d time.Duration) {
		if wait == 0 || d < wait {
			wait = d
		}
	}
	switch {
	case err != nil && t.failures < attempts:
		sooner(outgoing.Backoff(t.failures, time.Minute, time.Hour))
	case err != nil:
		t.failures = 0 // given up until the next notice
	case report != nil && !report.Left.Next.IsZero():
		sooner(max(time.Until(report.Left.Next), time.Second))
	}
	return wait
}

func (r *Runner) interval() time.Duration {
	if r.Interval == 0 {
		return 10 * time.Second
	}
	return r.Interval
}
