// Package spool reads streams to their end and holds them in memory or in a temporary
// file.
package spool

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// Memory is how many bytes of a Spool stay in memory by default. A longer stream goes to a
// temporary file.
const Memory = 1 << 20

// A Spool holds a stream that was read to its end, in memory or, if it is long, in a
// temporary file. It can be read many times. Close removes the file; it may be called
// more than once.
type Spool struct {
	io.ReadSeeker
	size int64
	file *os.File
}

// Read reads r to its end. A stream of more than memory bytes goes to a temporary file. If
// memory is zero, it is [Memory]; if negative, every stream stays in memory. If r fails,
// Read returns its error and leaves no file.
func Read(r io.Reader, memory int64) (*Spool, error) {
	if memory == 0 {
		memory = Memory
	}
	var head bytes.Buffer
	limited := r
	if memory > 0 {
		limited = io.LimitReader(r, memory)
	}
	if _, err := head.ReadFrom(limited); err != nil {
		return nil, err
	}
	if memory < 0 || int64(head.Len()) < memory {
		return &Spool{ReadSeeker: bytes.NewReader(head.Bytes()), size: int64(head.Len())}, nil
	}
	return toFile(&head, r)
}

func toFile(head *bytes.Buffer, rest io.Reader) (_ *Spool, err error) {
	f, err := os.CreateTemp("", "websync-spool-")
	if err != nil {
		return nil, err
	}
	s := &Spool{ReadSeeker: f, file: f}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	os.Remove(f.Name()) // where the system allows it, the file goes with the process
	if s.size, err = io.Copy(f, io.MultiReader(head, rest)); err != nil {
		return nil, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return s, err
}

// Size returns the number of bytes that s holds.
func (s *Spool) Size() int64 { return s.size }

// Close releases the memory or the file.
func (s *Spool) Close() error {
	if s.file == nil {
		s.ReadSeeker = bytes.NewReader(nil)
		return nil
	}
	f := s.file
	s.file = nil
	s.ReadSeeker = bytes.NewReader(nil)
	err := f.Close()
	if rm := os.Remove(f.Name()); rm != nil && !errors.Is(rm, os.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	return err
}
