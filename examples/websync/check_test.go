package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest/fetch"
)

const (
	namespace   = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`
	rsNamespace = ` xmlns:rs="http://www.openarchives.org/rs/terms/"`
)

const (
	good    = "<urlset " + namespace + "><url><loc>https://www.example.com/</loc></url></urlset>"
	bad     = "<urlset " + namespace + ">\n<url><loc>https://www.example.com/</loc><priority>2</priority></url>\n</urlset>"
	lossy   = "<urlset " + namespace + ">\n<url><loc>https://www.example.com/</loc></url>\n<url/></urlset>"
	warning = "<urlset " + namespace + "/>"
	feed    = `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:ex:f</id><title>F</title><updated>2025-01-01T00:00:00Z</updated>
<author><name>A</name></author><link rel="self" href="https://www.example.com/f"/>%s</feed>`
	badFeed = `<feed xmlns="http://www.w3.org/2005/Atom"/>`
	rsMD    = "<urlset " + namespace + rsNamespace + `><rs:md capability="resourcelist"/><url><loc>https://www.example.com/</loc><rs:md hash="md5:1"/></url></urlset>`
)

// A checked is what one run did.
type checked struct {
	code           int
	stdout, stderr string
}

// check runs the program.
func check(t *testing.T, stdin string, args ...string) checked {
	t.Helper()
	var stdout, stderr bytes.Buffer
	client, crawler := fetch.New(nil), fetch.New(nil)
	for _, c := range []*fetch.Client{client, crawler} {
		c.Attempts, c.Rate = -1, 1000
		defer c.CloseIdleConnections()
	}
	p := newCheck(cli.NewConsole("check", &stdout, &stderr), strings.NewReader(stdin))
	p.client, p.crawler, p.now = client, crawler, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	code := p.run(t.Context(), args)
	return checked{code, stdout.String(), stderr.String()}
}

// writeFiles writes files into a directory, which becomes the current one.
func writeFiles(t *testing.T, contents map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range contents {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
	}
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.String()
}

