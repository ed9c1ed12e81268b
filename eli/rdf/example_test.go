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

// A blank node stands for what has no name. An IRI from a table may need escapes.
func ExampleBlank() {
	author := rdf.Blank("author")
	w := rdf.NewWriter(os.Stdout)
	for _, t := range []rdf.Triple{
		{Subject: rdf.IRI(rdf.EscapeIRI("https://law.example/a b")), Predicate: rdf.IRI("http://purl.org/dc/terms/creator"), Object: author},
		{Subject: author, Predicate: rdf.IRI(rdf.Type), Object: rdf.IRI("http://xmlns.com/foaf/0.1/Person")},
		{Subject: author, Predicate: rdf.IRI("http://xmlns.com/foaf/0.1/age"), Object: rdf.Literal("42", rdf.XSD+"integer")},
	} {
		if err := w.Write(rdf.Quad{Triple: t}); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// <https://law.example/a%20b> <http://purl.org/dc/terms/creator> _:author .
	// _:author <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://xmlns.com/foaf/0.1/Person> .
	// _:author <http://xmlns.com/foaf/0.1/age> "42"^^<http://www.w3.org/2001/XMLSchema#integer> .
}
