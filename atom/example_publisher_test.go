package atom_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// A Publisher is usually given to package publish, which serves its documents or writes
// them to files. This example prints the subscription document after one page was added
// and another one deleted.
func ExamplePublisher() {
	ctx := context.Background()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	store := harvest.NewCatalog(memstore.New())
	store.Now = func() time.Time { return now }
	h := &harvest.Harvester{Catalog: store}
	page := func(kind harvest.EventKind, name, title string) harvest.Event {
		return harvest.Event{
			Kind: kind,
			Resource: websync.Resource{
				ID: "https://www.example.com/" + name, Title: title, Summary: "A page", Content: websync.Link{Type: "text/plain"},
			},
			Open: harvest.OpenBytes([]byte("the page " + name)),
		}
	}
	for _, event := range []harvest.Event{
		page(harvest.Put, "old", "Old news"),
		page(harvest.Put, "new", "News"),
		page(harvest.Delete, "old", "Old news"),
	} {
		if _, err := h.Run(ctx, harvest.Of("pages", event)); err != nil {
			fmt.Println(err)
			return
		}
		now = now.Add(time.Minute)
	}
	p := &atom.Publisher{
		Place:  websync.Place{Catalog: store, Base: "https://www.example.com/", Locator: websync.PathLocator{Base: "https://www.example.com/", Own: []string{"pages"}}},
		Title:  "What is new",
		Author: websync.Person{Name: "Example"},
		Hubs:   []string{"https://hub.example.com/"},
	}
	doc, err := p.Document(ctx, "/feed.atom")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := doc.Write(ctx, os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0">
	//   <id>https://www.example.com/feed.atom</id>
	//   <title>What is new</title>
	//   <updated>2026-01-02T03:06:05Z</updated>
	//   <author><name>Example</name></author>
	//   <link rel="self" href="https://www.example.com/feed.atom" type="application/atom+xml"/>
	//   <link rel="hub" href="https://hub.example.com/"/>
	//   <at:deleted-entry ref="https://www.example.com/old" when="2026-01-02T03:06:05Z"/>
	//   <entry>
	//     <id>https://www.example.com/new</id>
	//     <title>News</title>
	//     <updated>2026-01-02T03:05:05Z</updated>
	//     <summary>A page</summary>
	//     <link rel="alternate" href="https://www.example.com/new" type="text/plain" length="12" hash="sha-256:c225ff5cd3cfa26261b25515838a80c5b1d243c62079b52a6a00b0948226388e"/>
	//     <content type="text/plain" src="https://www.example.com/new" hash="sha-256:c225ff5cd3cfa26261b25515838a80c5b1d243c62079b52a6a00b0948226388e"/>
	//   </entry>
	// </feed>
}
