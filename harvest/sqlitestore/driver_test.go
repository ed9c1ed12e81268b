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

// openDriver opens a Store whose keys are no Catalog's.
func openDriver(t testing.TB, file string) *Store {
	s, err := openFile(t.Context(), file, new(Options))
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

func (c *Catalog) Close() error { return c.db.Close() }
