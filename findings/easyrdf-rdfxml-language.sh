#!/usr/bin/env bash
# EasyRdf loses a language that rdf:RDF states; below an inner element that states one it refuses literals with a type.
#
# Library:  EasyRdf 1.0.0 (Debian php-easyrdf 1.0.0-3) with PHP 8.2, raptor2-utils 2.0.15 as the other reader
# Guess:    xml:lang counts for all elements below it, and has no effect on literals that have a type.
# Seen:     xml:lang on the root counts for nothing: texts have no language. On rdf:Description it counts, but also for dates and
#           XML: EasyRdf gives a literal both its type and the language, which its own check refuses with an exception, so that
#           the rest of the document is not read. A document that passes has lost its languages, or has no types.
# Output:   the lines of "want"
# Valid by: RDF 1.1 XML Syntax section 6.1.2 (an element without xml:lang has the language of its parent), 7.2.16 (the literal
#           of an element with rdf:datatype has that type, and no language) and 7.2.17 (likewise with parseType="Literal").
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
deb php-cli '2:8.2*'
deb php-xml '2:8.2*'
deb php-easyrdf 1.0.0-3
deb raptor2-utils '2.0.15-4*'

cat >read.php <<'PHP'
<?php
error_reporting(E_ALL & ~E_DEPRECATED);
require '/usr/share/php/EasyRdf/autoload.php';
try {
    $graph = new \EasyRdf\Graph();
    $graph->parse(file_get_contents($argv[1]), 'rdfxml', 'http://example.org/');
    echo $graph->serialise('ntriples');
} catch (InvalidArgumentException $e) {
    echo 'refused: ', $e->getMessage(), "\n";
}
PHP
document() { # ROOT-ATTRIBUTES DESCRIPTION-ATTRIBUTES PROPERTIES
	cat >acts.rdf <<XML
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/ns#" $1>
<rdf:Description rdf:about="urn:act:1" $2>$3</rdf:Description></rdf:RDF>
XML
	echo 'EasyRdf:'
	php read.php acts.rdf
	echo 'rapper:'
	rapper -q -i rdfxml -o ntriples acts.rdf
}
title='<e:title>Lag</e:title>'
typed='<e:date rdf:datatype="http://www.w3.org/2001/XMLSchema#date">2026-11-28</e:date>'
xml='<e:note rdf:parseType="Literal">see <b>2</b></e:note>'
{
	echo 'language of the root'
	document 'xml:lang="sv"' '' "$title$typed"
	echo 'language of the description'
	document '' 'xml:lang="sv"' "$title"
	echo 'a date below a language'
	document '' 'xml:lang="sv"' "$title$typed"
	echo 'an XML literal below a language'
	document '' 'xml:lang="sv"' "$title$xml"
} >got

cat >want <<'EOF'
language of the root
EasyRdf:
<urn:act:1> <http://example.org/ns#title> "Lag" .
<urn:act:1> <http://example.org/ns#date> "2026-11-28"^^<http://www.w3.org/2001/XMLSchema#date> .
rapper:
<urn:act:1> <http://example.org/ns#title> "Lag"@sv .
<urn:act:1> <http://example.org/ns#date> "2026-11-28"^^<http://www.w3.org/2001/XMLSchema#date> .
language of the description
EasyRdf:
<urn:act:1> <http://example.org/ns#title> "Lag"@sv .
rapper:
<urn:act:1> <http://example.org/ns#title> "Lag"@sv .
a date below a language
EasyRdf:
refused: $value cannot have both and language and a datatype
rapper:
<urn:act:1> <http://example.org/ns#title> "Lag"@sv .
<urn:act:1> <http://example.org/ns#date> "2026-11-28"^^<http://www.w3.org/2001/XMLSchema#date> .
an XML literal below a language
EasyRdf:
refused: $value cannot have both and language and a datatype
rapper:
<urn:act:1> <http://example.org/ns#title> "Lag"@sv .
<urn:act:1> <http://example.org/ns#note> "see <b>2</b>"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral> .
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
