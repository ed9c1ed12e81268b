package kvstore

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/websync-go/websync"
)

// The layout. A key is a letter and what follows; numbers are big-endian so that their
// order is that of the bytes. Uvarints are used in values only. n is the number of a
// source (4 bytes), gen a generation, sum a sha-256 (32 bytes), blob the name of a blob.
// The first byte of the values of head, source, claim and body is the layout's version.
//
//	h            head: see type head
//	g gen        greatest number of an older generation of the log; absent if dropped
//	s name       source: number, live records, greatest id of its records
//	n n          name of the source
//	p n          checkpoint: uvarint version, data
//	r n id       record: uvarint gen, uvarint seq, uvarint Prior, see type record; its
//	             item is in the entry l gen seq, unless a Touch has changed it since
//	b block      the live records with the Borns block*64 to block*64+63: for each n, and
//	             in 8 bytes seq<<2, plus 2 if a Touch has changed the item since, plus
//	             the lowest bit of gen; 12 bytes of 0 where there is none, and nothing
//	             after the last
//	l gen seq    entry of the log: n, item without Seq and Source
//	m gen seq    while records are rewritten: the number in generation gen of the entry
//	             that has the number seq in gen-1
//	k            compaction in progress: see type compaction
//	t n id       task: uvarint gen of its Base, uvarint Base, 0, task without Base and
//	             Source
//	q n due id   1, for a task that may fall due; due in microseconds
//	B sum        body: see type body
//	D n          the bytes of a body that is no blob; those of one commit are adjacent
//	F blob       1, for a blob that a body names
//	X blob       1, for a blob to be removed: no body may name it any more
//	P blob       a blob in chunks: see type blob
//	C blob chunk a chunk of it
//	Z time sum   1, for a body that no record has named since then
//	c name       claim: see type claim
//	S key        value of State
//
// A record's number is that of the generation written beside it. When the log has been
// compacted, numbers of the generation before are looked up under m until all records are
// rewritten. This keeps the switch to the new generation small.
const (
	headKey       = 'h'
	generationKey = 'g'
	sourceKey     = 's'
	nameKey       = 'n'
	checkpointKey = 'p'
	recordKey     = 'r'
	bornKey       = 'b'
	logKey        = 'l'
	renumberKey   = 'm'
	compactionKey = 'k'
	taskKey       = 't'
	dueKey        = 'q'
	bodyKey       = 'B'
	dataKey       = 'D'
	takenKey      = 'F'
	deadKey       = 'X'
	blobKey       = 'P'
	chunkKey      = 'C'
	unusedKey     = 'Z'
	claimKey      = 'c'
	stateKey      = 'S'
)

// LogKey is the first byte of the keys of the log, and of no others: 17 bytes, with a
// generation, which rises by one with every Compact, and a number, which rises by one
// with every entry. A DB may keep these apart, in the order in which they are written.
const LogKey = logKey

// A key is built by appending parts.
type key []byte

// newKey allocates room for what most keys need.
func newKey(kind byte) key { return append(make(key, 0, 128), kind) }

func (k key) source(n uint32) key { return binary.BigEndian.AppendUint32(k, n) }
func (k key) number(n uint64) key { return binary.BigEndian.AppendUint64(k, n) }
func (k key) entry(generation uint64, n websync.Seq) key {
	return k.number(generation).number(uint64(n))
}
func (k key) text(s string) key    { return append(k, s...) }
func (k key) bytes(b []byte) key   { return append(k, b...) }
func (k key) time(t time.Time) key { return k.number(uint64(t.UnixMicro()) ^ 1<<63) }
func (k key) after() key           { return append(k, 0) }
func (k key) of(kind byte) key     { return append(k[:0], kind) }

// end returns the first key after all that begin with k.
func (k key) end() key {
	end := bytes.Clone(k)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil // no key begins with 0xff
}
