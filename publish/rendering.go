package publish

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/websync-go/websync"
)

// errSpool: a temporary file could not be written.
var errSpool = errors.New("publish: temporary file")

// spoolMemory is how many bytes a rendering holds in memory. A longer one is a file.
const spoolMemory = 256 << 10

// A rendering holds the bytes of a list until its last reference is released.
type rendering struct {
	bytes io.ReaderAt
	size  int64
	file  *os.File // if nil, in memory
	moved bool     // the Catalog changed while it was rendered
	refs  atomic.Int32
}

// release releases a reference.
func (s *rendering) release() {
	if s.refs.Add(-1) == 0 && s.file != nil {
		closeTemp(s.file)
	}
}

// reader returns a reader that takes over a reference. Close releases it.
func (s *rendering) reader() io.ReadSeekCloser {
	return &renderingReader{SectionReader: io.NewSectionReader(s.bytes, 0, s.size), spool: s}
}

type renderingReader struct {
	*io.SectionReader
	spool  *rendering
	closed bool
}

func (r *renderingReader) Close() error {
	if !r.closed {
		r.closed = true
		r.spool.release()
	}
	return nil
}

// createTemp creates a temporary file. Its name is removed at once where the system
// allows that, so the file does not outlive the process.
func createTemp(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "websync-publish-")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	return f, nil
}

func closeTemp(f *os.File) error {
	err := f.Close()
	if rm := os.Remove(f.Name()); rm != nil && !errors.Is(rm, os.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	return err
}

// render calls write and keeps what it writes. The caller holds the one reference to the
// result.
func (c *cache) render(ctx context.Context, write func(context.Context, io.Writer) error) (_ *rendering, err error) {
	w := &renderingWriter{ctx: ctx, create: c.create}
	done := false
	defer func() {
		if !done && w.file != nil {
			closeTemp(w.file)
		}
	}()
	b := bufio.NewWriterSize(w, 32<<10)
	err = write(ctx, b)
	moved := errors.Is(err, websync.ErrConflict)
	if err == nil || moved {
		err = b.Flush()
	}
	if w.err != nil {
		err = w.err
	}
	if err != nil {
		return nil, err
	}
	done = true
	return w.rendering(moved), nil
}

// A renderingWriter fills a rendering. Its error sticks.
type renderingWriter struct {
	ctx    context.Context
	create func() (*os.File, error)
	memory bytes.Buffer
	file   *os.File
	size   int64
	err    error
}

func (w *renderingWriter) Write(p []byte) (int, error) {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	if w.err != nil {
		return 0, w.err
	}
	if w.file == nil && w.size+int64(len(p)) <= spoolMemory {
		w.size += int64(len(p))
		return w.memory.Write(p)
	}
	if err := w.toFile(p); err != nil {
		w.err = fmt.Errorf("%w: %w", errSpool, err)
		return 0, w.err
	}
	return len(p), nil
}

func (w *renderingWriter) toFile(p []byte) (err error) {
	if w.file == nil {
		if w.file, err = w.create(); err != nil {
			return err
		}
		if _, err = w.file.Write(w.memory.Bytes()); err != nil {
			return err
		}
		w.memory = bytes.Buffer{}
	}
	n, err := w.file.Write(p)
	w.size += int64(n)
	return err
}

func (w *renderingWriter) rendering(moved bool) *rendering {
	s := &rendering{size: w.size, file: w.file, moved: moved}
	s.refs.Store(1)
	if w.file != nil {
		s.bytes = w.file
	} else {
		s.bytes = bytes.NewReader(bytes.Clone(w.memory.Bytes()))
	}
	return s
}
