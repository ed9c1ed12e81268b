package rinfo_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/rinfo"
)

// TestMutants: documents, damaged ones among them, are checked as before.
func TestMutants(t *testing.T) {
	document := func(piece string) string {
		if strings.Contains(piece, "<feed") {
			return piece
		}
		return `<feed xmlns="http://www.w3.org/2005/Atom">` + piece + "</feed>"
	}
	testkit.Mutants(t, nil, document, func(doc []byte) string {
		var b strings.Builder
		if _, first, ok := bytes.Cut(doc, []byte(" --\n")); ok {
			doc = first // of several documents in one file
		}
		sum, err := rinfo.Validate(bytes.NewReader(doc), atom.ValidateOptions{
			Document: "https://example.org/feed", Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			Report: func(f websync.Finding) { fmt.Fprintf(&b, "%+v\n", f) },
		})
		fmt.Fprintf(&b, "%s %v\n", testkit.FlatSummary(sum), err)
		return b.String()
	})
}
