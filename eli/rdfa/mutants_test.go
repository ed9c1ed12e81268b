package rdfa_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestMutants: documents, damaged ones among them, are extracted as before. Each piece is
// a media type and, after a line feed, a document.
func TestMutants(t *testing.T) {
	testkit.Mutants(t, nil, func(piece string) string { return piece }, func(doc []byte) string {
		media, text, _ := bytes.Cut(doc, []byte("\n"))
		var b strings.Builder
		x := rdfa.Extractor{MaxTriples: 5000}
		triples, err := x.Extract(bytes.NewReader(text), base, string(media), func(f websync.Finding) { fmt.Fprintf(&b, "%+v\n", f) })
		for _, t := range triples {
			fmt.Fprintln(&b, t)
		}
		fmt.Fprintln(&b, err)
		return b.String()
	})
}
