package sqlitestore_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/catalogsuite"
)

func TestCatalog(t *testing.T) {
	type opening struct {
		file string
		db   *sqlitestore.Store
	}
	var openings sync.Map // by catalog
	open := func(t testing.TB, file string, now func() time.Time) catalogsuite.Store {
		db, err := sqlitestore.Open(t.Context(), file, nil)
		require.NoError(t, err)
		t.Cleanup(func() { db.Close() })
		c := harvest.NewCatalog(db)
		c.Now = now
		openings.Store(c, opening{file, db})
		return c
	}
	catalogsuite.Run(t, catalogsuite.Options{
		Open: func(t testing.TB) catalogsuite.Store {
			return open(t, filepath.Join(t.TempDir(), "store.db"), nil)
		},
		Reopen: func(t testing.TB, c catalogsuite.Store) catalogsuite.Store {
			old, _ := openings.Load(c)
			require.NoError(t, old.(opening).db.Close())
			return open(t, old.(opening).file, nil)
		},
		OpenClock: func(t testing.TB, now func() time.Time) catalogsuite.Store {
			return open(t, filepath.Join(t.TempDir(), "store.db"), now)
		},
	})
}
