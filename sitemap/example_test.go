package sitemap_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/sitemap"
)

const example = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <url><loc>https://www.example.com/</loc><lastmod>2025-06-01</lastmod></url>
  <url><loc>https://www.example.com/news?a=1&amp;b=2</loc><priority>high</priority></url>
</urlset>`

func Example() {
	r := sitemap.NewReader(strings.NewReader(example)) // of a file, a response body, compressed or not
	for e, err := range r.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e.Loc, e.LastMod)
	}
	// Output:
	// https://www.example.com/ 2025-06-01
	// https://www.example.com/news?a=1&b=2
}

// What departs from the protocol is read over, and reported to whoever wants to know.
func ExampleReader_Report() {
	r := sitemap.NewReader(strings.NewReader(example))
	r.Document = "https://www.example.com/sitemap.xml"
	r.Report = func(f websync.Finding) { fmt.Println(f) }
	n := 0
	for range r.All() {
		n++
	}
	fmt.Println(n, "entries")
	// Output:
	// https://www.example.com/sitemap.xml:4:59: error: not a number from 0.0 to 1.0: "high" (sitemap-priority, sitemaps.org, XML tag definitions)
	// 2 entries
}

// A login page with status 200 is not an empty sitemap.
func ExampleReader_Next() {
	r := sitemap.NewReader(strings.NewReader("<!DOCTYPE html><html><body>Please sign in</body></html>"))
	_, err := r.Next()
	fmt.Println(err)
	fmt.Println(errors.Is(err, websync.ErrNotDocument))
	// Output:
	// sitemap: line 1, column 16: html: an HTML page, not a sitemap
	// true
}

// Views need no memory of their own, and hold until the next call.
func ExampleReader_NextView() {
	r := sitemap.NewReader(strings.NewReader(example))
	longest := 0
	for {
		v, err := r.NextView()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		longest = max(longest, len(v.Loc))
	}
	fmt.Println(longest)
	// Output: 36
}

func ExampleSitemaps() {
	robots := `User-agent: *
Disallow: /private
Sitemap: https://www.example.com/sitemap.xml
Sitemap: https://www.example.com/news.xml.gz`
	urls, err := sitemap.Sitemaps(strings.NewReader(robots))
	fmt.Println(urls, err)
	// Output: [https://www.example.com/sitemap.xml https://www.example.com/news.xml.gz] <nil>
}
