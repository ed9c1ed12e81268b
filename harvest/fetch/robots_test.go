package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// TestRobots is a table of the rules and the examples of RFC 9309. In a case, each line
// after the file is a target and what is expected of it: "+" allowed, "-" forbidden.
// Other agents than websync stand before their target.
func TestRobots(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		targets    []string
	}{
		{"§2.1 a group ends at a user-agent line or at the end of the file", `
User-agent: a
Disallow: /a

Disallow: /b
User-agent: b
Disallow: /c`, []string{"-a:/a", "-a:/b", "+a:/c", "+b:/a", "+b:/b", "-b:/c"}},
		{"§2.1 the last group may have no rules", `
User-agent: *
Disallow: /
User-agent: websync`, []string{"+/a", "-a:/a"}},
		{"§2.2 white space where the grammar has it", " \tUser-agent \t: \twebsync \t# x\n\tDisallow\t:\t/a \n", []string{"-/a", "+/b"}},
		{"§2.2 no white space where it may be missing", "User-agent:websync#x\nDisallow:/a#x\n", []string{"-/a", "+/b"}},
		{"§2.2 empty lines and comments among the lines of a group", `
User-agent: a

# and
   # also
User-agent: websync

Disallow: /a

Disallow: /b`, []string{"-a:/a", "-/a", "-/b"}},
		{"§2.2 octets of UTF-8 and others", "User-agent: *\nDisallow: /\u00e5\nDisallow: /\xff", []string{"-/%C3%A5", "-/%c3%a5x", "+/%E5", "-/%FF"}},
		{"§2.2 a name has letters, hyphens and underscores", `
User-agent: a-b_C
Disallow: /`, []string{"-A-B_c:/", "+a-b:/"}},
		{"§2.2 an asterisk is no part of a name", `
User-agent: web*
Disallow: /a
User-agent: *sync
Disallow: /b`, []string{"-web:/a", "+/a", "+/b"}},

		{"§2.2.1 the group that names the agent, and no other", `
User-agent: *
Disallow: /
User-agent: websync
Disallow: /private`, []string{"+/", "+/a", "-/private", "-/private/a", "-/privateer"}},
		{"§2.2.1 case does not matter", `
USER-AGENT: WebSync
DISALLOW: /a`, []string{"-/a", "+/A", "-WEBSYNC:/a"}},
		{"§2.2.1 the name ends at what can't be in it", `
User-agent: websync/2.0 (beta)
Disallow: /a
User-agent: websyncer
Disallow: /b
User-agent: web
Disallow: /c
User-agent: x websync
Disallow: /d`, []string{"-/a", "+/b", "+/c", "+/d"}},
		{"§2.2.1 merging: the example", `
user-agent: ExampleBot
disallow: /foo
disallow: /bar

user-agent: ExampleBot
disallow: /baz`, []string{"-ExampleBot:/foo", "-ExampleBot:/bar", "-ExampleBot:/baz", "+/foo"}},
		{"§2.2.1 nobody's group: the example", `
user-agent: *
disallow: /foo
disallow: /bar

user-agent: BazBot
disallow: /baz`, []string{"-ExampleBot:/foo", "-ExampleBot:/bar", "+ExampleBot:/baz", "-BazBot:/baz", "+BazBot:/foo"}},
		{"§2.2.1 no group, no rules", `
User-agent: other
Disallow: /`, []string{"+/a"}},
		{"§2.2.1 no file, no rules", ``, []string{"+/a"}},
		{"§2.2.1 several agents for one group", `
User-agent: other
User-agent: websync
User-agent: third
Disallow: /a`, []string{"-/a", "+/b", "-other:/a", "-third:/a"}},
		{"§2.2.1 all others and one by name in one group", `
User-agent: *
User-agent: websync
Disallow: /a
User-agent: third
Disallow: /b`, []string{"-/a", "-other:/a", "+third:/a"}},
		{"§2.2.1 groups of one agent are one, others between them or not", `
User-agent: websync
Disallow: /a
User-agent: other
Disallow: /b
User-agent: WEBSYNC
Disallow: /c
User-agent: *
Disallow: /d
User-agent: *
Disallow: /e`, []string{"-/a", "+/b", "-/c", "+/d", "-third:/d", "-third:/e", "+third:/a"}},
		{"§2.2.1 rules of merged groups compete", `
User-agent: websync
Disallow: /a
User-agent: other
User-agent: websync
Allow: /a/b`, []string{"-/a", "+/a/b"}},

		{"§2.2.2 rules before any group are none", `
Disallow: /
User-agent: *
Disallow: /a`, []string{"+/b", "-/a"}},
		{"§2.2.2 the first octet of the path", `
User-agent: *
Disallow: /a
Disallow: b`, []string{"-/a", "+/b", "+/b/a"}},
		{"§2.2.2 the longest match wins", `
User-agent: *
Disallow: /a/b
Allow: /a
Allow: /a/b/c
Disallow: /a/b/c/d`, []string{"+/a", "-/a/b", "+/a/b/c", "-/a/b/c/d"}},
		{"§2.2.2 order does not matter", `
User-agent: *
Allow: /a/b/c
Disallow: /a/b/c/d
Disallow: /a/b
Allow: /a`, []string{"+/a", "-/a/b", "+/a/b/c", "-/a/b/c/d"}},
		{"§2.2.2 length is in octets as they are compared", `
User-agent: *
Disallow: /` + "\u30c4" + `
Allow: /*****
Disallow: /%61%61%61
Allow: /aaa*
Disallow: /b,,c
Allow: /b***`, []string{"-/%E3%83%84", "+/aaa", "-/b,,c"}},
		{"§2.2.2 equal: allow", `
User-agent: *
Disallow: /a
Allow: /a
Allow: /b
Disallow: /b
Disallow: /c
Allow: /%63`, []string{"+/a", "+/b", "+/c"}},
		{"§2.2.2 rules may be there twice", `
User-agent: *
Disallow: /a
Disallow: /a`, []string{"-/a", "+/b"}},
		{"§2.2.2 no match: allowed", `
User-agent: *
Disallow: /a`, []string{"+/", "+/b", "+"}},
		{"§2.2.2 an empty path forbids nothing and allows nothing", `
User-agent: *
Disallow:
Allow:
Disallow: # nothing
Disallow: /a`, []string{"+/", "-/a"}},
		{"§2.2.2 case matters", `
User-agent: *
Disallow: /Fish`, []string{"-/Fish", "+/fish"}},
		{"§2.2.2 the query counts", `
User-agent: *
Disallow: /a?b`, []string{"+/a", "+/a?", "+/a?c", "-/a?b=c"}},
		{"§2.2.2 robots.txt itself", `
User-agent: *
Disallow: /`, []string{"+/robots.txt", "-/robots.txt.bak", "-/a/robots.txt"}},
		{"§2.2.2 encoding, row 1", `
User-agent: *
Disallow: /foo/bar?baz=quz`, []string{"-/foo/bar?baz=quz", "+/foo/bar?baz=qu", "+/foo/bar"}},
		{"§2.2.2 encoding, row 2", `
User-agent: *
Disallow: /foo/bar?baz=https://foo.bar
Disallow: /foo/qux?baz=https%3A%2F%2Ffoo.bar`, []string{
			"-/foo/bar?baz=https://foo.bar", "-/foo/bar?baz=https%3A%2F%2Ffoo.bar", "-/foo/bar?baz=https%3a//foo.bar",
			"-/foo/qux?baz=https://foo.bar", "-/foo/qux?baz=https%3A%2F%2Ffoo.bar", "+/foo/bar?baz=https:"}},
		{"§2.2.2 encoding, row 3", `
User-agent: *
Disallow: /foo/bar/` + "\u30c4", []string{"-/foo/bar/\u30c4", "-/foo/bar/%E3%83%84", "-/foo/bar/%e3%83%84", "+/foo/bar/%E3%83%85"}},
		{"§2.2.2 encoding, row 4", `
User-agent: *
Disallow: /foo/bar/%E3%83%84`, []string{"-/foo/bar/\u30c4", "-/foo/bar/%E3%83%84", "-/foo/bar/%e3%83%84", "+/foo/bar/%E3%83%85"}},
		{"§2.2.2 encoding, row 5", `
User-agent: *
Disallow: /foo/bar/%62%61%7A`, []string{"-/foo/bar/baz", "-/foo/bar/%62%61%7A", "-/foo/bar/%62az", "+/foo/bar/qux"}},
		{"§2.2.2 an encoded delimiter is none", `
User-agent: *
Disallow: /a%2Fb
Disallow: /c/d
Disallow: /e%252Ff
Disallow: /g%3Fh
Disallow: /i?j%26k`, []string{
			"-/a%2fb", "+/a/b", "-/c/d", "+/c%2Fd", "-/e%252Ff", "+/e%2Ff", "-/g%3fh", "+/g?h", "-/i?j%26k", "+/i?j&k"}},
		{"§2.2.2 other reserved characters", `
User-agent: *
Disallow: /a%3Bb
Disallow: /c,d
Disallow: /e=f`, []string{"-/a;b", "-/a%3bb", "-/c%2Cd", "-/c,d", "-/e=f", "-/e%3Df"}},
		{"§2.2.2 a percent sign that encodes nothing", `
User-agent: *
Disallow: /100%
Disallow: /%zz`, []string{"-/100%25", "-/%25zz", "+/100"}},

		{"§2.2.3 number sign: the examples", `
User-agent: *
Disallow: /
allow: /a # comment in line
# comment on its own line
#Allow: /b
Allow: /c#d`, []string{"+/a", "-/b", "+/c", "+/cx"}},
		{"§2.2.3 dollar: the example", `
User-agent: *
Disallow: /
allow: /this/path/exactly$`, []string{"+/this/path/exactly", "-/this/path/exactly/", "-/this/path/exactly?a", "-/this/path"}},
		{"§2.2.3 asterisk: the example", `
User-agent: *
Disallow: /
allow: /this/*/exactly`, []string{"+/this/a/exactly", "+/this/a/b/exactly/c", "+/this//exactly", "-/this/exactly", "-/this/a/exact"}},
		{"§2.2.3 asterisk", `
User-agent: *
Disallow: /a*c
Disallow: *.gif
Disallow: /x/*/y/*/z
Disallow: /q*?*r`, []string{
			"-/ac", "-/abbbc", "-/a/b/cd", "+/ab", "-/q/x.gif?a", "-/x/1/y/2/z", "+/x/y/z", "-/x//y//z", "-/q?r", "-/qq?x=r", "+/qr"}},
		{"§2.2.3 asterisks alone", `
User-agent: *
Disallow: **
Allow: /a**b***`, []string{"-/", "-/a", "+/ab", "+/axbx"}},
		{"§2.2.3 dollar", `
User-agent: *
Disallow: /a$
Disallow: /b*c$
Disallow: /d$e
Disallow: /f*$`, []string{"-/a", "+/ab", "+/a?b", "-/bc", "-/bcc", "-/b/c", "+/bcd", "-/d$e", "-/d$ef", "+/d", "-/f", "-/fg"}},
		{"§2.2.3 only home", `
User-agent: *
Allow: /$
Disallow: /`, []string{"+/", "+", "-/a", "-/?a"}},
		{"§2.2.3 special characters, percent-encoded: the examples", `
User-agent: *
Disallow: /path/file-with-a-%2A.html
Disallow: /path/foo-%24`, []string{
			"-/path/file-with-a-*.html", "-/path/file-with-a-%2a.html", "+/path/file-with-a-x.html", "-/path/foo-$", "-/path/foo-%24x", "+/path/foo-"}},
		{"§2.2.3 an asterisk counts as an octet", `
User-agent: *
Disallow: /a*
Allow: /a`, []string{"-/ab"}},

		{"§2.2.4 a Sitemap does not end a group", `
User-agent: websync
Disallow: /a
Sitemap: https://example.org/sitemap.xml
Disallow: /b
User-agent: *
Disallow: /c`, []string{"-/a", "-/b", "+/c", "+other:/a"}},
		{"§2.2.4 nor a list of agents", `
User-agent: websync
Sitemap: https://example.org/sitemap.xml
User-agent: other
Disallow: /a`, []string{"-/a", "-other:/a"}},
		{"§2.2.4 nor Crawl-delay", `
User-agent: websync
Crawl-delay: 10
User-agent: other
Disallow: /a
Crawl-delay: 5
Disallow: /b`, []string{"-/a", "-/b", "-other:/a", "-other:/b"}},
		{"§2.2.4 nor Host, Clean-param, Content-Signal, Request-rate and unknown records", `
User-agent: websync
Host: example.org
Clean-param: a /b
Content-Signal: search=yes
Request-rate: 1/5
Unknown: x

# comment
User-agent: other
Noindex: /c
Disallow: /a`, []string{"-/a", "+/c", "-other:/a"}},

		{"§2.3.1.5 lines that can't be read are skipped, the others count", `
nonsense
: /x
User-agent
User-agent: websync
Disallow /a
Disalow: /b
` + "\x00\x01: \x02" + `
Disallow: /c
= / ?
Disallow: /d`, []string{"+/a", "+/b", "-/c", "-/d"}},
		{"§2.3.1.5 a page instead", `<!DOCTYPE html><html><head><title>Log in: here</title>
<style>a { color: red }</style>`, []string{"+/a"}},

		{"§5.1 simple example", `
            User-Agent: *
            Disallow: *.gif$
            Disallow: /example/
            Allow: /publications/

            User-Agent: foobot
            Disallow:/
            Allow:/example/page.html
            Allow:/example/allowed.gif

            User-Agent: barbot
            User-Agent: bazbot
            Disallow: /example/page.html

            User-Agent: quxbot

            EOF`, []string{
			"-/a.gif", "+/a.gif?", "-/example/page.html", "+/publications/a", "+/publications/a/b.gif", "+/other",
			"-foobot:/", "-foobot:/publications/a", "+foobot:/example/page.html", "+foobot:/example/page.html?a", "+foobot:/example/allowed.gif",
			"-barbot:/example/page.html", "+barbot:/example/a", "+barbot:/a.gif", "-bazbot:/example/page.html", "+bazbot:/",
			"+quxbot:/", "+quxbot:/example/page.html"}},
		{"§5.2 longest match", `
            User-Agent: foobot
            Allow: /example/page/
            Disallow: /example/page/disallowed.gif`, []string{
			"+foobot:/example/page/", "+foobot:/example/page/disallow.gif", "-foobot:/example/page/disallowed.gif", "+/example/page/disallowed.gif"}},
	} {
		for how, text := range map[string]string{
			"LF": tt.text, "CR LF": strings.ReplaceAll(tt.text, "\n", "\r\n"), "CR": strings.ReplaceAll(tt.text, "\n", "\r"),
			"byte-order mark": "\ufeff" + strings.TrimSpace(tt.text),
		} {
			for _, target := range tt.targets {
				agent, path, named := strings.Cut(target[1:], ":/")
				if path = "/" + path; !named || strings.ContainsAny(agent, "/?") {
					agent, path = "websync", target[1:]
				}
				u, err := parseURL("http://example.org" + path)
				require.NoError(t, err)
				rule := parseRobots(text, agent).match(u)
				assert.Equal(t, target[0] == '+', allows(rule), "%s (%s): %s", tt.name, how, target)
			}
		}
	}
}

