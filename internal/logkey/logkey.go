// Package logkey makes numbers of the keys of a log, in their order, for Stores that keep
// these in a table of their own.
package logkey

import (
	"encoding/binary"
	"math"
)

// Letter is the first byte of a key of the log. A generation and a number follow.
const Letter = 'l'

// A row has the number generation<<SeqBits + seq.
const (
	SeqBits        = 40
	GenerationBits = 22 // so that there is a number greater than all
)

// Size is the length of a key of the log: its letter, generation and number.
const Size = 1 + 8 + 8

// From and To are the bounds of all keys of the log.
var From, To = []byte{Letter}, []byte{Letter + 1}

// Is reports whether a key begins with the letter.
func Is(key []byte) bool { return len(key) > 0 && key[0] == Letter }

// Row returns the row of a key of the log; ok is false for any other key.
func Row(key []byte) (n int64, ok bool) {
	if len(key) != Size || !Is(key) {
		return 0, false
	}
	generation, seq := binary.BigEndian.Uint64(key[1:]), binary.BigEndian.Uint64(key[9:])
	return int64(generation<<SeqBits | seq), generation>>GenerationBits == 0 && seq>>SeqBits == 0
}

// Bound returns the least row whose key is not before bound, which is between From and To.
func Bound(bound []byte) int64 {
	if !Is(bound) { // To
		return math.MaxInt64
	}
	var full [Size]byte
	longer := copy(full[:], bound) < len(bound)
	generation, seq := binary.BigEndian.Uint64(full[1:]), binary.BigEndian.Uint64(full[9:])
	if generation>>GenerationBits != 0 {
		return math.MaxInt64
	}
	n := int64(generation<<SeqBits + min(seq, 1<<SeqBits-1))
	if longer || seq>>SeqBits != 0 {
		n++
	}
	return n
}

// Append appends the key of a row of the log.
func Append(dst []byte, n int64) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, Letter), uint64(n)>>SeqBits)
	return binary.BigEndian.AppendUint64(dst, uint64(n)&(1<<SeqBits-1))
}
