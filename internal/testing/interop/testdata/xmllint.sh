# The entries of a sitemap, or of the parts of an index, by XPath.
set -e
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
field() { xmllint --xpath "string((//*[local-name()='$2'])[$3]/*[local-name()='$4'])" "$1"; }
number() { seq "$(xmllint --xpath "count(//*[local-name()='$2'])" "$1")"; }
read_list() {
	local doc=$dir/$2
	curl -sS "$1" >"$doc"
	for i in $(number "$doc" url); do
		jq -nc --arg id "$(field "$doc" url "$i" loc)" --arg updated "$(field "$doc" url "$i" lastmod)" '{$id, $updated}'
	done
	for n in $(number "$doc" sitemap); do
		read_list "$(field "$doc" sitemap "$n" loc)" "$2.$n"
	done
}
read_list "$1" list
