package atom_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

// Values of which some are allowed in an entry and some are not.
var (
	drawIRI = rapid.SampledFrom([]string{"", "https://www.example.com/a?b=1&c", "urn:example:1", "https://ö.example/ü#x", "http://[::1]:80/",
		"HTTPS://www.example.com", "relative", "https:/host", "https://a b/", "tag:x,2024:y", "mailto:a@b"})
	drawString = rapid.SampledFrom([]string{"", " ", "plain", "<b>&amp;</b>", "a \"b\" 'c'\t\r\n]]>", "üñ \U0001F600", "\x00", "\xff", "\uFFFE", "AAAA", "AA=="})
	drawLang   = rapid.SampledFrom([]string{"", "", "en", "sv-SE", "de_DE", "x-a", "i-klingon"})
	drawType   = rapid.SampledFrom([]string{"", "text/html", "application/pdf", "application/atom+xml;type=feed", "image/svg+xml", "TEXT/plain", "multipart/mixed", "pdf", "text"})
	drawRel    = rapid.SampledFrom([]string{"", "alternate", "via", "enclosure", "http://purl.org/dc/terms/isPartOf", "a b", "http://www.iana.org/assignments/relation/alternate"})
	drawMarkup = rapid.SampledFrom([]string{unwrittenDiv + "a<p>b</p></div>", unwrittenDivs, "<a/>", `<a xmlns="urn:x"/>`, `<x:a xmlns:x="urn:x"><b xmlns="">c</b></x:a>`, "AAAA", "text", ""})
	drawDate   = rapid.Custom(func(t *rapid.T) websync.Datetime {
		return written(t, rapid.SampledFrom([]string{"2024-05-01T12:00:00Z", "2024-05-01T12:00:00.25+02:00", "2024", "2024-05-01", "2024-05-01T12:00Z", "2016-12-31T23:59:60Z"}).Draw(t, "date"))
	})
	drawDigest = rapid.SampledFrom([]websync.Digest{websync.SHA256(nil), {Algorithm: "md5", Sum: strings.Repeat("a", 16)}, {Algorithm: "blake3", Sum: "abc"}, {Algorithm: "md5", Sum: "x"}, {}})
	drawAttr   = rapid.SampledFrom([]websync.Attr{{Space: "urn:x", Local: "a", Value: "1 < 2"}, {Space: "urn:y", Local: "ä", Value: ""}, {Local: "a"}, {Space: "urn:x", Local: "a b"}})
	drawPerson = rapid.Custom(func(t *rapid.T) websync.Person {
		return websync.Person{Name: drawString.Draw(t, "name"), URI: drawIRI.Draw(t, "uri"),
			Email: rapid.SampledFrom([]string{"", "a@b.example", "a@", "x <a@b>"}).Draw(t, "email")}
	})
	drawElement = rapid.SampledFrom([]websync.Element{{Space: "urn:x", Local: "a", XML: `<a xmlns="urn:x">1</a>`},
		{Local: "b", XML: `<b xmlns=""/>`}, {Local: "b", XML: "<b/>"}, {Space: atom.Namespace, Local: "updated", XML: "<updated xmlns='" + atom.Namespace + "'/>"}})
)

func drawText(t *rapid.T, label string) atom.Text {
	x := atom.Text{Type: rapid.SampledFrom([]string{"", "", atom.PlainText, atom.HTML, atom.XHTML}).Draw(t, label)}
	if x.Value = drawString.Draw(t, label); x.Type == atom.XHTML {
		x.Value = drawMarkup.Draw(t, label)
	}
	if x.Type != "" {
		x.Lang = drawLang.Draw(t, label)
	}
	if x.Type == atom.HTML || x.Type == atom.XHTML {
		x.Base = drawIRI.Draw(t, label)
	}
	return x
}

