#!/usr/bin/env bash
# rapper drops the query of an xml:base, or of the base element of a page: "" and "#part" then name another resource.
#
# Library:  rapper 2.0.15 (Debian raptor2-utils 2.0.15-4*)
# Guess:    the references "" and "#part" keep the query of the base, wherever the base is stated.
# Seen:     with the base of the command line, and with @base in Turtle, they keep it. With xml:base in RDF/XML, with base href
#           in RDFa they lose it, and so does rdf:ID: act?v=2 becomes act. References with a query of their own are right in all
#           four.
# Output:   the lines of "want"
# Valid by: RFC 3986 section 5.2.2: a reference without path and query takes the query of the base. RDF 1.1 XML Syntax section
#           5.3: only the fragment of an xml:base is left out.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

deb() { # PACKAGE VERSION
	local version
	dpkg -s "$1" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "$1" >/dev/null
	version=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo absent)
	case $version in $2) echo "$1 $version" ;; *) echo "written for $1 $2, found $version" >&2; exit 1 ;; esac
}
deb raptor2-utils '2.0.15-4*'

rdf='<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/ns#"BASE>
<rdf:Description rdf:about=""><e:part rdf:resource="#one"/><e:next rdf:resource="?v=3"/></rdf:Description>
<rdf:Description rdf:ID="two"><e:a>x</e:a></rdf:Description></rdf:RDF>'
page='<html xmlns="http://www.w3.org/1999/xhtml" prefix="e: http://example.org/ns#"><head><base href="https://example.org/act?v=2"/></head>
<body about=""><a rel="e:part" href="#one">1</a><a rel="e:next" href="?v=3">3</a></body></html>'
show() { # LABEL FORMAT BASE
	echo "$1:"
	rapper -q -i "$2" -o ntriples - "$3"
}
{
	sed 's/BASE//' <<<"$rdf" | show 'RDF/XML, base of the command line' rdfxml 'https://example.org/act?v=2'
	sed 's#BASE# xml:base="https://example.org/act?v=2"#' <<<"$rdf" | show 'RDF/XML, xml:base' rdfxml https://unused.example/
	printf '%s' '@base <https://example.org/act?v=2> . <> <http://example.org/ns#part> <#one> ; <http://example.org/ns#next> <?v=3> .' |
		show 'Turtle, @base' turtle https://unused.example/
	show 'RDFa, base href' rdfa https://unused.example/ <<<"$page"
} >got

cat >want <<'EOF'
RDF/XML, base of the command line:
<https://example.org/act?v=2> <http://example.org/ns#part> <https://example.org/act?v=2#one> .
<https://example.org/act?v=2> <http://example.org/ns#next> <https://example.org/act?v=3> .
<https://example.org/act?v=2#two> <http://example.org/ns#a> "x" .
RDF/XML, xml:base:
<https://example.org/act> <http://example.org/ns#part> <https://example.org/act#one> .
<https://example.org/act> <http://example.org/ns#next> <https://example.org/act?v=3> .
<https://example.org/act#two> <http://example.org/ns#a> "x" .
Turtle, @base:
<https://example.org/act?v=2> <http://example.org/ns#part> <https://example.org/act?v=2#one> .
<https://example.org/act?v=2> <http://example.org/ns#next> <https://example.org/act?v=3> .
RDFa, base href:
<https://example.org/act> <http://example.org/ns#part> <https://example.org/act#one> .
<https://example.org/act> <http://example.org/ns#next> <https://example.org/act?v=3> .
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
