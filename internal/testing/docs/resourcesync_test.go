package docs_test

import (
	"context"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
)

// harvestResourceSync finds the sets of resources that a site offers, and brings the
// Store of h in step with the first.
func harvestResourceSync(ctx context.Context, h *harvest.Harvester, site string) (*harvest.Report, error) {
	sets, err := resourcesync.Discover(ctx, h.Fetcher, site)
	if err != nil {
		return nil, err
	}
	return h.Run(ctx, sets[0].Source())
}

// publishResourceSync publishes what a Catalog holds: the lists, and all bodies, each
// with a link to the lists. Resources of the sources in own keep their URLs.
func publishResourceSync(catalog websync.Catalog, base string, own ...string) *publish.Handler {
	site := &publish.Site{Catalog: catalog, Base: base, Own: own}
	return site.Handler(&resourcesync.Publisher{Robots: true})
}
