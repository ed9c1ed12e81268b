package conformance_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/conformance"
	"github.com/websync-go/websync/internal/testing/browser"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>` + "\u202e\u0007"

// faulty returns a publisher with faults of all kinds, and with hostile values.
func faulty(t testing.TB) *world {
	w := newWorld(t)
	w.visited(6)
	w.Last.Feed.ID = "urn:old"
	w.edit(sitemapURL, "2026-03-06<", "2026-03-06 10:00:00<")
	w.add(sitemapURL, urlOf(host+"/news/"+strings.Repeat("a-very-long-step-without-a-break", 8), "2026-03-08"))
	w.add(sitemapURL, "<url><loc>http://www.law.example/eli/act/2026/3</loc><lastmod>2026-03-08</lastmod><changefreq>"+
		strings.NewReplacer("<", "&lt;", ">", "&gt;", "\u0007", "").Replace(hostile)+"</changefreq></url>\n")
	for i := range 9 {
		w.add(sitemapURL, "<url><loc>"+host+"/eli/order/2026/"+strconv.Itoa(i)+"?token=hunter2</loc></url>\n")
	}
	w.edit(feedURL, "2026-03-06T09:00:00+01:00", "2026-03-06")
	w.edit(feedURL, "<author>", "<series>1</series><author>")
	w.edit(feedURL, "First act", "")
	w.set(act2, "text/html", "<!DOCTYPE html><p>An empty shell")
	w.edit(act1, "https://www.iana.org", "http://www.iana.org")
	w.Registry = nil
	w.Human = false
	return w
}

func htmlOf(t testing.TB, r *conformance.Result) []byte {
	var b bytes.Buffer
	require.NoError(t, r.WriteHTML(&b))
	return b.Bytes()
}

// version is what differs from one version of the program to the next.
var version = regexp.MustCompile(`Made by websync [^<]*`)

func TestHTMLGolden(t *testing.T) {
	for name, w := range map[string]*world{"good": newWorld(t), "faulty": faulty(t)} {
		t.Run(name, func(t *testing.T) {
			got := version.ReplaceAll(htmlOf(t, w.check()), []byte("Made by websync"))
			testkit.Golden(t, filepath.Join("testdata", "report", name+".html"), got)
		})
	}
}

// TestHTML checks that a report has all rules, nothing from outside, and all values as
// text.
func TestHTML(t *testing.T) {
	for name, w := range map[string]*world{"good": newWorld(t), "faulty": faulty(t)} {
		t.Run(name, func(t *testing.T) {
			r := w.check()
			doc := htmlOf(t, r)
			ids := make(map[string]int)
			root, err := html.Parse(bytes.NewReader(doc))
			require.NoError(t, err)
			for n := range root.Descendants() {
				if n.Type != html.ElementNode {
					continue
				}
				assert.NotContains(t, []string{"script", "img", "link", "iframe", "object", "form", "input"}, n.Data)
				for _, a := range n.Attr {
					assert.False(t, strings.HasPrefix(a.Key, "on"), a.Key)
					switch a.Key {
					case "id":
						ids[a.Val]++
					case "href":
						assert.Regexp(t, `^(#P4-\d{3}|https?://.*)$`, a.Val)
					case "src", "style":
						t.Error(a.Key, a.Val)
					}
				}
			}
			require.Len(t, ids, 63)
			for _, rule := range conformance.Rules() {
				assert.Equal(t, 1, ids[rule.Name], rule.Name)
			}
			text := string(doc)
			assert.NotContains(t, text, "hunter2")
			assert.NotContains(t, text, "\u202e")
			for _, row := range r.Rules {
				if row.Status == conformance.NotChecked {
					assert.Contains(t, text, html.EscapeString(row.Why), row.ID)
				}
			}
		})
	}
}

// TestBrowser opens reports in a browser: nothing is an error there, nothing else is
// loaded, each rule has its row, and everything is readable on a phone, in the dark and
// on paper.
func TestBrowser(t *testing.T) {
	b := browser.Start(t)
	for name, w := range map[string]*world{"good": newWorld(t), "faulty": faulty(t)} {
		file := filepath.Join(t.TempDir(), name+".html")
		require.NoError(t, os.WriteFile(file, htmlOf(t, w.check()), 0o644))
		for _, v := range browser.Views {
			t.Run(name+" "+v.String(), func(t *testing.T) {
				page := b.Open("file://"+file, v)
				assert.Empty(t, page.Problems)
				assert.Empty(t, page.Requests)
				assert.Equal(t, v.Width, page.Width())
				var rows, wide, pale []string
				page.Eval(`[...document.querySelectorAll("article.rule")].map(e => e.id)`, &rows)
				page.Eval(tooWide, &wide)
				page.Eval(tooPale, &pale)
				assert.Len(t, rows, 63)
				for _, rule := range conformance.Rules() {
					assert.Contains(t, rows, rule.Name)
				}
				assert.Empty(t, wide, "elements that reach over the edge")
				assert.Empty(t, pale, "texts whose contrast is below 4.5")
			})
		}
	}
}

// Expressions of JavaScript: the elements of a page that are wider than the window, and
// those whose text differs too little from what is behind it (WCAG 2.2 §1.4.3).
const (
	tooWide = `[...document.body.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > innerWidth + .5).map(e => e.outerHTML.slice(0, 80))`
	tooPale = `(() => {
	const parse = c => c.match(/[\d.]+/g).map(Number)
	const light = c => {
		const [r, g, b] = parse(c).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
		return .2126 * r + .7152 * g + .0722 * b
	}
	const behind = e => {
		for (; e; e = e.parentElement) {
			const c = getComputedStyle(e).backgroundColor, [, , , a = 1] = parse(c)
			if (a > 0) return c
		}
		return "rgb(255,255,255)"
	}
	return [...document.body.querySelectorAll("*")].filter(e => [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())).filter(e => {
		const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x)
		return (a + .05) / (b + .05) < 4.5
	}).map(e => e.outerHTML.slice(0, 80))
})()`
)

// TestHostileReport checks what a report shows of hostile values.
func TestHostileReport(t *testing.T) {
	r := faulty(t).check()
	for i := range r.Rules {
		r.Rules[i].Status = conformance.Fail
		r.Rules[i].Note, r.Rules[i].Errors = hostile, 7
		r.Rules[i].Examples = []websync.Finding{{Document: "javascript:alert(1)", Line: 3, Element: hostile, Value: hostile, Message: hostile}}
	}
	r.Sitemap.Name, r.Sitemap.URL, r.Sitemap.Error = "javascript:alert(1)", hostile, hostile
	r.Feed.Name = hostile
	r.Sample = []string{"javascript:alert(1)", hostile}
	doc := string(htmlOf(t, r))
	assert.NotContains(t, doc, "<script")
	assert.NotContains(t, doc, "<img")
	assert.NotContains(t, doc, `href="javascript`)
	assert.NotContains(t, doc, "\u202e")
	assert.NotContains(t, doc, "\u0007")
}

// A writer that fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestHTMLError(t *testing.T) {
	require.ErrorIs(t, newWorld(t).check().WriteHTML(failing{}), io.ErrClosedPipe)
}
