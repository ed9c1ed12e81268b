package atom_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/bench"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const irregularEntries = 2000

// BenchmarkIrregular reads feeds as the web has them, and writes their entries, in turns
// with encoding/xml: as views and as entries that may be kept.
func BenchmarkIrregular(b *testing.B) {
	doc := bench.Atom(13, irregularEntries, bench.Mixed)
	decode := bench.CPU("encoding-xml", func() error {
		return counted(testkit.DecodeEntries(doc, "entry", func(d *xml.Decoder, start *xml.StartElement) error {
			_, err := decodeEntry(d, start)
			return err
		}))
	})
	b.Run("views", func(b *testing.B) {
		bench.Beside(b, len(doc), bench.CPU("websync", func() error {
			n, r := 0, atom.NewReader(bytes.NewReader(doc))
			for {
				_, err := r.NextView()
				if err == io.EOF {
					return counted(n, nil)
				}
				if err != nil {
					return err
				}
				n++
			}
		}), decode)
	})
	b.Run("entries", func(b *testing.B) {
		bench.Beside(b, len(doc), bench.CPU("websync", func() error {
			n := 0
			err := readEntries(atom.NewReader(bytes.NewReader(doc)), func(*atom.Entry) { n++ })
			return counted(n, err)
		}), decode)
	})
	b.Run("writing", func(b *testing.B) {
		var entries []*atom.Entry
		r := atom.NewReader(bytes.NewReader(doc))
		require.NoError(b, readEntries(r, func(e *atom.Entry) { entries = append(entries, e) }))
		feed := *r.Feed()
		feed.Authors = []websync.Person{{Name: "Gazette"}} // for entries that have none
		encoded := encodedFeedOf(&feed, entries)
		ours := func(dst io.Writer) error { return writeFeed(dst, &feed, entries) }
		peer := func(dst io.Writer) error { return xml.NewEncoder(dst).Encode(encoded) }
		require.NoError(b, testkit.CheckSameEntries("entry", ours, peer))
		bench.Beside(b, len(doc), bench.CPU("websync", func() error { return ours(io.Discard) }),
			bench.CPU("encoding-xml", func() error { return peer(io.Discard) }))
	})
}

// readEntries calls f with each entry.
func readEntries(r *atom.Reader, f func(*atom.Entry)) error {
	for {
		item, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		f(item.Entry)
	}
}

// counted returns an error unless all entries were read.
func counted(n int, err error) error {
	if err == nil && n != irregularEntries {
		err = fmt.Errorf("read %d entries, want %d", n, irregularEntries)
	}
	return err
}
