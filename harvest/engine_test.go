package harvest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// A site is a Fetcher that serves pages from memory, with ETags that change with the
// bytes.
type site struct {
	mu       sync.Mutex
	pages    map[string]string
	failing  map[string]error
	noETag   bool
	terse    bool             // "not modified" has no validators
	stuck    bool             // every conditional request is answered with "not modified"
	requests []string         // the URLs of all requests
	bodies   int              // counts the answers with a body
	before   func(url string) // called before each request
	date     websync.Datetime // the Date of all answers; if zero, they have none
}

func newSite() *site { return &site{pages: map[string]string{}, failing: map[string]error{}} }

func (s *site) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	if s.before != nil {
		s.before(req.URL)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req.URL)
	if err := s.failing[req.URL]; err != nil {
		return nil, err
	}
	page, ok := s.pages[req.URL]
	if !ok {
		return nil, websync.ErrGone
	}
	v := harvest.Validator{URL: req.URL, ETag: fmt.Sprintf("%q", websync.SHA256([]byte(page)).String())}
	if s.noETag {
		v = harvest.Validator{}
	}
	if !v.IsZero() && (req.Validator.ETag == v.ETag || s.stuck && !req.Validator.IsZero()) {
		if s.terse {
			v = harvest.Validator{}
		}
		return &harvest.Response{URL: req.URL, Status: 304, NotModified: true, Validator: v, Header: s.dated(map[string][]string{})}, nil
	}
	s.bodies++
	header := s.dated(map[string][]string{"Content-Type": {"text/plain"}})
	return &harvest.Response{URL: req.URL, Status: 200, Header: header, Validator: v, Length: int64(len(page)), Body: io.NopCloser(strings.NewReader(page))}, nil
}

// dated adds the Date to a header.
func (s *site) dated(header map[string][]string) map[string][]string {
	if !s.date.IsZero() {
		header["Date"] = []string{s.date.UTC().Time().Format("Mon, 02 Jan 2006 15:04:05 GMT")}
	}
	return header
}

// reset clears requests and bodies.
func (s *site) reset() { s.requests, s.bodies = nil, 0 }

func (s *site) set(url, page string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[url] = page
}

const (
	base = testkit.Base
	src  = testkit.Src
)

var (
	day  = testkit.Day
	date = testkit.Date
	put  = testkit.Put
	del  = testkit.Del

	resource = testkit.Resource
)

func checkpoint(s string) harvest.Checkpoint { return harvest.Checkpoint{Version: 1, Data: []byte(s)} }

var (
	start    = harvest.Event{Kind: harvest.SnapshotStart}
	complete = harvest.Event{Kind: harvest.SnapshotEnd, Complete: true}
)

// between returns a Source that yields events between first and last.
func between(first harvest.Event, events []harvest.Event, last harvest.Event) harvest.Source {
	return harvest.Of(src, slices.Concat([]harvest.Event{first}, events, []harvest.Event{last})...)
}

// snapshot returns a complete listing that ends with a checkpoint.
func snapshot(events ...harvest.Event) harvest.Source {
	end := complete
	end.Resume = checkpoint("listed")
	return between(start, events, end)
}

// snapshotAt returns a complete listing that describes a moment.
func snapshotAt(at websync.Datetime, events ...harvest.Event) harvest.Source {
	return between(harvest.Event{Kind: harvest.SnapshotStart, At: at}, events, complete)
}

// under returns a complete listing with the given Options.
func under(options string, events ...harvest.Event) harvest.Source {
	end := complete
	end.Options = options
	return between(start, events, end)
}

// numbered returns puts of p0000, p0001 … with the numbers from first up to, and without,
// last.
func numbered(first, last int) (events []harvest.Event) {
	for i := first; i < last; i++ {
		events = append(events, put(fmt.Sprintf("p%04d", i), day(1)))
	}
	return events
}

// A world is a site, a store, and a harvester that uses both.
type world struct {
	*testing.T
	site  *site
	store *harvest.Catalog
	h     harvest.Harvester
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, site: newSite(), store: harvest.NewCatalog(memstore.New())}
	w.h.Catalog, w.h.Fetcher = w.store, w.site
	w.h.Sample = -1 // what tests of other things don't expect
	return w
}

// watched returns a Catalog on the world's Store that calls before at each Update.
func (w *world) watched(before func(context.Context, testkit.Act) error) *harvest.Catalog {
	return harvest.NewCatalog(&testkit.Watched{Store: harvest.StoreOf(w.store), Before: before})
}

// cut returns a Catalog on the world's Store that fails after some commits.
func (w *world) cut(commits int, applied bool) *harvest.Catalog {
	return harvest.NewCatalog(testkit.CutAfter(harvest.StoreOf(w.store), commits, applied))
}

func (w *world) run(s harvest.Source) *harvest.Report { return w.done(w.h.Run(w.Context(), s)) }

// The other methods of the Harvester, for sources without an error.

func (w *world) list(s harvest.Source) *harvest.Report { return w.done(w.h.List(w.Context(), s)) }
func (w *world) work(s harvest.Source) *harvest.Report { return w.done(w.h.Work(w.Context(), s)) }
func (w *world) approve() *harvest.Report              { return w.done(w.h.Approve(w.Context(), harvest.Of(src))) }

func (w *world) plan(s harvest.Source, each ...func(harvest.Decision)) *harvest.Report {
	return w.done(w.h.Plan(w.Context(), s, append(each, nil)[0]))
}

func (w *world) audit(s harvest.Source, each ...func(harvest.Decision)) *harvest.Report {
	return w.done(w.h.Audit(w.Context(), s, append(each, nil)[0]))
}

func (w *world) done(r *harvest.Report, err error) *harvest.Report {
	w.Helper()
	require.NoError(w, err)
	return r
}

// page publishes a page whose text is its name, unless text is given.
func (w *world) page(name string, text ...string) {
	w.site.set(base+name, strings.Join(append([]string{name}, text...), " "))
}

// pages publishes pages whose texts are their names.
func (w *world) pages(names ...string) {
	for _, name := range names {
		w.page(name)
	}
}

// numbered publishes the pages p0000, p0001 … and returns their puts.
func (w *world) numbered(n int) []harvest.Event {
	events := numbered(0, n)
	for i := range events {
		w.page(strings.TrimPrefix(events[i].Resource.ID, base))
	}
	return events
}

