package conformance_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli/conformance"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
)

// A web is the answers of a world as a server and as an http.RoundTripper.
type web struct {
	w    *world
	base string // instead of host; empty: host

	mu    sync.Mutex
	paths []string
	agent []string
	times []time.Time
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths, s.agent, s.times = append(s.paths, r.URL.Path), append(s.agent, r.UserAgent()), append(s.times, time.Now())
	a, ok := s.w.crawler[host+r.URL.Path]
	if !ok || !strings.Contains(r.UserAgent(), "Googlebot") {
		a, ok = s.w.answers[host+r.URL.Path]
	}
	switch {
	case !ok:
		http.NotFound(w, r)
		return
	case a.url != "":
		http.Redirect(w, r, a.url, http.StatusSeeOther)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	if s.base != "" {
		a.body = strings.ReplaceAll(a.body, host, s.base)
	}
	io.WriteString(w, a.body)
}

func (s *web) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, r)
	resp := rec.Result()
	resp.Request = r
	return resp, nil
}

// clients returns a Client, and one that calls itself a crawler and shares its gates.
func clients(via http.RoundTripper) (client, crawler *fetch.Client) {
	state := harvest.NewCatalog(memstore.New())
	client, crawler = fetch.New(state), fetch.New(state)
	client.Transport, crawler.Transport = via, via
	crawler.UserAgent = "Mozilla/5.0 (compatible; websync-check/1; like Googlebot/2.1)"
	return client, crawler
}

// TestPoliteness checks that two requests for pages are 5 seconds apart, those of the
// crawler included.
func TestPoliteness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.crawler[act2] = w.answers[act2]
		w.set(act2, "text/html", "<!DOCTYPE html><p>Act")
		s := &web{w: w}
		client, crawler := clients(s)
		w.Fetcher, w.Crawler, w.Now = client, crawler, time.Time{}
		var visited []string
		w.Progress = func(done, total int, url string) {
			assert.Equal(t, 3, total)
			assert.Len(t, visited, done)
			visited = append(visited, url)
		}
		r := w.check()
		assert.Equal(t, visited, r.Sample)
		assert.EqualValues(t, 5, r.Interval)
		assert.Contains(t, row(t, r, "P4-083").Why, "5s")
		assert.Contains(t, row(t, r, "P4-041").Examples[0].Value, "cloaked")
		assert.Equal(t, time.Now().UTC().Truncate(time.Second).Sub(r.Checked).Round(time.Hour), time.Duration(0))

		first := 0
		for s.paths[first] != "/eli/act/2026/1" && s.paths[first] != "/eli/act/2026/2" && s.paths[first] != "/eli/decree/2020/7" {
			first++
		}
		require.Greater(t, len(s.times)-first, 6)
		for i := first + 1; i < len(s.times); i++ {
			assert.GreaterOrEqual(t, s.times[i].Sub(s.times[i-1]), 5*time.Second, s.paths[i])
		}
		client.CloseIdleConnections()
		crawler.CloseIdleConnections()
	})
}

// TestServer checks a publisher on loopback: redirects, robots.txt, a page that is the
// full text, a soft 404.
func TestServer(t *testing.T) {
	w := newWorld(t)
	s := &web{w: w}
	server := httptest.NewServer(s)
	defer server.Close()
	s.base = server.URL
	w.answers[act1+"/page"] = w.answers[act1]
	w.answers[act1] = answer{url: "/eli/act/2026/1/page"}
	w.answers[sitemapURL+".new"] = w.answers[sitemapURL]
	w.answers[sitemapURL] = answer{url: "/eli/sitemap.xml.new"}
	w.edit(act2, `typeof="eli:Format">`, `typeof="eli:Format"><a rel="eli:is_exemplified_by" href="`+act2+`"></a>`)
	w.edit(act2, "media-types/application/pdf", "media-types/text/html")

	client := fetch.New(nil)
	client.Rate, client.Attempts = -1, -1
	defer client.CloseIdleConnections()
	w.Fetcher, w.Crawler, w.Interval = client, nil, -1
	w.Sitemap.Name, w.Feed.Name = server.URL+"/eli/sitemap.xml", server.URL+"/eli/eli-update-feed.atom"
	w.Registry = []conformance.Pair{{Sitemap: w.Sitemap.Name, Feed: w.Feed.Name}}
	w.edit(feedURL, "urn:law-example:", "urn:127-0-0-1:")
	r := w.check()
	assert.Empty(t, statuses(r, fail, warn), w.found)
	assert.Equal(t, server.URL+"/eli/sitemap.xml.new", r.Sitemap.URL)
	assert.Zero(t, r.Interval)
	assert.NotContains(t, s.paths, "/eli/act/2026/2/eng/pdf", "the page is the full text")
	n := 0
	for _, path := range s.paths {
		if strings.HasPrefix(path, "/eli/") && strings.Contains(path, "no-such-document-") {
			n++
		}
	}
	assert.Equal(t, 1, n, "one request for what does not exist")

	w.set(host+"/robots.txt", "text/plain", "User-agent: *\nDisallow: /eli/decree\n")
	other := fetch.New(nil)
	other.Rate, other.Attempts = -1, -1
	defer other.CloseIdleConnections()
	w.Fetcher = other
	r = w.check()
	assert.Equal(t, []string{"P4-002", "P4-040"}, statuses(r, fail), w.found)
}

// A publisher can't make the checker request private addresses.
func TestPrivateAddress(t *testing.T) {
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a private address was requested") }))
	defer secret.Close()
	w := newWorld(t)
	s := &web{w: w}
	server := httptest.NewServer(s)
	defer server.Close()
	s.base = server.URL
	w.add(sitemapURL, urlOf(secret.URL+"/eli/act/1", "2026-03-08"))
	w.edit(act1, `<a rel="eli:media_type"`, `<a rel="eli:is_exemplified_by" href="`+secret.URL+`/1.pdf"></a><a rel="eli:media_type"`)
	client := fetch.New(nil)
	client.Rate, client.Attempts = -1, -1
	defer client.CloseIdleConnections()
	w.Fetcher, w.Crawler, w.Interval, w.Registry = client, nil, -1, nil
	w.Sitemap.Name, w.Feed.Name = server.URL+"/eli/sitemap.xml", server.URL+"/eli/eli-update-feed.atom"
	r := w.check()
	assert.Equal(t, fail, row(t, r, "P4-040").Status)
	assert.Equal(t, warn, row(t, r, "P4-080").Status)
}

// publisher returns the server of a publisher who conforms.
func publisher() *httptest.Server {
	s := &web{w: newWorld(nil)}
	server := httptest.NewServer(s)
	s.base = server.URL
	a := s.w.answers[feedURL]
	a.body = strings.Replace(a.body, "urn:law-example:", "urn:127-0-0-1:", 1)
	s.w.answers[feedURL] = a
	return server
}
