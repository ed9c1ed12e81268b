package docfetch

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

	"github.com/websync-go/websync/internal/spool"
)

// A Cache is a directory that keeps documents, which never change, for the next run of a
// Source, each in a file: its header, a line of JSON, and then the document. A Source
// reads and checks a cached document as if it came from its server, so a damaged file
// does no harm, and anybody may delete it. The zero Cache keeps nothing.
type Cache struct{ path string }

// A header is what is known of a document in a Cache.
type header struct {
	Final string `json:"url"` // after redirects
	Validators
	ContentType string `json:"type,omitempty"`
	Sum         []byte `json:"sha256"` // of the document
}

// NewCache returns the Cache below dir of the source with a key; an empty dir means none.
func NewCache(dir, key string) Cache {
	if dir == "" {
		return Cache{}
	}
	return Cache{filepath.Join(dir, nameOf(key))}
}

// nameOf returns the file name for a URL or a key.
func nameOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// Put stores a document with its body.
func (c Cache) Put(d *Document) (err error) {
	if c.path == "" {
		return nil
	}
	head := header{Final: d.Final, Validators: d.Validators, ContentType: d.ContentType}
	if head.Sum, err = sumOf(d.Body); err != nil {
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
		_, err = io.Copy(f, d.Body)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(c.path, nameOf(d.URL)))
}

// sumOf returns the digest of a document, and goes back to its beginning.
func sumOf(body io.ReadSeeker) ([]byte, error) {
	h := sha256.New()
	_, err := body.Seek(0, io.SeekStart)
	if err == nil {
		_, err = io.Copy(h, body)
	}
	if err == nil {
		_, err = body.Seek(0, io.SeekStart)
	}
	return h.Sum(nil), err
}

// Take returns the document at url, with its body in file as Load leaves it. ok is false
// if c does not have the document, or only a damaged copy.
func (c Cache) Take(url string, file *spool.File) (d Document, ok bool) {
	if c.path == "" {
		return Document{}, false
	}
	f, err := os.Open(filepath.Join(c.path, nameOf(url)))
	if err != nil {
		return Document{}, false
	}
	defer f.Close()
	var head header
	var at spool.Span
	b := bufio.NewReader(f)
	line, err := b.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &head)
	}
	if err == nil {
		at, err = file.Append(b)
	}
	if err != nil {
		return Document{}, false
	}
	d = Document{
		URL: url, Final: head.Final, Validators: head.Validators, ContentType: head.ContentType,
		Body: section{file.Section(at)},
	}
	sum, err := sumOf(d.Body)
	return d, err == nil && bytes.Equal(sum, head.Sum)
}

// Doubt marks c as one whose documents may be wrong. The mark is a directory, because
// creating one is a single call that can be repeated.
func (c Cache) Doubt() error {
	if c.path == "" {
		return nil
	}
	err := os.Mkdir(filepath.Join(c.path, doubtName), 0o700)
	// marked already, or c keeps nothing
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// InDoubt reports whether Doubt was called since the last Empty.
func (c Cache) InDoubt() bool {
	if c.path == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(c.path, doubtName))
	return err == nil
}

const doubtName = "doubt"

// Empty removes all documents.
func (c Cache) Empty() error {
	if c.path == "" {
		return nil
	}
	return os.RemoveAll(c.path)
}
