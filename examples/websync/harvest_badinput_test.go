package main

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const loginPage = "<!DOCTYPE html><html><head><title>Sign in</title></head><body><form></form></body></html>"

// TestBadInput harvests a good site, spoils it, and harvests it again: the records stay
// as they were. Then it mends the site, and the store is in step again.
func TestBadInput(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(w *web)
		code  int
		want  string // in the output
	}{
		{"login page", func(w *web) { w.set("/sitemap.xml", text(loginPage)) }, exitFailed, "an HTML page, not a sitemap"},
		{"empty", func(w *web) { w.set("/sitemap.xml", text("")) }, exitFailed, "an empty document"},
		{"truncated", func(w *web) {
			s := w.sitemapindex("/1.xml", "/2.xml")
			w.set("/sitemap.xml", text(s[:len(s)-20]))
		}, exitFailed, "too early"},
		{"cut off", func(w *web) {
			s := w.sitemapindex("/1.xml", "/2.xml")
			w.set("/sitemap.xml", func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Content-Length", "100000")
				rw.Write([]byte(s))
			})
		}, exitFailed, "too early"},
		{"server error", func(w *web) { w.set("/sitemap.xml", answerWith(500)) }, exitFailed, "500"},
		{"gone", func(w *web) { w.set("/sitemap.xml", answerWith(404)) }, exitFailed, "404"},
		{"too many requests", func(w *web) { w.set("/sitemap.xml", answerWith(429, "Retry-After", "1")) }, exitFailed, "429"},
		{"part is a login page", func(w *web) { w.set("/2.xml", text(loginPage)) }, exitLeft, "an HTML page, not a sitemap"},
		{"part is empty", func(w *web) { w.set("/2.xml", text("")) }, exitLeft, "an empty document"},
		{"part is truncated", func(w *web) {
			s := w.urlset("/b/000", "/b/001")
			w.set("/2.xml", text(s[:len(s)-15]))
		}, exitLeft, "too early"},
		{"part is gone", func(w *web) { w.set("/2.xml", answerWith(404)) }, exitLeft, "404"},
		{"part is unavailable", func(w *web) { w.set("/2.xml", answerWith(503, "Retry-After", "0")) }, exitLeft, "503"},
		{"part is damaged gzip", func(w *web) { w.set("/2.xml", text("\x1f\x8b\x08\x00 and then something else")) }, exitLeft, "gzip"},
		{"part is a bomb", func(w *web) { w.set("/2.xml", bomb) }, exitLeft, "over the limit"},
		{"part is RSS", func(w *web) { w.set("/2.xml", text(`<rss version="2.0"><channel/></rss>`)) }, exitLeft, "an RSS feed"},
		{"part is Atom", func(w *web) {
			w.set("/2.xml", text(`<feed xmlns="http://www.w3.org/2005/Atom"><id>x</id></feed>`))
		}, exitLeft, "an Atom feed"},
		{"part is prose", func(w *web) { w.set("/2.xml", text("We are sorry, but the site is being rebuilt.")) }, exitLeft, "not a"},
		{"part redirects to itself", func(w *web) {
			w.set("/2.xml", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/2.xml", http.StatusFound) })
		}, exitLeft, "redirect"},
		{"index lists itself", func(w *web) { w.set("/sitemap.xml", text(w.sitemapindex("/1.xml", "/sitemap.xml", "/2.xml"))) }, exitDone, "sitemap-repeated"},
		{"index of indexes", func(w *web) {
			w.set("/more.xml", text(w.sitemapindex("/2.xml")))
			w.set("/sitemap.xml", text(w.sitemapindex("/1.xml", "/more.xml")))
		}, exitDone, "sitemap-index-nested"},
		{"redirect to a login page", func(w *web) {
			w.set("/2.xml", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/login", http.StatusFound) })
			w.set("/login", text(loginPage))
		}, exitLeft, "an HTML page, not a sitemap"},
		{"resource is unavailable", func(w *web) { w.set("/b/001", answerWith(503, "Retry-After", "0")) }, exitLeft, "503"},
		{"resource is forbidden", func(w *web) { w.set("/b/001", answerWith(403)) }, exitLeft, "403"},
		{"resource is gone", func(w *web) { w.set("/b/001", answerWith(410)) }, exitLeft, "410"},
		{"redirect to a private address", func(w *web) {
			w.set("/b/001", func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
			})
		}, exitLeft, "169.254.169.254"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t)
			good := func() {
				a, b := w.serve("a", 8), w.serve("b", 8)
				w.set("/1.xml", text(w.urlset(a...)))
				w.set("/2.xml", text(w.urlset(b...)))
				w.set("/sitemap.xml", text(w.sitemapindex("/1.xml", "/2.xml")))
			}
			good()
			args := []string{"-complete", "-max-delete=1", "-rate=1e6", storeFlag(t), w.URL + "/sitemap.xml"}
			callHarvest(t, args...).is(t, exitDone)
			before := head(t, args[3])

			test.spoil(w)
			a := callHarvest(t, args...)
			a.is(t, test.code)
			assert.Contains(t, a.stderr, test.want)
			assert.Contains(t, a.stderr, w.URL)
			assert.Equal(t, before, head(t, args[3]), "nothing is deleted, nothing is lost")

			good()
			callHarvest(t, args...).is(t, exitDone)
			assert.Equal(t, before, head(t, args[3]))
		})
	}
}

