package eli_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// A publisher exports a list of all acts each night. The Store finds out what has changed
// since the night before, and the Publisher publishes it.
func ExampleCSV() {
	ctx := context.Background()
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	list := ""
	acts := &eli.CSV{Name: "acts", Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(list)), nil // or File: "acts.csv"
	}}
	for _, list = range []string{
		"https://country.xy/eli/law/2026/501,2026-03-06,Act on Salt\n" +
			"https://country.xy/eli/law/2026/502,2026-03-06,\"Act on Roads, Bridges and Tunnels\"\n",
		"https://country.xy/eli/law/2026/501,2026-03-06,Act on Salt\n" +
			"https://country.xy/eli/law/2026/502,2026-03-08,\"Act on Roads, Bridges and Tunnels\"\n" +
			"https://country.xy/eli/law/2026/503,2026-03-08\n",
	} {
		report, err := h.Run(ctx, acts)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("created", report.Created, "updated", report.Updated, "in step:", report.InStep())
	}

	p := &eli.Publisher{
		Place:  websync.Place{Catalog: h.Catalog, Base: "https://country.xy/", Sources: []string{"acts"}},
		Author: websync.Person{Name: "Country Legislation Service"},
	}
	fmt.Println(p.URL(), p.Check())
	fmt.Println(p.FeedURL())
	// Output:
	// created 2 updated 0 in step: true
	// created 1 updated 1 in step: true
	// https://country.xy/eli/sitemap.xml <nil>
	// https://country.xy/eli/eli-update-feed.atom
}
