package atompmh_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/publish"
)

// Two runs follow a feed: the second one finds a deletion.
func ExampleSource() {
	feed := `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:ex:feed</id><title>Collections</title><updated>2026-01-02T00:00:00Z</updated>%s
		<entry><id>urn:ex:1</id><title>Crocodiles</title><updated>2026-01-01T00:00:00Z</updated>
			<link type="text/html" href="/1.html"/><link type="application/rdf+xml" href="/1.rdf"/></entry>
		<entry><id>urn:ex:2</id><title>Turtles</title><updated>2026-01-01T12:00:00Z</updated>
			<link type="application/rdf+xml" href="/2.rdf"/></entry></feed>`
	deletion := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/feed":
			fmt.Fprintf(w, feed, deletion)
		case "/1.html", "/1.rdf", "/2.rdf":
			fmt.Fprint(w, "record ", r.URL.Path)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()

	ctx := context.Background()
	store := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: store, Fetcher: &fetch.Client{AllowPrivate: true, Rate: -1}}
	source := &atompmh.Source{URL: server.URL + "/feed", Formats: []string{"application/rdf+xml", "*/*"}}
	for range 2 {
		report, err := h.Run(ctx, source)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("created", report.Created, "deleted", report.Deleted, "in step", report.InStep())
		deletion = `<entry><id>urn:ex:2</id><title>Turtles</title><updated>2026-01-02T00:00:00Z</updated><content/></entry>`
	}
	for item, err := range store.Resources(ctx, websync.Range{}) {
		if err != nil {
			log.Fatal(err)
		}
		body, _ := item.Body(websync.ContentName)
		r, err := store.Open(ctx, body)
		if err != nil {
			log.Fatal(err)
		}
		text, _ := io.ReadAll(r)
		fmt.Println(item.Resource.Title, "as", string(text))
		r.Close()
	}
	// Output:
	// created 2 deleted 0 in step true
	// created 0 deleted 1 in step true
	// Crocodiles as record /1.rdf
}

func ExampleValidate() {
	feed := `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:ex:feed</id><title>Collections</title><updated>2026-01-02T00:00:00Z</updated>
<author><name>Archive</name></author><link rel="self" href="https://example.org/feed"/>
<entry><id>urn:ex:1</id><title>Crocodiles</title><updated>2026-01-03T00:00:00Z</updated><content>gone</content></entry></feed>`
	report := func(f websync.Finding) {
		if strings.HasPrefix(f.Rule, "atompmh-") {
			fmt.Printf("line %d: %s: %s\n", f.Line, f.Severity, f.Rule)
		}
	}
	sum, err := atompmh.Validate(strings.NewReader(feed), atom.ValidateOptions{Report: report})
	fmt.Println(sum.Kind, sum.Entries, err)
	// Output:
	// line 3: error: atompmh-entry-type
	// feed 1 <nil>
}

// A store is published as an archived feed. A Handler of package publish serves it.
func ExamplePublisher() {
	ctx := context.Background()
	store := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: store}
	record := websync.Resource{ID: "urn:ex:1", Title: "Crocodiles", Content: websync.Link{Type: "application/rdf+xml"}}
	put := harvest.Event{Kind: harvest.Put, Resource: record, Open: harvest.OpenBytes([]byte("<rdf/>"))}
	if _, err := h.Run(ctx, harvest.Of("records", put)); err != nil {
		log.Fatal(err)
	}
	const base = "https://example.org/"
	list := &atom.Publisher{Profile: atompmh.Profile(), Place: websync.Place{Catalog: store, Base: base}, Author: websync.Person{Name: "Archive"}}
	list.Locator = websync.PathLocator{Base: base, Own: []string{"records"}, Reserved: list.Reserved}
	handler := &publish.Handler{Publishers: []websync.Publisher{list, publish.Bodies(store, list.Locator)}}
	if err := handler.Check(); err != nil {
		log.Fatal(err)
	}
	doc, err := list.Document(ctx, "/feed.atom")
	if err != nil {
		log.Fatal(err)
	}
	var text bytes.Buffer
	if err := doc.Write(ctx, &text); err != nil {
		log.Fatal(err)
	}
	for item, err := range atom.NewReader(&text).All() {
		if err != nil {
			log.Fatal(err)
		}
		link, _ := item.Entry.Link("alternate")
		fmt.Println(item.Entry.Title.Value, link.Type, link.Href)
	}
	// Output:
	// Crocodiles application/rdf+xml https://example.org/r/urn=3Aex=3A1~content
}

// A chain of documents is walked and checked as a whole.
func ExampleNewChainValidator() {
	const head = `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:ex:feed</id><title>Collections</title><author><name>Archive</name></author>`
	documents := map[string]string{
		"https://example.org/feed": head + `<updated>2026-01-05T00:00:00Z</updated><link rel="self" href="/feed"/><link rel="prev-archive" href="/1"/>
			<entry><id>urn:ex:1</id><title>Crocodiles</title><updated>2026-01-02T00:00:00Z</updated><content/></entry></feed>`,
		"https://example.org/1": head + `<fh:archive xmlns:fh="http://purl.org/syndication/history/1.0"/><updated>2026-01-04T00:00:00Z</updated><link rel="self" href="/1"/><link rel="current" href="/feed"/>
			<entry><id>urn:ex:1</id><title>Crocodiles</title><updated>2026-01-01T00:00:00Z</updated><link type="text/html" href="/1.html"/></entry></feed>`,
	}
	v := atompmh.NewChainValidator()
	v.Report = func(f websync.Finding) {
		if f.Severity > websync.SeverityInfo {
			fmt.Println(f.Document, f.Rule)
		}
	}
	sum := v.Walk("https://example.org/feed", func(url string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(documents[url])), nil
	})
	fmt.Println(sum.Documents, sum.Whole)
	// Output:
	// https://example.org/1 atompmh-archive-updated
	// 2 true
}
