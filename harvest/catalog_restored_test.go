package harvest_test

import (
	"bytes"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// clockAt returns a Catalog on a new Store whose clock the test holds.
func clockAt(clock *time.Time) *harvest.Catalog {
	c := harvest.OnePage(harvest.NewCatalog(memstore.New()))
	c.Now = func() time.Time { return *clock }
	return c
}

// After a backup was restored the log has a generation that neither the lost Store nor
// another restored copy had, however often these were compacted. What it holds is the
// same, and later than all that was lost.
func TestRestored(t *testing.T) {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	lost := clockAt(&clock)
	fillToMove(t, lost, 150) // more than a page
	var backup bytes.Buffer
	require.NoError(t, lost.Export(t.Context(), &backup))
	seen := map[uint64]bool{}
	note := func(c *harvest.Catalog) {
		generation, _, err := c.End(t.Context())
		require.NoError(t, err)
		require.False(t, seen[generation], "generation %d had another log", generation)
		seen[generation] = true
	}
	note(lost)
	for range 3 {
		_, err := lost.Compact(t.Context())
		require.NoError(t, err)
		note(lost)
	}
	for range 4 {
		clock = clock.Add(75 * time.Minute) // an odd number of quarters
		c := clockAt(&clock)
		require.NoError(t, c.Import(t.Context(), bytes.NewReader(backup.Bytes())))
		before := testkit.Live(t, c)
		old, _, err := c.End(t.Context())
		require.NoError(t, err)
		generation, err := uint64(0), errKilled
		for n := 1; err != nil; n++ { // it may be killed in each Update
			dead := harvest.OnePage(harvest.NewCatalog(&dying{harvest.StoreOf(c), n, true}))
			dead.Now = c.Now
			if generation, err = dead.Restored(t.Context()); err != nil {
				require.ErrorIs(t, err, errKilled)
			}
			require.True(t, maps.Equal(before, testkit.Live(t, c)), "readers find the old numbers meanwhile")
			faults, err := c.Inspect(t.Context())
			require.NoError(t, err)
			for _, fault := range faults {
				require.Contains(t, fault, "if a Drop was interrupted")
			}
		}
		isConsistent(t, c)
		note(c)
		head, err := c.Head(t.Context())
		require.NoError(t, err)
		assert.Equal(t, head.Last, head.Baseline)
		for _, entry := range testkit.Entries(t, c) {
			require.False(t, entry.Time.Before(clock), "readers have later changes")
		}
		for _, err := range c.Changes(t.Context(), websync.Range{Generation: old}) {
			require.ErrorIs(t, err, websync.ErrNotFound)
		}
		for range 2 { // later ones follow as usual
			next, err := c.Compact(t.Context())
			require.NoError(t, err)
			assert.Equal(t, generation+1, next)
			generation = next
			note(c)
			isConsistent(t, c)
		}
	}
}

// Remove deletes all records by tombstones, and forgets what the source had besides.
// Other sources stay as they are.
func TestRemoveOneOfTwo(t *testing.T) {
	c := harvest.NewCatalog(memstore.New())
	fillToMove(t, c, 30)
	before, err := c.Stat(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, before.Sources[0].Tasks)
	report, err := (&harvest.Harvester{Catalog: c}).Remove(t.Context(), harvest.Of("https://a.example/"))
	require.NoError(t, err)
	assert.EqualValues(t, before.Sources[0].Live, report.Deleted)
	at, err := c.Checkpoint(t.Context(), "https://a.example/")
	require.NoError(t, err)
	assert.Zero(t, at)
	after, err := c.Stat(t.Context())
	require.NoError(t, err)
	assert.Equal(t, before.Sources[1], after.Sources[1])
	assert.Equal(t, harvest.SourceStat{Source: "https://a.example/", Tombstones: 30}, after.Sources[0])
	for _, key := range []string{"alike", "belief", "documents", "guard", "membership", "work"} {
		value, err := c.State(t.Context(), "harvest/"+key+"/https://a.example/")
		require.NoError(t, err)
		assert.Empty(t, value, key)
	}
	last := testkit.Entries(t, c)
	assert.Equal(t, websync.Deleted, last[len(last)-1].Kind)
	isConsistent(t, c)
	unknown, err := (&harvest.Harvester{Catalog: c}).Remove(t.Context(), harvest.Of("https://unknown.example/"))
	require.NoError(t, err)
	assert.Zero(t, unknown.Deleted)
}

// Stat counts what there is.
func TestStat(t *testing.T) {
	c := harvest.NewCatalog(memstore.New())
	fillToMove(t, c, 50)
	_, err := (&harvest.Harvester{Catalog: c}).Run(t.Context(), harvest.Of("https://b.example/", testkit.Del("b1", testkit.Day(9))))
	require.NoError(t, err)
	st, err := c.Stat(t.Context())
	require.NoError(t, err)
	var named, descriptions int64
	sizes := map[websync.Digest]int64{} // of bodies that a record names
	for _, item := range testkit.All(t, c.Resources(t.Context(), websync.Range{})) {
		n, _ := item.Bodies[0].Link.StatedLength()
		sizes[item.Bodies[0].Key] = n
		if item.Source == "https://b.example/" {
			named += n
			descriptions += int64(item.Resource.Size())
		}
	}
	assert.Equal(t, harvest.SourceStat{
		Source: "https://b.example/", Live: 49, Tombstones: 1, Descriptions: descriptions,
		Bodies: harvest.Amount{Number: 49, Bytes: named},
	}, st.Sources[1])
	assert.EqualValues(t, 1, st.Sources[0].Tasks)
	head, err := c.Head(t.Context())
	require.NoError(t, err)
	older := int64(0)
	for generation := range head.Generation - 1 {
		older += int64(len(testkit.All(t, c.Changes(t.Context(), websync.Range{Generation: generation + 1}))))
	}
	assert.Equal(t, [...]int64{int64(head.Last), int64(head.Last) - 100, older}, [...]int64{st.Entries, st.Superseded, st.Older})
	assert.EqualValues(t, harvest.Keys(t.Context(), harvest.StoreOf(c), 'B'), st.Bodies.Number)
	assert.EqualValues(t, harvest.Keys(t.Context(), harvest.StoreOf(c), 'Z'), st.Unused.Number)
	assert.Greater(t, st.Unused.Bytes, st.Unused.Number)
	used := int64(0)
	for _, n := range sizes {
		used += n
	}
	assert.Equal(t, used+st.Unused.Bytes, st.Bodies.Bytes)
}
