package atom_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/internal/xmlscan"
)

const foreignSpace = "http://purl.org/dc/terms/"

func written(t require.TestingT, s string) websync.Datetime {
	d, err := websync.ParseDatetime(s)
	require.NoError(t, err)
	return d
}

func plainText(s string) atom.Text { return atom.Text{Type: atom.PlainText, Value: s} }

// Feeds, entries and tombstones with the required elements only.
func leastFeed(t require.TestingT) atom.Feed {
	return atom.Feed{ID: "urn:example:feed", Title: plainText("Feed"), Updated: written(t, "2024-05-01T00:00:00Z"),
		Authors: []websync.Person{{Name: "Publisher"}}}
}

func leastEntry(t require.TestingT) atom.Entry {
	return atom.Entry{ID: "urn:example:1", Title: plainText("One"), Updated: written(t, "2024-05-01T00:00:00Z"),
		Links: []websync.Link{{Href: "https://www.example.com/1"}}}
}

func leastTombstone(t require.TestingT) atom.Tombstone {
	return atom.Tombstone{Ref: "urn:example:0", When: written(t, "2024-05-01T00:00:00Z")}
}

// Feeds, entries and tombstones with all elements.
func fullFeed(t require.TestingT) atom.Feed {
	return atom.Feed{
		ID: "tag:example.com,2024:feed", Lang: "en", Base: "https://www.example.com/",
		Title:        atom.Text{Type: atom.HTML, Value: "Laws &amp; <b>ordinances</b>", Lang: "en-GB", Base: "https://www.example.com/laws/"},
		Subtitle:     atom.Text{Type: atom.XHTML, Value: `<x:div xmlns:x="http://www.w3.org/1999/xhtml">All <x:em>that</x:em> counts</x:div>`},
		Rights:       plainText("Public domain <all of it>"),
		Updated:      written(t, "2024-05-02T03:04:05.678+02:00"),
		Authors:      []websync.Person{{Name: "The \"Gazette\"", URI: "https://www.example.com/", Email: "law@example.com"}},
		Contributors: []websync.Person{{Name: "A & B"}},
		Categories:   []atom.Category{{Term: "law", Scheme: "https://www.example.com/types#", Label: "Lag & rätt", Lang: "sv"}},
		Generator:    atom.Generator{Name: "websync", URI: "https://www.example.com/websync", Version: "1.0"},
		Icon:         "https://www.example.com/icon.png", Logo: "https://www.example.com/logo.png?a=1&b=2",
		Links: []websync.Link{
			{Rel: "self", Href: "https://www.example.com/2024.atom", Type: "application/atom+xml;type=feed"},
			{Rel: "prev-archive", Href: "https://www.example.com/2023.atom"},
			{Rel: "current", Href: "https://www.example.com/feed.atom"},
			{Rel: "hub", Href: "https://hub.example.com/"},
		},
		Archive:  true,
		Elements: []websync.Element{{Space: foreignSpace, Local: "publisher", XML: `<dct:publisher xmlns:dct="` + foreignSpace + `">X</dct:publisher>`}},
	}
}

func fullEntry(t require.TestingT) atom.Entry {
	return atom.Entry{
		ID: "https://www.example.com/lag/1974:152#§1", Lang: "sv", Base: "https://www.example.com/lag/",
		Title:   plainText("Kungörelse (1974:152) om beslutad ny regeringsform"),
		Summary: atom.Text{Type: atom.HTML, Value: "<p>All offentlig makt …</p>"},
		Rights:  plainText("-"),
		Updated: written(t, "2024-05-02T03:04:05Z"), Published: written(t, "1974-02-28"),
		Authors:      []websync.Person{{Name: "Justitiedepartementet"}},
		Contributors: []websync.Person{{Name: "Riksdagen", URI: "https://riksdagen.example/"}},
		Categories:   []atom.Category{{Term: "lag"}, {Term: "grundlag", Lang: "sv"}},
		Content: atom.Content{Link: websync.Link{
			Href: "https://www.example.com/lag/1974:152.pdf", Type: "application/pdf", Lang: "sv", Length: 2317,
			Modified: written(t, "2024-05-02T03:04Z"),
			Digests:  websync.Digests{websync.SHA256([]byte("a")), {Algorithm: "md5", Sum: strings.Repeat("\x0f", 16)}, {Algorithm: "blake3", Sum: "0f0f0F"}},
			Attrs:    []websync.Attr{{Space: foreignSpace, Local: "isFormatOf", Value: "urn:a&b"}, {Space: "urn:other", Local: "größe", Value: "\"1\""}},
		}},
		Links: []websync.Link{
			{Href: "https://www.example.com/lag/1974:152", Type: "text/html", Lang: "sv", Title: "Lagen\tpå webben"},
			{Rel: "alternate", Href: "https://www.example.com/lag/1974:152.rdf", Type: "application/rdf+xml", Length: websync.StatedZero, Priority: 3},
			{Rel: "http://purl.org/dc/terms/isPartOf", Href: "https://www.example.com/sfs"},
			{Rel: "via", Href: "urn:lex:se:riksdag:lag:1974;152", Modified: written(t, "2024"), Lang: "sv-SE"},
		},
		Source: &atom.Feed{
			ID: "urn:example:source", Title: plainText("Source"), Updated: written(t, "2024-05-01T00:00:00-00:00"), Lang: "sv", Complete: true,
			Authors: []websync.Person{{Name: "S"}}, Links: []websync.Link{{Rel: "self", Href: "https://source.example/"}},
		},
		Elements: []websync.Element{{Space: "urn:x", Local: "a", XML: "<a xmlns='urn:x'><b c=\"d\"/>\n</a>"}, {Local: "b", XML: "<b xmlns=''/>"}},
	}
}

func fullTombstone(t require.TestingT) atom.Tombstone {
	return atom.Tombstone{
		Ref: "https://www.example.com/lag/1", When: written(t, "2024-05-02T03:04:05Z"), Lang: "en", Base: "https://www.example.com/",
		By: websync.Person{Name: "The editor", Email: "editor@example.com"}, Comment: plainText("Published by mistake"),
		Links:    []websync.Link{{Rel: "via", Href: "https://source.example/1"}},
		Source:   &atom.Feed{ID: "urn:example:source"},
		Elements: []websync.Element{{Space: "urn:x", Local: "a", XML: "<a xmlns='urn:x'/>"}},
	}
}

