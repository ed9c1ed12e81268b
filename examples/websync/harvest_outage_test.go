package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// outages are what a site answers to everything while its sources can't be found.
var outages = map[string]func(w *web){
	"503":        func(w *web) { w.all(answerWith(503)) },
	"404":        func(w *web) { w.all(answerWith(404)) },
	"410":        func(w *web) { w.all(answerWith(410)) },
	"401":        func(w *web) { w.all(answerWith(401)) },
	"429":        func(w *web) { w.all(answerWith(429)) },
	"login page": func(w *web) { w.all(text("<html><body><form>Log in</form></body></html>")) },
	"empty":      func(w *web) { w.all(text("")) },
	"empty set":  func(w *web) { w.all(text(w.urlset())) },
	"cut body":   func(w *web) { w.all(text(w.urlset("/p/000")[:60])) },
	"robots.txt": func(w *web) { w.all(text("User-agent: *\nDisallow: /\n")) },
	"redirects": func(w *web) {
		w.all(func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, r.URL.Path+"x", http.StatusFound) })
	},
	"broken":      func(w *web) { w.all(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }) },
	"no server":   func(w *web) { w.Close() },
	"another one": func(w *web) { w.all(text(w.sitemapindex("/none.xml"))) },
}

// all gives the same answer to everything.
func (w *web) all(h http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path := range w.pages {
		w.pages[path] = h
	}
	w.pages["/robots.txt"] = h
}

// An export after a run that could not read its source removes nothing, whatever the run
// knows of the source: its store, what an earlier run found out, or nothing.
func TestOutageRemovesNoFile(t *testing.T) {
	for name, outage := range outages {
		for _, memory := range []string{"all", "anew", "new store"} {
			t.Run(name+"/"+memory, func(t *testing.T) {
				w := newWeb(t)
				paths := w.serve("p", 3)
				w.set("/", text(`<html><head><link rel="sitemap" href="/sitemap.xml"></head></html>`))
				w.set("/sitemap.xml", text(w.urlset(paths...)))
				w.set("/robots.txt", text("Sitemap: "+w.URL+"/sitemap.xml\n"))
				flag, dir := storeFlag(t), t.TempDir()
				callHarvest(t, "-rate=1e6", flag, "-export", dir, w.URL+"/").is(t, exitDone)
				before, lines := filesIn(t, dir), indexLines(t, dir)
				require.Len(t, before, 3)

				outage(w)
				args := []string{"-rate=1e6", flag, "-export", dir, w.URL + "/"}
				switch memory {
				case "anew":
					args = append(args, "-full")
				case "new store":
					args[1] = storeFlag(t)
				}
				for range 2 {
					a := callHarvest(t, args...)
					if name != "empty set" { // which may be what the site has
						assert.NotEqual(t, exitDone, a.code, "%s\n%s", a.stdout, a.stderr)
					}
					assert.Equal(t, before, filesIn(t, dir), "%s\n%s", a.stdout, a.stderr)
					assert.Equal(t, lines, indexLines(t, dir))
				}
			})
		}
	}
}

// Hosts that do not answer, or not by HTTP, are outages, too.
func TestNoAnswerRemovesNoFile(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	secure.Config.ErrorLog = nil
	store := hold(t, map[string][]string{"s": {"http://h/a"}})
	for name, url := range map[string]string{
		"no answer": "http://" + silent.Addr().String() + "/", "no such host": "http://host.invalid/", "a wrong certificate": secure.URL + "/",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := export(t.Context(), store, dir, []string{"s"})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			a := callHarvestContext(ctx, storeFlag(t), "-export", dir, url)
			assert.NotEqual(t, exitDone, a.code)
			assert.Equal(t, map[string]string{"h/a": "http://h/a"}, filesIn(t, dir))
			assert.Len(t, indexLines(t, dir), 1)
		})
	}
}