func (w *world) live() map[string]string           { return testkit.Live(w, w.store) }
func (w *world) log() []string                     { return testkit.Log(w, w.store) }
func (w *world) tasks() []harvest.Task             { return testkit.Tasks(w, w.store) }
func (w *world) record(name string) harvest.Record { return testkit.Record(w, w.store, name) }

func (w *world) checkpoint() string {
	w.Helper()
	c, err := w.store.Checkpoint(w.Context(), src)
	require.NoError(w, err)
	return string(c.Data)
}

func TestRunTwice(t *testing.T) {
	w := newWorld(t)
	events := []harvest.Event{}
	for _, name := range []string{"a", "b", "c"} {
		w.page(name)
		events = append(events, put(name, day(1)))
	}
	r := w.run(snapshot(events...))
	require.True(t, r.InStep())
	require.EqualValues(t, 3, r.Created)
	require.EqualValues(t, 3, r.Fetched)
	require.Equal(t, map[string]string{"a": "a", "b": "b", "c": "c"}, w.live())
	require.Equal(t, "listed", w.checkpoint())

	w.site.reset()
	r = w.run(snapshot(events...))
	require.True(t, r.InStep())
	require.EqualValues(t, 3, r.Unchanged)
	require.Empty(t, w.site.requests, "a stated time is enough")
	require.Len(t, w.log(), 3)
}

func TestRunTwiceWithoutTimes(t *testing.T) {
	for _, noETag := range []bool{false, true} {
		t.Run(fmt.Sprintf("noETag=%v", noETag), func(t *testing.T) {
			w := newWorld(t)
			w.site.noETag = noETag
			w.page("a")
			list := snapshot(put("a", websync.Datetime{}))
			w.run(list)
			w.site.reset()
			r := w.run(list)
			require.EqualValues(t, 1, r.Unchanged)
			require.Len(t, w.site.requests, 1)
			require.Len(t, w.log(), 1)
			if !noETag {
				require.Zero(t, w.site.bodies)
			}
			w.page("a", "changed")
			r = w.run(list)
			require.EqualValues(t, 1, r.Updated)
			require.Equal(t, map[string]string{"a": "a changed"}, w.live())
		})
	}
}

func TestUpdateAndTouch(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b")
	w.run(snapshot(put("a", day(1)), put("b", day(1))))
	w.page("a", "new")
	r := w.run(snapshot(put("a", day(2)), put("b", day(2))))
	require.EqualValues(t, 1, r.Updated)
	require.EqualValues(t, 1, r.Touched)
	require.ElementsMatch(t, []string{"created a", "created b", "updated a"}, w.log())
	require.Equal(t, day(1), w.record("b").Resource.Modified, "the record repeats its log entry")
	require.Equal(t, day(2), w.record("b").Stated.Modified)
	w.site.reset()
	require.EqualValues(t, 2, w.run(snapshot(put("a", day(2)), put("b", day(2)))).Unchanged)
	require.Empty(t, w.site.requests)

	described := put("b", day(2))
	described.Resource.Title = "A title"
	w.site.reset()
	r = w.run(snapshot(put("a", day(2)), described))
	require.EqualValues(t, 1, r.Updated)
	require.Empty(t, w.site.requests, "the description changed, the bytes did not")
	require.Equal(t, "A title", w.record("b").Resource.Title)
	require.Equal(t, map[string]string{"a": "a new", "b": "b"}, w.live())
}

func TestDigestSparesTheGet(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(snapshot(put("a", day(1))))
	again := put("a", day(2))
	again.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte("a"))}
	w.site.reset()
	r := w.run(snapshot(again))
	require.EqualValues(t, 1, r.Updated, "the description states a digest now")
	require.Empty(t, w.site.requests)
}

func TestLog(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b", "c")
	last := put("c", day(4))
	last.Resume = checkpoint("4")
	w.run(harvest.Of(src, put("a", day(1)), put("b", day(2)), del("a", day(3)), last))
	require.Equal(t, map[string]string{"b": "b", "c": "c"}, w.live())
	require.Equal(t, "4", w.checkpoint())
	n := len(w.log())

	r := w.run(harvest.Of(src, put("a", day(1)), put("b", day(1)), del("b", day(1)), del("zzz", day(1))))
	require.EqualValues(t, 3, r.History)
	require.Len(t, w.log(), n, "older than the record, or an unknown id")
	require.Equal(t, map[string]string{"b": "b", "c": "c"}, w.live())
	require.Equal(t, websync.Deleted, w.record("zzz").Kind)
	require.Zero(t, w.record("zzz").Seq)

	r = w.run(harvest.Of(src, put("a", day(5))))
	require.EqualValues(t, 1, r.Created, "published again")
	require.Equal(t, map[string]string{"a": "a", "b": "b", "c": "c"}, w.live())
}

// TestDeletionRepeated repeats a put and a deletion of one moment, as a run may repeat
// the last events of the previous one.
func TestDeletionRepeated(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(harvest.Of(src, put("a", day(1))))
	w.run(harvest.Of(src, del("a", day(1))))
	delete(w.site.pages, base+"a")
	n := len(w.log())
	r := w.run(harvest.Of(src, put("a", day(1)), del("a", day(1))))
	require.Empty(t, w.tasks(), "the deletion ended the task")
	require.True(t, r.InStep())
	require.Len(t, w.log(), n)
}

func TestEventsOfOneID(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b")
	var events []harvest.Event
	for d := 1; d <= 9; d++ {
		events = append(events, put("a", day(d)), put("b", day(d)))
	}
	events = append(events, del("b", day(10)), put("a", day(3)))
	r := w.run(harvest.Of(src, events...))
	require.EqualValues(t, len(events), r.Events)
	require.Equal(t, map[string]string{"a": "a"}, w.live())
	require.Equal(t, day(9), w.record("a").Resource.Modified)
}

func TestSweep(t *testing.T) {
	w := newWorld(t)
	events := w.numbered(20)
	w.run(snapshot(events...))
	r := w.run(snapshot(events[:15]...))
	require.EqualValues(t, 5, r.Deleted)
	require.Len(t, w.live(), 15)
	require.Equal(t, day(1), w.record("p0019").Resource.Modified, "the tombstone keeps the time")

	r = w.run(harvest.Of(src, put("p0019", day(1))))
	require.EqualValues(t, 1, r.History, "a feed must not revive what the listing dropped")
	r = w.run(harvest.Of(src, put("p0019", day(2))))
	require.EqualValues(t, 1, r.Created)
}

