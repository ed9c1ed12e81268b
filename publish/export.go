package publish

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/websync-go/websync"
)

// Written says what a WriteDir did.
type Written struct {
	Written   int64 `json:"written"`   // files that are new or different
	Unchanged int64 `json:"unchanged"` // files that were left as they are
	Removed   int64 `json:"removed"`   // files of documents that are no more
	Bytes     int64 `json:"bytes"`     // of the files that are new or different
}

// A RefusedError says which documents [WriteDir] could not write as files. It has written
// all others.
type RefusedError struct {
	Total   int64     // how many
	Refused []Refused // the first 100
}

// Refused is a document that is not written.
type Refused struct {
	Path   string // of its URL
	Reason string
}

const maxRefused = 100 // that a RefusedError names

// Error names the first document.
func (e *RefusedError) Error() string {
	text := fmt.Sprintf("publish: %d documents have no file", e.Total)
	if len(e.Refused) > 0 {
		text += fmt.Sprintf(", first %.300q: %s", e.Refused[0].Path, e.Refused[0].Reason)
	}
	return text
}

// WriteDir writes the documents of Publishers, joined as by [Join], as files below dir:
// the bytes that a [Handler] would serve, for any web server of static files. dir is made
// if it is not there.
//
// The file of a document is its path without escapes, which is where a server looks for
// it. A path that ends in a slash, and one that is a directory of others too, is
// index.html in that directory; it stays there when the others cease. A path that can be
// no file, or would be the file of another, is left out: then the error is a
// [*RefusedError], and all else is written. On a file system that ignores case, or takes
// two forms of Unicode for one, paths that differ in nothing else come to one file, and
// Windows has no files whose names end in a dot or a space, hold one of <>:"|?* or are
// those of devices: write to another system, where the files are to be served as well.
//
// A server of files adds no headers of its own accord. Below "r/" are the bodies of
// others, which may be pages with scripts: have it send "Content-Security-Policy:
// sandbox" and "X-Content-Type-Options: nosniff" with these, as a [Handler] does. Nor
// does it know media types and content codings, but by what a name ends in.
//
// Each file is replaced at once, when its bytes are on disk, and only if they are
// different. Files are written in the order in which Documents names them, so that no
// file links to one that is not there, wherever the export stops. What an earlier export
// has written and the Publishers no longer have is removed at the end. Anything else in
// dir is left alone: a file in the way of a new document is an error, and symbolic links
// are not followed. What WriteDir has to remember is in the directory .websync. Two
// exports into one directory must not run at the same time.
//
// A Catalog may change meanwhile. Lists then may already link to bodies that were not
// there when the export began; the next one writes those.
func WriteDir(ctx context.Context, dir string, publishers ...websync.Publisher) (Written, error) {
	site := Join(publishers...)
	if err := site.(Checker).Check(); err != nil {
		return Written{}, err
	}
	t, err := openTree(dir)
	if err != nil {
		return Written{}, err
	}
	e := &export{tree: t, site: site}
	err = e.run(ctx)
	switch {
	case err != nil:
		err = fmt.Errorf("publish: %w", err)
	case e.refused.Total > 0:
		err = &e.refused
	}
	return e.done, errors.Join(err, t.root.Close())
}

// An export is one WriteDir. All lists of names are in sorters or in the manifest: there
// may be millions.
type export struct {
	tree *tree
	site websync.Publisher
	done Written

	lists []listFile // to be written after the documents that are opened, in the order of Documents

	files sorter // name, path, number of the path in Documents; no path: a file that moved aside
	order sorter // number, name, path
	aside hashes // files that become directories

	refused RefusedError
}

// refuse notes that a document can't be written.
func (e *export) refuse(path, reason string) {
	if e.refused.Total++; len(e.refused.Refused) < maxRefused {
		e.refused.Refused = append(e.refused.Refused, Refused{path, reason})
	}
}

func (e *export) run(ctx context.Context) error {
	defer e.files.close()
	defer e.order.close()
	if err := e.tree.mkdir(private, e.moveAside); err != nil {
		return err
	}
	if err := e.tree.removeNew(); err != nil {
		return err
	}
	defer e.tree.removeNew() // they may fill a disk; what is left all the same, the next export removes
	if err := e.plan(ctx); err != nil {
		return err
	}
	// From here on the new names are the export's own, even if it is cut off before it
	// has written them.
	if err := e.tree.writeManifest(ctx, e.allNames()); err != nil {
		return err
	}
	for row, err := range e.order.sorted() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = e.write(ctx, &listFile{name: row[1], path: row[2]}, false)
		}
		if err != nil {
			return err
		}
	}
	if err := e.writeLists(ctx); err != nil {
		return err
	}
	if err := e.removeCeased(ctx); err != nil {
		return err
	}
	return e.tree.writeManifest(ctx, e.planNames())
}

