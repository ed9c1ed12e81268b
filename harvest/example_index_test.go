package harvest_test

import (
	"context"
	"fmt"
	"log"
	"maps"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/sitemap"
)

// A search index follows a sitemap and a feed.
func Example_index() {
	ctx := context.Background()
	catalog := harvest.NewCatalog(memstore.New()) // in a program: a Store of package sqlitestore
	h := &harvest.Harvester{Catalog: catalog, Fetcher: web()}
	_, err := h.RunAll(ctx,
		&sitemap.Source{URL: "https://law.example/sitemap.xml", Complete: true},
		&atom.Source{URL: "https://news.example/feed.atom"},
	)
	if err != nil {
		log.Fatal(err)
	}

	index := map[string]string{}
	err = harvest.Each(ctx, catalog, "search", func(d *harvest.Delivery) error {
		if d.Deleted {
			delete(index, d.ID)
			return nil
		}
		text, err := d.Content()
		if err != nil {
			return err
		}
		index[d.ID] = string(text)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range slices.Sorted(maps.Keys(index)) {
		fmt.Println(id, index[id])
	}

	changes := 0
	for _, err := range catalog.Changes(ctx, websync.Range{Since: time.Now().AddDate(0, 0, -1)}) {
		if err != nil {
			log.Fatal(err)
		}
		changes++
	}
	fmt.Println(changes, "changes since yesterday")
	// Output:
	// https://law.example/1 On dogs
	// https://law.example/2 On cats
	// urn:news:1 A new law
	// 3 changes since yesterday
}

// web is two sites. For HTTP, use the Fetcher of package harvest/fetch.
func web() harvest.Fetcher {
	return &sourcetest.Fetcher{Site: sourcetest.Site{
		"https://law.example/sitemap.xml": {Body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
			<url><loc>https://law.example/1</loc><lastmod>2026-01-02T00:00:00Z</lastmod></url>
			<url><loc>https://law.example/2</loc><lastmod>2026-01-02T00:00:00Z</lastmod></url></urlset>`},
		"https://law.example/1": {Body: "On dogs"},
		"https://law.example/2": {Body: "On cats"},
		"https://news.example/feed.atom": {Body: `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:news</id><title>News</title>
			<updated>2026-01-02T00:00:00Z</updated><author><name>Board</name></author>
			<entry><id>urn:news:1</id><title>News</title><updated>2026-01-02T00:00:00Z</updated>
				<link href="https://news.example/1"/></entry></feed>`},
		"https://news.example/1": {Body: "A new law"},
	}}
}
