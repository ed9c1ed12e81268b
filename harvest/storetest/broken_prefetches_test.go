package storetest_test

import (
	"bytes"
	"errors"
	"slices"
)

// fetched makes Prefetch remember for keys what read returns.
func fetched(read func(t *tx, keys [][]byte) (values [][]byte)) func(d *driver) {
	return inBoth(func(t *tx) {
		t.prefetch = func(keys [][]byte) error {
			for i, value := range read(t, keys) {
				t.prefetched[string(keys[i])] = value
			}
			return nil
		}
	})
}

// values returns the values of keys.
func (s state) values(keys [][]byte) (values [][]byte) {
	for _, key := range keys {
		values = append(values, s.get(key))
	}
	return values
}

// first is Get that asks remembered first.
func (t *tx) first(remembered func(key string) (value []byte, ok bool)) {
	next := t.get
	t.get = func(key []byte) ([]byte, error) {
		if value, ok := remembered(string(key)); ok {
			return value, nil
		}
		return next(key)
	}
}

const (
	orWritten = "Get returns what Prefetch has read, or what the same Tx has written since"
	readsKeys = "Prefetch reads keys, known and unknown, and from then on Get returns what it has read"
)

var brokenPrefetches = []brokenDriver{
	{
		name:   "Get returns what was prefetched though the Update has set it since",
		breaks: orWritten,
		caught: "optional/prefetch",
		fault: inUpdates(func(t *tx) {
			t.prefetch = func(keys [][]byte) error {
				for _, key := range keys {
					value, err := t.soundGet(key)
					if err != nil {
						return err
					}
					t.prefetched[string(key)] = value
				}
				return nil
			}
			t.first(func(key string) ([]byte, bool) {
				value := t.prefetched[key]
				return value, value != nil && t.own[key] != nil
			})
		}),
	},
	{
		name:   "Get returns what was prefetched though the Update has deleted it since",
		breaks: orWritten,
		caught: "update/own",
		fault: inUpdates(func(t *tx) {
			t.prefetch = func(keys [][]byte) error {
				for _, key := range keys {
					value, err := t.soundGet(key)
					if err != nil {
						return err
					}
					t.prefetched[string(key)] = value
				}
				return nil
			}
			t.first(func(key string) ([]byte, bool) {
				own, written := t.own[key]
				value := t.prefetched[key]
				return value, value != nil && written && own == nil
			})
		}),
	},
	{
		name:   "Prefetch hides what the Update has written before",
		breaks: ownWrites,
		caught: "optional/prefetch",
		fault: inUpdates(func(t *tx) {
			hidden := map[string]bool{}
			next := t.prefetch
			t.prefetch = func(keys [][]byte) error {
				for _, key := range keys {
					hidden[string(key)] = true
				}
				return next(keys)
			}
			t.first(func(key string) ([]byte, bool) { return t.prefetched[key], hidden[key] })
			remove := t.delete
			t.delete = func(key []byte) error {
				delete(hidden, string(key))
				return remove(key)
			}
			t.puts(func(next put) put {
				return func(key, value []byte) error {
					delete(hidden, string(key))
					return next(key, value)
				}
			})
		}),
	},
	{
		name:   "Prefetch brings back what the Update has deleted before",
		breaks: ownWrites,
		caught: "optional/prefetch",
		fault: inUpdates(func(t *tx) {
			next := t.prefetch
			t.prefetch = func(keys [][]byte) error {
				for _, key := range keys {
					if value, ok := t.own[string(key)]; ok && value == nil {
						delete(t.own, string(key))
					}
				}
				return next(keys)
			}
		}),
	},
	{
		name:   "a prefetched key that was unknown stays so though the Update has set it since",
		breaks: orWritten,
		caught: "update/random",
		fault: inUpdates(func(t *tx) {
			next := t.prefetch
			t.prefetch = func(keys [][]byte) error {
				return next(slices.DeleteFunc(slices.Clone(keys), func(key []byte) bool {
					_, written := t.own[string(key)]
					return written
				}))
			}
			t.first(func(key string) ([]byte, bool) {
				value, ok := t.prefetched[key]
				return nil, ok && value == nil
			})
		}),
	},
	{
		name:   "what an Update has prefetched stays for the next one",
		breaks: oneOrder,
		caught: "optional/prefetch",
		fault: func(d *driver) {
			shared := map[string][]byte{}
			d.updating = func(t *tx) { t.prefetched = shared }
		},
	},
	{
		name:   "what a View has prefetched stays for the next one",
		breaks: oneState,
		caught: "update/panic",
		fault: func(d *driver) {
			shared := map[string][]byte{}
			d.viewing = func(t *tx) {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				for key, value := range shared {
					t.prefetched[key] = value
				}
				next := t.prefetch
				t.prefetch = func(keys [][]byte) error {
					err := next(keys)
					d.m.mu.Lock()
					defer d.m.mu.Unlock()
					for _, key := range keys {
						shared[string(key)] = t.prefetched[string(key)]
					}
					return err
				}
			}
		},
	},
	{
		name:   "after a second Prefetch, the keys of the first are unknown",
		breaks: readsKeys,
		caught: "update/random",
		fault: inBoth(func(t *tx) {
			next := t.prefetch
			t.prefetch = func(keys [][]byte) error {
				for key := range t.prefetched {
					t.prefetched[key] = nil
				}
				return next(keys)
			}
		}),
	},
	{
		name:   "after a Prefetch, other keys are unknown",
		breaks: "Prefetch is called before most Gets",
		caught: "optional/prefetch",
		fault: inBoth(func(t *tx) {
			t.first(func(key string) ([]byte, bool) {
				_, written := t.own[key]
				_, ok := t.prefetched[key]
				return nil, len(t.prefetched) > 0 && !ok && !written
			})
		}),
	},
	{
		name:   "Prefetch of keys that are not in order mixes up their values",
		breaks: readsKeys,
		caught: "optional/prefetch",
		fault: fetched(func(t *tx, keys [][]byte) [][]byte {
			return t.base.values(slices.SortedFunc(slices.Values(keys), bytes.Compare))
		}),
	},
	{
		name:   "an unknown key among those of Prefetch shifts the values of the others",
		breaks: readsKeys,
		caught: "optional/prefetch",
		fault: fetched(func(t *tx, keys [][]byte) [][]byte {
			return slices.DeleteFunc(t.base.values(keys), func(value []byte) bool { return value == nil })
		}),
	},
	{
		name:   "a key twice among those of Prefetch shifts the values of the others",
		breaks: readsKeys,
		caught: "harvest/runs",
		fault: fetched(func(t *tx, keys [][]byte) [][]byte {
			seen := map[string]bool{}
			return t.base.values(slices.DeleteFunc(slices.Clone(keys), func(key []byte) bool {
				again := seen[string(key)]
				seen[string(key)] = true
				return again
			}))
		}),
	},
	{
		name:   "Prefetch takes keys after the 1000th for unknown",
		breaks: readsKeys,
		caught: "pairs/many",
		fault: fetched(func(t *tx, keys [][]byte) [][]byte {
			values := t.base.values(keys)
			clear(values[min(1000, len(values)):])
			return values
		}),
	},
	{
		name:   "Get of a prefetched unknown key returns an empty value",
		breaks: "Get returns the value of key, nil if there is none",
		caught: "optional/prefetch",
		fault: fetched(func(t *tx, keys [][]byte) [][]byte {
			values := t.base.values(keys)
			for i, value := range values {
				if value == nil {
					values[i] = []byte{}
				}
			}
			return values
		}),
	},
	{
		name:   "a Prefetch overwrites what Get has returned since the last one",
		breaks: unchanged,
		caught: "optional/prefetch",
		fault: inBoth(func(t *tx) {
			arena := make([]byte, 0, 1<<16)
			next := t.prefetch
			t.prefetch = func(keys [][]byte) error {
				clear(t.prefetched)
				if err := next(keys); err != nil {
					return err
				}
				arena = arena[:0]
				for _, key := range keys {
					if value := t.prefetched[string(key)]; value != nil && len(arena)+len(value) <= cap(arena) {
						arena = append(arena, value...)
						t.prefetched[string(key)] = slices.Clip(arena[len(arena)-len(value):])
					}
				}
				return nil
			}
		}),
	},
	{
		name:   "in a View, Prefetch reads the newest state",
		breaks: oneState,
		caught: "update/one-state",
		fault: inViews(func(t *tx) {
			t.prefetch = func(keys [][]byte) error {
				newest := t.d.m.newest()
				for _, key := range keys {
					t.prefetched[string(key)] = newest.get(key)
				}
				return nil
			}
		}),
	},
	{
		name:   "in an Update, Prefetch reads the state before the last Update",
		breaks: oneOrder,
		caught: "optional/prefetch",
		fault: lagging(func(t *tx, before state) {
			t.prefetch = func(keys [][]byte) error {
				for i, value := range before.values(keys) {
					t.prefetched[string(keys[i])] = value
				}
				return nil
			}
		}),
	},
	{
		name:   "a Prefetch whose context has ended takes all keys for unknown",
		breaks: readsKeys,
		caught: "update/context",
		fault: inBoth(func(t *tx) {
			next := t.prefetch
			t.prefetch = func(keys [][]byte) error {
				if t.ctx.Err() == nil {
					return next(keys)
				}
				for _, key := range keys {
					t.prefetched[string(key)] = nil
				}
				return nil
			}
		}),
	},
	{
		name:   "Prefetch sorts the caller's keys",
		breaks: readsKeys,
		caught: "optional/prefetch",
		fault: inBoth(func(t *tx) {
			next := t.prefetch
			t.prefetch = func(keys [][]byte) error {
				slices.SortFunc(keys, bytes.Compare)
				return next(keys)
			}
		}),
	},
}

