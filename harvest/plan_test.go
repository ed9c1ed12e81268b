package harvest_test

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// A listing is a Source of this many resources in one complete snapshot.
type listing int

func (l listing) Key() string { return src }

func (l listing) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		if !yield(start, nil) {
			return
		}
		for i := range int(l) {
			if !yield(put(fmt.Sprintf("resource/%d", i), day(1+i%28)), nil) {
				return
			}
		}
		yield(harvest.Event{Kind: harvest.SnapshotEnd, Complete: true, Resume: checkpoint("listed")}, nil)
	}
}

// BenchmarkUnchanged plans a list of 100,000 entries that a Store already holds.
func BenchmarkUnchanged(b *testing.B) {
	const n = 100_000
	for name, open := range map[string]func(b *testing.B) *harvest.Catalog{
		"memory": func(b *testing.B) *harvest.Catalog { return harvest.NewCatalog(memstore.New()) },
		"sqlite": func(b *testing.B) *harvest.Catalog {
			store, db := openSQLite(b, filepath.Join(b.TempDir(), "store.db"))
			b.Cleanup(func() { db.Close() })
			return store
		},
	} {
		b.Run(name, func(b *testing.B) {
			h := &harvest.Harvester{Sample: -1, Catalog: open(b), Bodies: harvest.SkipBodies}
			_, err := h.Run(b.Context(), listing(n))
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				report, err := h.Run(b.Context(), listing(n))
				require.NoError(b, err)
				require.EqualValues(b, n, report.Unchanged)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/entry")
		})
	}
}
