package atom_test

import (
	"bytes"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const benchEntries = 10_000

// benchFeed returns what a publisher's program writes: metadata, and entries with all
// common elements.
func benchFeed() (atom.Feed, []*atom.Entry) {
	at := time.Date(2024, 3, 1, 7, 0, 0, 0, time.UTC)
	feed := atom.Feed{
		ID: "https://www.example.com/feed", Title: atom.Text{Type: atom.PlainText, Value: "Laws & ordinances"},
		Updated: websync.NewDatetime(at), Authors: []websync.Person{{Name: "The Gazette"}},
		Links: []websync.Link{{Rel: "self", Href: "https://www.example.com/feed.atom"}},
	}
	entries := make([]*atom.Entry, benchEntries)
	for i := range entries {
		at = at.Add(time.Duration(i%7919) * time.Second)
		id := fmt.Sprintf("https://www.example.com/act/%d/%06d", 1990+i%30, i)
		entries[i] = &atom.Entry{
			ID: id, Title: atom.Text{Type: atom.PlainText, Value: fmt.Sprintf("Act no. %d on the keeping of records & registers", i)},
			Updated: websync.NewDatetime(at), Published: websync.NewDatetime(at.Add(-time.Hour)),
			Authors:    []websync.Person{{Name: "Ministry of Justice", URI: "https://www.example.com/ministry", Email: "law@example.com"}},
			Categories: []atom.Category{{Term: "act", Scheme: "https://www.example.com/types", Label: "Act"}},
			Summary:    atom.Text{Type: atom.PlainText, Value: "An act that lays down how records and registers are kept, by whom, and for how long they may be consulted."},
			Content: atom.Content{Link: websync.Link{Href: id + ".pdf", Type: "application/pdf", Length: int64(1000 + i),
				Digests: websync.Digests{websync.SHA256([]byte(id))}}},
			Links: []websync.Link{
				{Rel: "alternate", Href: id + ".html", Type: "text/html", Lang: "en"},
				{Rel: "alternate", Href: id + ".rdf", Type: "application/rdf+xml", Length: 2317},
			},
		}
	}
	return feed, entries
}

// The types with which encoding/xml reads and writes the same.
type (
	encodedText struct {
		Type string `xml:"type,attr,omitempty"`
		Lang string `xml:"http://www.w3.org/XML/1998/namespace lang,attr,omitempty"`
		Base string `xml:"http://www.w3.org/XML/1998/namespace base,attr,omitempty"`
		Text string `xml:",chardata"`
	}
	encodedPerson struct {
		Name  string `xml:"name"`
		URI   string `xml:"uri,omitempty"`
		Email string `xml:"email,omitempty"`
	}
	encodedCategory struct {
		Term   string `xml:"term,attr"`
		Scheme string `xml:"scheme,attr,omitempty"`
		Label  string `xml:"label,attr,omitempty"`
		Lang   string `xml:"http://www.w3.org/XML/1998/namespace lang,attr,omitempty"`
	}
	encodedLink struct {
		Rel      string     `xml:"rel,attr,omitempty"`
		Href     string     `xml:"href,attr,omitempty"`
		Src      string     `xml:"src,attr,omitempty"` // of content
		Type     string     `xml:"type,attr,omitempty"`
		Lang     string     `xml:"hreflang,attr,omitempty"`
		Title    string     `xml:"title,attr,omitempty"`
		Length   int64      `xml:"length,attr,omitempty"`
		Modified *time.Time `xml:"modified,attr,omitempty"`
		Attrs    []xml.Attr `xml:",any,attr"`
		Text     string     `xml:",chardata"` // of content

		Hash websync.Digests `xml:"hash,attr,omitempty"`
		MD5  encodedMD5      `xml:"http://purl.org/atompub/link-extensions/1.0 md5,attr,omitempty"`
	}
	encodedMD5     []byte
	encodedElement struct {
		XMLName xml.Name
		Attrs   []xml.Attr `xml:",any,attr"`
		XML     string     `xml:",innerxml"`
	}
	encodedEntry struct {
		Lang        string            `xml:"http://www.w3.org/XML/1998/namespace lang,attr,omitempty"`
		Base        string            `xml:"http://www.w3.org/XML/1998/namespace base,attr,omitempty"`
		ID          string            `xml:"id"`
		Title       encodedText       `xml:"title"`
		Updated     time.Time         `xml:"updated"`
		Published   *time.Time        `xml:"published"`
		Author      []encodedPerson   `xml:"author"`
		Contributor []encodedPerson   `xml:"contributor"`
		Category    []encodedCategory `xml:"category"`
		Summary     *encodedText      `xml:"summary"`
		Rights      *encodedText      `xml:"rights"`
		Link        []encodedLink     `xml:"link"`
		Content     *encodedLink      `xml:"content"`
		Foreign     []encodedElement  `xml:",any"`

		Line, Column int `xml:"-"`
	}
	encodedFeed struct {
		XMLName xml.Name        `xml:"http://www.w3.org/2005/Atom feed"`
		ID      string          `xml:"id"`
		Title   encodedText     `xml:"title"`
		Updated time.Time       `xml:"updated"`
		Author  []encodedPerson `xml:"author"`
		Link    []encodedLink   `xml:"link"`
		Entry   []encodedEntry  `xml:"entry"`
	}
)

func (m *encodedMD5) UnmarshalText(text []byte) error {
	sum := make([]byte, hex.DecodedLen(len(text)))
	n, err := hex.Decode(sum, text)
	*m = sum[:n]
	return err
}

// decodeEntry reads an entry with encoding/xml.
func decodeEntry(d *xml.Decoder, start *xml.StartElement) (e encodedEntry, err error) {
	e.Line, e.Column = d.InputPos()
	err = d.DecodeElement(&e, start)
	return e, err
}

func encodedFeedOf(f *atom.Feed, entries []*atom.Entry) *encodedFeed {
	x := &encodedFeed{
		ID: f.ID, Title: encodedText{Text: f.Title.Value}, Updated: f.Updated.Time(), Author: encodedPeopleOf(f.Authors),
		Link: encodedLinksOf(f.Links),
	}
	for _, e := range entries {
		x.Entry = append(x.Entry, encodedEntryOf(e))
	}
	return x
}

func encodedEntryOf(e *atom.Entry) encodedEntry {
	x := encodedEntry{
		ID: e.ID, Title: *encodedTextOf(e.Title), Updated: e.Updated.Time(), Published: encodedTimeOf(e.Published),
		Author: encodedPeopleOf(e.Authors), Summary: encodedTextOf(e.Summary), Link: encodedLinksOf(e.Links),
	}
	for _, c := range e.Categories {
		x.Category = append(x.Category, encodedCategory{c.Term, c.Scheme, c.Label, c.Lang})
	}
	if c := &e.Content; !c.IsZero() {
		content := encodedLinkOf(c.Link)
		content.Src, content.Href, content.Length, content.Text = c.Href, "", 0, c.Value
		x.Content = &content
	}
	for _, f := range e.Elements {
		start, end := strings.IndexByte(f.XML, '>'), strings.LastIndex(f.XML, "</")
		x.Foreign = append(x.Foreign, encodedElement{XMLName: xml.Name{Space: f.Space, Local: f.Local}, XML: f.XML[start+1 : end]})
	}
	return x
}

func encodedTextOf(t atom.Text) *encodedText {
	switch {
	case t.IsZero():
		return nil
	case t.Type == atom.PlainText:
		t.Type = "" // the default
	}
	return &encodedText{t.Type, t.Lang, t.Base, t.Value}
}

func encodedTimeOf(d websync.Datetime) *time.Time {
	if d.IsZero() {
		return nil
	}
	t := d.Time()
	return &t
}

func encodedPeopleOf(people []websync.Person) (all []encodedPerson) {
	for _, p := range people {
		all = append(all, encodedPerson{p.Name, p.URI, p.Email})
	}
	return all
}

func encodedLinksOf(links []websync.Link) (all []encodedLink) {
	for _, l := range links {
		all = append(all, encodedLinkOf(l))
	}
	return all
}

func encodedLinkOf(l websync.Link) encodedLink {
	return encodedLink{
		Rel: l.Rel, Href: l.Href, Type: l.Type, Lang: l.Lang, Title: l.Title, Length: l.Length, Hash: l.Digests,
		Modified: encodedTimeOf(l.Modified),
	}
}

// BenchmarkWriter writes one feed of 10,000 entries: with a Writer, and with an Encoder
// of encoding/xml from structs that are ready.
func BenchmarkWriter(b *testing.B) {
	feed, entries := benchFeed()
	ready := encodedFeedOf(&feed, entries)
	ours := func(dst io.Writer) error { return writeFeed(dst, &feed, entries) }
	peer := func(dst io.Writer) error { return xml.NewEncoder(dst).Encode(ready) }
	require.NoError(b, testkit.CheckSameEntries("entry", ours, peer))
	run := func(name string, write func(io.Writer) error) {
		b.Run(name, func(b *testing.B) {
			var out bytes.Buffer
			require.NoError(b, write(&out))
			b.SetBytes(int64(out.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if err := write(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchEntries, "ns/entry")
		})
	}
	run("websync", ours)
	run("encoding-xml", peer)
}

// writeFeed writes a feed document.
func writeFeed(dst io.Writer, feed *atom.Feed, entries []*atom.Entry) error {
	w := atom.NewWriter(dst)
	if err := w.WriteFeed(feed); err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.WriteEntry(e); err != nil {
			return err
		}
	}
	return w.Close()
}
