package sitemap_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/sitemap"
)

// documents is a Fetcher without a network. Package harvest/fetch has the one for HTTP.
type documents map[string]string

func (d documents) Fetch(_ context.Context, req *harvest.Request) (*harvest.Response, error) {
	text, ok := d[req.URL]
	if !ok {
		return nil, fmt.Errorf("%s: %w", req.URL, websync.ErrGone)
	}
	body, err := spool.Read(strings.NewReader(text), 0)
	if err != nil {
		return nil, err
	}
	return &harvest.Response{URL: req.URL, Status: 200, Body: body, Length: body.Size()}, nil
}

// A Source is usually given to a harvest.Harvester. This prints the events that it yields
// it.
func ExampleSource() {
	web := documents{
		"https://www.example.com/robots.txt": "User-agent: *\nSitemap: /sitemap.xml\nSitemap: /old.txt\n",
		"https://www.example.com/sitemap.xml": `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
			<sitemap><loc>https://www.example.com/news.xml</loc></sitemap>
			<sitemap><loc>https://www.example.com/lost.xml</loc></sitemap>
		</sitemapindex>`,
		"https://www.example.com/news.xml": example,
		"https://www.example.com/old.txt":  "https://www.example.com/old\n",
	}
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
	// problem sitemap: https://www.example.com/lost.xml: gone
	// put https://www.example.com/old
	// snapshot end complete: false
}
