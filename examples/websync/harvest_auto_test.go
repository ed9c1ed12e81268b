package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// feedOf returns a feed of pages of the server.
func (w *web) feedOf(title string, paths ...string) http.HandlerFunc {
	var b strings.Builder
	fmt.Fprintf(&b, `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:%s</id><title>%[1]s</title><updated>2026-01-03T00:00:00Z</updated><author><name>A</name></author>`, title)
	for _, path := range paths {
		fmt.Fprintf(&b, `<entry><id>%s%s</id><title>T</title><updated>2026-01-02T00:00:00Z</updated><link href="%[1]s%[2]s"/></entry>`, w.URL, path)
	}
	return text(b.String() + "</feed>")
}

// live returns the sources of a store that have records.
func live(t *testing.T, flag string) []string {
	return slices.Sorted(maps.Keys(head(t, flag).Live))
}

// TestAuto: what a host offers is found out once.
func TestAuto(t *testing.T) {
	w := newWeb(t)
	w.set("/", text(`<!doctype html><title>Acts</title><link rel="alternate" type="application/atom+xml" href="/news">`))
	w.set("/news", w.feedOf("news", w.serve("n", 2)...))
	w.set("/robots.txt", text("Sitemap: /sitemap.xml"))
	w.set("/sitemap.xml", text(w.urlset(w.serve("p", 3)...)))
	args := []string{storeFlag(t), "-rate=1e6", w.URL + "/"}
	a := callHarvest(t, append(args, "-plan")...)
	a.is(t, exitDone)
	assert.Contains(t, a.stderr, "harvesting sitemap "+w.URL+"/sitemap.xml, atom "+w.URL+`/news "news"`)

	callHarvest(t, args...).is(t, exitDone)
	assert.Equal(t, 2, w.asked["/.well-known/resourcesync"], "a plan remembers nothing")
	a = callHarvest(t, args...)
	a.is(t, exitDone)
	assert.Contains(t, a.stdout, "held, nothing new")
	assert.Empty(t, a.stderr)
	assert.Equal(t, 2, w.asked["/.well-known/resourcesync"])
	assert.Equal(t, 2, w.asked["/"])
	assert.Equal(t, []string{w.URL + "/news", w.URL + "/sitemap.xml"}, live(t, args[0]))

	callHarvest(t, append(args, "-full")...).is(t, exitDone)
	assert.Equal(t, 3, w.asked["/"], "-full finds out anew")
}

// TestAutoAsksOnceMore: a document that can be harvested itself costs one request more,
// once.
func TestAutoAsksOnceMore(t *testing.T) {
	w := newWeb(t)
	w.set("/list", text(w.urlset(w.serve("p", 3)...)))
	args := []string{storeFlag(t), "-rate=1e6", w.URL + "/list"}
	for n := range 3 {
		a := callHarvest(t, args...)
		a.is(t, exitDone)
		assert.Empty(t, a.stderr)
		assert.Equal(t, n+2, w.asked["/list"])
	}
	assert.Len(t, w.asked, 5, "the list, three pages and robots.txt, which the client reads")
}