// feedDocument writes one feed document with the settings of w.
func feedDocument(t require.TestingT, w atom.Writer, f atom.Feed, items ...any) []byte {
	var b bytes.Buffer
	to := atom.NewWriter(&b)
	to.LegacyMD5, to.Namespaces = w.LegacyMD5, w.Namespaces
	require.NoError(t, to.WriteFeed(&f))
	for _, item := range items {
		require.NoError(t, writeItem(to, item))
	}
	require.NoError(t, to.Close())
	require.NoError(t, to.Close(), "twice")
	return b.Bytes()
}

func writeItem(w *atom.Writer, item any) error {
	if x, ok := item.(atom.Tombstone); ok {
		return w.WriteTombstone(&x)
	}
	x := item.(atom.Entry)
	return w.WriteEntry(&x)
}

// requireWellFormed checks a document with two readers of XML.
func requireWellFormed(t require.TestingT, doc []byte) {
	r := xmlscan.NewReader(bytes.NewReader(doc))
	err := error(nil)
	for err == nil {
		_, err = r.Next()
	}
	require.Equal(t, io.EOF, err, string(doc))
	d := xml.NewDecoder(bytes.NewReader(doc))
	for err = nil; err == nil; {
		_, err = d.Token()
	}
	require.Equal(t, io.EOF, err, string(doc))
}

func goldenWriter(t *testing.T, name string, got []byte) {
	t.Helper()
	requireWellFormed(t, got)
	requireNoErrors(t, got)
	testkit.Golden(t, "testdata/writer/"+name, got)
}

func TestWriter(t *testing.T) {
	complete := leastFeed(t)
	complete.Complete = true
	complete.Authors = nil
	complete.Links = []websync.Link{{Rel: "self", Href: "https://www.example.com/a"}, {Rel: "current", Href: "https://www.example.com/a"}}
	inline := []any{}
	for i, c := range []atom.Content{
		{Value: "type is not stated"},
		{Link: websync.Link{Type: atom.PlainText}},
		{Link: websync.Link{Type: atom.HTML, Lang: "de"}, Value: "<p>1 &lt; 2</p>", Base: "https://www.example.com/base/"},
		{Link: websync.Link{Type: atom.XHTML}, Value: `<div xmlns="http://www.w3.org/1999/xhtml"><p>1 &lt; 2</p></div>`},
		{Link: websync.Link{Type: "image/svg+xml"}, Value: `<svg xmlns="http://www.w3.org/2000/svg"/>`},
		{Link: websync.Link{Type: "text/csv; charset=utf-8"}, Value: "a;b\r\n<c>;d"},
		{Link: websync.Link{Type: "image/png"}, Value: "\n  iVBO\nRw0K\nGg==\n"},
		{Link: websync.Link{Href: "https://www.example.com/no-type"}},
	} {
		e := leastEntry(t)
		e.ID = fmt.Sprintf("urn:example:content:%d", i)
		e.Authors = []websync.Person{{Name: "Own"}}
		e.Links, e.Content, e.Summary = nil, c, atom.Text{Type: atom.PlainText}
		inline = append(inline, e)
	}
	least := leastTombstone(t)
	goldenWriter(t, "archive.xml", feedDocument(t, atom.Writer{}, fullFeed(t), fullTombstone(t), least, fullEntry(t), leastEntry(t)))
	goldenWriter(t, "legacy.xml", feedDocument(t, atom.Writer{LegacyMD5: true, Namespaces: map[string]string{"z": "urn:z", "dct": foreignSpace}}, leastFeed(t), fullEntry(t)))
	goldenWriter(t, "complete.xml", feedDocument(t, atom.Writer{}, complete, inline...))
	goldenWriter(t, "empty.xml", feedDocument(t, atom.Writer{}, leastFeed(t)))

	var b bytes.Buffer
	full := fullEntry(t)
	w := atom.NewWriter(&b)
	w.Namespaces = map[string]string{"dct": foreignSpace}
	require.NoError(t, w.WriteEntryDocument(&full))
	require.NoError(t, w.Close())
	goldenWriter(t, "entry.xml", b.Bytes())

	b.Reset()
	tombstone := fullTombstone(t)
	require.NoError(t, atom.NewWriter(&b).WriteTombstoneDocument(&tombstone))
	goldenWriter(t, "deleted-entry.xml", b.Bytes())
}

// TestWriterSourceMarks: the marks of a feed are those of an entry's source, too.
func TestWriterSourceMarks(t *testing.T) {
	e := leastEntry(t)
	e.Source = &atom.Feed{ID: "urn:example:source", Title: plainText("S"), Updated: e.Updated, Archive: true, Complete: true}
	items, err := readAllItems(atom.NewReader(bytes.NewReader(feedDocument(t, atom.Writer{}, leastFeed(t), e))))
	require.NoError(t, err)
	require.Len(t, items, 1)
	assert.Equal(t, e.Source, items[0].Entry.Source)
}

// TestWriterLanguage: an empty xml:lang, which undoes the language around it, is read and
// written as such.
func TestWriterLanguage(t *testing.T) {
	const doc = `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><id>urn:x:f</id><title xml:lang="">F</title>` +
		`<updated>2025-01-01T00:00:00Z</updated><author><name>A</name></author>` +
		`<entry xml:lang=""><id>urn:x:1</id><title>T</title><updated>2025-01-01T00:00:00Z</updated><category term="c" label="C" xml:lang=""/><link href="http://x.example/"/></entry>` +
		`<entry><id>urn:x:2</id><title xml:lang="">T</title><updated>2025-01-01T00:00:00Z</updated><content xml:lang="">x</content></entry></feed>`
	data := []byte(doc)
	for range 2 {
		r := atom.NewReader(bytes.NewReader(data))
		feed := r.Feed()
		items, err := readAllItems(r)
		require.NoError(t, err)
		require.Len(t, items, 2)
		one, two := items[0].Entry, items[1].Entry
		assert.Equal(t, []string{"en", "und"}, []string{feed.Lang, feed.Title.Lang})
		assert.Equal(t, []string{"und", "", "und"}, []string{one.Lang, one.Title.Lang, one.Categories[0].Lang})
		assert.Equal(t, []string{"en", "und", "und"}, []string{two.Lang, two.Title.Lang, two.Content.Lang})
		data = feedDocument(t, atom.Writer{}, *feed, *one, *two)
	}
}

