#!/usr/bin/env bash
# Four npm expanders of URI templates keep %20 in {+url} and make %25C3 of %C3: they take hexadecimal digits for decimal ones.
#
# Library:  @contentgrid/uri-template 0.4.2, @std-uritemplate/std-uritemplate 2.0.12, uri-templates 0.2.0, uri-template 2.0.0;
#           uri-template.js 0.1.2, uri-template-lite 23.4.0, uritemplate 0.3.4; @hyperjump/uri-template 0.3.0,
#           rfc6570-uri-template 1.1.0, es6-url-template 3.0.2 (all npm)
# Guess:    all put a URL into {+url} as it is; only a percent sign without two digits after it becomes %25.
# Seen:     the first four take the hexadecimal digits for decimal ones. They keep %20 and encode %C3%A5, three of them %2F, too
#           (@std-uritemplate looks at the first digit only). One URL becomes half encoded, and no decoder can know which
#           half. The next three encode every triplet, the last three none. Without triplets all agree.
# Output:   the lines of "want"
# Valid by: RFC 6570 section 3.2.3 and 3.2.4: {+x} and {#x} let unreserved and reserved characters and percent-encoded triplets
#           pass; section 1.5: pct-encoded is "%" and two hexadecimal digits.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @contentgrid/uri-template@0.4.2 @std-uritemplate/std-uritemplate@2.0.12 \
	uri-templates@0.2.0 uri-template@2.0.0 uri-template.js@0.1.2 uri-template-lite@23.4.0 uritemplate@0.3.4 \
	@hyperjump/uri-template@0.3.0 rfc6570-uri-template@1.1.0 es6-url-template@3.0.2 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >expand.mjs <<'JS'
import contentgrid from "@contentgrid/uri-template";
import hyperjump from "@hyperjump/uri-template";
import { StdUriTemplate } from "@std-uritemplate/std-uritemplate";
import es6 from "es6-url-template";
import * as rfc6570 from "rfc6570-uri-template";
import uriTemplate from "uri-template";
import lite from "uri-template-lite";
import js from "uri-template.js";
import templates from "uri-templates";
import classic from "uritemplate";

const expanders = {
	"@contentgrid/uri-template": (template, values) => new (contentgrid.default ?? contentgrid)(template).expand(values),
	"@std-uritemplate/std-uritemplate": (template, values) => StdUriTemplate.expand(template, values),
	"uri-templates": (template, values) => templates(template).fill(values),
	"uri-template": (template, values) => uriTemplate.parse(template).expand(values),
	"uri-template.js": (template, values) => js.expand(template, values),
	"uri-template-lite": (template, values) => lite.expand(template, values),
	"uritemplate": (template, values) => classic.parse(template).expand(values),
	"@hyperjump/uri-template": (template, values) => hyperjump.expand(template, values),
	"rfc6570-uri-template": (template, values) => rfc6570.parse(template).expand(values),
	"es6-url-template": (template, values) => new (es6.default ?? es6)(template).expand(values),
};
for (const [template, url] of [
	["{+url}", "https://law.example/act?x=1&y=2"], ["{+url}", "https://law.example/100%"], ["{url}", "a%20b%2Fc"],
	["{+url}", "https://law.example/a%20b%2Fc"], ["{+url}", "https://law.example/%C3%A5"], ["{#url}", "a%20b%2Fc"],
]) {
	const results = new Map();
	for (const [name, expand] of Object.entries(expanders)) {
		const result = expand(template, { url });
		results.set(result, [...(results.get(result) ?? []), name]);
	}
	console.log(`${template} of ${url}`);
	for (const [result, names] of results) console.log(`  ${result}: ${results.size === 1 ? "all" : names.join(", ")}`);
}
JS
node expand.mjs >got

cat >want <<'EOF'
{+url} of https://law.example/act?x=1&y=2
  https://law.example/act?x=1&y=2: all
{+url} of https://law.example/100%
  https://law.example/100%25: all
{url} of a%20b%2Fc
  a%2520b%252Fc: all
{+url} of https://law.example/a%20b%2Fc
  https://law.example/a%20b%252Fc: @contentgrid/uri-template, uri-templates, uri-template
  https://law.example/a%20b%2Fc: @std-uritemplate/std-uritemplate, @hyperjump/uri-template, rfc6570-uri-template, es6-url-template
  https://law.example/a%2520b%252Fc: uri-template.js, uri-template-lite, uritemplate
{+url} of https://law.example/%C3%A5
  https://law.example/%25C3%25A5: @contentgrid/uri-template, @std-uritemplate/std-uritemplate, uri-templates, uri-template, uri-template.js, uri-template-lite, uritemplate
  https://law.example/%C3%A5: @hyperjump/uri-template, rfc6570-uri-template, es6-url-template
{#url} of a%20b%2Fc
  #a%20b%252Fc: @contentgrid/uri-template, uri-templates, uri-template
  #a%20b%2Fc: @std-uritemplate/std-uritemplate, @hyperjump/uri-template, rfc6570-uri-template, es6-url-template
  #a%2520b%252Fc: uri-template.js, uri-template-lite, uritemplate
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
