#!/usr/bin/env bash
# npm's feedparser takes the last alternate of an Atom entry as its link, and removes from a title of plain text what looks like a tag.
#
# Library:  feedparser 2.6.0 (npm) with Node.js 20
# Guess:    the link is the first alternate, or the one that is HTML; a title without a type is text, so "a <b> tag" stays.
# Seen:     the last one, whatever its media type and language: the PDF beside the page, or the page in another language. Other
#           relations do not count. In the title the tag is gone, in the description of the same type it stays.
# Output:   see "want" below
# Valid by: RFC 4287 section 4.2.7.2, 4.1.2 (alternates that differ in type or hreflang) and 3.1.1.1 (text is the default).
#
# Needs npm.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" feedparser@2.6.0 >"$dir/npm.log" 2>&1 || { cat "$dir/npm.log" >&2; exit 1; }

cat >"$dir/read.mjs" <<'EOF'
import { Readable } from 'stream'
import FeedParser from 'feedparser'

const links = {
	page: '<link href="https://example.org/page"/>',
	pdf: '<link rel="alternate" type="application/pdf" href="https://example.org/page.pdf"/>',
	german: '<link rel="alternate" hreflang="de" href="https://example.org/seite"/>',
	related: '<link rel="related" href="https://example.net/other"/>',
}
async function read(...names) {
	const parser = new FeedParser({ feedurl: 'https://example.org/feed' })
	Readable.from([`<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:feed</id><title>Feed</title>
<updated>2026-01-01T00:00:00Z</updated><author><name>Somebody</name></author>
<entry><id>urn:example:1</id><title>a &lt;b&gt; tag</title><updated>2026-01-01T00:00:00Z</updated>
<summary>a &lt;b&gt; tag</summary>${names.map(name => links[name]).join('')}</entry></feed>`]).pipe(parser)
	for await (const item of parser) {
		console.log(`${names.join(', ')} -> ${item.link} "${item.title}" "${item.description}"`)
	}
}
await read('page')
await read('page', 'pdf')
await read('pdf', 'page')
await read('page', 'german')
await read('page', 'related')
EOF
node "$dir/read.mjs" >"$dir/got"

cat >"$dir/want" <<'EOF'
page -> https://example.org/page "a  tag" "a <b> tag"
page, pdf -> https://example.org/page.pdf "a  tag" "a <b> tag"
pdf, page -> https://example.org/page "a  tag" "a <b> tag"
page, german -> https://example.org/seite "a  tag" "a <b> tag"
page, related -> https://example.org/page "a  tag" "a <b> tag"
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
