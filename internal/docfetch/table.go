package docfetch

import (
	"hash/maphash"
	"math/bits"
)

// A Table is a hash table of texts, each with a value. It keeps 64 bits of the hash of a
// text: 11 to 16 bytes a text, besides its value, and two thirds as many more while it
// grows. In a table of ten million texts one is mistaken for another with a chance of 1
// in 350,000.
// The zero Table is empty.
type Table[V any] struct {
	Len int // texts

	seed   maphash.Seed
	hashes []uint64 // 0: free
	values []V
}

// Add enters a text, and reports whether it is new. The value, which is valid until the
// next Add, is that of the text, and the zero value if it is new.
func (t *Table[V]) Add(text string) (v *V, isNew bool) {
	if t.hashes == nil {
		t.seed = maphash.MakeSeed()
		t.resize(1024)
	}
	if t.Len >= len(t.hashes)/4*3 {
		t.resize(len(t.hashes) / 2 * 3)
	}
	h := t.hash(text)
	i := t.slot(h)
	if isNew = t.hashes[i] != h; isNew {
		t.hashes[i] = h
		t.Len++
	}
	return &t.values[i], isNew
}

// Find returns the value of a text; nil if the table does not have it.
func (t *Table[V]) Find(text string) *V {
	if t.Len == 0 {
		return nil
	}
	h := t.hash(text)
	i := t.slot(h)
	if t.hashes[i] != h {
		return nil
	}
	return &t.values[i]
}

func (t *Table[V]) hash(text string) uint64 { return max(1, maphash.String(t.seed, text)) }

// slot returns the slot of a hash, or the free one where it belongs.
func (t *Table[V]) slot(h uint64) int {
	at, _ := bits.Mul64(h, uint64(len(t.hashes)))
	i := int(at)
	for t.hashes[i] != 0 && t.hashes[i] != h {
		if i++; i == len(t.hashes) {
			i = 0
		}
	}
	return i
}

func (t *Table[V]) resize(size int) {
	old := *t
	t.hashes, t.values = make([]uint64, size), make([]V, size)
	for i, h := range old.hashes {
		if h != 0 {
			at := t.slot(h)
			t.hashes[at], t.values[at] = h, old.values[i]
		}
	}
}