func drawLink(t *rapid.T) websync.Link {
	return websync.Link{
		Rel: drawRel.Draw(t, "rel"), Href: drawIRI.Draw(t, "href"), Type: drawType.Draw(t, "type"), Lang: drawLang.Draw(t, "hreflang"),
		Title: drawString.Draw(t, "title"), Length: rapid.Int64Range(-2, 3).Draw(t, "length"),
		Digests:  rapid.SliceOfN(drawDigest, 0, 2).Draw(t, "digests"),
		Attrs:    rapid.SliceOfN(drawAttr, 0, 2).Draw(t, "attrs"),
		Encoding: rapid.SampledFrom([]string{"", "", "", "gzip"}).Draw(t, "encoding"),
	}
}

func drawEntry(t *rapid.T) atom.Entry {
	e := atom.Entry{
		ID: drawIRI.Draw(t, "id"), Title: drawText(t, "title"), Summary: drawText(t, "summary"), Rights: drawText(t, "rights"),
		Updated: drawDate.Draw(t, "updated"), Authors: rapid.SliceOfN(drawPerson, 0, 2).Draw(t, "authors"),
		Contributors: rapid.SliceOfN(drawPerson, 0, 1).Draw(t, "contributors"),
		Links:        rapid.SliceOfN(rapid.Custom(drawLink), 0, 3).Draw(t, "links"),
		Elements:     rapid.SliceOfN(drawElement, 0, 2).Draw(t, "elements"),
		Lang:         drawLang.Draw(t, "lang"), Base: drawIRI.Draw(t, "base"),
	}
	if rapid.Bool().Draw(t, "is published") {
		e.Published = drawDate.Draw(t, "published")
	}
	for range rapid.IntRange(0, 2).Draw(t, "categories") {
		e.Categories = append(e.Categories, atom.Category{Term: drawString.Draw(t, "term"), Scheme: drawIRI.Draw(t, "scheme"),
			Label: drawString.Draw(t, "label"), Lang: drawLang.Draw(t, "lang")})
	}
	switch rapid.IntRange(0, 2).Draw(t, "content") {
	case 1:
		e.Content.Link = drawLink(t)
		// links have a length
		e.Content.Rel, e.Content.Title, e.Content.Length = "", "", 0
	case 2:
		e.Content.Type = rapid.SampledFrom([]string{"", "text", "html", "xhtml", "application/xml", "text/csv", "image/png", "message/http"}).Draw(t, "type")
		e.Content.Value = rapid.OneOf(drawString, drawMarkup).Draw(t, "value")
		e.Content.Lang = drawLang.Draw(t, "lang")
	}
	if rapid.Bool().Draw(t, "copied") {
		e.Source = &atom.Feed{ID: drawIRI.Draw(t, "source"), Updated: drawDate.Draw(t, "source"), Authors: rapid.SliceOfN(drawPerson, 0, 1).Draw(t, "source")}
		if title := drawString.Draw(t, "source"); title != "" {
			e.Source.Title = plainText(title)
		}
		if self := drawIRI.Draw(t, "self"); self != "" {
			e.Source.Links = []websync.Link{{Rel: "self", Href: self}}
		}
	}
	return e
}

// drawWritable draws an entry that a Writer accepts: it removes, one by one, the parts
// that the Writer refuses.
func drawWritable(t *rapid.T) atom.Entry {
	e, fallback := drawEntry(t), leastEntry(t)
	for range 100 {
		w, feed := atom.NewWriter(io.Discard), leastFeed(t)
		require.NoError(t, w.WriteFeed(&feed))
		err := w.WriteEntry(&e)
		if err == nil {
			return e
		}
		refused := (*websync.EntryError)(nil)
		require.ErrorAs(t, err, &refused)
		switch refused.Element {
		case "id":
			if e.ID = fallback.ID; e.Source != nil {
				e.Source.ID = ""
			}
		case "title":
			if e.Title = fallback.Title; e.Source != nil {
				e.Source.Title = atom.Text{}
			}
		case "summary":
			e.Summary = plainText("A summary")
		case "rights":
			e.Rights = atom.Text{}
		case "author":
			if e.Authors = nil; e.Source != nil {
				e.Source.Authors = nil
			}
		case "contributor":
			e.Contributors = nil
		case "uri":
			if e.Authors, e.Contributors = nil, nil; e.Source != nil {
				e.Source.Authors = nil
			}
		case "category":
			e.Categories = nil
		case "content":
			e.Content = atom.Content{}
		case "entry":
			e.Lang, e.Base = "", ""
		case "link":
			if e.Links = fallback.Links; e.Source != nil {
				e.Source.Links = nil
			}
		default:
			e.Elements = nil
		}
	}
	t.Fatalf("%+v", e)
	return e
}

