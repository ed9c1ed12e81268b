package riverjobs_test

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/riverjobs"
	"github.com/websync-go/websync/sitemap"
)

// A client of River gets a worker for sitemaps, and a job for one of them each hour. Use
// a Store of package pgstore, and start the client on as many machines as you like.
func Example() {
	ctx, store := context.Background(), harvest.NewCatalog(memstore.New())
	worker := &riverjobs.Worker{
		Harvester: &harvest.Harvester{Catalog: store, Fetcher: fetch.New(store)},
		Registry: riverjobs.Registry{
			"sitemap": func(_ context.Context, a riverjobs.Args) (harvest.Source, error) {
				return &sitemap.Source{URL: a.URL, Complete: a.Options["complete"] == "true"}, nil
			},
		},
	}
	config := &river.Config{}
	if err := worker.Configure(config); err != nil {
		panic(err)
	}
	args, err := worker.Registry.Args(ctx, riverjobs.Args{
		Protocol: "sitemap", URL: "https://law.example/sitemap.xml", Options: map[string]string{"complete": "true"},
	})
	if err != nil {
		panic(err)
	}
	if config.PeriodicJobs, err = riverjobs.Periodic(time.Hour, args); err != nil {
		panic(err)
	}
	// client, err := river.NewClient(riverpgxv5.New(pool), config)
	// …
	// err = client.Start(ctx)
	fmt.Println(args.Key, config.Queues[riverjobs.Queue].MaxWorkers, config.RescueStuckJobsAfter)
	// Output: https://law.example/sitemap.xml 8 10m10s
}
