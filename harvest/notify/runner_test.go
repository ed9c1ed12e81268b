package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

const feedURL = "https://example.org/feed.atom"

// runs records when sources ran.
type runs struct {
	mu     sync.Mutex
	began  time.Time
	at     []time.Duration
	takes  time.Duration
	report *harvest.Report
	err    error
}

func (r *runs) harvest(ctx context.Context, _ harvest.Source) (*harvest.Report, error) {
	r.mu.Lock()
	r.at = append(r.at, time.Since(r.began))
	r.mu.Unlock()
	select {
	case <-time.After(r.takes):
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.report, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *runs) set(report *harvest.Report, err error) {
	r.mu.Lock()
	r.report, r.err = report, err
	r.mu.Unlock()
}

func (r *runs) times() []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.at)
}

// newRunner returns a Runner of one source that has two URLs.
func newRunner(r *runs) *Runner {
	r.began = time.Now()
	if r.report == nil {
		r.report = new(harvest.Report)
	}
	src := harvest.Of("feed")
	return &Runner{Harvest: r.harvest, Sources: map[string]harvest.Source{feedURL: src, "http://example.org/feed.atom": src}}
}

// during runs a loop while f runs.
func during(t *testing.T, run func(context.Context) error, f func()) {
	t.Helper()
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	synctest.Wait()
	f()
	cancel(stopped)
	assert.ErrorIs(t, <-done, stopped)
}

func TestNoticesDuringARunMakeOneMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &runs{takes: time.Minute}
		r := newRunner(seen)
		require.True(t, r.Notify(feedURL), "before Run")
		during(t, r.Run, func() {
			for range 5 {
				time.Sleep(10 * time.Second)
				require.True(t, r.Notify(feedURL))
				require.True(t, r.Notify("http://example.org/feed.atom"))
			}
			time.Sleep(time.Hour)
		})
		assert.Equal(t, []time.Duration{0, 70 * time.Second}, seen.times())
	})
}

func TestAFloodOfNoticesRunsOncePerInterval(t *testing.T) {
	for interval, want := range map[time.Duration]int{0: 60, time.Minute: 10, -1: 600} {
		t.Run(interval.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := new(runs)
				r := newRunner(seen)
				r.Interval = interval
				during(t, r.Run, func() {
					for range 600 {
						r.Notify(feedURL)
						time.Sleep(time.Second)
					}
				})
				assert.InDelta(t, want, len(seen.times()), 1)
			})
		})
	}
}

func TestUnknownURLs(t *testing.T) {
	r := newRunner(new(runs))
	for _, url := range []string{"", "feed", feedURL + "/", "https://example.net/feed.atom"} {
		assert.False(t, r.Notify(url), url)
	}
	assert.False(t, new(Runner).Notify(feedURL))
}

func TestEveryRunsWithoutNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(runs)
		r := newRunner(seen)
		r.Every = time.Hour
		during(t, r.Run, func() {
			time.Sleep(90 * time.Minute)
			r.Notify(feedURL)
			time.Sleep(90 * time.Minute)
		})
		assert.Equal(t, []time.Duration{0, time.Hour, 90 * time.Minute, 150 * time.Minute}, seen.times())
	})
}

func TestARunThatFailsIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &runs{err: errors.New("no route")}
		r := newRunner(seen)
		r.Notify(feedURL)
		during(t, r.Run, func() {
			time.Sleep(24 * time.Hour)
			require.Len(t, seen.times(), 5)
			for i, longest := range []time.Duration{1, 2, 4, 8} {
				longest *= time.Minute
				wait := seen.times()[i+1] - seen.times()[i]
				assert.True(t, longest/2 <= wait && wait <= longest, "%v after failure %d", wait, i+1)
			}
			seen.set(new(harvest.Report), nil)
			r.Notify(feedURL)
			time.Sleep(24 * time.Hour)
			assert.Len(t, seen.times(), 6, "no repetitions until a notice, then one run")
		})
	})
}

