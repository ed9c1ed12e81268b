package xmlscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// What a byte can be.
const (
	nameStart = 1 << iota // it can start a name; every byte of a non-ASCII character counts as such until the name is interned
	nameByte              // it can stand in a name
	spaceByte             // white space
	plainByte             // it is ASCII and no control character, '&' or '<'
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
		if ' ' <= c && c < utf8.RuneSelf && c != '&' && c != '<' {
			t[c] |= plainByte
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

// The scanners below look at eight bytes at a time: in x-low, x^(c*low)-low and so on the top bit of a byte is set if the byte is
// below a value or equals one. A borrow can set further bits, but only above a byte that is rightly found, and the lowest counts.
const (
	low  = 0x0101010101010101
	high = 0x8080808080808080
)

// plainText returns the length of the prefix of b without control characters, '&', '<', '>' and bytes outside ASCII.
func plainText(b []byte) int {
	rest := b
	for len(rest) >= 16 {
		x := binary.LittleEndian.Uint64(rest)
		y := binary.LittleEndian.Uint64(rest[8:])
		m := ((x - 0x20*low) | ((x | 2*low) ^ '>'*low - low) | (x ^ '&'*low - low) | x) & high
		n := ((y - 0x20*low) | ((y | 2*low) ^ '>'*low - low) | (y ^ '&'*low - low) | y) & high
		if m|n != 0 {
			if m != 0 {
				return len(b) - len(rest) + bits.TrailingZeros64(m)>>3
			}
			return len(b) - len(rest) + 8 + bits.TrailingZeros64(n)>>3
		}
		rest = rest[16:]
	}
	switch {
	case len(b) < 8:
		return plainShort(b, '>')
	case len(rest) > 8:
		x := binary.LittleEndian.Uint64(rest)
		if m := ((x - 0x20*low) | ((x | 2*low) ^ '>'*low - low) | (x ^ '&'*low - low) | x) & high; m != 0 {
			return len(b) - len(rest) + bits.TrailingZeros64(m)>>3
		}
	}
	x := binary.LittleEndian.Uint64(b[len(b)-8:]) // some of it for the second time
	m := ((x - 0x20*low) | ((x | 2*low) ^ '>'*low - low) | (x ^ '&'*low - low) | x) & high
	return len(b) - 8 + bits.TrailingZeros64(m)>>3
}

// plainValue returns the length of the prefix of b without control characters, '&', '<', quote and bytes outside ASCII.
func plainValue(b []byte, quote byte) int {
	q := uint64(quote) * low
	rest := b
	for len(rest) >= 16 {
		x := binary.LittleEndian.Uint64(rest)
		y := binary.LittleEndian.Uint64(rest[8:])
		m := ((x - 0x20*low) | (x ^ q - low) | (x ^ '<'*low - low) | (x ^ '&'*low - low) | x) & high
		n := ((y - 0x20*low) | (y ^ q - low) | (y ^ '<'*low - low) | (y ^ '&'*low - low) | y) & high
		if m|n != 0 {
			if m != 0 {
				return len(b) - len(rest) + bits.TrailingZeros64(m)>>3
			}
			return len(b) - len(rest) + 8 + bits.TrailingZeros64(n)>>3
		}
		rest = rest[16:]
	}
	switch {
	case len(b) < 8:
		return plainShort(b, quote)
	case len(rest) > 8:
		x := binary.LittleEndian.Uint64(rest)
		if m := ((x - 0x20*low) | (x ^ q - low) | (x ^ '<'*low - low) | (x ^ '&'*low - low) | x) & high; m != 0 {
			return len(b) - len(rest) + bits.TrailingZeros64(m)>>3
		}
	}
	x := binary.LittleEndian.Uint64(b[len(b)-8:]) // some of it for the second time
	m := ((x - 0x20*low) | (x ^ q - low) | (x ^ '<'*low - low) | (x ^ '&'*low - low) | x) & high
	return len(b) - 8 + bits.TrailingZeros64(m)>>3
}

// plainShort returns the length of the prefix of b without control characters, '&', '<', other and bytes outside ASCII.
func plainShort(b []byte, other byte) int {
	for i, c := range b {
		if class[c]&plainByte == 0 || c == other {
			return i
		}
	}
	return len(b)
}

// plainUTF8 returns the length of the prefix of b without control characters, '&', '<' and other; bytes outside ASCII are not looked at.
func plainUTF8(b []byte, other byte) int {
	o := uint64(other) * low
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i : i+8])
		m := ((x - 0x20*low) | (x ^ o - low) | (x ^ '<'*low - low) | (x ^ '&'*low - low)) &^ x
		if m &= high; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c == '&' || c == '<' || c == other {
			break
		}
	}
	return i
}

// validUTF8 tells whether b is UTF-8 without U+FFFE and U+FFFF, which XML forbids.
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

// cleanText tells whether text with bytes outside ASCII needs no decoding. text has no '<'.
func cleanText(text []byte) bool {
	for i := 0; ; i++ {
		i += plainUTF8(text[i:], '>')
		if i == len(text) {
			return validUTF8(text)
		}
		switch c := text[i]; {
		case c == '\n', c == '\t':
		case c == '>' && !bytes.HasSuffix(text[:i], []byte("]]")):
		default:
			return false
		}
	}
}

// cleanValue tells whether an attribute value with bytes outside ASCII needs no decoding.
func cleanValue(v []byte) bool {
	for i := 0; ; i++ {
		i += plainUTF8(v[i:], '>')
		if i == len(v) {
			return validUTF8(v)
		}
		if v[i] != '>' {
			return false
		}
	}
}
