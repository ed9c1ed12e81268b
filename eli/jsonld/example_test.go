package jsonld_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/jsonld"
)

// The metadata in a page of an act.
func ExampleExtractor_Extract() {
	page := `<!DOCTYPE html>
<title>Lag om allt</title>
<script type="application/ld+json">
{
  "@context": ["http://data.europa.eu/eli/ontology", "https://law.example/context.jsonld"],
  "@id": "https://law.example/eli/1",
  "@type": "LegalResource",
  "date_document": "2026-01-01",
  "is_realized_by": {"@id": "1/swe", "title": {"@value": "Lag om allt", "@language": "sv"}}
}
</script>`
	report := func(f websync.Finding) {
		fmt.Printf("line %d: %s: %s\n", f.Line, f.Rule, f.Value)
	}
	var x jsonld.Extractor
	triples, err := x.Extract(strings.NewReader(page), "https://law.example/eli/1", "text/html", report)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range triples {
		_, name, _ := strings.Cut(t.Predicate.Value, "#")
		fmt.Println(name, t.Object)
	}
	// Output:
	// line 3: jsonld-context: https://law.example/context.jsonld
	// type <http://data.europa.eu/eli/ontology#LegalResource>
	// date_document "2026-01-01"^^<http://www.w3.org/2001/XMLSchema#date>
	// title "Lag om allt"@sv
	// is_realized_by <https://law.example/eli/1/swe>
}
