package publish_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

const (
	xhtml      = "http://www.w3.org/1999/xhtml"
	atomTitle  = `<title xmlns="http://www.w3.org/2005/Atom" type="xhtml"><div xmlns="` + xhtml + `">Title `
	titleEnd   = `</div></title>`
	alternate  = `<x:link xmlns:x="` + xhtml + `" rel="alternate" hreflang="en" href="https://harvested.example/`
	imageStart = `<image:image xmlns:image="` + google.ImageNamespace + `"><image:loc>https://harvested.example/image</image:loc>`
)

// activeMarkup is what a stranger may add to an entry so that a browser acts in the name
// of the host that publishes it.
var activeMarkup = map[string]string{
	"script":          `<script xmlns="` + xhtml + `">alert(1)</script>`,
	"prefix":          `<h:script xmlns:h="` + xhtml + `">alert(1)</h:script>`,
	"deep":            `<a xmlns="urn:x"><b><c><script xmlns="` + xhtml + `">alert(1)</script></c></b></a>`,
	"escaped":         `<a xmlns="urn:x"><h:script xmlns:h="http://www.w3.org/1999/&#120;html">alert(1)</h:script></a>`,
	"declared":        `<a xmlns="urn:x" xmlns:h="` + xhtml + `"><h:img src="x" onerror="alert(1)"/></a>`,
	"svg":             `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
	"foreignObject":   `<svg xmlns="http://www.w3.org/2000/svg"><foreignObject><a xmlns="urn:x"/></foreignObject></svg>`,
	"math":            `<math xmlns="http://www.w3.org/1998/Math/MathML" href="javascript:alert(1)"/>`,
	"stylesheet":      `<s:stylesheet xmlns:s="http://www.w3.org/1999/XSL/Transform" version="1.0"/>`,
	"xlink":           `<a xmlns="urn:x" xmlns:l="http://www.w3.org/1999/xlink" l:type="simple" l:href="javascript:alert(1)"/>`,
	"include":         `<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="/secret"/>`,
	"events":          `<a xmlns="urn:x" xmlns:ev="http://www.w3.org/2001/xml-events" ev:event="load" ev:handler="#x"/>`,
	"forms":           `<f:submission xmlns:f="http://www.w3.org/2002/xforms" action="/x" method="post"/>`,
	"binding":         `<b:bindings xmlns:b="http://www.mozilla.org/xbl"/>`,
	"window":          `<w:script xmlns:w="http://www.mozilla.org/keymaster/gatekeeper/there.is.only.xul">alert(1)</w:script>`,
	"vml":             `<v:shape xmlns:v="urn:schemas-microsoft-com:vml" onclick="alert(1)"/>`,
	"instruction":     `<a xmlns="urn:x"><?xml-stylesheet type="text/xsl" href="/r/x"?></a>`,
	"style":           `<x:link xmlns:x="` + xhtml + `" rel="stylesheet" href="https://evil.example/x.css"/>`,
	"alternate style": `<x:link xmlns:x="` + xhtml + `" rel="alternate stylesheet" hreflang="en" href="https://evil.example/x.css"/>`,
	"alternate+":      alternate + `" onload="alert(1)"/>`,
	"alternate/":      alternate + `"><x:script>alert(1)</x:script></x:link>`,
	"image":           imageStart + `<script xmlns="` + xhtml + `">alert(1)</script></image:image>`,
	"title script":    atomTitle + `<script>alert(1)</script>` + titleEnd,
	"title event":     atomTitle + `<b onclick="alert(1)">x</b>` + titleEnd,
	"title link":      atomTitle + `<a href="javascript:alert(1)">x</a>` + titleEnd,
	"title tab":       atomTitle + `<a href="java&#9;script:alert(1)">x</a>` + titleEnd,
	"title space":     atomTitle + `<a href=" JavaScript:alert(1)">x</a>` + titleEnd,
	"title data":      atomTitle + `<a href="data:text/html,x">x</a>` + titleEnd,
	"title style":     atomTitle + `<p style="position:fixed">x</p>` + titleEnd,
	"title form":      atomTitle + `<form action="/x"/>` + titleEnd,
	"title frame":     atomTitle + `<iframe src="/r/x"/>` + titleEnd,
	"title svg":       atomTitle + `<svg xmlns="http://www.w3.org/2000/svg"/>` + titleEnd,
	"title base":      atomTitle + `<base href="https://evil.example/"/>` + titleEnd,
	"title meta":      atomTitle + `<meta http-equiv="refresh" content="0;url=https://evil.example/"/>` + titleEnd,
}

