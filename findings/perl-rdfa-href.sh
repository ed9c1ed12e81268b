#!/usr/bin/env bash
# Perl's RDF::RDFa::Parser drops the statements of property with a relative href or src; absolute ones and resource work.
#
# Library:  RDF::RDFa::Parser 1.097 (Debian librdf-rdfa-parser-perl 1.097-2), EasyRdf 1.0.0 (php-easyrdf 1.0.0-3) as the other
#           reader
# Guess:    with the version set to 1.1, a property of a link or an image has its URL as value, resolved against the page.
# Seen:     for property with href="2", "/2", "#2" or src="2" there is no statement at all, neither the URL nor the text, and
#           no warning. An absolute href, resource="2" and rel with href="2" are right, so the fault shows in some pages only.
# Output:   the lines of "want"
# Valid by: RDFa Core 1.1 section 7.5 step 11: without rel, rev and content the value of property is the IRI of resource, href
#           or src; section 5: href and src may be relative IRIs. HTML+RDFa 1.1 section 3: the rules of RDFa Core hold for HTML.
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
deb librdf-rdfa-parser-perl 1.097-2
deb php-cli '2:8.2*'
deb php-xml '2:8.2*'
deb php-easyrdf 1.0.0-3

cat >act.html <<'HTML'
<!DOCTYPE html>
<html><head><title>Act</title></head><body prefix="e: http://example.org/ns#"><div about="http://example.org/act">
<a property="e:absolute" href="http://example.org/1">one</a>
<a property="e:relative" href="2">two</a>
<a property="e:path" href="/3">three</a>
<a property="e:fragment" href="#4">four</a>
<link property="e:link" href="5">
<img property="e:img" src="6">
<span property="e:resource" resource="7">seven</span>
<a rel="e:rel" href="8">eight</a>
</div></body></html>
HTML
cat >read.pl <<'PL'
use strict;
use RDF::RDFa::Parser;
use RDF::Trine;
open my $file, '<', 'act.html' or die $!;
my $config = RDF::RDFa::Parser::Config->new('html5', '1.1');
my $parser = RDF::RDFa::Parser->new(do { local $/; <$file> }, 'http://example.org/acts/', $config);
$parser->consume;
print RDF::Trine::Serializer->new('ntriples')->serialize_model_to_string($parser->graph);
PL
cat >read.php <<'PHP'
<?php
error_reporting(E_ALL & ~E_DEPRECATED);
require '/usr/share/php/EasyRdf/autoload.php';
$graph = new \EasyRdf\Graph();
$graph->parse(file_get_contents('act.html'), 'rdfa', 'http://example.org/acts/');
echo $graph->serialise('ntriples');
PHP
{
	echo 'RDF::RDFa::Parser:'
	perl read.pl 2>&1 | LC_ALL=C sort
	echo 'EasyRdf:'
	php read.php | LC_ALL=C sort
} >got

cat >want <<'EOF'
RDF::RDFa::Parser:
<http://example.org/act> <http://example.org/ns#absolute> <http://example.org/1> .
<http://example.org/act> <http://example.org/ns#rel> <http://example.org/acts/8> .
<http://example.org/act> <http://example.org/ns#resource> <http://example.org/acts/7> .
EasyRdf:
<http://example.org/act> <http://example.org/ns#absolute> <http://example.org/1> .
<http://example.org/act> <http://example.org/ns#fragment> <http://example.org/acts/#4> .
<http://example.org/act> <http://example.org/ns#img> <http://example.org/acts/6> .
<http://example.org/act> <http://example.org/ns#link> <http://example.org/acts/5> .
<http://example.org/act> <http://example.org/ns#path> <http://example.org/3> .
<http://example.org/act> <http://example.org/ns#rel> <http://example.org/acts/8> .
<http://example.org/act> <http://example.org/ns#relative> <http://example.org/acts/2> .
<http://example.org/act> <http://example.org/ns#resource> <http://example.org/acts/7> .
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
