#!/usr/bin/env bash
# Catmandu's importer of Atom loses every URL of an entry, and all but the last of its authors.
#
# Library:  Catmandu::Importer::Atom 0.05 with Catmandu 1.2020 (Debian libcatmandu-atom-perl 0.05-2, libcatmandu-perl 1.2020-1)
# Guess:    a record has what the package's data model says: a list of links with rel and href, of categories with term, the author, the
#           content with its type.
# Seen:     each field is the text of the last element of its name: link and category are empty, a
#           content that is out of line leaves nothing. The author is the last one. XHTML and XML lose their tags, a source
#           becomes its texts without spaces between them. White space around an id stays.
# Output:   see "want" below
# Valid by: RFC 4287 section 4.2.7 (the address of a link is in its attribute href), 4.1.2 (an entry may have several authors), 4.1.3
#           (contents with src and with XML), 4.2.11 (source).
#
# Needs the Debian packages libcatmandu-atom-perl and libcatmandu-perl.
set -euo pipefail

need() {
	local have
	dpkg -s "$1" >/dev/null 2>&1 || apt-get install -y -qq "$1" >/dev/null
	have=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null || true)
	case $have in $2) ;; *) echo "this finding is about the Debian package $1 $2, not about '${have:-none}'" >&2; exit 1 ;; esac
}
need libcatmandu-atom-perl '0.05-2*'
need libcatmandu-perl '1.2020-1*'

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/feed.atom" <<'EOF'
<?xml version="1.0"?>
<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:feed</id><title>Acts</title><updated>2026-01-02T03:04:05Z</updated>
<entry><id>urn:example:1</id><title>Act 1</title><updated>2026-01-02T03:04:05Z</updated><author><name>A clerk</name></author>
<author><name>B clerk</name></author><link rel="alternate" href="https://www.example.org/1"/><link rel="enclosure" href="https://www.example.org/1.pdf"/>
<category term="tax"/><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><h1>Tax</h1><p>Five of <b>100</b></p></div></content>
<source><id>urn:example:source</id><title>All acts</title><updated>2025-01-02T03:04:05Z</updated></source></entry>
<entry><id>urn:example:2</id><title>Act 2</title><updated>2026-01-02T03:04:05Z</updated><author><name>A clerk</name></author>
<summary>As a file.</summary><content type="application/pdf" src="https://www.example.org/2.pdf"/></entry></feed>
EOF
cat >"$dir/run.pl" <<'EOF'
use strict;
use warnings;
use Catmandu::Importer::Atom;
use JSON::PP;

my $json = JSON::PP->new->canonical;
Catmandu::Importer::Atom->new(url => "file:feed.atom")->each(sub { print $json->encode($_[0]), "\n" });
EOF
(cd "$dir" && perl run.pl 2>"$dir/errors") >"$dir/got" || { cat "$dir/errors" >&2; exit 1; }

cat >"$dir/want" <<'EOF'
{"author":"B clerk","category":"","content":"TaxFive of 100","id":"urn:example:1","link":"","source":"urn:example:sourceAll acts2025-01-02T03:04:05Z","title":"Act 1","updated":"2026-01-02T03:04:05Z"}
{"author":"A clerk","content":"","id":"urn:example:2","summary":"As a file.","title":"Act 2","updated":"2026-01-02T03:04:05Z"}
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
