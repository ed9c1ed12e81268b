package resourcesync_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/resourcesync"
)

// Item adds links to what is listed: here to a mirror, to a collection, to a description
// and, for one change, to a patch.
func ExamplePublisher_links() {
	ctx := context.Background()
	const base = "https://example.org/"
	before, after := websync.SHA256([]byte(`{"a":1}`)), websync.SHA256([]byte(`{"a":2}`))
	item := func(kind websync.ChangeKind, body websync.Digest) websync.Item {
		link := websync.Link{Type: "application/json", Length: 7, Digests: websync.Digests{body}}
		return websync.Item{
			Source: "own", Time: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC), Kind: kind,
			Resource: websync.Resource{ID: base + "a.json", Content: link},
			Bodies:   []websync.Body{{Name: websync.ContentName, Link: link, Key: body}},
		}
	}
	log := new(websync.Log)
	log.Append(item(websync.Created, before), item(websync.Updated, after))

	patches := map[websync.Digest]string{after: base + "patches/1"} // by what they make
	p := &resourcesync.Publisher{Place: websync.Place{Catalog: log, Base: base}, Profile: "links 1"}
	p.Locator = websync.PathLocator{Base: base, Own: []string{"own"}, Reserved: p.Reserved}
	p.Item = func(item *websync.Item, e *resourcesync.Entry) error {
		add := func(l websync.Link) { e.Links = append(e.Links, resourcesync.Link{Link: l}) }
		if e.Metadata.Change == resourcesync.Deleted {
			return nil
		}
		add(websync.Link{Rel: "duplicate", Href: "https://mirror.example.com/a.json", Priority: 1})
		add(websync.Link{Rel: "collection", Href: base + "collections/1"})
		add(websync.Link{Rel: "describedby", Href: base + "a.rdf", Type: "application/rdf+xml"})
		body, _ := item.Body(websync.ContentName)
		if patch := patches[body.Key]; patch != "" && e.Metadata.Change == resourcesync.Updated {
			add(websync.Link{Rel: resourcesync.RelationPatch, Href: patch, Type: "application/json-patch"})
		}
		return nil
	}
	doc, err := p.Document(ctx, "/changelist.xml")
	var list bytes.Buffer
	if err == nil {
		err = doc.Write(ctx, &list)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range resourcesync.NewReader(&list).All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.Metadata.Change, e.Loc)
		for _, l := range e.Links {
			fmt.Println("  ", l.Rel, l.Href)
		}
	}
	// Output:
	// created https://example.org/a.json
	//    duplicate https://mirror.example.com/a.json
	//    collection https://example.org/collections/1
	//    describedby https://example.org/a.rdf
	// updated https://example.org/a.json
	//    duplicate https://mirror.example.com/a.json
	//    collection https://example.org/collections/1
	//    describedby https://example.org/a.rdf
	//    http://www.openarchives.org/rs/terms/patch https://example.org/patches/1
}