// A value that is valid as a relation is no language for that.
func TestWriterChecksByRule(t *testing.T) {
	w := atom.NewWriter(io.Discard)
	f := leastFeed(t)
	require.NoError(t, w.WriteFeed(&f))
	e := leastEntry(t)
	e.Links = append(e.Links, websync.Link{Rel: "x", Href: "https://www.example.com/x"})
	require.NoError(t, w.WriteEntry(&e))
	e.Links[len(e.Links)-1].Lang = "x"
	requireRefusal(t, w.WriteEntry(&e), e.ID, "link", "RFC 4287 §4.2.7.4")
}

func TestWriterDates(t *testing.T) {
	for stated, want := range map[string]string{
		"2024-05-02T03:04:05Z":                "2024-05-02T03:04:05Z",
		"2024-05-02T03:04:05.120+02:00":       "2024-05-02T03:04:05.120+02:00",
		"2024-05-02T03:04:05.123456789-00:00": "2024-05-02T03:04:05.123456789-00:00",
		"2024-05-02T03:04-14:00":              "2024-05-02T03:04:00-14:00",
		"2024-05-02T03:04:05+14:01":           "2024-05-01T13:03:05Z",
		"2024-05-02T03:04:05.5-23:59":         "2024-05-03T03:03:05.5Z",
		"2024-05-02":                          "2024-05-02T00:00:00Z",
		"2024-05":                             "2024-05-01T00:00:00Z",
		"2024":                                "2024-01-01T00:00:00Z",
		"2016-12-31T23:59:60Z":                "2017-01-01T00:00:00Z",
		"2017-01-01T01:59:60.25+02:00":        "2017-01-01T02:00:00+02:00",
	} {
		e := leastEntry(t)
		e.Updated = written(t, stated)
		assert.Contains(t, string(feedDocument(t, atom.Writer{}, leastFeed(t), e)), "<updated>"+want+"</updated>", stated)
	}
}

// A refusal is a reason not to write something, with its section.
type refusal[T any] struct {
	change           func(*T)
	element, section string
}

func requireRefusal(t *testing.T, err error, id, element, section string) {
	t.Helper()
	var refused *websync.EntryError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, []string{id, element, section}, []string{refused.ID, refused.Element, refused.Section}, err)
	assert.Equal(t, refused.Err, errors.Unwrap(err))
	assert.Contains(t, err.Error(), element+": "+refused.Err.Error()+" ("+section+")")
}

const (
	unwrittenDiv  = `<div xmlns="http://www.w3.org/1999/xhtml">`
	unwrittenDivs = unwrittenDiv + "</div>" + unwrittenDiv + "</div>"
)

