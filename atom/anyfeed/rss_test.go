package anyfeed_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
)

const modules = ` xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:content="http://purl.org/rss/1.0/modules/content/"
	xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:podcast="https://podcastindex.org/namespace/1.0"
	xmlns:a="http://www.w3.org/2005/Atom" xmlns:x="urn:x" xmlns:h="http://www.w3.org/1999/xhtml" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"`

// dialects are the roots of RSS, with what ends them.
var dialects = map[string][2]string{
	"2.0":                     {`<rss version="2.0"` + modules + `><channel>`, `</channel></rss>`},
	"2.0 in a namespace":      {`<rss xmlns="http://backend.userland.com/rss2"` + modules + `><channel>`, `</channel></rss>`},
	"2.0, undeclared":         {`<rss version="2.0" xmlns:x="urn:x"><channel>`, `</channel></rss>`},
	"2.0 in capitals":         {`<RSS` + modules + `><Channel>`, `</Channel></RSS>`},
	"1.0":                     {`<rdf:RDF xmlns="http://purl.org/rss/1.0/"` + modules + `><channel/>`, `</rdf:RDF>`},
	"0.90":                    {`<rdf:RDF xmlns="http://channel.netscape.com/rdf/simple/0.9/"` + modules + `><channel/>`, `</rdf:RDF>`},
	"1.0 in its own channel":  {`<rdf:RDF xmlns="http://purl.org/rss/1.0/"` + modules + `><channel>`, `</channel></rdf:RDF>`},
	"2.0, items in its place": {`<rss` + modules + `><channel/>`, `</rss>`},
}

// itemOf returns the entry of an item, with the findings beyond the first.
func itemOf(t *testing.T, start, item, end string) (*atom.Entry, []string) {
	t.Helper()
	r, err := parse(strings.NewReader(start + item + end))
	require.NoError(t, err)
	require.Len(t, r.Items, 1, "%s", item)
	return r.Items[0].Entry, r.Findings[1:]
}

func textHTML(s string) atom.Text { return atom.Text{Type: atom.HTML, Value: s} }

