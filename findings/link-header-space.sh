#!/usr/bin/env bash
# A space before one semicolon makes a Go parser of Link headers return no link at all, and a comma in a URL is dropped from the URL.
#
# Library:  github.com/peterhellberg/link v1.2.0 (Go)
# Guess:    a TimeMap in the link format gives its links; their datetime is cut at the comma.
# Seen:     the result is nil. One link of the TimeMap has a space between ">" and ";", and a single link that the parser does
#           not understand discards all the others; there is no error. Without the space, no datetime is cut: the parser
#           deletes the comma. It deletes the commas of URLs, too: /a,b becomes /ab, another resource.
# Output:   see "want" below
# Valid by: RFC 8288 section 3: link-value = "<" URI-Reference ">" *( OWS ";" OWS [ link-param ] ), OWS is optional space.
#           RFC 3986 section 2.2: a comma is a reserved character, allowed in a path. RFC 7089 section 2.2 (datetime).
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'EOF'
package main

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/peterhellberg/link"
)

func main() {
	for _, header := range []string{
		`<https://example.org/2>; rel="next", <https://example.org/9>; rel="last"`,
		`<https://example.org/2>; rel="next", <https://example.org/9> ; rel="last"`,
		`<https://example.org/a,b>; rel="next"`,
		`<https://example.org/m>; rel="memento"; datetime="Tue, 20 Jun 2000 18:02:59 GMT"`,
	} {
		fmt.Println(header)
		group := link.ParseHeader(http.Header{"Link": {header}})
		var rels []string
		for rel := range group {
			rels = append(rels, rel)
		}
		slices.Sort(rels)
		for _, rel := range rels {
			fmt.Println("  ", rel, group[rel].URI, group[rel].Extra)
		}
		fmt.Println("  ", len(group), "links, nil:", group == nil)
	}
}
EOF
{
	go mod init example.org/finding
	go get github.com/peterhellberg/link@v1.2.0
} >log 2>&1 || { cat log >&2; exit 1; }
go run . >got

cat >want <<'EOF'
<https://example.org/2>; rel="next", <https://example.org/9>; rel="last"
   last https://example.org/9 map[]
   next https://example.org/2 map[]
   2 links, nil: false
<https://example.org/2>; rel="next", <https://example.org/9> ; rel="last"
   0 links, nil: true
<https://example.org/a,b>; rel="next"
   next https://example.org/ab map[]
   1 links, nil: false
<https://example.org/m>; rel="memento"; datetime="Tue, 20 Jun 2000 18:02:59 GMT"
   memento https://example.org/m map[datetime:Tue 20 Jun 2000 18:02:59 GMT]
   1 links, nil: false
EOF
if ! cmp -s want got; then
	echo "seen before:"; cat want
	echo "now:"; cat got
	exit 1
fi
cat got
