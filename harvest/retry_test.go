package harvest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

var errBusy = fmt.Errorf("status 503: %w", harvest.ErrTemporary)

// TestWaitHolds lists failed resources again and again, in snapshots and in logs: there
// is no request before their tasks are due.
func TestWaitHolds(t *testing.T) {
	lists := map[string]func(...harvest.Event) harvest.Source{
		"snapshot": snapshot,
		"log":      func(events ...harvest.Event) harvest.Source { return harvest.Of(src, events...) },
	}
	for name, list := range lists {
		for _, known := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/known=%t", name, known), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					w.h.MaxDelete = -1
					modified := day(1)
					if known {
						w.page("a", "old")
						w.run(list(put("a", modified)))
						modified = day(2)
					}
					w.page("a")
					w.site.failing[base+"a"] = errBusy
					w.h.Attempts = 4
					r := w.run(list(put("a", modified)))
					require.EqualValues(t, 1, r.Failed)
					time.Sleep(time.Second)
					r = w.run(list(put("a", modified))) // the second attempt
					require.EqualValues(t, 1, r.Failed)
					due := r.Left.Next
					require.True(t, due.After(time.Now()))
					task := w.tasks()[0]

					w.site.reset()
					for range 5 {
						planned := w.plan(list(put("a", modified)))
						r = w.run(list(put("a", modified)))
						require.EqualValues(t, 1, r.Deferred)
						require.EqualValues(t, 1, planned.Deferred)
						require.EqualValues(t, 1, r.Left.Waiting)
						require.Equal(t, due, r.Left.Next)
						require.Equal(t, task, w.tasks()[0])
						require.False(t, r.InStep())
					}
					require.Empty(t, w.site.requests, "no request before the task is due")

					time.Sleep(time.Until(due) + time.Second)
					require.EqualValues(t, 1, w.run(list(put("a", modified))).Failed)
					require.Len(t, w.site.requests, 1)
					time.Sleep(24 * time.Hour)
					require.EqualValues(t, 1, w.run(list(put("a", modified))).Left.Parked)

					w.site.reset()
					time.Sleep(240 * time.Hour)
					r = w.run(list(put("a", modified)))
					require.EqualValues(t, 1, r.Left.Parked)
					require.Zero(t, r.Failed)
					require.Empty(t, w.site.requests, "a parked task stays parked")

					r = w.run(list(put("a", day(3))))
					require.EqualValues(t, 1, r.Failed, "another state is tried at once")
					require.EqualValues(t, 1, r.Left.Waiting)
					require.Equal(t, 1, w.tasks()[0].Attempts)
					delete(w.site.failing, base+"a")
					w.h.Recheck = true
					require.True(t, w.run(list(put("a", day(3)))).InStep())
					require.Equal(t, map[string]string{"a": "a"}, w.live())
				})
			})
		}
	}
}

// TestRecheckTriesEveryTask asks for waiting and for parked tasks.
func TestRecheckTriesEveryTask(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b")
	w.site.failing[base+"a"] = later{time.Now().Add(time.Hour)}
	w.site.failing[base+"b"] = errBusy
	w.h.Attempts = 1
	both := snapshot(put("a", day(1)), put("b", day(1)))
	w.run(both)
	clear(w.site.failing)
	require.Len(t, w.tasks(), 2)
	w.run(both)
	require.Len(t, w.tasks(), 2)
	w.h.Recheck = true
	require.True(t, w.run(both).InStep())
}

// TestSweepEndsATask: a snapshot that lists the id of a parked task keeps the task; one
// that does not ends it.
func TestSweepEndsATask(t *testing.T) {
	w := newWorld(t)
	w.page("b")
	w.site.failing[base+"a"] = errBusy
	w.h.Attempts = 1
	for range 3 {
		require.EqualValues(t, 1, w.run(snapshot(put("a", day(1)), put("b", day(1)))).Left.Parked)
	}
	require.True(t, w.run(snapshot(put("b", day(1)))).InStep())
}

