# The bodies that a sitemap lists, each requested twice.
set -e
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
locs() { curl -sSf --compressed "$1" | grep -o '<loc>[^<]*' | sed 's/<loc>//; s/&amp;/\&/g'; }
for part in $(locs "$1"); do
	for url in $(locs "$part"); do
		rm -f "$dir/body" "$dir/etag"
		curl -sSf --compressed -R --etag-save "$dir/etag" -o "$dir/body" "$url"
		again=$(curl -sSf --etag-compare "$dir/etag" -z "$dir/body" -o "$dir/again" -w '%{http_code}' "$url")
		jq -nc --arg id "$url" --arg sha256 "$(sha256sum <"$dir/body" | cut -c1-64)" --arg updated "$(stat -c %Y "$dir/body")" \
			--arg again "$again" '{$id, $sha256, $updated, $again}'
	done
done
