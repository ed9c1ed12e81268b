package resourcesync

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/spool"
)

// manifestName is the name of the manifest in a package (§11.2, §13.2).
const manifestName = "manifest.xml"

// Limits of a package.
const (
	maxFiles   = 200_000
	maxFile    = 64 << 30  // bytes of one file, unpacked
	maxBundle  = 256 << 30 // bytes of all files, unpacked
	freeRatio  = 64 << 20  // what unpacks to more, is limited by spool.MaxExpansion
	maxHeaders = 64 << 20  // bytes of the ZIP directory
)

// A bundle is a package of a dump: a ZIP file, or a tar archive, with a manifest (§11.1,
// §11.2). Nothing is unpacked to files of its own, so no name in it leads anywhere.
type bundle struct {
	// by path, without the leading slash; nil for a path that occurs twice
	files     map[string]member
	temporary []*spool.File // that have the bytes
}

// A member is a file of a package. Its fault is why it can't be unpacked.
type member interface {
	Open() (io.ReadCloser, error)
	fault() error
}

// A zipMember is a file of a ZIP package.
type zipMember struct{ *zip.File }

func (m zipMember) fault() error {
	const encrypted = 1 // a flag
	switch {
	case m.Flags&encrypted != 0:
		return errors.New("it is encrypted")
	case m.Method != zip.Store && m.Method != zip.Deflate:
		return fmt.Errorf("the method %d; it must be stored or deflated: %w", m.Method, zip.ErrAlgorithm)
	}
	return nil
}

// add adds a file, unless a manifest can't name it.
func (b *bundle) add(path string, m member) {
	name, err := cleanPath(path)
	if err != nil {
		return
	}
	if _, twice := b.files[name]; twice {
		m = nil
	}
	b.files[name] = m
}

// Close removes what was unpacked.
func (b *bundle) Close() (err error) {
	if b != nil {
		for _, file := range b.temporary {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}

// openBundle reads the directory of a package. The error says what a package of another
// format seems to be.
func openBundle(src io.ReaderAt, size int64) (*bundle, error) { return openLayer(src, size, 2) }

// openLayer is openBundle for a package that was compressed up to so many times.
func openLayer(src io.ReaderAt, size int64, layers int) (*bundle, error) {
	if b, ok, err := openCompressed(src, size, layers); ok || err != nil {
		return b, err
	}
	if isTar(src, size) {
		return openTar(src, size)
	}
	return openZip(src, size)
}

func openZip(src io.ReaderAt, size int64) (*bundle, error) {
	bounded := &boundedReaderAt{src: src, left: maxHeaders}
	z, err := zip.NewReader(bounded, size)
	switch {
	case bounded.left < 0:
		return nil, fmt.Errorf("a directory of more than %d bytes: %w", int64(maxHeaders), websync.ErrLimit)
	case errors.Is(err, zip.ErrFormat):
		return nil, fmt.Errorf("%w: %s", websync.ErrNotDocument, formatOf(src))
	case err != nil:
		return nil, err
	case len(z.File) > maxFiles:
		return nil, fmt.Errorf("%d files; at most %d are read: %w", len(z.File), maxFiles, websync.ErrLimit)
	}
	bounded.open = true
	b := &bundle{files: make(map[string]member, len(z.File))}
	var total uint64
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		total += f.UncompressedSize64
		if f.UncompressedSize64 > maxFile || total > maxBundle {
			return nil, fmt.Errorf("it unpacks to more than %d bytes: %w", uint64(maxBundle), websync.ErrLimit)
		}
		b.add(f.Name, zipMember{f})
	}
	if isBomb(int64(total), size) {
		return nil, fmt.Errorf("%d bytes that unpack to %d, more than %d times as many: %w",
			size, total, spool.MaxExpansion, websync.ErrLimit)
	}
	return b, nil
}

// A boundedReaderAt fails after a number of bytes, until it is open.
type boundedReaderAt struct {
	src  io.ReaderAt
	left int64
	open bool
}

func (r *boundedReaderAt) ReadAt(b []byte, at int64) (int, error) {
	if !r.open {
		if r.left -= int64(len(b)); r.left < 0 {
			return 0, websync.ErrLimit
		}
	}
	return r.src.ReadAt(b, at)
}

// formatOf returns what a file that is not a ZIP package seems to be.
func formatOf(src io.ReaderAt) string {
	head := make([]byte, 512)
	n, _ := src.ReadAt(head, 0)
	head = head[:n]
	for _, f := range []struct {
		magic, name string
		at          int
	}{
		{"PK", "a ZIP package that is damaged or cut short", 0},
		{"\x1f\x8b", "compressed with gzip", 0},
		{"\xfd7zXZ\x00", "compressed with xz", 0},
		{"BZh", "compressed with bzip2", 0},
		{"\x28\xb5\x2f\xfd", "compressed with zstd", 0},
		{"7z\xbc\xaf\x27\x1c", "a 7z archive", 0},
		{"ustar", "a tar archive that is damaged", 257},
		{"WARC/", "a WARC file", 0},
		{"<", "a page or an XML document", 0},
	} {
		if len(head) >= f.at && bytes.HasPrefix(head[f.at:], []byte(f.magic)) {
			return f.name + ", where a package in ZIP or tar must be"
		}
	}
	return "neither a ZIP package nor a tar archive"
}

// cleanPath returns a path of a manifest, or the name of a file in a package, without
// the slash before it. It refuses what leads out of a package.
func cleanPath(path string) (string, error) {
	name := strings.TrimPrefix(strings.TrimPrefix(path, "."), "/")
	switch {
	case name == "" || strings.HasSuffix(name, "/"):
		return "", fmt.Errorf("the path %.200q names no file", path)
	case strings.ContainsAny(name, "\\\x00"):
		return "", fmt.Errorf("the path %.200q has a backslash or a zero byte; its parts must be separated by slashes", path)
	case strings.HasPrefix(name, "/"), len(name) > 1 && name[1] == ':':
		return "", fmt.Errorf("the path %.200q must be relative to the package", path)
	case slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == ".." || part == "." || part == ""
	}):
		return "", fmt.Errorf(`the path %.200q must have no empty part, "." or ".."`, path)
	}
	return name, nil
}

