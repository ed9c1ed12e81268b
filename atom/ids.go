package atom

import (
	"hash/maphash"

	"github.com/websync-go/websync"
)

// A hashSet is a set of things by their hash: the first maxSet of them.
type hashSet map[uint64]struct{}

const (
	maxSet  = 1 << 16
	keptSet = 1024 // a set that was larger is not used again, since emptying it costs as much as filling it
)

// emptied returns an empty set.
func (s hashSet) emptied() hashSet {
	if len(s) > keptSet {
		return nil
	}
	clear(s)
	return s
}

// add adds a hash. It returns false if it was there.
func (s *hashSet) add(h uint64) bool {
	if *s == nil {
		*s = make(hashSet)
	}
	if _, ok := (*s)[h]; ok {
		return false
	}
	if len(*s) < maxSet {
		(*s)[h] = struct{}{}
	}
	return true
}

// An idTable knows at which times an id was met, and where. Two ids with one hash are met
// once in two million full tables.
type idTable struct {
	seed  maphash.Seed
	slots []idSlot // a power of two of them; linear probing
	n     int
}

// An idSlot is an entry or a tombstone that was met: 24 bytes.
type idSlot struct {
	hash  uint64 // 0: the slot is empty
	sec   int64  // Unix time
	nano  uint32 // and flags
	where uint32 // line, or number of the document
}

const (
	slotDead  = 1 << 31 // a tombstone
	slotTimed = 1 << 30 // its time is known

	maxIDs      = 4 << 20 // kept in a table
	maxVersions = 16      // of one id, kept in a table
)

func (s idSlot) dead() bool  { return s.nano&slotDead != 0 }
func (s idSlot) timed() bool { return s.nano&slotTimed != 0 }

// after tells whether s is younger than o, both of them with a time.
func (s idSlot) after(o idSlot) bool {
	return s.sec > o.sec || s.sec == o.sec && s.nano&(slotTimed-1) > o.nano&(slotTimed-1)
}

// same tells whether s and o are of one kind and one time.
func (s idSlot) same(o idSlot) bool { return s.sec == o.sec && s.nano == o.nano && s.timed() }

// hash returns the hash of an id, or of anything else, which is never 0.
func (t *idTable) hash(b []byte) uint64 {
	if t.seed == (maphash.Seed{}) {
		t.seed = maphash.MakeSeed()
	}
	return max(1, maphash.Bytes(t.seed, b))
}

// add keeps an entry or tombstone and calls met for each of the same id that came before,
// in no order.
func (t *idTable) add(id []byte, at websync.Datetime, dead bool, where int, met func(now, before idSlot)) {
	if t.slots == nil {
		t.slots = make([]idSlot, 1024)
	}
	now := idSlot{hash: t.hash(id), where: uint32(where)}
	if !at.IsZero() {
		now.sec, now.nano = at.Time().Unix(), uint32(at.Time().Nanosecond())|slotTimed
	}
	if dead {
		now.nano |= slotDead
	}
	mask := uint64(len(t.slots) - 1)
	i, versions := now.hash&mask, 0
	for ; t.slots[i].hash != 0; i = (i + 1) & mask {
		if t.slots[i].hash == now.hash {
			versions++
			met(now, t.slots[i])
		}
	}
	if versions == maxVersions || t.n == maxIDs {
		return
	}
	t.slots[i] = now
	if t.n++; 4*t.n > 3*len(t.slots) {
		t.grow()
	}
}

func (t *idTable) grow() {
	old := t.slots
	t.slots = make([]idSlot, 2*len(old))
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.hash == 0 {
			continue
		}
		i := s.hash & mask
		for t.slots[i].hash != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}