// allows reports whether a rule, or that there is none, allows a URL.
func allows(rule *robotsRule) bool { return rule == nil || rule.allow }

// §2.2.1: the product token of a User-Agent.
func TestRobotsName(t *testing.T) {
	for agent, want := range map[string]string{
		"": "websync", "Lawbot/2": "Lawbot", "Law_bot-X": "Law_bot-X", "lawbot2/1": "lawbot",
		"Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)": "ExampleBot",
		"Mozilla/5.0 (X11; Linux) Gecko":                                             "Mozilla",
	} {
		w := newWeb()
		w.answers[robotsURL] = reply(200, "User-agent: "+want+"\nDisallow: /a")
		c := w.obedient()
		c.UserAgent = agent
		_, err := get(t.Context(), c, "http://example.org/a")
		require.ErrorIs(t, err, harvest.ErrForbidden, agent)
		_, err = get(t.Context(), c, "http://example.org/b")
		require.ErrorIs(t, err, websync.ErrGone, agent)
		assert.Contains(t, w.seen[0].Header.Get("User-Agent"), want, "§2.2.1: the name is part of the header")
	}
}

func TestRobotsRule(t *testing.T) {
	r := parseRobots("# a\r\nUser-agent: *\r\n\r\nDisallow: /%70rivate*\r\nAllow: /private/x", "websync")
	rule := r.match(&url.URL{Path: "/private/a"})
	assert.Equal(t, 4, rule.line)
	assert.Equal(t, "Disallow: /%70rivate*", rule.String())
	rule = r.match(&url.URL{Path: "/private/x"})
	assert.Equal(t, "Allow: /private/x", rule.String())
	assert.Equal(t, `Disallow: /a"\x1b[2J`, (&robotsRule{path: "/a\"\x1b[2J"}).String())
	assert.Nil(t, new(robotsRules).match(&url.URL{Path: "/"}))
}

