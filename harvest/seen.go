package harvest

import (
	"hash/maphash"
	"math/bits"

	"github.com/websync-go/websync"
)

// A seenTable holds, for each live record of a source, what a snapshot must say of it to be unchanged, and whether it has
// been shown. It takes 16 bytes for a place and has 3/2 places for a record: 24 bytes a record. Ids are known by a
// keyed hash of 64 bits: two ids that share one cost a look into the Store, or spare one of them a deletion; nothing
// is lost or deleted because of it.
type seenTable struct {
	seed  maphash.Seed
	slots []seenSlot
	count int   // of records
	shown int   // of those that have been seen
	fresh int64 // times that an id was shown that is not in it
}

type seenSlot struct {
	id    uint64 // 0: free
	state uint64 // lowest bit: seen
}

const seenBit = 1

// newSeenTable returns a table for n records.
func newSeenTable(n int64) *seenTable {
	return &seenTable{seed: maphash.MakeSeed(), slots: make([]seenSlot, max(n, 16)*3/2)}
}

// find returns the place of id, or the free one where it belongs.
func (t *seenTable) find(id string) (*seenSlot, uint64) {
	h := max(1, maphash.String(t.seed, id))
	i, _ := bits.Mul64(h, uint64(len(t.slots)))
	for {
		s := &t.slots[i]
		if s.id == h || s.id == 0 {
			return s, h
		}
		if i++; i == uint64(len(t.slots)) {
			i = 0
		}
	}
}

// add enters a record. State is what stateOf returns.
func (t *seenTable) add(id string, state uint64) {
	if t.count >= len(t.slots)*4/5 { // the count was kept low by somebody else's commits
		t.grow()
	}
	s, h := t.find(id)
	if s.id == 0 {
		s.id = h
		t.count++
	}
	s.state = state &^ seenBit
}

func (t *seenTable) grow() {
	old := t.slots
	t.slots = make([]seenSlot, len(old)*3/2)
	for _, o := range old {
		if o.id == 0 {
			continue
		}
		i, _ := bits.Mul64(o.id, uint64(len(t.slots)))
		for t.slots[i].id != 0 {
			if i++; i == uint64(len(t.slots)) {
				i = 0
			}
		}
		t.slots[i] = o
	}
}

// see notes that id was shown with this state. It reports whether that is the record's state, and whether the id had been
// shown before.
func (t *seenTable) see(id string, state uint64) (same, again bool) {
	s, _ := t.find(id)
	if s.id == 0 {
		t.fresh++
		return false, false
	}
	again = s.state&seenBit != 0
	same = state != 0 && s.state|seenBit == state|seenBit
	if !again {
		s.state |= seenBit
		t.shown++
	}
	return same, again
}

// forget notes that a record is not as it was. What is shown of it next says something new.
func (t *seenTable) forget(id string) {
	if s, _ := t.find(id); s.id != 0 {
		s.state &= seenBit
	}
}

// allSeen reports whether every record was shown.
func (t *seenTable) allSeen() bool { return t.shown == t.count }

// seen reports whether id is in the table and was shown.
func (t *seenTable) seen(id string) bool {
	s, _ := t.find(id)
	return s.id != 0 && s.state&seenBit != 0
}

// state returns a hash of what decides whether an event says nothing new; 0 if the event alone can't tell.
func (t *seenTable) state(ev *Event, stated uint64, content bool) uint64 {
	if !ev.telling() {
		return 0
	}
	return t.stateOf(stated, ev.Resource.Modified, content)
}

// stateOf returns that hash for a record; content tells whether there is any.
func (t *seenTable) stateOf(stated uint64, modified websync.Datetime, content bool) uint64 {
	h := maphash.Comparable(t.seed, struct {
		stated   uint64
		modified websync.Datetime
		content  bool
	}{stated, modified, content})
	return max(2, h)
}

// telling reports whether an event says enough for an equal one to mean equal bytes.
func (e *Event) telling() bool {
	return !e.Resource.Modified.IsZero() || e.Resource.Content.Href == "" || e.identifies()
}

// identifies reports whether an event has what is another for other bytes, whatever its time.
func (e *Event) identifies() bool {
	_, ok := e.Resource.Content.Digests.Strongest()
	return ok || e.Tag != ""
}
