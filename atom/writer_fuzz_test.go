package atom_test

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

// requireNoErrors checks that Validate finds no error in a document.
func requireNoErrors(t require.TestingT, doc []byte) {
	_, err := atom.Validate(bytes.NewReader(doc), atom.ValidateOptions{Report: func(f websync.Finding) {
		require.Less(t, f.Severity, websync.SeverityError, "%v\n%s", f, doc)
	}})
	require.NoError(t, err)
}

// readBack reads a document without a finding.
func readBack(t require.TestingT, doc []byte) (atom.Feed, []any) {
	r := atom.NewReader(bytes.NewReader(doc))
	r.Report = func(f websync.Finding) { require.LessOrEqual(t, f.Severity, websync.SeverityInfo, "%v\n%s", f, doc) }
	var items []any
	for item, err := range r.All() {
		require.NoError(t, err, string(doc))
		if item.Tombstone != nil {
			item.Tombstone.Line, item.Tombstone.Column = 0, 0
			items = append(items, *item.Tombstone)
			continue
		}
		item.Entry.Line, item.Entry.Column = 0, 0
		items = append(items, *item.Entry)
	}
	return *r.Feed(), items
}

// FuzzWriter: a document that a Writer accepts is well-formed and valid, and a Reader
// returns the same. A refused item leaves nothing in the document.
func FuzzWriter(f *testing.F) {
	add := func(id, text, value, lang, base, href, rel, media, date, space, local, xml string, length int64) {
		f.Add(id, text, value, lang, base, href, rel, media, date, space, local, xml, length)
	}
	add("urn:example:1", "text", "<One> & two", "en", "https://www.example.com/", "https://www.example.com/?a=1&b=2", "alternate",
		"text/html", "2024-05-01T00:00:00Z", "urn:x", "a", "<a xmlns='urn:x'>text</a>", int64(3))
	add("https://www.example.com/ä", "html", "<p>One", "sv-SE", "", "https://www.example.com/", "http://www.iana.org/assignments/relation/self",
		"application/atom+xml;type=\"feed\"", "2016-12-31T23:59:60Z", "", "größe", "", int64(-1))
	add("tag:a,2024:b", "xhtml", unwrittenDiv+"<p/></div>", "x-klingon", "urn:a", "mailto:a@b.c", "via", "image/png", "2024", "urn:y", "b",
		"<x:b xmlns:x='urn:y'><c xmlns=''/></x:b>", int64(0))
	add("http://[::1]:8/", "", "QUJD\nREVG", "", "", "https://www.example.com/", "enclosure", "application/xml", "2024-05-01T00:00:00.5+14:01", "urn:x", "a", "<a/>", int64(1<<62))
	add("urn:a", "text", "0", "", "", "https://www.example.com/", "enclosure", "application/xml", "2024-04-30T09:59:00.5Z", "urn:x", "a", "<a/>", int64(1<<62))
	f.Fuzz(func(t *testing.T, id, text, value, lang, base, href, rel, media, date, space, local, xml string, length int64) {
		at, _ := websync.ParseDatetime(date)
		construct := atom.Text{Type: text, Value: value, Lang: lang, Base: base}
		link := websync.Link{Rel: rel, Href: href, Type: media, Lang: lang, Title: value, Length: length, Modified: at,
			Digests: websync.Digests{{Algorithm: local, Sum: value}, websync.SHA256(nil)}}
		if local == "" {
			link.Digests = nil
		}
		bare := websync.Link{Rel: rel, Href: href, Attrs: []websync.Attr{{Space: space, Local: local, Value: value}}}
		person := websync.Person{Name: value, URI: base, Email: href}
		element := []websync.Element{{Space: space, Local: local, XML: xml}}
		source := &atom.Feed{ID: id, Title: construct, Updated: at, Icon: base, Links: []websync.Link{link}, Lang: lang, Base: base}
		entry := func(change func(*atom.Entry)) atom.Entry {
			e := leastEntry(t)
			e.ID, e.Authors = "urn:example:x", []websync.Person{{Name: "A"}}
			change(&e)
			return e
		}
		tries := []any{
			atom.Tombstone{Ref: id, When: at, By: person, Comment: construct, Links: []websync.Link{link}, Lang: lang, Base: base},
			atom.Tombstone{Ref: id, When: at, Elements: element},
			entry(func(e *atom.Entry) { e.ID, e.Updated, e.Lang, e.Base = id+"#", at, lang, base }),
			entry(func(e *atom.Entry) { e.Title, e.Summary, e.Rights = construct, construct, construct }),
			entry(func(e *atom.Entry) { e.Links = []websync.Link{link, {Href: href, Type: media}} }),
			entry(func(e *atom.Entry) { e.Links = []websync.Link{bare, bare} }),
			entry(func(e *atom.Entry) { e.Authors = []websync.Person{person} }),
			entry(func(e *atom.Entry) { e.Contributors = []websync.Person{{Name: value, Email: href}} }),
			entry(func(e *atom.Entry) {
				e.Categories = []atom.Category{{Term: value, Scheme: base, Label: href, Lang: lang}}
			}),
			entry(func(e *atom.Entry) { e.Source = source }),
			entry(func(e *atom.Entry) { e.Elements = element }),
			entry(func(e *atom.Entry) {
				e.Content.Type, e.Content.Value, e.Content.Lang, e.Content.Base = text, value, lang, base
			}),
			entry(func(e *atom.Entry) { e.Content.Type, e.Content.Value, e.Summary = media, value, construct }),
			entry(func(e *atom.Entry) { e.Content.Type, e.Content.Value = media, xml }),
			entry(func(e *atom.Entry) { e.Content.Link, e.Summary = link, plainText("-") }),
		}

		feed := leastFeed(t)
		feed.Title, feed.Updated, feed.Links, feed.Generator = construct, at, []websync.Link{link}, atom.Generator{Name: value, URI: base, Version: href}
		var b bytes.Buffer
		w := atom.NewWriter(&b)
		w.LegacyMD5 = length%2 == 0
		if err := w.WriteFeed(&feed); err != nil {
			feed = leastFeed(t)
			require.NoError(t, w.WriteFeed(&feed))
		}
		taken := 0
		for _, try := range tries {
			if err := writeItem(w, try); err == nil {
				taken++
			} else {
				refused := (*websync.EntryError)(nil)
				require.ErrorAs(t, err, &refused)
			}
		}
		require.NoError(t, w.Close())
		doc := b.Bytes()
		// encoding/xml accepts fewer names
		if isASCII(local) && isASCII(xml) && isASCII(value) {
			requireWellFormed(t, doc)
		}
		requireNoErrors(t, doc)

		read, items := readBack(t, doc)
		require.Len(t, items, taken, string(doc))
		again := feedDocument(t, atom.Writer{LegacyMD5: w.LegacyMD5}, read, items...)
		read2, items2 := readBack(t, again)
		require.Equal(t, read, read2)
		require.Equal(t, items, items2)
		require.Equal(t, string(again), string(feedDocument(t, atom.Writer{LegacyMD5: w.LegacyMD5}, read2, items2...)))
	})
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
