package riverjobs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// fixed is a Registry of Sources that yield nothing.
var fixed = Registry{
	"fixed": func(_ context.Context, a Args) (harvest.Source, error) { return harvest.Of(a.URL), nil },
	"wrong": func(_ context.Context, a Args) (harvest.Source, error) {
		return nil, errors.New("option x: not a number")
	},
	"none":  func(_ context.Context, a Args) (harvest.Source, error) { return nil, nil },
	"check": func(_ context.Context, a Args) (harvest.Source, error) { return unfit{harvest.Of(a.URL)}, nil },
}

// An unfit is a Source whose settings are wrong.
type unfit struct{ harvest.Source }

func (unfit) Check() error { return errors.New("no base") }

func TestArgs(t *testing.T) {
	args, err := fixed.Args(t.Context(), Args{Protocol: "fixed", URL: "https://example.org/", Options: map[string]string{"a": "b"}})
	require.NoError(t, err)
	assert.Equal(t, "https://example.org/", args.Key)
	assert.Equal(t, map[string]string{"a": "b"}, args.Options)

	for want, args := range map[string]Args{
		`Args.Protocol "gopher" must be one of the Registry: check, fixed, none, wrong`: {Protocol: "gopher"},
		`wrong https://example.org/: option x: not a number`:                            {Protocol: "wrong", URL: "https://me:secret@example.org/"},
		`none : its function returned neither a Source nor an error`:                    {Protocol: "none"},
		`check a: no base`:                  {Protocol: "check", URL: "a"},
		`Args.Slice -1s must be at least 0`: {Protocol: "fixed", URL: "a", Slice: -time.Second},
	} {
		_, err := fixed.Args(t.Context(), args)
		assert.ErrorContains(t, err, want)
	}
}

func newWorker() *Worker {
	return &Worker{Harvester: &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New())}, Registry: fixed}
}

func TestConfigure(t *testing.T) {
	var c river.Config
	require.NoError(t, newWorker().Configure(&c))
	assert.Equal(t, 10*time.Minute+10*time.Second, c.RescueStuckJobsAfter)
	assert.Equal(t, 8, c.Queues[Queue].MaxWorkers)

	c = river.Config{JobTimeout: time.Hour, Queues: map[string]river.QueueConfig{Queue: {MaxWorkers: 3}, "other": {MaxWorkers: 1}}, Workers: river.NewWorkers()}
	require.NoError(t, newWorker().Configure(&c))
	assert.Equal(t, time.Hour+10*time.Second, c.RescueStuckJobsAfter)
	assert.Equal(t, 3, c.Queues[Queue].MaxWorkers)
	assert.Len(t, c.Queues, 2)

	for want, change := range map[string]func(*Worker, *river.Config){
		"Worker.Slice -1ns must be at least 0":                      func(w *Worker, _ *river.Config) { w.Slice = -1 },
		"Worker.Harvester must be set, and have a Store":            func(w *Worker, _ *river.Config) { w.Harvester = nil },
		"Worker.Registry must have a protocol":                      func(w *Worker, _ *river.Config) { w.Registry = nil },
		"Config.RescueStuckJobsAfter 10m0s must be at least 10m10s": func(_ *Worker, c *river.Config) { c.RescueStuckJobsAfter = 10 * time.Minute },
	} {
		w, c := newWorker(), river.Config{}
		change(w, &c)
		assert.ErrorContains(t, w.Configure(&c), want)
	}
}

func TestTimeout(t *testing.T) {
	w := newWorker()
	assert.Equal(t, 10*time.Minute, w.Timeout(&river.Job[Args]{}))
	w.Slice = time.Minute
	assert.Equal(t, time.Minute, w.Timeout(&river.Job[Args]{}))
	assert.Equal(t, time.Hour, w.Timeout(&river.Job[Args]{Args: Args{Slice: time.Hour}}))
}

func TestNextRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, now := newWorker(), time.Now()
		began := now.Add(-time.Minute)
		for errs, most := range map[int]time.Duration{0: time.Minute, 1: 2 * time.Minute, 3: 8 * time.Minute, 6: time.Hour, 24: time.Hour} {
			row := &rivertype.JobRow{AttemptedAt: &began, Errors: make([]rivertype.AttemptError, errs)}
			for range 100 {
				wait := w.NextRetry(&river.Job[Args]{JobRow: row}).Sub(now)
				assert.True(t, most/2 < wait && wait <= most, "after %d errors: %v", errs, wait)
			}
		}
		began = now.Add(-11 * time.Minute)
		assert.Equal(t, now, w.NextRetry(&river.Job[Args]{JobRow: &rivertype.JobRow{AttemptedAt: &began}}), "its machine has died")
	})
}

