package docs_test

import (
	"context"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/publish"
)

// harvestAtomPMH brings the Store of h in step with a feed of records. Of each record it
// gets RDF/XML if that is offered, and any other format if not.
func harvestAtomPMH(ctx context.Context, h *harvest.Harvester, url string) (*harvest.Report, error) {
	return h.Run(ctx, &atompmh.Source{URL: url, Formats: []string{"application/rdf+xml", "*/*"}})
}

// publishAtomPMH publishes what a Catalog holds: feed.atom with its archive documents,
// and all bodies. Resources of the sources in own keep their URLs.
func publishAtomPMH(catalog websync.Catalog, base string, own ...string) *publish.Handler {
	site := &publish.Site{Catalog: catalog, Base: base, Own: own}
	return site.Handler(&atom.Publisher{Profile: atompmh.Profile(), Title: "Records", Author: websync.Person{Name: "The Library"}})
}
