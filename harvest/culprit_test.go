package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testkit"
)

// A hookedSource calls a function before each event.
type hookedSource struct {
	harvest.Source
	before func(harvest.Event)
}

func (s hookedSource) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		for e, err := range s.Source.Events(ctx, run) {
			s.before(e)
			if !yield(e, err) {
				return
			}
		}
	}
}

// TestPanic panics in every part that is not the engine's, and recovers above Run: the
// claim is free again, no goroutine is left, and the next run continues.
func TestPanic(t *testing.T) {
	boom := errors.New("boom")
	a, b := put("a", day(1)), put("b", day(1))
	for name, arrange := range map[string]func(w *world) harvest.Source{
		"Events at once": func(*world) harvest.Source {
			return hookedSource{snapshot(a, b), func(harvest.Event) { panic(boom) }}
		},
		"Events at the end of a snapshot": func(*world) harvest.Source {
			return hookedSource{snapshot(a, b), func(e harvest.Event) {
				if e.Kind == harvest.SnapshotEnd {
					panic(boom)
				}
			}}
		},
		"Events that end the goroutine": func(*world) harvest.Source {
			return hookedSource{snapshot(a, b), func(harvest.Event) { runtime.Goexit() }}
		},
		"Get": func(*world) harvest.Source {
			return getting{snapshot(a, b), func(context.Context, *harvest.Job) error { panic(boom) }}
		},
		"the Fetcher": func(w *world) harvest.Source {
			w.site.before = func(string) { panic(boom) }
			return snapshot(a, b)
		},
		"a hook of the planner": func(w *world) harvest.Source {
			w.h.Hooks = &harvest.Hooks{Problem: func(string, error) { panic(boom) }}
			return harvest.Of(src, harvest.Event{Kind: harvest.Problem})
		},
		"a hook of commit": func(w *world) harvest.Source {
			w.h.Hooks = &harvest.Hooks{Commit: func(context.Context, harvest.CommitInfo) { panic(boom) }}
			return snapshot(a, b)
		},
		"a hook that ends its goroutine": func(w *world) harvest.Source {
			w.h.Hooks = &harvest.Hooks{Outcome: func(string, string, harvest.Outcome, error) { runtime.Goexit() }}
			return snapshot(a, b)
		},
		"a hook of progress": func(w *world) harvest.Source {
			w.site.before = func(string) { time.Sleep(time.Minute) }
			w.h.Hooks = &harvest.Hooks{Progress: func(harvest.Progress) { panic(boom) }}
			return snapshot(a, b)
		},
		"a hook of progress that ends its goroutine": func(w *world) harvest.Source {
			w.site.before = func(string) { time.Sleep(time.Minute) }
			w.h.Hooks = &harvest.Hooks{Progress: func(harvest.Progress) { runtime.Goexit() }}
			return snapshot(a, b)
		},
		"Renew": func(w *world) harvest.Source {
			w.site.before = func(string) { time.Sleep(time.Minute) }
			w.h.Store = &faulty{Store: w.store, renew: func() { panic(boom) }}
			return snapshot(a, b)
		},
		"the end of the run": func(w *world) harvest.Source {
			w.h.Fetcher = unsaving{w.site, func() map[string][]byte { panic(boom) }}
			return harvest.Of(src)
		},
		"the Store": func(w *world) harvest.Source {
			w.h.Store = &faulty{Store: w.store, lookup: func([]harvest.Record) []harvest.Record { panic(boom) }}
			return harvest.Of(src, a, b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.pages("a", "b")
				source := arrange(w)
				ended := make(chan any)
				go func() {
					defer close(ended)
					defer func() { ended <- recover() }()
					_, err := w.h.Run(t.Context(), source)
					ended <- err
				}()
				err, ok := (<-ended).(error)
				for range ended {
				}
				if ok {
					require.True(t, errors.Is(err, boom) || err.Error() == "harvest: "+src+": a panic ended the run", "%v", err)
				}
				w.h.Store, w.h.Fetcher, w.h.Hooks, w.site.before = w.store, w.site, nil, nil
				require.True(t, w.run(snapshot(a, b)).InStep())
				require.Len(t, w.live(), 2)
			})
		})
	}
}

// unsaving is a Fetcher with a method Unsaved.
type unsaving struct {
	harvest.Fetcher
	unsaved func() map[string][]byte
}

func (k unsaving) Unsaved() map[string][]byte { return k.unsaved() }

