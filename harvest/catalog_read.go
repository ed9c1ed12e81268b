package harvest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
)

// What one View reads at most. Bytes are those of what is stored, and for items those of
// their descriptions, too, which may be many times as long.
const (
	pageItems = 256
	pageBytes = 256 << 10
	pageScan  = 8192 // entries, with those that a filter drops
)

// pages yields the elements of the pages that next returns, until there are no more. next
// appends to the empty page that it is given. From the second page on the next one is
// read while one is yielded.
func pages[T any](next func(page []T) (_ []T, more bool, err error)) iter.Seq2[T, error] {
	type result struct {
		page []T
		more bool
		err  error
	}
	return func(yield func(T, error) bool) {
		var spare []T
		var ahead chan result // of the page that is being read; nil if none is
		defer func() {
			if ahead != nil {
				<-ahead
			}
		}()
		for n := 0; ; n++ {
			var r result
			if ahead != nil {
				r, ahead = <-ahead, nil
			} else {
				r.page, r.more, r.err = next(spare[:0])
				spare = nil
			}
			if r.err != nil {
				yield(*new(T), r.err)
				return
			}
			if r.more && n > 0 {
				ahead = make(chan result, 1)
				go func(to chan<- result, page []T) {
					var r result
					r.page, r.more, r.err = next(page)
					to <- r
				}(ahead, spare[:0])
			}
			for i := range r.page {
				if !yield(r.page[i], nil) {
					return
				}
			}
			if !r.more {
				return
			}
			spare = r.page
		}
	}
}

// A pair is a key and its value.
type pair struct{ key, value []byte }

// scan returns the pairs with from <= key < to that are wanted, up to a page of at most n
// of them, appended to page, and the key to continue from: nil if there are no more.
func (r *reader) scan(page []pair, from, to key, n int, wanted func(pair) bool) (_ []pair, next key, err error) {
	size, seen := 0, 0
	var last []byte
	err = r.Scan(from, to, n, func(k, v []byte) bool {
		if p := (pair{k, v}); wanted == nil || wanted(p) {
			page = append(page, p)
		}
		size += len(v) // what is not wanted is in memory, too
		seen++
		if len(page) == n || size >= pageBytes || seen == pageScan {
			last = k
		}
		return last == nil
	})
	if err != nil || last == nil {
		return page, nil, err
	}
	return page, key(bytes.Clone(last)).after(), nil
}

// pairs yields the pairs with from <= key < to, page by page. The caller may keep them.
func (s *Catalog) pairs(ctx context.Context, from, to key) iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		pages(func(room []pair) (page []pair, more bool, err error) {
			var next key
			err = s.view(ctx, func(r *reader) (err error) {
				page, next, err = r.scan(room, from, to, pageItems, nil)
				for i := range page {
					page[i] = pair{bytes.Clone(page[i].key), bytes.Clone(page[i].value)}
				}
				return err
			})
			from = next
			return page, next != nil, err
		})(yield)
	}
}

// any reports whether there is a key with from <= key < to.
func (r *reader) any(from, to key) (found bool, err error) {
	err = r.Scan(from, to, 1, func(_, _ []byte) bool {
		found = true
		return false
	})
	return found, err
}

