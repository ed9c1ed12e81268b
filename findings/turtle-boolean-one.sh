#!/usr/bin/env bash
# Three writers of Turtle make the integers 1 and 0 of the booleans "1" and "0".
#
# Library:  serdi and sordi (Debian serdi 0.30.16-1, sordi 0.16.14+git221008-1), EasyRdf 1.0.0 (php-easyrdf 1.0.0-3) with PHP
#           8.2, SWI-Prolog 9.0.4 (swi-prolog-nox 9.0.4+dfsg-2)
# Guess:    a boolean whose text is not "true" or "false" is written with its datatype, "1"^^xsd:boolean.
# Seen:     all print the bare text, and a bare 1 is an integer in Turtle. Whoever reads the document has another statement, and
#           a query for acts that are in force, true or "1", does not find it. rapper writes true and false: the same value, in
#           other words.
# Output:   the lines of "want"
# Valid by: XML Schema 1.1 part 2 section 3.3.2.2: the lexical space of boolean is true, false, 1 and 0. RDF 1.1 Turtle section
#           2.5.3 and 2.5.4: only the words true and false are short for booleans, digits are integers.
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
deb serdi 0.30.16-1
deb sordi 0.16.14+git221008-1
deb php-cli '2:8.2*'
deb php-xml '2:8.2*'
deb php-easyrdf 1.0.0-3
deb swi-prolog-nox 9.0.4+dfsg-2
deb raptor2-utils '2.0.15-4*'

boolean=http://www.w3.org/2001/XMLSchema#boolean
cat >acts.nt <<NT
<urn:example:1> <urn:example:inForce> "1"^^<$boolean> .
<urn:example:2> <urn:example:inForce> "0"^^<$boolean> .
<urn:example:3> <urn:example:inForce> "true"^^<$boolean> .
NT
cat >write.php <<'PHP'
<?php
error_reporting(E_ALL & ~E_DEPRECATED);
require '/usr/share/php/EasyRdf/autoload.php';
$graph = new \EasyRdf\Graph();
$graph->parse(file_get_contents('acts.nt'), 'ntriples', 'http://example.org/');
echo $graph->serialise('turtle');
PHP
cat >write.pl <<'PROLOG'
:- use_module(library(semweb/rdf11)).
:- use_module(library(semweb/rdf_ntriples)).
:- use_module(library(semweb/turtle)).
:- initialization((rdf_load('acts.nt', [silent(true)]), rdf_save_turtle(stream(user_output), [silent(true), comment(false)]), halt)).
PROLOG
serdi -i ntriples -o turtle acts.nt >serdi.ttl
sordi -i ntriples -o turtle acts.nt >sordi.ttl
php write.php >easyrdf.ttl
swipl -q -f write.pl >swipl.ttl
rapper -q -i ntriples -o turtle acts.nt >rapper.ttl
for writer in serdi sordi easyrdf swipl rapper; do
	rapper -q -i turtle -o ntriples "$writer.ttl" http://example.org/ | LC_ALL=C sort | sed "s/^.*inForce> /$writer: /; s/ .\$//"
done >got

cat >want <<'EOF'
serdi: "1"^^<http://www.w3.org/2001/XMLSchema#integer>
serdi: "0"^^<http://www.w3.org/2001/XMLSchema#integer>
serdi: "true"^^<http://www.w3.org/2001/XMLSchema#boolean>
sordi: "1"^^<http://www.w3.org/2001/XMLSchema#integer>
sordi: "0"^^<http://www.w3.org/2001/XMLSchema#integer>
sordi: "true"^^<http://www.w3.org/2001/XMLSchema#boolean>
easyrdf: "1"^^<http://www.w3.org/2001/XMLSchema#integer>
easyrdf: "0"^^<http://www.w3.org/2001/XMLSchema#integer>
easyrdf: "true"^^<http://www.w3.org/2001/XMLSchema#boolean>
swipl: "1"^^<http://www.w3.org/2001/XMLSchema#integer>
swipl: "0"^^<http://www.w3.org/2001/XMLSchema#integer>
swipl: "true"^^<http://www.w3.org/2001/XMLSchema#boolean>
rapper: "true"^^<http://www.w3.org/2001/XMLSchema#boolean>
rapper: "false"^^<http://www.w3.org/2001/XMLSchema#boolean>
rapper: "true"^^<http://www.w3.org/2001/XMLSchema#boolean>
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
