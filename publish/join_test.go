package publish

import (
	"context"
	"errors"
	"io"
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

func paths(t testing.TB, p websync.Publisher) (all []string) {
	for path, err := range p.Documents(t.Context()) {
		require.NoError(t, err)
		all = append(all, path)
	}
	return all
}

func TestJoin(t *testing.T) {
	a, b := newSite(), newSite()
	a.list("/both", "application/xml", "of a")
	b.list("/both", "application/xml", "of b")
	b.list("/b", "application/xml", "of b")
	a.fail("/b", websync.ErrGone)
	a.fail("/gone", websync.ErrGone)
	a.fail("/broken", errors.New("broken"))
	b.list("/broken", "application/xml", "of b")
	a.list("/.well-known/resourcesync", "application/xml", "<a/>")
	b.list("/.well-known/resourcesync", "application/xml", "<b/>")
	a.list("/.well-known/hosts", "text/plain; charset=utf-8", "x\ny\n")
	b.list("/.well-known/hosts", "Text/Plain", "y\n\nz")
	h := newHandler(t, a, Join(b))
	for path, want := range map[string]string{
		"/both": "of a", "/b": "of b", "/gone": "Gone\n", "/broken": "Internal Server Error\n", "/nowhere": "Not Found\n",
		"/.well-known/resourcesync": "<a/>", "/.well-known/hosts": "x\ny\n\nz\n",
	} {
		assert.Equal(t, want, get(h, "GET", path).Body.String(), path)
	}
}

func TestJoinDocuments(t *testing.T) {
	a, b := newSite(), newSite()
	for _, path := range []string{"/robots.txt", "/x", "/.well-known/a", "/both"} {
		a.list(path, "text/plain", path)
	}
	for _, path := range []string{"/both", "/robots.txt", "/y"} {
		b.list(path, "text/plain", path)
	}
	c := catalog(t, map[string]string{"https://example.org/page": "page", "https://example.org/x": "x"})
	all := Join(a, Bodies(c, locator), b)
	assert.Equal(t, []string{"/page", "/x", "/both", "/y", "/.well-known/a", "/robots.txt"}, paths(t, all))

	for path := range all.Documents(t.Context()) {
		assert.Equal(t, "/page", path)
		break
	}
	a.fail("/y", errors.New("broken"))
	var last error
	for _, err := range all.Documents(t.Context()) {
		require.NoError(t, last, "an error is the last")
		last = err
	}
	assert.EqualError(t, last, "broken")
}

func TestRobotsLines(t *testing.T) {
	a, b := newSite(), newSite()
	a.list("/robots.txt", "text/plain; charset=utf-8", "User-agent: bad\nDisallow: /\n\nSitemap: https://example.org/a.xml\n")
	b.list("/robots.txt", "text/plain", "\uFEFFsitemap: https://example.org/b.xml\r\nSitemap: https://example.org/a.xml\r\n")
	own := Text("/robots.txt", "User-agent: worse\nDisallow: /")
	h := newHandler(t, a, b, own)
	const want = "User-agent: bad\nDisallow: /\n\nSitemap: https://example.org/a.xml\nsitemap: https://example.org/b.xml\nUser-agent: worse\nDisallow: /\n"
	first := get(h, "GET", "/robots.txt")
	assert.Equal(t, want, first.Body.String(), "each Sitemap once, each group whole")
	assert.Equal(t, "text/plain; charset=utf-8", first.Header().Get("Content-Type"))
	assert.Empty(t, first.Header().Get("Last-Modified"), "that of one is not known")

	tag := first.Header().Get("ETag")
	assert.Equal(t, 304, get(h, "GET", "/robots.txt", "If-None-Match", tag).Code)
	b.list("/robots.txt", "text/plain", "Sitemap: https://example.org/c.xml\n")
	second := get(h, "GET", "/robots.txt", "If-None-Match", tag)
	assert.Equal(t, 200, second.Code)
	assert.Contains(t, second.Body.String(), "c.xml")

	untagged := func(text string) {
		b.set("/robots.txt", func() (*websync.Document, error) {
			return &websync.Document{Type: "text/plain", Write: new(rendered).write(text)}, nil
		})
	}
	untagged("# one")
	one := get(h, "GET", "/robots.txt").Header().Get("ETag")
	untagged("# two")
	assert.Equal(t, 200, get(h, "GET", "/robots.txt", "If-None-Match", one).Code, "without the tag of each part it is made from the bytes")

	b.list("/robots.txt", "text/plain", "# b")
	h = newHandler(t, a, b)
	assert.Equal(t, "Thu, 29 Feb 2024 12:00:00 GMT", get(h, "GET", "/robots.txt").Header().Get("Last-Modified"))
	assert.Equal(t, "User-agent: worse\nDisallow: /", get(newHandler(t, own), "GET", "/robots.txt").Body.String(), "one alone is as it is")

	moving(b, 1, "m")
	b.docs["/robots.txt"] = b.docs["/a.xml"]
	doc, err := Join(a, b).Document(t.Context(), "/robots.txt")
	require.NoError(t, err)
	assert.Equal(t, "text/plain; charset=utf-8", doc.Type, "whatever type it states")

	b.file("/robots.txt", websync.Document{Type: "text/plain", Encoding: "gzip", ETag: "g"}, "coded")
	assert.NotContains(t, get(newHandler(t, a, b), "GET", "/robots.txt").Body.String(), "coded", "nobody can join it")
	assert.Equal(t, "coded", get(newHandler(t, b, a), "GET", "/robots.txt").Body.String())
}

// The robots.txt of an own source is kept, and the Sitemap lines of lists follow it. A
// robots.txt of another source is ignored.
func TestOwnRobots(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	robots := websync.Item{Resource: websync.Resource{ID: "https://example.org/robots.txt", Content: websync.Link{Type: "application/octet-stream"}}}
	put(t, store, "a", robots, map[string]string{"content": "User-agent: *\r\nDisallow: /private/"})
	put(t, store, "stranger", robots, map[string]string{"content": "User-agent: *\nDisallow: /\n"})
	list := newSite()
	list.list("/robots.txt", "text/plain; charset=utf-8", "Sitemap: https://example.org/sitemap.xml\n")
	const want = "User-agent: *\nDisallow: /private/\nSitemap: https://example.org/sitemap.xml\n"
	w := get(newHandler(t, list, Bodies(store, locator)), "GET", "/robots.txt")
	assert.Equal(t, want, w.Body.String())
	assert.Equal(t, "text/plain; charset=utf-8", w.Header().Get("Content-Type"))
	dir := t.TempDir()
	_, err := WriteDir(t.Context(), dir, list, Bodies(store, locator))
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(dir, "robots.txt"))
	require.NoError(t, err)
	assert.Equal(t, want, string(data))
}