func TestANoticeComesBeforeTheRepetition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &runs{err: errors.New("no route")}
		r := newRunner(seen)
		r.Notify(feedURL)
		during(t, r.Run, func() {
			time.Sleep(12 * time.Second)
			seen.set(new(harvest.Report), nil)
			r.Notify(feedURL)
			time.Sleep(time.Hour)
		})
		assert.Equal(t, []time.Duration{0, 12 * time.Second}, seen.times())
	})
}

func TestTasksThatARunLeaves(t *testing.T) {
	for name, tt := range map[string]struct{ due, want time.Duration }{
		"later":       {20 * time.Minute, 20 * time.Minute},
		"overdue":     {-time.Minute, 10 * time.Second},
		"after Every": {2 * time.Hour, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := &runs{report: &harvest.Report{Left: harvest.TaskCounts{Waiting: 1, Next: time.Now().Add(tt.due)}}}
				r := newRunner(seen)
				r.Every = time.Hour
				during(t, r.Run, func() {
					time.Sleep(tt.want - time.Second)
					require.Len(t, seen.times(), 1)
					seen.set(new(harvest.Report), nil)
					time.Sleep(2 * time.Second)
					assert.Equal(t, []time.Duration{0, tt.want}, seen.times())
				})
			})
		})
	}
}

func TestNoMoreSourcesRunAtOnceThanAllowed(t *testing.T) {
	for concurrency, want := range map[int]int64{0: 4, 2: 2, -1: 10} {
		t.Run(fmt.Sprint(concurrency), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var now, most, total atomic.Int64
				r := &Runner{Concurrency: concurrency, Sources: make(map[string]harvest.Source), Every: 24 * time.Hour}
				for i := range 10 {
					r.Sources[fmt.Sprint(i)] = harvest.Of(fmt.Sprint(i))
				}
				r.Harvest = func(context.Context, harvest.Source) (*harvest.Report, error) {
					most.Store(max(most.Load(), now.Add(1)))
					time.Sleep(time.Minute)
					now.Add(-1)
					total.Add(1)
					return nil, nil
				}
				during(t, r.Run, func() { time.Sleep(time.Hour) })
				assert.Equal(t, want, most.Load())
				assert.Equal(t, int64(10), total.Load())
			})
		})
	}
}

func TestNoticesWithoutASlotMakeOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &runs{takes: time.Minute}
		r := newRunner(seen)
		r.Concurrency = 1
		r.Sources["https://example.org/other"] = harvest.Of("other")
		during(t, r.Run, func() {
			r.Notify("https://example.org/other")
			for range 5 {
				time.Sleep(10 * time.Second)
				r.Notify(feedURL)
			}
			time.Sleep(time.Hour)
		})
		assert.Equal(t, []time.Duration{0, time.Minute}, seen.times())
	})
}

func TestRepetitionsRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &runs{err: errors.New("no route")}
		r := newRunner(seen)
		during(t, r.Run, func() {
			r.Notify(feedURL)
			time.Sleep(time.Hour)
			r.Notify(feedURL)
			time.Sleep(time.Hour)
			require.Len(t, seen.times(), 10, "after the last repetition")

			r.Notify(feedURL)
			time.Sleep(5 * time.Minute)
			seen.set(new(harvest.Report), nil)
			r.Notify(feedURL)
			time.Sleep(time.Minute)
			seen.set(nil, errors.New("no route"))
			before := len(seen.times())
			r.Notify(feedURL)
			time.Sleep(time.Hour)
			assert.Len(t, seen.times(), before+5, "after a success")
		})
	})
}

func TestRunEndsAfterItsRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		r := newRunner(new(runs))
		r.Harvest = func(ctx context.Context, _ harvest.Source) (*harvest.Report, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // tidying up
			ended = true
			return nil, ctx.Err()
		}
		r.Notify(feedURL)
		during(t, r.Run, func() { time.Sleep(time.Second) })
		assert.True(t, ended)
	})
}
