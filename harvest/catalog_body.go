package harvest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"strings"
	"sync"

	"github.com/websync-go/websync"
)

// chunkSize returns how many bytes of a body wait in memory.
func (s *Catalog) chunkSize() int {
	if s.ChunkSize < 0 {
		return math.MaxInt
	}
	return cmp.Or(s.ChunkSize, 128<<10)
}

// newBody returns a writer for one body. A small body is kept in memory until its Commit.
// The context is used for all writing of the body.
func (s *Catalog) newBody(ctx context.Context) (pendingBody, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &bodyWriter{s: s, ctx: ctx, hash: sha256.New()}, nil
}

// A bodyWriter holds a short body in memory. A longer one is a blob, which its Commit
// names.
type bodyWriter struct {
	s    *Catalog
	ctx  context.Context
	hash hash.Hash

	mu     sync.Mutex // guards the fields below, which Discard may use at any time
	buf    []byte
	size   int64
	name   string         // of the blob; empty if the body is in buf
	blob   io.WriteCloser // nil if there is none, or it is closed
	cancel context.CancelFunc
	key    websync.Digest
	err    error // sticks

	finished  bool
	taking    bool // a running Commit has it
	doubt     bool // a Commit may have taken it
	released  bool // a Commit has taken it, or the same bytes of another writer
	discarded bool
}

var (
	errFinished = errors.New("the body is finished")
	errRemoved  = fmt.Errorf("%w: the body was removed", websync.ErrNotFound)
)

func (w *bodyWriter) Write(p []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.writable(); err != nil {
		return 0, err
	}
	if w.name == "" && w.size+int64(len(p)) > int64(w.s.chunkSize()) {
		if w.err = w.spill(); w.err != nil {
			return 0, w.err
		}
	}
	if w.name == "" {
		w.buf = append(w.buf, p...)
		n = len(p)
	} else {
		n, w.err = w.blob.Write(p)
	}
	w.hash.Write(p[:n])
	w.size += int64(n)
	return n, w.err
}

// expect makes room for a body that probably has so many bytes.
func (w *bodyWriter) expect(size int64) {
	if size > 0 && size <= int64(w.s.chunkSize()) && size <= maxExpected {
		w.buf = make([]byte, 0, size)
	}
}

// maxExpected limits the memory that a server's word takes.
const maxExpected = 128 << 10

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

// spill moves what is in memory to a blob.
func (w *bodyWriter) spill() (err error) {
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(w.ctx)
	if w.name, w.blob, err = w.s.createBlob(ctx); err != nil {
		return err
	}
	_, err = w.blob.Write(w.buf)
	w.buf = nil
	return err
}

// createBlob creates a blob that this process writes until endWriting.
func (s *Catalog) createBlob(ctx context.Context) (name string, w io.WriteCloser, err error) {
	name = strings.ToLower(rand.Text())
	if owner := s.owner(); owner != "" {
		name += "." + owner
	}
	s.beginWriting(name)
	if w, err = s.blobs().CreateBlob(ctx, name); err != nil {
		s.endWriting(name)
		return "", nil, err
	}
	return name, w, nil
}

