package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/display"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/publish"
)

// indexName is the list of what was exported, in the root of the export.
const indexName = "INDEX"

// An exportResult counts what an export did.
type exportResult struct {
	Dir       string `json:"dir"`
	Bodies    int64  `json:"bodies"` // live ones; each has a line in INDEX
	Bytes     int64  `json:"bytes"`
	Written   int64  `json:"written"`
	Unchanged int64  `json:"unchanged"`
	Removed   int64  `json:"removed"`
	// filesIn of earlier exports that stay, since the store does not say that their
	// resources are gone; each has a line in INDEX, too
	Kept int64 `json:"kept"`
}

func (r *exportResult) write(w io.Writer) {
	fmt.Fprintf(w, "%s\n  exported   %s, %s: %d written, %d unchanged, %d removed\n",
		r.Dir, display.Plural(r.Bodies, "body", "bodies"), display.Bytes(r.Bytes), r.Written, r.Unchanged, r.Removed)
	if r.Kept > 0 {
		fmt.Fprintf(w, "  kept       %s of earlier exports\n", display.Plural(r.Kept, "file", "files"))
	}
}

// export writes the live bodies of sources and their INDEX to dir. It removes the file of
// an earlier export only if the store holds that its resource was deleted, or no longer
// has this body. What the store does not know, or holds of other sources, stays.
func export(ctx context.Context, store *harvest.Catalog, dir string, sources []string) (*exportResult, error) {
	e := &exporter{
		store: store, sources: sources, result: exportResult{Dir: dir},
		seed: maphash.MakeSeed(), dirs: map[uint64]bool{}, files: map[uint64]bodyAt{}, gone: map[uint64]bool{},
	}
	index := filepath.Join(dir, indexName)
	before, _ := os.Lstat(index)
	done, err := publish.WriteDir(ctx, dir, e)
	if err != nil {
		return nil, err
	}
	r := &e.result
	r.Written, r.Unchanged, r.Removed = done.Written, done.Unchanged, done.Removed
	// INDEX is no body
	if after, err := os.Lstat(index); err == nil && before != nil && os.SameFile(before, after) {
		r.Unchanged--
	} else {
		r.Written--
	}
	return r, nil
}

// An exporter is a Publisher of the live bodies of sources, each at its host and path,
// and of their INDEX. Each body has a file of its own, also on file systems that ignore
// case: the keys of dirs and files are hashes of paths in lower case.
type exporter struct {
	store   *harvest.Catalog
	sources []string
	result  exportResult

	seed  maphash.Seed
	dirs  map[uint64]bool   // whether they have a file of a source on their host
	files map[uint64]bodyAt // that of an earlier export which stays has no seq
	gone  map[uint64]bool   // filesIn of earlier exports that are to be removed
}

// A bodyAt is where the store holds a body.
type bodyAt struct {
	born, seq websync.Seq
	n         int  // among the record's bodies
	own       bool // its source is on the host of its URL
}

// A liveBody is one body of one record.
type liveBody struct {
	source, id string
	at         bodyAt
	body       websync.Body
}

var _ websync.Publisher = (*exporter)(nil)

// Documents implements [websync.Publisher]. If several bodies have one path, one of a
// source on that host has it, or else a file of an earlier export that stays, or else the
// first in the order of URIs.
func (e *exporter) Documents(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := e.choose(ctx); err != nil {
			yield("", err)
			return
		}
		for b, err := range e.bodies(ctx) {
			if err != nil {
				yield("", err)
				return
			}
			name, key, _ := e.file(&b)
			if plain := e.hash(filePath(&b)); e.files[plain] == b.at {
				delete(e.files, plain) // unless it is key: it is below a file
			}
			e.files[key] = b.at
			if !yield(urlPath(name), nil) {
				return
			}
		}
		yield("/"+indexName, nil)
	}
}

// choose chooses which bodies have their paths.
func (e *exporter) choose(ctx context.Context) error {
	if err := e.reserve(ctx); err != nil {
		return err
	}
	for b, err := range e.bodies(ctx) {
		if err != nil {
			return err
		}
		e.claim(filePath(&b), b.at)
	}
	for key, at := range e.files {
		owned, isDir := e.dirs[key]
		switch {
		case !isDir:
		case owned && !at.own, owned == at.own && at.seq > 0:
			delete(e.files, key)
		default:
			delete(e.dirs, key)
		}
	}
	return nil
}

// claim gives a path to a body, unless another one has it and no less right to it.
func (e *exporter) claim(name string, at bodyAt) {
	key := e.hash(name)
	if other, taken := e.files[key]; !taken || at.own && !other.own {
		e.files[key] = at
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		key := e.hash(dir)
		e.dirs[key] = e.dirs[key] || at.own
	}
}

// Document implements [websync.Publisher]. A body whose record has changed since
// Documents is not found: the next export writes it.
func (e *exporter) Document(ctx context.Context, path string) (*websync.Document, error) {
	if path == "/"+indexName {
		return &websync.Document{Type: "text/tab-separated-values", Write: e.writeIndex}, nil
	}
	name, err := url.PathUnescape(strings.TrimPrefix(path, "/"))
	at, ok := e.files[e.hash(name)]
	if err != nil || !ok {
		return nil, websync.ErrNotFound
	}
	for item, err := range e.store.Resources(ctx, websync.Range{Sources: e.sources, After: at.born - 1, Until: at.born}) {
		if err != nil {
			return nil, err
		}
		if item.Seq == at.seq && at.n < len(item.Bodies) {
			body := item.Bodies[at.n]
			return &websync.Document{Digests: websync.Digests{body.Key}, Open: e.open(body)}, nil
		}
	}
	return nil, websync.ErrNotFound
}

