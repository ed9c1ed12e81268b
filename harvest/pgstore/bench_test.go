package pgstore

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/pgtest"
)

// A listing is a Source of many entries, as a sitemap has them.
type listing struct {
	key string
	n   int
}

func (l listing) Key() string { return l.key }

func (l listing) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		if !yield(harvest.Event{Kind: harvest.SnapshotStart}, nil) {
			return
		}
		for i := range l.n {
			id := fmt.Sprintf("https://www.example.com/documents/%d/%d", i%97, i)
			modified := websync.NewDatetime(at.Add(time.Duration(i) * time.Second))
			resource := websync.Resource{ID: id, Modified: modified, Content: websync.Link{Href: id}}
			if !yield(harvest.Event{At: modified, Resource: resource}, nil) {
				return
			}
		}
		yield(harvest.Event{Kind: harvest.SnapshotEnd, Complete: true, Resume: harvest.Checkpoint{Version: 1, Data: []byte("end")}}, nil)
	}
}

// harvest harvests the listing, without bodies.
func (l listing) harvest(ctx context.Context, s *harvest.Catalog) (*harvest.Report, error) {
	h := &harvest.Harvester{Sample: -1, Catalog: s, Bodies: harvest.SkipBodies}
	return h.Run(ctx, l)
}

// run harvests the listing and returns the time that an entry took.
func (l listing) run(t testing.TB, s *harvest.Catalog, created int) time.Duration {
	t.Helper()
	began := time.Now()
	report, err := l.harvest(t.Context(), s)
	require.NoError(t, err)
	require.EqualValues(t, created, report.Created)
	return time.Since(began) / time.Duration(l.n)
}

// BenchmarkMillion harvests a listing into a fresh schema, whose tables were never
// analysed, and into a fresh SQLite file, in turns, and then all of it again.
func BenchmarkMillion(b *testing.B) {
	l := listing{"a", 1_000_000}
	if testing.Short() {
		l.n = 100_000
	}
	dsn := pgtest.Server(b)
	var created, unchanged, beside []float64
	for b.Loop() {
		schema := pgtest.Schema(b, dsn)
		s := reopen(b, dsn, schema)
		ours := l.run(b, s.Catalog, l.n)
		created = append(created, float64(ours.Nanoseconds())/1e3)
		unchanged = append(unchanged, float64(l.run(b, s.Catalog, 0).Nanoseconds())/1e3)
		pgtest.Ask(b, dsn, "drop schema "+schema+" cascade")
		file, err := sqlitestore.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"), nil)
		require.NoError(b, err)
		beside = append(beside, float64(ours)/float64(l.run(b, harvest.NewCatalog(file), l.n)))
		require.NoError(b, file.Close())
	}
	b.ReportMetric(median(created), "µs/new")
	b.ReportMetric(median(unchanged), "µs/unchanged")
	b.ReportMetric(median(beside), "x-sqlite")
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
