#!/usr/bin/env bash
# A category with an ampersand, R&D, makes the whole feed of jekyll-feed ill-formed; jekyll-sitemap escapes the same URL.
#
# Library:  jekyll-feed 0.17.0 (Debian ruby-jekyll-feed 0.17.0-1), jekyll-sitemap 1.4.0 (ruby-jekyll-sitemap 1.4.0-2), jekyll
#           4.3.1
# Guess:    the URL of the post has "&amp;", or "%26", wherever a document has it.
# Seen:     in one document the id and xml:base of the entry are escaped, and href of its link is not. A parser of XML stops
#           there, so a reader gets none of the site's posts. The sitemap is right.
# Output:   the lines of "want"
# Valid by: RFC 3986 section 3.3: "&" is allowed in a path; XML 1.0 section 2.4: in an attribute it must be escaped.
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
deb jekyll '4.3.1*'
deb ruby-jekyll-feed 0.17.0-1
deb ruby-jekyll-sitemap 1.4.0-2
deb libxml2-utils '2.9.14*'

mkdir -p site/_posts
cat >site/_config.yml <<'YAML'
title: Acts
url: https://example.org
timezone: UTC
plugins: [jekyll-feed, jekyll-sitemap]
YAML
for post in 'old Law' 'new R&D'; do
	printf -- '---\ntitle: Post\ncategories: ["%s"]\n---\nText\n' "${post#* }" >"site/_posts/2026-01-02-${post%% *}.md"
	jekyll build -q --future -s site -d built >jekyll.log 2>&1 || { cat jekyll.log >&2; exit 1; }
	echo "${post#* }"
	for file in feed sitemap; do
		echo "$file.xml: $(xmllint --noout "built/$file.xml" 2>/dev/null && echo well-formed || echo ill-formed)"
		grep -oE '(href="|<id>|xml:base="|<loc>)https://example.org/[^"<]*/2026/[^"<]*new' "built/$file.xml" || true
	done
done >got

cat >want <<'EOF'
Law
feed.xml: well-formed
sitemap.xml: well-formed
R&D
feed.xml: ill-formed
href="https://example.org/r&d/2026/01/02/new
<id>https://example.org/r&amp;d/2026/01/02/new
xml:base="https://example.org/r&amp;d/2026/01/02/new
sitemap.xml: well-formed
<loc>https://example.org/r&amp;d/2026/01/02/new
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
