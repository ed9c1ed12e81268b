package harvest_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/pgtest"
)

// TestLayouts reads a Store and an export of each layout from 9 on, as the versions wrote
// them that had it: they hold what they held. A change of the layout adds a directory
// testdata/layout<n> with an empty file store.db, and -update fills it; the others stay.
// Its file postgres.sql is what pg_dump --inserts --no-owner makes of a schema
// websync_layout into which the export was imported, without comments and settings.
func TestLayouts(t *testing.T) {
	dirs, err := filepath.Glob("testdata/layout*")
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			info, err := os.Stat(filepath.Join(dir, "store.db"))
			require.NoError(t, err)
			if info.Size() == 0 && flag.Lookup("update").Value.String() == "true" {
				writeLayout(t, dir)
			}
			want, err := os.ReadFile(filepath.Join(dir, "want.txt"))
			require.NoError(t, err)
			copied := t.TempDir()
			require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
			c, db := openSQLite(t, filepath.Join(copied, "store.db"))
			defer db.Close()
			isWhole(t, string(want), c)
			export, err := os.ReadFile(filepath.Join(dir, "export"))
			require.NoError(t, err)
			imported := harvest.NewCatalog(memstore.New())
			require.NoError(t, imported.Import(t.Context(), bytes.NewReader(export)))
			isWhole(t, string(want), imported)
			_, err = imported.Compact(t.Context()) // it goes on
			require.NoError(t, err)
			isConsistent(t, imported)
		})
		t.Run(filepath.Base(dir)+" of PostgreSQL", func(t *testing.T) {
			dsn := pgtest.Server(t)
			schema := pgtest.Schema(t, dsn)
			want, err := os.ReadFile(filepath.Join(dir, "want.txt"))
			require.NoError(t, err)
			dump, err := os.ReadFile(filepath.Join(dir, "postgres.sql"))
			require.NoError(t, err)
			_, err = pgtest.Query(dsn, strings.ReplaceAll(string(dump), "websync_layout", schema))
			require.NoError(t, err)
			c := openPostgres(t, dsn, schema)
			isWhole(t, string(want), c.Catalog)
			_, err = c.Compact(t.Context()) // it goes on
			require.NoError(t, err)
			isConsistent(t, c.Catalog)
		})
	}
}

func writeLayout(t *testing.T, dir string) {
	c, db := openSQLite(t, filepath.Join(dir, "store.db"))
	fillToMove(t, c, 8)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "want.txt"), []byte(everything(t, c)), 0o666))
	export, err := os.Create(filepath.Join(dir, "export"))
	require.NoError(t, err)
	require.NoError(t, c.Export(t.Context(), export))
	require.NoError(t, export.Close())
	require.NoError(t, db.Close())
}
