package jsonld_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli/jsonld"
)

// BenchmarkExtract: the metadata of an act with 100 parts, as its page has them.
func BenchmarkExtract(b *testing.B) {
	var parts strings.Builder
	for i := range 100 {
		fmt.Fprintf(&parts, `{"@type":"LegalResourceSubdivision","@id":"eli/1/art_%d","number":"%d","is_part_of":"eli/1","title":{"@value":"Artikel %d","@language":"sv"}},`, i, i, i)
	}
	page := script(`{"@context":["http://data.europa.eu/eli/ontology",{"@language":"sv","note":"schema:description"}],"@graph":[` + parts.String() +
		`{"@id":"eli/1","@type":"LegalResource","date_document":"2026-01-01","note":"Lag om allt","is_realized_by":{"@id":"eli/1/swe","title":"Lag"}}]}`)
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		triples, err := new(jsonld.Extractor).Extract(strings.NewReader(page), base, "text/html", nil)
		require.NoError(b, err)
		require.Equal(b, 405, len(triples))
	}
}
