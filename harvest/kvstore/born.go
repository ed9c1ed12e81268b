package kvstore

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// The order of first appearances is kept in blocks of references, one for each Born.
const (
	blockSize     = 64 // references
	referenceSize = 12 // bytes
)

func blockOf(born websync.Seq) uint64 { return uint64(born) / blockSize }

func blockKey(block uint64) key { return newKey(bornKey).number(block) }

// A reference says where the item of a live record is: in an entry of the log, unless a
// Touch has changed it since. Then the record has it.
type reference struct {
	stored
	born    websync.Seq
	n       uint32 // source
	touched bool
	value   []byte // of the entry; nil if it has not been read
}

// parse parses the reference with this index in a block, except its Born, and reports
// whether there is one.
func (v *reference) parse(block []byte, i int, h *head) bool {
	if len(block) < (i+1)*referenceSize {
		return false
	}
	b := block[i*referenceSize:]
	number := binary.BigEndian.Uint64(b[4:])
	if number == 0 {
		return false
	}
	generation := h.generation
	if number&1 != generation&1 { // there are never more than two
		generation--
	}
	*v = reference{born: v.born, n: binary.BigEndian.Uint32(b), touched: number&2 != 0}
	v.number(generation, websync.Seq(number>>2))
	return true
}

// put writes the reference to a block, which it makes longer if need be.
func (v *reference) put(block []byte, i int) []byte {
	if missing := (i+1)*referenceSize - len(block); missing > 0 {
		block = append(block, make([]byte, missing)...)
	}
	b := block[i*referenceSize:]
	number := uint64(v.seq)<<2 | v.generation&1
	if v.touched {
		number |= 2
	}
	binary.BigEndian.PutUint32(b, v.n)
	binary.BigEndian.PutUint64(b[4:], number)
	return block
}

// clearReference removes a reference from a block; nothing is left after the last one.
func clearReference(block []byte, i int) []byte {
	if end := (i + 1) * referenceSize; end <= len(block) {
		clear(block[end-referenceSize : end])
	}
	none := make([]byte, referenceSize)
	for len(block) >= referenceSize && bytes.HasSuffix(block, none) {
		block = block[:len(block)-referenceSize]
	}
	return block
}

// setBorn writes the reference of a live record, or removes it if seq is 0.
func (c *commit) setBorn(born, seq websync.Seq, touched bool) error {
	n := blockOf(born)
	block, ok := c.blocks[n]
	if !ok && n <= c.last {
		b, err := c.Get(blockKey(n))
		if err != nil {
			return err
		}
		block = bytes.Clone(b)
	}
	i := int(born % blockSize)
	if seq == 0 {
		block = clearReference(block, i)
	} else {
		ref := reference{n: c.source.n, touched: touched}
		ref.number(c.head.generation, seq)
		block = ref.put(block, i)
	}
	if c.blocks == nil {
		c.blocks = map[uint64][]byte{}
	}
	c.blocks[n] = block
	return nil
}

// setBlocks writes the blocks that have changed.
func (c *commit) setBlocks() error {
	for _, n := range slices.Sorted(maps.Keys(c.blocks)) {
		if err := c.set(blockKey(n), c.blocks[n]); err != nil {
			return err
		}
	}
	return nil
}

// bornPage reads a page of references that w wants into w.refs, and returns the Born up
// to which all are read.
func (r *reader) bornPage(w *walk) (last websync.Seq, err error) {
	w.refs = w.refs[:0]
	last = w.rng.Until
	f, err := r.filter(w.rng.Sources)
	if err != nil || f.nothing() || w.rng.After >= last {
		return last, err
	}
	seen := 0
	from, to := blockKey(blockOf(w.rng.After+1)), blockKey(blockOf(last)).after()
	err = r.scanPage(from, to, pageItems/blockSize+1, func(k, v []byte) bool {
		first := numberOf(k) * blockSize
		for i := range min(len(v)/referenceSize, blockSize) {
			ref := reference{born: first + websync.Seq(i)}
			if ref.born <= w.rng.After || ref.born > w.rng.Until || !ref.parse(v, i, &r.head) || !f.has(ref.n) {
				continue
			}
			if w.refs = append(w.refs, ref); len(w.refs) == pageItems {
				last = ref.born
				return false
			}
		}
		if seen += blockSize; seen >= pageScan {
			last = min(last, first+blockSize-1)
			return false
		}
		return true
	})
	return last, err
}

