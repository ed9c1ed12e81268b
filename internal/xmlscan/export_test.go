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

// Moved reads r to the end. It returns how many bytes each call of more left to be moved and scanned again, and those copied to a larger buffer.
func Moved(r *Reader) (n int, err error) {
	for {
		if r.token() != 0 {
			continue
		}
		if r.err == nil {
			size := len(r.buf)
			n += r.end - r.pos
			if r.more(); len(r.buf) > size {
				n += size
			}
		}
		if r.err != nil {
			return n, r.err
		}
	}
}

// The scanners that look at several bytes at a time.
var (
	ValidUTF8  = validUTF8
	PlainText  = plainText
	PlainValue = plainValue
	PlainUTF8  = plainUTF8
)
