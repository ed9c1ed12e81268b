package publish_test

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"os"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/sitemap"
)

// What a Store holds becomes files: its bodies, a sitemap and an Atom feed. The Store may
// change meanwhile: all files are of one state.
func ExampleSite_WriteDir() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	site := &publish.Site{Catalog: filled(), Base: "https://example.org/", Own: []string{"demo"}}
	_, err = site.WriteDir(context.Background(), dir, &sitemap.Publisher{}, &atom.Publisher{Author: websync.Person{Name: "Board"}})
	if err != nil {
		log.Fatal(err)
	}
	files, err := fs.Glob(os.DirFS(dir), "[a-z]*")
	fmt.Println(files, err)
	// Output:
	// [feed.atom hello robots.txt sitemap.xml] <nil>
}
