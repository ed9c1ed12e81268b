#!/usr/bin/env bash
# npm's feed writes one and the same description as text in RSS and Atom's summary, and as the HTML content in JSON Feed; a title is
# HTML in Atom, but not the feed's own.
#
# Library:  feed 6.0.0 (npm) with Node.js 20
# Guess:    a description is "summary" in JSON Feed, as in Atom, and content_html is only what was given as content. Titles are text
#           in all three formats, or HTML in all.
# Seen:     without content, the description is content_html: "1 < 2" becomes broken HTML, and readers take the summary for the whole
#           article. In Atom the title of an entry is declared as HTML and not escaped, so what looks like a tag is one; in RSS and
#           JSON Feed, and for the feed itself, the same title is text.
# Output:   see "want" below
# Valid by: JSON Feed 1.1 (summary: a plain text sentence or two; content_html is the HTML of the item) and RFC 4287 section 3.1.1.
#
# Needs npm.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" feed@6.0.0 >"$dir/npm.log" 2>&1 || { cat "$dir/npm.log" >&2; exit 1; }

cat >"$dir/write.mjs" <<'EOF'
import { Feed } from 'feed'

const feed = new Feed({ title: 'About <b>', id: 'https://example.org/', link: 'https://example.org/', updated: new Date(0) })
feed.addItem({
	title: 'About <b>', id: 'https://example.org/1', link: 'https://example.org/1', date: new Date(0), description: '1 < 2',
})
const show = (format, text) => text.split('\n').map(line => line.trim()).filter(line => /About|1 < 2|1 &lt; 2/.test(line))
	.forEach(line => console.log(`${format}: ${line}`))
show('Atom', feed.atom1())
show('RSS', feed.rss2())
show('JSON', feed.json1())
EOF
node "$dir/write.mjs" >"$dir/got"

cat >"$dir/want" <<'EOF'
Atom: <title>About &lt;b&gt;</title>
Atom: <title type="html"><![CDATA[About <b>]]></title>
Atom: <summary type="html"><![CDATA[1 < 2]]></summary>
RSS: <title>About &lt;b&gt;</title>
RSS: <title><![CDATA[About <b>]]></title>
RSS: <description><![CDATA[1 < 2]]></description>
JSON: "title": "About <b>",
JSON: "content_html": "1 < 2",
JSON: "title": "About <b>",
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
