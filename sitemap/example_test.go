package sitemap_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/sitemap"
)

const example = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <url><loc>https://www.example.com/</loc><lastmod>2025-06-01</lastmod></url>
  <url><loc>https://www.example.com/news?a=1&amp;b=2</loc><priority>high</priority></url>
</urlset>`

// All entries of a site, in one sitemap or many. A document that can't be read yields an
// error, and the others are read.
func Example() {
	// In a program: fetcher := fetch.New(nil), of package harvest/fetch.
	fetcher := &sourcetest.Fetcher{Site: sourcetest.Site{
		"https://www.example.com/robots.txt": {Body: "Sitemap: https://www.example.com/index.xml"},
		"https://www.example.com/index.xml": {Body: `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
			<sitemap><loc>https://www.example.com/news.xml</loc></sitemap>
			<sitemap><loc>https://www.example.com/lost.xml</loc></sitemap>
			<sitemap><loc>https://www.example.com/old.txt</loc></sitemap>
		</sitemapindex>`},
		"https://www.example.com/news.xml": {Body: example},
		"https://www.example.com/old.txt":  {Body: "https://www.example.com/old\n"},
	}}
	for e, err := range sitemap.All(context.Background(), fetcher, "https://www.example.com/robots.txt") {
		if err != nil {
			fmt.Println("error:", err)
			continue
		}
		fmt.Println(e.Loc)
	}
	// Output:
	// https://www.example.com/
	// https://www.example.com/news?a=1&b=2
	// error: sitemap: https://www.example.com/lost.xml: status 404
	// https://www.example.com/old
}

// A Reader streams the entries of one document. It needs neither a store nor a network.
func ExampleReader() {
	// the argument is a file or a response body, compressed or not
	r := sitemap.NewReader(strings.NewReader(example))
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

// Departures from the protocol do not stop the Reader. Report receives them.
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

// Views allocate nothing, and are valid until the next call.
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

// The Writer writes a valid document. It returns an error for a bad entry and writes
// nothing of it.
func ExampleWriter() {
	w := sitemap.NewWriter(os.Stdout)
	for _, e := range []sitemap.Entry{
		{Loc: "https://www.example.com/?a=1&b=2", LastMod: websync.DateOf(time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)), Priority: 0.8},
		{Loc: "/about", ChangeFreq: sitemap.Weekly},
	} {
		if err := w.Write(&e); err != nil {
			defer fmt.Println(err)
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
	// <url><loc>https://www.example.com/?a=1&amp;b=2</loc><lastmod>2025-06-01</lastmod><priority>0.8</priority></url>
	// </urlset>
	// sitemap: /about: loc: not an absolute HTTP URL
}

// Any number of entries, in as many files as they need, and the index.
func ExampleSetWriter() {
	dir, err := os.MkdirTemp("", "sitemap-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s := sitemap.NewSetWriter(func(part int) (io.WriteCloser, error) {
		return os.Create(fmt.Sprintf("%s/sitemap-%d.xml.gz", dir, part))
	})
	s.Gzip = true
	for i := range 120_000 {
		if err := s.Write(&sitemap.Entry{Loc: fmt.Sprintf("https://www.example.com/%d", i)}); err != nil {
			fmt.Println(err)
		}
	}
	if err := s.Close(); err != nil {
		fmt.Println(err)
		return
	}
	var index strings.Builder
	s.Gzip = false // for the index
	err = s.WriteIndex(&index, func(part int) string { return fmt.Sprintf("https://www.example.com/sitemap-%d.xml.gz", part) })
	fmt.Print(index.String(), err)
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
	// <sitemap><loc>https://www.example.com/sitemap-1.xml.gz</loc></sitemap>
	// <sitemap><loc>https://www.example.com/sitemap-2.xml.gz</loc></sitemap>
	// <sitemap><loc>https://www.example.com/sitemap-3.xml.gz</loc></sitemap>
	// </sitemapindex>
	// <nil>
}

func ExampleValidate() {
	doc := `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <url><loc>https://www.example.com/catalogue/1</loc><lastmod>2025-06-01</lastmod></url>
  <url><lastmod>2025-06-01</lastmod><loc>https://www.example.com/catalogue/1</loc></url>
  <url><loc>https://www.example.com/images/1</loc></url>
</urlset>`
	sum, err := sitemap.Validate(strings.NewReader(doc), sitemap.ValidateOptions{
		Document: "https://www.example.com/catalogue/sitemap.xml",
		Report: func(f websync.Finding) {
			fmt.Printf("%d:%d %v %s: %s\n", f.Line, f.Column, f.Severity, f.Rule, f.Message)
		},
	})
	fmt.Println(sum.Entries, "entries,", sum.Errors, "errors,", sum.Warnings, "warnings", err)
	// Output:
	// 3:37 error sitemap-element-order: after an element that it has to precede
	// 3:37 warning sitemap-loc-duplicate: listed before, in line 2
	// 4:8 error sitemap-location: not below /catalogue/, the directory of the sitemap
	// 3 entries, 2 errors, 1 warnings <nil>
}

// The alternates of a page, in other languages, are elements of XHTML. A Writer sees to the
// limits of the protocol; a program that sends few entries can have smaller ones.
func ExampleAlternate() {
	e := sitemap.Entry{Loc: "https://www.example.com/"}
	for lang, href := range map[string]string{"en": e.Loc, "de": "https://www.example.com/de"} {
		link, err := sitemap.Alternate{Lang: lang, Href: href}.Element()
		if err != nil {
			fmt.Println(err)
			return
		}
		e.Elements = append(e.Elements, link)
	}
	alternates, err := e.Alternates()
	fmt.Println(len(alternates), e.Elements[0].Space == sitemap.XHTMLNamespace, err)

	w := sitemap.NewWriter(io.Discard)
	w.MaxEntries, w.MaxBytes = sitemap.MaxEntries/2, sitemap.MaxBytes/2
	fmt.Println(w.Write(&e), w.Close())
	// Output:
	// 2 true <nil>
	// <nil> <nil>
}
