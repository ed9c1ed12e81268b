package atom_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

// FuzzWritten: whatever a Writer accepts, Validate accepts without an error. The values
// are often those that mean something to one of them.
func FuzzWritten(f *testing.F) { f.Fuzz(rapid.MakeFuzz(requireValidWritten)) }

func TestWritten(t *testing.T) { rapid.Check(t, requireValidWritten) }

func requireValidWritten(t *rapid.T) {
	g := generator{t}
	feed := g.feed()
	feed.Complete, feed.Archive = rapid.Bool().Draw(t, "complete"), rapid.Bool().Draw(t, "archive")
	var b bytes.Buffer
	w := atom.NewWriter(&b)
	w.LegacyMD5 = rapid.Bool().Draw(t, "legacy")
	if w.WriteFeed(&feed) != nil {
		feed = leastFeed(t)
		require.NoError(t, w.WriteFeed(&feed))
	}
	items := 0
	for range rapid.IntRange(0, 3).Draw(t, "tombstones") {
		x := g.tombstone()
		if w.WriteTombstone(&x) == nil {
			items++
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "entries") {
		x := g.entry()
		if w.WriteEntry(&x) == nil {
			items++
		}
	}
	require.NoError(t, w.Close())
	requireNoErrors(t, b.Bytes())
	_, read := readBack(t, b.Bytes())
	require.Len(t, read, items)

	var alone bytes.Buffer
	if x := g.entry(); atom.NewWriter(&alone).WriteEntryDocument(&x) == nil {
		requireNoErrors(t, alone.Bytes())
	}
	alone.Reset()
	if x := g.tombstone(); atom.NewWriter(&alone).WriteTombstoneDocument(&x) == nil {
		requireNoErrors(t, alone.Bytes())
	}
}

// A generator draws values.
type generator struct{ t *rapid.T }

// change calls do in one of four cases, so that most of a value stays valid.
func (g generator) change(label string, do func()) {
	if rapid.IntRange(0, 3).Draw(g.t, label) == 0 {
		do()
	}
}

// text draws one of some texts, or sometimes any other.
func (g generator) text(label string, some ...string) string {
	if rapid.IntRange(0, 30).Draw(g.t, label+" of any kind") == 0 {
		return rapid.String().Draw(g.t, label)
	}
	return rapid.SampledFrom(some).Draw(g.t, label)
}

func (g generator) iri(label string) string {
	return g.text(label, "https://www.example.com/a", "https://www.example.com/b?x=1#y", "urn:example:1", "tag:example.com,2024:x", "", "",
		"relative", "HTTP://Example.com/%7ea", "https://www.example.com/å", "mailto:a@example.com", "https://exa mple.com/")
}

func (g generator) lang(label string) string {
	return g.text(label, "", "", "en", "sv-SE", "x-a", "en_GB")
}

func (g generator) time(label string) websync.Datetime {
	d, _ := websync.ParseDatetime(rapid.SampledFrom([]string{"2024-05-01T00:00:00Z", "2024-05-01T00:00:00.5+02:00", "2024", "2016-12-31T23:59:60Z",
		"2024-05-02", "2024-05-01T00:00-00:00", "0001-01-01T00:00:00+14:30", ""}).Draw(g.t, label))
	return d
}

func (g generator) textConstruct(label string) atom.Text {
	return atom.Text{Type: g.text(label+" type", "", "text", "html", "xhtml"), Lang: g.lang(label + " lang"), Base: g.iri(label + " base"),
		Value: g.text(label, "", "One & two", "<p>One</p>", unwrittenDiv+"<p/></div>", "\x00", unwrittenDiv+"<deleted-entry xmlns='"+atom.TombstoneNamespace+"'/></div>")}
}

// name draws the name of an element or an attribute.
func (g generator) name(label string) (space, local string) {
	return g.text(label+" space", atom.Namespace, atom.TombstoneNamespace, atom.HistoryNamespace, atom.LinkExtNamespace, "urn:x",
			"http://www.w3.org/2000/09/xmldsig#", "http://www.w3.org/XML/1998/namespace", "http://www.w3.org/1999/xhtml"),
		g.text(label, "complete", "archive", "deleted-entry", "by", "comment", "Signature", "entry", "id", "hash", "md5", "etag", "modified", "accessed", "a", "lang", "base")
}

func (g generator) elements(label string) (all []websync.Element) {
	for range rapid.IntRange(0, 2).Draw(g.t, label) {
		space, local := g.name(label)
		inner := g.text(label+" text", "", "text", "<a xmlns='urn:y'/>", "<entry xmlns='"+atom.Namespace+"'/>", "<id xmlns='"+atom.Namespace+"'>x</id>",
			"<deleted-entry xmlns='"+atom.TombstoneNamespace+"'/>", "<complete xmlns='"+atom.HistoryNamespace+"'/>")
		all = append(all, websync.Element{Space: space, Local: local, XML: "<" + local + " xmlns='" + space + "'>" + inner + "</" + local + ">"})
	}
	return all
}

func (g generator) links(label string) (all []websync.Link) {
	for range rapid.IntRange(0, 3).Draw(g.t, label) {
		l := websync.Link{
			Rel: g.text(label+" rel", "", "alternate", "self", "enclosure", "prev-archive", "next-archive", "current", "next", "previous", "first", "last", "via",
				"http://www.iana.org/assignments/relation/self"),
			Href: g.iri(label + " href"), Type: g.text(label+" type", "", "text/html", "application/atom+xml", "application/atom+xml;type=feed", "text", "a/b; c=\"d"),
			Lang: g.lang(label + " hreflang"), Title: g.text(label+" title", "", "One & two"), Length: rapid.Int64().Draw(g.t, label+" length"),
			Modified: g.time(label + " modified"),
		}
		for range rapid.IntRange(0, 2).Draw(g.t, label+" digests") {
			l.Digests = append(l.Digests, websync.Digest{Algorithm: g.text(label+" algorithm", "md5", "sha-256", "x"), Sum: g.text(label+" sum", "0123456789abcdef")})
		}
		for range rapid.IntRange(0, 2).Draw(g.t, label+" attributes") {
			space, local := g.name(label + " attribute")
			l.Attrs = append(l.Attrs, websync.Attr{Space: space, Local: local, Value: g.text(label+" value", "x", "\"x\"", "W/\"x\"", "md5:0")})
		}
		all = append(all, l)
	}
	return all
}

func (g generator) people(label string) (all []websync.Person) {
	for range rapid.IntRange(0, 1).Draw(g.t, label) {
		all = append(all, g.person(label))
	}
	return all
}

func (g generator) person(label string) websync.Person {
	return websync.Person{Name: g.text(label, "A", "  "), URI: g.iri(label + " uri"), Email: g.text(label+" email", "", "a@example.com", "a", "a b@c")}
}

func (g generator) categories(label string) (all []atom.Category) {
	for range rapid.IntRange(0, 2).Draw(g.t, label) {
		all = append(all, atom.Category{Term: g.text(label, "x"), Scheme: g.iri(label + " scheme"), Label: g.text(label+" label", "X"), Lang: g.lang(label + " lang")})
	}
	return all
}

func (g generator) feed() atom.Feed {
	x := leastFeed(g.t)
	g.change("another id of a feed", func() { x.ID = g.iri("feed") })
	g.change("another time of a feed", func() { x.Updated = g.time("feed updated") })
	g.change("other texts of a feed", func() {
		x.Title, x.Subtitle, x.Rights = g.textConstruct("feed title"), g.textConstruct("subtitle"), g.textConstruct("feed rights")
	})
	g.change("other people of a feed", func() { x.Authors, x.Contributors = g.people("feed author"), g.people("feed contributor") })
	g.change("links of a feed", func() { x.Links = g.links("feed link") })
	g.change("categories of a feed", func() { x.Categories = g.categories("feed category") })
	g.change("pictures", func() { x.Icon, x.Logo = g.iri("icon"), g.iri("logo") })
	g.change("a place of a feed", func() { x.Lang, x.Base = g.lang("feed lang"), g.iri("feed base") })
	g.change("elements of a feed", func() { x.Elements = g.elements("feed element") })
	g.change("a generator", func() {
		x.Generator = atom.Generator{Name: g.text("generator", "G"), URI: g.iri("generator uri"), Version: g.text("version", "1")}
	})
	return x
}

func (g generator) source() *atom.Feed {
	f := g.feed()
	f.Complete, f.Archive = rapid.Bool().Draw(g.t, "source complete"), rapid.Bool().Draw(g.t, "source archive")
	return &f
}

func (g generator) tombstone() atom.Tombstone {
	x := leastTombstone(g.t)
	g.change("ref", func() { x.Ref = g.iri("tombstone") })
	g.change("when", func() { x.When = g.time("when") })
	g.change("a place of a tombstone", func() { x.Lang, x.Base = g.lang("tombstone lang"), g.iri("tombstone base") })
	g.change("by", func() { x.By = g.person("by") })
	g.change("comment", func() { x.Comment = g.textConstruct("comment") })
	g.change("links of a tombstone", func() { x.Links = g.links("tombstone link") })
	g.change("a source of a tombstone", func() { x.Source = g.source() })
	g.change("elements of a tombstone", func() { x.Elements = g.elements("tombstone element") })
	return x
}

func (g generator) entry() atom.Entry {
	x := leastEntry(g.t)
	x.Authors = []websync.Person{{Name: "A"}}
	g.change("another id", func() { x.ID = g.iri("entry") })
	g.change("another time", func() { x.Updated, x.Published = g.time("updated"), g.time("published") })
	g.change("other texts", func() {
		x.Title, x.Summary, x.Rights = g.textConstruct("title"), g.textConstruct("summary"), g.textConstruct("rights")
	})
	g.change("other links", func() { x.Links = g.links("link") })
	g.change("other people", func() { x.Authors, x.Contributors = g.people("author"), g.people("contributor") })
	g.change("categories", func() { x.Categories = g.categories("category") })
	g.change("a place", func() { x.Lang, x.Base = g.lang("lang"), g.iri("base") })
	g.change("a source", func() { x.Source = g.source() })
	g.change("elements", func() { x.Elements = g.elements("element") })
	g.change("content", func() {
		x.Content.Type = g.text("content type", "text", "html", "xhtml", "text/plain", "application/xml", "image/png", "application/atom+xml", "multipart/mixed")
		x.Content.Value = g.text("content", "text", "<p>One</p>", unwrittenDiv+"<p/></div>", "QUJD", "<a/>", "<entry xmlns='"+atom.Namespace+"'/>", "\x01")
		x.Content.Lang, x.Content.Base = g.lang("content lang"), g.iri("content base")
	})
	g.change("content elsewhere", func() {
		if links := g.links("content link"); len(links) > 0 {
			x.Content.Link = links[0]
		}
	})
	return x
}