// A faulty is a Store that changes the answers of another one.
type faulty struct {
	harvest.Store
	lookup func([]harvest.Record) []harvest.Record
	tasks  func([]harvest.Task) []harvest.Task
	due    func([]harvest.Task) []harvest.Task
	// conflicts to return instead of a Commit, if any
	commit  func(*harvest.Batch) []string
	renew   func()
	commits int
	nothing bool // Claim and NewBody return nil
}

func change[T any](answer T, err error, f func(T) T) (T, error) {
	if err != nil || f == nil {
		return answer, err
	}
	return f(answer), nil
}

func (f *faulty) Lookup(ctx context.Context, source string, ids []string) ([]harvest.Record, error) {
	records, err := f.Store.Lookup(ctx, source, ids)
	return change(records, err, f.lookup)
}

func (f *faulty) LookupTasks(ctx context.Context, source string, ids []string) ([]harvest.Task, error) {
	tasks, err := f.Store.LookupTasks(ctx, source, ids)
	return change(tasks, err, f.tasks)
}

func (f *faulty) Due(ctx context.Context, source string, now time.Time, n int) ([]harvest.Task, error) {
	tasks, err := f.Store.Due(ctx, source, now, n)
	return change(tasks, err, f.due)
}

func (f *faulty) Renew(ctx context.Context, c *harvest.Claim) error {
	if f.renew != nil {
		f.renew()
	}
	return f.Store.Renew(ctx, c)
}

func (f *faulty) Commit(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
	if f.commits++; f.commits > 10_000 {
		panic("ten thousand commits")
	}
	if f.commit != nil {
		if conflicts := f.commit(b); len(conflicts) > 0 {
			return conflicts, nil
		}
	}
	return f.Store.Commit(ctx, c, b)
}

func (f *faulty) NewBody(ctx context.Context) (harvest.BodyWriter, error) {
	if f.nothing {
		return nil, nil
	}
	return f.Store.NewBody(ctx)
}

// TestFaultyStore expects an error that names the Store. The engine may ask for one or
// two ids at once, depending on how fast its stages run; the faults and the errors are
// the same for both.
func TestFaultyStore(t *testing.T) {
	fewer := func(records []harvest.Record) []harvest.Record { return records[:len(records)-1] }
	two := harvest.Of(src, put("a", day(1)), put("b", day(1)))
	waiting := func(w *world) {
		w.list(two)
	}
	gone := func(w *world) {
		w.h.MaxDelete = -1
		w.run(two)
	}
	var round []harvest.Task
	for name, test := range map[string]struct {
		before func(*world)
		faulty faulty
		src    harvest.Source
		want   string
	}{
		"too few records":   {nil, faulty{lookup: fewer}, two, "store: Lookup returned (0 answers for 1|1 answers for 2) ids"},
		"no records":        {nil, faulty{lookup: func([]harvest.Record) []harvest.Record { return nil }}, two, "Lookup returned 0 answers"},
		"too many records":  {nil, faulty{lookup: func(r []harvest.Record) []harvest.Record { return append(r, r...) }}, two, "Lookup returned (2 answers for 1|4 answers for 2) ids"},
		"records for a log": {gone, faulty{lookup: func(r []harvest.Record) []harvest.Record { r[0].Resource.ID += "x"; return r }}, two, `Lookup returned "(.+)x" when asked for "(.+)"`},
		"too few tasks":     {waiting, faulty{tasks: func(t []harvest.Task) []harvest.Task { return t[:len(t)-1] }}, two, "LookupTasks returned (0 answers for 1|1 answers for 2) ids"},
		"other tasks":       {waiting, faulty{tasks: func(t []harvest.Task) []harvest.Task { t[0].Resource.ID += "x"; return t }}, two, `LookupTasks returned "(.+)x" when asked for "(.+)"`},
		"a task due for ever": {waiting, faulty{due: func(t []harvest.Task) []harvest.Task {
			if len(t) > 0 {
				round = t
			}
			return round
		}}, harvest.Of(src), "Due returned task"},
		"a conflict of nobody": {nil, faulty{commit: func(*harvest.Batch) []string { return []string{"x"} }}, two,
			`Commit returned a conflict "x" that is in no Put or Touch of the batch`},
		"a conflict of nobody in a sweep": {gone, faulty{commit: func(b *harvest.Batch) []string { return []string{"x"} }}, snapshot(),
			`Commit returned a conflict "x" that is in no Put or Touch of the batch`},
		"a conflict without a reason": {nil, faulty{commit: func(b *harvest.Batch) []string {
			if len(b.Puts) == 0 {
				return nil
			}
			return []string{b.Puts[0].Record.Resource.ID}
		}}, two, "Commit returned a conflict for \"" + base},
		"no body": {nil, faulty{nothing: true}, two, "NewBody returned neither a writer nor an error"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.pages("a", "b")
			if test.before != nil {
				test.before(w)
			}
			store := test.faulty
			store.Store = w.store
			w.h.Store = &store
			r, err := w.h.Run(t.Context(), test.src)
			require.Error(t, err)
			require.Regexp(t, test.want, err.Error())
			require.ErrorContains(t, err, "store: ")
			require.False(t, r.InStep())
			require.Less(t, store.commits, 100)
		})
	}
	t.Run("no claim", func(t *testing.T) {
		h := &harvest.Harvester{Store: claimless{memstore.New()}}
		_, err := h.Run(t.Context(), two)
		require.ErrorContains(t, err, "Claim returned neither a claim nor an error")
	})
	t.Run("approve", func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		w.run(harvest.Of(src, put("a", day(1))))
		require.EqualValues(t, 1, w.run(snapshot()).Withheld)
		w.h.Store = &faulty{Store: w.store, lookup: fewer}
		_, err := w.h.Approve(t.Context(), two)
		require.ErrorContains(t, err, "Lookup returned 0 answers for 1 ids")
		w.h.Store = &faulty{Store: w.store, commit: func(*harvest.Batch) []string { return []string{"x"} }}
		_, err = w.h.Approve(t.Context(), two)
		require.ErrorContains(t, err, `a conflict "x"`)
	})
}

