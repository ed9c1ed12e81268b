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
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/syntax"
)

var ruleLength = websync.Rule{
	Name:     "id-length",
	Severity: websync.SeverityError,
	Summary:  "a file whose id is longer than any Store takes: it is skipped",
}

var ruleFuture = websync.Rule{
	Name:     "time-future",
	Severity: websync.SeverityWarning,
	Summary:  "a file whose time is still to come: lists state when it was harvested",
}

// Rules returns the rules that findings of a Source name. They are of no specification:
// their Sections are empty.
func Rules() []websync.Rule { return []websync.Rule{ruleLength, ruleFuture} }

// checkpointVersion is the version of checkpoints. They hold the number of files, as an
// estimate for the next run: a walk always yields everything.
const checkpointVersion = 1

// A walk is one run over the tree.
type walk struct {
	*docfetch.Pass
	source *Source

	filter  filter
	top     os.FileInfo // of Dir, at the beginning of the walk
	skipped int
	files   int64
}

// all yields the snapshot.
func (w *walk) all(ctx context.Context) (err error) {
	s := w.source
	if err := s.check(); err != nil {
		return err
	}
	if w.filter, err = s.filter(); err != nil {
		return err
	}
	if w.top, err = os.Stat(s.Dir); err != nil {
		return named(s.Dir, err)
	}
	if !w.top.IsDir() {
		return named(s.Dir, errors.New("not a directory"))
	}
	root, err := w.list(ctx, "")
	if err != nil {
		return err
	}
	defer root.Close()
	var expected int64
	if docfetch.ReadCheckpoint(w.From, checkpointVersion, &expected) && expected >= 0 {
		w.Expect(expected)
	}
	tree := func() error {
		if err := w.entries(ctx, root, s.Base); err != nil {
			return err
		}
		if err := w.stillThere(); err != nil {
			return w.Problem(err)
		}
		return nil
	}
	return w.Snapshot(tree, func() harvest.Event {
		w.Expect(w.files)
		// what decides which files are listed, and under which ids
		options := docfetch.Fingerprint("%q %q %q %t", s.Base, s.Include, s.Exclude, s.Hidden)
		return harvest.Event{Complete: true, Skipped: w.skipped, Options: options,
			Resume: docfetch.Checkpoint(checkpointVersion, w.files)}
	})
}

// stillThere returns an error if Dir is no longer the directory in which the walk began.
func (w *walk) stillThere() error {
	at, err := w.source.enter("", w.top)
	if err != nil {
		return named(w.source.Dir, err)
	}
	at.Close()
	return nil
}

// directory yields what is below a directory.
func (w *walk) directory(ctx context.Context, dir, id string) error {
	l, err := w.list(ctx, dir)
	switch {
	case errors.Is(err, errVanished):
		return nil
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return w.Problem(err)
	}
	defer l.Close()
	return w.entries(ctx, l, id)
}

// entries yields the files of a listing, whose ids begin with id, and the files below its
// directories.
func (w *walk) entries(ctx context.Context, l *listing, id string) error {
	for {
		e, err := l.next()
		switch {
		case err == io.EOF && l.fault == nil:
			return nil
		case err == io.EOF:
			return w.Problem(l.fault)
		case err != nil:
			return w.Problem(named(w.source.file(l.dir), err))
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if err := w.entry(ctx, l.dir, id, &e); err != nil {
			return err
		}
	}
}

func (w *walk) entry(ctx context.Context, dir, id string, e *entry) error {
	name := e.name
	id = string(syntax.AppendEscaped(append(make([]byte, 0, len(id)+len(name)+8), id...), name, syntax.Segment.Has))
	if e.isDir() {
		id += "/"
	}
	switch {
	case len(id) > harvest.MaxID:
		w.skip(join(dir, name), len(id))
		return nil
	case e.isDir():
		return w.directory(ctx, join(dir, name), id)
	}
	w.files++
	if now := w.source.clock(); e.modified.Time().After(now) {
		message := fmt.Sprintf("its time, %v, is after that of the harvest, %v", e.modified, now.UTC().Format(time.RFC3339))
		w.Report(ruleFuture.Finding(w.source.Dir, 0, 0, "", []byte(join(dir, name)), message))
	}
	// what is known of the file without reading it
	r := websync.Resource{ID: id, Modified: e.modified, Content: websync.Link{Type: w.source.typeByName(e.name)}}
	return w.Yield(harvest.Event{Kind: harvest.Put, Resource: r, Tag: e.tag})
}

// skip reports a file, or a directory with its content, whose id is too long for a Store.
func (w *walk) skip(name string, length int) {
	w.skipped++
	message := fmt.Sprintf("an id of %d bytes, more than the %d that every store takes: skipped", length, harvest.MaxID)
	w.Report(ruleLength.Finding(w.source.Dir, 0, 0, "", []byte(name), message))
}

// join returns the path of an entry of a directory; that of Dir is empty.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

const (
	chunk = 1024 // names that are read at a time
	// bytes of a listing; one is held for each directory on the way down
	spoolMemory = 64 << 10
)

// An entry is what a walk knows of a file or a directory.
type entry struct {
	name     string
	modified websync.Datetime
	tag      string // of a file
}

func (e *entry) isDir() bool { return e.tag == "" }

// A listing holds the entries of one directory. The directory itself is closed.
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

// A lister reads the entries of a directory, and writes them as the bytes of a listing.
type lister struct {
	*walk
	dir    string
	at     *os.Root
	names  *os.File
	ready  []byte // entries to be returned
	rest   []byte // the rest of ready
	ended  bool
	first  error // of an entry
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

// more reads the next names and their entries.
func (l *lister) more() {
	names, err := l.names.Readdirnames(chunk)
	if l.ended = err != nil; l.ended && err != io.EOF {
		l.blame("", err)
	}
	slices.Sort(names)
	now := l.source.clock() // before the files are read, so that later changes are newer
	l.ready = l.ready[:0]
	for _, name := range names {
		l.look(name, now)
	}
	l.rest = l.ready
}

func (l *lister) look(name string, now time.Time) {
	file := join(l.dir, name)
	if !l.filter.hidden && name[0] == '.' || matchesAny(l.filter.exclude, file) { // with all that is in it
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
	case info.Mode().IsRegular() && (len(l.filter.include) == 0 || matchesAny(l.filter.include, file)):
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
