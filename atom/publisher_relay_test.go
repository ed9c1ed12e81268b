package atom_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const relayOrigin = "https://blog.example.org/"

// relaySite is a site whose feed has one entry, with the id relayOrigin+"1".
func relaySite(entry string) sourcetest.Site {
	feed := `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><id>urn:ex:blog</id><title>Blog</title>
		<updated>2026-01-01T00:00:00Z</updated><author><name>A</name></author>
		<entry><id>` + relayOrigin + `1</id><title>One</title><updated>2026-01-01T00:00:00Z</updated>` + entry + `</entry></feed>`
	site := sourcetest.Site{relayOrigin + "feed.atom": {Body: feed}}
	for _, name := range []string{"1", "1.html", "1.pdf", "1.de"} {
		site[relayOrigin+name] = sourcetest.Document{Body: name}
	}
	return site
}

// relay harvests the feed of a site, and returns a Publisher at another base.
func relay(t *testing.T, site sourcetest.Site, url string, hop int, inline int) (*atom.Publisher, *harvest.Catalog) {
	t.Helper()
	store := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: store, Fetcher: &sourcetest.Fetcher{Site: site}, Sample: -1}
	report, err := h.Run(t.Context(), &atom.Source{URL: url, Name: "blog"})
	require.NoError(t, err)
	require.True(t, report.InStep(), report)
	base := fmt.Sprintf("https://hop%d.example.com/", hop)
	return &atom.Publisher{
		Place:       websync.Place{Catalog: store, Base: base, Report: func(f websync.Finding) { t.Error(f) }},
		Author:      websync.Person{Name: "R"},
		InlineBytes: inline,
	}, store
}

// relayed returns the site of a Publisher, with the bodies of the one entry, and this
// entry.
func relayed(t *testing.T, p *atom.Publisher) (sourcetest.Site, *atom.Entry) {
	t.Helper()
	_, feed := pubRender(t, p, "/feed.atom")
	site := sourcetest.Site{p.URL(): {Body: string(feed)}}
	for item, err := range p.Catalog.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		for _, b := range item.Bodies {
			site[p.BodyURL(&item, b.Name)] = sourcetest.Document{Body: testkit.Read(t, p.Catalog, b),
				Header: map[string][]string{"Content-Type": {b.Link.Type}}}
		}
	}
	_, items := pubRead(t, p.URL(), feed)
	require.Len(t, items, 1)
	return site, items[0].Entry
}