// TestSweptKeepsTheTimeOfItsLastChange sweeps a record whose event had an At.
func TestSweptKeepsTheTimeOfItsLastChange(t *testing.T) {
	for _, modified := range []websync.Datetime{{}, day(1), day(9)} {
		w := newWorld(t)
		w.page("a")
		event := put("a", modified)
		event.At = day(5)
		w.h.MaxDelete = -1
		w.run(harvest.Of(src, event))
		require.EqualValues(t, 1, w.run(snapshot()).Deleted)
		require.EqualValues(t, 1, w.run(harvest.Of(src, event)).History)
		require.Empty(t, w.live())
		require.Equal(t, modified, w.record("a").Resource.Modified)
		event.At = day(10)
		require.EqualValues(t, 1, w.run(harvest.Of(src, event)).Created)
	}
}

// TestDeletedAndListedInOneSnapshot yields a deletion and then a put of the same moment:
// the last event counts.
func TestDeletedAndListedInOneSnapshot(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(snapshot(put("a", day(2))))
	r := w.run(snapshot(del("a", day(2)), put("a", day(2))))
	require.EqualValues(t, []int64{1, 1}, []int64{r.History, r.Unchanged})
	require.Equal(t, map[string]string{"a": "a"}, w.live())
	require.Len(t, w.log(), 1)

	r = w.run(snapshot(del("a", day(3)), put("a", day(4))))
	require.EqualValues(t, []int64{1, 1}, []int64{r.Deleted, r.Created})
}

// TestUntimedDeletionComesFirst yields a deletion without a time and an earlier change
// while a later change is fetched.
func TestUntimedDeletionComesFirst(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	r := w.run(harvest.Of(src, put("a", day(5)), del("a", websync.Datetime{}), put("a", day(3))))
	require.EqualValues(t, []int64{1, 1, 1}, []int64{r.Created, r.Deleted, r.History})
	require.Empty(t, w.live())
}

func TestSweepGuard(t *testing.T) {
	begin := func(t *testing.T, n int) *world {
		w := newWorld(t)
		w.run(snapshot(w.numbered(n)...))
		return w
	}
	t.Run("more than half is withheld, and taken back when listed again", func(t *testing.T) {
		w := begin(t, 20)
		for range 2 {
			r := w.run(snapshot(numbered(0, 9)...))
			require.EqualValues(t, 11, r.Withheld)
			require.False(t, r.InStep())
			require.EqualValues(t, 11, r.Left.Withheld)
			require.Equal(t, "share", r.Guard.Rule)
			require.Contains(t, r.Guard.Message, "11 of 20")
			require.Len(t, w.live(), 20)
		}
		task := w.tasks()[0]
		w.run(snapshot(numbered(0, 9)...))
		require.Equal(t, task, w.tasks()[0], "the same task stays")
		require.Equal(t, harvest.TaskWithheld, task.Kind)
		require.Equal(t, w.record("p0009").Seq, task.Base)
		r := w.run(snapshot(numbered(0, 20)...))
		require.True(t, r.InStep())
		require.Empty(t, w.tasks())
	})
	t.Run("exactly half passes", func(t *testing.T) {
		w := begin(t, 20)
		require.EqualValues(t, 10, w.run(snapshot(numbered(0, 10)...)).Deleted)
	})
	t.Run("of ten or fewer any number may go, but not all", func(t *testing.T) {
		for _, n := range []int{1, 10} {
			w := begin(t, n)
			r := w.run(snapshot())
			require.EqualValues(t, n, r.Withheld)
			require.Equal(t, "share", r.Guard.Rule)
			w.page("other")
			require.EqualValues(t, n, w.run(snapshot(put("other", day(1)))).Withheld)
			r = w.run(snapshot(numbered(0, n)...))
			require.EqualValues(t, 1, r.Deleted, "only the other page")
			require.True(t, r.InStep())
			require.EqualValues(t, n-1, begin(t, n).run(snapshot(numbered(0, 1)...)).Deleted)
		}
	})
	t.Run("unless a share is set", func(t *testing.T) {
		w := begin(t, 10)
		w.h.MaxDelete = 0.01
		require.EqualValues(t, 1, w.run(snapshot(numbered(0, 9)...)).Withheld)
	})
	t.Run("eleven may not", func(t *testing.T) {
		w := begin(t, 11)
		require.EqualValues(t, 11, w.run(snapshot()).Withheld)
	})
	t.Run("new ones do not widen the guard", func(t *testing.T) {
		w := begin(t, 20)
		require.EqualValues(t, 20, w.run(snapshot(w.numbered(120)[20:]...)).Withheld)
	})
	t.Run("an absolute limit", func(t *testing.T) {
		w := begin(t, 20)
		w.h.MaxDeletes = 2
		require.EqualValues(t, 3, w.run(snapshot(numbered(0, 17)...)).Withheld)
		require.EqualValues(t, 2, w.run(snapshot(numbered(0, 18)...)).Deleted)
	})
	t.Run("no limit", func(t *testing.T) {
		w := begin(t, 20)
		w.h.MaxDelete = -1
		require.EqualValues(t, 20, w.run(snapshot()).Deleted)
	})
	t.Run("skipped entries withhold", func(t *testing.T) {
		w := begin(t, 20)
		events := append([]harvest.Event{{Kind: harvest.SnapshotStart}}, numbered(0, 19)...)
		events = append(events, harvest.Event{Kind: harvest.SnapshotEnd, Complete: true, Skipped: 1})
		r := w.run(harvest.Of(src, events...))
		require.EqualValues(t, 1, r.Withheld)
		require.Equal(t, 1, r.Skipped)
		w.h.AcceptSkipped = true
		require.EqualValues(t, 1, w.run(harvest.Of(src, events...)).Deleted)
		require.Empty(t, w.tasks())
	})
	t.Run("changed options withhold until they are the old ones", func(t *testing.T) {
		w := begin(t, 20)
		with := func(options string, n int) harvest.Source {
			events := append([]harvest.Event{{Kind: harvest.SnapshotStart}}, numbered(0, n)...)
			return harvest.Of(src, append(events, harvest.Event{Kind: harvest.SnapshotEnd, Complete: true, Options: options})...)
		}
		w.run(with("all", 20))
		for range 2 {
			r := w.run(with("some", 19))
			require.EqualValues(t, 1, r.Withheld)
			require.Equal(t, "options", r.Guard.Rule)
		}
		require.EqualValues(t, 1, w.run(with("all", 19)).Deleted)
	})
	t.Run("an incomplete listing deletes nothing", func(t *testing.T) {
		w := begin(t, 20)
		r := w.run(harvest.Of(src, start, put("p0000", day(1)), harvest.Event{Kind: harvest.SnapshotEnd}))
		require.Zero(t, r.Deleted+r.Withheld)
		require.True(t, r.InStep())
	})
	t.Run("nor does one with a problem", func(t *testing.T) {
		w := begin(t, 20)
		r := w.run(harvest.Of(src, start, put("p0000", day(1)),
			harvest.Event{Kind: harvest.Problem, Err: errors.New("page 2: status 500")},
			harvest.Event{Kind: harvest.SnapshotEnd, Complete: true, Resume: checkpoint("never")}))
		require.Zero(t, r.Deleted+r.Withheld)
		require.False(t, r.Complete)
		require.Contains(t, r.Problems[0].Error, "page 2")
		require.Equal(t, "listed", w.checkpoint())
	})
}