// near is how far the number of an entry may be from that of the one before for a Scan of
// all between them to be cheaper than a Get.
const near = 4

// readRuns reads those entries of the log to which w.refs refer that are near to each
// other, a Scan for each run: many resources have not changed since they came, in the
// order of the log. It stops after pageBytes; the others are read one by one.
func (r *reader) readRuns(w *walk) error {
	order := w.order[:0]
	for i := range w.refs {
		order = append(order, &w.refs[i])
	}
	w.order = order
	slices.SortFunc(order, func(a, b *reference) int {
		return cmp.Or(cmp.Compare(a.entry.generation, b.entry.generation), cmp.Compare(a.entry.seq, b.entry.seq))
	})
	for size := 0; len(order) > 0 && size < pageBytes; {
		n := 1
		for n < len(order) && order[n].entry.generation == order[0].entry.generation && order[n].entry.seq-order[n-1].entry.seq <= near {
			n++
		}
		run := order[:n]
		if order = order[n:]; n == 1 {
			continue
		}
		from, to := run[0].entryKey(), run[n-1].entryKey().after()
		err := r.Scan(from, to, func(k, v []byte) bool {
			if numberOf(k) == run[0].entry.seq {
				run[0].value, run = v, run[1:]
			}
			size += len(v)
			return len(run) > 0 && size < pageBytes
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// prefetchReferences prefetches what the items of w.refs are read from.
func (r *reader) prefetchReferences(w *walk) error {
	names := map[uint32]bool{}
	err := r.prefetch(func(add func(key)) {
		for i := range w.refs {
			ref := &w.refs[i]
			if !names[ref.n] && !r.knows(ref.n) {
				names[ref.n] = true
				add(newKey(nameKey).source(ref.n))
			}
			if ref.isOld(&r.head) {
				add(ref.renumberKey(&r.head))
			}
			add(ref.entryKey())
		}
	})
	if err != nil {
		return err
	}
	return r.prefetchStored(func(add func(key)) {
		for i := range w.refs {
			if ref := &w.refs[i]; ref.touched {
				if id, err := r.idOf(ref); err == nil { // itemOfReference reports the error
					add(newKey(recordKey).source(ref.n).text(id))
				}
			}
		}
	}, nil)
}

// idOf returns the id of the record that ref is of.
func (r *reader) idOf(ref *reference) (string, error) {
	var item websync.Item
	_, err := r.readReference(ref, &item)
	return item.Resource.ID, err
}

// readReference sets item to that of the entry to which ref refers, without Seq and
// Source, and returns the size of the entry.
func (r *reader) readReference(ref *reference, item *websync.Item) (size int, err error) {
	if ref.value == nil {
		if ref.value, err = r.Get(ref.entryKey()); err != nil {
			return 0, err
		}
	}
	n, err := decodeEntry(ref.value, item)
	if err == nil && n != ref.n {
		err = harvest.ErrCorrupt
	}
	return len(ref.value), err
}

// follow sets item to that of ref, without Source, and returns the bytes that it takes.
func (r *reader) follow(ref *reference, item *websync.Item) (size int, err error) {
	if size, err = r.readReference(ref, item); err != nil {
		return 0, err
	}
	if !ref.touched {
		if ref.isOld(&r.head) {
			item.Prior = 0
		}
		err = r.renumber(&ref.stored)
		item.Seq = ref.seq
		return size, err
	}
	id := item.Resource.ID
	v, err := r.stored(newKey(recordKey).source(ref.n).text(id))
	if err == nil {
		*item, err = r.item(&v, "", id)
	}
	return size + len(v.data), err
}

// eachReference calls fn with the references of a block.
func eachReference(block []byte, h *head, fn func(i int, ref *reference) error) error {
	for i := range len(block) / referenceSize {
		var ref reference
		if !ref.parse(block, i, h) {
			continue
		}
		if err := fn(i, &ref); err != nil {
			return err
		}
	}
	return nil
}
