package xmlscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// What a byte can be.
const (
	// it can start a name; every byte of a non-ASCII character counts as such until the
	// name is interned
	nameStart = 1 << iota
	nameByte  // it can stand in a name
	spaceByte // white space
)

var class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_', c == ':', c >= utf8.RuneSelf:
			t[c] = nameStart | nameByte
		case '0' <= c && c <= '9', c == '-', c == '.':
			t[c] = nameByte
		case c == ' ', c == '\t', c == '\n', c == '\r':
			t[c] = spaceByte
		}
	}
	return t
}()

func isSpace(c byte) bool { return class[c]&spaceByte != 0 }

// nameLen returns how many bytes of b can be of a name.
func nameLen(b []byte) int {
	for i, c := range b {
		if class[c]&nameByte == 0 {
			return i
		}
	}
	return len(b)
}

// indentation returns how many of the first eight bytes of b are spaces.
func indentation(b []byte) int {
	return bits.TrailingZeros64(binary.LittleEndian.Uint64(b)^' '*low) >> 3
}

// The scanners below work on eight bytes at a time: in x-low, x^(c*low)-low and so on the
// top bit of a byte is set if the byte is below a value or equals one. A borrow can set
// further bits, but only above a byte that is rightly found, and the lowest counts. Two
// characters that differ in one bit are looked for at once.
const (
	low  = 0x0101010101010101
	high = 0x8080808080808080
)

// Stops are three characters that end a scan: pair, the same without bit, and single.
// Control characters and bytes outside ASCII do too.
type stops struct{ bit, pair, single uint64 }

var (
	textStops   = stops{('<' ^ '>') * low, '>' * low, '&' * low}
	doubleStops = stops{('"' ^ '&') * low, '&' * low, '<' * low}
	singleStops = stops{('\'' ^ '&') * low, '\'' * low, '<' * low}
)

// valueStops returns what ends the plain part of an attribute value between such quotes.
func valueStops(quote byte) stops {
	if quote == '"' {
		return doubleStops
	}
	return singleStops
}

// in returns the top bits of the bytes of x that are stops, control characters or outside
// ASCII.
func (s stops) in(x uint64) uint64 { return (s.ascii(x) | x) & high }

// ascii is in for ASCII; the top bits of other bytes, and all lower bits, mean nothing.
func (s stops) ascii(x uint64) uint64 {
	return (x - 0x20*low) | ((x | s.bit) ^ s.pair - low) | (x ^ s.single - low)
}

// plain returns the length of the prefix of b without stops.
func (s stops) plain(b []byte) int {
	i := 0
	for ; i+16 <= len(b); i += 16 {
		m := s.in(binary.LittleEndian.Uint64(b[i : i+8]))
		n := s.in(binary.LittleEndian.Uint64(b[i+8 : i+16]))
		if m|n != 0 {
			if m != 0 {
				return i + bits.TrailingZeros64(m)>>3
			}
			return i + 8 + bits.TrailingZeros64(n)>>3
		}
	}
	if i+8 <= len(b) {
		if m := s.in(binary.LittleEndian.Uint64(b[i : i+8])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	if i == len(b) {
		return i
	}
	return i + bits.TrailingZeros64(s.in(lastWord(b, i)))>>3
}

// appendPlain appends to dst the prefix of b without stops, whose length is n.
func (s stops) appendPlain(dst, b []byte) (to []byte, n int) {
	from := len(dst)
	if cap(dst)-from < len(b)+8 {
		dst = slices.Grow(dst, len(b)+8)
	}
	free := dst[from:cap(dst)]
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i : i+8])
		binary.LittleEndian.PutUint64(free[i:i+8], x)
		if m := s.in(x); m != 0 {
			i += bits.TrailingZeros64(m) >> 3
			return dst[:from+i], i
		}
	}
	if i < len(b) {
		x := lastWord(b, i)
		binary.LittleEndian.PutUint64(free[i:i+8], x)
		i += bits.TrailingZeros64(s.in(x)) >> 3
	}
	return dst[:from+i], i
}

// plainUTF8 is plain that does not look at bytes outside ASCII.
func (s stops) plainUTF8(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i : i+8])
		if m := s.ascii(x) &^ x & high; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	if i == len(b) {
		return i
	}
	x := lastWord(b, i)
	return i + bits.TrailingZeros64(s.ascii(x)&^x&high)>>3
}

// lastWord returns the bytes of b from i on, fewer than eight, as a word. The rest is
// zero, a control character.
func lastWord(b []byte, i int) uint64 {
	n := len(b)
	switch {
	case n >= 8:
		return binary.LittleEndian.Uint64(b[n-8:]) >> (((i + 8 - n) * 8) & 63)
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<((n*8-32)&63)
	}
	return uint64(b[0]) | uint64(b[n/2])<<((n/2*8)&63) | uint64(b[n-1])<<((n*8-8)&63)
}

// validUTF8 reports whether b is UTF-8 without U+FFFE and U+FFFF, which XML forbids.
func validUTF8(b []byte) bool {
	for i := 0; i < len(b); {
		if i+8 <= len(b) {
			n := bits.TrailingZeros64(binary.LittleEndian.Uint64(b[i:i+8])&high) >> 3
			if i += n; n == 8 {
				continue
			}
		}
		switch c := b[i]; {
		case c < utf8.RuneSelf:
			i++
		case 0xC2 <= c && c <= 0xDF && i+1 < len(b) && b[i+1]&0xC0 == 0x80:
			i += 2
		default:
			c, n := utf8.DecodeRune(b[i:])
			if c == utf8.RuneError && n == 1 || c == 0xFFFE || c == 0xFFFF {
				return false
			}
			i += n
		}
	}
	return true
}

// isClean reports whether a text or an attribute value with bytes outside ASCII needs no
// decoding. b has no '<'.
func isClean(b []byte, where where) bool {
	for i := 0; ; i++ {
		i += textStops.plainUTF8(b[i:])
		if i == len(b) {
			return validUTF8(b)
		}
		switch c := b[i]; {
		case c == '\n' && where == inText, c == '\t' && where == inText:
		case c == '>' && (where == inValue || !bytes.HasSuffix(b[:i], []byte("]]"))):
		default:
			return false
		}
	}
}
