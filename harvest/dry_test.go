package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// decisions collects what a plan decides, the last for each id: "outcome name", with
// "get" where bytes are needed.
func decisions(into *[]string) func(harvest.Decision) {
	return func(d harvest.Decision) {
		text := d.Outcome.String() + " " + strings.TrimPrefix(d.ID, base)
		if d.Get {
			text += " get"
		}
		*into = append(*into, text)
	}
}

func TestPlan(t *testing.T) {
	w := newWorld(t)
	w.pages("same", "newer", "gone", "new")
	w.run(snapshot(put("same", day(1)), put("newer", day(1)), put("gone", day(1))))
	next := snapshot(put("same", day(1)), put("newer", day(2)), put("new", day(1)))
	w.site.reset()
	head, err := w.store.Head(t.Context())
	require.NoError(t, err)
	for range 2 {
		var decided []string
		r := w.plan(next, decisions(&decided))
		require.Equal(t, []string{"updated newer get", "created new get", "deleted gone"}, decided)
		require.True(t, r.Complete)
		require.EqualValues(t, 3, r.Differences())
		require.EqualValues(t, 1, r.Unchanged)
	}
	require.Empty(t, w.site.requests)
	after, err := w.store.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, head, after)
	w.page("newer", "2")
	r := w.run(next)
	require.EqualValues(t, []int64{1, 1, 1, 1}, []int64{r.Created, r.Updated, r.Deleted, r.Unchanged})
}

func TestPlanWithholdsAndMeetsTasks(t *testing.T) {
	w := newWorld(t)
	events := w.numbered(12)
	w.site.failing[base+"p0003"] = harvest.ErrTemporary
	w.run(snapshot(events...))
	var decided []string
	r := w.plan(harvest.Of(src), decisions(&decided))
	require.Equal(t, []string{"created p0003 get"}, decided)
	require.EqualValues(t, 1, r.Left.Waiting)

	r = w.plan(snapshot(events[0]))
	require.EqualValues(t, 10, r.Withheld)
	require.Equal(t, "share", r.Guard.Rule)
	require.Len(t, w.tasks(), 1, "nothing is written")
}

func TestPlanOfSeveralEventsOfOneID(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	var decided []string
	w.plan(harvest.Of(src, put("a", day(1)), put("a", day(1)), del("a", day(2)), put("a", day(1))), decisions(&decided))
	require.Equal(t, []string{"created a get", "unchanged a", "deleted a", "history a"}, decided)
}

// TestPlanWritesNothing compares the files of a SQLite store byte for byte.
func TestPlanWritesNothing(t *testing.T) {
	dir := t.TempDir()
	store, db := openSQLite(t, filepath.Join(dir, "store.db"))
	defer db.Close()
	w := newWorld(t)
	w.h.Catalog = store
	w.pages("a", "b")
	_, err := w.h.Run(t.Context(), snapshot(put("a", day(1)), put("b", day(1))))
	require.NoError(t, err)
	before := files(t, dir)
	r := w.plan(snapshot(put("a", day(2)), put("c", day(1))))
	require.EqualValues(t, 3, r.Differences())
	w.audit(snapshot(put("a", day(2)), put("c", day(1))))
	require.Equal(t, before, files(t, dir))
}

// files returns the digests of the files below dir, without the shared-memory index of
// SQLite.
func files(t *testing.T, dir string) map[string]string {
	all := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || strings.HasSuffix(path, "-shm") {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = websync.SHA256(data).String()
		return err
	})
	require.NoError(t, err)
	return all
}

// loses returns a Catalog on the world's Store whose bodies are lost.
func (w *world) loses() *harvest.Catalog {
	return harvest.NewCatalog(losing{harvest.StoreOf(w.store)})
}

// losing is a Store that loses bodies.
type losing struct{ harvest.Store }

func (l losing) View(ctx context.Context, fn func(harvest.Reader) error) error {
	return l.Store.View(ctx, func(r harvest.Reader) error { return fn(lost{r}) })
}

type lost struct{ harvest.Reader }

func (l lost) Get(key []byte) ([]byte, error) {
	if key[0] == 'B' {
		return nil, nil
	}
	return l.Reader.Get(key)
}

