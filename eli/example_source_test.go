package eli_test

import (
	"context"
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
)

// gazette is a publisher with one act and its text, without a network.
var gazette = sourcetest.Site{
	"http://country.xy/eli/sitemap.xml": {Body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
		<url><loc>http://country.xy/eli/law/2016/501/003/jo</loc><lastmod>2016-03-08</lastmod></url></urlset>`},
	"http://country.xy/eli/eli-update-feed.atom": {Body: `<feed xmlns="http://www.w3.org/2005/Atom">
		<id>urn:country-xy:eli:eli-update-feed</id><title>Updates</title><updated>2016-03-08T16:20:00Z</updated>
		<author><name>Legislation Service</name></author>
		<entry><id>http://country.xy/eli/law/2016/501/003/jo</id><title>Loi sur tout</title>
			<link href="http://country.xy/eli/law/2016/501/003/jo"/><updated>2016-03-08T16:20:00Z</updated></entry></feed>`},
	"http://country.xy/eli/law/2016/501/003/jo": {Body: page},
	"http://country.xy/files/501-003-fr.html":   {Body: "<h1>Loi sur tout</h1>"},
}

// The acts of a publisher become records in a Store, each with its metadata as N-Quads
// and its full text.
func ExampleSource() {
	ctx := context.Background()
	store := harvest.NewCatalog(memstore.New())
	// for HTTP, use the Fetcher of package harvest/fetch
	h := &harvest.Harvester{Catalog: store, Fetcher: &sourcetest.Fetcher{Site: gazette}}
	report, err := h.Run(ctx, &eli.Source{
		Sitemap: "http://country.xy/eli/sitemap.xml",
		Feed:    "http://country.xy/eli/eli-update-feed.atom",
	})
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
		r := item.Resource
		fmt.Println(r.ID, r.Modified, r.Lang, r.Title)
		for _, body := range item.Bodies {
			fmt.Println("-", body.Name, body.Link.Type, body.Link.Href)
		}
		for _, link := range r.Links {
			fmt.Println("+", link.Type, link.Href)
		}
	}
	// Output:
	// created: 1 in step: true
	// http://country.xy/eli/law/2016/501/003/jo 2016-03-08T16:20:00Z fr Loi sur tout
	// - graph application/n-quads http://country.xy/eli/law/2016/501/003/jo
	// - content text/html http://country.xy/files/501-003-fr.html
	// + application/pdf http://country.xy/eli/law/2016/501/003/jo/fr/pdf
}
