#!/usr/bin/env bash
# wget2 requests the URLs of a sitemap with "&amp;" in them, ignores those in CDATA, and reads no compressed sitemap of an index.
#
# Library:  wget2 1.99.1 (Debian 1.99.1-2.2)
# Guess:    entities and CDATA sections are what XML says; the images of the image extension are requested, too, since they have
#           a loc; a sitemap of the index whose name ends in .gz is decompressed.
# Seen:     "&amp;" stays in the URL, and "&#38;", too, whose number sign then begins a fragment, so that the rest is lost; a
#           loc in a CDATA section is ignored, and so is image:loc. Of an index that
#           robots.txt names the compressed sitemap is requested, and none of its URLs.
# Output:   see "want" below
# Valid by: sitemaps.org, "Entity escaping": an ampersand in a URL must be written "&amp;"; sitemaps may be compressed by gzip.
#           XML 1.0 sections 2.7 and 4.6: what a CDATA section and the predefined entities stand for.
#
# Needs the Debian packages wget2 and python3 (a server, to which all requests go).
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
        name = folder + "/site/" + self.path.rpartition("/")[2]
        known = os.path.isfile(name)
        body = open(name, "rb").read() if known else b"x"
        kind = "application/gzip" if name.endswith(".gz") else "application/xml" if name.endswith(".xml") else "text/plain"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open(folder + "/port.new", "w").write(str(server.server_port))
os.rename(folder + "/port.new", folder + "/port")
server.serve_forever()
PY
python3 "$dir/proxy.py" "$dir" &
server=$!
for _ in $(seq 100); do [ -e "$dir/port" ] && break; sleep 0.1; done

mkdir "$dir/site"
urlset() {
	cat <<EOF
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc>http://site.example/$1-plain</loc><image:image><image:loc>http://site.example/$1-image</image:loc></image:image></url>
<url><loc>http://site.example/$1-named?x=1&amp;y=2</loc></url>
<url><loc>http://site.example/$1-number?x=1&#38;y=2</loc></url>
<url><loc><![CDATA[http://site.example/$1-cdata?x=1&y=2]]></loc></url>
</urlset>
EOF
}
urlset one >"$dir/site/one.xml"
urlset two | gzip -n >"$dir/site/two.xml.gz"
cat >"$dir/site/index.xml" <<'EOF'
<?xml version="1.0" encoding="UTF-8"?>
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>http://site.example/one.xml</loc></sitemap>
<sitemap><loc>http://site.example/two.xml.gz</loc></sitemap>
</sitemapindex>
EOF
printf 'User-agent: *\nDisallow:\nSitemap: http://site.example/index.xml\n' >"$dir/site/robots.txt"
wget2 --no-config -q --tries=1 --timeout=20 --max-threads=1 --http-proxy="127.0.0.1:$(cat "$dir/port")" -P "$dir/out" \
	-r http://site.example/ >/dev/null 2>&1 || true
LC_ALL=C sort "$dir/requests" >"$dir/got"

cat >"$dir/want" <<'EOF'
http://site.example/
http://site.example/index.xml
http://site.example/one-named?x=1&amp;y=2
http://site.example/one-number?x=1&
http://site.example/one-plain
http://site.example/one.xml
http://site.example/robots.txt
http://site.example/two.xml.gz
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
