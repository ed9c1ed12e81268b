package sqlitestore_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

// What one Store has committed another one finds, in this process or in the next.
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
	for item, err := range store.Resources(ctx, websync.Range{}) {
		if err != nil {
			log.Fatal(err)
		}
		body, err := store.Open(ctx, item.Bodies[0])
		if err != nil {
			log.Fatal(err)
		}
		text, _ := io.ReadAll(body)
		body.Close()
		fmt.Printf("%d %s: %s\n", item.Seq, item.Resource.ID, text)
	}
	// Output: 1 https://example.com/: Hello.
}

// keep commits one resource with its body, as a Harvester does.
func keep(ctx context.Context, file string) error {
	store, err := sqlitestore.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	claim, err := store.Claim(ctx, "source/example", time.Minute)
	if err != nil {
		return err
	}
	w, err := store.NewBody(ctx)
	if err != nil {
		return err
	}
	defer w.Discard()
	io.WriteString(w, "Hello.")
	key, _, err := w.Finish()
	if err != nil {
		return err
	}
	b := harvest.NewBatch("example")
	b.Bodies = []harvest.BodyWriter{w}
	b.Puts = []harvest.Change{{Record: harvest.Record{Item: websync.Item{
		Resource: websync.Resource{ID: "https://example.com/"},
		Bodies:   []websync.Body{{Name: "content", Key: key}},
	}}}}
	_, err = store.Commit(ctx, claim, b)
	return err
}
