package docs_test

import (
	"context"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/publish"
)

// harvestELI brings the Store of h in step with a publisher of legislation, whose two
// lists are where the specification wants them.
func harvestELI(ctx context.Context, h *harvest.Harvester, site string) (*harvest.Report, error) {
	return h.Run(ctx, &eli.Source{
		Sitemap: site + "eli/sitemap.xml", Feed: site + "eli/eli-update-feed.atom",
		Extractors: []eli.Extractor{&rdfa.Extractor{}, &jsonld.Extractor{}},
	})
}

// publishELI publishes the acts of own sources: those whose ids are URLs below eli/ and
// whose content is an HTML page with metadata.
func publishELI(catalog websync.Catalog, base string, own ...string) *publish.Handler {
	site := &publish.Site{Catalog: catalog, Base: base, Own: own}
	return site.Handler(&eli.Publisher{Author: websync.Person{Name: "The Gazette"}})
}
