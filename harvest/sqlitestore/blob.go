package sqlitestore

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/spool"
)

var (
	_ harvest.Blobs  = (*Store)(nil)
	_ harvest.Eraser = (*Store)(nil)
)

// blobDir returns the directory of bodies that are files. They are in subdirectories
// named by the first two letters of their names.
func (s *Store) blobDir() string { return s.file + ".bodies" }

func (s *Store) blobPath(name string) string { return filepath.Join(s.blobDir(), name[:2], name[2:]) }

// makeDir makes a directory durably.
func (s *Store) makeDir(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.makeDir(filepath.Dir(dir)); err == nil {
			err = os.Mkdir(dir, 0o777)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil || s.volatile {
		return err
	}
	return syncPath(filepath.Dir(dir))
}

// syncPath makes the names in a directory, or the bytes of a file, durable. If it is gone,
// there is nothing to do.
func syncPath(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return spool.SyncDir(f)
}

// CreateBlob implements [harvest.Blobs]. The file has its final name from the start, and
// becomes visible with the Commit that names it.
func (s *Store) CreateBlob(ctx context.Context, name string) (io.WriteCloser, error) {
	path := s.blobPath(name)
	if err := s.makeDir(filepath.Dir(path)); err != nil {
		return nil, wrap(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, wrap(err)
	}
	return &blobWriter{f, s, ctx}, nil
}

type blobWriter struct {
	*os.File
	d   *Store
	ctx context.Context
}

// Close makes the bytes durable. The next Update makes the name durable.
func (w *blobWriter) Close() error {
	if w.ctx.Err() != nil || w.d.volatile {
		return wrap(w.File.Close())
	}
	err := errors.Join(w.File.Sync(), w.File.Close())
	w.d.noteUnsynced(filepath.Dir(w.Name()))
	return wrap(err)
}

// sync makes the names of new files durable, and what was erased from others.
func (s *Store) sync() error {
	s.mu.Lock()
	paths := s.unsynced
	if len(paths) == 0 { // the map stays the one that others write to
		s.mu.Unlock()
		return nil
	}
	s.unsynced = map[string]bool{}
	s.mu.Unlock()
	var err error
	for path := range paths {
		if err == nil {
			err = syncPath(path)
		}
		if err != nil { // the next Update tries again
			s.noteUnsynced(path)
		}
	}
	return err
}

func (s *Store) noteUnsynced(path string) {
	if s.volatile {
		return
	}
	s.mu.Lock()
	s.unsynced[path] = true
	s.mu.Unlock()
}

// OpenBlob implements [harvest.Blobs].
func (s *Store) OpenBlob(_ context.Context, name string) (io.ReadSeekCloser, error) {
	f, err := os.Open(s.blobPath(name))
	if err != nil {
		return nil, wrap(err)
	}
	return f, nil
}

// RemoveBlob implements [harvest.Blobs].
func (s *Store) RemoveBlob(_ context.Context, name string) error {
	err := os.Remove(s.blobPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return wrap(err)
}

// EraseBlob implements [harvest.Eraser].
func (s *Store) EraseBlob(_ context.Context, name string, offset, size int64) error {
	path := s.blobPath(name)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return wrap(err)
	}
	err = errors.Join(erase(f, offset, offset+size), f.Close())
	s.noteUnsynced(path)
	return wrap(err)
}

// overwrite writes zeros.
func overwrite(f *os.File, from, to int64) error {
	var zeros [32 << 10]byte
	for ; from < to; from += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(to-from, int64(len(zeros)))], from); err != nil {
			return err
		}
	}
	return nil
}

// staleAfter is the age from which a file without an owner in its name counts as one that
// nobody writes any more.
const staleAfter = 24 * time.Hour

// blobName matches the names that a Catalog makes: base 32, and the owner's name if there
// is one.
var blobName = regexp.MustCompile(`^[a-z2-7]{26}(\.[a-z2-7]{26})?$`)

// ListBlobs implements [harvest.Blobs]. Files of other names are left alone.
func (s *Store) ListBlobs(ctx context.Context, fn func(name string, modified time.Time) bool) error {
	more := true
	err := files(s.blobDir(), func(dir string) bool {
		if len(dir) != 2 {
			return true // not a blob
		}
		err := files(filepath.Join(s.blobDir(), dir), func(file string) bool {
			info, err := os.Stat(s.blobPath(dir + file))
			if err != nil || !blobName.MatchString(dir+file) || s.owner.key() == "" && time.Since(info.ModTime()) < staleAfter {
				return true
			}
			more = ctx.Err() == nil && fn(dir+file, info.ModTime())
			return more
		})
		return more && err == nil
	})
	return wrap(errors.Join(err, ctx.Err()))
}

// files calls fn with the names in dir until it returns false.
func files(dir string, fn func(name string) bool) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(200)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			if !fn(name) {
				return nil
			}
		}
	}
}
