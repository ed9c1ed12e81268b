package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

const (
	// indexName is the list of what was exported, in the root of the export.
	indexName = "INDEX"
	// pendingName is the list of what an export that has not ended may have written. No
	// body has such a name.
	pendingName = ".websync-pending"
)

// An exportResult says what an export did.
type exportResult struct {
	Dir       string `json:"dir"`
	Bodies    int64  `json:"bodies"` // live ones; each has a line in INDEX
	Bytes     int64  `json:"bytes"`
	Written   int64  `json:"written"`
	Unchanged int64  `json:"unchanged"`
	Removed   int64  `json:"removed"`
}

func (r *exportResult) write(w io.Writer) {
	fmt.Fprintf(w, "%s\n  exported   %s, %s: %d written, %d unchanged, %d removed\n",
		r.Dir, count(r.Bodies, "body", "bodies"), bytesText(r.Bytes), r.Written, r.Unchanged, r.Removed)
}

// An exporter writes the live bodies of sources to files. It never leaves its root,
// whatever URIs and links in the file system say.
type exporter struct {
	store   harvest.Store
	sources []string
	root    *os.Root
	names   *namer
	result  exportResult
}

// export makes dir hold the live bodies of sources and their INDEX.
func export(ctx context.Context, store harvest.Store, dir string, sources []string) (_ *exportResult, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	e := &exporter{store: store, sources: sources, root: root, names: newNamer(), result: exportResult{Dir: dir}}
	if err := e.plan(ctx); err != nil {
		return nil, err
	}
	if err := e.tidy(); err != nil {
		return nil, err
	}
	if err := e.list(ctx, pendingName, func(string, *websync.Body) error { return nil }); err != nil {
		return nil, err
	}
	if err := e.list(ctx, indexName, func(name string, b *websync.Body) error { return e.writeBody(ctx, name, b) }); err != nil {
		return nil, err
	}
	return &e.result, root.Remove(pendingName)
}

// A liveBody is one body of one record.
type liveBody struct {
	source, id string
	body       websync.Body
}

// bodies yields all live bodies by id, and those of one id in the order of the sources.
// What several sources hold alike comes once.
func (e *exporter) bodies(ctx context.Context) iter.Seq2[liveBody, error] {
	return func(yield func(liveBody, error) bool) {
		var last string
		seen := map[string]bool{} // name and key, of the last id
		for rec, err := range e.records(ctx) {
			if err != nil {
				yield(liveBody{}, err)
				return
			}
			if rec.Resource.ID != last {
				last = rec.Resource.ID
				clear(seen)
			}
			for _, b := range rec.Bodies {
				key := b.Name + " " + b.Key.String()
				if b.Key.IsZero() || seen[key] {
					continue
				}
				seen[key] = true
				if !yield(liveBody{rec.Source, rec.Resource.ID, b}, nil) {
					return
				}
			}
		}
	}
}

// records yields the live records of all sources in the order of their ids.
func (e *exporter) records(ctx context.Context) iter.Seq2[harvest.Record, error] {
	return func(yield func(harvest.Record, error) bool) {
		type cursor struct {
			next func() (harvest.Record, error, bool)
			rec  harvest.Record
			err  error
			ok   bool
		}
		cursors := make([]*cursor, len(e.sources))
		advance := func(c *cursor) {
			for c.rec, c.err, c.ok = c.next(); c.ok && c.err == nil && !c.rec.Live(); {
				c.rec, c.err, c.ok = c.next()
			}
		}
		for i, source := range e.sources {
			next, stop := iter.Pull2(e.store.Records(ctx, source, ""))
			defer stop()
			cursors[i] = &cursor{next: next}
			advance(cursors[i])
		}
		for {
			var first *cursor
			for _, c := range cursors {
				if c.err != nil {
					yield(harvest.Record{}, c.err)
					return
				}
				if c.ok && (first == nil || c.rec.Resource.ID < first.rec.Resource.ID) {
					first = c
				}
			}
			if first == nil || !yield(first.rec, nil) {
				return
			}
			advance(first)
		}
	}
}

// plan finds out which directories there will be, and then which files. A file that no
// export has written is in the way.
func (e *exporter) plan(ctx context.Context) error {
	own := map[uint64]bool{}
	for name, err := range e.exported() {
		if err != nil {
			return err
		}
		own[e.names.hash(name)] = true
	}
	for b, err := range e.bodies(ctx) {
		if err != nil {
			return err
		}
		e.names.reserve(filePath(&b))
	}
	for b, err := range e.bodies(ctx) {
		if err != nil {
			return err
		}
		name := e.names.assign(&b)
		if own[e.names.hash(name)] {
			continue
		}
		if info, err := e.root.Lstat(name); err == nil && !info.IsDir() && !e.has(name, &b.body) {
			return fmt.Errorf("%s/%s was not written by an export, and would be replaced: choose another directory", e.result.Dir, name)
		}
	}
	e.names.again()
	return nil
}

