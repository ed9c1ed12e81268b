#!/usr/bin/env bash
# npm's rfc5646 doubles the private part of a language tag each time it prints it: sv-x-lag, sv-x-lag-lag,
# sv-x-lag-lag-lag-lag.
#
# Library:  rfc5646 3.0.0 (npm)
# Guess:    a tag that is parsed and printed is the same tag, at most in another case.
# Seen:     what follows a singleton, x or another letter, is printed twice. A variant of letters, valencia or rozaj, is printed
#           in capitals, as if it were a region. Tags of a language, a region and a variant of digits are right.
# Output:   the lines of "want": the tag, printed once, printed, parsed and printed again
# Valid by: RFC 5646 sections 2.2.6 and 2.2.7: extensions and private use subtags, by the grammar of section 2.1.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund rfc5646@3.0.0 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >tags.js <<'JS'
const LanguageTag = require("rfc5646");
for (const tag of ["sv", "de-CH-1996", "sv-x-lag", "x-lag", "en-a-myext", "ca-valencia", "sl-rozaj-biske"]) {
	const once = new LanguageTag(tag).toString();
	console.log(tag, once, new LanguageTag(once).toString());
}
JS
node tags.js >got

cat >want <<'EOF'
sv sv sv
de-CH-1996 de-CH-1996 de-CH-1996
sv-x-lag sv-x-lag-lag sv-x-lag-lag-lag-lag
x-lag x-lag-lag x-lag-lag-lag-lag
en-a-myext en-a-myext-myext en-a-myext-myext-myext-myext
ca-valencia ca-VALENCIA ca-VALENCIA
sl-rozaj-biske sl-ROZAJ-biske sl-ROZAJ-biske
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
