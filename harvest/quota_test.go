package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// longTitled returns a put with a title of n letters.
func longTitled(name string, at websync.Datetime, n int) harvest.Event {
	e := put(name, at)
	e.Resource.Title = strings.Repeat("t", n)
	return e
}

// TestQuotaOfRecords: a run takes as many records as the Quota allows. The others are
// taken when the source has deleted some, and when the limit is raised.
func TestQuotaOfRecords(t *testing.T) {
	w := newWorld(t)
	w.h.MaxDelete, w.h.Quota.Records = -1, 3
	w.pages("a", "b", "c", "d", "e")
	all := []harvest.Event{put("a", day(1)), put("b", day(1)), put("c", day(1)), put("d", day(1)), put("e", day(1))}
	for range 2 {
		r := w.run(snapshot(all...))
		assert.EqualValues(t, 2, r.Withheld)
		assert.False(t, r.InStep())
		assert.Equal(t, &harvest.QuotaError{Limit: "Records", Max: 3, Held: 3, LeftOut: 2}, r.OverQuota)
		assert.ErrorContains(t, r.OverQuota, "3 of at most 3 records are taken (Quota.Records), and 2 changes are left out")
		assert.Len(t, w.live(), 3)
		assert.Empty(t, w.checkpoint(), "it would pass what was left out")
		assert.Empty(t, w.tasks())
	}
	all[0] = longTitled("a", day(2), 20)
	r := w.run(snapshot(all...))
	assert.EqualValues(t, 1, r.Updated, "an update is no new record")

	r = w.run(snapshot(all[1:]...))
	assert.EqualValues(t, 1, r.Deleted, "deletions go on")
	r = w.run(snapshot(all[1:]...))
	assert.EqualValues(t, 1, r.Created)
	assert.Len(t, w.live(), 3)

	w.h.Quota.Records = 4
	r = w.run(snapshot(all[1:]...))
	assert.True(t, r.InStep())
	assert.Len(t, w.live(), 4)
	assert.Equal(t, "listed", w.checkpoint())
}

// TestQuotas: each limit keeps out what would exceed it, and nothing else.
func TestQuotas(t *testing.T) {
	ten := longTitled("a", day(1), 10)
	size := int64(ten.Resource.Size())
	for name, c := range map[string]struct {
		quota harvest.Quota
		want  map[string]string
	}{
		"bodies":       {harvest.Quota{Bodies: 25}, map[string]string{"a": "a more", "b": "b"}},
		"descriptions": {harvest.Quota{Descriptions: 2*size + 9}, map[string]string{"a": "a more", "b": "b"}},
		"entries":      {harvest.Quota{Entries: 2}, map[string]string{"a": "a", "b": "b"}},
		"none":         {harvest.Quota{Records: -1, Bodies: -1, Descriptions: -1, Description: -1, Entries: -1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.h.Quota, w.h.MaxDelete, w.h.Concurrency = c.quota, -1, 1
			w.pages("a", "b")
			two := []harvest.Event{longTitled("a", day(1), 10), longTitled("b", day(1), 10)}
			assert.True(t, w.run(snapshot(two...)).InStep())
			assert.Equal(t, map[string]string{"a": "a", "b": "b"}, w.live())

			w.page("a", "more")
			w.page("b", strings.Repeat("much ", 5))
			w.page("c")
			news := []harvest.Event{longTitled("a", day(2), 10), longTitled("b", day(2), 20), longTitled("c", day(2), 10)}
			if c.want == nil {
				assert.True(t, w.run(snapshot(news...)).InStep())
				return
			}
			if name == "bodies" {
				news[2].Resource.Content.Length = 30
			}
			r := w.run(snapshot(news...))
			assert.False(t, r.InStep())
			assert.Equal(t, c.want, w.live())
			assert.NotNil(t, r.OverQuota)

			r = w.run(snapshot(news[0]))
			assert.EqualValues(t, 1, r.Deleted, "deletions go on")
			w.h.Quota = harvest.Quota{}
			news[2].Resource.Content.Length = 0
			assert.True(t, w.run(snapshot(news...)).InStep())
			assert.Len(t, w.live(), 3)
		})
	}
}

