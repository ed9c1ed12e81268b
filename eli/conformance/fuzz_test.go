package conformance_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli/conformance"
)

// FuzzCheck checks that no documents make a check panic, and that a Result and its report
// are whole whatever was found.
func FuzzCheck(f *testing.F) {
	good := newWorld(f)
	f.Add(good.answers[sitemapURL].body, good.answers[feedURL].body, good.answers[act1].body, "%PDF-1.7")
	bad := faulty(f)
	f.Add(bad.answers[sitemapURL].body, bad.answers[feedURL].body, bad.answers[act2].body, "")
	f.Add(sitemapHead+urlOf("http://law.example", "2026")+urlOf("http://law.example/eli/"+strings.Repeat("/..", 9), "")+"</urlset>",
		feedHead+entryOf("", "", "")+"</feed>", `<meta http-equiv=refresh content="0;url=//x">`, "<html>")
	f.Add("<sitemapindex><sitemap><loc>"+sitemapURL+"</loc></sitemap></sitemapindex>", "<feed xmlns='http://www.w3.org/2005/Atom'/>", "\xff\xfe", "\x00")
	last := good.visited(3)
	f.Fuzz(func(t *testing.T, list, feed, page, text string) {
		w := newWorld(t)
		w.set(sitemapURL, "", list)
		w.set(feedURL, "", feed)
		w.set(act1, "text/html", page)
		w.set(act1+"/eng/pdf", "text/html", text)
		w.Last, w.Sample = last, 5
		r, err := w.Check(t.Context())
		require.NoError(t, err)
		require.Len(t, r.Rules, 63)
		assert.Equal(t, 63, r.Passed+r.Warned+r.Failed+r.Skipped)
		for _, row := range r.Rules {
			assert.Equal(t, row.Status == conformance.NotChecked, row.Why != "", row.ID)
			assert.Equal(t, row.Status == conformance.Fail, row.Errors > 0, row.ID)
			assert.LessOrEqual(t, len(row.Examples), 5)
			for _, x := range row.Examples {
				assert.Equal(t, row.ID, x.Rule)
			}
		}
		var b bytes.Buffer
		require.NoError(t, r.WriteHTML(&b))
		assert.NotContains(t, strings.ToLower(b.String()), "<script")
		assert.Equal(t, 63, strings.Count(b.String(), "<article "))
		_, err = json.Marshal(r)
		require.NoError(t, err)
		if r.Profile == nil {
			return
		}
		b.Reset()
		require.NoError(t, r.Profile.Write(&b))
		p, err := conformance.ReadProfile(&b)
		require.NoError(t, err)
		w.Last = p
		_, err = w.Check(t.Context())
		require.NoError(t, err)
	})
}

// TestHostile checks documents that try to take time or memory, or that end early.
func TestHostile(t *testing.T) {
	for name, make := range map[string]func(w *world){
		"an index that lists itself": func(w *world) { w.index(sitemapURL) },
		"indexes that list each other": func(w *world) {
			w.index(part1)
			w.set(part1, "", strings.Replace(w.answers[sitemapURL].body, part1, sitemapURL, 1))
		},
		"a thousand hosts": func(w *world) {
			var b strings.Builder
			for range 1000 {
				b.WriteString(urlOf("http://"+strings.Repeat("a", b.Len()%50+1)+".example/eli/1", "2026-01-01"))
			}
			w.add(sitemapURL, b.String())
		},
		"entities":             func(w *world) { w.edit(sitemapURL, "<urlset", `<!DOCTYPE x [<!ENTITY a "aaaa">]><urlset`) },
		"deep nesting":         func(w *world) { w.edit(sitemapURL, "</urlset>", strings.Repeat("<a>", 10_000)) },
		"deep HTML":            func(w *world) { w.set(act1, "text/html", strings.Repeat("<div>", 10_000)) },
		"a feed without end":   func(w *world) { w.edit(feedURL, "</feed>", strings.Repeat("<entry>", 1000)) },
		"HTML with NULs":       func(w *world) { w.set(act1, "text/html", "\x00\x00<p>") },
		"one entry over again": func(w *world) { w.add(feedURL, strings.Repeat(entryOf(act1, "A", "2026-03-08T16:20:00Z"), 5000)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			make(w)
			r := w.check()
			assert.NotZero(t, r.Failed+r.Warned)
			assert.LessOrEqual(t, len(w.asked), 120)
			assert.LessOrEqual(t, len(w.found), 100*63)
		})
	}
	w := newWorld(t)
	w.MaxBytes = 100
	r := w.check()
	assert.Contains(t, r.Sitemap.Error, "limit")
	require.NotEmpty(t, w.found)
}
