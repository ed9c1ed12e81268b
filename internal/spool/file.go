package spool

import (
	"errors"
	"io"
	"os"
)

// A File is a temporary file. The first write creates it. Its name is removed at once
// where the system allows that, so the file does not outlive the process. The zero File
// is empty.
type File struct {
	// Dir is the directory of the file. If empty, it is [os.TempDir].
	Dir string

	file *os.File
	size int64
}

// A Span is a range of bytes in a File.
type Span struct{ At, Size int64 }

// Append reads r to its end and appends what it read. If that fails, f is unchanged.
func (f *File) Append(r io.Reader) (Span, error) {
	file, err := f.open()
	if err != nil {
		return Span{}, err
	}
	n, err := io.Copy(io.NewOffsetWriter(file, f.size), r)
	if err != nil {
		return Span{}, err
	}
	s := Span{f.size, n}
	f.size += n
	return s, nil
}

// Write appends b.
func (f *File) Write(b []byte) (int, error) { return f.WriteAt(b, f.size) }

// WriteAt implements [io.WriterAt].
func (f *File) WriteAt(b []byte, at int64) (int, error) {
	file, err := f.open()
	if err != nil {
		return 0, err
	}
	n, err := file.WriteAt(b, at)
	f.size = max(f.size, at+int64(n))
	return n, err
}

// ReadAt implements [io.ReaderAt].
func (f *File) ReadAt(b []byte, at int64) (int, error) {
	if f.file == nil {
		return 0, io.EOF
	}
	return f.file.ReadAt(b, at)
}

// Section returns a reader of s, which is valid until Close.
func (f *File) Section(s Span) *io.SectionReader {
	return io.NewSectionReader(f, s.At, s.Size)
}

// Size returns the number of bytes that f holds.
func (f *File) Size() int64 { return f.size }

// Close removes the file. f is empty afterwards and can be used again.
func (f *File) Close() error {
	file := f.file
	*f = File{Dir: f.Dir}
	if file == nil {
		return nil
	}
	err := file.Close()
	if rm := os.Remove(file.Name()); rm != nil && !errors.Is(rm, os.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	return err
}

func (f *File) open() (_ *os.File, err error) {
	if f.file == nil {
		if f.file, err = os.CreateTemp(f.Dir, "websync-"); err != nil {
			return nil, err
		}
		os.Remove(f.file.Name()) // where the system allows that
	}
	return f.file, nil
}
