#!/usr/bin/env bash
# Three npm parsers of Accept and Accept-Language serve what a client refuses with q=0, and to one text/html;q=0.1 is 1.
#
# Library:  @remix-run/headers 0.21.1, @fluent/langneg 0.7.0, acc-lang-parser 1.0.4 (npm)
# Guess:    the most specific range that matches decides, and what it gives the quality 0 is not served.
# Seen:     @remix-run/headers sorts the ranges by quality and takes the first that matches, so that */* beats text/turtle;q=0, and
#           text/* beats text/html;q=0.1; languages likewise. @fluent/langneg and acc-lang-parser cut off the qualities, and keep
#           the order of the header; to the latter the first two letters of any second subtag are a region: zh-Hant is "of HA".
# Output:   the lines of "want"
# Valid by: RFC 9110 section 12.5.1: the most specific range has precedence, whatever the qualities; section 12.4.2: the quality
#           0 means "not acceptable"; section 12.5.4 (languages). RFC 5646 section 2.2.3: a subtag of four letters is a script.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @remix-run/headers@0.21.1 @fluent/langneg@0.7.0 acc-lang-parser@1.0.4 \
	>npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >accept.mjs <<'JS'
import { acceptedLanguages, negotiateLanguages } from "@fluent/langneg";
import { Accept, AcceptLanguage } from "@remix-run/headers";
import parser from "acc-lang-parser";

for (const [header, types] of [
	["text/turtle, application/rdf+xml;q=0.5", ["application/rdf+xml", "text/turtle"]],
	["text/*;q=0.3, text/html;q=0.7, */*;q=0.5", ["image/png", "text/plain", "text/html"]],
	["text/turtle;q=0, */*", ["text/turtle", "application/rdf+xml"]],
	["text/*, text/html;q=0.1", ["text/html", "text/plain"]],
]) {
	const accept = new Accept(header);
	console.log(`Accept: ${header} weighs`, types.map((type) => `${type} ${accept.getWeight(type)}`).join(", ") + ";", accept.getPreferred(types), "is served");
}
for (const header of ["sv, en;q=0.5", "en;q=0.5, sv", "en;q=0, sv", "en;q=0, *", "zh-Hant-TW, sv;q=0.5"]) {
	const served = {
		"@remix-run/headers": new AcceptLanguage(header).getPreferred(["en", "sv"]),
		"@fluent/langneg": negotiateLanguages(acceptedLanguages(header), ["en", "sv"], { defaultLocale: "sv" })[0],
	};
	const parsed = parser.extractAllLangs(header).map(({ language, locale }) => language + (locale ? " of " + locale : ""));
	console.log(`Accept-Language: ${header} is served`, Object.entries(served).map(([name, language]) => `${language} by ${name}`).join(", ") +
		"; acc-lang-parser:", parsed.join(", "));
}
JS
node accept.mjs >got

cat >want <<'EOF'
Accept: text/turtle, application/rdf+xml;q=0.5 weighs application/rdf+xml 0.5, text/turtle 1; text/turtle is served
Accept: text/*;q=0.3, text/html;q=0.7, */*;q=0.5 weighs image/png 0.5, text/plain 0.5, text/html 0.7; text/html is served
Accept: text/turtle;q=0, */* weighs text/turtle 1, application/rdf+xml 1; text/turtle is served
Accept: text/*, text/html;q=0.1 weighs text/html 1, text/plain 1; text/html is served
Accept-Language: sv, en;q=0.5 is served sv by @remix-run/headers, sv by @fluent/langneg; acc-lang-parser: sv, en
Accept-Language: en;q=0.5, sv is served sv by @remix-run/headers, en by @fluent/langneg; acc-lang-parser: en, sv
Accept-Language: en;q=0, sv is served sv by @remix-run/headers, en by @fluent/langneg; acc-lang-parser: en, sv
Accept-Language: en;q=0, * is served en by @remix-run/headers, en by @fluent/langneg; acc-lang-parser: en, *
Accept-Language: zh-Hant-TW, sv;q=0.5 is served sv by @remix-run/headers, sv by @fluent/langneg; acc-lang-parser: zh of HA, sv
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
