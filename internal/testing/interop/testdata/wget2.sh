# What wget2 downloads by itself, from the sitemap that robots.txt names, and what it downloads in a second run.
set -e
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mirror() { wget2 -q -r -l 5 -N -nH -P files "${1%sitemap.xml}" || [ $? = 8 ]; } # there is no page at /
mirror "$1"
sleep 1
touch first
mirror "$1"
find files -type f ! -name '*.xml' ! -name robots.txt | while read -r f; do
	jq -nc --arg file "$f" --arg sha256 "$(sha256sum <"$f" | cut -c1-64)" --arg updated "$(stat -c %Y "$f")" \
		--arg again "$([ "$(stat -c %Z "$f")" -gt "$(stat -c %Z first)" ] && echo 200 || echo 304)" '{$file, $sha256, $updated, $again}'
done
