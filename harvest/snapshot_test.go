package harvest_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// findings counts the findings of a rule.
func (w *world) findings(rule string) *int {
	n := 0
	w.h.Hooks = testkit.OnFinding(func(f websync.Finding) {
		if f.Rule == rule {
			n++
		}
	})
	return &n
}

// TestSnapshotStatesALaterTime lists a later state of a record that changed after the
// moment of the listing.
func TestSnapshotStatesALaterTime(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(harvest.Of(src, titled("a", date(t, "2030-01-01"), "one")))
	found := w.findings("snapshot-at")
	list := snapshotAt(day(2), titled("a", date(t, "2031-01-01"), "two"))
	require.EqualValues(t, 1, w.run(list).Updated)
	require.Equal(t, "two", w.record("a").Resource.Title)
	require.Equal(t, 1, *found)
	w.steady(list)
}

// TestSnapshotOlderThanItsEntries: its At is not used, neither for what it lists nor for
// what it doesn't.
func TestSnapshotOlderThanItsEntries(t *testing.T) {
	for name, reversed := range map[string]bool{"the latest last": false, "the latest first": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.pages("back", "latest", "gone", "last")
			w.run(harvest.Of(src, titled("back", day(5), "five"), put("gone", day(6)), put("latest", day(7)), put("last", day(10))))
			found := w.findings("snapshot-at")
			events := []harvest.Event{titled("back", day(4), "four"), put("latest", day(9))}
			if reversed {
				events[0], events[1] = events[1], events[0]
			}
			list := snapshotAt(day(2), events...)
			r := w.run(list)
			require.Equal(t, "four", w.record("back").Resource.Title, "different is enough: the listing is later")
			require.EqualValues(t, 1, r.Deleted)
			rec := w.record("gone")
			require.False(t, rec.Live())
			require.Equal(t, day(9), rec.At)
			rec = w.record("last")
			require.True(t, rec.Live(), "it changed after all listed times")
			require.Equal(t, 1, *found)
			w.steady(list)
		})
	}
}

// TestSnapshotWithEntriesApart: entries from elsewhere have later times and change, and
// the At of the listing still counts for the others. It does not count for them: what was
// deleted at that moment may come back.
func TestSnapshotWithEntriesApart(t *testing.T) {
	w := newWorld(t)
	w.pages("listed", "changed", "old", "new")
	apart := func(ev harvest.Event) harvest.Event { ev.Apart = true; return ev }
	old, later := apart(put("old", day(1))), apart(put("new", day(9)))
	list := func(more ...harvest.Event) harvest.Source {
		return snapshotAt(day(2), append([]harvest.Event{put("listed", day(1))}, more...)...)
	}
	w.run(list(old))
	w.run(harvest.Of(src, put("changed", day(5))))
	found := w.findings("snapshot-at")
	for _, more := range [][]harvest.Event{{later}, {later, old}} {
		w.run(list(more...))
		rec := w.record("changed")
		require.True(t, rec.Live(), "it changed after the moment of the listing")
		rec = w.record("old")
		require.Equal(t, len(more) == 2, rec.Live())
		w.steady(list(more...))
	}
	require.Zero(t, *found)
}

// TestSnapshotWhoseMomentNeverMoves changes a listing that always describes the same
// moment.
func TestSnapshotWhoseMomentNeverMoves(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b", "c")
	bare := func(title string) harvest.Event { return titled("a", websync.Datetime{}, title) }
	w.run(harvest.Of(src, titled("a", day(9), "by the log"), put("b", day(9)), put("c", day(1))))
	found := w.findings("snapshot-at")
	stale := snapshotAt(day(2), bare("old"), put("c", day(1)))
	for range 2 {
		r := w.run(stale)
		require.EqualValues(t, 1, r.History, "it cannot be distinguished from a stale copy")
		require.Zero(t, r.Deleted)
	}
	require.Zero(t, *found)

	next := snapshotAt(day(2), bare("new"), put("c", day(1)))
	planned := w.plan(next)
	require.EqualValues(t, 2, planned.Differences())
	*found = 0
	r := w.run(next)
	require.Equal(t, 1, *found)
	require.EqualValues(t, []int64{1, 1}, []int64{r.Updated, r.Deleted})
	require.Equal(t, "new", w.record("a").Resource.Title)
	n := len(w.log())
	w.run(next)
	require.Len(t, w.log(), n)
	require.EqualValues(t, 1, w.run(snapshotAt(day(2), bare("newer"), put("c", day(1)))).Updated)
}

// TestSnapshotListsAgain: what a listing omits and lists again, always for the same
// moment, is back in the first run that reads it. A deletion of a log stays, and so does
// one of a later listing.
func TestSnapshotListsAgain(t *testing.T) {
	for name, test := range map[string]struct {
		first    websync.Datetime // the moment of the first listing
		followed bool
		approved bool
	}{
		"the moment never moves":                {first: day(2)},
		"the moment never moves, a log follows": {first: day(2), followed: true},
		"the moment moved once":                 {first: day(1)},
		"approved":                              {first: day(2), approved: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.pages("a", "b", "c")
			list := func(at websync.Datetime, events ...harvest.Event) harvest.Source {
				all := testkit.All(t, snapshotAt(at, events...).Events(t.Context(), nil))
				all[0].Followed = test.followed
				return harvest.Of(src, all...)
			}
			a, b, c := put("a", day(1)), put("b", day(1)), put("c", day(1))
			whole := list(day(2), a, b, c)
			w.run(list(test.first, a, b, c))
			if test.approved {
				w.h.MaxDeletes = 1
			}
			r := w.run(list(day(2), a))
			if test.approved {
				require.EqualValues(t, 2, r.Withheld)
				w.approve()
				w.h.MaxDeletes = 0
			}
			require.Equal(t, []string{"a"}, slices.Sorted(maps.Keys(w.live())))

			require.EqualValues(t, 2, w.plan(whole).Differences())
			found := w.findings("snapshot-at")
			require.EqualValues(t, 2, w.run(whole).Created)
			require.Equal(t, 1, *found)
			w.steady(whole)

			w.run(list(day(2), a))
			stale := list(day(1), a, b, c)
			for range 2 {
				require.Zero(t, w.run(stale).Created, "an older copy")
			}
		})
	}
	w := newWorld(t)
	w.pages("a", "b")
	list := snapshotAt(day(2), put("a", day(1)), put("b", day(1)))
	w.run(list)
	w.run(harvest.Of(src, harvest.Event{Kind: harvest.Delete, At: day(2), Resource: websync.Resource{ID: testkit.Base + "b"}}))
	require.EqualValues(t, 1, w.run(list).History)
}

// TestSnapshotFollowedByALog: a listing that changes under one At deletes what was put
// since, but not if a log follows it.
func TestSnapshotFollowedByALog(t *testing.T) {
	for _, followed := range []bool{false, true} {
		w := newWorld(t)
		w.pages("a", "b", "gone", "later")
		list := func(events ...harvest.Event) harvest.Source {
			all := testkit.All(t, snapshotAt(day(2), events...).Events(t.Context(), nil))
			all[0].Followed = followed
			return harvest.Of(src, all...)
		}
		w.run(list(put("a", day(1)), put("b", day(1)), put("gone", day(1))))
		w.run(harvest.Of(src, put("later", day(3))))
		w.run(list(put("a", day(1)), put("b", day(1))))
		gone, later := w.record("gone"), w.record("later")
		require.False(t, gone.Live())
		require.Equal(t, followed, later.Live())
	}
}
