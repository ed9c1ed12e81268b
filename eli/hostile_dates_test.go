package eli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli"
)

// TestManyDates: a page with thousands of dates of one act, in RDFa and others in JSON-LD,
// and with thousands of expressions by schema.org, costs no more than its size says. If
// each were compared with each, this would take minutes.
func TestManyDates(t *testing.T) {
	const n = 10_000
	var spans, scripts strings.Builder
	for i := range n {
		fmt.Fprintf(&spans, `<i property="eli:date_applicability">%04d-01-%02d</i>`, 1001+i/28, 1+i%28)
		fmt.Fprintf(&scripts, `"%04d-02-%02d",`, 1001+i/28, 1+i%28)
	}
	page := `<html prefix="eli: http://data.europa.eu/eli/ontology#"><script type="application/ld+json">{"@id":"` + actURI + `","http://data.europa.eu/eli/ontology#date_applicability":[` +
		strings.TrimSuffix(scripts.String(), ",") + `]}</script><body about="` + actURI + `" typeof="eli:LegalResource">` + spans.String()
	g, err := eli.ReadPage([]byte(page), actURI, "text/html", all, nil)
	require.NoError(t, err)
	act, err := g.Resource(actURI)
	require.NoError(t, err)
	assert.Equal(t, "1001-01-01", act.DateApplicability.String())
	assert.Len(t, act.Values("date_applicability"), 2*n)

	statements := []string{"1 a http://schema.org/Legislation"}
	for i := range n {
		statements = append(statements, fmt.Sprintf("1/%d http://schema.org/exampleOfWork 1", i))
	}
	assert.Len(t, resource(t, graph(t, nil, statements...)).Expressions, n)
}
