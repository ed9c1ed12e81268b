package anyfeed_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
)

// TestSource: a Source offers what a Reader of Atom refuses as a whole and Parse reads:
// each entry once, in a run that is in step. Otherwise damaged Atom stays an error.
func TestSource(t *testing.T) {
	const (
		head    = `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:feed</id><title>T</title><updated>2026-01-01T00:00:00Z</updated>`
		entry   = `<entry><id>urn:%s</id><title>%[1]s %s</title><updated>2026-01-01T00:00:00Z</updated><content>c</content></entry>`
		twice   = `<link rel="related" rel="related" href="https://example.org/"/>`
		history = `<fh:complete xmlns:fh="http://purl.org/syndication/history/1.0"/>`
	)
	a, b := fmt.Sprintf(entry, "a", ""), fmt.Sprintf(entry, "b", "")
	long := fmt.Sprintf(entry, "long", strings.Repeat("x", 100_000))
	html := `<!DOCTYPE feed [<!ENTITY % HTMLlat1 PUBLIC "-//W3C//ENTITIES Latin 1 for XHTML//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml-lat1.ent"> %HTMLlat1;]>`
	for _, c := range []struct{ name, doc, want, err string }{
		{"sound", head + a + b + "</feed>", "a|b", ""},
		{"entities of HTML", html + head + fmt.Sprintf(entry, "a", "&eacute;&nbsp;x") + b + "</feed>", "a é\u00a0x|b", ""},
		{"internal entities", `<!DOCTYPE feed [<!ENTITY law "Loi &#233;t&#233;"><!ENTITY all "&law; &amp; &law;">]>` + head + fmt.Sprintf(entry, "a", "&all;") + "</feed>",
			"a Loi été & Loi été", ""},
		{"an external entity", `<!DOCTYPE feed [<!ENTITY x SYSTEM "https://example.org/secret">]>` + head + fmt.Sprintf(entry, "a", "&x;") + "</feed>", "a &x;", ""},
		{"an attribute of the root twice", strings.Replace(head, "<feed", `<feed a="1" a="1"`, 1) + a + b + "</feed>", "a|b", ""},
		{"an attribute twice, after entries", head + a + long + fmt.Sprintf(entry, "b", "") + twice + "</feed>", "a|b|long", ""},
		{"an attribute twice, of an entry", head + a + strings.Replace(b, "<content>", twice+"<content>", 1) + long + "</feed>", "a|b|long", ""},
		{"an attribute twice, of a complete feed", strings.Replace(head, "<title>", history+twice+"<title>", 1) + a + "</feed>", "a", ""},
		{"RSS with entities", `<!DOCTYPE rss [<!ENTITY law "Loi">]><rss version="2.0"><channel><item><guid>urn:a</guid><title>a &law;</title></item></channel></rss>`, "a Loi", ""},
		{"too many references", `<!DOCTYPE feed [<!ENTITY x "` + strings.Repeat("x", 60_000) + `">]>` + head + fmt.Sprintf(entry, "a", strings.Repeat("&x;", 20)) + "</feed>",
			"", "references to entities stand for more than"},
		{"mismatched tags", head + a + "<entry><id>urn:b</id></feed>", "", `end tag "feed" where element entry is open`},
	} {
		t.Run(c.name, func(t *testing.T) {
			web := &sourcetest.Fetcher{Site: sourcetest.Site{"https://example.org/feed": {Body: c.doc, ETag: `"1"`}}}
			store := harvest.NewCatalog(memstore.New())
			h := &harvest.Harvester{Catalog: store, Fetcher: web, Attempts: -1}
			source := &atom.Source{URL: "https://example.org/feed", Parser: anyfeed.Parse}
			report, err := h.Run(t.Context(), source)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				assert.False(t, report.InStep())
				return
			}
			require.NoError(t, err)
			assert.True(t, report.InStep())
			var titles []string
			for item, err := range store.Resources(t.Context(), websync.Range{}) {
				require.NoError(t, err)
				titles = append(titles, strings.TrimSpace(strings.ReplaceAll(item.Resource.Title, "xx", "")))
			}
			slices.Sort(titles)
			assert.Equal(t, c.want, strings.Join(titles, "|"))
			assert.EqualValues(t, len(titles), report.Created)
			assert.EqualValues(t, len(titles), report.Events)
			again, err := h.Run(t.Context(), source)
			require.NoError(t, err)
			assert.True(t, again.InStep())
			assert.Zero(t, again.Events, "not modified")
		})
	}
}
