#!/usr/bin/env bash
# Go's gowarc empties the WARC-Date of a record whose date has no seconds, and writes it so.
#
# Library:  github.com/nlnwa/gowarc/v3 v3.1.0 (Go)
# Guess:    a date of a year, a day or a minute is kept as it is, or as its first second.
# Seen:     the value is replaced by nothing: WARC-Date is there and empty, and so it is in a copy of the record, which is not valid
#           any more. Validation notes that the time can't be parsed, and nothing fails. Dates with seconds stay, with any
#           fraction; with WithNoValidation all dates do.
# Output:   the lines of "want"
# Valid by: WARC 1.1 (ISO 28500:2017) section 5.4: WARC-Date has any granularity of the W3C's note "Date and Time Formats", from
#           the year on, and at most nine digits of a fraction.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'EOF'
package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/nlnwa/gowarc/v3"
)

func main() {
	for _, date := range []string{"2026-11-28T10:20:30Z", "2026-11-28T10:20:30.123456789Z", "2026-11-28T10:20Z", "2026-11-28", "2026-11", "2026"} {
		lines := []string{"WARC/1.1", "WARC-Type: resource", "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>",
			"WARC-Target-URI: https://example.org/act", "WARC-Date: " + date, "Content-Type: text/plain", "Content-Length: 3", "", "act", "", ""}
		show("default", date, lines)
		show("WithNoValidation", date, lines, gowarc.WithNoValidation())
	}
}

func show(name, date string, lines []string, options ...gowarc.WarcRecordOption) {
	reader, err := gowarc.NewWarcFileReaderFromStream(strings.NewReader(strings.Join(lines, "\r\n")), 0, options...)
	if err != nil {
		panic(err)
	}
	record, err := reader.Next()
	if err != nil {
		panic(err)
	}
	defer record.Close()
	var b bytes.Buffer
	if _, _, err := gowarc.NewMarshaler().Marshal(&b, record.WarcRecord, 0); err != nil {
		panic(err)
	}
	for line := range strings.SplitSeq(b.String(), "\r\n") {
		if strings.HasPrefix(line, "WARC-Date") {
			fmt.Printf("%s of %s: %q is %q, findings: %d\n", name, date, record.WarcRecord.WarcHeader().Get("WARC-Date"), line, len(record.Validation))
		}
	}
}
EOF
{
	go mod init example.org/finding
	go get github.com/nlnwa/gowarc/v3@v3.1.0
} >log 2>&1 || { cat log >&2; exit 1; }
go run . >got

cat >want <<'EOF'
default of 2026-11-28T10:20:30Z: "2026-11-28T10:20:30Z" is "WARC-Date: 2026-11-28T10:20:30Z", findings: 0
WithNoValidation of 2026-11-28T10:20:30Z: "2026-11-28T10:20:30Z" is "WARC-Date: 2026-11-28T10:20:30Z", findings: 0
default of 2026-11-28T10:20:30.123456789Z: "2026-11-28T10:20:30.123456789Z" is "WARC-Date: 2026-11-28T10:20:30.123456789Z", findings: 0
WithNoValidation of 2026-11-28T10:20:30.123456789Z: "2026-11-28T10:20:30.123456789Z" is "WARC-Date: 2026-11-28T10:20:30.123456789Z", findings: 0
default of 2026-11-28T10:20Z: "" is "WARC-Date: ", findings: 1
WithNoValidation of 2026-11-28T10:20Z: "2026-11-28T10:20Z" is "WARC-Date: 2026-11-28T10:20Z", findings: 0
default of 2026-11-28: "" is "WARC-Date: ", findings: 1
WithNoValidation of 2026-11-28: "2026-11-28" is "WARC-Date: 2026-11-28", findings: 0
default of 2026-11: "" is "WARC-Date: ", findings: 1
WithNoValidation of 2026-11: "2026-11" is "WARC-Date: 2026-11", findings: 0
default of 2026: "" is "WARC-Date: ", findings: 1
WithNoValidation of 2026: "2026" is "WARC-Date: 2026", findings: 0
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