func TestExitCodes(t *testing.T) {
	all := map[string]string{
		"good.xml": good, "bad.xml": bad, "lossy.xml": lossy, "warning.xml": warning, "atom.xml": badFeed, "atom.gz": zipped(badFeed), "feed.atom": fmt.Sprintf(feed, ""),
		"tomb.atom": fmt.Sprintf(feed, `<at:deleted-entry xmlns:at="http://purl.org/atompub/tombstones/1.0" ref="urn:a" when="2025-01-01T00:00:00Z"/>`),
		"rss.xml":   "<rss version='2.0'/>", "login.html": "<!DOCTYPE html><html><body>Sign in</body></html>", "text": "hello\n",
		"cut.xml": good[:len(good)-5], "bad.gz": "\x1f\x8b bad", "empty": "", "list.txt": "https://www.example.com/\n",
		"good.gz": zipped(good), "good.xml.gz": good, "resources.xml": rsMD, "dir/x": "",
		"changes.xml": "<sitemapindex " + namespace + rsNamespace + `><rs:md capability="changelist" from="2026-01-01T00:00:00Z"/><rs:ln rel="up" href="https://www.example.com/cap"/></sitemapindex>`,
	}
	const usageText = "usage: websync check [flags] FILE|URL...; -h explains"
	for name, test := range map[string]struct {
		args   []string
		stdin  string
		code   int
		stdout string // the last line
		stderr string // part of it
	}{
		"good":                      {args: []string{"good.xml"}, stdout: "good.xml: urlset, entries 1, errors 0, warnings 0"},
		"named as a sitemap":        {args: []string{"-spec", "sitemap", "good.xml"}, stdout: "good.xml: urlset, entries 1, errors 0, warnings 0"},
		"an error":                  {args: []string{"bad.xml"}, code: 1, stdout: "bad.xml: urlset, entries 1, errors 1, warnings 0"},
		"flags after files":         {args: []string{"bad.xml", "-lenient"}, stdout: "bad.xml: urlset, entries 1, errors 0, warnings 1"},
		"lenient, an entry lost":    {args: []string{"-lenient", "lossy.xml"}, code: 1, stdout: "lossy.xml: urlset, entries 1, errors 1, warnings 0"},
		"a warning":                 {args: []string{"warning.xml"}, stdout: "warning.xml: urlset, entries 0, errors 0, warnings 1"},
		"text":                      {args: []string{"list.txt"}, stdout: "list.txt: text, entries 1, errors 0, warnings 0"},
		"gzip":                      {args: []string{"good.gz"}, stdout: "good.gz: urlset, entries 1, errors 0, warnings 0"},
		"not gzip in spite of name": {args: []string{"good.xml.gz"}, stdout: "good.xml.gz: urlset, entries 1, errors 0, warnings 0"},
		"ResourceSync":              {args: []string{"resources.xml"}, code: 1, stdout: "resources.xml: resourcelist, entries 1, errors 3, warnings 0"},
		"ResourceSync, lenient":     {args: []string{"-lenient", "resources.xml"}, stdout: "resources.xml: resourcelist, entries 1, errors 0, warnings 3"},
		"ResourceSync as a sitemap": {args: []string{"-spec", "sitemap", "resources.xml"}, stdout: "resources.xml: urlset, entries 1, errors 0, warnings 0"},
		"a sitemap as ResourceSync": {args: []string{"-spec", "resourcesync", "good.xml"}, code: 1, stdout: "good.xml: unknown, entries 1, errors 1, warnings 0"},
		"Atom as ResourceSync":      {args: []string{"-spec", "resourcesync", "atom.xml"}, code: 2, stdout: "atom.xml: unknown, entries 0, errors 1, warnings 0", stderr: "check: atom.xml: resourcesync: "},
		"an index of changes":       {args: []string{"changes.xml"}, stdout: "changes.xml: changelist index, entries 0, errors 0, warnings 0"},
		"standard input":            {args: []string{"-"}, stdin: good, stdout: "-: urlset, entries 1, errors 0, warnings 0"},
		"the worst of several":      {args: []string{"cut.xml", "bad.xml", "good.xml"}, code: 2, stdout: "good.xml: urlset, entries 1, errors 0, warnings 0", stderr: "check: cut.xml: sitemap: line 1"},
		"an error among good ones":  {args: []string{"good.xml", "bad.xml", "good.gz"}, code: 1, stdout: "good.gz: urlset, entries 1, errors 0, warnings 0"},

		"cut short":             {args: []string{"cut.xml"}, code: 2, stdout: "cut.xml: urlset, entries 1, errors 1, warnings 0", stderr: "check: cut.xml: sitemap: line 1"},
		"cut short, lenient":    {args: []string{"-lenient", "cut.xml"}, code: 2, stdout: "cut.xml: urlset, entries 1, errors 1, warnings 0", stderr: "document ends too early"},
		"bad gzip":              {args: []string{"bad.gz"}, code: 2, stdout: "bad.gz: unknown, entries 0, errors 1, warnings 0", stderr: "check: bad.gz: sitemap:"},
		"empty":                 {args: []string{"empty"}, code: 2, stdout: "empty: unknown, entries 0, errors 1, warnings 0", stderr: "an empty document, not a sitemap"},
		"RSS":                   {args: []string{"rss.xml"}, code: 1, stdout: "rss.xml: feed, entries 0, errors 1, warnings 0"},
		"RSS, named a sitemap":  {args: []string{"-spec", "sitemap", "rss.xml"}, code: 2, stdout: "rss.xml: unknown, entries 0, errors 1, warnings 0", stderr: "an RSS feed, not a sitemap"},
		"HTML":                  {args: []string{"login.html"}, code: 2, stdout: "login.html: unknown, entries 0, errors 1, warnings 0", stderr: "an HTML page, not a sitemap"},
		"text that lists none":  {args: []string{"text"}, code: 2, stdout: "text: unknown, entries 0, errors 1, warnings 0", stderr: "not a sitemap"},
		"Atom":                  {args: []string{"feed.atom"}, code: 0, stdout: "feed.atom: feed, entries 0, errors 0, warnings 0"},
		"bad Atom":              {args: []string{"atom.xml"}, code: 1, stdout: "atom.xml: feed, entries 0, errors 3, warnings 1"},
		"Atom, compressed":      {args: []string{"atom.gz"}, code: 1, stdout: "atom.gz: feed, entries 0, errors 3, warnings 1"},
		"named as Atom":         {args: []string{"-spec", "atom", "feed.atom"}, code: 0, stdout: "feed.atom: feed, entries 0, errors 0, warnings 0"},
		"named as Atom-PMH":     {args: []string{"-spec", "atompmh", "tomb.atom"}, code: 0, stdout: "tomb.atom: feed, entries 0, errors 0, warnings 2"},
		"named as Atom only":    {args: []string{"-spec", "atom", "tomb.atom"}, code: 0, stdout: "tomb.atom: feed, entries 0, errors 0, warnings 1"},
		"a sitemap as Atom":     {args: []string{"-spec", "atom", "good.xml"}, code: 2, stdout: "good.xml: unknown, entries 0, errors 1, warnings 0", stderr: "check: good.xml: atom: "},
		"Atom as a sitemap":     {args: []string{"-spec", "sitemap", "atom.xml"}, code: 2, stdout: "atom.xml: unknown, entries 0, errors 1, warnings 0", stderr: "an Atom feed, not a sitemap"},
		"no such file":          {args: []string{"none"}, code: 2, stdout: "none: unknown, entries 0, errors 0, warnings 0", stderr: "check: none: no such file or directory"},
		"a directory":           {args: []string{"dir"}, code: 2, stdout: "dir: unknown, entries 0, errors 0, warnings 0", stderr: "check: dir: a directory"},
		"a URL nobody serves":   {args: []string{"http://127.0.0.1:1/x"}, code: 2, stdout: "http://127.0.0.1:1/x: unknown, entries 0, errors 0, warnings 0", stderr: "check: http://127.0.0.1:1/x: "},
		"no file":               {code: 2, stderr: "check: no file to check\n" + usageText},
		"no such flag":          {args: []string{"-x", "good.xml"}, code: 2, stderr: usageText},
		"no such spec":          {args: []string{"-spec", "html", "good.xml"}, code: 2, stderr: `-spec "html": not one of auto, sitemap, atom`},
		"standard input, twice": {args: []string{"-", "-"}, code: 2, stderr: "standard input can be checked only once"},
	} {
		t.Run(name, func(t *testing.T) {
			writeFiles(t, all)
			got := check(t, test.stdin, test.args...)
			assert.Equal(t, test.code, got.code)
			lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
			assert.Equal(t, test.stdout, lines[len(lines)-1])
			if test.stderr == "" {
				assert.Empty(t, got.stderr)
			}
			assert.Contains(t, got.stderr, test.stderr)
		})
	}
}

