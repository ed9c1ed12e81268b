package sitemap_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
)

// A web is a Fetcher of pages in memory. It counts requests and open bodies.
type web struct {
	pages sourcetest.Site
	wait  map[string]time.Duration // before the answer

	mu     sync.Mutex
	asked  []string // "URL" or, when the answer was "not modified", "URL 304"
	open   int      // bodies that were not closed
	behind int      // fetches that have not returned
	most   int      // bodies open at one time
}

// mayBeCut is the Header of a page that may be cut.
var mayBeCut = map[string][]string{"May-Be-Cut": {"yes"}}

// from is the Header of a page that is answered with another URL.
func from(url string) map[string][]string { return map[string][]string{"From-Url": {url}} }

func dated(date string) map[string][]string { return map[string][]string{"Date": {date}} }

func (w *web) edit(url string, f func(page *sourcetest.Document)) {
	page := w.pages[url]
	f(&page)
	w.pages[url] = page
}

func (w *web) count(n *int, by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*n += by
}

func (w *web) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	w.count(&w.behind, 1)
	defer w.count(&w.behind, -1)
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(w.wait[req.URL]):
	}
	unlimited := *req
	unlimited.MaxBytes = 0 // the Source has limits of its own
	resp, err := (&sourcetest.Fetcher{Site: w.pages}).Fetch(ctx, &unlimited)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if resp.NotModified {
		w.asked = append(w.asked, req.URL+" 304")
		return resp, nil
	}
	w.asked = append(w.asked, req.URL)
	spooled, ok := resp.Body.(io.ReadSeekCloser)
	if !ok {
		return nil, errors.New("a list that is not spooled")
	}
	w.open++
	w.most = max(w.most, w.open)
	resp.Body, resp.MayBeCut = &body{ReadSeekCloser: spooled, w: w}, resp.Header["May-Be-Cut"] != nil
	if from := resp.Header["From-Url"]; from != nil {
		resp.URL = from[0]
	}
	return resp, nil
}

type body struct {
	io.ReadSeekCloser
	w    *web
	once sync.Once
}

func (b *body) Close() error {
	b.once.Do(func() { b.w.count(&b.w.open, -1) })
	return b.ReadSeekCloser.Close()
}

// A yielded is what a run yielded.
type yielded struct {
	events   []string
	puts     []websync.Resource
	findings []websync.Finding
	resume   harvest.Checkpoint
	expect   int64
	err      error
	options  string
}

func (t *yielded) rules() []string { return testkit.Rules(t.findings) }

// listen runs a Source and checks the rules that hold for every Source. If stop is
// positive, it breaks off after that many events.
func listen(t *testing.T, w *web, s *sitemap.Source, from harvest.Checkpoint, stop int) *yielded {
	t.Helper()
	return listenContext(t, t.Context(), w, s, from, stop)
}

func listenContext(t *testing.T, ctx context.Context, w *web, s *sitemap.Source, from harvest.Checkpoint, stop int) *yielded {
	t.Helper()
	var mu sync.Mutex
	got := new(yielded)
	w.asked = nil
	run := &harvest.Run{
		From:    from,
		Fetcher: w,
		Report: func(f websync.Finding) {
			mu.Lock()
			defer mu.Unlock()
			got.findings = append(got.findings, f)
		},
		Expect: func(n int64) { got.expect = n },
		Log:    slog.New(slog.DiscardHandler),
	}
	inside, problem := false, false
	for ev, err := range s.Events(ctx, run) {
		require.NoError(t, got.err, "an error is the last thing yielded")
		if err != nil {
			got.err = err
			continue
		}
		text := ev.Kind.String()
		switch ev.Kind {
		case harvest.SnapshotStart:
			inside = true
		case harvest.Put:
			got.puts = append(got.puts, ev.Resource)
			text = ev.Resource.ID
		case harvest.Problem:
			problem = true
			text = "problem: " + ev.Err.Error()
		case harvest.SnapshotEnd:
			inside = false
			got.options = ev.Options
			if ev.Complete {
				text += ", complete"
			}
			if ev.Skipped > 0 {
				text += fmt.Sprintf(", %d skipped", ev.Skipped)
			}
		}
		if !ev.Resume.IsZero() {
			assert.False(t, inside, "no Resume inside a snapshot")
			assert.False(t, problem, "no Resume after a Problem")
			got.resume = ev.Resume
			text += ", resume"
		}
		got.events = append(got.events, text)
		if len(got.events) == stop {
			break
		}
	}
	assert.Zero(t, w.open, "bodies left open")
	assert.Zero(t, w.behind, "fetches left behind")
	for _, f := range got.findings {
		assert.Contains(t, f.Document, "://", "a finding names its document")
	}
	return got
}

func index(entries ...string) string {
	var b strings.Builder
	b.WriteString("<sitemapindex xmlns='" + sitemap.Namespace + "'>\n")
	for _, e := range entries {
		loc, lastmod, ok := strings.Cut(e, " ")
		b.WriteString("<sitemap><loc>" + loc + "</loc>")
		if ok {
			b.WriteString("<lastmod>" + lastmod + "</lastmod>")
		}
		b.WriteString("</sitemap>\n")
	}
	b.WriteString("</sitemapindex>")
	return b.String()
}

func pages(locs ...string) sourcetest.Document {
	return sourcetest.Document{Body: string(urlset(locs...))}
}

