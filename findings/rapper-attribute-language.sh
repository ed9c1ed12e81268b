#!/usr/bin/env bash
# rapper gives a property that is an attribute no language, though xml:lang counts for it.
#
# Library:  rapper 2.0.15 (Debian raptor2-utils 2.0.15-4*)
# Guess:    xml:lang counts for properties that are elements and for those that are attributes.
# Seen:     only for elements: the same statement in its short form is another one, without its language, and a query for one does not
#           find the other.
# Output:   see "want" below
# Valid by: RDF 1.1 XML Syntax section 7.2.11: the literal of a property attribute has the language of its element.
#
# Needs the Debian package raptor2-utils.
set -euo pipefail

need() {
	local have
	dpkg -s "$1" >/dev/null 2>&1 || apt-get install -y -qq "$1" >/dev/null
	have=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null || true)
	case $have in $2) ;; *) echo "this finding is about the Debian package $1 $2, not about '${have:-none}'" >&2; exit 1 ;; esac
}
need raptor2-utils '2.0.15-4*'

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

names='xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/"'
for node in \
	'<rdf:Description rdf:about="http://example.org/1" xml:lang="sv"><e:title>Lag</e:title></rdf:Description>' \
	'<rdf:Description rdf:about="http://example.org/2" xml:lang="sv" e:title="Lag"/>' \
	'<rdf:Description rdf:about="http://example.org/3"><e:part xml:lang="sv" rdf:resource="http://example.org/4" e:title="Lag"/></rdf:Description>'; do
	printf '<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF %s>%s</rdf:RDF>\n' "$names" "$node" >"$dir/act.rdf"
	rapper -q -i rdfxml -o ntriples "$dir/act.rdf" http://example.org/ | grep title
done >"$dir/got"

cat >"$dir/want" <<'EOF'
<http://example.org/1> <http://example.org/title> "Lag"@sv .
<http://example.org/2> <http://example.org/title> "Lag" .
<http://example.org/4> <http://example.org/title> "Lag" .
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
