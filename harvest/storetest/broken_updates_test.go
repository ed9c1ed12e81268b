package storetest_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

const (
	failedNothing = "If fn returns an error, nothing is applied"
	failedError   = "If fn returns an error, Update returns that error"
	allOrNothing  = "Whatever happens, all of it or nothing"
	manyUse       = "A Store is used by many goroutines at once"
	fromTheStart  = "A Store may call fn again from the start"
)

var brokenUpdates = []brokenDriver{
	{
		name:   "an Update is applied though fn has failed",
		breaks: failedNothing,
		caught: "update/failed",
		fault: remembering(func(d *driver, t *tx) {
			d.m.replace(func(s state) state { return s.with(t.writes) })
		}),
	},
	{
		name:   "Deletes are applied though fn has failed",
		breaks: failedNothing,
		caught: "update/failed",
		fault: remembering(func(d *driver, t *tx) {
			d.m.replace(func(s state) state { return s.with(only(t.writes, isDelete)) })
		}),
	},
	{
		name:   "of more than 100 writes, the first 100 are applied though fn fails",
		breaks: failedNothing,
		caught: "pairs/many",
		fault: remembering(func(d *driver, t *tx) {
			if len(t.writes) > 100 {
				d.m.replace(func(s state) state { return s.with(t.writes[:100]) })
			}
		}),
	},
	{
		name:   "an Update is applied though fn has panicked",
		breaks: "If fn returns nil, all that it has written is applied: all of it or nothing",
		caught: "update/panic",
		fault: func(d *driver) {
			d.update = func(ctx context.Context, fn func(t *tx) error) error {
				if err := d.enter(ctx); err != nil {
					return err
				}
				defer d.leave()
				t := d.beginUpdate(ctx, d.m.newest())
				var err error
				defer func() { // nor has fn returned an error if it has panicked
					if err == nil {
						d.commit(t)
					}
				}()
				err = fn(t)
				return err
			}
		},
	},
	{
		name:   "after an Update whose fn has panicked, the next one waits forever",
		breaks: manyUse,
		caught: "update/panic",
		fault: func(d *driver) {
			d.update = func(ctx context.Context, fn func(t *tx) error) error {
				if err := d.enter(ctx); err != nil {
					return err
				}
				t := d.beginUpdate(ctx, d.m.newest())
				err := fn(t)
				if err == nil {
					err = d.commit(t)
				}
				d.leave()
				return err
			}
		},
	},
	{
		name:   "after an Update whose fn has failed, the next one waits forever",
		breaks: manyUse,
		caught: "update/errors",
		fault: func(d *driver) {
			d.update = func(ctx context.Context, fn func(t *tx) error) error {
				if err := d.enter(ctx); err != nil {
					return err
				}
				t := d.beginUpdate(ctx, d.m.newest())
				if err := fn(t); err != nil {
					return err
				}
				defer d.leave()
				return d.commit(t)
			}
		},
	},
	{
		name:   "the last of several writes is lost",
		breaks: allWritten,
		caught: "pairs/values",
		fault:  applying(func(writes []write) []write { return writes[:max(min(1, len(writes)), len(writes)-1)] }),
	},
	{
		name:   "the last write is lost if they are a multiple of 50",
		breaks: allWritten,
		caught: "pairs/many",
		fault: applying(func(writes []write) []write {
			if n := len(writes); n > 0 && n%50 == 0 {
				return writes[:n-1]
			}
			return writes
		}),
	},
	{
		name:   "writes after the 1000th are lost",
		breaks: allWritten,
		caught: "pairs/many",
		fault:  applying(func(writes []write) []write { return writes[:min(1000, len(writes))] }),
	},
	{
		name:   "the first 100 writes are visible before the Update ends",
		breaks: allOrNothing,
		caught: "pairs/many",
		fault: func(d *driver) {
			d.updating = func(t *tx) {
				t.puts(func(next put) put {
					return func(key, value []byte) error {
						err := next(key, value)
						if len(t.writes) == 100 {
							d.m.replace(func(s state) state { return s.with(t.writes) })
						}
						return err
					}
				})
			}
			d.update = func(ctx context.Context, fn func(t *tx) error) error {
				return d.soundUpdate(ctx, func(t *tx) error {
					failed := true
					defer func() {
						if failed {
							d.m.replace(func(state) state { return t.base })
						}
					}()
					err := fn(t)
					failed = err != nil
					return err
				})
			}
		},
	},
	{
		name:   "Deletes are visible a while before the Sets of their Update",
		breaks: allOrNothing,
		caught: "update/whole",
		fault: func(d *driver) {
			d.commit = func(t *tx) error {
				if !slices.ContainsFunc(t.writes, isSet) {
					return d.soundCommit(t)
				}
				d.m.replace(func(s state) state { return s.with(only(t.writes, isDelete)) })
				time.Sleep(time.Millisecond) // as between two commands to a server
				d.m.replace(func(s state) state { return t.base })
				return d.soundCommit(t)
			}
		},
	},
	{
		name:   "Update returns the error of a rollback instead of fn's",
		breaks: failedError,
		caught: "update/errors",
		fault: afterwards(func(err error) error {
			if err != nil {
				return errors.New("rolled back")
			}
			return nil
		}),
	},
	{
		name:   "Update returns nil when fn returns context.Canceled",
		breaks: failedError,
		caught: "update/waiting",
		fault: afterwards(func(err error) error {
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}),
	},
	{
		name:   "Update calls fn again after an error of its own",
		breaks: fromTheStart + " if it detects a conflict or loses its connection",
		caught: "update/errors",
		fault: func(d *driver) {
			d.update = func(ctx context.Context, fn func(t *tx) error) error {
				if d.soundUpdate(ctx, fn) == nil {
					return nil
				}
				return d.soundUpdate(ctx, fn)
			}
		},
	},
	{
		name:   "what fn writes in a first call is applied with what it writes in the second",
		breaks: fromTheStart,
		caught: "harvest/runs",
		fault: func(d *driver) {
			d.update = func(ctx context.Context, fn func(t *tx) error) error {
				return d.soundUpdate(ctx, func(t *tx) error {
					if err := fn(t); err != nil {
						return err
					}
					again := d.beginUpdate(ctx, t.base)
					err := fn(again)
					t.writes, t.notified = append(t.writes, again.writes...), again.notified
					return err
				})
			}
		},
	},
	{
		name:   "when fn fails in a second call, the first one is applied",
		breaks: failedNothing,
		caught: "update/failed",
		fault: func(d *driver) {
			d.update = func(ctx context.Context, fn func(t *tx) error) error {
				return d.soundUpdate(ctx, func(t *tx) error {
					if err := fn(t); err != nil {
						return err
					}
					again := d.beginUpdate(ctx, t.base)
					err := fn(again)
					if err != nil {
						d.m.replace(func(s state) state { return s.with(t.writes) })
					}
					t.writes, t.notified = again.writes, again.notified
					return err
				})
			}
		},
	},
	{
		name:   "when its context ends while fn runs, Update returns nil and nothing is applied",
		breaks: allWritten + " before Update returns nil",
		caught: "update/context",
		fault: func(d *driver) {
			d.commit = func(t *tx) error {
				if t.ctx.Err() != nil {
					return nil
				}
				return d.soundCommit(t)
			}
		},
	},
	{
		name:   "Sets after the end of the context are lost, and Update returns nil",
		breaks: allWritten + " before Update returns nil",
		caught: "update/context",
		fault: inUpdates(func(t *tx) {
			t.puts(func(next put) put {
				return func(key, value []byte) error {
					if t.ctx.Err() != nil {
						return nil
					}
					return next(key, value)
				}
			})
		}),
	},
	{
		name:   "when its context ends while fn runs, Update returns an error and applies half",
		breaks: "If Update returns an error of its own after fn has returned nil, either all is applied or nothing",
		caught: "update/context",
		fault: func(d *driver) {
			d.commit = func(t *tx) error {
				err := t.ctx.Err()
				if err != nil {
					t.writes = t.writes[:len(t.writes)/2]
				}
				return errors.Join(d.soundCommit(t), err)
			}
		},
	},
	{
		name:   "Update returns nil without calling fn when its context has ended",
		breaks: "Update calls fn with a Tx",
		caught: "update/context",
		fault: func(d *driver) {
			d.update = func(ctx context.Context, fn func(t *tx) error) error {
				if ctx.Err() != nil {
					return nil
				}
				return d.soundUpdate(ctx, fn)
			}
		},
	},
	{
		name:   "an Update whose context ends while it waits returns nil",
		breaks: allWritten + " before Update returns nil",
		caught: "update/waiting",
		fault: func(d *driver) {
			d.update = func(ctx context.Context, fn func(t *tx) error) error {
				entered := false
				err := d.soundUpdate(ctx, func(t *tx) error {
					entered = true
					return fn(t)
				})
				if !entered {
					return nil
				}
				return err
			}
		},
	},
	{
		name:   "an Update whose context ends while it waits keeps others out from its turn on",
		breaks: "A context that ends may end the wait for other Updates",
		caught: "update/waiting",
		fault: func(d *driver) {
			var ended atomic.Int64
			d.enter = func(ctx context.Context) error {
				err := d.soundEnter(ctx)
				if err != nil {
					ended.Add(1)
				}
				return err
			}
			d.leave = func() {
				if ended.Load() == 0 {
					d.soundLeave()
				}
			}
		},
	},
}
