package publish

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

// A plainCatalog has no outlines.
type plainCatalog struct{ websync.Catalog }

// A published is a document and its bytes.
type published struct {
	ETag     string
	Modified time.Time
	Text     string
}

// TestOutlinesChangeNothing: documents are the same from the outlines and from the log, of
// a Publisher that knew an earlier state and of one that begins.
func TestOutlinesChangeNothing(t *testing.T) {
	s := newShelf(t, 60, 0)
	place := func(c websync.Catalog) websync.Place {
		return websync.Place{Catalog: c, Base: "https://example.org/", Sources: []string{"own", "other"}, Own: []string{"own"}}
	}
	publishers := func(c websync.Catalog) []websync.Publisher {
		return []websync.Publisher{
			&sitemap.Publisher{Place: place(c), PartSize: 4}, &resourcesync.Publisher{Place: place(c), ListSize: 4, PartSize: 4},
		}
	}
	all := func(p websync.Publisher) map[string]published {
		documents := map[string]published{}
		for path, err := range p.Documents(t.Context()) {
			require.NoError(t, err)
			doc, err := p.Document(t.Context(), path)
			require.NoError(t, err)
			var text strings.Builder
			require.NoError(t, doc.Write(t.Context(), io.Writer(&text)))
			documents[path] = published{doc.ETag, doc.Modified, text.String()}
		}
		return documents
	}
	kept := publishers(s)
	for round := range 25 {
		for range round {
			s.change()
		}
		if round == 20 {
			_, err := s.Compact(t.Context())
			require.NoError(t, err)
		}
		begun, plain := publishers(s), publishers(plainCatalog{s})
		for i := range plain {
			want := all(plain[i])
			assert.Equal(t, want, all(kept[i]), "round %d", round)
			assert.Equal(t, want, all(begun[i]), "round %d", round)
		}
	}
}

// A countingCatalog counts what is read of it.
type countingCatalog struct {
	*shelf
	gets, opens int // calls
}

func (c *countingCatalog) Get(ctx context.Context, source string, ids []string) ([]websync.Item, error) {
	c.gets++
	return c.shelf.Get(ctx, source, ids)
}

func (c *countingCatalog) Open(ctx context.Context, b websync.Body) (io.ReadSeekCloser, error) {
	c.opens++
	return c.shelf.Open(ctx, b)
}

// TestBodiesInMemory: what is kept of bodies is never older than the log.
func TestBodiesInMemory(t *testing.T) {
	c := &countingCatalog{shelf: newShelf(t, 8, 10)}
	locator := websync.PathLocator{Base: "https://example.org/", Own: []string{"own"}}
	kept := newHandler(t, Bodies(c, locator))
	var paths []string
	for i := range 8 {
		paths = append(paths, fmt.Sprintf("/%d", i), urlPath(locator.URL(&websync.Item{Source: "other", Resource: websync.Resource{ID: fmt.Sprintf("urn:x:%d", i)}}, "content")))
	}
	found := 0
	for range 60 {
		c.change()
		fresh := newHandler(t, Bodies(c.shelf, locator))
		for _, path := range paths {
			want := get(fresh, "GET", path)
			for _, fields := range [][]string{nil, {"Range", "bytes=2-4"}, {"If-None-Match", want.Header().Get("ETag")}} {
				for _, method := range []string{"GET", "HEAD"} {
					want, got := get(fresh, method, path, fields...), get(kept, method, path, fields...)
					require.Equal(t, want.Code, got.Code)
					require.Equal(t, want.Body.String(), got.Body.String())
					require.Equal(t, want.Header(), got.Header())
				}
			}
			if want.Code == http.StatusOK {
				found++
			}
		}
	}
	require.NotZero(t, found)
	assert.Less(t, c.opens, 200)
	for _, path := range paths {
		if get(kept, "GET", path).Code == http.StatusOK {
			c.gets, c.opens = 0, 0
			get(kept, "GET", path)
			get(kept, "GET", path, "If-None-Match", get(kept, "HEAD", path).Header().Get("ETag"))
			assert.Zero(t, c.gets+c.opens)
		}
	}
}

// TestManyBodies: documents that are known are limited, and long ones are not kept.
func TestManyBodies(t *testing.T) {
	s := newShelf(t, 8, 0)
	locator := websync.PathLocator{Base: "https://example.org/", Own: []string{"own"}}
	b := Bodies(s, locator).(*bodies)
	text := "text"
	for i, typ := range []string{"text/plain", "text/plain; x=" + strings.Repeat("x", maxKnownLink)} {
		s.Fill("own", []string{text}, websync.Item{
			Resource: websync.Resource{ID: fmt.Sprintf("https://example.org/%d", i)},
			Bodies:   []websync.Body{{Name: "content", Link: websync.Link{Type: typ}, Key: websync.SHA256([]byte(text))}},
		})
	}
	for i, known := range []int{1, 1} {
		_, err := b.Document(t.Context(), fmt.Sprintf("/%d", i))
		require.NoError(t, err)
		require.Len(t, b.known, known)
	}
	for i := range 2 * maxKnown {
		b.note(b.at, fmt.Sprint(i), new(websync.Document))
		require.LessOrEqual(t, len(b.known), maxKnown)
	}
	b.note(logEnd{}, "/of another state", new(websync.Document))
	require.Nil(t, b.knownAt(b.at, "/of another state"))
}