// A link of an entry keeps its target, relation, type, language, title and length when
// the entry is republished, once and again. Only the content leads to the copy.
func TestRelayedLinks(t *testing.T) {
	for name, test := range map[string]struct {
		links   string // as they are published
		more    string // of the entry
		content string // what readers end with
	}{
		"the page is the id":        {`<link rel="alternate" href="/1" type="text/html"/>`, `<content type="html">x</content>`, "x"},
		"a PDF with a page":         {`<link rel="alternate" href="/1.html" type="text/html"/>`, `<content src="/1.pdf" type="application/pdf"/>`, "1.pdf"},
		"a PDF at the id of a page": {`<link rel="alternate" href="/1" type="text/html"/>`, `<content src="/1.pdf" type="application/pdf"/>`, "1.pdf"},
		"no content":                {`<link rel="alternate" href="/1.html" type="text/html" hreflang="en" title="Page" length="6"/>`, ``, "1.html"},
		"content at the page":       {`<link rel="alternate" href="/1.html" type="text/html"/>`, `<content src="/1.html" type="text/html"/>`, "1.html"},
		"empty content": {`<link rel="enclosure" href="/1.pdf" type="application/pdf" length="5"/><link rel="alternate" href="/1.html"/>`,
			`<content/>`, ""},
		"one target, two relations": {`<link rel="alternate" href="/1" type="text/html"/><link rel="canonical" href="/1"/>
			<link rel="related" href="/1" type="application/json"/>`, `<content>x</content>`, "x"},
		"languages": {`<link rel="alternate" href="/1" type="text/html" hreflang="en"/><link rel="alternate" href="/1.de" type="text/html" hreflang="de"/>`,
			`<content>x</content>`, "x"},
		"relations that lead to the id": {`<link rel="alternate" href="/1"/><link rel="self" href="/1" type="application/atom+xml"/>
			<link rel="license" href="/1"/><link rel="enclosure" href="/1" length="1"/><link rel="duplicate" href="/1"/>`, `<content>x</content>`, "x"},
		"a base":     {`<link xml:base="/a/b/" rel="alternate" href="c"/><link xml:base="/a/" rel="related" href="?q"/>`, `<content>x</content>`, "x"},
		"attributes": {`<link xmlns:x="urn:x" x:a="1" rel="alternate" href="/1"/>`, `<content>x</content>`, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			site, url := relaySite(test.links+test.more), relayOrigin+"feed.atom"
			r := atom.NewReader(strings.NewReader(site[url].Body))
			r.Document = url
			item, err := r.Next()
			require.NoError(t, err)
			want := item.Entry.Links
			var before []websync.Link
			for hop := range 4 {
				p, store := relay(t, site, url, hop, 0)
				assert.Equal(t, map[string]string{"https://blog.example.org/1": test.content}, testkit.Live(t, store))
				next, e := relayed(t, p)
				require.GreaterOrEqual(t, len(e.Links), len(want))
				assert.Equal(t, want, e.Links[:len(want)])
				assert.True(t, strings.HasPrefix(e.Content.Href, p.Base), e.Content.Href)
				for i := range e.Links { // the length of the content, which is at this hop
					e.Links[i].Href = strings.Replace(e.Links[i].Href, p.Base, "https://here/", 1)
				}
				if hop > 1 {
					assert.Equal(t, before, e.Links)
				}
				site, url, before = next, p.URL(), e.Links
			}
		})
	}
}

// Bodies other than the content have links of their own, beside those to where they came
// from. Readers of a profile that follow these links get the copies.
func TestPublisherCopies(t *testing.T) {
	page := websync.Link{Rel: "alternate", Href: pubFirst + "/1.html", Type: "text/html", Title: "Page"}
	pdf := websync.Link{Rel: "enclosure", Href: pubFirst + "/1.pdf", Type: "application/pdf", Length: 3}
	for name, test := range map[string]struct {
		id, content string
		kept        []websync.Link
		followed    []string
		want        []string // relations and targets; "here" is a copy
	}{
		"content and page": {pubFirst + "/1", "application/pdf", []websync.Link{page}, nil,
			[]string{"content here", "alternate " + page.Href, "enclosure " + pdf.Href, "related here", "via " + pubFirst + "/1", "related here"}},
		"no content": {pubFirst + "/1", "", []websync.Link{page}, nil,
			[]string{"content here", "alternate " + page.Href, "enclosure " + pdf.Href, "related here", "via " + pubFirst + "/1"}},
		"an enclosure only": {"urn:ex:1", "", []websync.Link{pdf}, nil,
			[]string{"content here", "alternate " + page.Href, "enclosure " + pdf.Href, "enclosure here", "via urn:ex:1"}},
		"followed": {pubFirst + "/1", "", []websync.Link{page, pdf}, []string{"alternate"},
			[]string{"content ", "alternate here", "enclosure " + pdf.Href, "enclosure here", "via " + pubFirst + "/1"}},
		"followed both": {pubFirst + "/1", "", []websync.Link{page, pdf}, []string{"alternate", "enclosure"},
			[]string{"content ", "alternate here", "enclosure here", "via " + pubFirst + "/1"}},
	} {
		t.Run(name, func(t *testing.T) {
			item := websync.Item{Resource: websync.Resource{ID: test.id, Links: []websync.Link{page, pdf}}}
			if test.content != "" {
				item.Bodies = []websync.Body{pubKept("content", websync.Link{Type: test.content})}
			}
			for _, l := range test.kept {
				item.Bodies = append(item.Bodies, pubKept(item.Resource.BodyName(&l), l))
			}
			s := newPubStore(t)
			s.commit("a", item)
			p := newPublisher(s, 0)
			if test.followed != nil {
				p.Profile = &atom.Profile{Name: "x", Followed: test.followed}
			}
			_, body := pubRender(t, p, "/feed.atom")
			_, items := pubRead(t, p.URL(), body)
			var got []string
			for _, l := range slices.Concat([]websync.Link{{Rel: "content", Href: items[0].Entry.Content.Href}}, items[0].Entry.Links) {
				if strings.HasPrefix(l.Href, pubSite) {
					l.Href = "here"
				}
				got = append(got, l.Rel+" "+l.Href)
			}
			assert.Equal(t, test.want, got)
		})
	}
}

