#!/usr/bin/env bash
# Perl's two RDF libraries drop the empty properties of RDF/XML, all but the first, and give their type to the next text.
#
# Library:  RDF::Trine 1.019 (Debian librdf-trine-perl 1.019-3), Attean 0.033 (libattean-perl 0.033-1), raptor2-utils 2.0.15 as
#           the other reader
# Guess:    <e:a/> is a statement whose object is an empty text, every time; xml:lang="" ends a language.
# Seen:     an empty element is a statement only if it is the first literal of the document. Others are dropped, but if one has
#           a datatype, the next text gets it, in place of its language. xml:lang="" is not heeded: the text has the language
#           of the element around it. In an XML literal &lt; and &amp; are < and &, so that it is not XML. Both do all of it,
#           though one is the successor of the other.
# Output:   the lines of "want"
# Valid by: RDF 1.1 XML Syntax sections 7.2.21 (an empty property element is an empty literal), 2.7 (xml:lang="" means that there
#           is no language) and 7.2.17 (the object is the canonical form of the XML).
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
deb librdf-trine-perl 1.019-3
deb libattean-perl 0.033-1
deb raptor2-utils '2.0.15-4*'

cat >acts.rdf <<'XML'
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/ns#" xml:lang="sv">
<rdf:Description rdf:about="urn:act:1"><e:a/><e:b/></rdf:Description>
<rdf:Description rdf:about="urn:act:2"><e:page rdf:datatype="http://www.w3.org/2001/XMLSchema#anyURI"/><e:title>Lag</e:title></rdf:Description>
<rdf:Description rdf:about="urn:act:3"><e:title>Lag</e:title><e:number xml:lang="">2026:1</e:number></rdf:Description>
<rdf:Description rdf:about="urn:act:4"><e:xml rdf:parseType="Literal">if a &lt; b &amp; c</e:xml></rdf:Description>
</rdf:RDF>
XML
cat >trine.pl <<'PL'
use strict;
use RDF::Trine;
my $model = RDF::Trine::Model->temporary_model;
RDF::Trine::Parser->new('rdfxml')->parse_file_into_model('http://example.org/', 'acts.rdf', $model);
print RDF::Trine::Serializer->new('ntriples')->serialize_model_to_string($model);
PL
cat >attean.pl <<'PL'
use strict;
use Attean;
open my $file, '<:raw', 'acts.rdf' or die $!;
my $parser = Attean->get_parser('RDFXML')->new(base => Attean::IRI->new('http://example.org/'));
print Attean->get_serializer('NTriples')->new->serialize_iter_to_bytes($parser->parse_iter_from_io($file));
PL
{
	echo 'RDF::Trine:'
	perl trine.pl | LC_ALL=C sort
	echo 'Attean:'
	perl attean.pl | LC_ALL=C sort
	echo 'rapper:'
	rapper -q -i rdfxml -o ntriples acts.rdf | LC_ALL=C sort
} >got

cat >want <<'EOF'
RDF::Trine:
<urn:act:1> <http://example.org/ns#a> ""@sv .
<urn:act:2> <http://example.org/ns#title> "Lag"^^<http://www.w3.org/2001/XMLSchema#anyURI> .
<urn:act:3> <http://example.org/ns#number> "2026:1"@sv .
<urn:act:3> <http://example.org/ns#title> "Lag"@sv .
<urn:act:4> <http://example.org/ns#xml> "if a < b & c"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral> .
Attean:
<urn:act:1> <http://example.org/ns#a> ""@sv .
<urn:act:2> <http://example.org/ns#title> "Lag"^^<http://www.w3.org/2001/XMLSchema#anyURI> .
<urn:act:3> <http://example.org/ns#number> "2026:1"@sv .
<urn:act:3> <http://example.org/ns#title> "Lag"@sv .
<urn:act:4> <http://example.org/ns#xml> "if a < b & c"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral> .
rapper:
<urn:act:1> <http://example.org/ns#a> ""@sv .
<urn:act:1> <http://example.org/ns#b> ""@sv .
<urn:act:2> <http://example.org/ns#page> ""^^<http://www.w3.org/2001/XMLSchema#anyURI> .
<urn:act:2> <http://example.org/ns#title> "Lag"@sv .
<urn:act:3> <http://example.org/ns#number> "2026:1" .
<urn:act:3> <http://example.org/ns#title> "Lag"@sv .
<urn:act:4> <http://example.org/ns#xml> "if a &lt; b &amp; c"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral> .
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
