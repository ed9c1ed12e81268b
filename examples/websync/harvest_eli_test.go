package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// laws makes w a publisher of two acts: the metadata of one are RDFa, those of the other
// JSON-LD.
func laws(w *web, sitemap, feed, relation string) {
	typed := func(mediaType, body string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", mediaType)
			fmt.Fprint(rw, body)
		}
	}
	one, two := w.URL+"/eli/act/1", w.URL+"/eli/act/2"
	if relation != "" {
		relation = ` xmlns:dct="http://purl.org/dc/terms/" dct:relation="` + w.URL + relation + `"`
	}
	w.set(sitemap, text(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`+relation+`><url><loc>`+one+`</loc><lastmod>2026-01-02</lastmod></url>
<url><loc>`+two+`</loc><lastmod>2026-01-03</lastmod></url></urlset>`))
	if feed != "" {
		w.set(feed, w.feedOf("country:eli:eli-update-feed", "/eli/act/2"))
	}
	w.set("/eli/act/1", typed("text/html", `<!doctype html><html prefix="eli: http://data.europa.eu/eli/ontology#"><body about="`+one+`" typeof="eli:LegalResource"><h1 property="eli:title">On cats</h1>
<div rel="eli:is_realized_by"><div about="`+one+`/en" typeof="eli:LegalExpression">
<a rel="eli:language" href="http://publications.europa.eu/resource/authority/language/ENG"></a><div rel="eli:is_embodied_by"><div about="`+one+`/en/pdf" typeof="eli:Format">
<a rel="eli:media_type" href="https://www.iana.org/assignments/media-types/application/pdf"></a></div></div></div></div></body></html>`))
	w.set("/eli/act/1/en/pdf", typed("application/pdf", "%PDF on cats"))
	w.set("/eli/act/2", typed("text/html", `<!doctype html><html><head><script type="application/ld+json">{"@id":"`+two+`","@type":"http://data.europa.eu/eli/ontology#LegalResource",
"http://data.europa.eu/eli/ontology#title":"On dogs"}</script></head></html>`))
}

// TestLegislation: a sitemap and its feed are named, or found.
func TestLegislation(t *testing.T) {
	const sitemap, feed = "/eli/sitemap.xml", "/eli/eli-update-feed.atom"
	for name, test := range map[string]struct {
		sitemap, feed, relation string
		args                    []string
		stderr                  string // with the URL of the host for *
		asked                   []string
	}{
		"both":               {sitemap, feed, "", []string{sitemap, feed}, "", []string{sitemap, feed}},
		"the feed first":     {"/list.xml", "/Feed", "", []string{"/Feed", "/list.xml"}, "", []string{"/list.xml", "/Feed"}},
		"the sitemap":        {sitemap, feed, "", []string{sitemap}, "harvest: *" + sitemap + ": harvesting the sitemap *" + sitemap + ", with the update feed *" + feed + "\n", []string{feed}},
		"the feed":           {sitemap, feed, "", []string{feed}, "harvest: *" + feed + ": harvesting the sitemap *" + sitemap + ", with the update feed *" + feed + "\n", []string{feed}},
		"the host":           {sitemap, feed, "", []string{"/"}, "harvest: */: harvesting the sitemap *" + sitemap + ", with the update feed *" + feed + "\n", []string{feed}},
		"by dct:relation":    {"/list.xml", "/changes", "/changes", []string{"/list.xml"}, "harvest: */list.xml: harvesting the sitemap */list.xml, with the update feed */changes\n", []string{"/changes"}},
		"no feed":            {sitemap, "", "", []string{sitemap}, "harvest: *" + sitemap + ": harvesting the sitemap *" + sitemap + ", without an update feed: none was found\n", []string{sitemap}},
		"no feed, elsewhere": {"/list.xml", "", "", []string{"/list.xml"}, "harvest: */list.xml: harvesting the sitemap */list.xml, without an update feed: none was found\n", []string{"/list.xml"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWeb(t)
			laws(w, test.sitemap, test.feed, test.relation)
			dir := t.TempDir()
			args := []string{storeFlag(t), "-protocol=eli", "-rate=1e6", "-sample=-1"}
			for _, path := range test.args {
				args = append(args, w.URL+path)
			}
			a := callHarvest(t, append([]string{"-export=" + dir + "/out"}, args...)...)
			a.is(t, exitDone)
			assert.Equal(t, strings.ReplaceAll(test.stderr, "*", w.URL), a.stderr)
			assert.Equal(t, []string{w.URL + test.sitemap}, live(t, args[0]))
			index, err := os.ReadFile(filepath.Join(dir, "out", "INDEX"))
			require.NoError(t, err)
			assert.Equal(t, 3, strings.Count(string(index), "\n"), "two graphs and one text")

			before := map[string]int{}
			for path, n := range w.asked {
				before[path] = n
			}
			a = callHarvest(t, args...)
			a.is(t, exitDone)
			assert.Empty(t, a.stderr)
			for path, n := range w.asked {
				assert.Equal(t, before[path] != n, slices.Contains(test.asked[len(test.asked)-1:], path), path)
			}
		})
	}
}

func TestNoLegislation(t *testing.T) {
	w := newWeb(t)
	w.set("/", text("<!doctype html><title>Nothing</title>"))
	w.set("/news.xml", w.feedOf("news", "/a"))
	for path, want := range map[string]string{
		"/":         "/ leads to no sitemap of legislation: not found; tried: ",
		"/news.xml": "/news.xml leads to no sitemap of legislation: not found; tried: ",
		"/none":     "/none: 404",
	} {
		a := callHarvest(t, storeFlag(t), "-protocol=eli", "-rate=1e6", w.URL+path)
		a.is(t, exitFailed)
		assert.Contains(t, a.stderr, w.URL+want)
	}
}

// TestLegislationChanged: what a URL leads to is found out anew when the sitemap is none
// any more.
func TestLegislationChanged(t *testing.T) {
	w := newWeb(t)
	laws(w, "/eli/sitemap.xml", "", "")
	args := []string{storeFlag(t), "-protocol=eli", "-rate=1e6", w.URL + "/eli/sitemap.xml"}
	callHarvest(t, args...).is(t, exitDone)
	w.set("/eli/sitemap.xml", text("<!doctype html><title>We have moved</title>"))
	callHarvest(t, args...).is(t, exitFailed)
	a := callHarvest(t, args...)
	a.is(t, exitFailed)
	assert.Contains(t, a.stderr, "leads to no sitemap of legislation")
}

// TestLegislationRate: -rate decides about the interval, also with -protocol auto.
func TestLegislationRate(t *testing.T) {
	w := newWeb(t)
	laws(w, "/eli/sitemap.xml", "/eli/eli-update-feed.atom", "")
	began := time.Now()
	callHarvest(t, storeFlag(t), "-rate=1e6", w.URL).is(t, exitDone)
	assert.Less(t, time.Since(began), 5*time.Second)
	assert.Positive(t, w.asked["/eli/act/1/en/pdf"])
}

// TestNoFullText: an act with formats of which none is chosen is counted, with the reason.
func TestNoFullText(t *testing.T) {
	w := newWeb(t)
	laws(w, "/eli/sitemap.xml", "", "")
	page := w.pages["/eli/act/1"]
	w.set("/eli/act/1", func(rw http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		page(rec, r)
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprint(rw, strings.Replace(rec.Body.String(), "application/pdf", "application/epub+zip", 1))
	})
	a := callHarvest(t, storeFlag(t), "-protocol=eli", "-rate=1e6", w.URL+"/eli/sitemap.xml")
	a.is(t, exitDone)
	assert.Contains(t, a.stderr, "1 formats are stated (application/epub+zip), and none of them is chosen by text/html")
	assert.Regexp(t, `findings +\d+ departures? from the specification: .*eli-full-text-none 1`, a.stdout)
}

// TestLegislationPreferences: the flags about languages and formats reach the Source, also
// of what is found.
func TestLegislationPreferences(t *testing.T) {
	for _, args := range [][]string{{"-protocol=eli", "/eli/sitemap.xml", "/eli/eli-update-feed.atom"}, {"-protocol=auto", "/"}} {
		w := newWeb(t)
		laws(w, "/eli/sitemap.xml", "/eli/eli-update-feed.atom", "")
		call := []string{storeFlag(t), "-rate=1e6", "-formats=html", "-languages=fr", args[0]}
		for _, path := range args[1:] {
			call = append(call, w.URL+path)
		}
		a := callHarvest(t, call...)
		a.is(t, exitDone)
		assert.Zero(t, w.asked["/eli/act/1/en/pdf"])
		assert.Contains(t, a.stderr, "1 formats are stated (application/pdf), and none of them is chosen by text/html")
	}
}
