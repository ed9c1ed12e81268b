package syntax

import (
	"encoding/binary"
	"slices"
)

// digestSizes are the lengths in bytes of a digest, by the algorithms that the link
// extensions name (Atom Link Extensions 09 §3.2).
var digestSizes = [...]struct {
	name string
	size int
}{{"md5", 16}, {"sha-256", 32}, {"sha-1", 20}, {"sha-512", 64}, {"sha-384", 48}, {"sha-224", 28}, {"md2", 16}}

// DigestSize returns the length of an algorithm's digest in bytes, or 0 if the link
// extensions do not name it.
func DigestSize[T Text](algorithm T) int {
	for _, known := range digestSizes {
		if EqualFold(algorithm, known.name) {
			return known.size
		}
	}
	return 0
}

// DigestFault checks one algorithm:digest of a hash (Atom Link Extensions 09 §3.2).
func DigestFault[T Text](s T) string {
	colon := tokenEnd(s, 0)
	if colon == 0 || colon == len(s) || s[colon] != ':' {
		return "not an algorithm, a colon and a digest"
	}
	digits := s[colon+1:]
	for i := range len(digits) {
		if !IsHex(digits[i]) {
			return "a digest that is not in hex"
		}
	}
	if size := DigestSize(s[:colon]); len(digits) == 0 || size > 0 && len(digits) != 2*size {
		return "a digest that does not have its algorithm's length"
	}
	return ""
}

// AppendDigest appends the bytes of a digest of a common algorithm, which is written in
// hex. If sum has another form, or the algorithm another name, the algorithm is "" and
// dst unchanged.
func AppendDigest(dst, name, sum []byte) (_ []byte, algorithm string) {
	size := 0
	for i := range digestSizes {
		if known := &digestSizes[i]; string(name) == known.name {
			algorithm, size = known.name, known.size
			break
		}
	}
	if size == 0 || len(sum) != 2*size {
		return dst, ""
	}
	from := len(dst)
	dst = slices.Grow(dst, size)[:from+size]
	if !decodeHex(dst[from:], sum) {
		return dst[:from], ""
	}
	return dst, algorithm
}

// decodeHex is hex.Decode for sums, whose length is a multiple of four bytes: it decodes
// eight digits at a time, because digits are most of a list with digests. The text is
// twice as long as dst.
func decodeHex(dst, text []byte) (ok bool) {
	const (
		ones = 0x0101010101010101 // times a byte, that byte in each of eight
		high = 0x80 * ones
	)
	for len(dst) >= 4 {
		c := binary.LittleEndian.Uint64(text)
		if c&high != 0 {
			return false
		}
		// The high bit of c+0x80-limit says that a byte is at least the limit.
		small := c | 0x20*ones
		digit := (c + (0x80-'0')*ones) &^ (c + (0x80-'9'-1)*ones) & high
		letter := (small + (0x80-'a')*ones) &^ (small + (0x80-'f'-1)*ones) & high
		if digit|letter != high {
			return false
		}
		v := c&(0x0f*ones) + letter>>7*9
		v = (v<<4 | v>>8) & 0x00ff00ff00ff00ff
		v = (v | v>>8) & 0x0000ffff0000ffff
		binary.LittleEndian.PutUint32(dst, uint32(v|v>>16))
		dst, text = dst[4:], text[8:]
	}
	return true
}