const isAbsent = "Absent is called before a Set of a key that has no value"

func isNew(w write) bool { return w.absent }

func isOld(w write) bool { return !w.absent }

// setsNew alters Set after Absent of its key.
func setsNew(alter func(t *tx, next put) put) func(d *driver) {
	return inUpdates(func(t *tx) {
		next := t.set
		altered := alter(t, next)
		t.set = func(key, value []byte) error {
			if t.absents[string(key)] {
				return altered(key, value)
			}
			return next(key, value)
		}
	})
}

var brokenAbsents = []brokenDriver{
	{
		name:   "Set after Absent of a key that the same Update has deleted does nothing",
		breaks: isAbsent,
		caught: "optional/absent",
		fault: setsNew(func(t *tx, next put) put {
			return func(key, value []byte) error {
				if t.base.get(key) != nil {
					return nil
				}
				return next(key, value)
			}
		}),
	},
	{
		name:   "Set after Absent of a key that a former Update has deleted is an error",
		breaks: isAbsent,
		caught: "optional/absent",
		fault: func(d *driver) {
			gone := map[string]bool{}
			d.commit = func(t *tx) error {
				for key, value := range t.own {
					gone[key] = value == nil && t.base.get([]byte(key)) != nil
				}
				return d.soundCommit(t)
			}
			setsNew(func(_ *tx, next put) put {
				return func(key, value []byte) error {
					if gone[string(key)] {
						return errors.New("duplicate key")
					}
					return next(key, value)
				}
			})(d)
		},
	},
	{
		name:   "Get does not see a Set after Absent",
		breaks: ownWrites,
		caught: "optional/absent",
		fault: setsNew(func(t *tx, _ put) put {
			return func(key, value []byte) error {
				t.writes = append(t.writes, write{key: key, value: value})
				return nil
			}
		}),
	},
	{
		name:   "Get does not see a Set after Absent of a key that was prefetched",
		breaks: orWritten,
		caught: "update/random",
		fault: inUpdates(func(t *tx) {
			t.first(func(key string) ([]byte, bool) {
				_, known := t.prefetched[key]
				for _, w := range slices.Backward(t.writes) {
					if string(w.key) == key {
						return nil, w.absent && known
					}
				}
				return nil, false
			})
		}),
	},
	{
		name:   "Sets after Absent stay though fn has failed",
		breaks: failedNothing,
		caught: "update/failed",
		fault: remembering(func(d *driver, t *tx) {
			d.m.replace(func(s state) state { return s.with(only(t.writes, isNew)) })
		}),
	},
	{
		name:   "Sets after Absent are lost at a Reopen",
		breaks: durable,
		caught: "optional/absent",
		fault:  durably(func(before, _ state, t *tx) state { return before.with(only(t.writes, isOld)) }),
	},
	{
		name:   "Sets after Absent are applied after the other writes of an Update",
		breaks: removes,
		caught: "optional/absent",
		fault: applying(func(writes []write) []write {
			return append(only(writes, isOld), only(writes, isNew)...)
		}),
	},
	{
		name:   "a second Set does not change what one after Absent has written",
		breaks: setAny,
		caught: "optional/absent",
		fault: applying(func(writes []write) (kept []write) {
			added := map[string]bool{}
			for _, w := range writes {
				if added[string(w.key)] && isSet(w) && !w.absent {
					continue
				}
				added[string(w.key)] = w.absent
				kept = append(kept, w)
			}
			return kept
		}),
	},
	{
		name:   "Scan yields keys that were set after Absent after the others, until a Reopen",
		breaks: sorted,
		caught: "optional/absent",
		fault: func(d *driver) {
			added := map[string]bool{}
			d.commit = func(t *tx) error {
				d.m.mu.Lock()
				for _, w := range t.writes {
					added[string(w.key)] = w.absent
				}
				d.m.mu.Unlock()
				return d.soundCommit(t)
			}
			d.viewing = finding(func(found []entry) (sorted []entry) {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				for _, late := range []bool{false, true} {
					for _, e := range found {
						if added[string(e.key)] == late {
							sorted = append(sorted, e)
						}
					}
				}
				return sorted
			})
		},
	},
	{
		name:   "what is Absent in an Update is so in the next one",
		breaks: oneOrder,
		caught: "optional/absent",
		fault: func(d *driver) {
			shared := map[string]bool{}
			d.updating = func(t *tx) {
				t.absent = func(key []byte) {
					shared[string(key)] = true
					t.absents[string(key)] = true
				}
				t.first(func(key string) ([]byte, bool) {
					_, written := t.own[key]
					return nil, shared[key] && !written
				})
			}
		},
	},
}
