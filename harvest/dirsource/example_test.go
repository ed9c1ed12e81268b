package dirsource_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/memstore"
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
	h := &harvest.Harvester{Store: memstore.New()}
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
	for item, err := range h.Store.Resources(ctx, websync.Range{}) {
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

// A Plan says what a run would do. It reads nothing but the directory.
func Example_plan() {
	dir := laws()
	defer os.RemoveAll(dir)
	src := &dirsource.Source{Dir: dir, Base: "https://law.example/", Include: []string{"*.txt"}}
	h := &harvest.Harvester{Store: memstore.New()}
	_, err := h.Plan(context.Background(), src, func(d harvest.Decision) { fmt.Println(d.Outcome, d.ID) })
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// created https://law.example/2026%201.txt
	// created https://law.example/2026%202.txt
}