// TestGoneByItsServer lists a resource that answers 404 each time.
func TestGoneByItsServer(t *testing.T) {
	begin := func(t *testing.T) *world {
		w := newWorld(t)
		w.pages("a", "b")
		w.run(snapshot(put("a", day(1)), put("b", day(1))))
		delete(w.site.pages, base+"a")
		w.h.Attempts = 3
		return w
	}
	list := snapshot(put("a", day(2)), put("b", day(1)))
	attempts := func(w *world, n int) (r *harvest.Report) {
		for range n {
			r = w.run(list)
			time.Sleep(24 * time.Hour)
		}
		return r
	}
	t.Run("the old copy stays", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := begin(t)
			require.EqualValues(t, 1, attempts(w, 2).Left.Waiting)
			r := attempts(w, 1)
			require.EqualValues(t, 1, r.Gone)
			require.EqualValues(t, 1, r.Left.Gone)
			require.Zero(t, r.Left.Parked)
			require.Len(t, r.Failures, 1)
			require.True(t, r.InStep())
			w.site.reset()
			planned := w.plan(list)
			require.Zero(t, planned.Differences())
			r = attempts(w, 3)
			require.True(t, r.InStep())
			require.EqualValues(t, 1, r.Gone)
			require.EqualValues(t, 1, planned.Gone)
			require.Empty(t, r.Failures)
			require.Empty(t, w.site.requests, "no longer asked for")
			require.Len(t, w.live(), 2)

			r = w.run(snapshot(put("a", day(3)), put("b", day(1))))
			require.EqualValues(t, 1, r.Left.Waiting, "another state is tried again")
			require.Len(t, w.site.requests, 1)
			w.page("a", "again")
			require.True(t, w.run(snapshot(put("a", day(4)), put("b", day(1)))).InStep())
			require.Equal(t, map[string]string{"a": "a again", "b": "b"}, w.live())
			require.Empty(t, w.tasks())
		})
	})
	t.Run("swept when it is no longer listed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := begin(t)
			attempts(w, 3)
			r := w.run(snapshot(put("b", day(1))))
			require.EqualValues(t, 1, r.Deleted)
			require.Empty(t, w.tasks())
		})
	})
	t.Run("deleted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := begin(t)
			w.h.DeleteGone = true
			r := attempts(w, 3)
			require.EqualValues(t, 1, r.Deleted)
			require.EqualValues(t, 1, r.Left.Gone)
			require.True(t, r.InStep())
			require.Equal(t, map[string]string{"b": "b"}, w.live())
			w.site.reset()
			r = attempts(w, 2)
			require.True(t, r.InStep())
			require.EqualValues(t, 1, r.Gone)
			require.Empty(t, w.site.requests)
			w.page("a", "again")
			require.True(t, w.run(snapshot(put("a", day(3)), put("b", day(1)))).InStep())
			require.Len(t, w.live(), 2)
		})
	})
	t.Run("deleted, but not more than allowed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := begin(t)
			delete(w.site.pages, base+"b")
			w.h.DeleteGone, w.h.MaxDeletes = true, 1
			list = snapshot(put("a", day(2)), put("b", day(2)))
			r := attempts(w, 3)
			require.EqualValues(t, 1, r.Deleted)
			require.EqualValues(t, 1, r.Gone)
			require.EqualValues(t, 2, r.Left.Gone)
			require.Len(t, w.live(), 1)
		})
	})
	t.Run("never there", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.h.Attempts, w.h.DeleteGone = 1, true
			r := w.run(snapshot(put("a", day(1))))
			require.EqualValues(t, 1, r.Gone)
			require.True(t, r.InStep())
			require.Empty(t, w.log())
		})
	})
	t.Run("only once among other failures", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := begin(t)
			list = snapshot(put("a", day(2)), put("b", day(1)))
			w.h.DeleteGone = true
			w.site.failing[base+"a"] = errBusy
			attempts(w, 2)
			clear(w.site.failing)
			r := attempts(w, 1)
			require.EqualValues(t, 1, r.Left.Parked, "one answer is not final")
			require.Len(t, w.live(), 2)
		})
	})
	t.Run("without end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := begin(t)
			w.h.Attempts = -1
			require.EqualValues(t, 1, attempts(w, 20).Left.Waiting)
		})
	})
}

// TestLogAhead: the clock of a Store was once ahead.
func TestLogAhead(t *testing.T) {
	for lead, reported := range map[time.Duration]bool{-time.Hour: false, 10 * time.Second: false, 70 * 365 * 24 * time.Hour: true} {
		now := time.Now().Add(lead)
		store := harvest.NewCatalog(memstore.New())
		store.Now = func() time.Time { return now }
		h := &harvest.Harvester{Sample: -1, Catalog: store, Bodies: harvest.SkipBodies}
		_, err := h.Run(t.Context(), harvest.Of(src, put("a", day(1))))
		require.NoError(t, err)
		now = time.Now()
		r, err := h.Run(t.Context(), harvest.Of(src, put("a", day(2))))
		require.NoError(t, err)
		require.True(t, r.InStep())
		require.Equal(t, reported, !r.LogAhead.IsZero(), lead)
	}
}
