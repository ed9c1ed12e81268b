#!/usr/bin/env bash
# podcastparser, the parser of gPodder, drops the time zone of a time that has a fraction of a second.
#
# Library:  podcastparser 0.6.9 (Debian python3-podcastparser 0.6.9-1)
# Guess:    a fraction is cut off, and the zone counts as it does without one.
# Seen:     10:20:30+02:00 is 08:20:30 UTC, but 10:20:30.25+02:00 is 10:20:30 UTC, and so is 10:20:30.25-05:30: one digit behind
#           the second moves an entry by hours. In Z nothing is wrong, which is why tests with Z do not see it.
# Output:   the lines of "want"
# Valid by: RFC 4287 section 3.3 (its examples have fractions with a zone) and RFC 3339 section 5.6.
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
deb python3-podcastparser 0.6.9-1

cat >times.py <<'PY'
import datetime, io, podcastparser

for time in ("2026-11-28T10:20:30Z", "2026-11-28T10:20:30+02:00", "2026-11-28T10:20:30.25Z", "2026-11-28T10:20:30.25+02:00",
             "2026-11-28T10:20:30.25-05:30", "2026-11-28T10:20:30.0+14:00"):
    feed = """<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:feed</id><title>Feed</title>
<updated>2026-11-28T00:00:00Z</updated>
<author><name>Somebody</name></author><entry><id>urn:example:1</id><title>Entry</title><updated>%s</updated>
<link rel="enclosure" type="audio/mpeg" length="1" href="https://example.org/1.mp3"/>
<summary>Text</summary></entry></feed>""" % time
    episode = podcastparser.parse("https://example.org/feed", io.StringIO(feed))["episodes"][0]
    published = datetime.datetime.fromtimestamp(episode["published"], datetime.timezone.utc)
    print(time, "is", published.strftime("%Y-%m-%dT%H:%M:%SZ"))
PY
/usr/bin/python3 times.py >got

cat >want <<'EOF'
2026-11-28T10:20:30Z is 2026-11-28T10:20:30Z
2026-11-28T10:20:30+02:00 is 2026-11-28T08:20:30Z
2026-11-28T10:20:30.25Z is 2026-11-28T10:20:30Z
2026-11-28T10:20:30.25+02:00 is 2026-11-28T10:20:30Z
2026-11-28T10:20:30.25-05:30 is 2026-11-28T10:20:30Z
2026-11-28T10:20:30.0+14:00 is 2026-11-28T10:20:30Z
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