// §2.2.4: Crawl-delay is valid for all agents of its group.
func TestRobotsOther(t *testing.T) {
	text := `Sitemap: https://example.org/a.xml
Crawl-delay: 60
User-agent: *
Crawl-delay: 7
SITEMAP:/b.xml
Sitemap:
Disallow: /a
User-agent: websync
Crawl-delay: 2.5
Crawl-delay: 1
Allow: /
User-agent: x
Crawl-delay: 9
User-agent: y
Sitemap: c
Allow: /
User-agent: z`
	r := parseRobots(text, "WebSync")
	assert.Equal(t, 2500*time.Millisecond, r.crawlDelay)
	assert.Equal(t, 7*time.Second, parseRobots(text, "other").crawlDelay)
	assert.Equal(t, 9*time.Second, parseRobots(text, "y").crawlDelay, "before the agent, in its group")
	assert.Equal(t, time.Duration(0), parseRobots(text, "z").crawlDelay)
	for text, want := range map[string]time.Duration{"0": 0, "-1": 0, "soon": 0, "1e3": 0, "NaN": 0, "10 s": 0, "60": time.Minute, "86400": time.Minute, "999999999999999999999": time.Minute} {
		assert.Equal(t, want, parseRobots("User-agent: *\nCrawl-delay: "+text, "websync").crawlDelay, text)
	}
}