// TestQuotaShared: sources that share a Quota hold no more together than one of them may
// alone, and what one of them deletes, or has waiting, counts for the others.
func TestQuotaShared(t *testing.T) {
	long := longTitled("x", day(1), 10)
	size := int64(long.Resource.Size())
	for name, quota := range map[string]harvest.Quota{
		"records": {Records: 3}, "bodies": {Bodies: 7}, "descriptions": {Descriptions: 3*size + 2}, "entries": {Entries: 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.h.Quota, w.h.Concurrency, w.h.Window = quota, 1, 1
			w.h.Quota.Shared = []string{"first", "second"}
			w.pages("a1", "a2", "b1", "b2")
			first := harvest.Of("first", longTitled("a1", day(1), 10), longTitled("a2", day(1), 10))
			second := harvest.Of("second", longTitled("b1", day(1), 10), longTitled("b2", day(1), 10))
			assert.True(t, w.run(first).InStep())
			for range 2 {
				r := w.run(second)
				require.NotNil(t, r.OverQuota)
				assert.Positive(t, r.OverQuota.LeftOut)
			}
			w.h.Quota.Shared = nil
			assert.True(t, w.run(second).InStep(), "alone it has room")
			w.h.Quota.Shared = []string{"first"}
			w.pages("b3")
			assert.NotNil(t, w.run(harvest.Of("second", longTitled("b3", day(1), 10))).OverQuota, "the one that runs counts, too")
		})
	}

	w := newWorld(t)
	w.h.Quota.Records, w.h.Quota.Shared = 2, []string{"first", "second"}
	w.pages("b")
	w.run(harvest.Of("first", put("a1", day(1)), put("a2", day(1)))) // whose pages are not there: tasks
	require.Len(t, testkit.All(w, w.store.Tasks(t.Context(), "first", "")), 2)
	assert.NotNil(t, w.run(harvest.Of("second", put("b", day(1)))).OverQuota)
	w.run(harvest.Of("first", del("a1", day(2))))
	assert.True(t, w.run(harvest.Of("second", put("b", day(1)))).InStep())
}

// A report may be of another version, with limits that this one does not have.
func TestQuotaErrorOfAnotherVersion(t *testing.T) {
	err := &harvest.QuotaError{Limit: "Pages", Max: 3, Held: 2, LeftOut: 1}
	assert.ErrorContains(t, err, "2 of at most 3 are taken (Quota.Pages), and 1 changes are left out")
}

// TestQuotaOfADescription: a description that is too long is left out, whether it is new or
// an update, and nothing is fetched for it. One that was held before stays, and may get
// shorter.
func TestQuotaOfADescription(t *testing.T) {
	w := newWorld(t)
	w.h.MaxDelete = -1
	w.pages("a", "b", "c")
	a, b := longTitled("a", day(1), 900), longTitled("b", day(1), 10)
	assert.True(t, w.run(snapshot(a, b)).InStep())

	w.h.Quota.Description = 500
	r := w.run(snapshot(a, b))
	assert.True(t, r.InStep(), "what was held is unchanged")
	w.site.reset()
	a, b, c := longTitled("a", day(2), 800), longTitled("b", day(2), 700), longTitled("c", day(2), 600)
	r = w.run(snapshot(a, b, c))
	size := int64(b.Resource.Size())
	assert.Equal(t, &harvest.QuotaError{Limit: "Description", Max: 500, Held: size, LeftOut: 2}, r.OverQuota)
	assert.ErrorContains(t, r.OverQuota, fmt.Sprintf("a description has %d of at most 500 bytes (Quota.Description), and 2 changes are left out", size))
	assert.False(t, r.InStep())
	assert.Equal(t, []string{base + "a"}, w.site.requests, "nothing is got of what is left out")
	assert.Equal(t, a.Resource.Title, w.record("a").Resource.Title)
	assert.Len(t, w.record("b").Resource.Title, 10)
	assert.Len(t, w.live(), 2)
	assert.Empty(t, w.tasks())

	assert.EqualValues(t, 1, w.run(snapshot(a, c)).Deleted, "deletions go on")
	w.h.Quota.Description = 1000
	assert.True(t, w.run(snapshot(a, b, c)).InStep())
	assert.Len(t, w.live(), 3)
}

