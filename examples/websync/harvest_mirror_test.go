package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
)

// bodiesOf returns the texts of all bodies in a store, sorted.
func bodiesOf(t *testing.T, flag string) (all []string) {
	catalog, db := openStore(t, flag)
	defer db.Close()
	for item, err := range catalog.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		for _, b := range item.Bodies {
			all = append(all, testkit.Read(t, catalog, b))
		}
	}
	slices.Sort(all)
	return all
}

// TestIncludeExclude: a part of a site is in step, and what is held of the rest stays.
func TestIncludeExclude(t *testing.T) {
	w := newWeb(t)
	for _, path := range []string{"/news/1", "/news/2.pdf", "/about", "/print"} {
		w.set(path, text(path))
	}
	w.set("/sitemap.xml", w.listing("2020-01-01", "/news/1", "/news/2.pdf", "/about", "/print?page=1"))
	args := []string{storeFlag(t), "-rate=1e6", "-complete", w.URL + "/sitemap.xml"}
	a := callHarvest(t, append(args, "-include=/news/**", "-include=/print", "-exclude=*.pdf", `-exclude=re:[?&]page=\d`)...)
	a.is(t, exitDone)
	assert.Contains(t, a.stdout, "  created    1\n  excluded   3\n")
	assert.Contains(t, a.stdout, "In step: 1 held. ")
	assert.Equal(t, []string{"/news/1"}, bodiesOf(t, args[0]))

	callHarvest(t, args...).is(t, exitDone)
	assert.Len(t, bodiesOf(t, args[0]), 4, "other patterns list everything again")

	a = callHarvest(t, append(args, "-exclude=/news/**")...)
	a.is(t, exitDone)
	assert.Contains(t, a.stdout, "  The filter leaves out 2 resources of the store from now on: what is held of them stays as it is until the source no longer lists them.\n")
	assert.Len(t, bodiesOf(t, args[0]), 4)
	w.set("/sitemap.xml", w.listing("2020-01-01", "/news/1", "/about", "/print?page=1"))
	a = callHarvest(t, append(args, "-exclude=/news/**")...)
	a.is(t, exitDone)
	assert.Contains(t, a.stdout, "  deleted    1\n")
}

// TestMirrorFlagErrors: a wrong value is refused before anything is read or written.
func TestMirrorFlagErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	for arg, want := range map[string]string{
		"-include=a/":                    `-include "a/": an element that is empty, one dot or two`,
		"-exclude=re:(":                  `-exclude "re:(": error parsing regexp`,
		"-budget=5":                      `-budget "5": not of the form time=1h30m,requests=5000,bytes=2GB, or a part of that`,
		"-budget=time=0s":                "not of the form",
		"-budget=requests=-1":            "not of the form",
		"-budget=bytes=1e999":            "not of the form",
		"-budget=time=1h,bytes=2G":       "not of the form",
		"-contact=a\nb":                  `-contact "a\nb": has a control character`,
		"-header=hush":                   `-header: not of the form "Name: value" or "HOST Name: value"`,
		"-header=User-Agent: hush":       "-header: header User-Agent is set by the Client",
		"-header=Accept-Encoding: hush":  "-header: header Accept-Encoding is set by the Client",
		"-header=https://h/path X: hush": `-header: "https://h/path" is not a host, nor an origin`,
		"-header=X(): hush":              `-header: "X()" is not the name of a header`,
		"-header=X: hu\x01sh":            "-header: header X: the value has control characters",
		"-types=a/b -protocol=atom":      "-types a/b: only for protocol resourcesync",
	} {
		a := callHarvest(t, append(slices.Collect(strings.SplitSeq(arg, " -p")), "http://127.0.0.1:1/")...)
		if strings.Contains(arg, " -p") {
			a = callHarvest(t, append(strings.Fields(arg), "http://127.0.0.1:1/")...)
		}
		a.is(t, exitFailed)
		assert.Contains(t, a.stderr, want, arg)
		assert.NotContains(t, a.stderr, "hush")
	}
	files, _ := filepath.Glob("*")
	assert.Empty(t, files)
}

