package atom_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

const benchEntries = 10_000

// benchFeed returns what a publisher's program writes: metadata, and entries with all
// common elements.
func benchFeed() (atom.Feed, []atom.Entry) {
	at := time.Date(2024, 3, 1, 7, 0, 0, 0, time.UTC)
	feed := atom.Feed{
		ID: "https://www.example.com/feed", Title: atom.Text{Type: atom.PlainText, Value: "Laws & ordinances"},
		Updated: websync.NewDatetime(at), Authors: []websync.Person{{Name: "The Gazette"}},
		Links: []websync.Link{{Rel: "self", Href: "https://www.example.com/feed.atom"}},
	}
	entries := make([]atom.Entry, benchEntries)
	for i := range entries {
		at = at.Add(time.Duration(i%7919) * time.Second)
		id := fmt.Sprintf("https://www.example.com/act/%d/%06d", 1990+i%30, i)
		entries[i] = atom.Entry{
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

// The types with which encoding/xml writes the same.
type (
	encodedText struct {
		Type string `xml:"type,attr,omitempty"`
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
	}
	encodedLink struct {
		Rel    string `xml:"rel,attr,omitempty"`
		Href   string `xml:"href,attr,omitempty"`
		Src    string `xml:"src,attr,omitempty"`
		Type   string `xml:"type,attr,omitempty"`
		Lang   string `xml:"hreflang,attr,omitempty"`
		Length int64  `xml:"length,attr,omitempty"`
		Hash   string `xml:"hash,attr,omitempty"`
	}
	encodedEntry struct {
		ID        string            `xml:"id"`
		Title     encodedText       `xml:"title"`
		Updated   time.Time         `xml:"updated"`
		Published time.Time         `xml:"published"`
		Author    []encodedPerson   `xml:"author"`
		Category  []encodedCategory `xml:"category"`
		Summary   encodedText       `xml:"summary"`
		Link      []encodedLink     `xml:"link"`
		Content   encodedLink       `xml:"content"`
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

func encodedLinkOf(l websync.Link) encodedLink {
	return encodedLink{Rel: l.Rel, Href: l.Href, Type: l.Type, Lang: l.Lang, Length: l.Length, Hash: l.Digests.String()}
}

func encodedFeedOf(f *atom.Feed, entries []atom.Entry) *encodedFeed {
	x := &encodedFeed{ID: f.ID, Title: encodedText{Text: f.Title.Value}, Updated: f.Updated.Time(), Author: []encodedPerson{{Name: f.Authors[0].Name}}}
	for _, l := range f.Links {
		x.Link = append(x.Link, encodedLinkOf(l))
	}
	for i := range entries {
		e := &entries[i]
		p, c := e.Authors[0], e.Categories[0]
		n := encodedEntry{
			ID: e.ID, Title: encodedText{Text: e.Title.Value}, Updated: e.Updated.Time(), Published: e.Published.Time(),
			Author: []encodedPerson{{p.Name, p.URI, p.Email}}, Category: []encodedCategory{{c.Term, c.Scheme, c.Label}},
			Summary: encodedText{Text: e.Summary.Value}, Content: encodedLinkOf(e.Content.Link),
		}
		n.Content.Src, n.Content.Href = n.Content.Href, ""
		for _, l := range e.Links {
			n.Link = append(n.Link, encodedLinkOf(l))
		}
		x.Entry = append(x.Entry, n)
	}
	return x
}

// BenchmarkWriter writes one feed of 10,000 entries: with a Writer, and with an Encoder
// of encoding/xml from structs that are ready.
func BenchmarkWriter(b *testing.B) {
	feed, entries := benchFeed()
	ready := encodedFeedOf(&feed, entries)
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
	run("websync", func(dst io.Writer) error {
		w := atom.NewWriter(dst)
		if err := w.WriteFeed(&feed); err != nil {
			return err
		}
		for i := range entries {
			if err := w.WriteEntry(&entries[i]); err != nil {
				return err
			}
		}
		return w.Close()
	})
	run("encoding-xml", func(dst io.Writer) error { return xml.NewEncoder(dst).Encode(ready) })
}
