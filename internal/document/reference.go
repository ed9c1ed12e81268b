package document

import "bytes"

// Scheme returns the length of the scheme that an absolute URI starts with; 0 if ref is
// not absolute (RFC 3986 §3.1).
func Scheme[T string | []byte](ref T) int {
	for i := range len(ref) {
		switch c := ref[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return i
		default:
			return 0
		}
	}
	return 0
}

// AppendResolved appends ref, resolved against base, to dst (RFC 3986 §5.2). It looks at
// nothing but the structure: IRIs, and what no URI can have, come through byte for byte.
// What is absolute stays as it is, and so does ref if base is not absolute.
func AppendResolved(dst []byte, base string, ref []byte) []byte {
	n := Scheme(base)
	if n == 0 || Scheme(ref) > 0 {
		return append(dst, ref...)
	}
	rest := base[n+1:]
	authority := 0 // its length, slashes included
	if len(rest) >= 2 && rest[:2] == "//" {
		authority = 2 + cut(rest[2:], "/?#")
	}
	root := n + 1 + authority
	path := root + cut(base[root:], "?#")
	switch {
	case len(ref) == 0 || ref[0] == '#':
		dst = append(dst, base[:root+cut(base[root:], "#")]...)
		return append(dst, ref...)
	case ref[0] == '?':
		dst = append(dst, base[:path]...)
		return append(dst, ref...)
	case bytes.HasPrefix(ref, []byte("//")):
		dst = append(dst, base[:n+1]...)
		root = 2 + cut(ref[2:], "/?#")
		dst = append(dst, ref[:root]...)
		return appendClean(dst, len(dst), ref[root:])
	}
	dst = append(dst, base[:root]...)
	from := len(dst)
	switch {
	case ref[0] == '/':
	case path > root:
		dst = append(dst, base[root:root+1+lastSlash(base[root:path])]...)
	case authority > 0:
		dst = append(dst, '/')
	}
	return appendClean(dst, from, ref)
}

// appendClean appends ref, whose path goes on with dst[from:], and removes the segments
// "." and ".." (RFC 3986 §5.2.4).
func appendClean(dst []byte, from int, ref []byte) []byte {
	path := cut(ref, "?#")
	dst = append(dst, ref[:path]...)
	if from < len(dst) && dst[from] == '/' {
		dst = removeDots(dst, from)
	}
	return append(dst, ref[path:]...)
}

// removeDots cleans the path dst[from:], which starts with a slash, in its place.
func removeDots(dst []byte, from int) []byte {
	out := from
	for i := from; i < len(dst); {
		end := i + 1
		for end < len(dst) && dst[end] != '/' {
			end++
		}
		switch segment := dst[i+1 : end]; {
		case len(segment) == 2 && segment[0] == '.' && segment[1] == '.':
			out = from + max(0, lastSlash(dst[from:out]))
			fallthrough
		case len(segment) == 1 && segment[0] == '.':
			if end == len(dst) {
				dst[out] = '/'
				out++
			}
		default:
			out += copy(dst[out:], dst[i:end])
		}
		i = end
	}
	return dst[:out]
}

// cut returns how far s goes before the first byte of chars.
func cut[T string | []byte](s T, chars string) int {
	for i := range len(s) {
		for j := range len(chars) {
			if s[i] == chars[j] {
				return i
			}
		}
	}
	return len(s)
}

// lastSlash returns where the last slash of s is, or -1.
func lastSlash[T string | []byte](s T) int {
	i := len(s) - 1
	for i >= 0 && s[i] != '/' {
		i--
	}
	return i
}
