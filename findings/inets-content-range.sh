#!/usr/bin/env bash
# Erlang's web server writes Content-Range with "=" in place of the space, and ETags without quotes.
#
# Library:  httpd of inets in Erlang/OTP 25 (Debian erlang-inets 1:25.2.3+dfsg-1+deb12u*), with mod_range,
#           mod_responsecontrol and mod_get
# Guess:    Content-Range: bytes 4-9/10, as everywhere, and an ETag in quotes.
# Seen:     "bytes=4-9/10", the syntax of the request. A client that compares the range before it appends the rest of a download
#           gives up. The ETag has no quotes, so that a client which checks the syntax must drop it; sent back in quotes,
#           it does not match.
# Output:   the lines of "want"
# Valid by: RFC 9110 section 14.4 (range-unit SP range-resp) and section 8.8.3 (opaque-tag is in quotes). The requests are valid by
#           sections 14.2 and 13.1.2.
#
# Needs python3 (the client).
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
deb erlang-base '1:25.2.3+dfsg-1+deb12u*'
deb erlang-inets '1:25.2.3+dfsg-1+deb12u*'

mkdir files
printf 'abcdefghij' >files/act.txt
cat >client.py <<'PY'
import http.client, re, sys

def get(fields):
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
    connection.request("GET", "/act.txt", headers=fields)
    response = connection.getresponse()
    return response, response.read().decode()

response, body = get({"Range": "bytes=4-"})
print(response.status, body, "Content-Range:", response.getheader("Content-Range"))
tag = response.getheader("ETag") or get({})[0].getheader("ETag")
print("the ETag", "has" if tag.startswith('"') else "has no", "quotes")
print("sent back as it is:", get({"If-None-Match": tag})[0].status)
print("sent back in quotes:", get({"If-None-Match": '"%s"' % tag})[0].status)
PY
cat >serve.erl <<'ERL'
-module(serve).
-export([main/0]).
main() ->
    {ok, _} = application:ensure_all_started(inets),
    {ok, Pid} = inets:start(httpd, [{port, 0}, {bind_address, {127, 0, 0, 1}}, {server_name, "example.org"}, {server_root, "."},
        {document_root, "files"}, {modules, [mod_alias, mod_range, mod_responsecontrol, mod_get]}]),
    [{port, Port}] = httpd:info(Pid, [port]),
    io:put_chars(os:cmd("python3 client.py " ++ integer_to_list(Port))),
    halt().
ERL
erlc serve.erl
HOME=$dir erl -noshell -run serve main >got

cat >want <<'EOF'
206 efghij Content-Range: bytes=4-9/10
the ETag has no quotes
sent back as it is: 304
sent back in quotes: 200
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