func TestSnapshotOfAnEarlierMoment(t *testing.T) {
	w := newWorld(t)
	w.pages("old", "latest", "gone")
	w.run(harvest.Of(src, put("old", day(1)), put("latest", day(9)), put("gone", day(1))))
	r := w.run(harvest.Of(src, harvest.Event{Kind: harvest.SnapshotStart, At: day(5)},
		put("old", day(1)), put("latest", day(2)), complete))
	require.EqualValues(t, 1, r.Deleted)
	require.EqualValues(t, 1, r.History, "a stale copy must not roll back what a log listed")
	require.Equal(t, day(9), w.record("latest").Resource.Modified)
	require.Equal(t, day(5), w.record("gone").At)

	r = w.run(harvest.Of(src, harvest.Event{Kind: harvest.SnapshotStart, At: day(6)}, put("old", day(1)),
		complete))
	require.Zero(t, r.Deleted, "it changed after the moment of the listing")
}

func TestPrecision(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(snapshot(put("a", date(t, "2026-01-02T10:00:00Z"))))
	w.site.reset()
	r := w.run(snapshot(put("a", date(t, "2026-01-02"))))
	require.EqualValues(t, 1, r.Unchanged, "a coarser time that may be the same")
	require.Empty(t, w.site.requests)
	require.Equal(t, "2026-01-02T10:00:00Z", w.record("a").Resource.Modified.String())

	r = w.run(snapshot(put("a", date(t, "2026-01-02T10:00:00.5Z"))))
	require.EqualValues(t, 1, r.Touched, "a finer time is fetched")
	require.Len(t, w.site.requests, 1)
}

func TestFailureIsATask(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b")
	w.site.failing[base+"b"] = fmt.Errorf("status 503: %w", harvest.ErrTemporary)
	r := w.run(snapshot(put("a", day(1)), put("b", day(1))))
	require.False(t, r.InStep())
	require.True(t, r.Complete)
	require.EqualValues(t, 1, r.Failed)
	require.EqualValues(t, 1, r.Left.Waiting)
	require.Equal(t, base+"b", r.Failures[0].ID)
	require.Equal(t, base+"b", r.Failures[0].URL)
	require.Equal(t, "listed", w.checkpoint(), "the task is stored, so the checkpoint moves")

	w.site.failing = map[string]error{}
	r = w.run(harvest.Of(src)) // no event is listed: the task alone is enough
	require.True(t, r.InStep())
	require.Equal(t, map[string]string{"a": "a", "b": "b"}, w.live())
}

func TestNotYetIsNoAttempt(t *testing.T) {
	w := newWorld(t)
	w.h.Attempts = 1
	w.site.failing[base+"a"] = harvest.ErrNotYet
	r := w.run(snapshot(put("a", day(1))))
	require.EqualValues(t, 1, r.Left.Waiting, "not parked")
	require.Zero(t, w.tasks()[0].Attempts)
	require.Empty(t, r.Requests, "no request was made")
}

func TestParked(t *testing.T) {
	w := newWorld(t)
	w.h.Attempts = 2
	w.site.failing[base+"a"] = harvest.ErrTemporary
	list := snapshot(put("a", day(1)))
	require.EqualValues(t, 1, w.run(list).Left.Waiting)
	r := w.run(list)
	require.EqualValues(t, 1, r.Left.Parked)
	require.Equal(t, 2, w.tasks()[0].Attempts)
	w.site.reset()
	w.run(harvest.Of(src))
	require.Empty(t, w.site.requests, "parked")

	w.page("a")
	w.site.failing = map[string]error{}
	require.True(t, w.run(snapshot(put("a", day(2)))).InStep(), "revived by a new event")
}

type later struct{ at time.Time }

func (l later) Error() string         { return "later" }
func (l later) RetryAfter() time.Time { return l.at }

func TestRetryAfterMovesTheTask(t *testing.T) {
	w := newWorld(t)
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	w.site.failing[base+"a"] = later{at}
	r := w.run(snapshot(put("a", day(1))))
	require.Equal(t, at, r.Left.Next)
	w.site.reset()
	r = w.run(harvest.Of(src))
	require.Empty(t, w.site.requests)
	require.False(t, r.InStep())
}

func TestTaskOfWhatIsNoLongerListed(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.site.failing[base+"b"] = later{time.Now().Add(time.Hour)}
	w.run(snapshot(put("a", day(1)), put("b", day(1))))
	require.Len(t, w.tasks(), 1)
	r := w.run(snapshot(put("a", day(1))))
	require.Empty(t, w.tasks())
	require.True(t, r.InStep())
}

