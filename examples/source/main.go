// Source harvests by a protocol of its own: a JSON array of URLs and the times of their
// last changes, {"url": "…", "changed": "2026-01-31T12:00:00Z"}. It prints how
// many pages have changed since the last time:
//
//	source https://example.org/pages.json
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log"
	"os"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

func main() {
	ctx := context.Background()
	store, err := sqlitestore.Open(ctx, "source.db", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	catalog := harvest.NewCatalog(store)
	h := &harvest.Harvester{Catalog: catalog, Fetcher: fetch.New(catalog)}
	report, err := h.Run(ctx, list(os.Args[1]))
	fmt.Println("created", report.Created, "updated", report.Updated, "deleted", report.Deleted, err)
}

// A list is the URL of an array.
type list string

func (l list) Key() string { return string(l) }

// Events yields all pages between the beginning and the end of a snapshot. What is not
// among them is gone.
func (l list) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		var pages []struct {
			URL     string    `json:"url"`
			Changed time.Time `json:"changed"`
		}
		resp, err := run.Fetcher.Fetch(ctx, &harvest.Request{URL: string(l), Root: string(l)})
		if err == nil {
			err = json.NewDecoder(resp.Body).Decode(&pages)
			resp.Body.Close()
		}
		if err != nil { // a list that is not whole deletes nothing
			yield(harvest.Event{}, err)
			return
		}
		events := []harvest.Event{{Kind: harvest.SnapshotStart}}
		for _, p := range pages {
			page := websync.Resource{ID: p.URL, Modified: websync.NewDatetime(p.Changed), Content: websync.Link{Href: p.URL}}
			events = append(events, harvest.Event{Resource: page, At: page.Modified})
		}
		for _, ev := range append(events, harvest.Event{Kind: harvest.SnapshotEnd, Complete: true}) {
			if !yield(ev, nil) {
				return
			}
		}
	}
}
