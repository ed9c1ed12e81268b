package memstore_test

import (
	"context"
	"fmt"
	"io"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// A resource and its bytes are harvested and read back.
func Example() {
	ctx := context.Background()
	catalog := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: catalog}
	hello := harvest.Event{
		Resource: websync.Resource{ID: "https://example.com/hello"},
		Open:     harvest.OpenBytes([]byte("Hello.\n")),
	}
	if _, err := h.Run(ctx, harvest.Of("demo", hello)); err != nil {
		fmt.Println(err)
		return
	}
	for item, err := range catalog.Resources(ctx, websync.Range{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		content, err := catalog.Open(ctx, item.Bodies[0])
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := io.ReadAll(content)
		content.Close()
		fmt.Printf("%s: %s", item.Resource.ID, text)
	}
	// Output:
	// https://example.com/hello: Hello.
}
