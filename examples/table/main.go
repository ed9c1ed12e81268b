// Table publishes the rows of a CSV file as a sitemap and an Atom feed, and looks every
// minute which of them are new, changed or gone. A row has a path, a title and a text:
//
//	table acts.csv localhost:8080
package main

import (
	"context"
	"encoding/csv"
	"io"
	"iter"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/sitemap"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: table FILE.csv HOST:PORT")
	}
	catalog, base := harvest.NewCatalog(memstore.New()), "http://"+os.Args[2]+"/"
	go func() { log.Fatal(http.ListenAndServe(os.Args[2], handler(catalog, base))) }()
	for h := (&harvest.Harvester{Catalog: catalog}); ; time.Sleep(time.Minute) {
		if _, err := h.Run(context.Background(), rows(os.Args[1], base)); err != nil {
			log.Println(err)
		}
	}
}

// handler serves the rows at their paths, and the documents that list them.
func handler(catalog *harvest.Catalog, base string) http.Handler {
	site := &publish.Site{Catalog: catalog, Base: base, Own: []string{"table"}}
	return site.Handler(&sitemap.Publisher{}, &atom.Publisher{Title: "Rows", Author: websync.Person{Name: "Table"}})
}

// rows is the Source of the file. For a database, query it here.
func rows(file, base string) harvest.Source {
	return &harvest.Rows{Name: "table", Query: func(context.Context) iter.Seq2[harvest.Row, error] {
		return func(yield func(harvest.Row, error) bool) {
			f, err := os.Open(file)
			if err != nil {
				yield(harvest.Row{}, err)
				return
			}
			defer f.Close()
			for r := csv.NewReader(f); ; {
				fields, err := r.Read()
				if err == io.EOF {
					return
				}
				var row harvest.Row
				if err == nil && len(fields) == 3 {
					open := func(context.Context) (io.ReadCloser, error) { return harvest.OpenBytes([]byte(fields[2]))() }
					row = harvest.Row{ID: base + fields[0], Title: fields[1], Type: "text/plain", Open: open}
				}
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}}
}
