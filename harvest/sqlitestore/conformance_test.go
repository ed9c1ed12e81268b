package sqlitestore_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/harvest/storetest"
)

func TestConformance(t *testing.T) {
	files := make(map[harvest.Store]string)
	open := func(t testing.TB, file string, o *sqlitestore.Options) harvest.Store {
		s, err := sqlitestore.Open(t.Context(), file, o)
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		files[s] = file
		return s
	}
	storetest.Run(t, storetest.Options{
		Open: func(t testing.TB) harvest.Store {
			return open(t, filepath.Join(t.TempDir(), "store.db"), nil)
		},
		Reopen: func(t testing.TB, s harvest.Store) harvest.Store {
			require.NoError(t, s.(*sqlitestore.Store).Close())
			return open(t, files[s], nil)
		},
		OpenClock: func(t testing.TB, now func() time.Time) harvest.Store {
			return open(t, filepath.Join(t.TempDir(), "store.db"), &sqlitestore.Options{Now: now})
		},
	})
}
