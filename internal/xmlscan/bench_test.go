package xmlscan_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"testing"

	"github.com/websync-go/websync/internal/xmlscan"
)

const benchEntries = 50_000

const sitemapNS = "http://www.sitemaps.org/schemas/sitemap/0.9"

// documents are what the benchmarks read: the same input for every peer.
func documents() []struct {
	name string
	doc  []byte
} {
	return []struct {
		name string
		doc  []byte
	}{
		{"sitemap", sitemapDoc(benchEntries)},
		{"resourcelist", resourceListDoc(benchEntries)},
		{"atom", atomDoc(benchEntries / 5)},
	}
}

func sitemapDoc(n int) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"" + sitemapNS + "\">\n")
	for i := range n {
		fmt.Fprintf(&b, "  <url>\n    <loc>https://www.example.org/eli/lta/2024/%d/document-with-a-title?lang=da&amp;v=%d</loc>\n"+
			"    <lastmod>2024-%02d-%02dT10:%02d:00Z</lastmod>\n    <changefreq>weekly</changefreq>\n    <priority>0.5</priority>\n  </url>\n",
			i, i%7, i%12+1, i%28+1, i%60)
	}
	b.WriteString("</urlset>\n")
	return b.Bytes()
}

func resourceListDoc(n int) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"" + sitemapNS + "\" xmlns:rs=\"http://www.openarchives.org/rs/terms/\">\n" +
		"  <rs:ln rel=\"up\" href=\"https://example.org/capabilitylist.xml\"/>\n  <rs:md capability=\"resourcelist\" at=\"2024-01-03T09:00:00Z\"/>\n")
	for i := range n {
		fmt.Fprintf(&b, "  <url>\n    <loc>https://example.org/resource/%d</loc>\n    <lastmod>2024-01-02T13:00:00Z</lastmod>\n"+
			"    <rs:md hash=\"md5:%032x sha-256:%064x\" length=\"%d\" type=\"text/html\"/>\n"+
			"    <rs:ln rel=\"describedby\" href=\"https://example.org/resource/%d/metadata\" type=\"application/xml\" modified=\"2024-01-01T00:00:00Z\"/>\n  </url>\n",
			i, i, i, i*10, i)
	}
	b.WriteString("</urlset>\n")
	return b.Bytes()
}

func atomDoc(n int) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\" xmlns:le=\"http://purl.org/atompub/link-extensions/1.0\">\n" +
		"  <id>tag:example.org,2024:feed</id>\n  <title>Författningar</title>\n  <updated>2024-01-02T13:00:00Z</updated>\n")
	for i := range n {
		fmt.Fprintf(&b, "  <entry>\n    <id>tag:example.org,2024:entry/%d</id>\n    <title>Lag (2024:%d) om ändring i lagen om säkerhet</title>\n"+
			"    <updated>2024-01-02T13:00:00.%03dZ</updated>\n    <published>2024-01-01T00:00:00Z</published>\n    <author><name>Justitiedepartementet</name></author>\n"+
			"    <summary type=\"text\">En kort sammanfattning av författningen, med &lt;tecken&gt; &amp; annat.</summary>\n"+
			"    <content src=\"https://example.org/doc/%d\" type=\"application/pdf\" le:md5=\"%032x\"/>\n"+
			"    <link rel=\"alternate\" href=\"https://example.org/doc/%d.rdf\" type=\"application/rdf+xml\" length=\"%d\"/>\n  </entry>\n",
			i, i, i%1000, i, i, i, i*3)
	}
	b.WriteString("</feed>\n")
	return b.Bytes()
}

// BenchmarkTokens reads every token of a document.
func BenchmarkTokens(b *testing.B) {
	for _, d := range documents() {
		b.Run(d.name+"/websync", func(b *testing.B) {
			b.SetBytes(int64(len(d.doc)))
			b.ReportAllocs()
			for b.Loop() {
				r := xmlscan.NewReader(bytes.NewReader(d.doc))
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
			b.SetBytes(int64(len(d.doc)))
			b.ReportAllocs()
			for b.Loop() {
				dec := xml.NewDecoder(bytes.NewReader(d.doc))
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

type benchURL struct {
	Loc        string `xml:"loc"`
	LastMod    string `xml:"lastmod"`
	ChangeFreq string `xml:"changefreq"`
	Priority   string `xml:"priority"`
}

func benchURLs() []benchURL {
	urls := make([]benchURL, benchEntries)
	for i := range urls {
		urls[i] = benchURL{fmt.Sprintf("https://www.example.org/eli/lta/2024/%d/document-with-a-title?lang=da&v=%d", i, i%7), "2024-01-02T10:00:00Z", "weekly", "0.5"}
	}
	return urls
}

func writeSitemap(w *xmlscan.Writer, urls []benchURL) error {
	w.Indent = true
	w.Declaration()
	w.Start("urlset")
	w.Attr("xmlns", sitemapNS)
	for i := range urls {
		w.Start("url")
		w.Element("loc", urls[i].Loc)
		w.Element("lastmod", urls[i].LastMod)
		w.Element("changefreq", urls[i].ChangeFreq)
		w.Element("priority", urls[i].Priority)
		w.End()
	}
	w.End()
	return w.Close()
}

func encodeSitemap(enc *xml.Encoder, urls []benchURL) error {
	enc.Indent("", "  ")
	root := xml.StartElement{Name: xml.Name{Space: sitemapNS, Local: "urlset"}}
	if err := enc.EncodeToken(root); err != nil {
		return err
	}
	for i := range urls {
		if err := enc.EncodeElement(&urls[i], xml.StartElement{Name: xml.Name{Local: "url"}}); err != nil {
			return err
		}
	}
	if err := enc.EncodeToken(root.End()); err != nil {
		return err
	}
	return enc.Close()
}

// BenchmarkWriter writes a sitemap.
func BenchmarkWriter(b *testing.B) {
	urls := benchURLs()
	size := int64(len(sitemapDoc(benchEntries)))
	b.Run("websync", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if err := writeSitemap(xmlscan.NewWriter(io.Discard), urls); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-xml", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if err := encodeSitemap(xml.NewEncoder(io.Discard), urls); err != nil {
				b.Fatal(err)
			}
		}
	})
}
