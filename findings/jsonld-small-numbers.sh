#!/usr/bin/env bash
# npm's jsonld makes the integer 0 of a number such as 3e-7, while 1.5e-7 is right.
#
# Library:  jsonld 9.0.0 (npm)
# Guess:    a number with a fraction is an xsd:double in its canonical form, 1.0E-7, however small it is.
# Seen:     what JavaScript writes with an exponent and without a point is the xsd:integer 0, or -0; with a point in it, such as 1.5e-7,
#           it is right. So is 0.000001 and what is larger, and any number of a property with the type xsd:double.
# Output:   see "want" below
# Valid by: JSON-LD 1.1 Processing Algorithms and API, section 8.2.2 (Object to RDF Conversion): a number with a non-zero fractional part
#           becomes a double; section 8.6 has the canonical form.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" jsonld@9.0.0 >"$dir/npm.log" 2>&1 || { cat "$dir/npm.log" >&2; exit 1; }

cat >"$dir/run.mjs" <<'EOF'
import jsonld from "jsonld";

for (const number of ["0.00001", "0.000001", "0.0000001", "1.5e-7", "3e-7", "-2e-9"]) {
	for (const type of ["", ', "@type": "http://www.w3.org/2001/XMLSchema#double"']) {
		const document = JSON.parse(`{"@context": {"share": {"@id": "http://example.org/share"${type}}}, "@id": "urn:example:1", "share": ${number}}`);
		const quads = await jsonld.toRDF(document, { format: "application/n-quads" });
		console.log(number, type ? "typed" : "plain", quads.trim().split(" ")[2].replace("http://www.w3.org/2001/XMLSchema#", "xsd:"));
	}
}
EOF
(cd "$dir" && timeout 60 node run.mjs) >"$dir/got"

cat >"$dir/want" <<'EOF'
0.00001 plain "1.0E-5"^^<xsd:double>
0.00001 typed "1.0E-5"^^<xsd:double>
0.000001 plain "1.0E-6"^^<xsd:double>
0.000001 typed "1.0E-6"^^<xsd:double>
0.0000001 plain "0"^^<xsd:integer>
0.0000001 typed "1.0E-7"^^<xsd:double>
1.5e-7 plain "1.5E-7"^^<xsd:double>
1.5e-7 typed "1.5E-7"^^<xsd:double>
3e-7 plain "0"^^<xsd:integer>
3e-7 typed "3.0E-7"^^<xsd:double>
-2e-9 plain "-0"^^<xsd:integer>
-2e-9 typed "-2.0E-9"^^<xsd:double>
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