// inertMarkup is what stays.
var inertMarkup = []string{
	`<a xmlns="urn:x"><b onclick="x"><script xmlns="">text</script></b></a>`,
	`<type xmlns="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xml:base="x" xml:lang="en">x</type>`,
	imageStart + `</image:image>`,
	atomTitle + `<b class="x">b</b> <a href="https://harvested.example/">c</a> <a href="d/e:f" title="x">d</a>` + titleEnd,
}

// elementOf returns the element with its name.
func elementOf(t *testing.T, text string) websync.Element {
	d := xml.NewDecoder(strings.NewReader(text))
	token, err := d.Token()
	require.NoError(t, err)
	start := token.(xml.StartElement)
	return websync.Element{Space: start.Name.Space, Local: start.Name.Local, XML: text}
}

// No document of any Publisher holds markup of a stranger on which a browser may act. What
// can't act stays, the Catalog keeps all, and a finding names the resource.
func TestActiveMarkupIsNotPublished(t *testing.T) {
	log := new(websync.Log)
	var ids []string
	add := func(name string, elements ...string) {
		r := websync.Resource{ID: "https://harvested.example/" + strings.ReplaceAll(name, " ", "-"), Title: "Title x"}
		for _, x := range elements {
			r.Elements = append(r.Elements, elementOf(t, x))
		}
		if strings.HasPrefix(name, "attribute") {
			attrs := []websync.Attr{
				{Space: "http://www.w3.org/1999/xlink", Local: "href", Value: "javascript:alert(1)"},
				{Space: "urn:x", Local: "x", Value: "inert"},
			}
			r.Content = websync.Link{Href: r.ID, Type: "text/html", Attrs: attrs}
			r.Links = []websync.Link{{Rel: "via", Href: r.ID, Attrs: attrs}, {Rel: "related", Href: r.ID + "/other", Attrs: attrs}}
		}
		ids = append(ids, r.ID)
		item := websync.Item{Source: "a stranger", Time: time.Unix(int64(len(ids)), 0), Resource: r}
		log.Append(item)
		if name == "attribute of a deletion" {
			item.Kind, item.Time = websync.Deleted, item.Time.Add(time.Hour)
			log.Append(item)
		}
	}
	for name, x := range activeMarkup {
		add(name, append([]string{x}, inertMarkup...)...)
	}
	add("attribute")
	add("attribute of a deletion")
	all := make(map[websync.Seq]websync.Item)
	for item, err := range log.Changes(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		all[item.Seq] = item
	}

	found := make(map[string]map[string]bool) // the kind of a document and the id
	report := func(f websync.Finding) {
		if f.Rule != "publish-active" {
			return
		}
		assert.NotContains(t, f.String(), "\n")
		kind := kindOf(strings.TrimPrefix(f.Document, "https://www.example.org"))
		for _, id := range ids {
			if strings.Contains(f.Message, id+":") {
				if found[kind] == nil {
					found[kind] = make(map[string]bool)
				}
				found[kind][id] = true
			}
		}
	}
	author := websync.Person{Name: "Publisher"}
	site := &publish.Site{Catalog: log, Base: "https://www.example.org/", Report: report}
	joined := publish.Join(site.Publishers(
		&sitemap.Publisher{Extensions: google.Extensions()}, &resourcesync.Publisher{},
		&atom.Publisher{Author: author},
		&atom.Publisher{Author: author, Complete: true, Path: "complete.atom"},
		&atom.Publisher{Author: author, LatestOnly: true, Path: "latest.atom"},
	)...)
	texts := make(map[string]string)
	for path, err := range joined.Documents(t.Context()) {
		require.NoError(t, err)
		doc, err := joined.Document(t.Context(), path)
		require.NoError(t, err)
		if doc.Write == nil || path == "/robots.txt" {
			continue
		}
		var b bytes.Buffer
		require.NoError(t, doc.Write(t.Context(), &b))
		texts[kindOf(path)] += b.String()
		assertInert(t, path, b.Bytes())
	}
	n := len(activeMarkup)
	for kind, want := range map[string]struct{ entries, foreign, images, titles, findings int }{
		"sitemap":      {entries: n + 1, images: n, findings: 5},
		"resourcelist": {entries: n + 1, foreign: n, images: n, titles: n, findings: n + 1},
		"changelist":   {entries: n + 2, foreign: n, images: n, titles: n, findings: n + 2},
		"feed":         {entries: n + 2, foreign: n, images: n, titles: n, findings: n + 2},
		"latest":       {entries: n + 2, foreign: n, images: n, titles: n, findings: n + 2},
		"complete":     {entries: n + 1, foreign: n, images: n, titles: n, findings: n + 1},
	} {
		count := func(text string) int { return strings.Count(texts[kind], text) }
		assert.Equal(t, want.entries, count("<url>")+count("<entry>")+count("<at:deleted-entry "), kind)
		assert.Equal(t, want.foreign, count(inertMarkup[0]), kind)
		assert.Equal(t, want.foreign, count(inertMarkup[1]), kind)
		assert.Equal(t, want.images, count(inertMarkup[2]), kind)
		assert.Equal(t, want.titles, count(`<b class="x">b</b>`), kind)
		assert.Equal(t, want.titles > 0, count(`x="inert"`) > 0, kind)
		assert.Len(t, found[kind], want.findings, kind)
	}
	for item, err := range log.Changes(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		require.Equal(t, all[item.Seq], item, "the Catalog is unchanged")
	}
}

