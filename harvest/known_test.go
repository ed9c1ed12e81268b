package harvest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// The first harvest of a source looks for no record, whatever the order of its ids.
func TestFirstHarvestLooksForNoRecord(t *testing.T) {
	db := &hookDB{Store: memstore.New()}
	looked := 0
	db.inside = func(key []byte) {
		if key[0] == 'r' {
			looked++
		}
	}
	h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(db), Bodies: harvest.SkipBodies}
	report, err := h.Run(t.Context(), pages{n: 2000, scattered: true})
	require.NoError(t, err)
	assert.EqualValues(t, 2000, report.Created)
	assert.Less(t, looked, 20, "of 2000 ids two or three may have equal hashes")
	inspect(t, db)
}

// TestAddedBesideFirstHarvest has another process add records to the source while it is
// harvested for the first time: none of them comes twice.
func TestAddedBesideFirstHarvest(t *testing.T) {
	for _, at := range []int{1, 2, 3} {
		t.Run(fmt.Sprint("before commit ", at), func(t *testing.T) {
			w := newWorld(t)
			w.h.Bodies = harvest.SkipBodies
			events := []harvest.Event{{Kind: harvest.SnapshotStart}}
			for i := range 2000 {
				events = append(events, put(fmt.Sprint("item ", (i*7)%2000), day(1)))
			}
			events = append(events, harvest.Event{Kind: harvest.SnapshotEnd, Complete: true})
			n := 0
			w.h.Catalog = w.watched(func(_ context.Context, act testkit.Act) error {
				if act != testkit.Commit {
					return nil
				}
				if n++; n != at {
					return nil
				}
				claim, err := w.store.Claim(t.Context(), "other", time.Minute)
				require.NoError(t, err)
				batch := harvest.NewBatch(src)
				for i := range 2000 {
					id := fmt.Sprint(base, "item ", i)
					if found, err := w.store.Lookup(t.Context(), src, []string{id}); err == nil && !found[0].Known() && i%3 == 0 {
						batch.Puts = append(batch.Puts, harvest.Change{Record: harvest.Record{Item: websync.Item{
							Kind: websync.Created, Resource: websync.Resource{ID: id, Title: "of the other"}}}})
					}
				}
				require.NotEmpty(t, batch.Puts)
				_, err = w.store.Commit(t.Context(), claim, batch)
				require.NoError(t, err)
				return w.store.Release(t.Context(), claim)
			})
			report := w.run(harvest.Of(src, events...))
			require.True(t, report.InStep())
			faults, err := w.store.Inspect(t.Context())
			require.NoError(t, err)
			require.Empty(t, faults)
			head, err := w.store.Head(t.Context())
			require.NoError(t, err)
			assert.EqualValues(t, 2000, head.Live[src])
			assert.EqualValues(t, 2000, head.Born)
		})
	}
}
