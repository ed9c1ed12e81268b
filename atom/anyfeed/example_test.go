package anyfeed_test

import (
	"errors"
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

// What is wrong with an RSS feed and with a JSON Feed.
func ExampleValidateRSS() {
	o := atom.ValidateOptions{Report: func(f websync.Finding) { fmt.Println(f.Line, f.Severity, f.Rule, f.Message) }}
	sum, err := anyfeed.ValidateRSS(strings.NewReader(`<rss version="2.0"><channel><title>Acts</title></channel></rss>`), o)
	fmt.Println(sum.Errors, err)
	sum, err = anyfeed.ValidateJSON(strings.NewReader(`{"version": "https://jsonfeed.org/version/1.1", "title": "Acts"}`), o)
	fmt.Println(sum.Errors, err)
	// Output:
	// 1 error rss-channel-child no link
	// 1 error rss-channel-child no description
	// 1 warning rss-self no atom:link with the relation self
	// 2 <nil>
	// 1 error jsonfeed-document a JSON Feed without items, not a JSON Feed
	// 1 jsonfeed: line 1, column 1: a JSON Feed without items, not a JSON Feed
}

// Members of a JSON Feed that Atom has no place for are elements of its namespace. A feed
// that is larger than the program takes is not read.
func ExampleParser() {
	const feed = `{"version": "https://jsonfeed.org/version/1.1", "title": "Acts",
		"items": [{"id": "1", "url": "https://example.org/1", "content_text": "On cats", "banner_image": "https://example.org/1.png"}]}`
	for _, limit := range []int64{anyfeed.MaxBytes / 4, 100} {
		p := &anyfeed.Parser{MaxBytes: limit}
		_, items, err := p.Parse(strings.NewReader(feed), atom.Origin{URL: "https://example.org/feed.json"}, nil)
		for _, item := range items {
			for _, x := range item.Entry.Elements {
				fmt.Println(x.Space == anyfeed.JSONNamespace, x.Local)
			}
		}
		fmt.Println(errors.Is(err, websync.ErrLimit))
	}
	// Output:
	// true member
	// false
	// true
}