// plan finds out which document becomes which file.
func (e *export) plan(ctx context.Context) error {
	var paths sorter // name, path, number
	defer paths.close()
	n := 0
	for p, err := range e.site.Documents(ctx) {
		if err != nil {
			return err
		}
		name, err := fileName(p)
		if err != nil {
			e.refuse(p, err.Error())
			continue
		}
		if err := paths.add(name, p, fmt.Sprintf("%016d", n)); err != nil {
			return err
		}
		n++
	}
	if err := e.nest(paths.sorted()); err != nil {
		return err
	}
	e.aside.sort()
	return e.check()
}

// A branch is a name, with what was found below it.
type branch struct {
	pair
	below, planned bool // any other name; one of the plan
}

// nest decides which names are directories, and fills e.files.
func (e *export) nest(plan iter.Seq2[[]string, error]) error {
	var open []branch // each below the one before
	closeTo := func(name string) error {
		for len(open) > 0 && !under(name, open[len(open)-1].name) {
			if err := e.place(open[len(open)-1]); err != nil {
				return err
			}
			open = open[:len(open)-1]
		}
		return nil
	}
	for p, err := range merge(e.tree.readManifest(), plan) {
		if err != nil {
			return err
		}
		if len(open) > 0 && open[len(open)-1].name == p.name {
			e.refuseSecond(open[len(open)-1].row[1], p.row[1])
			continue
		}
		if err := closeTo(p.name); err != nil {
			return err
		}
		for i := range open {
			open[i].below = true
			open[i].planned = open[i].planned || p.row != nil
		}
		open = append(open, branch{pair: p})
	}
	return closeTo("")
}

// refuseSecond refuses the second of two paths that have the same file, unless they are
// the same.
func (e *export) refuseSecond(first, second string) {
	if first != second {
		e.refuse(second, fmt.Sprintf("%.300q has the same file", first))
	}
}

// place adds the file of a branch to e.files.
func (e *export) place(b branch) error {
	isIndex := b.row != nil && strings.HasSuffix(b.row[1], "/")
	if isIndex && b.planned {
		e.refuse(b.row[1], fmt.Sprintf("its file %.300q is a directory of other paths", b.name))
	}
	switch {
	case (b.row == nil || isIndex) && b.planned:
		return e.placeCeased(b.name)
	case b.row == nil:
		return nil
	case !b.below || isIndex:
		return e.files.add(b.name, b.row[1], b.row[2])
	}
	if b.inOld {
		e.aside.add(b.name)
	}
	return e.files.add(path.Join(b.name, indexFile), b.row[1], b.row[2])
}

// placeCeased makes room for a directory where there is the file of a document that is no
// more. It is removed at the end, like the others.
func (e *export) placeCeased(name string) error {
	info, err := e.tree.lstat(name)
	if err != nil || info == nil || !info.Mode().IsRegular() {
		return err
	}
	e.aside.add(name)
	return e.files.add(path.Join(name, indexFile), "", "")
}

// check compares the files with each other and with what is there, and fills e.order.
func (e *export) check() error {
	var last pair
	for p, err := range merge(e.tree.readManifest(), e.files.sorted()) {
		if err != nil {
			return err
		}
		if p.row == nil || p.row[1] == "" {
			continue
		}
		if last.row != nil && p.name == last.name {
			e.refuseSecond(last.row[1], p.row[1])
			continue
		}
		if last.row != nil && under(p.name, last.name) {
			e.refuse(p.row[1], fmt.Sprintf("%.300q has a file where it needs a directory", last.row[1]))
			continue
		}
		info, err := e.tree.lstat(p.name)
		if err != nil {
			return err
		}
		if info != nil && !p.inOld {
			return fmt.Errorf("%s is in the way of %s: no export has written it", p.name, p.row[1])
		}
		if err := e.order.add(p.row[2], p.name, p.row[1]); err != nil {
			return err
		}
		last = p
	}
	return nil
}

// allNames yields the names in the manifest and those to come.
func (e *export) allNames() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		last := ""
		for p, err := range merge(e.tree.readManifest(), e.files.sorted()) {
			if p.name == last && err == nil {
				continue // a file moves aside to where another will be
			}
			if last = p.name; !yield(p.name, err) {
				return
			}
		}
	}
}