func TestCheckHelp(t *testing.T) {
	got := check(t, "", "-h")
	assert.Zero(t, got.code)
	assert.Empty(t, got.stderr)
	for _, word := range []string{"-spec", "-lenient", "-json", "Exit status"} {
		assert.Contains(t, got.stdout, word)
	}
}

func TestCheckOutput(t *testing.T) {
	writeFiles(t, map[string]string{"bad.xml": bad, "warning.xml": warning})
	got := check(t, "", "bad.xml", "warning.xml")
	assert.Equal(t, 1, got.code)
	assert.Equal(t, `bad.xml:2:41: error: not a number from 0.0 to 1.0: "2" (sitemap-priority, sitemaps.org, XML tag definitions)
bad.xml: urlset, entries 1, errors 1, warnings 0
warning.xml: warning: no entries (sitemap-empty, sitemaps.org, XML tag definitions)
warning.xml: urlset, entries 0, errors 0, warnings 1
`, got.stdout)

	got = check(t, "<opml/>", "-json", "bad.xml", "warning.xml", "-")
	assert.Equal(t, 2, got.code)
	assert.Equal(t, `{"file":"bad.xml","rule":"sitemap-priority","section":"sitemaps.org, XML tag definitions","severity":"error","line":2,"column":41,"element":"priority","value":"2","message":"not a number from 0.0 to 1.0"}
{"file":"bad.xml","kind":"urlset","entries":1,"errors":1,"warnings":0}
{"file":"warning.xml","rule":"sitemap-empty","section":"sitemaps.org, XML tag definitions","severity":"warning","line":0,"column":0,"element":"","message":"no entries"}
{"file":"warning.xml","kind":"urlset","entries":0,"errors":0,"warnings":1}
{"file":"-","rule":"sitemap-document","section":"sitemaps.org, XML tag definitions","severity":"error","line":1,"column":1,"element":"opml","message":"an XML document with the root element \"opml\", not a sitemap"}
{"file":"-","kind":"unknown","entries":0,"errors":1,"warnings":0,"error":"sitemap: line 1, column 1: opml: an XML document with the root element \"opml\", not a sitemap"}
`, got.stdout)
	for line := range strings.Lines(got.stdout) {
		assert.True(t, json.Valid([]byte(line)))
	}
}

