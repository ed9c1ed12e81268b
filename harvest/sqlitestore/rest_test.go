package sqlitestore

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// Rest copies what the write-ahead log has to the database while another process writes,
// and does not keep the connection from reading.
func TestRest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	d, err := Open(t.Context(), file, nil)
	require.NoError(t, err)
	defer d.Close()
	other, err := Open(t.Context(), file, nil)
	require.NoError(t, err)
	defer other.Close()
	const most = 3 << 20 // below the size from which SQLite copies by itself
	value := make([]byte, 900)
	require.NoError(t, d.Update(t.Context(), func(tx harvest.Tx) error {
		for i := range most / len(value) / 2 {
			require.NoError(t, tx.Set([]byte{1, byte(i >> 8), byte(i)}, value))
		}
		return nil
	}))
	size := func() int64 {
		info, err := os.Stat(file)
		require.NoError(t, err)
		return info.Size()
	}
	assert.Less(t, size(), int64(most/3))
	require.NoError(t, other.Update(t.Context(), func(tx harvest.Tx) error {
		require.NoError(t, tx.Set([]byte{2}, value))
		return d.Rest(t.Context())
	}))
	assert.Greater(t, size(), int64(most/3))
	for range 2 * readers {
		require.NoError(t, d.Rest(t.Context()))
		require.NoError(t, d.View(t.Context(), func(r harvest.Reader) error {
			got, err := r.Get([]byte{2})
			assert.Equal(t, value, got)
			return err
		}))
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	assert.ErrorIs(t, d.Rest(stopped), context.Canceled)
}
