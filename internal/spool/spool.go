// Package spool reads streams to their end and holds them in memory or in a temporary
// file. It also has what files need of the system: locks, and names and bytes on disk.
package spool

import (
	"bytes"
	"io"
)

// Memory is the default limit of the bytes of a Spool in memory. A longer stream goes to
// a temporary file.
const Memory = 1 << 20

// A Spool holds a stream that was read to its end, in memory or, if it is long, in a
// temporary file. It can be read many times. Close removes the file; it may be called
// more than once.
type Spool struct {
	io.ReadSeeker
	size int64
	file File
}

// Read reads r to its end. A stream of more than memory bytes goes to a temporary file.
// If memory is zero, it is [Memory]; if negative, every stream stays in memory. If r
// fails, Read returns its error and leaves no file.
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

func toFile(head *bytes.Buffer, rest io.Reader) (*Spool, error) {
	s := new(Spool)
	span, err := s.file.Append(io.MultiReader(head, rest))
	if err != nil {
		s.file.Close()
		return nil, err
	}
	s.ReadSeeker, s.size = s.file.Section(span), span.Size
	return s, nil
}

// Size returns the number of bytes that s holds.
func (s *Spool) Size() int64 { return s.size }

// Close releases the memory or the file.
func (s *Spool) Close() error {
	s.ReadSeeker = bytes.NewReader(nil)
	return s.file.Close()
}
