package harvest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/websync-go/websync"
)

// Compact writes a new generation of the log beside the old one: the latest state of
// every id, tombstones included, with their commit times, renumbered, and with the Prior
// 0. Runs go on beside it until it ends; then their claims end with [ErrFenced]. Changes
// reads the old generation until Drop. If the call ends early, nothing has changed, and
// the next one removes what it has written. If another process begins to compact the same
// Store, the earlier call ends with [ErrHeld].
//
// [Catalog.Retain] decides when this is worth it, keeps what is recent, and waits until
// no run is disturbed.
func (s *Catalog) Compact(ctx context.Context) (generation uint64, err error) {
	return s.compact(ctx, &selection{last: math.MaxInt64})
}

// compact is Compact for the entries that k selects.
func (s *Catalog) compact(ctx context.Context, k *selection) (generation uint64, err error) {
	// It works in many small Updates. The last of them copies what is left, ends the
	// claims and makes the new generation the newest. Then tasks are given the new
	// numbers; until that is done readers translate them. Records are given theirs when
	// they change: readers find them in the order of first appearances. A touch of an
	// entry that has been copied changes only the record.
	s.compacting.Lock()
	defer s.compacting.Unlock()
	if err := s.rewrite(ctx); err != nil {
		return 0, err
	}
	var t token
	rand.Read(t[:])
	if err := s.beginCompaction(ctx, t, k.restored); err != nil {
		return 0, err
	}
	for pace := (pace{s: s}); generation == 0; {
		busy := false
		err := s.update(ctx, func(w *writer) (err error) {
			generation, busy, err = w.compact(t, k, pace.begin())
			return err
		}, newKey(compactionKey))
		switch {
		case err == nil && busy:
			err = sleep(ctx, quietPoll)
		case err == nil && generation == 0:
			err = pace.rest(ctx)
		}
		if err != nil {
			return 0, err
		}
	}
	s.logChanged()
	return generation, s.rewrite(ctx)
}

// beginCompaction stops any other compaction and removes what it has written.
func (s *Catalog) beginCompaction(ctx context.Context, t token, restored int64) error {
	var next uint64
	err := s.update(ctx, func(w *writer) error {
		if w.head.rewriting {
			return ErrHeld // another process has just compacted
		}
		next = w.head.generation + 1
		c := compaction{token: t, next: next}
		if restored != 0 {
			c.next = unusedGeneration(next, restored)
		}
		return w.put(newKey(compactionKey), &c)
	})
	if err != nil {
		return err
	}
	ours := func(w *writer) error {
		_, err := w.compaction(t)
		return err
	}
	return s.remove(ctx, newKey(logKey).number(next), newKey(logKey).end(), ours)
}

// compaction returns the progress of the compaction t.
func (w *writer) compaction(t token) (c compaction, err error) {
	ok, err := w.get(newKey(compactionKey), &c)
	if err == nil && (!ok || c.token != t) {
		err = fmt.Errorf("compaction: %w", ErrHeld)
	}
	return c, err
}

// A step is one Update of maintenance: as many pages as take stepTime together with the
// end of the Update, and one at least. Others write in the restTime after it, which is
// long enough for a process that asks again and again whether the Store is free.
const (
	stepTime = 40 * time.Millisecond
	restTime = 10 * time.Millisecond
)

// A pace paces the steps of one task of maintenance.
type pace struct {
	s     *Catalog
	steps int
	asked time.Time     // when the step was last asked whether there was more time
	end   time.Duration // how long the end of the Update took in the last step
}

// begin begins a step, and returns a function that reports whether it has time for
// another page. Later steps take longer, so that commits do not outrun them.
func (p *pace) begin() (more func() bool) {
	if p.s.onePage {
		return func() bool { return false }
	}
	began := time.Now()
	limit := stepTime + stepTime*time.Duration(p.steps)/1000
	limit = max(limit-p.end, limit/4)
	p.asked = began
	return func() bool {
		p.asked = time.Now()
		return p.asked.Sub(began) < limit
	}
}

// rest ends a step, and waits until the next one.
func (p *pace) rest(ctx context.Context) error {
	began := time.Now()
	p.steps++
	p.end = began.Sub(p.asked)
	if db, ok := p.s.store.(Rester); ok {
		if err := db.Rest(ctx); err != nil {
			return err
		}
	}
	if p.s.onePage {
		return nil
	}
	return sleep(ctx, restTime-time.Since(began))
}

