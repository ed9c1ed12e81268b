#!/usr/bin/env bash
# @rowanmanning/feed-parser replaces HTML references in ids and plain titles once more, so that "&section=" of a query becomes "§ion=".
#
# Library:  @rowanmanning/feed-parser 2.1.5 (npm)
# Guess:    an id is what XML says; a title of type text is, too; only type html may be read as HTML.
# Seen:     ids, titles of any type and contents of any type lose a second layer of references, also those of HTML that have no
#           semicolon. The same URL in a link stays as it is, so id and url of an entry differ. Two ids of which one has "&copy=" and the
#           other "©=" become one. XHTML content becomes text that is no longer XHTML. So do guids of RSS.
# Output:   see "want" below
# Valid by: RFC 4287 section 3.1.1.1 (in type text "&amp;copy;" is the text "&copy;"), 3.1.1.3 (XHTML is markup), 4.2.6.1 (ids are compared
#           character by character). XML 1.0 section 4.4 (a reference is replaced once).
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" @rowanmanning/feed-parser@2.1.5 >"$dir/npm.log" 2>&1 || { cat "$dir/npm.log" >&2; exit 1; }

cat >"$dir/run.mjs" <<'EOF'
import { parseFeed } from "@rowanmanning/feed-parser";

for (const query of ["act=7&amp;order=2", "act=7&amp;section=2", "act=7&amp;copy=2", "act=7&amp;para=2"]) {
	const url = `https://www.example.org/?${query}`;
	const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:feed</id><title>Acts</title><updated>2026-01-02T03:04:05Z</updated>
<author><name>A clerk</name></author><entry><id>${url}</id><title>Write &amp;copy; as &amp;amp;copy;</title><updated>2026-01-02T03:04:05Z</updated>
<link href="${url}"/><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">Q &amp; A</div></content></entry></feed>`;
	const [entry] = parseFeed(atom).items;
	console.log(`id ${entry.id} url ${entry.url} title ${entry.title} content ${entry.content}`);
	const rss = `<rss version="2.0"><channel><title>Acts</title><link>https://www.example.org/</link><description>All acts.</description>
<item><title>Act 7</title><guid>${url}</guid></item></channel></rss>`;
	console.log(`guid ${parseFeed(rss).items[0].id}`);
}
EOF
(cd "$dir" && timeout 60 node run.mjs) >"$dir/got"

cat >"$dir/want" <<'EOF'
id https://www.example.org/?act=7&order=2 url https://www.example.org/?act=7&order=2 title Write © as &copy; content Q & A
guid https://www.example.org/?act=7&order=2
id https://www.example.org/?act=7§ion=2 url https://www.example.org/?act=7&section=2 title Write © as &copy; content Q & A
guid https://www.example.org/?act=7§ion=2
id https://www.example.org/?act=7©=2 url https://www.example.org/?act=7&copy=2 title Write © as &copy; content Q & A
guid https://www.example.org/?act=7©=2
id https://www.example.org/?act=7¶=2 url https://www.example.org/?act=7&para=2 title Write © as &copy; content Q & A
guid https://www.example.org/?act=7¶=2
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
