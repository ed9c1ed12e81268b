package publish

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/websync-go/websync"
)

// Written counts what a WriteDir did.
type Written struct {
	Written   int64 `json:"written"`   // files that are new or different
	Unchanged int64 `json:"unchanged"` // files that were left as they are
	Removed   int64 `json:"removed"`   // files of documents that no longer exist
	Bytes     int64 `json:"bytes"`     // of the files that are new or different
}

// A RefusedError lists documents that [WriteDir] could not write as files. It has written
// all others.
type RefusedError struct {
	Total   int64     // number of documents
	Refused []Refused // the first 100
}

// Refused is a document that is not written.
type Refused struct {
	Path   string // of its URL
	Reason string
}

const maxRefused = 100 // that a RefusedError names

// ErrBusy: another export is writing into the directory.
var ErrBusy = errors.New("another export is writing")

// Error names the first document.
func (e *RefusedError) Error() string {
	text := fmt.Sprintf("publish: %d documents have no file", e.Total)
	if len(e.Refused) > 0 {
		text += fmt.Sprintf(", first %.300q: %s", e.Refused[0].Path, e.Refused[0].Reason)
	}
	return text
}

// WriteDir writes the documents of Publishers, joined as by [Join], as files below dir:
// the bytes that a [Handler] would serve, for any web server of static files. It creates
// dir if that does not exist.
//
// The name of a document's file is its path without escapes, which is where a server
// looks for it. A path that ends in a slash, or that other paths lie below, becomes
// index.html in that directory. It stays there when the other paths no longer exist.
// WriteDir leaves out a document whose path cannot be a file name, or whose file is that
// of another document: then it writes all others and returns a [*RefusedError].
//
// Write to a file system that distinguishes upper and lower case and all forms of
// Unicode: on others, paths that differ only in these have the same file. Windows allows
// no file names that end in a dot or a space, contain one of <>:"|?*, or name a device.
//
// A server of files adds no headers by itself: it derives media types from file names, and
// the bodies of other publishers, which are below "r/", may be pages with scripts. So
// WriteDir also writes configurations of nginx and Apache with the headers that a [Handler]
// sends, except digests and ETags: .websync/nginx-hash.conf and .websync/nginx-http.conf
// for the block http, .websync/nginx-server.conf for a server, and .websync/apache.conf
// with .websync/apache.map. Any other server should send "Content-Security-Policy:
// sandbox" and "X-Content-Type-Options: nosniff", and not serve .websync.
//
// Each file is replaced atomically, after its bytes are on disk, and only if they differ.
// After a crash a file is the old one or the new one. An existing file that has the
// digest that its document states is not rewritten. WriteDir does not change any other
// file in dir: such a file in place of a new document is an error. It does not follow
// symbolic links. Its own files are in the directory .websync. An export needs 33 bytes
// of memory for each document.
//
// While another export writes into dir, WriteDir returns an error that wraps [ErrBusy]. An
// export that was killed is no obstacle. On systems and file systems without file locks,
// such as Windows, two exports into one directory must not run at the same time.
//
// If a document can't be written, the files of the export before stay as they are, beside
// new bodies to which no list links yet. Lists, and files that replace others, are put in
// place when all are complete, in the order of Documents: no file links to a missing one,
// wherever the program is killed. At the end, WriteDir removes files of earlier exports
// whose documents no longer exist. If a Publisher has a method Keep(file string) bool,
// WriteDir asks it first, with the name of the file below dir: if one returns true, the
// file stays, and a later WriteDir asks again.
//
// The files are of one state if the Catalog of the Publishers does not change during the
// export: [Freeze] makes such a Catalog of any other. If it changes, lists may link to
// bodies and parts that did not exist when the export began, or state the digest of other
// bytes; the next export corrects this. WriteDir returns [websync.ErrConflict] if a list
// changes each time it is written.
func WriteDir(ctx context.Context, dir string, publishers ...websync.Publisher) (Written, error) {
	site := Join(publishers...)
	if err := site.(Checker).Check(); err != nil {
		return Written{}, err
	}
	t, err := openTree(dir)
	if err != nil {
		return Written{}, fmt.Errorf("publish: %w", err)
	}
	e := &export{tree: t, site: site}
	for _, p := range publishers {
		if k, ok := p.(keeper); ok {
			e.keepers = append(e.keepers, k)
		}
	}
	err = e.run(ctx)
	switch {
	case err != nil:
		err = fmt.Errorf("publish: %w", err)
	case e.refused.Total > 0:
		err = &e.refused
	}
	return e.done, errors.Join(err, t.close())
}

