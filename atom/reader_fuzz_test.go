package atom_test

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// FuzzReader: for all bytes, errors and findings have positions, items have an id, markup
// is whole, and neither the size of the reads nor the use of views makes a difference.
func FuzzReader(f *testing.F) {
	testkit.Files(f, "testdata/read", nil, func(_ string, data []byte) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		bounded := func(src io.Reader) *atom.Reader {
			r := atom.NewReader(src)
			r.Document, r.MaxBytes = readURL, 1<<20
			return r
		}
		r := bounded(bytes.NewReader(data))
		r.Report = func(f websync.Finding) {
			if f.Rule != "atom-gzip" {
				require.Positive(t, f.Line, f)
				require.Positive(t, f.Column, f)
			}
		}
		items, err := readAllItems(r)
		testkit.CheckParseError(t, "atom", err)
		for _, item := range items {
			require.NotEmpty(t, item.ID())
			requireWhole(t, item)
		}

		views := bounded(iotest.OneByteReader(bytes.NewReader(data)))
		clones := testkit.Views(t, err, func() (atom.Item, error) {
			v, err := views.NextView()
			if err != nil {
				return atom.Item{}, err
			}
			return v.Clone(), nil
		})
		require.Equal(t, items, clones)
		require.Equal(t, r.Kind(), views.Kind())
		require.Equal(t, r.Skipped(), views.Skipped())
		require.Equal(t, r.Feed(), views.Feed())

		strict := bounded(bytes.NewReader(data))
		strict.Strict = true
		if _, strictErr := readAllItems(strict); strictErr == nil {
			require.NoError(t, err, "strict is stricter")
		}
	})
}

// requireWhole checks that all markup of an item stands for itself.
func requireWhole(t *testing.T, item atom.Item) {
	var elements []websync.Element
	texts := func(all ...atom.Text) {
		for _, x := range all {
			if x.Type == atom.XHTML {
				elements = append(elements, websync.Element{Space: "http://www.w3.org/1999/xhtml", Local: "div", XML: x.Value})
			}
		}
	}
	if e := item.Entry; e != nil {
		require.Positive(t, e.Line)
		require.Positive(t, e.Column)
		elements = append(elements, e.Elements...)
		texts(e.Title, e.Summary, e.Rights, atom.Text{Type: e.Content.Type, Value: e.Content.Value})
		for _, l := range e.Links {
			require.NotEmpty(t, l.Rel)
			require.GreaterOrEqual(t, l.Length, int64(websync.StatedZero))
		}
	} else {
		require.Positive(t, item.Tombstone.Line)
		require.Positive(t, item.Tombstone.Column)
		elements = append(elements, item.Tombstone.Elements...)
		texts(item.Tombstone.Comment)
	}
	for _, x := range elements {
		testkit.CheckElement(t, x)
	}
}
