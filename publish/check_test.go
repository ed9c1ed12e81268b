package publish

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// checked is a Publisher whose Check returns err.
type checked struct {
	*site
	err error
}

func (c checked) Check() error { return c.err }

// captureDefault makes slog.Default write to the result until the test ends.
func captureDefault(t *testing.T) *bytes.Buffer {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return &log
}

func TestHandlerChecksSettings(t *testing.T) {
	wrong := errors.New("the Base is wrong")
	fallback := captureDefault(t)
	for name, own := range map[string]bool{"nil Log": false, "Log": true} {
		t.Run(name, func(t *testing.T) {
			fallback.Reset()
			var log bytes.Buffer
			h := newHandler(t, exampleSite(), Join(checked{newSite(), nil}, checked{newSite(), wrong}))
			if own {
				h.Log = slog.New(slog.NewTextHandler(&log, nil))
			}
			for range 2 {
				w := get(h, "GET", "/sitemap.xml")
				assert.Equal(t, 500, w.Code)
				assert.NotContains(t, w.Body.String(), wrong.Error())
			}
			assert.ErrorIs(t, h.Check(), wrong)
			if !own {
				log = *fallback
			} else {
				assert.Empty(t, fallback.String())
			}
			assert.Equal(t, 1, bytes.Count(log.Bytes(), []byte(wrong.Error())), log.String())
		})
	}
	h := newHandler(t, exampleSite())
	assert.NoError(t, h.Check())
}

func TestWriteDirChecksSettings(t *testing.T) {
	wrong := errors.New("the Base is wrong")
	dir := t.TempDir() + "/new"
	_, err := WriteDir(t.Context(), dir, checked{newSite(), wrong})
	assert.ErrorIs(t, err, wrong)
	assert.NoDirExists(t, dir)
}

func TestCheckOfBodies(t *testing.T) {
	check := func(p websync.Publisher) error { return Join(p).(Checker).Check() }
	assert.NoError(t, check(Bodies(harvest.NewCatalog(memstore.New()), locator)))
	assert.ErrorContains(t, check(Bodies(nil, locator)), "Catalog")
	assert.ErrorContains(t, check(Bodies(harvest.NewCatalog(memstore.New()), nil)), "Locator")
	assert.ErrorContains(t, check(nil), "Publisher 1 of 1 is nil")
}

// keyed is a Catalog whose bodies have other keys than a SHA-256.
type keyed struct{ websync.Catalog }

func (k keyed) Get(ctx context.Context, source string, ids []string) ([]websync.Item, error) {
	items, err := k.Catalog.Get(ctx, source, ids)
	for i := range items {
		for j := range items[i].Bodies {
			items[i].Bodies[j].Key = websync.Digest{Algorithm: "md5", Sum: "0123456789abcdef"}
		}
	}
	return items, err
}

// A Catalog that breaks its contract is an error in the program, so it is always logged.
func TestHandlerReportsABrokenCatalog(t *testing.T) {
	log := captureDefault(t)
	store := catalog(t, map[string]string{"https://example.org/a": "a"})
	h := newHandler(t, Bodies(keyed{store}, locator))
	require.Equal(t, 500, get(h, "GET", "/a").Code)
	assert.Contains(t, log.String(), "which is not a SHA-256")
}