func TestWriterRefusesEntries(t *testing.T) {
	link := func(l websync.Link) func(*atom.Entry) { return func(e *atom.Entry) { e.Links = append(e.Links, l) } }
	content := func(c atom.Content) func(*atom.Entry) {
		return func(e *atom.Entry) { e.Content, e.Summary = c, plainText("-") }
	}
	text := func(x atom.Text) func(*atom.Entry) { return func(e *atom.Entry) { e.Title = x } }
	element := func(space, local, xml string) func(*atom.Entry) {
		return func(e *atom.Entry) { e.Elements = []websync.Element{{Space: space, Local: local, XML: xml}} }
	}
	href := "https://www.example.com/x"
	attr := func(attrs ...websync.Attr) func(*atom.Entry) {
		return link(websync.Link{Rel: "via", Href: href, Attrs: attrs})
	}
	twice := make([]websync.Link, 20)
	for i := range twice {
		twice[i] = websync.Link{Href: href, Type: fmt.Sprintf("text/x-%d", i%19)}
	}
	const hash = "Atom Link Extensions 09 §3"
	cases := map[string]refusal[atom.Entry]{
		"no id":         {func(e *atom.Entry) { e.ID = "" }, "id", "RFC 4287 §4.1.2"},
		"no title":      {func(e *atom.Entry) { e.Title = atom.Text{} }, "title", "RFC 4287 §4.1.2"},
		"no updated":    {func(e *atom.Entry) { e.Updated = websync.Datetime{} }, "updated", "RFC 4287 §4.1.2"},
		"relative id":   {func(e *atom.Entry) { e.ID = "/1" }, "id", "RFC 4287 §4.2.6"},
		"space in id":   {func(e *atom.Entry) { e.ID = "urn:example: 1" }, "id", "RFC 4287 §4.2.6"},
		"space around":  {func(e *atom.Entry) { e.ID = " urn:example:1" }, "id", "RFC 4287 §4.2.6"},
		"control in id": {func(e *atom.Entry) { e.ID = "urn:example:\x01" }, "id", "RFC 4287 §4.2.6"},
		"host":          {func(e *atom.Entry) { e.ID = "https://ex ample.com/" }, "id", "RFC 4287 §4.2.6"},
		"port":          {func(e *atom.Entry) { e.ID = "https://www.example.com:a/" }, "id", "RFC 4287 §4.2.6"},

		"no page":        {func(e *atom.Entry) { e.Links = nil }, "link", "RFC 4287 §4.1.2"},
		"two alternates": {link(websync.Link{Href: href}), "link", "RFC 4287 §4.1.1, §4.1.2"},
		"two by type": {func(e *atom.Entry) {
			e.Links = []websync.Link{{Href: href, Type: "text/HTML", Lang: "de"}, {Rel: "http://www.iana.org/assignments/relation/alternate", Href: href, Type: "text/html", Lang: "DE"}}
		}, "link", "RFC 4287 §4.1.1, §4.1.2"},
		"two of many":         {func(e *atom.Entry) { e.Links = twice }, "link", "RFC 4287 §4.1.1, §4.1.2"},
		"no href":             {link(websync.Link{Rel: "via"}), "link", "RFC 4287 §4.2.7.1"},
		"relative href":       {link(websync.Link{Rel: "via", Href: "x"}), "link", "RFC 4287 §4.2.7.1"},
		"space in href":       {link(websync.Link{Rel: "via", Href: "https://www.example.com/a b"}), "link", "RFC 4287 §4.2.7.1"},
		"quote in href":       {link(websync.Link{Rel: "via", Href: "https://www.example.com/\"b"}), "link", "RFC 4287 §4.2.7.1"},
		"relation":            {link(websync.Link{Rel: "a b", Href: href}), "link", "RFC 4287 §4.2.7.2"},
		"relative relation":   {link(websync.Link{Rel: "a/b", Href: href}), "link", "RFC 4287 §4.2.7.2"},
		"type":                {link(websync.Link{Rel: "via", Href: href, Type: "html"}), "link", "RFC 4287 §4.2.7.3"},
		"type with two":       {link(websync.Link{Rel: "via", Href: href, Type: "text/html/x"}), "link", "RFC 4287 §4.2.7.3"},
		"type without":        {link(websync.Link{Rel: "via", Href: href, Type: "text/"}), "link", "RFC 4287 §4.2.7.3"},
		"hreflang":            {link(websync.Link{Rel: "via", Href: href, Lang: "de_DE"}), "link", "RFC 4287 §4.2.7.4"},
		"short hreflang":      {link(websync.Link{Rel: "via", Href: href, Lang: "d1"}), "link", "RFC 4287 §4.2.7.4"},
		"control in title":    {link(websync.Link{Rel: "via", Href: href, Title: "\x02"}), "link", "XML 1.0 §2.2"},
		"length":              {link(websync.Link{Rel: "via", Href: href, Length: -2}), "link", "RFC 4287 §4.2.7.6"},
		"coded length":        {link(websync.Link{Rel: "via", Href: href, Length: 2, Encoding: "gzip"}), "link", hash},
		"short digest":        {link(websync.Link{Rel: "via", Href: href, Digests: websync.Digests{{Algorithm: "md5", Sum: "x"}}}), "link", hash},
		"digest with a space": {link(websync.Link{Rel: "via", Href: href, Digests: websync.Digests{{Algorithm: "x", Sum: "a b"}}}), "link", hash},
		"digest not in hex":   {link(websync.Link{Rel: "via", Href: href, Digests: websync.Digests{{Algorithm: "x", Sum: "xyz"}}}), "link", hash},
		"digest's length":     {link(websync.Link{Rel: "via", Href: href, Digests: websync.Digests{{Algorithm: "sha-384", Sum: "00"}}}), "link", hash},
		"zero digest":         {link(websync.Link{Rel: "via", Href: href, Digests: websync.Digests{{}}}), "link", hash},
		"digest in capitals":  {link(websync.Link{Rel: "via", Href: href, Digests: websync.Digests{{Algorithm: "X", Sum: "a"}}}), "link", hash},
		"two digests":         {link(websync.Link{Rel: "via", Href: href, Digests: websync.Digests{websync.SHA256(nil), websync.SHA256([]byte("a"))}}), "link", hash},

		"attribute without space": {attr(websync.Attr{Local: "title", Value: "x"}), "link", "RFC 4287 §6"},
		"attribute of Atom":       {attr(websync.Attr{Space: atom.Namespace, Local: "title", Value: "x"}), "link", "RFC 4287 §6"},
		"attribute of xml":        {attr(websync.Attr{Space: "http://www.w3.org/XML/1998/namespace", Local: "base", Value: "x"}), "link", "RFC 4287 §6"},
		"attribute le:md5":        {attr(websync.Attr{Space: atom.LinkExtNamespace, Local: "md5", Value: "x"}), "link", "RFC 4287 §6"},
		"attribute's name":        {attr(websync.Attr{Space: "urn:x", Local: "a b", Value: "x"}), "link", "RFC 4287 §6"},
		"attribute's prefix":      {attr(websync.Attr{Space: "urn:x", Local: "a:b", Value: "x"}), "link", "RFC 4287 §6"},
		"attribute's wide name":   {attr(websync.Attr{Space: "urn:x", Local: "ö/><x", Value: "x"}), "link", "RFC 4287 §6"},
		"attribute twice":         {attr(websync.Attr{Space: "urn:x", Local: "a"}, websync.Attr{Space: "urn:x", Local: "a"}), "link", "RFC 4287 §6"},
		"too many attributes":     {attr(make([]websync.Attr, 101)...), "link", "RFC 4287 §6"},

		"content composite":  {content(atom.Content{Link: websync.Link{Type: "Multipart/mixed"}, Value: "AAAA"}), "content", "RFC 4287 §4.1.3.1"},
		"content type":       {content(atom.Content{Link: websync.Link{Type: "texts"}, Value: "AAAA"}), "content", "RFC 4287 §4.1.3.1"},
		"content src type":   {content(atom.Content{Link: websync.Link{Type: "html", Href: href}}), "content", "RFC 4287 §4.1.3.1"},
		"content src":        {content(atom.Content{Link: websync.Link{Href: "x"}}), "content", "RFC 4287 §4.1.3.2"},
		"content both":       {content(atom.Content{Link: websync.Link{Href: href}, Value: "x"}), "content", "RFC 4287 §4.1.3.2"},
		"content two divs":   {content(atom.Content{Link: websync.Link{Type: atom.XHTML}, Value: unwrittenDivs}), "content", "RFC 4287 §3.1.1.3"},
		"content no XML":     {content(atom.Content{Link: websync.Link{Type: "application/xml"}, Value: "<a>"}), "content", "RFC 4287 §4.1.3.3"},
		"content empty XML":  {content(atom.Content{Link: websync.Link{Type: "application/xml"}}), "content", "RFC 4287 §4.1.3.3"},
		"content no base64":  {content(atom.Content{Link: websync.Link{Type: "image/png"}, Value: "AAA"}), "content", "RFC 4287 §4.1.3.3"},
		"content <base64":    {content(atom.Content{Link: websync.Link{Type: "image/png"}, Value: "<AA="}), "content", "RFC 4287 §4.1.3.3"},
		"content length":     {content(atom.Content{Link: websync.Link{Length: 1}, Value: "a"}), "content", hash},
		"content digests":    {content(atom.Content{Link: websync.Link{Type: atom.HTML, Digests: websync.Digests{websync.SHA256(nil)}}}), "content", hash},
		"content lang":       {content(atom.Content{Link: websync.Link{Lang: "-"}, Value: "a"}), "content", "RFC 4287 §2"},
		"content control":    {content(atom.Content{Value: "\x00"}), "content", "XML 1.0 §2.2"},
		"content XML entity": {content(atom.Content{Link: websync.Link{Type: "text/xml"}, Value: "<a>&nbsp;</a>"}), "content", "RFC 4287 §4.1.3.3"},
		"no summary":         {func(e *atom.Entry) { e.Content.Href = href }, "summary", "RFC 4287 §4.1.2"},
		"a mark":             {element(atom.HistoryNamespace, "archive", `<archive xmlns="`+atom.HistoryNamespace+`"/>`), "archive", "RFC 4287 §6"},
		"a tombstone in it":  {element(atom.TombstoneNamespace, "deleted-entry", `<deleted-entry xmlns="`+atom.TombstoneNamespace+`"/>`), "deleted-entry", "RFC 4287 §6"},
		"no summary, base64": {func(e *atom.Entry) { e.Content = atom.Content{Link: websync.Link{Type: "image/png"}, Value: "AAAA"} }, "summary", "RFC 4287 §4.1.2"},

		"text type":    {text(atom.Text{Type: "text/html", Value: "x"}), "title", "RFC 4287 §3.1.1"},
		"text control": {text(atom.Text{Type: atom.HTML, Value: "\x1f"}), "title", "XML 1.0 §2.2"},
		"text UTF-8":   {text(plainText("\xff")), "title", "XML 1.0 §2.2"},
		"text U+FFFE":  {text(plainText("\ufffe")), "title", "XML 1.0 §2.2"},
		"text lang":    {text(atom.Text{Value: "x", Lang: "x_"}), "title", "RFC 4287 §2"},
		"text base":    {text(atom.Text{Value: "x", Base: "x"}), "title", "RFC 4287 §2"},
		"no div":       {text(atom.Text{Type: atom.XHTML, Value: "x"}), "title", "RFC 4287 §3.1.1.3"},
		"empty div":    {text(atom.Text{Type: atom.XHTML}), "title", "RFC 4287 §3.1.1.3"},
		"open div":     {text(atom.Text{Type: atom.XHTML, Value: unwrittenDiv}), "title", "RFC 4287 §3.1.1.3"},
		"two divs":     {text(atom.Text{Type: atom.XHTML, Value: unwrittenDivs}), "title", "RFC 4287 §3.1.1.3"},
		"text behind":  {text(atom.Text{Type: atom.XHTML, Value: unwrittenDiv + "</div>x"}), "title", "RFC 4287 §3.1.1.3"},
		"other div":    {text(atom.Text{Type: atom.XHTML, Value: "<div></div>"}), "title", "RFC 4287 §3.1.1.3"},
		"a span":       {text(atom.Text{Type: atom.XHTML, Value: `<span xmlns="http://www.w3.org/1999/xhtml"/>`}), "title", "RFC 4287 §3.1.1.3"},
		"free prefix":  {text(atom.Text{Type: atom.XHTML, Value: unwrittenDiv + "<x:a/></div>"}), "title", "RFC 4287 §3.1.1.3"},
		"declaration":  {text(atom.Text{Type: atom.XHTML, Value: "<?xml version='1.0'?>" + unwrittenDiv + "</div>"}), "title", "RFC 4287 §3.1.1.3"},
		"doctype":      {text(atom.Text{Type: atom.XHTML, Value: "<!DOCTYPE div>" + unwrittenDiv + "</div>"}), "title", "RFC 4287 §3.1.1.3"},

		"no name":        {func(e *atom.Entry) { e.Authors = []websync.Person{{Email: "a@b"}} }, "author", "RFC 4287 §3.2.1"},
		"person's uri":   {func(e *atom.Entry) { e.Contributors = []websync.Person{{Name: "A", URI: "www"}} }, "uri", "RFC 4287 §2"},
		"person's email": {func(e *atom.Entry) { e.Authors = []websync.Person{{Name: "A", Email: "A <a@b>"}} }, "author", "RFC 4287 §3.2.3"},
		"category":       {func(e *atom.Entry) { e.Categories = []atom.Category{{Label: "x"}} }, "category", "RFC 4287 §4.2.2"},
		"scheme":         {func(e *atom.Entry) { e.Categories = []atom.Category{{Term: "x", Scheme: "y"}} }, "category", "RFC 4287 §4.2.2"},
		"category lang":  {func(e *atom.Entry) { e.Categories = []atom.Category{{Term: "x", Lang: "1"}} }, "category", "RFC 4287 §2"},
		"lang":           {func(e *atom.Entry) { e.Lang = "english-language-of-all" }, "entry", "RFC 4287 §2"},
		"base":           {func(e *atom.Entry) { e.Base = "a" }, "entry", "RFC 4287 §2"},
		"source id":      {func(e *atom.Entry) { e.Source = &atom.Feed{ID: "a"} }, "id", "RFC 4287 §4.2.6"},
		"source links":   {func(e *atom.Entry) { e.Source = &atom.Feed{Links: []websync.Link{{Href: href}, {Href: href}}} }, "link", "RFC 4287 §4.1.1, §4.1.2"},
		"source element": {func(e *atom.Entry) { e.Source = &atom.Feed{Elements: []websync.Element{{Space: "urn:x", Local: "a"}}} }, "a", "RFC 4287 §6"},
		"source archive": {func(e *atom.Entry) {
			e.Source = &atom.Feed{Elements: []websync.Element{{Space: atom.HistoryNamespace, Local: "archive", XML: "<archive xmlns='" + atom.HistoryNamespace + "'/>"}}}
		}, "archive", "RFC 4287 §6"},

		"element of Atom":  {element(atom.Namespace, "title", "<title xmlns='"+atom.Namespace+"'/>"), "title", "RFC 4287 §6"},
		"element's name":   {element("urn:x", "b", "<a xmlns='urn:x'/>"), "b", "RFC 4287 §6"},
		"element's space":  {element("urn:y", "a", "<a xmlns='urn:x'/>"), "a", "RFC 4287 §6"},
		"two elements":     {element("urn:x", "a", "<a xmlns='urn:x'/><a xmlns='urn:x'/>"), "a", "RFC 4287 §6"},
		"open element":     {element("urn:x", "a", "<a xmlns='urn:x'>"), "a", "RFC 4287 §6"},
		"element, comment": {element("urn:x", "a", "<!-- --><a xmlns='urn:x'/>"), "a", "RFC 4287 §6"},
		"outer element":    {element("urn:x", "a", "<a xmlns='urn:x'/></w><w xmlns='urn:x'>"), "a", "RFC 4287 §6"},
		"text behind it":   {element("urn:x", "a", "<a xmlns='urn:x'/> "), "a", "RFC 4287 §6"},
		"no namespace":     {element("", "a", "<a/>"), "a", "RFC 4287 §6"},
		"one inside":       {element("urn:x", "a", "<x:a xmlns:x='urn:x'><b/></x:a>"), "a", "RFC 4287 §6"},
		"element's bytes":  {element("urn:x", "a", "<a xmlns='urn:x'>\xff</a>"), "a", "RFC 4287 §6"},
		"deep element":     {element("urn:x", "a", "<a xmlns='urn:x'>"+strings.Repeat("<a>", 252)+strings.Repeat("</a>", 253)), "a", "RFC 4287 §6"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bad := leastEntry(t)
			c.change(&bad)
			feed, good := leastFeed(t), leastEntry(t)
			var b bytes.Buffer
			w := atom.NewWriter(&b)
			require.NoError(t, w.WriteFeed(&feed))
			requireRefusal(t, w.WriteEntry(&bad), bad.ID, c.element, c.section)
			tombstone := leastTombstone(t)
			require.NoError(t, w.WriteTombstone(&tombstone), "nothing was written")
			require.NoError(t, w.WriteEntry(&good))
			requireRefusal(t, w.WriteEntry(&bad), bad.ID, c.element, c.section)
			require.NoError(t, w.Close())
			assert.Equal(t, string(feedDocument(t, atom.Writer{}, feed, tombstone, good)), b.String())

			b.Reset()
			w = atom.NewWriter(&b)
			if len(bad.Authors) == 0 {
				bad.Authors, good.Authors = feed.Authors, feed.Authors
			}
			requireRefusal(t, w.WriteEntryDocument(&bad), bad.ID, c.element, c.section)
			assert.Zero(t, b.Len())
			good.Authors = feed.Authors
			require.NoError(t, w.WriteEntryDocument(&good))
			requireWellFormed(t, b.Bytes())
		})
	}
}

