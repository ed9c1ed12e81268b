package harvest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A task stands for the youngest state that was told: what comes after it is compared with that, too.
func TestEventMeetsTask(t *testing.T) {
	titled := func(name string, modified websync.Datetime, title string) harvest.Event {
		ev := put(name, modified)
		ev.Resource.Title = title
		return ev
	}
	log := func(events ...harvest.Event) harvest.Source { return harvest.Of(src, events...) }
	for _, test := range []struct {
		name   string
		first  harvest.Source // harvested
		listed harvest.Source // becomes a task
		then   harvest.Source // harvested
		title  string         // of the record then
		live   bool
		tasks  int // left when the listing ended
	}{
		{"an older change", log(titled("a", day(1), "one")), log(titled("a", day(3), "three")), log(titled("a", day(2), "two")), "three", true, 1},
		{"an older deletion", log(titled("a", day(1), "one")), log(titled("a", day(3), "three")), log(del("a", day(2))), "three", true, 1},
		{"the held state again", log(titled("a", day(1), "one")), log(titled("a", day(3), "three")), log(titled("a", day(1), "one")), "three", true, 1},
		{"an older change of an unknown id", nil, log(titled("a", day(3), "three")), log(titled("a", day(2), "two")), "three", true, 1},
		{"an older deletion of an unknown id", nil, log(titled("a", day(3), "three")), log(del("a", day(2))), "three", true, 1},
		{"a younger change", log(titled("a", day(1), "one")), log(titled("a", day(3), "three")), log(titled("a", day(4), "four")), "four", true, 1},
		{"a younger deletion", log(titled("a", day(1), "one")), log(titled("a", day(3), "three")), log(del("a", day(4))), "one", false, 0},
		{"a younger deletion of an unknown id", nil, log(titled("a", day(3), "three")), log(del("a", day(4))), "", false, 0},
		{"a change without a time", log(titled("a", day(1), "one")), log(titled("a", day(3), "three")), log(titled("a", websync.Datetime{}, "none")), "none", true, 1},
		{"a list that has gone back", snapshot(titled("a", day(1), "one")), snapshot(titled("a", day(3), "three")), snapshot(titled("a", day(1), "one")), "one", true, 0},
		{"a list that has gone back to another", snapshot(titled("a", day(1), "one")), snapshot(titled("a", day(3), "three")), snapshot(titled("a", day(2), "two")), "two", true, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.page("a")
			if test.first != nil {
				w.run(test.first)
			}
			_, err := w.h.List(t.Context(), test.listed)
			require.NoError(t, err)
			require.Len(t, w.tasks(), 1)
			_, err = w.h.List(t.Context(), test.then)
			require.NoError(t, err)
			require.Len(t, w.tasks(), test.tasks)
			_, err = w.h.Work(t.Context(), test.then)
			require.NoError(t, err)
			require.Empty(t, w.tasks())
			require.Equal(t, test.title, w.record("a").Resource.Title)
			rec := w.record("a")
			require.Equal(t, test.live, rec.Live())
		})
	}
}
