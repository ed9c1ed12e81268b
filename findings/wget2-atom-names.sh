#!/usr/bin/env bash
# wget2 requests the namespace name and the ids of an Atom feed as if they were links, and takes relative links for host names.
#
# Library:  wget2 1.99.1 (Debian 1.99.1-2.2)
# Guess:    --force-atom requests what link and content link to, and the icon; relative links are resolved against xml:base. With
#           --base they are resolved against that instead.
# Seen:     it requests the namespace names in xmlns and xmlns:x, the ids of the feed and of its entries, the URL of the generator,
#           and the links. The links "second" and "/third" are requested as http://second/ and http://third/. With --base
#           nothing is resolved either; instead only URLs below that base are requested ("not matching sitemap location").
# Output:   see "want" below
# Valid by: RFC 4287 section 4.2.6: an id is a name, and nothing says that it can be dereferenced. Section 2: xml:base is the
#           base of relative references. Namespaces in XML 1.0 section 3: nor is that a goal of namespace names.
#
# Needs the Debian packages wget2 and python3 (a proxy that answers all requests, so that none leaves the machine).
set -euo pipefail

dpkg -s wget2 >/dev/null 2>&1 || apt-get install -y -qq wget2 >/dev/null
have=$(dpkg-query -W -f '${Version}' wget2 2>/dev/null || true)
if [ "$have" != 1.99.1-2.2 ]; then
	echo "this finding is about the Debian package wget2 1.99.1-2.2, not about '${have:-none}'" >&2
	exit 1
fi

dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT

cat >"$dir/proxy.py" <<'PY'
import http.server, os, sys
folder = sys.argv[1]

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass
    def do_GET(self):
        with open(folder + "/requests", "a") as f:
            f.write(self.path + "\n")
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", "1")
        self.end_headers()
        self.wfile.write(b"x")

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open(folder + "/port.new", "w").write(str(server.server_port))
os.rename(folder + "/port.new", folder + "/port")
server.serve_forever()
PY
python3 "$dir/proxy.py" "$dir" &
server=$!
for _ in $(seq 100); do [ -e "$dir/port" ] && break; sleep 0.1; done

cat >"$dir/feed.atom" <<'EOF'
<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:x="http://extension.example/ns" xml:base="http://base.example/news/">
<id>http://ids.example/feed</id><title>Feed</title><updated>2026-01-02T00:00:00Z</updated><author><name>Somebody</name></author>
<generator uri="http://generator.example/">generator</generator>
<entry><id>http://ids.example/1</id><title>1</title><updated>2026-01-01T00:00:00Z</updated><link href="http://links.example/1"/><summary>1</summary></entry>
<entry><id>http://ids.example/2</id><title>2</title><updated>2026-01-02T00:00:00Z</updated><link href="second"/><summary>2</summary></entry>
<entry><id>http://ids.example/3</id><title>3</title><updated>2026-01-02T00:00:00Z</updated><link href="/third"/><summary>3</summary></entry>
</feed>
EOF
get() {
	: >"$dir/requests"
	wget2 --no-config -q --tries=1 --timeout=20 --max-threads=1 --http-proxy="127.0.0.1:$(cat "$dir/port")" -P "$dir/out" \
		--force-atom -i "$dir/feed.atom" "$@" >/dev/null 2>&1 || true
	LC_ALL=C sort "$dir/requests"
}
{
	echo "without a base:"
	get
	echo "with a base:"
	get --base=http://ids.example/
} >"$dir/got"

cat >"$dir/want" <<'EOF'
without a base:
http://extension.example/ns
http://generator.example/
http://ids.example/1
http://ids.example/2
http://ids.example/3
http://ids.example/feed
http://links.example/1
http://second/
http://third/
http://www.w3.org/2005/Atom
with a base:
http://ids.example/1
http://ids.example/2
http://ids.example/3
http://ids.example/feed
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
