#!/usr/bin/env bash
# Python's feedgenerator writes times west of Greenwich with a zone of half hours an hour wrong: -03:30 becomes -04:30.
#
# Library:  feedgenerator 2.0.0, the generator of Pelican (Debian python3-feedgenerator 2.0.0-1)
# Guess:    the zone of an aware datetime is written as it is.
# Seen:     whole hours, and half hours in the east, are right. In the west the hours are rounded away from zero and the minutes
#           are kept: Newfoundland's -03:30 is -04:30, the Marquesas' -09:30 is -10:30, and -00:44 is -01:16. Atom and RSS have
#           it alike. The clock time stays, so the instant is wrong.
# Output:   the lines of "want"
# Valid by: RFC 3339 section 5.6 (time-numoffset) and RFC 5322 section 3.3: hours and minutes west of UTC.
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
deb python3-feedgenerator 2.0.0-1

cat >zones.py <<'PY'
import datetime, feedgenerator, re

for hours, minutes in ((0, 0), (5, 30), (-5, 0), (-3, -30), (-9, -30), (0, -44)):
    zone = datetime.timezone(datetime.timedelta(hours=hours, minutes=minutes))
    time = datetime.datetime(2026, 11, 28, 10, 20, 30, tzinfo=zone)
    written = []
    for kind, pattern in ((feedgenerator.Atom1Feed, "<published>(.*?)<"), (feedgenerator.Rss201rev2Feed, "<pubDate>(.*?)<")):
        feed = kind(title="Acts", link="https://example.org/", description="Acts")
        feed.add_item(title="Act", link="https://example.org/act", description="Text", pubdate=time)
        written.append(re.search(pattern, feed.writeString("utf-8")).group(1))
    print(time.isoformat(), "is written", " and ".join(written))
PY
/usr/bin/python3 zones.py >got

cat >want <<'EOF'
2026-11-28T10:20:30+00:00 is written 2026-11-28T10:20:30+00:00 and Sat, 28 Nov 2026 10:20:30 +0000
2026-11-28T10:20:30+05:30 is written 2026-11-28T10:20:30+05:30 and Sat, 28 Nov 2026 10:20:30 +0530
2026-11-28T10:20:30-05:00 is written 2026-11-28T10:20:30-05:00 and Sat, 28 Nov 2026 10:20:30 -0500
2026-11-28T10:20:30-03:30 is written 2026-11-28T10:20:30-04:30 and Sat, 28 Nov 2026 10:20:30 -0430
2026-11-28T10:20:30-09:30 is written 2026-11-28T10:20:30-10:30 and Sat, 28 Nov 2026 10:20:30 -1030
2026-11-28T10:20:30-00:44 is written 2026-11-28T10:20:30-01:16 and Sat, 28 Nov 2026 10:20:30 -0116
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
