package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/fill"
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

// newScheduler returns a Runner of one source that has two URLs.
func newScheduler(r *runs) *Scheduler {
	r.began = time.Now()
	if r.report == nil {
		r.report = new(harvest.Report)
	}
	return scheduler(r.harvest, Entry{Source: harvest.Of("feed"), URLs: []string{feedURL, "http://example.org/feed.atom"}})
}

// scheduler returns a Scheduler that runs its entries after notices only, by a function
// in the place of its Harvester.
func scheduler(run func(context.Context, harvest.Source) (*harvest.Report, error), entries ...Entry) *Scheduler {
	for i := range entries {
		e := &entries[i]
		e.Every, e.Jitter = cmp.Or(e.Every, -1), cmp.Or(e.Jitter, -1)
	}
	return &Scheduler{
		Harvester: &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New())}, Entries: entries, run: run,
		waitsAfter: 1000 * time.Hour, // such a function makes no progress that a Scheduler sees
	}
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
		r := newScheduler(seen)
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
				r := newScheduler(seen)
				r.Entries[0].Interval = interval
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
	r := newScheduler(new(runs))
	for _, url := range []string{"", "feed", feedURL + "/", "https://example.net/feed.atom"} {
		assert.False(t, r.Notify(url), url)
	}
	assert.False(t, new(Scheduler).Notify(feedURL))
}

func TestEveryRunsWithoutNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(runs)
		r := newScheduler(seen)
		r.Entries[0].Every = time.Hour
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
		r := newScheduler(seen)
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
		r := newScheduler(seen)
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
				r := newScheduler(seen)
				r.Entries[0].Every = time.Hour
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
				var entries []Entry
				for i := range 10 {
					entries = append(entries, Entry{Source: harvest.Of(fmt.Sprint(i)), Every: 24 * time.Hour})
				}
				r := scheduler(nil, entries...)
				r.Concurrency = concurrency
				r.run = func(context.Context, harvest.Source) (*harvest.Report, error) {
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

// TestRunsThatOnlyWait: hosts that answer slowly do not keep an honest source waiting,
// nor do those that list without end. A run that makes progress counts for a quarter of
// an hour, and so does any up to 16 times Concurrency.
func TestRunsThatOnlyWait(t *testing.T) {
	for name, tt := range map[string]struct {
		slow     int
		progress time.Duration // of slow ones, between two signs of it
		takes    time.Duration // each of them
		begins   time.Duration
	}{
		"20 that wait":            {20, 0, 10 * time.Minute, 2500 * time.Millisecond},
		"20 with slow answers":    {20, 10 * time.Second, 10 * time.Minute, 2500 * time.Millisecond},
		"20 that make progress":   {20, 100 * time.Millisecond, 10 * time.Minute, 5 * 10 * time.Minute},
		"4 that never end":        {4, 100 * time.Millisecond, 1000 * time.Hour, 15 * time.Minute},
		"20 that never end":       {20, 100 * time.Millisecond, 1000 * time.Hour, 5 * 15 * time.Minute},
		"more than run at a time": {64, 0, 10 * time.Minute, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var entries []Entry
				for i := range tt.slow {
					entries = append(entries, Entry{Source: harvest.Of(fmt.Sprintf("https://slow%d.example/", i)), Every: 24 * time.Hour})
				}
				s := scheduler(nil, append(entries, Entry{Source: harvest.Of("https://honest.example/"), Every: 24 * time.Hour})...)
				s.waitsAfter = 0
				began, honest := time.Now(), atomic.Int64{}
				s.run = func(ctx context.Context, src harvest.Source) (*harvest.Report, error) {
					if src.Key() == "https://honest.example/" {
						honest.Store(int64(time.Since(began)))
						return nil, nil
					}
					for end := time.Now().Add(tt.takes); time.Now().Before(end) && ctx.Err() == nil; {
						if tt.progress == 0 {
							time.Sleep(time.Until(end))
							break
						}
						time.Sleep(tt.progress)
						s.mu.Lock()
						for _, turn := range s.turns {
							if turn.key == src.Key() {
								turn.goesOn()
							}
						}
						s.mu.Unlock()
					}
					return nil, nil
				}
				during(t, s.Run, func() { time.Sleep(2 * time.Hour) })
				assert.Equal(t, tt.begins, time.Duration(honest.Load()).Round(100*time.Millisecond))
			})
		})
	}
}

func TestNoticesWithoutASlotMakeOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &runs{takes: time.Minute}
		r := newScheduler(seen)
		r.Concurrency = 1
		r.Entries = append(r.Entries, Entry{Source: harvest.Of("other"), URLs: []string{"https://example.org/other"}, Every: -1})
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
		r := newScheduler(seen)
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
		r := newScheduler(new(runs))
		r.run = func(ctx context.Context, _ harvest.Source) (*harvest.Report, error) {
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

// TestErrorOfACancelledRun: Ended gets all that a run says.
func TestErrorOfACancelledRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newScheduler(new(runs))
		r.run = func(ctx context.Context, _ harvest.Source) (*harvest.Report, error) {
			<-ctx.Done()
			return nil, errors.Join(context.Cause(ctx), errDown)
		}
		var ended error
		r.Ended = func(_ harvest.Source, _ *harvest.Report, err error) { ended = err }
		r.Notify(feedURL)
		during(t, r.Run, func() { time.Sleep(time.Second) })
		assert.ErrorIs(t, ended, errDown)
	})
}

func TestCheck(t *testing.T) {
	store := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New())}
	a := Entry{Source: harvest.Of("https://user:secret@example.org/a")}
	for name, tt := range map[string]struct {
		s    *Scheduler
		want string
	}{
		"no Harvester":     {&Scheduler{}, "schedule: Scheduler.Harvester must be set, and have a Store"},
		"no Store":         {&Scheduler{Harvester: new(harvest.Harvester)}, "schedule: Scheduler.Harvester must be set, and have a Store"},
		"no Source":        {&Scheduler{Harvester: store, Entries: []Entry{{}}}, "schedule: Entry.Source must be set"},
		"one Key twice":    {&Scheduler{Harvester: store, Entries: []Entry{a, a}}, `schedule: two entries have a Source with the Key "https://example.org/a"`},
		"a day of 25h":     {&Scheduler{Harvester: store, Entries: []Entry{{Source: a.Source, Daily: []time.Duration{24 * time.Hour}}}}, `schedule: "https://example.org/a": Entry.Daily 24h0m0s must be at least 0 and less than 24h`},
		"before midnight":  {&Scheduler{Harvester: store, Entries: []Entry{{Source: a.Source, Daily: []time.Duration{-1}}}}, `schedule: "https://example.org/a": Entry.Daily -1ns must be at least 0 and less than 24h`},
		"nothing is wrong": {&Scheduler{Harvester: store, Entries: []Entry{a}}, ""},
		"no entries":       {&Scheduler{Harvester: store}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := tt.s.Check()
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tt.want)
			require.EqualError(t, tt.s.Run(t.Context()), tt.want)
			assert.False(t, tt.s.Notify("https://example.org/a"))
		})
	}
}

// TestRestart: what is due next is known after a restart, also if the process was killed
// in a run or its list has changed.
func TestRestart(t *testing.T) {
	for name, tt := range map[string]struct {
		down  time.Duration // after half an hour
		every time.Duration // after the restart
		want  time.Duration // since the start
	}{
		"in time":           {10 * time.Minute, time.Hour, time.Hour},
		"late":              {10 * time.Hour, time.Hour, 10*time.Hour + 30*time.Minute},
		"a shorter Every":   {10 * time.Minute, 45 * time.Minute, 45 * time.Minute},
		"shorter, and late": {10 * time.Minute, 35 * time.Minute, 40 * time.Minute},
		"a longer Every":    {10 * time.Minute, 5 * time.Hour, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := new(runs)
				r := newScheduler(seen)
				r.Entries[0].Every = time.Hour
				during(t, r.Run, func() { time.Sleep(30 * time.Minute) })
				time.Sleep(tt.down)
				began := seen.began
				again := newScheduler(seen)
				again.Entries[0].Every, again.Harvester, seen.began = tt.every, r.Harvester, began
				during(t, again.Run, func() { time.Sleep(tt.want - time.Since(began) + time.Minute) })
				assert.Equal(t, []time.Duration{0, tt.want}, seen.times())
			})
		})
	}
}

func TestInterruptedRunsAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &runs{takes: time.Minute}
		r := newScheduler(seen)
		r.Entries[0].Every = time.Hour
		during(t, r.Run, func() { time.Sleep(time.Second) })
		again := newScheduler(seen)
		again.Entries[0].Every, again.Harvester = time.Hour, r.Harvester
		during(t, again.Run, func() { time.Sleep(30 * time.Minute) })
		assert.Equal(t, []time.Duration{0, 0}, seen.times())
	})
}

// TestTwoProcesses: each run is made by one of the processes that share a Store.
func TestTwoProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, total := make(map[string]int), 0
		store := harvest.NewCatalog(memstore.New())
		process := func() *Scheduler {
			var entries []Entry
			for i := range 20 {
				entries = append(entries, Entry{Source: harvest.Of(fmt.Sprintf("https://%d.example/", i)), Every: time.Hour})
			}
			s := scheduler(nil, entries...)
			s.Harvester.Catalog = store
			s.run = func(ctx context.Context, src harvest.Source) (*harvest.Report, error) {
				mu.Lock()
				defer mu.Unlock()
				if running[src.Key()] > 0 {
					return nil, fmt.Errorf("source %q: %w", src.Key(), harvest.ErrHeld)
				}
				running[src.Key()]++
				total++
				mu.Unlock()
				time.Sleep(30*time.Second + rand.N(20*time.Second)) // no two end at the same time
				mu.Lock()
				running[src.Key()]--
				return nil, nil
			}
			return s
		}
		during(t, process().Run, func() {
			during(t, process().Run, func() { time.Sleep(10*time.Hour + 30*time.Minute) })
		})
		// a run an hour and some seconds, and some minutes of waiting for a slot
		assert.True(t, 19*10 <= total && total <= 20*11, "%d", total)
	})
}

// TestHosts: a host with many sources that are due does not keep others waiting.
func TestHosts(t *testing.T) {
	for perHost, want := range map[int]int{0: 1, 2: 2, -1: 3} {
		t.Run(fmt.Sprint(perHost), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				running, most := make(map[string]int), make(map[string]int)
				var order []string
				var entries []Entry
				for i := range 30 {
					entries = append(entries, Entry{Source: harvest.Of(fmt.Sprintf("https://big.example/%d", i)), Every: 100 * time.Hour})
				}
				for i := range 3 {
					entries = append(entries, Entry{Source: harvest.Of(fmt.Sprintf("https://small%d.example/", i)), Every: 100 * time.Hour})
				}
				s := scheduler(nil, entries...)
				s.PerHost = perHost
				s.run = func(ctx context.Context, src harvest.Source) (*harvest.Report, error) {
					host := harvest.Host(src)
					mu.Lock()
					order = append(order, host)
					running[host]++
					most[host] = max(most[host], running[host])
					mu.Unlock()
					time.Sleep(time.Minute)
					mu.Lock()
					running[host]--
					mu.Unlock()
					return nil, nil
				}
				during(t, s.Run, func() { time.Sleep(2 * time.Hour) })
				require.Len(t, order, 33)
				assert.ElementsMatch(t, []string{"https://big.example", "https://small0.example", "https://small1.example", "https://small2.example"}, order[:4])
				if perHost >= 0 {
					assert.Equal(t, want, most["https://big.example"])
				} else {
					assert.Equal(t, 4, most["https://big.example"])
				}
			})
		})
	}
}

// TestRunsThatAnotherProcessMakes are looked at again.
func TestRunsThatAnotherProcessMakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &runs{err: fmt.Errorf("source: %w", harvest.ErrHeld)}
		r := newScheduler(seen)
		r.Notify(feedURL)
		during(t, r.Run, func() {
			time.Sleep(90 * time.Second)
			seen.set(nil, fmt.Errorf("source: %w", harvest.ErrFenced))
			time.Sleep(60 * time.Second)
			seen.set(new(harvest.Report), nil)
			time.Sleep(time.Hour)
		})
		assert.Equal(t, []time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute}, seen.times(), "the notice is not lost")
	})
}

// A Scheduler keeps to its Retention, beside its runs.
func TestRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(new(runs))
		for range 3 {
			item := websync.Item{Resource: websync.Resource{ID: "https://example.org/1"}}
			require.NoError(t, fill.Commit(t.Context(), s.Harvester.Catalog, "feed", item))
		}
		s.Retention = harvest.Retention{Log: time.Hour}
		var done []harvest.Retained
		s.Retained = func(r harvest.Retained, err error) {
			assert.NoError(t, err)
			done = append(done, r)
		}
		during(t, s.Run, func() { time.Sleep(30 * time.Hour) })
		assert.Equal(t, []harvest.Retained{{Entries: 2}}, done)
	})
}

func TestBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &runs{report: &harvest.Report{BudgetSpent: true}}
		r := newScheduler(seen)
		r.Entries[0].Every, r.Entries[0].Interval = time.Hour, time.Minute
		during(t, r.Run, func() {
			time.Sleep(150 * time.Second)
			seen.set(new(harvest.Report), nil)
			time.Sleep(30 * time.Minute)
		})
		assert.Equal(t, []time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute}, seen.times())
	})
}

// A slow source yields some events and then waits for the context to end.
type slow struct {
	events int
	pause  time.Duration
}

func (s slow) Key() string { return "https://slow.example/" }

func (s slow) Events(ctx context.Context, _ *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		for i := range s.events {
			select {
			case <-time.After(s.pause):
			case <-ctx.Done():
				yield(harvest.Event{}, context.Cause(ctx))
				return
			}
			if !yield(harvest.Event{Resource: websync.Resource{ID: fmt.Sprintf("https://slow.example/%d", i)}}, nil) {
				return
			}
		}
		<-ctx.Done()
		yield(harvest.Event{}, context.Cause(ctx))
	}
}

// TestStall: a run that makes progress goes on, and one that makes none is ended. A
// Harvester makes the runs.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hooked int
		h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Bodies: harvest.SkipBodies, Hooks: &harvest.Hooks{Commit: func(context.Context, harvest.CommitInfo) { hooked++ }}}
		var errs []error
		var took []time.Duration
		s := &Scheduler{Harvester: h, Stall: 10 * time.Minute, Entries: []Entry{{Source: slow{events: 20, pause: 9 * time.Minute}}},
			Ended: func(_ harvest.Source, report *harvest.Report, err error) {
				errs, took = append(errs, err), append(took, report.Ended.Sub(report.Started))
			}}
		during(t, s.Run, func() { time.Sleep(210 * time.Minute) })
		require.NotEmpty(t, errs)
		assert.ErrorIs(t, errs[0], ErrStalled)
		assert.ErrorContains(t, errs[0], `schedule: "https://slow.example/": no progress for 10m0s`)
		assert.True(t, 190*time.Minute <= took[0] && took[0] <= 200*time.Minute, "%v", took[0])
		assert.NotZero(t, hooked, "the hooks of the Harvester")
	})
}

// TestStoreFails: Run goes on when the Store does, and ends only with an error that does
// not pass.
func TestStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(runs)
		r := newScheduler(seen)
		r.Entries[0].Every = time.Hour
		store := &broken{Store: memstore.New()}
		r.Harvester.Catalog = harvest.NewCatalog(store)
		fail := func(err error) { store.err.Store(&err) }
		fail(errDown)
		done := make(chan error, 1)
		go func() { done <- r.Run(t.Context()) }()
		time.Sleep(time.Hour)
		assert.Empty(t, seen.times())
		assert.Less(t, store.asked.Swap(0), int64(150))
		fail(nil)
		time.Sleep(2 * time.Minute)
		require.Len(t, seen.times(), 1, "a plan is read")

		seen.mu.Lock()
		seen.takes = 10 * time.Minute
		seen.mu.Unlock()
		r.Notify(feedURL)
		time.Sleep(time.Minute)
		fail(errDown)
		time.Sleep(40 * time.Minute)
		r.Notify(feedURL)
		fail(nil)
		time.Sleep(2 * time.Minute)
		require.Len(t, seen.times(), 3, "a plan is saved, and a notice kept")

		for range 10 {
			r.Notify(feedURL)
			fail(errDown)
			time.Sleep(time.Hour)
			fail(nil)
			time.Sleep(20 * time.Minute)
		}
		require.Len(t, seen.times(), 13, "a plan is read again")

		fail(fmt.Errorf("store: %w", harvest.ErrNewer))
		require.ErrorContains(t, <-done, `schedule: the plan of "feed": store: written by a newer version`)
	})
	for _, final := range []error{harvest.ErrNewer, harvest.ErrCorrupt, os.ErrClosed} {
		store := &broken{Store: memstore.New()}
		store.err.Store(&final)
		r := newScheduler(new(runs))
		r.Harvester.Catalog = harvest.NewCatalog(store)
		assert.ErrorIs(t, r.Run(t.Context()), final)
	}
}