func TestWriterRefusesFeeds(t *testing.T) {
	self := websync.Link{Rel: "self", Href: "https://www.example.com/self"}
	links := func(links ...websync.Link) func(*atom.Feed) {
		return func(f *atom.Feed) { f.Links = append([]websync.Link{self}, links...) }
	}
	to := func(rel, page string) websync.Link {
		return websync.Link{Rel: rel, Href: "https://www.example.com/" + page}
	}
	with := func(flag func(*atom.Feed), change func(*atom.Feed)) func(*atom.Feed) {
		return func(f *atom.Feed) { flag(f); change(f) }
	}
	complete, archive := func(f *atom.Feed) { f.Complete = true }, func(f *atom.Feed) { f.Archive = true }
	for name, c := range map[string]refusal[atom.Feed]{
		"no id":           {func(f *atom.Feed) { f.ID = "" }, "id", "RFC 4287 §4.1.1"},
		"no title":        {func(f *atom.Feed) { f.Title = atom.Text{} }, "title", "RFC 4287 §4.1.1"},
		"no updated":      {func(f *atom.Feed) { f.Updated = websync.Datetime{} }, "updated", "RFC 4287 §4.1.1"},
		"icon":            {func(f *atom.Feed) { f.Icon = "/favicon.ico" }, "icon", "RFC 4287 §2"},
		"logo":            {func(f *atom.Feed) { f.Logo = "a b" }, "logo", "RFC 4287 §2"},
		"generator":       {func(f *atom.Feed) { f.Generator = atom.Generator{Name: "x", URI: "x"} }, "generator", "RFC 4287 §2"},
		"two alternates":  {links(to("", "a"), to("alternate", "b")), "link", "RFC 4287 §4.1.1, §4.1.2"},
		"in capitals":     {links(to("", "a"), to("ALTERNATE", "b")), "link", "RFC 4287 §4.1.1, §4.1.2"},
		"subtitle":        {func(f *atom.Feed) { f.Subtitle = atom.Text{Type: "x"} }, "subtitle", "RFC 4287 §3.1.1"},
		"rights":          {func(f *atom.Feed) { f.Rights = plainText("\x00") }, "rights", "XML 1.0 §2.2"},
		"lang":            {func(f *atom.Feed) { f.Lang = "," }, "feed", "RFC 4287 §2"},
		"two next":        {links(to("next", "a"), to("next", "b")), "link", "RFC 5005 §3, §4"},
		"two archives":    {links(to("prev-archive", "a"), to("prev-archive", "b")), "link", "RFC 5005 §3, §4"},
		"next is self":    {links(to("next", "self")), "link", "RFC 5005 §3, §4"},
		"archive is self": {links(to("prev-archive", "self")), "link", "RFC 5005 §3, §4"},
		"archive current": {with(archive, links(to("current", "self"))), "link", "RFC 5005 §4"},
		"complete, next":  {with(complete, links(to("next", "a"))), "link", "RFC 5005 §2"},
		"complete, prev":  {with(complete, links(to("prev-archive", "a"))), "link", "RFC 5005 §2"},
		"complete, both":  {with(complete, archive), "complete", "RFC 5005 §2"},
		"tombstone": {func(f *atom.Feed) {
			f.Elements = []websync.Element{{Space: atom.TombstoneNamespace, Local: "deleted-entry", XML: "<deleted-entry xmlns='" + atom.TombstoneNamespace + "'/>"}}
		}, "deleted-entry", "RFC 4287 §6"},
	} {
		t.Run(name, func(t *testing.T) {
			bad, good := leastFeed(t), leastFeed(t)
			c.change(&bad)
			var b bytes.Buffer
			w := atom.NewWriter(&b)
			requireRefusal(t, w.WriteFeed(&bad), bad.ID, c.element, c.section)
			assert.Error(t, w.Close())
			assert.Zero(t, b.Len())
			require.NoError(t, w.WriteFeed(&good))
			require.NoError(t, w.Close())
			assert.Equal(t, string(feedDocument(t, atom.Writer{}, good)), b.String())
		})
	}
	for prefix, space := range map[string]string{"at": "urn:x", "fh": "urn:x", "le": "urn:x", "ns1": "urn:x", "xmlx": "urn:x", "": "urn:x", "a:b": "urn:x", "b": "", "c": atom.Namespace, "1": "urn:x"} {
		w := atom.NewWriter(io.Discard)
		w.Namespaces = map[string]string{prefix: space}
		f := leastFeed(t)
		requireRefusal(t, w.WriteFeed(&f), f.ID, prefix[strings.Index(prefix, ":")+1:], "Namespaces in XML 1.0 §3")
	}
}

