#!/usr/bin/env bash
# Around 65,535 entries readers of ZIP disagree: Perl's refuses exactly that many, and those of Erlang and zziplib list no
# more.
#
# Library:  Archive::Zip 1.68 (Debian libarchive-zip-perl 1.68-1), the module zip of Erlang's stdlib 4.2 (erlang-base
#           1:25.2.3*), unzzip of zziplib 0.13.72 (zziplib-bin 0.13.72*)
# Guess:    all three read 65,535 entries. Beyond that, each reads all of them (ZIP64) or says that it can't.
# Seen:     Archive::Zip has a format error for 65,535 entries without ZIP64 records, and reads 65,534 and 65,536. Erlang's
#           zip:table and unzzip -l give 65,535 entries for 65,536 and for 70,000, without an error. unzip counts them all.
# Output:   the lines of "want"
# Valid by: PKWARE APPNOTE 6.3.10, sections 4.4.21, 4.4.22: the number of entries has two bytes; 4.3.14: a larger one is in the
#           ZIP64 record, and the two bytes are 0xFFFF. With no such record 0xFFFF is the number itself.
#
# Needs python3, whose zipfile writes the archives.
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
deb libarchive-zip-perl 1.68-1
deb erlang-base '1:25.2.3*'
deb zziplib-bin '0.13.72*'
deb unzip '6.0-28*'

cat >write.py <<'PY'
import zipfile
for number in (65534, 65535, 65536, 70000):
    with zipfile.ZipFile("%d.zip" % number, "w") as archive:
        for i in range(number):
            archive.writestr(zipfile.ZipInfo("resources/%d.xml" % i), b"<a/>")
PY
python3 write.py
for number in 65534 65535 65536 70000; do
	file=$number.zip
	echo "$number: unzip $(unzip -l "$file" | tail -1 | awk '{print $2}'),"\
		"Archive::Zip $(perl -MArchive::Zip -e 'Archive::Zip::setErrorHandler(sub {}); my $zip = Archive::Zip->new;
			print $zip->read($ARGV[0]) == 0 ? scalar($zip->members) : "a format error"' "$file"),"\
		"Erlang $(erl -noshell -eval '{ok, [_ | Files]} = zip:table("'"$file"'"), io:format("~p", [length(Files)]), halt().'),"\
		"unzzip $(unzzip -l "$file" 2>/dev/null | wc -l)"
done >got

cat >want <<'EOF'
65534: unzip 65534, Archive::Zip 65534, Erlang 65534, unzzip 65534
65535: unzip 65535, Archive::Zip a format error, Erlang 65535, unzzip 65535
65536: unzip 65536, Archive::Zip 65536, Erlang 65535, unzzip 65535
70000: unzip 70000, Archive::Zip 70000, Erlang 65535, unzzip 65535
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
