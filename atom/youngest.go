package atom

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"github.com/websync-go/websync"
)

// A youngest finds, in the documents of a walk that are shown to it from the newest to
// the oldest, the youngest state of each id. Of the ids it keeps 40 bits of hash and a
// place in a file, where the ids themselves are compared: at most 24 bytes an id stay in
// memory, and two ids with one hash are still two.
type youngest struct {
	scratch
	hash     func(id []byte) uint64
	tail     []byte // of the file, not yet written
	written  int64
	segments [256]segment
	old      [][]uint64 // by document: bits of the items that another state supersedes
}

// A segment holds the ids of one hash byte by open addressing.
type segment struct {
	count int
	tags  []uint32 // of the hash
	at    []uint64 // where in the file; 0: free
}

// A state is one item of a document as far as its age matters.
type state struct {
	document, item int
	time           websync.Datetime
	tombstone      bool
}

// supersedes reports whether s, of the same or an older document than held and further
// down in it, is the younger state nevertheless: by its time, or as the tombstone among
// states of one time in one document. Of two states of one time in two documents the one
// in the newer document is the younger.
func (s state) supersedes(held state) bool {
	if held.time.Before(s.time) {
		return true
	}
	return s.document == held.document && s.tombstone && !held.tombstone && !s.time.Before(held.time)
}

func newYoungest() *youngest {
	seed := maphash.MakeSeed()
	hash := func(id []byte) uint64 { return maphash.Bytes(seed, id) }
	return &youngest{hash: hash, tail: []byte{0}}
}

// len returns the number of ids.
func (y *youngest) len() (n int) {
	for i := range y.segments {
		n += y.segments[i].count
	}
	return n
}

// see takes the next item of a document.
func (y *youngest) see(id []byte, s state) error {
	hash := y.hash(id)
	seg, tag := &y.segments[hash>>56], uint32(hash)
	held, at, err := y.find(seg, tag, id)
	switch {
	case err != nil:
		return err
	case at == 0:
		if at, err = y.append(id, s); err == nil {
			seg.add(tag, at)
		}
		return err
	case s.supersedes(held):
		y.outdate(held)
		return y.rewrite(at, s)
	}
	y.outdate(s)
	return nil
}

// held returns the youngest state of an id as far as it has been seen; the zero state,
// which is no tombstone, if there is none.
func (y *youngest) held(id []byte) (state, error) {
	hash := y.hash(id)
	held, _, err := y.find(&y.segments[hash>>56], uint32(hash), id)
	return held, err
}

// isYoungest reports whether an item is the youngest state of its id, once all documents
// have been seen.
func (y *youngest) isYoungest(document, item int) bool {
	if document >= len(y.old) || item/64 >= len(y.old[document]) {
		return true
	}
	return y.old[document][item/64]&(1<<(item%64)) == 0
}

func (y *youngest) outdate(s state) {
	for len(y.old) <= s.document {
		y.old = append(y.old, nil)
	}
	bits := y.old[s.document]
	for len(bits) <= s.item/64 {
		bits = append(bits, 0)
	}
	bits[s.item/64] |= 1 << (s.item % 64)
	y.old[s.document] = bits
}

// find returns the state held of an id and where; at is 0 if there is none.
func (y *youngest) find(seg *segment, tag uint32, id []byte) (held state, at uint64, err error) {
	for i := range seg.probe(tag) {
		if seg.at[i] == 0 {
			break
		}
		if seg.tags[i] != tag {
			continue
		}
		held, same, err := y.read(seg.at[i], id)
		if err != nil || same {
			return held, seg.at[i], err
		}
	}
	return state{}, 0, nil
}

// probe yields the places where a tag can be, in order.
func (s *segment) probe(tag uint32) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		n := len(s.at)
		first := int(uint64(tag) * uint64(n) >> 32)
		for k := range n {
			if !yield((first + k) % n) {
				return
			}
		}
	}
}

func (s *segment) add(tag uint32, at uint64) {
	if s.count*6 >= len(s.at)*5 {
		s.grow()
	}
	for i := range s.probe(tag) {
		if s.at[i] == 0 {
			s.tags[i], s.at[i] = tag, at
			s.count++
			return
		}
	}
}

// grow makes room: from five sixths full to five ninths.
func (s *segment) grow() {
	old := *s
	n := max(16, len(old.at)*3/2)
	*s = segment{tags: make([]uint32, n), at: make([]uint64, n)}
	for i, at := range old.at {
		if at != 0 {
			s.add(old.tags[i], at)
		}
	}
}

// In the file each id has one record: document, item, the time's text with its length
// before it, a flag for tombstones, and the id with its length before it.
const (
	maxTimeText  = 39
	recordHeader = 4 + 4 + 1 + maxTimeText + 1 + 4
)

func (y *youngest) append(id []byte, s state) (at uint64, err error) {
	at = uint64(y.written) + uint64(len(y.tail))
	y.tail = appendState(y.tail, s)
	y.tail = binary.BigEndian.AppendUint32(y.tail, uint32(len(id)))
	y.tail = append(y.tail, id...)
	if len(y.tail) < 1<<16 {
		return at, nil
	}
	file, err := y.open("websync-atom-ids-")
	if err != nil {
		return 0, err
	}
	n, err := file.WriteAt(y.tail, y.written)
	y.written += int64(n)
	y.tail = y.tail[:0]
	return at, err
}

func appendState(b []byte, s state) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(s.document))
	b = binary.BigEndian.AppendUint32(b, uint32(s.item))
	var text [1 + maxTimeText]byte
	t, _ := s.time.AppendText(text[:1])
	text[0] = byte(len(t) - 1)
	b = append(b, text[:]...)
	if s.tombstone {
		return append(b, 1)
	}
	return append(b, 0)
}

func (y *youngest) rewrite(at uint64, s state) error {
	b := appendState(nil, s)
	if at >= uint64(y.written) {
		copy(y.tail[at-uint64(y.written):], b)
		return nil
	}
	_, err := y.file.WriteAt(b, int64(at))
	return err
}

// read returns the state at a place of the file, and whether it is that of id.
func (y *youngest) read(at uint64, id []byte) (s state, same bool, err error) {
	b, err := y.record(int64(at), recordHeader+len(id))
	if err != nil || len(b) < recordHeader+len(id) {
		return state{}, false, err // or the last record, of a shorter id
	}
	if binary.BigEndian.Uint32(b[recordHeader-4:]) != uint32(len(id)) || string(b[recordHeader:]) != string(id) {
		return state{}, false, nil
	}
	s.document = int(binary.BigEndian.Uint32(b))
	s.item = int(binary.BigEndian.Uint32(b[4:]))
	if n := b[8]; n > 0 {
		if s.time, err = websync.ParseDatetime(string(b[9 : 9+n])); err != nil {
			return state{}, false, fmt.Errorf("the file of ids is damaged: %w", err)
		}
	}
	s.tombstone = b[recordHeader-5] == 1
	return s, true, nil
}

// record returns the n bytes at a place of the file, or what there is of them. A record
// is never part in the tail.
func (y *youngest) record(at int64, n int) ([]byte, error) {
	if at >= y.written {
		b := y.tail[at-y.written:]
		return b[:min(n, len(b))], nil
	}
	b := make([]byte, min(int64(n), y.written-at))
	_, err := y.file.ReadAt(b, at)
	return b, err
}