// §2.5: bytes beyond 500 KiB do not count, nor does the line that is cut there.
func TestRobotsLength(t *testing.T) {
	require.GreaterOrEqual(t, robotsBytes, 500*1024)
	filler := strings.Repeat("#", robotsBytes-len("User-agent: *\nDisallow: /a\n\n")-len("Disallow: /")) + "\n"
	text := "User-agent: *\nDisallow: /a\n" + filler + "Disallow: /b\nDisallow: /c\n"
	r := parseRobots(text, "websync")
	for path, want := range map[string]bool{"/a": false, "/b": true, "/c": true} {
		assert.Equal(t, want, allows(r.match(&url.URL{Path: path})), path)
	}
	r = parseRobots(strings.Repeat("x", robotsBytes+5), "websync")
	assert.Empty(t, r.rules)
}

// A robots.txt without end is read up to the limit.
func TestRobotsWithoutEnd(t *testing.T) {
	w := newWeb()
	w.answers[robotsURL] = func(r *http.Request) (*http.Response, error) {
		resp, err := reply(200, "")(r)
		resp.ContentLength = -1
		resp.Body = io.NopCloser(readerFunc(func(p []byte) (int, error) { return copy(p, "Disallow: /\n"), nil }))
		return resp, err
	}
	w.answers["http://example.org/a"] = reply(200, "x")
	c := w.obedient()
	var read int64
	c.OnAttempt = func(_ context.Context, a harvest.AttemptInfo) { read = max(read, a.Bytes) }
	mustGet(t, c, "http://example.org/a")
	assert.InDelta(t, robotsBytes, read, 100)
}

