#!/usr/bin/env bash
# sitemapper leaves numeric character references in URLs, and returns a lastmod that is a year as a number.
#
# Library:  sitemapper 4.1.6 (npm)
# Guess:    all references that XML has are replaced; every value is a string; a sitemap that is a text file is not read, and
#           gives no error.
# Seen:     "&amp;" becomes "&", but "&#38;" and "&#x26;" stay as they are, so that what follows the number sign becomes a fragment.
#           The lastmod "2026" is a number, "2026-11" is a string. A text file gives the error UnknownStateError.
# Output:   see "want" below
# Valid by: XML 1.0 section 4.1: a character reference stands for its character. The W3C's note on date and time formats, which
#           sitemaps.org names for lastmod, has YYYY as its first format. sitemaps.org, "Text file": a URL on each line.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" sitemapper@4.1.6 >"$dir/npm.log" 2>&1 || { cat "$dir/npm.log" >&2; exit 1; }

cat >"$dir/run.mjs" <<'EOF'
import { createServer } from "node:http";
import Sitemapper from "sitemapper";

const documents = {
	"/sitemap.xml": `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://example.org/named?x=1&amp;y=2</loc><lastmod>2026-11</lastmod></url>
<url><loc>https://example.org/decimal?x=1&#38;y=2</loc><lastmod>2026</lastmod></url>
<url><loc>https://example.org/hex?x=1&#x26;y=2</loc></url>
</urlset>`,
	"/sitemap.txt": "https://example.org/one\nhttps://example.org/two\n",
};
const server = createServer((request, response) => {
	response.setHeader("Content-Type", request.url.endsWith("xml") ? "application/xml" : "text/plain");
	response.end(documents[request.url]);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
for (const path of Object.keys(documents)) {
	const url = `http://127.0.0.1:${server.address().port}${path}`;
	const got = await new Sitemapper({ url, timeout: 20000, returnErrors: true, fields: { loc: true, lastmod: true } }).fetch();
	for (const site of got.sites) console.log(path, JSON.stringify(site));
	for (const error of got.errors) console.log(path, error.type);
}
server.close();
server.closeAllConnections();
EOF
(cd "$dir" && timeout 60 node run.mjs) >"$dir/got"

cat >"$dir/want" <<'EOF'
/sitemap.xml {"loc":"https://example.org/named?x=1&y=2","lastmod":"2026-11"}
/sitemap.xml {"loc":"https://example.org/decimal?x=1&#38;y=2","lastmod":2026}
/sitemap.xml {"loc":"https://example.org/hex?x=1&#x26;y=2"}
/sitemap.txt UnknownStateError
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
