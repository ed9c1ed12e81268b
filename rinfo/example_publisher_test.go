package rinfo_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/rinfo"
)

// A depot publishes what it has harvested from the feeds of authorities as one feed, with
// times of its own.
func ExamplePublisher() {
	ctx := context.Background()
	store := harvest.NewCatalog(memstore.New())
	store.Now = func() time.Time { return time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC) }
	h := &harvest.Harvester{Catalog: store, Fetcher: &sourcetest.Fetcher{Site: exampleSite}}
	authority := &rinfo.Source{URL: "https://www.example.se/index.atom"}
	if _, err := h.Run(ctx, authority); err != nil {
		fmt.Println(err)
		return
	}

	feed := &atom.Publisher{
		Profile: rinfo.Profile(),
		Place:   websync.Place{Catalog: store, Base: "http://rinfo.example.se/"}, ID: "tag:example.se,2026:depot", Title: "All acts",
		Author: websync.Person{Name: "Depot", Email: "rinfo@example.se"},
	}
	locator := rinfo.Locator{PathLocator: websync.PathLocator{Base: feed.Base, Own: []string{authority.Key()}, Reserved: feed.Reserved}}
	feed.Locator = locator
	handler := &publish.Handler{Publishers: []websync.Publisher{feed, publish.Bodies(store, locator)}}
	defer handler.Close()

	answer := httptest.NewRecorder() // for a server: http.ListenAndServe(":8080", handler)
	handler.ServeHTTP(answer, httptest.NewRequest("GET", "/feed.atom", nil))
	for item, err := range atom.NewReader(bytes.NewReader(answer.Body.Bytes())).All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		e := item.Entry
		fmt.Println(e.ID)
		fmt.Println("- updated", e.Updated, "published", e.Published)
		fmt.Println("- from", e.Source.ID, e.Source.Updated)
		fmt.Println("- content", e.Content.Href)
		for _, l := range e.Links {
			if l.Rel == "alternate" || l.Rel == "enclosure" {
				fmt.Println("-", l.Rel, l.Href, l.Length)
			}
		}
	}
	// Output:
	// http://rinfo.example.se/publ/exfs/2026:1
	// - updated 2026-01-03T00:00:00Z published 2026-01-02T12:00:00Z
	// - from tag:example.se,2026:feed 2026-01-02T12:00:00Z
	// - content http://rinfo.example.se/publ/exfs/2026:1
	// - alternate http://rinfo.example.se/publ/exfs/2026:1/rdf 7
	// - enclosure http://rinfo.example.se/publ/exfs/2026:1/exfs-2026-1-bilaga.pdf 15
}