// TestWriterRandom: as FuzzWriter, for whole entries.
func TestWriterRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		feed, raw, e := leastFeed(t), drawEntry(t), drawWritable(t)
		feed.Base, feed.Lang = rapid.SampledFrom([]string{"", "https://www.example.com/"}).Draw(t, "base"), rapid.SampledFrom([]string{"", "en"}).Draw(t, "lang")
		w := atom.NewWriter(io.Discard)
		require.NoError(t, w.WriteFeed(&feed))
		items := []any{e}
		if w.WriteEntry(&raw) == nil {
			items = append(items, raw)
		}
		doc := feedDocument(t, atom.Writer{}, feed, items...)
		requireNoErrors(t, doc)
		read, back := readBack(t, doc)
		require.Len(t, back, len(items))
		again := feedDocument(t, atom.Writer{}, read, back...)
		require.Equal(t, alike(doc), alike(again))
		read, back = readBack(t, again)
		require.Equal(t, string(again), string(feedDocument(t, atom.Writer{}, read, back...)))
	})
}

// alike returns a document without white space, and with the short names of relations,
// since a Reader may change both.
func alike(doc []byte) string {
	s := strings.Join(strings.Fields(strings.ReplaceAll(string(doc), "&#9;", "")), "")
	return strings.ReplaceAll(strings.ReplaceAll(s, "&#13;", ""), "http://www.iana.org/assignments/relation/", "")
}

// normal returns the entry that comes back from its resource.
func normal(e atom.Entry) atom.Entry {
	n := e
	if len(n.Authors) == 0 && n.Source != nil {
		n.Authors = n.Source.Authors
	}
	for _, text := range []*atom.Text{&n.Title, &n.Summary, &n.Rights} {
		if text.Type == "" && !text.IsZero() {
			text.Type = atom.PlainText
		}
		if text.Type == atom.HTML || text.Type == atom.XHTML {
			text.Base = cmpOr(text.Base, e.Base)
		}
	}
	n.Base = ""
	n.Links = slices.Clone(n.Links)
	for i := range n.Links {
		n.Links[i].Rel = cmpOr(n.Links[i].Rel, "alternate")
		n.Links[i].Encoding = ""
	}
	if n.Content.Encoding = ""; n.Content.IsZero() {
		n.Content = atom.Content{}
	}
	return n
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// sameEntry compares two entries. A nil slice equals an empty one.
func sameEntry(t require.TestingT, want, got atom.Entry) {
	for _, e := range []*atom.Entry{&want, &got} {
		if e.Source != nil {
			s := *e.Source
			e.Source = &s
			s.Authors = append([]websync.Person(nil), s.Authors...)
			e.Source.Authors = append([]websync.Person(nil), s.Authors...)
		}
		e.Authors = append([]websync.Person(nil), e.Authors...)
		e.Contributors = append([]websync.Person(nil), e.Contributors...)
		e.Elements = append([]websync.Element(nil), e.Elements...)
		e.Links = append([]websync.Link(nil), e.Links...)
		for i := range e.Links {
			e.Links[i].Digests = append(websync.Digests(nil), e.Links[i].Digests...)
			e.Links[i].Attrs = append([]websync.Attr(nil), e.Links[i].Attrs...)
		}
		e.Content.Digests = append(websync.Digests(nil), e.Content.Digests...)
		e.Content.Attrs = append([]websync.Attr(nil), e.Content.Attrs...)
	}
	require.Equal(t, want, got)
}

// TestResourceRoundTrip: an entry that a Writer accepts is the same after it was
// converted to a resource and back, except inline content.
func TestResourceRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawWritable(t)
		r := e.Resource(nil)
		back := atom.EntryOf(&r, websync.Datetime{}, websync.Person{})
		want := normal(e)
		if e.Content.Href == "" && !e.Content.IsZero() {
			want.Content = back.Content
			if len(back.Links) > len(want.Links) {
				require.Equal(t, websync.Link{Rel: "alternate", Href: e.ID}, back.Links[len(back.Links)-1])
				back.Links = back.Links[:len(back.Links)-1]
			}
		}
		// the content takes what a link to it states
		for _, l := range want.Links {
			if l.Href == want.Content.Href && l.Href != "" {
				want.Content.Length, want.Content.Digests = back.Content.Length, back.Content.Digests
			}
		}
		sameEntry(t, want, back)
		again := back.Resource(nil)
		require.Equal(t, r.Elements, again.Elements)
	})
}

