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
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/spool"
)

// A tree is the directory of an export. Nothing outside of it is touched, and symbolic
// links in it are not followed.
type tree struct {
	root     *os.Root
	fresh    *os.Root                    // newDir, once it is made
	step     func(op, name string) error // for tests: called before anything is changed
	made     string                      // the directory that mkdir made or found last
	unsynced []*os.File                  // new files that are complete, but not yet flushed to disk
	lock     *os.File

	// disk is open as long as the tree if the system can flush a whole file system, and
	// report what fails; otherwise it is nil. Then dirty states that there is anything to
	// flush, and unsynced is empty.
	disk  *os.File
	dirty bool
}

// How many new files are put in place at the same time: files that are flushed one by one
// are open until then.
const (
	batchSize = 64
	diskBatch = 4096
)

// openTree makes the directory if it does not exist, and locks it until close.
func openTree(dir string) (*tree, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, step: func(string, string) error { return nil }}
	if d, err := root.Open("."); err == nil {
		if t.disk = d; !spool.CanSyncDisk(d) {
			t.closeDisk()
		}
	}
	if err = t.mkdir(private, inTheWay); err == nil {
		err = t.takeLock()
	}
	if err != nil {
		return nil, errors.Join(err, t.closeDisk(), root.Close())
	}
	return t, nil
}

// close releases the lock. What the export was is nobody's business afterwards.
func (t *tree) close() error {
	err := errors.Join(t.lock.Truncate(0), t.lock.Close(), t.closeDisk(), t.root.Close())
	if t.fresh != nil {
		err = errors.Join(err, t.fresh.Close())
	}
	return err
}

// closeDisk lets files be flushed one by one.
func (t *tree) closeDisk() (err error) {
	if t.disk != nil {
		err = t.disk.Close()
		t.disk = nil
	}
	return err
}

// batch returns how many new files are put in place at the same time.
func (t *tree) batch() int {
	if t.disk != nil {
		return diskBatch
	}
	return batchSize
}

// lockFile is locked while an export runs. It names the export that locked it last.
const lockFile = private + "/lock"

