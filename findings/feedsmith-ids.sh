#!/usr/bin/env bash
# feedsmith writes an id or a link with an ampersand between line breaks and spaces, so that it is no longer the same IRI.
#
# Library:  feedsmith 3.0.1 (npm)
# Guess:    a value with "&" is written as "&amp;", or as CDATA that fills its element.
# Seen:     the CDATA stands in a line of its own: the content of atom:id, of link and guid in RSS, and of each title with "&" or "<"
#           begins and ends with a line break and spaces. Values without such characters have none. feedsmith's own parser removes them.
#           An XML content that it has parsed as markup is written as CDATA, too, which is text.
# Output:   see "want" below
# Valid by: RFC 3986 section 3.4 (a query may have "&"). RFC 4287 section 2 allows no white space in IRIs, section 4.2.6.1
#           compares ids character by character, section 4.1.3.3 has the children of a content with an XML media type.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" feedsmith@3.0.1 >"$dir/npm.log" 2>&1 || { cat "$dir/npm.log" >&2; exit 1; }

cat >"$dir/run.mjs" <<'EOF'
import { generateAtomFeed, generateRssFeed, parseAtomFeed } from "feedsmith";

const updated = new Date("2026-01-02T03:04:05Z");
const acts = ["https://www.example.org/act?number=7", "https://www.example.org/act?year=2026&number=7"];
const feed = { id: "urn:example:feed", title: { value: "Acts" }, updated };
const atom = generateAtomFeed({ ...feed, entries: acts.map((id) => ({ id, title: { value: "Act 7" }, updated })) });
const items = acts.map((link) => ({ title: "Act 7", link, guid: { value: link }, description: "An act." }));
const rss = generateRssFeed({ title: "Acts", link: "https://www.example.org/", description: "All acts.", items });

const contents = (text, name) => [...text.matchAll(new RegExp(`<${name}>([^]*?)</${name}>`, "g"))].map((match) => match[1]);
for (const id of contents(atom, "id").slice(1)) console.log("id", JSON.stringify(id));
for (const link of contents(rss, "link").slice(1)) console.log("link", JSON.stringify(link));
for (const guid of contents(rss, "guid")) console.log("guid", JSON.stringify(guid));

const markup = `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:feed</id><title>Acts</title><updated>2026-01-02T03:04:05Z</updated>
<entry><id>urn:example:7</id><title>Act 7</title><updated>2026-01-02T03:04:05Z</updated><author><name>A clerk</name></author>
<content type="application/xml"><act xmlns="urn:example:act">7</act></content></entry></feed>`;
const again = generateAtomFeed(parseAtomFeed(markup));
console.log("content", JSON.stringify(again.match(/<content[^>]*>([^]*?)<\/content>/)[1].trim()));
EOF
(cd "$dir" && timeout 60 node run.mjs) >"$dir/got"

cat >"$dir/want" <<'EOF'
id "https://www.example.org/act?number=7"
id "\n      <![CDATA[https://www.example.org/act?year=2026&number=7]]>\n    "
link "https://www.example.org/act?number=7"
link "\n        <![CDATA[https://www.example.org/act?year=2026&number=7]]>\n      "
guid "https://www.example.org/act?number=7"
guid "\n        <![CDATA[https://www.example.org/act?year=2026&number=7]]>\n      "
content "<![CDATA[<act xmlns=\"urn:example:act\">7</act>]]>"
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
