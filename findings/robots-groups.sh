#!/usr/bin/env bash
# Two npm readers of robots.txt use one group of a crawler and forget its others; one of them knows only the last name of a
# group.
#
# Library:  robots-txt-parse 2.0.1 with robots-txt-guard 1.0.2, robots-txt-parser 2.0.3 (npm)
# Guess:    the rules of all groups that name the crawler count, and a group with two user-agent lines counts for both.
# Seen:     of two groups of one crawler the guard obeys the first only, robots-txt-parser the last only. In a group of two
#           crawlers robots-txt-parser gives its rules to the second, and lets the first in everywhere.
# Output:   the lines of "want"
# Valid by: RFC 9309 section 2.2.1: if several groups match, their rules are combined into one group; a group starts with one or
#           more user-agent lines.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund robots-txt-parse@2.0.1 robots-txt-guard@1.0.2 robots-txt-parser@2.0.3 \
	>npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >robots.js <<'JS'
const { Readable } = require("stream");
const parse = require("robots-txt-parse");
const guard = require("robots-txt-guard");
const parser = require("robots-txt-parser");

const files = {
	"one group": "User-agent: harvester\nDisallow: /one\nDisallow: /two\n",
	"two groups": "User-agent: harvester\nDisallow: /one\n\nUser-agent: other\nDisallow: /\n\nUser-agent: harvester\nDisallow: /two\n",
	"two groups of *": "User-agent: *\nDisallow: /one\n\nUser-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /two\n",
	"two names": "User-agent: harvester\nUser-agent: other\nDisallow: /one\nDisallow: /two\n",
};
(async () => {
	for (const [name, text] of Object.entries(files)) {
		const guarded = guard(await parse(Readable.from([text])));
		const parsed = parser({ allowOnNeutral: true });
		parsed.parseRobots("https://example.org", text);
		parsed.setUserAgent("harvester");
		const refused = (allowed) => ["/one", "/two"].filter((path) => !allowed(path)).join(" ") || "nothing";
		console.log(`${name}: guard refuses ${refused((path) => guarded.isAllowed("harvester", path))}, ` +
			`parser ${refused((path) => parsed.canCrawlSync("https://example.org" + path))}`);
	}
})();
JS
node robots.js >got

cat >want <<'EOF'
one group: guard refuses /one /two, parser /one /two
two groups: guard refuses /one, parser /two
two groups of *: guard refuses /one, parser /two
two names: guard refuses /one /two, parser nothing
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
