package docs_test

import (
	"context"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/sitemap"
)

// harvestDirectory brings the Store of h in step with the files below dir. The id of a
// file is base and its path.
func harvestDirectory(ctx context.Context, h *harvest.Harvester, dir, base string) (*harvest.Report, error) {
	return h.Run(ctx, &dirsource.Source{Dir: dir, Base: base})
}

// publishDirectory writes what a Catalog holds as the files of a site with a sitemap, for
// any web server at base. Resources of the sources in own keep their URLs.
func publishDirectory(ctx context.Context, catalog websync.Catalog, dir, base string, own ...string) error {
	site := &publish.Site{Catalog: catalog, Base: base, Own: own}
	_, err := site.WriteDir(ctx, dir, &sitemap.Publisher{}) // of one moment: the Store may change meanwhile
	return err
}
