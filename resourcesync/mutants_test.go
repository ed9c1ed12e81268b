package resourcesync_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

var mutantsNow = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)

// TestMutants: documents, damaged ones among them, are read, checked and written as
// before.
func TestMutants(t *testing.T) {
	document := func(piece string) string {
		switch {
		case strings.Contains(piece, "urlset") || strings.Contains(piece, "sitemapindex"):
			return piece
		case strings.HasPrefix(piece, "<"):
			return changes(page + noon + updated + piece)
		case strings.Contains(piece, "capability="):
			return set(piece, md(`change="updated"`))
		}
		return changes(ln(piece), page+noon+"<rs:md "+piece+"/>")
	}
	testkit.Mutants(t, nil, document, func(doc []byte) string {
		var b strings.Builder
		b.WriteString(readAndWritten(doc, func(r *resourcesync.Reader) {
			r.Document, r.Now = "https://example.com/list.xml", mutantsNow
			r.Report = func(f websync.Finding) { fmt.Fprintf(&b, "%+v\n", f) }
		}))
		b.WriteString(readAndWritten(doc, func(r *resourcesync.Reader) { r.MaxValue = 1000 }))
		b.WriteString(readAndWritten(doc, func(r *resourcesync.Reader) { r.Strict = true }))
		sum, err := resourcesync.Validate(bytes.NewReader(doc), resourcesync.ValidateOptions{
			Document: "https://example.com/list.xml", Now: mutantsNow,
			Report: func(f websync.Finding) { fmt.Fprintf(&b, "%+v\n", f) },
		})
		fmt.Fprintf(&b, "%s %v\n", testkit.FlatSummary(sum), err)
		return b.String()
	})
}

// readAndWritten returns what a Reader yields of a document, and what a Writer makes of
// it.
func readAndWritten(doc []byte, set func(*resourcesync.Reader)) string {
	var b strings.Builder
	r := resourcesync.NewReader(bytes.NewReader(doc))
	set(r)
	var entries []resourcesync.Entry
	for {
		e, err := r.Next()
		if err != nil {
			fmt.Fprintf(&b, "%d %v\n", r.Skipped(), err)
			break
		}
		fmt.Fprintf(&b, "%+v\n", e)
		entries = append(entries, e)
	}
	head, err := r.Head()
	fmt.Fprintf(&b, "%+v %v\n", head, err)
	if head.Metadata.Capability == "" {
		head.Metadata.Capability = resourcesync.ChangeList
		head.Metadata.From = websync.NewDatetime(mutantsNow)
	}
	w := resourcesync.NewWriter(&b)
	w.Extensions = []sitemap.Extension{}
	_ = w.WriteHead(&head) // sticks
	for i := range entries {
		if err := w.Write(&entries[i]); err != nil {
			fmt.Fprintf(&b, "refused: %v\n", err)
		}
	}
	fmt.Fprintln(&b, w.Close(), w.Bytes())
	return b.String()
}
