package xmlscan

// Interned returns how many names r remembers, and the bytes of these and of the namespaces.
func Interned(r *Reader) (names, bytes int) { return len(r.byRaw), r.size }

// Reachable returns how many names hang on the root's.
func Reachable(r *Reader) int {
	seen := make(map[*qname]bool)
	for q := r.stack[0].name; q != nil && !seen[q]; q = q.next {
		seen[q] = true
	}
	return len(seen)
}
