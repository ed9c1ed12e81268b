package harvest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// chunks implements Blobs for a Store that does not: a blob is pieces of
// Catalog.ChunkSize bytes, each written in an Update of its own.
type chunks struct{ *Catalog }

func blobKeyOf(kind byte, name string) key { return newKey(kind).text(name) }

// CreateBlob implements [Blobs].
func (s chunks) CreateBlob(ctx context.Context, name string) (io.WriteCloser, error) {
	size := s.chunkSize()
	return &chunkWriter{s: s.Catalog, ctx: ctx, name: name, blob: blob{chunk: int64(size)}, buf: make([]byte, 0, size)}, nil
}

// A chunkWriter holds at most one chunk.
type chunkWriter struct {
	s    *Catalog
	ctx  context.Context
	name string
	blob blob
	buf  []byte
}

func (w *chunkWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		part := p[:min(len(p), cap(w.buf)-len(w.buf))]
		w.buf = append(w.buf, part...)
		n += len(part)
		p = p[len(part):]
		if len(w.buf) == cap(w.buf) {
			if err := w.flush(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// flush writes the buffer as the next chunk.
func (w *chunkWriter) flush() error {
	next := w.blob
	next.size += int64(len(w.buf))
	next.since = w.s.now()
	err := w.s.update(w.ctx, func(tx *writer) error {
		k := blobKeyOf(blobKey, w.name)
		var held blob
		if ok, err := tx.get(k, &held); err != nil || w.blob.size > 0 && !(ok && held.size == w.blob.size) {
			return cmp.Or(err, fmt.Errorf("%w: the chunks of the body were removed before its Commit", errNoBody))
		}
		if err := tx.put(k, &next); err != nil {
			return err
		}
		return tx.tx.Set(blobKeyOf(chunkKey, w.name).number(w.blob.chunks()), w.buf)
	}, blobKeyOf(blobKey, w.name))
	if err != nil {
		return err
	}
	w.blob = next
	w.buf = make([]byte, 0, cap(w.buf)) // the Store may still use the old buffer
	return nil
}

func (w *chunkWriter) Close() error {
	if len(w.buf) == 0 || w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	return w.flush()
}

// removeAtOnce is how many chunks are removed in one Update.
const removeAtOnce = 64

// RemoveBlob implements [Blobs]. It removes the last chunks first, so that a blob that is
// partly removed is a shorter one.
func (s chunks) RemoveBlob(ctx context.Context, name string) error {
	k := blobKeyOf(blobKey, name)
	for more := true; more; {
		err := s.update(ctx, func(w *writer) error {
			var b blob
			ok, err := w.get(k, &b)
			if more = ok; err != nil || !ok {
				return err
			}
			n := b.chunks()
			for range min(n, removeAtOnce) {
				n--
				if err := w.delete(blobKeyOf(chunkKey, name).number(n)); err != nil {
					return err
				}
			}
			if more = n > 0; !more {
				return w.delete(k)
			}
			b.size = int64(n) * b.chunk
			return w.put(k, &b)
		}, k)
		if err != nil {
			return err
		}
	}
	return nil
}

// EraseBlob implements [Eraser].
func (s chunks) EraseBlob(ctx context.Context, name string, offset, size int64) error {
	k := blobKeyOf(blobKey, name)
	return s.update(ctx, func(w *writer) error {
		var b blob
		if ok, err := w.get(k, &b); err != nil || !ok {
			return err
		}
		for end := min(offset+size, b.size); offset < end; {
			ck := blobKeyOf(chunkKey, name).number(uint64(offset / b.chunk))
			chunk, err := w.Get(ck)
			if err != nil {
				return err
			}
			begin := offset % b.chunk
			chunk = bytes.Clone(chunk)
			n := min(end-offset, int64(len(chunk))-begin)
			if n <= 0 {
				return ErrCorrupt
			}
			clear(chunk[begin : begin+n])
			if err := w.set(ck, chunk); err != nil {
				return err
			}
			offset += n
		}
		return nil
	}, k)
}

// ListBlobs implements [Blobs].
func (s chunks) ListBlobs(ctx context.Context, fn func(name string, modified time.Time) bool) error {
	for p, err := range s.pairs(ctx, newKey(blobKey), newKey(blobKey).end()) {
		if err != nil {
			return err
		}
		var b blob
		if err := b.parse(p.value); err != nil {
			return err
		}
		if !fn(string(p.key[1:]), micro(b.since)) {
			return nil
		}
	}
	return nil
}

// OpenBlob implements [Blobs].
func (s chunks) OpenBlob(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	r := &chunkReader{s: s.Catalog, ctx: ctx, name: name, loaded: -1}
	err := s.view(ctx, func(db *reader) error {
		ok, err := db.get(blobKeyOf(blobKey, name), &r.blob)
		if err == nil && !ok {
			err = fs.ErrNotExist
		}
		return err
	}, blobKeyOf(blobKey, name))
	if err != nil {
		return nil, err
	}
	return r, nil
}

// A chunkReader holds one chunk.
type chunkReader struct {
	s      *Catalog
	ctx    context.Context
	name   string
	blob   blob
	at     int64
	loaded int64 // index of chunk; negative if none
	chunk  []byte
	closed bool
}

func (r *chunkReader) Read(p []byte) (int, error) {
	switch {
	case r.closed:
		return 0, fs.ErrClosed
	case len(p) == 0:
		return 0, nil
	case r.at >= r.blob.size:
		return 0, io.EOF
	}
	if i := r.at / r.blob.chunk; i != r.loaded {
		if err := r.load(i); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.chunk[r.at-r.loaded*r.blob.chunk:])
	r.at += int64(n)
	return n, nil
}

func (r *chunkReader) load(i int64) error {
	r.loaded = -1
	k := blobKeyOf(chunkKey, r.name).number(uint64(i))
	err := r.s.view(r.ctx, func(db *reader) error {
		b, err := db.Get(k)
		if err == nil && b == nil {
			err = errRemoved
		}
		r.chunk = append(r.chunk[:0], b...)
		return err
	}, k)
	if err != nil {
		return err
	}
	if int64(len(r.chunk)) != min(r.blob.chunk, r.blob.size-i*r.blob.chunk) {
		return ErrCorrupt
	}
	r.loaded = i
	return nil
}

func (r *chunkReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.blob.size
	}
	switch {
	case r.closed:
		return 0, fs.ErrClosed
	case offset < 0:
		return 0, fmt.Errorf("harvest: Seek to %d: an offset in a body must not be negative", offset)
	}
	r.at = offset
	return offset, nil
}

func (r *chunkReader) Close() error {
	r.closed = true
	r.chunk = nil
	return nil
}

// A layered has Blobs beside the Store, and in the Store those that were written before
// it got them.
type layered struct {
	outside Blobs
	inside  chunks
}

// CreateBlob implements [Blobs].
func (l layered) CreateBlob(ctx context.Context, name string) (io.WriteCloser, error) {
	return l.outside.CreateBlob(ctx, name)
}

// OpenBlob implements [Blobs].
func (l layered) OpenBlob(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	r, err := l.outside.OpenBlob(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return l.inside.OpenBlob(ctx, name)
	}
	return r, err
}

// RemoveBlob implements [Blobs].
func (l layered) RemoveBlob(ctx context.Context, name string) error {
	return errors.Join(l.outside.RemoveBlob(ctx, name), l.inside.RemoveBlob(ctx, name))
}

// ListBlobs implements [Blobs].
func (l layered) ListBlobs(ctx context.Context, fn func(name string, modified time.Time) bool) error {
	more := true
	err := l.outside.ListBlobs(ctx, func(name string, modified time.Time) bool {
		more = fn(name, modified)
		return more
	})
	if err != nil || !more {
		return err
	}
	return l.inside.ListBlobs(ctx, fn)
}

// A blob is the value of a blob in chunks.
type blob struct {
	since int64 // time of the last write
	size  int64
	chunk int64 // size of all chunks but the last
}

// chunks returns the number of chunks.
func (b *blob) chunks() uint64 { return uint64((b.size + b.chunk - 1) / b.chunk) }

func (b *blob) append(dst []byte) []byte {
	dst = binary.AppendVarint(append(dst, layoutVersion), b.since)
	dst = binary.AppendVarint(dst, b.size)
	return binary.AppendVarint(dst, b.chunk)
}

func (b *blob) parse(v []byte) error {
	p := parse(v)
	p.version()
	*b = blob{p.int(), p.int(), p.int()}
	if b.chunk <= 0 || b.size < 0 {
		p.fail(ErrCorrupt)
	}
	return p.end()
}