// TestItem: each field of an item, whatever the dialect.
func TestItem(t *testing.T) {
	link := func(rel, href string) websync.Link { return websync.Link{Rel: rel, Href: href} }
	links := func(l ...websync.Link) func(*atom.Entry) { return func(e *atom.Entry) { e.Links = l } }
	authors := func(p ...websync.Person) func(*atom.Entry) { return func(e *atom.Entry) { e.Authors = p } }
	published := func(s string) func(*atom.Entry) {
		return func(e *atom.Entry) {
			d, _, err := websync.ParseDatetimeLenient(s)
			require.NoError(t, err)
			e.Published = d
		}
	}
	title := func(s string) func(*atom.Entry) {
		return func(e *atom.Entry) { e.Title = atom.Text{Type: atom.PlainText, Value: s} }
	}
	both := func(sets ...func(*atom.Entry)) func(*atom.Entry) {
		return func(e *atom.Entry) {
			for _, set := range sets {
				set(e)
			}
		}
	}
	enclosure := websync.Link{Rel: "enclosure", Href: "https://example.org/a.mp3", Type: "audio/mpeg", Length: 9}
	ann := websync.Person{Name: "Ann", Email: "ann@example.org"}
	tests := []struct {
		item string
		want func(*atom.Entry)
	}{
		{`<title>A &amp;lt; B</title>`, title("A &lt; B")},
		{`<Title>A</Title>`, title("A")},
		{`<title>A <b>b</b> &lt;i></title>`, func(e *atom.Entry) { e.Title = textHTML("A <b>b</b> &lt;i&gt;") }},
		{`<dc:title>B</dc:title><title>A</title>`, title("A")},
		{`<title/><dc:title>B</dc:title>`, title("B")},
		{`<itunes:title>B</itunes:title>`, title("B")},
		{`<x:title>B</x:title><media:title>B</media:title>`, func(*atom.Entry) {}},
		{`<description>&lt;p>A&lt;/p> &amp;lt;</description>`, func(e *atom.Entry) { e.Summary = textHTML("<p>A</p> &lt;") }},
		{`<description><![CDATA[<p>A</p> &lt;]]></description>`, func(e *atom.Entry) { e.Summary = textHTML("<p>A</p> &lt;") }},
		{`<description>&lt;script><p>A<br/></p></description>`, func(e *atom.Entry) { e.Summary = textHTML("&lt;script&gt;<p>A<br></p>") }},
		{`<description xml:lang="fr" xml:base="/fr/">A</description>`, func(e *atom.Entry) {
			e.Summary = atom.Text{Type: atom.HTML, Value: "A", Lang: "fr", Base: "https://example.org/fr/"}
		}},
		{`<itunes:summary>A</itunes:summary>`, func(e *atom.Entry) { e.Summary = textHTML("A") }},
		{`<content:encoded><![CDATA[<p>A</p>]]></content:encoded>`, func(e *atom.Entry) { e.Content.Type, e.Content.Value = atom.HTML, "<p>A</p>" }},
		{`<pubDate>Tue, 6 Nov 94 08:49:37 EST (x)</pubDate>`, published("1994-11-06T08:49:37-05:00")},
		{`<dc:date>2024-05-01T00:00:00Z</dc:date><pubDate>2024-05-02T00:00:00Z</pubDate>`, published("2024-05-02T00:00:00Z")},
		{`<dc:date>2024-05-01T00:00:00Z</dc:date><dcterms:issued>2024-05-02T00:00:00Z</dcterms:issued>`, published("2024-05-02T00:00:00Z")},
		{`<dcterms:modified>2024-05-02T00:00:00Z</dcterms:modified>`, func(e *atom.Entry) { e.Updated = mustDate("2024-05-02T00:00:00Z") }},
		{`<a:updated>2024-05-02T00:00:00Z</a:updated>`, func(e *atom.Entry) { e.Updated = mustDate("2024-05-02T00:00:00Z") }},
		{`<author>ann@example.org (Ann)</author>`, authors(ann)},
		{`<author><name>Ann</name><email>ann@example.org</email></author>`, authors(ann)},
		{`<dc:creator>Ann</dc:creator><author>ann@example.org (Ann)</author>`, authors(ann)},
		{`<dc:creator>Ann</dc:creator><dc:creator>Bo</dc:creator>`, authors(websync.Person{Name: "Ann"}, websync.Person{Name: "Bo"})},
		{`<itunes:author>Ann</itunes:author>`, authors(websync.Person{Name: "Ann"})},
		{`<itunes:author>Bo</itunes:author><dc:creator>Ann</dc:creator>`, authors(websync.Person{Name: "Ann"})},
		{`<a:author><a:name>Ann</a:name><a:uri>/ann</a:uri></a:author>`, authors(websync.Person{Name: "Ann", URI: "https://example.org/ann"})},
		{`<dc:contributor>Ann</dc:contributor>`, func(e *atom.Entry) { e.Contributors = []websync.Person{{Name: "Ann"}} }},
		{`<category>A</category><category domain="urn:d">B</category><dc:subject>C</dc:subject>`, func(e *atom.Entry) {
			e.Categories = []atom.Category{{Term: "A"}, {Term: "B", Scheme: "urn:d"}, {Term: "C"}}
		}},
		{`<category domain="d">B</category>`, func(e *atom.Entry) { e.Categories = []atom.Category{{Term: "B"}} }},
		{`<link> /b </link>`, links(link("alternate", "https://example.org/b"))},
		{`<enclosure url="/e"/><atom:link href="/a"/><link>/b</link>`,
			links(link("enclosure", "https://example.org/e"), link("alternate", "https://example.org/b"), link("alternate", "https://example.org/a"))},
		{`<link xml:base="/c/">b</link>`, links(link("alternate", "https://example.org/c/b"))},
		{`<link href="/b" rel="related"/>`, links(link("related", "https://example.org/b"))},
		{`<link x:href="/x"/><x:link>/x</x:link><x:guid>x</x:guid>`, func(*atom.Entry) {}},
		{`<a:link href="/b" rel="via"/>`, links(link("via", "https://example.org/b"))},
		{`<comments>/c</comments>`, links(link("replies", "https://example.org/c"))},
		{`<enclosure url="/a.mp3" type="audio/mpeg" length="9"/>`, links(enclosure)},
		{`<enclosure x:url="/b" url="/a.mp3" type="audio/mpeg" x:type="b" length="9"/>`, links(websync.Link{
			Rel: enclosure.Rel, Href: enclosure.Href, Type: enclosure.Type, Length: 9,
			Attrs: []websync.Attr{{Space: "urn:x", Local: "url", Value: "/b"}, {Space: "urn:x", Local: "type", Value: "b"}},
		})},
		{`<enclosure a:url="/b" xmlns:url="urn:url" xml:type="b" url="/a.mp3" type="audio/mpeg" length="9" a:length="1"/>`, links(enclosure)},
		{`<enclosure x:url="/b"/>`, func(*atom.Entry) {}},
		{`<media:content url="/a.mp3" type="audio/mpeg" fileSize="9" duration="3"/>`, links(enclosure)},
		{`<media:content url="/a.mp3" fileSize="9"/><enclosure url="/a.mp3" type="audio/mpeg"/>`, links(enclosure)},
		{`<media:group><media:content url="/a.mp3" type="audio/mpeg" lang="en"><media:title>A</media:title></media:content><media:content url="/b.mp3"/></media:group>`,
			links(websync.Link{Rel: "enclosure", Href: enclosure.Href, Type: "audio/mpeg", Lang: "en", Title: "A"}, link("enclosure", "https://example.org/b.mp3"))},
		{`<media:content url="/a.mp3"><media:thumbnail url="/a.png"/></media:content>`,
			links(link("icon", "https://example.org/a.png"), link("enclosure", "https://example.org/a.mp3"))},
		{`<itunes:image href="/a.png"/><media:thumbnail url="/a.png" width="3"/>`, links(link("icon", "https://example.org/a.png"))},
		{`<source url="/feed">F</source>`, func(e *atom.Entry) {
			e.Source = &atom.Feed{Title: atom.Text{Type: atom.PlainText, Value: "F"}, Links: []websync.Link{link("self", "https://example.org/feed")}}
		}},
		{`<dc:rights>R</dc:rights>`, func(e *atom.Entry) { e.Rights = atom.Text{Type: atom.PlainText, Value: "R"} }},
		{`<dc:language>fr</dc:language>`, func(e *atom.Entry) { e.Lang = "fr" }},
		{`<x:place>P</x:place>`, func(*atom.Entry) {}},
		{`<title>A</title><link>b</link><dc:creator>Ann</dc:creator>`, both(title("A"), links(link("alternate", "https://example.org/gazette/b")), authors(websync.Person{Name: "Ann"}))},
	}
	for name, dialect := range dialects {
		t.Run(name, func(t *testing.T) {
			for _, tt := range tests {
				if name == "2.0, undeclared" && (strings.Contains(tt.item, "<a:") || strings.Contains(tt.item, " a:")) {
					continue // a is no prefix that is known
				}
				got, findings := itemOf(t, dialect[0], "<item><guid>urn:1</guid>"+tt.item+"</item>", dialect[1])
				want := &atom.Entry{ID: "urn:1"}
				tt.want(want)
				got.Line, got.Column, got.Base, got.Elements = 0, 0, "", nil
				got.PublishedText, got.UpdatedText = "", ""
				assert.Equal(t, want, got, tt.item)
				assert.Empty(t, findings, tt.item)
			}
		})
	}
}

