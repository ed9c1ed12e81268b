package harvest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// TestFutureIsCorrected lists an entry whose time is in the future, and then with a
// corrected time.
func TestFutureIsCorrected(t *testing.T) {
	future := date(t, "2999-01-01T00:00:00Z")
	log := func(events ...harvest.Event) harvest.Source { return harvest.Of(src, events...) }
	for name, test := range map[string]struct{ first, then harvest.Source }{
		"log":                       {log(put("a", future)), log(put("a", day(6)))},
		"snapshot":                  {snapshot(put("a", future)), snapshot(put("a", day(6)))},
		"snapshot of a moment":      {snapshot(put("a", future)), snapshotAt(day(7), put("a", day(6)))},
		"put by a log, and listed":  {log(put("a", future)), snapshotAt(day(7), put("a", day(6)))},
		"deleted":                   {log(put("a", day(1)), del("a", future)), log(put("a", day(6)))},
		"deleted by its time alone": {log(put("a", day(1)), del("a", day(2)), put("a", future), del("a", websync.Datetime{})), log(put("a", day(6)))},
	} {
		for bytes, text := range map[string]string{"other bytes": "new", "the same bytes": ""} {
			t.Run(name+"/"+bytes, func(t *testing.T) {
				w := newWorld(t)
				w.page("a")
				found := w.findings("future-time")
				w.at("2026-01-05T12:00:00Z", test.first)
				require.NotZero(t, *found)
				if text != "" {
					w.page("a", text)
				}
				*found = 0
				w.at("2026-01-07T12:00:00Z", test.then)
				require.Zero(t, *found)
				require.Equal(t, w.site.pages[base+"a"], w.live()["a"])
				require.Equal(t, day(6), w.record("a").Resource.Modified, "a Catalog has it")
				n := len(w.log())
				w.at("2026-01-07T12:00:00Z", test.then)
				require.Len(t, w.log(), n)
			})
		}
	}
	t.Run("in one log", func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		w.at("2026-01-07T12:00:00Z", log(put("a", day(1)), put("a", future), put("a", day(6))))
		require.Equal(t, day(6), w.record("a").Resource.Modified)
	})
	t.Run("a task", func(t *testing.T) {
		w := newWorld(t)
		w.site.failing[base+"a"] = harvest.ErrTemporary
		w.at("2026-01-05T12:00:00Z", log(put("a", future)))
		w.page("a")
		w.site.failing = map[string]error{}
		w.at("2026-01-07T12:00:00Z", log(put("a", day(6))))
		require.Equal(t, day(6), w.record("a").Resource.Modified)
	})
	t.Run("gone", func(t *testing.T) {
		w := newWorld(t)
		w.pages("a", "b")
		w.at("2026-01-05T12:00:00Z", log(put("a", future), put("b", day(1))))
		r, _ := w.at("2026-01-07T12:00:00Z", snapshotAt(day(7), put("b", day(1))))
		require.EqualValues(t, 1, r.Deleted)
	})
}

// TestFutureIsADayAhead accepts times up to a day ahead, because clocks and zones differ.
func TestFutureIsADayAhead(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	found := w.findings("future-time")
	w.at("2026-01-05T12:00:00Z", harvest.Of(src, put("a", day(6))))
	require.Zero(t, *found)
	r, _ := w.at("2026-01-05T12:00:00Z", harvest.Of(src, put("a", day(5))))
	require.EqualValues(t, 1, r.History)
}

// TestFutureWithoutADate: only a full pass uses the local clock.
func TestFutureWithoutADate(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(harvest.Of(src, put("a", date(t, "2999-01-01"))))
	corrected := harvest.Of(src, put("a", day(6)))
	require.EqualValues(t, 1, w.run(corrected).History)
	w.h.Full = true
	require.EqualValues(t, 1, w.run(corrected).Updated)
	require.Equal(t, day(6), w.record("a").Resource.Modified)
}
