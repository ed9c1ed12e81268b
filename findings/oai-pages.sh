#!/usr/bin/env bash
# Perl's HTTP::OAI follows all resumption tokens, and then gives the records of the last list only to the loop of its manual.
#
# Library:  HTTP::OAI 4.12 (Debian libhttp-oai-perl 4.12-1)
# Guess:    "while (my $record = $response->next)" goes through all records of the answer, whatever the number of its lists.
# Seen:     ListRecords requests all three lists before it returns; next gives the one record of the last. There is no error,
#           and the size of the complete list, 5, is in each answer. A callback onRecord is called for all five. If there is one
#           list only, both ways agree, so a test with a small repository passes.
# Output:   the lines of "want"
# Valid by: OAI-PMH 2.0 section 3.5: the incomplete lists of a sequence of resumptionTokens, the last of them empty, make up the
#           complete list.
#
# Needs python3 (a server on this machine).
set -euo pipefail

dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"

deb() { # PACKAGE VERSION
	local version
	dpkg -s "$1" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "$1" >/dev/null
	version=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo absent)
	case $version in $2) echo "$1 $version" ;; *) echo "written for $1 $2, found $version" >&2; exit 1 ;; esac
}
deb libhttp-oai-perl 4.12-1

cat >server.py <<'PY'
import http.server, os, urllib.parse

IDENTIFY = """<Identify><repositoryName>Acts</repositoryName><baseURL>http://127.0.0.1:%d/</baseURL>
<protocolVersion>2.0</protocolVersion><adminEmail>somebody@example.org</adminEmail><earliestDatestamp>2026-01-01T00:00:00Z</earliestDatestamp>
<deletedRecord>no</deletedRecord><granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>"""
RECORD = """<record><header><identifier>oai:example.org:%d</identifier><datestamp>2026-11-28T00:00:00Z</datestamp></header><metadata>
<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>Act</dc:title></oai_dc:dc></metadata></record>"""
LISTS = {"": ((1, 2), "two"), "two": ((3, 4), "three"), "three": ((5,), "")}

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass
    def do_GET(self):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        verb, body = query["verb"], IDENTIFY % server.server_port
        if verb == "ListRecords":
            with open("requests", "a") as log:
                log.write("x\n")
            numbers, token = ((1, 2, 3, 4, 5), "") if query.get("set") else LISTS[query.get("resumptionToken", "")]
            body = "<ListRecords>%s<resumptionToken completeListSize='5'>%s</resumptionToken></ListRecords>" % (
                "".join(RECORD % n for n in numbers), token)
        answer = ("<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'><responseDate>2026-11-28T00:00:00Z</responseDate>"
                  "<request verb='%s'>http://127.0.0.1/</request>%s</OAI-PMH>" % (verb, body)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open("port.new", "w").write(str(server.server_port))
os.rename("port.new", "port")
server.serve_forever()
PY
python3 server.py &
server=$!
for _ in $(seq 100); do [ -e port ] && break; sleep 0.1; done

cat >harvest.pl <<'PL'
use strict;
use HTTP::OAI;
my ($url, $way, @set) = @ARGV;
my $harvester = HTTP::OAI::Harvester->new(baseURL => $url);
$harvester->repository($harvester->Identify);
my @ids;
my @callback = $way eq 'callback' ? (onRecord => sub { push @ids, $_[0]->identifier }) : ();
my $response = $harvester->ListRecords(metadataPrefix => 'oai_dc', @set, @callback);
die $response->message if $response->is_error;
if ($way eq 'loop') {
    while (my $record = $response->next) { push @ids, $record->identifier }
}
print join(' ', map { /(\d+)$/ } @ids), "\n";
PL
url=http://127.0.0.1:$(cat port)/
{
	echo "one list, loop: $(perl harvest.pl "$url" loop set all)"
	echo "one list, callback: $(perl harvest.pl "$url" callback set all)"
	rm requests
	echo "three lists, loop: $(perl harvest.pl "$url" loop), $(wc -l <requests) requests"
	rm requests
	echo "three lists, callback: $(perl harvest.pl "$url" callback), $(wc -l <requests) requests"
} >got

cat >want <<'EOF'
one list, loop: 1 2 3 4 5
one list, callback: 1 2 3 4 5
three lists, loop: 5, 3 requests
three lists, callback: 1 2 3 4 5, 3 requests
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
