package xmlscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/websync-go/websync/internal/syntax"
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

// word returns the eight bytes of b from i on. To give both ends saves the compiler from
// computing the rest of b.
func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }

// nameLen returns how many bytes of b can be of a name.
func nameLen(b []byte) int {
	for i, c := range b {
		if class[c]&nameByte == 0 {
			return i
		}
	}
	return len(b)
}

// indentation returns how many of the bytes of x are spaces, up to the first other one.
func indentation(x uint64) int { return bits.TrailingZeros64(x^' '*low) >> 3 }

// The scanners below work on eight bytes at a time: in x-low, x^(c*low)-low and so on the
// top bit of a byte is set if the byte is below a value or equals one. A borrow can set
// further bits, but only above a byte that is rightly found, and the lowest counts. Two
// characters that differ in one bit are looked for at once.
const (
	low  = 0x0101010101010101
	high = 0x8080808080808080
)

// nameStops returns the top bits of the bytes of x that can follow a name in a tag.
// Others below '-' and around '=' are among them; no name has one.
func nameStops(x uint64) uint64 {
	return ((x - '-'*low) | (x ^ '/'*low - low) | (x ^ '<'*low - 4*low)) &^ x & high
}

// Stops are three characters that end a scan: pair, the same without bit, and single.
// Control characters and bytes outside ASCII do too.
type stops struct{ bit, pair, single uint64 }

var (
	textStops   = stops{('<' ^ '>') * low, '>' * low, '&' * low}
	doubleStops = stops{('"' ^ '&') * low, '&' * low, '<' * low}
	singleStops = stops{('\'' ^ '&') * low, '\'' * low, '<' * low}
)

// valueStops returns what ends the clean part of an attribute value between such quotes.
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

// clean returns the length of the prefix of b that is characters of XML in UTF-8 and has
// no stops and control characters.
func (s stops) clean(b []byte) int {
	i := s.plain(b)
	if i < len(b) && b[i] >= utf8.RuneSelf {
		i += s.foreign(b[i:])
	}
	return i
}

