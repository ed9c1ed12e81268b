package atom_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/bench"
	"github.com/websync-go/websync/internal/testkit"
)

const irregularEntries = 2000

// encodedForeign is encodedEntry with the elements of other namespaces, which a Reader
// keeps, too.
type encodedForeign struct {
	encodedEntry
	Foreign []struct {
		XMLName xml.Name
		Attrs   []xml.Attr `xml:",any,attr"`
		XML     string     `xml:",innerxml"`
	} `xml:",any"`
}

// BenchmarkIrregular reads feeds as the web has them, and writes their entries, in turns
// with encoding/xml: as views and as entries that may be kept.
func BenchmarkIrregular(b *testing.B) {
	doc := bench.Atom(13, irregularEntries, bench.Mixed)
	var feed atom.Feed
	var entries []atom.Entry
	r := atom.NewReader(bytes.NewReader(doc))
	require.NoError(b, readEntries(r, func(e *atom.Entry) { entries = append(entries, *e) }))
	feed = *r.Feed()
	feed.Authors = []websync.Person{{Name: "Gazette"}} // for entries that have none
	decode := bench.CPU("encoding-xml", func() error {
		return counted(testkit.DecodeEntries(doc, "entry", func(d *xml.Decoder, start *xml.StartElement) error {
			var e encodedForeign
			return d.DecodeElement(&e, start)
		}))
	})
	b.Run("views", func(b *testing.B) {
		bench.Beside(b, len(doc), bench.CPU("websync", func() error {
			n, r := 0, atom.NewReader(bytes.NewReader(doc))
			for {
				_, err := r.NextView()
				if err == io.EOF {
					return counted(n, nil)
				}
				if err != nil {
					return err
				}
				n++
			}
		}), decode)
	})
	b.Run("entries", func(b *testing.B) {
		bench.Beside(b, len(doc), bench.CPU("websync", func() error {
			n := 0
			err := readEntries(atom.NewReader(bytes.NewReader(doc)), func(*atom.Entry) { n++ })
			return counted(n, err)
		}), decode)
	})
	var encoded []*encodedEntry
	for i := range entries {
		encoded = append(encoded, encodedIrregular(&entries[i]))
	}
	b.Run("writing", func(b *testing.B) {
		bench.Beside(b, len(doc), bench.CPU("websync", func() error {
			w := atom.NewWriter(io.Discard)
			if err := w.WriteFeed(&feed); err != nil {
				return err
			}
			for i := range entries {
				if err := w.WriteEntry(&entries[i]); err != nil {
					return err
				}
			}
			return w.Close()
		}), bench.CPU("encoding-xml", func() error {
			enc := xml.NewEncoder(io.Discard)
			for _, e := range encoded {
				if err := enc.Encode(e); err != nil {
					return err
				}
			}
			return enc.Close()
		}))
	})
}

// readEntries calls f with each entry.
func readEntries(r *atom.Reader, f func(*atom.Entry)) error {
	for {
		item, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		f(item.Entry)
	}
}

// encodedIrregular returns what encoding/xml writes of an entry.
func encodedIrregular(e *atom.Entry) *encodedEntry {
	n := &encodedEntry{
		ID: e.ID, Title: encodedText{Text: e.Title.Value}, Updated: e.Updated.Time(), Published: e.Published.Time(),
		Summary: encodedText{Text: e.Summary.Value}, Content: encodedLinkOf(e.Content.Link),
	}
	for _, p := range e.Authors {
		n.Author = append(n.Author, encodedPerson{p.Name, p.URI, p.Email})
	}
	for _, c := range e.Categories {
		n.Category = append(n.Category, encodedCategory{c.Term, c.Scheme, c.Label})
	}
	for _, l := range e.Links {
		n.Link = append(n.Link, encodedLinkOf(l))
	}
	return n
}

// counted returns an error unless all entries were read.
func counted(n int, err error) error {
	if err == nil && n != irregularEntries {
		err = fmt.Errorf("read %d entries, want %d", n, irregularEntries)
	}
	return err
}