// TestBudget: a run ends in order when its budget is spent, and the next one goes on.
func TestBudget(t *testing.T) {
	w := newWeb(t)
	w.set("/sitemap.xml", w.listing("2020-01-01", w.serve("p", 9)...))
	args := []string{storeFlag(t), "-rate=1e6", "-complete", "-sample=-1", "-concurrency=1", "-budget=requests=4,time=1h,bytes=1.5GB", w.URL + "/sitemap.xml"}
	for _, held := range []int{4, 8} {
		a := callHarvest(t, args...)
		a.is(t, exitLeft)
		assert.Contains(t, a.stdout, "Not in step: the budget is spent, and the next run goes on from here.\n")
		assert.Len(t, bodiesOf(t, args[0]), held)
	}
	a := callHarvest(t, args...)
	a.is(t, exitDone)
	assert.Contains(t, a.stdout, "In step: 9 held. ")

	w.set("/sitemap.xml", w.listing("2020-01-02", w.serve("q", 9)...))
	a = callHarvest(t, append(args, "-budget=bytes=1")...)
	a.is(t, exitLeft)
	assert.Contains(t, a.stdout, "withheld")
	assert.Len(t, bodiesOf(t, args[0]), 10, "nothing is deleted on its account")
}

// A headerLog has the headers of requests, by URL.
type headerLog struct {
	mu  sync.Mutex
	all map[string]http.Header
}

func (l *headerLog) serve(next http.Handler) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.all["http://"+r.Host+r.URL.Path] = r.Header
		l.mu.Unlock()
		next.ServeHTTP(w, r)
	}))
}

// TestHeaders: what requests say of who sends them, and headers for one host, which no
// other gets, listed or by a redirect.
func TestHeaders(t *testing.T) {
	log := &headerLog{all: map[string]http.Header{}}
	other := log.serve(text("other"))
	defer other.Close()
	var one *httptest.Server
	one = log.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/sitemap.txt":
			fmt.Fprintf(w, "%s/a\n%s/moved\n%s/b\n", one.URL, one.URL, other.URL)
		case "/moved":
			http.Redirect(w, r, other.URL+"/moved", http.StatusFound)
		default:
			io.WriteString(w, "text")
		}
	}))
	defer one.Close()
	call := func(args ...string) {
		clear(log.all)
		callHarvest(t, append(args, "-store=mem", "-rate=1e6", "-allow-private", "-protocol=sitemap", one.URL+"/sitemap.txt")...).is(t, exitDone)
	}
	call("-header=X-Key: hush", "-header=Authorization: Bearer hush", "-header="+other.URL+" X-Other:  of b ", "-contact=me@example.org")
	for _, url := range []string{one.URL + "/sitemap.txt", one.URL + "/a", one.URL + "/moved"} {
		h := log.all[url]
		assert.Equal(t, "hush Bearer hush ", h.Get("X-Key")+" "+h.Get("Authorization")+" "+h.Get("X-Other"), url)
		assert.Equal(t, "websync/"+websync.Version+" (me@example.org; +https://github.com/websync-go/websync)", h.Get("User-Agent"))
		assert.Equal(t, "me@example.org", h.Get("From"))
	}
	for _, url := range []string{other.URL + "/b", other.URL + "/moved"} {
		h := log.all[url]
		assert.Equal(t, "  of b ", h.Get("X-Key")+" "+h.Get("Authorization")+" "+h.Get("X-Other")+" ", url)
	}
	call("-user-agent=Mirror/2", "-contact=https://example.org/mirror")
	assert.Equal(t, "Mirror/2 (https://example.org/mirror)", log.all[one.URL+"/a"].Get("User-Agent"))
	call()
	assert.Equal(t, "websync/"+websync.Version+" (+https://github.com/websync-go/websync)", log.all[one.URL+"/a"].Get("User-Agent"))

	// a password in the URL and a key
	clear(log.all)
	url := strings.Replace(one.URL, "http://", "http://me:secret@", 1) + "/sitemap.txt"
	callHarvest(t, "-store=mem", "-rate=1e6", "-allow-private", "-protocol=sitemap", "-header=X-Key: hush", url).is(t, exitDone)
	h := log.all[one.URL+"/a"]
	assert.Equal(t, "hush true", fmt.Sprint(h.Get("X-Key"), " ", strings.HasPrefix(h.Get("Authorization"), "Basic ")))
}

