#!/usr/bin/env bash
# rdflib drops the time zone of an xsd:date, so three different statements of a graph become one.
#
# Library:  rdflib 6.1.1 (Debian python3-rdflib 6.1.1-1)
# Guess:    rdflib can't read the zone of a date, so the literal keeps its text. (It keeps that of a gYearMonth.)
# Seen:     "2020-01-01Z", "2020-01-01+02:00" and "2020-01-01" are all stored as "2020-01-01"^^xsd:date. N-Triples with three
#           statements gives a graph of one, without a warning. xsd:time and xsd:dateTime keep their zone.
# Output:   3 statements in, 1 out: "2020-01-01"^^xsd:date; times: 2 in, 2 out
# Valid by: XML Schema 1.1 part 2 section 3.3.9: a date may have a time zone, and the value depends on it.
#           RDF 1.1 Concepts section 3.3: two literals are equal only if their lexical forms are.
#
# Needs the Debian package python3-rdflib.
set -euo pipefail

dpkg -s python3-rdflib >/dev/null 2>&1 || apt-get install -y -qq python3-rdflib >/dev/null
have=$(dpkg-query -W -f '${Version}' python3-rdflib 2>/dev/null || true)
if [ "$have" != 6.1.1-1 ]; then
	echo "this finding is about the Debian package python3-rdflib 6.1.1-1, not about '${have:-none}'" >&2
	exit 1
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
type=http://www.w3.org/2001/XMLSchema#
for date in 2020-01-01 2020-01-01Z 2020-01-01+02:00; do
	echo "<https://example.org/eli/1> <http://data.europa.eu/eli/ontology#date_document> \"$date\"^^<${type}date> ."
done >"$dir/dates.nt"
for time in 08:00:00Z 08:00:00+02:00; do
	echo "<https://example.org/eli/1> <https://example.org/opens> \"$time\"^^<${type}time> ."
done >"$dir/times.nt"

cat >"$dir/run.py" <<'PY'
import sys
import rdflib
for name in ("dates", "times"):
    path = "%s/%s.nt" % (sys.argv[1], name)
    graph = rdflib.Graph().parse(path, format="nt")
    print(name + ":", sum(1 for _ in open(path)), "in,", len(graph), "out:", *sorted(str(o) for o in graph.objects()))
PY
/usr/bin/python3 "$dir/run.py" "$dir" >"$dir/got"

cat >"$dir/want" <<'EOF'
dates: 3 in, 1 out: 2020-01-01
times: 2 in, 2 out: 08:00:00+00:00 08:00:00+02:00
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
