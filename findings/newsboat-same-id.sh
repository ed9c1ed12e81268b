#!/usr/bin/env bash
# newsboat combines two entries with one id into an article that nobody wrote: the text of the first and the date of the last.
#
# Library:  newsboat 2.21 (Debian 2.21-1.5)
# Guess:    the last entry of the document wins: its title, its text, its date.
# Seen:     the article has the title and text of the first entry and the date of the last one, whatever their order is.
#           Of an entry that is updated later, the title and text change and the date stays (the guess was: it changes too).
# Output:   newest first: New, new text, 2026-01-01 (the entry New is of 2026-01-02)
#           oldest first: Old, old text, 2026-01-02 (the entry Old is of 2026-01-01)
#           updated later: New, new text, 2026-01-01
# Valid by: RFC 4287 section 4.1.1: entries with the same atom:id may appear in one feed document; they represent the same
#           entry, and their atom:updated should differ. Section 4.2.15: updated is the time of the last significant change.
#
# Needs the Debian packages newsboat and python3.
set -euo pipefail

dpkg -s newsboat >/dev/null 2>&1 || apt-get install -y -qq newsboat >/dev/null
have=$(dpkg-query -W -f '${Version}' newsboat 2>/dev/null || true)
if [ "$have" != 2.21-1.5 ]; then
	echo "this finding is about the Debian package newsboat 2.21-1.5, not about '${have:-none}'" >&2
	exit 1
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME=$dir LANG=C.UTF-8
mkdir "$dir/.newsboat"

entry() {
	echo "<entry><id>urn:example:1</id><title>$1</title><updated>$2T00:00:00Z</updated>"
	echo "<link href='https://example.org/1'/><summary>$3</summary></entry>"
}
old=$(entry Old 2026-01-01 'old text')
new=$(entry New 2026-01-02 'new text')

feed() { # feed NAME ENTRIES
	cat >"$dir/$1.atom" <<EOF
<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>urn:example:feed</id><title>Feed</title><updated>2026-01-03T00:00:00Z</updated><author><name>A</name></author>
$2
</feed>
EOF
	echo "file://$dir/$1.atom" >"$dir/$1.urls"
	timeout 15 newsboat -C /dev/null -u "$dir/$1.urls" -c "$dir/$1.db" -x reload
}
feed newest-first "$new$old"
feed oldest-first "$old$new"
feed updated-later "$old"
feed updated-later "$new"

cat >"$dir/read.py" <<'PY'
import datetime, sqlite3, sys
for name in ("newest-first", "oldest-first", "updated-later"):
    for title, text, date in sqlite3.connect("%s/%s.db" % (sys.argv[1], name)).execute(
            "SELECT title, content, pubDate FROM rss_item"):
        print("%s: %s, %s, %s" % (name, title, text, datetime.datetime.utcfromtimestamp(date).date()))
PY
python3 -W ignore "$dir/read.py" "$dir" >"$dir/got"

cat >"$dir/want" <<'EOF'
newest-first: New, new text, 2026-01-01
oldest-first: Old, old text, 2026-01-02
updated-later: New, new text, 2026-01-01
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
