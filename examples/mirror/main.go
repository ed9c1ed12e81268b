// Mirror keeps a copy of all that a sitemap lists, as files with a sitemap of their own.
// Run it again to bring the copy in step:
//
//	mirror https://example.org/sitemap.xml DIR
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/sitemap"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: mirror SITEMAP DIR")
	}
	report, err := mirror(context.Background(), os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d created, %d updated, %d deleted\n", report.Created, report.Updated, report.Deleted)
}

// mirror harvests a sitemap into DIR/store.db, and writes what the store holds below
// DIR/files.
func mirror(ctx context.Context, url, dir string) (*harvest.Report, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	store, err := sqlitestore.Open(ctx, filepath.Join(dir, "store.db"), nil)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	catalog := harvest.NewCatalog(store)
	h := &harvest.Harvester{Catalog: catalog, Fetcher: fetch.New(catalog)}
	report, err := h.Run(ctx, &sitemap.Source{URL: url, Complete: true})
	if err != nil {
		return nil, err
	}
	site := &publish.Site{Catalog: catalog, Base: "http://localhost/"} // where the copy is served
	_, err = site.WriteDir(ctx, filepath.Join(dir, "files"), &sitemap.Publisher{})
	return report, err
}
