package publish_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/sitemap"
)

// A table of decisions, with a row for each change, becomes a sitemap and an Atom feed
// with tombstones. A Catalog need not be a Store.
func Example_catalog() {
	const base = "https://www.example.org/"
	var register websync.Log
	for _, row := range []struct {
		day         int
		page, title string
		kind        websync.ChangeKind
	}{
		{1, "1", "On dogs", websync.Created},
		{2, "2", "On cats", websync.Created},
		{3, "1", "On all dogs", websync.Updated},
		{4, "2", "", websync.Deleted},
	} {
		page := websync.Link{Href: base + row.page, Type: "text/html"}
		register.Append(websync.Item{
			Source: "register", Kind: row.kind, Time: time.Date(2026, 1, row.day, 12, 0, 0, 0, time.UTC),
			Resource: websync.Resource{ID: page.Href, Title: row.title, Content: page},
		})
	}
	own := websync.PathLocator{Base: base, Own: []string{"register"}}
	site := publish.Join(
		&sitemap.Publisher{Place: websync.Place{Catalog: &register, Base: base, Locator: own}},
		&atom.Publisher{Place: websync.Place{Catalog: &register, Base: base, Locator: own}, Author: websync.Person{Name: "Board"}},
	)
	for _, path := range []string{"/sitemap.xml", "/feed.atom"} {
		doc, err := site.Document(context.Background(), path)
		if err == nil {
			err = doc.Write(context.Background(), os.Stdout)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
	// <url><loc>https://www.example.org/1</loc><lastmod>2026-01-03T12:00:00Z</lastmod></url>
	// </urlset>
	// <?xml version="1.0" encoding="UTF-8"?>
	// <feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0">
	//   <id>https://www.example.org/feed.atom</id>
	//   <title>https://www.example.org/feed.atom</title>
	//   <updated>2026-01-04T12:00:00Z</updated>
	//   <author><name>Board</name></author>
	//   <link rel="self" href="https://www.example.org/feed.atom" type="application/atom+xml"/>
	//   <at:deleted-entry ref="https://www.example.org/2" when="2026-01-04T12:00:00Z"/>
	//   <entry>
	//     <id>https://www.example.org/1</id>
	//     <title>On all dogs</title>
	//     <updated>2026-01-03T12:00:00Z</updated>
	//     <link rel="alternate" href="https://www.example.org/1" type="text/html"/>
	//   </entry>
	// </feed>
}
