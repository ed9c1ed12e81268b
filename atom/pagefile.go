package atom

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// A span is where a document is in a pageFile.
type span struct{ at, size int64 }

// add reads src to its end. If that fails, nothing of it is kept.
func (f *pageFile) add(src io.Reader) (span, error) {
	file, err := f.open("websync-atom-pages-")
	if err != nil {
		return span{}, err
	}
	n, err := io.Copy(io.NewOffsetWriter(file, f.end), src)
	if err != nil {
		return span{}, err
	}
	p := span{f.end, n}
	f.end += n
	return p, nil
}

func (f *pageFile) page(p span) io.ReadSeeker { return io.NewSectionReader(f.file, p.at, p.size) }

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

// A docCache is the directory that keeps documents of an archive for the next walk, each
// in a file: a line of JSON, its docHeader, and then the document. What is taken from it
// is read and checked as if it came from its server, so it may be damaged, and others may
// empty it. The zero docCache keeps nothing.
type docCache struct{ path string }

// A docHeader is what is known of a kept document.
type docHeader struct {
	Final        string `json:"url"` // after redirects
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"modified,omitempty"`
	Sum          []byte `json:"sha256"` // of the document
}

// newDocCache returns the cache of one source below dir; an empty dir means none.
func newDocCache(dir, source string) docCache {
	if dir == "" {
		return docCache{}
	}
	return docCache{filepath.Join(dir, nameOf(source))}
}

// nameOf returns the file name that stands for a URL or a key.
func nameOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// put keeps the document of a URL.
func (c docCache) put(url string, head docHeader, doc io.ReadSeeker) (err error) {
	if c.path == "" {
		return nil
	}
	if head.Sum, err = sumOf(doc); err != nil {
		return err
	}
	if err := os.MkdirAll(c.path, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.path, "new-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err = json.NewEncoder(f).Encode(head); err == nil {
		_, err = io.Copy(f, doc)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(c.path, nameOf(url)))
}

// sumOf returns the digest of a document, and goes back to its beginning.
func sumOf(doc io.ReadSeeker) ([]byte, error) {
	h := sha256.New()
	if _, err := io.Copy(h, doc); err != nil {
		return nil, err
	}
	_, err := doc.Seek(0, io.SeekStart)
	return h.Sum(nil), err
}

// take copies the document of a URL, if it is there and whole.
func (c docCache) take(url string, to *pageFile) (at span, head docHeader, ok bool) {
	if c.path == "" {
		return span{}, docHeader{}, false
	}
	f, err := os.Open(filepath.Join(c.path, nameOf(url)))
	if err != nil {
		return span{}, docHeader{}, false
	}
	defer f.Close()
	b := bufio.NewReader(f)
	line, err := b.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &head)
	}
	if err == nil {
		at, err = to.add(b)
	}
	if err != nil {
		return span{}, docHeader{}, false
	}
	sum, err := sumOf(to.page(at))
	return at, head, err == nil && bytes.Equal(sum, head.Sum)
}

// doubt notes that a walk over what is kept ended at a hole, which one of the documents
// may be to blame for. A directory is the note: it takes one call, which changes nothing
// the second time.
func (c docCache) doubt() error {
	if c.path == "" {
		return nil
	}
	err := os.Mkdir(filepath.Join(c.path, doubtName), 0o700)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) { // noted, or nothing is kept
		return nil
	}
	return err
}

// inDoubt reports whether doubt was called since the cache was empty.
func (c docCache) inDoubt() bool {
	if c.path == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(c.path, doubtName))
	return err == nil
}

const doubtName = "doubt"

// empty removes all documents.
func (c docCache) empty() error {
	if c.path == "" {
		return nil
	}
	return os.RemoveAll(c.path)
}
