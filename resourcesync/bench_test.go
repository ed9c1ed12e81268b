package resourcesync_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testkit"
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
	w.Head = benchHead()
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
	b.ReportAllocs()
	for b.Loop() {
		w := resourcesync.NewWriter(io.Discard)
		w.Head = benchHead()
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
