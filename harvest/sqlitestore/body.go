package sqlitestore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

const sha256Name = "sha-256"

// A body is written to memory, and to a temporary file once it is too long for the
// database. Its file gets its final name inside the transaction of the Commit that names
// it, so nobody who holds the writing lock meets a file under way; what a crash leaves
// under a final name without a row, Vacuum takes away.

// bodyDir returns the directory of bodies that are files.
func (s *Store) bodyDir() string { return s.file + ".bodies" }

// tempDir returns the directory of files that no Commit has taken yet. Their names begin
// with the owner's id and a dot.
func (s *Store) tempDir() string { return filepath.Join(s.bodyDir(), "tmp") }

func (s *Store) bodyPath(sum []byte) string {
	name := hex.EncodeToString(sum)
	return filepath.Join(s.bodyDir(), name[:2], name[2:])
}

// makeDir makes a directory that outlives a power cut.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeDir(filepath.Dir(dir)); err == nil {
			err = os.Mkdir(dir, 0o777)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// NewBody implements [harvest.Store]. Up to Options.InlineBody bytes wait in memory for
// their Commit, more in a file.
func (s *Store) NewBody(ctx context.Context) (harvest.BodyWriter, error) {
	if err := ctx.Err(); err != nil {
		return nil, wrap(err)
	}
	return &bodyWriter{s: s, hash: sha256.New()}, nil
}

type bodyWriter struct {
	s    *Store
	hash hash.Hash

	mu    sync.Mutex // Discard may come at any time
	data  []byte
	file  *os.File // nil: in memory, or finished
	path  string   // of the file, "" if the body is in memory
	size  int64
	sum   []byte // set by Finish
	err   error  // sticks
	state bodyState
}

type bodyState uint8

const (
	bodyOpen      bodyState = iota
	bodyPlaced              // a Commit under way has it
	bodyTaken               // a Commit has taken it
	bodyDiscarded           // its bytes are gone
)

var (
	errFinished  = errors.New("write to a body that is finished")
	errDiscarded = errors.New("the body was discarded")
)

func (w *bodyWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.write(p)
	return n, wrap(err)
}

func (w *bodyWriter) write(p []byte) (int, error) {
	switch {
	case w.err != nil:
		return 0, w.err
	case w.state == bodyDiscarded:
		return 0, errDiscarded
	case w.sum != nil:
		return 0, errFinished
	}
	w.size += int64(len(p))
	if w.file == nil && (w.s.inline < 0 || w.size <= int64(w.s.inline)) {
		w.hash.Write(p)
		w.data = append(w.data, p...)
		return len(p), nil
	}
	if w.file == nil {
		if w.err = w.spill(); w.err != nil {
			return 0, w.err
		}
	}
	n, err := w.file.Write(p)
	w.hash.Write(p[:n])
	w.err = err
	return n, err
}

// spill moves what is in memory to a file.
func (w *bodyWriter) spill() (err error) {
	if err = makeDir(w.s.tempDir()); err != nil {
		return err
	}
	w.path = filepath.Join(w.s.tempDir(), fmt.Sprintf("%s.%d", w.s.owner.id, w.s.temps.Add(1)))
	if w.file, err = os.OpenFile(w.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return err
	}
	_, err = w.file.Write(w.data)
	w.data = nil
	return err
}

func (w *bodyWriter) Finish() (websync.Digest, int64, error) {
	if err := w.finished(); err != nil {
		return websync.Digest{}, 0, wrap(err)
	}
	return websync.Digest{Algorithm: sha256Name, Sum: string(w.sum)}, w.size, nil
}

// finished makes the bytes durable if they are in a file. It may be called again.
func (w *bodyWriter) finished() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return w.err
	case w.sum != nil:
		return nil
	case w.state == bodyDiscarded:
		return errDiscarded
	}
	if w.file != nil {
		w.err = errors.Join(w.file.Sync(), w.file.Close())
		w.file = nil
		if w.err != nil {
			return w.err
		}
	}
	w.sum = w.hash.Sum(nil)
	return nil
}

func (w *bodyWriter) Discard() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state != bodyOpen {
		return nil
	}
	w.state = bodyDiscarded
	w.data = nil
	var err error
	if w.file != nil {
		err = w.file.Close()
		w.file = nil
	}
	if w.path != "" {
		err = errors.Join(err, os.Remove(w.path))
	}
	return wrap(err)
}

// place gives the body to a Commit under way: it returns the bytes, or moves the file to
// its final name.
func (w *bodyWriter) place() ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.state {
	case bodyDiscarded:
		return nil, errDiscarded
	case bodyTaken:
		return nil, harvest.ErrNoBody // it was in the Store, and has gone since
	}
	final := w.s.bodyPath(w.sum)
	if w.state == bodyPlaced && w.path != "" { // by a Commit that failed at the very end
		_, err := os.Stat(final)
		return nil, err
	}
	w.state = bodyPlaced
	if w.path == "" {
		return w.data, nil
	}
	if err := makeDir(filepath.Dir(final)); err != nil {
		return nil, err
	}
	return nil, os.Rename(w.path, final)
}

// taken ends the life of the writer: the Store has the body.
func (w *bodyWriter) taken() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == bodyOpen && w.path != "" {
		os.Remove(w.path) // the Store had the same bytes before
	}
	w.state = bodyTaken
	w.data = nil
}

// returned undoes place.
func (w *bodyWriter) returned() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state != bodyPlaced {
		return
	}
	w.state = bodyOpen
	if w.path != "" {
		os.Rename(w.s.bodyPath(w.sum), w.path) // if that fails the next place does, too
	}
}

// Open implements [websync.Catalog].
func (s *Store) Open(ctx context.Context, b websync.Body) (io.ReadSeekCloser, error) {
	r, err := s.openBody(ctx, b.Key)
	if errors.Is(err, fs.ErrNotExist) {
		err = websync.ErrNotFound
	}
	if err != nil {
		return nil, wrap(err)
	}
	return r, nil
}

func (s *Store) openBody(ctx context.Context, key websync.Digest) (r io.ReadSeekCloser, err error) {
	sum, ok := sumOf(key)
	if !ok {
		return nil, websync.ErrNotFound
	}
	err = s.read(ctx, func(c *conn) error {
		row, err := c.one("SELECT blob, size FROM bodies WHERE key = ?", sum)
		if err != nil {
			return err
		}
		if row == nil {
			return fs.ErrNotExist
		}
		if row[0] == nil {
			r, err = os.Open(s.bodyPath(sum))
			return err
		}
		data, err := c.one("SELECT data FROM blobs WHERE n = ?", row[0])
		if err != nil {
			return err
		}
		if data == nil {
			return harvest.ErrCorrupt
		}
		r = memory{bytes.NewReader(blob(data[0]))}
		return nil
	})
	return r, err
}

// sumOf returns the key of the bodies table.
func sumOf(key websync.Digest) ([]byte, bool) {
	return []byte(key.Sum), key.Algorithm == sha256Name && len(key.Sum) == sha256.Size
}

type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }
