package rdf_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestMutants: documents, damaged ones among them, are read as before.
func TestMutants(t *testing.T) {
	testkit.Mutants(t, nil, func(piece string) string { return piece }, func(doc []byte) string {
		var b strings.Builder
		r := rdf.NewReader(bytes.NewReader(doc))
		r.Document, r.MaxLine = "x.nq", 500
		quads, err := readAll(r)
		for _, q := range quads {
			fmt.Fprintf(&b, "%q %v %v %v %v\n", q, q.Subject.Check(), q.Predicate.Check(), q.Object.Check(), q.Graph.Check())
		}
		fmt.Fprintln(&b, err)
		return b.String()
	})
}
