package harvest_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A task holds the latest state that was yielded: later events are compared with that,
// too.
func TestEventMeetsTask(t *testing.T) {
	log := func(events ...harvest.Event) harvest.Source { return harvest.Of(src, events...) }
	for _, test := range []struct {
		name   string
		first  harvest.Source // harvested
		listed harvest.Source // becomes a task
		then   harvest.Source // harvested
		title  string         // of the record then
		live   bool
		tasks  int // when the listing ended
	}{
		{"an earlier change", log(titled("a", day(1), "one")), log(titled("a", day(3), "three")), log(titled("a", day(2), "two")), "three", true, 1},
		{"an earlier deletion", log(titled("a", day(1), "one")), log(titled("a", day(3), "three")), log(del("a", day(2))), "three", true, 1},
		{"the held state again", log(titled("a", day(1), "one")), log(titled("a", day(3), "three")), log(titled("a", day(1), "one")), "three", true, 1},
		{"an earlier change of an unknown id", nil, log(titled("a", day(3), "three")), log(titled("a", day(2), "two")), "three", true, 1},
		{"an earlier deletion of an unknown id", nil, log(titled("a", day(3), "three")), log(del("a", day(2))), "three", true, 1},
		{"a later change", log(titled("a", day(1), "one")), log(titled("a", day(3), "three")), log(titled("a", day(4), "four")), "four", true, 1},
		{"a later deletion", log(titled("a", day(1), "one")), log(titled("a", day(3), "three")), log(del("a", day(4))), "one", false, 0},
		{"a later deletion of an unknown id", nil, log(titled("a", day(3), "three")), log(del("a", day(4))), "", false, 0},
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
			w.list(test.listed)
			require.Len(t, w.tasks(), 1)
			w.list(test.then)
			require.Len(t, w.tasks(), test.tasks)
			w.work(test.then)
			require.Empty(t, w.tasks())
			require.Equal(t, test.title, w.record("a").Resource.Title)
			rec := w.record("a")
			require.Equal(t, test.live, rec.Live())
		})
	}
}

// TestConflictOfAnEventThatMeansTheTask has a worker carry out the task while a run that
// listed its state again gets the same bytes: the event is judged again as it was stated,
// against the record that the worker has left.
func TestConflictOfAnEventThatMeansTheTask(t *testing.T) {
	ten, all := date(t, "2026-01-02T10:00:00Z"), date(t, "2026-01-02")
	for name, listed := range map[string]harvest.Event{
		"the same": titled("a", ten, "a title"), "less of it": put("a", ten), "less of it, and a date": put("a", all),
	} {
		for kind, again := range map[string]harvest.Source{"snapshot": snapshot(listed), "log": harvest.Of(src, listed)} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				if kind == "log" && listed.Resource.Modified == all {
					t.Skip("its stated time is older")
				}
				w := newWorld(t)
				w.page("a")
				w.list(harvest.Of(src, titled("a", ten, "a title")))
				worker := w.h
				var worked atomic.Bool
				w.site.before = func(string) {
					if worked.CompareAndSwap(false, true) {
						w.done(worker.Work(w.Context(), harvest.Of(src)))
					}
				}
				r := w.run(again)
				require.Len(t, w.site.requests, 2)
				require.EqualValues(t, []int64{0, 1}, []int64{r.Created, r.Unchanged})
				require.Equal(t, []string{"created a"}, w.log())
				rec := w.record("a")
				require.Equal(t, "a title", rec.Resource.Title)
				require.Equal(t, ten, rec.Stated.Modified)
				require.Empty(t, w.tasks())
				w.steady(again)
			})
		}
	}
}

// TestEventThatMeansTheTask lists the state of a waiting task again, with a description
// that also fits the record.
func TestEventThatMeansTheTask(t *testing.T) {
	at := func(ev harvest.Event, at websync.Datetime) harvest.Event {
		ev.At = at
		return ev
	}
	ten, fifteen, all := date(t, "2026-01-02T10:00:00Z"), date(t, "2026-01-02T15:00:00Z"), date(t, "2026-01-02")
	for _, test := range []struct {
		name                   string
		held, waiting, yielded harvest.Event
	}{
		{"a date that both are of", put("a", ten), put("a", fifteen), put("a", all)},
		{"the date that the record states", put("a", all), put("a", fifteen), put("a", all)},
		{"a time that the change has left alone", put("a", day(1)), at(put("a", day(1)), day(2)), put("a", day(1))},
	} {
		for kind, then := range map[string]harvest.Source{"snapshot": snapshot(test.yielded), "log": harvest.Of(src, test.yielded)} {
			if kind == "log" && test.waiting.At != (websync.Datetime{}) {
				continue // its stated time is older
			}
			t.Run(test.name+"/"+kind, func(t *testing.T) {
				w := newWorld(t)
				w.page("a")
				w.run(harvest.Of(src, test.held))
				w.page("a", "new")
				w.list(harvest.Of(src, test.waiting))
				planned := w.plan(then)
				require.EqualValues(t, 1, planned.Updated)
				require.EqualValues(t, 1, w.run(then).Updated)
				require.Equal(t, map[string]string{"a": "a new"}, w.live())
				require.Equal(t, test.waiting.Resource.Modified, w.record("a").Resource.Modified, "the finer of the stated times")
				require.Empty(t, w.tasks())
				w.site.reset()
				require.EqualValues(t, 1, w.run(then).Unchanged)
				require.Empty(t, w.site.requests)
			})
		}
	}
}

