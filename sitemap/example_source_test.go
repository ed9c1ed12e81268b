package sitemap_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/sitemap"
)

// A site becomes records in a store. The second run finds that a page is no longer
// listed. The other has not changed, so nobody asks for it.
func ExampleSource() {
	const page = "<url><loc>https://www.example.com/%d</loc><lastmod>2026-01-02T00:00:00Z</lastmod></url>"
	web := &sourcetest.Fetcher{Site: sourcetest.Site{ // in a program: fetch.New(store), of package harvest/fetch
		"https://www.example.com/1": {Body: "page one"},
		"https://www.example.com/2": {Body: "page two"},
	}}
	list := func(entries ...string) {
		web.Site["https://www.example.com/sitemap.xml"] = sourcetest.Document{
			Body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + strings.Join(entries, "") + "</urlset>",
		}
	}
	ctx, store := context.Background(), harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: store, Fetcher: web}
	source := &sitemap.Source{URL: "https://www.example.com/sitemap.xml", Complete: true} // what it omits is deleted
	list(fmt.Sprintf(page, 1), fmt.Sprintf(page, 2))
	for range 2 {
		report, err := h.Run(ctx, source)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("created", report.Created, "unchanged", report.Unchanged, "deleted", report.Deleted, "in step:", report.InStep())
		list(fmt.Sprintf(page, 1))
	}
	for item, err := range store.Resources(ctx, websync.Range{}) {
		fmt.Println(item.Resource.ID, item.Resource.Modified, err)
	}
	// Output:
	// created 2 unchanged 0 deleted 0 in step: true
	// created 0 unchanged 1 deleted 1 in step: true
	// https://www.example.com/1 2026-01-02T00:00:00Z <nil>
}

// The events that a Source yields, without an engine.
func ExampleSource_events() {
	// for HTTP, use the Fetcher of package harvest/fetch
	web := &sourcetest.Fetcher{Site: sourcetest.Site{
		"https://www.example.com/robots.txt": {Body: "User-agent: *\nSitemap: /sitemap.xml\nSitemap: /old.txt\n"},
		"https://www.example.com/sitemap.xml": {Body: `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
			<sitemap><loc>https://www.example.com/news.xml</loc></sitemap>
			<sitemap><loc>https://www.example.com/lost.xml</loc></sitemap>
		</sitemapindex>`},
		"https://www.example.com/news.xml": {Body: example},
		"https://www.example.com/old.txt":  {Body: "https://www.example.com/old\n"},
	}}
	source := &sitemap.Source{URL: "https://www.example.com/robots.txt", Complete: true}
	run := &harvest.Run{
		Fetcher: web,
		Report:  func(websync.Finding) {},
		Expect:  func(int64) {},
		Log:     slog.New(slog.DiscardHandler),
	}
	for event, err := range source.Events(context.Background(), run) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch event.Kind {
		case harvest.Put:
			fmt.Println(event.Kind, event.Resource.ID)
		case harvest.Problem:
			fmt.Println(event.Kind, event.Err)
		case harvest.SnapshotEnd:
			fmt.Println(event.Kind, "complete:", event.Complete)
		default:
			fmt.Println(event.Kind)
		}
	}
	// Output:
	// snapshot start
	// put https://www.example.com/
	// put https://www.example.com/news?a=1&b=2
	// problem sitemap: https://www.example.com/lost.xml: status 404
	// put https://www.example.com/old
	// snapshot end complete: false
}
