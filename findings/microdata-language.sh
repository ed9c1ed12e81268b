#!/usr/bin/env bash
# npm's microdata-rdf-streaming-parser gives Swedish text the language of the English line before it, and ignores <html lang>.
#
# Library:  microdata-rdf-streaming-parser 3.0.0 (npm)
# Guess:    a text has the language of the nearest element around it that has a lang; relative URLs have the page's base.
# Seen:     only a lang inside the item counts, and it counts for all that follows in the item, not for its own element alone. A
#           lang of the page, or of what is around the item, counts for nothing. <base href> is ignored, for items and links.
# Output:   the lines of "want"
# Valid by: Microdata to RDF (2nd edition), "Algorithm Terms", property values: a text has the language of its element; HTML
#           Living Standard section 3.2.6.2: that is the lang of the element or its nearest ancestor with one; section 4.2.3
#           (base).
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund microdata-rdf-streaming-parser@3.0.0 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >language.cjs <<'JS'
const { MicrodataRdfParser } = require("microdata-rdf-streaming-parser");

const act = 'itemscope itemtype="https://schema.org/Legislation"';
const page = (lang, body, head = "") => `<!DOCTYPE html><html${lang}><head><title>Act</title>${head}</head><body>${body}</body></html>`;
const pages = {
	"page in Swedish": page(' lang="sv"', `<div ${act}><p itemprop="name">Lag</p></div>`),
	"section in Swedish": page("", `<section lang="sv"><h1>Lag</h1><div ${act}><p itemprop="name">Lag</p></div></section>`),
	"item in Swedish": page("", `<div ${act} lang="sv"><p itemprop="name">Lag</p></div>`),
	"one line in English": page(' lang="sv"', `<div ${act}><p itemprop="name">Lag</p>` +
		'<p itemprop="alternateName" lang="en">Act</p><p itemprop="abstract">Om lagar</p></div>'),
	"a note in English": page(' lang="sv"', `<div ${act}><p lang="en">Note</p><p itemprop="abstract">Om lagar</p></div>`),
	"base": page("", `<div ${act} itemid="1"><a itemprop="url" href="2">2</a></div>`, '<base href="https://law.example/acts/">'),
};
for (const [name, html] of Object.entries(pages)) {
	const parser = new MicrodataRdfParser({ baseIRI: "https://law.example/index" });
	parser.on("data", ({ subject, predicate, object }) => {
		if (!predicate.value.startsWith("https://schema.org/")) return;
		const of = subject.termType === "NamedNode" ? ` of ${subject.value}` : "";
		console.log(`${name}: ${predicate.value.slice(19)}${of} is ${object.value}${object.language ? "@" + object.language : ""}`);
	});
	parser.write(html);
	parser.end();
}
JS
node language.cjs >got

cat >want <<'EOF'
page in Swedish: name is Lag
section in Swedish: name is Lag
item in Swedish: name is Lag@sv
one line in English: name is Lag
one line in English: alternateName is Act@en
one line in English: abstract is Om lagar@en
a note in English: abstract is Om lagar@en
base: url of https://law.example/1 is https://law.example/2
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
