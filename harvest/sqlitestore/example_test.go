package sqlitestore_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

// What is harvested into a file is found there by this process or by the next.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "harvest.db")

	if err := keep(ctx, file); err != nil {
		log.Fatal(err)
	}
	store, err := sqlitestore.Open(ctx, file, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	catalog := harvest.NewCatalog(store)
	for item, err := range catalog.Resources(ctx, websync.Range{}) {
		if err != nil {
			log.Fatal(err)
		}
		body, err := catalog.Open(ctx, item.Bodies[0])
		if err != nil {
			log.Fatal(err)
		}
		text, _ := io.ReadAll(body)
		body.Close()
		fmt.Printf("%d %s: %s\n", item.Seq, item.Resource.ID, text)
	}
	// Output: 1 https://example.com/: Hello.
}

// keep harvests one resource with its body.
func keep(ctx context.Context, file string) error {
	store, err := sqlitestore.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(store)}
	_, err = h.Run(ctx, harvest.Of("example", harvest.Event{
		Resource: websync.Resource{ID: "https://example.com/"},
		Open:     harvest.OpenBytes([]byte("Hello.")),
	}))
	return err
}