func TestMismatchKeepsTheOldCopy(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(snapshot(put("a", day(1))))
	bad := put("a", day(2))
	bad.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte("what was promised"))}
	w.page("a", "tampered")
	r := w.run(snapshot(bad))
	require.EqualValues(t, 1, r.Failed)
	require.Contains(t, r.Failures[0].Error, "sha-256")
	require.Equal(t, map[string]string{"a": "a"}, w.live())
	w.page("a", "tampered", "longer")
	require.Len(t, w.log(), 1)
}

func TestSourceError(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	first := put("a", day(1))
	first.Resume = checkpoint("1")
	r, err := w.h.Run(t.Context(), broken(first, put("b", day(1))))
	require.ErrorContains(t, err, "connection reset")
	require.ErrorContains(t, err, src)
	require.NotNil(t, r)
	require.False(t, r.Complete)
	require.Equal(t, map[string]string{"a": "a"}, w.live(), "earlier events are committed")
	require.Equal(t, "1", w.checkpoint())
}

func TestProblemHoldsTheCheckpoint(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b")
	first, second := put("a", day(1)), put("b", day(2))
	first.Resume, second.Resume = checkpoint("1"), checkpoint("2")
	r := w.run(harvest.Of(src, first, harvest.Event{Kind: harvest.Problem, Err: errors.New("hole")}, second))
	require.False(t, r.InStep())
	require.Equal(t, map[string]string{"a": "a", "b": "b"}, w.live(), "later events are committed")
	require.Equal(t, "1", w.checkpoint(), "the checkpoint stays before the Problem")
}

func TestSnapshotHasNoCheckpointInside(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	early := put("a", day(1))
	early.Resume = checkpoint("too early")
	_, err := w.h.Run(t.Context(), broken(start, early))
	require.Error(t, err)
	require.Empty(t, w.checkpoint())
}

func TestEarlierStateListedLast(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b")
	w.run(snapshot(put("a", day(1))))
	w.page("a", "2")
	for range 2 {
		r := w.run(snapshot(put("a", day(2)), put("a", day(1)), put("b", day(2)), put("b", day(1))))
		require.EqualValues(t, 2, r.History)
		require.Equal(t, day(2), w.record("a").Resource.Modified)
		require.Equal(t, day(2), w.record("b").Resource.Modified)
	}
	require.Len(t, w.log(), 3)
}

func TestLogStatesAChangeByItsTimeAlone(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	event := put("a", day(1))
	w.run(harvest.Of(src, event))
	w.page("a", "changed")
	event.At = day(2)
	for _, dry := range []func(context.Context, harvest.Source, func(harvest.Decision)) (*harvest.Report, error){w.h.Plan, w.h.Audit} {
		r, err := dry(t.Context(), harvest.Of(src, event), nil)
		require.NoError(t, err)
		require.EqualValues(t, 1, r.Differences())
	}
	r := w.run(harvest.Of(src, event))
	require.EqualValues(t, 1, r.Updated)
	w.site.reset()
	r = w.run(harvest.Of(src, event))
	require.EqualValues(t, 1, r.Unchanged)
	require.Empty(t, w.site.requests)
}

func TestIDs(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	long := harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: strings.Repeat("x", harvest.MaxID+1)}}
	r := w.run(harvest.Of(src, long, harvest.Event{Kind: harvest.Put}, put("a", day(1))))
	require.Len(t, r.Problems, 2)
	require.Equal(t, map[string]string{"a": "a"}, w.live())
}

func TestOverflowBecomesTasks(t *testing.T) {
	w := newWorld(t)
	w.h.Window, w.h.Concurrency = 4, 1
	w.h.SetPatience(time.Millisecond)
	w.site.before = func(string) { time.Sleep(2 * time.Millisecond) }
	events := w.numbered(50)
	deferred := 0
	w.h.Hooks = &harvest.Hooks{Outcome: func(_, _ string, o harvest.Outcome, _ error) {
		if o == harvest.OutcomeDeferred {
			deferred++
		}
	}}
	r := w.run(snapshot(events...))
	require.True(t, r.InStep())
	require.EqualValues(t, 50, r.Created)
	require.Zero(t, r.Deferred, "the deferred tasks were done in the same run")
	require.NotZero(t, deferred)
	require.Len(t, w.live(), 50)
}

func TestListThenWork(t *testing.T) {
	w := newWorld(t)
	const n = 300
	events := w.numbered(n)
	came := put("along", day(1))
	came.Open, came.Resource.Content.Href = harvest.OpenBytes([]byte("came along")), ""
	r := w.list(snapshot(append(events, came)...))
	require.EqualValues(t, n, r.Deferred)
	require.EqualValues(t, 1, r.Created)
	require.Empty(t, w.site.requests)
	require.Equal(t, "listed", w.checkpoint())

	r = w.work(harvest.Of(src))
	require.EqualValues(t, n, r.Created)
	require.True(t, r.InStep())
	require.Len(t, w.live(), n+1)
	require.Equal(t, "came along", w.live()["along"])
}

func TestRolledBackTimeSurvivesDeferral(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(snapshot(put("a", day(5))))
	w.page("a", "restored from backup")
	w.list(snapshot(put("a", day(2))))
	r := w.work(harvest.Of(src))
	require.EqualValues(t, 1, r.Updated, "in a snapshot, different is enough")
	require.Equal(t, map[string]string{"a": "a restored from backup"}, w.live())
}

func TestNotModifiedWithoutValidators(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	list := snapshot(put("a", websync.Datetime{}))
	w.run(list)
	w.site.terse = true
	for range 3 {
		w.site.reset()
		require.EqualValues(t, 1, w.run(list).Unchanged)
		require.Zero(t, w.site.bodies, "the validators are still valid")
	}
}

func TestNotModifiedKeepsValidator(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(snapshot(put("a", websync.Datetime{})))
	before := w.record("a").Validators
	require.NotEmpty(t, before)
	w.h.Fetcher = testkit.FetchFunc(func(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
		resp, err := w.site.Fetch(ctx, req)
		if err == nil && resp.NotModified {
			// answers of "not modified" have an ETag of their own
			resp.Validator.ETag = `"another"`
		}
		return resp, err
	})
	require.EqualValues(t, 1, w.run(snapshot(put("a", websync.Datetime{}))).Unchanged)
	require.Equal(t, before, w.record("a").Validators, "another ETag means other bytes")
}

