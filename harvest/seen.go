package harvest

import (
	"hash/maphash"
	"math/bits"

	"github.com/websync-go/websync"
)

// A seenTable holds, for each live record of a source, what a snapshot must state of it
// to be unchanged, and whether it has been listed. It takes 8 bytes for a place and has
// 4/3 places for a record, 11 bytes a record: the collector lets the heap grow to twice
// of that. Ids are known by their place and 32 more bits of a keyed hash, which is
// another one each time. Two ids that share both cost a look into the Store, or spare one
// of them a deletion until the next listing; nothing is deleted because of it. Another
// state is taken for the same once in 2 billion times, until the next listing.
type seenTable struct {
	seed   maphash.Seed
	slots  []seenSlot
	count  int   // of records
	listed int   // of those that have been seen
	fresh  int64 // times that an id was listed that is not in it
}

// A seenSlot is 32 bits of the hash of an id, 31 bits of a state, and a bit for seen. 0:
// free.
type seenSlot uint64

const (
	seenBit   = 1
	stateBits = 1<<32 - 1 // seenBit included
)

// newSeenTable returns a table for n records.
func newSeenTable(n int64) *seenTable {
	return &seenTable{seed: maphash.MakeSeed(), slots: make([]seenSlot, (min(max(n, 16), maxSeen)*4+2)/3)}
}

// maxSeen is how many records a table is made for at once, whatever a Store counts.
const maxSeen = 1 << 30

// find returns the place of id, or the free one where it belongs, and what the place
// holds of the id.
func (t *seenTable) find(id string) (*seenSlot, seenSlot) {
	h := maphash.String(t.seed, id)
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

// add enters a record. State is what stateOf returns. It reports whether there is room
// for it.
func (t *seenTable) add(id string, state uint32) bool {
	s, tag := t.find(id)
	if *s == 0 {
		if t.count >= len(t.slots)*4/5 {
			return false
		}
		t.count++
	}
	*s = tag | seenSlot(state&^seenBit)
	return true
}

// see notes that id was listed with this state. It reports whether that is the record's
// state, and whether the id had been listed before.
func (t *seenTable) see(id string, state uint32) (same, again bool) {
	s, _ := t.find(id)
	if *s == 0 {
		t.fresh++
		return false, false
	}
	again = *s&seenBit != 0
	same = state != 0 && uint32(*s)|seenBit == state|seenBit
	if !again {
		*s |= seenBit
		t.listed++
	}
	return same, again
}

// forget notes that a record is not as it was. What is listed of it next states something
// new.
func (t *seenTable) forget(id string) {
	if s, tag := t.find(id); *s != 0 {
		*s = tag | *s&seenBit
	}
}

// allSeen reports whether every record was listed.
func (t *seenTable) allSeen() bool { return t.listed == t.count }

// seen reports whether id is in the table and was listed.
func (t *seenTable) seen(id string) bool {
	s, _ := t.find(id)
	return *s&seenBit != 0
}

// state returns a hash of what decides whether an event states nothing new; 0 if the
// event alone does not decide.
func (t *seenTable) state(ev *Event, stated uint64, content bool) uint32 {
	if !ev.isConclusive() {
		return 0
	}
	return t.stateOf(stated, ev.Resource.Modified, content)
}

// stateOf returns that hash for a record, never 0 and without seenBit; content reports
// whether there is any.
func (t *seenTable) stateOf(stated uint64, modified websync.Datetime, content bool) uint32 {
	h := maphash.Comparable(t.seed, struct {
		stated   uint64
		modified websync.Datetime
		content  bool
	}{stated, modified, content})
	return max(2, uint32(h)&^seenBit)
}

// isConclusive reports whether an equal event means equal bytes.
func (e *Event) isConclusive() bool {
	return !e.Resource.Modified.IsZero() || e.Resource.Content.Href == "" || e.identifies()
}

// identifies reports whether an event has what is another for other bytes, whatever its
// time.
func (e *Event) identifies() bool {
	_, ok := e.Resource.Content.Digests.Strongest()
	return ok || e.Tag != ""
}