func TestAudit(t *testing.T) {
	w := newWorld(t)
	w.pages("same", "untimed", "newer", "gone", "new")
	w.run(snapshot(put("same", day(1)), put("untimed", websync.Datetime{}), put("newer", day(1)), put("gone", day(1))))
	w.site.reset()
	var decided []string
	r := w.audit(snapshot(put("same", day(1)), put("untimed", websync.Datetime{}), put("newer", day(2)), put("new", day(1))), decisions(&decided))
	require.Empty(t, w.site.requests, "an audit gets nothing")
	require.Equal(t, []string{"unchanged same", "unchanged untimed", "updated newer get", "created new get", "deleted gone"}, decided)
	require.EqualValues(t, 3, r.Differences())

	w.h.Catalog = w.loses()
	r = w.audit(snapshot(put("same", day(1))))
	require.EqualValues(t, 1, r.Failed)
	require.Contains(t, r.Failures[0].Error, `body "content"`)
	require.Equal(t, base+"same", r.Failures[0].ID)
}

func TestApprove(t *testing.T) {
	w := newWorld(t)
	events := w.numbered(12)
	w.run(snapshot(events...))
	w.h.Window = 2
	require.EqualValues(t, 11, w.run(snapshot(events[0])).Withheld)
	w.page("p0001", "changed since")
	w.run(harvest.Of(src, put("p0001", day(2))))
	require.Len(t, w.tasks(), 10, "a put ends the withheld deletion")

	r := w.approve()
	require.EqualValues(t, 10, r.Deleted)
	require.True(t, r.InStep())
	require.Equal(t, map[string]string{"p0000": "p0000", "p0001": "p0001 changed since"}, w.live())
	require.Empty(t, w.tasks())
	r = w.approve()
	require.Zero(t, r.Deleted)
}

func TestApproveSparesWhatHasChanged(t *testing.T) {
	w := newWorld(t)
	w.h.MaxDeletes = 1
	w.pages("a", "b")
	w.run(snapshot(put("a", day(1)), put("b", day(1))))
	require.EqualValues(t, 2, w.run(snapshot()).Withheld)

	claim, err := w.store.Claim(t.Context(), "somebody", time.Minute)
	require.NoError(t, err)
	rec := w.record("a")
	batch := harvest.NewBatch(src)
	batch.Puts = []harvest.Change{{Base: rec.Seq, Record: rec}}
	conflicts, err := w.store.Commit(t.Context(), claim, batch)
	require.NoError(t, err)
	require.Empty(t, conflicts)

	r := w.approve()
	require.EqualValues(t, 1, r.Deleted)
	require.True(t, r.InStep())
	require.Equal(t, map[string]string{"a": "a"}, w.live())
}

// TestApproveKeepsTheGuardOfOptions approves deletions that were withheld for another
// reason, and then changes the options.
func TestApproveKeepsTheGuardOfOptions(t *testing.T) {
	w := describing(t)
	with := func(options string, n int) harvest.Source { return under(options, numbered(0, n)...) }
	w.run(with("all", 20))
	require.EqualValues(t, 15, w.run(with("all", 5)).Withheld)
	w.approve()
	r := w.run(with("some", 4))
	require.EqualValues(t, 1, r.Withheld)
	require.Equal(t, "options", r.Guard.Rule)
	w.approve()
	require.EqualValues(t, 1, w.run(with("some", 3)).Deleted)
	require.Equal(t, "options", w.run(with("others", 2)).Guard.Rule)
	w.approve()
	require.Equal(t, "options", w.run(with("", 1)).Guard.Rule)
	w.approve()
	w.h.MaxDelete = -1
	require.EqualValues(t, 1, w.run(with("", 0)).Deleted)
}

// counts returns the numbers that a plan and the run after it have in common.
func counts(r *harvest.Report) map[string]int64 {
	return map[string]int64{"created": r.Created, "updated or touched": r.Updated + r.Touched, "deleted": r.Deleted, "unchanged": r.Unchanged,
		"history": r.History, "withheld": r.Withheld, "problems": int64(len(r.Problems))}
}