// sleep waits for d. It returns the cause if ctx ends before.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// compact copies the next pages of the log, while there is time for more. If those were
// the last ones it switches to the new generation and returns it, unless k waits for runs
// that go on: then it is busy.
func (w *writer) compact(t token, k *selection, more func() bool) (generation uint64, busy bool, err error) {
	c, err := w.compaction(t)
	if err != nil {
		return 0, false, err
	}
	k.copied.truncate(c.from) // an Update may be repeated
	end := newKey(logKey).entry(w.head.generation, w.head.last+1)
	all := false
	for copied := false; !all && (!copied || more()); copied = true {
		found, next, err := w.scan(nil, newKey(logKey).entry(w.head.generation, c.from+1), end, pageItems, nil)
		if err != nil {
			return 0, false, err
		}
		if err := w.prefetchCopied(found); err != nil {
			return 0, false, err
		}
		for _, p := range found {
			c.from = numberOf(p.key)
			if err := w.copyEntry(&c, k, p.value); err != nil {
				return 0, false, err
			}
		}
		all = next == nil
	}
	if err := w.setBlocks(); err != nil {
		return 0, false, err
	}
	runs, err := w.claimsOfRuns()
	if err == nil {
		busy, err = k.waitsFor(runs)
	}
	if !all || busy || err != nil {
		return 0, all && busy, errors.Join(err, w.put(newKey(compactionKey), &c))
	}
	err = w.switchTo(&c, runs)
	return w.head.generation, false, err
}

// prefetchCopied prefetches what copyEntry needs for entries of the log.
func (w *writer) prefetchCopied(found []pair) error {
	if !w.prefetches() {
		return nil
	}
	entries := make([]entry, 0, len(found))
	for _, p := range found {
		var e entry
		if e.parse(p.value) == nil { // copyEntry reports the error
			entries = append(entries, e)
		}
	}
	err := w.prefetch(func(add func(key)) {
		for i := range entries {
			add(blockKey(blockOf(entries[i].born)))
			if n := entries[i].n; !w.knows(n) {
				add(newKey(nameKey).source(n))
			}
		}
	})
	if err != nil {
		return err
	}
	return w.prefetch(func(add func(key)) {
		for i := range entries {
			e := &entries[i]
			if ref, err := w.reference(e.born); err == nil && ref.isTouched(&w.head) {
				if ids, id, err := w.idOf(e); err == nil {
					add(ids.key(recordKey, id))
				}
			}
		}
	})
}

// copyEntry copies the entry c.from, if k selects it. The latest one of an id is copied
// in the state that the record has now: it may have been touched.
func (w *writer) copyEntry(c *compaction, k *selection, value []byte) error {
	var e entry
	if err := e.parse(value); err != nil {
		return err
	}
	ref, err := w.reference(e.born)
	if err != nil {
		return err
	}
	latest := ref.seq(&w.head)
	switch {
	case c.from != latest && !k.keeps(c.from, latest):
		return nil
	case c.from == latest && ref.isTouched(&w.head):
		e.item, err = w.touchedItem(&e)
	case c.from == latest && ref.deleted && e.time < k.since:
		e.item, err = w.tombstoneItem(&e)
	}
	if err != nil {
		return err
	}
	if k.restored != 0 {
		w.head.clock = max(k.restored, w.head.clock+1)
		e.time = w.head.clock
	}
	e.prior = k.copied.numberOf(e.prior)
	k.copied.add(c.from)
	c.to++
	c.lastTime = e.time
	if c.to == 1 {
		c.firstTime = c.lastTime
	}
	if c.from <= w.head.baseline || k.restored != 0 {
		c.baseline = c.to
	}
	if next := c.next; c.from == latest {
		ref.numbers[next&1], ref.touched[next&1] = c.to, false
		if err := w.setReference(&ref); err != nil {
			return err
		}
	}
	w.scratch = e.append(w.scratch[:0])
	return w.insert(w.key(logKey).entry(c.next, c.to), w.scratch)
}

// touchedItem returns the item of the touched record of an entry, in the form of
// entry.item.
func (w *writer) touchedItem(e *entry) ([]byte, error) {
	ids, id, err := w.idOf(e)
	if err != nil {
		return nil, err
	}
	var v stored
	var rec record
	if _, err := w.get(ids.key(recordKey, id), &v); err != nil {
		return nil, err
	}
	if err := decodeRecord(v.data, id, &rec); err != nil {
		return nil, err
	}
	if rec.own == nil {
		return nil, ErrCorrupt
	}
	clearEntry(rec.own)
	return appendItem(nil, rec.own, ids.like), nil
}