// A keeper is a Publisher that decides about files of earlier exports.
type keeper interface{ Keep(file string) bool }

// An export is one WriteDir.
type export struct {
	tree    *tree
	site    websync.Publisher
	keepers []keeper
	plan    plan
	served  *served
	done    Written

	lists []planned // to be written after the documents that are opened
	// ahead yields documents of bodies; nil after the last one
	ahead func() (bodyDocument, error, bool)
	ready []newFile // to be put in place next
	buf   *bufio.Writer

	refused RefusedError
}

// refuse notes that a document can't be written.
func (e *export) refuse(path, format string, args ...any) {
	if e.refused.Total++; len(e.refused.Refused) < maxRefused {
		e.refused.Refused = append(e.refused.Refused, Refused{path, fmt.Sprintf(format, args...)})
	}
}

func (e *export) run(ctx context.Context) error {
	defer e.plan.lines.Close()
	e.served = newServed()
	defer e.served.lines.Close()
	e.buf = bufio.NewWriterSize(nil, 64<<10)
	if err := e.tree.makeNew(); err != nil {
		return err
	}
	// New files that are not in place may fill a disk. The next export removes those that
	// remain after a kill.
	defer e.tree.removeNew()
	defer e.tree.flush()
	if err := e.makePlan(ctx); err != nil {
		return err
	}
	// From here on the export may replace the files with the new names, and so may the
	// next one if this one is killed.
	if err := e.writeManifest(ctx, e.writeOldNames, old); err != nil {
		return err
	}
	if err := e.writeOpened(ctx); err != nil {
		return err
	}
	if err := e.writeLists(ctx); err != nil {
		return err
	}
	if err := e.writeServed(); err != nil {
		return err
	}
	if err := e.replaceStaged(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	if err := e.removeCeased(ctx); err != nil {
		return err
	}
	if err := e.writeManifest(ctx, e.writeKept, 0); err != nil {
		return err
	}
	return e.tree.flush()
}

// keeps reports whether the file of a document that no longer exists stays.
func (e *export) keeps(name string) bool {
	return slices.ContainsFunc(e.keepers, func(k keeper) bool { return k.Keep(name) })
}

// writeKept writes the names of the files that stay although their documents no longer
// exist.
func (e *export) writeKept(b *bufio.Writer) error {
	for name, err := range e.tree.readManifest() {
		if err != nil {
			return err
		}
		if known := e.plan.find(name); known != nil && known.state&kept != 0 || !e.keeps(name) {
			continue
		}
		info, err := e.tree.lstat(name)
		if err != nil {
			return err
		}
		if info != nil && info.Mode().IsRegular() {
			b.WriteString(name + "\n")
		}
	}
	return nil
}

// makePlan decides which document becomes which file.
func (e *export) makePlan(ctx context.Context) error {
	for name, err := range e.tree.readManifest() {
		if err != nil {
			return err
		}
		e.plan.add(planEntry{hash: hashOf(name), state: old})
	}
	e.plan.sort()
	if err := e.addDocuments(ctx); err != nil {
		return err
	}
	if err := e.plan.markDirectories(ctx, e.tree.readManifest()); err != nil {
		return err
	}
	if err := e.plan.move(ctx); err != nil {
		return err
	}
	return e.decide(ctx)
}

// addDocuments adds the documents to the plan.
func (e *export) addDocuments(ctx context.Context) error {
	w := bufio.NewWriterSize(io.NewOffsetWriter(&e.plan.lines, 0), 64<<10)
	at := int64(1)
	for p, err := range e.site.Documents(ctx) {
		if err != nil {
			return err
		}
		name, err := fileName(p)
		if err != nil {
			e.refuse(p, "%s", err)
			continue
		}
		if known := e.plan.find(name); known == nil {
			e.plan.add(planEntry{hash: hashOf(name), doc: at})
		} else if known.doc == 0 {
			known.doc = at
		}
		n, _ := w.WriteString(p + "\x00" + name + "\n")
		at += int64(n)
	}
	e.plan.sort()
	return w.Flush()
}

// decide refuses the documents that cannot have a file. For the others it checks that no
// file of somebody else has the name.
func (e *export) decide(ctx context.Context) error {
	for d, err := range e.plan.documents(ctx) {
		if err != nil {
			return err
		}
		known := e.plan.find(d.name)
		if known.doc != d.at {
			first, err := e.plan.path(known.doc)
			if err != nil {
				return err
			}
			if first != d.path { // else it is listed twice
				e.refuse(d.path, "%.300q has the same file", first)
			}
			continue
		}
		if known.state&aboveNew != 0 && strings.HasSuffix(d.path, "/") {
			e.refuse(d.path, "its file %.300q is a directory of other paths", d.name)
			continue
		}
		file := known
		if known.state&moved != 0 {
			d.name = path.Join(d.name, indexFile)
			file = e.plan.find(d.name)
		}
		if above := e.plan.fileAbove(d.name); above != nil {
			first, err := e.plan.path(above.doc)
			if err != nil {
				return err
			}
			e.refuse(d.path, "%.300q has a file where it needs a directory", first)
			continue
		}
		if file.state&old == 0 {
			info, err := e.tree.lstat(d.name)
			if err != nil {
				return err
			}
			if info != nil {
				return fmt.Errorf("%s is in the way of %s: no export has written it", d.name, d.path)
			}
		}
		file.state |= kept
	}
	return nil
}

// writeManifest writes the names of the documents' files into the manifest, after those
// that first writes. It leaves out those of a state that first has written.
func (e *export) writeManifest(ctx context.Context, first func(*bufio.Writer) error, written state) error {
	return e.writeOwn(manifestFile, func(b *bufio.Writer) error {
		b.WriteString(manifestHeader + "\n")
		if err := first(b); err != nil {
			return err
		}
		for f, err := range e.plan.files(ctx) {
			if err != nil {
				return err
			}
			if f.state&written == 0 {
				b.WriteString(f.name + "\n")
			}
		}
		return nil
	})
}

// writeOwn writes one of the export's own files.
func (e *export) writeOwn(name string, write func(*bufio.Writer) error) error {
	w, err := e.tree.newWriter(newFile{name, path.Join(newDir, path.Base(name))})
	if err != nil {
		return err
	}
	defer w.close()
	b := bufio.NewWriterSize(w, 64<<10)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	changed, err := w.finish()
	if err != nil || !changed {
		return err
	}
	return e.tree.replace([]newFile{w.newFile})
}

// writeOldNames writes the names that are in the manifest. If a name is now a directory
// of new files and has no document, the old file moves into that directory until
// removeCeased removes it.
func (e *export) writeOldNames(b *bufio.Writer) error {
	for name, err := range e.tree.readManifest() {
		if err != nil {
			return err
		}
		b.WriteString(name + "\n")
		if known := e.plan.find(name); known == nil || known.state&(aboveNew|kept|moved) != aboveNew {
			continue
		}
		info, err := e.tree.lstat(name)
		if err != nil {
			return err
		}
		if info != nil && info.Mode().IsRegular() {
			b.WriteString(path.Join(name, indexFile) + "\n")
		}
	}
	return nil
}

// writeOpened writes the documents that are opened, and notes the others in e.lists. It
// puts new files in place; if it fails, those that are complete.
func (e *export) writeOpened(ctx context.Context) error {
	var stop func()
	e.ahead, stop = iter.Pull2(eachBody(ctx, e.site))
	defer stop()
	for d, err := range e.plan.files(ctx) {
		if err == nil {
			err = e.write(ctx, d, e.writeOrList)
		}
		if err != nil {
			return errors.Join(err, e.place(1, e.tree.add))
		}
		if err := e.place(e.tree.batch(), e.tree.add); err != nil {
			return err
		}
	}
	return e.place(1, e.tree.add)
}

// writeLists writes the documents that are rendered. A document that links to others is
// rendered before them and put in place after them: if the Catalog changes meanwhile, an
// index is never newer than its parts.
func (e *export) writeLists(ctx context.Context) error {
	for _, d := range slices.Backward(e.lists) {
		if err := errors.Join(ctx.Err(), e.write(ctx, d, e.writeDocument)); err != nil {
			return err
		}
	}
	return nil
}

// replaceStaged puts the files in place that replace others or link to others.
func (e *export) replaceStaged(ctx context.Context) error {
	for d, err := range e.plan.files(ctx) {
		if err != nil {
			return err
		}
		if d.state&staged != 0 {
			e.ready = append(e.ready, d.newFile())
		}
		if err := e.place(batchSize, e.tree.replace); err != nil {
			return err
		}
	}
	return e.place(1, e.tree.replace)
}

// place has put put the files in place that are ready, if there are n.
func (e *export) place(n int, put func([]newFile) error) error {
	if len(e.ready) < n {
		return nil
	}
	files := e.ready
	e.ready = e.ready[:0]
	return put(files)
}

// writeOrList writes the new file of a document that is opened, and adds one that is
// rendered to e.lists.
func (e *export) writeOrList(ctx context.Context, d planned, doc *websync.Document) error {
	if doc.Write != nil {
		e.lists = append(e.lists, d)
		return nil
	}
	return e.writeDocument(ctx, d, doc)
}

// write calls do with one document. It leaves the file of a document that no longer
// exists for the next export to remove.
func (e *export) write(
	ctx context.Context, d planned, do func(context.Context, planned, *websync.Document) error,
) error {
	doc, err := e.documentAhead(d.path)
	for left := conflictAttempts; ; left-- {
		if doc == nil && err == nil {
			doc, err = e.site.Document(ctx, d.path)
		}
		if isMissing(err) {
			return nil
		}
		if err == nil {
			err = do(ctx, d, doc)
		}
		again := errors.Is(err, websync.ErrConflict) || isMissing(err)
		if !again || left == 1 {
			return inPath(d.path, err)
		}
		doc, err = nil, nil
	}
}

// documentAhead returns the document at a path if ahead yields it next, but for others
// that have no file; otherwise nil.
func (e *export) documentAhead(path string) (*websync.Document, error) {
	for e.ahead != nil {
		switch o, err, more := e.ahead(); {
		case !more:
			e.ahead = nil
		case err != nil || o.path == path:
			return o.doc, err
		}
	}
	return nil, nil
}

func inPath(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}

// writeDocument writes the file of a document, and notes its headers.
func (e *export) writeDocument(ctx context.Context, d planned, doc *websync.Document) error {
	if err := e.writeFile(ctx, d, doc); err != nil {
		return err
	}
	return e.served.add(d.name, doc)
}

// writeFile writes the new file of a document, if it differs from the old one. It returns
// ErrConflict if the Catalog changed while the bytes were written.
func (e *export) writeFile(ctx context.Context, d planned, doc *websync.Document) error {
	if err := e.tree.mkdir(path.Dir(d.name), e.moveAside); err != nil {
		return err
	}
	w := &fileWriter{tree: e.tree, newFile: d.newFile()}
	if d.state&(old|index) != 0 { // otherwise decide has found nothing there
		var err error
		if w, err = e.tree.newWriter(w.newFile); err != nil {
			return err
		}
	}
	defer w.close()
	isNew := w.old == nil
	if doc.Open != nil && w.oldHas(doc.Digests) {
		e.done.Unchanged++
		return nil
	}
	e.buf.Reset(w)
	err := copyDocument(ctx, e.buf, doc)
	if err == nil {
		err = e.buf.Flush()
	}
	if err != nil {
		return err
	}
	changed, err := w.finish()
	switch {
	case err != nil:
		return err
	case !changed:
		e.done.Unchanged++
	default:
		e.done.Written++
		e.done.Bytes += w.n
		if isNew && doc.Open != nil {
			e.ready = append(e.ready, w.newFile)
		} else {
			e.plan.find(d.name).state |= staged
		}
	}
	return nil
}

func inTheWay(name string) error {
	return fmt.Errorf("%s is in the way: no export has written it", name)
}

// moveAside moves a file into the directory that takes its place. Between the two renames
// neither exists.
func (e *export) moveAside(name string) error {
	if known := e.plan.find(name); known == nil || known.state&(old|kept) != old {
		return inTheWay(name)
	}
	aside := path.Join(private, "aside")
	if err := e.tree.rename(name, aside); err != nil {
		return err
	}
	if err := e.tree.mkdir(name, e.moveAside); err != nil {
		return err
	}
	return e.tree.rename(aside, path.Join(name, indexFile))
}

// removeCeased removes the files in the manifest that have no document any more.
func (e *export) removeCeased(ctx context.Context) error {
	for name, err := range e.tree.readManifest() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if known := e.plan.find(name); known != nil && known.state&kept != 0 || e.keeps(name) {
			continue
		}
		removed, err := e.tree.remove(name)
		if err != nil {
			return err
		}
		if removed {
			e.done.Removed++
		}
	}
	return nil
}