// TestAutoAmbiguous: nothing is harvested, and the choices are commands.
func TestAutoAmbiguous(t *testing.T) {
	w := newWeb(t)
	w.set("/blog", text(`<!doctype html><link rel="alternate" type="application/atom+xml" href="/posts"><link rel="alternate" type="application/atom+xml" href="/comments">`))
	w.set("/posts", w.feedOf("posts", w.serve("p", 2)...))
	w.set("/comments", w.feedOf("comments"))
	w.set("/list", text(w.urlset(w.serve("a", 1)...)))
	store := storeFlag(t)
	a := callHarvest(t, store, "-json", w.URL+"/blog", w.URL+"/list")
	a.is(t, exitFailed)
	s := a.parsed(t)
	require.Len(t, s.Reports, 2)
	assert.EqualValues(t, 1, s.Reports[1]["created"], "the other URL is harvested")
	for _, text := range []string{a.stderr, s.Reports[0]["error"].(string)} {
		assert.Contains(t, text, w.URL+"/blog leads to 2 offers that are equally good. Name what you want:\n"+
			"  websync harvest -protocol atom "+w.URL+"/posts  # \"posts\"\n  websync harvest -protocol atom "+w.URL+"/comments  # \"comments\"")
	}
	assert.Equal(t, w.URL+"/blog", s.Reports[0]["source"])
	assert.Equal(t, []string{w.URL + "/list"}, live(t, store))
	callHarvest(t, store, "-protocol=atom", w.URL+"/posts").is(t, exitDone)

	a = callHarvest(t, store, w.URL+"/nothing")
	a.is(t, exitFailed)
	assert.Contains(t, a.stderr, "404")
	w.set("/robots.txt", text("Sitemap: /list"))
	a = callHarvest(t, store, w.URL+"/nothing")
	a.is(t, exitFailed)
	assert.Regexp(t, `/nothing: 404 Not Found: this leads to nothing that can be harvested, but the host has 1 offer\. Name what you want:\n  websync harvest -protocol sitemap http://\S+/list\n`, a.stderr)
}

// TestAutoChanged: what a URL offers is found out anew after it was something else.
func TestAutoChanged(t *testing.T) {
	w := newWeb(t)
	paths := w.serve("p", 2)
	w.set("/x", text(w.urlset(paths...)))
	args := []string{storeFlag(t), "-rate=1e6", w.URL + "/x"}
	callHarvest(t, args...).is(t, exitDone)
	w.set("/x", w.feedOf("x", paths...))
	a := callHarvest(t, args...)
	a.is(t, exitFailed)
	assert.Contains(t, a.stderr, "an Atom feed, not a sitemap")
	callHarvest(t, args...).is(t, exitDone)
}

// TestAutoProtocols: a profile of Atom, and ResourceSync, are read as what they are.
func TestAutoProtocols(t *testing.T) {
	w := resourceSync(t)
	w.set("/act", text("%PDF"))
	w.set("/act/rdf", text("rdf"))
	const md5 = `hash="md5:00000000000000000000000000000000"`
	entry := `<entry><id>` + w.URL + `/act</id><title>A</title><updated>2026-01-02T00:00:00Z</updated><published>2026-01-02T00:00:00Z</published>
<content type="application/pdf" src="/act" ` + md5 + `/><link rel="alternate" type="application/rdf+xml" href="/act/rdf" length="3" ` + md5 + `/></entry>`
	w.set("/rinfo", text(feedStart+entry+"</feed>"))
	w.set("/pmh", text(feedStart+`<entry><id>urn:a</id><title>A</title><updated>2026-01-02T00:00:00Z</updated><link type="text/plain" href="/1/a"/></entry>
<entry><id>urn:b</id><title>B</title><updated>2026-01-02T00:00:00Z</updated><content/></entry></feed>`))

	a := callHarvest(t, "-store=mem", w.URL+"/rinfo")
	a.is(t, exitLeft)
	assert.Contains(t, a.stderr, "harvesting rinfo ")
	assert.Contains(t, a.stdout, "rinfo: content", "digests are checked")

	a = callHarvest(t, "-store=mem", w.URL+"/pmh")
	a.is(t, exitDone)
	assert.Contains(t, a.stderr, "harvesting atompmh ")

	store := storeFlag(t)
	a = callHarvest(t, store, "-rate=1e6", w.URL+"/")
	a.is(t, exitDone)
	assert.Contains(t, a.stderr, "harvesting resourcesync "+w.URL+"/1/list, resourcesync "+w.URL+"/2/list\n")
	assert.Equal(t, []string{w.URL + "/1/list", w.URL + "/2/list"}, live(t, store))
	a = callHarvest(t, store, "-rate=1e6", w.URL+"/")
	a.is(t, exitDone)
	assert.Empty(t, a.stderr)
}