// Content that came inline is published inline: with the same bytes, references and
// language at each hop as content at a URL has.
func TestPublisherInline(t *testing.T) {
	for name, test := range map[string]struct {
		content string // of the entry
		inline  string // type of the content at each hop; "" if it is at a URL
		value   string
		lang    string
	}{
		"text":         {`<content xml:lang="de" xmlns:x="urn:x" x:a="1"> 1 &lt; 2&#13; </content>`, atom.PlainText, " 1 < 2\r ", "de"},
		"no text":      {`<content/>`, "", "", ""},
		"HTML":         {`<content type="html" xml:lang="sv" xml:base="a/">&lt;a href="b?c">x&lt;/a> &lt;a href="#d">y&lt;/a></content>`, atom.HTML, `<a href="` + relayOrigin + `a/b?c">x</a> <a href="#d">y</a>`, "sv"},
		"HTML, script": {`<content type="html">&lt;script>x()&lt;/script></content>`, atom.HTML, `<script>x()</script>`, ""},
		"XHTML": {`<content type="xhtml" xml:base="/a/"><div xmlns="http://www.w3.org/1999/xhtml" xml:lang="fr"><a href="b">x</a><img src="c.png" alt="c"/></div></content>`,
			atom.XHTML, `<div xmlns="http://www.w3.org/1999/xhtml" xml:base="` + relayOrigin + `a/" xml:lang="fr"><a href="b">x</a><img src="c.png" alt="c"/></div>`, ""},
		"XHTML, relative to the feed": {`<content type="xhtml"><h:div xmlns:h="http://www.w3.org/1999/xhtml"><h:a href="b">x</h:a></h:div></content>`,
			atom.XHTML, `<h:div xmlns:h="http://www.w3.org/1999/xhtml" xml:base="` + relayOrigin + `"><h:a href="b">x</h:a></h:div>`, ""},
		"XHTML, script": {`<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><script>x()</script></div></content>`, "", "", ""},
		"XHTML, a link that is a script": {`<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><a href="javascript:x()">x</a></div></content>`,
			"", "", ""},
		"SVG":                  {`<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><svg xmlns="http://www.w3.org/2000/svg"/></div></content>`, "", "", ""},
		"XML":                  {`<content type="application/xml"><x xmlns="urn:x"/></content>`, "", "", ""},
		"Base64":               {`<content type="application/pdf">eA==</content>`, "", "", ""},
		"as long as it may be": {`<content>` + strings.Repeat("x", 1000) + `</content>`, atom.PlainText, strings.Repeat("x", 1000), ""},
		"too long":             {`<content>` + strings.Repeat("x", 1001) + `</content>`, "", "", ""},
		"content at a URL":     {`<summary>1</summary><content src="/1.html" type="text/html"/>`, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			site, url := relaySite(`<link rel="alternate" href="/1"/>`+test.content), relayOrigin+"feed.atom"
			reference, _ := relay(t, site, url, 9, 0)
			elsewhere, atURL := relayed(t, reference)
			_, want := relay(t, elsewhere, reference.URL(), 9, 0)
			var before atom.Content
			for hop := range 3 {
				p, store := relay(t, site, url, hop, 1000)
				assert.Equal(t, testkit.Live(t, want), testkit.Live(t, store))
				next, e := relayed(t, p)
				if test.inline == "" {
					assert.True(t, strings.HasPrefix(e.Content.Href, p.Base), e.Content)
					return
				}
				assert.Empty(t, e.Content.Href)
				assert.Equal(t, test.inline, e.Content.Type)
				assert.Equal(t, test.value, e.Content.Value)
				assert.Equal(t, test.lang, e.Content.Lang)
				assert.Equal(t, "en", e.Lang, "of the feed that it came from")
				require.Len(t, e.Links, 2, "alternate and via: none states the length of the content")
				assert.Equal(t, relayOrigin+"1", e.Links[0].Href)
				assert.Equal(t, name == "text", slices.Contains(e.Content.Attrs, websync.Attr{Space: "urn:x", Local: "a", Value: "1"}))
				data, err := e.Content.Bytes()
				require.NoError(t, err)
				assert.Equal(t, elsewhere[atURL.Content.Href].Body, string(data))
				if hop > 0 {
					assert.Equal(t, before, e.Content)
				}
				site, url, before = next, p.URL(), e.Content
			}
		})
	}
}

