package harvest

import (
	"cmp"
	"hash/maphash"
	"iter"
	"math/bits"
)

// A seenTable is a hash table of the live records of a source. It holds what a snapshot
// must state of each record to leave it unchanged, and whether the snapshot has listed
// it. A slot takes 8 bytes, and there are 4 slots for 3 records: 11 bytes a record. The
// heap may grow to twice that before the garbage collector runs.
//
// An id is identified by its slot and by 32 more bits of a hash with a random key. If two
// ids share both, one of them is looked up in the Store, or is not deleted until a later
// listing; none is deleted by mistake. One different state in 2 billion is mistaken for
// the same, until a later listing. The seed differs from table to table, so that another
// listing has other collisions; only those of a recordPrint, one in 10^19 pairs of ids
// and one in 10^16 states, are the same in all of them.
type seenTable struct {
	key    printKey // of the Store
	seed   maphash.Seed
	slots  []seenSlot
	count  int  // records
	listed int  // records that were listed
	whole  bool // the source has no records besides: no tombstones
	// unknown counts the listed ids that are not in the table, with repetitions.
	unknown int64

	// others are bits for the hashes of listed ids that are not in the table, of which the
	// last takes new ones: 2^16 bits for 256 ids, 2^20 for the next 4,096, and 2^24, of
	// which up to some millions of ids seldom share one
	others [][]uint64
	marked int      // bits of the last of others
	loaded seenSlot // has no meaning
}

const (
	firstOthers = 1 << 16
	lastOthers  = 1 << 24
)

// A seenSlot has 32 bits of the hash of an id, 31 bits of the hash of a state, and a bit
// that is set if the id was listed. A free one is 0.
type seenSlot uint64

const (
	seenBit   = 1
	stateBits = 1<<32 - 1 // seenBit included
)

// newSeenTable returns a table for n records of a Store with this key.
func newSeenTable(key printKey, n int64) *seenTable {
	return &seenTable{key: key, seed: maphash.MakeSeed(), slots: make([]seenSlot, (min(max(n, 16), maxSeen)*4+2)/3)}
}

// maxSeen limits the size of a table, in records, whatever count a Store returns.
const maxSeen = 1 << 30

// hash returns the hash of an id in this table.
func (t *seenTable) hash(id string) uint64 { return t.mix(t.key.id(id)) }

// mix returns the hash in this table of an id whose recordPrint has this ID.
func (t *seenTable) mix(id uint64) uint64 { return maphash.Comparable(t.seed, id) }

// load loads the slots of a batch into the processor's cache, all of them at the same
// time: one after the other each takes as long as hashing its id.
func (t *seenTable) load(batch []*slot) {
	for _, s := range batch {
		s.tableHash = t.hash(s.id())
	}
	for _, s := range batch {
		t.touch(s.tableHash)
	}
}

// touch loads the slot of a hash.
func (t *seenTable) touch(h uint64) {
	i, _ := bits.Mul64(h, uint64(len(t.slots)))
	t.loaded ^= t.slots[i]
}

// loading yields what prints does, and loads the slots of each batch.
func (t *seenTable) loading(prints iter.Seq2[recordPrint, error]) iter.Seq2[recordPrint, error] {
	return func(yield func(recordPrint, error) bool) {
		for batch, err := range parts(prints, planBatch) {
			if err != nil {
				yield(recordPrint{}, err)
				return
			}
			for i := range batch {
				t.touch(t.mix(batch[i].ID))
			}
			for i := range batch {
				if !yield(batch[i], nil) {
					return
				}
			}
		}
	}
}

// find returns the slot of the id with this hash, or the free slot where it belongs, and
// the bits of the hash in that slot.
func (t *seenTable) find(h uint64) (*seenSlot, seenSlot) {
	tag := max(1, seenSlot(uint32(h))) << 32
	i, _ := bits.Mul64(h, uint64(len(t.slots)))
	for {
		s := &t.slots[i]
		if *s == 0 || *s&^stateBits == tag {
			return s, tag
		}
		if i++; i == uint64(len(t.slots)) {
			i = 0
		}
	}
}

// add enters the record whose recordPrint has this ID, and reports whether there was room
// for it. State is what stateOf returns.
func (t *seenTable) add(id uint64, state uint32) bool {
	s, tag := t.find(t.mix(id))
	if *s == 0 {
		if t.count >= len(t.slots)*4/5 {
			return false
		}
		t.count++
	}
	*s = tag | seenSlot(state&^seenBit)
	return true
}

// see notes that the id with this hash was listed with this state. It reports whether
// that is the record's state, whether the id had been listed before, and whether it is
// certain that there is no record of it and that it was not listed before.
func (t *seenTable) see(h uint64, state uint32) (same, again, unknown bool) {
	s, _ := t.find(h)
	if *s == 0 {
		t.unknown++
		return false, false, t.note(h) && t.whole
	}
	again = *s&seenBit != 0
	same = state != 0 && uint32(*s)|seenBit == state|seenBit
	if !again {
		*s |= seenBit
		t.listed++
	}
	return same, again, false
}

// keep notes that the id with this hash was listed, and reports whether there is a record
// of it.
func (t *seenTable) keep(h uint64) bool {
	s, _ := t.find(h)
	if *s != 0 && *s&seenBit == 0 {
		*s |= seenBit
		t.listed++
	}
	return *s != 0
}

// note marks the hash of an id that is not in the table, and reports whether it is
// certain that the id was not marked before.
func (t *seenTable) note(h uint64) (first bool) {
	size := firstOthers
	for _, others := range t.others {
		size = 64 * len(others)
		if at := h % uint64(size); others[at/64]&(1<<(at%64)) != 0 {
			return false
		}
	}
	switch full := t.marked >= size/256 && size < lastOthers; {
	case t.others == nil:
		t.others = [][]uint64{make([]uint64, size/64)}
	case full:
		size *= 16
		t.others, t.marked = append(t.others, make([]uint64, size/64)), 0
	}
	at := h % uint64(size)
	t.others[len(t.others)-1][at/64] |= 1 << (at % 64)
	t.marked++
	return true
}

// forget notes that a record has changed, or may have come: whatever is listed of it next
// is new.
func (t *seenTable) forget(id string) {
	h := t.hash(id)
	if s, tag := t.find(h); *s != 0 {
		*s = tag | *s&seenBit
	} else {
		t.note(h)
	}
}

// allSeen reports whether every record was listed.
func (t *seenTable) allSeen() bool { return t.listed == t.count }

// seen reports whether id is in the table and was listed.
func (t *seenTable) seen(id string) bool {
	s, _ := t.find(t.hash(id))
	return *s&seenBit != 0
}

// stateOf returns a hash without seenBit of the State of a recordPrint and the document
// that lists the record; 0 if the record must be looked up. Content reports whether the
// record has its content.
func (t *seenTable) stateOf(state uint64, content bool, document documentNumber) uint32 {
	if state == 0 {
		return 0
	}
	h := maphash.Comparable(t.seed, struct {
		state    uint64
		document documentNumber
		content  bool
	}{state, document, content})
	return max(2, uint32(h)&^seenBit)
}

// state returns stateOf for the record that an event in a document leads to; 0 if equal
// events do not mean equal bytes.
func (t *seenTable) state(st *statement, document documentNumber) uint32 {
	if !st.ev.isConclusive() {
		return 0
	}
	return t.stateOf(t.key.state(st.hash, cmp.Or(st.ev.Listed, st.ev.Resource.Modified)), st.content, document)
}
