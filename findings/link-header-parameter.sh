#!/usr/bin/env bash
# npm's http-link-header loses the relation after a parameter that has no value, and gives up at an empty element of the list.
#
# Library:  http-link-header 1.1.4 (npm)
# Guess:    a parameter without a value is kept with none; an empty element of the list is skipped.
# Seen:     the name and what follows up to the next value become one name: "crossorigin; rel" has the value "preload". So the link has no
#           relation, and nothing says so. An empty element is an error for the whole header.
# Output:   see "want" below
# Valid by: RFC 8288 section 3: the value of a link-param is optional. RFC 9110 section 5.6.1.2: a recipient ignores empty list elements.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" http-link-header@1.1.4 >"$dir/npm.log" 2>&1 || { cat "$dir/npm.log" >&2; exit 1; }

cat >"$dir/run.mjs" <<'EOF'
import LinkHeader from "http-link-header";

for (const header of [
	'</list.xml>; rel="resourcesync"; crossorigin',
	'</list.xml>; crossorigin; rel="resourcesync"',
	'</a>; rel="next", , </b>; rel="prev"',
	', </a>; rel="next"',
]) {
	try {
		console.log(header, "=>", JSON.stringify(LinkHeader.parse(header).refs));
	} catch (error) {
		console.log(header, "=>", error.message);
	}
}
EOF
(cd "$dir" && timeout 60 node run.mjs) >"$dir/got"

cat >"$dir/want" <<'EOF'
</list.xml>; rel="resourcesync"; crossorigin => [{"uri":"/list.xml","rel":"resourcesync","crossorigin":""}]
</list.xml>; crossorigin; rel="resourcesync" => [{"uri":"/list.xml","crossorigin; rel":"resourcesync"}]
</a>; rel="next", , </b>; rel="prev" => Unexpected character "," at offset 18
, </a>; rel="next" => Unexpected character "," at offset 0
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