// TestEntryOfAnything: the Writer accepts the entry of every resource whose ID is an IRI.
func TestEntryOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEntry(t)
		r := e.Resource(nil)
		r.ID = rapid.SampledFrom([]string{"https://www.example.com/a", "urn:example:1"}).Draw(t, "id")
		r.Title, r.Lang = drawString.Draw(t, "title"), drawLang.Draw(t, "lang")
		if rapid.Bool().Draw(t, "any content") {
			r.Content = drawLink(t)
		}
		r.Elements = slices.DeleteFunc(r.Elements, func(x websync.Element) bool { return x.XML == "<b/>" })
		r.Elements = append(r.Elements, websync.Element{Space: atom.Namespace, Local: "title", XML: drawMarkup.Draw(t, "title element")},
			websync.Element{Space: atom.Namespace, Local: "summary", XML: "<summary xmlns='" + atom.Namespace + "' type='x'/>"},
			websync.Element{Space: atom.Namespace, Local: "category", XML: "<category xmlns='" + atom.Namespace + "'/>"},
			websync.Element{Space: atom.Namespace, Local: "contributor", XML: "<contributor xmlns='" + atom.Namespace + "'><name/></contributor>"},
			websync.Element{Space: atom.Namespace, Local: "contributor", XML: "<contributor xmlns='" + atom.Namespace + "'><name>A</name>"},
			websync.Element{Space: atom.Namespace, Local: "contributor", XML: "<contributor xmlns='" + atom.Namespace + "'><name>A"})
		back := atom.EntryOf(&r, written(t, "2024-05-01T00:00:00Z"), websync.Person{Name: "A"})
		feed := leastFeed(t)
		doc := feedDocument(t, atom.Writer{}, feed, back)
		requireNoErrors(t, doc)
	})
}

