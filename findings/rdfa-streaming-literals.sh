#!/usr/bin/env bash
# An RDFa parser resolves links against the last <base>, and gives literals of fractional seconds and of lang="" wrong types.
#
# Library:  rdfa-streaming-parser 3.0.2 (npm)
# Guess:    the first <base href> counts; lang="" ends the language, so that the literal is plain; datatype="" makes a plain
#           literal of a <time>, as of any element; a dateTime or time may have a fraction, since the seconds are recognised.
# Seen:     the last <base href> counts. lang="" gives a literal of the type rdf:langString whose language is empty, which RDF
#           does not have. datatype="" is ignored on <time>, and only there. With a fraction of a second a time or dateTime is
#           a plain literal; a duration with a fraction is a duration.
# Output:   see "want" below
# Valid by: HTML, the base element: all base elements with href but the first are ignored.
#           RDFa Core 1.1 section 7.5: step 4, an empty language is no language; step 11, an empty datatype is a plain literal.
#           HTML+RDFa 1.1 section 3.1 and XML Schema 1.1 part 2 sections 3.3.7 and 3.3.8: the types of @datetime, with fractions.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --silent --no-audit --no-fund --prefix "$dir" rdfa-streaming-parser@3.0.2 >"$dir/npm.log" 2>&1 ||
	{ cat "$dir/npm.log" >&2; exit 1; }

cat >"$dir/run.mjs" <<'EOF'
import { RdfaParser } from "rdfa-streaming-parser";

const short = (iri) => iri.replace(/.*[/#]/, "");
function show(html) {
	return new Promise((resolve, reject) => {
		const parser = new RdfaParser({ baseIRI: "https://example.org/page", contentType: "text/html" });
		parser.on("data", ({ object: o }) =>
			console.log(o.termType === "Literal" ? `"${o.value}" ${short(o.datatype.value)} ${JSON.stringify(o.language)}` : o.value),
		);
		parser.on("error", reject);
		parser.on("end", resolve);
		parser.end(html);
	});
}
const prefix = 'prefix="x: https://example.org/terms#"';
await show(`<html><head><base href="https://one.example/"><base href="https://two.example/"></head>
<body ${prefix}><a property="x:p" href="act">act</a></body></html>`);
await show(`<div ${prefix} lang="de"><p property="x:p" lang="">Gesetz</p></div>`);
await show(`<p ${prefix}><b property="x:p" datatype="" content="2026">text</b></p>`);
await show(`<p ${prefix}><time property="x:p" datatype="" datetime="2026">text</time></p>`);
for (const time of ["10:20:30", "10:20:30.5", "2026-11-28T10:20:30Z", "2026-11-28T10:20:30.5Z", "PT1.5S"]) {
	await show(`<p ${prefix}><time property="x:p" datetime="${time}">text</time></p>`);
}
EOF
(cd "$dir" && timeout 40 node run.mjs) >"$dir/got"

cat >"$dir/want" <<'EOF'
https://two.example/act
"Gesetz" langString ""
"2026" string ""
"2026" gYear ""
"10:20:30" time ""
"10:20:30.5" string ""
"2026-11-28T10:20:30Z" dateTime ""
"2026-11-28T10:20:30.5Z" string ""
"PT1.5S" duration ""
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