// An archive document has content inline as long as the Catalog has the bytes. So it is
// not final. Another error of the Catalog ends it.
func TestPublisherInlineGone(t *testing.T) {
	s := newPubStore(t)
	item := websync.Item{Resource: websync.Resource{ID: pubFirst + "/1", Content: websync.Link{Type: "text/plain"}}}
	item.Bodies = []websync.Body{pubKept("content", item.Resource.Content)}
	s.commit("a", item)
	s.Put("a", websync.Resource{ID: pubFirst + "/2"}, websync.Resource{ID: pubFirst + "/3"})
	var fault error
	p := newPublisher(&testkit.Catalog{Catalog: s, Before: func(method string, _ int) error {
		if method == "Open" {
			return fault
		}
		return nil
	}}, 1)
	p.InlineBytes = 100
	path := pubPaths(t, p)[0]
	content := func() atom.Content {
		doc, body := pubRender(t, p, path)
		assert.False(t, doc.Final)
		assert.Empty(t, doc.ETag)
		_, items := pubRead(t, pubSite+path, body)
		return items[0].Entry.Content
	}
	assert.Equal(t, "content", content().Value)
	fault = websync.ErrNotFound
	assert.Equal(t, pubSite+"/r/https=3A/=2Ffirst.example.org/1~content", content().Href)
	fault = io.ErrUnexpectedEOF
	doc, err := p.Document(t.Context(), path)
	require.NoError(t, err)
	assert.ErrorIs(t, doc.Write(t.Context(), io.Discard), fault)
}

// HTML whose references have no known base is not published inline: readers would resolve
// them against the feed.
func TestPublisherInlineWithoutBase(t *testing.T) {
	for text, inline := range map[string]bool{`<a href="x">`: false, `<a href="urn:x">`: true} {
		s := newPubStore(t)
		r := websync.Resource{ID: pubFirst + "/1", Content: websync.Link{Type: "text/html"}}
		s.Fill("a", []string{text}, websync.Item{Resource: r, Bodies: []websync.Body{{Name: "content", Link: r.Content, Key: websync.SHA256([]byte(text))}}})
		p := newPublisher(s, 0)
		p.InlineBytes = 100
		_, body := pubRender(t, p, "/feed.atom")
		item, err := atom.NewReader(bytes.NewReader(body)).Next()
		require.NoError(t, err)
		assert.Equal(t, inline, item.Entry.Content.Href == "")
	}
}
