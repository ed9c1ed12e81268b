package harvest_test

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// fetched is a Source that fetches its list first.
type fetched struct{ harvest.Source }

func (f fetched) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		if _, err := run.Fetcher.Fetch(ctx, &harvest.Request{URL: f.Key()}); err != nil {
			yield(harvest.Event{}, err)
			return
		}
		for e, err := range f.Source.Events(ctx, run) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// at runs s at the given time of its server's clock. It returns the report and the URLs
// of the requests for bodies.
func (w *world) at(clock string, s harvest.Source) (*harvest.Report, []string) {
	w.Helper()
	d, err := websync.ParseDatetime(clock)
	require.NoError(w, err)
	w.site.date = d
	w.site.set(src, "list")
	w.site.reset()
	w.plan(fetched{s})
	w.site.reset()
	r := w.run(fetched{s})
	return r, w.site.requests[1:]
}

// TestObtainedTooEarly changes a page again within its stated time, such as a day.
func TestObtainedTooEarly(t *testing.T) {
	for _, test := range []struct{ stated, obtained, before, after string }{
		{"2026-01-05", "2026-01-05T10:00:00Z", "2026-01-06T23:59:59Z", "2026-01-07T00:00:00Z"},
		{"2026-01-05T10:00Z", "2026-01-05T10:00:30Z", "2026-01-05T10:01:30Z", "2026-01-05T10:02:00Z"},
		{"2026-01-05T10:00:00Z", "2026-01-05T10:00:00Z", "2026-01-05T10:01:00Z", "2026-01-05T10:01:01Z"},
		{"2026-01-05T10:00:00.5Z", "2026-01-05T10:00:00Z", "2026-01-05T10:01:00Z", "2026-01-05T10:01:01Z"},
		{"2026-01", "2026-01-31T10:00:00Z", "2026-02-01T23:00:00Z", "2026-02-02T00:00:00Z"},
	} {
		for name, changes := range map[string]bool{"changed": true, "not changed": false} {
			t.Run(test.stated+"/"+name, func(t *testing.T) {
				w := newWorld(t)
				w.page("a")
				list := snapshot(put("a", date(t, test.stated)))
				w.at(test.obtained, list)
				if changes {
					w.page("a", "changed")
				}
				r, asked := w.at(test.before, list)
				if date(t, test.stated).Precision() < websync.PrecisionSecond {
					require.Empty(t, asked, "the page may still change")
					require.EqualValues(t, 1, r.Unchanged)
					r, asked = w.at(test.after, list)
				}
				require.Len(t, asked, 1)
				if changes {
					require.EqualValues(t, 1, r.Updated)
					require.Equal(t, map[string]string{"a": "a changed"}, w.live())
				} else {
					require.Equal(t, 1, w.site.bodies, "one body: the list; the page was not modified")
					require.Len(t, w.log(), 1)
				}
				w.at(test.after, list)
				_, asked = w.at(test.after, list)
				require.Empty(t, asked, "the engine asks only once, or as long as the second is within the last minute")
			})
		}
	}
	t.Run("in time", func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		list := snapshot(put("a", date(t, "2026-01-05")))
		w.at("2026-01-07T00:00:00Z", list)
		_, asked := w.at("2026-01-09T00:00:00Z", list)
		require.Empty(t, asked)
	})
	t.Run("with a digest", func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		e := put("a", date(t, "2026-01-05"))
		e.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte("a"))}
		w.at("2026-01-05T00:00:00Z", snapshot(e))
		_, asked := w.at("2026-01-09T00:00:00Z", snapshot(e))
		require.Empty(t, asked)
	})
	t.Run("failed", func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		list := snapshot(put("a", date(t, "2026-01-05")))
		w.at("2026-01-05T00:00:00Z", list)
		w.page("a", "changed")
		w.site.failing[base+"a"] = harvest.ErrTemporary
		r, _ := w.at("2026-01-09T00:00:00Z", list)
		require.EqualValues(t, 1, r.Failed)
		w.site.failing = map[string]error{}
		w.at("2026-01-09T00:00:00Z", harvest.Of(src))
		require.Equal(t, map[string]string{"a": "a changed"}, w.live())
	})
	t.Run("described anew meanwhile", func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		w.at("2026-01-05T00:00:00Z", snapshot(put("a", date(t, "2026-01-05"))))
		list := snapshot(titled("a", date(t, "2026-01-05"), "a title"))
		w.at("2026-01-05T01:00:00Z", list)
		_, asked := w.at("2026-01-09T00:00:00Z", list)
		require.Len(t, asked, 1)
	})
}

