package memstore_test

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// A resource and its bytes are committed and read back.
func Example() {
	ctx := context.Background()
	store := harvest.NewCatalog(memstore.New())

	body, _ := store.NewBody(ctx)
	io.WriteString(body, "Hello.\n")
	key, _, err := body.Finish()
	if err != nil {
		fmt.Println(err)
		return
	}
	item := websync.Item{
		Kind:     websync.Created,
		Resource: websync.Resource{ID: "https://example.com/hello"},
		Bodies:   []websync.Body{{Name: "content", Link: websync.Link{Type: "text/plain"}, Key: key}},
	}

	claim, err := store.Claim(ctx, "source/demo", time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := harvest.NewBatch("demo")
	batch.Puts = []harvest.Change{{Record: harvest.Record{Item: item}}}
	batch.Bodies = []harvest.BodyWriter{body}
	if _, err := store.Commit(ctx, claim, batch); err != nil {
		fmt.Println(err)
		return
	}

	for it, err := range store.Resources(ctx, websync.Range{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		content, err := store.Open(ctx, it.Bodies[0])
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := io.ReadAll(content)
		content.Close()
		fmt.Printf("%s: %s", it.Resource.ID, text)
	}
	// Output:
	// https://example.com/hello: Hello.
}
