package rinfo_test

import (
	"context"
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/rinfo"
)

// exampleSite is a feed with one act and its attachment, without a network.
var exampleSite = sourcetest.Site{
	"https://www.example.se/index.atom": {ETag: `"1"`, Body: `<feed xmlns="http://www.w3.org/2005/Atom">
		<id>tag:example.se,2026:feed</id><title>Acts</title><updated>2026-01-02T12:00:00Z</updated>
		<author><name>An authority</name><email>rinfo@example.se</email></author>
		<entry><id>http://rinfo.example.se/publ/exfs/2026:1</id><title>On cats</title><summary/>
			<updated>2026-01-02T12:00:00Z</updated><published>2026-01-02T12:00:00Z</published>
			<content type="application/pdf" src="/exfs-2026-1.pdf" hash="md5:0f4a7ef7ed7516b56573a86785a187ea"/>
			<link rel="alternate" type="application/rdf+xml" href="/rdf?doc=2026-1" length="7" hash="md5:a924233c203ec3673cbed14c6170b0fe"/>
			<link rel="enclosure" type="application/pdf" href="/exfs-2026-1-bilaga.pdf" length="15" hash="md5:39fb96eb504ffb2b5742d096d8ba2414"/>
		</entry></feed>`},
	"https://www.example.se/exfs-2026-1.pdf":        {Body: "Cats must be fed."},
	"https://www.example.se/rdf?doc=2026-1":         {Body: "<rdf />"},
	"https://www.example.se/exfs-2026-1-bilaga.pdf": {Body: "A list of cats."},
}

// A feed becomes records in a Store, each with all documents of its entry.
func ExampleSource() {
	ctx := context.Background()
	store := harvest.NewCatalog(memstore.New())
	// for HTTP, use the Fetcher of package harvest/fetch
	h := &harvest.Harvester{Catalog: store, Fetcher: &sourcetest.Fetcher{Site: exampleSite}}
	report, err := h.Run(ctx, &rinfo.Source{URL: "https://www.example.se/index.atom"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("created:", report.Created, "in step:", report.InStep())
	for item, err := range store.Resources(ctx, websync.Range{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(item.Resource.ID, item.Resource.Published)
		for _, body := range item.Bodies {
			fmt.Println("-", body.Name, body.Link.Length)
		}
	}
	// Output:
	// created: 1 in step: true
	// http://rinfo.example.se/publ/exfs/2026:1 2026-01-02T12:00:00Z
	// - content 17
	// - alternate application/rdf+xml 7
	// - enclosure exfs-2026-1-bilaga.pdf 15
}

// An index of feeds leads to the feeds that are on a list.
func ExampleSources() {
	web := &sourcetest.Fetcher{Site: sourcetest.Site{
		"https://www.example.se/feeds.atom": {Body: `<feed xmlns="http://www.w3.org/2005/Atom">
			<id>tag:example.se,2026:feeds</id><title>Feeds</title><updated>2026-01-02T12:00:00Z</updated>
			<entry><id>tag:example.se,2026:1686</id><updated>2026-01-01T12:00:00Z</updated>
				<content type="application/atom+xml;type=feed" src="1686.atom"/></entry>
			<entry><id>tag:example.com,2026:other</id><updated>2026-01-02T12:00:00Z</updated>
				<content type="application/atom+xml;type=feed" src="https://example.com/other.atom"/></entry></feed>`},
	}}
	approved := []string{"https://www.example.se/"}
	sources, others, err := rinfo.Sources(context.Background(), web, "https://www.example.se/feeds.atom", approved)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range sources {
		fmt.Println(s.FeedID, s.URL)
	}
	fmt.Println("not approved:", others)
	// Output:
	// tag:example.se,2026:1686 https://www.example.se/1686.atom
	// not approved: [https://example.com/other.atom]
}

// The URL of an attachment is below the official URI of its resource.
func ExampleAttachmentURL() {
	r := &websync.Resource{
		ID:      "http://rinfo.lagrummet.se/publ/livsfs/2006:22",
		Content: websync.Link{Href: "http://www.slv.se/upload/2006_22.pdf"},
	}
	named := websync.Link{
		Rel: "enclosure", Href: "http://www.slv.se/upload/2006_22bill1.pdf", Type: "application/pdf",
		Attrs: []websync.Attr{{Space: rinfo.DCTermsNamespace, Local: "isFormatOf", Value: r.ID + "#bilaga_1"}},
	}
	beside := websync.Link{Rel: "enclosure", Href: "http://www.slv.se/upload/2006_22bill2.pdf"}
	for _, link := range []websync.Link{named, beside} {
		url, err := rinfo.AttachmentURL(r, link)
		fmt.Println(url, err)
	}
	// Output:
	// http://rinfo.lagrummet.se/publ/livsfs/2006:22/bilaga_1.pdf <nil>
	// http://rinfo.lagrummet.se/publ/livsfs/2006:22/2006_22bill2.pdf <nil>
}

// A depot serves the bodies of its own resources below their official URIs, and those of
// others elsewhere.
func ExampleLocator() {
	l := rinfo.Locator{PathLocator: websync.PathLocator{Base: "http://example.se/", Own: []string{"authority"}}}
	r := websync.Resource{ID: "http://example.se/publ/exfs/2026:1"}
	for _, body := range []string{websync.ContentName, "alternate application/rdf+xml", "enclosure bilaga_1.pdf"} {
		fmt.Println(l.URL(&websync.Item{Source: "authority", Resource: r}, body))
	}
	fmt.Println(l.URL(&websync.Item{Source: "stranger", Resource: r}, websync.ContentName))
	// Output:
	// http://example.se/publ/exfs/2026:1
	// http://example.se/publ/exfs/2026:1/rdf
	// http://example.se/publ/exfs/2026:1/bilaga_1.pdf
	// http://example.se/r/http=3A/=2Fexample.se/publ/exfs/2026=3A1~content
}