type claimless struct{ harvest.Store }

func (claimless) Claim(context.Context, string, time.Duration) (*harvest.Claim, error) {
	return nil, nil
}

// TestConflictsOfOthers has another process change the record before each Commit: such
// conflicts may come often.
func TestConflictsOfOthers(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	n := 0
	w.h.Store = &faulty{Store: w.store, commit: func(b *harvest.Batch) []string {
		if n++; n > 20 || len(b.Puts) == 0 {
			return nil
		}
		other := harvest.Harvester{Store: w.store, Bodies: harvest.SkipBodies}
		// this takes no more than a claim
		_, err := other.Work(t.Context(), harvest.Of(src))
		require.NoError(t, err)
		claim, err := w.store.Claim(t.Context(), "other", time.Minute)
		require.NoError(t, err)
		rec := w.record("a")
		batch := harvest.NewBatch(src)
		batch.Puts = []harvest.Change{{Base: rec.Seq, Record: harvest.Record{Item: websync.Item{Resource: websync.Resource{
			ID: base + "a", Title: fmt.Sprint(n)}}}}}
		_, err = w.store.Commit(t.Context(), claim, batch)
		require.NoError(t, err)
		require.NoError(t, w.store.Release(t.Context(), claim))
		return nil
	}}
	require.True(t, w.run(harvest.Of(src, put("a", day(1)))).InStep())
	require.Greater(t, n, 20)
}

// TestFaultyFetcher has a Fetcher return no Response, or one without a body.
func TestFaultyFetcher(t *testing.T) {
	for name, test := range map[string]struct {
		resp *harvest.Response
		want string
	}{
		"no response": {nil, "returned neither a Response nor an error"},
		"no body":     {&harvest.Response{Status: 200}, "returned a Response without a Body"},
		"unasked":     {&harvest.Response{Status: 304, NotModified: true}, "returned NotModified for a Request without a Validator"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.h.Fetcher = testkit.FetchFunc(func(context.Context, *harvest.Request) (*harvest.Response, error) { return test.resp, nil })
			r := w.run(harvest.Of(src, put("a", day(1))))
			require.Contains(t, r.Failures[0].Error, "the Fetcher, a testkit.FetchFunc, "+test.want)
			r = w.run(reading{})
			require.Contains(t, r.Problems[0].Error, test.want)
		})
	}
}

// reading is a Source that fetches a document.
type reading struct{}

func (reading) Key() string { return src }

func (reading) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		if _, err := run.Fetcher.Fetch(ctx, &harvest.Request{URL: src}); err != nil {
			yield(harvest.Event{Kind: harvest.Problem, Err: err}, nil)
		}
	}
}
