package document

import (
	"fmt"
	"io"
)

const (
	// XMLHeading is the first line of a document.
	XMLHeading = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

	// FlushSize is how many bytes writers gather before they call Flush.
	FlushSize = 32 << 10
)

// Flush writes b to dst, and returns b without its bytes. An error begins with format,
// the name of the package that writes.
func Flush(format string, dst io.Writer, b []byte) ([]byte, error) {
	n, err := dst.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", format, err)
	}
	return b[:0], err
}
