#!/usr/bin/env bash
# Two npm verifiers of digests say "wrong" or fail where a header has one right digest and another algorithm beside it.
#
# Library:  httpbis-digest-headers 1.0.0, @digitalbazaar/http-digest-header 2.3.0 (npm)
# Guess:    of several digests the known ones are checked, and others are ignored; the order of the list does not matter.
# Seen:     the first fails at any algorithm but sha-256 and sha-512, also if these are there and right, and says that a digest
#           without its padding is wrong. The second takes the rest of the header for one digest: SHA-256 with an MD5 after
#           it, or with a second value after a comma, is "not verified" without an error, as a damaged body is.
# Output:   the lines of "want"
# Valid by: RFC 9530 sections 2 and 3: a field has one or more digests, of which a recipient may ignore any; section 7.2 (registry
#           of algorithms). RFC 3230 section 4.3.2: Digest is a list of instance digests. RFC 9651 section 4.2.7: a parser
#           should not fail for want of padding.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund httpbis-digest-headers@1.0.0 @digitalbazaar/http-digest-header@2.3.0 \
	>npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >verify.mjs <<'JS'
import { createHash } from "crypto";
import { verifyHeaderValue } from "@digitalbazaar/http-digest-header";
import { verifyContentDigest } from "httpbis-digest-headers";

const body = "act";
const sum = (algorithm) => createHash(algorithm).update(body).digest("base64");
const print = (header) => ["md5", "sha256", "sha512"].reduce((text, algorithm) =>
	text.replace(sum(algorithm), algorithm.toUpperCase()).replace(sum(algorithm).replace("=", ""), `${algorithm.toUpperCase()} without padding`), header);

const [sha256, sha512, md5] = [`sha-256=:${sum("sha256")}:`, `sha-512=:${sum("sha512")}:`, `md5=:${sum("md5")}:`];
for (const header of [sha256, `${sha256}, ${sha512}`, `${sha256}, ${md5}`, `${md5}, ${sha256}`, sha256.replace(/=:$/, ":")]) {
	let result;
	try {
		result = verifyContentDigest(body, header);
	} catch (error) {
		result = error.message;
	}
	console.log(`Content-Digest: ${print(header)} is ${result}`);
}
for (const header of [`SHA-256=${sum("sha256")}`, `SHA-256=${sum("sha256")},MD5=${sum("md5")}`, `MD5=${sum("md5")},SHA-256=${sum("sha256")}`,
	`SHA-256=${sum("sha256")}, SHA-512=${sum("sha512")}`]) {
	const { verified, error } = await verifyHeaderValue({ data: body, headerValue: header });
	console.log(`Digest: ${print(header)} is ${verified}, ${error?.message ?? "no error"}`);
}
JS
node verify.mjs >got

cat >want <<'EOF'
Content-Digest: sha-256=:SHA256: is true
Content-Digest: sha-256=:SHA256:, sha-512=:SHA512: is true
Content-Digest: sha-256=:SHA256:, md5=:MD5: is Unsupported digest algorithm 'md5'.
Content-Digest: md5=:MD5:, sha-256=:SHA256: is Unsupported digest algorithm 'md5'.
Content-Digest: sha-256=:SHA256 without padding: is false
Digest: SHA-256=SHA256 is true, no error
Digest: SHA-256=SHA256,MD5=MD5 is false, no error
Digest: MD5=MD5,SHA-256=SHA256 is false, Algorithm "md5" is not supported.
Digest: SHA-256=SHA256, SHA-512=SHA512 is false, no error
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
