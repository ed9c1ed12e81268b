#!/usr/bin/env bash
# Two npm parsers of Cache-Control find no age in max-age="60", but a no-store in the quoted text of another directive.
#
# Library:  cache-parser 1.2.6, cache-control-parser 2.2.0 (npm); @tusbar/cache-control 3.0.1 reads it
# Guess:    a quoted age is an age, and what stands between quotes is one argument, with its commas.
# Seen:     the quoted age is dropped, so the response looks as if it had no lifetime. A quoted comma ends a directive: the text
#           after it is taken for the next one, so that a response is not stored at all, or an age is 0 or gone.
# Output:   the lines of "want"
# Valid by: RFC 9111 section 5.2: recipients ought to accept both forms, token and quoted-string, of any argument; section
#           5.2.3: unknown directives are allowed, and ignored.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund cache-parser@1.2.6 cache-control-parser@2.2.0 @tusbar/cache-control@3.0.1 \
	>npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >cache.mjs <<'JS'
import { parse as first } from "cache-parser";
import second from "cache-control-parser";
import { parse as third } from "@tusbar/cache-control";
for (const header of ["max-age=60", 'max-age="60"', 'note="a, no-store, b", max-age=60', 'max-age=60, note="a, max-age=0"']) {
	const { maxAge, noStore } = third(header);
	console.log(header, "is", JSON.stringify(first(header)), JSON.stringify(second.parse(header)), `and ${maxAge}, ${noStore}`);
}
JS
node cache.mjs >got

cat >want <<'EOF'
max-age=60 is {"maxAge":60} {"max-age":60} and 60, false
max-age="60" is {} {} and 60, false
note="a, no-store, b", max-age=60 is {"maxAge":60,"noStore":true} {"no-store":true,"max-age":60} and 60, false
max-age=60, note="a, max-age=0" is {} {"max-age":0} and 60, false
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
