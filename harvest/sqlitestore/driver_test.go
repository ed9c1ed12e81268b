package sqlitestore

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Options{
		Open: func(t testing.TB) harvest.Store {
			return openDriver(t, filepath.Join(t.TempDir(), "store.db"))
		},
		Reopen: func(t testing.TB, old harvest.Store) harvest.Store {
			require.NoError(t, old.(*Store).Close())
			return openDriver(t, old.(*Store).file)
		},
		Beside: func(t testing.TB, other harvest.Store) harvest.Store { return openDriver(t, other.(*Store).file) },
	})
}

// TestStoreOfRecent is TestStore with all that is written in the table recent first, from which little of it moves to kv
// at a time.
func TestStoreOfRecent(t *testing.T) {
	open := func(t testing.TB, file string) harvest.Store {
		s := openDriver(t, file)
		s.limits = eager
		return s
	}
	storetest.Run(t, storetest.Options{
		Open: func(t testing.TB) harvest.Store { return open(t, filepath.Join(t.TempDir(), "store.db")) },
		Reopen: func(t testing.TB, old harvest.Store) harvest.Store {
			require.NoError(t, old.(*Store).Close())
			return open(t, old.(*Store).file)
		},
		Beside: func(t testing.TB, other harvest.Store) harvest.Store { return open(t, other.(*Store).file) },
	})
}

var eager = limits{apart: -1, bytes: 6000, rows: 5}

// OpenEager is OpenCatalog with a Store as in TestStoreOfRecent.
func OpenEager(ctx context.Context, file string) (*Catalog, error) {
	c, err := OpenCatalog(ctx, file, nil)
	if err == nil {
		c.db.limits = eager
	}
	return c, err
}

// openDriver opens a Store whose keys are no Catalog's.
func openDriver(t testing.TB, file string) *Store {
	s, err := openFile(t.Context(), file, new(Options), nil)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// A Catalog is closed with its Store.
type Catalog struct {
	*harvest.Catalog
	db *Store
}

func OpenCatalog(ctx context.Context, file string, o *Options) (*Catalog, error) {
	s, err := Open(ctx, file, o)
	if err != nil {
		return nil, err
	}
	return &Catalog{harvest.NewCatalog(s), s}, nil
}

// View is that of the Store.
func (c *Catalog) View(ctx context.Context, fn func(harvest.Reader) error) error {
	return c.db.View(ctx, fn)
}

func (c *Catalog) Close() error { return c.db.Close() }
