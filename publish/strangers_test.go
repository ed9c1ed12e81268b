package publish

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// hostilePaths are paths that a harvested feed may claim on the host that publishes it.
var hostilePaths = []string{
	"/", "/index.html", "/robots.txt", "/.well-known/acme-challenge/TOKEN", "/.well-known/security.txt", "/.htaccess", "/.websync/manifest",
	"/x.php", "/sitemap.xml", "/feed.atom", "/r/", "/r/x~content", "/a/../robots.txt", "/%72obots.txt", "/%2Ehtaccess", "/R/x", "/mine",
}

// Bodies of harvested sources are below r/, over HTTP and in files, whatever their ids.
func TestStrangersHaveNoURLOfTheHost(t *testing.T) {
	const base = "https://example.org"
	store := harvest.NewCatalog(memstore.New())
	for _, path := range hostilePaths {
		put(t, store, "feed", websync.Item{Resource: websync.Resource{ID: base + path}},
			map[string]string{"content": "hostile", "x.php": "hostile", "alternate application/x.php": "hostile"})
	}
	put(t, store, "own", websync.Item{Resource: websync.Resource{ID: base + "/mine"}}, map[string]string{"content": "ours"})
	for name, own := range map[string][]string{"nothing is own": nil, "another source is own": {"own"}} {
		t.Run(name, func(t *testing.T) {
			bodies := Bodies(store, websync.PathLocator{Base: base + "/", Own: own})
			h := newHandler(t, bodies)
			for _, path := range hostilePaths {
				w := get(h, "GET", path)
				if own != nil && path == "/mine" {
					assert.Equal(t, "ours", w.Body.String())
					continue
				}
				assert.Equal(t, 404, w.Code, path)
			}
			n := 0
			for _, path := range paths(t, bodies) {
				if path == "/mine" {
					continue
				}
				n++
				require.True(t, strings.HasPrefix(path, "/r/"), path)
				w := get(h, "GET", path)
				require.Equal(t, 200, w.Code, path)
				assert.Contains(t, w.Header().Get("Content-Security-Policy"), "sandbox;")
				assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
			}
			assert.GreaterOrEqual(t, n, 3*len(hostilePaths))

			dir := t.TempDir()
			_, err := WriteDir(t.Context(), dir, bodies)
			require.NoError(t, err)
			require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				name, _ := filepath.Rel(dir, path)
				if err != nil || d.IsDir() || strings.HasPrefix(name, private) || name == "mine" {
					return err
				}
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				assert.Contains(t, []string{"hostile", "ours"}, string(data))
				assert.True(t, strings.HasPrefix(filepath.ToSlash(name), "r/"), name)
				if ext := filepath.Ext(name); ext != "" {
					assert.Contains(t, ext, "~", "a server must not know it")
				}
				assert.False(t, strings.HasPrefix(filepath.Base(name), "."), name)
				return nil
			}))
		})
	}
}

// A foreign source with the id of an own resource does not hide that resource.
func TestStrangersDoNotHideOwn(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	for _, source := range []string{"a stranger", "own"} {
		for _, id := range []string{"https://example.org/x", "urn:x", "https://example.org/%FF"} {
			put(t, store, source, websync.Item{Resource: websync.Resource{ID: id}}, map[string]string{"content": source})
		}
	}
	bodies := Bodies(store, websync.PathLocator{Base: "https://example.org/", Own: []string{"own"}})
	h := newHandler(t, bodies)
	for path, want := range map[string]string{
		"/x":                                   "own",
		"/r/https=3A/=2Fexample.org/x~content": "a stranger",
		"/r/urn=3Ax~content":                   "own",
		"/r/https=3A/=2Fexample.org/=25FF~content": "own",
	} {
		assert.Equal(t, want, get(h, "GET", path).Body.String(), path)
	}
	gone := websync.Item{Kind: websync.Deleted, Resource: websync.Resource{ID: "https://example.org/x"}}
	put(t, store, "a stranger", gone, nil)
	assert.Equal(t, 200, get(h, "GET", "/x").Code)
	assert.Equal(t, 410, get(h, "GET", "/r/https=3A/=2Fexample.org/x~content").Code)
}
