package atom

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/spool"
)

// A latest finds the latest state of each id in the documents of a walk, which are added
// from the newest to the oldest. In memory it keeps 32 bits of the hash of an id and an
// offset in a file that holds the ids: at most 24 bytes an id. Ids with the same hash are
// distinguished there.
type latest struct {
	hash     func(id []byte) uint64
	file     spool.File
	written  int64  // bytes of the file
	tail     []byte // the bytes after them, not yet written
	segments [256]segment
	outdated [][]uint64 // by document: bits of the items that another state supersedes
	twins    []twin     // of the document that is being read
}

// A segment is a hash table, with open addressing, of the ids of one hash byte.
type segment struct {
	count   int
	tags    []uint32 // of the hash
	offsets []uint64 // in the file; if 0, a free slot
}

// A state is one item of a document, with what decides its age.
type state struct {
	document, item int
	time           websync.Datetime
	tombstone      bool
	published      bool // time is that of publication
}

// supersedes reports whether s is a later state than held, although s is in an older
// document, or further down in the same one. A later time decides, but a time of
// publication does not order two entries. Of two states with one time, a tombstone
// supersedes an entry of the same document; in different documents, the state in the
// newer document is the later one.
func (s state) supersedes(held state) bool {
	if (s.published || held.published) && !s.tombstone && !held.tombstone {
		return false
	}
	if held.time.Before(s.time) {
		return true
	}
	return s.document == held.document && s.tombstone && !held.tombstone && !s.time.Before(held.time)
}

// A twin is an entry of a document and a later one with its id, if no times tell which of
// them is the newer one.
type twin struct{ held, item int }

const maxTwins = 1000 // of a document

// isTwin reports whether s and held are entries of one document, and no times tell which
// of them is the newer one.
func (s state) isTwin(held state) bool {
	alike := s.published || held.published || !s.time.Before(held.time) && !held.time.Before(s.time)
	return alike && s.document == held.document && !s.tombstone && !held.tombstone
}

func newLatest() *latest {
	seed := maphash.MakeSeed()
	hash := func(id []byte) uint64 { return maphash.Bytes(seed, id) }
	return &latest{hash: hash, tail: []byte{0}}
}

// len returns the number of ids.
func (l *latest) len() (n int) {
	for i := range l.segments {
		n += l.segments[i].count
	}
	return n
}

// add adds the next item of a document.
func (l *latest) add(id []byte, s state) error {
	hash := l.hash(id)
	seg, tag := &l.segments[hash>>56], uint32(hash)
	held, offset, err := l.find(seg, tag, id)
	switch {
	case err != nil:
		return err
	case offset == 0:
		if offset, err = l.append(id, s); err == nil {
			seg.add(tag, offset)
		}
		return err
	case s.supersedes(held):
		l.outdate(held)
		return l.rewrite(offset, s)
	}
	if s.isTwin(held) && len(l.twins) < maxTwins {
		l.twins = append(l.twins, twin{held.item, s.item})
	}
	l.outdate(s)
	return nil
}

// held returns the latest state of an id so far. If there is none, it returns the zero
// state, which is not a tombstone.
func (l *latest) held(id []byte) (state, error) {
	hash := l.hash(id)
	held, _, err := l.find(&l.segments[hash>>56], uint32(hash), id)
	return held, err
}

// lacks reports whether no state of an id is held that is as late as s.
func (l *latest) lacks(id []byte, s state) (bool, error) {
	hash := l.hash(id)
	held, offset, err := l.find(&l.segments[hash>>56], uint32(hash), id)
	return offset == 0 || s.supersedes(held), err
}

// has reports whether an item is the latest state of its id, once all documents have been
// added.
func (l *latest) has(document, item int) bool {
	if document >= len(l.outdated) || item/64 >= len(l.outdated[document]) {
		return true
	}
	return l.outdated[document][item/64]&(1<<(item%64)) == 0
}

// hasEntryAfter reports whether the latest state of any id is an entry in an older
// document than the given one.
func (l *latest) hasEntryAfter(document int) (bool, error) {
	for i := range l.segments {
		for _, offset := range l.segments[i].offsets {
			if offset == 0 {
				continue
			}
			s, err := l.state(offset)
			if err != nil || s.document > document && !s.tombstone {
				return err == nil, err
			}
		}
	}
	return false, nil
}

func (l *latest) outdate(s state) {
	for len(l.outdated) <= s.document {
		l.outdated = append(l.outdated, nil)
	}
	bits := l.outdated[s.document]
	for len(bits) <= s.item/64 {
		bits = append(bits, 0)
	}
	bits[s.item/64] |= 1 << (s.item % 64)
	l.outdated[s.document] = bits
}

func (l *latest) close() error { return l.file.Close() }

