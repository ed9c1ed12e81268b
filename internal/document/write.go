package document

import (
	"fmt"
	"io"
	"slices"
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

// AppendHex appends the bytes of sum in hex.
func AppendHex(b []byte, sum string) []byte {
	const digits = "0123456789abcdef"
	from := len(b)
	b = slices.Grow(b, 2*len(sum))[:from+2*len(sum)]
	to := b[from:]
	for i := range len(sum) {
		to[2*i], to[2*i+1] = digits[sum[i]>>4], digits[sum[i]&15]
	}
	return b
}
