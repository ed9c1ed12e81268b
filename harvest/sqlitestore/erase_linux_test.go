package sqlitestore

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// blocks returns how many blocks of 4 KiB a file takes.
func blocks(t *testing.T, f *os.File) int64 {
	t.Helper()
	info, err := f.Stat()
	require.NoError(t, err)
	return info.Sys().(*syscall.Stat_t).Blocks / 8
}

// TestEraseFrees: what is erased takes no space, whatever the order and the sizes.
func TestEraseFrees(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "pack"))
	require.NoError(t, err)
	defer f.Close()
	const size = 100 * block
	data := bytes.Repeat([]byte("x"), size+1000)
	_, err = f.Write(data)
	require.NoError(t, err)
	before := blocks(t, f)
	if err := syscall.Fallocate(int(f.Fd()), punchHole, 0, block); err != nil {
		t.Skip("no holes in files here:", err)
	}
	clear(data[:block])
	require.Less(t, blocks(t, f), before)
	const part = 1000
	for _, first := range []int{2, 0, 1, 3} { // in four passes
		for from := block + first*part; from < len(data); from += 4 * part {
			to := min(from+part, len(data))
			require.NoError(t, erase(f, int64(from), int64(to)))
			clear(data[from:to])
		}
		got := make([]byte, len(data))
		_, err = f.ReadAt(got, 0)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(data, got))
	}
	assert.Zero(t, blocks(t, f))
}