// Head implements [websync.Catalog].
func (s *Catalog) Head(ctx context.Context) (h websync.Head, err error) {
	err = s.view(ctx, func(r *reader) error {
		h = websync.Head{Generation: r.head.generation, Last: r.head.last, Baseline: r.head.baseline, Born: r.head.born,
			Live: map[string]int64{}}
		if h.Last > 0 {
			h.First, h.FirstTime, h.LastTime = 1, micro(r.head.firstTime), micro(r.head.lastTime)
		}
		var bad error
		from := newKey(sourceKey)
		err := r.Scan(from, from.end(), pageItems, func(k, v []byte) bool {
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

// Checkpoint returns the source's checkpoint, zero if there is none.
func (s *Catalog) Checkpoint(ctx context.Context, source string) (c Checkpoint, err error) {
	err = s.view(ctx, func(r *reader) error {
		c = Checkpoint{}
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

// lookup returns the records of ids, in their order; the zero Record for an unknown one.
func (s *Catalog) lookup(ctx context.Context, source string, ids []string) ([]Record, error) {
	return lookup(ctx, s, recordKey, source, ids, func(r *reader, id string, v *stored) (Record, error) {
		return r.record(v, source, id)
	})
}

// Get implements [websync.Catalog].
func (s *Catalog) Get(ctx context.Context, source string, ids []string) ([]websync.Item, error) {
	return lookup(ctx, s, recordKey, source, ids, func(r *reader, id string, v *stored) (websync.Item, error) {
		return r.item(v, source, id)
	})
}

// lookupTasks returns the tasks of ids, of every kind, in their order; the zero Task for
// an id that has none.
func (s *Catalog) lookupTasks(ctx context.Context, source string, ids []string) ([]Task, error) {
	return lookup(ctx, s, taskKey, source, ids, func(_ *reader, _ string, v *stored) (Task, error) { return v.task(source) })
}

// lookup returns what decode makes of the record or the task of every id.
func lookup[T any](ctx context.Context, s *Catalog, kind byte, source string, ids []string,
	decode func(r *reader, id string, v *stored) (T, error)) ([]T, error) {
	found := make([]T, len(ids))
	err := s.viewListed(ctx, func(add func(key)) {
		add(newKey(sourceKey).text(source))
		if src, ok := s.noted(source); ok {
			src.addIDs(kind, ids, add)
		}
	}, func(r *reader) error {
		src, ok, err := r.source(source)
		if err != nil || !ok {
			return err
		}
		s.noteSource(source, src)
		return lookupIn(r, kind, &src, ids, found, decode)
	})
	return found, err
}

// addIDs adds the keys of the records or tasks of those ids that may have one.
func (src *source) addIDs(kind byte, ids []string, add func(key)) {
	for _, id := range ids {
		if src.mayHave(kind, id) {
			add(src.key(kind, id))
		}
	}
}

// lookupIn is lookup in a source.
func lookupIn[T any](r *reader, kind byte, src *source, ids []string, found []T,
	decode func(r *reader, id string, v *stored) (T, error)) error {
	err := r.prefetchStored(func(add func(key)) { src.addIDs(kind, ids, add) }, addEntry)
	if err != nil {
		return err
	}
	k := newKey(kind)
	for i, id := range ids {
		if !src.mayHave(kind, id) {
			continue
		}
		k = src.id(k.of(kind).source(src.n), id)
		v, err := r.stored(k)
		if err != nil {
			return err
		}
		if found[i], err = decode(r, id, &v); err != nil {
			return err
		}
	}
	return nil
}

// addEntry adds the key of the entry of the log that a record refers to.
func addEntry(k key, v *stored, add func(key)) {
	if k[0] == recordKey && v.seq != 0 {
		add(v.entryKey())
	}
}

// Records yields the source's records, tombstones included, whose id is greater than
// after, in byte order of the id.
func (s *Catalog) Records(ctx context.Context, source, after string) iter.Seq2[Record, error] {
	return byID(ctx, s, recordKey, source, after, &listing[Record]{
		prefetch: addEntry,
		decode:   func(r *reader, id string, v *stored) (Record, error) { return r.record(v, source, id) },
		began:    func(rec *Record, h *head) bool { return rec.Born <= h.born },
	})
}

// briefs yields what Records does, of each record its brief only, which costs less.
func (s *Catalog) briefs(ctx context.Context, source, after string) iter.Seq2[brief, error] {
	return byID(ctx, s, recordKey, source, after, &listing[brief]{
		decode: func(_ *reader, id string, v *stored) (brief, error) { return v.brief(id) },
		began:  func(b *brief, h *head) bool { return b.Born <= h.born },
	})
}

// IDs yields the ids of the source's live records that are greater than after, in byte
// order. It costs less than Records.
func (s *Catalog) IDs(ctx context.Context, source, after string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for b, err := range s.briefs(ctx, source, after) {
			if err == nil && !b.Live() {
				continue
			}
			if !yield(b.ID, err) {
				return
			}
		}
	}
}

// Tasks yields all tasks of the source, of every kind, whose id is greater than after, in
// byte order of the id.
func (s *Catalog) Tasks(ctx context.Context, source, after string) iter.Seq2[Task, error] {
	return byID(ctx, s, taskKey, source, after, &listing[Task]{
		decode: func(_ *reader, _ string, v *stored) (Task, error) { return v.task(source) },
		began:  func(t *Task, h *head) bool { return t.N <= h.tasks*(replacements+1)+replacements },
	})
}

// A listing is how to list records or tasks.
type listing[T any] struct {
	prefetch func(k key, v *stored, add func(key)) // may be nil
	decode   func(r *reader, id string, v *stored) (T, error)
	// began reports whether the id had a T when the iterator began, so that a loop that
	// commits ends
	began func(x *T, h *head) bool
}

// byID yields the records or the tasks of a source.
func byID[T any](ctx context.Context, s *Catalog, kind byte, source, after string, l *listing[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var found []pair
		var from key // where the next page begins
		var began head
		pages(func(room []T) (page []T, more bool, err error) {
			err = s.view(ctx, func(r *reader) error {
				if from == nil {
					began = r.head
				}
				page, more = room, false
				src, ok, err := r.source(source)
				if err != nil || !ok {
					return err
				}
				s.noteSource(source, src)
				prefix := newKey(kind).source(src.n)
				begin := from
				if begin == nil {
					begin = src.key(kind, after).after()
				}
				var next key
				if found, next, err = r.scan(found[:0], begin, prefix.end(), pageItems, nil); err != nil {
					return err
				}
				var done int
				if page, done, err = l.page(r, page, src.idsOf(found), found, &began); err != nil {
					return err
				}
				if done < len(found) {
					next = key(bytes.Clone(found[done-1].key)).after()
				}
				more, from = next != nil, next
				return nil
			}, newKey(sourceKey).text(source))
			return page, more, err
		})(yield)
	}
}

// page appends to page what found holds of ids, up to pageBytes, and returns how many of
// them.
func (l *listing[T]) page(r *reader, page []T, ids []string, found []pair, began *head) (_ []T, done int, err error) {
	if err := r.prefetchListed(found, l.prefetch); err != nil {
		return page, 0, err
	}
	for size := 0; done < len(found) && size < pageBytes; done++ {
		var v stored
		if err := v.parse(found[done].value); err != nil {
			return page, done, err
		}
		if err := r.renumber(found[done].key, &v); err != nil {
			return page, done, err
		}
		x, err := l.decode(r, ids[done], &v)
		if err != nil {
			return page, done, err
		}
		if size += v.read; l.began(&x, began) {
			page = append(page, x)
		}
	}
	return page, done, nil
}

// idsOf returns the ids of records or tasks, which share one allocation.
func (s *idSpace) idsOf(found []pair) []string {
	const prefix = 1 + 4
	var all strings.Builder
	lengths := make([]int, len(found))
	for i, p := range found {
		shared, rest := s.parts(p.key[prefix:])
		lengths[i] = len(shared) + len(rest)
		all.WriteString(shared)
		all.Write(rest)
	}
	text := all.String()
	ids := make([]string, len(found))
	for i, n := range lengths {
		ids[i], text = text[:n], text[n:]
	}
	return ids
}

// prefetchListed prefetches the new numbers of records or tasks, and what more adds.
func (r *reader) prefetchListed(found []pair, more func(k key, v *stored, add func(key))) error {
	return r.prefetchNumbers(func(fn func(k key, v *stored)) {
		for _, p := range found {
			var v stored
			if v.parse(p.value) == nil { // otherwise reported when it is read
				fn(p.key, &v)
			}
		}
	}, more)
}

// due returns at most n tasks of the source that are due: of kind TaskGet, not parked,
// with a Due not after now. The earliest Due comes first.
func (s *Catalog) due(ctx context.Context, source string, now time.Time, n int) (tasks []Task, err error) {
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
		var ids []string
		err = r.Scan(prefix, to, n, func(k, _ []byte) bool {
			ids = append(ids, src.idOf(k[len(prefix)+8:]))
			return len(ids) < n
		})
		if err != nil {
			return err
		}
		tasks = make([]Task, len(ids))
		return lookupIn(r, taskKey, &src, ids, tasks, func(_ *reader, _ string, v *stored) (Task, error) {
			return v.task(source)
		})
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

// add appends an item to the page. It may hold what an earlier page had there.
func (w *walk) add() *websync.Item {
	w.page = slices.Grow(w.page, 1)[:len(w.page)+1]
	return &w.page[len(w.page)-1]
}

// walk yields the items of rng, page by page. read appends a page of the range that is
// left, and returns the number up to which it has read.
func (s *Catalog) walk(ctx context.Context, rng websync.Range,
	read func(*reader, *walk) (next websync.Seq, err error)) iter.Seq2[websync.Item, error] {
	rng.Sources = slices.Clone(rng.Sources)
	return func(yield func(websync.Item, error) bool) {
		w := walk{rng: rng}
		pages(func(room []websync.Item) ([]websync.Item, bool, error) {
			var next walk
			err := s.view(ctx, func(r *reader) (err error) {
				next = w
				next.page = room
				next.rng.After, err = read(r, &next)
				return err
			})
			w = next
			return w.page, w.rng.After < w.rng.Until, err
		})(yield)
	}
}

// Resources implements [websync.Catalog].
func (s *Catalog) Resources(ctx context.Context, rng websync.Range) iter.Seq2[websync.Item, error] {
	return s.walk(ctx, rng, func(r *reader, w *walk) (websync.Seq, error) {
		w.begin(r.head.born)
		last, err := r.bornPage(w)
		if err != nil {
			return 0, err
		}
		if _, ok := r.Reader.(Prefetcher); ok {
			err = r.prefetchReferences(w)
		} else {
			err = r.readRuns(w)
		}
		if err != nil {
			return 0, err
		}
		size := 0
		for i := range w.refs {
			ref := &w.refs[i]
			item := w.add()
			n, err := r.follow(ref, item)
			if err == nil {
				item.Source, err = r.name(ref.n)
			}
			if err != nil {
				return 0, err
			}
			if size += n + item.Resource.Size(); size >= pageBytes {
				return ref.born, nil
			}
		}
		return last, nil
	})
}

// Changes implements [websync.Catalog].
func (s *Catalog) Changes(ctx context.Context, rng websync.Range) iter.Seq2[websync.Item, error] {
	return s.walk(ctx, rng, func(r *reader, w *walk) (websync.Seq, error) {
		last, err := r.lastOf(&w.rng)
		if err != nil {
			return 0, err
		}
		if !w.started && !w.rng.Since.IsZero() {
			first, err := r.firstSince(w.rng.Generation, last, w.rng.Since)
			if err != nil {
				return 0, err
			}
			w.rng.After = max(w.rng.After, first-1)
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
		size := 0
		for _, p := range found {
			item := w.add()
			n, err := r.decodeEntry(p.value, item)
			if err == nil {
				item.Source, err = r.name(n)
			}
			if err != nil {
				return 0, err
			}
			item.Seq = numberOf(p.key)
			if size += len(p.value) + item.Resource.Size(); size >= pageBytes {
				return item.Seq, nil
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

// firstSince returns the number of the first entry of a generation whose time is not
// before t, and last+1 if there is none.
func (r *reader) firstSince(generation uint64, last websync.Seq, t time.Time) (websync.Seq, error) {
	parts := websync.Seq(2) // into which the entries in question are divided
	if r.prefetches() {
		parts = 17
	}
	first, end := websync.Seq(1), last+1
	for first < end {
		step := (end-first)/parts + 1
		err := r.prefetch(func(add func(key)) {
			for n := first + step - 1; n < end; n += step {
				add(newKey(logKey).entry(generation, n))
			}
		})
		if err != nil {
			return 0, err
		}
		for n := first + step - 1; n < end; n += step {
			var e entry
			ok, err := r.get(newKey(logKey).entry(generation, n), &e)
			if err == nil && !ok {
				err = fmt.Errorf("%w: the log has no entry %d", ErrCorrupt, n)
			}
			if err != nil {
				return 0, err
			}
			if micro(e.time).Before(t) {
				first = n + 1
			} else {
				end = n
			}
		}
	}
	return first, nil
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
	found, next, err := r.scan(w.found[:0], from(w.rng.After), from(w.rng.Until), pageItems, func(p pair) bool {
		return len(p.value) >= 4 && f.has(binary.BigEndian.Uint32(p.value))
	})
	w.found = found
	if err != nil || next == nil {
		return found, w.rng.Until, err
	}
	return found, numberOf(next[:len(next)-1]), nil
}

// prefetchNames prefetches the names of the sources of the entries in found.
func (r *reader) prefetchNames(found []pair) error {
	return r.prefetch(func(add func(key)) {
		seen := map[uint32]bool{}
		for _, p := range found {
			var e entry
			if e.parse(p.value) != nil {
				continue // reported when it is read
			}
			if !seen[e.n] && !r.knows(e.n) {
				seen[e.n] = true
				add(newKey(nameKey).source(e.n))
			}
		}
	})
}
