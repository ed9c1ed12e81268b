package harvest

import (
	"encoding/binary"
	"math/bits"
)

// sipHash returns SipHash-2-4 of s (Aumasson and Bernstein, 2012): without the key nobody
// can make strings that collide.
func sipHash(key *printKey, s string) uint64 {
	k0, k1 := binary.LittleEndian.Uint64(key[:]), binary.LittleEndian.Uint64(key[8:])
	a, b, c, d := k0^0x736f6d6570736575, k1^0x646f72616e646f6d, k0^0x6c7967656e657261, k1^0x7465646279746573
	last := uint64(len(s)) << 56
	for ; len(s) >= 8; s = s[8:] {
		word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		d ^= word
		a, b, c, d = sipRound(a, b, c, d)
		a, b, c, d = sipRound(a, b, c, d)
		a ^= word
	}
	for i := range len(s) {
		last |= uint64(s[i]) << (8 * i)
	}
	d ^= last
	a, b, c, d = sipRound(a, b, c, d)
	a, b, c, d = sipRound(a, b, c, d)
	a ^= last
	c ^= 0xff
	for range 4 {
		a, b, c, d = sipRound(a, b, c, d)
	}
	return a ^ b ^ c ^ d
}

func sipRound(a, b, c, d uint64) (uint64, uint64, uint64, uint64) {
	a += b
	c += d
	b = bits.RotateLeft64(b, 13) ^ a
	d = bits.RotateLeft64(d, 16) ^ c
	a = bits.RotateLeft64(a, 32) + d
	c += b
	d = bits.RotateLeft64(d, 21) ^ a
	b = bits.RotateLeft64(b, 17) ^ c
	return a, b, bits.RotateLeft64(c, 32), d
}