// TestCheckJSONFeed: a JSON Feed is recognised, compressed or not, and other documents are
// none by its rules.
func TestCheckJSONFeed(t *testing.T) {
	const jsonFeed = `{"version":"https://jsonfeed.org/version/1.1",
"title":"T","home_page_url":"https://example.org/","feed_url":"https://example.org/f","icon":"https://example.org/i",
"favicon":"https://example.org/i","items":[{"id":"https://example.org/1","url":"https://example.org/1"}]}`
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	z.Write([]byte(jsonFeed))
	require.NoError(t, z.Close())
	writeFiles(t, map[string]string{"feed.json": jsonFeed, "feed.json.gz": compressed.String(), "feed.atom": feed})
	for _, name := range []string{"feed.json", "feed.json.gz"} {
		for _, spec := range []string{"auto", "jsonfeed"} {
			got := check(t, "", "-spec", spec, name)
			assert.Equal(t, exitLeft, got.code)
			assert.Equal(t, name+`:3:44: error: neither content_html nor content_text: "https://example.org/1" (jsonfeed-content, JSON Feed 1.1, Items)
`+name+`: feed, entries 1, errors 1, warnings 0
`, got.stdout)
		}
	}
	got := check(t, "", "-spec", "jsonfeed", "feed.atom")
	assert.Equal(t, exitFailed, got.code)
	assert.Contains(t, got.stdout, "not a JSON Feed (jsonfeed-document, JSON Feed 1.1, Top-level)")
}

