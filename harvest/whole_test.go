package harvest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// A task whose id is listed no more, and of which nothing is held, ends after a listing
// in full, complete or not.
func TestWholeSnapshotEndsTasks(t *testing.T) {
	listing := func(end harvest.Event, events ...harvest.Event) harvest.Source {
		end.Kind = harvest.SnapshotEnd
		events = append([]harvest.Event{{Kind: harvest.SnapshotStart}}, events...)
		return harvest.Of(src, append(events, end)...)
	}
	whole := harvest.Event{Whole: true}
	problem := harvest.Event{Kind: harvest.Problem, Err: errBusy}
	for _, test := range []struct {
		name    string
		known   bool // a record of the id is live
		deleted bool // a record of the id is a tombstone
		parked  bool
		second  harvest.Source
		ends    bool
		accept  bool
	}{
		{name: "whole", second: listing(whole, put("b", day(1))), ends: true},
		{name: "complete", second: listing(harvest.Event{Complete: true}, put("b", day(1))), ends: true},
		{name: "of a deleted record", deleted: true, second: listing(whole, put("b", day(1))), ends: true},
		{name: "parked", parked: true, second: listing(whole, put("b", day(1))), ends: true},
		{name: "of a live record", known: true, second: listing(whole, put("b", day(1)))},
		{name: "in part", second: listing(harvest.Event{}, put("b", day(1)))},
		{name: "still listed", second: listing(whole, put("a", day(2)), put("b", day(1)))},
		{name: "a problem", second: listing(whole, put("b", day(1)), problem)},
		{name: "an entry skipped", second: listing(harvest.Event{Whole: true, Skipped: 1}, put("b", day(1)))},
		{name: "an entry skipped, which is accepted", second: listing(harvest.Event{Whole: true, Skipped: 1}, put("b", day(1))), accept: true, ends: true},
		{name: "a log", second: harvest.Of(src, put("b", day(1)))},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.page("a", "text")
			w.page("b", "text")
			if test.known || test.deleted {
				w.run(harvest.Of(src, put("a", day(1))))
			}
			if test.deleted {
				w.run(harvest.Of(src, harvest.Event{Kind: harvest.Delete, At: day(1), Resource: put("a", day(1)).Resource}))
			}
			w.site.failing[base+"a"] = errBusy
			if test.parked {
				w.h.Attempts = 1
			}
			r := w.run(listing(whole, put("a", day(2)), put("b", day(1))))
			require.EqualValues(t, 1, r.Left.Waiting+r.Left.Parked)
			w.h.AcceptSkipped = test.accept
			var got []string
			w.plan(test.second, func(d harvest.Decision) {
				if d.Get {
					got = append(got, d.ID)
				}
			})
			r = w.run(test.second)
			left := r.Left.Waiting + r.Left.Parked
			assert.Equal(t, test.ends, left == 0, "%d tasks left", left)
			if test.ends {
				assert.NotContains(t, got, base+"a", "a plan foresees it")
			} else {
				assert.Contains(t, got, base+"a", "a plan foresees it")
			}
			assert.Equal(t, test.ends, r.InStep())
			assert.Zero(t, r.Deleted)
		})
	}
}
