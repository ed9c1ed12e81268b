#!/usr/bin/env bash
# npm's xml-c14n sorts attributes by their prefixes and declares the prefix xml, so its canonical XML has another digest.
#
# Library:  xml-c14n 0.0.6 with xmldom 0.1.31 (npm); xmllint (Debian libxml2-utils 2.9.14*) as the other canonicaliser
# Guess:    both give the same bytes: attributes in the order of their namespaces' URIs.
# Seen:     xml-c14n orders a:x (urn:2) before b:x (urn:1), gives every element with xml:lang a declaration of xml, and removes
#           white space at the end of a processing instruction. A signature or digest over it fails elsewhere. Without these the
#           bytes agree.
# Output:   the lines of "want"
# Valid by: Canonical XML 1.0 section 2.2 (namespace URI is the primary key, local name the secondary), which Exclusive XML
#           Canonicalization 1.0 section 3 keeps; Namespaces in XML 1.0 section 3: xml need not be declared.
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
deb libxml2-utils '2.9.14*'
npm install --silent --no-audit --no-fund xml-c14n@0.0.6 xmldom@0.1.31 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >c14n.js <<'JS'
const { DOMParser } = require("xmldom");
const root = new DOMParser().parseFromString(process.argv[2], "text/xml").documentElement;
require("xml-c14n")().createCanonicaliser("http://www.w3.org/2001/10/xml-exc-c14n#").canonicalise(root, (err, text) => {
	if (err) throw err;
	process.stdout.write(text);
});
JS
for document in \
	'<act z="1" id="2"><title>A &amp; B</title></act>' \
	'<act xmlns:a="urn:2" xmlns:b="urn:1" a:x="1" b:x="2"/>' \
	'<act xml:lang="sv"/>' \
	'<act><?layout  two columns ?></act>'; do
	echo "xml-c14n $(node c14n.js "$document")"
	echo "xmllint  $(printf %s "$document" | xmllint --exc-c14n -)"
done >got

cat >want <<'EOF'
xml-c14n <act id="2" z="1"><title>A &amp; B</title></act>
xmllint  <act id="2" z="1"><title>A &amp; B</title></act>
xml-c14n <act xmlns:a="urn:2" xmlns:b="urn:1" a:x="1" b:x="2"></act>
xmllint  <act xmlns:a="urn:2" xmlns:b="urn:1" b:x="2" a:x="1"></act>
xml-c14n <act xmlns:xml="http://www.w3.org/XML/1998/namespace" xml:lang="sv"></act>
xmllint  <act xml:lang="sv"></act>
xml-c14n <act><?layout two columns?></act>
xmllint  <act><?layout two columns ?></act>
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
