package sourcetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/sitemap"
)

// The whole test of a Source. The second state of the site is harvested after the first.
func Example() {
	TestConformance := func(t *testing.T) { sourcetest.Run(t, textOptions()) }

	_ = TestConformance // go test finds it
}

func textOptions() sourcetest.Options {
	const url = "https://example.com/sitemap.txt"
	return sourcetest.Options{
		Source: func() harvest.Source { return &sitemap.Source{URL: url, Complete: true} },
		Sites: []sourcetest.Site{
			{url: {Body: "https://example.com/a\nhttps://example.com/b\n", ETag: `"monday"`}},
			{url: {Body: "https://example.com/b\nhttps://example.com/c\n", ETag: `"friday"`}},
		},
		Store:  func(testing.TB) harvest.Store { return memstore.New() },
		Bodies: harvest.SkipBodies,
		Tolerates: func(url string, f sourcetest.Failure) bool {
			return f == sourcetest.Cut // a text sitemap has no mark of its end
		},
	}
}

// A Fetcher without a network, for other tests of what reads documents.
func ExampleFetcher() {
	const url = "https://example.com/list"
	f := &sourcetest.Fetcher{Site: sourcetest.Site{
		url:                        {Body: "some text", ETag: `"1"`},
		"https://example.com/old":  {Location: "/list"},
		"https://example.com/gone": {Status: 410},
	}}
	ctx := context.Background()

	resp, err := f.Fetch(ctx, &harvest.Request{URL: "https://example.com/old", Spool: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Status, resp.URL, resp.Length)
	fmt.Println(f.Open())
	resp.Body.Close()

	resp, err = f.Fetch(ctx, &harvest.Request{URL: url, Validator: harvest.Validator{URL: url, ETag: `"1"`}})
	fmt.Println(resp.Status, resp.NotModified, err)

	_, err = f.Fetch(ctx, &harvest.Request{URL: "https://example.com/gone"})
	fmt.Println(err)
	fmt.Println(f.Open())
	fmt.Println(f.Exchanges())
	// Output:
	// 200 https://example.com/list 9
	// 0 1
	// 304 true <nil>
	// https://example.com/gone: status 410
	// 0 0
	// [{https://example.com/old 200} {https://example.com/list 304} {https://example.com/gone 410}]
}
