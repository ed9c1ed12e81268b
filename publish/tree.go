package publish

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A tree is the directory of an export. Nothing outside of it is touched, and symbolic
// links in it are not followed.
type tree struct {
	root *os.Root
	step func(op, name string) error // for tests: called before anything is changed
	made string                      // the directory that mkdir made or found last
}

func openTree(dir string) (*tree, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &tree{root: root, step: func(string, string) error { return nil }}, nil
}

// lstat returns nil if there is nothing under the name.
func (t *tree) lstat(name string) (fs.FileInfo, error) {
	info, err := t.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	return info, err
}

// open opens a regular file. It returns nil if there is none.
func (t *tree) open(name string) (*os.File, error) {
	info, err := t.lstat(name)
	if err != nil || info == nil || !info.Mode().IsRegular() {
		return nil, err
	}
	return t.root.Open(name)
}

func (t *tree) create(name string) (*os.File, error) {
	if err := t.step("create", name); err != nil {
		return nil, err
	}
	return t.root.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o644)
}

// rename moves a file and flushes its new directory to disk.
func (t *tree) rename(from, to string) error {
	if err := t.step("rename", to); err != nil {
		return err
	}
	if err := t.root.Rename(from, to); err != nil {
		return err
	}
	return t.sync(path.Dir(to))
}

// mkdir makes the directory and those above it. If a file is in the way, it calls
// inTheWay to move it.
func (t *tree) mkdir(dir string, inTheWay func(name string) error) error {
	if dir == "." || dir == t.made {
		return nil
	}
	if err := t.mkdir(path.Dir(dir), inTheWay); err != nil {
		return err
	}
	info, err := t.lstat(dir)
	if err == nil && info != nil && info.Mode().IsRegular() {
		if err = inTheWay(dir); err == nil {
			info, err = t.lstat(dir)
		}
	}
	switch {
	case err != nil:
		return err
	case info != nil && !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case info == nil:
		if err := t.step("mkdir", dir); err != nil {
			return err
		}
		if err := t.root.Mkdir(dir, 0o755); err != nil {
			return err
		}
		if err := t.sync(path.Dir(dir)); err != nil {
			return err
		}
	}
	t.made = dir
	return nil
}

// remove removes a file, if it is there, and the directories above it that are empty
// then.
func (t *tree) remove(name string) (removed bool, err error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := t.lstat(dir); err != nil || info == nil || !info.IsDir() {
			return false, err
		}
	}
	info, err := t.lstat(name)
	if err != nil || info == nil || !info.Mode().IsRegular() {
		return false, err
	}
	if err := t.step("remove", name); err != nil {
		return false, err
	}
	if err := t.root.Remove(name); err != nil {
		return false, err
	}
	dir := path.Dir(name)
	for ; dir != "." && t.root.Remove(dir) == nil; dir = path.Dir(dir) {
	}
	return true, t.sync(dir)
}

// sync flushes a directory to disk. A system that can't do that is no error.
func (t *tree) sync(dir string) error {
	d, err := t.root.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// A fileWriter replaces a file by what is written to it, unless that is the same. It
// compares while it can and begins a new file at the first difference.
type fileWriter struct {
	tree *tree
	name string
	temp string   // of the new file
	old  *os.File // as long as there is no difference
	new  *os.File
	n    int64
	buf  []byte
}

// newFile is where new files are before they are put in place, with a number after it.
const newFile = private + "/new-"

func (t *tree) newWriter(name string, number int) (*fileWriter, error) {
	old, err := t.open(name)
	return &fileWriter{tree: t, name: name, temp: newFile + strconv.Itoa(number), old: old}, err
}

// place puts a new file in place of the one with this name.
func (t *tree) place(name string, number int) error {
	return t.rename(newFile+strconv.Itoa(number), name)
}

// removeNew removes the new files that were not put in place.
func (t *tree) removeNew() error {
	entries, err := fs.ReadDir(t.root.FS(), private)
	for _, e := range entries {
		name := path.Join(private, e.Name())
		if err != nil || !strings.HasPrefix(name, newFile) {
			continue
		}
		if err = t.step("remove", name); err == nil {
			err = t.root.Remove(name)
		}
	}
	return err
}

func (w *fileWriter) Write(p []byte) (int, error) {
	if w.old != nil && w.same(p) {
		w.n += int64(len(p))
		return len(p), nil
	}
	if err := w.begin(); err != nil {
		return 0, err
	}
	n, err := w.new.Write(p)
	w.n += int64(n)
	return n, err
}

// same reports whether the old file goes on with p.
func (w *fileWriter) same(p []byte) bool {
	if len(w.buf) < len(p) {
		w.buf = make([]byte, len(p))
	}
	n, _ := w.old.ReadAt(w.buf[:len(p)], w.n)
	return string(w.buf[:n]) == string(p)
}

// begin makes sure that there is a new file, with what was the same so far.
func (w *fileWriter) begin() (err error) {
	if w.new != nil {
		return nil
	}
	if w.new, err = w.tree.create(w.temp); err != nil || w.old == nil {
		return err
	}
	if _, err = io.CopyN(w.new, io.NewSectionReader(w.old, 0, w.n), w.n); err != nil {
		// it has become shorter
		return fmt.Errorf("%s changed meanwhile: %w", w.name, err)
	}
	err = w.old.Close()
	w.old = nil
	return err
}

// finish ends the new file, or reports that there is none, because nothing has changed.
func (w *fileWriter) finish() (unchanged bool, err error) {
	if w.old != nil {
		info, err := w.old.Stat()
		if err != nil {
			return false, err
		}
		if info.Size() == w.n {
			return true, nil
		}
	}
	if err := w.begin(); err != nil {
		return false, err
	}
	if err := w.new.Sync(); err != nil {
		return false, err
	}
	err = w.new.Close()
	w.new = nil
	return false, err
}

// close releases what is open.
func (w *fileWriter) close() {
	for _, f := range []*os.File{w.old, w.new} {
		if f != nil {
			f.Close()
		}
	}
}

// The manifest lists the files that exports have written, or were about to write.
// WriteDir never replaces or removes a file that is not in it.
const (
	manifestFile   = private + "/manifest"
	manifestHeader = "websync export 1"
)

// readManifest yields the names in the manifest; none if there is none.
func (t *tree) readManifest() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		f, err := t.open(manifestFile)
		if f == nil {
			if err != nil {
				yield("", err)
			}
			return
		}
		defer f.Close()
		r := bufio.NewReaderSize(f, 64<<10)
		for header := true; ; header = false {
			line, err := r.ReadString('\n')
			if err == io.EOF && line == "" && !header {
				return
			}
			line, whole := strings.CutSuffix(line, "\n")
			switch {
			case err != nil && err != io.EOF:
			case !whole || header && line != manifestHeader || !header && !filepath.IsLocal(line):
				err = errors.New(manifestFile + " is damaged")
			default:
				err = nil
			}
			if header && err == nil {
				continue
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// under reports whether name lies below dir.
func under(name, dir string) bool { return strings.HasPrefix(name, dir+"/") }