func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /%41\nCrawl-delay: 1.5\nSitemap: x", "/a%2Fb?c=d")
	f.Add("\ufeffuser-agent:websync\r\rdisallow:*\xff%\r\nallow:%2", "/\xe3\x83\x84")
	f.Add(strings.Repeat("User-agent: *\nDisallow: /*a*a*a*a*a*b\n", 10), "/"+strings.Repeat("a", 100))
	f.Fuzz(func(t *testing.T, text, path string) {
		r := parseRobots(text, "websync")
		if r.crawlDelay < 0 || r.crawlDelay > crawlDelayCap {
			t.Error(r.crawlDelay)
		}
		lines := 1 + strings.Count(text, "\n") + strings.Count(text, "\r")
		if rule := r.match(&url.URL{Path: path}); rule != nil && (rule.line < 1 || rule.line > lines) {
			t.Errorf("line %d of %d", rule.line, lines)
		}
		once, q := canonical(path, inPath)
		twice, _ := canonical(once, inPath)
		if once != twice || len(once) > 3*len(path) || (q == inQuery) != strings.Contains(path, "?") {
			t.Errorf("%q", once)
		}
		if !allows(r.match(&url.URL{Path: "/robots.txt"})) {
			t.Error("robots.txt is always allowed")
		}
	})
}

