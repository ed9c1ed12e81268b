package conformance_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/websync-go/websync/eli/conformance"
	"github.com/websync-go/websync/harvest/fetch"
)

// file is a document in a file.
func file(name string) conformance.Input {
	return conformance.Input{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
}

func Example() {
	c := &conformance.Checker{
		Sitemap: file("testdata/specification/sitemap.xml"),
		Feed:    file("testdata/specification/feed.atom"),
		Now:     time.Date(2016, 9, 6, 0, 0, 0, 0, time.UTC),
	}
	result, err := c.Check(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d passed, %d with warnings, %d failed, %d not checked\n", result.Passed, result.Warned, result.Failed, result.Skipped)
	for _, row := range result.Rules {
		if row.Status == conformance.Warn {
			fmt.Println(row.ID, row.Rule)
			fmt.Println(row.Examples[0].Message)
			fmt.Println(row.Advice)
		}
	}
	// Output:
	// 34 passed, 1 with warnings, 0 failed, 28 not checked
	// P4-069 The sitemap and the feed are about the same pages.
	// the feed states 2016-03-07, and the sitemap 2016-03-06
	// Generate both from one table, with one date for each legal resource.
}

// A publisher on the web is checked with a sample of its pages, and once more some days
// later: some rules need two visits.
func Example_visits() {
	server := publisher() // for this example; a real one has a URL of its own
	defer server.Close()
	client := fetch.New(nil)
	client.Rate = -1 // the server is our own
	c := &conformance.Checker{
		Sitemap:  conformance.Input{Name: server.URL + "/eli/sitemap.xml"},
		Feed:     conformance.Input{Name: server.URL + "/eli/eli-update-feed.atom"},
		Fetcher:  client,
		Interval: -1, // likewise
		Now:      time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC),
	}
	first, err := c.Check(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Pages, "pages;", first.Failed, "failed")

	var profile bytes.Buffer // a file
	if err := first.Profile.Write(&profile); err != nil {
		log.Fatal(err)
	}
	if c.Last, err = conformance.ReadProfile(&profile); err != nil {
		log.Fatal(err)
	}
	second, err := c.Check(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range []string{"P4-003", "P4-032"} {
		before, _ := first.Row(id)
		after, _ := second.Row(id)
		fmt.Printf("%s %s, then %s\n", id, before.Status, after.Status)
	}
	// Output:
	// 3 pages; 0 failed
	// P4-003 not checked, then pass
	// P4-032 not checked, then pass
}

// The report is one HTML document that can be sent by mail.
func ExampleResult_WriteHTML() {
	c := &conformance.Checker{Sitemap: file("testdata/specification/sitemap.xml"), Feed: file("testdata/specification/feed.atom")}
	result, err := c.Check(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	var report bytes.Buffer // a file
	if err := result.WriteHTML(&report); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Count(report.String(), "<article "), "rules")
	// Output: 63 rules
}

// Rules about the ELI registry need its pairs, from a file with two URLs in each line.
func ExampleReadRegistry() {
	const pairs = "# sitemap, feed\nhttps://law.example/sitemap.xml, https://law.example/feed.atom\n"
	registry, err := conformance.ReadRegistry(strings.NewReader(pairs))
	if err != nil {
		log.Fatal(err)
	}
	c := &conformance.Checker{Registry: registry}
	fmt.Println(c.Registry[0].Sitemap, c.Registry[0].Feed)
	// Output: https://law.example/sitemap.xml https://law.example/feed.atom
}
