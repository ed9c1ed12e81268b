package websync_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/sitemap"
)

// What went wrong with a document is found with errors.Is, and where with errors.AsType.
func Example_errors() {
	for _, document := range []string{
		"<html><body>Please sign in</body></html>",
		`<urlset xmlns="` + sitemap.Namespace + `"><url><loc>https://example.com/a</loc></url>`,
		`<urlset xmlns="` + sitemap.Namespace + `"><url><loc>https://example.com/a</loc></url><url><loc>https://example.com/b</loc></url></urlset>`,
	} {
		r := sitemap.NewReader(strings.NewReader(document))
		r.MaxEntries = 1
		var err error
		for _, err = range r.All() {
		}
		switch {
		case errors.Is(err, websync.ErrNotDocument):
			fmt.Print("another document: ")
		case errors.Is(err, websync.ErrTruncated):
			fmt.Print("cut off, so try again: ")
		case errors.Is(err, websync.ErrLimit):
			fmt.Print("too large: ")
		}
		if at, ok := errors.AsType[*websync.ParseError](err); ok {
			fmt.Println("line", at.Line, at.Err)
		}
	}

	// A writer refuses an entry, and the document goes on without it.
	err := sitemap.NewWriter(io.Discard).Write(&sitemap.Entry{Loc: "/about"})
	if refused, ok := errors.AsType[*websync.EntryError](err); ok {
		fmt.Println("not written:", refused.ID, refused.Element)
	}

	// Bytes are not those that a link states.
	link := websync.Link{Href: "https://example.com/a.pdf", Length: websync.StatedZero}
	_, err = io.ReadAll(link.Verify(strings.NewReader("Not found")))
	if other, ok := errors.AsType[*websync.MismatchError](err); ok {
		fmt.Println("damaged:", other.Href, other.What, "must be", other.Want)
	}
	// Output:
	// another document: line 1 an HTML page, not a sitemap
	// cut off, so try again: line 1 input ended inside element urlset: document ends too early
	// too large: line 1 more than 1 entries: over the limit
	// not written: /about loc
	// damaged: https://example.com/a.pdf length must be 0
}

// A State, which every Catalog of package harvest is, holds what a program must remember.
// Of two that change one value, the second fails.
func ExampleState() {
	var state websync.State = harvest.NewCatalog(memstore.New())
	ctx := context.Background()
	fmt.Println(state.Swap(ctx, "example/mail", nil, []byte("Monday")))
	err := state.Swap(ctx, "example/mail", nil, []byte("Tuesday"))
	if errors.Is(err, websync.ErrConflict) { // read it again
		value, err := state.State(ctx, "example/mail")
		fmt.Println(string(value), err)
	}
	// Output:
	// <nil>
	// Monday <nil>
}
