#!/usr/bin/env bash
# WEBrick takes If-Range the wrong way round: if it holds there is no part but a 304, if it does not there is a part.
#
# Library:  WEBrick 1.8.1 (Debian ruby-webrick 1.8.1-1) with Ruby 3.1
# Guess:    a part (206) if the file is the one whose date the client states, otherwise the whole file (200).
# Seen:     the date of the file: 304 without a body, though nothing was asked conditionally. Another date: 206, a part of a file
#           that is not the client's. So a download that stopped can't go on, unless the file has changed, and then the two
#           parts do not belong together.
# Output:   the lines of "want"
# Valid by: RFC 9110 section 13.1.5 (If-Range) and section 13.2.2, step 5: 206 if it holds, 200 if not.
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
deb ruby-webrick 1.8.1-1

mkdir files
printf 'abcdefghij' >files/act.txt
touch -d '2026-11-28T10:20:30Z' files/act.txt
cat >server.rb <<'RUBY'
require 'net/http'
require 'webrick'
server = WEBrick::HTTPServer.new(Port: 0, BindAddress: '127.0.0.1', DocumentRoot: 'files', AccessLog: [],
                                 Logger: WEBrick::Log.new('/dev/null'))
thread = Thread.new { server.start }
port = server.listeners[0].addr[1]
Net::HTTP.start('127.0.0.1', port) do |http|
  [nil, 'Sat, 28 Nov 2026 10:20:30 GMT', 'Fri, 27 Nov 2026 10:20:30 GMT'].each do |date|
    fields = { 'Range' => 'bytes=4-' }
    fields['If-Range'] = date if date
    response = http.get('/act.txt', fields)
    puts "#{date || 'no If-Range'}: #{response.code} #{response.body.inspect}"
  end
end
server.shutdown
thread.join
RUBY
ruby -W0 server.rb >got

cat >want <<'EOF'
no If-Range: 206 "efghij"
Sat, 28 Nov 2026 10:20:30 GMT: 304 nil
Fri, 27 Nov 2026 10:20:30 GMT: 206 "efghij"
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
