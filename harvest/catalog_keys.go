package harvest

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/codec"
	"github.com/websync-go/websync/internal/logkey"
)

// The layout. A key is a letter and what follows; numbers are big-endian so that their
// order is that of the bytes. Uvarints are used in values only. n is the number of a
// source (4 bytes), id an id in the form of idSpace, gen a generation, sum a sha-256 (32
// bytes), blob the name of a blob.
// The first byte of the values of head, source, claim and body is the layout's version.
//
//	h            head: see type head
//	g gen        greatest number of an older generation of the log; absent if dropped
//	s name       source: number, live records, all records, the id like which others are
//	             written, greatest id of its records
//	n n          length of that id (1 byte), that id, name of the source
//	p n          checkpoint: uvarint version, data
//	r n id       record: uvarint gen, uvarint seq, uvarint Prior, see type record; its
//	             item is in the entry with this number, unless a Touch has changed it
//	             since
//	b block      the records with the Borns block*32 to block*32+31, 34 bytes each: n,
//	             the numbers in even and in odd generations (5 bytes each), flags (1
//	             byte), and the recordPrint, 0 for a tombstone: ID (8 bytes), State (7
//	             bytes) and Document (4 bytes); see type reference
//	l gen seq    entry of the log: n, uvarint Born, uvarint Prior, varint time, item
//	             without these, Seq and Source
//	k            compaction in progress: see type compaction
//	t n id       task: uvarint gen of its Base, uvarint Base, 0, task without Base and
//	             Source
//	q n due id   1, for a task that may fall due; due in microseconds
//	B sum        body: see type body
//	D n          the bytes of a body that is no blob; those of one commit are adjacent
//	F blob       uvarint number of bodies in a blob: 1, or more in a pack
//	X blob       1, for a blob to be removed: no body may name it any more
//	X blob 0 at size
//	             1, for a body that is to be erased from a pack
//	P blob       a blob in chunks: see type blob
//	C blob chunk a chunk of it
//	Z time sum   1, for a body that no record has named since then
//	c name       claim: see type claim
//	u name       what a source holds: see type usage; absent until that is counted
//	S key        value of State
//
// The number of a record is that in its block. The record repeats it, which saves a look
// at the block as long as its gen is the newest. Compact writes the numbers in the next
// generation beside those in use, so that the switch is small. After it, tasks have
// numbers of the generation before until all of them are rewritten.
const (
	headKey       = 'h'
	generationKey = 'g'
	sourceKey     = 's'
	nameKey       = 'n'
	checkpointKey = 'p'
	recordKey     = 'r'
	bornKey       = 'b'
	logKey        = logkey.Letter
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
	usageKey      = 'u'
)

// LogKey is the first byte of the keys of the log, and of no others: 17 bytes, with a
// generation, which rises with every Compact, and a number, which rises by one
// with every entry. A Store may keep these apart, in the order in which they are written.
const LogKey = logKey

// BlobKey is the first byte of the keys that name the [Blobs] in use, and of no others: a
// Store that is Blobs can so find out that they are missing.
const BlobKey = takenKey

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

// An idSpace has the ids of a source: most begin alike. A key and an entry of the log
// have the rest of an id only.
type idSpace struct {
	n    uint32 // source
	like string // the first id that the source had, maxLike bytes of it at most
}

const maxLike = 120

// beginsLike is the first byte of an id that begins with all of like. Of one that is less
// it is the number of bytes that both share, of one that is greater the complement of
// that: so the forms of ids have the order of the ids.
const beginsLike = 0x7f

// id appends the form of an id to k.
func (s *idSpace) id(k key, id string) key {
	shared := codec.Shared(s.like, id)
	switch {
	case shared == len(s.like):
		k = append(k, beginsLike)
	case shared == len(id) || id[shared] < s.like[shared]:
		k = append(k, byte(shared))
	default:
		k = append(k, ^byte(shared))
	}
	return append(k, id[shared:]...)
}

// parts returns the bytes with which the id of a form begins, and the rest of it.
func (s *idSpace) parts(form []byte) (shared string, rest []byte) {
	if len(form) == 0 {
		return "", nil
	}
	n := len(s.like)
	if form[0] != beginsLike {
		n = min(n, int(min(form[0], ^form[0])))
	}
	return s.like[:n], form[1:]
}

// idOf returns the id of a form.
func (s *idSpace) idOf(form []byte) string {
	shared, rest := s.parts(form)
	return shared + string(rest)
}

// key returns the key of the record or the task of an id.
func (s *idSpace) key(kind byte, id string) key { return s.id(newKey(kind).source(s.n), id) }

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

// isMoved reports whether the key is one that an export has, and as long as those of its
// kind.
func (k key) isMoved() bool {
	switch n := len(k); k[0] {
	case compactionKey:
		return n == 1
	case nameKey, checkpointKey:
		return n == 1+4
	case generationKey, bornKey, dataKey:
		return n == 1+8
	case logKey:
		return n == logkey.Size
	case bodyKey:
		return n == 1+32
	case unusedKey:
		return n == 1+8+32
	case recordKey, taskKey:
		return n > 1+4
	case dueKey:
		return n > 1+4+8
	case sourceKey, usageKey, stateKey, takenKey, deadKey:
		return n <= 5000
	}
	return false
}
