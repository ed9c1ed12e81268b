package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

// TestServesELI: the pages below eli/ are listed, and each change of one is in the feed.
func TestServesELI(t *testing.T) {
	dir := directory(t, map[string]string{"eli/act/1": "<!DOCTYPE html><p>one", "eli/act/1.pdf": "%PDF-", "index.html": "<p>index"})
	entry := servePublish(t, "-protocol", "eli", "-dir", dir)
	base, ok := strings.CutSuffix(entry, "eli/sitemap.xml")
	require.True(t, ok, entry)
	feed := base + "eli/eli-update-feed.atom"

	_, list := get(t, entry)
	assert.Contains(t, list, ` dct:relation="`+feed+`"`)
	assert.Contains(t, list, "<loc>"+base+"eli/act/1</loc>")
	assert.Equal(t, 1, strings.Count(list, "<loc>"))
	_, updates := get(t, feed)
	assert.Contains(t, updates, "<id>urn:127-0-0-1:eli:eli-update-feed</id>")
	assert.Equal(t, 1, strings.Count(updates, "<entry>"))
	_, page := get(t, base+"eli/act/1")
	assert.Equal(t, "<!DOCTYPE html><p>one", page)
	_, robots := get(t, base+"robots.txt")
	assert.Equal(t, "Sitemap: "+entry+"\n", robots)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "eli/act/2"), []byte("<!DOCTYPE html><p>two"), 0o644))
	require.NoError(t, os.Remove(filepath.Join(dir, "eli/act/1")))
	for _, url := range []string{entry, feed} {
		assert.Eventually(t, func() bool {
			_, document := get(t, url)
			return strings.Contains(document, base+"eli/act/2<") && !strings.Contains(document, base+"eli/act/1<")
		}, 20*time.Second, 10*time.Millisecond)
	}
}

// TestWritesELI: what is not listed is named, with the reason.
func TestWritesELI(t *testing.T) {
	dir := directory(t, map[string]string{"eli/act/1": "<!DOCTYPE html><p>one", "eli/act/1.pdf": "%PDF-", "index.html": "<p>index"})
	out := t.TempDir()
	a := callPublish(t, "-protocol", "eli", "-dir", dir, "-out", out, "-base", "https://law.example/")
	require.Equal(t, exitDone, a.code, a.stderr)
	assert.Equal(t, "https://law.example/eli/sitemap.xml\n", a.stdout)
	assert.Contains(t, a.stderr, `"application/pdf", not the HTML page`)
	assert.Contains(t, a.stderr, `does not begin with "https://law.example/eli/"`)
	assert.Equal(t, 2, strings.Count(a.stderr, "not listed"))
	for _, name := range []string{"eli/sitemap.xml", "eli/eli-update-feed.atom", "eli/act/1", "eli/act/1.pdf", "index.html", "robots.txt"} {
		assert.FileExists(t, filepath.Join(out, name))
	}
}

// TestServesELIOfAStore: a store has acts whose pages another server has.
func TestServesELIOfAStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "acts.db")
	db, err := sqlitestore.Open(t.Context(), file, nil)
	require.NoError(t, err)
	store := harvest.NewCatalog(db)
	list := &eli.CSV{Name: "acts", Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("https://law.example/eli/act/1,2026-01-02,Act on Salt\nhttps://other.example/eli/act/1,2026-01-02\n")), nil
	}}
	runSource(t, &harvest.Harvester{Catalog: store}, list)
	runSource(t, &harvest.Harvester{Catalog: store}, harvest.Of("others", harvest.Event{Resource: websync.Resource{ID: "https://law.example/eli/act/2"}}))
	require.NoError(t, db.Close())

	out := t.TempDir()
	args := []string{"-protocol", "eli", "-store", "sqlite:" + file, "-out", out, "-base", "https://law.example/"}
	a := callPublish(t, args...)
	assert.Equal(t, exitFailed, a.code)
	assert.Contains(t, a.stderr, "-own")
	a = callPublish(t, append(args, "-own", "acts")...)
	require.Equal(t, exitDone, a.code, a.stderr)
	sitemap, err := os.ReadFile(filepath.Join(out, "eli/sitemap.xml"))
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(sitemap), "<loc>"))
	assert.Contains(t, string(sitemap), "<loc>https://law.example/eli/act/1</loc><lastmod>2026-01-02</lastmod>")
	feed, err := os.ReadFile(filepath.Join(out, "eli/eli-update-feed.atom"))
	require.NoError(t, err)
	assert.Contains(t, string(feed), "<title>Act on Salt</title>")
}
