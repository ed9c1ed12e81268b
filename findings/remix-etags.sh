#!/usr/bin/env bash
# @remix-run/headers never matches a weak ETag with its strong form in If-None-Match, and makes two tags of one with a comma.
#
# Library:  @remix-run/headers 0.21.1 (npm)
# Guess:    If-None-Match compares weakly, If-Match and If-Range strongly; a comma between quotes is part of the tag.
# Seen:     If-None-Match wants the same text. A proxy that compresses makes W/"a" of "a"; the client sends that back, and the
#           server sends the whole document, each time. The tag "a,b" is split, and is written as ""a", "b"", which is no header;
#           If-Range keeps it whole. If-Range knows one of the three forms of dates that If-Modified-Since has, so a download
#           with another begins anew.
# Output:   the lines of "want"
# Valid by: RFC 9110 section 13.1.2: If-None-Match is compared weakly; section 8.8.3: a comma is allowed in an entity tag; section
#           5.6.7: recipients accept all three forms of dates; section 13.1.5 (If-Range).
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @remix-run/headers@0.21.1 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >etags.mjs <<'JS'
import { IfMatch, IfNoneMatch, IfRange, SuperHeaders } from "@remix-run/headers";

for (const [header, tag] of [['"a"', '"a"'], ['W/"a"', 'W/"a"'], ['W/"a"', '"a"'], ['"a"', 'W/"a"'], ['"a,b"', '"a,b"']]) {
	const none = new IfNoneMatch(header);
	console.log(`${header} for ${tag}: If-None-Match ${none.matches(tag)}, If-Match ${new IfMatch(header).matches(tag)},`,
		`If-Range ${new IfRange(header).matches({ etag: tag })}; written as ${none}`);
}
const lastModified = new Date("2026-11-28T10:20:30Z");
for (const date of ["Sat, 28 Nov 2026 10:20:30 GMT", "Saturday, 28-Nov-26 10:20:30 GMT", "Sat Nov 28 10:20:30 2026"]) {
	const since = new SuperHeaders({ "If-Modified-Since": date }).ifModifiedSince;
	console.log(`${date}: If-Modified-Since ${since - lastModified === 0}, If-Range ${new IfRange(date).matches({ lastModified })}`);
}
JS
TZ=UTC node etags.mjs >got

cat >want <<'EOF'
"a" for "a": If-None-Match true, If-Match true, If-Range true; written as "a"
W/"a" for W/"a": If-None-Match true, If-Match false, If-Range false; written as W/"a"
W/"a" for "a": If-None-Match false, If-Match false, If-Range false; written as W/"a"
"a" for W/"a": If-None-Match false, If-Match false, If-Range false; written as "a"
"a,b" for "a,b": If-None-Match false, If-Match false, If-Range true; written as ""a", "b""
Sat, 28 Nov 2026 10:20:30 GMT: If-Modified-Since true, If-Range true
Saturday, 28-Nov-26 10:20:30 GMT: If-Modified-Since true, If-Range false
Sat Nov 28 10:20:30 2026: If-Modified-Since true, If-Range false
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
