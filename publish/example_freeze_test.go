package publish_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/publish"
)

// A frozen Catalog keeps its state while a harvest changes the other one.
func ExampleFreeze() {
	ctx := context.Background()
	store := filled()
	frozen, err := publish.Freeze(ctx, store)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = (&harvest.Harvester{Catalog: store}).Run(ctx, harvest.Of("demo", harvest.Event{
		Resource: websync.Resource{ID: "https://example.org/new"}, Open: harvest.OpenBytes([]byte("New.")),
	}))
	if err != nil {
		fmt.Println(err)
	}
	for _, catalog := range []websync.Catalog{frozen, store} {
		head, err := catalog.Head(ctx)
		fmt.Println(head.Total(), err)
	}
	// Output:
	// 1 <nil>
	// 2 <nil>
}

// Check lets a Handler and WriteDir refuse a table without a Locator before they publish
// anything.
func (t *table) Check() error {
	if t.locator == nil {
		return errors.New("table: the locator is required")
	}
	return nil
}

var _ publish.Checker = (*table)(nil)

// Documents that can't be files do not keep WriteDir from writing the others.
func ExampleRefusedError() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	site := []websync.Publisher{publish.Text("/a.txt", "Hello."), publish.Text("/a%2Fb.txt", "Hello.")}
	done, err := publish.WriteDir(context.Background(), dir, site...)
	if errors.Is(err, publish.ErrBusy) {
		return // another process exports into dir
	}
	if refused, ok := errors.AsType[*publish.RefusedError](err); ok {
		for _, document := range refused.Refused {
			fmt.Println("not written:", document.Path, document.Reason)
		}
	}
	fmt.Println(done.Written, "written")

	_, err = publish.WriteDir(context.Background(), dir, &table{})
	fmt.Println(err)
	// Output:
	// not written: /a%2Fb.txt "a/b.txt" holds a control character, a slash or a backslash
	// 1 written
	// table: the locator is required
}

// Documents link to the Capability List that covers them in their HTTP headers, and pages
// of a program's own in their heads.
func ExampleLinked() {
	list := websync.Link{Rel: "resourcesync", Href: "https://example.org/capabilitylist.xml"} // Link of a resourcesync.Publisher
	pages := publish.Linked(publish.Text("/hello.txt", "Hello."), list)
	doc, err := pages.Document(context.Background(), "/hello.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(doc.Links[0].Rel, doc.Links[0].Href)
	fmt.Println(publish.HTMLLink(list))
	// Output:
	// resourcesync https://example.org/capabilitylist.xml
	// <link rel="resourcesync" href="https://example.org/capabilitylist.xml"/>
}
