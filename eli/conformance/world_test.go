package conformance_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/conformance"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const (
	host       = "http://law.example"
	sitemapURL = host + "/eli/sitemap.xml"
	feedURL    = host + "/eli/eli-update-feed.atom"
	act1       = host + "/eli/act/2026/1"
	act2       = host + "/eli/act/2026/2"
	decree     = host + "/eli/decree/2020/7"
)

var now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// An answer is what the publisher's server sends.
type answer struct {
	kind     string
	body     string
	url      string // after redirects; empty: none
	modified string // Last-Modified
	err      error
}

// A world is a publisher that conforms to all rules, until a test changes it.
type world struct {
	t       testing.TB
	answers map[string]answer
	crawler map[string]answer // that only the crawler of a search engine gets
	asked   []string
	conformance.Checker
	found []websync.Finding
}

const (
	sitemapHead = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:dct="http://purl.org/dc/terms/" dct:relation="` + feedURL + `">
`
	feedHead = `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title>Acts of Law</title>
<link rel="self" href="` + feedURL + `"/>
<updated>2026-03-08T16:20:00Z</updated>
<author><name>Ministry of Justice</name></author>
<id>urn:law-example:eli:eli-update-feed</id>
`
)

func urlOf(loc, lastMod string) string {
	return "<url><loc>" + loc + "</loc><lastmod>" + lastMod + "</lastmod></url>\n"
}

func entryOf(id, title, updated string) string {
	return "<entry><title>" + title + `</title><link href="` + id + `"/><id>` + id + "</id><updated>" + updated + "</updated><content>An abstract.</content></entry>\n"
}

// pageOf returns the page of an act, with a format that its own URI returns.
func pageOf(eli string) string {
	return `<!DOCTYPE html>
<html lang="en" prefix="eli: http://data.europa.eu/eli/ontology#"><head><title>An act</title></head>
<body><div about="` + eli + `" typeof="eli:LegalResource">
<div rel="eli:is_realized_by"><div about="` + eli + `/eng" typeof="eli:LegalExpression">
<a rel="eli:language" href="http://publications.europa.eu/resource/authority/language/ENG">English</a>
<h1 property="eli:title">The act of ` + eli + `</h1>
<div rel="eli:is_embodied_by"><div about="` + eli + `/eng/pdf" typeof="eli:Format">
<a rel="eli:media_type" href="https://www.iana.org/assignments/media-types/application/pdf">PDF</a>
</div></div></div></div></div></body></html>`
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, answers: make(map[string]answer), crawler: make(map[string]answer)}
	w.set(sitemapURL, "application/xml", sitemapHead+urlOf(act1, "2026-03-08")+urlOf(act2, "2026-03-06")+urlOf(decree, "2026-01-05")+"</urlset>")
	w.set(feedURL, "application/atom+xml", feedHead+entryOf(act1, "First act", "2026-03-08T16:20:00Z")+
		entryOf(act2, "Second act", "2026-03-06T09:00:00+01:00")+entryOf(decree, "Decree", "2026-01-05T09:00:00Z")+"</feed>")
	for _, act := range []string{act1, act2, decree} {
		w.set(act, "text/html; charset=utf-8", pageOf(act))
		w.set(act+"/eng/pdf", "application/pdf", "%PDF-1.7\nThe text of "+act)
	}
	w.Checker = conformance.Checker{
		Sitemap: conformance.Input{Name: sitemapURL}, Feed: conformance.Input{Name: feedURL},
		Fetcher: w.fetcher(nil), Crawler: w.fetcher(w.crawler), Now: now, Human: true,
		Registry: []conformance.Pair{{Sitemap: sitemapURL, Feed: feedURL}},
		Report:   func(f websync.Finding) { w.found = append(w.found, f) },
	}
	return w
}

func (w *world) set(url, kind, body string) { w.answers[url] = answer{kind: kind, body: body} }

// edit replaces a text in an answer, which must have it.
func (w *world) edit(url, old, new string) {
	a := w.answers[url]
	require.Contains(w.t, a.body, old)
	a.body = strings.Replace(a.body, old, new, 1)
	w.answers[url] = a
}

// add appends entries to a list.
func (w *world) add(url, entries string) {
	end := "</urlset>"
	if url == feedURL {
		end = "</feed>"
	}
	w.edit(url, end, entries+end)
}

// fetcher returns a Fetcher of the answers, and before them of those that only a crawler
// gets.
func (w *world) fetcher(first map[string]answer) harvest.Fetcher {
	return testkit.FetchFunc(func(_ context.Context, req *harvest.Request) (*harvest.Response, error) {
		w.asked = append(w.asked, req.URL)
		a, ok := first[req.URL]
		if !ok {
			a, ok = w.answers[req.URL]
		}
		switch {
		case !ok:
			return nil, fmt.Errorf("fetch: %s: 404 Not Found: %w", websync.RedactURL(req.URL), websync.ErrGone)
		case a.err != nil:
			return nil, a.err
		}
		resp := &harvest.Response{URL: req.URL, Status: 200, Header: map[string][]string{}, Body: seekable{bytes.NewReader([]byte(a.body))}}
		if a.url != "" {
			resp.URL = a.url
		}
		if a.kind != "" {
			resp.Header["Content-Type"] = []string{a.kind}
		}
		if a.modified != "" {
			resp.Header["Last-Modified"] = []string{a.modified}
		}
		return resp, nil
	})
}

type seekable struct{ *bytes.Reader }

func (seekable) Close() error { return nil }

// check runs the Checker.
func (w *world) check() *conformance.Result {
	w.t.Helper()
	w.found = nil
	r, err := w.Check(context.Background())
	require.NoError(w.t, err)
	require.Len(w.t, r.Rules, 63)
	return r
}

// visited makes the profile of a first visit, some days ago, the last one.
func (w *world) visited(days int) *conformance.Profile {
	before := *w
	before.answers = maps.Clone(w.answers)
	before.Now = now.AddDate(0, 0, -days)
	before.Fetcher = before.fetcher(nil)
	before.Report = nil
	p := before.check().Profile
	require.NotNil(w.t, p)
	w.Last = p
	return p
}

// row returns the row of a rule.
func row(t testing.TB, r *conformance.Result, id string) conformance.Row {
	t.Helper()
	found, ok := r.Row(id)
	require.True(t, ok, id)
	return found
}

// files makes the sitemap and the feed saved files.
func (w *world) files() {
	open := func(url string) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(w.answers[url].body)), nil }
	}
	w.Sitemap = conformance.Input{Name: "sitemap.xml", Open: open(sitemapURL)}
	w.Feed = conformance.Input{Name: "feed.atom", Open: open(feedURL)}
	w.Fetcher, w.Crawler = nil, nil
}

// softly returns a Fetcher that answers for all URLs with a prefix as for a page that is
// not there: with status 200.
func (w *world) softly(prefix string) harvest.Fetcher {
	all := w.fetcher(nil)
	return testkit.FetchFunc(func(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
		if strings.HasPrefix(req.URL, prefix) {
			body := "<!DOCTYPE html><script>var a=2</script><p>Nothing here"
			return &harvest.Response{URL: req.URL, Status: 200, Header: map[string][]string{"Content-Type": {"text/html"}}, Body: seekable{bytes.NewReader([]byte(body))}}, nil
		}
		return all.Fetch(ctx, req)
	})
}
