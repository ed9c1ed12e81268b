package sitemap_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/bench"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
)

const irregularEntries = 5000

// The types with which encoding/xml reads and writes the same.
type (
	encodedURL struct {
		XMLName    xml.Name         `xml:"url"`
		Loc        string           `xml:"loc"`
		LastMod    *encodedDate     `xml:"lastmod"`
		ChangeFreq string           `xml:"changefreq,omitempty"`
		Priority   float32          `xml:"priority,omitempty"`
		Extensions []encodedElement `xml:",any"`
	}
	// a W3C datetime that keeps its precision
	encodedDate struct {
		time.Time
		layout string
	}
	encodedElement struct {
		XMLName xml.Name
		Attrs   []xml.Attr `xml:",any,attr"`
		XML     string     `xml:",innerxml"`
	}
)

func (d encodedDate) MarshalText() ([]byte, error) {
	return d.AppendFormat(make([]byte, 0, len(d.layout)), d.layout), nil
}

func (d *encodedDate) UnmarshalText(text []byte) (err error) {
	switch len(text) {
	case len("2006-01-02"):
		d.layout = time.DateOnly
	case len("2006-01-02T15:04Z"), len("2006-01-02T15:04+07:00"):
		d.layout = "2006-01-02T15:04Z07:00"
	case len("2006-01-02T15:04:05.000Z"):
		d.layout = "2006-01-02T15:04:05.000Z07:00"
	default:
		d.layout = time.RFC3339
	}
	d.Time, err = time.Parse(d.layout, string(text))
	return err
}

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
		encoded := encodedURLs(entries)
		ours := func(dst io.Writer) error { return writeAll(sitemap.NewWriter(dst), entries) }
		peer := func(dst io.Writer) error { return encodeAll(dst, encoded) }
		require.NoError(b, testkit.CheckSameEntries("url", ours, peer))
		b.Run(d.name+"/writing", func(b *testing.B) {
			bench.Beside(b, len(d.doc), bench.CPU("websync", func() error { return ours(io.Discard) }),
				bench.CPU("encoding-xml", func() error { return peer(io.Discard) }))
		})
	}
}

// writeAll writes a document of some entries.
func writeAll(w *sitemap.Writer, entries []sitemap.Entry) error {
	for i := range entries {
		if err := w.Write(&entries[i]); err != nil {
			return err
		}
	}
	return w.Close()
}

func encodeAll(dst io.Writer, encoded []encodedURL) error {
	enc := xml.NewEncoder(dst)
	for i := range encoded {
		if err := enc.Encode(&encoded[i]); err != nil {
			return err
		}
	}
	return enc.Close()
}

func encodedURLs(entries []sitemap.Entry) []encodedURL {
	all := make([]encodedURL, len(entries))
	for i, e := range entries {
		all[i] = encodedURL{Loc: e.Loc, ChangeFreq: string(e.ChangeFreq), Priority: e.Priority}
		all[i].LastMod = encodedDateOf(e.LastMod)
	}
	return all
}

func encodedDateOf(d websync.Datetime) *encodedDate {
	switch p := d.Precision(); {
	case p == websync.PrecisionUnstated:
		return nil
	case p <= websync.PrecisionDay:
		return &encodedDate{d.Time(), time.DateOnly}
	case p <= websync.PrecisionSecond:
		return &encodedDate{d.Time(), time.RFC3339}
	}
	return &encodedDate{d.Time(), "2006-01-02T15:04:05.000Z07:00"}
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