// Open opens the file at a path of the manifest. Reading it ends in an error if the file
// is not what the directory of the package says.
func (b *bundle) Open(path string) (io.ReadCloser, error) {
	f, _, err := b.file(path)
	if err != nil {
		return nil, err
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%.200q: %w", path, err)
	}
	return r, nil
}

// Reopen opens the file at a path of the manifest, so that it can be read again and
// again.
func (b *bundle) Reopen(path string) (io.ReadSeekCloser, error) {
	r, err := b.Open(path)
	if err != nil {
		return nil, err
	}
	return &bundleFile{r, b, path}, nil
}

// A bundleFile is a file that can be read again.
type bundleFile struct {
	io.ReadCloser
	bundle *bundle
	path   string
}

var errSeek = errors.New("a file in a package can only be read from its beginning")

// Seek goes to the beginning; it can go nowhere else.
func (f *bundleFile) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekStart {
		return 0, errSeek
	}
	again, err := f.bundle.Open(f.path)
	if err != nil {
		return 0, err
	}
	err = f.Close()
	f.ReadCloser = again
	return 0, err
}

// file returns the file at a path of the manifest, if it can be unpacked, and the path as
// cleanPath returns it; empty if no file can have it.
func (b *bundle) file(path string) (f member, name string, err error) {
	if name, err = cleanPath(path); err != nil {
		return nil, "", err
	}
	f, ok := b.files[name]
	switch {
	case !ok:
		return nil, name, fmt.Errorf("the package has no file %.200q", path)
	case f == nil:
		return nil, name, fmt.Errorf("the package has %.200q more than once", path)
	}
	if err := f.fault(); err != nil {
		return nil, name, fmt.Errorf("%.200q: %w", path, err)
	}
	return f, name, nil
}

// Unlisted returns the first path, in the order of the alphabet, of the files for which
// listed does not have the path without the slash before it, and how many there are.
func (b *bundle) Unlisted(listed map[string]bool) (path string, n int) {
	for name := range b.files {
		if !listed[name] && name != manifestName {
			if n++; n == 1 || "/"+name < path {
				path = "/" + name
			}
		}
	}
	return path, n
}

// A seekReaderAt reads at any offset of what can seek. It may be used by many goroutines.
type seekReaderAt struct {
	mu  sync.Mutex
	src io.ReadSeeker
}

func (r *seekReaderAt) ReadAt(b []byte, at int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.src.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(r.src, b)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}
