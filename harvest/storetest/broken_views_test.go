package storetest_test

import (
	"context"
	"errors"
	"io"
	"slices"
)

const (
	oneState = "View calls fn with a Reader of one unchanging state of the store"
	many     = "Many Views may run at a time, also during an Update"
	errorOf  = "View returns fn's error"
)

var brokenViews = []brokenDriver{
	{
		name:   "a View reads the newest state at each call",
		breaks: oneState,
		caught: "update/one-state",
		fault: inViews(func(t *tx) {
			t.get = func(key []byte) ([]byte, error) { return t.d.m.newest().get(key), nil }
			t.prefetch = func([][]byte) error { return nil }
			t.scans(func(from, to []byte) []entry { return t.d.m.newest().between(from, to) })
		}),
	},
	{
		name:   "in a View, Scan reads its state and Get the newest",
		breaks: oneState,
		caught: "update/one-state",
		fault: inViews(func(t *tx) {
			t.get = func(key []byte) ([]byte, error) { return t.d.m.newest().get(key), nil }
		}),
	},
	{
		name:   "in a View, Get reads its state and Scan the newest",
		breaks: oneState,
		caught: "update/one-state",
		fault: inViews(func(t *tx) {
			t.scans(func(from, to []byte) []entry { return t.d.m.newest().between(from, to) })
		}),
	},
	{
		name:   "in a View, a Scan reads pages of 10 keys, each of the newest state",
		breaks: oneState,
		caught: "update/one-state",
		fault: inViews(func(t *tx) {
			t.scan = func(from, to []byte, n int, fn visit) error {
				found := t.base.between(from, to)
				for len(found) > 0 {
					page := found[:min(10, len(found))]
					for _, e := range page {
						if !fn(e.key, e.value) {
							return nil
						}
					}
					after := append(slices.Clip(page[len(page)-1].key), 0)
					found = t.d.m.newest().between(after, to)
				}
				return nil
			}
		}),
	},
	{
		name:   "a View sees what a running Update has set so far",
		breaks: "If fn returns nil, all that it has written is applied",
		caught: "update/during",
		fault: func(d *driver) {
			d.update = func(ctx context.Context, fn func(t *tx) error) error {
				if err := d.enter(ctx); err != nil {
					return err
				}
				defer d.leave()
				t := d.beginUpdate(ctx, d.m.newest())
				failed := true
				defer func() {
					if failed {
						d.m.replace(func(state) state { return t.base })
					}
				}()
				t.puts(func(next put) put {
					return func(key, value []byte) error {
						d.m.replace(func(s state) state { return s.with([]write{{key: key, value: value}}) })
						return next(key, value)
					}
				})
				if err := fn(t); err != nil {
					return err
				}
				failed = false
				return d.commit(t)
			}
		},
	},
	{
		name:   "the first View after an Update sees the state before it",
		breaks: "Updates are applied before Update returns nil",
		caught: "pairs/values",
		fault: func(d *driver) {
			var before *state
			d.commit = func(t *tx) error {
				d.m.mu.Lock()
				before = &t.base
				d.m.mu.Unlock()
				return d.soundCommit(t)
			}
			d.view = func(ctx context.Context, fn func(t *tx) error) error {
				d.m.mu.Lock()
				s := d.m.state
				if before != nil {
					s, before = *before, nil
				}
				d.m.mu.Unlock()
				return fn(d.beginView(ctx, s))
			}
		},
	},
	{
		name:   "a View that begins while an Update runs waits for its end",
		breaks: many,
		caught: "update/many",
		fault: func(d *driver) {
			d.view = func(ctx context.Context, fn func(t *tx) error) error {
				if err := d.enter(ctx); err != nil {
					return err
				}
				d.leave()
				return d.soundView(ctx, fn)
			}
		},
	},
	{
		name:   "a View waits for the end of other Views",
		breaks: many,
		caught: "update/many",
		fault: func(d *driver) {
			turn := make(chan struct{}, 1)
			turn <- struct{}{}
			d.view = func(ctx context.Context, fn func(t *tx) error) error {
				if err := d.m.wait(ctx, turn); err != nil {
					return err
				}
				defer func() { turn <- struct{}{} }()
				return d.soundView(ctx, fn)
			}
		},
	},
	{
		name:   "an Update waits for the end of Views before it is applied",
		breaks: many,
		caught: "update/random",
		races:  true,
		fault: func(d *driver) {
			const most = 100
			slots := make(chan struct{}, most)
			for range most {
				slots <- struct{}{}
			}
			d.view = func(ctx context.Context, fn func(t *tx) error) error {
				if err := d.m.wait(ctx, slots); err != nil {
					return err
				}
				defer func() { slots <- struct{}{} }()
				return d.soundView(ctx, fn)
			}
			d.commit = func(t *tx) error {
				for range most {
					if err := d.m.wait(t.ctx, slots); err != nil {
						return err
					}
					defer func() { slots <- struct{}{} }()
				}
				return d.soundCommit(t)
			}
		},
	},
	{
		name:   "View returns the text of fn's error as another error",
		breaks: errorOf,
		caught: "update/errors",
		fault: func(d *driver) {
			d.view = func(ctx context.Context, fn func(t *tx) error) error {
				if err := d.soundView(ctx, fn); err != nil {
					return errors.New(err.Error())
				}
				return nil
			}
		},
	},
	{
		name:   "View returns nil when fn returns io.EOF",
		breaks: errorOf,
		caught: "update/errors",
		fault: func(d *driver) {
			d.view = func(ctx context.Context, fn func(t *tx) error) error {
				if err := d.soundView(ctx, fn); err != io.EOF {
					return err
				}
				return nil
			}
		},
	},
	{
		name:   "View calls fn again after an error of its own",
		breaks: "If reading fails, View may call fn again",
		caught: "update/errors",
		fault: func(d *driver) {
			d.view = func(ctx context.Context, fn func(t *tx) error) error {
				if d.soundView(ctx, fn) == nil {
					return nil
				}
				return d.soundView(ctx, fn)
			}
		},
	},
	{
		name:   "View returns nil without calling fn when its context has ended",
		breaks: "View calls fn",
		caught: "update/context",
		fault: func(d *driver) {
			d.view = func(ctx context.Context, fn func(t *tx) error) error {
				if ctx.Err() != nil {
					return nil
				}
				return d.soundView(ctx, fn)
			}
		},
	},
	{
		name:   "Get returns nil and no error when the context has ended",
		breaks: "Get returns the value of key",
		caught: "update/context",
		fault: inBoth(func(t *tx) {
			next := t.get
			t.get = func(key []byte) ([]byte, error) {
				if t.ctx.Err() != nil {
					return nil, nil
				}
				return next(key)
			}
		}),
	},
	{
		name:   "Scan ends without an error when the context has ended",
		breaks: "Scan calls fn with each key until fn returns false",
		caught: "update/context",
		fault: inBoth(func(t *tx) {
			t.visits(func(fn visit) visit {
				return func(key, value []byte) bool { return t.ctx.Err() == nil && fn(key, value) }
			})
		}),
	},
}