func TestStatedDigestIsNotANotModified(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(snapshot(put("a", day(1))))
	w.site.stuck = true // the server always answers "not modified"
	w.page("a", "2")
	next := put("a", day(2))
	next.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte("a 2"))}
	require.EqualValues(t, 1, w.run(snapshot(next)).Updated)
	require.Equal(t, map[string]string{"a": "a 2"}, w.live())
}

func TestBytesThatCameAlong(t *testing.T) {
	along := func(text, stated string) harvest.Event {
		e := put("a", day(1))
		e.Open = harvest.OpenBytes([]byte(text))
		e.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte(stated))}
		return e
	}
	t.Run("kept", func(t *testing.T) {
		w := newWorld(t)
		w.run(harvest.Of(src, along("x", "x")))
		require.Equal(t, map[string]string{"a": "x"}, w.live())
		require.Empty(t, w.site.requests)
	})
	t.Run("damaged, fetched instead", func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		w.run(harvest.Of(src, along("x", "a")))
		require.Equal(t, map[string]string{"a": "a"}, w.live())
	})
	t.Run("damaged, nothing to fetch", func(t *testing.T) {
		w := newWorld(t)
		w.page("b")
		bad := along("x", "y")
		bad.Resource.Content.Href, bad.Resume = "", checkpoint("1")
		next := put("b", day(1))
		next.Resume = checkpoint("2")
		r := w.run(harvest.Of(src, bad, next))
		require.False(t, r.InStep())
		require.Empty(t, w.checkpoint(), "no checkpoint passes the failed bytes")
		require.Equal(t, map[string]string{"b": "b"}, w.live())
	})
}

// marking yields a put and then a Mark, and checks that the put is committed when the
// Mark's yield returns.
type marking struct {
	*world
	committed []bool
}

func (m *marking) Key() string { return src }

func (m *marking) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		for _, name := range []string{"a", "b"} {
			if !yield(put(name, day(1)), nil) || !yield(harvest.Event{Kind: harvest.Mark}, nil) {
				return
			}
			rec := m.record(name)
			m.committed = append(m.committed, rec.Live())
		}
	}
}

func TestMarkDrains(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b")
	m := &marking{world: w}
	w.run(m)
	require.Equal(t, []bool{true, true}, m.committed)
}

// twoForms is a Getter that keeps two bodies, and a description of its own.
type twoForms struct {
	harvest.Source
	fail bool
}

func (g *twoForms) Get(ctx context.Context, job *harvest.Job) error {
	for _, name := range []string{"content", "graph"} {
		url := job.Resource.ID + "?" + name
		resp, err := job.Fetch(ctx, &harvest.Request{URL: url, Validator: job.Held.Validator(url)})
		if err != nil {
			return err
		}
		if resp.NotModified {
			if _, err := job.Reuse(name); err != nil {
				return err
			}
			continue
		}
		defer resp.Body.Close()
		if _, err := job.Keep(ctx, name, websync.Link{Href: url}, resp.Body); err != nil {
			return err
		}
		if g.fail {
			return errors.New("half-way")
		}
	}
	job.Resource.Title = "from the graph"
	return nil
}

func TestGetter(t *testing.T) {
	w := newWorld(t)
	w.pages("a?content", "a?graph")
	g := &twoForms{Source: snapshot(put("a", day(1))), fail: true}
	r := w.run(g)
	require.EqualValues(t, 1, r.Failed)
	require.Empty(t, w.live(), "all bodies change or none")
	g.fail = false
	w.run(g)
	rec := w.record("a")
	require.Len(t, rec.Bodies, 2)
	require.Equal(t, "from the graph", rec.Resource.Title)
	w.site.reset()
	w.run(g)
	require.Empty(t, w.site.requests, "what Get adds does not count as a change")
	g.Source = snapshot(put("a", day(2)))
	r = w.run(g)
	require.EqualValues(t, 1, r.Touched)
	require.Zero(t, w.site.bodies)
}

func TestBudget(t *testing.T) {
	w := newWorld(t)
	events := w.numbered(20)
	w.h.Budget.Requests = 5
	w.h.Concurrency = 1
	list := snapshot(events...)
	r := w.run(list)
	require.True(t, r.BudgetSpent)
	require.True(t, r.Complete, "listing goes on")
	require.Len(t, w.site.requests, 5)
	require.EqualValues(t, 15, r.Left.Waiting)
	for range 3 {
		r = w.run(harvest.Of(src))
	}
	require.True(t, r.InStep())
	require.Len(t, w.live(), 20)
}

func TestBudgetOfBytes(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b")
	w.h.Budget.Bytes, w.h.Concurrency = 1, 1
	r := w.run(snapshot(put("a", day(1)), put("b", day(1))))
	require.Len(t, w.live(), 1)
	require.EqualValues(t, 1, r.Left.Waiting)
}

// learning is a Getter that changes the resource.
type learning struct {
	harvest.Source
	change func(*websync.Resource)
}

func (l learning) Get(_ context.Context, job *harvest.Job) error {
	l.change(&job.Resource)
	return nil
}

func TestGetLeavesTheIDAlone(t *testing.T) {
	w := newWorld(t)
	r := w.run(learning{snapshot(put("a", day(1))), func(r *websync.Resource) { r.ID = "b" }})
	require.EqualValues(t, 1, r.Failed)
	require.Contains(t, r.Failures[0].Error, "changed the id")
}

func TestGetLearnsTheTime(t *testing.T) {
	w := newWorld(t)
	list := learning{snapshot(put("a", day(1))), func(r *websync.Resource) { r.Modified = day(9) }}
	require.EqualValues(t, 1, w.run(list).Created)
	require.Equal(t, day(9), w.record("a").Resource.Modified)
	require.EqualValues(t, 1, w.run(list).Unchanged, "what the listing states is still the same")
}

func TestSnapshotWithoutAnEnd(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	r := w.run(harvest.Of(src, start, put("a", day(1))))
	require.False(t, r.Complete)
	require.Len(t, r.Problems, 1)
	require.Equal(t, map[string]string{"a": "a"}, w.live())
}

