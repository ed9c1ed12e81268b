package sitemap_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/sitemap"
)

// A snapshot is whole if every document was read in this pass.
func TestSourceWhole(t *testing.T) {
	const a, b, idx = site + "/a.xml", site + "/b.xml", site + "/index.xml"
	list := func(w *web, url string, from harvest.Checkpoint) (resume harvest.Checkpoint, whole []bool) {
		run := &harvest.Run{From: from, Fetcher: w}
		for ev, err := range (&sitemap.Source{URL: url}).Events(t.Context(), run) {
			require.NoError(t, err)
			if !ev.Resume.IsZero() {
				resume = ev.Resume
			}
			if ev.Kind == harvest.SnapshotEnd {
				whole = append(whole, ev.Whole)
			}
		}
		return resume, whole
	}
	w := &web{pages: map[string]sourcetest.Document{
		idx: {Body: index(a+" 2025-05-01", b)}, a: pages(a + "/1"), b: pages(b + "/1"),
	}}
	w.edit(a, func(page *sourcetest.Document) { page.Header, page.ETag = dated(june), `"1"` })
	resume, whole := list(w, idx, harvest.Checkpoint{})
	assert.Equal(t, []bool{true}, whole, "the first pass")
	_, whole = list(w, idx, resume)
	assert.Equal(t, []bool{false}, whole, "a part is unchanged")
	_, whole = list(w, idx, harvest.Checkpoint{})
	assert.Equal(t, []bool{true}, whole, "a full pass")
	_, whole = list(w, b, harvest.Checkpoint{})
	assert.Equal(t, []bool{true}, whole, "one document")
	delete(w.pages, b)
	_, whole = list(w, idx, harvest.Checkpoint{})
	assert.Equal(t, []bool{false}, whole, "a part that can't be read")
}
