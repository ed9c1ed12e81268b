package sitemap_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/sitemap"
)

// A Source is usually given to a harvest.Harvester. This prints the events that it
// yields.
func ExampleSource() {
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