func TestEntryOf(t *testing.T) {
	at := written(t, "2024-05-01T00:00:00Z")
	publisher := websync.Person{Name: "Publisher"}
	loc := "https://www.example.com/page"
	authors := []websync.Person{publisher}
	summary := atom.Text{Type: atom.PlainText}
	page := []websync.Link{{Rel: "alternate", Href: loc}}
	src := atom.Content{Link: websync.Link{Href: loc}}
	for name, c := range map[string]struct {
		resource websync.Resource
		want     atom.Entry
	}{
		"a page of a sitemap": {
			websync.Resource{ID: loc, Modified: written(t, "2020"), Content: websync.Link{Href: loc, Title: "T"}, Elements: []websync.Element{{Space: "urn:x", Local: "a"}}},
			atom.Entry{ID: loc, Title: plainText(loc), Summary: summary, Content: src, Elements: []websync.Element{{Space: "urn:x", Local: "a"}}},
		},
		"elements of feeds": {
			websync.Resource{ID: loc, Elements: []websync.Element{{Space: atom.HistoryNamespace, Local: "archive"}, {Space: "urn:x", Local: "a"}, {Space: atom.TombstoneNamespace, Local: "by"}}},
			atom.Entry{ID: loc, Title: plainText(loc), Links: page, Elements: []websync.Element{{Space: "urn:x", Local: "a"}}},
		},
		"a description":            {websync.Resource{ID: loc, Title: "T"}, atom.Entry{ID: loc, Title: plainText("T"), Links: page}},
		"of what is no page":       {websync.Resource{ID: "urn:x:1"}, atom.Entry{ID: "urn:x:1", Title: plainText("urn:x:1"), Content: atom.Content{Link: websync.Link{Type: atom.PlainText}}}},
		"inline content":           {websync.Resource{ID: loc, Content: websync.Link{Type: "text/plain"}}, atom.Entry{ID: loc, Title: plainText(loc), Links: page}},
		"content that is a link":   {websync.Resource{ID: loc, Content: page[0], Links: page}, atom.Entry{ID: loc, Title: plainText(loc), Links: page}},
		"content among no links":   {websync.Resource{ID: "urn:x:1", Content: page[0]}, atom.Entry{ID: "urn:x:1", Title: plainText("urn:x:1"), Links: page}},
		"content beside links":     {websync.Resource{ID: loc, Content: websync.Link{Rel: "alternate", Href: loc + "2"}, Links: page}, atom.Entry{ID: loc, Title: plainText(loc), Links: []websync.Link{page[0], {Rel: "related", Href: loc + "2"}}}},
		"a type that is composite": {websync.Resource{ID: loc, Summary: "S", Content: websync.Link{Href: loc, Type: "message/http"}}, atom.Entry{ID: loc, Title: plainText(loc), Summary: plainText("S"), Content: src}},
		"two alternates": {
			websync.Resource{ID: loc, Links: []websync.Link{{Href: loc, Type: "text/html"}, {Href: loc, Type: "Text/HTML"}, {Href: loc, Lang: "de"}}},
			atom.Entry{ID: loc, Title: plainText(loc), Links: []websync.Link{{Rel: "alternate", Href: loc, Type: "text/html"}, {Rel: "related", Href: loc, Type: "Text/HTML"}, {Rel: "alternate", Href: loc, Lang: "de"}}},
		},
		"bytes in a coding": {
			websync.Resource{ID: loc, Summary: "S", Content: websync.Link{Href: loc, Length: 3, Encoding: "gzip", Digests: websync.Digests{websync.SHA256(nil)}}},
			atom.Entry{ID: loc, Title: plainText(loc), Summary: plainText("S"), Content: src},
		},
		"bad values": {
			websync.Resource{ID: loc, Title: "a\x00b\xff", Lang: "de_DE", Authors: []websync.Person{{Email: "x"}, {Name: "y", URI: "y", Email: "\"\x01\"@y"}, {Name: " "}, {Name: " ", Email: " "}, {URI: "\t"}}, Links: []websync.Link{
				{Rel: "via", Href: "a"}, {Rel: "a b", Href: loc}, {Href: loc, Type: "html", Lang: "-", Title: "\x01", Length: -7,
					Digests: websync.Digests{{Algorithm: "md5", Sum: "x"}, websync.SHA256(nil), websync.SHA256([]byte("a"))},
					Attrs:   []websync.Attr{{Local: "x"}, {Space: "urn:x", Local: "a"}, {Space: "urn:x", Local: "a"}}},
			}},
			atom.Entry{ID: loc, Title: plainText("ab\uFFFD"), Authors: []websync.Person{{Name: "x"}, {Name: "y"}}, Links: []websync.Link{
				{Rel: "alternate", Href: loc, Digests: websync.Digests{websync.SHA256(nil)}, Attrs: []websync.Attr{{Space: "urn:x", Local: "a"}}},
			}},
		},
		"an origin": {
			websync.Resource{ID: loc, Origin: &websync.Origin{ID: "urn:o", Title: "O", Updated: at, Authors: authors, Self: loc}},
			atom.Entry{ID: loc, Title: plainText(loc), Links: page, Source: &atom.Feed{ID: "urn:o", Title: plainText("O"), Updated: at, Authors: authors, Links: []websync.Link{{Rel: "self", Href: loc}}}},
		},
		"an origin with bad values": {
			websync.Resource{ID: loc, Origin: &websync.Origin{ID: "o", Self: "o", Authors: []websync.Person{{}}}},
			atom.Entry{ID: loc, Title: plainText(loc), Links: page, Source: &atom.Feed{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.Updated = at
			if c.want.Authors == nil {
				c.want.Authors = authors
			}
			sameEntry(t, c.want, atom.EntryOf(&c.resource, at, publisher))
		})
	}
	own := atom.EntryOf(&websync.Resource{ID: loc, Modified: at}, websync.Datetime{}, websync.Person{})
	assert.Equal(t, at, own.Updated)
	assert.Empty(t, own.Authors)
}

func TestResource(t *testing.T) {
	feed, e := fullFeed(t), fullEntry(t)
	e.Authors, e.Lang = nil, ""
	assert.Equal(t, e.Source.Authors, (&e).Resource(&feed).Authors)
	e.Source.Authors = nil
	r := e.Resource(&feed)
	assert.Equal(t, feed.Authors, r.Authors)
	assert.Equal(t, "en", r.Lang)
	assert.Equal(t, "All offentlig makt …", r.Summary)
	assert.Equal(t, e.Links, r.Links)
	assert.Equal(t, e.Content.Link, r.Content)
	assert.Equal(t, &websync.Origin{ID: "urn:example:source", Title: "Source", Updated: e.Source.Updated, Self: "https://source.example/"}, r.Origin)
	var kept []string
	for _, x := range r.Elements {
		kept = append(kept, x.XML)
	}
	assert.Equal(t, []string{
		e.Elements[0].XML, e.Elements[1].XML,
		`<summary xmlns="http://www.w3.org/2005/Atom" type="html" xml:base="https://www.example.com/lag/">&lt;p&gt;All offentlig makt …&lt;/p&gt;</summary>`,
		`<rights xmlns="http://www.w3.org/2005/Atom">-</rights>`,
		`<contributor xmlns="http://www.w3.org/2005/Atom"><name>Riksdagen</name><uri>https://riksdagen.example/</uri></contributor>`,
		`<category xmlns="http://www.w3.org/2005/Atom" term="lag"/>`,
		`<category xmlns="http://www.w3.org/2005/Atom" term="grundlag" xml:lang="sv"/>`,
	}, kept)
	e.Lang, e.Base = "de_DE", "x"
	e.Summary.Lang = "de_DE"
	assert.Contains(t, e.Resource(nil).Elements[2].XML, `type="html">`, "what is wrong around a text does not cost it")
	assert.Len(t, fullEntry(t).Elements, 2)
}

func TestResourceText(t *testing.T) {
	for markup, want := range map[string]string{
		"plain  text":                                "plain text",
		"<p>One</p><p>two</p>":                       "One two",
		"<b>O</b>ne <i class='>'>t</i>wo":            "One two",
		"1 &lt; 2 &amp;amp; 3&nbsp;&eacute;":         "1 < 2 &amp; 3 é",
		"1 < 2 <3 <":                                 "1 < 2 <3 <",
		"a<br/>b<hr>c":                               "a b c",
		"a<!-- <b> -->b<!DOCTYPE x>c<?pi?>d":         "abcd",
		"a<script>if (a < b) {}</SCRIPT >b<style>p{": "a b",
		"a<!-- b":             "a",
		"a<b c=\"d":           "a<b c=\"d",
		"a</b":                "a</b",
		"a</p>b":              "a b",
		"<script/>a":          "a",
		"":                    "",
		"&#x27;&quot;&bogus;": "'\"&bogus;",
	} {
		e := atom.Entry{Title: atom.Text{Type: atom.HTML, Value: markup}}
		assert.Equal(t, want, e.Resource(nil).Title, markup)
	}
	e := atom.Entry{Title: atom.Text{Type: atom.XHTML, Value: unwrittenDiv + "<p>One &amp; <em>t</em>wo</p></div>"}, Summary: plainText(" <as it is>\n")}
	r := e.Resource(nil)
	assert.Equal(t, "One & two", r.Title)
	assert.Equal(t, " <as it is>\n", r.Summary)
}

func TestContentBytes(t *testing.T) {
	for name, c := range map[string]struct {
		content   atom.Content
		want      string
		mediaType string
	}{
		"none":         {atom.Content{}, "", ""},
		"text":         {atom.Content{Value: "a < b"}, "a < b", "text/plain"},
		"stated text":  {atom.Content{Link: websync.Link{Type: atom.PlainText}, Value: "a"}, "a", "text/plain"},
		"HTML":         {atom.Content{Link: websync.Link{Type: atom.HTML}, Value: "<p>a"}, "<p>a", "text/html"},
		"XHTML":        {atom.Content{Link: websync.Link{Type: atom.XHTML}, Value: unwrittenDiv + "</div>"}, unwrittenDiv + "</div>", "application/xhtml+xml"},
		"XML":          {atom.Content{Link: websync.Link{Type: "application/rdf+xml"}, Value: "<a/>"}, "<a/>", "application/rdf+xml"},
		"another text": {atom.Content{Link: websync.Link{Type: "text/csv"}, Value: "a;b"}, "a;b", "text/csv"},
		"Base64":       {atom.Content{Link: websync.Link{Type: "image/png"}, Value: "\n iVBO\r\n\tRw== "}, "\x89PNG", "image/png"},
		"src":          {atom.Content{Link: websync.Link{Type: "image/png", Href: "https://www.example.com/"}}, "", "image/png"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.content.Bytes()
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
			e := atom.Entry{Content: c.content}
			assert.Equal(t, c.mediaType, e.Resource(nil).Content.Type)
		})
	}
	bad := atom.Content{Link: websync.Link{Type: "image/png"}, Value: "iVBO!"}
	_, err := bad.Bytes()
	require.Error(t, err)
}

