#!/usr/bin/env bash
# SWI-Prolog writes the colons of IRIs in RDF/XML as %3A: urn:act:1 becomes urn:act%3A1, which is another resource.
#
# Library:  SWI-Prolog 9.0.4 (Debian swi-prolog-nox 9.0.4+dfsg-2), raptor2-utils 2.0.15 as the other reader
# Guess:    an absolute IRI is taken as it is written, in every format.
# Seen:     in RDF/XML each colon after the first one of a urn: or tag: IRI, and each colon in the path and query of an http: IRI,
#           is escaped: in subjects, properties and objects alike. The port keeps its colon. In N-Triples the same program keeps
#           all, so that one graph in two formats has no such resource in common.
# Output:   the lines of "want"
# Valid by: RDF 1.1 XML Syntax sections 6.1.2 and 6.1.4: the IRI of an element is its namespace and local name, one after
#           the other, and that of rdf:about the resolved value. RFC 3986 section 2.2: a reserved character and its escape are
#           not equivalent. RFC 8141 section 2: the second colon of a URN is part of the syntax.
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
deb swi-prolog-nox 9.0.4+dfsg-2
deb raptor2-utils '2.0.15-4*'

cat >acts.rdf <<'XML'
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:u="urn:example:" xmlns:h="http://example.org/ns#">
  <rdf:Description rdf:about="urn:act:1"><h:of rdf:resource="tag:example.org,2026:acts:2"/></rdf:Description>
  <rdf:Description rdf:about="http://example.org:8080/a:b?c:d"><u:of rdf:resource="http://example.org/plain"/></rdf:Description>
</rdf:RDF>
XML
rapper -q -i rdfxml -o ntriples acts.rdf >acts.nt

cat >load.pl <<'PL'
:- use_module(library(semweb/rdf11)).
:- use_module(library(semweb/rdf_ntriples)).
:- initialization(main, main).
show(File, Format) :-
    rdf_reset_db,
    rdf_load(File, [base_uri('http://example.org/'), format(Format), silent(true)]),
    forall(rdf(S, P, O), format("~w: <~w> <~w> <~w>~n", [Format, S, P, O])).
main :- show('acts.nt', ntriples), show('acts.rdf', xml).
PL
swipl load.pl >got

cat >want <<'EOF'
ntriples: <urn:act:1> <http://example.org/ns#of> <tag:example.org,2026:acts:2>
ntriples: <http://example.org:8080/a:b?c:d> <urn:example:of> <http://example.org/plain>
xml: <urn:act%3A1> <http://example.org/ns#of> <tag:example.org,2026%3Aacts%3A2>
xml: <http://example.org:8080/a%3Ab?c%3Ad> <urn:example%3Aof> <http://example.org/plain>
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
