package atom_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// BenchmarkPublisher writes an archive document of 1,000 records in memory, one in twenty
// of them deleted: with the Publisher, and with a Writer from the same entries. Rows only
// reads the log; check gets the subscription document.
func BenchmarkPublisher(b *testing.B) {
	const n = 1000
	ctx := b.Context()
	s := testkit.NewStore(b)
	for i := 0; i < 2*n; {
		var items []websync.Item
		for ; len(items) < 500; i++ {
			id := fmt.Sprintf("https://www.example.org/catalogue/section-%d/item-%06d", i%97, i)
			item := websync.Item{Resource: websync.Resource{
				ID: id, Title: fmt.Sprintf("Decision %d of the board", i), Summary: "What the board has decided, and why: in short",
				Modified: websync.DateOf(time.Unix(1_700_000_000+int64(i), 0)), Links: []websync.Link{{Rel: "related", Href: fmt.Sprintf("https://www.example.org/%d", i%50)}},
				Content: websync.Link{Href: id, Type: "text/html", Length: 7},
			}}
			item.Bodies = []websync.Body{pubKept("content", websync.Link{Href: id, Type: "text/html"})}
			if i%20 == 19 {
				item = websync.Item{Kind: websync.Deleted, Resource: websync.Resource{ID: id}}
			}
			items = append(items, item)
		}
		s.Fill("a", []string{"content"}, items...)
	}
	p := newPublisher(s, n)
	path := pubPaths(b, p)[0]
	doc, body := pubRender(b, p, path)
	feed, items := pubRead(b, pubSite+path, body)

	run := func(name string, write func(w io.Writer) error) {
		testkit.Measure(b, name, len(body), func() error { return write(io.Discard) })
	}
	run("publisher", func(w io.Writer) error { return doc.Write(ctx, w) })
	run("writer", func(w io.Writer) error {
		out := atom.NewWriter(w)
		err := out.WriteFeed(feed)
		for i := 0; err == nil && i < len(items); i++ {
			if items[i].Entry == nil {
				err = out.WriteTombstone(items[i].Tombstone)
			} else {
				err = out.WriteEntry(items[i].Entry)
			}
		}
		if err != nil {
			return err
		}
		return out.Close()
	})
	run("rows", func(io.Writer) error {
		for _, err := range s.Changes(ctx, websync.Range{Until: n}) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Document(ctx, "/feed.atom"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
