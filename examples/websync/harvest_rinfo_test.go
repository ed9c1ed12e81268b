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

// TestHarvestRinfo harvests all documents of an entry.
func TestHarvestRinfo(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/feed":
			fmt.Fprint(w, feedStart, `<entry><id>http://rinfo.example.se/publ/exfs/2026:1</id><title>A</title><summary/><updated>2026-01-02T00:00:00Z</updated>
<published>2026-01-02T00:00:00Z</published><content type="application/pdf" src="/a.pdf"/><link rel="alternate" type="application/rdf+xml" href="/a.rdf"/>
<link rel="enclosure" type="application/pdf" href="/b.pdf"/></entry></feed>`)
		case "/a.pdf", "/a.rdf", "/b.pdf":
			fmt.Fprint(w, r.URL.Path)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	r := callHarvest(t, "-protocol", "rinfo", "-store", "sqlite:"+filepath.Join(dir, "store.db"), "-rate", "1000", "-export", filepath.Join(dir, "out"), server.URL+"/feed")
	require.Equal(t, exitDone, r.code, r.stderr)
	index, err := os.ReadFile(filepath.Join(dir, "out", "INDEX"))
	require.NoError(t, err)
	assert.Regexp(t, `^(sha-256:\w+\thttp://rinfo.example.se/publ/exfs/2026:1.*\t6\t.*\n){3}$`, string(index))
}