// TestCheckRSS: RSS is recognised by its root element, and other documents are none by its
// rules.
func TestCheckRSS(t *testing.T) {
	const rss = `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>T</title><link>https://example.org/</link><description>D</description>
<atom:link rel="self" href="https://example.org/f" type="application/rss+xml"/><atom:link rel="prev-archive" href="https://example.org/p"/>
<item><title>One</title><guid>1</guid></item></channel></rss>`
	const rdf = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">`
	writeFiles(t, map[string]string{"feed.rss": rss, "feed.rss.gz": zipped(rss), "feed.atom": feed,
		"feed.rdf": rdf + `<channel xmlns="http://purl.org/rss/1.0/"/></rdf:RDF>`, "other.rdf": rdf + `</rdf:RDF>`})
	for _, name := range []string{"feed.rss", "feed.rss.gz"} {
		for _, spec := range []string{"auto", "rss"} {
			got := check(t, "", "-spec", spec, name)
			assert.Equal(t, exitLeft, got.code)
			assert.Equal(t, name+`:4:25: error: not an absolute IRI, and no isPermaLink="false": "1" (rss-guid, RSS 2.0, guid)
`+name+`: feed, entries 1, errors 1, warnings 0
`, got.stdout)
		}
	}
	got := check(t, "", "feed.rdf")
	assert.Equal(t, exitLeft, got.code)
	assert.Contains(t, got.stdout, "feed.rdf:1:66: error: no rdf:about (rss-rdf-child, RSS 1.0 §5)")
	for _, name := range []string{"feed.atom", "other.rdf"} {
		got := check(t, "", "-spec", "rss", name)
		assert.Equal(t, exitFailed, got.code)
		assert.Contains(t, got.stdout, "not an RSS feed (rss-document, RSS 2.0, What is RSS?)")
	}
	assert.Contains(t, check(t, "", "other.rdf").stdout, "not a sitemap")
}

