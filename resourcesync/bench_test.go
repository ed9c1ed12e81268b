package resourcesync_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

const benchEntries = 50_000

// benchEntry is an entry of a Resource List with a hash and a mirror.
func benchEntry(i int) resourcesync.Entry {
	at := websync.NewDatetime(time.Date(2015, 3, 1, 7, 0, 0, 0, time.UTC).Add(time.Duration(i*7919) * time.Second))
	return resourcesync.Entry{
		Entry: sitemap.Entry{Loc: fmt.Sprintf("https://www.example.com/catalogue/section-%d/item-%06d.html?lang=en", i%97, i), LastMod: at},
		Metadata: resourcesync.Metadata{
			Digests: websync.Digests{{Algorithm: "md5", Sum: fmt.Sprintf("%016d", i)}, {Algorithm: "sha-256", Sum: fmt.Sprintf("%032d", i)}},
			Length:  int64(1000 + i), Type: "text/html",
		},
		Links: []resourcesync.Link{{Link: websync.Link{Rel: "duplicate", Href: fmt.Sprintf("https://mirror.example.com/item-%06d.html", i), Priority: 1, Modified: at}}},
	}
}

func benchHead() resourcesync.Head {
	return resourcesync.Head{
		Metadata: resourcesync.Metadata{Capability: resourcesync.ResourceList, At: websync.NewDatetime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))},
		Links:    []resourcesync.Link{{Link: websync.Link{Rel: "up", Href: "https://www.example.com/capabilitylist.xml"}}},
	}
}

// benchDocument is a Resource List of 50,000 entries with hashes and links.
func benchDocument(b *testing.B) []byte {
	var doc bytes.Buffer
	w := resourcesync.NewWriter(&doc)
	h := benchHead()
	if err := w.WriteHead(&h); err != nil {
		b.Fatal(err)
	}
	for i := range benchEntries {
		e := benchEntry(i)
		if err := w.Write(&e); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return doc.Bytes()
}

// BenchmarkReader reads one Resource List of 50,000 entries: with Next, with NextView,
// and with encoding/xml into structs, entry by entry.
func BenchmarkReader(b *testing.B) {
	doc := benchDocument(b)
	run := func(name string, read func() (int, error)) { testkit.MeasureEntries(b, name, doc, benchEntries, read) }
	run("websync", func() (n int, err error) {
		r := resourcesync.NewReader(bytes.NewReader(doc))
		for {
			e, err := r.Next()
			if err == io.EOF {
				return n, nil
			}
			if err != nil || e.LastMod.IsZero() || len(e.Metadata.Digests) != 2 || len(e.Links) != 1 || e.Links[0].Modified.IsZero() {
				return n, err
			}
			n++
		}
	})
	run("websync-view", func() (n int, err error) {
		r := resourcesync.NewReader(bytes.NewReader(doc))
		for {
			v, err := r.NextView()
			if err == io.EOF {
				return n, nil
			}
			if err != nil || v.LastMod.IsZero() || len(v.Metadata.Digests) != 2 || len(v.Links) != 1 || v.Links[0].Modified.IsZero() {
				return n, err
			}
			n++
		}
	})
	run("encoding-xml", func() (n int, err error) {
		return testkit.DecodeEntries(doc, "url", func(d *xml.Decoder, start *xml.StartElement) error {
			var u struct {
				Loc     string    `xml:"loc"`
				LastMod time.Time `xml:"lastmod"`
				MD      struct {
					Hash   websync.Digests `xml:"hash,attr"`
					Length int64           `xml:"length,attr"`
					Type   string          `xml:"type,attr"`
				} `xml:"http://www.openarchives.org/rs/terms/ md"`
				LN []struct {
					Rel      string    `xml:"rel,attr"`
					Href     string    `xml:"href,attr"`
					Pri      int       `xml:"pri,attr"`
					Modified time.Time `xml:"modified,attr"`
				} `xml:"http://www.openarchives.org/rs/terms/ ln"`
			}
			return d.DecodeElement(&u, start)
		})
	})
}

// BenchmarkWriter writes one Resource List of 50,000 entries.
func BenchmarkWriter(b *testing.B) {
	entries := make([]resourcesync.Entry, benchEntries)
	for i := range entries {
		entries[i] = benchEntry(i)
	}
	h := benchHead()
	b.ReportAllocs()
	for b.Loop() {
		w := resourcesync.NewWriter(io.Discard)
		if err := w.WriteHead(&h); err != nil {
			b.Fatal(err)
		}
		for i := range entries {
			if err := w.Write(&entries[i]); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(w.Bytes())
	}
}

// BenchmarkPublisher writes one Resource List of 50,000 entries from a file of SQLite.
// The peer writes the same entries, which it has in memory.
func BenchmarkPublisher(b *testing.B) {
	db, err := sqlitestore.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	store := harvest.NewCatalog(db)
	var items []websync.Item
	for i := range benchEntries {
		e := benchEntry(i)
		items = append(items, websync.Item{Resource: websync.Resource{ID: e.Loc, Modified: e.LastMod, Links: []websync.Link{e.Links[0].Link},
			Content: websync.Link{Href: e.Loc, Type: e.Metadata.Type, Length: e.Metadata.Length, Digests: e.Metadata.Digests}}})
	}
	for batch := range slices.Chunk(items, 1000) {
		testkit.Fill(b, store, "own", nil, batch...)
	}
	p := &resourcesync.Publisher{Place: websync.Place{Catalog: store, Base: "https://www.example.com/"}, PartSize: benchEntries, MD5: true}
	p.Locator = websync.PathLocator{Base: p.Base, Own: []string{"own"}, Reserved: p.Reserved}
	write := func(w io.Writer) error {
		doc, err := p.Document(b.Context(), "/resourcelist.xml")
		if err != nil {
			return err
		}
		return doc.Write(b.Context(), w)
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		b.Fatal(err)
	}
	r := resourcesync.NewReader(bytes.NewReader(text.Bytes()))
	var entries []resourcesync.Entry
	for e, err := range r.All() {
		if err != nil {
			b.Fatal(err)
		}
		entries = append(entries, e)
	}
	if len(entries) != benchEntries {
		b.Fatalf("%d entries, want %d", len(entries), benchEntries)
	}
	run := func(name string, write func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if err := write(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(benchEntries*b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
	run("sqlite", func() error { return write(io.Discard) })
	run("memory", func() error {
		w := resourcesync.NewWriter(io.Discard)
		h := benchHead()
		if err := w.WriteHead(&h); err != nil {
			return err
		}
		for i := range entries {
			if err := w.Write(&entries[i]); err != nil {
				return err
			}
		}
		return w.Close()
	})
}