// TestProxy: the environment names a proxy, which may have a private address.
func TestProxy(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch asked = append(asked, r.URL.String()); r.URL.Path {
		case "/sitemap.txt":
			io.WriteString(w, "http://site.example/a\nhttp://10.0.0.1/b\n")
		case "/robots.txt":
			http.NotFound(w, r)
		default:
			io.WriteString(w, "text of "+r.URL.String())
		}
	}))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	store := storeFlag(t)
	a := callHarvest(t, store, "-rate=1e6", "-protocol=sitemap", "http://site.example/sitemap.txt")
	a.is(t, exitLeft)
	assert.Equal(t, []string{"text of http://site.example/a"}, bodiesOf(t, store))
	assert.Contains(t, a.stdout, "10.0.0.1 is not a public address", "what lists name")
	assert.NotContains(t, asked, "http://10.0.0.1/b")
}

// imageSite serves pages with pictures, a video and an alternate, of which one picture is
// missing.
func imageSite(t *testing.T) *web {
	w := newWeb(t)
	for _, path := range []string{"/a", "/b", "/a.de", "/1.png", "/2.png", "/film.mp4", "/film.png"} {
		w.set(path, text("text of "+path))
	}
	w.set("/sitemap.xml", text(strings.ReplaceAll(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"
 xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:video="http://www.google.com/schemas/sitemap-video/1.1">
<url><loc>HOST/a</loc><lastmod>2020-01-01</lastmod><image:image><image:loc>HOST/1.png</image:loc></image:image><image:image><image:loc>HOST/2.png</image:loc></image:image>
<xhtml:link rel="alternate" hreflang="en" href="HOST/a"/><xhtml:link rel="alternate" hreflang="de" href="HOST/a.de"/></url>
<url><loc>HOST/b</loc><lastmod>2020-01-01</lastmod><image:image><image:loc>HOST/missing.png</image:loc></image:image>
<video:video><video:thumbnail_loc>HOST/film.png</video:thumbnail_loc><video:title>T</video:title><video:description>D</video:description><video:content_loc>HOST/film.mp4</video:content_loc></video:video></url>
</urlset>`, "HOST", w.URL)))
	return w
}

// TestAlsoImages: a mirror has the images of a site, and so has who follows it by Atom or
// by ResourceSync.
func TestAlsoImages(t *testing.T) {
	w := imageSite(t)
	texts := func(paths ...string) (all []string) {
		for _, path := range paths {
			all = append(all, "text of "+path)
		}
		return all
	}
	plain := []string{storeFlag(t), "-rate=1e6", w.URL + "/sitemap.xml"}
	callHarvest(t, plain...).is(t, exitDone)
	assert.Equal(t, texts("/a", "/b"), bodiesOf(t, plain[0]))
	a := callHarvest(t, append(plain, "-also=image")...)
	a.is(t, exitDone)
	assert.Equal(t, texts("/1.png", "/2.png", "/a", "/b"), bodiesOf(t, plain[0]), "also of what is held")
	assert.Contains(t, a.stderr, "/missing.png: 404 Not Found")
	a = callHarvest(t, append(plain, "-also=image")...)
	assert.Contains(t, a.stdout, "In step: 2 held, nothing new.")
	callHarvest(t, append(plain, "-also=image,video,alternate")...).is(t, exitDone)
	everything := texts("/1.png", "/2.png", "/a", "/a.de", "/b", "/film.mp4", "/film.png")
	assert.Equal(t, everything, bodiesOf(t, plain[0]))

	catalog, db := openStore(t, plain[0])
	defer db.Close()
	var handler http.Handler
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	defer mirror.Close()
	site := &publish.Site{Catalog: catalog, Base: mirror.URL + "/"}
	lists := []*cli.Publication{{Protocol: "atom"}, {Protocol: "resourcesync"}}
	all := site.Handler(lists[0].Publisher(site.Base), lists[1].Publisher(site.Base))
	defer all.Close()
	handler = all
	w.Close() // what follows is got from the mirror
	for _, list := range lists {
		follower := []string{storeFlag(t), "-rate=1e6", "-protocol=" + list.Protocol, "-also=enclosure,alternate", list.Entry()}
		callHarvest(t, follower...).is(t, exitDone)
		assert.Equal(t, everything, bodiesOf(t, follower[0]), list.Protocol)
	}
}

// TestTypes: of the representations that ResourceSync lists, the wanted one is got, also
// if the protocol is found out.
func TestTypes(t *testing.T) {
	w := resourceSync(t)
	w.set("/1/a.pdf", text("%PDF"))
	w.set("/1/resources", text(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/"><rs:md capability="resourcelist" at="2025-01-02T00:00:00Z"/>
<url><loc>`+w.URL+`/1/a</loc><rs:md type="text/html"/><rs:ln rel="alternate" type="application/pdf" href="`+w.URL+`/1/a.pdf"/></url></urlset>`))
	for _, protocol := range []string{"auto", "resourcesync"} {
		store := storeFlag(t)
		callHarvest(t, store, "-rate=1e6", "-protocol="+protocol, "-types=application/pdf,text/html", w.URL+"/1/list").is(t, exitDone)
		assert.Equal(t, []string{"%PDF"}, bodiesOf(t, store))
	}
}

// TestRelaySelection: a relay takes a part of a source and what belongs to it, from its
// file and by flags, and says who asks.
func TestRelaySelection(t *testing.T) {
	for name, args := range map[string]func(w *web) []string{
		"file": func(w *web) []string {
			return []string{configured(t, `{"store": "mem", "rate": 1e6, "contact": "me@example.org", "user_agent": "Relay/1",
				"sources": [{"url": %q, "protocol": "sitemap", "include": ["/a", "/b"], "exclude": ["re:^/b$"], "also": ["image"]}]}`, w.URL+"/sitemap.xml")}
		},
		"flags": func(w *web) []string {
			return []string{"-store=mem", "-rate=1e6", "-contact=me@example.org", "-user-agent=Relay/1", "-protocol=sitemap",
				"-include=/a", "-include=/b", "-exclude=re:^/b$", "-also=image", w.URL + "/sitemap.xml"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := imageSite(t)
			var agent atomic.Value
			w.set("/2.png", func(rw http.ResponseWriter, r *http.Request) { agent.Store(r.UserAgent() + " " + r.Header.Get("From")) })
			r := startRelay(t, 1, args(w)...)
			eventually(t, func() bool { return strings.Contains(r.stderr.String(), "/sitemap.xml: 1 created") }, r.stderr)
			assert.Equal(t, exitDone, r.stop())
			assert.Equal(t, "Relay/1 (me@example.org) me@example.org", agent.Load())
			w.mu.Lock()
			defer w.mu.Unlock()
			assert.Zero(t, w.asked["/b"]+w.asked["/film.mp4"]+w.asked["/a.de"])
			assert.Equal(t, 1, w.asked["/1.png"])
		})
	}
}

// TestVersion: the version is that of the module.
func TestVersion(t *testing.T) {
	for _, arg := range []string{"-version", "--version", "version"} {
		a := call(t, arg)
		a.is(t, exitDone)
		assert.Equal(t, "websync "+websync.Version+"\n", a.stdout)
	}
}
