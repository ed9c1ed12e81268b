package sqlitestore

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// block is the size of the blocks that file systems give back.
const block = 4096

// The modes of fallocate that make a hole in a file, which keeps its size.
const punchHole = 0x02 | 0x01

// erase replaces bytes with zeros and gives back their blocks. A block at either end goes
// with them if the rest of it is zeros.
func erase(f *os.File, from, to int64) error {
	first, last := from-from%block, to+(block-to%block)%block
	if !isZero(f, first, from) {
		first = from
	}
	if !isZero(f, to, last) {
		last = to
	}
	err := syscall.Fallocate(int(f.Fd()), punchHole, first, last-first)
	if errors.Is(err, errors.ErrUnsupported) {
		err = overwrite(f, from, to)
	}
	return err
}

// isZero reports whether a part of a block is zeros, as far as the file goes.
func isZero(f *os.File, from, to int64) bool {
	var room [block]byte
	n, err := f.ReadAt(room[:to-from], from)
	for _, b := range room[:n] {
		if b != 0 {
			return false
		}
	}
	return err == nil || err == io.EOF
}
