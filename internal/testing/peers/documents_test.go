package peers

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"

	"github.com/websync-go/websync/internal/testing/bench"
)

const benchEntries = 50_000

const (
	sitemapNS = "http://www.sitemaps.org/schemas/sitemap/0.9"
	rsNS      = "http://www.openarchives.org/rs/terms/"
	atomNS    = "http://www.w3.org/2005/Atom"
	linksNS   = "http://purl.org/atompub/link-extensions/1.0"
)

// A document is what the benchmarks read: the same for every peer.
type document struct {
	name   string
	encode func(*xml.Encoder) error
}

// documents returns one document of each kind, of a size that publishers use.
func documents() []document {
	return []document{sitemapOf(benchEntries), resourceListOf(benchEntries), atomOf(benchEntries / 5)}
}

// emptyElement is between the attributes and the end of an element without content, as
// the Encoder writes it.
var emptyElement = regexp.MustCompile(`></[^>]+>`)

// bytes returns the document as text, with tags of empty elements.
func (d document) bytes() []byte {
	var b bytes.Buffer
	if err := d.encode(xml.NewEncoder(&b)); err != nil {
		panic(err)
	}
	return emptyElement.ReplaceAll(b.Bytes(), []byte("/>"))
}

// encodeDocument writes a document with the Encoder of encoding/xml. Prefixes are part of
// the names: it would declare them at each use.
func encodeDocument[T any](enc *xml.Encoder, root xml.StartElement, entry string, entries []T, head ...any) error {
	enc.Indent("", "  ")
	if err := enc.EncodeToken(xml.ProcInst{Target: "xml", Inst: []byte(`version="1.0" encoding="UTF-8"`)}); err != nil {
		return err
	}
	if err := enc.EncodeToken(root); err != nil {
		return err
	}
	for _, h := range head {
		if err := enc.Encode(h); err != nil {
			return err
		}
	}
	start := xml.StartElement{Name: xml.Name{Local: entry}}
	for i := range entries {
		if err := enc.EncodeElement(&entries[i], start); err != nil {
			return err
		}
	}
	if err := enc.EncodeToken(root.End()); err != nil {
		return err
	}
	return enc.Close()
}

// startElement takes names and values of attributes in turn.
func startElement(name string, attrs ...string) xml.StartElement {
	e := xml.StartElement{Name: xml.Name{Local: name}}
	for i := 0; i < len(attrs); i += 2 {
		e.Attr = append(e.Attr, xml.Attr{Name: xml.Name{Local: attrs[i]}, Value: attrs[i+1]})
	}
	return e
}

type sitemapURL struct {
	Loc        string `xml:"loc"`
	LastMod    string `xml:"lastmod"`
	ChangeFreq string `xml:"changefreq"`
	Priority   string `xml:"priority"`
}

// sitemapOf returns a sitemap with n entries.
func sitemapOf(n int) document {
	urls := make([]sitemapURL, n)
	for i := range urls {
		urls[i] = sitemapURL{
			Loc:        fmt.Sprintf("https://www.example.org/eli/lta/2024/%d/document-with-a-title?lang=da&v=%d", i, i%7),
			LastMod:    fmt.Sprintf("2024-%02d-%02dT10:%02d:00Z", i%12+1, i%28+1, i%60),
			ChangeFreq: "weekly",
			Priority:   "0.5",
		}
	}
	return document{
		name: "sitemap",
		encode: func(enc *xml.Encoder) error {
			return encodeDocument(enc, startElement("urlset", "xmlns", sitemapNS), "url", urls)
		},
	}
}

type resource struct {
	Loc     string       `xml:"loc"`
	LastMod string       `xml:"lastmod"`
	MD      resourceMD   `xml:"rs:md"`
	LN      resourceLink `xml:"rs:ln"`
}

type resourceMD struct {
	Hash   string `xml:"hash,attr"`
	Length string `xml:"length,attr"`
	Type   string `xml:"type,attr"`
}

type resourceLink struct {
	Rel      string `xml:"rel,attr"`
	Href     string `xml:"href,attr"`
	Type     string `xml:"type,attr"`
	Modified string `xml:"modified,attr"`
}

