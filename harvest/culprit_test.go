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
	"github.com/websync-go/websync/internal/testing/testkit"
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

// TestPanic panics in every part that is not the engine's. Whatever that ends, the
// resource, the run or the goroutine of the caller, the claim is free again, no goroutine
// is left, and the next run continues.
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
			claims := 0
			w.h.Catalog = w.watched(func(_ context.Context, act testkit.Act) error {
				if act == testkit.Claim {
					if claims++; claims == 2 {
						panic(boom)
					}
				}
				return nil
			})
			return snapshot(a, b)
		},
		"the end of the run": func(w *world) harvest.Source {
			w.h.Fetcher = unsaving{w.site, func() map[string][]byte { panic(boom) }}
			return harvest.Of(src)
		},
		"the Store": func(w *world) harvest.Source {
			w.run(harvest.Of(src, a, b))
			w.h.Catalog = w.looking('r', func() { panic(boom) })
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
				w.h.Catalog, w.h.Fetcher, w.h.Hooks, w.site.before = w.store, w.site, nil, nil
				time.Sleep(time.Second) // until the tasks are due
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

// looking returns a Catalog on the world's Store that calls f when a View reads a key
// that begins with kind.
func (w *world) looking(kind byte, f func()) *harvest.Catalog {
	return harvest.NewCatalog(looked{harvest.StoreOf(w.store), kind, f})
}

type looked struct {
	harvest.Store
	kind byte
	f    func()
}

func (l looked) View(ctx context.Context, fn func(harvest.Reader) error) error {
	return l.Store.View(ctx, func(r harvest.Reader) error { return fn(lookedAt{r, l}) })
}

type lookedAt struct {
	harvest.Reader
	looked looked
}

func (l lookedAt) Get(key []byte) ([]byte, error) {
	if key[0] == l.looked.kind {
		l.looked.f()
	}
	return l.Reader.Get(key)
}

// TestConflictsOfOthers has another process change the record before each Commit: such
// conflicts may come often.
func TestConflictsOfOthers(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	n := 0
	w.h.Catalog = w.watched(func(_ context.Context, act testkit.Act) error {
		if act != testkit.Commit {
			return nil
		}
		if n++; n > 20 {
			return nil
		}
		other := harvest.Harvester{Sample: -1, Catalog: w.store, Bodies: harvest.SkipBodies}
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
	})
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
