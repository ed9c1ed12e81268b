package harvest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"log"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/sitemap"
)

// A table whose rows change in place becomes a sitemap and an Atom feed with tombstones.
// The site itself serves the pages, so only their digests are kept.
func ExampleRows() {
	ctx, base := context.Background(), "https://www.example.org/"
	type act struct {
		title, page string
		day         int
	}
	acts := map[string]act{"1": {"On dogs", "<p>Dogs</p>", 1}, "2": {"On cats", "<p>Cats</p>", 2}}
	query := func(context.Context) iter.Seq2[harvest.Row, error] { // SELECT id, title, page, modified FROM acts
		return func(yield func(harvest.Row, error) bool) {
			for id, a := range acts {
				row := harvest.Row{ID: base + id, Title: a.title, Type: "text/html", Modified: time.Date(2026, 1, a.day, 12, 0, 0, 0, time.UTC),
					Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(a.page)), nil }}
				if !yield(row, nil) {
					return
				}
			}
		}
	}
	catalog := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: catalog, Bodies: harvest.VerifyBodies}
	rows := &harvest.Rows{Name: "acts", Query: query}
	run := func() { // every minute
		if _, err := h.Run(ctx, rows); err != nil {
			log.Fatal(err)
		}
	}
	run()
	acts["1"] = act{"On all dogs", "<p>All dogs</p>", 3}
	delete(acts, "2")
	run()

	site := &publish.Site{Catalog: catalog, Base: base, Own: []string{"acts"}} // site.Handler serves it
	documents := publish.Join(site.Publishers(&sitemap.Publisher{}, &atom.Publisher{Author: websync.Person{Name: "Board"}})...)
	read := func(path string) io.Reader {
		var b bytes.Buffer
		doc, err := documents.Document(ctx, path)
		if err == nil {
			err = doc.Write(ctx, &b)
		}
		if err != nil {
			log.Fatal(err)
		}
		return &b
	}
	for page, err := range sitemap.NewReader(read("/sitemap.xml")).All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(page.Loc, page.LastMod)
	}
	for item, err := range atom.NewReader(read("/feed.atom")).All() {
		switch {
		case err != nil:
			log.Fatal(err)
		case item.Tombstone != nil:
			fmt.Println("deleted", item.Tombstone.Ref)
		default:
			fmt.Println(item.Entry.ID, item.Entry.Title.Value)
		}
	}
	// Output:
	// https://www.example.org/1 2026-01-03T12:00:00Z
	// deleted https://www.example.org/2
	// https://www.example.org/1 On all dogs
}