const site = "https://www.example.com"

func TestSource(t *testing.T) {
	s := &sitemap.Source{URL: site + "/sitemap.xml", Complete: true}
	assert.Equal(t, site+"/sitemap.xml", s.Key())
	assert.Equal(t, site+"/sitemap.xml", s.Root())
	w := &web{pages: sourcetest.Site{site + "/sitemap.xml": {Body: `<urlset xmlns="` + sitemap.Namespace + `" xmlns:x="urn:x">
		<url><loc>https://www.example.com/1?a=1&amp;b=2</loc><lastmod>2025-06-01T10:00:00Z</lastmod>
			<changefreq>Daily</changefreq><priority>0.80</priority><x:a>t</x:a></url>
		<url><loc>/2</loc><lastmod>last &lt;week</lastmod><priority>0.0</priority></url>
		<url><loc/></url></urlset>`}}}
	got := listen(t, w, s, harvest.Checkpoint{}, 0)
	require.NoError(t, got.err)
	assert.Equal(t, []string{"snapshot start", site + "/1?a=1&b=2", site + "/2", "snapshot end, complete, 1 skipped, resume"}, got.events)
	modified, err := websync.ParseDatetime("2025-06-01T10:00:00Z")
	require.NoError(t, err)
	own := func(local, text string) websync.Element {
		return websync.Element{Space: sitemap.Namespace, Local: local,
			XML: "<" + local + ` xmlns="` + sitemap.Namespace + `">` + text + "</" + local + ">"}
	}
	assert.Equal(t, []websync.Resource{
		{
			ID: site + "/1?a=1&b=2", Modified: modified, Content: websync.Link{Href: site + "/1?a=1&b=2"},
			Elements: []websync.Element{{Space: "urn:x", Local: "a", XML: `<x:a xmlns:x="urn:x">t</x:a>`}, own("changefreq", "daily"), own("priority", "0.8")},
		},
		{
			ID: site + "/2", Content: websync.Link{Href: site + "/2"},
			Elements: []websync.Element{own("priority", "0"), own("lastmod", "last &lt;week")},
		},
	}, got.puts)
	assert.Equal(t, []string{"sitemap-changefreq", "sitemap-lastmod", "sitemap-loc-missing", "sitemap-loc-relative"}, got.rules())
	assert.EqualValues(t, 2, got.expect)
	for _, r := range got.puts {
		for _, x := range r.Elements {
			testkit.CheckElement(t, x)
		}
	}
}

// TestSourceOrder: documents are fetched ahead, at most Parallel of them, and yielded as
// they are listed.
func TestSourceOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{pages: sourcetest.Site{}, wait: map[string]time.Duration{}}
		var children, want []string
		for i := range 20 {
			child := fmt.Sprintf("%s/child-%d.xml", site, i)
			children = append(children, child)
			w.pages[child] = pages(child+"/1", child+"/2")
			w.wait[child] = time.Duration(20-i) * time.Second // the first is the slowest
			want = append(want, child+"/1", child+"/2")
		}
		w.pages[site+"/index.xml"] = sourcetest.Document{Body: index(children...)}
		started := time.Now()
		got := listen(t, w, &sitemap.Source{URL: site + "/index.xml", Parallel: 5}, harvest.Checkpoint{}, 0)
		require.NoError(t, got.err)
		assert.Equal(t, want, got.events[1:len(got.events)-1])
		assert.NotEqual(t, children, w.asked[1:], "several at a time")
		assert.Less(t, time.Since(started), 100*time.Second, "210 s one after the other")
		assert.LessOrEqual(t, w.most, 1+1+5, "the index, the document that is yielded, five ahead")
		assert.EqualValues(t, 40, got.expect)
	})
}

