package harvest

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// SpoolMemory is how many bytes of a Spool stay in memory by default; what is longer goes
// to a temporary file.
const SpoolMemory = 1 << 20

// A Spool holds a stream that was read to its end, in memory or, when it is long, in a
// temporary file. It can be read many times. Close removes the file; it may be called
// again.
type Spool struct {
	io.ReadSeeker
	size int64
	file *os.File
}

// ReadSpool reads r to its end. More than memory bytes go to a temporary file; 0 means
// SpoolMemory, negative means that everything stays in memory. If r fails, so does
// ReadSpool, and nothing is left behind.
func ReadSpool(r io.Reader, memory int64) (*Spool, error) {
	if memory == 0 {
		memory = SpoolMemory
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
	return spoolToFile(&head, r)
}

func spoolToFile(head *bytes.Buffer, rest io.Reader) (_ *Spool, err error) {
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

// Size returns the number of bytes held.
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
