package rinfo_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/rinfo"
)

// What is wrong with a feed, and with the documents that it links to.
func ExampleValidate() {
	const document = `<feed xmlns="http://www.w3.org/2005/Atom">
		<id>tag:example.se,2026:feed</id><title>Acts</title><updated>2026-01-02T12:00:00Z</updated>
		<link rel="self" href="https://www.example.se/index.atom"/>
		<author><name>An authority</name></author>
		<entry><id>http://rinfo.example.se/publ/exfs/2026:1</id><title>On cats</title><summary>Cats</summary>
			<updated>2026-01-02T12:00:00Z</updated>
			<content type="application/pdf" src="/1.pdf" hash="md5:0f4a7ef7ed7516b56573a86785a187ea"/>
		</entry></feed>`
	web := map[string]string{"https://www.example.se/1.pdf": "Cats must be fed twice."}
	verifier := &rinfo.Verifier{Open: func(url string) (io.ReadCloser, error) {
		text, ok := web[url]
		if !ok {
			return nil, errors.New("not found")
		}
		return io.NopCloser(strings.NewReader(text)), nil
	}}
	sum, err := rinfo.Validate(strings.NewReader(document), atom.ValidateOptions{
		Document: "https://www.example.se/index.atom", Item: verifier.Item, Feed: verifier.Feed,
		Report: func(f websync.Finding) { fmt.Println(f.Line, f.Severity, f.Rule) },
	})
	fmt.Println(sum.Entries, sum.Errors, sum.Warnings, err)
	// Output:
	// 5 error rinfo-published
	// 5 error rinfo-rdf
	// 1 warning rinfo-author-email
	// 5 error rinfo-mismatch
	// 1 3 1 <nil>
}

// A feed and its archive documents are checked as a whole.
func ExampleNewChainValidator() {
	v := rinfo.NewChainValidator()
	v.Report = func(f websync.Finding) { fmt.Println(f.Document, f.Line, f.Rule) }
	sum := v.Walk("https://www.example.se/index.atom", func(url string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(exampleSite[url].Body)), nil
	})
	fmt.Println(sum.Documents, sum.Whole)
	// Output:
	// https://www.example.se/index.atom 4 atom-entry-text
	// https://www.example.se/index.atom 1 atom-feed-self
	// 1 true
}
