package storetest_test

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// values alters each value that is written.
func values(alter func(value []byte) []byte) func(d *driver) {
	return inUpdates(func(t *tx) {
		t.puts(func(next put) put {
			return func(key, value []byte) error { return next(key, alter(value)) }
		})
	})
}

// oneKey makes keys of which as makes the same one key: that which was written first.
func oneKey(as func(key []byte) string) func(d *driver) {
	return inBoth(func(t *tx) {
		var stored map[string][]byte // by what as makes of it
		find := func(key []byte) []byte {
			if stored == nil {
				stored = map[string][]byte{}
				for _, e := range t.base {
					stored[as(e.key)] = e.key
				}
			}
			if k, ok := stored[as(key)]; ok {
				return k
			}
			return key
		}
		get, prefetch, remove := t.get, t.prefetch, t.delete
		t.get = func(key []byte) ([]byte, error) { return get(find(key)) }
		t.delete = func(key []byte) error { return remove(find(key)) }
		t.prefetch = func(keys [][]byte) error {
			var found [][]byte
			for _, key := range keys {
				found = append(found, find(key))
			}
			return prefetch(found)
		}
		t.puts(func(next put) put {
			return func(key, value []byte) error {
				key = find(key)
				stored[as(key)] = key
				return next(key, value)
			}
		})
	})
}

func first(n int) func(key []byte) []byte {
	return func(key []byte) []byte { return key[:min(n, len(key))] }
}

func lower(key []byte) []byte {
	key = bytes.Clone(key)
	for i, c := range key {
		if 'A' <= c && c <= 'Z' {
			key[i] = c + 'a' - 'A'
		}
	}
	return key
}

// ordered makes Scan compare keys in another way.
func ordered(compare func(a, b []byte) int) func(d *driver) {
	return inBoth(func(t *tx) {
		t.scans(func(from, to []byte) (found []entry) {
			for _, e := range t.base {
				if compare(from, e.key) <= 0 && compare(e.key, to) < 0 {
					found = append(found, e)
				}
			}
			slices.SortStableFunc(found, func(a, b entry) int { return compare(a.key, b.key) })
			return found
		})
	})
}

// signed compares bytes as int8.
func signed(a, b []byte) int {
	return slices.CompareFunc(a, b, func(x, y byte) int { return cmp.Compare(int8(x), int8(y)) })
}

// numeric compares keys of digits as numbers, and others as they are.
func numeric(a, b []byte) int {
	if digits := "0123456789"; len(bytes.Trim(a, digits))+len(bytes.Trim(b, digits)) == 0 {
		a, b = bytes.TrimLeft(a, "0"), bytes.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
	}
	return bytes.Compare(a, b)
}

var errTooLong = errors.New("the key is too long")

const (
	rightOrder = "Keys compare byte by byte"
	rightSize  = "Keys are up to 5 kB long"
)