// TestListedTwiceAndFailed lists an earlier state of a resource after the get of the
// first has failed.
func TestListedTwiceAndFailed(t *testing.T) {
	w := newWorld(t)
	w.site.failing[base+"a"] = harvest.ErrTemporary
	r := w.run(snapshot(put("a", day(2)), put("a", day(1))))
	require.EqualValues(t, 1, r.History)
	require.Equal(t, day(2), w.tasks()[0].Resource.Modified)
}

// meanwhile has another process list s while the first page is fetched.
func (w *world) meanwhile(s harvest.Source) {
	var once sync.Once
	w.site.before = func(string) {
		once.Do(func() {
			h := harvest.Harvester{Sample: -1, Catalog: w.store}
			_, err := h.List(w.Context(), s)
			require.NoError(w, err)
		})
	}
}

func TestBudgetSpentKeepsTheLaterTask(t *testing.T) {
	w := newWorld(t)
	events := func(d int) harvest.Source { return harvest.Of(src, put("a", day(d)), put("b", day(d))) }
	w.pages("a", "b")
	w.list(events(1))
	w.meanwhile(events(2))
	// one get spends the budget while the other is already waiting
	w.h.Budget.Requests, w.h.Window = 1, 2
	w.work(harvest.Of(src))
	require.NotEmpty(t, w.tasks())
	for _, task := range w.tasks() {
		require.Equal(t, day(2), task.Resource.Modified)
	}
}

func TestSweptWhileItWasGot(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b")
	w.run(snapshot(put("a", day(1)), put("b", day(1))))
	w.page("a", "3")
	w.list(harvest.Of(src, put("a", day(3))))
	w.meanwhile(snapshot(put("b", day(1))))
	r := w.work(harvest.Of(src))
	require.EqualValues(t, 1, r.History)
	require.Equal(t, map[string]string{"b": "b"}, w.live())
	require.Empty(t, w.tasks())
}

func TestListAndWorkUntilItIsParked(t *testing.T) {
	w := newWorld(t)
	w.h.Attempts = 2
	w.site.failing[base+"a"] = harvest.ErrTemporary
	for range 2 {
		w.list(snapshot(put("a", day(1))))
		w.work(harvest.Of(src))
	}
	require.True(t, w.tasks()[0].Parked, "the same state has failed twice")
}

// TestListingWithoutWhatWaits: a skipped entry may be the one that a task waits for, so
// the task stays. A listing whose deletions are withheld only by the guard ends it.
func TestListingWithoutWhatWaits(t *testing.T) {
	list := func(skipped, n int, also ...harvest.Event) harvest.Source {
		end := complete
		end.Skipped = skipped
		return between(start, append(numbered(0, n), also...), end)
	}
	for _, test := range []struct {
		name   string
		listed harvest.Source
		left   int64
	}{
		{"skipped", list(1, 20), 1},
		{"too few", list(0, 5), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.numbered(20)
			w.site.failing[base+"waits"] = later{time.Now().Add(time.Hour)}
			w.run(list(0, 20, put("waits", day(1))))
			require.EqualValues(t, test.left, w.run(test.listed).Left.Waiting)
			require.Zero(t, w.run(list(0, 20)).Left.Waiting)
		})
	}
}

// TestDeletedWhileItIsGot lists a deletion while another process carries out the task of
// the id: the deletion is not undone.
func TestDeletedWhileItIsGot(t *testing.T) {
	for _, known := range []bool{false, true} {
		w := newWorld(t)
		w.page("a")
		if known {
			w.run(harvest.Of(src, put("a", day(1))))
			w.page("a", "two")
		}
		w.list(harvest.Of(src, put("a", day(2))))
		w.site.before = func(string) {
			w.site.before = nil
			w.list(harvest.Of(src, del("a", day(3))))
		}
		r := w.work(harvest.Of(src))
		require.Empty(t, w.live(), "known before: %t", known)
		require.Empty(t, w.tasks())
		require.EqualValues(t, 1, r.History)
	}
}
