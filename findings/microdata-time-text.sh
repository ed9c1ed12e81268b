#!/usr/bin/env bash
# npm's microdata-node gives an empty text for a date that stands in a time element without the attribute datetime.
#
# Library:  microdata-node 2.0.0 (npm)
# Guess:    <time itemprop="date">2026-11-28</time> is 2026-11-28, as the same text in a span is.
# Seen:     the text of a time element is never read: without datetime its value is "", in toJson and in toJsonld. With the
#           attribute, and in other elements, it is right. Dates of acts vanish, and the property is there.
# Output:   the lines of "want"
# Valid by: HTML Living Standard section 5.2.4 (Values): a time element's value is its datetime value; section 4.5.14: without
#           the attribute that is its text, which must then be a valid date.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund microdata-node@2.0.0 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >items.js <<'JS'
const { toJson, toJsonld } = require("microdata-node");
for (const value of ['<span itemprop="date">2026-11-28</span>', '<time itemprop="date">2026-11-28</time>',
	'<time itemprop="date" datetime="2026-11-28">28 November</time>', '<time itemprop="date">2026-11</time>']) {
	const page = `<!doctype html><title>Act</title><div itemscope itemtype="https://schema.org/Legislation">${value}</div>`;
	const options = { base: "https://example.org/" };
	console.log(value, "is", JSON.stringify(toJson(page, options).items[0].properties.date),
		JSON.stringify(toJsonld(page, options)[0]["https://schema.org/date"]));
}
JS
node items.js >got

cat >want <<'EOF'
<span itemprop="date">2026-11-28</span> is ["2026-11-28"] [{"@value":"2026-11-28"}]
<time itemprop="date">2026-11-28</time> is [""] [{"@value":""}]
<time itemprop="date" datetime="2026-11-28">28 November</time> is ["2026-11-28"] [{"@value":"2026-11-28","@type":"http://www.w3.org/2001/XMLSchema#date"}]
<time itemprop="date">2026-11</time> is [""] [{"@value":""}]
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
