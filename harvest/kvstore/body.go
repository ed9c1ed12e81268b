package kvstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

const defaultChunkSize = 128 << 10

func (s *Store) chunkSize() int {
	if s.ChunkSize > 0 {
		return s.ChunkSize
	}
	return defaultChunkSize
}

// NewBody implements [harvest.Store]. The context serves all writing of the body.
func (s *Store) NewBody(ctx context.Context) (harvest.BodyWriter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &bodyWriter{s: s, ctx: ctx, chunk: s.chunkSize(), hash: sha256.New()}, nil
}

// A bodyWriter holds at most one chunk. What is longer lies under its token.
type bodyWriter struct {
	s     *Store
	ctx   context.Context
	chunk int // size
	hash  hash.Hash

	mu        sync.Mutex // what follows may be asked for by Discard at any time
	buf       []byte
	size      int64
	token     token
	chunks    uint64 // written under token
	key       websync.Digest
	finished  bool
	released  bool // after a Commit
	discarded bool
	err       error
}

var errFinished = errors.New("the body is finished")

func (w *bodyWriter) Write(p []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(p) > 0 {
		if err := w.writable(); err != nil {
			return n, err
		}
		if len(w.buf) == w.chunk {
			if w.err = w.flush(); w.err != nil {
				return n, w.err
			}
		}
		part := p[:min(len(p), w.chunk-len(w.buf))]
		w.hash.Write(part)
		w.buf = append(w.buf, part...)
		w.size += int64(len(part))
		n += len(part)
		p = p[len(part):]
	}
	return n, nil
}

func (w *bodyWriter) writable() error {
	switch {
	case w.err != nil:
		return w.err
	case w.discarded:
		return fs.ErrClosed
	case w.finished:
		return errFinished
	}
	return nil
}

// flush writes the buffer as the next chunk.
func (w *bodyWriter) flush() error {
	first := w.chunks == 0
	if first {
		rand.Read(w.token[:])
		w.s.writingNow(w.token, true)
	}
	err := w.s.update(w.ctx, func(tx *writer) error {
		pk := newKey(pendingKey).bytes(w.token[:])
		var p pending
		ok, err := tx.get(pk, &p)
		if err != nil {
			return err
		}
		if !first && (!ok || p.dead) {
			return fmt.Errorf("%w: its chunks were removed", harvest.ErrNoBody)
		}
		p = pending{since: w.s.now(), chunks: w.chunks + 1}
		if err := tx.put(pk, &p); err != nil {
			return err
		}
		return tx.tx.Set(newKey(chunkKey).bytes(w.token[:]).number(w.chunks), w.buf)
	})
	if err != nil {
		return err
	}
	w.chunks++
	w.buf = make([]byte, 0, w.chunk) // the DB may have kept the other
	return nil
}

func (w *bodyWriter) Finish() (key websync.Digest, size int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.finished {
		if err := w.writable(); err != nil {
			return websync.Digest{}, 0, err
		}
		if w.chunks > 0 {
			if w.err = w.flush(); w.err != nil {
				return websync.Digest{}, 0, w.err
			}
			w.buf = nil
		}
		w.key = websync.Digest{Algorithm: "sha-256", Sum: string(w.hash.Sum(nil))}
		w.finished = true
	}
	if w.discarded {
		return websync.Digest{}, 0, fs.ErrClosed
	}
	return w.key, w.size, nil
}

func (w *bodyWriter) Discard() error {
	w.mu.Lock()
	gone := w.discarded || w.released
	if !gone {
		w.discarded = true
		w.buf = nil
	}
	w.mu.Unlock() // a Commit may wait for it
	if gone {
		return nil
	}
	return w.removeChunks(context.WithoutCancel(w.ctx))
}

// release is called when the bytes are in the store: those of w, or the same from
// elsewhere.
func (w *bodyWriter) release(ctx context.Context) {
	w.mu.Lock()
	gone := w.discarded || w.released
	if !gone {
		w.released = true
		w.buf = nil
	}
	w.mu.Unlock()
	if !gone {
		w.removeChunks(ctx) // if that fails they are left to Vacuum
	}
}

func (w *bodyWriter) removeChunks(ctx context.Context) error {
	if w.chunks == 0 {
		return nil
	}
	w.s.writingNow(w.token, false)
	return w.s.removeChunks(ctx, w.token)
}

