package publish

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// An export keeps what it needs in this directory.
const private = ".websync"

const indexFile = "index.html"

// fileName returns the name of the file of a path, below the directory of the export and with slashes. Different paths
// have different names, but for "/a/" and "/a/index.html", and "/%41" and "/%2541".
//
// Escapes are decoded where a URL must have them and a file need not: a server finds the file by the decoded name. Other
// spellings of a path are other paths, so they are kept as they are.
func fileName(path string) (string, error) {
	segments, ok := strings.CutPrefix(path, "/")
	if !ok || !isEscaped(path) {
		return "", fmt.Errorf("%q is not an escaped path", path)
	}
	var names []string
	for segment := range strings.SplitSeq(segments, "/") {
		names = append(names, decodeSegment(segment))
	}
	if last := len(names) - 1; names[last] == "" {
		names[last] = indexFile
	}
	for _, name := range names {
		if !isFileName(name) {
			return "", fmt.Errorf("%q has no file name", path)
		}
	}
	name := strings.Join(names, "/")
	if names[0] == private || !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("%q has no file name", path)
	}
	return name, nil
}

// decodeSegment decodes a segment that is escaped as it must be. Any other it returns as it is.
func decodeSegment(segment string) string {
	if strings.IndexByte(segment, '%') < 0 {
		return segment
	}
	b := make([]byte, 0, len(segment))
	for i := 0; i < len(segment); i++ {
		c := segment[i]
		if c == '%' {
			if i+2 >= len(segment) {
				return segment
			}
			high, low := unhex(segment[i+1]), unhex(segment[i+2])
			if c = high<<4 | low&15; high > 15 || low > 15 || standsForItself(c) {
				return segment
			}
			i += 2
		}
		b = append(b, c)
	}
	if name := string(b); isFileName(name) {
		return name
	}
	return segment
}

// isEscaped reports whether a path holds nothing that a URL must have escaped.
func isEscaped(path string) bool {
	for i := range len(path) {
		if c := path[i]; !standsForItself(c) && c != '/' && c != '%' {
			return false
		}
	}
	return true
}

// standsForItself reports whether c stands for itself in a segment (RFC 3986 §3.3).
func standsForItself(c byte) bool {
	return isAlphanumeric(c) || strings.IndexByte("-._~!$&'()*+,;=:@", c) >= 0
}

// unhex returns the value of an upper-case hexadecimal digit, or 255.
func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

// isFileName reports whether name can be the name of one file on any system that has such names.
func isFileName(name string) bool {
	if name == "" || name == "." || name == ".." || !utf8.ValidString(name) {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '/' || r == '\\' })
}