func (e *exporter) open(b websync.Body) func(context.Context) (io.ReadSeekCloser, error) {
	return func(ctx context.Context) (io.ReadSeekCloser, error) {
		r, err := e.store.Open(ctx, b)
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Seeker
			io.Closer
		}{b.Link.Verify(r), r, r}, nil
	}
}

// writeIndex writes a line for each body that Documents yielded. If the name of a file is
// that of a directory of an earlier export, the file is index.html in that directory.
// It also writes the lines of earlier exports whose files stay.
func (e *exporter) writeIndex(ctx context.Context, w io.Writer) error {
	e.result.Bodies, e.result.Bytes, e.result.Kept = 0, 0, 0
	index := bufio.NewWriter(w)
	next, stop := iter.Pull2(e.keptLines(ctx))
	defer stop()
	old, err, more := next()
	// kept writes the old lines before a URI, or all.
	kept := func(uri string, all bool) error {
		for ; more && (all || old.uri < uri); old, err, more = next() {
			if err != nil {
				return err
			}
			fmt.Fprintf(index, "%s\t%s\t%s\t%s\n", old.key, old.uri, old.size, old.name)
			e.result.Kept++
		}
		return err
	}
	for b, err := range e.bodies(ctx) {
		if err != nil {
			return err
		}
		name, _, named := e.file(&b)
		if !named {
			continue
		}
		if err := kept(escapeURI(b.id), false); err != nil {
			return err
		}
		if e.isDir(name) {
			name += "/index.html"
		}
		size := max(b.body.Link.Length, 0)
		fmt.Fprintf(index, "%s\t%s\t%d\t%s\n", b.body.Key, escapeURI(b.id), size, name)
		e.result.Bodies++
		e.result.Bytes += size
	}
	if err := kept("", true); err != nil {
		return err
	}
	return index.Flush()
}

func (e *exporter) lstat(name string) (os.FileInfo, error) {
	return os.Lstat(filepath.Join(e.result.Dir, filepath.FromSlash(name)))
}

func (e *exporter) isDir(name string) bool {
	info, err := e.lstat(name)
	return err == nil && info.IsDir()
}

// file returns the name of the file of a body, or, if it has none yet, a free name.
func (e *exporter) file(b *liveBody) (name string, key uint64, has bool) {
	plain := filePath(b)
	name = plain
	for salt := 0; ; salt++ {
		key = e.hash(name)
		at, taken := e.files[key]
		_, isDir := e.dirs[key]
		switch {
		case e.isBelowFile(name):
			host, _, _ := strings.Cut(plain, "/")
			plain = host + "/"
		case taken && at == b.at:
			return name, key, true
		case !taken && !isDir:
			return name, key, false
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", b.id, b.source, b.body.Name, salt))
		name = fmt.Sprintf("%s~%x", plain, sum[:6])
	}
}

// isBelowFile reports whether the path of a file would make a directory of another one.
func (e *exporter) isBelowFile(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, is := e.files[e.hash(dir)]; is {
			return true
		}
	}
	return false
}

func (e *exporter) hash(name string) uint64 { return maphash.String(e.seed, strings.ToLower(name)) }

// urlPath returns the path that [publish.WriteDir] writes to the file with this name.
func urlPath(name string) string {
	return "/" + syntax.Escape(name, func(c byte) bool { return c == '/' || syntax.Segment.Has(c) })
}

// bodies yields all live bodies by id, and those of one id in the order of the sources,
// of which one on the host of the id is the first. It yields a body that several sources
// hold once.
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
			for n, b := range rec.Bodies {
				key := b.Name + " " + b.Key.String()
				if b.Key.IsZero() || seen[key] {
					continue
				}
				seen[key] = true
				live := liveBody{rec.Source, rec.Resource.ID, bodyAt{born: rec.Born, seq: rec.Seq, n: n}, b}
				live.at.own = isOn(rec.Source, hostedURL(&live))
				if !yield(live, nil) {
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
			harvest.Record
			next func() (harvest.Record, error, bool)
		}
		var open []*cursor
		advance := func(c *cursor) error {
			for {
				rec, err, ok := c.next()
				if !ok {
					open = slices.DeleteFunc(open, func(o *cursor) bool { return o == c })
					return nil
				}
				if c.Record = rec; err != nil || rec.Live() {
					return err
				}
			}
		}
		for _, source := range e.sources {
			next, stop := iter.Pull2(e.store.Records(ctx, source, ""))
			defer stop()
			c := &cursor{next: next}
			open = append(open, c)
			if err := advance(c); err != nil {
				yield(harvest.Record{}, err)
				return
			}
		}
		for len(open) > 0 {
			first := slices.MinFunc(open, func(a, b *cursor) int {
				c := strings.Compare(a.Resource.ID, b.Resource.ID)
				if c == 0 && isOnHost(a.Source, a.Resource.ID) && !isOnHost(b.Source, b.Resource.ID) {
					return -1
				}
				return c
			})
			if !yield(first.Record, nil) {
				return
			}
			if err := advance(first); err != nil {
				yield(harvest.Record{}, err)
				return
			}
		}
	}
}
