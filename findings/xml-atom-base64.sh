#!/usr/bin/env bash
# Perl's XML::Atom decodes the text of a content element as Base64 if the element has no type attribute.
#
# Library:  XML::Atom 0.43 (Debian libxml-atom-perl 0.43-1)
# Guess:    a content element without a type is text, like one with type="text".
# Seen:     the body is what a Base64 decoder makes of the letters in it: "plain" is three bytes that are no text, and "12 kap.
#           3 §" is four. With type="text" the text is right, and so are titles and summaries without a type.
# Output:   the lines of "want": the bodies' bytes in hexadecimal
# Valid by: RFC 4287 section 4.1.3.1: without a type and a src attribute, the type is "text".
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
deb libxml-atom-perl 0.43-1

cat >content.pl <<'PL'
use strict;
use utf8;
use XML::Atom::Entry;
binmode STDOUT, ':utf8';
for my $text ('plain', 'Act', '12 kap. 3 §') {
    for my $type (' type="text"', '') {
        my $entry = qq(<entry xmlns="http://www.w3.org/2005/Atom"><id>urn:example:1</id><title>$text</title>)
            . qq(<updated>2026-11-28T00:00:00Z</updated><author><name>Somebody</name></author><content$type>$text</content></entry>);
        utf8::encode($entry);
        my $read = XML::Atom::Entry->new(\$entry);
        my $body = $read->content->body;
        my $title = $read->title;
        utf8::encode($body) if utf8::is_utf8($body);
        utf8::decode($title) unless utf8::is_utf8($title);
        print "<content$type>$text: title ", $title eq $text ? 'right' : 'wrong', ', body ', unpack('H*', $body), "\n";
    }
}
PL
perl content.pl >got

cat >want <<'EOF'
<content type="text">plain: title right, body 706c61696e
<content>plain: title right, body a656a2
<content type="text">Act: title right, body 416374
<content>Act: title right, body 01cb
<content type="text">12 kap. 3 §: title right, body 3132206b61702e203320c2a7
<content>12 kap. 3 §: title right, body d7691aa7
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
