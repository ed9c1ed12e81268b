package atom_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestMutants: documents, damaged ones among them, are read, checked and written as
// before.
func TestMutants(t *testing.T) {
	document := func(piece string) string {
		switch {
		case strings.Contains(piece, "<feed") || strings.Contains(piece, atom.Namespace) || strings.Contains(piece, atom.TombstoneNamespace):
			return piece
		case strings.Contains(piece, "<entry") || strings.Contains(piece, "<at:deleted-entry"):
			return vFeed(piece)
		case strings.HasPrefix(piece, "<"):
			return vFeed(piece + "<entry>" + validateItem + validateLink + "\n" + piece + "</entry>")
		}
		return vFeed("<entry>" + validateItem + validateLink + "\n<link " + piece + "/><category " + piece + "/><content " + piece + "/></entry>")
	}
	testkit.Mutants(t, nil, document, func(doc []byte) string {
		var b strings.Builder
		b.WriteString(readAndWritten(doc, func(r *atom.Reader) {
			r.Document, r.Now = validateURL, validateNow
			r.Report = func(f websync.Finding) { fmt.Fprintf(&b, "%+v\n", f) }
		}))
		b.WriteString(readAndWritten(doc, func(r *atom.Reader) { r.Repair, r.MaxValue, r.MaxContent = true, 1000, 500 }))
		b.WriteString(readAndWritten(doc, func(r *atom.Reader) { r.Strict = true }))
		sum, err := atom.Validate(bytes.NewReader(doc), atom.ValidateOptions{
			Document: validateURL, Now: validateNow,
			Report: func(f websync.Finding) { fmt.Fprintf(&b, "%+v\n", f) },
		})
		fmt.Fprintf(&b, "%s %v\n", testkit.FlatSummary(sum), err)
		return b.String()
	})
}

// readAndWritten returns what a Reader yields of a document, and what a Writer makes of
// it.
func readAndWritten(doc []byte, set func(*atom.Reader)) string {
	var b strings.Builder
	r := atom.NewReader(bytes.NewReader(doc))
	set(r)
	var items []atom.Item
	showFeed(&b, r.Feed())
	for {
		item, err := r.Next()
		if err != nil {
			fmt.Fprintf(&b, "%v %d %v\n", r.Kind(), r.Skipped(), err)
			break
		}
		showItem(&b, item)
		items = append(items, item)
	}
	feed := r.Feed()
	showFeed(&b, feed)
	if r.Kind() != atom.FeedDocument {
		for _, item := range items {
			w := atom.NewWriter(&b)
			fmt.Fprintln(&b, w.WriteFeed(feed))
			if item.Tombstone != nil {
				fmt.Fprintln(&b, w.WriteTombstoneDocument(item.Tombstone))
			} else {
				fmt.Fprintln(&b, w.WriteEntryDocument(item.Entry))
			}
		}
		return b.String()
	}
	w := atom.NewWriter(&b)
	w.Namespaces, w.LegacyMD5 = map[string]string{"x": "urn:x"}, true
	if err := w.WriteFeed(feed); err != nil {
		fmt.Fprintf(&b, "refused: %v\n", err)
		feed.ID, feed.Title.Value, feed.Links, feed.Elements = "urn:feed", "T", nil, nil
		feed.Updated = websync.NewDatetime(validateNow)
		fmt.Fprintln(&b, w.WriteFeed(feed))
	}
	for _, item := range items {
		err := error(nil)
		if item.Tombstone != nil {
			err = w.WriteTombstone(item.Tombstone)
		} else {
			err = w.WriteEntry(item.Entry)
		}
		fmt.Fprintln(&b, err)
	}
	fmt.Fprintln(&b, w.Close())
	return b.String()
}

// showItem writes all that is in an item.
func showItem(w io.Writer, item atom.Item) {
	if item.Tombstone != nil {
		t := *item.Tombstone
		showFeed(w, t.Source)
		t.Source = nil
		fmt.Fprintf(w, "%+v\n", t)
		return
	}
	e := *item.Entry
	showFeed(w, e.Source)
	e.Source = nil
	fmt.Fprintf(w, "%+v\n", e)
}

func showFeed(w io.Writer, f *atom.Feed) {
	if f != nil {
		fmt.Fprintf(w, "%+v\n", *f)
	}
}
