#!/usr/bin/env bash
# Two writers of Turtle shorten IRIs to names that Turtle does not have: the parser of the same family rejects their
# documents.
#
# Library:  @rdfjs/serializer-turtle 1.1.5 and @jeswr/pretty-turtle 1.8.2, n3 2.13.12 as the reader (npm)
# Guess:    an IRI whose rest is no local name is written in full, or with a backslash before the special character.
# Seen:     whatever follows the namespace is appended. "p:eli/1", "p:-1", "p:~x" and "p:a." are written as they are (the second
#           writer at least avoids the slash), and the n3 parser stops at them. A colon and percent signs are allowed, and work.
# Output:   the lines of "want"
# Valid by: RDF 1.1 Turtle section 6.5, PN_LOCAL: a local name does not start with "-", end with "." or have a "/" or "~"
#           without a backslash. The IRIs are valid by RFC 3987 section 2.2.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund @rdfjs/serializer-turtle@1.1.5 @jeswr/pretty-turtle@1.8.2 n3@2.13.12 \
	>npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >names.mjs <<'JS'
import Serializer from "@rdfjs/serializer-turtle";
import { write } from "@jeswr/pretty-turtle";
import { Parser } from "n3";

const space = "https://example.org/";
const writers = {
	"serializer-turtle": (quads) => new Serializer({ prefixes: new Map([["p", { value: space }]]) }).transform(quads),
	"pretty-turtle": (quads) => write(quads, { prefixes: { p: space } }),
};
for (const rest of ["act1", "a:b", "a%20b", "eli/1", "-1", "~x", "a."]) {
	const quads = new Parser().parse(`<${space}${rest}> <urn:title> "Act" .`);
	for (const [name, write] of Object.entries(writers)) {
		const turtle = await write(quads);
		let result = "unreadable";
		try {
			result = new Parser().parse(turtle)[0].subject.value === space + rest ? "read" : "another IRI";
		} catch {}
		const subject = turtle.split("\n").find((line) => !line.startsWith("@prefix") && line.includes(rest)).trim().split(" ")[0];
		console.log(`${name}: ${subject} ${result}`);
	}
}
JS
node names.mjs >got

cat >want <<'EOF'
serializer-turtle: p:act1 read
pretty-turtle: p:act1 read
serializer-turtle: p:a:b read
pretty-turtle: p:a:b read
serializer-turtle: p:a%20b read
pretty-turtle: p:a%20b read
serializer-turtle: p:eli/1 unreadable
pretty-turtle: <https://example.org/eli/1> read
serializer-turtle: p:-1 unreadable
pretty-turtle: p:-1 unreadable
serializer-turtle: p:~x unreadable
pretty-turtle: p:~x unreadable
serializer-turtle: p:a. unreadable
pretty-turtle: p:a. unreadable
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
