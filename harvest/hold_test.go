package harvest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// titled returns a put of a page with a title.
func titled(name string, modified websync.Datetime, title string) harvest.Event {
	ev := put(name, modified)
	ev.Resource.Title = title
	return ev
}

// steady plans and runs s three times, and expects no entry in the log and no request.
func (w *world) steady(s harvest.Source) {
	w.Helper()
	w.site.reset()
	n := len(w.log())
	for range 3 {
		planned := w.plan(s)
		require.Zero(w, planned.Differences())
		r := w.run(s)
		require.Zero(w, r.Touched)
		require.Len(w, w.log(), n)
		require.Empty(w, w.site.requests)
	}
}

// TestLogRepeatsAnInstant repeats a whole instant, as a run may repeat the last events of
// the previous one.
func TestLogRepeatsAnInstant(t *testing.T) {
	at := day(5)
	instant := []harvest.Event{titled("a", at, "one"), del("a", at), titled("b", at, "one"), titled("b", at, "two"),
		titled("c", at, "one"), del("c", at), titled("c", at, "two"), titled("d", at, "one")}
	for _, more := range [][]harvest.Event{nil, {put("z", day(6))}, {put("z", day(4)), put("z", day(6))}} {
		w := newWorld(t)
		w.pages("a", "b", "c", "d", "z")
		w.run(harvest.Of(src, instant...))
		want := map[string]string{"b": "b", "c": "c", "d": "d"}
		require.Equal(t, want, w.live())
		w.run(harvest.Of(src, more...))
		w.steady(harvest.Of(src, append(instant, more...)...))
		require.Equal(t, "two", w.record("b").Resource.Title)
		require.Equal(t, "two", w.record("c").Resource.Title)

		went := append(instant, del("d", at), titled("a", at, "back"), titled("b", at, "three"))
		r := w.run(harvest.Of(src, append(went, more...)...))
		require.EqualValues(t, []int64{1, 1, 1}, []int64{r.Deleted, r.Created, r.Updated}, "the instant has further events")
		require.Equal(t, "three", w.record("b").Resource.Title)
		w.steady(harvest.Of(src, append(went, more...)...))
	}
}

// TestCheckpointWaitsForWhatIsHeldBack: the last state of an instant is committed before
// a checkpoint passes it.
func TestCheckpointWaitsForWhatIsHeldBack(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b")
	w.run(harvest.Of(src, titled("a", day(1), "one")))
	second, third := titled("a", day(1), "two"), put("b", day(1))
	second.Resume, third.Resume = checkpoint("2"), checkpoint("3")
	_, err := w.h.Run(t.Context(), broken(second, third))
	require.Error(t, err)
	require.Equal(t, "two", w.record("a").Resource.Title)
	require.Equal(t, "3", w.checkpoint())
}

// TestListedTwice lists an id twice in one snapshot, with different times or titles,
// close together and far apart.
func TestListedTwice(t *testing.T) {
	for name, test := range map[string]struct {
		first, second harvest.Event
		wins          string
	}{
		"later first":      {titled("a", day(2), "later"), titled("a", day(1), "earlier"), "later"},
		"later second":     {titled("a", day(1), "earlier"), titled("a", day(2), "later"), "later"},
		"at the same time": {titled("a", day(1), "one"), titled("a", day(1), "two"), "two"},
		"twice the same":   {titled("a", day(1), "one"), titled("a", day(1), "one"), "one"},
	} {
		for _, apart := range []int{0, 700} {
			t.Run(fmt.Sprintf("%s/%d apart", name, apart), func(t *testing.T) {
				w := newWorld(t)
				w.page("a")
				events := []harvest.Event{test.first}
				for i := range apart {
					w.page(fmt.Sprint(i))
					events = append(events, put(fmt.Sprint(i), day(1)))
				}
				list := snapshot(append(events, test.second)...)
				w.run(list)
				require.Equal(t, test.wins, w.record("a").Resource.Title)
				w.steady(list)
				require.Equal(t, test.wins, w.record("a").Resource.Title)
			})
		}
	}
	t.Run("restored", func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		w.run(snapshot(titled("a", day(9), "nine")))
		list := snapshot(titled("a", day(1), "one"), titled("a", day(2), "two"))
		require.EqualValues(t, 1, w.run(list).Updated)
		require.Equal(t, "two", w.record("a").Resource.Title, "the latest of the listed times")
		w.steady(list)
	})
	t.Run("without times", func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		list := snapshot(titled("a", websync.Datetime{}, "one"), titled("a", websync.Datetime{}, "two"))
		w.run(list)
		n := len(w.log())
		for range 2 {
			w.run(list)
			require.Equal(t, "two", w.record("a").Resource.Title)
			require.Len(t, w.log(), n)
		}
	})
}

// TestManyAreRestored lists earlier times for more resources than the engine holds back.
func TestManyAreRestored(t *testing.T) {
	w := newWorld(t)
	var now, before []harvest.Event
	for i := range 3000 {
		e := put(fmt.Sprintf("%04d", i), day(9))
		e.Resource.Content = websync.Link{}
		now = append(now, e)
		e.Resource.Modified = day(1)
		before = append(before, e)
	}
	w.run(snapshot(now...))
	require.EqualValues(t, 3000, w.run(snapshot(before...)).Touched)
	require.EqualValues(t, 3000, w.run(snapshot(before...)).Unchanged)
}
