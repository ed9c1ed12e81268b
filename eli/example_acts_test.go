package eli_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
)

// The metadata of all acts that were harvested. An act whose metadata can't be read is
// passed over.
func ExampleActs() {
	ctx := context.Background()
	catalog := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: catalog, Fetcher: &sourcetest.Fetcher{Site: gazette}}
	_, err := h.Run(ctx, &eli.Source{
		Sitemap: "http://country.xy/eli/sitemap.xml",
		Feed:    "http://country.xy/eli/eli-update-feed.atom",
	})
	if err != nil {
		log.Fatal(err)
	}
	for act, err := range eli.Acts(ctx, catalog) {
		if _, one := errors.AsType[*eli.ActError](err); one {
			log.Println(err)
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(act.URI, act.DateDocument)
		for _, title := range act.AllTitles() {
			fmt.Println(title.Lang, title.Value)
		}
	}
	// Output:
	// http://country.xy/eli/law/2016/501/003/jo 2016-03-07
	// fr Loi sur tout
}
