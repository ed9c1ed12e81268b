package kvstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// What one View reads at most.
const (
	pageItems = 256
	pageBytes = 1 << 20
	pageScan  = 8192 // entries, with those that a filter drops
)

// pages yields the elements of the pages that next returns, until there are no more. next
// may reuse the page.
func pages[T any](next func() (page []T, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			page, more, err := next()
			if err != nil {
				yield(*new(T), err)
				return
			}
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			if !more {
				return
			}
		}
	}
}

// A pair is a key and its value.
type pair struct{ key, value []byte }

// scan appends to page the pairs with from <= key < to that are wanted, up to a page of
// them, and returns the key to continue from: nil if there are no more.
func (r *reader) scan(page []pair, from, to key, wanted func(pair) bool) (_ []pair, next key, err error) {
	size, seen := 0, 0
	var last []byte
	err = r.Scan(from, to, func(k, v []byte) bool {
		if p := (pair{k, v}); wanted == nil || wanted(p) {
			page = append(page, p)
			size += len(v)
		}
		seen++
		if len(page) == pageItems || size >= pageBytes || seen == pageScan {
			last = k
		}
		return last == nil
	})
	if err != nil || last == nil {
		return page, nil, err
	}
	return page, key(bytes.Clone(last)).after(), nil
}

// Head implements [websync.Catalog].
func (s *Store) Head(ctx context.Context) (h websync.Head, err error) {
	err = s.view(ctx, func(r *reader) error {
		h = websync.Head{Generation: r.head.generation, Last: r.head.last, Born: r.head.born, Live: map[string]int64{}}
		if h.Last > 0 {
			h.First, h.FirstTime, h.LastTime = 1, micro(r.head.firstTime), micro(r.head.lastTime)
		}
		var bad error
		from := newKey(sourceKey)
		err := r.Scan(from, from.end(), func(k, v []byte) bool {
			var src source
			if bad = src.parse(v); bad == nil && src.live > 0 {
				h.Live[string(k[1:])] = src.live
			}
			return bad == nil
		})
		if err == nil {
			err = bad
		}
		return err
	})
	return h, err
}

// Checkpoint implements [harvest.Store].
func (s *Store) Checkpoint(ctx context.Context, source string) (c harvest.Checkpoint, err error) {
	err = s.view(ctx, func(r *reader) error {
		c = harvest.Checkpoint{}
		src, ok, err := r.source(source)
		if err != nil || !ok {
			return err
		}
		b, err := r.Get(newKey(checkpointKey).source(src.n))
		if err != nil || b == nil {
			return err
		}
		p := parse(b)
		c.Version = int(p.int())
		c.Data = bytes.Clone(p.b)
		return p.err
	}, newKey(sourceKey).text(source))
	return c, err
}

// Lookup implements [harvest.Store].
func (s *Store) Lookup(ctx context.Context, source string, ids []string) ([]harvest.Record, error) {
	records := make([]harvest.Record, len(ids))
	err := s.lookup(ctx, recordKey, source, ids, func(i int, v *stored) error { return v.record(source, &records[i]) })
	return records, err
}

// Get implements [websync.Catalog].
func (s *Store) Get(ctx context.Context, source string, ids []string) ([]websync.Item, error) {
	items := make([]websync.Item, len(ids))
	err := s.lookup(ctx, recordKey, source, ids, func(i int, v *stored) error { return v.item(source, &items[i]) })
	return items, err
}

// LookupTasks implements [harvest.Store].
func (s *Store) LookupTasks(ctx context.Context, source string, ids []string) ([]harvest.Task, error) {
	tasks := make([]harvest.Task, len(ids))
	err := s.lookup(ctx, taskKey, source, ids, func(i int, v *stored) error { return v.task(source, &tasks[i]) })
	return tasks, err
}

// lookup calls found with the record or the task of every id.
func (s *Store) lookup(ctx context.Context, kind byte, source string, ids []string, found func(int, *stored) error) error {
	return s.view(ctx, func(r *reader) error {
		src, ok, err := r.source(source)
		if err != nil || !ok {
			return err
		}
		return lookup(r, kind, src.n, ids, found)
	}, newKey(sourceKey).text(source))
}

