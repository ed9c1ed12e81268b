package rdfa_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdfa"
)

// The metadata in a page of an act.
func ExampleExtractor_Extract() {
	page := `<!DOCTYPE html>
<html prefix="eli: http://data.europa.eu/eli/ontology#">
<body about="https://law.example/eli/1" typeof="eli:LegalResource">
  <h1 property="eli:title" lang="sv">Lag om allt</h1>
  <p>Issued on <span property="eli:date_document" datatype="xsd:date" content="2026-01-01">the first of January</span>,
  <a rel="eli:is_realized_by" href="1/swe">in Swedish</a></p>
</body>
</html>`
	var x rdfa.Extractor
	triples, err := x.Extract(strings.NewReader(page), "https://law.example/eli/1", "text/html", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range triples {
		_, name, _ := strings.Cut(t.Predicate.Value, "#")
		fmt.Println(name, t.Object)
	}
	// Output:
	// type <http://data.europa.eu/eli/ontology#LegalResource>
	// title "Lag om allt"@sv
	// date_document "2026-01-01"^^<http://www.w3.org/2001/XMLSchema#date>
	// is_realized_by <https://law.example/eli/1/swe>
}

// A page without the declaration of its prefix.
func ExampleExtractor_report() {
	page := `<p about="https://law.example/eli/1" property="eli:title">Lag om allt</p>`
	report := func(f websync.Finding) {
		fmt.Printf("line %d: %s: %s\n", f.Line, f.Value, f.Message)
	}
	var x rdfa.Extractor
	triples, err := x.Extract(strings.NewReader(page), "https://law.example/eli/1", "text/html", report)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(triples[0])
	// Output:
	// line 1: eli:title: the prefix eli is not declared: taken as an absolute IRI
	// <https://law.example/eli/1> <eli:title> "Lag om allt" .
}
