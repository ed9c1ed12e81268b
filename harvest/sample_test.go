package harvest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// sampling returns a world with n pages, which asks for samples, and a listing of them.
func sampling(t *testing.T, n int) (*world, harvest.Source) {
	w := newWorld(t)
	w.h.Sample = 0
	list := snapshot(w.numbered(n)...)
	require.True(t, w.run(list).InStep())
	w.site.reset()
	return w, list
}

// change changes pages under the times that are stated of them.
func (w *world) change(first, last int) {
	for _, e := range numbered(first, last) {
		w.site.set(e.Resource.Content.Href, "changed "+e.Resource.ID)
	}
}

// TestSample: one in 200 of what seems unchanged is asked for, ten at least.
func TestSample(t *testing.T) {
	for n, want := range map[int]int{1: 1, 10: 10, 11: 10, 1000: 10, 4000: 20} {
		w, list := sampling(t, n)
		for range 3 {
			w.site.reset()
			r := w.run(list)
			require.True(t, r.InStep())
			require.Len(t, w.site.requests, want, n)
			require.Equal(t, harvest.Recheck{Asked: int64(want)}, r.Rechecked.Times)
			require.EqualValues(t, n, r.Unchanged)
			require.EqualValues(t, w.site.bodies, r.Rechecked.Validators.Asked)
		}
		require.Len(t, w.log(), n)
		w.site.reset()
		w.h.Sample = -1
		w.run(list)
		require.Empty(t, w.site.requests)
		w.h.Sample = 20
		w.run(list)
		require.Len(t, w.site.requests, max(want, n/20))
	}
	t.Run("a change that was not stated", func(t *testing.T) {
		w, list := sampling(t, 10)
		w.change(3, 4)
		require.Zero(t, w.plan(list).Differences(), "a plan asks for nothing")
		r := w.run(list)
		require.Equal(t, harvest.Recheck{Asked: 10, Wrong: 1}, r.Rechecked.Times)
		require.EqualValues(t, 1, r.Updated)
		require.True(t, r.InStep())
		require.Contains(t, w.live()[numbered(3, 4)[0].Resource.ID[len(base):]], "changed")
	})
	t.Run("digests", func(t *testing.T) {
		w := newWorld(t)
		w.h.Sample = 0
		w.page("a")
		e := put("a", day(1))
		e.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte("a"))}
		w.run(snapshot(e))
		require.Equal(t, harvest.Recheck{Asked: 1}, w.run(snapshot(e)).Rechecked.Digests)
	})
	t.Run("validators", func(t *testing.T) {
		w, list := sampling(t, 10)
		w.site.stuck = true // every conditional request is answered with "not modified"
		w.change(0, 10)
		var r *harvest.Report
		for range 500 { // a tenth is asked for without a condition
			if r = w.run(list); r.Updated > 0 {
				break
			}
			require.Zero(t, r.Rechecked.Validators.Asked)
		}
		require.Equal(t, r.Updated, r.Rechecked.Times.Wrong)
		require.Zero(t, r.Rechecked.Validators.Asked, "the new bytes have another validator")
	})
	t.Run("the budget", func(t *testing.T) {
		w, list := sampling(t, 100)
		w.h.Budget.Requests, w.h.Concurrency = 3, 1
		r := w.run(list)
		require.Less(t, r.Rechecked.Times.Asked, int64(10))
		require.EqualValues(t, 100, r.Unchanged)
		require.True(t, r.InStep(), "nothing is left of a sample")
	})
	t.Run("no bodies", func(t *testing.T) {
		w := describing(t)
		w.h.Sample = 0
		w.run(snapshot(numbered(0, 20)...))
		w.run(snapshot(numbered(0, 20)...))
		require.Empty(t, w.site.requests)
	})
	t.Run("tasks for others", func(t *testing.T) {
		w, list := sampling(t, 20)
		require.EqualValues(t, 10, w.list(list).Left.Waiting)
		w.work(list)
		require.Len(t, w.site.requests, 10)
		require.Empty(t, w.tasks())
	})
	t.Run("a failure", func(t *testing.T) {
		w, list := sampling(t, 1)
		w.site.failing[numbered(0, 1)[0].Resource.Content.Href] = harvest.ErrTemporary
		r := w.run(list)
		require.False(t, r.InStep())
		require.EqualValues(t, 1, r.Left.Waiting)
	})
}

// TestSourceIsNotBelieved: if what seems unchanged has often changed, everything is asked
// for until it is true again.
func TestSourceIsNotBelieved(t *testing.T) {
	const n = 2000
	w, list := sampling(t, n)
	var found []websync.Finding
	w.h.Hooks = &harvest.Hooks{Finding: func(_ string, f websync.Finding) { found = append(found, f) }}
	w.change(0, n/2)
	var r *harvest.Report
	for range 4 { // a sample of ten has three of them, sooner or later
		if r = w.run(list); len(found) > 0 {
			break
		}
	}
	require.Len(t, found, 1)
	require.Equal(t, "unchanged", found[0].Rule)
	require.False(t, r.InStep(), "some that have changed were not asked for")
	require.Positive(t, r.Rechecked.Unasked)
	r = w.run(list)
	require.True(t, r.InStep())
	require.EqualValues(t, n, r.Rechecked.Times.Asked)
	for name, text := range w.live() {
		require.Equal(t, w.site.pages[base+name], text)
	}
	for range 6 {
		w.site.reset()
		if w.run(list); len(w.site.requests) < n {
			break
		}
		require.Less(t, w.site.bodies, 10, "they are asked conditionally")
	}
	require.Len(t, w.site.requests, 10, "it is believed again")
}