// lookup calls found with the record or the task of every id of a source.
func lookup[ID string | []byte](r *reader, kind byte, source uint32, ids []ID, found func(int, *stored) error) error {
	err := r.prefetchStored(func(add func(key)) {
		for _, id := range ids {
			add(append(newKey(kind).source(source), id...))
		}
	})
	if err != nil {
		return err
	}
	k := newKey(kind)
	for i, id := range ids {
		k = append(k.of(kind).source(source), id...)
		v, err := r.stored(k)
		if err != nil {
			return err
		}
		if err := found(i, &v); err != nil {
			return err
		}
	}
	return nil
}

// Records implements [harvest.Store].
func (s *Store) Records(ctx context.Context, source, after string) iter.Seq2[harvest.Record, error] {
	return byID(s, ctx, recordKey, source, after, func(v *stored, began *head) (rec harvest.Record, wanted bool, err error) {
		err = v.record(source, &rec)
		return rec, rec.Born <= began.born, err
	})
}

// Tasks implements [harvest.Store].
func (s *Store) Tasks(ctx context.Context, source, after string) iter.Seq2[harvest.Task, error] {
	return byID(s, ctx, taskKey, source, after, func(v *stored, began *head) (t harvest.Task, wanted bool, err error) {
		err = v.task(source, &t)
		return t, t.N <= began.tasks*(replacements+1)+replacements, err
	})
}

// byID yields the records or the tasks of a source. decode reports whether to yield one:
// its id must have had one when the iterator began, so that a loop that commits ends.
func byID[T any](s *Store, ctx context.Context, kind byte, source, after string,
	decode func(v *stored, began *head) (x T, wanted bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var page []T
		var from key // where the next page begins
		var began head
		pages(func() (_ []T, more bool, err error) {
			err = s.view(ctx, func(r *reader) error {
				if from == nil {
					began = r.head
				}
				page, more = page[:0], false
				src, ok, err := r.source(source)
				if err != nil || !ok {
					return err
				}
				prefix := newKey(kind).source(src.n)
				begin := from
				if begin == nil {
					begin = newKey(kind).source(src.n).text(after).after()
				}
				found, next, err := r.scan(nil, begin, prefix.end(), nil)
				if err != nil {
					return err
				}
				if err := r.prefetchNumbers(found); err != nil {
					return err
				}
				for _, p := range found {
					var v stored
					if err := v.parse(p.value); err != nil {
						return err
					}
					if err := r.renumber(&v); err != nil {
						return err
					}
					x, wanted, err := decode(&v, &began)
					if err != nil {
						return err
					}
					if wanted {
						page = append(page, x)
					}
				}
				more, from = next != nil, next
				return nil
			}, newKey(sourceKey).text(source))
			return page, more, err
		})(yield)
	}
}

// Due implements [harvest.Store].
func (s *Store) Due(ctx context.Context, source string, now time.Time, n int) (tasks []harvest.Task, err error) {
	if n <= 0 {
		return nil, ctx.Err()
	}
	err = s.view(ctx, func(r *reader) error {
		tasks = nil
		src, ok, err := r.source(source)
		if err != nil || !ok {
			return err
		}
		prefix := newKey(dueKey).source(src.n)
		to := newKey(dueKey).source(src.n).time(now.Add(time.Microsecond))
		var ids [][]byte
		err = r.Scan(prefix, to, func(k, _ []byte) bool {
			ids = append(ids, k[len(prefix)+8:])
			return len(ids) < n
		})
		if err != nil {
			return err
		}
		tasks = make([]harvest.Task, len(ids))
		return lookup(r, taskKey, src.n, ids, func(i int, v *stored) error { return v.task(source, &tasks[i]) })
	}, newKey(sourceKey).text(source))
	return tasks, err
}

// A walk iterates over items by number, page by page.
type walk struct {
	rng     websync.Range
	started bool
	page    []websync.Item
	found   []pair       // what is read for the page
	refs    []reference  // of the page
	order   []*reference // by number
}

