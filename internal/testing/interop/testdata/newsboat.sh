# What newsboat has in its cache after it has read a feed.
set -e
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME=$home XDG_CONFIG_HOME=$home XDG_DATA_HOME=$home
mkdir "$home/newsboat"
echo "$1" >"$home/newsboat/urls"
newsboat -x reload >/dev/null
sqlite3 -json "$(find "$home" -name cache.db)" 'SELECT guid AS id, url AS link, title, content AS summary, pubDate AS published,
	author, enclosure_url AS enclosure FROM rss_item' | jq -c '.[] | .summary |= gsub("&lt;"; "<") | .summary |= gsub("&amp;"; "&")'
