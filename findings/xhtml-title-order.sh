#!/usr/bin/env bash
# Two parsers of feeds put the words of an XHTML title in another order: "H<sub>2</sub>O" is HO and then 2.
#
# Library:  XML::FeedPP 0.95 (Debian libxml-feedpp-perl 0.95-1), feedme 2.0.2 (npm)
# Guess:    a title of type xhtml is its markup, or its text "H2O".
# Seen:     feedme joins what stands around the elements to one text and lists the elements beside it; the place of the 2 is
#           lost. If XML::FeedPP makes RSS of it, the elements come last, and two of them in another order.
# Output:   the lines of "want"
# Valid by: RFC 4287 section 3.1.1.3: a text construct of type xhtml has one div with XHTML in it, which is text with elements
#           between.
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
deb libxml-feedpp-perl 0.95-1
npm install --silent --no-audit --no-fund feedme@2.0.2 >npm.log 2>&1 || { cat npm.log >&2; exit 1; }

cat >feed.js <<'JS'
const FeedMe = require("feedme");
const parser = new FeedMe(true);
parser.write(require("fs").readFileSync(0, "utf8"));
const { xmlns, ...title } = parser.done().items[0].title.div;
console.log("feedme:", JSON.stringify(title));
JS
cat >feed.pl <<'PL'
use XML::FeedPP;
my $rss = XML::FeedPP::RSS->new;
$rss->merge(XML::FeedPP->new(join '', <STDIN>));
my ($title) = $rss->to_string =~ m{<item>.*?<title[^>]*>(.*?)</title>}s;
$title =~ s/\s+/ /g;
$title =~ s/ $//;
print "XML::FeedPP: $title\n";
PL
for title in 'H<sub>2</sub>O' 'Act <i>of</i> the <b>year</b> 2026' 'Plain'; do
	cat >feed.atom <<ATOM
<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:feed</id><title>Feed</title><updated>2026-11-28T00:00:00Z</updated>
<author><name>Somebody</name></author><link href="https://example.org/"/>
<entry><id>urn:example:1</id><link href="https://example.org/1"/>
<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">$title</div></title>
<updated>2026-11-28T00:00:00Z</updated></entry></feed>
ATOM
	echo "$title"
	node feed.js <feed.atom
	perl feed.pl <feed.atom
done >got

cat >want <<'EOF'
H<sub>2</sub>O
feedme: {"text":"HO","sub":"2"}
XML::FeedPP: HO<sub>2</sub>
Act <i>of</i> the <b>year</b> 2026
feedme: {"text":"Act  the  2026","i":"of","b":"year"}
XML::FeedPP: Act the 2026<b>year</b> <i>of</i>
Plain
feedme: {"text":"Plain"}
XML::FeedPP: Plain
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
