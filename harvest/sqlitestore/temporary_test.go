package sqlitestore

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTemporary: a temporary Store flushes nothing, and any other everything.
func TestTemporary(t *testing.T) {
	for temporary, want := range map[bool]string{true: "0", false: "2"} {
		s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), &Options{Temporary: temporary})
		require.NoError(t, err)
		w, err := s.CreateBlob(t.Context(), "ab23456789abcdefghijklmnop")
		require.NoError(t, err)
		_, err = w.Write([]byte("text"))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.Equal(t, temporary, len(s.unsynced) == 0)
		got, err := s.writer.pragma("synchronous")
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.NoError(t, s.Close())
	}
}
