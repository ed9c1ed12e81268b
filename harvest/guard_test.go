package harvest_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// describing returns a world that keeps descriptions only.
func describing(t *testing.T) *world {
	w := newWorld(t)
	w.h.Bodies = harvest.SkipBodies
	return w
}

// TestGuardSums lists fewer records each time, or others instead.
func TestGuardSums(t *testing.T) {
	t.Run("half and half again", func(t *testing.T) {
		w := describing(t)
		w.run(snapshot(numbered(0, 1000)...))
		require.EqualValues(t, 500, w.run(snapshot(numbered(0, 500)...)).Deleted)
		for n := 250; n > 0; n /= 2 {
			planned := w.plan(snapshot(numbered(0, n)...))
			r := w.run(snapshot(numbered(0, n)...))
			require.EqualValues(t, 500-n, r.Withheld)
			require.EqualValues(t, 500-n, planned.Withheld)
			require.Equal(t, "share", r.Guard.Rule)
			require.Len(t, w.live(), 500)
		}
		require.Contains(t, w.run(snapshot(numbered(0, 250)...)).Guard.Message,
			"250 records would be left of 1000 within 3 complete listings, which takes away more than a share of 0.5; Approve")
		w.approve()
		require.EqualValues(t, 125, w.run(snapshot(numbered(0, 125)...)).Deleted, "half of the 250 that are left")
		require.EqualValues(t, 63, w.run(snapshot(numbered(0, 62)...)).Withheld)
	})
	t.Run("a little each time", func(t *testing.T) {
		w := describing(t)
		w.h.MaxDelete = 0.3
		w.run(snapshot(numbered(0, 100)...))
		for n := 95; n >= 70; n -= 5 {
			require.EqualValues(t, 5, w.run(snapshot(numbered(0, n)...)).Deleted, n)
		}
		require.EqualValues(t, 5, w.run(snapshot(numbered(0, 65)...)).Withheld)
	})
	t.Run("slowly", func(t *testing.T) {
		w := describing(t)
		w.run(snapshot(numbered(0, 100)...))
		for n := 95; n > 20; n -= 5 {
			for range 3 {
				require.Nil(t, w.run(snapshot(numbered(0, n)...)).Guard, n)
			}
		}
	})
	t.Run("others instead", func(t *testing.T) {
		w := describing(t)
		w.run(snapshot(numbered(0, 100)...))
		for n := 40; n < 1000; n += 40 {
			require.EqualValues(t, 40, w.run(snapshot(numbered(n, n+100)...)).Deleted)
		}
	})
	t.Run("others that are got later", func(t *testing.T) {
		w := newWorld(t)
		w.run(snapshot(w.numbered(100)...))
		for n := 20; n < 80; n += 20 {
			r := w.list(snapshot(numbered(n, n+100)...))
			require.Nil(t, r.Guard)
		}
	})
	t.Run("no limit", func(t *testing.T) {
		w := describing(t)
		w.h.MaxDelete = -1
		w.run(snapshot(numbered(0, 100)...))
		for n := 50; n > 0; n /= 2 {
			require.Zero(t, w.run(snapshot(numbered(0, n)...)).Withheld)
		}
		require.EqualValues(t, 1, w.run(snapshot()).Deleted)
	})
}

// TestGuardOfOptions changes them to and from none.
func TestGuardOfOptions(t *testing.T) {
	for _, was := range []string{"", "filter"} {
		for _, is := range []string{"", "filter", "another"} {
			t.Run(fmt.Sprintf("%q to %q", was, is), func(t *testing.T) {
				w := describing(t)
				w.run(harvest.Of(src, numbered(0, 21)...))
				require.Nil(t, w.run(under(was, numbered(0, 20)...)).Guard, "nothing to compare with")
				r := w.run(under(is, numbered(0, 19)...))
				if was == is {
					require.EqualValues(t, 1, r.Deleted)
					return
				}
				require.EqualValues(t, 1, r.Withheld)
				require.Equal(t, "options", r.Guard.Rule)
				w.approve()
				require.EqualValues(t, 1, w.run(under(is, numbered(0, 18)...)).Deleted)
			})
		}
	}
}

