package harvest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// everywhere makes the site answer with one page for each of these pages.
func (w *world) everywhere(first, last int, text string) {
	for _, e := range numbered(first, last) {
		w.site.set(e.Resource.Content.Href, text)
	}
}

// changed returns numbered(first, last), changed on day 2.
func changed(first, last int) []harvest.Event {
	events := numbered(first, last)
	for i := range events {
		events[i].Resource.Modified = day(2)
	}
	return events
}

// TestAlike: a site that answers everything with one page keeps its pages in the Store.
func TestAlike(t *testing.T) {
	for _, n := range []int{3, 5, 40, 63, 64, 65, 300} {
		for _, concurrency := range []int{1, 8} {
			for name, source := range map[string]func(...harvest.Event) harvest.Source{
				"snapshot": snapshot, "log": func(events ...harvest.Event) harvest.Source { return harvest.Of(src, events...) },
			} {
				t.Run(fmt.Sprint(n, " pages, ", concurrency, " at once, ", name), func(t *testing.T) {
					w := newWorld(t)
					w.h.Concurrency = concurrency
					w.run(source(w.numbered(n)...))
					pages, log := w.live(), w.log()
					w.everywhere(0, n, "down for maintenance")
					w.site.reset()
					for range 2 {
						r := w.run(source(changed(0, n)...))
						require.False(t, r.InStep())
						require.NotNil(t, r.Guard)
						require.Equal(t, "bodies", r.Guard.Rule)
						require.Equal(t, pages, w.live())
						require.Equal(t, log, w.log())
						require.EqualValues(t, n, r.Left.Waiting)
						require.Positive(t, r.Withheld)
					}
					require.Less(t, len(w.site.requests), 2*n+1, "it stops getting")
					for _, task := range w.tasks() {
						require.Zero(t, task.Attempts, "a task is not parked because of it")
					}
					t.Run("heals", func(t *testing.T) {
						for _, e := range numbered(0, n) {
							w.site.set(e.Resource.Content.Href, "new "+e.Resource.ID)
						}
						r := w.run(harvest.Of(src))
						require.True(t, r.InStep())
						require.EqualValues(t, n, r.Updated)
						require.Empty(t, w.tasks())
					})
				})
			}
		}
	}
	t.Run("approved", func(t *testing.T) {
		w := newWorld(t)
		w.run(snapshot(w.numbered(40)...))
		w.everywhere(0, 40, "withdrawn")
		w.run(snapshot(changed(0, 40)...))
		w.approve()
		r := w.run(harvest.Of(src))
		require.True(t, r.InStep(), "%+v", r)
		for _, text := range w.live() {
			require.Equal(t, "withdrawn", text)
		}
		w.h.Recheck = true
		w.numbered(40)
		require.True(t, w.run(snapshot(changed(0, 40)...)).InStep())
		w.everywhere(0, 40, "another")
		require.NotNil(t, w.run(snapshot(changed(0, 40)...)).Guard, "only that one was accepted")
	})
	t.Run("an approval of deletions is none of bodies that have healed", func(t *testing.T) {
		w := newWorld(t)
		w.run(snapshot(w.numbered(40)...))
		w.everywhere(0, 40, "down")
		w.run(snapshot(changed(0, 40)...))
		w.numbered(40)
		require.True(t, w.run(snapshot(changed(0, 40)...)).InStep())
		w.run(snapshot(changed(0, 5)...))
		require.EqualValues(t, 35, w.approve().Deleted)
		w.everywhere(0, 5, "down")
		w.h.Recheck = true
		require.NotNil(t, w.run(snapshot(changed(0, 5)...)).Guard)
	})
	t.Run("what was alike before", func(t *testing.T) {
		w := newWorld(t)
		w.numbered(40)
		w.everywhere(0, 40, "one")
		w.run(snapshot(numbered(0, 40)...))
		w.everywhere(0, 40, "two")
		require.EqualValues(t, 40, w.run(snapshot(changed(0, 40)...)).Updated)
	})
	t.Run("some", func(t *testing.T) {
		w := newWorld(t)
		w.h.Concurrency = 1
		w.run(snapshot(w.numbered(40)...))
		for i, e := range numbered(0, 40) {
			text := "withdrawn"
			if i%2 == 0 {
				text = e.Resource.ID + " is new"
			}
			w.site.set(e.Resource.Content.Href, text)
		}
		require.EqualValues(t, 40, w.run(snapshot(changed(0, 40)...)).Updated)
	})
	t.Run("it begins in the middle", func(t *testing.T) {
		w := newWorld(t)
		w.h.Concurrency = 1
		w.run(snapshot(w.numbered(100)...))
		for i, e := range numbered(0, 100) {
			text := "down"
			if i < 50 {
				text = e.Resource.ID + " is new"
			}
			w.site.set(e.Resource.Content.Href, text)
		}
		r := w.run(snapshot(changed(0, 100)...))
		require.EqualValues(t, 50, r.Updated)
		require.EqualValues(t, 50, r.Left.Waiting)
		for _, text := range w.live() {
			require.NotEqual(t, "down", text)
		}
	})
	t.Run("what is new", func(t *testing.T) {
		w := newWorld(t)
		w.everywhere(0, 40, "a placeholder")
		require.EqualValues(t, 40, w.run(snapshot(numbered(0, 40)...)).Created)
	})
	t.Run("the sample", func(t *testing.T) {
		w, list := sampling(t, 1000)
		w.everywhere(0, 1000, "down")
		require.NotNil(t, w.run(list).Guard)
		w.numbered(1000)
		testkit.MakeDue(t, w.store)
		r := w.run(list)
		require.True(t, r.InStep())
		require.LessOrEqual(t, r.Rechecked.Times.Asked, int64(20), "the source was right")
	})
	t.Run("a small window", func(t *testing.T) {
		for window := 1; window < 6; window++ {
			w := newWorld(t)
			w.h.Window = window
			w.run(snapshot(w.numbered(40)...))
			w.everywhere(0, 40, "down")
			r := w.run(snapshot(changed(0, 40)...))
			require.NotNil(t, r.Guard)
			require.Less(t, r.Updated, int64(3))
		}
	})
}
