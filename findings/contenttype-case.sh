#!/usr/bin/env bash
# Go's contenttype writes every parameter of a media type in small letters: a profile's URL and a boundary are others then.
#
# Library:  github.com/elnormous/contenttype v1.0.4 (Go), with the standard library's mime as the other reader
# Guess:    type, subtype and parameter names in small letters; values as they are, but for the charset.
# Seen:     the values are in small letters, too, so profile="http://example.org/Profile#A" is another profile, and a
#           multipart body has no part that begins with the boundary. What it writes has no quotes: a value with spaces or with
#           slashes is no media type any more. When it chooses one of several types by Accept, two profiles that differ in
#           case are one.
# Output:   the lines of "want"
# Valid by: RFC 9110 section 8.3.1: parameter names are case-insensitive, values may be either; section 5.6.6 (a value
#           that is no token is quoted); RFC 6906 section 3 (a profile is a URI); RFC 2046 section 5.1.1 (boundary).
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'EOF'
package main

import (
	"fmt"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/elnormous/contenttype"
)

func main() {
	for _, text := range []string{
		"Text/HTML; Charset=UTF-8",
		`application/ld+json; profile="http://example.org/Profile#A"`,
		`application/ld+json; profile="http://www.w3.org/ns/json-ld#expanded http://www.w3.org/ns/json-ld#compacted"`,
	} {
		parsed, err := contenttype.ParseMediaType(text)
		if err != nil {
			panic(err)
		}
		_, params, err := mime.ParseMediaType(text)
		if err != nil {
			panic(err)
		}
		_, _, err = mime.ParseMediaType(parsed.String())
		fmt.Printf("%s\n  contenttype %q, mime %q\n  written as %s, which mime reads: %t\n", text, parsed.Parameters, params, parsed.String(), err == nil)
	}

	const header, body = "multipart/mixed; boundary=Part1", "--Part1\r\n\r\nact\r\n--Part1--\r\n"
	parsed, err := contenttype.ParseMediaType(header)
	if err != nil {
		panic(err)
	}
	_, params, err := mime.ParseMediaType(header)
	if err != nil {
		panic(err)
	}
	for _, boundary := range []string{params["boundary"], parsed.Parameters["boundary"]} {
		_, err = multipart.NewReader(strings.NewReader(body), boundary).NextPart()
		fmt.Printf("boundary %s: error %v\n", boundary, err)
	}

	accept := `text/turtle; profile="http://example.org/act"`
	for _, profile := range []string{"http://example.org/act", "http://example.org/ACT", "http://example.org/acts"} {
		available := []contenttype.MediaType{contenttype.NewMediaType(`text/turtle; profile="` + profile + `"`)}
		_, _, err = contenttype.GetAcceptableMediaType(&http.Request{Header: http.Header{"Accept": {accept}}}, available)
		fmt.Printf("%s for %s: error %v\n", profile, accept, err)
	}
}
EOF
{
	go mod init example.org/finding
	go get github.com/elnormous/contenttype@v1.0.4
} >log 2>&1 || { cat log >&2; exit 1; }
go run . >got

cat >want <<'EOF'
Text/HTML; Charset=UTF-8
  contenttype map["charset":"utf-8"], mime map["charset":"UTF-8"]
  written as text/html;charset=utf-8, which mime reads: true
application/ld+json; profile="http://example.org/Profile#A"
  contenttype map["profile":"http://example.org/profile#a"], mime map["profile":"http://example.org/Profile#A"]
  written as application/ld+json;profile=http://example.org/profile#a, which mime reads: false
application/ld+json; profile="http://www.w3.org/ns/json-ld#expanded http://www.w3.org/ns/json-ld#compacted"
  contenttype map["profile":"http://www.w3.org/ns/json-ld#expanded http://www.w3.org/ns/json-ld#compacted"], mime map["profile":"http://www.w3.org/ns/json-ld#expanded http://www.w3.org/ns/json-ld#compacted"]
  written as application/ld+json;profile=http://www.w3.org/ns/json-ld#expanded http://www.w3.org/ns/json-ld#compacted, which mime reads: false
boundary Part1: error <nil>
boundary part1: error multipart: NextPart: EOF
http://example.org/act for text/turtle; profile="http://example.org/act": error <nil>
http://example.org/ACT for text/turtle; profile="http://example.org/act": error <nil>
http://example.org/acts for text/turtle; profile="http://example.org/act": error no acceptable type found
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
