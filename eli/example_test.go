package eli_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/rdf"
)

const page = `<!DOCTYPE html>
<html lang="fr" prefix="eli: http://data.europa.eu/eli/ontology#">
<body about="http://country.xy/eli/law/2016/501/003/jo" typeof="eli:LegalResource">
  <p>Date: <time property="eli:date_document" datetime="2016-03-07">7 mars 2016</time></p>
  <div rel="eli:is_realized_by">
    <div resource="http://country.xy/eli/law/2016/501/003/jo/fr" typeof="eli:LegalExpression">
      <link property="eli:language" href="http://publications.europa.eu/resource/authority/language/FRA">
      <h1 property="eli:title">Loi sur tout</h1>
      <div rel="eli:is_embodied_by">
        <p resource="http://country.xy/eli/law/2016/501/003/jo/fr/pdf" typeof="eli:Format">
          <link property="eli:media_type" href="https://www.iana.org/assignments/media-types/application/pdf"></p>
        <p resource="http://country.xy/eli/law/2016/501/003/jo/fr/html" typeof="eli:Format">
          <link property="eli:media_type" href="https://www.iana.org/assignments/media-types/text/html">
          <a property="eli:is_exemplified_by" href="http://country.xy/files/501-003-fr.html">Texte</a></p>
      </div>
    </div>
  </div>
</body>
</html>`

// The metadata in the page of an act, and where its full text is.
func ExampleReadPage() {
	const uri = "http://country.xy/eli/law/2016/501/003/jo"
	graph, err := eli.ReadPage([]byte(page), uri, "text/html", nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	act, err := graph.Resource(uri)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(act.DateDocument, act.AllTitles())
	for _, x := range act.Expressions {
		fmt.Println(x.Language, x.URI)
		for _, f := range x.Formats {
			fmt.Println(" ", f.MediaType, f.URI)
		}
	}
	for _, list := range act.FullText(eli.Preferences{}) {
		for _, c := range list {
			fmt.Println(c.Step, c.URL)
		}
	}
	// Output:
	// 2016-03-07 [{Loi sur tout fr}]
	// fr http://country.xy/eli/law/2016/501/003/jo/fr
	//   application/pdf http://country.xy/eli/law/2016/501/003/jo/fr/pdf
	//   text/html http://country.xy/eli/law/2016/501/003/jo/fr/html
	// 1(a), 2(a) http://country.xy/files/501-003-fr.html
	// tolerant http://country.xy/eli/law/2016/501/003/jo/fr/html
	// 1(d), 2(b) http://country.xy/eli/law/2016/501/003/jo/fr/pdf
}

// A page whose prefix is not declared, and whose media types are literals.
func ExampleReadPage_report() {
	page := `<div about="https://law.example/eli/1" typeof="eli:LegalResource">
	<p rel="eli:is_realized_by"><span about="https://law.example/eli/1/swe">
	<a rel="eli:is_embodied_by" href="1.pdf">PDF</a></span></p>
	<meta about="https://law.example/eli/1.pdf" property="eli:media_type" content="application/pdf"></div>`
	report := func(f websync.Finding) {
		if f.Rule != "rdfa-prefix-undeclared" {
			fmt.Println(f.Rule, f.Value)
		}
	}
	graph, err := eli.ReadPage([]byte(page), "https://law.example/eli/1", "text/html", nil, report)
	if err != nil {
		log.Fatal(err)
	}
	act, err := graph.Resource("https://law.example/eli/1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(act.FullText(eli.Preferences{})[0][0].URL)
	// Output:
	// eli-prefix eli:LegalResource
	// eli-language https://law.example/eli/1/swe
	// eli-media-type application/pdf
	// https://law.example/eli/1.pdf
}

// A page that describes another act, as a page after a wrong redirect does.
func ExampleGraph_Resource() {
	graph, err := eli.ReadPage([]byte(page), "http://country.xy/eli/law/2016/501/002/jo", "text/html", nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = graph.Resource("http://country.xy/eli/law/2016/501/002/jo")
	fmt.Println(err)
	switch {
	case errors.Is(err, eli.ErrNoMetadata):
		fmt.Println("the page needs scripts, or is an error page")
	case errors.Is(err, eli.ErrNotDescribed):
		other, _ := errors.AsType[*eli.ResourceError](err)
		fmt.Println("ask the publisher about", other.Described)
	}
	// Output:
	// eli: http://country.xy/eli/law/2016/501/002/jo: the page does not describe it, but http://country.xy/eli/law/2016/501/003/jo
	// ask the publisher about [http://country.xy/eli/law/2016/501/003/jo]
}

// A program makes the metadata of an act from a table, writes them as N-Quads and reads
// them again.
func ExampleNewGraph() {
	const uri = "https://law.example/eli/1"
	fmt.Println(eli.IsELI(uri))
	act := rdf.IRI(uri)
	graph := eli.NewGraph([]rdf.Triple{
		{Subject: act, Predicate: rdf.IRI(rdf.Type), Object: rdf.IRI(eli.Ontology + "LegalResource")},
		{Subject: act, Predicate: rdf.IRI(eli.Ontology + "title"), Object: rdf.Text("Lag om allt", "sv")},
		{Subject: act, Predicate: rdf.IRI(eli.Ontology + "date_document"), Object: rdf.Literal("2026-01-01", rdf.XSD+"date")},
	}, nil)
	var file bytes.Buffer
	if err := graph.WriteQuads(&file, uri); err != nil {
		log.Fatal(err)
	}
	fmt.Print(file.String())
	graph, name, err := eli.ReadGraph(&file)
	if err != nil {
		log.Fatal(err)
	}
	r, err := graph.Resource(name)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.DateDocument, r.AllTitles())
	// Output:
	// true
	// <https://law.example/eli/1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://data.europa.eu/eli/ontology#LegalResource> <https://law.example/eli/1> .
	// <https://law.example/eli/1> <http://data.europa.eu/eli/ontology#title> "Lag om allt"@sv <https://law.example/eli/1> .
	// <https://law.example/eli/1> <http://data.europa.eu/eli/ontology#date_document> "2026-01-01"^^<http://www.w3.org/2001/XMLSchema#date> <https://law.example/eli/1> .
	// 2026-01-01 [{Lag om allt sv}]
}
