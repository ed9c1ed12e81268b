#!/usr/bin/env bash
# ROME reads the fraction of a second as a number of milliseconds: nine digits move an Atom entry by 34 hours.
#
# Library:  ROME 1.12.2 (Debian librome-java 1.12.2-1) with OpenJDK 17
# Guess:    one to three digits are right, more are cut off or make the time unreadable.
# Seen:     ".5" is 5 milliseconds, ".50" is 50. Six digits move the time by minutes, nine digits by up to 11.5 days, without an
#           error. (A time at 24:00:00 is the next day; one without a zone is null.)
# Output:   see "want" below
# Valid by: RFC 4287 section 3.3 (its examples have a fraction of two digits) and RFC 3339 section 5.6: time-secfrac = "." 1*DIGIT.
#
# Needs the Debian packages librome-java, libjdom2-java, libslf4j-java and openjdk-17-jdk-headless.
set -euo pipefail

need() {
	dpkg -s "$1" >/dev/null 2>&1 || apt-get install -y -qq "$1" >/dev/null
}
need librome-java
need libslf4j-java
command -v javac >/dev/null || need openjdk-17-jdk-headless
have=$(dpkg-query -W -f '${Version}' librome-java 2>/dev/null || true)
if [ "$have" != 1.12.2-1 ]; then
	echo "this finding is about the Debian package librome-java 1.12.2-1, not about '${have:-none}'" >&2
	exit 1
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/Times.java" <<'EOF'
import com.rometools.rome.io.SyndFeedInput;
import java.io.StringReader;
import java.util.Date;

public class Times {
	public static void main(String[] times) throws Exception {
		for (String time : times) {
			String feed = "<feed xmlns='http://www.w3.org/2005/Atom'><id>urn:example:feed</id><title>Feed</title>"
					+ "<updated>2026-01-01T00:00:00Z</updated><author><name>Somebody</name></author>"
					+ "<entry><id>urn:example:1</id><title>Entry</title><updated>" + time + "</updated><summary>Text</summary></entry></feed>";
			Date got = new SyndFeedInput().build(new StringReader(feed)).getEntries().get(0).getUpdatedDate();
			System.out.println(time + " is " + (got == null ? "null" : got.toInstant()));
		}
	}
}
EOF
jars=/usr/share/java
java -cp "$jars/rome.jar:$jars/rome-utils.jar:$jars/jdom2.jar:$jars/slf4j-api.jar:$jars/slf4j-nop.jar" "$dir/Times.java" \
	2026-11-28T10:20:30Z 2026-11-28T10:20:30.250Z 2026-11-28T10:20:30.5Z 2026-11-28T10:20:30.25Z 2026-11-28T10:20:30.123456Z \
	2026-11-28T10:20:30.123456789+02:00 >"$dir/got"

cat >"$dir/want" <<'EOF'
2026-11-28T10:20:30Z is 2026-11-28T10:20:30Z
2026-11-28T10:20:30.250Z is 2026-11-28T10:20:30.250Z
2026-11-28T10:20:30.5Z is 2026-11-28T10:20:30.005Z
2026-11-28T10:20:30.25Z is 2026-11-28T10:20:30.025Z
2026-11-28T10:20:30.123456Z is 2026-11-28T10:22:33.456Z
2026-11-28T10:20:30.123456789+02:00 is 2026-11-29T18:38:06.789Z
EOF
if ! cmp -s "$dir/want" "$dir/got"; then
	echo "seen before:"; cat "$dir/want"
	echo "now:"; cat "$dir/got"
	exit 1
fi
cat "$dir/got"
