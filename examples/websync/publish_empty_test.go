package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest/sqlitestore"
)

// Files of an export stay if the store is a new one, into which nothing was harvested.
func TestExportOfAnEmptyStore(t *testing.T) {
	dir := directory(t, map[string]string{"a.txt": "text"})
	out := t.TempDir()
	require.Equal(t, exitDone, callPublish(t, "-dir", dir, "-out", out).code)
	file := filepath.Join(t.TempDir(), "new.db")
	store, err := sqlitestore.Open(t.Context(), file, nil)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	a := callPublish(t, "-store", "sqlite:"+file, "-out", out)
	assert.Equal(t, exitLeft, a.code)
	assert.Contains(t, a.stderr, "stays as it is")
	text, err := os.ReadFile(filepath.Join(out, "a.txt"))
	require.NoError(t, err)
	assert.Equal(t, "text", string(text))
	assert.Equal(t, exitDone, callPublish(t, "-store", "sqlite:"+file, "-out", t.TempDir()).code, "a new directory")
}