// planNames yields the names of the documents.
func (e *export) planNames() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for row, err := range e.planned() {
			if err != nil {
				yield("", err)
				return
			}
			if !yield(row[0], nil) {
				return
			}
		}
	}
}

// planned yields the rows of e.files that are documents, of those with one file the
// first.
func (e *export) planned() iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		last := ""
		for row, err := range e.files.sorted() {
			if err == nil && (row[1] == "" || row[0] == last) {
				continue
			}
			if !yield(row, err) {
				return
			}
			last = row[0]
		}
	}
}

// A listFile is a document that is rendered, and its file.
type listFile struct {
	name, path string
	number     int  // of its new file
	ready      bool // the new file is complete and differs from the old one
}

// write writes one document, but puts off those that are rendered until late. One that is
// no longer there is left for the next export to remove.
func (e *export) write(ctx context.Context, l *listFile, late bool) error {
	for left := conflictAttempts; ; left-- {
		doc, err := e.site.Document(ctx, l.path)
		if isMissing(err) {
			return nil
		}
		if err == nil && doc.Write != nil && !late {
			l.number = len(e.lists) + 1
			e.lists = append(e.lists, *l)
			return nil
		}
		if err == nil {
			err = e.writeDocument(ctx, l, doc, left == 1)
		}
		if again := errors.Is(err, websync.ErrConflict) || isMissing(err); !again || left == 1 {
			return inPath(l.path, err)
		}
	}
}

// writeLists writes the documents that are rendered. What links to others is rendered
// before them and put in place after them: when the Catalog changes meanwhile, an index
// never says of a part that it is younger than its file.
func (e *export) writeLists(ctx context.Context) error {
	for i := range slices.Backward(e.lists) {
		if err := errors.Join(ctx.Err(), e.write(ctx, &e.lists[i], true)); err != nil {
			return err
		}
	}
	for i := range e.lists {
		if l := &e.lists[i]; l.ready {
			if err := errors.Join(ctx.Err(), e.tree.place(l.name, l.number)); err != nil {
				return inPath(l.path, err)
			}
		}
	}
	return nil
}

func inPath(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}

// writeDocument writes the bytes of one document, and puts those of one that is opened in
// place. It returns ErrConflict if they changed meanwhile, unless this is the last
// attempt: they are valid then, too.
func (e *export) writeDocument(ctx context.Context, l *listFile, doc *websync.Document, last bool) error {
	if err := e.tree.mkdir(path.Dir(l.name), e.moveAside); err != nil {
		return err
	}
	w, err := e.tree.newWriter(l.name, l.number)
	if err != nil {
		return err
	}
	defer w.close()
	b := bufio.NewWriterSize(w, 64<<10)
	err = copyDocument(ctx, b, doc)
	if errors.Is(err, websync.ErrConflict) && last {
		err = nil
	}
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return err
	}
	unchanged, err := w.finish()
	switch {
	case err != nil:
		return err
	case unchanged:
		e.done.Unchanged++
	default:
		e.done.Written++
		e.done.Bytes += w.n
		l.ready = true
		if doc.Write == nil {
			return e.tree.place(l.name, l.number)
		}
	}
	return nil
}

// moveAside moves a file into the directory that takes its place. Between the two steps
// neither is there.
func (e *export) moveAside(name string) error {
	if !e.aside.has(name) {
		return fmt.Errorf("%s is in the way: no export has written it", name)
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

// removeCeased removes the files in the manifest that are no document's.
func (e *export) removeCeased(ctx context.Context) error {
	for p, err := range merge(e.tree.readManifest(), e.planned()) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if p.row != nil {
			continue
		}
		removed, err := e.tree.remove(p.name)
		if err != nil {
			return err
		}
		if removed {
			e.done.Removed++
		}
	}
	return nil
}

// hashes is a set of names, 16 bytes each. Fill it, sort it, ask it.
type hashes [][16]byte

func hashOf(name string) (h [16]byte) {
	sum := sha256.Sum256([]byte(name))
	copy(h[:], sum[:])
	return h
}

func compareHashes(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }

func (h *hashes) add(name string) { *h = append(*h, hashOf(name)) }

func (h hashes) sort() { slices.SortFunc(h, compareHashes) }

func (h hashes) has(name string) bool {
	_, found := slices.BinarySearchFunc(h, hashOf(name), compareHashes)
	return found
}