func TestTagDistinguishesStates(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	tagged := func(tag string) harvest.Source { return snapshot(putTagged("a", tag)) }
	require.EqualValues(t, 1, w.run(tagged("1")).Created)
	w.site.reset()
	require.EqualValues(t, 1, w.run(tagged("1")).Unchanged)
	require.Empty(t, w.site.requests)
	w.page("a", "new")
	require.EqualValues(t, 1, w.run(tagged("2")).Updated)
	require.EqualValues(t, 1, w.run(tagged("3")).Touched)
	require.EqualValues(t, 1, w.run(tagged("3")).Unchanged)

	w.h.Budget.Requests = 1
	w.page("b")
	list := snapshot(putTagged("a", "5"), putTagged("b", "5"))
	w.run(list)
	w.h.Budget.Requests = 0
	w.run(list)
	w.site.reset()
	require.EqualValues(t, 2, w.run(list).Unchanged, "a task keeps the tag")
	require.Empty(t, w.site.requests)
}

func putTagged(name, tag string) harvest.Event {
	e := put(name, day(1))
	e.Tag = tag
	return e
}

// TestFailedWorkKeepsTheLaterTask has a listing replace a task while Work fails to get
// it.
func TestFailedWorkKeepsTheLaterTask(t *testing.T) {
	w := newWorld(t)
	list := func(d int) {
		h := harvest.Harvester{Sample: -1, Catalog: w.store}
		_, err := h.List(t.Context(), harvest.Of(src, put("a", day(d))))
		require.NoError(t, err)
	}
	list(1)
	var once sync.Once
	w.site.before = func(string) { once.Do(func() { list(2) }) }
	w.work(harvest.Of(src))
	tasks := w.tasks()
	require.Len(t, tasks, 1)
	require.Equal(t, day(2), tasks[0].Resource.Modified)
	require.Equal(t, 1, tasks[0].Attempts, "the attempt counts for the later state")
}

// patient is a Source that waits for the end of its context.
type patient struct{ harvest.Source }

func (patient) Events(ctx context.Context, _ *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		<-ctx.Done()
		yield(harvest.Event{}, ctx.Err())
	}
}

func TestClaimThatIsNotRenewedEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		claims := 0
		w.h.Catalog = w.watched(func(_ context.Context, act testkit.Act) error {
			if act != testkit.Claim {
				return nil
			}
			if claims++; claims == 1 {
				return nil
			}
			return harvest.ErrFenced
		})
		_, err := w.h.Run(t.Context(), patient{harvest.Of(src)})
		require.ErrorIs(t, err, harvest.ErrFenced)
	})
}

func TestClaims(t *testing.T) {
	w := newWorld(t)
	claim, err := w.store.Claim(t.Context(), "source/"+src, time.Hour)
	require.NoError(t, err)
	r, err := w.h.Run(t.Context(), harvest.Of(src))
	require.ErrorIs(t, err, harvest.ErrHeld)
	require.NotNil(t, r)
	require.NoError(t, w.store.Release(t.Context(), claim))
	w.run(harvest.Of(src))
}

// meddle returns a Catalog on the world's Store that calls f before the first Commit that
// adds to the log.
func (w *world) meddle(f func()) *harvest.Catalog {
	var once sync.Once
	return w.watched(func(_ context.Context, act testkit.Act) error {
		if act == testkit.Commit {
			once.Do(f)
		}
		return nil
	})
}

func TestConflictIsPlannedAgain(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b")
	w.run(harvest.Of(src, put("a", day(1))))
	w.page("a", "third")
	w.h.Catalog = w.meddle(func() {
		claim, err := w.store.Claim(t.Context(), "work/"+src, time.Hour)
		require.NoError(t, err)
		rec := w.record("a")
		b := harvest.NewBatch(src)
		next := rec
		next.At, next.Resource.Modified = day(2), day(2)
		b.Puts = []harvest.Change{{Base: rec.Seq, Record: next}}
		_, err = w.store.Commit(t.Context(), claim, b)
		require.NoError(t, err)
	})
	r := w.run(harvest.Of(src, put("a", day(3)), put("b", day(1))))
	require.EqualValues(t, 1, r.Updated)
	require.EqualValues(t, 1, r.Created)
	require.Equal(t, map[string]string{"a": "a third", "b": "b"}, w.live())
	require.Equal(t, day(3), w.record("a").Resource.Modified)

}

// A keeping is a Fetcher whose first Unsaved returns one value.
type keeping struct {
	*site
	once sync.Once
}

func (k *keeping) Unsaved() (state map[string][]byte) {
	k.once.Do(func() { state = map[string][]byte{"gate": []byte("closed")} })
	return state
}

func TestConflictKeepsTheFetchersState(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.h.Fetcher = &keeping{site: w.site}
	w.h.Catalog = w.meddle(func() {
		claim, err := w.store.Claim(t.Context(), "work/"+src, time.Hour)
		require.NoError(t, err)
		b := harvest.NewBatch(src)
		b.Puts = []harvest.Change{{Record: harvest.Record{Item: websync.Item{Kind: websync.Created, Resource: resource("a", day(1))}}}}
		_, err = w.store.Commit(t.Context(), claim, b)
		require.NoError(t, err)
	})
	w.run(harvest.Of(src, put("a", day(2))))
	state, err := w.store.State(t.Context(), "gate")
	require.NoError(t, err)
	require.Equal(t, "closed", string(state))
}

func TestLostClaimEndsTheRun(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.h.Catalog = w.meddle(func() {
		claim, err := w.store.Claim(t.Context(), "source/"+src, time.Hour)
		require.ErrorIs(t, err, harvest.ErrHeld)
		require.Nil(t, claim)
	})
	w.run(harvest.Of(src, put("a", day(1))))
	w.h.Catalog = w.cut(0, false)
	_, err := w.h.Run(t.Context(), harvest.Of(src, put("a", day(2))))
	require.ErrorIs(t, err, harvest.ErrFenced)
}

func TestStopKeepsWhatWasGot(t *testing.T) {
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	w.h.Concurrency = 1
	events := w.numbered(20)
	w.site.before = func(url string) {
		if strings.HasSuffix(url, "0007") {
			stop()
		}
	}
	r, err := w.h.Run(ctx, snapshot(events...))
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, r.Complete)
	require.Zero(t, r.Failed, "a request to stop is no failure")
	require.Empty(t, w.tasks())
	require.Len(t, w.live(), 7)
	w.site.before = nil
	w.site.reset()
	require.True(t, w.run(snapshot(events...)).InStep())
	require.Len(t, w.site.requests, 13, "fetched bodies are not fetched again")
}