// TestLogStatesTheSameSecondAgain: it may be another change.
func TestLogStatesTheSameSecondAgain(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	log := harvest.Of(src, put("a", date(t, "2026-01-05T10:00:00Z")))
	w.at("2026-01-05T10:00:00Z", log)
	w.page("a", "changed")
	r, asked := w.at("2026-01-05T10:00:01Z", log)
	require.Len(t, asked, 1)
	require.EqualValues(t, 1, r.Updated)
	r, asked = w.at("2026-01-05T10:02:00Z", log)
	require.Len(t, asked, 1)
	require.Zero(t, r.Updated)
	_, asked = w.at("2026-01-05T10:02:00Z", log)
	require.Empty(t, asked)
	require.Len(t, w.log(), 2)
}

// TestRecheck sends conditional requests for unchanged entries.
func TestRecheck(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b", "gone")
	digested := put("b", day(1))
	digested.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte("b"))}
	for name, list := range map[string]harvest.Source{
		"snapshot": snapshot(put("a", day(1)), digested, put("a", day(1))),
		"log":      harvest.Of(src, put("a", day(1)), digested),
	} {
		t.Run(name, func(t *testing.T) {
			w.h.Recheck = false
			w.page("a")
			w.run(list)
			w.page("a", name)
			w.h.Recheck = true
			var decided []string
			r := w.plan(list, decisions(&decided))
			require.Contains(t, decided, "unchanged a get")
			require.Zero(t, r.Differences())
			w.site.reset()
			var from []harvest.Checkpoint
			r = w.run(watching{list, &from})
			require.EqualValues(t, 1, r.Updated)
			require.Equal(t, 1, w.site.bodies)
			require.ElementsMatch(t, []string{base + "a", base + "b"}, w.site.requests)
			require.Equal(t, "a "+name, w.live()["a"])
			require.True(t, from[0].IsZero(), "everything is listed")
			n := len(w.log())
			w.run(list)
			require.Len(t, w.log(), n)
		})
	}
}

// TestEventRecheck states the same change again, as a new one.
func TestEventRecheck(t *testing.T) {
	const long = "2026-02-01T00:00:00Z"
	again := func(e harvest.Event) harvest.Event { e.Recheck = true; return e }
	for name, test := range map[string]struct {
		first, next func(harvest.Event) harvest.Event
		asked       bool
	}{
		"another change": {next: again, asked: true},
		"a repetition":   {},
		"with another description": {asked: true, next: func(e harvest.Event) harvest.Event {
			e.Resource.Title = "a title"
			return again(e)
		}},
		"with a digest": {next: again, first: func(e harvest.Event) harvest.Event {
			e.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte("a"))}
			return e
		}},
		"with a Tag": {next: again, first: func(e harvest.Event) harvest.Event { e.Tag = "v1"; return e }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.page("a")
			e := put("a", date(t, "2026-01-05"))
			if test.first != nil {
				e = test.first(e)
			}
			w.at(long, harvest.Of(src, e))
			if test.asked {
				w.page("a", "changed")
			}
			if test.next != nil {
				e = test.next(e)
			}
			_, asked := w.at(long, harvest.Of(src, e))
			if !test.asked {
				require.Empty(t, asked)
				return
			}
			require.Len(t, asked, 1)
			require.Equal(t, map[string]string{"a": "a changed"}, w.live())
			w.at(long, harvest.Of(src, e))
			require.Equal(t, 1, w.site.bodies, "one body: the list; the page was not modified")
			require.Len(t, w.log(), 2)
		})
	}
}

// TestEventConfirms: a later change of a log that states the same, with a digest, costs
// no request and no entry of the log. Its time counts: an earlier deletion comes too
// late.
func TestEventConfirms(t *testing.T) {
	for name, source := range map[string]func(...harvest.Event) harvest.Source{
		"a Source": func(events ...harvest.Event) harvest.Source { return harvest.Of(src, events...) },
		"a Getter": func(events ...harvest.Event) harvest.Source { return getting{harvest.Of(src, events...), content} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.page("a")
			e := put("a", day(5))
			e.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte("a"))}
			w.run(source(e))
			w.site.reset()
			e.At = day(7)
			require.Equal(t, int64(1), w.run(source(e)).Touched)
			require.Zero(t, w.run(source(e)).Touched)
			require.Empty(t, w.site.requests)
			w.run(source(harvest.Event{Kind: harvest.Delete, At: day(6), Resource: websync.Resource{ID: e.Resource.ID}}))
			require.Equal(t, map[string]string{"a": "a"}, w.live())
			require.Len(t, w.log(), 1)
		})
	}
}