// obedient returns a Client that reads robots.txt.
func (w *web) obedient() *Client {
	c := w.client()
	c.IgnoreRobots = false
	return c
}

const robotsURL = "http://example.org/robots.txt"

func TestForbidden(t *testing.T) {
	w := newWeb()
	w.answers[robotsURL] = reply(200, "User-agent: websync\nDisallow: /private\n")
	w.answers["http://example.org/"] = reply(200, "x")
	w.answers["http://example.org/moved"] = reply(302, "", "Location: /private/b")
	w.answers["http://other.example/moved"] = reply(302, "", "Location: http://example.org/private/b")
	c := w.obedient()
	for _, url := range []string{"http://example.org/private/list.xml", "http://example.org/moved", "http://other.example/moved"} {
		_, err := get(t.Context(), c, url)
		require.ErrorIs(t, err, harvest.ErrForbidden)
		require.ErrorContains(t, err, "http://example.org/robots.txt, line 2: Disallow: /private")
	}
	mustGet(t, c, "http://example.org/")
	assert.Len(t, w.times(robotsURL), 1)
	for _, r := range w.seen {
		assert.NotContains(t, r.URL, "/private")
	}

	c = w.obedient()
	c.UserAgent = "Other/1.0"
	mustFail404(t, c, "http://example.org/private/list.xml")
	c = w.client()
	mustFail404(t, c, "http://example.org/private/list.xml")
}

func mustFail404(t *testing.T, c *Client, url string) {
	t.Helper()
	_, err := get(t.Context(), c, url)
	require.ErrorIs(t, err, websync.ErrGone)
}

