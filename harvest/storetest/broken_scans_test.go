package storetest_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

func after(key []byte) []byte { return append(slices.Clip(key), 0) }

// pages makes Scan yield what alter makes of what is found.
func pages(alter func(found []entry, n int) []entry) func(d *driver) {
	return inBoth(func(t *tx) {
		t.scan = func(from, to []byte, n int, fn visit) error {
			return yielding(func(from, to []byte) []entry { return alter(t.base.between(from, to), n) })(from, to, n, fn)
		}
	})
}

// dropping returns a function that drops entries that don't follow those before.
func dropping(follows func(yielded []entry, e entry) bool) func(found []entry) []entry {
	return func(found []entry) (yielded []entry) {
		for _, e := range found {
			if len(yielded) == 0 || follows(yielded, e) {
				yielded = append(yielded, e)
			}
		}
		return yielded
	}
}

const (
	each   = "Scan calls fn with each key from <= key < to"
	sorted = "Scan calls fn with each key in order of the keys"
	hint   = "n is how many keys the caller expects to need; it may need fewer or more"
)

var brokenScans = []brokenDriver{
	{
		name:   "in a View, Scan includes to",
		breaks: each,
		caught: "update/panic",
		fault:  inViews(within(func(from, to []byte) ([]byte, []byte) { return from, after(to) })),
	},
	{
		name:   "in an Update, Scan includes to",
		breaks: each,
		caught: "update/own",
		fault:  inUpdates(within(func(from, to []byte) ([]byte, []byte) { return from, after(to) })),
	},
	{
		name:   "Scan includes keys that begin with to, but not to",
		breaks: each,
		caught: "update/failed",
		fault: inBoth(within(func(from, to []byte) ([]byte, []byte) {
			return from, append(slices.Clip(to), 0xff)
		})),
	},
	{
		name:   "Scan excludes from",
		breaks: each,
		caught: "update/panic",
		fault:  inBoth(within(func(from, to []byte) ([]byte, []byte) { return after(from), to })),
	},
	{
		name:   "Scan excludes from plus 0x00",
		breaks: each,
		caught: "update/own",
		fault: inBoth(func(t *tx) {
			t.scans(func(from, to []byte) []entry {
				return slices.DeleteFunc(slices.Clone(t.base.between(from, to)), func(e entry) bool {
					return bytes.Equal(e.key, after(from))
				})
			})
		}),
	},
	{
		name:   "Scan ends at a key with 0x00",
		breaks: each,
		caught: "update/panic",
		fault: inBoth(finding(func(found []entry) []entry {
			if i := slices.IndexFunc(found, func(e entry) bool { return bytes.IndexByte(e.key, 0) > 0 }); i >= 0 {
				return found[:i]
			}
			return found
		})),
	},
	{
		name:   "Scan leaves out keys that begin with 0xff",
		breaks: each,
		caught: "update/failed",
		fault: inBoth(finding(func(found []entry) []entry {
			return slices.DeleteFunc(slices.Clone(found), func(e entry) bool { return e.key[0] == 0xff })
		})),
	},
	{
		name:   "a Scan to a bound that ends in 0xff yields nothing",
		breaks: each,
		caught: "pairs/expected",
		fault: inBoth(within(func(from, to []byte) ([]byte, []byte) {
			if bytes.HasSuffix(to, []byte{0xff}) {
				to = from
			}
			return from, to
		})),
	},
	{
		name:   "a Scan to a bound that ends in 0xff has no bound",
		breaks: each,
		caught: "update/own",
		fault: inBoth(within(func(from, to []byte) ([]byte, []byte) {
			if bytes.HasSuffix(to, []byte{0xff}) {
				to = bytes.Repeat([]byte{0xff}, 6000)
			}
			return from, to
		})),
	},
	{
		name:   "a Scan whose from is after to is an error",
		breaks: each,
		caught: "update/failed",
		fault: inBoth(func(t *tx) {
			next := t.scan
			t.scan = func(from, to []byte, n int, fn visit) error {
				if bytes.Compare(from, to) > 0 {
					return errors.New("from is after to")
				}
				return next(from, to, n, fn)
			}
		}),
	},
	{
		name:   "a Scan of more than 64 keys yields the 64th twice",
		breaks: each,
		caught: "pairs/expected",
		fault: inBoth(finding(func(found []entry) []entry {
			if len(found) <= 64 {
				return found
			}
			return slices.Insert(slices.Clone(found), 64, found[63])
		})),
	},
	{
		name:   "a Scan of more than 64 keys leaves out the 65th",
		breaks: each,
		caught: "pairs/expected",
		fault: inBoth(finding(func(found []entry) []entry {
			if len(found) <= 64 {
				return found
			}
			return slices.Delete(slices.Clone(found), 64, 65)
		})),
	},
	{
		name:   "each 64 keys, Scan leaves out those that begin with the last one",
		breaks: each,
		caught: "pairs/bounds",
		fault: inBoth(finding(dropping(func(yielded []entry, e entry) bool {
			n := len(yielded)
			return n%64 != 0 || !bytes.HasPrefix(e.key, yielded[n-1].key)
		}))),
	},
	{
		name:   "a Scan of a multiple of 100 keys yields the last one twice",
		breaks: each,
		caught: "harvest/runs",
		fault: inBoth(finding(func(found []entry) []entry {
			if n := len(found); n > 0 && n%100 == 0 {
				return append(slices.Clip(found), found[n-1])
			}
			return found
		})),
	},
	{
		name:   "a Scan of a multiple of 64 keys is an error",
		breaks: each,
		caught: "pairs/expected",
		fault: inBoth(func(t *tx) {
			next := t.scan
			t.scan = func(from, to []byte, n int, fn visit) error {
				seen, ended := 0, true
				err := next(from, to, n, func(key, value []byte) bool {
					seen++
					ended = fn(key, value)
					return ended
				})
				if ended && seen > 0 && seen%64 == 0 {
					return io.ErrUnexpectedEOF
				}
				return err
			}
		}),
	},
	{
		name:   "Scan ends after 1000 keys",
		breaks: each,
		caught: "pairs/many",
		fault:  inBoth(finding(func(found []entry) []entry { return found[:min(1000, len(found))] })),
	},
	{
		name:   "Scan ends after 1 MB of values",
		breaks: each,
		caught: "pairs/values",
		fault: inBoth(finding(func(found []entry) []entry {
			size := 0
			for i, e := range found {
				if size += len(e.value); size > 1e6 {
					return found[:i]
				}
			}
			return found
		})),
	},
	{
		name:   "Scan calls fn once more after it has returned false",
		breaks: "Scan calls fn until it returns false",
		caught: "pairs/expected",
		fault: inBoth(func(t *tx) {
			t.visits(func(fn visit) visit {
				stopped := false
				return func(key, value []byte) bool {
					if stopped {
						fn(key, value)
						return false
					}
					stopped = !fn(key, value)
					return true
				}
			})
		}),
	},
	{
		name:   "Scan returns an error when fn returns false",
		breaks: "Scan returns its own errors only",
		caught: "pairs/expected",
		fault: inBoth(func(t *tx) {
			next := t.scan
			t.scan = func(from, to []byte, n int, fn visit) error {
				stopped := false
				err := next(from, to, n, func(key, value []byte) bool {
					stopped = !fn(key, value)
					return !stopped
				})
				if stopped {
					return io.EOF
				}
				return err
			}
		}),
	},
	{
		name:   "after a Scan that fn has stopped, the next Scan goes on there",
		breaks: each,
		caught: "pairs/expected",
		fault: inBoth(func(t *tx) {
			next := t.scan
			var stopped []byte
			t.scan = func(from, to []byte, n int, fn visit) error {
				if bytes.Compare(from, stopped) < 0 {
					from = stopped
				}
				stopped = nil
				return next(from, to, n, func(key, value []byte) bool {
					if fn(key, value) {
						return true
					}
					stopped = after(key)
					return false
				})
			}
		}),
	},
	{
		name:   "after a Scan that fn has stopped, Get is an error",
		breaks: "Get is not called while a Scan runs",
		caught: "update/own",
		fault: inBoth(func(t *tx) {
			open := false
			t.visits(func(fn visit) visit {
				return func(key, value []byte) bool {
					open = !fn(key, value)
					return !open
				}
			})
			next := t.get
			t.get = func(key []byte) ([]byte, error) {
				if open {
					return nil, errors.New("a cursor is open")
				}
				return next(key)
			}
		}),
	},
	{
		name:   "after a Scan that fn has stopped, Set is lost",
		breaks: "If fn returns nil, all that it has written is applied",
		caught: "update/context",
		fault: inUpdates(func(t *tx) {
			open := false
			t.visits(func(fn visit) visit {
				return func(key, value []byte) bool {
					open = !fn(key, value)
					return !open
				}
			})
			t.puts(func(next put) put {
				return func(key, value []byte) error {
					if open {
						t.own[string(key)] = value
						return nil
					}
					return next(key, value)
				}
			})
		}),
	},
	{
		name:   "Scan yields at most n keys",
		breaks: hint,
		caught: "update/failed",
		fault:  pages(func(found []entry, n int) []entry { return found[:min(n, len(found))] }),
	},
	{
		name:   "Scan yields at most two pages of n keys",
		breaks: hint,
		caught: "update/panic",
		fault:  pages(func(found []entry, n int) []entry { return found[:min(2*min(n, 1<<30), len(found))] }),
	},
	{
		name:   "Scan of more keys than 32 bits can count yields nothing",
		breaks: hint,
		caught: "pairs/expected",
		fault: pages(func(found []entry, n int) []entry {
			if int32(n) <= 0 {
				return nil
			}
			return found
		}),
	},
	{
		name:   "Scan leaves out a key between the first page of n keys and the next",
		breaks: hint,
		caught: "update/own",
		fault: pages(func(found []entry, n int) []entry {
			if n < len(found) {
				return slices.Delete(slices.Clone(found), n, n+1)
			}
			return found
		}),
	},
	{
		name:   "Scan of n keys yields the last one twice if there are n",
		breaks: hint,
		caught: "update/failed",
		fault: pages(func(found []entry, n int) []entry {
			if n == len(found) {
				return append(slices.Clip(found), found[n-1])
			}
			return found
		}),
	},
	{
		name:   "the false of fn ends a page of n keys only",
		breaks: "Scan calls fn until it returns false",
		caught: "pairs/expected",
		fault: inBoth(func(t *tx) {
			t.scan = func(from, to []byte, n int, fn visit) error {
				for page := range slices.Chunk(t.base.between(from, to), n) {
					for _, e := range page {
						if !fn(e.key, e.value) {
							break
						}
					}
				}
				return nil
			}
		}),
	},
	{
		name:   "Scan uses the memory of a page of n keys for the next one",
		breaks: unchanged,
		caught: "update/own",
		fault: inBoth(func(t *tx) {
			next := t.scan
			t.scan = func(from, to []byte, n int, fn visit) error {
				memory, i := map[int]*entry{}, 0
				return next(from, to, n, func(key, value []byte) bool {
					slot := memory[i%n]
					if slot == nil {
						slot = &entry{}
						memory[i%n] = slot
					}
					i++
					slot.key, slot.value = append(slot.key[:0], key...), append(slot.value[:0], value...)
					return fn(slot.key, slot.value)
				})
			}
		}),
	},
	{
		name:   "Scan yields the keys of the last Update after the others",
		breaks: sorted,
		caught: "update/failed",
		fault: func(d *driver) {
			var last map[string]bool
			d.commit = func(t *tx) error {
				d.m.mu.Lock()
				last = map[string]bool{}
				for _, w := range t.writes {
					last[string(w.key)] = true
				}
				d.m.mu.Unlock()
				return d.soundCommit(t)
			}
			alter := finding(func(found []entry) []entry {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				var old, recent []entry
				for _, e := range found {
					if last[string(e.key)] {
						recent = append(recent, e)
					} else {
						old = append(old, e)
					}
				}
				return append(old, recent...)
			})
			d.viewing, d.updating = alter, alter
		},
	},
	{
		name:   "in an Update, Scan yields a key that a former one has deleted, with no value",
		breaks: "Delete removes key",
		caught: "harvest/runs",
		fault: func(d *driver) {
			var deleted []write
			d.commit = func(t *tx) error {
				d.m.mu.Lock()
				for key, value := range t.own {
					if value == nil {
						deleted = append(deleted, write{key: []byte(key), value: []byte{}})
					}
				}
				d.m.mu.Unlock()
				return d.soundCommit(t)
			}
			d.updating = func(t *tx) {
				t.scans(func(from, to []byte) []entry {
					d.m.mu.Lock()
					defer d.m.mu.Unlock()
					all := t.base
					for _, w := range deleted {
						if t.base.get(w.key) == nil {
							all = all.with([]write{w})
						}
					}
					return all.between(from, to)
				})
			}
		},
	},
	{
		name:   "in an Update, Scan leaves out the key after one that the Update has deleted",
		breaks: "In a Tx, Scan need not include what the same Tx has written",
		caught: "update/context",
		fault: inUpdates(func(t *tx) {
			t.scans(func(from, to []byte) (found []entry) {
				skip := false
				for _, e := range t.base.between(from, to) {
					value, ok := t.own[string(e.key)]
					if deleted := ok && value == nil; deleted || skip {
						skip = deleted
						continue
					}
					found = append(found, e)
				}
				return found
			})
		}),
	},
	{
		name:   "in an Update, Scan yields what the Update has written after the rest",
		breaks: sorted,
		caught: "update/failed",
		fault: inUpdates(func(t *tx) {
			t.scans(func(from, to []byte) []entry {
				old := slices.DeleteFunc(slices.Clone(t.base.between(from, to)), func(e entry) bool {
					_, written := t.own[string(e.key)]
					return written
				})
				return append(old, state(nil).with(t.writes).between(from, to)...)
			})
		}),
	},
	{
		name:   "in an Update, Scan yields a key twice that the Update has set again",
		breaks: each,
		caught: "update/context",
		fault: inUpdates(func(t *tx) {
			t.scans(func(from, to []byte) (found []entry) {
				for _, e := range t.base.between(from, to) {
					found = append(found, e)
					if value := t.own[string(e.key)]; value != nil {
						found = append(found, entry{e.key, value})
					}
				}
				return found
			})
		}),
	},
	{
		name:   "in an Update that has written, Scan yields only what it has written",
		breaks: each,
		caught: "update/own",
		fault: inUpdates(func(t *tx) {
			t.scans(func(from, to []byte) []entry {
				if len(t.writes) > 0 {
					return state(nil).with(t.writes).between(from, to)
				}
				return t.base.between(from, to)
			})
		}),
	},
	{
		name:   "in an Update, Scan reads the state before the last Update",
		breaks: "Each Update sees what those before it wrote",
		caught: "pairs/expected",
		fault: lagging(func(t *tx, before state) {
			t.scans(func(from, to []byte) []entry { return before.between(from, to) })
		}),
	},
}