// exported yields the names of the files that earlier exports have written, one that did
// not end included. A list that some other program wrote is refused.
func (e *exporter) exported() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, list := range []string{indexName, pendingName} {
			f, err := e.root.Open(list)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				yield("", err)
				return
			}
			defer f.Close()
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				fields := strings.Split(lines.Text(), "\t")
				if len(fields) != 4 || !strings.HasPrefix(fields[0], "sha-256:") {
					yield("", fmt.Errorf("%s/%s is not an index of exported files: choose another directory", e.result.Dir, list))
					return
				}
				if !yield(fields[3], nil) {
					return
				}
			}
			if err := lines.Err(); err != nil {
				yield("", err)
				return
			}
		}
	}
}

// tidy removes the files of earlier exports that will not be written again, and what an
// interrupted one left behind.
func (e *exporter) tidy() error {
	left, err := fs.Glob(e.root.FS(), tempPattern)
	if err != nil {
		return err
	}
	for _, name := range left {
		if err := e.root.Remove(name); err != nil {
			return err
		}
	}
	for name, err := range e.exported() {
		if err != nil {
			return err
		}
		if err := e.removeStale(name); err != nil {
			return err
		}
	}
	return nil
}

// removeStale removes a file and the directories that it leaves empty.
func (e *exporter) removeStale(name string) error {
	if name == indexName || !fs.ValidPath(name) || e.names.keeps(name) {
		return nil
	}
	if info, err := e.root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil // it is gone already, or somebody else's
	}
	if err := e.root.Remove(name); err != nil {
		return err
	}
	e.result.Removed++
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if e.root.Remove(dir) != nil {
			break // not empty
		}
	}
	return nil
}

// list writes a list of all bodies, each after write has returned for it.
func (e *exporter) list(ctx context.Context, list string, write func(name string, b *websync.Body) error) error {
	defer e.names.again()
	e.result.Bodies, e.result.Bytes = 0, 0
	return e.replace(list, func(w io.Writer) error {
		index := bufio.NewWriter(w)
		for b, err := range e.bodies(ctx) {
			if err != nil {
				return err
			}
			name := e.names.assign(&b)
			if err := write(name, &b.body); err != nil {
				return fmt.Errorf("%s: %w", websync.RedactURL(b.id), err)
			}
			fmt.Fprintf(index, "%s\t%s\t%d\t%s\n", b.body.Key, escapeURI(b.id), max(b.body.Link.Length, 0), name)
			e.result.Bodies++
			e.result.Bytes += max(b.body.Link.Length, 0)
		}
		return index.Flush()
	})
}

// writeBody writes one body, unless the file has it.
func (e *exporter) writeBody(ctx context.Context, name string, b *websync.Body) error {
	if e.has(name, b) {
		e.result.Unchanged++
		return nil
	}
	r, err := e.store.Open(ctx, *b)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := e.root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	e.result.Written++
	return e.replace(name, func(w io.Writer) error {
		_, err := io.Copy(w, b.Link.Verify(r))
		return err
	})
}

// has reports whether the file holds the bytes of b.
func (e *exporter) has(name string, b *websync.Body) bool {
	info, err := e.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != max(b.Link.Length, 0) {
		return false
	}
	f, err := e.root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return err == nil && string(sum.Sum(nil)) == b.Key.Sum
}

const tempPattern = ".websync-*.tmp"

// replace writes a file that nobody sees before it is whole.
func (e *exporter) replace(name string, write func(io.Writer) error) (err error) {
	temp := strings.Replace(tempPattern, "*", rand.Text(), 1)
	f, err := e.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			e.root.Remove(temp)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return e.root.Rename(temp, name)
}

// A namer gives each body a file of its own. It knows files and directories by a hash of
// their path without regard to case, as some file systems have it.
type namer struct {
	seed  maphash.Seed
	dirs  map[uint64]bool // that there will be
	files map[uint64]bool // that are given out
	kept  map[uint64]bool // those of the round before, case included
}

func newNamer() *namer {
	return &namer{maphash.MakeSeed(), map[uint64]bool{}, map[uint64]bool{}, nil}
}

func (n *namer) hash(name string) uint64 { return maphash.String(n.seed, name) }

func (n *namer) folded(name string) uint64 { return n.hash(strings.ToLower(name)) }

// reserve notes the directories above a file.
func (n *namer) reserve(name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		n.dirs[n.folded(dir)] = true
	}
}

// assign returns the file of a body. The same bodies in the same order get the same
// files.
func (n *namer) assign(b *liveBody) string {
	name := filePath(b)
	for salt := 0; ; salt++ {
		key := n.folded(name)
		if !n.dirs[key] && !n.files[key] {
			n.files[key] = true
			if n.kept == nil {
				n.kept = map[uint64]bool{}
			}
			n.kept[n.hash(name)] = true
			return name
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", b.id, b.source, b.body.Name, salt))
		name = fmt.Sprintf("%s~%x", filePath(b), sum[:6])
	}
}

// again begins another round.
func (n *namer) again() { n.files = map[uint64]bool{} }

// keeps reports whether a file is among those of the first round.
func (n *namer) keeps(name string) bool { return n.kept[n.hash(name)] }
