package dirsource_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/sitemap"
)

// laws makes a directory with a few files.
func laws() string {
	dir, err := os.MkdirTemp("", "laws")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string]string{"2026 1.txt": "Be it enacted", "2026 2.txt": "Be it repealed", "draft~": "Be it"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			log.Fatal(err)
		}
	}
	return dir
}

// A Store follows a directory. From there it can be published by any protocol.
func Example() {
	dir := laws()
	defer os.RemoveAll(dir)
	ctx := context.Background()
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	src := &dirsource.Source{Dir: dir, Base: "https://law.example/", Exclude: []string{"*~"}}

	report, err := h.Run(ctx, src)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("created", report.Created, "in step:", report.InStep())

	if err := os.Remove(filepath.Join(dir, "2026 2.txt")); err != nil {
		log.Fatal(err)
	}
	if report, err = h.Run(ctx, src); err != nil {
		log.Fatal(err)
	}
	fmt.Println("deleted", report.Deleted, "in step:", report.InStep())
	for item, err := range h.Catalog.Resources(ctx, websync.Range{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Resource.ID, item.Resource.Content.Type)
	}
	// Output:
	// created 2 in step: true
	// deleted 1 in step: true
	// https://law.example/2026%201.txt text/plain
}

// A directory becomes a site with a sitemap: the Store follows the files, and a Handler
// serves them with the list.
func Example_publish() {
	dir := laws()
	defer os.RemoveAll(dir)
	const base = "https://law.example/"
	store, files := harvest.NewCatalog(memstore.New()), &dirsource.Source{Dir: dir, Base: base, Exclude: []string{"*~"}}
	if _, err := (&harvest.Harvester{Catalog: store}).Run(context.Background(), files); err != nil { // again when files change
		log.Fatal(err)
	}

	list := &sitemap.Publisher{Place: websync.Place{Catalog: store, Base: base}}
	locator := websync.PathLocator{Base: base, Own: []string{files.Key()}, Reserved: list.Reserved} // the files keep their URLs
	list.Locator = locator
	handler := &publish.Handler{Publishers: []websync.Publisher{list, publish.Bodies(store, locator)}}
	defer handler.Close()

	get := func(path string) string {
		answer := httptest.NewRecorder() // for a server: http.ListenAndServe(":8080", handler)
		handler.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
		return answer.Body.String()
	}
	for e, err := range sitemap.NewReader(strings.NewReader(get("/sitemap.xml"))).All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Loc)
	}
	fmt.Println(get("/2026%201.txt"))
	// Unordered output:
	// https://law.example/2026%201.txt
	// https://law.example/2026%202.txt
	// Be it enacted
}

// A Plan says what a run would do. It reads nothing but the directory.
func Example_plan() {
	dir := laws()
	defer os.RemoveAll(dir)
	src := &dirsource.Source{Dir: dir, Base: "https://law.example/", Include: []string{"*.txt"}}
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	_, err := h.Plan(context.Background(), src, func(d harvest.Decision) { fmt.Println(d.Outcome, d.ID) })
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// created https://law.example/2026%201.txt
	// created https://law.example/2026%202.txt
}

// A program that writes a log into the directory that it reads leaves that out. A file that
// another program keeps changing is read again in the next run.
func ExamplePatternOf() {
	dir := laws()
	defer os.RemoveAll(dir)
	own, err := dirsource.PatternOf(dir, filepath.Join(dir, "draft~"))
	if err != nil {
		log.Fatal(err)
	}
	src := &dirsource.Source{Dir: dir, Base: "https://law.example/", Exclude: []string{own}}
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New()), Concurrency: 1}
	h.Hooks = &harvest.Hooks{Outcome: func(_, id string, o harvest.Outcome, err error) {
		if changed, ok := errors.AsType[*dirsource.ChangedError](err); ok {
			log.Println("next time:", changed.Path)
		}
		fmt.Println(o, id)
	}}
	if _, err := h.Run(context.Background(), src); err != nil {
		log.Fatal(err)
	}
	fmt.Println("without", own)
	// Output:
	// created https://law.example/2026%201.txt
	// created https://law.example/2026%202.txt
	// without /draft~
}
