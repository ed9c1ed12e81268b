package atom_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
)

// exampleArchive is an archived feed without a network: a subscription document and one
// archive document.
var exampleArchive = sourcetest.Site{
	"https://www.example.com/laws.atom": {ETag: `"2"`, Body: `<feed xmlns="http://www.w3.org/2005/Atom"
			xmlns:at="http://purl.org/atompub/tombstones/1.0">
		<id>tag:example.com,2026:laws</id><title>Laws</title><updated>2026-03-01T12:00:00Z</updated>
		<link rel="prev-archive" href="/laws-1.atom"/>
		<at:deleted-entry ref="tag:example.com,2026:2" when="2026-03-01T12:00:00Z"/>
		<entry><id>tag:example.com,2026:1</id><title>On cats, amended</title><updated>2026-02-01T12:00:00Z</updated>
			<content>Cats must be fed twice.</content></entry>
	</feed>`},
	"https://www.example.com/laws-1.atom": {Body: `<feed xmlns="http://www.w3.org/2005/Atom"
			xmlns:fh="http://purl.org/syndication/history/1.0">
		<id>tag:example.com,2026:laws</id><title>Laws</title><updated>2026-01-03T12:00:00Z</updated><fh:archive/>
		<entry><id>tag:example.com,2026:3</id><title>On birds</title><updated>2026-01-03T12:00:00Z</updated>
			<content>Birds must not be fed.</content></entry>
		<entry><id>tag:example.com,2026:2</id><title>On dogs</title><updated>2026-01-02T12:00:00Z</updated>
			<content>Dogs must be fed.</content></entry>
		<entry><id>tag:example.com,2026:1</id><title>On cats</title><updated>2026-01-01T12:00:00Z</updated>
			<content>Cats must be fed.</content></entry>
	</feed>`},
}

// All entries of an archived feed, each in its latest state, without a store.
func ExampleAll() {
	// for HTTP, use the Fetcher of package harvest/fetch
	web := &sourcetest.Fetcher{Site: exampleArchive}
	for entry, err := range atom.All(context.Background(), web, "https://www.example.com/laws.atom") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(entry.ID, entry.Updated, entry.Title.Value)
	}
	// Output:
	// tag:example.com,2026:3 2026-01-03T12:00:00Z On birds
	// tag:example.com,2026:1 2026-02-01T12:00:00Z On cats, amended
}

// An archived feed becomes records in a store: the latest state of each entry. The second
// run requests one document.
func ExampleSource() {
	ctx := context.Background()
	store := harvest.NewCatalog(memstore.New())
	// for HTTP, use the Fetcher of package harvest/fetch
	web := &sourcetest.Fetcher{Site: exampleArchive}
	h := &harvest.Harvester{Catalog: store, Fetcher: web}
	source := &atom.Source{URL: "https://www.example.com/laws.atom"}
	for range 2 {
		report, err := h.Run(ctx, source)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("created:", report.Created, "in step:", report.InStep())
	}
	for item, err := range store.Resources(ctx, websync.Range{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(item.Resource.ID, item.Resource.Title)
	}
	for _, x := range web.Exchanges() {
		fmt.Println(x.Status, x.URL)
	}
	// Output:
	// created: 2 in step: true
	// created: 0 in step: true
	// tag:example.com,2026:3 On birds
	// tag:example.com,2026:1 On cats, amended
	// 200 https://www.example.com/laws.atom
	// 200 https://www.example.com/laws-1.atom
	// 304 https://www.example.com/laws.atom
}

// A document of the archive is missing. Newer documents are yielded without a checkpoint,
// so that the next run requests it again.
func ExampleSource_hole() {
	web := &sourcetest.Fetcher{Site: sourcetest.Site{
		"https://www.example.com/laws.atom": exampleArchive["https://www.example.com/laws.atom"],
	}}
	run := &harvest.Run{
		Fetcher: web,
		Report:  func(f websync.Finding) { fmt.Println(f.Rule) },
		Expect:  func(int64) {},
		Log:     slog.New(slog.DiscardHandler),
	}
	show := func(source *atom.Source) {
		for event, err := range source.Events(context.Background(), run) {
			switch {
			case err != nil:
				fmt.Println(err)
			case event.Kind == harvest.Problem:
				fmt.Println(event.Kind, event.Err)
			default:
				fmt.Println(event.Kind, event.Resource.ID, !event.Resume.IsZero())
			}
		}
	}
	show(&atom.Source{URL: "https://www.example.com/laws.atom"})
	show(&atom.Source{URL: "https://www.example.com/laws.atom", AcceptGaps: true})
	// Output:
	// problem atom: https://www.example.com/laws-1.atom: status 404
	// put tag:example.com,2026:1 false
	// delete tag:example.com,2026:2 false
	// mark  false
	// atom-archive-gap
	// put tag:example.com,2026:1 false
	// delete tag:example.com,2026:2 false
	// mark  true
}
