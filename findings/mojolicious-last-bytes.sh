#!/usr/bin/env bash
# Mojolicious answers a request for the last ten bytes of a file with the first eleven.
#
# Library:  Mojolicious 9.31 (Debian libmojolicious-perl 9.31+dfsg-1)
# Guess:    "bytes=-10" is the last ten bytes; other static servers give these.
# Seen:     bytes=-10 is read as 0-10: the status is 206, and Content-Range states the wrong bytes truly, so that only a client
#           that compares it notices. bytes=990- and bytes=990-999 are right. A client that looks for the directory at the end
#           of a ZIP file finds the first entry there.
# Output:   the lines of "want"
# Valid by: RFC 9110 section 14.1.2: "-" and a number is the suffix of that length.
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
deb libmojolicious-perl 9.31+dfsg-1

cat >ranges.pl <<'PL'
use Mojolicious::Lite -signatures;
use Test::Mojo;
use Mojo::File 'path';
path('public')->make_path->child('act.txt')->spurt(join '', map { sprintf '%05d', $_ } 0 .. 199);
app->static->paths(['public']);
app->log->level('fatal');
my $ua = Test::Mojo->new->ua;
for my $range ('990-999', '990-', '-10', '-1') {
    my $response = $ua->get('/act.txt' => {Range => "bytes=$range"})->result;
    printf "bytes=%s: %d, %s, \"%s\"\n", $range, $response->code, $response->headers->content_range, $response->body;
}
PL
perl ranges.pl >got

cat >want <<'EOF'
bytes=990-999: 206, bytes 990-999/1000, "0019800199"
bytes=990-: 206, bytes 990-999/1000, "0019800199"
bytes=-10: 206, bytes 0-10/1000, "00000000010"
bytes=-1: 206, bytes 0-1/1000, "00"
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
