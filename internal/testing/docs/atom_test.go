package docs_test

import (
	"context"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/publish"
)

// harvestAtom brings the Store of h in step with a feed and its archive documents.
func harvestAtom(ctx context.Context, h *harvest.Harvester, url string) (*harvest.Report, error) {
	return h.Run(ctx, &atom.Source{URL: url})
}

// publishAtom publishes what a Catalog holds: feed.atom with its archive documents, and
// all bodies. Resources of the sources in own keep their URLs.
func publishAtom(catalog websync.Catalog, base string, own ...string) *publish.Handler {
	site := &publish.Site{Catalog: catalog, Base: base, Own: own}
	return site.Handler(&atom.Publisher{Title: "New acts", Author: websync.Person{Name: "The Gazette"}})
}
