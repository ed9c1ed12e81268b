// Titles harvests a publisher of legislation by ELI Pillar IV, and prints the titles of
// its acts in one language:
//
//	titles https://law.example/sitemap.xml https://law.example/eli-update-feed.atom fr
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

func main() {
	ctx := context.Background()
	if len(os.Args) != 4 {
		log.Fatal("usage: titles SITEMAP FEED LANGUAGE")
	}
	store, err := sqlitestore.Open(ctx, "titles.db", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	source := &eli.Source{
		Sitemap: os.Args[1], Feed: os.Args[2], Extractors: []eli.Extractor{&rdfa.Extractor{}, &jsonld.Extractor{}},
	}
	if err := titles(ctx, os.Stdout, harvest.NewCatalog(store), source, os.Args[3]); err != nil {
		log.Println(err)
	}
}

// titles brings the catalog in step with the source, and writes a line for each title in
// a language.
func titles(ctx context.Context, w io.Writer, catalog *harvest.Catalog, source *eli.Source, lang string) error {
	h := &harvest.Harvester{Catalog: catalog, Fetcher: fetch.New(catalog)}
	if _, err := h.Run(ctx, source); err != nil {
		return err
	}
	var unread []error // acts whose metadata can't be read
	for act, err := range eli.Acts(ctx, catalog) {
		if err != nil {
			unread = append(unread, err)
			continue
		}
		for _, title := range act.AllTitles() {
			if title.Lang == lang {
				fmt.Fprintf(w, "%s\t%s\n", act.URI, title.Value)
			}
		}
	}
	return errors.Join(unread...)
}
