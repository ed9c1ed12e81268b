#!/usr/bin/env bash
# SWI-Prolog resolves the references of Turtle otherwise than those of RDF/XML, and serdi leaves ".." in them.
#
# Library:  SWI-Prolog 9.0.4 (Debian swi-prolog-nox 9.0.4+dfsg-2), serdi 0.30.16 (serdi 0.30.16-1)
# Guess:    both give the IRIs of RFC 3986, as rapper does.
# Seen:     SWI-Prolog's Turtle reader drops the file of the base before "?version=1", and makes a path of the host in
#           "//other.example/act". Its RDF/XML reader has both right, so one graph in two formats is two graphs. serdi removes
#           dot segments at the start of a reference, not those within it: "sub/../x" stays.
# Output:   the lines of "want"
# Valid by: RDF 1.1 Turtle section 6.3: relative IRIs are resolved by the basic algorithm of RFC 3986 section 5.2; its examples
#           for "?y", "//g" and "g;x=1/../y" are in section 5.4.
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
deb serdi 0.30.16-1
deb raptor2-utils '2.0.15-4*'

base='https://example.org/eli/act?version=2'
references=('?version=1' '//other.example/act' 'sub/../x' '../up' '#s1' '/root' '')
{
	echo "@base <$base> ."
	printf '<urn:example:1> <urn:example:p> <%s> .\n' "${references[@]}"
} >act.ttl
{
	echo "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='urn:example:' xml:base='$base'>"
	printf "<rdf:Description rdf:about='urn:example:1'><e:p rdf:resource='%s'/></rdf:Description>\n" "${references[@]}"
	echo "</rdf:RDF>"
} >act.rdf
cat >objects.pl <<'PROLOG'
:- use_module(library(semweb/rdf11)).
:- use_module(library(semweb/turtle)).
show(File) :- rdf_load(File, [silent(true), graph(File)]), forall(rdf(_, _, Object, File), (write(Object), nl)).
:- initialization((current_prolog_flag(argv, Words), last(Words, File), show(File), halt)).
PROLOG
column() { sed -E 's/^<[^>]*> <[^>]*> <(.*)> \.$/\1/'; }
printf '%s\n' "${references[@]}" >references
rapper -q -i turtle -o ntriples act.ttl | column >rapper
swipl -q -f objects.pl -- act.ttl >swipl-turtle
swipl -q -f objects.pl -- act.rdf >swipl-rdfxml
serdi -i turtle -o ntriples act.ttl | column >serdi
for reader in rapper swipl-rdfxml swipl-turtle serdi; do
	paste -d ' ' references "$reader" | sed "s/^/$reader: /"
done >got

cat >want <<'EOF'
rapper: ?version=1 https://example.org/eli/act?version=1
rapper: //other.example/act https://other.example/act
rapper: sub/../x https://example.org/eli/x
rapper: ../up https://example.org/up
rapper: #s1 https://example.org/eli/act?version=2#s1
rapper: /root https://example.org/root
rapper:  https://example.org/eli/act?version=2
swipl-rdfxml: ?version=1 https://example.org/eli/act?version=1
swipl-rdfxml: //other.example/act https://other.example/act
swipl-rdfxml: sub/../x https://example.org/eli/x
swipl-rdfxml: ../up https://example.org/up
swipl-rdfxml: #s1 https://example.org/eli/act?version=2#s1
swipl-rdfxml: /root https://example.org/root
swipl-rdfxml:  https://example.org/eli/act?version=2
swipl-turtle: ?version=1 https://example.org/eli/?version=1
swipl-turtle: //other.example/act https://example.org/other.example/act
swipl-turtle: sub/../x https://example.org/eli/x
swipl-turtle: ../up https://example.org/up
swipl-turtle: #s1 https://example.org/eli/act?version=2#s1
swipl-turtle: /root https://example.org/root
swipl-turtle:  https://example.org/eli/act?version=2
serdi: ?version=1 https://example.org/eli/act?version=1
serdi: //other.example/act https://other.example/act
serdi: sub/../x https://example.org/eli/sub/../x
serdi: ../up https://example.org/up
serdi: #s1 https://example.org/eli/act?version=2#s1
serdi: /root https://example.org/root
serdi:  https://example.org/eli/act?version=2
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
