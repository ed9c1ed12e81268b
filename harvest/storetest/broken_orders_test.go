package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"runtime"
)

// optimistic makes Updates run at the same time. Follow is called when one begins, and
// returns a function that reports whether it conflicts with the newest state. Lost is
// called after a conflict. If it returns alter, fn is called again, with a Tx that alter
// has altered; if not, Update returns err.
func optimistic(follow func(t *tx) func(newest state) bool, lost func(t *tx) (alter func(t *tx), err error)) func(d *driver) {
	return func(d *driver) {
		d.update = func(ctx context.Context, fn func(t *tx) error) error {
			alter := func(*tx) {}
			for {
				t := d.beginUpdate(ctx, d.m.newest())
				alter(t)
				conflicts := follow(t)
				if err := fn(t); err != nil {
					return err
				}
				runtime.Gosched()
				applied := false
				d.m.replace(func(s state) state {
					if conflicts(s) {
						return s
					}
					applied = true
					return d.apply(s, t.writes)
				})
				if applied {
					if t.notified {
						d.notify()
					}
					return nil
				}
				var err error
				if alter, err = lost(t); alter == nil {
					return err
				}
			}
		}
	}
}

// afresh calls fn again, with a Tx that knows nothing of the last one.
func afresh(*tx) (alter func(*tx), err error) { return func(*tx) {}, nil }

// anyChange finds each conflict.
func anyChange(t *tx) func(newest state) bool {
	return func(newest state) bool {
		return len(newest) != len(t.base) || len(newest) > 0 && &newest[0] != &t.base[0]
	}
}

// changedOf returns a function that reports whether one of keys has changed since t
// began.
func changedOf(t *tx, keys func() map[string]bool) func(newest state) bool {
	return func(newest state) bool {
		for key := range keys() {
			if !bytes.Equal(newest.get([]byte(key)), t.base.get([]byte(key))) {
				return true
			}
		}
		return false
	}
}

// written returns the keys that t writes.
func (t *tx) written() map[string]bool {
	keys := map[string]bool{}
	for key := range t.own {
		keys[key] = true
	}
	return keys
}

const oneOrder = "Updates have one order, and each sees what those before it wrote"

var brokenOrders = []brokenDriver{
	{
		name:   "two Updates at a time that change the same key are both applied",
		breaks: oneOrder,
		caught: "update/waiting",
		fault:  optimistic(func(*tx) func(state) bool { return func(state) bool { return false } }, afresh),
	},
	{
		name:   "an Update reads the state of before it waited for another",
		breaks: oneOrder,
		caught: "update/order",
		fault: func(d *driver) {
			d.update = func(ctx context.Context, fn func(t *tx) error) error {
				base := d.m.newest()
				return d.soundUpdate(ctx, func(t *tx) error {
					t.base = base
					return fn(t)
				})
			}
		},
	},
	{
		name:   "two Updates at a time of which each changes what the other has read are both applied",
		breaks: oneOrder,
		caught: "update/order",
		fault: optimistic(func(t *tx) func(state) bool {
			return changedOf(t, t.written)
		}, afresh),
	},
	{
		name:   "two Updates at a time of which each adds a key to what the other has scanned are both applied",
		breaks: oneOrder,
		caught: "update/order",
		fault: optimistic(func(t *tx) func(state) bool {
			keys := map[string]bool{}
			get, prefetch := t.get, t.prefetch
			t.get = func(key []byte) ([]byte, error) {
				keys[string(key)] = true
				return get(key)
			}
			t.prefetch = func(all [][]byte) error {
				for _, key := range all {
					keys[string(key)] = true
				}
				return prefetch(all)
			}
			return changedOf(t, func() map[string]bool {
				for key := range t.own {
					keys[key] = true
				}
				return keys
			})
		}, afresh),
	},
	{
		name:   "an Update that conflicts with another returns nil and is not applied",
		breaks: allWritten + " before Update returns nil",
		caught: "update/waiting",
		fault:  optimistic(anyChange, func(*tx) (func(*tx), error) { return nil, nil }),
	},
	{
		name:   "after a conflict, fn gets what was prefetched in its first call",
		breaks: fromTheStart,
		caught: "update/order",
		fault: optimistic(anyChange, func(t *tx) (func(*tx), error) {
			return func(again *tx) {
				next := again.prefetch
				again.prefetch = func(keys [][]byte) error {
					err := next(keys)
					maps.Copy(again.prefetched, t.prefetched)
					return err
				}
			}, nil
		}),
	},
	{
		name:   "a call of fn sees what it has written in the call before",
		breaks: fromTheStart,
		caught: "update/waiting",
		fault: optimistic(anyChange, func(t *tx) (func(*tx), error) {
			return func(again *tx) { again.own = t.own }, nil
		}),
	},
	{
		name:   "an Update that conflicts with another returns an error and applies half",
		breaks: "If Update returns an error of its own after fn has returned nil, either all is applied or nothing",
		caught: "update/waiting",
		fault: optimistic(anyChange, func(t *tx) (func(*tx), error) {
			t.d.m.replace(func(s state) state { return s.with(t.writes[:len(t.writes)/2]) })
			return nil, errors.New("conflict")
		}),
	},
}
