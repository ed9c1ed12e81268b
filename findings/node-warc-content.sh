#!/usr/bin/env bash
# node-warc's content is two bytes longer than the block, and ends at the first empty line of a text with CRLF.
#
# Library:  node-warc 3.3.1, with warcio 2.4.11 as the other reader (npm)
# Guess:    the content of a record is its block: as many bytes as Content-Length says.
# Seen:     Content-Length is not used. Each content has the line break that stands after its block, so no digest fits. In a text
#           whose lines end in CRLF an empty line ends it, and the rest is lost, without an error; in a text with LF it does
#           not. Of a field that is there twice the last one is kept. (After the last record node-warc emits an error.)
# Output:   the lines of "want"
# Valid by: WARC 1.1 (ISO 28500:2017) section 4: a block is any octets, as many as Content-Length says, then two line breaks;
#           section 5.7: WARC-Concurrent-To may be there several times.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts node-warc@3.3.1 warcio@2.4.11 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >content.mjs <<'JS'
import fs from "fs";
import nodeWarc from "node-warc";
import { WARCParser } from "warcio";

const name = (n) => `<urn:uuid:00000000-0000-0000-0000-00000000000${n}>`;
const texts = ["one line", "lines\nand\n\nlines", "lines\r\nand\r\n\r\nlines", "\r\nlines", "the last"];
fs.writeFileSync("act.warc", texts.map((text, n) => ["WARC/1.1", "WARC-Type: resource", `WARC-Target-URI: https://example.org/${n}`,
	`WARC-Record-ID: ${name(n)}`, "WARC-Date: 2026-11-28T10:20:30Z", "Content-Type: text/plain", `WARC-Concurrent-To: ${name(8)}`,
	`WARC-Concurrent-To: ${name(9)}`, `Content-Length: ${text.length}`, "", text, "", ""].join("\r\n")).join(""));

for await (const record of new WARCParser(fs.createReadStream("act.warc"))) {
	const content = Buffer.from(await record.readFully(false)).toString();
	console.log("warcio:", record.warcTargetURI, JSON.stringify(content), record.warcHeader("WARC-Concurrent-To"));
}
await new Promise((done) => {
	let left = texts.length;
	const parser = new nodeWarc.AutoWARCParser("act.warc");
	parser.on("error", () => {});
	parser.on("record", ({ warcTargetURI, content, warcHeader }) => {
		console.log("node-warc:", warcTargetURI, JSON.stringify(content.toString()), warcHeader["WARC-Concurrent-To"]);
		if (--left === 0) done();
	});
	parser.start();
});
JS
timeout 60 node content.mjs >got

cat >want <<'EOF'
warcio: https://example.org/0 "one line" <urn:uuid:00000000-0000-0000-0000-000000000008>, <urn:uuid:00000000-0000-0000-0000-000000000009>
warcio: https://example.org/1 "lines\nand\n\nlines" <urn:uuid:00000000-0000-0000-0000-000000000008>, <urn:uuid:00000000-0000-0000-0000-000000000009>
warcio: https://example.org/2 "lines\r\nand\r\n\r\nlines" <urn:uuid:00000000-0000-0000-0000-000000000008>, <urn:uuid:00000000-0000-0000-0000-000000000009>
warcio: https://example.org/3 "\r\nlines" <urn:uuid:00000000-0000-0000-0000-000000000008>, <urn:uuid:00000000-0000-0000-0000-000000000009>
warcio: https://example.org/4 "the last" <urn:uuid:00000000-0000-0000-0000-000000000008>, <urn:uuid:00000000-0000-0000-0000-000000000009>
node-warc: https://example.org/0 "one line\r\n" <urn:uuid:00000000-0000-0000-0000-000000000009>
node-warc: https://example.org/1 "lines\nand\n\nlines\r\n" <urn:uuid:00000000-0000-0000-0000-000000000009>
node-warc: https://example.org/2 "lines\r\nand\r\n" <urn:uuid:00000000-0000-0000-0000-000000000009>
node-warc: https://example.org/3 "lines\r\n" <urn:uuid:00000000-0000-0000-0000-000000000009>
node-warc: https://example.org/4 "the last\r\n" <urn:uuid:00000000-0000-0000-0000-000000000009>
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
