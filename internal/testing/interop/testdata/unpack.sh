# The files that a program unpacks: unpack.sh FILE PROGRAM
set -e
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
case $2 in
unzip) unzip -q "$1" -d "$dir" ;;
bsdtar) bsdtar -xf "$1" -C "$dir" ;;
7z) 7z x -bso0 -bsp0 -o"$dir" "$1" ;;
esac
cd "$dir"
find . -type f -printf '%P\n' | while read -r f; do
	jq -nc --arg id "$f" --arg sha256 "$(sha256sum <"$f" | cut -c1-64)" --arg updated "$(stat -c %Y "$f")" '{$id, $sha256, $updated}'
done
