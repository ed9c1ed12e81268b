package xmlscan

import (
	"errors"
	"fmt"
	"io"
)

// The reasons inside a [SyntaxError] that callers distinguish with errors.Is, and
// ErrStopped.
var (
	// ErrEmpty means that the input has no bytes, or only white space.
	ErrEmpty = errors.New("empty input")

	// ErrNotXML means that the first character which is not white space is not '<'.
	ErrNotXML = errors.New("not XML")

	// ErrTruncated means that the input ended inside the document. It unwraps to
	// io.ErrUnexpectedEOF.
	ErrTruncated = fmt.Errorf("input ended inside the document: %w", io.ErrUnexpectedEOF)

	// ErrLimit means that one of the Reader's limits was passed.
	ErrLimit = errors.New("limit passed")

	// ErrStopped means that Reader.Stop returned true. It does not end reading, and is
	// not in a SyntaxError.
	ErrStopped = errors.New("stopped at an element")

	// ErrEntity means that the DOCTYPE declares an entity, which is refused whatever its
	// kind, unless Reader.Entities is set.
	ErrEntity = errors.New("entity declarations are refused")

	// ErrAttribute means that an element has an attribute twice.
	ErrAttribute = errors.New("attribute twice")

	// ErrEncoding means that the declared character encoding is not known, or not
	// supported.
	ErrEncoding = errors.New("unsupported encoding")
)

// A SyntaxError is a fault of the input that ended reading, and its position.
type SyntaxError struct {
	Line   int    // 1-based; a line ends with a line feed
	Column int    // 1-based, in bytes of the document in UTF-8
	Msg    string // what was found, without the position
	Err    error  // one of the package's sentinels, or nil
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("xml: line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

func (e *SyntaxError) Unwrap() error { return e.Err }
