package resourcesync_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
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
		websync.Item{Source: "pages", Time: at.Add(time.Hour), Kind: websync.Updated, Resource: page("news")},
	)
	p := &resourcesync.Publisher{Place: websync.Place{Catalog: log, Base: "https://www.example.com/"}}
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
	// <url><loc>https://www.example.com/news</loc><lastmod>2026-01-02T10:00:00Z</lastmod><rs:md change="updated" datetime="2026-01-02T10:00:00Z" type="text/html"/></url>
	// </urlset>
	// resourcesync https://www.example.com/capabilitylist.xml
}

// A program packs at intervals that suit it: changes every hour, say, and all resources
// once a week. This example prints what a Change Dump has after two resources have
// changed.
func ExamplePublisher_Pack() {
	ctx := context.Background()
	store := harvest.NewCatalog(memstore.New())
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	p := &resourcesync.Publisher{Place: websync.Place{Catalog: store, Base: "https://www.example.com/"}, Dumps: &resourcesync.Dumps{Dir: dir, State: store}}
	p.Locator = websync.PathLocator{Base: p.Base, Own: []string{"pages"}, Reserved: p.Reserved}
	put := func(name, text string) harvest.Event {
		r := websync.Resource{ID: p.Base + name, Content: websync.Link{Type: "text/html", Digests: websync.Digests{websync.SHA256([]byte(text))}}}
		return harvest.Event{Resource: r, Open: harvest.OpenBytes([]byte(text))}
	}
	for _, events := range [][]harvest.Event{
		{put("news", "<p>old</p>"), put("about", "<p>us</p>")},
		{put("news", "<p>new</p>"), put("jobs", "<p>none</p>")},
	} {
		_, err := (&harvest.Harvester{Catalog: store, Concurrency: 1}).Run(ctx, harvest.Of("pages", events...))
		if err == nil {
			err = p.Pack(ctx)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	for path, err := range p.Documents(ctx) {
		if err != nil || !strings.HasPrefix(path, "/changedump-") || !strings.HasSuffix(path, ".xml") {
			continue
		}
		doc, err := p.Document(ctx, path)
		if err != nil {
			fmt.Println(err)
			return
		}
		manifest, err := doc.Open(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer manifest.Close()
		for e, err := range resourcesync.NewReader(manifest).All() {
			fmt.Println(e.Loc, e.Metadata.Change, e.Metadata.Path, err)
		}
	}
	// Output:
	// https://www.example.com/news updated /changes/000001 <nil>
	// https://www.example.com/jobs created /changes/000002 <nil>
}
