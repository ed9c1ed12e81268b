package resourcesync

import (
	"archive/zip"
	"bufio"
	"cmp"
	"compress/flate"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/syntax"
)

// A zipper writes a ZIP file. All its entries are deflated, those that are compressed
// already without compression.
type zipper struct {
	*zip.Writer
	packed, plain *flate.Writer
	spool         spool.File    // the deflated bytes of the entry that is added
	buf           *bufio.Writer // to spool
}

// newZipper returns a zipper with its temporary file in dir.
func newZipper(w io.Writer, dir string) (*zipper, error) {
	z := &zipper{Writer: zip.NewWriter(w), spool: spool.File{Dir: dir}, buf: bufio.NewWriterSize(nil, 64<<10)}
	var errs [2]error
	z.packed, errs[0] = flate.NewWriter(nil, 5)
	z.plain, errs[1] = flate.NewWriter(nil, flate.NoCompression)
	return z, errors.Join(errs[:]...)
}

const (
	zipVersion   = 20 // with Deflate
	zip64Version = 45
	zipMax       = 1<<32 - 1 // bytes, from which on lengths have 64 bits
	lengthsAfter = 1 << 3    // flag: lengths and checksum stand after the bytes
)

// add adds a file, deflated by f. Readers of a stream, and some others, need the lengths
// and the checksum before the bytes, so these are spooled. Above 4 GiB, where lengths
// have 64 bits, they stand after the bytes.
func (z *zipper) add(name string, modified time.Time, f *flate.Writer, r io.Reader) error {
	to, sum := io.NewOffsetWriter(&z.spool, 0), crc32.NewIEEE()
	z.buf.Reset(to)
	f.Reset(z.buf)
	length, err := io.Copy(io.MultiWriter(f, sum), r)
	if err = cmp.Or(err, f.Close()); err == nil {
		err = z.buf.Flush()
	}
	if err != nil {
		return err
	}
	packed, _ := to.Seek(0, io.SeekCurrent)
	h := &zip.FileHeader{
		Name: name, Method: zip.Deflate, CreatorVersion: zipVersion, ReaderVersion: zipVersion,
		CRC32: sum.Sum32(), CompressedSize64: uint64(packed), UncompressedSize64: uint64(length),
	}
	if max(packed, length) >= zipMax {
		h.Flags, h.ReaderVersion = lengthsAfter, zip64Version
	}
	if modified.Before(zipEpoch) {
		modified = zipEpoch
	}
	//lint:ignore SA1019 CreateRaw does not use FileHeader.Modified
	h.SetModTime(modified)
	w, err := z.CreateRaw(h)
	if err == nil {
		_, err = io.Copy(w, z.spool.Section(spool.Span{Size: packed}))
	}
	return err
}

// zipEpoch is the first time that a ZIP file can state.
var zipEpoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// isCompressed reports whether bytes of a media type are compressed already.
func isCompressed(mediaType string) bool {
	t := strings.ToLower(syntax.Essence(mediaType))
	family, _, _ := strings.Cut(t, "/")
	switch family {
	case "image":
		return !strings.HasSuffix(t, "+xml") &&
			!slices.Contains([]string{"image/bmp", "image/tiff", "image/x-portable-pixmap"}, t)
	case "audio":
		return t != "audio/wav" && t != "audio/x-wav" && t != "audio/vnd.wave"
	case "video":
		return true
	}
	if strings.HasSuffix(t, "+zip") || strings.HasSuffix(t, "+gzip") || strings.HasSuffix(t, "+zstd") {
		return true
	}
	for _, begin := range compressedTypes {
		if strings.HasPrefix(t, begin) {
			return true
		}
	}
	return false
}

// compressedTypes are how media types begin whose bytes are compressed already.
var compressedTypes = []string{
	"application/pdf", "application/zip", "application/x-zip", "application/gzip", "application/x-gzip",
	"application/zstd", "application/x-bzip", "application/x-xz", "application/x-7z", "application/vnd.rar",
	"application/x-rar", "application/java-archive", "application/x-compress",
	"application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument.", "application/ogg",
	"application/mp4", "font/woff",
}