func TestSourceSets(t *testing.T) {
	const a, b, c, idx = site + "/a.xml", site + "/b.xml", site + "/c.xml", site + "/index.xml"
	full := "snapshot end, complete, resume"
	long := site + "/" + strings.Repeat("x", harvest.MaxID)
	tests := map[string]struct {
		source sitemap.Source
		pages  sourcetest.Site
		want   []string
		rules  []string
	}{
		"gzip, text, an index": {
			pages: sourcetest.Site{
				idx:                 {Body: index(a, site+"/b.xml.gz", site+"/list.txt")},
				a:                   pages(a + "/1"),
				site + "/b.xml.gz":  {Body: string(gzipOf(urlset(b + "/1")))},
				site + "/list.txt":  {Body: site + "/t1\n" + site + "/t2\n"},
				site + "/other.xml": pages(site + "/not-listed"),
			},
			want: []string{a + "/1", b + "/1", site + "/t1", site + "/t2", full},
		},
		"empty": {
			pages: sourcetest.Site{idx: pages()},
			want:  []string{full},
			rules: []string{"sitemap-empty"},
		},
		"an index that lists itself, and a sitemap twice": {
			pages: sourcetest.Site{idx: {Body: index(idx, a, a)}, a: pages(a + "/1")},
			want:  []string{a + "/1", full},
			rules: []string{"sitemap-repeated"},
		},
		"an index in the place of its part": {
			pages: sourcetest.Site{idx: {Body: index(a, b)}, a: {Body: index(a, b)}, b: pages(b + "/1")},
			want:  []string{b + "/1", "snapshot end, complete, 1 skipped, resume"},
			rules: []string{"sitemap-index-nested", "sitemap-repeated"},
		},
		"two indexes that list each other": {
			pages: sourcetest.Site{idx: {Body: index(b)}, b: {Body: index(idx, a)}, a: pages(a + "/1")},
			want:  []string{a + "/1", full},
			rules: []string{"sitemap-index-nested", "sitemap-repeated"},
		},
		"the same document by a redirect": {
			pages: sourcetest.Site{idx: {Body: index(b, a, c)}, a: pages(a + "/1"), b: {Location: a}, c: {Location: idx}},
			want: []string{
				"problem: sitemap: " + b + ": redirects to " + a + ", which is another document of the set: its own entries are not known",
				a + "/1",
				"problem: sitemap: " + c + ": redirects to " + idx + ", which is another document of the set: its own entries are not known",
				"snapshot end",
			},
		},
		"a redirect to a document that is listed much later": {
			source: sitemap.Source{Parallel: 1},
			pages:  sourcetest.Site{idx: {Body: index(b, c, a)}, a: pages(a + "/1"), b: {Body: string(urlset(a + "/1")), Header: from("HTTPS://www.example.com:443/x/../%61.xml")}, c: pages(c + "/1")},
			want: []string{
				a + "/1", c + "/1",
				"problem: sitemap: " + b + ": redirects to " + a + ", which is another document of the set: its own entries are not known",
				"snapshot end",
			},
		},
		"two redirects to a document that is not listed": {
			pages: sourcetest.Site{idx: {Body: index(b, c)}, a: pages(a + "/1"), b: {Location: a}, c: {Location: a}},
			want: []string{
				a + "/1",
				"problem: sitemap: " + c + ": redirects to " + a + ", which is another document of the set: its own entries are not known",
				"snapshot end",
			},
		},
		"a document under a new name": {
			pages: sourcetest.Site{idx: {Location: c}, c: {Body: index(idx, c, b)}, b: {Location: a}, a: pages(a + "/1")},
			want:  []string{a + "/1", full},
			rules: []string{"sitemap-repeated"},
		},
		"a text that may have been cut": {
			pages: sourcetest.Site{idx: {Body: index(a, b, c)}, a: {Body: a + "/1\n", Header: mayBeCut}, b: {Body: string(urlset(b + "/1")), Header: mayBeCut}, c: {Body: c + "/1\n"}},
			want:  []string{a + "/1", b + "/1", c + "/1", "snapshot end, complete, 1 skipped, resume"},
			rules: []string{"sitemap-cut"},
		},
		"two locs in an entry of an index": {
			pages: sourcetest.Site{idx: {Body: strings.Replace(index(a, b), "</loc></sitemap>\n<sitemap><loc>", "</loc><loc>", 1)}, a: pages(a + "/1"), b: pages(b + "/1")},
			want:  []string{a + "/1", b + "/1", "snapshot end, complete, 1 skipped, resume"},
			rules: []string{"sitemap-duplicate-element"},
		},
		"a loc that two documents list": {
			pages: sourcetest.Site{idx: {Body: index(a, b)}, a: pages(a+"/1", a+"/2"), b: pages(b+"/1", a+"/2", a+"/1", b+"/1")},
			want:  []string{a + "/1", a + "/2", b + "/1", a + "/2", a + "/1", b + "/1", full},
			rules: []string{"sitemap-loc-duplicate"},
		},
		"an index too deep": {
			source: sitemap.Source{MaxDepth: 2},
			pages:  sourcetest.Site{idx: {Body: index(a, c)}, a: {Body: index(b)}, b: {Body: index(a + "/1")}, c: pages(c + "/1")},
			want: []string{
				"problem: sitemap: " + b + ": more than 2 indexes, one inside another: over the limit",
				c + "/1", "snapshot end",
			},
			rules: []string{"sitemap-index-nested"},
		},
		"too many documents": {
			source: sitemap.Source{MaxDocuments: 2},
			pages:  sourcetest.Site{idx: {Body: index(a, b, c)}, a: pages(a + "/1"), b: pages(b + "/1"), c: pages(c + "/1")},
			want:   []string{a + "/1", "problem: sitemap: " + idx + ": more than 2 documents: over the limit", "snapshot end"},
		},
		"a document over the limit": {
			source: sitemap.Source{MaxBytes: 300},
			pages:  sourcetest.Site{idx: {Body: index(a, b)}, a: pages(strings.Repeat(a, 20)), b: pages(b + "/1")},
			want:   []string{"problem: sitemap: " + a + ": line 2, column 6: more than 300 bytes: over the limit", b + "/1", "snapshot end"},
		},
		"documents that can't be read": {
			pages: sourcetest.Site{
				idx:                      {Body: index(site+"/gone.xml", a, site+"/busy.xml", site+"/login.xml", site+"/cut.xml", site+"/bad.xml", site+"/nothing.xml", site+"/feed.xml", b)},
				a:                        pages(a + "/1"),
				site + "/busy.xml":       {Err: harvest.ErrTemporary},
				site + "/login.xml":      {Body: "<!doctype html><html><body>Sign in"},
				site + "/cut.xml":        {Body: string(urlset(site+"/x", site+"/y")[:120])},
				site + "/bad.xml":        {Body: string(urlset(site+"/x")) + "<more/>"},
				site + "/nothing.xml":    {},
				site + "/feed.xml":       {Body: "<rss/>"},
				b:                        pages(b + "/1"),
				site + "/not-listed.xml": pages(site + "/z"),
			},
			want: []string{
				"problem: sitemap: " + site + "/gone.xml: status 404",
				a + "/1",
				"problem: sitemap: " + site + "/busy.xml: temporary",
				"problem: sitemap: " + site + "/login.xml: line 1, column 1: an HTML page, not a sitemap",
				"problem: sitemap: " + site + "/cut.xml: line 3, column 12: input ended inside element loc: document ends too early",
				"problem: sitemap: " + site + "/bad.xml: line 4, column 1: markup after the root element",
				"problem: sitemap: " + site + "/nothing.xml: line 1, column 1: an empty document, not a sitemap",
				"problem: sitemap: " + site + "/feed.xml: line 1, column 1: rss: an RSS feed, not a sitemap",
				b + "/1",
				"snapshot end",
			},
		},
		"another host": {
			pages: sourcetest.Site{idx: {Body: index(a, "https://other.example.com/b.xml")}, a: pages(a+"/1", "http://www.example.com:80/2", "https://example.com/3"), "https://other.example.com/b.xml": pages("https://other.example.com/1")},
			want:  []string{a + "/1", "http://www.example.com:80/2", "https://example.com/3", "https://other.example.com/1", full},
			rules: []string{"sitemap-host"},
		},
		"SameHost": {
			source: sitemap.Source{SameHost: true},
			pages:  sourcetest.Site{idx: {Body: index(a, "https://other.example.com/b.xml")}, a: pages(a+"/1", "http://www.EXAMPLE.com:80/2", "https://example.com/3", "https:/www.example.com/4")},
			want:   []string{a + "/1", "http://www.EXAMPLE.com:80/2", "snapshot end, complete, 3 skipped, resume"},
			rules:  []string{"sitemap-host", "sitemap-loc-syntax"},
		},
		"SameHost under two names": {
			source: sitemap.Source{SameHost: true},
			pages:  sourcetest.Site{idx: {Location: "https://example.com/index.xml"}, "https://example.com/index.xml": pages("https://example.com/1", site+"/2")},
			want:   []string{"https://example.com/1", site + "/2", full},
		},
		"Include": {
			source: sitemap.Source{Include: func(loc string) bool { return strings.HasSuffix(loc, "/2") }},
			pages:  sourcetest.Site{idx: pages(a+"/1", a+"/2")},
			want:   []string{a + "/2", full},
		},
		"an id that no store takes": {
			pages: sourcetest.Site{idx: pages(a+"/1", long, a+"/2")},
			want:  []string{a + "/1", a + "/2", "snapshot end, complete, 1 skipped, resume"},
			rules: []string{"sitemap-loc-length"},
		},
		"entries of an index without loc": {
			pages: sourcetest.Site{idx: {Body: strings.Replace(index(a, b), b, "", 1)}, a: pages(a + "/1")},
			want:  []string{a + "/1", "snapshot end, complete, 1 skipped, resume"},
			rules: []string{"sitemap-loc-missing"},
		},
		"a urlset where an index was meant": {
			pages: sourcetest.Site{idx: {Body: strings.ReplaceAll(index(a, b), "sitemapindex", "urlset")}, a: pages(a + "/1"), b: pages(b + "/1")},
			want:  []string{a + "/1", b + "/1", full},
			rules: []string{"sitemap-root"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := test.source
			s.URL, s.Complete = idx, true
			got := listen(t, &web{pages: test.pages}, &s, harvest.Checkpoint{}, 0)
			require.NoError(t, got.err)
			assert.Equal(t, append([]string{"snapshot start"}, test.want...), got.events)
			assert.Equal(t, test.rules, got.rules())
		})
	}
}

