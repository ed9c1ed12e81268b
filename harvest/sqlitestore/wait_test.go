package sqlitestore

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// While another process writes, a call waits as long as the Options and its context
// allow. Reading goes on.
func TestWait(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	other := reopen(t, file)
	open := func(wait time.Duration) *Catalog {
		s, err := OpenCatalog(t.Context(), file, &Options{Wait: wait})
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	brief, patient := open(time.Millisecond), open(-1)
	require.NoError(t, other.db.writer.run(other.db.writer.beginWrite))

	err := brief.Swap(t.Context(), "k", nil, []byte("v"))
	assert.True(t, busy(err), err)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	assert.ErrorIs(t, patient.Swap(ctx, "k", nil, []byte("v")), context.DeadlineExceeded)
	_, err = patient.Head(t.Context())
	assert.NoError(t, err)

	done := make(chan error)
	go func() { done <- patient.Swap(t.Context(), "k", nil, []byte("v")) }()
	require.NoError(t, other.db.writer.end())
	assert.NoError(t, <-done)
}