var errDown = errors.New("server down")

// A broken store fails with err.
type broken struct {
	harvest.Store
	err   atomic.Pointer[error]
	asked atomic.Int64
}

func (b *broken) ask() error {
	b.asked.Add(1)
	if err := b.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (b *broken) View(ctx context.Context, fn func(harvest.Reader) error) error {
	if err := b.ask(); err != nil {
		return err
	}
	return b.Store.View(ctx, fn)
}

func (b *broken) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	if err := b.ask(); err != nil {
		return err
	}
	return b.Store.Update(ctx, fn)
}

// TestAdd: sources that become known later run, and are noticed, like the others.
func TestAdd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runs{}
		s := newScheduler(r)
		late := Entry{Source: harvest.Of("late"), URLs: []string{"https://example.org/late"}, Every: time.Hour, Jitter: -1}
		require.NoError(t, s.Add(Entry{Source: harvest.Of("early"), Every: -1, URLs: []string{"https://example.org/early"}}))
		ctx, stop := context.WithCancel(t.Context())
		go s.Run(ctx)
		defer stop()
		synctest.Wait()
		require.Empty(t, r.times())
		assert.False(t, s.Notify("https://example.org/late"))
		assert.True(t, s.Notify("https://example.org/early"))
		synctest.Wait()
		require.Len(t, r.times(), 1)

		require.NoError(t, s.Add(late))
		synctest.Wait()
		require.Len(t, r.times(), 2, "it is due at once")
		assert.True(t, s.Notify("https://example.org/late"))
		time.Sleep(time.Minute)
		require.Len(t, r.times(), 3)
		time.Sleep(time.Hour)
		require.Len(t, r.times(), 4)

		require.ErrorContains(t, s.Add(Entry{Source: harvest.Of("new")}, late), `two entries have a Source with the Key "late"`)
		require.NoError(t, s.Add(Entry{Source: harvest.Of("new")}), "it was not added")
		require.ErrorContains(t, s.Add(Entry{}), "Entry.Source must be set")
		require.ErrorContains(t, new(Scheduler).Add(late), "Scheduler.Harvester must be set")
	})
}

// A panicking is a Source that panics, in Events or in Get.
type panicking struct {
	harvest.Source
	lists bool
}

func (p panicking) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	if p.lists {
		panic("on purpose")
	}
	return p.Source.Events(ctx, run)
}

func (p panicking) Get(context.Context, *harvest.Job) error { panic("on purpose") }

// TestSourcesThatPanic: the other sources run, also later.
func TestSourcesThatPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := func(key string) harvest.Source {
			e := harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: key + "/a"}, Open: harvest.OpenBytes([]byte("a"))}
			e.Resource.Content.Href = key + "/a"
			return harvest.Of(key, e)
		}
		sources := []harvest.Source{panicking{of("https://a.example"), true}, panicking{of("https://b.example"), false}, of("https://c.example")}
		var mu sync.Mutex
		ended := map[string][]error{}
		failed := map[string]int64{}
		s := &Scheduler{Harvester: &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}, Ended: func(src harvest.Source, r *harvest.Report, err error) {
			mu.Lock()
			defer mu.Unlock()
			ended[src.Key()] = append(ended[src.Key()], err)
			failed[src.Key()] += r.Failed
		}}
		for _, src := range sources {
			s.Entries = append(s.Entries, Entry{Source: src, Every: time.Hour, Jitter: -1})
		}
		during(t, s.Run, func() { time.Sleep(10*time.Hour + time.Minute) })
		for _, src := range sources {
			assert.Greater(t, len(ended[src.Key()]), 5, src.Key())
		}
		for _, err := range ended["https://a.example"] {
			_, ok := errors.AsType[*websync.PanicError](err)
			assert.True(t, ok, "%v", err)
		}
		assert.NoError(t, errors.Join(append(ended["https://b.example"], ended["https://c.example"]...)...))
		assert.Positive(t, failed["https://b.example"])
		head, err := s.Harvester.Catalog.Head(t.Context())
		require.NoError(t, err)
		assert.EqualValues(t, 1, head.Live["https://c.example"])
	})
}