// How answers for robots.txt are treated (RFC 9309 §2.3.1).
func TestRobotsAnswers(t *testing.T) {
	deny := "User-agent: *\nDisallow: /"
	for _, tt := range []struct {
		name   string
		answer answer
		err    error
		asked  int
	}{
		{"§2.3.1.1 rules", reply(200, deny), harvest.ErrForbidden, 1},
		{"§2.3.1.1 in gzip", reply(200, zip(t, deny), "Content-Encoding: gzip"), harvest.ErrForbidden, 1},
		{"§2.3.1.1 of another media type", reply(200, deny, "Content-Type: text/html"), harvest.ErrForbidden, 1},
		{"§2.3.1.1 empty", reply(200, ""), nil, 1},
		{"§2.3.1.2 one redirect", reply(301, "", "Location: http://www.example.org/r1"), harvest.ErrForbidden, 1},
		{"§2.3.1.2 five redirects", reply(302, "", "Location: http://www.example.org/r5"), harvest.ErrForbidden, 1},
		{"§2.3.1.2 six redirects", reply(301, "", "Location: http://www.example.org/r6"), nil, 1},
		{"§2.3.1.2 a redirect to nowhere", reply(301, ""), nil, 1},
		{"§2.3.1.2 redirects in a circle", reply(301, "", "Location: /robots.txt"), nil, 1},
		{"§2.3.1.2 a redirect to what is not there", reply(301, "", "Location: http://www.example.org/gone"), nil, 1},
		{"§2.3.1.2 a redirect to a private address", reply(301, "", "Location: http://10.0.0.1/"), harvest.ErrForbidden, 1},
		{"§2.3.1.3 400", reply(400, deny), nil, 1},
		{"§2.3.1.3 401", reply(401, deny), nil, 1},
		{"§2.3.1.3 403", reply(403, deny), nil, 1},
		{"§2.3.1.3 404", reply(404, deny), nil, 1},
		{"§2.3.1.3 410", reply(410, deny), nil, 1},
		{"§2.3.1.3 451", reply(451, deny), nil, 1},
		{"§2.3.1.3 499", reply(499, deny), nil, 1},
		{"§2.3.1.3 204, which has no file either", reply(204, ""), nil, 1},
		{"§2.3.1.3 429 may pass: stricter than it must be", reply(429, ""), harvest.ErrTemporary, 4},
		{"§2.3.1.3 408 likewise", reply(408, ""), harvest.ErrTemporary, 4},
		{"§2.3.1.4 500", reply(500, ""), harvest.ErrTemporary, 4},
		{"§2.3.1.4 501", reply(501, ""), harvest.ErrTemporary, 1},
		{"§2.3.1.4 503", reply(503, ""), harvest.ErrTemporary, 4},
		{"§2.3.1.4 505", reply(505, ""), harvest.ErrTemporary, 1},
		{"§2.3.1.4 599", reply(599, ""), harvest.ErrTemporary, 1},
		{"§2.3.1.4 no connection", fail(io.EOF), harvest.ErrTemporary, 4},
		{"§2.3.1.4 no such name", fail(&net.DNSError{IsNotFound: true}), harvest.ErrTemporary, 1},
		{"§2.3.1.4 cut short", cutShort(deny), harvest.ErrTemporary, 4},
		{"§2.3.1.4 500 once", then(reply(500, ""), reply(404, "")), nil, 2},
		{"§2.3.1.4 500 after a redirect", reply(301, "", "Location: http://www.example.org/broken"), harvest.ErrTemporary, 4},
		{"§2.5 long", reply(200, strings.Repeat("# comment\n", robotsBytes/10)+deny), nil, 1},
		{"§2.5 just short enough", reply(200, strings.Repeat("# comment\n", robotsBytes/10-4)+deny), harvest.ErrForbidden, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb()
				w.answers[robotsURL] = tt.answer
				for i := 2; i < 7; i++ {
					w.answers[fmt.Sprintf("http://www.example.org/r%d", i)] = reply(301, "", fmt.Sprintf("Location: r%d", i-1))
				}
				w.answers["http://www.example.org/r1"] = reply(200, deny)
				w.answers["http://www.example.org/broken"] = reply(500, "")
				w.answers["http://www.example.org/robots.txt"] = reply(200, deny) // not for a robots.txt of another host
				w.answers["http://example.org/a"] = reply(200, "x")
				_, err := get(t.Context(), w.obedient(), "http://example.org/a")
				if tt.err == nil {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, tt.err)
					require.ErrorContains(t, err, "robots.txt")
					assert.Empty(t, w.times("http://example.org/a"))
				}
				assert.Len(t, w.times(robotsURL), tt.asked)
			})
		})
	}
}