// TestQuotaOfADay: the next day has entries of its own.
func TestQuotaOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.h.Quota.Entries = 2
		list := snapshot(w.numbered(5)...)
		for n := range 3 {
			assert.Equal(t, n == 2, w.run(list).InStep())
			assert.Len(t, w.live(), min(2*n+2, 5))
			assert.Equal(t, n == 2, w.run(list).InStep())
			time.Sleep(24 * time.Hour)
		}
	})
}

// TestQuotaOfTasks: resources that can't be fetched become no more tasks than the Quota
// allows records, and carrying out tasks stops at the limit, too.
func TestQuotaOfTasks(t *testing.T) {
	w := newWorld(t)
	w.h.Quota.Records, w.h.Window = 3, 2
	events := numbered(0, 9)
	w.run(snapshot(events...))
	assert.Len(t, w.tasks(), 3)
	w.run(snapshot(events...))
	assert.Len(t, w.tasks(), 3)

	w.h.Quota.Records = 0
	w.list(snapshot(events...))
	assert.Len(t, w.tasks(), 9)
	w.numbered(9)
	w.h.Quota.Records = 4
	testkit.MakeDue(t, w.store)
	r := w.work(snapshot())
	assert.Len(t, w.live(), 4)
	assert.Len(t, w.tasks(), 5)
	assert.EqualValues(t, 5, r.OverQuota.LeftOut)
	assert.Empty(t, r.Failures)

	w.h.Quota.Records = 9
	assert.True(t, w.run(snapshot(events...)).InStep())
	assert.Len(t, w.live(), 9)
}

// TestQuotaPlan: a Plan leaves out what a run does, and counts nothing.
func TestQuotaPlan(t *testing.T) {
	w := newWorld(t)
	w.h.Quota = harvest.Quota{Records: 4, Descriptions: 1 << 20}
	events := w.numbered(9)
	w.run(snapshot(events[:2]...))
	held, err := w.store.Amounts(t.Context(), src)
	require.NoError(t, err)
	plan := w.plan(snapshot(events...))
	after, err := w.store.Amounts(t.Context(), src)
	require.NoError(t, err)
	assert.Equal(t, held, after)
	run := w.run(snapshot(events...))
	assert.Equal(t, run.OverQuota, plan.OverQuota)
	assert.Equal(t, [2]int64{run.Created, run.Withheld}, [2]int64{plan.Created, plan.Withheld})
	assert.EqualValues(t, 5, plan.Withheld)
}

// TestQuotaOfAnOldStore: the first run with a Quota counts what the store holds, also if
// the count is interrupted and others write meanwhile.
func TestQuotaOfAnOldStore(t *testing.T) {
	w := newWorld(t)
	events := w.numbered(600)
	w.run(snapshot(events...))
	updates := 0
	w.h.Quota = harvest.Quota{Bodies: 1 << 20, Records: 600}
	w.h.Catalog = w.watched(func(ctx context.Context, _ testkit.Act) error {
		if updates++; updates == 3 { // after a claim and a page
			return errors.New("interrupted")
		}
		return nil
	})
	_, err := w.h.Run(t.Context(), snapshot(events...))
	require.ErrorContains(t, err, "interrupted")
	w.h.Quota, w.h.Catalog, w.h.MaxDelete = harvest.Quota{}, w.store, -1
	w.page("p0001", "other")
	w.page("p0590", "other")
	w.run(harvest.Of(src, put("p0001", day(2)), put("p0590", day(2)), del("p0002", day(2)), del("p0591", day(2))))
	w.h.Quota.Bodies = 1 << 20
	w.run(harvest.Of(src))
	held, err := w.store.Amounts(t.Context(), src)
	require.NoError(t, err)
	assert.Equal(t, []int64{598, 598*5 + 2*6}, held[:2])
	faults, err := w.store.Inspect(t.Context())
	require.NoError(t, err)
	assert.Empty(t, faults)
}