// A later is an error that states when to come back.
type later struct{ at time.Time }

func (later) Error() string           { return "busy" }
func (e later) RetryAfter() time.Time { return e.at }

func TestAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker()
		over, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		cancelled, cancelRemotely := context.WithCancelCause(t.Context())
		cancelRemotely(river.ErrJobCancelledRemotely)
		failed := errors.New("not a sitemap")
		for name, tt := range map[string]struct {
			ctx         context.Context
			err         error
			least, most time.Duration
		}{
			"the slice is over":        {over, fmt.Errorf("harvest: %w", context.DeadlineExceeded), 0, 0},
			"the slice is over, later": {over, later{time.Now().Add(time.Hour)}, 0, 0},
			"budget spent":             {t.Context(), errUnfinished, 0, 0},
			"held":                     {t.Context(), fmt.Errorf("x: %w", harvest.ErrHeld), 10 * time.Second, 20 * time.Second},
			"fenced":                   {t.Context(), harvest.ErrFenced, 10 * time.Second, 20 * time.Second},
			"not yet":                  {t.Context(), harvest.ErrNotYet, 10 * time.Second, 20 * time.Second},
			"slot lost":                {t.Context(), fmt.Errorf("x: %w", harvest.ErrFenced), 10 * time.Second, 20 * time.Second},
			"later":                    {t.Context(), fmt.Errorf("x: %w", later{time.Now().Add(time.Hour)}), time.Hour, time.Hour},
			"now":                      {t.Context(), later{time.Now().Add(-time.Hour)}, time.Second, time.Second},
		} {
			var snooze *river.JobSnoozeError
			require.ErrorAs(t, w.answer(tt.ctx, tt.err), &snooze, name)
			assert.True(t, tt.least <= snooze.Duration && snooze.Duration <= tt.most, "%s: %v", name, snooze.Duration)
		}
		assert.NoError(t, w.answer(t.Context(), nil))
		assert.NoError(t, w.answer(over, nil), "it has ended in time")
		assert.Equal(t, failed, w.answer(t.Context(), failed))
		assert.ErrorIs(t, w.answer(cancelled, context.Canceled), river.ErrJobCancelledRemotely)
	})
}

func TestWork(t *testing.T) {
	w := newWorker()
	var ended []Args
	w.Ended = func(args Args, r *harvest.Report, err error) {
		assert.NotNil(t, r)
		assert.NoError(t, err)
		ended = append(ended, args)
	}
	args, err := w.Registry.Args(t.Context(), Args{Protocol: "fixed", URL: "https://example.org/a"})
	require.NoError(t, err)
	work := func(args Args) error {
		return w.Work(t.Context(), &river.Job[Args]{JobRow: &rivertype.JobRow{}, Args: args})
	}
	require.NoError(t, work(args))
	require.NoError(t, work(args), "the slot of the host is free again")
	assert.Equal(t, []Args{args, args}, ended)

	assert.ErrorContains(t, work(Args{Protocol: "fixed", URL: "https://example.org/a"}), `Args.Key "" must be the Key of the Source, "https://example.org/a"`)
	assert.ErrorContains(t, work(Args{Protocol: "gopher"}), "must be one of the Registry")

	_, release, err := w.hold(t.Context(), "https://example.org", 1)
	require.NoError(t, err)
	defer release()
	var snooze *river.JobSnoozeError
	assert.ErrorAs(t, work(args), &snooze, "another job has the slot")
	w.PerHost = 2
	assert.NoError(t, work(args))
	w.PerHost = -1
	assert.NoError(t, work(args))
	assert.Len(t, ended, 4)
}

// A panicking is a Source that panics.
type panicking struct{ harvest.Source }

func (panicking) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	panic("on purpose")
}

// TestWorkOfASourceThatPanics: its job fails, and the slot of its host is free for the
// jobs of other sources.
func TestWorkOfASourceThatPanics(t *testing.T) {
	w := newWorker()
	w.Registry = Registry{
		"panics": func(_ context.Context, a Args) (harvest.Source, error) { return panicking{harvest.Of(a.URL)}, nil },
		"fixed":  fixed["fixed"],
	}
	for range 2 {
		for protocol, fails := range map[string]bool{"panics": true, "fixed": false} {
			url := "https://example.org/" + protocol
			err := w.Work(t.Context(), &river.Job[Args]{JobRow: &rivertype.JobRow{}, Args: Args{Protocol: protocol, URL: url, Key: url}})
			assert.Equal(t, fails, err != nil, "%v", err)
			if fails {
				_, ok := errors.AsType[*websync.PanicError](err)
				assert.True(t, ok, "%v", err)
			}
		}
	}
}