// TestPlanDecidesAsRun plans and then runs a pass with both changes and a snapshot.
func TestPlanDecidesAsRun(t *testing.T) {
	startAt := func(at websync.Datetime) harvest.Event { return harvest.Event{Kind: harvest.SnapshotStart, At: at} }
	mark := harvest.Event{Kind: harvest.Mark}
	many := numbered(0, 20)
	for name, events := range map[string][]harvest.Event{
		"a change, and a list without it":          {put("a", day(2)), start, put("a", day(1)), put("b", day(1)), complete},
		"a new one, and a list without it":         {put("n", day(2)), start, put("a", day(1)), put("b", day(1)), complete},
		"a new one, and a list with it":            {put("n", day(2)), start, put("n", day(2)), put("a", day(1)), put("b", day(1)), complete},
		"a new one, and a list of another state":   {put("n", day(2)), start, put("n", day(1)), put("a", day(1)), put("b", day(1)), complete},
		"a deletion, and a list that agrees":       {del("a", day(2)), start, put("b", day(1)), complete},
		"a deletion, and a list that does not":     {del("a", day(2)), start, put("a", day(1)), put("b", day(1)), complete},
		"a deletion, and a list from before":       {del("a", day(5)), startAt(day(3)), put("a", day(1)), put("b", day(1)), complete},
		"a change, and a list from before":         {put("a", day(5)), startAt(day(3)), put("a", day(1)), put("b", day(1)), complete},
		"a change, and a list from before, gone":   {put("a", day(5)), startAt(day(3)), put("b", day(1)), complete},
		"a change, and a list from after, gone":    {put("a", day(2)), startAt(day(3)), put("b", day(1)), complete},
		"many new ones, and an empty list":         append(slices.Clone(many), start, complete),
		"everything deleted, and an empty list":    {del("a", day(2)), del("b", day(2)), start, complete},
		"swept, and put again":                     {start, put("b", day(1)), complete, put("a", day(1))},
		"swept, and put anew":                      {start, put("b", day(1)), complete, put("a", day(3))},
		"swept, and deleted":                       {start, put("b", day(1)), complete, del("a", day(2))},
		"swept at a moment, and put":               {startAt(day(4)), put("b", day(1)), complete, put("a", day(3)), mark, put("a", day(5))},
		"an unknown one deleted, and listed":       {start, put("a", day(1)), put("b", day(1)), del("n", day(3)), mark, put("n", day(2)), complete},
		"listed twice":                             {start, put("a", day(2)), mark, put("a", day(1)), put("b", day(1)), put("n", day(2)), mark, put("n", day(1)), complete},
		"two lists":                                {start, put("a", day(2)), complete, start, put("b", day(1)), complete},
		"a list that does not end":                 {start, put("a", day(2))},
		"touched, and listed":                      {put("b", day(2)), start, put("a", day(1)), put("b", day(2)), complete},
		"a list that states what the task states":  {start, put("a", day(2)), put("b", day(1)), complete},
		"a list that has gone back":                {start, put("a", day(1)), put("b", day(1)), complete},
		"a list from before what the task states":  {startAt(day(2)), put("a", day(1)), put("b", day(1)), complete},
		"gone from a list from before the task":    {startAt(day(2)), put("b", day(1)), complete},
		"entries skipped before the list":          {{Kind: harvest.Mark, Skipped: 1}, start, put("b", day(1)), complete},
		"entries skipped":                          {start, put("b", day(1)), {Kind: harvest.SnapshotEnd, Complete: true, Skipped: 1}},
		"earlier and later than what the task has": {put("a", day(1)), del("a", day(1)), mark, put("b", day(3)), del("b", day(2))},
	} {
		for _, waiting := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/waiting=%v", name, waiting), func(t *testing.T) {
				w := newWorld(t)
				for _, e := range append(slices.Clone(many), put("a", day(1)), put("b", day(1)), put("n", day(1))) {
					w.page(strings.TrimPrefix(e.Resource.ID, base))
				}
				w.run(snapshot(put("a", day(1)), put("b", day(1))))
				if waiting {
					w.list(harvest.Of(src, put("a", day(2))))
				}
				w.page("a", "new")
				tasks, log := w.tasks(), w.log()
				planned := w.plan(harvest.Of(src, events...))
				require.Equal(t, tasks, w.tasks())
				require.Equal(t, log, w.log())
				done := w.run(harvest.Of(src, events...))
				require.Equal(t, counts(done), counts(planned))
				require.Equal(t, done.Complete, planned.Complete)
			})
		}
	}
}

// A run whose listing failed carries out no tasks.
func TestPlanOfABrokenSource(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.list(harvest.Of(src, put("a", day(1))))
	r, err := w.h.Plan(t.Context(), broken(), nil)
	require.Error(t, err)
	require.Zero(t, r.Created)
	r, err = w.h.Run(t.Context(), broken())
	require.Error(t, err)
	require.Zero(t, r.Created)
}

// TestAuditOfWhatATaskWaitsFor audits a record that agrees with the list, while a task
// for another state waits.
func TestAuditOfWhatATaskWaitsFor(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(snapshot(put("a", day(1))))
	w.list(snapshot(put("a", day(2))))
	r := w.audit(snapshot(put("a", day(1))))
	require.Zero(t, r.Differences())
	w.h.Catalog = w.loses()
	r = w.audit(snapshot(put("a", day(1))))
	require.EqualValues(t, 1, r.Failed, "its bytes are checked, too")
}

