package endtoend

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
)

// A letter is a set of documents of one protocol, in which %[1]s is the URL of the server
// and %[2]s a text.
type letter struct {
	name      string
	source    func(base string) harvest.Source
	documents map[string]string // without XML declarations, by their paths
	page      bool              // the other documents are pages in HTML, which are encoded, too
	plain     bool              // not XML, which can't declare an encoding
}

const (
	atomHead  = `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:feed</id><title>%[2]s</title><updated>2026-01-02T00:00:00Z</updated><author><name>A</name></author>`
	atomEntry = `<entry><id>urn:%[2]s</id><title>%[2]s</title><updated>2026-01-02T00:00:00Z</updated><published>2026-01-02T00:00:00Z</published>`
	listHead  = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">`
)

var letters = []letter{
	{"sitemap", func(base string) harvest.Source { return &sitemap.Source{URL: base + "/list", Complete: true} },
		map[string]string{"/list": listHead + "<url><loc>%[1]s/%[2]s</loc><lastmod>2026-01-02</lastmod></url></urlset>"}, false, false},
	{"text sitemap", func(base string) harvest.Source { return &sitemap.Source{URL: base + "/list", Complete: true} },
		map[string]string{"/list": "%[1]s/%[2]s\n"}, false, true},
	{"resourcesync", func(base string) harvest.Source { return &resourcesync.Source{URL: base + "/set"} },
		map[string]string{
			"/set": listHead + `<rs:md capability="capabilitylist"/><url><loc>%[1]s/list</loc><rs:md capability="resourcelist"/></url></urlset>`,
			"/list": listHead + `<rs:md capability="resourcelist" at="2026-01-02T00:00:00Z"/><url><loc>%[1]s/%[2]s</loc>
				<rs:ln rel="alternate" href="%[1]s/x" title="%[2]s"/></url></urlset>`}, false, false},
	{"atom", func(base string) harvest.Source { return &atom.Source{URL: base + "/feed"} },
		map[string]string{"/feed": atomHead + atomEntry + `<content>%[2]s</content></entry></feed>`}, false, false},
	{"rinfo", func(base string) harvest.Source { return &rinfo.Source{URL: base + "/feed"} },
		map[string]string{"/feed": atomHead + atomEntry + `<content type="text/plain" src="/a"/><link rel="alternate" type="application/rdf+xml" href="/b"/></entry></feed>`}, false, false},
	{"Atom-PMH", func(base string) harvest.Source { return &atompmh.Source{URL: base + "/feed"} },
		map[string]string{"/feed": atomHead + atomEntry + `<link type="application/rdf+xml" href="/a"/></entry></feed>`}, false, false},
	{"ELI", func(base string) harvest.Source {
		return &eli.Source{Sitemap: base + "/list", Feed: base + "/feed", Interval: -1}
	},
		map[string]string{
			"/list": listHead + "<url><loc>%[1]s/eli/1</loc><lastmod>2026-01-02</lastmod></url></urlset>",
			"/feed": atomHead + `<entry><id>%[1]s/eli/1</id><title>%[2]s</title><updated>2026-01-02T00:00:00Z</updated><link href="%[1]s/eli/1"/></entry></feed>`}, true, false},
	{"RSS", func(base string) harvest.Source { return &atom.Source{URL: base + "/feed", Parser: anyfeed.Parse} },
		map[string]string{"/feed": `<rss version="2.0"><channel><title>%[2]s</title><item><guid>urn:%[2]s</guid><title>%[2]s</title></item></channel></rss>`}, false, false},
}

const eliPage = `<html prefix="eli: http://data.europa.eu/eli/ontology#"><body about="%[1]s/eli/1" typeof="eli:LegalResource">
	<p rel="eli:is_realized_by"><span about="%[1]s/eli/1/x" typeof="eli:LegalExpression"><b property="eli:title">%[2]s</b></span></p></body></html>`

// texts are texts that the encodings have.
var texts = map[string]string{
	"utf-8":        "Закон-о猫-été",
	"windows-1251": "Закон-о-кошках", "koi8-r": "Закон-о-кошках", "iso-8859-2": "zákon-o-kočkách", "windows-1252": "loi-d’été", "macintosh": "loi-d’été",
	"gbk": "关于猫的法律", "gb18030": "关于猫的法律", "big5": "關於貓的法律", "shift_jis": "猫に関する法律", "euc-jp": "猫に関する法律",
	"iso-2022-jp": "猫に関する法律", "euc-kr": "고양이에-관한-법", "utf-16": "Закон-о-猫",
}

// A posting is how documents are sent: the encoding of their bytes, that of the
// Content-Type and that of the XML declaration.
type posting struct{ in, stated, declared string }

// encoder returns the encoder of a label.
func encoder(t *testing.T, label string) *encoding.Encoder {
	if label == "utf-16" {
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder()
	}
	e, err := htmlindex.Get(label)
	require.NoError(t, err)
	return e.NewEncoder()
}

// received returns the ids, titles and links that a Store holds after a harvest of the
// documents.
func received(t *testing.T, l letter, p posting, text string) []string {
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	send := func(path, template, media string, declares bool) {
		body := fmt.Sprintf(template, server.URL, text)
		if p.declared != "" && declares {
			body = `<?xml version="1.0" encoding="` + p.declared + `"?>` + body
		}
		body, err := encoder(t, p.in).String(body)
		require.NoError(t, err)
		if p.stated != "" {
			media += "; charset=" + p.stated
		}
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			fmt.Fprint(w, body)
		})
	}
	for path, template := range l.documents {
		send(path, template, "application/xml", !l.plain)
	}
	if l.page {
		mux.HandleFunc("/eli/1", func(w http.ResponseWriter, _ *http.Request) {
			body, err := encoder(t, p.in).String(fmt.Sprintf(eliPage, server.URL, text))
			assert.NoError(t, err)
			w.Header().Set("Content-Type", "text/html; charset="+p.in)
			fmt.Fprint(w, body)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "a body") })
	store := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: store, Fetcher: client(t), Attempts: -1}
	report, err := h.Run(t.Context(), l.source(server.URL))
	require.NoError(t, err)
	require.True(t, report.InStep(), "%+v", report)
	var all []string
	for item, err := range store.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		r := item.Resource
		held := r.ID + " " + r.Title
		for _, link := range r.Links {
			held += " " + link.Title
		}
		all = append(all, strings.ReplaceAll(held, server.URL, ""))
	}
	return all
}

// TestEncodings: documents of all protocols are stored alike, whatever encoding they are
// in, and whether the Content-Type states it, the XML declaration, both or either of them
// wrongly.
func TestEncodings(t *testing.T) {
	for _, l := range letters {
		t.Run(l.name, func(t *testing.T) {
			for label, text := range texts {
				if label == "utf-16" && l.plain {
					continue
				}
				want := received(t, l, posting{in: "utf-8"}, text)
				require.Len(t, want, 1)
				require.Contains(t, want[0], text)
				ways := []posting{{label, label, ""}, {label, label, "utf-8"}, {"utf-8", "windows-1252", "utf-8"}, {"utf-8", "us-ascii", ""}}
				if !l.plain {
					ways = append(ways, posting{label, "", label}, posting{label, label, label}, posting{label, "utf-8", label},
						posting{"utf-8", "utf-8", "utf-8"}, posting{"utf-8", "utf-8", "windows-1252"})
				}
				if label != "utf-16" && label != "utf-8" && label != "iso-2022-jp" {
					ways = append(ways, posting{"utf-8", label, "utf-8"}, posting{"utf-8", label, ""})
					if !l.plain {
						ways = append(ways, posting{label, label, "iso-8859-3"})
					}
				}
				for _, p := range ways {
					assert.Equal(t, want, received(t, l, p, text), "%+v", p)
				}
			}
		})
	}
}
