package sqlitestore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

// TestLayout opens a file that an earlier version wrote: it is refused with what to do,
// and stays as it is.
func TestLayout(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "layout7"))))
	file := filepath.Join(dir, "layout7.db")
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	db, err := sqlitestore.Open(t.Context(), file, nil)
	if err == nil {
		_, err = harvest.NewCatalog(db).Head(t.Context())
		require.NoError(t, db.Close())
	}
	require.ErrorContains(t, err, "older version")
	assert.ErrorContains(t, err, "harvest again into")
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, before, after)
}
