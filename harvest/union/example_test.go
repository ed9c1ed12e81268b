package union_test

import (
	"context"
	"fmt"
	"log"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/union"
)

// Two registers list one act. The ministry has the higher rank and owns it. The court
// adds what the ministry does not have.
func Example() {
	ctx := context.Background()
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	list := func(source string, acts ...string) {
		var events []harvest.Event
		for _, act := range acts {
			page := websync.Resource{ID: "https://court.example/acts/" + act, Title: act + " by " + source}
			events = append(events, harvest.Event{Resource: page, Open: harvest.OpenBytes([]byte(act))})
		}
		if _, err := h.Run(ctx, harvest.Of(source, events...)); err != nil {
			log.Fatal(err)
		}
	}
	list("ministry", "1")
	list("court", "1", "2")

	scope := "https://court.example/acts/" // of a configuration
	if err := union.CheckScope(scope); err != nil {
		log.Fatal(err)
	}
	both := &union.Source{Name: "acts", Members: []union.Member{
		{Catalog: h.Catalog, Source: "ministry", Scope: []string{union.Everything}, Rank: 1},
		{Catalog: h.Catalog, Source: "court", Scope: []string{scope}},
	}}
	if _, err := h.Run(ctx, both); err != nil {
		log.Fatal(err)
	}
	for item, err := range h.Catalog.Resources(ctx, websync.Range{Sources: []string{"acts"}}) {
		fmt.Println(item.Resource.ID, item.Resource.Title, err)
	}
	// Unordered output:
	// https://court.example/acts/1 1 by ministry <nil>
	// https://court.example/acts/2 2 by court <nil>
}
