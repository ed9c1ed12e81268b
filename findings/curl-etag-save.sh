#!/usr/bin/env bash
# curl --etag-save stores the ETag of every response of a redirect chain, and --etag-compare sends them joined, so nothing is ever 304.
#
# Library:  curl 7.88.1 (Debian 7.88.1-10+deb12u*)
# Guess:    the file holds the ETag of the last response, the one whose body is saved.
# Seen:     the file holds one line for each response. The next run sends both tags without a comma in one If-None-Match,
#           to both URLs: it matches neither. If only the redirect has an ETag, the file holds the tag of the redirect.
#           A 503 without an ETag empties the file (the guess was: the file stays), so the run after it sends an empty tag.
# Output:   see "want" below
# Valid by: RFC 9110 section 8.8.3 (any response may have an ETag), 15.4.3 (302), 15.6.4 (503), 13.1.2 (If-None-Match).
#
# Needs the Debian packages curl and python3 (the server).
set -euo pipefail

need() {
	local have
	dpkg -s "$1" >/dev/null 2>&1 || apt-get install -y -qq "$1" >/dev/null
	have=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null || true)
	case $have in $2) ;; *) echo "this finding is about the Debian package $1 $2, not about '${have:-none}'" >&2; exit 1 ;; esac
}
need curl '7.88.1-10+deb12u*'

dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT

cat >"$dir/server.py" <<'PY'
import http.server, os, sys
folder = sys.argv[1]
answers = {  # path: status, ETag, Location
    "/latest": (302, '"redirect"', "/page"),
    "/page": (200, '"page"', None),
    "/latest-plain": (302, '"redirect"', "/plain"),
    "/plain": (200, None, None),
    "/busy": (503, None, None),
}

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args):
        pass
    def do_GET(self):
        status, etag, location = answers[self.path]
        asked = self.headers.get("If-None-Match")
        with open(folder + "/log", "a") as log:
            log.write("  GET %s If-None-Match: %s\n" % (self.path, asked))
        if status == 200 and etag and asked == etag:
            status = 304
        self.send_response(status)
        if etag:
            self.send_header("ETag", etag)
        if location:
            self.send_header("Location", location)
        if status != 304:
            self.send_header("Content-Length", "4")
        self.end_headers()
        if status != 304:
            self.wfile.write(b"body")

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
open(folder + "/port.new", "w").write(str(server.server_port))
os.rename(folder + "/port.new", folder + "/port")
server.serve_forever()
PY
python3 "$dir/server.py" "$dir" &
server=$!
for _ in $(seq 100); do [ -e "$dir/port" ] && break; sleep 0.1; done
base="http://127.0.0.1:$(cat "$dir/port")"

# run NAME PATH: one conditional download, with the file that the last run of this name left
run() {
	local status
	: >"$dir/log"
	touch "$dir/etag.$1"
	status=$(curl -q -sS --noproxy '*' --max-time 20 -L -o /dev/null -w '%{http_code}' \
		--etag-compare "$dir/etag.$1" --etag-save "$dir/etag.$1" "$base$2")
	echo "$2 -> $status, file: $(paste -sd '|' "$dir/etag.$1")"
	cat "$dir/log"
}
{
	echo "no redirect"
	run a /page
	run a /page
	echo "redirect"
	run b /latest
	run b /latest
	echo "redirect to a page without an ETag"
	run c /latest-plain
	echo "an error between two downloads"
	run d /page
	run d /busy
	run d /page
} >"$dir/got"

cat >"$dir/want" <<'EOF'
no redirect
/page -> 200, file: "page"
  GET /page If-None-Match: ""
/page -> 304, file: "page"
  GET /page If-None-Match: "page"
redirect
/latest -> 200, file: "redirect"|"page"
  GET /latest If-None-Match: ""
  GET /page If-None-Match: ""
/latest -> 200, file: "redirect"|"page"
  GET /latest If-None-Match: "redirect""page"
  GET /page If-None-Match: "redirect""page"
redirect to a page without an ETag
/latest-plain -> 200, file: "redirect"
  GET /latest-plain If-None-Match: ""
  GET /plain If-None-Match: ""
an error between two downloads
/page -> 200, file: "page"
  GET /page If-None-Match: ""
/busy -> 503, file: 
  GET /busy If-None-Match: "page"
/page -> 200, file: "page"
  GET /page If-None-Match: ""
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