// Of two URLs one fails; later one of them only is named.
func TestExportOfSomeSources(t *testing.T) {
	w := newWeb(t)
	w.serve("a", 2)
	w.serve("b", 2)
	w.set("/a.xml", text(w.urlset("/a/000", "/a/001")))
	w.set("/b.xml", text(w.urlset("/b/000", "/b/001")))
	flag, dir := storeFlag(t), t.TempDir()
	args := []string{"-rate=1e6", flag, "-export", dir, "-complete", w.URL + "/a.xml", w.URL + "/b.xml"}
	callHarvest(t, args...).is(t, exitDone)
	before, lines := filesIn(t, dir), indexLines(t, dir)
	require.Len(t, before, 4)

	w.set("/b.xml", answerWith(503))
	callHarvest(t, args...).is(t, exitFailed)
	assert.Equal(t, before, filesIn(t, dir))
	assert.Equal(t, lines, indexLines(t, dir))

	a := callHarvest(t, args[:6]...)
	a.is(t, exitDone)
	assert.Equal(t, before, filesIn(t, dir))
	assert.Equal(t, lines, indexLines(t, dir))
	assert.Contains(t, a.stdout, "exported   2 bodies")
	assert.Contains(t, a.stdout, "kept       2 files")

	// what is deleted goes, of whatever source
	w.set("/a.xml", text(w.urlset("/a/000")))
	w.set("/b.xml", text(w.urlset("/b/001")))
	callHarvest(t, "-rate=1e6", flag, "-complete", w.URL+"/b.xml").is(t, exitDone)
	callHarvest(t, args[:6]...).is(t, exitDone)
	assert.Len(t, filesIn(t, dir), 2)
	assert.Len(t, indexLines(t, dir), 2)
}

// What decides about a file is what the store holds of its resource.
func TestExportKeeps(t *testing.T) {
	const a, b = "http://h/a b", "http://h/b"
	put := func(id, body string) harvest.Event {
		return harvest.Event{Resource: websync.Resource{ID: id}, Open: harvest.OpenBytes([]byte(body))}
	}
	gone := harvest.Event{Kind: harvest.Delete, Resource: websync.Resource{ID: a}}
	for _, test := range []struct {
		name  string
		run   func(run func(source string, events ...harvest.Event))
		stays bool
	}{
		{"unknown", func(run func(string, ...harvest.Event)) { run("s", put(b, "b")) }, true},
		{"deleted", func(run func(string, ...harvest.Event)) { run("s", put(a, "a"), gone, put(b, "b")) }, false},
		{"deleted in another source", func(run func(string, ...harvest.Event)) {
			run("other", put(a, "a"), gone, put("http://h/c", "c"))
			run("s", put(b, "b"))
		}, false},
		{"live in another source", func(run func(string, ...harvest.Event)) { run("other", put(a, "a")); run("s", put(b, "b")) }, true},
		{"deleted, and live in another source", func(run func(string, ...harvest.Event)) {
			run("other", put(a, "a"))
			run("s", put(a, "a"), gone, put(b, "b"))
		}, true},
		{"without its body", func(run func(string, ...harvest.Event)) {
			run("s", harvest.Event{Resource: websync.Resource{ID: a}}, put(b, "b"))
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := export(t.Context(), hold(t, map[string][]string{"s": {a, b}}), dir, []string{"s"})
			require.NoError(t, err)
			store := hold(t, nil)
			test.run(func(source string, events ...harvest.Event) {
				for _, e := range events { // each in a run of its own
					_, err := (&harvest.Harvester{Catalog: store}).Run(t.Context(), harvest.Of(source, e))
					require.NoError(t, err)
				}
			})
			for range 2 {
				got, err := export(t.Context(), store, dir, []string{"s"})
				require.NoError(t, err)
				_, err = os.Stat(filepath.Join(dir, "h", "a%20b"))
				assert.Equal(t, test.stays, err == nil)
				assert.Equal(t, test.stays, strings.Contains(fmt.Sprint(indexLines(t, dir)), "a%20b"))
				assert.Equal(t, test.stays, got.Kept == 1)
			}
		})
	}
}
