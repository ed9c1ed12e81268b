package dirsource

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/spool"
)

const (
	chunk       = 1024     // names read at a time
	spoolMemory = 64 << 10 // of a listing; one for each directory on the way down is held
)

// An entry is what a walk has seen of a file or a directory.
type entry struct {
	name     string
	modified websync.Datetime
	tag      string // of a file
}

func (e *entry) isDir() bool { return e.tag == "" }

// A listing holds the entries of one directory: the directory itself is closed.
type listing struct {
	dir   string // path below Dir
	fault error  // why some of the entries may be missing
	spool *spool.Spool
	r     *bufio.Reader
	buf   []byte
}

// list reads a directory to its end.
func (w *walk) list(ctx context.Context, dir string) (*listing, error) {
	at, err := w.source.enter(dir, w.top)
	if err != nil {
		return nil, named(w.source.file(dir), err)
	}
	defer at.Close()
	names, err := at.Open(".")
	if err != nil {
		return nil, named(w.source.file(dir), err)
	}
	defer names.Close()
	return (&lister{walk: w, dir: dir, at: at, names: names}).listing(ctx)
}

// Close releases the listing.
func (l *listing) Close() error { return l.spool.Close() }

// next returns the next entry, or io.EOF.
func (l *listing) next() (e entry, err error) {
	micros, err := binary.ReadVarint(l.r)
	if err != nil {
		return e, err // io.EOF at the end only: a listing is whole
	}
	name, err1 := l.text()
	tag, err2 := l.text()
	return entry{name, timeOf(micros), tag}, errors.Join(err1, err2)
}

// timeOf returns a time of the file system, to the microsecond, in UTC.
func timeOf(micros int64) websync.Datetime { return websync.NewDatetime(time.UnixMicro(micros).UTC()) }

func (l *listing) text() (string, error) {
	n, err := binary.ReadUvarint(l.r)
	if err != nil {
		return "", io.ErrUnexpectedEOF
	}
	l.buf = slices.Grow(l.buf[:0], int(n))[:n]
	_, err = io.ReadFull(l.r, l.buf)
	return string(l.buf), err
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// A lister looks at what a directory holds, and gives it as the bytes of a listing.
type lister struct {
	*walk
	dir    string
	at     *os.Root
	names  *os.File
	ready  []byte // entries to be handed on
	rest   []byte // the part of ready that is left
	ended  bool
	first  error // that befell an entry
	faults int
}

// listing reads all names.
func (l *lister) listing(ctx context.Context) (*listing, error) {
	spool, err := spool.Read(reader(func(p []byte) (int, error) { return l.read(ctx, p) }), spoolMemory)
	if err != nil {
		return nil, named(l.source.file(l.dir), err)
	}
	return &listing{dir: l.dir, fault: l.fault(), spool: spool, r: bufio.NewReaderSize(spool, 1024)}, nil
}

func (l *lister) fault() error {
	if l.faults > 1 {
		return fmt.Errorf("%w, and %d more in this directory", l.first, l.faults-1)
	}
	return l.first
}

func (l *lister) blame(name string, err error) {
	if l.faults++; l.first == nil {
		l.first = named(l.source.file(join(l.dir, name)), err)
	}
}

func (l *lister) read(ctx context.Context, p []byte) (int, error) {
	for len(l.rest) == 0 {
		if l.ended {
			return 0, io.EOF
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		l.more()
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// more reads and looks at the next names.
func (l *lister) more() {
	names, err := l.names.Readdirnames(chunk)
	if l.ended = err != nil; l.ended && err != io.EOF {
		l.blame("", err)
	}
	slices.Sort(names)
	now := l.source.clock() // before the look: what changes later is younger
	l.ready = l.ready[:0]
	for _, name := range names {
		l.look(name, now)
	}
	l.rest = l.ready
}

func (l *lister) look(name string, now time.Time) {
	file := join(l.dir, name)
	if l.filter.excludes(file, name) {
		return
	}
	info, err := l.at.Lstat(name)
	var tag string
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		l.blame(name, err)
		return
	case info.IsDir():
	case info.Mode().IsRegular() && l.filter.includes(file):
		tag = l.source.tag(info, now)
	default:
		return
	}
	l.ready = binary.AppendVarint(l.ready, info.ModTime().UnixMicro())
	l.ready = appendText(l.ready, name)
	l.ready = appendText(l.ready, tag)
}

// A reader is an io.Reader by a function.
type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }
