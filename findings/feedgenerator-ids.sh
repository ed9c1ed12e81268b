#!/usr/bin/env bash
# Python's feedgenerator gives two entries one id if their URLs differ in the query, the port or the scheme only.
#
# Library:  feedgenerator 2.0.0, the generator of Pelican (Debian python3-feedgenerator 2.0.0-1)
# Guess:    the tag: URI that stands in for a missing id is made of the whole URL, so that different URLs have different ids.
# Seen:     query, port and scheme are left out, and "#" becomes "/": act?id=1, act?id=2 and :8443/act of one day are one id;
#           act#a and act/a are one, too.
# Output:   the lines of "want"
# Valid by: RFC 4287 section 4.2.6: an id is unique; entries of one feed with one id are versions of one entry (section 4.1.1).
#           RFC 3986 section 3.4: the query is part of what identifies a resource.
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

cat >ids.py <<'PY'
import datetime, feedgenerator, re

feed = feedgenerator.Atom1Feed(title="Acts", link="https://example.org/", description="Acts")
urls = ["https://example.org/act?id=1", "https://example.org/act?id=2", "https://example.org:8443/act", "http://example.org/act",
        "https://example.org/act#a", "https://example.org/act/a"]
for url in urls:
    feed.add_item(title="Act", link=url, description="Text", pubdate=datetime.datetime(2026, 11, 28, tzinfo=datetime.timezone.utc))
for url, id in zip(urls, re.findall("<id>(tag:.*?)</id>", feed.writeString("utf-8"))):
    print(url, "has", id)
PY
/usr/bin/python3 ids.py >got

cat >want <<'EOF'
https://example.org/act?id=1 has tag:example.org,2026-11-28:/act
https://example.org/act?id=2 has tag:example.org,2026-11-28:/act
https://example.org:8443/act has tag:example.org,2026-11-28:/act
http://example.org/act has tag:example.org,2026-11-28:/act
https://example.org/act#a has tag:example.org,2026-11-28:/act/a
https://example.org/act/a has tag:example.org,2026-11-28:/act/a
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
