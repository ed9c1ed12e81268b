#!/usr/bin/env bash
# rapper replaces an Atom entry by the source inside it: the entry's id and title are lost, and the output is not valid N-Triples.
#
# Library:  raptor 2.0.15, parser rss-tag-soup (Debian raptor2-utils 2.0.15-4+deb12u*)
# Guess:    the item has the id and the title of the entry, wherever the source stands; the source is ignored.
# Seen:     if the source is the first child of the entry, the item is named by the self link of the source and has its title;
#           the id, title and link of the entry are nowhere in the output. So all entries of one source are one item.
#           If the source is the last child, the item has the entry's id and two titles. The author of the source becomes an
#           author of the feed. With a source rapper can't read its own output again: a predicate is the empty IRI.
# Output:   see "want" below
# Valid by: RFC 4287 section 4.2.11: an entry that is copied from another feed should have an atom:source with its metadata.
#           Section 4.1.2 gives the children of an entry no order.
#
# Needs the Debian package raptor2-utils.
set -euo pipefail

dpkg -s raptor2-utils >/dev/null 2>&1 || apt-get install -y -qq raptor2-utils >/dev/null
have=$(dpkg-query -W -f '${Version}' raptor2-utils 2>/dev/null || true)
case $have in
2.0.15-4+deb12u*) ;;
*)
	echo "this finding is about the Debian package raptor2-utils 2.0.15-4+deb12u*, not about '${have:-none}'" >&2
	exit 1
	;;
esac

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

source='<source><id>urn:example:source</id><title>Source title</title><updated>2020-01-01T00:00:00Z</updated>
<author><name>Source author</name></author><link rel="self" href="https://example.org/source.atom"/></source>'
own() {
	echo "<id>urn:example:entry$1</id><title>Entry title $1</title><updated>2026-01-01T00:00:00Z</updated>"
	echo "<link href='https://example.org/entry$1'/><summary>Text</summary>"
}
feed() {
	cat <<EOF
<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>urn:example:feed</id><title>Feed title</title><updated>2026-01-03T00:00:00Z</updated>
<author><name>Feed author</name></author><link rel="self" href="https://example.net/feed.atom"/>
$1
</feed>
EOF
}
feed "<entry>$(own 1)</entry>" >"$dir/none.atom"
feed "<entry>$source$(own 1)</entry>" >"$dir/first.atom"
feed "<entry>$(own 1)$source</entry>" >"$dir/last.atom"
feed "<entry>$source$(own 1)</entry><entry>$source$(own 2)</entry>" >"$dir/twice.atom"

for name in none first last twice; do
	echo "source: $name"
	rapper -q -i rss-tag-soup -o ntriples "$dir/$name.atom" https://example.net/feed.atom >"$dir/out.nt" 2>/dev/null || echo "  rapper fails"
	# The items, their titles and ids, and the authors of the feed
	grep -oE '^<[^>]*> <http://[^>]*#type> <http://purl.org/rss/1.0/item>' "$dir/out.nt" | sed -E 's/^(<[^>]*>).*/  item \1/'
	sed -nE 's#^(<[^>]*>) <http://www.w3.org/2005/Atom(id|title)> (.*) \.$#  \1 \2 \3#p' "$dir/out.nt" | grep -v 'urn:example:feed>'
	sed -nE 's#^_:[^ ]* <http://www.w3.org/2005/Atomname> (.*) \.$#  author \1#p' "$dir/out.nt"
	if rapper -q -c -i ntriples "$dir/out.nt" https://example.net/ >/dev/null 2>&1; then
		echo "  rapper reads its output"
	else
		echo "  rapper can't read its output"
	fi
done >"$dir/got"

cat >"$dir/want" <<'EOF'
source: none
  item <https://example.org/entry1>
  <https://example.org/entry1> id <urn:example:entry1>
  <https://example.org/entry1> title "Entry title 1"
  author "Feed author"
  rapper reads its output
source: first
  item <https://example.org/source.atom>
  <https://example.org/source.atom> title "Source title"
  author "Feed author"
  author "Source author"
  rapper can't read its output
source: last
  item <https://example.org/entry1>
  <https://example.org/entry1> id <urn:example:entry1>
  <https://example.org/entry1> title "Entry title 1"
  <https://example.org/entry1> title "Source title"
  author "Feed author"
  author "Source author"
  rapper can't read its output
source: twice
  item <https://example.org/source.atom>
  item <https://example.org/source.atom>
  <https://example.org/source.atom> title "Source title"
  <https://example.org/source.atom> title "Source title"
  author "Feed author"
  author "Source author"
  author "Source author"
  rapper can't read its output
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
