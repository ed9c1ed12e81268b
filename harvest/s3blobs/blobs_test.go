package s3blobs_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/s3blobs"
	"github.com/websync-go/websync/harvest/storetest"
)

// A store keeps its blobs on the server, and everything else in memory.
type store struct {
	*memstore.Store
	*s3blobs.Blobs
	prefix string
}

// beside returns another opening of db.
func beside(_ testing.TB, db harvest.Store) harvest.Store {
	s := db.(*store)
	return &store{s.Store, blobsOf(s.prefix), s.prefix}
}

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Options{
		Open: func(t testing.TB) harvest.Store {
			blobs, prefix := newBlobs(t)
			return &store{memstore.New(), blobs, prefix}
		},
		Reopen: beside, // nothing is lost
		Beside: beside,
	})
}

// noise returns incompressible bytes.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

func write(t *testing.T, b *s3blobs.Blobs, name string, data []byte) {
	w, err := b.CreateBlob(t.Context(), name)
	require.NoError(t, err)
	for len(data) > 0 { // in pieces that fit nothing
		n, err := w.Write(data[:min(len(data), 1_000_003)])
		require.NoError(t, err)
		data = data[n:]
	}
	require.NoError(t, w.Close())
}

// names returns what is listed.
func names(t *testing.T, b *s3blobs.Blobs) (all []string) {
	err := b.ListBlobs(t.Context(), func(name string, modified time.Time) bool {
		assert.WithinDuration(t, time.Now(), modified, time.Hour)
		all = append(all, name)
		return true
	})
	require.NoError(t, err)
	return all
}

func TestSizes(t *testing.T) {
	const part = 5 << 20
	for _, n := range []int{1, 4097, part - 1, part, part + 1, 2 * part, 2*part + 7} {
		b, _ := newBlobs(t)
		data := noise(n)
		write(t, b, "a", data)
		assert.Equal(t, []string{"a"}, names(t, b))

		r, err := b.OpenBlob(t.Context(), "a")
		require.NoError(t, err)
		size, err := r.Seek(0, io.SeekEnd)
		require.NoError(t, err)
		assert.EqualValues(t, n, size)
		for _, from := range []int64{0, int64(n / 2), int64(n - 1), 0} {
			at, err := r.Seek(from, io.SeekStart)
			require.NoError(t, err)
			assert.Equal(t, from, at)
			got, err := io.ReadAll(r)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(data[from:], got), "%d bytes, from %d", n, from)
		}
		require.NoError(t, r.Close())

		require.NoError(t, b.RemoveBlob(t.Context(), "a"))
		require.NoError(t, b.RemoveBlob(t.Context(), "a"), "it is gone already")
		_, err = b.OpenBlob(t.Context(), "a")
		assert.ErrorIs(t, err, fs.ErrNotExist)
		assert.Empty(t, names(t, b))
	}
}

// TestOtherPrefixes: what is not below the prefix is neither listed nor removed.
func TestOtherPrefixes(t *testing.T) {
	a, _ := newBlobs(t)
	b, _ := newBlobs(t)
	write(t, a, "x", noise(10))
	write(t, b, "x", noise(10))
	write(t, b, "y", noise(10))
	require.NoError(t, b.RemoveBlob(t.Context(), "x"))
	assert.Equal(t, []string{"x"}, names(t, a))
	assert.Equal(t, []string{"y"}, names(t, b))
}

// TestStopListing: a listing ends when it is told to.
func TestStopListing(t *testing.T) {
	b, _ := newBlobs(t)
	write(t, b, "x", noise(10))
	write(t, b, "y", noise(10))
	n := 0
	require.NoError(t, b.ListBlobs(t.Context(), func(string, time.Time) bool {
		n++
		return false
	}))
	assert.Equal(t, 1, n)
}

// TestCancelled: what is cancelled before Close becomes no object, and its parts can be
// found and removed.
func TestCancelled(t *testing.T) {
	for _, n := range []int{10, 11 << 20} {
		b, _ := newBlobs(t)
		ctx, cancel := context.WithCancel(t.Context())
		w, err := b.CreateBlob(ctx, "a")
		require.NoError(t, err)
		_, err = w.Write(noise(n))
		require.NoError(t, err)
		cancel()
		assert.Error(t, w.Close())
		_, err = b.OpenBlob(t.Context(), "a")
		assert.ErrorIs(t, err, fs.ErrNotExist)
		if n > 10 {
			assert.Equal(t, []string{"a"}, names(t, b), "its parts")
		}
		require.NoError(t, b.RemoveBlob(t.Context(), "a"))
		assert.Empty(t, names(t, b))
	}
}

// TestUnreachable: an error names what was done and where.
func TestUnreachable(t *testing.T) {
	newBlobs(t) // or skip
	b := s3blobs.New(client(), "missing", "p/")
	w, err := b.CreateBlob(t.Context(), "a")
	require.NoError(t, err)
	assert.ErrorContains(t, w.Close(), "s3blobs: write missing/p/a: ")
	_, err = b.OpenBlob(t.Context(), "a")
	assert.ErrorContains(t, err, "s3blobs: open missing/p/a: ")
	assert.NotErrorIs(t, err, fs.ErrNotExist, "without its bucket nothing is known of an object")
	assert.ErrorContains(t, b.ListBlobs(t.Context(), func(string, time.Time) bool { return true }), "s3blobs: list missing/p/: ")
}
