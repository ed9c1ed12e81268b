#!/usr/bin/env bash
# Ruby's feedparser takes the last link of an Atom entry as its link, whatever its relation: an enclosure, a licence, a reply.
#
# Library:  ruby-feedparser 0.11.2 (Debian ruby-feedparser 0.11.2-1) with Ruby 3.1
# Guess:    the link is the first one whose relation is alternate or missing; if there is none, the first link.
# Seen:     the last link in the order of the document. An episode "leads" to its sound file, an entry to its licence, and
#           whoever adds a link behind the alternate moves the entry. In RSS the link is the page.
# Output:   see "want" below
# Valid by: RFC 4287 section 4.2.7.2 (a link without a relation is an alternate) and 4.1.2 (elements have no order).
#
# Needs the Debian package ruby-feedparser.
set -euo pipefail

dpkg -s ruby-feedparser >/dev/null 2>&1 || apt-get install -y -qq ruby-feedparser >/dev/null
have=$(dpkg-query -W -f '${Version}' ruby-feedparser 2>/dev/null || true)
if [ "$have" != 0.11.2-1 ]; then
	echo "this finding is about the Debian package ruby-feedparser 0.11.2-1, not about '${have:-none}'" >&2
	exit 1
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/links.rb" <<'EOF'
require 'feedparser'

LINKS = {
  'page'      => '<link href="https://example.org/page"/>',
  'related'   => '<link rel="related" href="https://example.net/other"/>',
  'enclosure' => '<link rel="enclosure" type="audio/mpeg" href="https://example.org/sound.mp3"/>',
  'license'   => '<link rel="license" href="https://example.net/license"/>',
  'replies'   => '<link rel="replies" href="https://example.org/replies.atom"/>',
}

def link_of(text)
  FeedParser::Feed.new(text).items[0].link
end

[%w[page], %w[related page], %w[page related], %w[page enclosure], %w[page license], %w[page replies]].each do |names|
  links = names.map { |name| LINKS[name] }.join
  puts "Atom: #{names.join(', ')} -> " + link_of(<<~ATOM)
    <feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:feed</id><title>Feed</title><updated>2026-01-01T00:00:00Z</updated>
    <author><name>Somebody</name></author>
    <entry><id>urn:example:1</id><title>Entry</title><updated>2026-01-01T00:00:00Z</updated><summary>Text</summary>#{links}</entry></feed>
  ATOM
end
puts 'RSS: link, enclosure -> ' + link_of(<<~RSS)
  <rss version="2.0"><channel><title>Feed</title><link>https://example.org/</link><description>Text</description>
  <item><title>Entry</title><link>https://example.org/page</link>
  <enclosure url="https://example.org/sound.mp3" type="audio/mpeg" length="1"/></item></channel></rss>
RSS
EOF
ruby "$dir/links.rb" >"$dir/got"

cat >"$dir/want" <<'EOF'
Atom: page -> https://example.org/page
Atom: related, page -> https://example.org/page
Atom: page, related -> https://example.net/other
Atom: page, enclosure -> https://example.org/sound.mp3
Atom: page, license -> https://example.net/license
Atom: page, replies -> https://example.org/replies.atom
RSS: link, enclosure -> https://example.org/page
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
