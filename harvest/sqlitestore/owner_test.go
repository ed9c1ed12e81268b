package sqlitestore

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/testing/fill"
)

func reopen(t *testing.T, file string) *Catalog {
	t.Helper()
	s, err := OpenCatalog(t.Context(), file, nil)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func needLocks(t *testing.T) {
	t.Helper()
	if !spool.CanLock {
		t.Skip("no file locks on this system")
	}
}

// A killed process leaves a file without a lock.
func TestOwnerFileOfTheDead(t *testing.T) {
	needLocks(t)
	file := filepath.Join(t.TempDir(), "store.db")
	s := reopen(t, file)
	left := filepath.Join(file+".owners", "left")
	require.NoError(t, os.WriteFile(left, nil, 0o600))
	f, err := os.Open(left)
	require.NoError(t, err)
	locked, err := spool.TryLock(f)
	require.NoError(t, err)
	require.True(t, locked)
	assert.False(t, s.db.Dead(""), "an empty name")
	assert.False(t, s.db.Dead("../store.db"))
	assert.False(t, s.db.Dead("left"))
	assert.True(t, s.db.Dead("gone"))
	require.NoError(t, f.Close())
	assert.True(t, s.db.Dead("left"))
	assert.NoFileExists(t, left)

	require.NoError(t, os.WriteFile(left, nil, 0o600))
	reopen(t, file)
	assert.NoFileExists(t, left, "Open cleans up")
}

// Without locks a claim is valid until it expires, also that of an owner without a lock.
func TestOwnerWithoutLocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	one, two := reopen(t, file), reopen(t, file)
	held := one.db.owner.file
	one.db.owner.file = nil
	_, release, err := one.Hold(t.Context(), "source/s", time.Hour)
	require.NoError(t, err)
	defer release()
	one.db.owner.file = held
	require.NoError(t, one.Close())
	_, _, err = two.Hold(t.Context(), "source/s", time.Hour)
	assert.ErrorIs(t, err, harvest.ErrHeld)
}

func TestOpenAndCloseAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				s, err := OpenCatalog(t.Context(), file, nil)
				if !assert.NoError(t, err) {
					return
				}
				if s.db.owner.file != nil {
					assert.True(t, s.db.owner.inPlace(), "another Store removed the file of a living owner")
				}
				assert.NoError(t, s.Close())
			}
		})
	}
	wg.Wait()
}

// Several Stores write to one file, and their numbers stay dense.
func TestTwoWriters(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	const batches, n = 15, 7
	var wg sync.WaitGroup
	for _, source := range []string{"a", "b", "c"} {
		s := reopen(t, file)
		wg.Go(func() {
			for i := range batches {
				var puts []any
				for j := range n {
					id := string(rune('A'+i)) + string(rune('a'+j))
					puts = append(puts, websync.Item{Resource: websync.Resource{ID: id}})
				}
				assert.NoError(t, fill.Commit(t.Context(), s.Catalog, source, puts...))
			}
		})
	}
	wg.Wait()
	s := reopen(t, file)
	var last websync.Item
	for it, err := range s.Changes(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		require.Equal(t, last.Seq+1, it.Seq)
		require.Equal(t, last.Born+1, it.Born)
		require.True(t, it.Time.After(last.Time))
		last = it
	}
	assert.EqualValues(t, 3*batches*n, last.Seq)
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]int64{"a": batches * n, "b": batches * n, "c": batches * n}, head.Live)
}

func TestClosed(t *testing.T) {
	s := reopen(t, filepath.Join(t.TempDir(), "store.db"))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	assert.ErrorIs(t, fill.Commit(t.Context(), s.Catalog, "s"), os.ErrClosed)
	_, err := s.Head(t.Context())
	assert.ErrorIs(t, err, os.ErrClosed)
	_, err = s.Vacuum(t.Context(), 0)
	assert.ErrorIs(t, err, os.ErrClosed)
	for _, err := range s.Records(t.Context(), "s", "") {
		assert.ErrorIs(t, err, os.ErrClosed)
	}
}
