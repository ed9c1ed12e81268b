package xmlscan_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/websync-go/websync/internal/xmlscan"
)

func ExampleReader() {
	r := xmlscan.NewReader(strings.NewReader(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <url><loc> https://example.org/?a=1&amp;b=2 </loc><priority>0.5</priority></url>
</urlset>`))
	for {
		kind, err := r.NextTag()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		if kind == xmlscan.Start && r.Name().Local == "loc" {
			text, err := r.ElementText()
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf("%s\n", xmlscan.Trim(text))
		}
	}
	// Output: https://example.org/?a=1&b=2
}

func ExampleReader_recover() {
	r := xmlscan.NewReader(strings.NewReader("<a>R&D&nbsp;</a>"))
	r.Recover = func(line, column int, msg string) { fmt.Printf("%d:%d: %s\n", line, column, msg) }
	for {
		kind, err := r.Next()
		if err != nil {
			break
		}
		if kind == xmlscan.Text {
			fmt.Printf("%q\n", r.Text())
		}
	}
	// Output:
	// 1:5: '&' does not start a reference
	// 1:7: undefined entity nbsp
	// "R&D\u00a0"
}

func ExampleReader_AppendElement() {
	r := xmlscan.NewReader(strings.NewReader(`<feed xmlns="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/terms/"><dc:rights>CC0</dc:rights></feed>`))
	r.Next() // feed
	r.Next() // dc:rights
	text, err := r.AppendElement(nil)
	fmt.Printf("%s %v\n", text, err)
	// Output: <dc:rights xmlns:dc="http://purl.org/dc/terms/">CC0</dc:rights> <nil>
}
