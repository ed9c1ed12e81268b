package xmlscan_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"testing"

	"github.com/websync-go/websync/internal/xmlscan"
)

// BenchmarkTokens reads every token of a document.
func BenchmarkTokens(b *testing.B) {
	for _, d := range documents() {
		doc := d.bytes()
		b.Run(d.name+"/websync", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				r := xmlscan.NewReader(bytes.NewReader(doc))
				for {
					_, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run(d.name+"/encoding-xml", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				dec := xml.NewDecoder(bytes.NewReader(doc))
				for {
					_, err := dec.Token()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkElements reads a sitemap as a protocol reader does.
func BenchmarkElements(b *testing.B) {
	doc := sitemapDoc(benchEntries)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		r := xmlscan.NewReader(bytes.NewReader(doc))
		n, err := countLocs(r)
		if err != nil || n != benchEntries {
			b.Fatal(n, err)
		}
	}
}

func countLocs(r *xmlscan.Reader) (n int, err error) {
	loc := xmlscan.Name{Space: sitemapNS, Local: "loc"}
	for {
		k, err := r.NextTag()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if k != xmlscan.Start || r.Depth() != 3 {
			continue
		}
		text, err := r.ElementText()
		if err != nil {
			return n, err
		}
		if r.Name() == loc && len(text) > 0 {
			n++
		}
	}
}

// BenchmarkWriter writes the same entries with both peers; bytes are those of the document that websync writes.
func BenchmarkWriter(b *testing.B) {
	for _, d := range documents() {
		size := int64(len(d.bytes()))
		b.Run(d.name+"/websync", func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if err := d.write(xmlscan.NewWriter(io.Discard)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(d.name+"/encoding-xml", func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if err := d.encode(xml.NewEncoder(io.Discard)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