func TestSourceRootCannotBeRead(t *testing.T) {
	tests := map[string]struct {
		page sourcetest.Document
		want error
	}{
		"gone":           {sourcetest.Document{Status: 404}, websync.ErrGone},
		"busy":           {sourcetest.Document{Err: harvest.ErrTemporary}, harvest.ErrTemporary},
		"a login page":   {sourcetest.Document{Body: "<!doctype html><html><body>Sign in"}, websync.ErrNotDocument},
		"nothing":        {sourcetest.Document{}, websync.ErrNotDocument},
		"an Atom feed":   {sourcetest.Document{Body: "<feed xmlns='http://www.w3.org/2005/Atom'/>"}, websync.ErrNotDocument},
		"cut short":      {sourcetest.Document{Body: string(urlset(site + "/1")[:100])}, websync.ErrTruncated},
		"over the limit": {sourcetest.Document{Body: string(urlset(strings.Repeat(site, 100)))}, websync.ErrLimit},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &web{pages: sourcetest.Site{site + "/sitemap.xml": test.page}}
			got := listen(t, w, &sitemap.Source{URL: site + "/sitemap.xml", Complete: true, MaxBytes: 1000}, harvest.Checkpoint{}, 0)
			require.ErrorIs(t, got.err, test.want)
			assert.ErrorContains(t, got.err, site+"/sitemap.xml")
			assert.Empty(t, got.events)
		})
	}
}

