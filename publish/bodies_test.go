package publish

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

var locator = websync.PathLocator{Base: "https://example.org/", Own: []string{"a", "b", "c"}}

func own(id string) *websync.Item {
	return &websync.Item{Source: "a", Resource: websync.Resource{ID: id}}
}

// catalog returns a Store with one body for each id, put in the order of the ids.
func catalog(t testing.TB, texts map[string]string) *harvest.Catalog {
	store := harvest.NewCatalog(memstore.New())
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		put(t, store, "a", websync.Item{Resource: websync.Resource{ID: id}}, map[string]string{"content": texts[id]})
	}
	return store
}

// put commits a record with bodies of the given names and texts.
func put(t testing.TB, store *harvest.Catalog, source string, item websync.Item, texts map[string]string) {
	var bytes []string
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		link := item.Resource.Content
		if link.Type == "" {
			link.Type = "text/html"
		}
		item.Bodies = append(item.Bodies, websync.Body{Name: name, Link: link, Key: websync.SHA256([]byte(texts[name]))})
		bytes = append(bytes, texts[name])
	}
	testkit.Fill(t, store, source, bytes, item)
}

func TestBodies(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	now := time.Date(2024, 5, 6, 7, 8, 9, 123456000, time.UTC)
	store.Now = func() time.Time { return now }
	stated := func(text string) websync.Datetime {
		d, err := websync.ParseDatetime(text)
		require.NoError(t, err)
		return d
	}
	resource := func(id, modified string) websync.Item {
		return websync.Item{Kind: websync.Created, Resource: websync.Resource{ID: "https://example.org/" + id, Modified: stated(modified)}}
	}
	put(t, store, "a", resource("second", "2024-01-02T03:04:05+01:00"), map[string]string{"content": bodyText, "graph": "{}"})
	put(t, store, "a", resource("day", "2024-01-02"), map[string]string{"content": "day"})
	put(t, store, "a", resource("future", "2024-05-06T07:08:30Z"), map[string]string{"content": "future"})
	coded := resource("coded", "2024-01-02")
	coded.Resource.Content = websync.Link{Type: "image/svg+xml", Encoding: "gzip", Digests: websync.Digests{
		{Algorithm: "md5", Sum: "0123456789abcdef"}, {Algorithm: "sha-1", Sum: "0123456789abcdef0123"}}}
	put(t, store, "b", coded, map[string]string{"content": bodyText})
	put(t, store, "b", websync.Item{Resource: websync.Resource{ID: "urn:x"}}, map[string]string{"content": "urn"})
	deleted := resource("deleted", "2024-01-02")
	put(t, store, "a", deleted, map[string]string{"content": "deleted"})
	deleted.Kind = websync.Deleted
	put(t, store, "a", deleted, nil)
	bare := resource("bare", "2024-01-02")
	bare.Bodies = []websync.Body{{Name: "content", Link: websync.Link{Type: "text/html"}}}
	put(t, store, "a", bare, nil)

	const committed = "Mon, 06 May 2024 07:08:10 GMT" // rounded up
	h := newHandler(t, Bodies(store, locator))
	for path, want := range map[string]map[string]string{
		"/second": {"Content-Type": "text/html", "Last-Modified": "Tue, 02 Jan 2024 02:04:05 GMT", "ETag": `"` + digestTag(websync.SHA256([]byte(bodyText))) + `"`},
		"/day":    {"Last-Modified": committed},
		"/future": {"Last-Modified": committed},
		"/coded": {"Content-Type": "image/svg+xml", "Content-Encoding": "gzip", "Vary": "",
			"Digest": "SHA-256=6ndVXIltZQDMQz4RuuYzg6CB3pRJx09J/lNkL9AQdBI=,SHA=MDEyMzQ1Njc4OWFiY2RlZjAxMjM="},
		"/r/https=3A/=2Fexample.org/second~graph": {"Content-Length": "2"},
		"/r/urn=3Ax~content":                      {"Content-Length": "3"},
	} {
		w := get(h, "GET", path)
		require.Equal(t, 200, w.Code, path)
		assert.Equal(t, want, fieldsOf(w.Header(), want), path)
	}
	for path, want := range map[string]int{
		"/deleted": 410, "/bare": 404, "/never": 404, "/second~x": 404, "/r/https=3A/=2Fexample.org/second~content": 404, "/": 404,
	} {
		assert.Equal(t, want, get(h, "GET", path).Code, path)
	}
	_, err := Bodies(store, locator).Document(t.Context(), "/bare")
	assert.ErrorIs(t, err, websync.ErrNotFound)
	assert.Equal(t, []string{
		"/second", "/r/https=3A/=2Fexample.org/second~graph", "/day", "/future", "/coded", "/r/urn=3Ax~content",
	}, paths(t, Bodies(store, locator)))

	only := Bodies(store, locator, "b")
	assert.Equal(t, 404, get(newHandler(t, only), "GET", "/second").Code)
	assert.Equal(t, []string{"/coded", "/r/urn=3Ax~content"}, paths(t, only))

	// A source that is asked later has a live resource of the same id.
	put(t, store, "b", deleted, nil)
	put(t, store, "c", resource("deleted", "2024-01-02"), map[string]string{"content": "alive"})
	assert.Equal(t, "alive", get(h, "GET", "/deleted").Body.String())
}

// TestBodiesStateTheSameTime: a state that states the time of the one before, or an
// earlier one, is modified for those who have that one.
func TestBodiesStateTheSameTime(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	store.Now = func() time.Time { return time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC) }
	h := newHandler(t, Bodies(store, locator))
	state := func(kind websync.ChangeKind, text, modified string) {
		item := websync.Item{Kind: kind, Resource: websync.Resource{ID: "https://example.org/page"}}
		item.Resource.Modified, _ = websync.ParseDatetime(modified)
		put(t, store, "a", item, map[string]string{"content": text})
	}
	state(websync.Created, "first", "2024-01-02T03:04:05Z")
	since := get(h, "GET", "/page").Header().Get("Last-Modified")
	assert.Equal(t, "Tue, 02 Jan 2024 03:04:05 GMT", since)
	assert.Equal(t, 304, get(h, "GET", "/page", "If-Modified-Since", since).Code)
	for _, modified := range []string{"2024-01-02T03:04:05Z", "2024-01-01T00:00:00Z"} {
		state(websync.Updated, "of "+modified, modified)
		assert.Equal(t, "of "+modified, get(h, "GET", "/page", "If-Modified-Since", since).Body.String())
	}
}

func TestBodiesOfOneURL(t *testing.T) {
	const path = "/r/urn=3Ax~content"
	store := harvest.NewCatalog(memstore.New())
	for _, source := range []string{"f", "d", "b", "e"} {
		put(t, store, source, websync.Item{Resource: websync.Resource{ID: "urn:x"}}, map[string]string{"content": source})
	}
	for want, sources := range map[string][]string{"b": nil, "f": {"e", "d", "f"}, "d": {"e", "d"}, "e": {"e"}} {
		assert.Equal(t, want, get(newHandler(t, Bodies(store, locator, sources...)), "GET", path).Body.String())
	}
}

func TestURLPath(t *testing.T) {
	for url, want := range map[string]string{"https://x": "/", "https://x/": "/", "https://x/a%20b/c": "/a%20b/c"} {
		assert.Equal(t, want, urlPath(url))
	}
}
