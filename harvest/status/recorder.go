package status

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/display"
	"github.com/websync-go/websync/internal/survive"
)

// A Recorder notes runs for a [Handler]. It never fails a run. Its methods may be called
// from several goroutines; its fields must not change while it is in use.
type Recorder struct {
	// State keeps the runs, under keys that begin with "status/". It is required; any
	// *harvest.Catalog is one.
	State websync.State
	// Log receives what could not be noted (warning). If nil, nothing is logged.
	Log *slog.Logger

	mu     sync.Mutex
	active map[string][]*activeRun // by source
	listed map[string]bool         // sources that the index has
	failed error                   // of the last note; nil if it was written
}

// failure returns why the last note could not be written; nil if it was.
func (r *Recorder) failure() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// signOfLife is the time between two notes of a run that goes on.
const signOfLife = 30 * time.Second

// noteTime is how long after its cancellation a run may be noted: it takes up to 10
// seconds to end.
const noteTime = 15 * time.Second

// An activeRun is a run that goes on. Its counts are those since the last note.
type activeRun struct {
	ending context.Context // for notes; ends noteTime after that of the run
	ended  context.CancelFunc

	source, name string

	mu       sync.Mutex
	began    time.Time
	noted    time.Time
	wire     bool // the Fetcher reports its requests
	attempts tally
	requests tally
	days     map[string]*Day
}

// A tally counts requests by day and status, and by host and hour.
type tally struct {
	days  map[string]map[int]int64
	hours map[hourOf]*Hour
}

// An hourOf is an hour of a host.
type hourOf struct {
	host  string
	start time.Time
}

func (t *tally) add(a *harvest.AttemptInfo, now time.Time) {
	if t.days == nil {
		t.days, t.hours = map[string]map[int]int64{}, map[hourOf]*Hour{}
	}
	status := a.Status
	if status < 0 || status > 999 {
		status = 0
	}
	day := t.days[dateOf(now)]
	if day == nil {
		day = map[int]int64{}
		t.days[dateOf(now)] = day
	}
	day[status]++
	of := hourOf{display.Shown(cmp.Or(a.Host, "no host")), now.UTC().Truncate(time.Hour)}
	hour := t.hours[of]
	if hour == nil {
		if len(t.hours) >= maxPending {
			return // a source with so many hosts in half a minute; their statuses count
		}
		hour = &Hour{Start: of.start}
		t.hours[of] = hour
	}
	hour.Requests[statusClass(status)]++
	hour.Seconds += a.Duration.Seconds()
}

// maxPending limits the hosts and hours that are counted before they are noted.
const maxPending = 1000

type runKey struct{ *Recorder }

// Hooks returns what a [harvest.Harvester] calls during runs. [harvest.JoinHooks] joins
// them with others.
func (r *Recorder) Hooks() *harvest.Hooks {
	return &harvest.Hooks{Begin: r.begin, End: r.end, Progress: r.progress, Outcome: r.outcome, Attempt: r.attempt}
}

// Request notes a request that a Fetcher has made: one attempt, also one for a redirect
// or robots.txt. It fits [fetch.Client].OnAttempt. If it is never called, the page has
// what [harvest.Hooks].Attempt reports.
//
// [fetch.Client]: https://pkg.go.dev/github.com/websync-go/websync/harvest/fetch#Client
func (r *Recorder) Request(ctx context.Context, a harvest.AttemptInfo) {
	if run := r.of(ctx); run != nil {
		run.mu.Lock()
		defer run.mu.Unlock()
		run.wire = true
		run.requests.add(&a, time.Now())
	}
}

func (r *Recorder) attempt(ctx context.Context, a harvest.AttemptInfo) {
	if run := r.of(ctx); run != nil {
		run.mu.Lock()
		defer run.mu.Unlock()
		run.attempts.add(&a, time.Now())
	}
}

func (r *Recorder) of(ctx context.Context) *activeRun {
	run, _ := ctx.Value(runKey{r}).(*activeRun)
	return run
}

func (r *Recorder) begin(ctx context.Context, source string) context.Context {
	now := time.Now()
	run := &activeRun{source: source, name: rand.Text(), began: now, noted: now, days: map[string]*Day{}}
	run.ending, run.ended = survive.Cancel(ctx, noteTime)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active == nil {
		r.active = map[string][]*activeRun{}
	}
	r.active[source] = append(r.active[source], run)
	return context.WithValue(ctx, runKey{r}, run)
}

// lastOf returns the run of a source that began last. A process rarely has two.
func (r *Recorder) lastOf(source string) *activeRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	if runs := r.active[source]; len(runs) > 0 {
		return runs[len(runs)-1]
	}
	return nil
}

