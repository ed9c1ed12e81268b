package eli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// manyActs returns n acts in two states, whose dates are in the order of the log or in
// none.
func manyActs(n int, shuffled bool) []websync.Item {
	items := make([]websync.Item, 2*n)
	for i := range items {
		k := i % n
		if shuffled {
			k = k * 7919 % n
		}
		at := time.Date(2000, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(k)*time.Hour + time.Duration(i/n)*time.Minute)
		items[i].Resource = websync.Resource{
			ID: fmt.Sprintf("%s2026/%06d/oj", acts, i%n), Title: fmt.Sprintf("Regulation %d on the marking of goods", i%n), Modified: websync.NewDatetime(at),
		}
	}
	return items
}

// fillActs commits items, a thousand at a time.
func fillActs(t testkit.T, store *harvest.Catalog, items []websync.Item) {
	const batch = 1000
	for ; len(items) > batch; items = items[batch:] {
		testkit.Fill(t, store, ownSource, nil, items[:batch]...)
	}
	testkit.Fill(t, store, ownSource, nil, items...)
}

// BenchmarkFeed writes the feed of 50,000 acts, each of which has changed once: with the
// Publisher, from a Store in memory and from SQLite, and with a Writer from the same
// entries. The dates of the acts are in the order of the log, or shuffled.
func BenchmarkFeed(b *testing.B) {
	n := 50_000
	if testing.Short() {
		n = 1000 // a batch must not have an act twice
	}
	for _, shuffled := range []bool{false, true} {
		name := "in order"
		if shuffled {
			name = "shuffled"
		}
		b.Run(name, func(b *testing.B) {
			file, err := sqlitestore.Open(b.Context(), filepath.Join(b.TempDir(), "acts.db"), nil)
			require.NoError(b, err)
			defer file.Close()
			var body []byte
			for _, kept := range []struct {
				name  string
				store *harvest.Catalog
			}{{"memory", harvest.NewCatalog(memstore.New())}, {"sqlite", harvest.NewCatalog(file)}} {
				fillActs(b, kept.store, manyActs(n, shuffled))
				doc, text := render(b, newPublisher(kept.store), feedPath)
				body = text
				testkit.Measure(b, kept.name, len(body), func() error { return doc.Write(context.Background(), io.Discard) })
			}
			r := atom.NewReader(bytes.NewReader(body))
			var entries []*atom.Entry
			for item, err := range r.All() {
				require.NoError(b, err)
				entries = append(entries, item.Entry)
			}
			require.Len(b, entries, n)
			testkit.Measure(b, "writer", len(body), func() error {
				w := atom.NewWriter(io.Discard)
				err := w.WriteFeed(r.Feed())
				for i := 0; err == nil && i < n; i++ {
					err = w.WriteEntry(entries[i])
				}
				if err != nil {
					return err
				}
				return w.Close()
			})
		})
	}
}

// TestPublisherMemory: what the feed needs beside a fixed amount is at most a hundred
// bytes for each act, however often the acts have changed.
func TestPublisherMemory(t *testing.T) {
	racing.Long(t)
	const n, perAct, fixed = 40_000, 100, 1 << 20
	acts := manyActs(n, true)
	log := new(websync.Log)
	for i := range 4 * len(acts) {
		item := acts[i%len(acts)]
		item.Source, item.Time = ownSource, time.Date(2026, 1, 2, 3, 4, 5, i, time.UTC)
		log.Append(item)
	}
	catalog := &testkit.Catalog{Catalog: log}
	doc, err := newPublisher(catalog).Document(t.Context(), feedPath)
	require.NoError(t, err)
	before, most := testkit.Heap(), int64(0)
	catalog.Before = func(_ string, n int) error { // while the changes are collected
		if n%15_000 == 0 {
			most = max(most, testkit.Heap()-before)
		}
		return nil
	}
	entries, size := 0, 0
	err = doc.Write(t.Context(), writerFunc(func(b []byte) (int, error) {
		if size/(1<<20) != (size+len(b))/(1<<20) || size == 0 {
			most = max(most, testkit.Heap()-before)
		}
		entries += bytes.Count(b, []byte("<entry"))
		size += len(b)
		return len(b), nil
	}))
	require.NoError(t, err)
	require.InDelta(t, n, entries, 10, "an entry may be in two writes")
	require.Less(t, most, int64(n*perAct+fixed))
	t.Logf("%d bytes, %.0f of memory an entry", size, float64(most)/n)
}

// A writerFunc is an io.Writer.
type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