func mustDate(s string) websync.Datetime {
	d, err := websync.ParseDatetime(s)
	if err != nil {
		panic(err)
	}
	return d
}

// TestXHTMLBody: what is escaped in XHTML stays so.
func TestXHTMLBody(t *testing.T) {
	const div = `<div xmlns="http://www.w3.org/1999/xhtml">`
	for src, want := range map[string]string{
		`<h:body>&lt;script><h:b>b</h:b></h:body>`:            div + `&lt;script&gt;<h:b xmlns:h="http://www.w3.org/1999/xhtml">b</h:b></div>`,
		div + `<![CDATA[<script>]]><b xml:base="/x/"/></div>`: div + `&lt;script&gt;<b xmlns="http://www.w3.org/1999/xhtml" xml:base="/x/"/></div>`,
		`<h:body>&lt;script></h:body>`:                        `&lt;script&gt;`,
	} {
		e, _ := itemOf(t, dialects["2.0"][0], "<item><guid>1</guid>"+src+"</item>", dialects["2.0"][1])
		assert.Equal(t, want, e.Content.Value)
	}
}

// TestKept: nothing of an item is lost, and a publisher of Atom states it again.
func TestKept(t *testing.T) {
	for src, want := range map[string]string{
		`<x:a b="c"><x:d/></x:a>`:                                    `<x:a xmlns:x="urn:x" b="c"><x:d/></x:a>`,
		`<x:title>B</x:title>`:                                       `<x:title xmlns:x="urn:x">B</x:title>`,
		`<podcast:transcript url="/t"/>`:                             `<podcast:transcript xmlns:podcast="https://podcastindex.org/namespace/1.0" url="/t"/>`,
		`<itunes:duration>3</itunes:duration>`:                       `<itunes:duration xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">3</itunes:duration>`,
		`<media:content url="/a" duration="3"/>`:                     `<media:content xmlns:media="http://search.yahoo.com/mrss/" url="/a" duration="3"/>`,
		`<dc:creator>A</dc:creator><itunes:author>B</itunes:author>`: `<itunes:author xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">B</itunes:author>`,
		`<title>A</title><dc:title>B</dc:title>`:                     `<dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">B</dc:title>`,
		`<pubDate>2024-05-02</pubDate><dc:date>2024</dc:date>`:       `<dc:date xmlns:dc="http://purl.org/dc/elements/1.1/">2024</dc:date>`,
		`<pubDate>2024-05-02</pubDate><pubDate>2024</pubDate>`:       `<pubDate xmlns="">2024</pubDate>`,
		`<category domain="d">B</category>`:                          `<category xmlns="" domain="d">B</category>`,
		`<place>P</place>`:                                           `<place xmlns="">P</place>`,
		`<dcterms:spatial>P</dcterms:spatial>`:                       `<dcterms:spatial xmlns:dcterms="http://purl.org/dc/terms/">P</dcterms:spatial>`,
	} {
		e, _ := itemOf(t, dialects["2.0"][0], "<item><guid>urn:1</guid>"+src+"</item>", dialects["2.0"][1])
		require.Len(t, e.Elements, 1, src)
		assert.Equal(t, want, e.Elements[0].XML)

		resource := e.Resource(nil)
		again := atom.EntryOf(&resource, mustDate("2024-05-02T00:00:00Z"), websync.Person{Name: "P"})
		var out bytes.Buffer
		w := atom.NewWriter(&out)
		require.NoError(t, w.WriteFeed(&atom.Feed{ID: "urn:f", Title: atom.Text{Value: "F"}, Updated: again.Updated}))
		require.NoError(t, w.WriteEntry(&again), src)
		require.NoError(t, w.Close())
		assert.Contains(t, out.String(), want)
	}
}