func ExampleEntryOf() {
	// What a sitemap states about a page.
	at, _ := websync.ParseDatetime("2024-05-01T12:00:00Z")
	r := websync.Resource{ID: "https://www.example.com/page", Content: websync.Link{Href: "https://www.example.com/page", Type: "text/html"}}
	e := atom.EntryOf(&r, at, websync.Person{Name: "The publisher"})
	if err := atom.NewWriter(os.Stdout).WriteEntryDocument(&e); err != nil {
		fmt.Println(err)
	}
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <entry xmlns="http://www.w3.org/2005/Atom">
	//   <id>https://www.example.com/page</id>
	//   <title>https://www.example.com/page</title>
	//   <updated>2024-05-01T12:00:00Z</updated>
	//   <author><name>The publisher</name></author>
	//   <summary></summary>
	//   <content type="text/html" src="https://www.example.com/page"/>
	// </entry>
}

// TestLengthOfContent: a link to the content has the length that atom:content can't have.
func TestLengthOfContent(t *testing.T) {
	content := websync.Link{Href: "https://www.example.com/a", Type: "text/html", Length: 5, Digests: websync.Digests{websync.SHA256([]byte("bytes"))}}
	r := websync.Resource{ID: "https://www.example.com/a", Content: content}
	e := atom.EntryOf(&r, websync.NewDatetime(time.Unix(1e9, 0)), websync.Person{Name: "A"})
	var b bytes.Buffer
	require.NoError(t, atom.NewWriter(&b).WriteEntryDocument(&e))
	require.NotRegexp(t, "<content[^>]* length=", b.String())
	item, err := atom.NewReader(&b).Next()
	require.NoError(t, err)
	require.Equal(t, content, item.Entry.Resource(nil).Content)
}

// TestContentBase: an inline div keeps the base of its references.
func TestContentBase(t *testing.T) {
	for name, test := range map[string]struct{ base, value, want string }{
		"none":          {"", "<div>x</div>", "<div>x</div>"},
		"one":           {"http://e/a?b&c", "<div>x</div>", `<div xml:base="http://e/a?b&amp;c">x</div>`},
		"an empty div":  {"http://e/", "<div/>", `<div xml:base="http://e/"/>`},
		"of its own":    {"http://e/a/", `<div class="x" xml:base="../b" id="y"/>`, `<div class="x" xml:base="http://e/b" id="y"/>`},
		"inside":        {"http://e/", `<div><p xml:base="a"/></div>`, `<div xml:base="http://e/"><p xml:base="a"/></div>`},
		"no element":    {"http://e/", "<div", "<div"},
		"no characters": {"http://e/\x00", "<div/>", "<div/>"},
	} {
		c := atom.Content{Link: websync.Link{Type: atom.XHTML}, Value: test.value, Base: test.base}
		got, err := c.Bytes()
		require.NoError(t, err)
		assert.Equal(t, test.want, string(got), name)
	}
}
