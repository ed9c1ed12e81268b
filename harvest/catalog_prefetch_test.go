package harvest_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
)

// A remoteDB counts the round trips that its reads would need if it were a server that
// returns as many keys of a Scan at a time as its caller expects to need.
type remoteDB struct {
	*memstore.Store
	trips atomic.Int64
}

func (d *remoteDB) View(ctx context.Context, fn func(harvest.Reader) error) error {
	return d.Store.View(ctx, func(r harvest.Reader) error { return fn(&remoteTx{d: d, Reader: r}) })
}

func (d *remoteDB) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	return d.Store.Update(ctx, func(tx harvest.Tx) error { return fn(&remoteTx{d: d, Reader: tx, tx: tx}) })
}

// A remoteTx remembers what it has prefetched.
type remoteTx struct {
	harvest.Reader
	d     *remoteDB
	tx    harvest.Tx
	known map[string][]byte
}

func (t *remoteTx) remember(key, value []byte) {
	if t.known == nil {
		t.known = map[string][]byte{}
	}
	t.known[string(key)] = value
}

func (t *remoteTx) Prefetch(keys [][]byte) error {
	if !slices.ContainsFunc(keys, func(k []byte) bool { _, ok := t.known[string(k)]; return !ok }) {
		return nil
	}
	t.d.trips.Add(1)
	for _, k := range keys {
		v, err := t.Reader.Get(k)
		if err != nil {
			return err
		}
		t.remember(k, v)
	}
	return nil
}

func (t *remoteTx) Get(key []byte) ([]byte, error) {
	if v, ok := t.known[string(key)]; ok {
		return v, nil
	}
	t.d.trips.Add(1)
	return t.Reader.Get(key)
}

func (t *remoteTx) Absent(key []byte) {
	if v, err := t.Reader.Get(key); v != nil || err != nil {
		panic(fmt.Sprintf("Absent of a key with the value %q: %v", v, err))
	}
}

func (t *remoteTx) Scan(from, to []byte, n int, fn func(key, value []byte) bool) error {
	t.d.trips.Add(1)
	seen := 0
	return t.Reader.Scan(from, to, n, func(k, v []byte) bool {
		if seen++; seen > n {
			t.d.trips.Add(1)
			seen = 1
		}
		return fn(k, v)
	})
}

func (t *remoteTx) Set(key, value []byte) error {
	t.remember(key, value)
	return t.tx.Set(key, value)
}

func (t *remoteTx) Delete(key []byte) error {
	t.remember(key, nil)
	return t.tx.Delete(key)
}

func TestConformanceOfPrefetcher(t *testing.T) {
	racing.Long(t)
	runSuite(t, options(func(t testing.TB) harvest.Store { return &remoteDB{Store: memstore.New()} }))
}

// The reads of a batch or page of any size are a few round trips.
func TestRoundTrips(t *testing.T) {
	const n = 100
	db := &remoteDB{Store: memstore.New()}
	s := small(db)
	c := claim(t, s)
	trips := func(what string, most int64, do func()) {
		t.Helper()
		db.trips.Store(0)
		do()
		assert.LessOrEqual(t, db.trips.Load(), most, what)
		assert.Positive(t, db.trips.Load(), what)
	}
	ids := make([]string, n)
	base := make([]websync.Seq, n)
	commitAll := func(kind websync.ChangeKind) {
		b := harvest.NewBatch("a")
		for i := range ids {
			ids[i] = fmt.Sprintf("%03d", i)
			w, key := write(t, s, noise(uint64(i), 50))
			b.Bodies = append(b.Bodies, w)
			p := withBodies(changeTo(ids[i], base[i], kind), key)
			b.Puts = append(b.Puts, p)
			b.Tasks = append(b.Tasks, harvest.Task{Source: "a", Resource: websync.Resource{ID: ids[i]}})
		}
		commit(t, s, c, b)
		recs, err := s.Lookup(ctx, "a", ids)
		require.NoError(t, err)
		for i := range recs {
			base[i] = recs[i].Seq
		}
	}
	lookup := func() {
		_, err := s.Lookup(ctx, "a", ids)
		require.NoError(t, err)
		_, err = s.LookupTasks(ctx, "a", ids)
		require.NoError(t, err)
	}
	trips("a first commit and a lookup", 3+3, func() { commitAll(websync.Created) })
	trips("another commit and a lookup", 4+2, func() { commitAll(websync.Updated) })
	trips("two lookups", 2+1, lookup)
	trips("Due", 3, func() {
		due, err := s.Due(ctx, "a", time.Now(), n)
		require.NoError(t, err)
		require.Len(t, due, n)
	})
	walk := func(rng websync.Range) (seen int) {
		for _, err := range s.Resources(ctx, rng) {
			require.NoError(t, err)
			seen++
		}
		for _, err := range s.Changes(ctx, rng) {
			require.NoError(t, err)
		}
		return seen
	}
	trips("Resources and Changes", 3+3, func() { require.Equal(t, n, walk(websync.Range{})) })
	trips("of one source", 4+4, func() { require.Equal(t, n, walk(websync.Range{Sources: []string{"a"}})) })
	trips("Vacuum", 10, func() {
		removed, err := s.Vacuum(ctx, -time.Hour)
		require.NoError(t, err)
		require.Zero(t, removed)
	})
	trips("Compact", 30, func() {
		_, err := s.Compact(ctx)
		require.NoError(t, err)
	})
}

// The numbers of records that have not changed since a Compact, or since its switch to
// the new generation, take one round trip more, those of resources none.
func TestRoundTripsAfterCompact(t *testing.T) {
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprintf("%03d", i)
	}
	var lookups, walks, resources []int64
	for after := 1; ; after++ {
		db := &remoteDB{Store: memstore.New()}
		s := small(db)
		c := claim(t, s)
		for _, base := range []websync.Seq{0, 1} {
			b := harvest.NewBatch("a")
			for i, id := range ids {
				b.Puts = append(b.Puts, changeTo(id, base*websync.Seq(i+1), websync.Created))
			}
			commit(t, s, c, b)
		}
		h := &hookDB{Store: db}
		h.before = func(n int) error {
			if n > after {
				return context.Canceled
			}
			return nil
		}
		if _, err := harvest.OnePage(small(h)).Compact(ctx); err == nil {
			break
		}
		db.trips.Store(0)
		_, err := s.Lookup(ctx, "a", ids)
		require.NoError(t, err)
		lookups = append(lookups, db.trips.Load())
		db.trips.Store(0)
		for _, err := range s.Records(ctx, "a", "") {
			require.NoError(t, err)
		}
		walks = append(walks, db.trips.Load())
		db.trips.Store(0)
		for _, err := range s.Resources(ctx, websync.Range{}) {
			require.NoError(t, err)
		}
		resources = append(resources, db.trips.Load())
	}
	assert.Equal(t, int64(4), slices.Max(lookups))
	assert.Equal(t, int64(4), slices.Max(walks))
	assert.Equal(t, int64(3), slices.Max(resources))
}
