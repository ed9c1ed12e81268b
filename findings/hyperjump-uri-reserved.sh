#!/usr/bin/env bash
# npm's @hyperjump/uri "normalizes" %26, %3D and %2F of a query to &, = and /, which is another query.
#
# Library:  @hyperjump/uri 1.3.6 (npm)
# Guess:    normalizeUri decodes %7E and the like, and writes hexadecimal digits in capitals; reserved characters stay encoded.
# Seen:     a reserved character that may stand bare in that part of the URI is decoded: title=A%26B becomes title=A&B, the urn
#           urn:lex:se%3Ax gets one more segment. In a path %2F stays, and %3B becomes a delimiter. Two resources get one name.
# Output:   the lines of "want"
# Valid by: RFC 3986 section 2.2: URIs that differ in the encoding of a reserved character are not equivalent; section 6.2.2.2:
#           only unreserved characters are decoded.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @hyperjump/uri@1.3.6 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >normal.mjs <<'JS'
import { normalizeUri } from "@hyperjump/uri";
for (const uri of ["https://example.org/%7Eact", "https://example.org/act?x=%c3%a9", "https://example.org/act?title=A%26B%3DC&lang=sv",
	"https://example.org/eli%2F1", "https://example.org/act%3Bversion=1", "https://example.org/act?next=%2Fa%3Fb", "urn:lex:se%3Ax"])
	console.log("%s becomes %s", uri, normalizeUri(uri));
JS
node normal.mjs >got

cat >want <<'EOF'
https://example.org/%7Eact becomes https://example.org/~act
https://example.org/act?x=%c3%a9 becomes https://example.org/act?x=%C3%A9
https://example.org/act?title=A%26B%3DC&lang=sv becomes https://example.org/act?title=A&B=C&lang=sv
https://example.org/eli%2F1 becomes https://example.org/eli%2F1
https://example.org/act%3Bversion=1 becomes https://example.org/act;version=1
https://example.org/act?next=%2Fa%3Fb becomes https://example.org/act?next=/a?b
urn:lex:se%3Ax becomes urn:lex:se:x
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
