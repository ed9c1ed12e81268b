#!/usr/bin/env bash
# rdflib.js ends every list with "rdf:nill" in N-Triples, empties lists in RDF/XML, and in Turtle drops a list that is a subject.
#
# Library:  rdflib 2.4.0 (npm), with n3 2.13.12 and rdfxml-streaming-parser 3.3.0 as the readers
# Guess:    each of the formats has all statements of the graph, if not beautifully.
# Seen:     in N-Triples rdf:nil is "nill", an IRI that means nothing, so no list has an end. In RDF/XML a list has only those
#           members that are subjects themselves: a list of links, or of texts, is empty. In Turtle only the other statements
#           of a list that is a subject are left. There is no error.
# Output:   the lines of "want"
# Valid by: RDF Schema 1.1 section 5.2 (members of lists are any resources, rdf:nil is the end); RDF 1.1 Turtle section 2.8 (a
#           collection may be a subject).
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund rdflib@2.4.0 n3@2.13.12 rdfxml-streaming-parser@3.3.0 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >lists.cjs <<'JS'
const { Readable } = require("stream");
const $rdf = require("rdflib");
const { Parser } = require("n3");
const { RdfXmlParser } = require("rdfxml-streaming-parser");

const base = "http://example.org/";
const rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const parse = (text) => new Parser({ baseIRI: base }).parse(text);
const formats = {
	"N-Triples": ["application/n-triples", parse],
	"Turtle": ["text/turtle", parse],
	"RDF/XML": ["application/rdf+xml", (text) => Readable.from([text]).pipe(new RdfXmlParser({ baseIRI: base })).toArray()],
};
const graphs = [
	["<act> <part> (<1> <2>) .", "N-Triples Turtle RDF/XML"],
	['<act> <part> ("1" "2") .', "N-Triples Turtle RDF/XML"],
	['<act> <part> (<1> <2>) . <2> <title> "x" .', "N-Triples Turtle RDF/XML"],
	["<act> <part> () .", "N-Triples Turtle RDF/XML"],
	['(<1> <2>) <title> "x" .', "N-Triples Turtle"],
];
(async () => {
	for (const [turtle, names] of graphs) {
		console.log(`${turtle} has ${parse(turtle).length} statements`);
		for (const name of names.split(" ")) {
			const [type, read] = formats[name];
			const graph = $rdf.graph();
			$rdf.parse(turtle, graph, base, "text/turtle");
			const quads = await read($rdf.serialize(null, graph, base, type));
			const count = (term) => quads.filter(({ object }) => object.value === rdf + term).length;
			console.log(`  ${name}: ${quads.length}, with rdf:nil in ${count("nil")} and rdf:nill in ${count("nill")}`);
		}
	}
})();
JS
node lists.cjs >got

cat >want <<'EOF'
<act> <part> (<1> <2>) . has 5 statements
  N-Triples: 5, with rdf:nil in 0 and rdf:nill in 1
  Turtle: 5, with rdf:nil in 1 and rdf:nill in 0
  RDF/XML: 1, with rdf:nil in 1 and rdf:nill in 0
<act> <part> ("1" "2") . has 5 statements
  N-Triples: 5, with rdf:nil in 0 and rdf:nill in 1
  Turtle: 5, with rdf:nil in 1 and rdf:nill in 0
  RDF/XML: 1, with rdf:nil in 1 and rdf:nill in 0
<act> <part> (<1> <2>) . <2> <title> "x" . has 6 statements
  N-Triples: 6, with rdf:nil in 0 and rdf:nill in 1
  Turtle: 6, with rdf:nil in 1 and rdf:nill in 0
  RDF/XML: 5, with rdf:nil in 1 and rdf:nill in 0
<act> <part> () . has 1 statements
  N-Triples: 1, with rdf:nil in 0 and rdf:nill in 1
  Turtle: 1, with rdf:nil in 1 and rdf:nill in 0
  RDF/XML: 1, with rdf:nil in 1 and rdf:nill in 0
(<1> <2>) <title> "x" . has 5 statements
  N-Triples: 5, with rdf:nil in 0 and rdf:nill in 1
  Turtle: 1, with rdf:nil in 0 and rdf:nill in 0
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
