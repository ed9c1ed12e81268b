#!/usr/bin/env bash
# A gzip response of two members ends with an error in curl, and with half of the document and no error in wget2.
#
# Library:  curl 7.88.1 (Debian 7.88.1-10+deb12u*) and wget2 1.99.1 (Debian 1.99.1-2.2)
# Guess:    both write the first member only and exit 0. curl fails only if the second member arrives in a later packet.
# Seen:     curl --compressed writes the first member and always exits 23, a *write* error, even if the whole body arrives
#           at once. wget2 --compression=gzip writes the first member only and exits 0. gzip -d writes both members.
# Output:   curl: exit 23, 21 bytes; wget2: exit 0, 21 bytes; gzip -d: exit 0, 44 bytes
# Valid by: RFC 9110 section 8.4.1.3: the coding "gzip" is the format of RFC 1952.
#           RFC 1952 section 2.2: a gzip file is a series of members, one after the other.
#
# Needs the Debian packages curl, wget2, gzip and python3 (the server).
set -euo pipefail

need() {
	local have
	dpkg -s "$1" >/dev/null 2>&1 || apt-get install -y -qq "$1" >/dev/null
	have=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null || true)
	case $have in $2) ;; *) echo "this finding is about the Debian package $1 $2, not about '${have:-none}'" >&2; exit 1 ;; esac
}
need curl '7.88.1-10+deb12u*'
need wget2 '1.99.1-2.2'

dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT

{
	printf '<urlset>first member\n' | gzip -n
	printf 'second member</urlset>\n' | gzip -n
} >"$dir/body.gz"

cat >"$dir/server.py" <<'PY'
import http.server, os, sys
folder = sys.argv[1]
body = open(folder + "/body.gz", "rb").read()

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args):
        pass
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
open(folder + "/port.new", "w").write(str(server.server_port))
os.rename(folder + "/port.new", folder + "/port")
server.serve_forever()
PY
python3 "$dir/server.py" "$dir" &
server=$!
for _ in $(seq 100); do [ -e "$dir/port" ] && break; sleep 0.1; done
url="http://127.0.0.1:$(cat "$dir/port")/sitemap.xml"

result() { echo "$1: exit $2, $(wc -c <"$3") bytes"; }
{
	code=0
	curl -q -sS --noproxy '*' --max-time 20 --compressed -o "$dir/curl.xml" "$url" 2>/dev/null || code=$?
	result curl "$code" "$dir/curl.xml"
	code=0
	wget2 --no-config --no-proxy -q --tries=1 --timeout=20 --compression=gzip -O "$dir/wget2.xml" "$url" || code=$?
	result wget2 "$code" "$dir/wget2.xml"
	code=0
	gzip -dc "$dir/body.gz" >"$dir/gzip.xml" || code=$?
	result 'gzip -d' "$code" "$dir/gzip.xml"
} >"$dir/got"

cat >"$dir/want" <<'EOF'
curl: exit 23, 21 bytes
wget2: exit 0, 21 bytes
gzip -d: exit 0, 44 bytes
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
