package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMirror(t *testing.T) {
	page := "<p>one"
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/sitemap.xml":
			fmt.Fprintf(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://%s/page</loc></url></urlset>`, r.Host)
		case "/page":
			fmt.Fprint(w, page)
		default:
			http.NotFound(w, r)
		}
	}))
	defer site.Close()
	dir := t.TempDir()
	for _, page = range []string{"<p>one", "<p>two"} {
		report, err := mirror(t.Context(), site.URL+"/sitemap.xml", dir)
		require.NoError(t, err)
		require.True(t, report.InStep(), "%+v", report)
	}
	found := false
	require.NoError(t, filepath.Walk(filepath.Join(dir, "files"), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			found = found || string(data) == "<p>two"
		}
		return err
	}))
	assert.True(t, found)
}
