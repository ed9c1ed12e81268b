package peers

import (
	"bytes"
	"encoding/xml"
	"io"
	"testing"

	"github.com/websync-go/websync/internal/xmlscan"
)

// BenchmarkTokens reads every token of a document and counts elements, attributes and
// text.
func BenchmarkTokens(b *testing.B) {
	libxml2 := buildSAXParser(b.TempDir())
	for _, d := range documents() {
		doc := d.bytes()
		for _, p := range readers {
			b.Run(d.name+"/"+p.name, func(b *testing.B) {
				b.SetBytes(int64(len(doc)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.read(doc); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(d.name+"/libxml2", func(b *testing.B) { libxml2.benchmark(b, doc) })
	}
}

// BenchmarkElements reads a sitemap as a protocol reader does.
func BenchmarkElements(b *testing.B) {
	doc := sitemapOf(benchEntries).bytes()
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

// BenchmarkWriter writes the same entries with all peers; bytes are those of the document
// that websync writes.
func BenchmarkWriter(b *testing.B) {
	for _, d := range documents() {
		size := int64(len(d.bytes()))
		run := func(name string, write func() error) {
			b.Run(d.name+"/"+name, func(b *testing.B) {
				b.SetBytes(size)
				b.ReportAllocs()
				for b.Loop() {
					if err := write(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("websync", func() error { return d.write(xmlscan.NewWriter(io.Discard)) })
		run("encoding-xml", func() error { return d.encode(xml.NewEncoder(io.Discard)) })
		calls := d.calls()
		for _, p := range writers {
			run(p.name, func() error { return p.write(io.Discard, calls) })
		}
	}
}
