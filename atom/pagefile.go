package atom

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A pageFile holds the documents of one walk, one after the other, in a temporary file.
type pageFile struct {
	scratch
	end int64
}

// A place is where a document is in a pageFile.
type place struct{ at, size int64 }

// add reads src to its end. If that fails, nothing of it is kept.
func (f *pageFile) add(src io.Reader) (place, error) {
	file, err := f.open("websync-atom-pages-")
	if err != nil {
		return place{}, err
	}
	n, err := io.Copy(io.NewOffsetWriter(file, f.end), src)
	if err != nil {
		return place{}, err
	}
	p := place{f.end, n}
	f.end += n
	return p, nil
}

func (f *pageFile) page(p place) io.Reader { return io.NewSectionReader(f.file, p.at, p.size) }

// A scratch is a temporary file that is made when it is needed first.
type scratch struct{ file *os.File }

func (s *scratch) open(pattern string) (_ *os.File, err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp("", pattern); err != nil {
			return nil, err
		}
		os.Remove(s.file.Name()) // where the system allows it, the file goes with the process
	}
	return s.file, nil
}

func (s *scratch) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if rm := os.Remove(s.file.Name()); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	s.file = nil
	return err
}

// A shelf is the directory that keeps documents of an archive for the next walk: each as a file that begins with a line with
// the URL it came from, after redirects. What is taken from it is read and checked as if it came from its server, so it may be
// damaged, and others may empty it. The zero shelf keeps nothing.
type shelf struct{ path string }

// newShelf returns the shelf of one source below dir; an empty dir means none.
func newShelf(dir, source string) shelf {
	if dir == "" {
		return shelf{}
	}
	return shelf{filepath.Join(dir, nameOf(source))}
}

// nameOf returns the file name that stands for a URL or a key.
func nameOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// put keeps the document of a URL.
func (s shelf) put(url, final string, src io.Reader) (err error) {
	if s.path == "" {
		return nil
	}
	if err := os.MkdirAll(s.path, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.path, "new-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = io.WriteString(f, final+"\n")
	if err == nil {
		_, err = io.Copy(f, src)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(s.path, nameOf(url)))
}

// take copies the document of a URL, if it is there.
func (s shelf) take(url string, to *pageFile) (at place, final string, ok bool) {
	if s.path == "" {
		return place{}, "", false
	}
	f, err := os.Open(filepath.Join(s.path, nameOf(url)))
	if err != nil {
		return place{}, "", false
	}
	defer f.Close()
	b := bufio.NewReader(f)
	final, err = b.ReadString('\n')
	if err == nil {
		at, err = to.add(b)
	}
	if err != nil {
		return place{}, "", false
	}
	return at, final[:len(final)-1], true
}

// empty removes all documents.
func (s shelf) empty() error {
	if s.path == "" {
		return nil
	}
	return os.RemoveAll(s.path)
}