// TestChannel: each field of a channel.
func TestChannel(t *testing.T) {
	r, err := parse(strings.NewReader(dialects["2.0"][0] + `
		<itunes:image href="/i.png"/><x:title>no</x:title><dc:title>second</dc:title><title>T</title><description>D &lt;</description><link>/</link>
		<copyright>C</copyright><dc:language>fr</dc:language><managingEditor>ed@example.org (Ed)</managingEditor><webMaster>web@example.org</webMaster>
		<dc:creator>Ann</dc:creator><category>K</category><generator>G</generator><pubDate>2024-05-01T00:00:00Z</pubDate><ttl>60</ttl>
		<lastBuildDate>2024-05-02T00:00:00Z</lastBuildDate><a:link rel="next" href="2"/><itunes:owner><itunes:name>O</itunes:name></itunes:owner>
		<item><guid>1</guid></item>` + dialects["2.0"][1]))
	require.NoError(t, err)
	f := r.Feed
	assert.Equal(t, "T", f.Title.Value)
	assert.Equal(t, atom.Text{Type: atom.PlainText, Value: "D <"}, f.Subtitle)
	assert.Equal(t, "C", f.Rights.Value)
	assert.Equal(t, "fr", f.Lang)
	assert.Equal(t, "fr", r.Items[0].Entry.Lang)
	assert.Equal(t, []websync.Person{{Name: "Ed", Email: "ed@example.org"}, {Name: "Ann"}}, f.Authors)
	assert.Equal(t, []websync.Person{{Email: "web@example.org"}}, f.Contributors)
	assert.Equal(t, []atom.Category{{Term: "K"}}, f.Categories)
	assert.Equal(t, "G", f.Generator.Name)
	assert.Equal(t, "2024-05-02T00:00:00Z", f.Updated.String())
	assert.Equal(t, "https://example.org/i.png", f.Logo)
	assert.Equal(t, []websync.Link{{Rel: "alternate", Href: "https://example.org/"}, {Rel: "next", Href: "https://example.org/gazette/2"}}, f.Links)
	var names []string
	for _, x := range f.Elements {
		names = append(names, x.Local)
	}
	assert.Equal(t, []string{"image", "title", "title", "pubDate", "ttl", "owner"}, names)
}