// A resumedLog is a Source of a log from which a run continues.
type resumedLog []harvest.Event

func (j resumedLog) Key() string { return src }

func (j resumedLog) Events(_ context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		n := 0
		fmt.Sscan(string(run.From.Data), &n)
		for i, e := range j[n:] {
			e.Resume = checkpoint(fmt.Sprint(n + i + 1))
			if !yield(e, nil) {
				return
			}
		}
	}
}

// TestQuotaHistories lets a publisher change at random, and runs with limits at random
// that are interrupted at random. No limit is exceeded, and at the end, without limits,
// everything is there.
func TestQuotaHistories(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 5))
			w := newWorld(t)
			w.h.MaxDelete, w.h.Window = -1, 1+r.IntN(20)
			inLog := seed%2 == 0
			state := map[string]harvest.Event{}
			var log resumedLog
			source := func() harvest.Source {
				if inLog {
					return log
				}
				return snapshot(slices.Collect(maps.Values(state))...)
			}
			for round := range 12 {
				for range r.IntN(8) {
					name, at := fmt.Sprint(r.IntN(12)), day(len(log)+1)
					e := longTitled(name, at, r.IntN(300))
					if state[name].Resource.ID != "" && r.IntN(3) == 0 {
						e = del(name, at)
						delete(state, name)
						delete(w.site.pages, base+name)
					} else {
						w.page(name, strings.Repeat("x", r.IntN(200)), fmt.Sprint(round))
						state[name] = e
					}
					log = append(log, e)
				}
				limit := func(n int) int64 { return int64(max(0, r.IntN(2*n)-n/2)) }
				w.h.Quota = harvest.Quota{Records: limit(8), Bodies: limit(800), Descriptions: limit(3000)}
				before, err := w.store.Amounts(t.Context(), src)
				require.NoError(t, err)
				w.h.Catalog = w.store
				if r.IntN(2) == 0 {
					w.h.Catalog = w.cut(r.IntN(6), r.IntN(2) == 0)
				}
				testkit.MakeDue(t, w.store)
				report, err := w.h.Run(t.Context(), source())
				after, e := w.store.Amounts(t.Context(), src)
				require.NoError(t, e)
				for i, limit := range []int64{w.h.Quota.Records, w.h.Quota.Bodies, w.h.Quota.Descriptions} {
					if limit > 0 && before[i] > 0 {
						assert.LessOrEqual(t, after[i], max(limit, before[i]))
					}
				}
				if err == nil && report.OverQuota != nil {
					assert.False(t, report.InStep())
				}
			}
			w.h.Quota, w.h.Catalog = harvest.Quota{}, w.store
			testkit.MakeDue(t, w.store)
			w.run(source())
			testkit.MakeDue(t, w.store)
			require.True(t, w.run(source()).InStep())
			want := map[string]string{}
			for name := range state {
				want[name] = w.site.pages[base+name]
				assert.Equal(t, state[name].Resource.Title, w.record(name).Resource.Title)
			}
			assert.Equal(t, want, w.live())
			faults, err := w.store.Inspect(t.Context())
			require.NoError(t, err)
			assert.Empty(t, faults)
		})
	}
}