func (w *bodyWriter) Finish() (key websync.Digest, size int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.finished {
		if err := w.writable(); err != nil {
			return websync.Digest{}, 0, err
		}
		if w.blob != nil {
			w.err = w.blob.Close()
			w.cancel()
			w.blob = nil
			if w.err != nil {
				return websync.Digest{}, 0, w.err
			}
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
	remove := !w.discarded && !w.released && !w.taking // otherwise afterCommit removes it
	w.discarded = true
	w.mu.Unlock() // a Commit may wait for it
	if !remove {
		return nil
	}
	return w.remove()
}

// take gives the body to a running Commit.
func (w *bodyWriter) take() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.released || w.discarded && !w.taking {
		return fmt.Errorf("%w: the body was removed before its Commit", errNoBody)
	}
	w.taking = true
	return nil
}

// afterCommit is called at the end of a Commit. After a success the bytes are in the
// store: those of w if used is true, otherwise the same bytes of another writer.
func (w *bodyWriter) afterCommit(success, used, doubt bool) {
	w.mu.Lock()
	over := w.released || w.discarded && !w.taking
	w.doubt = w.doubt || w.taking && doubt
	w.taking = false
	w.released = w.released || success
	remove := !over && !used && (success || w.discarded)
	if w.released {
		w.buf = nil
	}
	w.mu.Unlock()
	if remove {
		w.remove() // if that fails, Vacuum removes it
	} else if used {
		w.s.endWriting(w.name)
	}
}

// remove removes the bytes, unless a Commit may have taken them: then it leaves them to
// Vacuum. It is called once.
func (w *bodyWriter) remove() error {
	w.mu.Lock()
	w.buf = nil
	blob, doubt := w.blob, w.doubt
	w.blob = nil
	w.mu.Unlock()
	if w.name == "" {
		return nil
	}
	w.cancel()
	if blob != nil {
		blob.Close()
	}
	defer w.s.endWriting(w.name)
	if doubt {
		return nil
	}
	return w.s.blobs().RemoveBlob(context.WithoutCancel(w.ctx), w.name)
}

// finish finishes the bodies of a batch and returns one for each key.
func (s *Catalog) finish(writers []pendingBody) (map[sum]*bodyWriter, error) {
	bodies := make(map[sum]*bodyWriter, len(writers))
	for _, bw := range writers {
		w, ok := bw.(*bodyWriter)
		if !ok || w.s != s {
			return nil, fmt.Errorf("%w: a body was written by another Catalog than the one that commits", errBatch)
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

// blobs returns all Blobs.
func (s *Catalog) blobs() Blobs {
	if s.Blobs == nil {
		return chunks{s}
	}
	return layered{s.Blobs, chunks{s}}
}

// owner returns the owner's name; "" if the Store has none.
func (s *Catalog) owner() string {
	if o, ok := s.store.(Owners); ok {
		return o.Owner()
	}
	return ""
}

func (s *Catalog) dead(owner string) bool {
	o, ok := s.store.(Owners)
	return ok && owner != "" && o.Dead(owner)
}

// beginWriting notes that this process writes a blob, so that Vacuum keeps it.
func (s *Catalog) beginWriting(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing == nil {
		s.writing = map[string]struct{}{}
	}
	s.writing[name] = struct{}{}
}

// endWriting notes that this process no longer writes a blob.
func (s *Catalog) endWriting(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.writing, name)
}

func (s *Catalog) isWriting(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.writing[name]
	return ok
}

// Open implements [websync.Catalog]. The context is used for all reading of the body. A
// long body may be read in pieces: if Vacuum removes it meanwhile, Read returns
// [websync.ErrNotFound].
func (s *Catalog) Open(ctx context.Context, b websync.Body) (io.ReadSeekCloser, error) {
	k, ok := sumOf(b.Key)
	if !ok {
		return nil, notFound(b)
	}
	for before := ""; ; {
		var v body
		var data []byte
		err := s.view(ctx, func(r *reader) error {
			there, err := r.get(newKey(bodyKey).bytes(k[:]), &v)
			if err == nil && !there {
				err = notFound(b)
			}
			if err != nil || v.blob != "" {
				return err
			}
			data, err = r.Get(newKey(dataKey).number(v.n))
			data = bytes.Clone(data)
			return err
		}, newKey(bodyKey).bytes(k[:]))
		switch {
		case err != nil:
			return nil, err
		case v.blob == "" && int64(len(data)) != v.size:
			return nil, ErrCorrupt
		case v.blob == "":
			return openBody{smallBody{bytes.NewReader(data)}, s, b.Key, v.size}, nil
		}
		r, err := openBlob(ctx, s.blobs(), &v)
		if err == nil && v.inPack() {
			r, err = unpack(r, &v, k)
		}
		switch {
		case err == nil:
			return openBody{r, s, b.Key, v.size}, nil
		case errors.Is(err, fs.ErrNotExist) && v.blob == before:
			return nil, notFound(b)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrCorrupt) || v.blob == before:
			return nil, err
		}
		before = v.blob // it may have been removed and stored again
	}
}

// An openBody is a body of a Catalog, from which a [Job] can keep it without reading it.
type openBody struct {
	io.ReadSeekCloser
	catalog *Catalog
	key     websync.Digest
	size    int64
}

// openBlob opens the blob of v at the body's beginning. If it has another size, the error
// is ErrCorrupt.
func openBlob(ctx context.Context, blobs Blobs, v *body) (io.ReadSeekCloser, error) {
	r, err := blobs.OpenBlob(ctx, v.blob)
	if err != nil {
		return nil, err
	}
	size, err := r.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = r.Seek(int64(v.n), io.SeekStart)
	}
	if end := int64(v.n) + v.size; err == nil && (size < end || size > end && !v.inPack()) {
		err = fmt.Errorf("%w: the blob %s has %d bytes, want %d", ErrCorrupt, v.blob, size, end)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func notFound(b websync.Body) error { return fmt.Errorf("%w: body %v", websync.ErrNotFound, b.Key) }

type smallBody struct{ *bytes.Reader }

func (smallBody) Close() error { return nil }