// begin limits the walk to the items that are there now, so that a loop that commits
// ends.
func (w *walk) begin(last websync.Seq) {
	if w.started {
		return
	}
	w.started = true
	if w.rng.Until == 0 || w.rng.Until > last {
		w.rng.Until = last
	}
}

// walk yields the items of rng, page by page. read appends a page of the range that is
// left, and returns the number up to which it has read.
func (s *Store) walk(ctx context.Context, rng websync.Range, read func(*reader, *walk) (next websync.Seq, err error)) iter.Seq2[websync.Item, error] {
	rng.Sources = slices.Clone(rng.Sources)
	return func(yield func(websync.Item, error) bool) {
		w := walk{rng: rng}
		pages(func() ([]websync.Item, bool, error) {
			var next walk
			err := s.view(ctx, func(r *reader) (err error) {
				next = w
				next.page = w.page[:0]
				next.rng.After, err = read(r, &next)
				return err
			})
			w = next
			return w.page, w.rng.After < w.rng.Until, err
		})(yield)
	}
}

// Resources implements [websync.Catalog].
func (s *Store) Resources(ctx context.Context, rng websync.Range) iter.Seq2[websync.Item, error] {
	return s.walk(ctx, rng, func(r *reader, w *walk) (websync.Seq, error) {
		w.begin(r.head.born)
		from := func(after websync.Seq) key { return newKey(bornKey).number(uint64(after) + 1) }
		found, last, err := r.inRange(w, from)
		if err != nil {
			return 0, err
		}
		if err := r.references(w, found); err != nil {
			return 0, err
		}
		size := 0
		for i := range w.refs {
			n, v, err := r.follow(&w.refs[i])
			if err != nil {
				return 0, err
			}
			if err := r.addItem(w, n, &v); err != nil {
				return 0, err
			}
			if size += len(v.data); size >= pageBytes {
				return numberOf(found[i].key), nil
			}
		}
		return last, nil
	})
}

// references parses a page of the order of first appearances into w.refs, and reads what
// is read more cheaply together.
func (r *reader) references(w *walk, found []pair) error {
	if err := r.prefetchNumbers(found); err != nil {
		return err
	}
	w.refs = slices.Grow(w.refs[:0], len(found))[:len(found)]
	for i := range found {
		ref := &w.refs[i]
		if err := ref.parse(found[i].value); err != nil {
			return err
		}
		if err := r.renumber(&ref.stored); err != nil {
			return err
		}
	}
	if _, ok := r.Reader.(Prefetcher); !ok {
		return r.readRuns(w)
	}
	names := map[uint32]bool{}
	return r.prefetchStored(func(add func(key)) {
		for i := range w.refs {
			ref := &w.refs[i]
			if !names[ref.n] && !r.knows(ref.n) {
				names[ref.n] = true
				add(newKey(nameKey).source(ref.n))
			}
			add(ref.key())
		}
	})
}

// near is how far the number of an entry may be from that of the one before for a Scan of
// all between them to be cheaper than a Get.
const near = 4