// finish finishes the bodies of a batch, which are returned by key: one of each.
func (s *Store) finish(writers []harvest.BodyWriter) (map[sum]*bodyWriter, error) {
	bodies := make(map[sum]*bodyWriter, len(writers))
	for _, bw := range writers {
		w, ok := bw.(*bodyWriter)
		if !ok || w.s != s {
			return nil, fmt.Errorf("%w: a body of another store", harvest.ErrBatch)
		}
		digest, _, err := w.Finish()
		if err != nil {
			return nil, err
		}
		if k, _ := sumOf(digest); bodies[k] == nil {
			bodies[k] = w
		}
	}
	return bodies, nil
}

// writingNow keeps Vacuum off the chunks of a body that this process writes.
func (s *Store) writingNow(t token, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !on {
		delete(s.writing, t)
		return
	}
	if s.writing == nil {
		s.writing = map[token]struct{}{}
	}
	s.writing[t] = struct{}{}
}

func (s *Store) isWriting(t token) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.writing[t]
	return ok
}

// removeChunks removes what no body has taken, in several Updates. The first makes sure
// that none will.
func (s *Store) removeChunks(ctx context.Context, t token) error {
	for more := true; more; {
		err := s.update(ctx, func(w *writer) error {
			more = false
			pk := newKey(pendingKey).bytes(t[:])
			var p pending
			if ok, err := w.get(pk, &p); err != nil || !ok {
				return err
			}
			for range min(p.chunks, pageItems) {
				p.chunks--
				if err := w.delete(newKey(chunkKey).bytes(t[:]).number(p.chunks)); err != nil {
					return err
				}
			}
			if p.chunks == 0 {
				return w.delete(pk)
			}
			p.dead, more = true, true
			return w.put(pk, &p)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Open implements [websync.Catalog]. The context serves all reading of the body. A long
// body is read in pieces as they are asked for: one that Vacuum removes meanwhile ends in
// [websync.ErrNotFound].
func (s *Store) Open(ctx context.Context, b websync.Body) (io.ReadSeekCloser, error) {
	k, ok := sumOf(b.Key)
	if !ok {
		return nil, notFound(b)
	}
	var v body
	var data []byte
	err := s.view(ctx, func(r *reader) error {
		there, err := r.get(newKey(bodyKey).bytes(k[:]), &v)
		if err == nil && !there {
			err = notFound(b)
		}
		if err != nil || v.chunk > 0 {
			return err
		}
		data, err = r.Get(newKey(dataKey).bytes(k[:]))
		data = bytes.Clone(data)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case v.chunk > 0:
		return &bodyReader{s: s, ctx: ctx, body: v, loaded: -1}, nil
	case int64(len(data)) != v.size:
		return nil, harvest.ErrCorrupt
	}
	return smallBody{bytes.NewReader(data)}, nil
}

func notFound(b websync.Body) error { return fmt.Errorf("%w: body %v", websync.ErrNotFound, b.Key) }

type smallBody struct{ *bytes.Reader }

func (smallBody) Close() error { return nil }

// A bodyReader holds one chunk.
type bodyReader struct {
	s      *Store
	ctx    context.Context
	body   body
	at     int64
	loaded int64 // index of chunk; negative: none
	chunk  []byte
	closed bool
}

func (r *bodyReader) Read(p []byte) (int, error) {
	switch {
	case r.closed:
		return 0, fs.ErrClosed
	case len(p) == 0:
		return 0, nil
	case r.at >= r.body.size:
		return 0, io.EOF
	}
	if i := r.at / r.body.chunk; i != r.loaded {
		if err := r.load(i); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.chunk[r.at-r.loaded*r.body.chunk:])
	r.at += int64(n)
	return n, nil
}

func (r *bodyReader) load(i int64) error {
	r.loaded = -1
	err := r.s.view(r.ctx, func(db *reader) error {
		b, err := db.Get(newKey(chunkKey).bytes(r.body.token[:]).number(uint64(i)))
		if err == nil && b == nil {
			err = fmt.Errorf("%w: the body was removed", websync.ErrNotFound)
		}
		r.chunk = append(r.chunk[:0], b...)
		return err
	})
	if err != nil {
		return err
	}
	if int64(len(r.chunk)) != min(r.body.chunk, r.body.size-i*r.body.chunk) {
		return harvest.ErrCorrupt
	}
	r.loaded = i
	return nil
}

var errSeek = errors.New("seek before the start")

func (r *bodyReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.body.size
	}
	switch {
	case r.closed:
		return 0, fs.ErrClosed
	case offset < 0:
		return 0, errSeek
	}
	r.at = offset
	return offset, nil
}

func (r *bodyReader) Close() error {
	r.closed = true
	r.chunk = nil
	return nil
}
