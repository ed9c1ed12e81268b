#!/usr/bin/env bash
# Three npm writers of structured fields write dates such as @1.5 and decimals such as "1.", which their own parsers refuse.
#
# Library:  structured-headers 2.1.0, @svta/cml-structured-field-values 1.1.6, structured-field-values 2.0.4 (npm)
# Guess:    a decimal is rounded to three digits, half to even, and a date has whole seconds; what one writes all read.
# Seen:     structured-headers writes a decimal that rounds to a whole number, such as 1.0005 or 1e-7, as "1." and "0.", which is
#           not in the grammar; 0.0005 is 0.001, where half to even gives 0. The others write the milliseconds of a Date into
#           it. No one of the three parsers reads these. A decimal of 2.0025 and a Date of a whole second are right.
# Output:   the lines of "want"
# Valid by: RFC 9651 section 4.1.5 (decimals: three digits, half to even, "0" after the point if nothing else is); section 3.3.7 and
#           4.1.10 (a date is an integer of seconds).
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund structured-headers@2.1.0 @svta/cml-structured-field-values@1.1.6 structured-field-values@2.0.4 \
	>npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >write.mjs <<'JS'
import * as cml from "@svta/cml-structured-field-values";
import * as values from "structured-field-values";
import * as headers from "structured-headers";

const libraries = {
	"structured-headers": [headers.serializeItem, headers.parseItem],
	"cml": [cml.encodeSfItem, cml.decodeSfItem],
	"structured-field-values": [values.encodeItem, values.decodeItem],
};
for (const value of [1.5, 2.0025, 0.0005, 1.0005, 0.0000001, new Date("2026-11-28T10:20:30Z"), new Date("2026-11-28T10:20:30.500Z")]) {
	console.log(value instanceof Date ? value.toISOString() : value);
	for (const [name, [write]] of Object.entries(libraries)) {
		const text = write(value);
		const readers = Object.entries(libraries).filter(([, [, read]]) => {
			try {
				return read(text) !== undefined;
			} catch {
				return false;
			}
		});
		console.log(`  ${name}: ${text}, read by ${readers.length} of 3`);
	}
}
JS
node write.mjs >got

cat >want <<'EOF'
1.5
  structured-headers: 1.5, read by 3 of 3
  cml: 1.5, read by 3 of 3
  structured-field-values: 1.5, read by 3 of 3
2.0025
  structured-headers: 2.002, read by 3 of 3
  cml: 2.002, read by 3 of 3
  structured-field-values: 2.002, read by 3 of 3
0.0005
  structured-headers: 0.001, read by 3 of 3
  cml: 0.0, read by 3 of 3
  structured-field-values: 0.0, read by 3 of 3
1.0005
  structured-headers: 1., read by 0 of 3
  cml: 1.0, read by 3 of 3
  structured-field-values: 1.0, read by 3 of 3
1e-7
  structured-headers: 0., read by 0 of 3
  cml: 0.0, read by 3 of 3
  structured-field-values: 0.0, read by 3 of 3
2026-11-28T10:20:30.000Z
  structured-headers: @1795861230, read by 3 of 3
  cml: @1795861230, read by 3 of 3
  structured-field-values: @1795861230, read by 3 of 3
2026-11-28T10:20:30.500Z
  structured-headers: @1795861230, read by 3 of 3
  cml: @1795861230.5, read by 0 of 3
  structured-field-values: @1795861230.5, read by 0 of 3
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
