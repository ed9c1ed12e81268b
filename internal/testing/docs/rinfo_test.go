package docs_test

import (
	"context"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/rinfo"
)

// harvestRinfo brings the Store of h in step with the feed of an authority: of each entry
// it gets all documents, or none.
func harvestRinfo(ctx context.Context, h *harvest.Harvester, url string) (*harvest.Report, error) {
	return h.Run(ctx, &rinfo.Source{URL: url})
}

// publishRinfo publishes what a Catalog holds: feed.atom with its archive documents, and
// all bodies. Documents of the sources in own have URLs at and below their official URIs.
func publishRinfo(catalog websync.Catalog, base string, own ...string) *publish.Handler {
	author := websync.Person{Name: "The Authority", Email: "rinfo@example.se"}
	feed := &atom.Publisher{Profile: rinfo.Profile(), Place: websync.Place{Catalog: catalog, Base: base}, Title: "Acts", Author: author}
	locator := rinfo.Locator{PathLocator: websync.PathLocator{Base: base, Own: own, Reserved: feed.Reserved}}
	feed.Locator = locator
	bodies := publish.Bodies(catalog, locator)
	return &publish.Handler{Publishers: []websync.Publisher{feed, bodies}}
}
