package storetest_test

import (
	"context"
	"errors"
)

// durably alters what is durable after an Update. Before is what was durable before it,
// after is what should be now.
func durably(alter func(before, after state, t *tx) state) func(d *driver) {
	return func(d *driver) {
		d.commit = func(t *tx) error {
			before := d.m.durable
			err := d.soundCommit(t)
			d.m.mu.Lock()
			defer d.m.mu.Unlock()
			d.m.durable = alter(before, d.m.state, t)
			return err
		}
	}
}

// caching calls alter with a Reader of a View and the state after this opening's last
// Update, or when it was opened.
func caching(alter func(t *tx, last state)) func(d *driver) {
	return func(d *driver) {
		last := d.m.newest()
		d.commit = func(t *tx) error {
			err := d.soundCommit(t)
			d.m.mu.Lock()
			defer d.m.mu.Unlock()
			last = d.m.state
			return err
		}
		d.viewing = func(t *tx) {
			d.m.mu.Lock()
			defer d.m.mu.Unlock()
			alter(t, last)
		}
	}
}

const (
	durable   = "If fn returns nil, all that it has written is applied, durably, before Update returns nil"
	processes = "Updates have one order, and each sees what those before it wrote, in several processes, too"
)

var brokenOpenings = []brokenDriver{
	{
		name:   "an Update is durable after the next one only",
		breaks: durable,
		caught: "pairs/values",
		fault:  durably(func(_, _ state, t *tx) state { return t.base }),
	},
	{
		name:   "a Reopen brings back what was deleted",
		breaks: durable,
		caught: "pairs/values",
		fault:  durably(func(before, _ state, t *tx) state { return before.with(only(t.writes, isSet)) }),
	},
	{
		name:   "after a Reopen, the Deletes of an Update come after its Sets",
		breaks: durable,
		caught: "update/failed",
		fault: durably(func(before, _ state, t *tx) state {
			return before.with(append(only(t.writes, isSet), only(t.writes, isDelete)...))
		}),
	},
	{
		name:   "a Reopen applies an Update whose fn has failed",
		breaks: failedNothing,
		caught: "update/errors",
		fault: remembering(func(d *driver, t *tx) {
			d.m.mu.Lock()
			defer d.m.mu.Unlock()
			d.m.durable = d.m.state.with(t.writes)
		}),
	},
	{
		name:   "a Reopen loses values longer than 64 kB",
		breaks: durable,
		caught: "pairs/values",
		fault: durably(func(before, _ state, t *tx) state {
			return before.with(only(t.writes, func(w write) bool { return len(w.value) <= 1<<16 }))
		}),
	},
	{
		name:   "a Reopen loses the writes of an Update after the 100th",
		breaks: durable,
		caught: "pairs/many",
		fault: durably(func(before, _ state, t *tx) state {
			return before.with(t.writes[:min(100, len(t.writes))])
		}),
	},
	{
		name:   "only what the first opening writes outlives a Reopen",
		breaks: durable,
		caught: "update/own",
		fault: durably(func(before, after state, t *tx) state {
			if t.d.number > 1 {
				return before
			}
			return after
		}),
	},
	{
		name:   "an opening sees no Updates of others",
		breaks: processes,
		caught: "update/panic",
		fault: func(d *driver) {
			own := d.m.newest()
			begin := func(t *tx) {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				t.base = own
			}
			d.viewing, d.updating = begin, begin
			d.commit = func(t *tx) error {
				d.m.mu.Lock()
				own = own.with(t.writes)
				d.m.mu.Unlock()
				return d.soundCommit(t)
			}
		},
	},
	{
		name:   "an Update does not see what others have written since this opening's last one",
		breaks: processes,
		caught: "update/own",
		fault: func(d *driver) {
			last := d.m.newest()
			d.updating = func(t *tx) { t.base = last }
			d.commit = func(t *tx) error {
				err := d.soundCommit(t)
				last = d.m.newest()
				return err
			}
		},
	},
	{
		name:   "in a View, Get does not find keys that others have added since this opening's last Update",
		breaks: processes,
		caught: "update/context",
		fault: caching(func(t *tx, last state) {
			next := t.get
			t.get = func(key []byte) ([]byte, error) {
				if last.get(key) == nil {
					return nil, nil
				}
				return next(key)
			}
		}),
	},
	{
		name:   "in a View, Get finds keys that others have deleted since this opening's last Update",
		breaks: processes,
		caught: "update/during",
		fault: caching(func(t *tx, last state) {
			next := t.get
			t.get = func(key []byte) ([]byte, error) {
				value, err := next(key)
				if value == nil {
					value = last.get(key)
				}
				return value, err
			}
		}),
	},
	{
		name:   "in a View, Get returns the value of this opening's last Update, and Scan the newest",
		breaks: processes,
		caught: "update/failed",
		fault: caching(func(t *tx, last state) {
			next := t.get
			t.get = func(key []byte) ([]byte, error) {
				value, err := next(key)
				if old := last.get(key); value != nil && old != nil {
					value = old
				}
				return value, err
			}
		}),
	},
	{
		name:   "an Update does not wait for those of other openings",
		breaks: oneOrder,
		caught: "update/waiting",
		fault: func(d *driver) {
			turn := make(chan struct{}, 1)
			turn <- struct{}{}
			d.enter = func(ctx context.Context) error { return d.m.wait(ctx, turn) }
			d.leave = func() { turn <- struct{}{} }
		},
	},
}

const restMeans = "Rest is called after each Update of maintenance that another one follows. Others write meanwhile"

var brokenRests = []brokenDriver{
	{
		name:   "Rest undoes what others have written since this opening's last Update",
		breaks: restMeans,
		caught: "optional/rest",
		fault: func(d *driver) {
			last := d.m.newest()
			d.commit = func(t *tx) error {
				err := d.soundCommit(t)
				last = d.m.newest()
				return err
			}
			d.rest = func(ctx context.Context) error {
				if err := d.enter(ctx); err != nil {
					return err
				}
				defer d.leave()
				d.m.replace(func(state) state { return last })
				return nil
			}
		},
	},
	{
		name:   "after a Rest, Updates wait until its context has ended",
		breaks: restMeans,
		caught: "optional/rest",
		fault: func(d *driver) {
			d.rest = func(ctx context.Context) error {
				if err := d.enter(ctx); err != nil {
					return err
				}
				context.AfterFunc(ctx, d.leave)
				return nil
			}
		},
	},
	{
		name:   "Rest is an error while a View runs",
		breaks: restMeans,
		caught: "optional/rest",
		fault: func(d *driver) {
			views := 0
			count := func(n int) {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				views += n
			}
			d.view = func(ctx context.Context, fn func(t *tx) error) error {
				count(1)
				defer count(-1)
				return d.soundView(ctx, fn)
			}
			d.rest = func(context.Context) error {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				if views > 0 {
					return errors.New("database is locked")
				}
				return nil
			}
		},
	},
	{
		name:   "after a Rest, a View that has begun before reads the newest state",
		breaks: oneState,
		caught: "optional/rest",
		fault: func(d *driver) {
			rests := 0
			rested := func() int {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				return rests
			}
			d.rest = func(context.Context) error {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				rests++
				return nil
			}
			d.viewing = func(t *tx) {
				begun := rested()
				get := t.get
				t.get = func(key []byte) ([]byte, error) {
					if rested() > begun {
						return t.d.m.newest().get(key), nil
					}
					return get(key)
				}
				t.scans(func(from, to []byte) []entry {
					if rested() > begun {
						return t.d.m.newest().between(from, to)
					}
					return t.base.between(from, to)
				})
			}
		},
	},
}
