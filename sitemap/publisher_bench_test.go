package sitemap_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
)

// BenchmarkPublisher writes one part of records in memory: with the Publisher, with a
// Writer from entries, and as bytes into a file. Check gets a document whose state is
// known.
func BenchmarkPublisher(b *testing.B) {
	for _, n := range []int{10_000, sitemap.MaxEntries} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmarkPart(b, n) })
	}
}

func benchmarkPart(b *testing.B, n int) {
	ctx := b.Context()
	s := testkit.NewStore(b)
	at := time.Date(2015, 3, 1, 7, 0, 0, 0, time.UTC)
	entries, resources := make([]sitemap.Entry, n), make([]websync.Resource, n)
	for i := range entries {
		e := &entries[i]
		e.Loc = fmt.Sprintf("https://www.example.com/catalogue/section-%d/item-%06d.html?lang=en", i%97, i)
		at = at.Add(time.Duration(i%7919) * time.Second)
		e.LastMod = websync.NewDatetime(at)
		resources[i] = websync.Resource{ID: e.Loc, Modified: e.LastMod, Content: websync.Link{Href: e.Loc}}
	}
	s.Put("a", resources...)
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: "https://www.example.com/"}, PartSize: n}
	_, body := render(b, p, "/sitemap.xml")
	doc, err := p.Document(ctx, "/sitemap.xml")
	require.NoError(b, err)

	run := func(name string, write func(w io.Writer) error) {
		b.Run(name, func(b *testing.B) {
			file, err := os.Create(filepath.Join(b.TempDir(), "sitemap.xml"))
			require.NoError(b, err)
			defer file.Close()
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := file.Seek(0, io.SeekStart); err != nil {
					b.Fatal(err)
				}
				if err := write(file); err != nil {
					b.Fatal(err)
				}
			}
			written, err := os.ReadFile(file.Name())
			require.NoError(b, err)
			require.True(b, bytes.Equal(body, written))
		})
	}
	run("publisher", func(w io.Writer) error { return doc.Write(ctx, w) })
	run("writer", func(w io.Writer) error {
		out := sitemap.NewWriter(w)
		for i := range entries {
			if err := out.Write(&entries[i]); err != nil {
				return err
			}
		}
		return out.Close()
	})
	run("file", func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	})
	testkit.Measure(b, "rows", len(body), func() error { // reads the Catalog only
		for _, err := range s.Resources(ctx, websync.Range{}) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if d, err := p.Document(ctx, "/sitemap.xml"); err != nil || d.ETag != doc.ETag {
				b.Fatal(d, err)
			}
		}
	})
}

// BenchmarkPublisherStart reads the log of 50,000 entries, as the first Document of a
// process does.
func BenchmarkPublisherStart(b *testing.B) {
	s := testkit.NewStore(b)
	const n = 50_000
	s.Put("a", numbered(1, n)...)
	b.ReportAllocs()
	for b.Loop() {
		p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}}
		if _, err := p.Document(b.Context(), "/sitemap.xml"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}
