#!/usr/bin/env bash
# rdfxml-streaming-parser keeps only the last piece of a text with a comment or CDATA in it, and takes the references out of XML literals.
#
# Library:  rdfxml-streaming-parser 3.3.0 (npm)
# Guess:    comments and the borders of CDATA sections are no part of a text; an XML literal is well-formed; a document may consist of one
#           node element without rdf:RDF around it.
# Seen:     the text before a comment, a CDATA section or a processing instruction is lost without an error. "&amp;" in an XML literal
#           becomes "&", and prefixes that are declared outside of it are not declared in it. The rdf:about of a root element that is not
#           rdf:RDF is ignored: its statements are those of a blank node.
# Output:   see "want" below
# Valid by: XML 1.0 sections 2.4 to 2.7. RDF 1.1 XML Syntax sections 7.2.8 (the root may be a nodeElement), 7.2.17 (an XML literal is
#           canonical XML, where "&" is "&amp;" and the prefixes that it uses are declared).
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" rdfxml-streaming-parser@3.3.0 >"$dir/npm.log" 2>&1 || { cat "$dir/npm.log" >&2; exit 1; }

cat >"$dir/run.mjs" <<'EOF'
import { RdfXmlParser } from "rdfxml-streaming-parser";

const names = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/"';
const inside = (property) => `<rdf:RDF ${names}><rdf:Description rdf:about="http://example.org/act">${property}</rdf:Description></rdf:RDF>`;
for (const document of [
	inside("<e:title>Act of <!-- the year -->2026</e:title>"),
	inside("<e:title>Act of <![CDATA[2026]]></e:title>"),
	inside('<e:title rdf:parseType="Literal">Q &amp; A, <e:b>2026</e:b></e:title>'),
	`<e:Act ${names} rdf:about="http://example.org/act"><e:title>Act of 2026</e:title></e:Act>`,
]) {
	const parser = new RdfXmlParser({ baseIRI: "http://example.org/" });
	parser.on("data", (quad) => console.log(quad.subject.termType, quad.predicate.value.replace(/.*[/#]/, ""), JSON.stringify(quad.object.value)));
	parser.on("error", (error) => console.log(error.message));
	const end = new Promise((resolve) => parser.on("end", resolve).on("error", resolve));
	parser.end(document);
	await end;
}
EOF
(cd "$dir" && timeout 60 node run.mjs) >"$dir/got"

cat >"$dir/want" <<'EOF'
NamedNode title "2026"
NamedNode title "2026"
NamedNode title "Q & A, <e:b>2026</e:b>"
BlankNode type "http://example.org/Act"
BlankNode title "Act of 2026"
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
