package sitemap_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/bench"
	"github.com/websync-go/websync/internal/testkit"
	"github.com/websync-go/websync/sitemap"
)

const irregularEntries = 5000

// The types with which encoding/xml reads and writes the same.
type (
	writtenURL struct {
		XMLName    xml.Name   `xml:"url"`
		Loc        string     `xml:"loc"`
		LastMod    *time.Time `xml:"lastmod"`
		ChangeFreq string     `xml:"changefreq,omitempty"`
		Priority   float32    `xml:"priority,omitempty"`
	}
	encodedURL struct {
		XMLName    xml.Name         `xml:"url"`
		Loc        string           `xml:"loc"`
		LastMod    string           `xml:"lastmod,omitempty"`
		ChangeFreq string           `xml:"changefreq,omitempty"`
		Priority   float32          `xml:"priority,omitempty"`
		Extensions []encodedElement `xml:",any"`
	}
	encodedElement struct {
		XMLName xml.Name
		Attrs   []xml.Attr `xml:",any,attr"`
		XML     string     `xml:",innerxml"`
	}
)

// BenchmarkIrregular reads sitemaps as the web has them, and writes their entries, in
// turns with encoding/xml: as views and as entries that may be kept.
func BenchmarkIrregular(b *testing.B) {
	for _, d := range []struct {
		name string
		doc  []byte
	}{
		{"plain", bench.Sitemap(11, irregularEntries, bench.Mixed)},
		{"extended", bench.Extended(12, irregularEntries, bench.Mixed)},
	} {
		entries, err := readAll(sitemap.NewReader(bytes.NewReader(d.doc)))
		require.NoError(b, err)
		require.Len(b, entries, irregularEntries)
		decode := bench.CPU("encoding-xml", func() error {
			return counted(testkit.DecodeEntries(d.doc, "url", func(dec *xml.Decoder, start *xml.StartElement) error {
				var u encodedURL
				return dec.DecodeElement(&u, start)
			}))
		})
		b.Run(d.name+"/views", func(b *testing.B) {
			bench.Beside(b, len(d.doc), bench.CPU("websync", func() error {
				r := sitemap.NewReader(bytes.NewReader(d.doc))
				return counted(count(func() error { _, err := r.NextView(); return err }))
			}), decode)
		})
		b.Run(d.name+"/entries", func(b *testing.B) {
			bench.Beside(b, len(d.doc), bench.CPU("websync", func() error {
				r := sitemap.NewReader(bytes.NewReader(d.doc))
				return counted(count(func() error { _, err := r.Next(); return err }))
			}), decode)
		})
		if d.name == "extended" {
			continue // encoding/xml does not write namespaces as they were
		}
		written := writtenURLs(entries)
		b.Run(d.name+"/writing", func(b *testing.B) {
			bench.Beside(b, len(d.doc), bench.CPU("websync", func() error {
				w := sitemap.NewWriter(io.Discard)
				for i := range entries {
					if err := w.Write(&entries[i]); err != nil {
						return err
					}
				}
				return w.Close()
			}), bench.CPU("encoding-xml", func() error {
				enc := xml.NewEncoder(io.Discard)
				for i := range written {
					if err := enc.Encode(&written[i]); err != nil {
						return err
					}
				}
				return enc.Close()
			}))
		})
	}
}

func writtenURLs(entries []sitemap.Entry) []writtenURL {
	all := make([]writtenURL, len(entries))
	for i, e := range entries {
		all[i] = writtenURL{Loc: e.Loc, ChangeFreq: string(e.ChangeFreq), Priority: e.Priority}
		if at := e.LastMod.Time(); !at.IsZero() {
			all[i].LastMod = &at
		}
	}
	return all
}

// count calls next until io.EOF.
func count(next func() error) (n int, err error) {
	for {
		switch err := next(); {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		}
		n++
	}
}

// counted returns an error unless all entries were read.
func counted(n int, err error) error {
	if err == nil && n != irregularEntries {
		err = fmt.Errorf("read %d entries, want %d", n, irregularEntries)
	}
	return err
}