func TestSourceRobots(t *testing.T) {
	robots := site + "/robots.txt"
	t.Run("several sitemaps are one set", func(t *testing.T) {
		w := &web{pages: sourcetest.Site{
			robots:                              {Body: "User-agent: *\nSitemap: " + site + "/a.xml\nsitemap: /b.xml\nSitemap: https://cdn.example.net/index.xml\nSitemap: https://\n"},
			site + "/a.xml":                     pages(site + "/1"),
			site + "/b.xml":                     pages(site + "/2"),
			site + "/lost.xml":                  pages(site + "/3"),
			"https://cdn.example.net/index.xml": {Body: index("https://cdn.example.net/c.xml")},
			"https://cdn.example.net/c.xml":     pages(site+"/4", "https://other.example.com/5"),
		}}
		got := listen(t, w, &sitemap.Source{URL: robots, Complete: true, SameHost: true}, harvest.Checkpoint{}, 0)
		require.NoError(t, got.err)
		assert.Equal(t, []string{"snapshot start", site + "/1", site + "/2", site + "/4", "snapshot end, complete, 2 skipped, resume"}, got.events)
		assert.Equal(t, []string{"sitemap-host", "sitemap-robots"}, got.rules())
		assert.EqualValues(t, 4, got.expect)
	})
	t.Run("may have been cut", func(t *testing.T) {
		w := &web{pages: sourcetest.Site{robots: {Body: "Sitemap: /a.xml", Header: mayBeCut}, site + "/a.xml": pages(site + "/1")}}
		got := listen(t, w, &sitemap.Source{URL: robots, Complete: true}, harvest.Checkpoint{}, 0)
		require.NoError(t, got.err)
		assert.Equal(t, []string{"snapshot start", site + "/1", "snapshot end, complete, 1 skipped, resume"}, got.events)
		assert.Equal(t, []string{"sitemap-cut", "sitemap-robots"}, got.rules())
	})
	t.Run("none", func(t *testing.T) {
		w := &web{pages: sourcetest.Site{robots: {Body: "User-agent: *\nDisallow:\n"}}}
		got := listen(t, w, &sitemap.Source{URL: robots, Complete: true}, harvest.Checkpoint{}, 0)
		require.ErrorIs(t, got.err, websync.ErrNotDocument)
		assert.ErrorContains(t, got.err, robots)
	})
	t.Run("gone", func(t *testing.T) {
		got := listen(t, &web{}, &sitemap.Source{URL: robots, Complete: true}, harvest.Checkpoint{}, 0)
		require.ErrorIs(t, got.err, websync.ErrGone)
	})
}

// TestSourceBreak: nothing is left open, wherever the engine breaks off or the context
// ends.
func TestSourceBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &web{wait: map[string]time.Duration{}, pages: sourcetest.Site{
			site + "/robots.txt": {Body: "Sitemap: /index.xml\nSitemap: /last.xml"}, site + "/last.xml": pages(site + "/last")}}
		var children []string
		for i := range 6 {
			child := fmt.Sprintf("%s/child-%d.xml", site, i)
			children = append(children, child)
			w.pages[child] = pages(child+"/1", child+"/2")
			w.wait[child] = time.Second
		}
		w.pages[site+"/index.xml"] = sourcetest.Document{Body: index(append(children, site+"/gone.xml", site+"/nested.xml")...)}
		w.pages[site+"/nested.xml"] = sourcetest.Document{Body: index(site + "/deep.xml")}
		w.pages[site+"/deep.xml"] = pages(site + "/deep")
		s := &sitemap.Source{URL: site + "/robots.txt"}
		all := listen(t, w, s, harvest.Checkpoint{}, 0)
		require.NoError(t, all.err)
		require.Len(t, all.events, 1+12+1+1+1+1)
		for n := 1; n <= len(all.events); n++ {
			got := listen(t, w, s, harvest.Checkpoint{}, n)
			assert.Equal(t, all.events[:n], got.events)
		}
		for d := range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(d)*time.Second+time.Second/2)
			for _, child := range children {
				w.wait[child] = 3 * time.Second
			}
			got := listenContext(t, ctx, w, s, harvest.Checkpoint{}, 0)
			require.ErrorIs(t, got.err, context.DeadlineExceeded)
			cancel()
		}
	})
}

const (
	june    = "Sun, 01 Jun 2025 12:00:00 GMT"
	july    = "Tue, 01 Jul 2025 12:00:00 GMT"
	another = "Tue, 01 Jul 2025 12:00:01 GMT"
)

