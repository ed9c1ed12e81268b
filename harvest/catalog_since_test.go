package harvest_test

import (
	"fmt"
	"github.com/websync-go/websync/internal/testing/racing"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// since returns the entries whose Time is not before t.
func since(t time.Time, entries []websync.Item) (since []websync.Item) {
	for _, it := range entries {
		if !it.Time.Before(t) {
			since = append(since, it)
		}
	}
	return since
}

func changesOf(t testing.TB, c *harvest.Catalog, r websync.Range) (all []websync.Item) {
	t.Helper()
	for it, err := range c.Changes(ctx, r) {
		require.NoError(t, err)
		all = append(all, it)
	}
	return all
}

// Each generation has its own position for each time.
func TestSinceInEachGeneration(t *testing.T) {
	racing.Skip(t)
	for name, db := range map[string]harvest.Store{"local": memstore.New(), "remote": &remoteDB{Store: memstore.New()}} {
		t.Run(name, func(t *testing.T) {
			s := small(db)
			now := time.UnixMicro(1e15)
			s.Now = func() time.Time { now = now.Add(time.Millisecond); return now }
			c := claim(t, s)
			put := func(ids ...string) {
				recs, err := s.Lookup(ctx, "a", ids)
				require.NoError(t, err)
				for i, id := range ids {
					b := harvest.NewBatch("a")
					b.Puts = append(b.Puts, changeTo(id, recs[i].Seq, websync.Updated))
					commit(t, s, c, b)
				}
			}
			var ids []string
			for i := range 40 {
				ids = append(ids, fmt.Sprint(i))
			}
			put(ids...)
			put(ids[3:9]...)
			put(ids[30:]...)
			var generations [][]websync.Item
			for range 3 {
				generations = append(generations, changesOf(t, s, websync.Range{}))
				_, err := s.Compact(ctx)
				require.NoError(t, err)
				c = claim(t, s)
				put(ids[5:20]...)
			}
			generations = append(generations, changesOf(t, s, websync.Range{}))
			require.Less(t, len(generations[1]), len(generations[0])+15, "Compact drops entries")
			for i, log := range generations {
				generation := uint64(i + 1)
				for _, it := range log {
					for _, at := range []time.Time{it.Time, it.Time.Add(time.Nanosecond), it.Time.Add(-time.Nanosecond)} {
						r := websync.Range{Generation: generation, Since: at}
						require.Equal(t, since(at, log), changesOf(t, s, r), "since %v", at)
						r.After = websync.Seq(len(log) / 2)
						require.Equal(t, since(at, log[r.After:]), changesOf(t, s, r), "since %v, after %d", at, r.After)
					}
				}
				require.Equal(t, log, changesOf(t, s, websync.Range{Generation: generation, Since: time.Unix(0, 0)}))
				require.Empty(t, changesOf(t, s, websync.Range{Generation: generation, Since: now.AddDate(1, 0, 0)}))
			}
			for _, err := range s.Changes(ctx, websync.Range{Generation: 9, Since: now}) {
				require.ErrorIs(t, err, websync.ErrNotFound)
			}
		})
	}
}

// A loop over Changes with Since ends where the log ended, also if all is older.
func TestSinceEnds(t *testing.T) {
	s := small(memstore.New())
	c := claim(t, s)
	add := func(n int) {
		b := harvest.NewBatch("a")
		b.Puts = append(b.Puts, changeTo(fmt.Sprint(n), 0, websync.Created))
		commit(t, s, c, b)
	}
	assert.Empty(t, changesOf(t, s, websync.Range{Since: time.Now()}), "an empty log")
	add(0)
	seen := 0
	for _, err := range s.Changes(ctx, websync.Range{Since: time.Now().Add(-time.Hour)}) {
		require.NoError(t, err)
		seen++
		add(seen)
	}
	assert.Equal(t, 1, seen)
}

// The position of a time among a million entries takes 5 round trips to a server.
func TestSinceRoundTrips(t *testing.T) {
	racing.Skip(t)
	n := 1_000_000
	if racing.Few() {
		n = 100_000
	}
	db := &remoteDB{Store: memstore.New()}
	s := small(db)
	now := time.UnixMicro(1e15)
	s.Now = func() time.Time { return now }
	c := claim(t, s)
	for i := 0; i < n; {
		b := harvest.NewBatch("a")
		for range 10_000 {
			b.Puts = append(b.Puts, changeTo(fmt.Sprintf("%07d", i), 0, websync.Created))
			i++
		}
		commit(t, s, c, b)
	}
	head, err := s.Head(ctx)
	require.NoError(t, err)
	require.Equal(t, websync.Seq(n), head.Last)
	trips := func(r websync.Range) int64 {
		db.trips.Store(0)
		for it, err := range s.Changes(ctx, r) {
			require.NoError(t, err)
			require.False(t, it.Time.Before(r.Since))
			break
		}
		return db.trips.Load()
	}
	plain := trips(websync.Range{})
	for _, i := range []int{-1, 0, 1, n / 3, n / 2, n - 2, n - 1, n} {
		at := head.FirstTime.Add(time.Duration(i) * time.Microsecond)
		assert.LessOrEqual(t, trips(websync.Range{Since: at})-plain, int64(5), "entry %d", i+1)
		first, err := websync.FirstSince(ctx, s, head, at)
		require.NoError(t, err)
		assert.Equal(t, websync.Seq(max(i, 0)+1), first)
	}
}