// TestLaggingPage: a page whose new time came before its new bytes is asked for again.
func TestLaggingPage(t *testing.T) {
	for name, source := range map[string]func(...harvest.Event) harvest.Source{
		"snapshot": snapshot,
		"log":      func(events ...harvest.Event) harvest.Source { return harvest.Of(src, events...) },
	} {
		for answer, validators := range map[string]bool{"not modified": true, "the same bytes": false} {
			for _, lag := range []int{1, 2, 5} {
				t.Run(fmt.Sprintf("%s/%s/%d", name, answer, lag), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := newWorld(t)
						w.h.Sample = 0
						w.site.noETag = !validators
						w.pages("a", "b")
						w.run(source(put("a", day(1)), put("b", day(1))))
						r := w.run(source(put("a", day(2)), put("b", day(1))))
						require.EqualValues(t, 1, r.Left.Lagging)
						require.True(t, r.InStep())
						quiet := harvest.Of(src) // the list has not changed
						for range lag - 1 {
							time.Sleep(time.Hour)
							r = w.run(quiet)
							require.EqualValues(t, 1, r.Left.Lagging)
							require.Equal(t, "a", w.live()["a"])
						}
						w.page("a", "at last")
						time.Sleep(24 * time.Hour)
						r = w.run(quiet)
						require.EqualValues(t, 1, r.Updated)
						require.Equal(t, map[string]string{"a": "a at last", "b": "b"}, w.live())
						require.Empty(t, w.tasks())
						require.Equal(t, day(2), w.record("a").Resource.Modified)
					})
				})
			}
		}
	}
	t.Run("the distance grows, and ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.h.Sample = 0
			w.page("a")
			w.run(snapshot(put("a", day(1))))
			w.run(snapshot(put("a", day(2))))
			var asked []int
			for hour := range 60 * 24 {
				time.Sleep(time.Hour)
				w.site.reset()
				require.True(t, w.run(harvest.Of(src)).InStep())
				if len(w.site.requests) > 0 {
					asked = append(asked, hour+1)
				}
			}
			require.Equal(t, []int{1, 2, 3, 5, 8, 12, 18, 27, 41, 62, 93, 140, 210, 315, 473, 710, 1065}, asked)
			require.Empty(t, w.tasks())
		})
	})
	for name, next := range map[string]harvest.Event{
		"stated again later": put("a", day(3)), "stated as before": put("a", day(1)), "with a digest": func() harvest.Event {
			e := put("a", day(3))
			e.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte("a"))}
			return e
		}(),
		"deleted": del("a", day(3)),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.h.Sample = 0
			w.page("a")
			w.run(harvest.Of(src, put("a", day(1))))
			w.run(harvest.Of(src, put("a", day(2))))
			planned, r := w.plan(harvest.Of(src, next)), w.run(harvest.Of(src, next))
			require.Equal(t, r.Deleted, planned.Deleted)
			require.LessOrEqual(t, len(w.tasks()), 1)
			require.Equal(t, name == "deleted", len(w.live()) == 0)
			require.Equal(t, name == "deleted" || name == "with a digest", len(w.tasks()) == 0)
			w.page("a", "new")
			testkit.MakeDue(t, w.store)
			w.run(harvest.Of(src))
			if len(w.live()) > 0 && name != "with a digest" {
				require.Equal(t, "a new", w.live()["a"])
			}
		})
	}
	t.Run("no longer listed", func(t *testing.T) {
		w := newWorld(t)
		w.h.Sample = 0
		w.pages("a", "b")
		w.run(snapshot(put("a", day(1)), put("b", day(1))))
		w.run(snapshot(put("a", day(2)), put("b", day(1))))
		require.EqualValues(t, 1, w.run(snapshot(put("b", day(1)))).Deleted)
		require.Empty(t, w.tasks())
	})
	t.Run("it fails meanwhile", func(t *testing.T) {
		w := newWorld(t)
		w.h.Sample = 0
		w.page("a")
		w.run(snapshot(put("a", day(1))))
		w.run(snapshot(put("a", day(2))))
		w.site.failing[base+"a"] = harvest.ErrTemporary
		r := w.run(harvest.Of(src))
		require.False(t, r.InStep())
		require.EqualValues(t, 1, r.Left.Waiting)
		w.site.failing = map[string]error{}
		w.page("a", "new")
		require.True(t, w.run(harvest.Of(src)).InStep())
		require.Equal(t, "a new", w.live()["a"])
	})
}
