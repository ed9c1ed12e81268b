package testkit

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/websync-go/websync/harvest"
)

// Blobs keep blobs in memory.
type Blobs struct {
	// Creating and Writing, if set, are called before a blob is created and before a part
	// of one is written.
	Creating, Writing func()

	blobs sync.Map // texts by name
}

var _ harvest.Blobs = (*Blobs)(nil)

// On returns a Catalog on store that keeps every body of two bytes or more in b.
func (b *Blobs) On(store harvest.Store) *harvest.Catalog {
	c := harvest.NewCatalog(store)
	c.ChunkSize, c.Blobs = 1, b
	return c
}

type blob struct {
	bytes.Buffer
	blobs *Blobs
	name  string
}

func (w *blob) Write(p []byte) (int, error) {
	if w.blobs.Writing != nil && len(p) > 0 {
		w.blobs.Writing()
	}
	return w.Buffer.Write(p)
}

func (w *blob) Close() error {
	w.blobs.blobs.Store(w.name, w.String())
	return nil
}

// CreateBlob implements [harvest.Blobs].
func (b *Blobs) CreateBlob(_ context.Context, name string) (io.WriteCloser, error) {
	if b.Creating != nil {
		b.Creating()
	}
	return &blob{blobs: b, name: name}, nil
}

// OpenBlob implements [harvest.Blobs].
func (b *Blobs) OpenBlob(_ context.Context, name string) (io.ReadSeekCloser, error) {
	text, ok := b.blobs.Load(name)
	if !ok {
		return nil, fs.ErrNotExist
	}
	return struct {
		*bytes.Reader
		io.Closer
	}{bytes.NewReader([]byte(text.(string))), io.NopCloser(nil)}, nil
}

// RemoveBlob implements [harvest.Blobs].
func (b *Blobs) RemoveBlob(_ context.Context, name string) error {
	b.blobs.Delete(name)
	return nil
}

// ListBlobs implements [harvest.Blobs].
func (b *Blobs) ListBlobs(_ context.Context, fn func(name string, modified time.Time) bool) error {
	b.blobs.Range(func(name, _ any) bool { return fn(name.(string), time.Time{}) })
	return nil
}
