package dirsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/syntax"
)

// checkpointVersion is that of checkpoints that hold, in decimal, how many files there
// were. It serves to tell what to expect: a walk always shows everything.
const checkpointVersion = 1

// A walk is one run over a tree.
type walk struct {
	source *Source
	run    *harvest.Run
	yield  func(harvest.Event, error) bool

	filter     filter
	top        os.FileInfo // of Dir, when the walk began
	incomplete bool        // there was a Problem
	skipped    int
	files      int64
}

// all yields the snapshot. An error is for the caller to yield.
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
	if n, ok := w.expected(); ok {
		w.run.Expect(n)
	}
	if !w.yield(harvest.Event{Kind: harvest.SnapshotStart}, nil) || !w.show(ctx, root, s.Base) {
		return nil
	}
	if err := w.stillThere(); err != nil && !w.problem(err) {
		return nil
	}
	w.run.Expect(w.files)
	end := harvest.Event{Kind: harvest.SnapshotEnd, Skipped: w.skipped, Options: s.options()}
	if !w.incomplete {
		end.Complete = true
		end.Resume = harvest.Checkpoint{Version: checkpointVersion, Data: strconv.AppendInt(nil, w.files, 10)}
	}
	w.yield(end, nil)
	return nil
}

// expected returns how many files there were the last time.
func (w *walk) expected() (int64, bool) {
	if w.run.From.Version != checkpointVersion {
		return 0, false
	}
	n, err := strconv.ParseInt(string(w.run.From.Data), 10, 64)
	return n, err == nil && n >= 0
}

// stillThere returns an error if Dir is no longer the directory at which the walk began.
func (w *walk) stillThere() error {
	at, err := w.source.enter("", w.top)
	if err != nil {
		return named(w.source.Dir, err)
	}
	at.Close()
	return nil
}

func (w *walk) problem(err error) bool {
	w.incomplete = true
	return w.yield(harvest.Event{Kind: harvest.Problem, Err: err}, nil)
}

// directory shows what is below a directory. It returns false when nothing more may be
// yielded.
func (w *walk) directory(ctx context.Context, dir, id string) bool {
	l, err := w.list(ctx, dir)
	switch {
	case errors.Is(err, errVanished):
		return true
	case err != nil && ctx.Err() != nil:
		w.yield(harvest.Event{}, ctx.Err())
		return false
	case err != nil:
		return w.problem(err)
	}
	defer l.Close()
	return w.show(ctx, l, id)
}

// show yields the files of a listing, whose ids begin with id, and what is below its
// directories.
func (w *walk) show(ctx context.Context, l *listing, id string) bool {
	for {
		e, err := l.next()
		switch {
		case err == io.EOF:
			return l.fault == nil || w.problem(l.fault)
		case err != nil:
			return w.problem(named(w.source.file(l.dir), err))
		case ctx.Err() != nil:
			w.yield(harvest.Event{}, ctx.Err())
			return false
		case !w.entry(ctx, l.dir, id, &e):
			return false
		}
	}
}

func (w *walk) entry(ctx context.Context, dir, id string, e *entry) bool {
	name := e.name
	id = string(syntax.AppendEscaped(append(make([]byte, 0, len(id)+len(name)+8), id...), name, syntax.Segment.Has))
	if e.isDir() {
		id += "/"
	}
	switch {
	case len(id) > harvest.MaxID:
		w.skip(join(dir, name), len(id))
		return true
	case e.isDir():
		return w.directory(ctx, join(dir, name), id)
	}
	w.files++
	return w.yield(harvest.Event{Kind: harvest.Put, Resource: w.source.resource(id, e), Tag: e.tag}, nil)
}

// skip reports a file, or a directory with all that is in it, whose id no store takes.
func (w *walk) skip(name string, length int) {
	w.skipped++
	w.run.Report(websync.Finding{
		Document: w.source.Dir,
		Rule:     "id-length",
		Severity: websync.SeverityError,
		Value:    name,
		Message:  fmt.Sprintf("an id of %d bytes, more than the %d that every store takes: skipped", length, harvest.MaxID),
	})
}

// join returns the path of what a directory holds; that of Dir is empty.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
