package resourcesync

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/spool"
)

// A tarMember is a file of a tar archive.
type tarMember struct{ io.ReaderAt }

func (m tarMember) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(m, 0, maxFile)), nil
}

func (tarMember) fault() error { return nil }

// isTar reports whether a file begins as a tar archive does.
func isTar(src io.ReaderAt, size int64) bool {
	_, err := tar.NewReader(io.NewSectionReader(src, 0, size)).Next()
	return err == nil
}

// openTar reads the headers of a tar archive. Links, devices and sparse files are left out.
func openTar(src io.ReaderAt, size int64) (*bundle, error) {
	b := &bundle{files: make(map[string]member)}
	file := io.NewSectionReader(src, 0, size)
	headers, names := tar.NewReader(file), 0
	for entries := 1; ; entries++ {
		h, err := headers.Next()
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
		at, err := file.Seek(0, io.SeekCurrent) // where the bytes begin
		names += len(h.Name)
		switch {
		case err != nil:
			return nil, err
		case entries > maxFiles || names > maxHeaders || h.Size > maxFile:
			return nil, fmt.Errorf("%d files, one of %d bytes: %w", entries, h.Size, websync.ErrLimit)
		case h.Typeflag != tar.TypeReg || isSparse(h):
			continue
		case h.Size > size-at:
			return nil, fmt.Errorf("%.200q has %d bytes, and the archive %d more: %w",
				h.Name, h.Size, size-at, websync.ErrTruncated)
		}
		b.add(h.Name, tarMember{io.NewSectionReader(src, at, h.Size)})
	}
}

func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// compressions are those of a package, by how it begins.
var compressions = [...]struct {
	name, magic string
	decode      func(io.Reader) (io.Reader, error)
}{
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"xz", "\xfd7zXZ\x00", newXZReader},
}

// openCompressed opens a package that is compressed, perhaps once more by its server; ok
// is false if it is not. It unpacks to a temporary file.
func openCompressed(src io.ReaderAt, size int64, layers int) (b *bundle, ok bool, err error) {
	head := make([]byte, 6)
	if _, err := src.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, false, err
	}
	for _, c := range compressions {
		if !bytes.HasPrefix(head, []byte(c.magic)) || layers == 0 {
			continue
		}
		file := new(spool.File)
		r, err := c.decode(bufio.NewReader(io.NewSectionReader(src, 0, size)))
		if err == nil {
			_, err = file.Append(&expanding{r: r, size: size})
		}
		if err == nil {
			b, err = openLayer(file, file.Size(), layers-1)
		}
		if err != nil {
			file.Close()
			return nil, true, fmt.Errorf("compressed with %s: %w", c.name, err)
		}
		b.temporary = append(b.temporary, file)
		return b, true, nil
	}
	return nil, false, nil
}

// An expanding reads what bytes of a size unpack to, and fails if that is too much.
type expanding struct {
	r       io.Reader
	size, n int64
}

func (e *expanding) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if e.n += int64(n); e.n > maxBundle || isBomb(e.n, e.size) {
		return n, fmt.Errorf("%d bytes that unpack to more than %d: %w", e.size, e.n, websync.ErrLimit)
	}
	return n, err
}

// isBomb reports whether a number of bytes is too many for the compressed ones.
func isBomb(unpacked, size int64) bool {
	return unpacked > freeRatio && unpacked/spool.MaxExpansion > size
}
