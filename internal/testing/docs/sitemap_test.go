package docs_test

import (
	"context"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/sitemap"
)

// harvestSitemap brings the Store of h in step with a sitemap. Complete states that it
// lists everything: what it no longer lists is deleted.
func harvestSitemap(ctx context.Context, h *harvest.Harvester, url string) (*harvest.Report, error) {
	return h.Run(ctx, &sitemap.Source{URL: url, Complete: true})
}

// publishSitemap publishes what a Catalog holds: sitemap.xml, and all bodies. Resources
// of the sources in own keep their URLs.
func publishSitemap(catalog websync.Catalog, base string, own ...string) *publish.Handler {
	site := &publish.Site{Catalog: catalog, Base: base, Own: own}
	return site.Handler(&sitemap.Publisher{})
}
