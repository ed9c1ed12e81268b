package sqlitestore

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// TestEraseIsSynced: what EraseBlob has changed is durable when the next Update returns.
func TestEraseIsSynced(t *testing.T) {
	d := openDriver(t, filepath.Join(t.TempDir(), "store.db"))
	name := strings.Repeat("a", 26)
	w, err := d.CreateBlob(t.Context(), name)
	require.NoError(t, err)
	_, err = w.Write([]byte("data"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	update := func() {
		require.NoError(t, d.Update(t.Context(), func(tx harvest.Tx) error { return tx.Set([]byte("a"), []byte("b")) }))
		assert.Empty(t, d.unsynced)
	}
	update()
	require.NoError(t, d.EraseBlob(t.Context(), name, 0, 2))
	assert.Contains(t, d.unsynced, d.blobPath(name))
	update()
	require.NoError(t, d.EraseBlob(t.Context(), name, 2, 1))
	require.NoError(t, d.RemoveBlob(t.Context(), name))
	update()
}

// TestSyncDirs: bodies are finished while Updates make the names of others durable.
func TestSyncDirs(t *testing.T) {
	d := &Store{unsynced: map[string]bool{}}
	dir := t.TempDir()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 200 {
				d.noteUnsynced(dir)
				assert.NoError(t, d.sync())
				assert.NoError(t, d.sync())
			}
		})
	}
	group.Wait()
	assert.Empty(t, d.unsynced)
}
