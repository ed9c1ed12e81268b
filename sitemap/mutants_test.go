package sitemap_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

// TestMutants: documents, damaged ones among them, are read, checked and written as
// before.
func TestMutants(t *testing.T) {
	document := func(piece string) string {
		if strings.Contains(piece, "urlset") || strings.Contains(piece, "sitemapindex") {
			return piece
		}
		return inEntry(piece)
	}
	testkit.Mutants(t, nil, document, func(doc []byte) string {
		var b strings.Builder
		b.WriteString(readAndWritten(doc, func(r *sitemap.Reader) {
			r.Document, r.Now = documentURL, now
			r.Report = func(f websync.Finding) { fmt.Fprintf(&b, "%+v\n", f) }
		}))
		b.WriteString(readAndWritten(doc, func(r *sitemap.Reader) { r.MaxValue = 1000 }))
		b.WriteString(readAndWritten(doc, func(r *sitemap.Reader) { r.Strict = true }))
		sum, err := sitemap.Validate(bytes.NewReader(doc), sitemap.ValidateOptions{
			Extensions: google.Extensions(), Document: documentURL, Now: now,
			Report: func(f websync.Finding) { fmt.Fprintf(&b, "%+v\n", f) },
		})
		fmt.Fprintf(&b, "%s %v\n", testkit.FlatSummary(sum), err)
		return b.String()
	})
}

// readAndWritten returns what a Reader yields of a document, and what a Writer makes of
// it.
func readAndWritten(doc []byte, set func(*sitemap.Reader)) string {
	var b strings.Builder
	r := sitemap.NewReader(bytes.NewReader(doc))
	set(r)
	var entries []sitemap.Entry
	for {
		e, err := r.Next()
		if err != nil {
			fmt.Fprintf(&b, "%v %d %v\n", r.Kind(), r.Skipped(), err)
			break
		}
		fmt.Fprintf(&b, "%+v\n", e)
		videos, err := google.Videos(&e)
		fmt.Fprintf(&b, "%v\n", err)
		writeElements(&b, videos)
		images, err := google.Images(&e)
		fmt.Fprintf(&b, "%v\n", err)
		writeElements(&b, images)
		articles, err := google.Articles(&e)
		fmt.Fprintf(&b, "%v\n", err)
		writeElements(&b, articles)
		entries = append(entries, e)
	}
	fmt.Fprintf(&b, "%+v\n%+v\n", r.Elements(), r.Attrs())
	w := sitemap.NewWriter(&b)
	w.Extensions = google.Extensions()
	_ = w.WriteHead(&sitemap.Head{Kind: min(r.Kind(), sitemap.Index), Elements: r.Elements(), Attrs: r.Attrs()}) // sticks
	for i := range entries {
		if err := w.Write(&entries[i]); err != nil {
			fmt.Fprintf(&b, "refused: %v\n", err)
		}
	}
	fmt.Fprintln(&b, w.Close(), w.Bytes(), w.LastMod())
	return b.String()
}

// writeElements writes values, and the elements made of them.
func writeElements[T interface {
	Element() (websync.Element, error)
}](w io.Writer, all []T) {
	for _, v := range all {
		x, err := v.Element()
		fmt.Fprintf(w, "%+v\n%+v %v\n", v, x, err)
	}
}
