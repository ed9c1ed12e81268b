package atom_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

const exampleFeed = `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="` + atom.Namespace + `" xmlns:at="` + atom.TombstoneNamespace + `">
  <id>tag:example.org,2024:acts</id>
  <title>Acts</title>
  <updated>2024-05-02T08:00:00Z</updated>
  <link rel="prev-archive" href="2024-04.atom"/>
  <at:deleted-entry ref="https://example.org/act/7" when="2024-05-02T08:00:00Z"/>
  <entry>
    <id>https://example.org/act/9</id>
    <title type="html">Act &lt;b>9&lt;/b></title>
    <updated>2024-05-01</updated>
    <content src="/act/9.pdf" type="application/pdf" length="2048"
      hash="sha-256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"/>
  </entry>
</feed>`

// A feed lists new entries and deletions.
func Example() {
	// the argument is a file or a response body, compressed or not
	r := atom.NewReader(strings.NewReader(exampleFeed))
	r.Document = "https://example.org/feeds/acts.atom"
	older, _ := r.Feed().Link("prev-archive")
	fmt.Println("older:", older.Href)
	for item, err := range r.All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		if t := item.Tombstone; t != nil {
			fmt.Println("gone:", t.Ref, t.When)
			continue
		}
		e := item.Entry
		fmt.Println("here:", e.ID, e.Updated, e.Content.Href, e.Content.Length, e.Title.Type == atom.HTML)
	}
	// Output:
	// older: https://example.org/feeds/2024-04.atom
	// gone: https://example.org/act/7 2024-05-02T08:00:00Z
	// here: https://example.org/act/9 2024-05-01 https://example.org/act/9.pdf 2048 true
}

// Departures from the specifications do not stop the Reader. Report receives them.
func ExampleReader_Report() {
	r := atom.NewReader(strings.NewReader(exampleFeed))
	r.Document = "https://example.org/feeds/acts.atom"
	r.Report = func(f websync.Finding) { fmt.Println(f) }
	n := 0
	for range r.All() {
		n++
	}
	fmt.Println(n, "items")
	// Output:
	// https://example.org/feeds/acts.atom:11:5: error: a date without a time: "2024-05-01" (atom-date, RFC 4287 §3.3)
	// 2 items
}

// An RSS feed is not an Atom feed without entries.
func ExampleReader_Next() {
	r := atom.NewReader(strings.NewReader(`<rss version="2.0"><channel/></rss>`))
	_, err := r.Next()
	fmt.Println(err)
	// Output: atom: line 1, column 1: rss: an RSS feed, not an Atom document
}

// Views allocate nothing, and are valid until the next call.
func ExampleReader_NextView() {
	r := atom.NewReader(strings.NewReader(exampleFeed))
	for {
		v, err := r.NextView()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %v\n", v.ID, v.Deleted)
	}
	// Output:
	// https://example.org/act/7 true
	// https://example.org/act/9 false
}
