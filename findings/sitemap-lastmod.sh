#!/usr/bin/env bash
# npm's sitemap drops valid lastmods when it reads: years, months, minutes without seconds, and fractions of more or less than three digits.
#
# Library:  sitemap 9.0.1 (npm)
# Guess:    each of the six formats of W3C dates stays a string; what is wrong is an error.
# Seen:     only whole days, and times of a second or exactly a millisecond, are kept. The others are gone from the item, with a line on
#           standard error. Python's isoformat writes six digits. When it writes, a month becomes its first millisecond and a priority of
#           0.55 becomes 0.6. The priority 0.55 is read as it is.
# Output:   see "want" below
# Valid by: the W3C's note on date and time formats, which sitemaps.org names for lastmod: YYYY, YYYY-MM, YYYY-MM-DD, with hh:mm, hh:mm:ss
#           and hh:mm:ss.s, "one or more digits". sitemaps.org: a priority is a number from 0.0 to 1.0.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" sitemap@9.0.1 >"$dir/npm.log" 2>&1 || { cat "$dir/npm.log" >&2; exit 1; }

cat >"$dir/run.mjs" <<'EOF'
import { Readable } from "node:stream";
import { parseSitemap, SitemapStream, streamToPromise } from "sitemap";

const dates = ["2026", "2026-11", "2026-11-03", "2026-11-03T01:02Z", "2026-11-03T01:02:03+02:00"];
for (let digits = 1; digits <= 6; digits++) dates.push(`2026-11-03T01:02:03.${"123456".slice(0, digits)}Z`);
for (const date of dates) {
	const text = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://www.example.org/</loc><lastmod>${date}</lastmod>
<priority>0.55</priority></url></urlset>`;
	const [item] = await parseSitemap(Readable.from([text]));
	console.log(date, "is read as", item.lastmod, item.priority);
}
const out = new SitemapStream();
out.end({ url: "https://www.example.org/", lastmod: "2026-11", priority: 0.55 });
console.log((await streamToPromise(out)).toString().match(/<lastmod>.*<\/priority>/)[0]);
EOF
(cd "$dir" && timeout 60 node run.mjs 2>/dev/null) >"$dir/got"

cat >"$dir/want" <<'EOF'
2026 is read as undefined 0.55
2026-11 is read as undefined 0.55
2026-11-03 is read as 2026-11-03 0.55
2026-11-03T01:02Z is read as undefined 0.55
2026-11-03T01:02:03+02:00 is read as 2026-11-03T01:02:03+02:00 0.55
2026-11-03T01:02:03.1Z is read as undefined 0.55
2026-11-03T01:02:03.12Z is read as undefined 0.55
2026-11-03T01:02:03.123Z is read as 2026-11-03T01:02:03.123Z 0.55
2026-11-03T01:02:03.1234Z is read as undefined 0.55
2026-11-03T01:02:03.12345Z is read as undefined 0.55
2026-11-03T01:02:03.123456Z is read as undefined 0.55
<lastmod>2026-11-01T00:00:00.000Z</lastmod><priority>0.6</priority>
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
