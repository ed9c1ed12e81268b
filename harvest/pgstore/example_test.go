package pgstore_test

import (
	"context"
	"fmt"
	"log"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/pgstore"
	"github.com/websync-go/websync/internal/testing/pgtest"
)

// What one process harvests into the database another one reads.
func ExampleOpen() {
	ctx := context.Background()
	connection, drop, err := pgtest.NewDatabase() // such as "postgres://user@host/database"
	if err != nil {
		log.Fatal(err)
	}
	defer drop()

	if err := keep(ctx, connection); err != nil {
		log.Fatal(err)
	}
	store, err := pgstore.Open(ctx, connection, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	for item, err := range harvest.NewCatalog(store).Resources(ctx, websync.Range{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Seq, item.Resource.ID, item.Resource.Title)
	}
	// Output: 1 https://example.com/ Home
}

// keep harvests one resource.
func keep(ctx context.Context, connection string) error {
	store, err := pgstore.Open(ctx, connection, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	source := harvest.Of("example", harvest.Event{Resource: websync.Resource{ID: "https://example.com/", Title: "Home"}})
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(store), Bodies: harvest.SkipBodies}
	_, err = h.Run(ctx, source)
	return err
}
