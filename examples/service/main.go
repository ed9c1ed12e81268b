// Service harvests a sitemap and a feed, again and again, and publishes both as one
// ResourceSync source.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/schedule"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

func main() {
	store, err := sqlitestore.Open(context.Background(), "service.db", nil)
	if err != nil {
		log.Fatal(err)
	}
	catalog := harvest.NewCatalog(store)
	site := &publish.Site{Catalog: catalog, Base: "http://" + os.Args[1] + "/"}
	go func() { log.Fatal(http.ListenAndServe(os.Args[1], site.Handler(&resourcesync.Publisher{}))) }()
	scheduler := &schedule.Scheduler{
		Harvester: &harvest.Harvester{Catalog: catalog, Fetcher: fetch.New(catalog)},
		Entries: []schedule.Entry{
			{Source: &sitemap.Source{URL: os.Args[2], Complete: true}, Every: time.Hour},
			{Source: &atom.Source{URL: os.Args[3]}, Every: 10 * time.Minute},
		},
		Ended: func(_ harvest.Source, r *harvest.Report, e error) { log.Println(r.Source, "in step:", r.InStep(), e) },
	}
	log.Fatal(scheduler.Run(context.Background()))
}