func TestWriterRefusesTombstones(t *testing.T) {
	for name, c := range map[string]refusal[atom.Tombstone]{
		"no ref":       {func(d *atom.Tombstone) { d.Ref = "" }, "ref", "RFC 6721 §3"},
		"relative ref": {func(d *atom.Tombstone) { d.Ref = "1" }, "ref", "RFC 6721 §3"},
		"no when":      {func(d *atom.Tombstone) { d.When = websync.Datetime{} }, "when", "RFC 6721 §3"},
		"by":           {func(d *atom.Tombstone) { d.By.URI = "urn:x" }, "by", "RFC 4287 §3.2.1"},
		"comment":      {func(d *atom.Tombstone) { d.Comment = plainText("\x00") }, "comment", "XML 1.0 §2.2"},
		"lang":         {func(d *atom.Tombstone) { d.Lang = "," }, "deleted-entry", "RFC 4287 §2"},
		"link":         {func(d *atom.Tombstone) { d.Links = []websync.Link{{}} }, "link", "RFC 4287 §4.2.7.1"},
		"source":       {func(d *atom.Tombstone) { d.Source = &atom.Feed{Icon: "x"} }, "icon", "RFC 4287 §2"},
		"element":      {func(d *atom.Tombstone) { d.Elements = []websync.Element{{Space: "urn:x", Local: "a"}} }, "a", "RFC 4287 §6"},
	} {
		t.Run(name, func(t *testing.T) {
			bad, good := leastTombstone(t), leastTombstone(t)
			c.change(&bad)
			feed := leastFeed(t)
			var b bytes.Buffer
			w := atom.NewWriter(&b)
			require.NoError(t, w.WriteFeed(&feed))
			requireRefusal(t, w.WriteTombstone(&bad), bad.Ref, c.element, c.section)
			require.NoError(t, w.WriteTombstone(&good))
			require.NoError(t, w.Close())
			assert.Equal(t, string(feedDocument(t, atom.Writer{}, feed, good)), b.String())
			requireRefusal(t, atom.NewWriter(&b).WriteTombstoneDocument(&bad), bad.Ref, c.element, c.section)
		})
	}
}