func (r *Recorder) outcome(source, _ string, o harvest.Outcome, _ error) {
	switch o {
	case harvest.OutcomeCreated, harvest.OutcomeUpdated, harvest.OutcomeDeleted, harvest.OutcomeFailed, harvest.OutcomeParked:
	default:
		return // of which there may be millions
	}
	run := r.lastOf(source)
	if run == nil {
		return
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	day := run.day(dateOf(time.Now()))
	switch o {
	case harvest.OutcomeCreated:
		day.Created++
	case harvest.OutcomeUpdated:
		day.Updated++
	case harvest.OutcomeDeleted:
		day.Deleted++
	default:
		day.Failed++
	}
}

func (a *activeRun) day(date string) *Day {
	day := a.days[date]
	if day == nil {
		day = &Day{Date: date}
		a.days[date] = day
	}
	return day
}

// progress notes now and then that a run goes on.
func (r *Recorder) progress(p harvest.Progress) {
	run := r.lastOf(p.Source)
	if run == nil || p.Dry {
		return
	}
	now := time.Now()
	run.mu.Lock()
	due := now.Sub(run.noted) >= signOfLife
	if due {
		run.noted = now
	}
	run.mu.Unlock()
	if !due {
		return
	}
	r.note(run.ending, run, func(h *history) {
		if h.Going == nil {
			h.Going = map[string]Going{}
		}
		h.Going[run.name] = Going{Started: p.Started.UTC(), Seen: now.UTC(), Listed: p.Listed, Done: p.Done, Total: p.Total}
	})
}

func (r *Recorder) end(ctx context.Context, report *harvest.Report, err error) {
	run := r.of(ctx)
	if run == nil {
		return
	}
	defer run.ended()
	r.mu.Lock()
	r.active[run.source] = slices.DeleteFunc(r.active[run.source], func(a *activeRun) bool { return a == run })
	if len(r.active[run.source]) == 0 {
		delete(r.active, run.source)
	}
	r.mu.Unlock()
	if report.Dry || errors.Is(err, harvest.ErrHeld) {
		return // nothing is to be written, or another process runs the source
	}
	ended := newRun(&Result{Report: report, Err: err, Interrupted: err != nil && ctx.Err() != nil, Lasts: true})
	r.note(run.ending, run, func(h *history) {
		maps.DeleteFunc(h.Going, func(name string, g Going) bool { return name == run.name || g.isSilent(ended.Started) })
		if report.Latest.After(h.Latest) {
			h.Latest = report.Latest.UTC()
		}
		h.add(ended)
	})
}

// Opened notes whether it was found out which sources a URL leads to: these keys, or err
// says why not. A URL of which that is not known is on the page as a source that failed.
func (r *Recorder) Opened(ctx context.Context, url string, keys []string, err error) {
	if err == nil {
		err = r.opened(ctx, url, keys)
	} else {
		now := time.Now()
		failed := newRun(&Result{Report: &harvest.Report{Source: url, Started: now, Ended: now}, Err: err})
		if err = update(ctx, r.State, historyKey(url), func(h *history) { h.add(failed) }); err == nil {
			err = r.list(ctx, url)
		}
	}
	r.logged(url, err)
}

// opened removes a URL from the sources, unless it is one.
func (r *Recorder) opened(ctx context.Context, url string, keys []string) error {
	if slices.Contains(keys, url) {
		return nil
	}
	data, err := r.State.State(ctx, historyKey(url))
	if err != nil || len(data) == 0 {
		return err
	}
	if err := r.State.Swap(ctx, historyKey(url), data, nil); err != nil {
		return err
	}
	r.mu.Lock()
	delete(r.listed, url)
	r.mu.Unlock()
	return update(ctx, r.State, indexKey, func(index *sourceIndex) { index.remove(url) })
}

// logged logs why something could not be noted, and keeps it until something is noted.
func (r *Recorder) logged(source string, err error) {
	if !errors.Is(err, context.Canceled) { // the program ends
		r.mu.Lock()
		r.failed = err
		r.mu.Unlock()
	}
	if err != nil && r.Log != nil {
		r.Log.Warn("run not noted", "source", websync.RedactURL(source), "err", err)
	}
}

// note adds what a run has counted since the last note to the history of its source, and
// changes it by f.
func (r *Recorder) note(ctx context.Context, run *activeRun, f func(*history)) {
	run.mu.Lock()
	seen := run.attempts
	if run.wire {
		seen = run.requests
	}
	for date, statuses := range seen.days {
		run.day(date).Requests = statuses
	}
	days := run.days
	run.days, run.attempts, run.requests = map[string]*Day{}, tally{}, tally{}
	run.mu.Unlock()
	err := update(ctx, r.State, historyKey(run.source), func(h *history) {
		for _, d := range days {
			h.addDay(*d)
		}
		for of, hour := range seen.hours {
			h.addHour(of.host, *hour)
		}
		f(h)
		h.forget(time.Now())
	})
	if err == nil {
		err = r.list(ctx, run.source)
	}
	r.logged(run.source, err)
}

// list adds a source to the index.
func (r *Recorder) list(ctx context.Context, source string) error {
	r.mu.Lock()
	known := r.listed[source]
	r.mu.Unlock()
	if known {
		return nil
	}
	err := update(ctx, r.State, indexKey, func(index *sourceIndex) { index.add(source) })
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.listed == nil {
			r.listed = map[string]bool{}
		}
		r.listed[source] = true
	}
	return err
}