// resourceListOf returns a Resource List with n entries, each with two hashes and a link.
func resourceListOf(n int) document {
	list := make([]resource, n)
	for i := range list {
		list[i] = resource{
			Loc:     fmt.Sprintf("https://example.org/resource/%d", i),
			LastMod: "2024-01-02T13:00:00Z",
			MD:      resourceMD{Hash: fmt.Sprintf("md5:%032x sha-256:%064x", i, i), Length: fmt.Sprint(i * 10), Type: "text/html"},
			LN: resourceLink{
				Rel: "describedby", Href: fmt.Sprintf("https://example.org/resource/%d/metadata", i),
				Type: "application/xml", Modified: "2024-01-01T00:00:00Z",
			},
		}
	}
	return document{
		name: "resourcelist",
		encode: func(enc *xml.Encoder) error {
			type up struct {
				XMLName struct{} `xml:"rs:ln"`
				Rel     string   `xml:"rel,attr"`
				Href    string   `xml:"href,attr"`
			}
			type md struct {
				XMLName    struct{} `xml:"rs:md"`
				Capability string   `xml:"capability,attr"`
				At         string   `xml:"at,attr"`
			}
			return encodeDocument(enc, startElement("urlset", "xmlns", sitemapNS, "xmlns:rs", rsNS), "url", list,
				up{Rel: "up", Href: "https://example.org/capabilitylist.xml"}, md{Capability: "resourcelist", At: "2024-01-03T09:00:00Z"})
		},
	}
}

type atomEntry struct {
	ID        string      `xml:"id"`
	Title     string      `xml:"title"`
	Updated   string      `xml:"updated"`
	Published string      `xml:"published"`
	Author    string      `xml:"author>name"`
	Summary   atomText    `xml:"summary"`
	Content   atomContent `xml:"content"`
	Link      atomLink    `xml:"link"`
}

type atomText struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

type atomContent struct {
	Src  string `xml:"src,attr"`
	Type string `xml:"type,attr"`
	MD5  string `xml:"le:md5,attr"`
}

type atomLink struct {
	Rel    string `xml:"rel,attr"`
	Href   string `xml:"href,attr"`
	Type   string `xml:"type,attr"`
	Length string `xml:"length,attr"`
}

// atomOf returns an Atom feed with n entries, whose text is outside ASCII in part.
func atomOf(n int) document {
	entries := make([]atomEntry, n)
	for i := range entries {
		doc := fmt.Sprintf("https://example.org/doc/%d", i)
		entries[i] = atomEntry{
			ID:        fmt.Sprintf("tag:example.org,2024:entry/%d", i),
			Title:     fmt.Sprintf("Lag (2024:%d) om ändring i lagen om säkerhet", i),
			Updated:   fmt.Sprintf("2024-01-02T13:00:00.%03dZ", i%1000),
			Published: "2024-01-01T00:00:00Z",
			Author:    "Justitiedepartementet",
			Summary:   atomText{"text", "En kort sammanfattning av författningen, med <tecken> & annat."},
			Content:   atomContent{doc, "application/pdf", fmt.Sprintf("%032x", i)},
			Link:      atomLink{"alternate", doc + ".rdf", "application/rdf+xml", fmt.Sprint(i * 3)},
		}
	}
	return document{
		name: "atom",
		encode: func(enc *xml.Encoder) error {
			type id struct {
				XMLName struct{} `xml:"id"`
				Text    string   `xml:",chardata"`
			}
			type title struct {
				XMLName struct{} `xml:"title"`
				Text    string   `xml:",chardata"`
			}
			type updated struct {
				XMLName struct{} `xml:"updated"`
				Text    string   `xml:",chardata"`
			}
			return encodeDocument(enc, startElement("feed", "xmlns", atomNS, "xmlns:le", linksNS), "entry", entries,
				id{Text: "tag:example.org,2024:feed"}, title{Text: "Författningar"}, updated{Text: "2024-01-02T13:00:00Z"})
		},
	}
}

// A rendered is a document as text.
type rendered struct {
	name string
	doc  []byte
}

// regularDocuments returns those of the Encoder, of n entries.
func regularDocuments(n int) (all []rendered) {
	for _, d := range []document{sitemapOf(n), resourceListOf(n), atomOf(n)} {
		all = append(all, rendered{d.name, d.bytes()})
	}
	return all
}

// irregularDocuments returns one of each kind, of about n entries, and feeds in one
// script each.
func irregularDocuments(n int) []rendered {
	all := []rendered{
		{"sitemap", bench.Sitemap(1, n, bench.Mixed)},
		{"extended", bench.Extended(2, n/2, bench.Mixed)},
		{"resourcelist", bench.ResourceList(3, n, bench.Mixed)},
	}
	for _, s := range bench.Scripts {
		all = append(all, rendered{"atom-" + s.Name, bench.Atom(4, n/5, s.Script)})
	}
	return all
}
