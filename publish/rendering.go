package publish

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/spool"
)

// errSpool: a temporary file could not be written.
var errSpool = errors.New("publish: temporary file")

// spoolMemory is how many bytes a rendering holds in memory. A longer one is a file.
const spoolMemory = 256 << 10

// A rendering holds the bytes of a list until its last reference is released.
type rendering struct {
	io.ReaderAt
	size  int64
	file  *spool.File // if nil, the bytes are in memory
	text  []byte      // if they are
	moved bool        // the Catalog changed while it was rendered
	refs  atomic.Int32
}

// isNone reports whether the rendering of a gzip form stands for none: it would expand too
// much. A gzip form is never empty.
func (s *rendering) isNone() bool { return s.size == 0 }

// release releases a reference.
func (s *rendering) release() {
	if s.refs.Add(-1) == 0 && s.file != nil {
		s.file.Close()
	}
}

// reader returns a reader that takes over a reference. Close releases it.
func (s *rendering) reader() io.ReadSeekCloser {
	return &renderingReader{SectionReader: io.NewSectionReader(s, 0, s.size), rendering: s}
}

type renderingReader struct {
	*io.SectionReader
	rendering *rendering // nil after Close
}

func (r *renderingReader) Close() error {
	if r.rendering != nil {
		r.rendering.release()
		r.rendering = nil
	}
	return nil
}

// next returns the next n bytes of a rendering in memory.
func (r *renderingReader) next(n int64) []byte {
	at, _ := r.Seek(n, io.SeekCurrent)
	return r.rendering.text[at-n : at]
}

// render calls write and keeps what it writes: nothing, which is no gzip form, if that
// would expand too much. The caller holds the one reference to the result.
func (c *cache) render(ctx context.Context, write func(context.Context, io.Writer) error) (*rendering, error) {
	w := &renderingWriter{ctx: ctx, file: &spool.File{Dir: c.dir}}
	kept := false
	defer func() { // also if write panics
		if !kept {
			w.file.Close()
		}
	}()
	b := bufio.NewWriterSize(w, 32<<10)
	err := write(ctx, b)
	moved := errors.Is(err, websync.ErrConflict)
	if errors.Is(err, spool.ErrExpands) {
		none := &rendering{ReaderAt: bytes.NewReader(nil), moved: moved}
		none.refs.Store(1)
		return none, nil
	}
	if err == nil || moved {
		err = b.Flush()
	}
	if err = cmp.Or(w.err, err); err != nil {
		return nil, err
	}
	s := &rendering{ReaderAt: w.file, size: w.file.Size(), file: w.file, moved: moved}
	if s.size == 0 {
		text := bytes.Clone(w.memory.Bytes())
		s.ReaderAt, s.size, s.file, s.text = bytes.NewReader(text), int64(len(text)), nil, text
	}
	s.refs.Store(1)
	kept = true
	return s, nil
}

// A renderingWriter writes to memory, and to a file if that is too small. Its error
// sticks.
type renderingWriter struct {
	ctx    context.Context
	memory bytes.Buffer
	file   *spool.File
	err    error
}

func (w *renderingWriter) Write(p []byte) (n int, err error) {
	if w.err = cmp.Or(w.err, w.ctx.Err()); w.err != nil {
		return 0, w.err
	}
	if w.file.Size() == 0 && w.memory.Len()+len(p) <= spoolMemory {
		return w.memory.Write(p)
	}
	if _, err = w.memory.WriteTo(w.file); err == nil {
		n, err = w.file.Write(p)
	}
	if err != nil {
		w.err = fmt.Errorf("%w: %w", errSpool, err)
	}
	return n, w.err
}
