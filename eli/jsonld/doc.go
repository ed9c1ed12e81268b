// Package jsonld extracts the triples of JSON-LD 1.1 from pages and JSON documents.
// [Extractor.Extract] reads one document:
//
//	var x jsonld.Extractor
//	triples, err := x.Extract(body, "https://law.example/eli/1", "text/html", nil)
//
// In HTML and XHTML it reads all scripts of the type application/ld+json (JSON-LD 1.1
// §7), with the base of the page. Documents of the types application/ld+json and
// application/json are JSON-LD as a whole. Expansion is that of
// github.com/piprate/json-gold.
//
// Contexts. Nothing is ever fetched. A context that is referred to by its URL counts if
// it is built in, or one of [Extractor.Contexts]. Built in are that of schema.org, as far
// as it describes legislation, and one for the ELI ontology, whose URL is that of the
// ontology. Any other URL is the finding jsonld-context, and the rest of the JSON-LD
// counts without it.
//
// Faults. A script that is not JSON-LD is a finding, and other scripts count. A wrong
// entry of a context costs itself only: the finding jsonld-term names it. What else is
// wrong costs the node of the script, or of its graph, that it is in. What could take far
// more memory or time than its size says ends with [websync.ErrLimit] before it is
// expanded.
//
// Named graphs count as parts of the page. The base direction of text is dropped, and so
// is a language that is no language tag. Characters that no IRI has are percent-encoded,
// where the JSON-LD 1.1 API drops the statement: each is the finding jsonld-iri.
//
// Not supported: a context in the definition of a term for @nest. The page docs/rdf.md
// has the results of the public test suite.
//
// This package links net/http, because json-gold does. It makes no requests.
package jsonld