// idOf returns the id of an entry, and the idSpace of its source.
func (w *writer) idOf(e *entry) (_ idSpace, id string, err error) {
	v, err := w.named(e.n)
	var item websync.Item
	if err == nil {
		err = decodeItem(e.item, &item, v.like)
	}
	return v.idSpace, item.Resource.ID, err
}

// claimsOfRuns returns the claims whose holders know numbers of records.
func (w *writer) claimsOfRuns() (runs []pair, err error) {
	for _, prefix := range [...]string{"source/", "work/"} {
		from := newKey(claimKey).text(prefix)
		err = w.Scan(from, from.end(), pageItems, func(k, v []byte) bool {
			runs = append(runs, pair{k, v})
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// switchTo makes the generation that c has written the newest, and ends the claims runs.
func (w *writer) switchTo(c *compaction, runs []pair) error {
	last := binary.AppendUvarint(nil, uint64(w.head.last))
	if err := w.set(newKey(generationKey).number(w.head.generation), last); err != nil {
		return err
	}
	if err := w.delete(newKey(compactionKey)); err != nil {
		return err
	}
	w.head.generation = c.next
	w.head.last, w.head.firstTime, w.head.lastTime, w.head.baseline = c.to, c.firstTime, c.lastTime, c.baseline
	w.head.rewriting = true
	for _, p := range runs {
		var c heldClaim
		if err := c.parse(p.value); err != nil {
			return err
		}
		if err := w.endClaim(p.key, c); err != nil {
			return err
		}
	}
	return nil
}

// rewrite gives all tasks the numbers of the newest generation.
func (s *Catalog) rewrite(ctx context.Context) error {
	needed, generation := false, uint64(0)
	err := s.view(ctx, func(r *reader) error {
		needed, generation = r.head.rewriting, r.head.generation
		return nil
	})
	if err != nil || !needed {
		return err
	}
	_, err = s.updatePages(ctx, newKey(taskKey), newKey(taskKey).end(), pageItems, (*writer).rewritePage)
	if err != nil {
		return err
	}
	return s.update(ctx, func(w *writer) error {
		w.head.rewriting = w.head.generation != generation
		if w.head.rewriting {
			return ErrHeld // another process has compacted meanwhile
		}
		return nil
	})
}

// rewritePage gives tasks the numbers of the newest generation.
func (w *writer) rewritePage(page []pair) error {
	if err := w.prefetchListed(page, nil); err != nil {
		return err
	}
	for _, p := range page {
		var v stored
		if err := v.parse(p.value); err != nil {
			return err
		}
		if v.generation == w.head.generation {
			continue
		}
		if err := w.renumber(p.key, &v); err != nil {
			return err
		}
		w.scratch = v.append(w.scratch[:0])
		if err := w.set(p.key, w.scratch); err != nil {
			return err
		}
	}
	return nil
}

// updatePages calls fn with the pairs from <= key < to, in pages of at most size, one or
// more in each Update, and returns the number of pairs.
func (s *Catalog) updatePages(ctx context.Context, from, to key, size int,
	fn func(w *writer, page []pair) error) (n int, err error) {
	for pace := (pace{s: s}); from != nil; {
		var done int
		var next key
		err := s.update(ctx, func(w *writer) error {
			done, next = 0, from
			more := pace.begin()
			for done == 0 || next != nil && more() {
				page, after, err := w.scan(nil, next, to, size, nil)
				if err != nil {
					return err
				}
				if err := fn(w, page); err != nil {
					return err
				}
				if done, next = done+len(page), after; len(page) == 0 {
					break
				}
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		if n, from = n+done, next; from != nil {
			if err := pace.rest(ctx); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// Drop removes all generations before the given one, but never the newest. It ends what a
// Compact has left to do.
func (s *Catalog) Drop(ctx context.Context, before uint64) error {
	for rewriting := true; rewriting; {
		err := s.rewrite(ctx)
		if err != nil && !errors.Is(err, ErrHeld) { // another compaction has ended
			return err
		}
		err = s.view(ctx, func(r *reader) error {
			rewriting = r.head.rewriting
			before = min(before, r.head.generation)
			return nil
		})
		if err != nil {
			return err
		}
	}
	// from here on readers do not find the older generations
	if err := s.remove(ctx, newKey(generationKey), newKey(generationKey).number(before), nil); err != nil {
		return err
	}
	return s.remove(ctx, newKey(logKey), newKey(logKey).number(before), nil)
}

// remove deletes from <= key < to in several Updates. If guard is not nil, each calls it
// first.
func (s *Catalog) remove(ctx context.Context, from, to key, guard func(*writer) error) error {
	_, err := s.updatePages(ctx, from, to, pageItems, func(w *writer, page []pair) error {
		if guard != nil {
			if err := guard(w); err != nil {
				return err
			}
		}
		for _, p := range page {
			if err := w.delete(p.key); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// Vacuum removes the bodies that no current record has named for at least grace. It may
// run beside a harvest. Blobs that no record has named, left by a process that has ended,
// are removed too but not counted.
func (s *Catalog) Vacuum(ctx context.Context, grace time.Duration) (removed int, err error) {
	limit := s.now() - grace.Microseconds()
	to := newKey(unusedKey).time(micro(limit + 1))
	removed, err = s.updatePages(ctx, newKey(unusedKey), to, pageItems, func(w *writer, page []pair) error {
		err := w.prefetch(func(add func(key)) {
			for _, p := range page {
				add(newKey(bodyKey).bytes(p.key[1+8:]))
			}
		})
		if err != nil {
			return err
		}
		for _, p := range page {
			if err := w.vacuum(p.key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return removed, err
	}
	if err := s.markOrphans(ctx, micro(limit)); err != nil {
		return removed, err
	}
	return removed, s.removeDead(ctx)
}

// vacuum removes one body that no record names.
func (w *writer) vacuum(unused key) error {
	k := unused[1+8:]
	bk := newKey(bodyKey).bytes(k)
	var v body
	ok, err := w.get(bk, &v)
	if err != nil {
		return err
	}
	if err := w.delete(unused); err != nil || !ok || v.refs > 0 {
		return err
	}
	if err := w.delete(bk); err != nil {
		return err
	}
	if v.blob == "" {
		return w.delete(newKey(dataKey).number(v.n))
	}
	left, err := w.untake(v.blob)
	if err != nil {
		return err
	}
	if left > 0 {
		return w.set(erasedKey(&v), present)
	}
	return w.set(blobKeyOf(deadKey, v.blob), present)
}

// markOrphans marks the blobs that no body names and nobody writes any more. Only the
// mark keeps a late Commit from naming a blob that is being removed.
func (s *Catalog) markOrphans(ctx context.Context, limit time.Time) error {
	var names []string
	var markErr error
	mark := func() bool {
		markErr = s.update(ctx, func(w *writer) error {
			err := w.prefetch(func(add func(key)) {
				for _, name := range names {
					add(blobKeyOf(takenKey, name))
				}
			})
			if err != nil {
				return err
			}
			for _, name := range names {
				if taken, err := w.Get(blobKeyOf(takenKey, name)); err != nil {
					return err
				} else if taken != nil {
					continue
				}
				if err := w.set(blobKeyOf(deadKey, name), present); err != nil {
					return err
				}
			}
			return nil
		})
		names = names[:0]
		return markErr == nil
	}
	err := s.blobs().ListBlobs(ctx, func(name string, modified time.Time) bool {
		if s.isAbandoned(name, modified, limit) {
			names = append(names, name)
		}
		return len(names) < pageItems || mark()
	})
	if err == nil && markErr == nil && len(names) > 0 {
		mark()
	}
	return errors.Join(err, markErr)
}

// blobName matches the names that spill makes. Other names are not ours to remove.
var blobName = regexp.MustCompile(`^[a-z2-7]{26}(\.[0-9A-Za-z]{1,30})?$`)

// isAbandoned reports whether the blob is one of ours that nobody writes any more.
func (s *Catalog) isAbandoned(name string, modified, limit time.Time) bool {
	_, owner, _ := strings.Cut(name, ".")
	switch {
	case !blobName.MatchString(name), s.isWriting(name):
		return false
	case owner == "":
		return !modified.After(limit)
	}
	return owner == s.owner() || s.dead(owner)
}

// removeDead removes the marked blobs.
func (s *Catalog) removeDead(ctx context.Context) error {
	for dead, err := range parts(s.pairs(ctx, newKey(deadKey), newKey(deadKey).end()), pageItems) {
		if err != nil {
			return err
		}
		for _, p := range dead {
			if err := s.removeBlob(ctx, string(p.key[1:])); err != nil {
				return err
			}
		}
		err = s.update(ctx, func(w *writer) error {
			for _, p := range dead {
				if err := w.delete(p.key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
