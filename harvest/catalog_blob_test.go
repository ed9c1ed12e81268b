package harvest_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// A blobDB has Blobs in a map.
type blobDB struct {
	*memstore.Store
	blobs map[string][]byte
}

var _ harvest.Blobs = (*blobDB)(nil)

func newBlobDB() *blobDB { return &blobDB{memstore.New(), map[string][]byte{}} }

type blobWriter struct {
	bytes.Buffer
	db   *blobDB
	name string
}

func (w *blobWriter) Close() error {
	w.db.blobs[w.name] = w.Bytes()
	return nil
}

func (d *blobDB) CreateBlob(_ context.Context, name string) (io.WriteCloser, error) {
	return &blobWriter{db: d, name: name}, nil
}

func (d *blobDB) OpenBlob(_ context.Context, name string) (io.ReadSeekCloser, error) {
	b, ok := d.blobs[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return struct {
		*bytes.Reader
		io.Closer
	}{bytes.NewReader(b), io.NopCloser(nil)}, nil
}

func (d *blobDB) RemoveBlob(_ context.Context, name string) error {
	delete(d.blobs, name)
	return nil
}

func (d *blobDB) ListBlobs(_ context.Context, fn func(name string, modified time.Time) bool) error {
	for name := range d.blobs {
		if !fn(name, time.Time{}) {
			break
		}
	}
	return nil
}

// The error of a truncated blob names it. The next Commit that brings its bytes restores
// it.
func TestBlobCut(t *testing.T) {
	db := newBlobDB()
	s := small(db)
	c := claim(t, s)
	data := noise(1, 5000)
	put1 := func(id string, base websync.Seq, key websync.Digest, ws ...harvest.BodyWriter) error {
		b := harvest.NewBatch("a")
		b.Puts, b.Bodies = []harvest.Change{withBodies(changeTo(id, base, websync.Created), key)}, ws
		_, err := s.Commit(ctx, c, b)
		return err
	}
	w, key := write(t, s, data)
	require.NoError(t, put1("1", 0, key, w))
	for name := range db.blobs {
		db.blobs[name] = data[:4096]
	}
	_, err := s.Open(ctx, websync.Body{Key: key})
	require.ErrorIs(t, err, harvest.ErrCorrupt)
	require.ErrorIs(t, put1("2", 0, key), harvest.ErrNoBody)
	w, _ = write(t, s, data)
	require.NoError(t, put1("2", 0, key, w))
	r, err := s.Open(ctx, websync.Body{Key: key})
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, data, got)
}

// A Commit refuses a blob that was truncated after Finish.
func TestBlobCutBeforeCommit(t *testing.T) {
	db := newBlobDB()
	s := small(db)
	w, key := write(t, s, noise(1, 5000))
	for name := range db.blobs {
		db.blobs[name] = nil
	}
	b := harvest.NewBatch("a")
	b.Puts, b.Bodies = []harvest.Change{withBodies(changeTo("1", 0, websync.Created), key)}, []harvest.BodyWriter{w}
	_, err := s.Commit(ctx, claim(t, s), b)
	assert.ErrorIs(t, err, harvest.ErrNoBody)
}

// TestBlobsLater: a Catalog whose Store holds long bodies gets Blobs: it reads the old
// bodies, names them again, and Vacuum removes both sorts.
func TestBlobsLater(t *testing.T) {
	db, outside := memstore.New(), newBlobDB()
	before := small(db)
	c := claim(t, before)
	bodies := [][]byte{noise(1, 5000), noise(2, 5000)}
	put1 := func(s *harvest.Catalog, id string, base websync.Seq, key websync.Digest, ws ...harvest.BodyWriter) {
		b := harvest.NewBatch("a")
		b.Puts, b.Bodies = []harvest.Change{withBodies(changeTo(id, base, websync.Created), key)}, ws
		commit(t, s, c, b)
	}
	w, first := write(t, before, bodies[0])
	put1(before, "1", 0, first, w)

	s := small(db)
	s.Blobs = outside
	w, second := write(t, s, bodies[1])
	put1(s, "2", 0, second, w)
	put1(s, "3", 0, first)
	assert.Len(t, outside.blobs, 1)
	for i, key := range []websync.Digest{first, second} {
		r, err := s.Open(ctx, websync.Body{Key: key})
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, bodies[i], got)
	}
	b := harvest.NewBatch("a")
	b.Puts = []harvest.Change{changeTo("1", 1, websync.Deleted), changeTo("2", 2, websync.Deleted), changeTo("3", 3, websync.Deleted)}
	commit(t, s, c, b)
	removed, err := s.Vacuum(ctx, 0)
	require.NoError(t, err)
	assert.Equal(t, 2, removed)
	assert.Empty(t, outside.blobs)
	assert.Zero(t, harvest.Keys(ctx, db, 'P')+harvest.Keys(ctx, db, 'C'))
}

// Vacuum leaves files alone whose names are not those of blobs.
func TestForeignBlobs(t *testing.T) {
	db := newBlobDB()
	foreign := []string{"README.txt", "", "short", "abcdefghijklmnopqrstuvwxyz.", "abcdefghijklmnopqrstuvwxyz.a/b"}
	for _, name := range foreign {
		db.blobs[name] = []byte("x")
	}
	db.blobs["abcdefghijklmnopqrstuvwxyz"] = []byte("left by a process that has ended")
	_, err := small(db).Vacuum(ctx, 0)
	require.NoError(t, err)
	assert.Len(t, db.blobs, len(foreign))
}

func TestBlobKey(t *testing.T) {
	db := newBlobDB()
	s := small(db)
	c := claim(t, s)
	for i, size := range []int{100, 5000} {
		w, key := write(t, s, noise(1, size))
		b := harvest.NewBatch("a")
		b.Puts = []harvest.Change{withBodies(changeTo(string(rune('1'+i)), 0, websync.Created), key)}
		b.Bodies = []harvest.BodyWriter{w}
		commit(t, s, c, b)
		assert.Equal(t, size == 5000, harvest.Keys(ctx, db, harvest.BlobKey) > 0, "with a body of %d bytes", size)
	}
}