func TestWriterTombstonesAndEntries(t *testing.T) {
	feed := leastFeed(t)
	dead := func(id, when string) *atom.Tombstone { return &atom.Tombstone{Ref: id, When: written(t, when)} }
	live := func(id, updated string) *atom.Entry {
		e := leastEntry(t)
		e.ID, e.Updated = id, written(t, updated)
		return &e
	}
	w := atom.NewWriter(io.Discard)
	require.NoError(t, w.WriteFeed(&feed))
	for _, when := range []string{"2024-05-02T00:00:00Z", "2024-05-04T00:00:00Z", "2024-05-03T00:00:00Z", "2024-05-01T00:00:00Z"} {
		require.NoError(t, w.WriteTombstone(dead("urn:x:1", when)))
	}
	for _, when := range []string{"2024-05-02T00:00:00Z", "2024-05-04T02:00:00+02:00", "2024-05-03", "2024-05"} {
		requireRefusal(t, w.WriteTombstone(dead("urn:x:1", when)), "urn:x:1", "deleted-entry", "RFC 6721 §3")
	}
	require.NoError(t, w.WriteTombstone(dead("urn:x:2", "2024-05-02T00:00:00Z")))
	requireRefusal(t, w.WriteEntry(live("urn:x:1", "2024-05-04T00:00:00Z")), "urn:x:1", "updated", "RFC 6721 §3")
	requireRefusal(t, w.WriteEntry(live("urn:x:1", "2024-05-03T12:00:00Z")), "urn:x:1", "updated", "RFC 6721 §3")
	require.NoError(t, w.WriteEntry(live("urn:x:1", "2024-05-04T00:00:01Z")))
	require.NoError(t, w.WriteEntry(live("urn:x:3", "2020-01-01T00:00:00Z")))
	requireRefusal(t, w.WriteTombstone(dead("urn:x:4", "2024-05-02T00:00:00Z")), "urn:x:4", "deleted-entry", "RFC 4287 §4.1.1")
	require.NoError(t, w.Close())
}

func TestWriterAuthors(t *testing.T) {
	feed, e := leastFeed(t), leastEntry(t)
	feed.Authors = nil
	w := atom.NewWriter(io.Discard)
	require.NoError(t, w.WriteFeed(&feed))
	requireRefusal(t, w.WriteEntry(&e), e.ID, "author", "RFC 4287 §4.1.1")
	e.Source = &atom.Feed{Authors: []websync.Person{{Name: "S"}}}
	requireRefusal(t, w.WriteEntry(&e), e.ID, "author", "RFC 4287 §4.1.1")
	require.NoError(t, atom.NewWriter(io.Discard).WriteEntryDocument(&e), "the source's author is enough for a document")
	e.Source.Authors = nil
	requireRefusal(t, atom.NewWriter(io.Discard).WriteEntryDocument(&e), e.ID, "author", "RFC 4287 §4.1.2")
	e.Authors = []websync.Person{{Name: "E"}}
	require.NoError(t, w.WriteEntry(&e))
	require.NoError(t, w.Close())
}