func TestEach(t *testing.T) {
	w := newWorld(t)
	w.h.Concurrency = 1 // commits in the order of the listing
	w.pages("a", "b")
	w.run(harvest.Of(src, put("a", day(1)), put("b", day(1))))
	var seen []string
	see := func(d *harvest.Delivery) error {
		require.Equal(t, d.Item.Resource.ID, d.ID)
		require.Equal(t, d.Item.Kind == websync.Deleted, d.Deleted)
		seen = append(seen, d.Item.Kind.String()+" "+strings.TrimPrefix(d.ID, base))
		return nil
	}
	require.NoError(t, harvest.Each(t.Context(), w.store, "index", see))
	require.Equal(t, []string{"created a", "created b"}, seen)
	require.NoError(t, harvest.Each(t.Context(), w.store, "index", see))
	require.Len(t, seen, 2, "nothing new")

	w.run(harvest.Of(src, del("a", day(2))))
	refused := errors.New("index is down")
	err := harvest.Each(t.Context(), w.store, "index", func(*harvest.Delivery) error { return refused })
	require.ErrorIs(t, err, refused)
	require.NoError(t, harvest.Each(t.Context(), w.store, "index", see))
	require.Equal(t, []string{"created a", "created b", "deleted a"}, seen, "the failed change comes again")

	seen = nil
	require.NoError(t, harvest.Each(t.Context(), w.store, "another", see))
	require.Len(t, seen, 3)

	t.Run("compacted", func(t *testing.T) {
		w.page("c")
		w.run(harvest.Of(src, put("c", day(3))))
		generation, err := w.store.Compact(t.Context())
		require.NoError(t, err)
		w.page("d")
		w.run(harvest.Of(src, put("d", day(4))))
		seen = nil
		require.NoError(t, harvest.Each(t.Context(), w.store, "index", see))
		require.Equal(t, []string{"created c", "created d"}, seen)
		require.NoError(t, w.store.Drop(t.Context(), generation))
		seen = nil
		require.NoError(t, harvest.Each(t.Context(), w.store, "another", see))
		require.Equal(t, []string{"created c", "created d"}, seen)
	})
}

// An error of the consumer is returned as it is, even if it is ErrNotFound.
func TestEachReturnsTheConsumersError(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b")
	w.run(harvest.Of(src, put("a", day(1))))
	require.NoError(t, harvest.Each(t.Context(), w.store, "index", func(*harvest.Delivery) error { return nil }))
	w.run(harvest.Of(src, put("b", day(1))))
	_, err := w.store.Compact(t.Context())
	require.NoError(t, err)
	calls := 0
	err = harvest.Each(t.Context(), w.store, "index", func(*harvest.Delivery) error {
		if calls++; calls == 1 {
			return websync.ErrNotFound
		}
		return nil
	})
	require.ErrorIs(t, err, websync.ErrNotFound)
	require.Equal(t, 1, calls)
}

// TestEachWhileTheLogIsDropped drops the generation that Each reads.
func TestEachWhileTheLogIsDropped(t *testing.T) {
	w := newWorld(t)
	const n = 3000
	_, err := (&harvest.Harvester{Sample: -1, Catalog: w.store, Bodies: harvest.SkipBodies}).Run(t.Context(), listing(n))
	require.NoError(t, err)
	calls := 0
	err = harvest.Each(t.Context(), w.store, "index", func(*harvest.Delivery) error {
		if calls++; calls > 1 {
			return nil
		}
		generation, err := w.store.Compact(t.Context())
		require.NoError(t, err)
		return w.store.Drop(t.Context(), generation)
	})
	require.NoError(t, err)
	require.Equal(t, n, calls)
}

func TestEachServesAConsumerOnce(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(harvest.Of(src, put("a", day(1))))
	err := harvest.Each(t.Context(), w.store, "index", func(*harvest.Delivery) error {
		return harvest.Each(t.Context(), w.store, "index", func(*harvest.Delivery) error { return nil })
	})
	require.ErrorIs(t, err, websync.ErrConflict)
}

func BenchmarkPlan(b *testing.B) {
	for _, bench := range []struct {
		name      string
		n         int
		harvested int
	}{{"unchanged", 100_000, 100_000}, {"new", 500_000, 0}} {
		b.Run(bench.name, func(b *testing.B) {
			store, db := openSQLite(b, filepath.Join(b.TempDir(), "store.db"))
			defer db.Close()
			h := &harvest.Harvester{Sample: -1, Catalog: store, Bodies: harvest.SkipBodies}
			_, err := h.Run(b.Context(), listing(bench.harvested))
			require.NoError(b, err)
			for b.Loop() {
				r, err := h.Plan(b.Context(), listing(bench.n), nil)
				require.NoError(b, err)
				require.EqualValues(b, bench.harvested, r.Unchanged)
				require.EqualValues(b, bench.n-bench.harvested, r.Created)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*bench.n), "µs/entry")
		})
	}
}