// TestCutAnywhere stops a run at each of its commits, before and after it is applied, and
// compares the store after the next run with that of a run that was never stopped.
func TestCutAnywhere(t *testing.T) {
	prepare := func(w *world) (first, second harvest.Source) {
		var one, two []harvest.Event
		for i := range 60 {
			name := fmt.Sprintf("%02d", i)
			w.page(name)
			one = append(one, put(name, day(1)))
			switch {
			case i%10 == 0: // gone
			case i%7 == 0:
				two = append(two, put(name, day(2)))
			default:
				two = append(two, put(name, day(1)))
			}
		}
		return snapshot(one...), snapshot(two...)
	}
	change := func(w *world) {
		for i := 0; i < 60; i += 7 {
			w.page(fmt.Sprintf("%02d", i), "new")
		}
	}
	undisturbed := newWorld(t)
	first, second := prepare(undisturbed)
	undisturbed.run(first)
	change(undisturbed)
	undisturbed.run(second)
	want := undisturbed.live()

	for _, after := range []bool{false, true} {
		for n := 0; n < 12; n++ {
			w := newWorld(t)
			w.h.Window = 8
			w.h.Concurrency = 2
			first, second := prepare(w)
			w.h.Catalog = w.cut(n, after)
			_, err1 := w.h.Run(t.Context(), first)
			w.h.Catalog = w.store
			w.run(first)
			change(w)
			w.h.Catalog = w.cut(n, after)
			_, err2 := w.h.Run(t.Context(), second)
			w.h.Catalog = w.store
			r := w.run(second)
			require.True(t, r.InStep())
			require.Equal(t, want, w.live(), "cut at commit %d, after=%v", n, after)
			require.Empty(t, w.tasks())
			require.ElementsMatch(t, undisturbed.log(), w.log())
			if n == 0 {
				require.ErrorIs(t, errors.Join(err1, err2), testkit.ErrCut)
			}
		}
	}
}

func TestBodyModes(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	list := snapshot(put("a", day(1)))
	w.h.Bodies = harvest.SkipBodies
	w.run(list)
	require.Equal(t, map[string]string{"a": "-"}, w.live())
	require.Empty(t, w.site.requests)
	require.EqualValues(t, 1, w.run(snapshot(put("a", day(2)))).Updated)

	w.h.Bodies = harvest.VerifyBodies
	w.run(list)
	require.Equal(t, map[string]string{"a": "-"}, w.live())
	rec := w.record("a")
	body, _ := rec.Body(websync.ContentName)
	require.Equal(t, websync.Digests{websync.SHA256([]byte("a"))}, body.Link.Digests)
	w.site.reset()
	require.EqualValues(t, 1, w.run(list).Unchanged)
	require.Empty(t, w.site.requests)

	w.h.Bodies = harvest.KeepBodies
	w.run(list)
	require.Equal(t, map[string]string{"a": "a"}, w.live())
}

// TestBytesThatComeAlongAreKeptLater lists inline content first with SkipBodies, and then
// without.
func TestBytesThatComeAlongAreKeptLater(t *testing.T) {
	inline := put("a", day(1))
	inline.Resource.Content.Href, inline.Open = "", harvest.OpenBytes([]byte("inline"))
	for _, list := range []harvest.Source{snapshot(inline), harvest.Of(src, inline)} {
		for _, mode := range []harvest.BodyMode{harvest.SkipBodies, harvest.VerifyBodies} {
			w := newWorld(t)
			w.h.Bodies = mode
			w.run(list)
			require.EqualValues(t, 1, w.run(list).Unchanged)
			w.h.Bodies = harvest.KeepBodies
			require.EqualValues(t, 1, w.run(list).Updated)
			require.Equal(t, map[string]string{"a": "inline"}, w.live())
			require.EqualValues(t, 1, w.run(list).Unchanged)
		}
	}
}

func TestFullIgnoresTheCheckpoint(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(snapshot(put("a", day(1))))
	var from []harvest.Checkpoint
	s := watching{snapshot(put("a", day(1))), &from}
	w.run(s)
	w.h.Full = true
	w.run(s)
	require.Equal(t, []harvest.Checkpoint{checkpoint("listed"), {}}, from)
}

type watching struct {
	harvest.Source
	from *[]harvest.Checkpoint
}

func (w watching) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	*w.from = append(*w.from, run.From)
	return w.Source.Events(ctx, run)
}

func TestReportJSON(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	r := w.run(snapshot(put("a", day(1))))
	data, err := json.Marshal(r)
	require.NoError(t, err)
	for _, name := range []string{"source", "complete", "created", "unchanged", "left", "requests", "failures", "problems", "from", "to"} {
		require.True(t, bytes.Contains(data, []byte(`"`+name+`":`)), name)
	}
}

func TestHooks(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	var mu sync.Mutex
	calls := map[string]int{}
	count := func(name string) {
		mu.Lock()
		defer mu.Unlock()
		calls[name]++
	}
	w.h.Hooks = &harvest.Hooks{
		Progress: func(p harvest.Progress) { count("progress") },
		Outcome:  func(_, id string, o harvest.Outcome, _ error) { count(o.String()) },
		Attempt:  func(_ context.Context, a harvest.AttemptInfo) { count(fmt.Sprint("attempt ", a.Status)) },
		Step:     func(_ context.Context, s harvest.StepInfo) { count(fmt.Sprint(s.Stage, " ", s.Events)) },
		Commit:   func(context.Context, harvest.CommitInfo) { count("commit") },
		Problem:  func(string, error) { count("problem") },
	}
	w.run(harvest.Of(src, put("a", day(1)), harvest.Event{Kind: harvest.Problem, Err: errors.New("x")}))
	require.Equal(t, []string{"attempt 200", "commit", "created", "plan 1", "problem", "progress"}, slices.Sorted(maps.Keys(calls)))
	clear(calls)
	start, end := harvest.Event{Kind: harvest.SnapshotStart}, harvest.Event{Kind: harvest.SnapshotEnd, Complete: true}
	w.run(harvest.Of(src, start, put("a", day(1)), end))
	require.Equal(t, []string{"commit", "plan 0", "plan 1", "progress", "sweep 0", "unchanged"}, slices.Sorted(maps.Keys(calls)))
}
