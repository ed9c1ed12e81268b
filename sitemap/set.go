package sitemap

import (
	"errors"
	"fmt"
	"io"

	"github.com/websync-go/websync"
)

// A SetWriter writes any number of entries into as many documents as they need: each as
// full as the protocol allows, in the order of the entries. WriteIndex then writes the
// index that lists them.
//
// Set the fields before the first call. A SetWriter is not safe for concurrent use.
type SetWriter struct {
	WriterOptions // of each part; Gzip also of the index

	create func(part int) (io.WriteCloser, error)
	w      Writer
	head   Head           // of each part
	file   io.WriteCloser // of the open part
	parts  []Part
	err    error // sticks
	closed bool
}

// A Part is one document of a set.
type Part struct {
	Number  int // from 1
	Entries int
	Bytes   int64            // uncompressed
	LastMod websync.Datetime // the greatest of its entries
}

// NewSetWriter returns a SetWriter that writes each part to what create returns. It calls
// create with the number of the part, from 1, and closes the part when it is full.
func NewSetWriter(create func(part int) (io.WriteCloser, error)) *SetWriter {
	return &SetWriter{create: create}
}

// WriteHead sets the head of each part, as Writer.WriteHead does. It must be called before
// the first entry. Kind must be zero or URLSet.
func (s *SetWriter) WriteHead(h *Head) error {
	switch {
	case s.err != nil:
		return s.err
	case s.closed || s.w.begun:
		return errHead
	case h.Kind > URLSet:
		return fmt.Errorf("sitemap: Head.Kind %v of a SetWriter must be URLSet", h.Kind)
	}
	s.head = *h
	s.setUp()
	s.err = s.w.WriteHead(h)
	return s.err
}

// Write writes one entry, as [Writer] does. For an entry that no valid document can hold,
// or that is too long for an empty one, it returns an error, and the SetWriter can go on.
// Errors of create, and of the writers that it returns, stick.
func (s *SetWriter) Write(e *Entry) error {
	if s.err == nil && s.closed {
		s.err = errClosed
	}
	if s.err == nil && s.file == nil {
		s.setUp()
	}
	if s.err != nil {
		return s.err
	}
	if err := s.w.encode(e); err != nil {
		return err
	}
	if s.file != nil && !s.w.fits() {
		if s.alone() {
			return errFull
		}
		s.closePart()
	}
	if s.file == nil && s.err == nil {
		if s.err = s.open(); s.err == nil && !s.w.fits() {
			return errFull
		}
	}
	if s.err == nil {
		s.err = s.w.put()
	}
	return s.err
}

// alone reports whether the current entry is too long even for an empty document.
func (s *SetWriter) alone() bool {
	return s.w.begun && s.w.empty+int64(len(s.w.entry)+len(s.w.footer())) > s.w.maxBytes()
}

func (s *SetWriter) setUp() {
	s.w.WriterOptions = s.WriterOptions
	s.w.check.use(s.Extensions) // the first entry is encoded before a part is open
}

// open begins the next part.
func (s *SetWriter) open() error {
	file, err := s.create(len(s.parts) + 1)
	if err != nil {
		return fmt.Errorf("sitemap: part %d: %w", len(s.parts)+1, err)
	}
	s.file = file
	s.w.reset(file)
	return s.w.WriteHead(&s.head)
}

// closePart ends the open part.
func (s *SetWriter) closePart() {
	err := s.w.Close()
	if closeErr := s.file.Close(); closeErr != nil {
		err = errors.Join(err, fmt.Errorf("sitemap: part %d: %w", len(s.parts)+1, closeErr))
	}
	s.file = nil
	if s.err = errors.Join(s.err, err); s.err == nil {
		s.parts = append(s.parts, Part{len(s.parts) + 1, s.w.Entries(), s.w.Bytes(), s.w.LastMod()})
	}
}

// Close ends the last part. If there was no entry, it writes one part without entries.
// After an error it still closes the open part.
func (s *SetWriter) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if s.err == nil && s.file == nil && len(s.parts) == 0 {
		s.setUp()
		s.err = s.open()
	}
	if s.file != nil {
		s.closePart()
	}
	return s.err
}

// Parts returns the complete parts. After Close these are all parts.
func (s *SetWriter) Parts() []Part { return append([]Part(nil), s.parts...) }

// WriteIndex writes an index of the complete parts to dst, each with the greatest lastmod
// of its entries. url returns the URL of a part. If there are more than 50,000 parts, or
// the index becomes too long, the error matches [websync.ErrLimit].
//
// For an index with extension elements, use a [Writer] and Parts.
func (s *SetWriter) WriteIndex(dst io.Writer, url func(part int) string) error {
	w := NewWriter(dst)
	w.Gzip = s.Gzip
	if err := w.WriteHead(&Head{Kind: Index}); err != nil {
		return err
	}
	for _, p := range s.parts {
		if err := w.Write(&Entry{Loc: url(p.Number), LastMod: p.LastMod}); err != nil {
			return err
		}
	}
	return w.Close()
}
