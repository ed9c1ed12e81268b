package notify

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/outgoing"
)

// A Runner runs sources when there are notices for them. Set its fields before the first
// call and do not change them afterwards. It is safe for concurrent use.
//
// A source never runs twice at the same time. Notices that come during a run, or before
// the next run is allowed, are coalesced into one. Payloads are applied one after the
// other, in the order in which they come. Neither is stored: after a restart, Every
// replaces those that were lost.
//
// A run that ends in an error is repeated after 1, 2, 4 and 8 minutes, less a random part
// of up to a half. If a run leaves tasks, the source runs again when the first is due.
type Runner struct {
	// Harvest runs a source: the method Run or List of a harvest.Harvester, or a function
	// that calls it. It is required.
	Harvest func(ctx context.Context, src harvest.Source) (*harvest.Report, error)

	// Sources maps the URLs in notices, byte for byte, to sources. A source may have
	// several URLs; sources with the same Key are one.
	Sources map[string]harvest.Source

	// Every is the time after a run at which a source runs again without a notice. If it
	// is positive, all sources also run when Run begins. If zero or negative, sources run
	// only after notices.
	Every time.Duration

	// Interval is the least time from the end of a run of a source to the beginning of
	// the next. A payload is applied without waiting, because that reads no document of
	// the publisher. If zero, it is 10 seconds; if negative, there is none.
	Interval time.Duration

	// Concurrency limits how many sources run at the same time. If zero, it is 4; if
	// negative, there is no limit.
	Concurrency int

	// Log receives runs (debug) and their errors (warning). If nil, nothing is logged.
	Log *slog.Logger

	once  sync.Once
	turns []*turn
	named map[string]*turn // by URL
	slots chan struct{}    // of sources that run
	log   *slog.Logger
}

// A turn is one source that waits for its next run.
type turn struct {
	src      harvest.Source
	notice   chan struct{} // holds at most one
	payloads chan []byte   // to be applied, oldest first
	failures int           // in a row
}

func (r *Runner) start() {
	r.once.Do(func() {
		r.named = make(map[string]*turn, len(r.Sources))
		byKey := make(map[string]*turn, len(r.Sources))
		for url, src := range r.Sources {
			t := byKey[src.Key()]
			if t == nil {
				t = &turn{src: src, notice: make(chan struct{}, 1), payloads: make(chan []byte, maxPayloads)}
				byKey[src.Key()] = t
				r.turns = append(r.turns, t)
			}
			r.named[url] = t
		}
		n := cmp.Or(r.Concurrency, 4)
		if n < 0 {
			n = len(r.turns)
		}
		r.slots = make(chan struct{}, n)
		r.log = logger(r.Log)
	})
}

func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

// Notify announces a change at url, and reports whether a source has that URL. It never
// waits. It fits the fields Notify of Receiver and Subscriber.
func (r *Runner) Notify(url string) bool {
	r.start()
	t := r.named[url]
	if t == nil {
		return false
	}
	raise(t.notice)
	return true
}

// raise adds a notice unless there is one.
func raise(notice chan struct{}) {
	select {
	case notice <- struct{}{}:
	default:
	}
}

// Run runs sources until ctx is cancelled, and returns the cause when all runs have
// ended. Call it once. Notices that came before count.
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

// serve runs one source after notices and at the times that wait returns, and applies its
// payloads. Those that came before a run are applied before it: afterwards its lists may
// be ahead of them.
func (r *Runner) serve(ctx context.Context, t *turn) {
	if r.Every > 0 {
		raise(t.notice)
	}
	var alarm, pause <-chan time.Time // pause: until Interval is over
	for {
		notice, due := t.notice, alarm
		if pause != nil {
			notice, due = nil, nil
		}
		var first []byte
		select {
		case <-ctx.Done():
			return
		case <-pause:
			pause = nil
			continue
		case first = <-t.payloads:
		case <-notice:
		case <-due:
		}
		select {
		case <-ctx.Done():
			return
		case r.slots <- struct{}{}:
		}
		r.applyAll(ctx, t, first)
		if first == nil {
			alarm = r.runAgain(ctx, t)
			pause = time.After(cmp.Or(r.Interval, 10*time.Second))
		}
		<-r.slots
	}
}

// runAgain runs a source, and returns when it is to run again without a notice.
func (r *Runner) runAgain(ctx context.Context, t *turn) <-chan time.Time {
	select {
	case <-t.notice: // it came while there was no slot: this run is for it, too
	default:
	}
	report, err := r.run(ctx, t)
	if wait := r.wait(t, report, err); wait > 0 {
		return time.After(wait)
	}
	return nil
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

// wait returns how long to wait for the next run without a notice. 0 is for ever.
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
		t.failures = 0 // no more repetitions until the next notice
	case report != nil && !report.Left.Next.IsZero():
		sooner(max(time.Until(report.Left.Next), time.Second))
	}
	return wait
}
