package websync_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/websync-go/websync"
)

// A link states the length and the digests of what it points to. Verify holds the bytes
// against them while they are read.
func ExampleLink_Verify() {
	digests, err := websync.ParseDigests("md5:96ab4e163f4ee03aaa4d1051aa51d204")
	if err != nil {
		fmt.Println(err)
		return
	}
	link := websync.Link{Href: "https://example.com/res1", Length: 8, Digests: digests}

	for _, body := range []string{"resource", "res", "Resource"} {
		_, err := io.Copy(io.Discard, link.Verify(strings.NewReader(body)))
		fmt.Println(err, errors.Is(err, websync.ErrMismatch))
	}
	// Output:
	// <nil> false
	// https://example.com/res1: length: want 8, got 3 true
	// https://example.com/res1: md5: want 96ab4e163f4ee03aaa4d1051aa51d204, got be8545ae7ab0276e15898aae7acfbd7a true
}

// A date stands for a period, and keeps its text.
func ExampleParseDatetime() {
	for _, s := range []string{"2024", "2024-02-29", "2024-02-29T13:15:30.50+01:00", "2024-02-29 13:15"} {
		d, err := websync.ParseDatetime(s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%v: %v, ends %v\n", d, d.Precision(), d.End())
	}
	// Output:
	// 2024: year, ends 2025-01-01 00:00:00 +0000 UTC
	// 2024-02-29: day, ends 2024-03-01 00:00:00 +0000 UTC
	// 2024-02-29T13:15:30.50+01:00: 10 milliseconds, ends 2024-02-29 13:15:30.51 +0100 +0100
	// not a W3C date
}

// Readers accept faults that are common on the web, and can report them.
func ExampleParseDatetimeLenient() {
	for _, s := range []string{"2020-03-18 01:20:10", "2010-03-08T15:55:34+0100", "Sun, 06 Nov 1994 08:49:37 GMT"} {
		d, departure, err := websync.ParseDatetimeLenient(s)
		fmt.Printf("%s (%s) %v\n", d, departure, err)
	}
	// Output:
	// 2020-03-18T01:20:10Z (a space instead of T; no time zone, read as UTC) <nil>
	// 2010-03-08T15:55:34+01:00 (a time zone without a colon) <nil>
	// 1994-11-06T08:49:37Z (a date as in HTTP or mail) <nil>
}

// Datetimes of any precision and zone can be sorted.
func ExampleDatetime_Compare() {
	var dates []websync.Datetime
	for _, s := range []string{"2024-03", "2024-02-29T23:30:00Z", "2024-03-01T00:15:00+01:00", "2024"} {
		d, err := websync.ParseDatetime(s)
		if err != nil {
			fmt.Println(err)
			return
		}
		dates = append(dates, d)
	}
	slices.SortFunc(dates, websync.Datetime.Compare)
	fmt.Println(dates)
	// Output:
	// [2024 2024-03-01T00:15:00+01:00 2024-02-29T23:30:00Z 2024-03]
}

// A list says "2024-02-29", a server the exact second: nothing has changed.
func ExampleDatetime_Overlaps() {
	listed, _ := websync.ParseDatetime("2024-02-29")
	served, _ := websync.ParseDatetime("2024-02-29T13:15:30Z")
	later, _ := websync.ParseDatetime("2024-03-01T08:00:00Z")
	fmt.Println(listed.Overlaps(served), listed.Overlaps(later), listed.Before(later))
	// Output:
	// true false true
}

func ExampleParseDigests() {
	digests, err := websync.ParseDigests("SHA1:2jmj7l5rSw0yVb/vlWAYkK/YBwk= sha-256:oops crc32:0")
	fmt.Println(digests)
	fmt.Println(err)
	fmt.Println(digests.Strongest())
	// Output:
	// sha-1:da39a3ee5e6b4b0d3255bfef95601890afd80709 crc32:0
	// "oops" is not a sha-256 digest of 32 bytes in hex or base64
	// sha-1:da39a3ee5e6b4b0d3255bfef95601890afd80709 true
}

func ExampleFinding() {
	fmt.Println(websync.Finding{
		Document: "https://example.com/sitemap.xml", Rule: "lastmod-format", Section: "lastmod",
		Severity: websync.SeverityError, Line: 12, Column: 5, Element: "lastmod", Value: "soon", Message: "not a W3C date",
	})
	// Output:
	// https://example.com/sitemap.xml:12:5: error: not a W3C date: "soon" (lastmod-format, lastmod)
}

func ExampleParseError() {
	_, err := websync.ParseDatetime("soon")
	err = &websync.ParseError{Format: "sitemap", Line: 12, Element: "lastmod", Err: err}
	fmt.Println(err)

	var at *websync.ParseError
	if errors.As(err, &at) {
		fmt.Println(at.Line)
	}
	// Output:
	// sitemap: line 12: lastmod: not a W3C date
	// 12
}

// The digest of a file is computed while it is copied, by the algorithm that a list names.
func ExampleNewHash() {
	stated, err := websync.ParseDigest("SHA256:15a596e3c98c407e043751ff3b21ff0358a1bdfdf3fe948b1523893a8e5de2e8")
	if err != nil {
		fmt.Println(err)
		return
	}
	sum, known := websync.NewHash(stated.Algorithm)
	if !known {
		return // another digest may be known
	}
	if _, err := io.Copy(io.MultiWriter(io.Discard, sum), strings.NewReader("correct")); err != nil {
		fmt.Println(err)
		return
	}
	found := websync.Digest{Algorithm: stated.Algorithm, Sum: string(sum.Sum(nil))}
	fmt.Println(stated.Algorithm, found == stated)
	// Output: sha-256 true
}
