package storetest_test

import (
	"bytes"
	"errors"
	"slices"
)

// isSet reports whether w sets a key.
func isSet(w write) bool { return w.value != nil }

func isDelete(w write) bool { return w.value == nil }

// only returns those writes for which keep returns true.
func only(writes []write, keep func(w write) bool) (kept []write) {
	for _, w := range writes {
		if keep(w) {
			kept = append(kept, w)
		}
	}
	return kept
}

const (
	ownWrites  = "In a Tx, Get returns what the same Tx has written before"
	allWritten = "If fn returns nil, all that it has written is applied"
	setAny     = "Set sets the value of key, whether it has one or not"
	removes    = "Delete removes key; it is no error when there is none"
)

var brokenWrites = []brokenDriver{
	{
		name:   "Get in an Update does not see a new value of a key that had one",
		breaks: ownWrites,
		caught: "update/panic",
		fault: inUpdates(func(t *tx) {
			next := t.get
			t.get = func(key []byte) ([]byte, error) {
				if old := t.base.get(key); old != nil && t.own[string(key)] != nil {
					return old, nil
				}
				return next(key)
			}
		}),
	},
	{
		name:   "Get in an Update does not see a Delete",
		breaks: ownWrites,
		caught: "update/panic",
		fault: inUpdates(func(t *tx) {
			next := t.get
			t.get = func(key []byte) ([]byte, error) {
				value, err := next(key)
				if value == nil {
					value = t.base.get(key)
				}
				return value, err
			}
		}),
	},
	{
		name:   "Get in an Update does not see a Set after a Delete",
		breaks: ownWrites,
		caught: "update/panic",
		fault: inUpdates(func(t *tx) {
			next := t.get
			t.get = func(key []byte) ([]byte, error) {
				for _, w := range t.writes {
					if isDelete(w) && bytes.Equal(w.key, key) {
						return nil, nil
					}
				}
				return next(key)
			}
		}),
	},
	{
		name:   "Get in an Update sees the first of two values that it sets",
		breaks: ownWrites,
		caught: "update/panic",
		fault: inUpdates(func(t *tx) {
			next := t.get
			t.get = func(key []byte) ([]byte, error) {
				for _, w := range t.writes {
					if isSet(w) && t.own[string(key)] != nil && bytes.Equal(w.key, key) {
						return w.value, nil
					}
				}
				return next(key)
			}
		}),
	},
	{
		name:   "Get of an unknown key returns an empty value",
		breaks: "Get returns the value of key, nil if there is none",
		caught: "update/errors",
		fault: inBoth(func(t *tx) {
			next := t.get
			t.get = func(key []byte) ([]byte, error) {
				value, err := next(key)
				if value == nil {
					value = []byte{}
				}
				return value, err
			}
		}),
	},
	{
		name:   "Get of a deleted key returns an empty value",
		breaks: "Get returns the value of key, nil if there is none",
		caught: "update/own",
		fault: inUpdates(func(t *tx) {
			next := t.get
			t.get = func(key []byte) ([]byte, error) {
				if value, ok := t.own[string(key)]; ok && value == nil {
					return []byte{}, nil
				}
				return next(key)
			}
		}),
	},
	{
		name:   "Get of an unknown key is an error",
		breaks: "Get returns the value of key, nil if there is none",
		caught: "update/errors",
		fault: inBoth(func(t *tx) {
			next := t.get
			t.get = func(key []byte) ([]byte, error) {
				value, err := next(key)
				if value == nil && err == nil {
					err = errors.New("not found")
				}
				return value, err
			}
		}),
	},
	{
		name:   "Get of an unknown key returns the value of a longer one",
		breaks: "Get returns the value of key, nil if there is none",
		caught: "update/during",
		fault: inViews(func(t *tx) {
			next := t.get
			t.get = func(key []byte) ([]byte, error) {
				value, err := next(key)
				if i, ok := t.base.search(key); !ok && i < len(t.base) && bytes.HasPrefix(t.base[i].key, key) {
					value = t.base[i].value
				}
				return value, err
			}
		}),
	},
	{
		name:   "Set does not change the value of a key that has one",
		breaks: setAny,
		caught: "pairs/values",
		fault: inUpdates(func(t *tx) {
			next := t.set
			t.set = func(key, value []byte) error {
				if old, err := t.get(key); old != nil || err != nil {
					return err
				}
				return next(key, value)
			}
		}),
	},
	{
		name:   "Set of a key that has a value is an error",
		breaks: setAny,
		caught: "pairs/values",
		fault: inUpdates(func(t *tx) {
			next := t.set
			t.set = func(key, value []byte) error {
				if t.base.get(key) != nil {
					return errors.New("the key exists")
				}
				return next(key, value)
			}
		}),
	},
	{
		name:   "of two Sets of a key in an Update, the first is applied",
		breaks: setAny,
		caught: "update/panic",
		fault: applying(func(writes []write) (kept []write) {
			set := map[string]bool{}
			for _, w := range writes {
				if isDelete(w) || !set[string(w.key)] {
					kept = append(kept, w)
				}
				set[string(w.key)] = isSet(w)
			}
			return kept
		}),
	},
	{
		name:   "a key that an Update has deleted can't be set again",
		breaks: setAny,
		caught: "update/failed",
		fault: func(d *driver) {
			gone := map[string]bool{}
			d.commit = func(t *tx) error {
				t.writes = only(t.writes, func(w write) bool { return isDelete(w) || !gone[string(w.key)] })
				for key, value := range t.own {
					gone[key] = gone[key] || value == nil && t.base.get([]byte(key)) != nil
				}
				return d.soundCommit(t)
			}
		},
	},
	{
		name:   "Deletes of an Update are applied before its Sets",
		breaks: removes,
		caught: "update/context",
		fault: applying(func(writes []write) []write {
			return append(only(writes, isDelete), only(writes, isSet)...)
		}),
	},
	{
		name:   "Deletes of an Update are applied after its Sets",
		breaks: setAny,
		caught: "update/failed",
		fault: applying(func(writes []write) []write {
			return append(only(writes, isSet), only(writes, isDelete)...)
		}),
	},
	{
		name:   "Deletes of an Update that sets are lost",
		breaks: removes,
		caught: "update/own",
		fault: applying(func(writes []write) []write {
			if set := only(writes, isSet); len(set) > 0 {
				return set
			}
			return writes
		}),
	},
	{
		name:   "an Update that deletes only is not applied",
		breaks: removes,
		caught: "pairs/values",
		fault: applying(func(writes []write) []write {
			if !slices.ContainsFunc(writes, isSet) {
				return nil
			}
			return writes
		}),
	},
	{
		name:   "Delete of an unknown key is an error",
		breaks: removes,
		caught: "update/panic",
		fault: inUpdates(func(t *tx) {
			next := t.delete
			t.delete = func(key []byte) error {
				if value, _ := t.get(key); value == nil {
					return errors.New("not found")
				}
				return next(key)
			}
		}),
	},
	{
		name:   "Delete removes keys that begin with key",
		breaks: removes,
		caught: "update/own",
		fault: inUpdates(func(t *tx) {
			next := t.delete
			t.delete = func(key []byte) error {
				for _, e := range t.base.between(key, append(slices.Clip(key), 0xff)) {
					if err := next(e.key); err != nil {
						return err
					}
				}
				return next(key)
			}
		}),
	},
	{
		name:   "Delete of an unknown key removes the next one",
		breaks: removes,
		caught: "update/panic",
		fault: inUpdates(func(t *tx) {
			next := t.delete
			t.delete = func(key []byte) error {
				if i, _ := t.base.search(key); i < len(t.base) && t.own[string(key)] == nil {
					key = t.base[i].key
				}
				return next(key)
			}
		}),
	},
}
