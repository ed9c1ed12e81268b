package dirsource

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var (
	// something that was a directory
	errVanished = fmt.Errorf("no longer a directory: %w", fs.ErrNotExist)
	errReplaced = errors.New("replaced by another directory in the meantime")
)

// enter opens the directory at a path below Dir without following a link. If top is not
// nil, Dir must be that directory.
func (s *Source) enter(dir string, top os.FileInfo) (*os.Root, error) {
	at, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil, err
	}
	if top != nil {
		if err := isSame(at, top); err != nil {
			return nil, errors.Join(err, at.Close())
		}
	}
	if dir == "" {
		return at, nil
	}
	for name := range strings.SplitSeq(dir, "/") {
		next, err := step(at, name)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// step opens a directory in at. An [os.Root] follows links that stay inside of it, so
// step checks that what it opened is the directory that it found.
func step(at *os.Root, name string) (*os.Root, error) {
	info, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, errVanished
	}
	if err != nil {
		return nil, err
	}
	// with the dot, a pipe that has replaced it does not block
	next, err := at.OpenRoot(name + "/.")
	if err != nil {
		return nil, err
	}
	if err := isSame(next, info); err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// isSame returns an error if a directory is not the one that was found before.
func isSame(at *os.Root, seen os.FileInfo) error {
	info, err := at.Stat(".")
	if err == nil && !os.SameFile(info, seen) {
		err = errReplaced
	}
	return err
}

// A file is an open regular file, with its directory.
type file struct {
	*os.File
	at   *os.Root
	name string
	info os.FileInfo // when it was opened
}

// open opens the regular file at a path below Dir without following a link.
func (s *Source) open(path string) (*file, error) {
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	at, err := s.enter(dir, nil)
	if err != nil {
		return nil, err
	}
	f, err := openIn(at, name)
	if err != nil {
		return nil, errors.Join(err, at.Close())
	}
	return f, nil
}

func openIn(at *os.Root, name string) (*file, error) {
	seen, err := at.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := at.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(info, seen) {
		err = errChanged
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &file{f, at, name, info}, nil
}

// Close closes the file and its directory.
func (f *file) Close() error { return errors.Join(f.File.Close(), f.at.Close()) }

// unchanged reports whether the name still has the same file, in the state in which it
// was opened.
func (f *file) unchanged() bool {
	info, err := f.at.Lstat(f.name)
	return err == nil && os.SameFile(info, f.info) && string(appendState(nil, info)) == string(appendState(nil, f.info))
}

// file returns the path below Dir as the system knows it.
func (s *Source) file(path string) string { return filepath.Join(s.Dir, filepath.FromSlash(path)) }

// named returns an error of the system with the whole path.
func named(file string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return fmt.Errorf("dirsource: %q: %w", file, err)
}
