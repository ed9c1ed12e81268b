package discover_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/websync-go/websync/harvest/discover"
	"github.com/websync-go/websync/harvest/sourcetest"
)

// A host has a page with a feed, and a sitemap that its robots.txt names.
func ExampleFinder_Find() {
	ctx := context.Background()
	web := &sourcetest.Fetcher{Site: sourcetest.Site{ // a program has fetch.New(store)
		"https://example.org/":            {Body: `<!doctype html><title>Acts</title><link rel="alternate" type="application/atom+xml" href="/news">`},
		"https://example.org/news":        {Body: `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:news</id><title>News</title></feed>`},
		"https://example.org/robots.txt":  {Body: "Sitemap: /sitemap.xml"},
		"https://example.org/sitemap.xml": {Body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.org/act/1</loc></url></urlset>`},
	}}
	finder := &discover.Finder{Fetcher: web}
	result, err := finder.Find(ctx, "https://example.org/")
	if err != nil {
		log.Fatal(err)
	}
	for _, offer := range result.Offers {
		fmt.Println(offer)
		for _, e := range offer.Evidence {
			fmt.Printf("  %s: %s\n", e.URL, e.Text)
		}
	}
	chosen, err := result.Choose() // for each of them: harvester.Run(ctx, offer.Source())
	fmt.Println("to harvest:", chosen, err)
	// Output:
	// sitemap https://example.org/sitemap.xml
	//   https://example.org/: hosts may have /robots.txt
	//   https://example.org/robots.txt: it is a robots.txt file with 1 Sitemap line, and one of them names the document
	//   https://example.org/sitemap.xml: it is a sitemap of 1 entry
	// atom https://example.org/news "News"
	//   https://example.org/: it is a web page with the title "Acts"; its head has a link with rel="alternate" type="application/atom+xml"
	//   https://example.org/news: it is an Atom feed of 0 entries
	// to harvest: [sitemap https://example.org/sitemap.xml atom https://example.org/news "News"] <nil>
}

// A page has two feeds, of which none is better than the other.
func ExampleResult_Choose() {
	const feed = `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:x</id></feed>`
	web := &sourcetest.Fetcher{Site: sourcetest.Site{
		"https://example.org/blog": {
			Header: map[string][]string{"Link": {`</posts>; rel="alternate"; type="application/atom+xml"`, `</comments>; rel="alternate"; type="application/atom+xml"`}},
		},
		"https://example.org/posts":    {Body: feed},
		"https://example.org/comments": {Body: feed},
	}}
	result, err := (&discover.Finder{Fetcher: web}).Find(context.Background(), "https://example.org/blog")
	if err != nil {
		log.Fatal(err)
	}
	_, err = result.Choose()
	fmt.Println(err)
	if several, ok := errors.AsType[*discover.AmbiguousError](err); ok {
		for _, offer := range several.Choices {
			fmt.Println(offer.Protocol == discover.Atom, offer.URL) // a menu
		}
	}
	// Output:
	// discover: https://example.org/blog leads to 2 offers that are equally good, so name one by its URL and protocol: atom https://example.org/posts, atom https://example.org/comments
	// true https://example.org/posts
	// true https://example.org/comments
}
