#!/usr/bin/env bash
# A comment inside a loc makes sitemap-stream-parser report a URL that nobody published, and a CDATA section makes two parsers cut it.
#
# Library:  sitemap-stream-parser 1.7.0 and sitemap 9.0.1 (npm)
# Guess:    sitemap joins the pieces of the text; sitemap-stream-parser reports one URL, the last piece.
# Seen:     sitemap-stream-parser ignores CDATA sections, and reports both texts around a comment as URLs. It resolves the
#           second one against the URL of the sitemap: "c" becomes a URL below the sitemap. It reports no error. sitemap keeps
#           the first piece only, warns about the second one ("URL must start with http:// or https://"), and returns the cut URL.
# Output:   see "want" below: of three URLs, both parsers return one; sitemap-stream-parser also returns three others
# Valid by: XML 1.0 sections 2.4, 2.5 and 2.7: comments and CDATA sections may stand anywhere in the text of an element, and
#           a comment is no part of the text. The sitemap schema makes loc an xsd:anyURI, whose value is the whole text.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" sitemap-stream-parser@1.7.0 sitemap@9.0.1 >"$dir/npm.log" 2>&1 ||
	{ cat "$dir/npm.log" >&2; exit 1; }

cat >"$dir/sitemap.xml" <<'EOF'
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://example.org/a?x=1&amp;y=2</loc></url>
<url><loc>https://example.org/<![CDATA[b?x=1&y=2]]></loc></url>
<url><loc>https://example.org/<!-- moved in May -->c</loc></url>
</urlset>
EOF
cat >"$dir/run.mjs" <<'EOF'
import { createReadStream, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { parseSitemap } from "sitemap";
import streamParser from "sitemap-stream-parser";

const file = new URL("sitemap.xml", import.meta.url);
for (const item of await parseSitemap(createReadStream(file))) console.log("sitemap:", item.url);

const server = createServer((request, response) => {
	response.setHeader("Content-Type", "application/xml");
	response.end(readFileSync(file));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${server.address().port}`;
await new Promise((resolve) =>
	streamParser.parseSitemaps(
		[`${base}/maps/sitemap.xml`],
		(url) => console.log("sitemap-stream-parser:", url.replace(base, "SERVER")),
		(error) => {
			console.log("sitemap-stream-parser: error", error);
			resolve();
		},
	),
);
server.close();
server.closeAllConnections();
EOF
(cd "$dir" && timeout 40 node run.mjs) >"$dir/got" 2>"$dir/warnings"

cat >"$dir/want" <<'EOF'
sitemap: https://example.org/a?x=1&y=2
sitemap: https://example.org/
sitemap: https://example.org/
sitemap-stream-parser: https://example.org/a?x=1&y=2
sitemap-stream-parser: https://example.org/
sitemap-stream-parser: https://example.org/
sitemap-stream-parser: SERVER/maps/c
sitemap-stream-parser: error null
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got" "$dir/warnings"
	exit 1
fi
cat "$dir/got"
