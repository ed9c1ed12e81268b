package sitemap

import "hash/maphash"

// A locSet is a set of locs. It keeps 32 bits of the hash of each, for the first 700,000.
// In about one of 500 sets of that size, one loc is mistaken for another. The zero locSet
// is empty.
type locSet struct {
	seed   maphash.Seed
	tables [][]uint32 // the last one is being filled; if 0, a free slot
	free   int        // slots of the last one that may still be filled
}

const (
	firstTable = 1 << 14 // slots
	lastTable  = 1 << 20
)

// add adds a loc, and reports whether the set had it already.
func (s *locSet) add(loc []byte) bool {
	if s.tables == nil {
		s.seed = maphash.MakeSeed()
		s.grow(firstTable)
	}
	hash := maphash.Bytes(s.seed, loc)
	mark := max(1, uint32(hash>>32))
	var slots []uint32
	var at uint32
	for _, slots = range s.tables {
		mask := uint32(len(slots) - 1)
		for at = uint32(hash) & mask; slots[at] != 0; at = (at + 1) & mask {
			if slots[at] == mark {
				return true
			}
		}
	}
	if s.free > 0 {
		slots[at] = mark
		s.free--
	} else if len(slots) < lastTable {
		s.grow(4 * len(slots))
		last := s.tables[len(s.tables)-1]
		last[uint32(hash)&uint32(len(last)-1)] = mark
		s.free--
	}
	return false
}

func (s *locSet) grow(slots int) {
	s.tables = append(s.tables, make([]uint32, slots))
	s.free = slots / 2
}