// bomb answers with a megabyte or so that becomes a gigabyte.
func bomb(rw http.ResponseWriter, _ *http.Request) {
	rw.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(rw)
	defer z.Close()
	z.Write([]byte(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`))
	spaces := bytes.Repeat([]byte(" "), 1<<20)
	for range 1 << 10 {
		if _, err := z.Write(spaces); err != nil {
			return
		}
	}
}

func TestAdviceForPagesThatAreNoSitemap(t *testing.T) {
	w := newWeb(t)
	w.set("/", text(loginPage))
	a := callHarvest(t, "-store=mem", w.URL+"/")
	a.is(t, exitFailed)
	assert.Contains(t, a.stderr, "robots.txt of the site")
}

func TestWrongNamespaceIsTolerated(t *testing.T) {
	w := newWeb(t)
	paths := w.serve("p", 3)
	w.set("/sitemap.xml", text(strings.Replace(w.urlset(paths...), "http://www.sitemaps.org/schemas/sitemap/0.9", "https://www.google.com/schemas/sitemap/0.84", 1)))
	a := callHarvest(t, "-store=mem", w.URL+"/sitemap.xml")
	a.is(t, exitDone)
	assert.Contains(t, a.stdout, "created    3")
	assert.Contains(t, a.stderr, "sitemap-namespace")
}

func TestRobots(t *testing.T) {
	w := newWeb(t)
	paths := w.serve("p", 3)
	w.set("/robots.txt", text("User-agent: *\nDisallow: /p/001\n"))
	w.set("/sitemap.xml", text(w.urlset(paths...)))
	a := callHarvest(t, "-store=mem", w.URL+"/sitemap.xml")
	a.is(t, exitLeft)
	assert.Contains(t, a.stdout, "created    2")
	assert.Regexp(t, `failure .*/p/001: .*robots\.txt.*Disallow: /p/001`, a.stdout)
	assert.Zero(t, w.asked["/p/001"])

	w.set("/robots.txt", text("User-agent: *\nDisallow: /\n"))
	a = callHarvest(t, "-store=mem", w.URL+"/sitemap.xml")
	a.is(t, exitFailed)
	assert.Contains(t, a.stderr, "robots.txt")
}

// TestURLOnce: what is wrong with a source names its URL once, whatever is wrong.
func TestURLOnce(t *testing.T) {
	w := newWeb(t)
	w.set("/broken", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusNotFound) })
	w.set("/text", text("nothing of the kind"))
	closed := httptest.NewServer(nil)
	closed.Close()
	for _, url := range []string{closed.URL + "/list", w.URL + "/broken", w.URL + "/text"} {
		for _, protocol := range []string{"auto", "sitemap", "atom", "atompmh", "resourcesync", "rinfo", "eli"} {
			a := callHarvest(t, "-store=mem", "-protocol="+protocol, url)
			a.is(t, exitFailed)
			for line := range strings.Lines(a.stderr) {
				assert.LessOrEqual(t, strings.Count(line, url+":"), 1, "%s: %s", protocol, line)
			}
			assert.Contains(t, a.stderr, url, protocol)
		}
	}
}

func TestPrivateAddressesByPermission(t *testing.T) {
	other := httptest.NewServer(text("elsewhere"))
	defer other.Close()
	w := newWeb(t)
	w.set("/a", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, other.URL+"/a", http.StatusFound) })
	w.set("/sitemap.xml", text(w.urlset("/a")))
	args := []string{storeFlag(t), w.URL + "/sitemap.xml"}
	a := callHarvest(t, args...)
	a.is(t, exitLeft)
	assert.Regexp(t, `failure .*/a: .*not a public address`, a.stdout)
	callHarvest(t, append(args, "-allow-private")...).is(t, exitDone)
}