// kindOf returns the list that a document is part of.
func kindOf(path string) string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '-' || r == '.' })[0]
}

// assertInert checks that a document is well-formed, and that a browser that shows it does
// nothing but format text.
func assertInert(t *testing.T, path string, document []byte) {
	d := xml.NewDecoder(bytes.NewReader(document))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		require.NoError(t, err, path)
		switch token := token.(type) {
		case xml.ProcInst:
			assert.Equal(t, "xml", token.Target, path)
		case xml.StartElement:
			assertInertElement(t, path, token)
		}
	}
}

func assertInertElement(t *testing.T, path string, x xml.StartElement) {
	vocabulary := strings.HasSuffix(x.Name.Space, "#") || x.Name.Space == atom.Namespace
	if x.Name.Space == xhtml {
		assert.Contains(t, []string{"link", "div", "b", "a"}, x.Name.Local, path)
	} else if strings.Contains(x.Name.Space, "w3.org") {
		assert.True(t, vocabulary, "%s: %v", path, x.Name)
	}
	assert.NotContains(t, x.Name.Space, "mozilla", path)
	assert.NotContains(t, x.Name.Space, "microsoft", path)
	for _, a := range x.Attr {
		assert.NotContains(t, a.Name.Space, "xlink", path)
		assert.NotContains(t, a.Name.Space, "xml-events", path)
		assert.False(t, x.Name.Space == xhtml && strings.HasPrefix(a.Name.Local, "on"), "%s: %v", path, a)
		assert.NotContains(t, strings.ToLower(a.Value), "script:", path)
		if x.Name == (xml.Name{Space: xhtml, Local: "link"}) && a.Name.Local == "rel" {
			assert.Equal(t, "alternate", a.Value, path)
		}
	}
}
