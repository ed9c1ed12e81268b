package syntax

// AppendResolved appends ref, resolved against base, to dst (RFC 3986 §5.2). It uses the
// structure only, and copies all characters byte for byte, also those that no URI may
// have. It does not change an absolute ref, or any ref if base is not absolute.
func AppendResolved(dst []byte, base string, ref []byte) []byte {
	n := Scheme(base)
	if n == 0 || Scheme(ref) > 0 {
		return append(dst, ref...)
	}
	authority := authorityEnd(base[n+1:])
	root := n + 1 + authority
	path := root + IndexAny(base[root:], "?#")
	switch {
	case len(ref) == 0 || ref[0] == '#':
		dst = append(dst, base[:root+IndexAny(base[root:], "#")]...)
		return append(dst, ref...)
	case ref[0] == '?':
		dst = append(dst, base[:path]...)
		return append(dst, ref...)
	case authorityEnd(ref) > 0:
		dst = append(dst, base[:n+1]...)
		root = authorityEnd(ref)
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

// appendClean appends ref, whose path continues the path dst[from:], and removes the
// segments "." and ".." (RFC 3986 §5.2.4).
func appendClean(dst []byte, from int, ref []byte) []byte {
	path := IndexAny(ref, "?#")
	dst = append(dst, ref[:path]...)
	if from < len(dst) && dst[from] == '/' {
		dst = removeDots(dst, from)
	}
	return append(dst, ref[path:]...)
}

// removeDots cleans the path dst[from:], which begins with a slash, in place.
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

// lastSlash returns the position of the last slash of s, or -1 if there is none.
func lastSlash[T Text](s T) int {
	i := len(s) - 1
	for i >= 0 && s[i] != '/' {
		i--
	}
	return i
}
