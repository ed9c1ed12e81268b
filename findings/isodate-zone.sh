#!/usr/bin/env bash
# npm's isodate moves a time in the wrong direction by its zone: 10:20+02:00 is 12:20 UTC. A year is the last day of the year
# before.
#
# Library:  isodate 0.1.4 (npm)
# Guess:    10:20+02:00 is 08:20 UTC, 10:20-05:00 is 15:20 UTC; "2026" and "2026-11" are the first day of that year or month.
# Seen:     the zone is added where it must be subtracted, so the error is twice the zone. A year or month without a day gets
#           day 0, the last of the year or month before. A fraction counts as milliseconds. Only times in Z and whole days are
#           right, if the machine is in UTC.
# Output:   the lines of "want"
# Valid by: the W3C note "Date and Time Formats" has all six forms (sitemaps.org and ResourceSync use it); RFC 3339 section 4.2:
#           an offset is local time minus UTC.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund isodate@0.1.4 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >times.js <<'JS'
const isodate = require("isodate");
for (const text of ["2026-11-28T10:20:30Z", "2026-11-28T10:20:30+02:00", "2026-11-28T10:20:30-05:00", "2026-11-28T10:20+01:00",
	"2026-11-28T10:20:30.5Z", "2026-11-28", "2026-11", "2026"])
	console.log(text, "is", isodate(text).toISOString());
JS
TZ=UTC node times.js >got

cat >want <<'EOF'
2026-11-28T10:20:30Z is 2026-11-28T10:20:30.000Z
2026-11-28T10:20:30+02:00 is 2026-11-28T12:20:30.000Z
2026-11-28T10:20:30-05:00 is 2026-11-28T05:20:30.000Z
2026-11-28T10:20+01:00 is 2026-11-28T11:20:00.000Z
2026-11-28T10:20:30.5Z is 2026-11-28T10:20:30.005Z
2026-11-28 is 2026-11-28T00:00:00.000Z
2026-11 is 2026-10-31T00:00:00.000Z
2026 is 2025-12-31T00:00:00.000Z
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
