package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

func TestTable(t *testing.T) {
	file, catalog, base := filepath.Join(t.TempDir(), "acts.csv"), harvest.NewCatalog(memstore.New()), "https://www.example.org/"
	run := func(text string) (created, updated, deleted int64) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		report, err := (&harvest.Harvester{Catalog: catalog}).Run(t.Context(), rows(file, base))
		require.NoError(t, err)
		return report.Created, report.Updated, report.Deleted
	}
	got := func(created, updated, deleted int64) [3]int64 { return [3]int64{created, updated, deleted} }
	assert.Equal(t, [3]int64{2, 0, 0}, got(run("1,On dogs,Dogs\n2,On cats,Cats\n")))
	assert.Equal(t, [3]int64{0, 1, 1}, got(run("1,On dogs,All dogs\n")))

	read := func(path string) string {
		w := httptest.NewRecorder()
		handler(catalog, base).ServeHTTP(w, httptest.NewRequest(http.MethodGet, base+path, nil))
		body, err := io.ReadAll(w.Body)
		require.NoError(t, err)
		return string(body)
	}
	assert.Equal(t, "All dogs", read("1"))
	assert.Contains(t, read("sitemap.xml"), "<loc>"+base+"1</loc>")
	feed := read("feed.atom")
	assert.Contains(t, feed, "On dogs")
	assert.Contains(t, feed, `ref="`+base+`2"`, "a tombstone")
}