// TestBrokenOutput checks the exit code if standard output cannot be written.
func TestBrokenOutput(t *testing.T) {
	writeFiles(t, map[string]string{"good.xml": good})
	var stderr bytes.Buffer
	p := newCheck(cli.NewConsole("check", brokenPipe{}, &stderr), nil)
	assert.Equal(t, exitFailed, p.run(t.Context(), []string{"good.xml"}))
	assert.Contains(t, stderr.String(), "broken pipe")
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// A checkedSite serves pages, in which SELF is its own URL.
func checkedSite(t *testing.T, pages map[string]string) (url string, asked *[]string) {
	asked = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Path)
		page, ok := pages[r.URL.Path]
		if to, moved := strings.CutPrefix(page, "-> "); moved {
			http.Redirect(w, r, to, http.StatusMovedPermanently)
			return
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, strings.ReplaceAll(page, "SELF", "http://"+r.Host))
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func urlsetOf(locs ...string) string {
	return "<urlset " + namespace + "><url><loc>" + strings.Join(locs, "</loc></url>\n<url><loc>") + "</loc></url></urlset>"
}

func indexOf(locs ...string) string {
	return "<sitemapindex " + namespace + "><sitemap><loc>" + strings.Join(locs, "</loc></sitemap>\n<sitemap><loc>") + "</loc></sitemap></sitemapindex>"
}

// rules returns the rules of the findings.
func (r checked) rules(t *testing.T) (rules []string) {
	for line := range strings.Lines(r.stdout) {
		var f struct{ Rule string }
		require.NoError(t, json.Unmarshal([]byte(line), &f))
		if f.Rule != "" {
			rules = append(rules, f.Rule)
		}
	}
	return rules
}

func TestURLs(t *testing.T) {
	other, _ := checkedSite(t, map[string]string{
		"/robots.txt": "Sitemap: SELF/own.xml\n",
		"/own.xml":    urlsetOf("SELF/1"),
	})
	here, asked := checkedSite(t, map[string]string{
		"/a/sitemap.xml":     urlsetOf("SELF/a/1", "SELF/b/1"),
		"/a/good.xml":        urlsetOf("SELF/a/1"),
		"/a/cross.xml":       urlsetOf("SELF/a/1", other+"/1"),
		"/moved.xml":         "-> /a/good.xml",
		"/loop.xml":          "-> /loop.xml",
		"/index.xml":         indexOf("SELF/a/good.xml", "SELF/nested.xml"),
		"/nested.xml":        indexOf("SELF/a/good.xml"),
		"/self.xml":          indexOf("SELF/self.xml"),
		"/private/good.xml":  urlsetOf("SELF/private/1"),
		"/robots.txt":        "User-agent: *\nDisallow: /private\n",
		"/a/compressed.html": zipped(urlsetOf("http://" + "www.example.com/")),
	})
	t.Run("a directory above", func(t *testing.T) {
		got := check(t, "", "-json", here+"/a/sitemap.xml")
		assert.Equal(t, 1, got.code)
		assert.Equal(t, []string{"sitemap-location"}, got.rules(t))
		assert.Contains(t, got.stdout, `{"file":"`+here+`/a/sitemap.xml","kind":"urlset","entries":2,"errors":1,"warnings":0}`)
	})
	t.Run("good", func(t *testing.T) {
		got := check(t, "", here+"/a/good.xml")
		assert.Equal(t, checked{0, here + "/a/good.xml: urlset, entries 1, errors 0, warnings 0\n", ""}, got)
	})
	t.Run("a redirect", func(t *testing.T) {
		got := check(t, "", "-json", here+"/moved.xml")
		assert.Zero(t, got.code, got.stdout)
	})
	t.Run("a redirect loop", func(t *testing.T) {
		got := check(t, "", "-json", here+"/loop.xml")
		assert.Equal(t, 2, got.code)
		assert.Contains(t, got.stderr, "redirect")
	})
	t.Run("not found", func(t *testing.T) {
		got := check(t, "", "-json", here+"/none.xml")
		assert.Equal(t, 2, got.code)
		assert.Contains(t, got.stderr, "404")
	})
	t.Run("robots.txt is obeyed", func(t *testing.T) {
		got := check(t, "", "-json", here+"/private/good.xml")
		assert.Equal(t, 2, got.code)
		assert.Contains(t, got.stderr, "robots.txt")
		assert.NotContains(t, *asked, "/private/good.xml")
	})
	t.Run("a private address that a sitemap lists is not asked", func(t *testing.T) {
		got := check(t, "", "-json", here+"/a/cross.xml")
		assert.Equal(t, 1, got.code)
		assert.Equal(t, []string{"sitemap-cross-submit"}, got.rules(t))
		assert.Contains(t, got.stdout, "can't be read")
	})
	t.Run("robots.txt of another host", func(t *testing.T) {
		got := check(t, "", "-json", here+"/a/cross.xml", other+"/own.xml")
		assert.Equal(t, 1, got.code)
		assert.Equal(t, []string{"sitemap-cross-submit"}, got.rules(t))
		assert.Contains(t, got.stdout, "does not name the sitemap")
	})
	t.Run("robots.txt names the sitemap", func(t *testing.T) {
		friend, _ := checkedSite(t, map[string]string{"/robots.txt": "Sitemap: " + here + "/a/friends.xml", "/x.xml": urlsetOf("SELF/1")})
		third, _ := checkedSite(t, map[string]string{"/a.xml": urlsetOf(friend + "/1"), "/index.xml": indexOf("SELF/a.xml"), "/x.xml": urlsetOf("SELF/1")})
		got := check(t, "", "-json", third+"/a.xml", friend+"/x.xml")
		assert.Equal(t, []string{"sitemap-cross-submit"}, got.rules(t))

		pages := map[string]string{"/x.xml": urlsetOf("SELF/1")}
		friend, _ = checkedSite(t, pages)
		third, _ = checkedSite(t, map[string]string{"/a.xml": urlsetOf(friend + "/1"), "/index.xml": indexOf("SELF/a.xml")})
		pages["/robots.txt"] = "Sitemap: " + third + "/a.xml"
		got = check(t, "", "-json", third+"/a.xml", friend+"/x.xml")
		assert.Empty(t, got.rules(t))
		assert.Zero(t, got.code)
		pages["/robots.txt"] = "Sitemap: " + third + "/index.xml"
		got = check(t, "", "-json", third+"/a.xml", friend+"/x.xml", third+"/index.xml")
		assert.Empty(t, got.rules(t), "the index that lists it is named")
	})
	t.Run("robots.txt vouches in another way", func(t *testing.T) {
		pages := map[string]string{"/x.xml": urlsetOf("SELF/1")}
		friend, _ := checkedSite(t, pages)
		third, _ := checkedSite(t, map[string]string{
			"/a.xml": urlsetOf(friend + "/1"), "/other.xml": urlsetOf(friend + "/1"), "/moved.xml": "-> /a.xml", "/deep.xml": indexOf("SELF/index.xml"),
			"/index.xml": indexOf("SELF/a.xml", "SELF/b.xml"), "/cross.xml": indexOf(friend + "/x.xml"),
		})
		pages["/own.xml"] = "-> " + third + "/a.xml"
		writeFiles(t, map[string]string{"a.xml": urlsetOf(friend + "/1"), "cross.xml": indexOf(friend + "/x.xml")})
		for _, test := range []struct {
			robots, name string
			want         []string
		}{
			{"/index.xml", "/a.xml", nil},
			{"/moved.xml", "/a.xml", nil},
			{"/index.xml", "/other.xml", []string{"sitemap-cross-submit"}},
			{"/deep.xml", "/a.xml", []string{"sitemap-cross-submit"}},
			{"/none.xml", "/a.xml", []string{"sitemap-cross-submit"}},
			{"/cross.xml", "/cross.xml", nil},
			{"/index.xml", "/cross.xml", []string{"sitemap-index-site"}},
		} {
			pages["/robots.txt"] = "Sitemap: " + third + test.robots
			got := check(t, "", "-json", third+test.name, friend+"/x.xml")
			assert.Equal(t, test.want, got.rules(t), "%v", test)
			file := strings.TrimPrefix(test.name, "/")
			if stdin, err := os.ReadFile(file); err == nil {
				args := []string{"-json", "-url", third + test.name}
				assert.Equal(t, test.want, check(t, "", append(args, file, friend+"/x.xml")...).rules(t), "%v", test)
				assert.Equal(t, test.want, check(t, string(stdin), append(args, "-", friend+"/x.xml")...).rules(t), "%v", test)
			}
		}
		pages["/robots.txt"] = ""
		var stdout bytes.Buffer
		p := newCheck(cli.NewConsole("check", &stdout, io.Discard), nil)
		p.client.AllowPrivate, p.client.Rate = true, -1
		defer p.client.CloseIdleConnections()
		assert.Zero(t, p.run(t.Context(), []string{friend + "/own.xml"}), "the host of the pages redirects to the sitemap: %s", &stdout)
		assert.Equal(t, []string{"sitemap-cross-submit"}, check(t, "", "-json", third+"/a.xml", friend+"/x.xml").rules(t))
		for _, args := range []string{"-url x a.xml", "-url http://h/ a.xml cross.xml", "-url http://h/ http://h/a.xml", "-url http://h/ -spec eli a.xml"} {
			assert.Equal(t, exitFailed, check(t, "", strings.Fields(args)...).code, args)
		}
	})
	t.Run("an index alone", func(t *testing.T) {
		*asked = nil
		got := check(t, "", "-json", here+"/index.xml")
		assert.Empty(t, got.rules(t))
		assert.NotContains(t, *asked, "/nested.xml", "what it lists is not fetched")
	})
	t.Run("an index with an index", func(t *testing.T) {
		got := check(t, "", "-json", here+"/index.xml", here+"/a/good.xml", here+"/nested.xml")
		assert.Equal(t, 1, got.code)
		assert.Equal(t, []string{"sitemap-index-nested"}, got.rules(t))
	})
	t.Run("an index that lists itself", func(t *testing.T) {
		got := check(t, "", "-json", here+"/self.xml")
		assert.Equal(t, []string{"sitemap-repeated"}, got.rules(t))
	})
	t.Run("gzip under another name", func(t *testing.T) {
		got := check(t, "", "-json", here+"/a/compressed.html")
		assert.Contains(t, got.stdout, `"kind":"urlset","entries":1`)
	})
}

func TestIndexFiles(t *testing.T) {
	writeFiles(t, map[string]string{
		"index.xml": indexOf("https://www.example.com/a.xml", "https://www.example.com/b.xml"), "a.xml": indexOf("https://www.example.com/b.xml"),
		"b.xml": good, "elsewhere/a.xml": indexOf("https://www.example.com/b.xml"),
	})
	got := check(t, "", "-json", "index.xml", "a.xml", "b.xml")
	assert.Equal(t, 1, got.code)
	assert.Equal(t, []string{"sitemap-index-nested"}, got.rules(t))
	got = check(t, "", "-json", "index.xml", "b.xml")
	assert.Zero(t, got.code)
	got = check(t, "", "-json", "index.xml", "elsewhere/a.xml", "b.xml")
	assert.Zero(t, got.code)
}

// TestChain checks an archived feed by its URL: every document of it.
func TestChain(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/feed":
			fmt.Fprintf(w, feed, `<link rel="prev-archive" href="/1"/>`)
		case "/1":
			fmt.Fprintf(w, feed, `<link rel="current" href="/feed"/><link rel="prev-archive" href="/lost"/><bad/>`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	r := check(t, "", server.URL+"/feed")
	assert.Equal(t, 1, r.code, r.stderr)
	assert.Contains(t, r.stdout, server.URL+"/1")
	assert.Contains(t, r.stdout, server.URL+"/lost")
	assert.Contains(t, r.stdout, server.URL+"/feed: feed, entries 0, errors")
}

// With -json the command always writes an object.
func TestCheckJSONAlways(t *testing.T) {
	for _, args := range []string{"-json -nonsense x", "-nonsense -json x", "-json", "-json -spec gopher x", "-json -spec eli a b c", "-json -spec eli -profile . x", "-json missing.xml"} {
		t.Run(args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			got := check(t, "", strings.Fields(args)...)
			assert.Equal(t, exitFailed, got.code)
			var r fileReport
			require.NoError(t, json.Unmarshal([]byte(got.stdout), &r), got.stdout)
			assert.NotEmpty(t, r.Error)
			assert.Contains(t, got.stderr, "check: ")
		})
	}
}

// Neither documents nor their names control the terminal or reveal a secret.
func TestCheckOutputIsHarmless(t *testing.T) {
	const evil = "\u009b31m\u202e"
	base, _ := checkedSite(t, map[string]string{
		"/bad.xml":    "<urlset " + namespace + "><url><loc>http://" + evil + ".example/?token=hunter2</loc><priority>" + evil + "</priority></url></urlset>",
		"/feed.xml":   `<feed xmlns="http://www.w3.org/2005/Atom"><id>http://h/?key=hunter2` + evil + `</id><link href="http://h/?sig=hunter2` + evil + `"/></feed>`,
		"/chain.xml":  fmt.Sprintf(feed, `<link rel="prev-archive" href="SELF/old.xml?secret=hunter2"/>`),
		"/html":       "<!DOCTYPE html><html/>",
		"/robots.txt": "",
	})
	for _, args := range []string{"", "-json", "-spec atom", "-spec atom -json", "-spec sitemap"} {
		for _, path := range []string{"/bad.xml", "/feed.xml", "/chain.xml", "/html", "/missing"} {
			got := check(t, "", append(strings.Fields(args), base+path+"?token=hunter2")...)
			output := got.stdout + got.stderr
			assert.NotContains(t, output, "hunter2", "%s %s", args, path)
			assert.NotContains(t, output, "\u009b")
			assert.NotContains(t, output, "\u202e")
			assert.Contains(t, output, "token=xxxxx")
		}
	}
	writeFiles(t, map[string]string{"a\x1b[2J\nb": bad})
	got := check(t, "", "a\x1b[2J\nb", "missing\x1b\nx")
	assert.NotContains(t, got.stdout+got.stderr, "\x1b")
	assert.Contains(t, got.stdout, `a\u001b[2J\u000ab: urlset`)
	assert.Contains(t, got.stderr, `missing\u001b\u000ax: `)
}
