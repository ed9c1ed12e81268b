package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const feedStart = `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0">
<id>urn:f</id><title>F</title><updated>2026-01-03T00:00:00Z</updated><author><name>A</name></author>`

// archivedFeed serves a feed with one archive document, under paths that do not reveal
// what they are.
func archivedFeed(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/now":
			fmt.Fprint(w, feedStart, `<link rel="prev-archive" href="/old"/>
<at:deleted-entry ref="urn:b" when="2026-01-03T00:00:00Z"/>
<entry><id>urn:a</id><title>A</title><updated>2026-01-02T00:00:00Z</updated><content type="text">new</content></entry></feed>`)
		case "/old":
			fmt.Fprint(w, feedStart, `<link rel="current" href="/now"/>
<entry><id>urn:a</id><title>A</title><updated>2026-01-01T00:00:00Z</updated><content type="text">old</content></entry>
<entry><id>urn:b</id><title>B</title><updated>2026-01-01T00:00:00Z</updated><content type="text">b</content></entry>
<entry><id>urn:c</id><title>C</title><updated>2026-01-01T00:00:00Z</updated><link href="/c"/></entry></feed>`)
		case "/c":
			fmt.Fprint(w, "linked")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/now"
}

func TestFeed(t *testing.T) {
	url := archivedFeed(t)
	for _, protocol := range []string{"auto", "atom"} {
		t.Run(protocol, func(t *testing.T) {
			dir := t.TempDir()
			store := "sqlite:" + filepath.Join(dir, "store.db")
			r := callHarvest(t, "-protocol", protocol, "-store", store, "-rate", "1000", "-export", filepath.Join(dir, "out"), url)
			require.Equal(t, exitDone, r.code, r.stderr)
			index, err := os.ReadFile(filepath.Join(dir, "out", "INDEX"))
			require.NoError(t, err)
			assert.Regexp(t, `^sha-256:\w+\turn:a\t3\t.*\nsha-256:\w+\turn:c\t6\t.*\n$`, string(index))
			again := callHarvest(t, "-protocol", protocol, "-store", store, "-rate", "1000", url)
			require.Equal(t, exitDone, again.code, again.stderr)
			assert.Contains(t, again.stdout, "held, nothing new")
		})
	}
	r := callHarvest(t, "-protocol", "sitemap", "-store", "mem", url)
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.stderr, "an Atom feed")
}

func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a b.txt"), []byte("bytes"), 0o600))
	out := filepath.Join(t.TempDir(), "out")
	r := callHarvest(t, "-protocol", "dir", "-store", "mem", "-export", out, dir)
	require.Equal(t, exitDone, r.code, r.stderr)
	data, err := os.ReadFile(filepath.Join(out, "localhost", dir, "a%20b.txt"))
	require.NoError(t, err)
	assert.Equal(t, "bytes", string(data))
	assert.Equal(t, exitFailed, callHarvest(t, "-protocol", "dir", "-store", "mem", filepath.Join(dir, "missing")).code)
}

func TestHarvestBesideTheStore(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("bytes"), 0o600))
	t.Chdir(dir)
	for range 2 {
		r := callHarvest(t, "-protocol", "dir", ".")
		require.Equal(t, exitDone, r.code, r.stderr)
		assert.Contains(t, r.stdout, "listed     1 entry, in full")
	}
	for _, out := range []string{"out", filepath.Join(dir, "new", "out"), ".out"} {
		for range 2 {
			r := callHarvest(t, "-protocol", "dir", "-export", out, ".")
			require.Equal(t, exitDone, r.code, r.stderr)
			assert.Contains(t, r.stdout, "listed     1 entry, in full", out)
		}
		require.NoError(t, os.RemoveAll(out))
	}
	r := callHarvest(t, "-protocol", "dir", "-store", "mem", "-export", ".", ".")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.stderr, "the directory that is read")
	assert.NoDirExists(t, filepath.Join(dir, "localhost"))
}

// TestAtomPMH: with -protocol atompmh an entry with an empty content is a deletion, and
// all formats are obtained.
func TestAtomPMH(t *testing.T) {
	deleted := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/now":
			fmt.Fprint(w, feedStart, deleted, `
<entry><id>urn:a</id><title>A</title><updated>2026-01-02T00:00:00Z</updated><link type="text/plain" href="/a.txt"/><link type="text/html" href="/a.html"/></entry>
<entry><id>urn:b</id><title>B</title><updated>2026-01-01T00:00:00Z</updated><link type="text/plain" href="/b.txt"/></entry></feed>`)
		case "/a.txt", "/a.html", "/b.txt":
			fmt.Fprint(w, r.URL.Path)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	for n, want := range []string{"/b.txt", ""} {
		r := callHarvest(t, "-protocol", "atompmh", "-store", "sqlite:"+filepath.Join(dir, "store.db"), "-rate", "1000", "-export", filepath.Join(dir, "out"), server.URL+"/now")
		require.Equal(t, exitDone, r.code, r.stderr)
		index, err := os.ReadFile(filepath.Join(dir, "out", "INDEX"))
		require.NoError(t, err)
		assert.Equal(t, 3-n, strings.Count(string(index), "\n"), string(index))
		assert.Equal(t, want != "", strings.Contains(string(index), "urn:b"))
		deleted = `<entry><id>urn:b</id><title>B</title><updated>2026-01-03T00:00:00Z</updated><content/></entry>`
	}
}
