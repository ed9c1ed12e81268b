package kvstore

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// Compact implements [harvest.Maintainer]. It works in many small Updates beside commits.
// The last of them copies what is left, ends the claims and makes the new generation the
// newest; if the call ends before it, nothing has changed, and what it has written is
// removed by the next. Then records and tasks are given their new numbers; if the call
// ends before that is done, readers translate them, and the next call goes on.
//
// What changes while it runs appears in the new generation as in the old, with the entry
// before the change as well; a Touch of what has been copied already changes the record
// only. When another process begins to compact the same DB, the earlier call ends with
// [harvest.ErrHeld].
func (s *Store) Compact(ctx context.Context) (generation uint64, err error) {
	s.compacting.Lock()
	defer s.compacting.Unlock()
	if err := s.rewrite(ctx); err != nil {
		return 0, err
	}
	var t token
	rand.Read(t[:])
	if err := s.beginCompaction(ctx, t); err != nil {
		return 0, err
	}
	for n := 0; generation == 0; n++ {
		pages := 1 + n/64 // more and more, so that commits do not outrun it
		err := s.update(ctx, func(w *writer) (err error) {
			generation, err = w.compact(t, pages)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return generation, s.rewrite(ctx)
}

// beginCompaction stops any other and removes what it has left.
func (s *Store) beginCompaction(ctx context.Context, t token) error {
	var next uint64
	err := s.update(ctx, func(w *writer) error {
		if w.head.rewriting {
			return harvest.ErrHeld // another process has just compacted
		}
		next = w.head.generation + 1
		return w.put(newKey(compactionKey), &compaction{token: t})
	})
	if err != nil {
		return err
	}
	ours := func(w *writer) error {
		_, err := w.compaction(t)
		return err
	}
	if err := s.remove(ctx, newKey(logKey).number(next), newKey(logKey).end(), ours); err != nil {
		return err
	}
	return s.remove(ctx, newKey(renumberKey), newKey(renumberKey).end(), ours)
}

// compaction returns how far the compaction t is.
func (w *writer) compaction(t token) (c compaction, err error) {
	ok, err := w.get(newKey(compactionKey), &c)
	if err == nil && (!ok || c.token != t) {
		err = fmt.Errorf("compaction: %w", harvest.ErrHeld)
	}
	return c, err
}

// compact copies the next pages of the log. If those were the last ones it switches to
// the new generation and returns it.
func (w *writer) compact(t token, pages int) (generation uint64, err error) {
	c, err := w.compaction(t)
	if err != nil {
		return 0, err
	}
	end := entryKey(w.head.generation, w.head.last+1)
	for range pages {
		found, next, err := w.scan(entryKey(w.head.generation, c.from+1), end, nil)
		if err != nil {
			return 0, err
		}
		for _, p := range found {
			c.from = numberOf(p.key)
			if err := w.copyEntry(&c, p.value); err != nil {
				return 0, err
			}
		}
		if next == nil {
			err = w.switchTo(&c)
			return w.head.generation, err
		}
	}
	return 0, w.put(newKey(compactionKey), &c)
}

// copyEntry copies the entry c.from unless it is superseded, in the state that the record
// has now: it may have been touched.
func (w *writer) copyEntry(c *compaction, value []byte) error {
	var o owned
	var item websync.Item
	if err := o.parse(value); err != nil {
		return err
	}
	if err := harvest.DecodeItem(o.rest, &item); err != nil {
		return err
	}
	var v stored
	if _, err := w.get(newKey(recordKey).source(o.n).text(item.Resource.ID), &v); err != nil || v.seq != c.from {
		return err
	}
	if err := harvest.DecodeItem(v.data, &item); err != nil {
		return err
	}
	c.to++
	c.lastTime = item.Time.UnixMicro()
	if c.to == 1 {
		c.firstTime = c.lastTime
	}
	next := w.head.generation + 1
	if err := w.set(newKey(renumberKey).number(next).number(uint64(c.from)), key{}.number(uint64(c.to))); err != nil {
		return err
	}
	return w.setEntry(next, c.to, o.n, item)
}

// switchTo makes the generation that c has written the newest.
func (w *writer) switchTo(c *compaction) error {
	last := binary.AppendUvarint(nil, uint64(w.head.last))
	if err := w.set(newKey(generationKey).number(w.head.generation), last); err != nil {
		return err
	}
	if err := w.delete(newKey(compactionKey)); err != nil {
		return err
	}
	w.head.generation++
	w.head.last, w.head.firstTime, w.head.lastTime = c.to, c.firstTime, c.lastTime
	w.head.rewriting = true
	var claims []pair
	from := newKey(claimKey)
	err := w.Scan(from, from.end(), func(k, v []byte) bool {
		claims = append(claims, pair{k, v})
		return true
	})
	if err != nil {
		return err
	}
	for _, p := range claims {
		var c claim
		if err := c.parse(p.value); err != nil {
			return err
		}
		if err := w.endClaim(p.key, c); err != nil {
			return err
		}
	}
	return nil
}

// rewrite gives all records and tasks the numbers of the newest generation.
func (s *Store) rewrite(ctx context.Context) error {
	needed, generation := false, uint64(0)
	err := s.view(ctx, func(r *reader) error {
		needed, generation = r.head.rewriting, r.head.generation
		return nil
	})
	if err != nil || !needed {
		return err
	}
	for _, kind := range [...]byte{recordKey, taskKey} {
		if err := s.rewriteAll(ctx, kind); err != nil {
			return err
		}
	}
	same := func(w *writer) error {
		if w.head.generation != generation {
			return harvest.ErrHeld // another process has compacted meanwhile
		}
		return nil
	}
	prefix := newKey(renumberKey).number(generation) // which nobody needs any more
	if err := s.remove(ctx, prefix, prefix.end(), same); err != nil {
		return err
	}
	return s.update(ctx, func(w *writer) error {
		w.head.rewriting = w.head.generation != generation
		return same(w)
	})
}

func (s *Store) rewriteAll(ctx context.Context, kind byte) error {
	from := newKey(kind)
	to := from.end()
	for from != nil {
		var next key
		err := s.update(ctx, func(w *writer) error {
			found, after, err := w.scan(from, to, nil)
			next = after
			if err != nil {
				return err
			}
			for _, p := range found {
				if err := w.rewrite(p); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

func (w *writer) rewrite(p pair) error {
	var v stored
	if err := v.parse(p.value); err != nil || v.generation == w.head.generation {
		return err
	}
	if err := w.renumber(&v); err != nil {
		return err
	}
	return w.put(p.key, &v)
}

// Drop implements [harvest.Maintainer]. It never removes the newest generation.
func (s *Store) Drop(ctx context.Context, before uint64) error {
	first := newKey(generationKey)
	limit := func(kind byte, n uint64) key { return newKey(kind).number(n) }
	err := s.remove(ctx, first, limit(generationKey, before), nil) // from here on readers do not find it
	if err != nil {
		return err
	}
	err = s.view(ctx, func(r *reader) error {
		before = min(before, r.head.generation)
		return nil
	})
	if err != nil {
		return err
	}
	return s.remove(ctx, newKey(logKey), limit(logKey, before), nil)
}

// remove deletes from <= key < to in several Updates. Guard, if not nil, is asked in
// each.
func (s *Store) remove(ctx context.Context, from, to key, guard func(*writer) error) error {
	for from != nil {
		var next key
		err := s.update(ctx, func(w *writer) error {
			if guard != nil {
				if err := guard(w); err != nil {
					return err
				}
			}
			found, after, err := w.scan(from, to, nil)
			next = after
			if err != nil {
				return err
			}
			for _, p := range found {
				if err := w.delete(p.key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

// Vacuum implements [harvest.Maintainer]. Bodies that no Commit has taken, left by a
// process that has ended, are removed too but not counted.
func (s *Store) Vacuum(ctx context.Context, grace time.Duration) (removed int, err error) {
	limit := s.now() - grace.Microseconds()
	from := newKey(unusedKey)
	to := newKey(unusedKey).time(micro(limit + 1))
	for from != nil {
		var next key
		n := 0
		err := s.update(ctx, func(w *writer) error {
			found, after, err := w.scan(from, to, nil)
			n, next = 0, after
			if err != nil {
				return err
			}
			for _, p := range found {
				if err := w.vacuum(p.key); err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil {
			return removed, err
		}
		removed += n
		from = next
	}
	return removed, s.vacuumPending(ctx, limit)
}

// vacuum removes one body that no record names. Chunks are left as those of a body that
// was never committed.
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
	if v.chunk == 0 {
		return w.delete(newKey(dataKey).bytes(k))
	}
	return w.put(newKey(pendingKey).bytes(v.token[:]), &pending{since: v.since, chunks: v.chunks(), dead: true})
}

// vacuumPending removes chunks that nobody writes any more.
func (s *Store) vacuumPending(ctx context.Context, limit int64) error {
	from := newKey(pendingKey)
	to := from.end()
	for from != nil {
		var old []token
		var next key
		err := s.view(ctx, func(r *reader) error {
			found, after, err := r.scan(from, to, nil)
			old, next = nil, after
			if err != nil {
				return err
			}
			for _, f := range found {
				var p pending
				if err := p.parse(f.value); err != nil {
					return err
				}
				t := token(f.key[1:])
				if p.since <= limit && !s.isWriting(t) {
					old = append(old, t)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, t := range old {
			if err := s.removeChunks(ctx, t); err != nil {
				return err
			}
		}
		from = next
	}
	return nil
}
