#!/usr/bin/env bash
# @extractus/feed-extractor makes numbers of guids and titles: "1.10" becomes "1.1", "0042" and "42" become one id.
#
# Library:  @extractus/feed-extractor 8.0.3 (npm)
# Guess:    guids, ids and titles are texts, and stay as they are; the link of an Atom entry is its alternate.
# Seen:     what looks like a number, also in hexadecimal or with an exponent, is written as JavaScript writes the number. The first link
#           of an Atom entry is taken, whatever its relation, parameters that begin with utm_ go, and an XHTML summary is empty.
# Output:   see "want" below
# Valid by: RSS 2.0, guid: a string, whose form the source of the feed decides; title: a text. RFC 4287 section 4.2.7.2: the
#           relation self is not that of the page; 3.1.1.3: a summary may be XHTML.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" @extractus/feed-extractor@8.0.3 >"$dir/npm.log" 2>&1 || { cat "$dir/npm.log" >&2; exit 1; }

cat >"$dir/run.mjs" <<'EOF'
import { extractFromXml } from "@extractus/feed-extractor";

const texts = ["1.10", "0042", "42", "1e3", "0x10", "2026-07", "007b"];
const items = texts.map((text) => `<item><title>${text}</title><link>https://www.example.org/${text}</link>
<guid isPermaLink="false">${text}</guid><description>A release.</description></item>`);
const rss = `<?xml version="1.0"?><rss version="2.0"><channel><title>Releases</title><link>https://www.example.org/</link>
<description>All of them.</description>${items.join("")}</channel></rss>`;
extractFromXml(rss).entries.forEach((entry, i) => console.log("guid and title", texts[i], "are", entry.id, "and", entry.title));

const atom = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:feed</id><title>Acts</title>
<updated>2026-01-02T03:04:05Z</updated><author><name>A clerk</name></author><entry><id>urn:example:7</id><title>Act 7</title>
<updated>2026-01-02T03:04:05Z</updated><link rel="self" href="https://www.example.org/7.atom"/>
<link rel="alternate" href="https://www.example.org/7?utm_source=feed"/>
<summary type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>An act of <b>2026</b></p></div></summary></entry></feed>`;
const [entry] = extractFromXml(atom).entries;
console.log("link", entry.link, "summary", JSON.stringify(entry.description));
EOF
(cd "$dir" && timeout 60 node run.mjs) >"$dir/got"

cat >"$dir/want" <<'EOF'
guid and title 1.10 are 1.1 and 1.1
guid and title 0042 are 42 and 42
guid and title 42 are 42 and 42
guid and title 1e3 are 1000 and 1000
guid and title 0x10 are 16 and 16
guid and title 2026-07 are 2026-07 and 2026-07
guid and title 007b are 007b and 007b
link https://www.example.org/7.atom summary ""
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
