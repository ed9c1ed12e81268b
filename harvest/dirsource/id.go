package dirsource

import (
	"net/url"
	"path/filepath"
	"strings"
)

// appendEscaped appends the name of a file or a directory as an element of a URL's path.
func appendEscaped(b []byte, name string) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(name) {
		if c := name[i]; isPlain(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return b
}

// isPlain reports whether c stands for itself in an element of a path (RFC 3986 §3.3,
// pchar).
func isPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~!$&'()*+,;=:@", c) >= 0
}

// path returns the path below Dir that an id stands for. Ok is false if no file has this
// id.
func (s *Source) path(id string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(id, s.Base)
	if !ok {
		return "", false
	}
	var elements []string
	for escaped := range strings.SplitSeq(rest, "/") {
		name, err := url.PathUnescape(escaped)
		if err != nil || !isName(name) || string(appendEscaped(nil, name)) != escaped {
			return "", false
		}
		elements = append(elements, name)
	}
	return strings.Join(elements, "/"), true
}

// isName reports whether a directory can hold something of this name.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00"+string(filepath.Separator))
}
