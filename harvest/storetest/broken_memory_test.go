package storetest_test

import "bytes"

const unchanged = "What Get returns and what Scan calls fn with is valid until the function returns, and is not changed"

var brokenMemory = []brokenDriver{
	{
		name:   "in a View, Get overwrites what the last Get has returned",
		breaks: unchanged,
		caught: "pairs/values",
		fault: inViews(func(t *tx) {
			var shared []byte
			t.copies(func(_, value []byte) []byte {
				shared = append(shared[:0], value...)
				return shared
			})
		}),
	},
	{
		name:   "Set overwrites what Get has returned, if the lengths are the same",
		breaks: unchanged,
		caught: "update/panic",
		fault: inUpdates(func(t *tx) {
			given := map[string][]byte{}
			t.copies(func(key, value []byte) []byte {
				given[string(key)] = bytes.Clone(value)
				return given[string(key)]
			})
			t.puts(func(next put) put {
				return func(key, value []byte) error {
					if g := given[string(key)]; len(g) == len(value) {
						copy(g, value)
					}
					return next(key, value)
				}
			})
		}),
	},
	{
		name:   "Delete clears what Get has returned",
		breaks: unchanged,
		caught: "update/failed",
		fault: inUpdates(func(t *tx) {
			given := map[string][]byte{}
			t.copies(func(key, value []byte) []byte {
				given[string(key)] = bytes.Clone(value)
				return given[string(key)]
			})
			next := t.delete
			t.delete = func(key []byte) error {
				clear(given[string(key)])
				return next(key)
			}
		}),
	},
	{
		name:   "Scan overwrites what Get has returned",
		breaks: unchanged,
		caught: "update/panic",
		fault: inBoth(func(t *tx) {
			var last []byte
			t.copies(func(_, value []byte) []byte {
				last = bytes.Clone(value)
				return last
			})
			t.visits(func(fn visit) visit {
				return func(key, value []byte) bool {
					copy(last, value)
					return fn(key, value)
				}
			})
		}),
	},
	{
		name:   "Scan uses the memory of a key for the next one",
		breaks: unchanged,
		caught: "pairs/expected",
		fault: inBoth(func(t *tx) {
			t.visits(func(fn visit) visit {
				var shared []byte
				return func(key, value []byte) bool {
					shared = append(shared[:0], key...)
					return fn(shared, value)
				}
			})
		}),
	},
	{
		name:   "Scan uses the memory of a value for the next one",
		breaks: unchanged,
		caught: "pairs/expected",
		fault: inBoth(func(t *tx) {
			t.visits(func(fn visit) visit {
				var shared []byte
				return func(key, value []byte) bool {
					shared = append(shared[:0], value...)
					return fn(key, shared)
				}
			})
		}),
	},
	{
		name:   "what Scan has yielded is cleared when it returns",
		breaks: unchanged,
		caught: "pairs/expected",
		fault: inBoth(func(t *tx) {
			next := t.scan
			t.scan = func(from, to []byte, n int, fn visit) error {
				var given [][]byte
				defer func() {
					for _, g := range given {
						clear(g)
					}
				}()
				return next(from, to, n, func(key, value []byte) bool {
					key, value = bytes.Clone(key), bytes.Clone(value)
					given = append(given, key, value)
					return fn(key, value)
				})
			}
		}),
	},
	{
		// A data race, unless something orders the calls of the two Views.
		name:   "two Views at a time share the memory of Get",
		breaks: unchanged,
		caught: "update/many",
		races:  true,
		fault: func(d *driver) {
			shared := make([]byte, 0, 64)
			d.viewing = func(t *tx) {
				used := false
				t.copies(func(_, value []byte) []byte {
					if used || len(value) > cap(shared) {
						return value
					}
					used = true
					shared = append(shared[:0], value...)
					return shared
				})
			}
		},
	},
	{
		name:   "Get keeps the caller's key, which may change",
		breaks: "Get returns the value of key",
		caught: "update/failed",
		fault: inViews(func(t *tx) {
			var kept []entry
			get := t.get
			t.get = func(key []byte) ([]byte, error) {
				for _, e := range kept {
					if bytes.Equal(e.key, key) {
						return e.value, nil
					}
				}
				value, err := get(key)
				kept = append(kept, entry{key, value})
				return value, err
			}
		}),
	},
	{
		name:   "Set encodes the value in the caller's memory",
		breaks: "The caller does not change key and value afterwards: a Store may keep them",
		caught: "pairs/values",
		fault: inUpdates(func(t *tx) {
			t.puts(func(next put) put {
				return func(key, value []byte) error {
					kept := bytes.Clone(value)
					for i := range value {
						value[i] ^= 0x5a
					}
					return next(key, kept)
				}
			})
		}),
	},
	{
		name:   "Set appends to the caller's key",
		breaks: "The caller does not change key and value afterwards: a Store may keep them",
		caught: "update/own",
		fault: inUpdates(func(t *tx) {
			t.puts(func(next put) put {
				return func(key, value []byte) error {
					_ = append(key, 0)
					return next(key, value)
				}
			})
		}),
	},
	{
		name:   "Scan appends to the caller's bound",
		breaks: "Scan calls fn with each key from <= key < to",
		caught: "pairs/expected",
		fault: inBoth(func(t *tx) {
			next := t.scan
			t.scan = func(from, to []byte, n int, fn visit) error {
				_ = append(from, 0)
				return next(from, to, n, fn)
			}
		}),
	},
}
