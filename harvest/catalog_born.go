package harvest

import (
	"bytes"
	"context"
	"encoding/binary"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/websync-go/websync"
)

// The order of first appearances is kept in blocks of references, one for each Born.
const (
	blockSize     = 32 // references
	referenceSize = 34 // bytes
)

func blockOf(born websync.Seq) uint64 { return uint64(born) / blockSize }

func blockKey(block uint64) key { return newKey(bornKey).number(block) }

// maxSeq is the greatest number that a reference has room for.
const maxSeq = 1<<40 - 1

// A reference says of a record that has a Born where its item is: in the entry of the log
// with its number, unless a Touch has changed it since. Then the record has it.
type reference struct {
	born websync.Seq
	n    uint32 // source
	// numbers are those in generations with an even and with an odd number: Compact
	// writes the one of the next generation while the other is in use.
	numbers [2]websync.Seq
	touched [2]bool // likewise
	deleted bool
	print   recordPrint // of a live record
	listed  byte        // the outlineFlags of its item; 0 if written by an earlier version

	value []byte // of the entry; nil if it has not been read
}

// The flags of a reference.
const (
	flagDeleted = 1 << iota
	flagTouchedEven
	flagTouchedOdd
	flagHasContent
	flagKeepsContent
	// the other bits are outlineFlags
)

// seq returns the number in the newest generation.
func (v *reference) seq(h *head) websync.Seq { return v.numbers[h.generation&1] }

// isTouched reports whether the record has the item.
func (v *reference) isTouched(h *head) bool { return v.touched[h.generation&1] }

func (v *reference) entryKey(h *head) key { return newKey(logKey).entry(h.generation, v.seq(h)) }

// parse parses the reference with this index in a block, and reports whether there is
// one.
func (v *reference) parse(block []byte, i int) bool {
	if len(block) < (i+1)*referenceSize {
		return false
	}
	b := block[i*referenceSize : (i+1)*referenceSize]
	n := binary.BigEndian.Uint32(b)
	if n == 0 {
		return false
	}
	flags := b[14]
	*v = reference{
		born:    v.born,
		n:       n,
		numbers: [2]websync.Seq{fiveBytes(b[4:]), fiveBytes(b[9:])},
		touched: [2]bool{flags&flagTouchedEven != 0, flags&flagTouchedOdd != 0},
		deleted: flags&flagDeleted != 0,
		listed:  flags &^ (1<<classShift - 1),
		print: recordPrint{
			ID:           binary.BigEndian.Uint64(b[15:]),
			State:        binary.BigEndian.Uint64(b[22:30]) & (1<<56 - 1),
			Document:     binary.BigEndian.Uint32(b[30:]),
			contentMarks: contentMarks{flags&flagHasContent != 0, flags&flagKeepsContent != 0},
		},
	}
	return true
}

func fiveBytes(b []byte) websync.Seq {
	return websync.Seq(b[0])<<32 | websync.Seq(binary.BigEndian.Uint32(b[1:]))
}

// append appends the reference to a block.
func (v *reference) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, v.n)
	for _, seq := range v.numbers {
		b = append(b, byte(seq>>32))
		b = binary.BigEndian.AppendUint32(b, uint32(seq))
	}
	flags := v.listed
	for i, set := range [...]bool{v.deleted, v.touched[0], v.touched[1], v.print.HasContent, v.print.KeepsContent} {
		if set {
			flags |= 1 << i
		}
	}
	b = binary.BigEndian.AppendUint64(append(b, flags), v.print.ID)
	b = append(b, binary.BigEndian.AppendUint64(nil, v.print.State)[1:]...)
	return binary.BigEndian.AppendUint32(b, v.print.Document)
}

// block returns a block. It reads each one only once, and none that does not exist.
func (r *reader) block(n uint64) (block []byte, err error) {
	if n > r.lastBlock {
		return r.blocks[n], nil // of this Update
	}
	block, ok := r.blocks[n]
	if ok {
		return block, nil
	}
	if block, err = r.Get(blockKey(n)); err == nil {
		r.keepBlock(n, block)
	}
	return block, err
}

func (r *reader) keepBlock(n uint64, block []byte) {
	if r.blocks == nil {
		r.blocks = map[uint64][]byte{}
	}
	r.blocks[n] = block
}

// reference returns the reference of the record with this Born.
func (r *reader) reference(born websync.Seq) (v reference, err error) {
	block, err := r.block(blockOf(born))
	v.born = born
	if err == nil && !v.parse(block, int(born%blockSize)) {
		err = ErrCorrupt
	}
	return v, err
}