// readRuns reads those entries of the log to which w.refs refer that are near to each
// other, a Scan for each run: many resources have not changed since they came, in the
// order of the log. It stops after pageBytes; follow reads the others.
func (r *reader) readRuns(w *walk) error {
	order := w.order[:0]
	for i := range w.refs {
		if w.refs[i].seq > 0 {
			order = append(order, &w.refs[i])
		}
	}
	w.order = order
	slices.SortFunc(order, func(a, b *reference) int { return cmp.Compare(a.seq, b.seq) })
	for size := 0; len(order) > 0 && size < pageBytes; {
		n := 1
		for n < len(order) && order[n].seq-order[n-1].seq <= near {
			n++
		}
		run := order[:n]
		if order = order[n:]; n == 1 {
			continue
		}
		from, to := run[0].key(), newKey(logKey).entry(r.head.generation, run[n-1].seq+1)
		err := r.Scan(from, to, func(k, v []byte) bool {
			if numberOf(k) == run[0].seq {
				run[0].entry, run = v, run[1:]
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

// follow returns what holds the item of ref, and the number of its source.
func (r *reader) follow(ref *reference) (n uint32, v stored, err error) {
	if ref.seq == 0 {
		v, err = r.stored(ref.key())
		return ref.n, v, err
	}
	if ref.entry == nil {
		if ref.entry, err = r.Get(ref.key()); err != nil {
			return 0, v, err
		}
	}
	var o owned
	err = o.parse(ref.entry)
	return o.n, stored{seq: ref.seq, data: o.rest}, err
}

// Changes implements [websync.Catalog].
func (s *Store) Changes(ctx context.Context, rng websync.Range) iter.Seq2[websync.Item, error] {
	return s.walk(ctx, rng, func(r *reader, w *walk) (websync.Seq, error) {
		last, err := r.lastOf(&w.rng)
		if err != nil {
			return 0, err
		}
		w.begin(last)
		from := func(after websync.Seq) key { return newKey(logKey).entry(w.rng.Generation, after+1) }
		found, last, err := r.inRange(w, from)
		if err == nil {
			err = r.prefetchNames(found)
		}
		if err != nil {
			return 0, err
		}
		for _, p := range found {
			var o owned
			if err := o.parse(p.value); err != nil {
				return 0, err
			}
			v := stored{seq: numberOf(p.key), data: o.rest}
			if err := r.addItem(w, o.n, &v); err != nil {
				return 0, err
			}
		}
		return last, nil
	})
}

// lastOf sets the generation if it is not named and returns the greatest number of the
// log.
func (r *reader) lastOf(rng *websync.Range) (websync.Seq, error) {
	if rng.Generation == 0 {
		rng.Generation = r.head.generation
	}
	if rng.Generation == r.head.generation {
		return r.head.last, nil
	}
	b, err := r.Get(newKey(generationKey).number(rng.Generation))
	if err == nil && b == nil {
		err = fmt.Errorf("%w: generation %d of the log", websync.ErrNotFound, rng.Generation)
	}
	if err != nil {
		return 0, err
	}
	p := parse(b)
	last := websync.Seq(p.uint())
	return last, p.end()
}

// numberOf returns the number that a key of the log or of the order of first appearances
// ends with.
func numberOf(k []byte) websync.Seq {
	return websync.Seq(binary.BigEndian.Uint64(k[len(k)-8:]))
}

// inRange returns a page of the entries that w wants, and the number up to which all are
// read.
func (r *reader) inRange(w *walk, from func(after websync.Seq) key) ([]pair, websync.Seq, error) {
	f, err := r.filter(w.rng.Sources)
	if err != nil || f.nothing() || w.rng.After >= w.rng.Until {
		return nil, w.rng.Until, err
	}
	found, next, err := r.scan(w.found[:0], from(w.rng.After), from(w.rng.Until), func(p pair) bool {
		return len(p.value) >= 4 && f.has(binary.BigEndian.Uint32(p.value))
	})
	w.found = found
	if err != nil || next == nil {
		return found, w.rng.Until, err
	}
	return found, numberOf(next[:len(next)-1]), nil
}

func (r *reader) addItem(w *walk, n uint32, v *stored) error {
	if v.data == nil {
		return harvest.ErrCorrupt
	}
	name, err := r.name(n)
	if err != nil {
		return err
	}
	w.page = append(w.page, websync.Item{})
	return v.item(name, &w.page[len(w.page)-1])
}

// prefetchNames prefetches the names of the sources of the entries in found.
func (r *reader) prefetchNames(found []pair) error {
	return r.prefetch(func(add func(key)) {
		seen := map[uint32]bool{}
		for _, p := range found {
			var o owned
			if o.parse(p.value) != nil {
				continue // reported when it is read
			}
			if !seen[o.n] && !r.knows(o.n) {
				seen[o.n] = true
				add(newKey(nameKey).source(o.n))
			}
		}
	})
}

// prefetchNumbers prefetches the new numbers of the records, tasks or references in
// found.
func (r *reader) prefetchNumbers(found []pair) error {
	if !r.head.rewriting {
		return nil
	}
	return r.prefetch(func(add func(key)) {
		for _, p := range found {
			var v stored
			if v.parse(numbered(p)) == nil && v.isOld(&r.head) {
				add(v.renumberKey(&r.head))
			}
		}
	})
}
