// Store keeps what a feed lists in a Store of its own, a sorted map in one file:
//
//	store https://example.org/feed.atom FILE
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
)

func main() {
	store, err := open(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	catalog := harvest.NewCatalog(store)
	h := &harvest.Harvester{Catalog: catalog, Fetcher: fetch.New(catalog)}
	report, err := h.Run(context.Background(), &atom.Source{URL: os.Args[1]})
	fmt.Println("created", report.Created, "updated", report.Updated, err)
}