// TestPermalinks: a guid is a link unless it states that it is none, or there is another.
func TestPermalinks(t *testing.T) {
	for src, want := range map[string]string{
		`<guid>https://example.org/1</guid>`:                       "https://example.org/1",
		`<guid isPermaLink="TRUE">https://example.org/1</guid>`:    "https://example.org/1",
		`<guid isPermaLink="false">https://example.org/1</guid>`:   "",
		`<guid x:isPermaLink="false">https://example.org/1</guid>`: "https://example.org/1",
		`<guid>urn:1</guid>`: "",
		`<guid>https://example.org/1</guid><link>/2</link>`:                "https://example.org/2",
		`<guid>https://example.org/1</guid><a:link rel="self" href="/2"/>`: "https://example.org/1",
	} {
		e, _ := itemOf(t, dialects["2.0"][0], "<item>"+src+"</item>", dialects["2.0"][1])
		page, _ := e.Link("alternate")
		assert.Equal(t, want, page.Href, src)
	}
}

// TestBases: xml:base and xml:lang apply on each level.
func TestBases(t *testing.T) {
	r, err := parse(strings.NewReader(`<rss xml:base="a/" xml:lang="de"><channel xml:base="b/" xml:lang="fr"><link>.</link>
		<item xml:base="../c/" xml:lang="en"><guid>1</guid><link>d</link><enclosure xml:base="/e/" url="f"/></item><item xml:lang=""><guid>2</guid><link>d</link></item></channel></rss>`))
	require.NoError(t, err)
	assert.Equal(t, "https://example.org/gazette/a/b/", r.Feed.Base)
	assert.Equal(t, "fr", r.Feed.Lang)
	assert.Equal(t, "https://example.org/gazette/a/b/", r.Feed.Links[0].Href)
	first, second := r.Items[0].Entry, r.Items[1].Entry
	assert.Equal(t, "https://example.org/gazette/a/c/", first.Base)
	assert.Equal(t, "en", first.Lang)
	assert.Equal(t, []websync.Link{{Rel: "alternate", Href: "https://example.org/gazette/a/c/d"}, {Rel: "enclosure", Href: "https://example.org/e/f"}}, first.Links)
	assert.Equal(t, "und", second.Lang)
	assert.Equal(t, "https://example.org/gazette/a/b/d", second.Links[0].Href)
}

// TestRoom: a feed of too many elements loses some of them, and nothing else.
func TestRoom(t *testing.T) {
	item := func(i int) string {
		return fmt.Sprintf("<item><guid>%d</guid>%s</item>", i, strings.Repeat(`<x:a xmlns:x="urn:x"/>`, 100))
	}
	var b strings.Builder
	for i := range 1000 {
		b.WriteString(item(i))
	}
	r, err := parse(strings.NewReader(rssStart + b.String() + rssEnd))
	require.NoError(t, err)
	assert.Len(t, r.Items, 1000)
	assert.Len(t, r.Findings, 2)
	assert.Contains(t, r.Findings[1], "no room")
	assert.Zero(t, r.Feed.Skipped)
	last := r.Items[999].Entry
	assert.Empty(t, last.Elements)
	p := anyfeed.Parser{MaxBytes: -1}
	_, items, err := p.Parse(strings.NewReader(rssStart+b.String()+rssEnd), atom.Origin{URL: testURL}, nil)
	require.NoError(t, err)
	assert.Len(t, items[999].Entry.Elements, 100)

	many := "<item><guid>m</guid>" + strings.Repeat("<x/>", 20_000) + "</item>"
	r, err = parse(strings.NewReader(rssStart + many + item(0) + many + rssEnd))
	require.NoError(t, err)
	assert.Len(t, r.Items, 3)
	assert.Len(t, r.Items[0].Entry.Elements, 10_000)
	assert.Len(t, r.Items[1].Entry.Elements, 100, "an entry takes no room from the next")
	assert.Len(t, r.Findings, 3, "one for each entry that is too full")
}
