package sqlitestore

import (
	"encoding/binary"
	"math"

	"github.com/websync-go/websync/harvest"
)

// A row of the log's table has the number generation<<seqBits + seq.
const (
	seqBits        = 40
	generationBits = 22 // so that there is a number greater than all
)

// All keys of the log are between these two.
var logFrom, logTo = []byte{harvest.LogKey}, []byte{harvest.LogKey + 1}

// logKeySize is the length of a key of the log: its letter, generation and number.
const logKeySize = 1 + 8 + 8

func isLog(key []byte) bool { return len(key) > 0 && key[0] == harvest.LogKey }

// logRow returns the row of a key of the log; ok is false for any other key.
func logRow(key []byte) (n int64, ok bool) {
	if len(key) != logKeySize || !isLog(key) {
		return 0, false
	}
	generation, seq := binary.BigEndian.Uint64(key[1:]), binary.BigEndian.Uint64(key[9:])
	return int64(generation<<seqBits | seq), generation>>generationBits == 0 && seq>>seqBits == 0
}

// logBound returns the least row whose key is not before bound, which is between logFrom
// and logTo.
func logBound(bound []byte) int64 {
	if !isLog(bound) { // logTo
		return math.MaxInt64
	}
	var full [logKeySize]byte
	longer := copy(full[:], bound) < len(bound)
	generation, seq := binary.BigEndian.Uint64(full[1:]), binary.BigEndian.Uint64(full[9:])
	if generation>>generationBits != 0 {
		return math.MaxInt64
	}
	n := int64(generation<<seqBits + min(seq, 1<<seqBits-1))
	if longer || seq>>seqBits != 0 {
		n++
	}
	return n
}

// logKey returns the key of a row of the log, which is valid until the transaction ends.
func (c *conn) logKey(n int64) []byte {
	key := append(c.room(logKeySize), harvest.LogKey)
	key = binary.BigEndian.AppendUint64(key, uint64(n)>>seqBits)
	return binary.BigEndian.AppendUint64(key, uint64(n)&(1<<seqBits-1))
}
