#!/usr/bin/env bash
# Two of Python's readers of ISO 8601 take valid times for others: midnight at the end of a day, and a fraction of a minute.
#
# Library:  aniso8601 9.0.1 (Debian python3-aniso8601 9.0.1-2), iso8601 1.0.2 (python3-iso8601 1.0.2-1), ciso8601 2.2.0 and
#           isodate 0.6.1 as the others (python3-ciso8601 2.2.0-2*, python3-isodate 0.6.1-1)
# Guess:    24:00:00 is the beginning of the next day, or refused; 10:20.75 is 45 seconds past 10:20, or refused.
# Seen:     aniso8601 takes 24:00:00 for the beginning of the same day, 24 hours too early. iso8601 takes 10:20.75 for
#           10:00:20.75: the minutes become seconds. ciso8601 and isodate read what they read rightly, and refuse the other.
# Output:   the lines of "want"
# Valid by: ISO 8601:2004 section 4.2.3 (24:00:00 is the end of a day, and 00:00:00 of the next) and section 4.2.2.4 (a fraction of
#           a minute). XML Schema 1.1 Part 2 section 3.3.7 has the first, too.
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
deb python3-aniso8601 9.0.1-2
deb python3-iso8601 1.0.2-1
deb python3-ciso8601 '2.2.0-2*'
deb python3-isodate 0.6.1-1

cat >times.py <<'PY'
import aniso8601, ciso8601, datetime, isodate, iso8601

readers = {"aniso8601": aniso8601.parse_datetime, "iso8601": iso8601.parse_date,
           "ciso8601": ciso8601.parse_datetime, "isodate": isodate.parse_datetime}
for text in ("2026-11-28T24:00:00Z", "2026-11-28T10:20.75Z"):
    for name, read in readers.items():
        try:
            print(text, name, read(text).astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
        except ValueError:
            print(text, name, "refuses it")
PY
/usr/bin/python3 times.py >got

cat >want <<'EOF'
2026-11-28T24:00:00Z aniso8601 2026-11-28T00:00:00.000000Z
2026-11-28T24:00:00Z iso8601 refuses it
2026-11-28T24:00:00Z ciso8601 2026-11-29T00:00:00.000000Z
2026-11-28T24:00:00Z isodate refuses it
2026-11-28T10:20.75Z aniso8601 2026-11-28T10:20:45.000000Z
2026-11-28T10:20.75Z iso8601 2026-11-28T10:00:20.750000Z
2026-11-28T10:20.75Z ciso8601 refuses it
2026-11-28T10:20.75Z isodate 2026-11-28T10:20:45.000000Z
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
