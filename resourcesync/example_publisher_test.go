package resourcesync_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/resourcesync"
)

// A Publisher is usually given to package publish, which serves its documents or writes
// them to files. This example prints the Change List of a small log.
func ExamplePublisher() {
	ctx := context.Background()
	log := new(websync.Log)
	at := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	page := func(name string) websync.Resource {
		url := "https://www.example.com/" + name
		return websync.Resource{ID: url, Content: websync.Link{Href: url, Type: "text/html"}}
	}
	log.Append(
		websync.Item{Source: "pages", Time: at, Kind: websync.Created, Resource: page("news")},
		websync.Item{Source: "pages", Time: at.Add(time.Hour), Kind: websync.Deleted, Resource: page("news")},
	)
	p := &resourcesync.Publisher{Catalog: log, Base: "https://www.example.com/"}
	p.Locator = websync.PathLocator{Base: p.Base, Own: []string{"pages"}, Reserved: p.Reserved}
	for path, err := range p.Documents(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(path)
	}
	doc, err := p.Document(ctx, "/changelist.xml")
	if err == nil {
		err = doc.Write(ctx, os.Stdout)
	}
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(p.Link().Rel, p.Link().Href)
	// Output:
	// /resourcelist.xml
	// /changelist.xml
	// /capabilitylist.xml
	// /.well-known/resourcesync
	// <?xml version="1.0" encoding="UTF-8"?>
	// <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">
	// <rs:md capability="changelist" from="1970-01-01T00:00:00Z"/>
	// <rs:ln rel="up" href="https://www.example.com/capabilitylist.xml"/>
	// <url><loc>https://www.example.com/news</loc><lastmod>2026-01-02T09:00:00Z</lastmod><rs:md change="created" datetime="2026-01-02T09:00:00Z" type="text/html"/></url>
	// <url><loc>https://www.example.com/news</loc><rs:md change="deleted" datetime="2026-01-02T10:00:00Z"/></url>
	// </urlset>
	// resourcesync https://www.example.com/capabilitylist.xml
}
