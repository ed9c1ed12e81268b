package anyfeed_test

import (
	"fmt"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
)

// An RSS feed comes as Atom.
func Example() {
	const rss = `<rss version="2.0"><channel>
  <title>Acts</title>
  <item>
    <guid isPermaLink="false">urn:example:act:9</guid>
    <title>Act 9</title>
    <link>/act/9</link>
    <pubDate>Wed, 01 May 2024 10:30:00 +0200</pubDate>
    <enclosure url="/act/9.pdf" type="application/pdf" length="2048"/>
  </item>
</channel></rss>`

	report := func(f websync.Finding) { fmt.Println(f.Message) }
	feed, items, err := anyfeed.Parse(strings.NewReader(rss), atom.Origin{URL: "https://example.org/acts.rss"}, report)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(feed.Title.Value)
	for _, item := range items {
		e := item.Entry
		fmt.Println(e.ID, e.Title.Value, e.Published)
		for _, l := range e.Links {
			fmt.Println(l.Rel, l.Href, l.Type, l.Length)
		}
	}
	// Output:
	// an RSS feed 2.0, read as Atom
	// Acts
	// urn:example:act:9 Act 9 2024-05-01T10:30:00+02:00
	// alternate https://example.org/act/9  0
	// enclosure https://example.org/act/9.pdf application/pdf 2048
}

// A Source reads with Parse what is not Atom.
func ExampleParse() {
	s := atom.Source{URL: "https://example.org/acts.rss", Parser: anyfeed.Parse}
	fmt.Println(s.Key())
	// Output: https://example.org/acts.rss
}