// An inherited value is not written again.
func TestWriterInherits(t *testing.T) {
	feed, e := leastFeed(t), leastEntry(t)
	feed.Lang, feed.Base = "en", "https://www.example.com/"
	e.Lang, e.Base = feed.Lang, feed.Base
	e.Source = &atom.Feed{Lang: "en", Base: "https://www.example.com/"}
	dead := leastTombstone(t)
	dead.Lang, dead.Base = feed.Lang, feed.Base
	doc := string(feedDocument(t, atom.Writer{}, feed, dead, e))
	assert.Equal(t, 1, strings.Count(doc, `xml:lang="en"`), doc)
	assert.Equal(t, 1, strings.Count(doc, `xml:base="https://www.example.com/"`), doc)
	e.Lang, e.Base = "de", "https://www.example.com/de/"
	doc = string(feedDocument(t, atom.Writer{}, feed, dead, e))
	assert.Contains(t, doc, `<entry xml:lang="de" xml:base="https://www.example.com/de/">`)
	assert.Contains(t, doc, `<source xml:lang="en" xml:base="https://www.example.com/">`)
}

func TestWriterOrder(t *testing.T) {
	feed, e, dead := leastFeed(t), leastEntry(t), leastTombstone(t)
	e.Authors = feed.Authors
	w := atom.NewWriter(io.Discard)
	for name, write := range map[string]func() error{
		"entry": func() error { return w.WriteEntry(&e) }, "tombstone": func() error { return w.WriteTombstone(&dead) }, "close": w.Close,
	} {
		assert.EqualError(t, write(), "atom: WriteFeed must be called before", name)
	}
	require.NoError(t, w.WriteFeed(&feed))
	for name, write := range map[string]func() error{
		"feed": func() error { return w.WriteFeed(&feed) }, "entry": func() error { return w.WriteEntryDocument(&e) },
		"tombstone": func() error { return w.WriteTombstoneDocument(&dead) },
	} {
		assert.EqualError(t, write(), "atom: the document already has a root element", name)
	}
	require.NoError(t, w.Close())
	for name, write := range map[string]func() error{
		"feed": func() error { return w.WriteFeed(&feed) }, "entry": func() error { return w.WriteEntry(&e) },
		"tombstone": func() error { return w.WriteTombstone(&dead) }, "document": func() error { return w.WriteEntryDocument(&e) },
	} {
		assert.EqualError(t, write(), "atom: write after the end of the document", name)
	}
}

type brokenWriter struct{ left int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestWriterErrorSticks(t *testing.T) {
	feed, e := leastFeed(t), leastEntry(t)
	e.Title.Value = strings.Repeat("x", 40<<10)
	w := atom.NewWriter(&brokenWriter{50 << 10})
	require.NoError(t, w.WriteFeed(&feed))
	require.NoError(t, w.WriteEntry(&e))
	require.ErrorIs(t, w.WriteEntry(&e), io.ErrClosedPipe)
	require.ErrorIs(t, w.WriteEntry(&e), io.ErrClosedPipe)
	require.ErrorIs(t, w.WriteFeed(&feed), io.ErrClosedPipe)
	require.ErrorIs(t, w.Close(), io.ErrClosedPipe)
	require.ErrorIs(t, w.Close(), io.ErrClosedPipe)
	e.Authors = feed.Authors
	require.ErrorIs(t, atom.NewWriter(&brokenWriter{}).WriteEntryDocument(&e), io.ErrClosedPipe)
	require.ErrorIs(t, atom.NewWriter(writerFunc(func(p []byte) (int, error) { return len(p) - 1, nil })).WriteEntryDocument(&e), io.ErrShortWrite)
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestWriterDoesNotAllocate(t *testing.T) {
	feed, e := leastFeed(t), fullEntry(t)
	// other digests, attributes and elements need checks that allocate
	e.Content.Digests, e.Content.Attrs, e.Elements = e.Content.Digests[:2], nil, nil
	w := atom.NewWriter(io.Discard)
	require.NoError(t, w.WriteFeed(&feed))
	require.NoError(t, w.WriteEntry(&e))
	assert.Zero(t, testing.AllocsPerRun(2_000, func() {
		if err := w.WriteEntry(&e); err != nil {
			t.Fatal(err)
		}
	}))
}

func ExampleWriter() {
	w := atom.NewWriter(os.Stdout)
	at := websync.NewDatetime(time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC))
	feed := atom.Feed{
		ID: "https://www.example.com/feed", Title: atom.Text{Value: "Laws & ordinances"}, Updated: at,
		Authors: []websync.Person{{Name: "The Gazette"}},
		Links:   []websync.Link{{Rel: "self", Href: "https://www.example.com/feed.atom"}},
	}
	gone := atom.Tombstone{Ref: "https://www.example.com/act/1", When: at}
	entry := atom.Entry{
		ID: "https://www.example.com/act/2", Title: atom.Text{Value: "Act no. 2"}, Updated: at,
		Summary: atom.Text{Value: "On the keeping of records."},
		Content: atom.Content{Link: websync.Link{Href: "https://www.example.com/act/2.pdf", Type: "application/pdf"}},
	}
	err := errors.Join(w.WriteFeed(&feed), w.WriteTombstone(&gone), w.WriteEntry(&entry))

	entry.Updated = websync.Datetime{}
	fmt.Println(w.WriteEntry(&entry))
	fmt.Println(errors.Join(err, w.Close()))
	// Output:
	// atom: https://www.example.com/act/2: updated: missing (RFC 4287 §4.1.2)
	// <?xml version="1.0" encoding="UTF-8"?>
	// <feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0">
	//   <id>https://www.example.com/feed</id>
	//   <title>Laws &amp; ordinances</title>
	//   <updated>2024-05-01T12:00:00Z</updated>
	//   <author><name>The Gazette</name></author>
	//   <link rel="self" href="https://www.example.com/feed.atom"/>
	//   <at:deleted-entry ref="https://www.example.com/act/1" when="2024-05-01T12:00:00Z"/>
	//   <entry>
	//     <id>https://www.example.com/act/2</id>
	//     <title>Act no. 2</title>
	//     <updated>2024-05-01T12:00:00Z</updated>
	//     <summary>On the keeping of records.</summary>
	//     <content type="application/pdf" src="https://www.example.com/act/2.pdf"/>
	//   </entry>
	// </feed>
	// <nil>
}