// setReference changes a block. It is written by setBlocks.
func (w *writer) setReference(v *reference) error {
	n := blockOf(v.born)
	block, err := w.block(n)
	if err != nil {
		return err
	}
	at := int(v.born%blockSize) * referenceSize
	w.scratch = v.append(w.scratch[:0])
	if at+referenceSize <= len(block) && bytes.Equal(block[at:at+referenceSize], w.scratch) {
		return nil
	}
	if !w.changed[n] {
		block = bytes.Clone(block)
		if w.changed == nil {
			w.changed = map[uint64]bool{}
		}
		w.changed[n] = true
	}
	if missing := at + referenceSize - len(block); missing > 0 {
		block = append(block, make([]byte, missing)...)
	}
	copy(block[at:], w.scratch)
	w.keepBlock(n, block)
	return nil
}

// setBlocks writes the blocks that have changed.
func (w *writer) setBlocks() error {
	for _, n := range slices.Sorted(maps.Keys(w.changed)) {
		if err := w.set(blockKey(n), w.blocks[n]); err != nil {
			return err
		}
	}
	clear(w.changed)
	return nil
}

// bornPage reads a page of the references of live records that w wants into w.refs, and
// returns the Born up to which all are read.
func (r *reader) bornPage(w *walk) (last websync.Seq, err error) {
	w.refs = w.refs[:0]
	last = w.rng.Until
	f, err := r.filter(w.rng.Sources)
	if err != nil || f.nothing() || w.rng.After >= last {
		return last, err
	}
	seen := 0
	from, to := blockKey(blockOf(w.rng.After+1)), blockKey(blockOf(last)).after()
	err = r.Scan(from, to, pageItems/blockSize+1, func(k, v []byte) bool {
		first := numberOf(k) * blockSize
		for i := range min(len(v)/referenceSize, blockSize) {
			ref := reference{born: first + websync.Seq(i)}
			if ref.born <= w.rng.After || ref.born > w.rng.Until || !ref.parse(v, i) || ref.deleted || !f.has(ref.n) {
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
	seq := func(v *reference) websync.Seq { return v.seq(&r.head) }
	slices.SortFunc(order, func(a, b *reference) int { return int(int64(seq(a)) - int64(seq(b))) })
	for size := 0; len(order) > 0 && size < pageBytes; {
		n := 1
		for n < len(order) && seq(order[n])-seq(order[n-1]) <= near {
			n++
		}
		run := order[:n]
		if order = order[n:]; n == 1 {
			continue
		}
		from, to := run[0].entryKey(&r.head), run[n-1].entryKey(&r.head).after()
		err := r.Scan(from, to, pageItems, func(k, v []byte) bool {
			if numberOf(k) == seq(run[0]) {
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
			add(ref.entryKey(&r.head))
		}
	})
	if err != nil {
		return err
	}
	return r.prefetch(func(add func(key)) {
		for i := range w.refs {
			if ref := &w.refs[i]; ref.isTouched(&r.head) {
				if k, err := r.recordOf(ref); err == nil { // follow reports the error
					add(k)
				}
			}
		}
	})
}

// idsByBorn returns the ids of a source's records with these Borns, in byte order; not nil.
func (s *Catalog) idsByBorn(ctx context.Context, source string, borns []websync.Seq) ([]string, error) {
	ids := make([]string, 0, len(borns))
	for page := range slices.Chunk(borns, pageItems) {
		before := len(ids)
		err := s.view(ctx, func(r *reader) error {
			ids = ids[:before]
			src, _, err := r.source(source)
			if err != nil {
				return err
			}
			err = r.prefetch(func(add func(key)) {
				add(newKey(nameKey).source(src.n))
				for _, born := range page {
					add(blockKey(blockOf(born)))
				}
			})
			refs := make([]reference, len(page))
			for i := 0; i < len(page) && err == nil; i++ {
				refs[i], err = r.reference(page[i])
			}
			if err != nil {
				return err
			}
			err = r.prefetch(func(add func(key)) {
				for i := range refs {
					add(refs[i].entryKey(&r.head))
				}
			})
			for i := 0; i < len(refs) && err == nil; i++ {
				var item websync.Item
				_, err = r.readReference(&refs[i], &item)
				ids = append(ids, item.Resource.ID)
			}
			return err
		}, newKey(sourceKey).text(source))
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// recordOf returns the key of the record that ref is of.
func (r *reader) recordOf(ref *reference) (key, error) {
	var item websync.Item
	if _, err := r.readReference(ref, &item); err != nil {
		return nil, err
	}
	v, err := r.named(ref.n)
	return v.key(recordKey, item.Resource.ID), err
}

// readReference sets item to that of the entry to which ref refers, without Source, and
// returns the size of the entry.
func (r *reader) readReference(ref *reference, item *websync.Item) (size int, err error) {
	if ref.value == nil {
		if ref.value, err = r.Get(ref.entryKey(&r.head)); err != nil {
			return 0, err
		}
	}
	n, err := r.decodeEntry(ref.value, item)
	if err == nil && n != ref.n {
		err = ErrCorrupt
	}
	item.Seq = ref.seq(&r.head)
	return len(ref.value), err
}

// follow sets item to that of ref, without Source, and returns the bytes that it takes.
func (r *reader) follow(ref *reference, item *websync.Item) (size int, err error) {
	if size, err = r.readReference(ref, item); err != nil || !ref.isTouched(&r.head) {
		return size, err
	}
	id := item.Resource.ID
	ids, err := r.named(ref.n)
	if err != nil {
		return size, err
	}
	v, err := r.stored(ids.key(recordKey, id))
	if err == nil {
		*item, err = r.item(&v, "", id)
	}
	return size + len(v.data), err
}

// fingerprintBlocks is how many blocks one View reads for fingerprints.
const fingerprintBlocks = 256

// fewOf is how many Borns there may be for each live record of a source for reading all
// blocks to be cheaper than reading the records of the source.
const fewOf = 8

// fingerprints returns the recordPrints of the source's live records. It costs a small
// part of what briefs does.
func (s *Catalog) fingerprints(ctx context.Context, source string) (*recordPrints, error) {
	f := new(recordPrints)
	err := s.view(ctx, func(r *reader) error {
		src, _, err := r.source(source)
		*f = recordPrints{Key: r.head.key, Others: src.records - src.live}
		if few := float64(src.live) * fewOf; float64(r.head.born) > few+blockSize {
			f.All = s.fingerprintsByID(ctx, source, r.head.born)
		} else {
			f.All = s.fingerprintsByBorn(ctx, r.head.born, src.n)
		}
		return err
	}, newKey(sourceKey).text(source))
	return f, err
}

// fingerprintsByID yields the recordPrints of the source's live records whose Born is at
// most last.
func (s *Catalog) fingerprintsByID(ctx context.Context, source string, last websync.Seq) iter.Seq2[recordPrint, error] {
	all := byID(ctx, s, recordKey, source, "", &listing[reference]{
		prefetch: func(_ key, v *stored, add func(key)) { addBlock(v, add) },
		decode: func(r *reader, id string, v *stored) (reference, error) {
			b, err := v.brief(id)
			if err != nil || !b.Live() {
				return reference{deleted: true}, err
			}
			return r.reference(b.Born)
		},
		began: func(v *reference, _ *head) bool { return !v.deleted && v.born <= last },
	})
	return func(yield func(recordPrint, error) bool) {
		for ref, err := range all {
			ref.print.Born = ref.born
			if !yield(ref.print, err) {
				return
			}
		}
	}
}

// fingerprintsByBorn yields the recordPrints of the live records of source n whose Born
// is at most last.
func (s *Catalog) fingerprintsByBorn(ctx context.Context, last websync.Seq, n uint32) iter.Seq2[recordPrint, error] {
	return func(yield func(recordPrint, error) bool) {
		from := uint64(0)
		pages(func(room []recordPrint) (page []recordPrint, more bool, err error) {
			next := uint64(math.MaxUint64)
			err = s.view(ctx, func(r *reader) error {
				page, next = room, math.MaxUint64
				seen := 0
				return r.Scan(blockKey(from), blockKey(blockOf(last)).after(), fingerprintBlocks, func(k, block []byte) bool {
					first := numberOf(k) * blockSize
					for i := range min(len(block)/referenceSize, blockSize) {
						ref := reference{born: first + websync.Seq(i)}
						if ref.parse(block, i) && ref.n == n && !ref.deleted && ref.born <= last {
							ref.print.Born = ref.born
							page = append(page, ref.print)
						}
					}
					if seen++; seen < fingerprintBlocks {
						return true
					}
					next = uint64(numberOf(k)) + 1
					return false
				})
			})
			from = next
			return page, next <= blockOf(last), err
		})(yield)
	}
}
