package sitemap_test

import (
	"context"
	"fmt"
	"os"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/sitemap"
)

// A Publisher is usually given to package publish, which serves its documents or writes
// them to files. This example prints them.
func ExamplePublisher() {
	ctx := context.Background()
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	modified, _ := websync.ParseDatetime("2026-01-02")
	page := func(name string) harvest.Event {
		return harvest.Event{
			Resource: websync.Resource{ID: "https://www.example.com/" + name, Modified: modified},
			Open:     harvest.OpenBytes([]byte("the page " + name)),
		}
	}
	if _, err := h.Run(ctx, harvest.Of("pages", page("news"), page("old%20news"))); err != nil {
		fmt.Println(err)
		return
	}
	p := &sitemap.Publisher{Place: websync.Place{Catalog: h.Catalog, Base: "https://www.example.com/"}}
	p.Locator = websync.PathLocator{Base: p.Base, Own: []string{"pages"}, Reserved: p.Reserved}
	for path, err := range p.Documents(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		doc, err := p.Document(ctx, path)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(path, doc.Type)
		if err := doc.Write(ctx, os.Stdout); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Unordered output:
	// /sitemap.xml application/xml
	// <?xml version="1.0" encoding="UTF-8"?>
	// <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
	// <url><loc>https://www.example.com/news</loc><lastmod>2026-01-02</lastmod></url>
	// <url><loc>https://www.example.com/old%20news</loc><lastmod>2026-01-02</lastmod></url>
	// </urlset>
	// /robots.txt text/plain; charset=utf-8
	// Sitemap: https://www.example.com/sitemap.xml
}