// §2.3.1.4: while robots.txt is unreachable nothing is fetched. It is requested again
// after a minute, then less often, and after thirty days it forbids nothing.
func TestRobotsUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers[robotsURL] = reply(500, "")
		w.answers["http://example.org/a"] = reply(200, "x")
		c := w.obedient()
		c.Attempts = 1
		for i := range 3 {
			_, err := get(t.Context(), c, "http://example.org/a")
			at, ok := harvest.RetryAfter(err)
			require.True(t, ok)
			assert.Equal(t, time.Minute, at.Sub(w.began))
			assert.Equal(t, i > 0, errors.Is(err, harvest.ErrNotYet), "only the first made a request")
			assert.Equal(t, 1, strings.Count(err.Error(), "http://"), "%v", err)
			assert.ErrorContains(t, err, "fetch: http://example.org/a: robots.txt is unreachable, which forbids all requests to the host: ")
			assert.ErrorContains(t, err, "500 Internal Server Error")
			time.Sleep(10 * time.Second)
		}
		assert.Len(t, w.times(robotsURL), 1)
		for time.Since(w.began) < 4*time.Hour {
			time.Sleep(10 * time.Second)
			get(t.Context(), c, "http://example.org/a")
		}
		sameTimes(t, []float64{0, 60, 120, 240, 480, 960, 1920, 3840, 7440, 11040}, w.times(robotsURL))
		time.Sleep(29 * 24 * time.Hour)
		_, err := get(t.Context(), c, "http://example.org/a")
		require.ErrorIs(t, err, harvest.ErrTemporary)
		time.Sleep(25 * time.Hour)
		mustGet(t, c, "http://example.org/a")
		w.answers[robotsURL] = reply(200, "User-agent: *\nDisallow: /")
		time.Sleep(time.Hour)
		_, err = get(t.Context(), c, "http://example.org/a")
		require.ErrorIs(t, err, harvest.ErrForbidden)
	})
}

// §2.4: rules are used for a day, then requested again conditionally, and still apply
// while the host is unreachable.
func TestRobotsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers[robotsURL] = then(
			reply(200, "User-agent: *\nDisallow: /b", `ETag: "1"`), reply(304, ""), reply(500, ""), reply(500, ""), reply(404, ""))
		w.answers["http://example.org/a"] = reply(200, "x")
		w.answers["http://example.org/b"] = reply(200, "x")
		c := w.obedient()
		c.Attempts = 1
		forbidden := func() {
			t.Helper()
			mustGet(t, c, "http://example.org/a")
			_, err := get(t.Context(), c, "http://example.org/b")
			require.ErrorIs(t, err, harvest.ErrForbidden)
		}
		forbidden()
		time.Sleep(24*time.Hour - time.Second)
		forbidden()
		require.Len(t, w.times(robotsURL), 1)
		time.Sleep(time.Second)
		forbidden()
		require.Len(t, w.times(robotsURL), 2)
		time.Sleep(24 * time.Hour)
		forbidden()
		require.Len(t, w.times(robotsURL), 3)
		time.Sleep(time.Minute)
		forbidden()
		require.Len(t, w.times(robotsURL), 4)
		time.Sleep(time.Minute)
		mustGet(t, c, "http://example.org/b")
		var sent []string
		for _, r := range w.seen {
			if r.URL == robotsURL {
				sent = append(sent, r.Header.Get("If-None-Match"))
			}
		}
		assert.Equal(t, []string{"", `"1"`, `"1"`, `"1"`, `"1"`}, sent)
	})
}

// Concurrent calls fetch robots.txt once, and its request counts for the interval.
func TestRobotsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers[robotsURL] = slow(2 * time.Second)
		w.answers["http://example.org/a"] = reply(200, "x")
		c := w.obedient()
		c.Rate = 1
		for _, err := range all(t, c, repeat("http://example.org/a", 10)...) {
			require.NoError(t, err)
		}
		assert.Len(t, w.times(robotsURL), 1)
		sameTimes(t, []float64{2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, w.times("http://example.org/a"))
	})
}

func TestCrawlDelay(t *testing.T) {
	for _, tt := range []struct {
		rate  float64
		delay string
		want  float64
	}{{0, "10", 10}, {-1, "10", 10}, {0.05, "10", 20}, {0, "3600", 60}, {0, "0.01", 0.2}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWeb()
			w.answers[robotsURL] = reply(200, "User-agent: *\nCrawl-delay: "+tt.delay)
			w.answers["http://example.org/a"] = reply(200, "x")
			c := w.obedient()
			c.Rate = tt.rate
			for _, err := range all(t, c, repeat("http://example.org/a", 3)...) {
				require.NoError(t, err)
			}
			sameTimes(t, []float64{tt.want, 2 * tt.want, 3 * tt.want}, w.times("http://example.org/a"))
		})
	}
}
