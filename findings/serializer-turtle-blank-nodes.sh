#!/usr/bin/env bash
# npm's @rdfjs/serializer-turtle leaves out blank nodes that refer to each other, and what a list node has besides its list.
#
# Library:  @rdfjs/serializer-turtle 1.1.5 with n3 2.13.12 as the reader (npm)
# Guess:    the Turtle may be ugly, but it has every statement of the graph; labels of blank nodes change.
# Seen:     two blank nodes that name each other, or one that names itself, are not written at all: the document is empty,
#           without an error. A node of a well-formed list loses every property but rdf:first and rdf:rest.
# Output:   the lines of "want": statements in, statements out
# Valid by: RDF 1.1 Concepts section 3.1: the object of a triple may be any blank node, and a graph may have cycles; RDF Schema
#           1.1 section 5.2: lists are ordinary statements.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @rdfjs/serializer-turtle@1.1.5 n3@2.13.12 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >count.mjs <<'JS'
import Serializer from "@rdfjs/serializer-turtle";
import { Parser } from "n3";

const rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const graphs = {
	"a chain": "_:a <urn:next> _:b . _:b <urn:title> \"B\" .",
	"a pair": "_:a <urn:amends> _:b . _:b <urn:amendedBy> _:a .",
	"a pair with titles": "_:a <urn:amends> _:b ; <urn:title> \"A\" . _:b <urn:amendedBy> _:a ; <urn:title> \"B\" .",
	"itself": "_:a <urn:sameAs> _:a .",
	"a pair that an act names": "<urn:act> <urn:part> _:a . _:a <urn:amends> _:b . _:b <urn:amendedBy> _:a .",
	"a list with a note": `<urn:act> <urn:parts> _:l . _:l <${rdf}first> 1 ; <${rdf}rest> <${rdf}nil> ; <urn:note> "first part" .`,
};
for (const [name, text] of Object.entries(graphs)) {
	const quads = new Parser().parse(text);
	const turtle = await new Serializer().transform(quads);
	console.log(`${name}: ${quads.length} in, ${new Parser().parse(turtle).length} out`);
}
JS
node count.mjs >got

cat >want <<'EOF'
a chain: 2 in, 2 out
a pair: 2 in, 0 out
a pair with titles: 4 in, 0 out
itself: 1 in, 0 out
a pair that an act names: 3 in, 3 out
a list with a note: 4 in, 3 out
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
