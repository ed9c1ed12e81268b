package sitemap_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
)

const benchEntries = 50_000

// benchDocument is what a publisher's program writes: each entry with all four elements.
func benchDocument() []byte {
	freqs := []string{"daily", "weekly", "monthly", "yearly"}
	at := time.Date(2015, 3, 1, 7, 0, 0, 0, time.UTC)
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"" + sitemap.Namespace + "\">\n")
	for i := range benchEntries {
		at = at.Add(time.Duration(i%7919) * time.Second)
		fmt.Fprintf(&b, "  <url>\n    <loc>https://www.example.com/catalogue/section-%d/item-%06d.html?lang=en</loc>\n"+
			"    <lastmod>%s</lastmod>\n    <changefreq>%s</changefreq>\n    <priority>0.%d</priority>\n  </url>\n",
			i%97, i, at.Format(time.RFC3339), freqs[i%4], 1+i%9)
	}
	b.WriteString("</urlset>\n")
	return b.Bytes()
}

// BenchmarkReader reads one document of 50,000 entries: with Next, with NextView, and
// with encoding/xml into structs.
func BenchmarkReader(b *testing.B) {
	doc := benchDocument()
	run := func(name string, read func() (int, error)) { testkit.MeasureEntries(b, name, doc, benchEntries, read) }
	run("websync", func() (n int, err error) {
		r := sitemap.NewReader(bytes.NewReader(doc))
		for {
			e, err := r.Next()
			if err == io.EOF {
				return n, nil
			}
			if err != nil || e.Loc == "" || e.LastMod.IsZero() || e.ChangeFreq == "" || e.Priority == 0 {
				return n, err
			}
			n++
		}
	})
	run("websync-view", func() (n int, err error) {
		r := sitemap.NewReader(bytes.NewReader(doc))
		for {
			v, err := r.NextView()
			if err == io.EOF {
				return n, nil
			}
			if err != nil || len(v.Loc) == 0 || v.LastMod.IsZero() || v.ChangeFreq == "" || v.Priority == 0 {
				return n, err
			}
			n++
		}
	})
	run("websync-report", func() (n int, err error) {
		r := sitemap.NewReader(bytes.NewReader(doc))
		r.Report = func(websync.Finding) { n = -benchEntries }
		for {
			_, err := r.NextView()
			if err == io.EOF {
				return n, nil
			}
			if err != nil {
				return n, err
			}
			n++
		}
	})
	run("encoding-xml", func() (n int, err error) {
		return testkit.DecodeEntries(doc, "url", func(d *xml.Decoder, start *xml.StartElement) error {
			var u struct {
				Loc        string    `xml:"loc"`
				LastMod    time.Time `xml:"lastmod"`
				ChangeFreq string    `xml:"changefreq"`
				Priority   float32   `xml:"priority"`
			}
			return d.DecodeElement(&u, start)
		})
	})
}
