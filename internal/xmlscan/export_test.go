package xmlscan

// Interned returns how many names r holds, and the bytes of these and of the namespaces.
func Interned(r *Reader) (names, bytes int) { return len(r.byRaw), r.size }

// Moved reads r to the end. It returns how many bytes were moved within the buffer, and
// scanned again, or copied to a larger one.
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

// Held returns how many bytes r holds of its document.
func Held(r *Reader) int { return cap(r.buf) + cap(r.joined) + cap(r.scrap) + cap(r.values) }

// Clean returns the length of the characters in b, as text or as an attribute value in
// such quotes, that need no special treatment.
func Clean(b []byte, quote byte) int { return stopsOf(quote).clean(b) }

// CleanText is Clean for text in which line feeds and tabs stand for themselves.
func CleanText(b []byte) int { return cleanText(b) }

func stopsOf(quote byte) stops {
	if quote == 0 {
		return textStops
	}
	return valueStops(quote)
}
