package peers

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/websync-go/websync/internal/testing/bench"
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

// BenchmarkIrregular reads every token of documents as the web has them, in turns with
// its peers.
func BenchmarkIrregular(b *testing.B) {
	libxml2 := buildSAXParser(b.TempDir())
	for _, d := range irregularDocuments(benchEntries / 10) {
		b.Run(d.name, func(b *testing.B) {
			read := func(name string, read func([]byte) (counts, error)) bench.Side {
				return bench.CPU(name, func() error {
					_, err := read(d.doc)
					return err
				})
			}
			peers := []bench.Side{read("encoding-xml", countEncodingXML)}
			if libxml2.err == nil {
				peers = append(peers, bench.Side{Name: "libxml2", Do: func() (time.Duration, error) {
					seconds, _, err := libxml2.read(d.doc, 1)
					return time.Duration(seconds * float64(time.Second)), err
				}})
			}
			bench.Beside(b, len(d.doc), read("websync", countTokens), peers...)
		})
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