// TestSourceSkips checks which documents of an index the second run requests.
func TestSourceSkips(t *testing.T) {
	const a, b, idx = site + "/a.xml", site + "/b.xml", site + "/index.xml"
	type change func(w *web, s *sitemap.Source, from *harvest.Checkpoint)
	tests := map[string]struct {
		lastmod string // of a in the index
		a       sourcetest.Document
		change  change
		want    []string // requests
		events  []string
	}{
		"a known lastmod": {
			lastmod: "2025-06-01T10:00:00Z", a: sourcetest.Document{Header: dated(june)},
			want: []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"a known day that was over": {
			lastmod: "2025-05-30", a: sourcetest.Document{Header: dated(june)},
			want: []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"a day that was not over everywhere": {
			lastmod: "2025-05-31", a: sourcetest.Document{Header: dated(june)},
			want: []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"a day that was not over": {
			lastmod: "2025-06-01", a: sourcetest.Document{Header: dated(june)},
			want: []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"the second in which it was read": {
			lastmod: "2025-06-01T12:00:00Z", a: sourcetest.Document{Header: dated(june)},
			want: []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"a lastmod in the future": {
			lastmod: "2025-06-02T12:00:00Z", a: sourcetest.Document{Header: dated(june)},
			want: []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"a day that was not over, and an ETag": {
			lastmod: "2025-06-01", a: sourcetest.Document{Header: dated(june), ETag: `"1"`},
			want: []string{idx, a + " 304", b}, events: []string{b + "/1"},
		},
		"no lastmod, and a Last-Modified": {
			a:    sourcetest.Document{Header: dated(june), LastModified: june},
			want: []string{idx, a + " 304", b}, events: []string{b + "/1"},
		},
		"no lastmod and no validator": {
			a:    sourcetest.Document{Header: dated(june)},
			want: []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"no server's clock": {
			lastmod: "2025-05-30",
			want:    []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"a lastmod without a zone": {
			lastmod: "2025-05-30 10:00:00", a: sourcetest.Document{Header: dated(june)},
			want: []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"another lastmod": {
			lastmod: "2025-05-31T10:00:00Z", a: sourcetest.Document{Header: dated(june)},
			change: func(w *web, _ *sitemap.Source, _ *harvest.Checkpoint) {
				w.edit(idx, func(page *sourcetest.Document) { page.Body = index(a+" 2025-06-01T10:00:00Z", b) })
			},
			want: []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"another lastmod, the same document": {
			lastmod: "2025-05-31T10:00:00Z", a: sourcetest.Document{Header: dated(june), ETag: `"1"`},
			change: func(w *web, _ *sitemap.Source, _ *harvest.Checkpoint) {
				w.edit(idx, func(page *sourcetest.Document) { page.Body = index(a+" 2025-06-01T10:00:00Z", b) })
			},
			want: []string{idx, a + " 304", b}, events: []string{b + "/1"},
		},
		"another ETag": {
			a: sourcetest.Document{Header: dated(june), ETag: `"1"`},
			change: func(w *web, _ *sitemap.Source, _ *harvest.Checkpoint) {
				w.edit(a, func(page *sourcetest.Document) { page.ETag = `"2"` })
			},
			want: []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"other options": {
			lastmod: "2025-05-30", a: sourcetest.Document{Header: dated(june), ETag: `"1"`},
			change: func(_ *web, s *sitemap.Source, _ *harvest.Checkpoint) { s.Profile = "all" },
			want:   []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"complete from now on": {
			lastmod: "2025-05-30", a: sourcetest.Document{Header: dated(june), ETag: `"1"`},
			change: func(_ *web, s *sitemap.Source, _ *harvest.Checkpoint) { s.Complete = true },
			want:   []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"another version of the checkpoint": {
			lastmod: "2025-05-30", a: sourcetest.Document{Header: dated(june), ETag: `"1"`},
			change: func(_ *web, _ *sitemap.Source, from *harvest.Checkpoint) { from.Version++ },
			want:   []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"a damaged checkpoint": {
			lastmod: "2025-05-30", a: sourcetest.Document{Header: dated(june), ETag: `"1"`},
			change: func(_ *web, _ *sitemap.Source, from *harvest.Checkpoint) {
				from.Data = from.Data[:len(from.Data)-1]
			},
			want: []string{idx, a, b}, events: []string{a + "/1", b + "/1"},
		},
		"an index in its place": {
			lastmod: "2025-06-01", a: sourcetest.Document{Header: dated(june), ETag: `"1"`},
			change: func(w *web, _ *sitemap.Source, _ *harvest.Checkpoint) {
				w.pages[a] = sourcetest.Document{Body: index(site + "/c.xml"), ETag: `"2"`}
				w.pages[site+"/c.xml"] = pages(site + "/c")
			},
			want: []string{idx, a, b, site + "/c.xml"}, events: []string{site + "/c", b + "/1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			first := test.a
			first.Body = pages(a + "/1").Body
			entry := strings.TrimSpace(a + " " + test.lastmod)
			w := &web{pages: sourcetest.Site{idx: {Body: index(entry, b), ETag: `"i"`, Header: dated(june)}, a: first, b: pages(b + "/1")}}
			s := &sitemap.Source{URL: idx}
			got := listen(t, w, s, harvest.Checkpoint{}, 0)
			require.NoError(t, got.err)
			require.Equal(t, []string{"snapshot start", a + "/1", b + "/1", "snapshot end, resume"}, got.events)

			from := got.resume
			if test.change != nil {
				test.change(w, s, &from)
			}
			got = listen(t, w, s, from, 0)
			require.NoError(t, got.err)
			slices.Sort(w.asked[1:])
			slices.Sort(test.want[1:])
			assert.Equal(t, test.want, w.asked)
			end := "snapshot end, resume"
			if s.Complete {
				end = "snapshot end, complete, resume"
			}
			assert.Equal(t, slices.Concat([]string{"snapshot start"}, test.events, []string{end}), got.events)

			if len(test.events) == 1 { // what was skipped once is skipped again
				asked := w.asked
				got = listen(t, w, s, got.resume, 0)
				require.NoError(t, got.err)
				assert.Subset(t, asked, w.asked)
				assert.NotContains(t, got.events, a+"/1")
			}
		})
	}
}

// TestSourceDayOver: what is known of a part whose day was over when the server answered
// the second request does not change any more.
func TestSourceDayOver(t *testing.T) {
	const a, idx = site + "/a.xml", site + "/index.xml"
	w := &web{pages: sourcetest.Site{idx: {Body: index(a + " 2025-06-01")}, a: {Body: string(urlset(a + "/1")), ETag: `"1"`, Header: dated(june)}}}
	s := &sitemap.Source{URL: idx}
	first := listen(t, w, s, harvest.Checkpoint{}, 0)
	w.edit(a, func(page *sourcetest.Document) { page.Header = dated(july) })
	second := listen(t, w, s, first.resume, 0)
	assert.Equal(t, []string{idx, a + " 304"}, w.asked)
	third := listen(t, w, s, second.resume, 0)
	assert.Equal(t, []string{idx, a + " 304"}, w.asked)
	assert.Equal(t, second.resume, third.resume)
}

// TestSourceUnchangedRoot: "not modified" for the whole is no snapshot.
func TestSourceUnchangedRoot(t *testing.T) {
	const root = site + "/sitemap.xml"
	mark := []string{"mark, resume"}
	full := []string{"snapshot start", root + "/1", "snapshot end, complete, resume"}
	listed := []string{"snapshot start", root + "/1", "snapshot end, resume"}
	tests := map[string]struct {
		complete [2]bool
		body     []byte
		change   func(w *web, s *sitemap.Source)
		want     []string
	}{
		"complete":            {complete: [2]bool{true, true}, want: mark},
		"not complete":        {complete: [2]bool{false, false}, want: mark},
		"no longer complete":  {complete: [2]bool{true, false}, want: mark},
		"complete from now":   {complete: [2]bool{false, true}, want: full},
		"changed":             {complete: [2]bool{true, true}, change: func(w *web, _ *sitemap.Source) { w.edit(root, func(page *sourcetest.Document) { page.ETag = `"2"` }) }, want: full},
		"changed, incomplete": {change: func(w *web, _ *sitemap.Source) { w.edit(root, func(page *sourcetest.Document) { page.ETag = `"2"` }) }, want: listed},
		"other options":       {complete: [2]bool{true, true}, change: func(_ *web, s *sitemap.Source) { s.SameHost = true }, want: full},
		"an index, complete": {
			complete: [2]bool{true, true}, body: []byte(index(site + "/a.xml")),
			want: []string{"snapshot start", site + "/a", "snapshot end, complete, resume"},
		},
		"an index that was a urlset": {
			complete: [2]bool{true, true},
			change: func(w *web, _ *sitemap.Source) {
				w.pages[root] = sourcetest.Document{Body: index(site + "/a.xml"), ETag: `"2"`}
			},
			want: []string{"snapshot start", site + "/a", "snapshot end, complete, resume"},
		},
		"skipped entries": {
			complete: [2]bool{true, true}, body: urlset(root+"/1", ""),
			want: []string{"snapshot start", root + "/1", "snapshot end, complete, 1 skipped, resume"},
		},
		"skipped entries, incomplete": {
			body: urlset(root+"/1", ""),
			want: []string{"snapshot start", root + "/1", "snapshot end, 1 skipped, resume"},
		},
		"skipped entries of an index, incomplete": {
			body: []byte(index(site+"/a.xml", site+"/skips.xml")),
			want: []string{"snapshot start", site + "/skips", "snapshot end, 1 skipped, resume"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.body == nil {
				test.body = urlset(root + "/1")
			}
			w := &web{pages: sourcetest.Site{
				root:                {Body: string(test.body), ETag: `"1"`, Header: dated(july)},
				site + "/a.xml":     {Body: string(urlset(site + "/a")), ETag: `"1"`, Header: dated(another)},
				site + "/skips.xml": {Body: string(urlset(site+"/skips", "")), ETag: `"1"`, Header: dated(another)},
			}}
			s := &sitemap.Source{URL: root, Complete: test.complete[0]}
			got := listen(t, w, s, harvest.Checkpoint{}, 0)
			require.NoError(t, got.err)
			require.NotZero(t, got.resume)
			from := got.resume
			s.Complete = test.complete[1]
			if test.change != nil {
				test.change(w, s)
			}
			got = listen(t, w, s, from, 0)
			require.NoError(t, got.err)
			assert.Equal(t, test.want, got.events)
			if got.events[0] == mark[0] {
				assert.Equal(t, from, got.resume)
			}
		})
	}
}

// TestSourceOptions: the fingerprint changes with what decides which entries are yielded,
// and with nothing else.
func TestSourceOptions(t *testing.T) {
	w := &web{pages: sourcetest.Site{site + "/1.xml": pages(), site + "/2.xml": pages()}}
	options := func(s sitemap.Source) string {
		if s.URL == "" {
			s.URL = site + "/1.xml"
		}
		return listen(t, w, &s, harvest.Checkpoint{}, 0).options
	}
	plain := options(sitemap.Source{})
	assert.NotEmpty(t, plain)
	assert.Equal(t, plain, options(sitemap.Source{Complete: true, Parallel: 7, Name: "n", MaxDepth: 9}))
	all := func(string) bool { return true }
	others := []string{
		plain,
		options(sitemap.Source{URL: site + "/2.xml"}),
		options(sitemap.Source{SameHost: true}),
		options(sitemap.Source{Include: all}),
		options(sitemap.Source{Include: all, Profile: "1"}),
		options(sitemap.Source{Include: all, Profile: "2"}),
	}
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(others))), len(others))
}

// plainBody is a body that can't be read twice.
type plainBody struct{ io.ReadCloser }

// TestSourceSpools: the Source reads what a Fetcher does not spool.
func TestSourceSpools(t *testing.T) {
	w := &web{pages: sourcetest.Site{site + "/1.xml": pages(site + "/1")}}
	s := &sitemap.Source{URL: site + "/1.xml"}
	plain := testkit.FetchFunc(func(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
		resp, err := w.Fetch(ctx, req)
		if err == nil && resp.Body != nil {
			resp.Body = plainBody{resp.Body}
		}
		return resp, err
	})
	run := &harvest.Run{Fetcher: plain, Report: func(websync.Finding) {}, Expect: func(int64) {}, Log: slog.New(slog.DiscardHandler)}
	n := 0
	for ev, err := range s.Events(t.Context(), run) {
		require.NoError(t, err)
		assert.Zero(t, w.open)
		if ev.Kind == harvest.Put {
			n++
		}
	}
	assert.Equal(t, 1, n)
}

// TestSourceWithoutSettings: a run needs only a Fetcher, and the error for a missing
// setting names it.
func TestSourceWithoutSettings(t *testing.T) {
	failure := func(s *sitemap.Source, run *harvest.Run) (last error) {
		for _, err := range s.Events(t.Context(), run) {
			last = err
		}
		return last
	}
	w := &web{pages: sourcetest.Site{site + "/sitemap.xml": {Body: string(urlset("/1"))}}}
	assert.NoError(t, failure(&sitemap.Source{URL: site + "/sitemap.xml"}, &harvest.Run{Fetcher: w}))
	assert.EqualError(t, failure(&sitemap.Source{}, &harvest.Run{Fetcher: w}), "sitemap: Source.URL is empty")
	assert.ErrorContains(t, failure(&sitemap.Source{URL: site}, &harvest.Run{}), "Fetcher is nil")
}

func TestAll(t *testing.T) {
	const a, b, idx = site + "/a.xml", site + "/b.txt", site + "/index.xml"
	w := &web{pages: sourcetest.Site{
		site + "/robots.txt": {Body: "Sitemap: " + idx + "\nSitemap: " + b},
		idx:                  {Body: index(a, site+"/lost.xml")},
		a:                    {Body: strings.Replace(string(urlset(a+"/1", a+"/2", "https://")), "</loc>", "</loc><lastmod>2025-01-01</lastmod>", 1)},
		b:                    {Body: b + "/1\n"},
	}}
	all := func(url string, stop int) (got []string) {
		for e, err := range sitemap.All(t.Context(), w, url) {
			if err != nil {
				assert.Equal(t, sitemap.Entry{}, e)
				got = append(got, err.Error())
			} else {
				got = append(got, fmt.Sprint(e.Loc, " ", e.LastMod, " ", e.Line))
			}
			if len(got) == stop {
				break
			}
		}
		assert.Zero(t, w.open, "bodies left open")
		return got
	}
	want := []string{
		a + "/1 2025-01-01 2", a + "/2  3", "sitemap: " + site + "/lost.xml: status 404", b + "/1  1",
		"sitemap: " + site + "/robots.txt: 1 entries can't be read, or may be lost in what is damaged",
	}
	for stop := range len(want) {
		assert.Equal(t, want[:stop+1], all(site+"/robots.txt", stop+1))
	}
	assert.Equal(t, want, all(site+"/robots.txt", 0))
	assert.Equal(t, want[3:4], all(b, 0))
	assert.Equal(t, []string{"sitemap: " + site + "/nothing: status 404"}, all(site+"/nothing", 0))
	assert.Equal(t, []string{"sitemap: Source.URL is empty"}, all("", 0))
}

// TestPanicInTheBackground panics, or ends its goroutine, where documents are fetched
// ahead. The panic reaches the loop over the Source, and no goroutine is left.
func TestPanicInTheBackground(t *testing.T) {
	boom := errors.New("boom")
	for name, stop := range map[string]func(){
		"panic":  func() { panic(boom) },
		"Goexit": runtime.Goexit,
	} {
		for _, at := range []string{site + "/1.xml", site + "/3.xml"} {
			for _, ends := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s at %s, range ends: %v", name, at, ends), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := &web{pages: sourcetest.Site{
							site + "/sitemap.xml": {Body: index(site+"/1.xml", site+"/2.xml", site+"/3.xml")},
							site + "/1.xml":       pages(site + "/a"),
							site + "/2.xml":       pages(site + "/b"),
						}}
						f := testkit.FetchFunc(func(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
							if req.URL == at {
								stop()
							}
							return w.Fetch(ctx, req)
						})
						defer func() {
							v := recover()
							err, ok := v.(error)
							require.True(t, ok, "%v", v)
							require.Equal(t, name == "panic", errors.Is(err, boom))
							synctest.Wait()
							require.Zero(t, w.open)
							require.Zero(t, w.behind)
						}()
						for range sitemap.All(t.Context(), f, site+"/sitemap.xml") {
							if ends {
								break
							}
						}
					})
				})
			}
		}
	}
}