// find returns the state of an id and its offset, which is 0 if there is none.
func (l *latest) find(seg *segment, tag uint32, id []byte) (held state, offset uint64, err error) {
	for i := range seg.probe(tag) {
		if seg.offsets[i] == 0 {
			break
		}
		if seg.tags[i] != tag {
			continue
		}
		held, same, err := l.read(seg.offsets[i], id)
		if err != nil || same {
			return held, seg.offsets[i], err
		}
	}
	return state{}, 0, nil
}

// probe yields the slots where a tag can be, in order.
func (s *segment) probe(tag uint32) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		n := len(s.offsets)
		first := int(uint64(tag) * uint64(n) >> 32)
		for k := range n {
			if !yield((first + k) % n) {
				return
			}
		}
	}
}

func (s *segment) add(tag uint32, offset uint64) {
	if s.count*6 >= len(s.offsets)*5 {
		s.grow()
	}
	for i := range s.probe(tag) {
		if s.offsets[i] == 0 {
			s.tags[i], s.offsets[i] = tag, offset
			s.count++
			return
		}
	}
}

// grow enlarges the table: from five sixths full to five ninths full.
func (s *segment) grow() {
	old := *s
	n := max(16, len(old.offsets)*3/2)
	*s = segment{tags: make([]uint32, n), offsets: make([]uint64, n)}
	for i, offset := range old.offsets {
		if offset != 0 {
			s.add(old.tags[i], offset)
		}
	}
}

// In the file each id has one record: document, item, length and text of the time, flags,
// length and bytes of the id.
const (
	maxTimeText  = 39
	recordHeader = 4 + 4 + 1 + maxTimeText + 1 + 4

	flagTombstone = 1
	flagPublished = 2
)

func (l *latest) append(id []byte, s state) (offset uint64, err error) {
	offset = uint64(l.written) + uint64(len(l.tail))
	l.tail = appendState(l.tail, s)
	l.tail = binary.BigEndian.AppendUint32(l.tail, uint32(len(id)))
	l.tail = append(l.tail, id...)
	if len(l.tail) < 1<<16 {
		return offset, nil
	}
	n, err := l.file.WriteAt(l.tail, l.written)
	l.written += int64(n)
	l.tail = l.tail[:0]
	return offset, err
}

func appendState(b []byte, s state) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(s.document))
	b = binary.BigEndian.AppendUint32(b, uint32(s.item))
	var text [1 + maxTimeText]byte
	t, _ := s.time.AppendText(text[:1])
	text[0] = byte(len(t) - 1)
	b = append(b, text[:]...)
	var flags byte
	if s.tombstone {
		flags |= flagTombstone
	}
	if s.published {
		flags |= flagPublished
	}
	return append(b, flags)
}

func (l *latest) rewrite(offset uint64, s state) error {
	b := appendState(nil, s)
	if offset >= uint64(l.written) {
		copy(l.tail[offset-uint64(l.written):], b)
		return nil
	}
	_, err := l.file.WriteAt(b, int64(offset))
	return err
}

// read returns the state in a record, and whether the record is that of id.
func (l *latest) read(offset uint64, id []byte) (s state, same bool, err error) {
	b, err := l.record(int64(offset), recordHeader+len(id))
	if err != nil || len(b) < recordHeader+len(id) {
		return state{}, false, err // no error: the last record, of a shorter id
	}
	if binary.BigEndian.Uint32(b[recordHeader-4:]) != uint32(len(id)) || string(b[recordHeader:]) != string(id) {
		return state{}, false, nil
	}
	s, err = readState(b)
	return s, true, err
}

// state returns the state in a record.
func (l *latest) state(offset uint64) (state, error) {
	b, err := l.record(int64(offset), recordHeader)
	if err != nil {
		return state{}, err
	}
	return readState(b)
}

// readState is the inverse of appendState.
func readState(b []byte) (s state, err error) {
	s.document = int(binary.BigEndian.Uint32(b))
	s.item = int(binary.BigEndian.Uint32(b[4:]))
	if n := b[8]; n > 0 {
		if s.time, err = websync.ParseDatetime(string(b[9 : 9+n])); err != nil {
			return state{}, fmt.Errorf("atom: the temporary file of ids is damaged: %w", err)
		}
	}
	flags := b[recordHeader-5]
	s.tombstone, s.published = flags&flagTombstone != 0, flags&flagPublished != 0
	return s, nil
}

// record returns n bytes from an offset, or fewer at the end. A record is either in the
// file or in the tail.
func (l *latest) record(offset int64, n int) ([]byte, error) {
	if offset >= l.written {
		b := l.tail[offset-l.written:]
		return b[:min(n, len(b))], nil
	}
	b := make([]byte, min(int64(n), l.written-offset))
	_, err := l.file.ReadAt(b, offset)
	return b, err
}
