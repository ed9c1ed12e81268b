package harvest_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// typicalChange is a record of about 300 bytes.
func typicalChange(i int) harvest.Change {
	id := fmt.Sprintf("https://example.com/eli/lov/2024/%08d", i)
	link := websync.Link{Href: id, Type: "text/html; charset=utf-8", Length: 48211, Digests: websync.Digests{websync.SHA256([]byte(id))}}
	at := websync.NewDatetime(time.Unix(1732190000+int64(i), 0).UTC())
	return harvest.Change{Record: harvest.Record{
		Item: websync.Item{
			Kind: websync.Created, At: at,
			Resource: websync.Resource{ID: id, Modified: at, Content: link,
				Elements: []websync.Element{{Local: "changefreq", XML: "<changefreq>daily</changefreq>"}}},
			Bodies: []websync.Body{{Name: "content", Link: link}},
		},
		Stated:     harvest.Stated{Hash: uint64(i)},
		Validators: []harvest.Validator{{URL: id, ETag: `W/"abc-123"`, LastModified: "Thu, 21 Nov 2024 11:00:00 GMT"}},
	}}
}

// fillTypical commits n records in batches of 512.
func fillTypical(b *testing.B, s *harvest.Catalog, n int) {
	ctx := context.Background()
	claim, err := s.Claim(ctx, "source/a", time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i < n; {
		batch := harvest.NewBatch("a")
		for ; i < n && len(batch.Puts) < 512; i++ {
			batch.Puts = append(batch.Puts, typicalChange(i))
		}
		if conflicts, err := s.Commit(ctx, claim, batch); err != nil || len(conflicts) > 0 {
			b.Fatal(conflicts, err)
		}
	}
}

// An op is one record.
func BenchmarkCatalog(b *testing.B) {
	ctx := context.Background()
	b.Run("put", func(b *testing.B) {
		b.ReportAllocs()
		s := harvest.NewCatalog(memstore.New())
		claim, _ := s.Claim(ctx, "source/a", time.Hour)
		batches := make([]*harvest.Batch, 0, b.N/512+1)
		for i := 0; i < b.N; {
			batch := harvest.NewBatch("a")
			for ; i < b.N && len(batch.Puts) < 512; i++ {
				batch.Puts = append(batch.Puts, typicalChange(i*7919%10_000_019))
			}
			batches = append(batches, batch)
		}
		b.ResetTimer()
		for _, batch := range batches {
			if conflicts, err := s.Commit(ctx, claim, batch); err != nil || len(conflicts) > 0 {
				b.Fatal(conflicts, err)
			}
		}
	})
	s := harvest.NewCatalog(memstore.New())
	fillTypical(b, s, 100_000)
	claim, err := s.Claim(ctx, "source/b", time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("put-alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			batch := harvest.NewBatch("b")
			c := typicalChange(0)
			c.Record.Resource.ID = fmt.Sprint(claim.N)
			batch.Puts = []harvest.Change{c}
			if conflicts, err := s.Commit(ctx, claim, batch); err != nil || len(conflicts) > 0 {
				b.Fatal(conflicts, err)
			}
		}
	})
	b.Run("touch", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; i < b.N; {
			batch := harvest.NewBatch("a")
			for ; i < b.N && len(batch.Touches) < 512; i++ {
				c := typicalChange(i % 100_000)
				c.Base = websync.Seq(i%100_000 + 1)
				batch.Touches = append(batch.Touches, c)
			}
			if conflicts, err := s.Commit(ctx, claim, batch); err != nil || len(conflicts) > 0 {
				b.Fatal(conflicts, err)
			}
		}
	})
	b.Run("lookup", func(b *testing.B) {
		b.ReportAllocs()
		ids := make([]string, 256)
		for i := range ids {
			ids[i] = typicalChange(i * 389).Record.Resource.ID
		}
		b.ResetTimer()
		for i := 0; i < b.N; i += len(ids) {
			if _, err := s.Lookup(ctx, "a", ids); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("records", func(b *testing.B) {
		readSome(b, func() iter.Seq2[harvest.Record, error] { return s.Records(ctx, "a", "") })
	})
	b.Run("changes", func(b *testing.B) {
		readSome(b, func() iter.Seq2[websync.Item, error] { return s.Changes(ctx, websync.Range{}) })
	})
	b.Run("resources", func(b *testing.B) {
		readSome(b, func() iter.Seq2[websync.Item, error] { return s.Resources(ctx, websync.Range{}) })
	})
	b.Run("large-body", func(b *testing.B) {
		b.ReportAllocs()
		data := make([]byte, 1<<20)
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			w, err := s.NewBody(ctx)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := w.Write(data); err != nil {
				b.Fatal(err)
			}
			if _, _, err := w.Finish(); err != nil {
				b.Fatal(err)
			}
			if err := w.Discard(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// readSome reads b.N of what all yields, from the start as often as needed.
func readSome[T any](b *testing.B, all func() iter.Seq2[T, error]) {
	b.ReportAllocs()
	for n := 0; n < b.N; {
		for _, err := range all() {
			if err != nil {
				b.Fatal(err)
			}
			if n++; n == b.N {
				break
			}
		}
	}
}
