package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/status"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
)

// maxRelayMemory is what a relay of strangers takes at most.
const maxRelayMemory = 128 << 20

// hostileFeed serves a feed of n entries with more in each.
func hostileFeed(n int, more string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/atom+xml")
		const head = `<feed xmlns="http://www.w3.org/2005/Atom"><id>http://%s/</id><title>t</title>` +
			`<updated>2026-01-02T03:04:05Z</updated>`
		fmt.Fprintf(w, head, r.Host)
		for i := range n {
			const entry = `<entry><id>http://%s/%d</id><updated>2026-01-02T03:04:05Z</updated><author><name>a</name></author>%s` +
				`<content>text</content></entry>`
			fmt.Fprintf(w, entry, r.Host, i, more)
		}
		fmt.Fprint(w, "</feed>")
	}
}

// hostileSitemap serves a sitemap of n urls with more in each, and with page what they
// lead to.
func hostileSitemap(n int, more string, page http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			page(w, r)
			return
		}
		fmt.Fprint(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" `+
			`xmlns:i="http://www.google.com/schemas/sitemap-image/1.1">`)
		for i := range n {
			fmt.Fprintf(w, "<url><loc>http://%s/%d</loc>%s</url>", r.Host, i, more)
		}
		fmt.Fprint(w, "</urlset>")
	}
}

// zipBomb serves a sitemap of n MiB as a few KiB.
func zipBomb(t *testing.T, n int) http.HandlerFunc {
	packed := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := z.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		return b.Bytes()
	}
	head := packed(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	url := packed("<url><loc>http://bomb.example/" + strings.Repeat("a", 1<<20) + "</loc></url>")
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/gzip")
		w.Write(head)
		for range n {
			w.Write(url)
		}
		w.Write(packed("</urlset>"))
	}
}

// dripping serves a byte at once, and one more for each that drip receives, until the
// test ends.
func dripping(t *testing.T, drip <-chan struct{}) http.HandlerFunc {
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	return func(w http.ResponseWriter, r *http.Request) {
		for {
			fmt.Fprint(w, "x")
			w.(http.Flusher).Flush()
			select {
			case <-drip:
			case <-ended:
				return
			case <-r.Context().Done():
				return
			}
		}
	}
}

// hostileSources starts servers of what takes memory. It returns their URLs, the one of
// the dripping last, and the elements of a configuration's sources.
func hostileSources(t *testing.T, drip <-chan struct{}) (urls, sources []string) {
	text := func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "text of ", r.URL.Path) }
	words := func(n int) string { return strings.Repeat("Words, ", n/7) }
	const link, element = `<link rel="related" href="http://other.example/a/page"/>`, `<x xmlns="urn:x" a="b">text</x>`
	image := "<i:image><i:loc>http://image.example/" + strings.Repeat("a", 1000) + "</i:loc></i:image>"
	for _, s := range []struct {
		protocol string
		answer   http.HandlerFunc
	}{
		{"atom", hostileFeed(3, "<title>"+words(4_000_000)+"</title>")},
		{"atom", hostileFeed(50, "<title>t</title><summary>"+words(2_000_000)+"</summary>")},
		{"atom", hostileFeed(30, "<title>t</title>"+strings.Repeat(link, 1000))},
		{"atom", hostileFeed(30, "<title>t</title>"+strings.Repeat(element, 1000))},
		{"sitemap", hostileSitemap(100, strings.Repeat(image, 200), text)},
		{"sitemap", zipBomb(t, racing.Some(1100))},
		{"sitemap", hostileSitemap(10, "", dripping(t, drip))},
	} {
		server := httptest.NewServer(s.answer)
		t.Cleanup(server.Close)
		urls = append(urls, server.URL+"/")
		sources = append(sources, followedOften(server.URL+"/", s.protocol))
	}
	return urls, sources
}

// followedOften is an element of a configuration's sources. In the short form the source is
// read once.
func followedOften(url, protocol string) string {
	every := "1s"
	if racing.Few() {
		every = "1h"
	}
	return fmt.Sprintf(`{"url": %q, "protocol": %q, "every": %q, "interval": "0s"}`, url, protocol, every)
}

// runsOf returns how many runs of each source the status page has.
func runsOf(t *testing.T, page string) map[string]int64 {
	resp, err := http.Get(page + "status.json")
	require.NoError(t, err)
	defer resp.Body.Close()
	var now status.Status
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&now))
	runs := map[string]int64{}
	for _, s := range now.Sources {
		for _, run := range s.Runs {
			runs[s.Name] += run.Count
		}
	}
	return runs
}

// TestRelayMemory: a relay of hostile sources has a bounded memory while it reads them, in
// the long form twice, and while readers of each protocol follow it. An honest source is
// published.
func TestRelayMemory(t *testing.T) {
	racing.Alone(t)
	up := newUpstream(t, "atom")
	up.put("a", "honest")
	drip := make(chan struct{})
	urls, sources := hostileSources(t, drip)
	f := newFront(t, func() {})
	store := "-store=sqlite:" + filepath.Join(t.TempDir(), "relay.db")
	p := launch(t, f, store, "-addr=127.0.0.1:0", "-status=127.0.0.1:0", "-rate=1e6",
		configured(t, `{"base": %q, "allow_private": true, "sources": [%s], "publish": [
			{"protocol": "sitemap"}, {"protocol": "resourcesync"}, {"protocol": "atom"},
			{"protocol": "atompmh", "path": "atompmh.xml"}, {"protocol": "rinfo", "path": "rinfo.xml"}]}`,
			f.URL+"/", strings.Join(append(sources, followedOften(up.entry, "atom")), ", ")))
	<-p.up
	_, page, ok := strings.Cut(p.stderr.String(), "relay: status page at ")
	require.True(t, ok, &p.stderr)
	page, _, _ = strings.Cut(page, "\n")

	follow := make(chan struct{}) // a reader runs once more for each that it receives
	var reading sync.WaitGroup
	var readers []*reader
	for _, source := range []harvest.Source{
		&sitemap.Source{URL: f.URL + "/sitemap.xml"}, &resourcesync.Source{URL: f.URL + "/capabilitylist.xml"},
		&atom.Source{URL: f.URL + "/feed.atom"}, &rinfo.Source{URL: f.URL + "/rinfo.xml"},
		&atompmh.Source{URL: f.URL + "/atompmh.xml", AllFormats: true},
	} {
		r := newReader(source)
		readers = append(readers, r)
		reading.Go(func() {
			for range follow {
				r.run(t)
			}
		})
	}
	enough := int64(2)
	if racing.Few() {
		enough = 1
	}
	// without a limit of its own: a busy machine unpacks slowly
	for done := false; !done; {
		for _, next := range []chan struct{}{drip, follow} {
			select {
			case next <- struct{}{}:
			default:
			}
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-p.ended:
			require.Fail(t, "the relay ended", &p.stderr)
		}
		runs := runsOf(t, page)
		done = !slices.ContainsFunc(urls[:len(urls)-1], func(url string) bool { return runs[url] < enough })
	}
	close(follow)
	reading.Wait()
	for _, r := range readers {
		eventually(t, func() bool {
			r.run(t)
			return slices.Contains(slices.Collect(maps.Values(texts(t, r.store))), "honest")
		}, r.source.Key())
	}
	peak := testkit.PeakMemoryOf(p.Process.Pid)
	t.Logf("%d MiB", peak>>20)
	assert.NotZero(t, peak)
	assert.LessOrEqual(t, peak, int64(maxRelayMemory))
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	<-p.ended
	require.Equal(t, exitDone, p.ProcessState.ExitCode(), &p.stderr)
}
