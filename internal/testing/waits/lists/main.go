// Lists harvests a complete sitemap into SQLite, without bodies: only its descriptions.
//
//	lists FILE URL
package main

import (
	"context"
	"errors"
	"log"
	"os"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/sitemap"
)

func main() {
	ctx := context.Background()
	store, err := sqlitestore.Open(ctx, os.Args[1], nil)
	if err != nil {
		log.Fatal(err)
	}
	client := fetch.New(nil)
	client.AllowPrivate, client.Rate = true, -1
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(store), Fetcher: client, Bodies: harvest.SkipBodies}
	_, err = h.Run(ctx, &sitemap.Source{URL: os.Args[2], Complete: true})
	if err := errors.Join(err, store.Close()); err != nil {
		log.Fatal(err)
	}
}