// plain is like clean but ends at a character outside ASCII, too.
func (s stops) plain(b []byte) int {
	i := 0
	for ; i <= len(b)-8; i += 8 {
		if m := s.in(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	if i == len(b) {
		return i
	}
	return i + bits.TrailingZeros64(s.in(lastWord(b, i)))>>3
}

// cleanText is like clean, in text: line feeds and tabs are clean, too.
func cleanText(b []byte) int {
	i := textStops.clean(b)
	for i < len(b) && (b[i] == '\n' || b[i] == '\t') {
		i += blank(b[i:])
		i += textStops.clean(b[i:])
	}
	return i
}

// blank returns the length of the prefix of b that is spaces, tabs and line feeds.
func blank(b []byte) int {
	for i := 0; i < len(b); i += 8 {
		var x uint64
		if i <= len(b)-8 {
			x = binary.LittleEndian.Uint64(b[i:])
		} else {
			x = lastWord(b, i)
		}
		space, tab, line := x^' '*low, x^'\t'*low, x^'\n'*low
		const rest = ^uint64(high)
		others := (space&rest + rest | space) & (tab&rest + rest | tab) & (line&rest + rest | line) & high
		if others != 0 {
			return i + bits.TrailingZeros64(others)>>3
		}
	}
	return len(b)
}

// foreign is clean for text that starts with a character outside ASCII.
func (s stops) foreign(b []byte) int {
	for i := 0; ; {
		var x uint64
		if i <= len(b)-8 {
			x = binary.LittleEndian.Uint64(b[i:])
		} else {
			x = wordAt(b, i)
		}
		end := s.ascii(x) &^ x & high
		lead := x & (x << 1) & high
		if end|lead&(x<<2) == 0 { // no stop, and no character of three bytes
			wrong := x&high&^(x<<1) ^ lead<<8          // the bytes that follow a lead
			wrong |= lead &^ (x&(0x1E*low) + 0x7E*low) // C0 and C1
			if wrong == 0 {
				i += 8 - int(lead>>63)
				continue
			}
		} else if isPair(x) {
			for i += 6; i <= len(b)-8 && isPair(binary.LittleEndian.Uint64(b[i:])); i += 6 {
			}
			continue
		} else if n, ok := upToThree(x, end); ok {
			if i += n; end == 0 {
				continue
			}
			return i
		}
		// characters of four bytes, and what is wrong
		i += s.plain(b[i:])
		n := foreignChar(b[i:])
		if n == 0 {
			return i
		}
		i += n
	}
}

// upToThree returns how many of the eight bytes of x are whole characters of XML of up
// to three bytes, before the lowest bit of end, if that is not zero. It returns false if
// one is not.
func upToThree(x, end uint64) (n int, ok bool) {
	if end != 0 {
		x &= (end&-end)>>7 - 1 // zero is ASCII, too
	}
	bit6, bit5, bit4 := x<<1, x<<2, x<<3 // as the top bits
	leads := x & bit6 & high
	three := leads & bit5
	wrong := three & bit4                               // leads of four bytes
	wrong |= x&high&^bit6 ^ (leads<<8 | three<<16)      // the bytes that follow a lead
	wrong |= leads &^ bit5 &^ (x&(0x1E*low) + 0x7E*low) // C0 and C1
	digit := x & (0x0F * low)
	is0, isD, isF := ^(digit + 0x7F*low), ^(digit ^ 0x0D*low + 0x7F*low), digit+0x71*low
	wrong |= (three & is0) << 8 &^ bit5                     // that is too long
	wrong |= (three & isD) << 8 & bit5                      // surrogates
	wrong |= (three & isF) << 8 & (x&(0x3F*low) + 0x41*low) // U+FFFE and U+FFFF are among those
	if end != 0 {
		return bits.TrailingZeros64(end) >> 3, wrong == 0
	}
	return 8 - int(leads>>63) - 2*int(three>>55&1), wrong == 0
}

// isPair reports whether x starts with two characters of three bytes, as most of Chinese
// and Japanese do, that XML allows. It leaves out those that start with E0, ED or EF BF.
func isPair(x uint64) bool {
	const firsts = 1 | 1<<24
	if x&(0xC0C0F0*firsts) != 0x8080E0*firsts {
		return false
	}
	digit := x & (0x0F * firsts)
	other := digit + 0x7F*firsts               // not E0
	other &= digit ^ 0x0D*firsts + 0x7F*firsts // nor ED
	last := (digit + 0x71*firsts) & (x>>8&(0x3F*firsts) + 0x41*firsts)
	return other&^last&(0x80*firsts) == 0x80*firsts
}

// foreignChar returns the length of the character that b starts with; 0 if it is in
// ASCII, or none of XML.
func foreignChar(b []byte) int {
	if c, n := utf8.DecodeRune(b); n > 1 && syntax.IsXMLCharacter(c) {
		return n
	}
	return 0
}

// wordAt returns the eight bytes of b from i on. Behind b is zero, a control character.
func wordAt(b []byte, i int) uint64 {
	switch {
	case i <= len(b)-8:
		return binary.LittleEndian.Uint64(b[i:])
	case i == len(b):
		return 0
	}
	return lastWord(b, i)
}

// lastWord returns the bytes of b from i on, fewer than eight, as a word. The rest is
// zero, a control character.
func lastWord(b []byte, i int) uint64 {
	n := len(b)
	var x uint64
	switch {
	case n >= 8:
		return binary.LittleEndian.Uint64(b[n-8:]) >> (((i + 8 - n) * 8) & 63)
	case n >= 4:
		x = uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<((n*8-32)&63)
	default:
		x = uint64(b[0]) | uint64(b[n/2])<<((n/2*8)&63) | uint64(b[n-1])<<((n*8-8)&63)
	}
	return x >> ((i * 8) & 63)
}
