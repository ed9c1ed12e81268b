package rdf_test

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/websync-go/websync/eli/rdf"
)

// The titles of a graph.
func ExampleReader_All() {
	doc := `<https://law.example/eli/1> <http://data.europa.eu/eli/ontology#title> "Lag om allt"@sv .
<https://law.example/eli/1> <http://data.europa.eu/eli/ontology#title> "Act on everything"@en .
`
	for q, err := range rdf.NewReader(strings.NewReader(doc)).All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(q.Object.Lang, q.Object.Value)
	}
	// Output:
	// sv Lag om allt
	// en Act on everything
}

func ExampleWriter() {
	w := rdf.NewWriter(os.Stdout)
	err := w.Write(rdf.Quad{Triple: rdf.Triple{
		Subject:   rdf.IRI("https://law.example/eli/1"),
		Predicate: rdf.IRI("http://purl.org/dc/terms/title"),
		Object:    rdf.Text("Lag om \"allt\"", "sv"),
	}})
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// <https://law.example/eli/1> <http://purl.org/dc/terms/title> "Lag om \"allt\""@sv .
}
