package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/bench"
	"github.com/websync-go/websync/internal/testing/fill"
)

func id(i int) string { return fmt.Sprintf("https://www.example.com/documents/%d/%d", i%97, i) }

// typical returns a record as a harvest of a sitemap makes it.
func typical(i int) harvest.Record {
	link := websync.Link{Href: id(i), Type: "text/html", Length: 2048}
	return harvest.Record{
		Item: websync.Item{
			Kind: websync.Created,
			Resource: websync.Resource{
				ID:       id(i),
				Modified: websync.NewDatetime(time.Unix(1_700_000_000+int64(i), 0).UTC()),
				Content:  link,
				Elements: []websync.Element{{Local: "changefreq", XML: "<changefreq>weekly</changefreq>"}},
			},
			Bodies: []websync.Body{{Name: "content", Link: link}},
		},
		Stated:     harvest.Stated{Hash: uint64(i)},
		Validators: []harvest.Validator{{URL: id(i), ETag: fmt.Sprintf(`"%x"`, i), LastModified: "Sun, 06 Nov 1994 08:49:37 GMT"}},
	}
}

// put commits the first n records in batches of 512. Those that are there are updated.
func put(t testing.TB, s *sqlitestore.Catalog, n int) {
	for i := 0; i < n; {
		var records []any
		for ; i < n && len(records) < 512; i++ {
			records = append(records, typical(i))
		}
		require.NoError(t, fill.Commit(t.Context(), s.Catalog, "s", records...))
	}
}

func create(t testing.TB) (*sqlitestore.Catalog, string) {
	file := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlitestore.OpenCatalog(t.Context(), file, nil)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s, file
}

// measure starts the measurement, and what it returns reports it: time on the clock is
// mostly that of the disk.
func measure(b *testing.B) func() {
	b.ReportAllocs()
	start := bench.CPUTime()
	b.ResetTimer()
	return func() { b.ReportMetric(float64((bench.CPUTime()-start).Nanoseconds())/float64(b.N), "cpu-ns/op") }
}

// An op of BenchmarkScan is one item.
func BenchmarkScan(b *testing.B) {
	const n = 50_000
	s, _ := create(b)
	put(b, s, n)
	b.Run("Records", func(b *testing.B) {
		scan(b, func() iter.Seq2[harvest.Record, error] { return s.Records(b.Context(), "s", "") })
	})
	b.Run("Resources", func(b *testing.B) {
		scan(b, func() iter.Seq2[websync.Item, error] { return s.Resources(b.Context(), websync.Range{}) })
	})
	b.Run("Changes", func(b *testing.B) {
		scan(b, func() iter.Seq2[websync.Item, error] { return s.Changes(b.Context(), websync.Range{}) })
	})
}

func scan[T any](b *testing.B, start func() iter.Seq2[T, error]) {
	defer measure(b)()
	for done := 0; done < b.N; {
		for _, err := range start() {
			if err != nil {
				b.Fatal(err)
			}
			if done++; done == b.N {
				break
			}
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	s, file := create(b)
	put(b, s, 10_000)
	require.NoError(b, s.Close())
	for b.Loop() {
		s, err := sqlitestore.OpenCatalog(b.Context(), file, nil)
		require.NoError(b, err)
		_, err = s.Head(b.Context())
		require.NoError(b, err)
		require.NoError(b, s.Close())
	}
}

// BenchmarkCompact compacts a Store of 1,500,000 entries, 15,000 with -short, while
// another opening of the same file writes, as another process would. It reports the
// longest times that such a write took, and the greatest size of the write-ahead log. The
// peer writes to a Store where nothing else happens, at the same time.
func BenchmarkCompact(b *testing.B) {
	n := 1_500_000
	if testing.Short() {
		n = 15_000
	}
	for b.Loop() {
		b.StopTimer()
		s, file := create(b)
		put(b, s, n*2/3)
		put(b, s, n/3) // again
		other, err := sqlitestore.OpenCatalog(b.Context(), file, nil)
		require.NoError(b, err)
		ctx, stop := context.WithCancel(b.Context())
		peer, peerFile := create(b)
		watched, idle := make(chan watch), make(chan watch)
		go func() { watched <- watchWrites(ctx, other, file+"-wal") }()
		go func() { idle <- watchWrites(ctx, peer, peerFile+"-wal") }()
		b.StartTimer()
		began := time.Now()
		generation, err := s.Compact(b.Context())
		require.NoError(b, err)
		b.ReportMetric(time.Since(began).Seconds(), "compact-s")
		require.NoError(b, s.Drop(b.Context(), generation))
		b.StopTimer()
		stop()
		w, p := <-watched, <-idle
		require.NoError(b, errors.Join(w.err, p.err))
		b.ReportMetric(w.ms(100), "longest-ms")
		b.ReportMetric(w.ms(99), "p99-ms")
		b.ReportMetric(p.ms(100), "idle-longest-ms")
		b.ReportMetric(p.ms(99), "idle-p99-ms")
		b.ReportMetric(float64(w.wal)/(1<<20), "wal-MiB")
		require.NoError(b, other.Close())
		b.StartTimer()
	}
}

// A watch is what was seen of a Store while it was busy.
type watch struct {
	took []time.Duration // by each write
	wal  int64           // the greatest size of the file
	err  error
}

// ms returns how many milliseconds a write took at most, in this percentage of cases.
func (w *watch) ms(percent int) float64 {
	slices.Sort(w.took)
	return float64(w.took[(len(w.took)*percent+99)/100-1].Microseconds()) / 1000
}

// watchWrites writes until ctx ends.
func watchWrites(ctx context.Context, s *sqlitestore.Catalog, wal string) (w watch) {
	var held []byte
	for ctx.Err() == nil {
		value := fmt.Append(nil, len(w.took))
		began := time.Now()
		if w.err = s.Swap(context.WithoutCancel(ctx), "watch", held, value); w.err != nil {
			return w
		}
		w.took = append(w.took, time.Since(began))
		held = value
		if info, err := os.Stat(wal); err == nil {
			w.wal = max(w.wal, info.Size())
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
	}
	return w
}