var brokenKeys = []brokenDriver{
	{
		name:   "keys that share their first 255 bytes are one key",
		breaks: rightSize,
		caught: "update/own",
		fault:  oneKey(func(key []byte) string { return string(first(255)(key)) }),
	},
	{
		name:   "keys that share their first 1024 bytes are not ordered",
		breaks: rightOrder,
		caught: "update/own",
		fault: inBoth(func(t *tx) {
			t.scans(func(from, to []byte) []entry {
				found := slices.Clone(t.base.between(from, to))
				slices.Reverse(found)
				slices.SortStableFunc(found, func(a, b entry) int {
					return bytes.Compare(first(1024)(a.key), first(1024)(b.key))
				})
				return found
			})
		}),
	},
	{
		name:   "Set of a key longer than 4096 bytes is an error",
		breaks: rightSize,
		caught: "update/panic",
		fault: inUpdates(func(t *tx) {
			t.puts(func(next put) put {
				return func(key, value []byte) error {
					if len(key) > 4096 {
						return errTooLong
					}
					return next(key, value)
				}
			})
		}),
	},
	{
		name:   "Delete of a key longer than 4096 bytes does nothing",
		breaks: rightSize,
		caught: "update/context",
		fault: inUpdates(func(t *tx) {
			next := t.delete
			t.delete = func(key []byte) error {
				if len(key) > 4096 {
					return nil
				}
				return next(key)
			}
		}),
	},
	{
		name:   "Scan yields the first 4096 bytes of a longer key",
		breaks: rightSize,
		caught: "update/panic",
		fault: inBoth(func(t *tx) {
			t.visits(func(fn visit) visit {
				return func(key, value []byte) bool { return fn(first(4096)(key), value) }
			})
		}),
	},
	{
		name:   "a bound of Scan is cut after 1024 bytes",
		breaks: rightSize,
		caught: "update/own",
		fault: inBoth(func(t *tx) {
			t.scans(func(from, to []byte) []entry { return t.base.between(first(1024)(from), first(1024)(to)) })
		}),
	},
	{
		name:   "keys are ordered by a collation that ignores case",
		breaks: rightOrder,
		caught: "update/context",
		fault: ordered(func(a, b []byte) int {
			return cmp.Or(bytes.Compare(lower(a), lower(b)), bytes.Compare(a, b))
		}),
	},
	{
		name:   "keys that differ in case are one key",
		breaks: rightOrder,
		caught: "update/one-state",
		fault:  oneKey(func(key []byte) string { return string(lower(key)) }),
	},
	{
		name:   "bytes of keys compare as signed numbers",
		breaks: rightOrder,
		caught: "update/own",
		fault:  ordered(signed),
	},
	{
		name:   "keys of digits are ordered as numbers",
		breaks: rightOrder,
		caught: "update/own",
		fault:  ordered(numeric),
	},
	{
		name:   "a shorter key comes before a longer one",
		breaks: rightOrder,
		caught: "pairs/expected",
		fault: ordered(func(a, b []byte) int {
			return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
		}),
	},
	{
		name:   "a key that another one begins with comes after it",
		breaks: rightOrder,
		caught: "update/failed",
		fault: ordered(func(a, b []byte) int {
			if len(a) != len(b) && (bytes.HasPrefix(a, b) || bytes.HasPrefix(b, a)) && len(a)*len(b) > 0 {
				return cmp.Compare(len(b), len(a))
			}
			return bytes.Compare(a, b)
		}),
	},
	{
		name:   "a key ends at its first 0x00",
		breaks: rightOrder,
		caught: "update/panic",
		fault: oneKey(func(key []byte) string {
			if i := bytes.IndexByte(key, 0); i > 0 {
				key = key[:i]
			}
			return string(key)
		}),
	},
	{
		name:   "0x00 at the end of a key is ignored",
		breaks: rightOrder,
		caught: "update/failed",
		fault:  oneKey(func(key []byte) string { return strings.TrimRight(string(key), "\x00") }),
	},
	{
		name:   "spaces at the end of a key are ignored",
		breaks: rightOrder,
		caught: "update/context",
		fault:  oneKey(func(key []byte) string { return strings.TrimRight(string(key), " ") }),
	},
	{
		name:   "bytes of a key that are not UTF-8 are all the same",
		breaks: rightOrder,
		caught: "update/at-once",
		fault:  oneKey(func(key []byte) string { return string([]rune(string(key))) }),
	},
}

const (
	rightSizes = "Values are as large as a resource's description, or as Catalog.ChunkSize"
	rightSet   = "Set sets the value of key"
)

var brokenValues = []brokenDriver{
	{
		name:   "a value ends at its first 0x00",
		breaks: rightSet,
		caught: "pairs/values",
		fault: values(func(value []byte) []byte {
			before, _, _ := bytes.Cut(value, []byte{0})
			return before
		}),
	},
	{
		name:   "0x00 at the end of a value is lost",
		breaks: rightSet,
		caught: "update/own",
		fault: values(func(value []byte) []byte {
			return append(value[:1:1], bytes.TrimRight(value[1:], "\x00")...)
		}),
	},
	{
		name:   "a value of one 0x00 is none",
		breaks: rightSet,
		caught: "pairs/values",
		fault: values(func(value []byte) []byte {
			if len(value) == 1 && value[0] == 0 {
				return nil
			}
			return value
		}),
	},
	{
		name:   "white space around a value is lost",
		breaks: rightSet,
		caught: "update/panic",
		fault:  values(bytes.TrimSpace),
	},
	{
		name:   "bytes of a value that are not UTF-8 are replaced",
		breaks: rightSet,
		caught: "update/failed",
		fault: values(func(value []byte) []byte {
			if utf8.Valid(value) {
				return value
			}
			return []byte(string([]rune(string(value))))
		}),
	},
	{
		name:   "a value is cut after 65535 bytes",
		breaks: rightSizes,
		caught: "optional/rest",
		fault:  values(first(65535)),
	},
	{
		name:   "a value is cut after 1 MB",
		breaks: rightSizes,
		caught: "pairs/values",
		fault:  values(first(1e6)),
	},
	{
		name:   "a value whose length is a multiple of 4096 loses its last byte",
		breaks: rightSizes,
		caught: "pairs/values",
		fault: values(func(value []byte) []byte {
			if len(value)%4096 == 0 {
				return value[:len(value)-1]
			}
			return value
		}),
	},
	{
		name:   "a shorter value keeps the end of the longer one before it",
		breaks: "Set sets the value of key, whether it has one or not",
		caught: "update/own",
		fault: inUpdates(func(t *tx) {
			t.puts(func(next put) put {
				return func(key, value []byte) error {
					if old := t.base.get(key); len(old) > len(value) {
						value = append(bytes.Clone(value), old[len(value):]...)
					}
					return next(key, value)
				}
			})
		}),
	},
}
