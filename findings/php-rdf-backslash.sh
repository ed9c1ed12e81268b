#!/usr/bin/env bash
# Two RDF libraries of PHP take the backslash before an n for a line break: EasyRdf when it reads, ML\JsonLD when it writes.
#
# Library:  EasyRdf 1.0.0 (Debian php-easyrdf 1.0.0-3), ML\JsonLD 1.2.1 (php-ml-json-ld 1.2.1-1) with PHP 8.2
# Guess:    "C:\\new" in N-Triples is C:\new; C:\new of JSON-LD is written as "C:\\new".
# Seen:     EasyRdf reads a backslash, a line break and "ew", in N-Triples and in Turtle, and each pass doubles the backslashes.
#           ML\JsonLD does not escape backslashes at all: its N-Quads have "C:\new", which others read as a line break; a text
#           that ends in a backslash makes a line that its own parser rejects.
# Output:   the lines of "want", as JSON strings
# Valid by: RDF 1.1 N-Triples section 7 (ECHAR) and RDF 1.1 Turtle section 6.4: \\ is a backslash, wherever it stands.
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
deb php-ml-json-ld 1.2.1-1
deb raptor2-utils '2.0.15-4*'

cat >read.php <<'PHP'
<?php
error_reporting(E_ALL & ~E_DEPRECATED);
require '/usr/share/php/EasyRdf/autoload.php';

function value(string $document, string $format): string {
    $graph = new \EasyRdf\Graph();
    $graph->parse($document, $format, 'http://example.org/');
    return (string) $graph->get('urn:example:1', '<urn:example:p>');
}
foreach (['C:\\\\data', 'C:\\\\new'] as $escaped) {
    foreach (['ntriples', 'turtle'] as $format) {
        $value = value("<urn:example:1> <urn:example:p> \"$escaped\" .\n", $format);
        echo "EasyRdf, $format, \"$escaped\": ", json_encode($value), "\n";
    }
}
$graph = new \EasyRdf\Graph();
$graph->addLiteral('urn:example:1', 'urn:example:p', 'C:\\data');
for ($pass = 1; $pass <= 3; $pass++) {
    $document = $graph->serialise('turtle');
    echo "EasyRdf, pass $pass: ", json_encode(value($document, 'turtle')), "\n";
    $graph = new \EasyRdf\Graph();
    $graph->parse($document, 'turtle', 'http://example.org/');
}
PHP
cat >write.php <<'PHP'
<?php
error_reporting(E_ALL & ~E_DEPRECATED);
spl_autoload_register(function ($class) {
    $file = '/usr/share/php/' . str_replace('\\', '/', $class) . '.php';
    if (is_file($file)) {
        require $file;
    }
});
$quads = new \ML\JsonLD\NQuads();
foreach (['C:\\', 'say "yes"', 'C:\\new'] as $text) {
    $json = json_encode(['@id' => 'urn:example:1', 'urn:example:p' => $text]);
    $written = $quads->serialize(\ML\JsonLD\JsonLD::toRdf(json_decode($json)));
    try {
        $read = json_encode($quads->parse($written)[0]->getObject()->getValue());
    } catch (\ML\JsonLD\Exception\InvalidQuadException $e) {
        $read = 'rejected';
    }
    echo 'ML\JsonLD: ', json_encode($text), ' is written ', rtrim(explode(' ', $written, 3)[2], " .\n"), " and read $read\n";
}
file_put_contents('new.nq', $written);
PHP
php read.php >got
php write.php >>got
echo "rapper reads $(rapper -q -i nquads -o json new.nq | grep -o '"value" : "C:[^"]*"')" >>got

cat >want <<'EOF'
EasyRdf, ntriples, "C:\\data": "C:\\\\data"
EasyRdf, turtle, "C:\\data": "C:\\\\data"
EasyRdf, ntriples, "C:\\new": "C:\\\new"
EasyRdf, turtle, "C:\\new": "C:\\\new"
EasyRdf, pass 1: "C:\\\\data"
EasyRdf, pass 2: "C:\\\\\\\\data"
EasyRdf, pass 3: "C:\\\\\\\\\\\\\\\\data"
ML\JsonLD: "C:\\" is written "C:\" and read rejected
ML\JsonLD: "say \"yes\"" is written "say \"yes\"" and read "say \"yes\""
ML\JsonLD: "C:\\new" is written "C:\new" and read "C:\new"
rapper reads "value" : "C:\new"
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
