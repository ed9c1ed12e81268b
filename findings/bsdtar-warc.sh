#!/usr/bin/env bash
# bsdtar lists a WARC by paths without hosts: pages of two sites become one file, and those that end in "/" none.
#
# Library:  libarchive 3.6.2 (Debian libarchive-tools 3.6.2-1+deb12u*)
# Guess:    each response and resource is a file, named by host and path as mirrors name them, and an extracted one is what the
#           server sent as content.
# Seen:     the host is left out, so that /robots.txt of two sites is listed twice and extracted once, the last one. "/" and
#           "/acts/" are not listed, nor is a urn:, and of a file whose URIs are in the angle brackets of the grammar, as wget
#           writes them, nothing at all. There is no warning, and the status is 0. A response is extracted with its HTTP header
#           before it.
# Output:   the lines of "want"
# Valid by: WARC 1.0 (ISO 28500:2009) section 5.12 (WARC-Target-URI), with "<" and ">" as in the grammar of section 4 and without as
#           in the examples of annex C; section 6.3.2: the payload of a response is its content without the header.
#
# Needs python3.
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

deb() { # PACKAGE VERSION
	local version
	dpkg -s "$1" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "$1" >/dev/null
	version=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo absent)
	case $version in $2) echo "$1 $version" ;; *) echo "written for $1 $2, found $version" >&2; exit 1 ;; esac
}
deb libarchive-tools '3.6.2-1+deb12u*'

cat >write.py <<'PY'
import uuid

def record(kind, uri, block, content_type):
    name = uuid.uuid5(uuid.NAMESPACE_URL, uri).urn
    return (f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {uri}\r\nWARC-Date: 2026-11-28T10:20:30Z\r\n"
            f"WARC-Record-ID: <{name}>\r\nContent-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n{block}\r\n\r\n").encode()

def response(uri, text):
    block = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n\r\n{text}"
    return record("response", uri, block, "application/http;msgtype=response")

with open("web.warc", "wb") as file:
    file.write(response("https://a.example/robots.txt", "of a\n"))
    file.write(response("https://b.example/robots.txt", "of b\n"))
    file.write(response("https://a.example/", "root\n"))
    file.write(response("https://a.example/acts/", "acts\n"))
    file.write(record("resource", "urn:example:act:1", "act 1\n", "text/plain"))
    file.write(record("resource", "https://a.example/plain.txt", "plain\n", "text/plain"))
with open("brackets.warc", "wb") as file:
    file.write(response("<https://a.example/robots.txt>", "of a\n"))
    file.write(record("resource", "<https://a.example/plain.txt>", "plain\n", "text/plain"))
PY
python3 write.py
mkdir files
{
	echo 'listed:'
	bsdtar -tf web.warc 2>&1 && echo "status $?"
	echo 'listed, with brackets:'
	bsdtar -tf brackets.warc 2>&1 && echo "status $?"
	bsdtar -xf web.warc -C files
	for file in files/*; do
		echo "extracted, ${file#files/}:"
		tr -d '\r' <"$file"
	done
} >got

cat >want <<'EOF'
listed:
robots.txt
robots.txt
plain.txt
status 0
listed, with brackets:
status 0
extracted, plain.txt:
plain
extracted, robots.txt:
HTTP/1.1 200 OK
Content-Type: text/plain
Content-Length: 5

of b
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
