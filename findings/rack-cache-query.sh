#!/usr/bin/env bash
# Rack::Cache sorts the parameters of a query, so that two URLs share one answer, and serves from the cache what varies by "*".
#
# Library:  Rack::Cache 1.2 (Debian ruby-rack-cache 1.2-4.1) with Rack 2.2.22 (ruby-rack 2.2.22*)
# Guess:    each URL has its own entry in the cache, and a response with "Vary: *" is never reused.
# Seen:     ?x=1&x=2 and ?x=2&x=1 are one entry: the second gets the answer of the first; so do ?a=1&b=2 and ?b=2&a=1, and
#           ?a=%31 and ?a=1. The order of different names, which few applications heed, and that of the values of one name,
#           which many do, are treated alike. A response with "Vary: *" is stored and found.
# Output:   the lines of "want"
# Valid by: RFC 9111 section 4 (the URIs must match) and section 4.1 (a stored Vary with "*" never matches). RFC 3986 section
#           6.2.2 has all that makes two URIs equivalent by syntax: not the order of a query.
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
deb ruby '1:3.1*'
deb ruby-rack '2.2.22*'
deb ruby-rack-cache 1.2-4.1

cat >cache.rb <<'RUBY'
require 'rack'
require 'rack/mock'
require 'rack/cache'
count = 0
app = lambda do |env|
  count += 1
  fields = { 'Cache-Control' => 'public, max-age=600', 'Content-Type' => 'text/plain' }
  fields['Vary'] = '*' if env['PATH_INFO'] == '/star'
  [200, fields, ["answer #{count} for #{env['QUERY_STRING']}"]]
end
client = Rack::MockRequest.new(Rack::Cache.new(app, metastore: 'heap:/', entitystore: 'heap:/', verbose: false))
%w[/acts?x=1&x=2 /acts?x=2&x=1 /acts?a=1&b=2 /acts?b=2&a=1 /acts?b=2&a=%31 /acts?a=1&b=3 /star /star].each do |url|
  response = client.get("http://example.org#{url}")
  puts "#{url}: #{response.body.strip} (#{response['X-Rack-Cache']})"
end
RUBY
ruby -W0 cache.rb >got

cat >want <<'EOF'
/acts?x=1&x=2: answer 1 for x=1&x=2 (miss, store)
/acts?x=2&x=1: answer 1 for x=1&x=2 (fresh)
/acts?a=1&b=2: answer 2 for a=1&b=2 (miss, store)
/acts?b=2&a=1: answer 2 for a=1&b=2 (fresh)
/acts?b=2&a=%31: answer 2 for a=1&b=2 (fresh)
/acts?a=1&b=3: answer 3 for a=1&b=3 (miss, store)
/star: answer 4 for (miss, store)
/star: answer 4 for (fresh)
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
