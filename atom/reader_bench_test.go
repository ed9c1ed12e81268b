package atom_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"testing"

	gofeed "github.com/mmcdole/gofeed/atom"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// writtenFeed is the feed of benchFeed as a document of benchEntries entries.
func writtenFeed(tb testing.TB) []byte {
	feed, entries := benchFeed()
	var b bytes.Buffer
	if err := writeFeed(&b, &feed, entries); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// BenchmarkReader reads one feed of 10,000 entries: with Next, with NextView, with a
// Decoder of encoding/xml into structs, entry by entry, and with gofeed's parser of Atom.
func BenchmarkReader(b *testing.B) {
	doc := writtenFeed(b)
	run := func(name string, read func() (int, error)) { testkit.MeasureEntries(b, name, doc, benchEntries, read) }
	run("websync", func() (n int, err error) {
		r := atom.NewReader(bytes.NewReader(doc))
		for {
			item, err := r.Next()
			if err == io.EOF {
				return n, nil
			}
			if err != nil || item.Entry.ID == "" || item.Entry.Updated.IsZero() || len(item.Entry.Content.Digests) != 1 || len(item.Entry.Links) != 2 {
				return n, err
			}
			n++
		}
	})
	view := func(r *atom.Reader) (n int, err error) {
		for {
			v, err := r.NextView()
			if err == io.EOF {
				return n, nil
			}
			if err != nil || len(v.ID) == 0 || v.Updated.IsZero() {
				return n, err
			}
			n++
		}
	}
	run("websync-view", func() (n int, err error) {
		return view(atom.NewReader(bytes.NewReader(doc)))
	})
	run("websync-report", func() (n int, err error) {
		r := atom.NewReader(bytes.NewReader(doc))
		r.Report = func(f websync.Finding) { b.Error(f) }
		return view(r)
	})
	run("encoding-xml", func() (n int, err error) {
		return testkit.DecodeEntries(doc, "entry", func(d *xml.Decoder, start *xml.StartElement) error {
			e, err := decodeEntry(d, start)
			if err != nil {
				return err
			}
			if e.ID == "" || e.Content == nil || len(e.Content.Hash) != 1 || len(e.Link) != 2 {
				return fmt.Errorf("the entry %q is not whole", e.ID)
			}
			return nil
		})
	})
	run("gofeed", func() (n int, err error) {
		feed, err := new(gofeed.Parser).Parse(bytes.NewReader(doc))
		if err != nil {
			return 0, err
		}
		return len(feed.Entries), nil
	})
}
