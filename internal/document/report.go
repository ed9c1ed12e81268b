package document

import (
	"cmp"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"iter"

	"github.com/websync-go/websync"
)

// Reports passes on what a reader finds in a document.
type Reports struct {
	Format   string // of errors: the package that reads it
	Document string // URL or file name

	// To receives each finding. If nil, they are dropped.
	To func(websync.Finding)

	// Strict makes the first finding that is a warning or an error Fatal.
	Strict bool

	// Lenient makes a finding that costs no entry at most a warning.
	Lenient bool

	// Skipped counts the entries that were skipped, or may have been.
	Skipped int

	// Fatal is the finding that ends reading, as a *websync.ParseError.
	Fatal error
}

// Add reports a finding that costs no entry.
func (r *Reports) Add(rule websync.Rule, line, column int, element string, value []byte, message string) {
	if r.Lenient {
		rule.Severity = min(rule.Severity, websync.SeverityWarning)
	}
	r.Loss(rule, line, column, element, value, message)
}

// At returns a function that reports findings of a profile on an element at a position.
func (r *Reports) At(line, column int, name string) websync.ReportFunc {
	return func(rule websync.Rule, element, value, message string) {
		r.Add(rule, line, column, cmp.Or(element, name), []byte(value), message)
	}
}

// Doubt reports damage that may hide an entry, and counts it as a skipped entry.
func (r *Reports) Doubt(rule websync.Rule, line, column int, element string, value []byte, message string) {
	r.Skipped++
	r.Loss(rule, line, column, element, value, message)
}

// Loss reports why an entry, or the rest of a document, cannot be read.
func (r *Reports) Loss(rule websync.Rule, line, column int, element string, value []byte, message string) {
	if r.Strict && rule.Severity > websync.SeverityInfo && r.Fatal == nil {
		r.Fatal = &websync.ParseError{
			Format: r.Format, Document: r.Document, Line: line, Column: column, Element: element,
			Err: errors.New(message),
		}
	}
	if r.To != nil {
		r.To(rule.Finding(r.Document, line, column, element, value, message))
	}
}

// Counting returns a function that counts findings by their severity, and passes them to
// another one, unless that is nil.
func Counting(c *websync.Counts, to func(websync.Finding)) func(websync.Finding) {
	return func(f websync.Finding) {
		switch f.Severity {
		case websync.SeverityError:
			c.Errors++
		case websync.SeverityWarning:
			c.Warnings++
		default:
			c.Infos++
		}
		if to != nil {
			to(f)
		}
	}
}

// A Source reads the bytes of a document, and records whether that failed.
type Source struct {
	Src io.Reader
	err error // of Src
}

// Read implements [io.Reader].
func (s *Source) Read(p []byte) (int, error) {
	n, err := s.Src.Read(p)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		s.err = err
	}
	return n, err
}

// Blame returns the ParseError that ended reading, and the rule that the document breaks:
// one of its arguments. Ok is false if the document is not the cause, for example if Src
// failed.
func (s *Source) Blame(
	err error, truncated, unreadable, malformed websync.Rule,
) (parse *websync.ParseError, rule websync.Rule, ok bool) {
	if s.err != nil || !errors.As(err, &parse) {
		return nil, rule, false
	}
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, websync.ErrTruncated):
		return parse, truncated, true
	case errors.Is(err, websync.ErrNotDocument), errors.Is(err, websync.ErrLimit), errors.Is(err, gzip.ErrHeader),
		errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return parse, unreadable, true
	}
	return parse, malformed, true
}

// All returns an iterator over what next returns, up to io.EOF or the first error.
func All[T any](next func() (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			v, err := next()
			if err == io.EOF || !yield(v, err) || err != nil {
				return
			}
		}
	}
}
