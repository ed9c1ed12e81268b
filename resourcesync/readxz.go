package resourcesync

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"slices"

	"github.com/ulikunitz/xz/lzma"

	"github.com/websync-go/websync"
)

// maxDictionary limits the memory that a block needs. That of xz -9 has 64 MiB.
const maxDictionary = 128 << 20

var errXZ = fmt.Errorf("not as the .xz file format has it: %w", websync.ErrNotDocument)

// An xzReader decodes the .xz file format 1.2. Package xz would allocate whatever a block
// asks for, so only its LZMA2 is used.
type xzReader struct {
	src   *bufio.Reader
	check func() hash.Hash // of the stream; nil: it has none
	n     int64            // bytes read of the current block, or index

	block io.Reader // nil between blocks
	sum   hash.Hash // of the block
}

// newXZReader reads the header of the first stream.
func newXZReader(src io.Reader) (io.Reader, error) {
	x := &xzReader{src: bufio.NewReader(src)}
	return x, x.stream()
}

// stream reads the header of a stream (§2.1.1).
func (x *xzReader) stream() error {
	h, err := x.next(12)
	if err != nil {
		return err
	}
	if string(h[:7]) != "\xfd7zXZ\x00\x00" || crc32.ChecksumIEEE(h[6:8]) != binary.LittleEndian.Uint32(h[8:]) {
		return errXZ
	}
	switch h[7] {
	case 0:
		x.check = nil
	case 1:
		x.check = func() hash.Hash { return crc32.NewIEEE() }
	case 4:
		x.check = func() hash.Hash { return crc64.New(crc64.MakeTable(crc64.ECMA)) }
	case 10:
		x.check = sha256.New
	default:
		return fmt.Errorf("the check %d is not known: %w", h[7], errXZ)
	}
	return nil
}

// next returns the next bytes of the block or index.
func (x *xzReader) next(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(counted{x}, b)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// A counted counts what is read of an xzReader's source.
type counted struct{ *xzReader }

func (c counted) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	c.n += int64(n)
	return n, err
}

func (c counted) ReadByte() (byte, error) {
	b, err := c.src.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// Read implements io.Reader.
func (x *xzReader) Read(p []byte) (int, error) {
	for {
		if x.block == nil {
			if err := x.begin(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := x.block.Read(p)
		if x.sum != nil {
			x.sum.Write(p[:n])
		}
		if err == io.EOF {
			err = x.end()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// begin reads the header of a block (§3.1) or, after the last one, goes on to the next
// stream. It returns io.EOF after the last stream.
func (x *xzReader) begin() error {
	x.n = 0
	size, err := x.next(1)
	switch {
	case err != nil:
		return err
	case size[0] == 0:
		return x.finish()
	}
	h, err := x.next(int(size[0])*4 + 3)
	if err != nil {
		return err
	}
	fields, sum := h[:len(h)-4], h[len(h)-4:]
	if crc32.Update(crc32.ChecksumIEEE(size), crc32.IEEETable, fields) != binary.LittleEndian.Uint32(sum) {
		return errXZ
	}
	flags, r := fields[0], bytes.NewReader(fields[1:])
	for bit := byte(0x40); bit != 0; bit <<= 1 { // the sizes, if they are stated
		if flags&bit != 0 {
			_, _ = binary.ReadUvarint(r)
		}
	}
	id, _ := binary.ReadUvarint(r)
	length, _ := binary.ReadUvarint(r)
	bits, err := r.ReadByte()
	if err != nil || flags&0x3f != 0 || id != 0x21 || length != 1 || bits > 40 {
		return fmt.Errorf("a filter other than LZMA2: %w", errXZ)
	}
	dictionary := int64(2|bits&1) << (bits/2 + 11)
	if dictionary > maxDictionary {
		return fmt.Errorf("a dictionary of %d bytes: %w of %d", dictionary, websync.ErrLimit, int64(maxDictionary))
	}
	if x.check != nil {
		x.sum = x.check()
	}
	x.block, err = lzma.Reader2Config{DictCap: int(dictionary)}.NewReader2(counted{x})
	return err
}

// end reads the padding of a block, and compares its check (§3.3, §3.4).
func (x *xzReader) end() error {
	x.block = nil
	if err := x.pad(); err != nil || x.sum == nil {
		return err
	}
	stated, err := x.next(x.sum.Size())
	if err != nil {
		return err
	}
	got := x.sum.Sum(nil)
	if len(got) <= 8 { // the CRCs are little-endian
		slices.Reverse(got)
	}
	if x.sum = nil; !bytes.Equal(stated, got) {
		return fmt.Errorf("a block has another check: %w", errXZ)
	}
	return nil
}

// pad reads up to a multiple of four bytes.
func (x *xzReader) pad() error {
	_, err := x.next(int(-x.n & 3))
	return err
}

// finish reads the index of a stream and its footer (§2.1.2, §4), and the header of the
// next stream.
func (x *xzReader) finish() error {
	records, err := binary.ReadUvarint(counted{x})
	for i := uint64(0); i < 2*records && err == nil; i++ {
		_, err = binary.ReadUvarint(counted{x})
	}
	if err == nil {
		err = x.pad()
	}
	if err == nil {
		_, err = x.next(4 + 12)
	}
	for err == nil { // between streams there may be zeros
		head, peeked := x.src.Peek(4)
		switch {
		case len(head) == 0:
			return peeked
		case string(head) != "\x00\x00\x00\x00":
			return x.stream()
		}
		_, err = x.src.Discard(4)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
