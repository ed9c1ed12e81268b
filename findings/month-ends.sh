#!/usr/bin/env bash
# Two libraries of ISO 8601 add months wrongly at the end of a month: one shortens the day at each step, one goes past the month.
#
# Library:  metomi-isodatetime 3.0.0 (Debian python3-isodatetime 3.0.0-1), Ruby's iso8601 0.13.0 (ruby-iso8601 0.13.0-1)
# Guess:    31 January and P2M is 31 March; with P1M it is 28 February, the last day that there is.
# Seen:     metomi-isodatetime goes month by month, and a day that was cut in February stays cut: P2M gives 28 March, and P12M
#           not the same as P1Y. Going back it is likewise. iso8601 gives 3 March for P1M, because it adds the days of the month
#           in which it begins; a period that ends on 31 March and lasts P1M begins on 3 March.
# Output:   the lines of "want"
# Valid by: XML Schema Part 2 (second edition) appendix E: months and years are added at once, and then the day is at most the
#           last one of that month. ISO 8601:2004 section 4.4 has durations and periods.
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
deb python3-isodatetime 3.0.0-1
deb ruby '1:3.1*'
deb ruby-iso8601 0.13.0-1

cat >months.py <<'PY'
from metomi.isodatetime.parsers import DurationParser, TimePointParser

for date, duration in (("2026-01-31", "P1M"), ("2026-01-31", "P2M"), ("2026-01-31", "P1Y"), ("2026-01-31", "P12M"),
                       ("2024-02-29", "P4Y"), ("2024-02-29", "P48M"), ("2026-03-31", "-P2M")):
    end = TimePointParser().parse(date) + DurationParser().parse(duration)
    print("metomi-isodatetime:", date, duration, str(end)[:10])
PY
cat >months.rb <<'RUBY'
require 'iso8601'
%w[2026-01-15/P1M 2026-01-31/P1M 2026-01-31/P2M 2026-10-31/P1M P1M/2026-03-31].each do |text|
  period = ISO8601::TimeInterval.parse(text)
  puts "iso8601: #{text} #{period.start_time.to_s[0, 10]} to #{period.end_time.to_s[0, 10]}"
end
RUBY
/usr/bin/python3 months.py >got
ruby -W0 months.rb >>got

cat >want <<'EOF'
metomi-isodatetime: 2026-01-31 P1M 2026-02-28
metomi-isodatetime: 2026-01-31 P2M 2026-03-28
metomi-isodatetime: 2026-01-31 P1Y 2027-01-31
metomi-isodatetime: 2026-01-31 P12M 2027-01-28
metomi-isodatetime: 2024-02-29 P4Y 2028-02-29
metomi-isodatetime: 2024-02-29 P48M 2028-02-28
metomi-isodatetime: 2026-03-31 -P2M 2026-01-28
iso8601: 2026-01-15/P1M 2026-01-15 to 2026-02-15
iso8601: 2026-01-31/P1M 2026-01-31 to 2026-03-03
iso8601: 2026-01-31/P2M 2026-01-31 to 2026-03-31
iso8601: 2026-10-31/P1M 2026-10-31 to 2026-12-01
iso8601: P1M/2026-03-31 2026-03-03 to 2026-03-31
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