func (t *tree) takeLock() error {
	if _, err := t.lstatOwn(lockFile); err != nil {
		return err
	}
	f, err := t.root.OpenFile(lockFile, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	if locked, err := spool.TryLock(f); err == nil && !locked {
		defer f.Close()
		holder := make([]byte, 200)
		n, _ := f.ReadAt(holder, 0)
		return fmt.Errorf("%s: %w: %q", t.root.Name(), ErrBusy, holder[:n])
	}
	host, _ := os.Hostname()
	holder := fmt.Sprintf("process %d on %s since %s", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteString(holder)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	t.lock = f
	return nil
}

// lstatOwn returns nil if there is nothing under the name of a file of the export's own,
// and an error if that is not a regular file.
func (t *tree) lstatOwn(name string) (fs.FileInfo, error) {
	info, err := t.lstat(name)
	if err == nil && info != nil && !info.Mode().IsRegular() {
		err = inTheWay(name)
	}
	return info, err
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

// create creates a new file in newDir.
func (t *tree) create(name string) (*os.File, error) {
	if err := t.step("create", name); err != nil {
		return nil, err
	}
	return t.fresh.OpenFile(path.Base(name), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o644)
}

// makeNew makes newDir, without anything in it.
func (t *tree) makeNew() error {
	err := t.removeNew()
	if err == nil {
		err = t.mkdir(newDir, inTheWay)
	}
	if err == nil {
		t.fresh, err = t.root.OpenRoot(newDir)
	}
	return err
}

// rename moves a file and flushes its new directory to disk.
func (t *tree) rename(from, to string) error {
	return t.replace([]newFile{{name: to, temp: from}})
}

// replace gives new files their names, in this order, when all their bytes are on disk.
// It flushes a directory to disk before the first name in another one.
func (t *tree) replace(files []newFile) error {
	if err := t.flush(); err != nil {
		return err
	}
	for i, f := range files {
		if err := t.give(f); err != nil {
			return err
		}
		dir := path.Dir(f.name)
		if i+1 < len(files) && path.Dir(files[i+1].name) == dir {
			continue
		}
		if err := t.syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// add gives new files their names when all their bytes are on disk. The names are on disk
// after the next flush.
func (t *tree) add(files []newFile) error {
	if t.disk == nil {
		return t.replace(files)
	}
	if err := t.flush(); err != nil {
		return err
	}
	for _, f := range files {
		t.dirty = true
		if err := t.give(f); err != nil {
			return err
		}
	}
	return nil
}

// give gives a new file its name.
func (t *tree) give(f newFile) error {
	if err := t.step("rename", f.name); err != nil {
		return err
	}
	return t.root.Rename(f.temp, f.name)
}

// complete notes that a new file has all its bytes, and closes it at the next flush at the
// latest.
func (t *tree) complete(f *os.File) error {
	if t.disk != nil {
		t.dirty = true
		return f.Close()
	}
	if t.unsynced = append(t.unsynced, f); len(t.unsynced) < batchSize {
		return nil
	}
	return t.flush()
}

// changed notes that names in a directory have changed. They are on disk after the next
// flush.
func (t *tree) changed(dir string) error {
	if t.disk != nil {
		t.dirty = true
		return nil
	}
	return t.syncDir(dir)
}

// flush flushes to disk what is not there yet: the whole file system, or the unsynced
// files, all at the same time.
func (t *tree) flush() error {
	if t.disk != nil {
		if !t.dirty {
			return nil
		}
		if err := t.step("flush", ""); err != nil {
			return err
		}
		t.dirty = false
		return spool.SyncDisk(t.disk)
	}
	errs := make([]error, len(t.unsynced))
	var all sync.WaitGroup
	for i, f := range t.unsynced {
		all.Go(func() { errs[i] = errors.Join(f.Sync(), f.Close()) })
	}
	all.Wait()
	t.unsynced = t.unsynced[:0]
	return errors.Join(errs...)
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
		if err := t.mkdirHere(dir); err != nil {
			return err
		}
	}
	t.made = dir
	return nil
}

// mkdirHere makes a directory in one that is there.
func (t *tree) mkdirHere(dir string) error {
	if err := t.step("mkdir", dir); err != nil {
		return err
	}
	// another export that begins may have made the same
	if err := t.root.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return t.changed(path.Dir(dir))
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
	return true, t.changed(dir)
}

// syncDir flushes a directory to disk. It is no error if the system can't do that.
func (t *tree) syncDir(dir string) error {
	d, err := t.root.Open(dir)
	if err != nil {
		return err
	}
	return spool.SyncDir(d)
}

// A newFile is a complete file that is not yet in place.
type newFile struct{ name, temp string }

// newDir holds the new files before they are in place.
const newDir = private + "/new"

// A fileWriter writes a new file, unless that is the same as the old one. It compares
// while it can and begins the new file at the first difference.
type fileWriter struct {
	newFile
	tree *tree
	old  *os.File // as long as there is no difference
	new  *os.File
	n    int64
	buf  []byte
}

// newWriter returns a writer that compares with the file that is there.
func (t *tree) newWriter(f newFile) (*fileWriter, error) {
	old, err := t.open(f.name)
	return &fileWriter{tree: t, newFile: f, old: old}, err
}

// removeNew removes the new files that were not put in place.
func (t *tree) removeNew() error {
	if info, err := t.lstat(newDir); err != nil || info == nil || !info.IsDir() {
		return err
	}
	if err := t.step("remove", newDir); err != nil {
		return err
	}
	return t.root.RemoveAll(newDir)
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

// oldHas reports whether the old file has the strongest of these digests.
func (w *fileWriter) oldHas(ds websync.Digests) bool {
	if _, ok := ds.Strongest(); !ok || w.old == nil {
		return false
	}
	_, err := io.Copy(io.Discard, websync.Link{Digests: ds}.Verify(w.old))
	return err == nil
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

// finish completes the new file. It reports false if there is none because nothing
// changed.
func (w *fileWriter) finish() (changed bool, err error) {
	if w.old != nil {
		info, err := w.old.Stat()
		if err != nil || info.Size() == w.n {
			return false, err
		}
	}
	if err := w.begin(); err != nil {
		return false, err
	}
	f := w.new
	w.new = nil
	return true, w.tree.complete(f)
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
// WriteDir never replaces or removes a file that is not in it. The header ends in the
// version of the format.
const (
	manifestFile   = private + "/manifest"
	manifestTitle  = "websync export "
	manifestHeader = manifestTitle + "1"
)

var errDamagedManifest = errors.New(manifestFile + " is damaged")

// readManifest yields the names in the manifest; none if there is none.
func (t *tree) readManifest() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		info, err := t.lstatOwn(manifestFile)
		if info == nil && err == nil {
			return
		}
		var f *os.File
		if err == nil {
			f, err = t.root.Open(manifestFile)
		}
		if err != nil {
			yield("", err)
			return
		}
		defer f.Close()
		r := bufio.NewReaderSize(f, 64<<10)
		line, err := manifestLine(r)
		switch {
		case strings.HasPrefix(line, manifestTitle) && line != manifestHeader:
			err = fmt.Errorf("%s is of another version, %.50q: this one writes %q", manifestFile, line, manifestHeader)
		case line != manifestHeader && (err == nil || err == io.EOF):
			err = errDamagedManifest
		}
		if err != nil {
			yield("", err)
		}
		for err == nil {
			if line, err = manifestLine(r); err == io.EOF {
				return
			}
			if err == nil && !isExported(line) {
				err = errDamagedManifest
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// manifestLine reads a line without its end; at the end of the manifest it returns
// io.EOF.
func manifestLine(r *bufio.Reader) (string, error) {
	text, err := r.ReadSlice('\n')
	switch {
	case err == nil:
		return string(text[:len(text)-1]), nil
	case err == io.EOF && len(text) > 0, err == bufio.ErrBufferFull:
		err = errDamagedManifest
	}
	return "", err
}

// isExported reports whether an export can have written a file with this name.
func isExported(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return filepath.IsLocal(name) && path.Clean(name) == name && !strings.EqualFold(first, private)
}
