#!/usr/bin/env bash
# Erlang's calendar subtracts the fraction of a second before 1970: it reads 23:59:58.5 as 23:59:57.5.
#
# Library:  module calendar of Erlang/OTP 25 (Debian erlang-base 1:25.2.3+dfsg-1+deb12u*)
# Guess:    the fraction is added to the second, whatever the year.
# Seen:     before 1970 it is subtracted: on 31 December 1969, 23:59:58.5 comes before 23:59:58. Writing makes the same mistake the
#           other way, so that a round trip shows nothing: 0.5 seconds before 1970 are written as half a second after its
#           beginning. Without a fraction, and since 1970, all is right.
# Output:   the lines of "want"
# Valid by: RFC 3339 section 5.6: time-secfrac is a part of the second that precedes it; section 1 has the years 0000 to 9999.
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
deb erlang-base '1:25.2.3+dfsg-1+deb12u*'

cat >times.escript <<'ERL'
#!/usr/bin/env escript
main(_) ->
    Unit = {unit, millisecond},
    Texts = ["1970-01-01T00:00:01Z", "1970-01-01T00:00:01.5Z", "1969-12-31T23:59:58Z", "1969-12-31T23:59:58.5Z",
             "1969-12-31T23:59:59Z", "1956-06-28T00:00:00.25+01:00", "1956-06-28T00:00:00+01:00"],
    [io:format("~s is ~w ms~n", [Text, calendar:rfc3339_to_system_time(Text, [Unit])]) || Text <- Texts],
    [io:format("~w ms is ~s~n", [Time, calendar:system_time_to_rfc3339(Time, [Unit, {offset, "Z"}])]) || Time <- [500, -500, -1500]].
ERL
HOME=$dir escript times.escript >got

cat >want <<'EOF'
1970-01-01T00:00:01Z is 1000 ms
1970-01-01T00:00:01.5Z is 1500 ms
1969-12-31T23:59:58Z is -2000 ms
1969-12-31T23:59:58.5Z is -2500 ms
1969-12-31T23:59:59Z is -1000 ms
1956-06-28T00:00:00.25+01:00 is -426387600250 ms
1956-06-28T00:00:00+01:00 is -426387600000 ms
500 ms is 1970-01-01T00:00:00.500Z
-500 ms is 1970-01-01T00:00:00.500Z
-1500 ms is 1969-12-31T23:59:59.500Z
EOF
diff -u want got >&2 || { echo 'the behaviour has changed' >&2; exit 1; }
cat got