// endless is a body without an end.
type endless struct{ read *int64 }

func (e endless) Read(p []byte) (int, error)   { *e.read += int64(len(p)); return len(p), nil }
func (endless) Seek(int64, int) (int64, error) { return 0, nil }
func (endless) Close() error                   { return nil }

// Joined texts are held in memory, so they have a limit.
func TestJoinLimit(t *testing.T) {
	a, b := newSite(), newSite()
	a.list("/robots.txt", "text/plain", "# a")
	var read int64
	b.set("/robots.txt", func() (*websync.Document, error) {
		return &websync.Document{Type: "text/plain", ETag: "b", Open: func(context.Context) (io.ReadSeekCloser, error) { return endless{&read}, nil }}, nil
	})
	h := newHandler(t, a, b)
	w := get(h, "GET", "/robots.txt", "Range", "bytes=0-9")
	assert.Equal(t, 503, w.Code)
	assert.Less(t, read, int64(2*maxLines))
	_, err := WriteDir(t.Context(), t.TempDir(), a, b)
	assert.ErrorIs(t, err, websync.ErrLimit)
	assert.ErrorContains(t, err, "/robots.txt: a text of more than 524288 bytes")

	b.list("/robots.txt", "text/plain", strings.Repeat("x", maxLines))
	assert.Equal(t, maxLines+len("# a\n\n"), get(h, "GET", "/robots.txt").Body.Len())
}

func TestText(t *testing.T) {
	h := newHandler(t, Text("/humans.txt", "Hej \u00e5"))
	w := get(h, "GET", "/humans.txt")
	assert.Equal(t, "Hej \u00e5", w.Body.String())
	assert.Equal(t, "text/plain; charset=utf-8", w.Header().Get("Content-Type"))
	assert.NotEmpty(t, w.Header().Get("Repr-Digest"))
	assert.Equal(t, 404, get(h, "GET", "/humans").Code)
	assert.Equal(t, []string{"/humans.txt"}, paths(t, Text("/humans.txt", "")))
}

// If a part changes while it is read, the union is rendered again.
func TestJoinPassesConflictsOn(t *testing.T) {
	a, b := newSite(), newSite()
	moving(a, 1, "m")
	inner := a.docs["/a.xml"]
	a.set("/robots.txt", func() (*websync.Document, error) {
		doc, err := inner()
		doc.Type = "text/plain"
		return doc, err
	})
	b.list("/robots.txt", "text/plain", "b\n")
	doc, err := Join(a, b).Document(context.Background(), "/robots.txt")
	require.NoError(t, err)
	c := newCache(t.TempDir(), 1<<20, 1<<20)
	s, err := c.render(t.Context(), doc.Write)
	require.NoError(t, err)
	assert.True(t, s.moved)
	s.release()
	assert.Equal(t, "state 1\nb\n", get(newHandler(t, a, b), "GET", "/robots.txt").Body.String())
}