// TestBytesThatFailSweepNothing lists bytes that can't be read, and have no URL, in a
// snapshot without some records.
func TestBytesThatFailSweepNothing(t *testing.T) {
	for name, open := range map[string]func() (io.ReadCloser, error){
		"not opened": func() (io.ReadCloser, error) { return nil, errors.New("damaged") },
		"not read":   func() (io.ReadCloser, error) { return io.NopCloser(io.MultiReader(errReader{})), nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.pages("a", "b", "c")
			w.run(snapshot(put("a", day(1)), put("b", day(1)), put("c", day(1))))
			damaged := harvest.Event{Resource: websync.Resource{ID: base + "c", Modified: day(2)}, Open: open}
			r := w.run(snapshot(put("a", day(1)), damaged))
			require.Len(t, r.Problems, 1)
			require.EqualValues(t, 1, r.Failed)
			require.Zero(t, r.Deleted)
			require.False(t, r.InStep())
			require.Equal(t, map[string]string{"a": "a", "b": "b", "c": "c"}, w.live())
		})
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("damaged") }

// TestMaxDeletesOfALog states more deletions in a log than a run may carry out.
func TestMaxDeletesOfALog(t *testing.T) {
	deletions := func(n int) (events []harvest.Event) {
		for i := range n {
			events = append(events, del(fmt.Sprintf("p%04d", i), day(2)))
		}
		return events
	}
	begin := func(t *testing.T) *world {
		w := describing(t)
		w.run(harvest.Of(src, numbered(0, 50)...))
		w.h.MaxDeletes = 5
		return w
	}
	t.Run("as many as allowed", func(t *testing.T) {
		w := begin(t)
		r := w.run(harvest.Of(src, deletions(5)...))
		require.EqualValues(t, 5, r.Deleted)
		require.True(t, r.InStep())
	})
	t.Run("more", func(t *testing.T) {
		w := begin(t)
		planned := w.plan(harvest.Of(src, deletions(20)...))
		r := w.run(harvest.Of(src, deletions(20)...))
		require.Equal(t, counts(r), counts(planned))
		require.EqualValues(t, 5, r.Deleted)
		require.EqualValues(t, 15, r.Withheld)
		require.EqualValues(t, 15, r.Left.Withheld)
		require.Empty(t, r.Failures)
		require.Equal(t, &harvest.GuardError{Rule: "number",
			Message: "the source states more than 5 deletions; only Approve carries out the others"}, r.Guard)
		require.False(t, r.InStep())
		for range 3 {
			r = w.run(harvest.Of(src, deletions(20)...))
			require.Zero(t, r.Deleted, "the limit holds in the next run, too")
			require.EqualValues(t, 15, r.Left.Withheld)
		}
		later := put("p0019", day(3))
		require.EqualValues(t, 14, w.run(harvest.Of(src, later)).Left.Withheld)
		w.approve()
		require.Len(t, w.live(), 31)
		require.True(t, w.run(harvest.Of(src, append(deletions(20), later)...)).InStep())
	})
	t.Run("without a limit", func(t *testing.T) {
		w := begin(t)
		w.run(harvest.Of(src, deletions(20)...))
		w.h.MaxDeletes = 0
		require.EqualValues(t, 15, w.run(harvest.Of(src, deletions(20)...)).Deleted)
		require.Empty(t, w.tasks())
	})
	t.Run("in a log and in a snapshot", func(t *testing.T) {
		w := begin(t)
		all := append(deletions(3), start)
		all = append(append(all, numbered(6, 50)...), complete)
		r := w.run(harvest.Of(src, all...))
		require.EqualValues(t, 3, r.Deleted)
		require.EqualValues(t, 3, r.Withheld)
		require.Equal(t, "number", r.Guard.Rule)
		require.Contains(t, r.Guard.Message, "6 records would be deleted in this run, more than 5")
	})
	t.Run("in two snapshots", func(t *testing.T) {
		w := begin(t)
		var all []harvest.Event
		for _, from := range []int{3, 6} {
			all = append(append(append(all, start), numbered(from, 50)...), complete)
		}
		r := w.run(harvest.Of(src, all...))
		require.EqualValues(t, 3, r.Deleted)
		require.EqualValues(t, 3, r.Withheld)
	})
	t.Run("in a snapshot and by servers", func(t *testing.T) {
		w := newWorld(t)
		w.run(harvest.Of(src, w.numbered(50)...))
		clear(w.site.pages)
		w.h.MaxDeletes = 5
		w.h.Attempts, w.h.DeleteGone = 1, true
		all := append(append([]harvest.Event{start}, numbered(3, 50)...), complete)
		for i := range 10 {
			all = append(all, put(fmt.Sprintf("p%04d", 10+i), day(2)))
		}
		r := w.run(harvest.Of(src, all...))
		require.EqualValues(t, 5, r.Deleted)
		require.EqualValues(t, 8, r.Gone)
	})
}
