#!/usr/bin/env bash
# PyLD ignores the @base of a context if the document was not loaded from a URL, and then drops the statements without an
# error.
#
# Library:  PyLD 2.0.3 (Debian python3-pyld 2.0.3-3)
# Guess:    an absolute @base in the context counts whether or not the caller names a base; "act/1" is
#           https://example.org/eli/act/1.
# Seen:     for a dictionary in memory "act/1" stays relative, so that to_rdf gives no statement at all. With any base in the
#           options, one that is not used for anything, the result is right. @vocab works in both cases.
# Output:   the lines of "want"
# Valid by: JSON-LD 1.1 section 4.1.3: the base IRI of a document can be set by @base in its context. JSON-LD 1.1 API section
#           4.1.2, step 5.7: an IRI as @base sets the base IRI of the context.
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
deb python3-pyld 2.0.3-3

cat >base.py <<'PY'
from pyld import jsonld

for base in ({}, {"@base": "https://example.org/eli/"}):
    for options in ({}, {"base": "https://unused.example/"}):
        document = {"@context": {**base, "@vocab": "https://example.org/terms#"}, "@id": "act/1", "title": "Act"}
        quads = jsonld.to_rdf(document, {"format": "application/n-quads", **options}).strip()
        print("@base" if base else "no @base", "and a base option:" if options else "alone:", quads or "nothing")
PY
/usr/bin/python3 base.py >got

cat >want <<'EOF'
no @base alone: nothing
no @base and a base option: <https://unused.example/act/1> <https://example.org/terms#title> "Act" .
@base alone: nothing
@base and a base option: <https://example.org/eli/act/1> <https://example.org/terms#title> "Act" .
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
