package storetest_test

import (
	"context"
	"sync"
)

const (
	watches = "The Store calls changed soon after an Update of another process that has set or deleted a key of the log"
	rarely  = "Calls without need are to be rare"
)

var brokenLogs = []brokenDriver{
	{
		name:   "others are notified though the Update has failed",
		breaks: rarely,
		caught: "optional/watch",
		fault: remembering(func(d *driver, t *tx) {
			if t.notified {
				d.notify()
			}
		}),
	},
	{
		name:   "after an Update that has failed, others are not notified any more",
		breaks: watches,
		caught: "optional/watch",
		fault: func(d *driver) {
			failed := false
			remembering(func(_ *driver, t *tx) { failed = failed || t.notified })(d)
			d.notify = func() {
				if !failed {
					d.soundNotify()
				}
			}
		},
	},
	{
		name:   "others are notified before the Update is applied, and not afterwards",
		breaks: watches,
		caught: "optional/watch",
		fault: func(d *driver) {
			d.updating = func(t *tx) {
				t.puts(func(next put) put {
					return func(key, value []byte) error {
						err := next(key, value)
						if t.notified {
							d.soundNotify()
						}
						return err
					}
				})
			}
			d.notify = func() {}
		},
	},
	{
		name:   "only the first change of an opening is notified",
		breaks: watches,
		caught: "optional/watch",
		fault: func(d *driver) {
			notified := false
			d.notify = func() {
				if !notified {
					d.soundNotify()
				}
				notified = true
			}
		},
	},
	{
		name:   "a change of the log is not notified if another key is written after it",
		breaks: watches,
		caught: "optional/watch",
		fault: inUpdates(func(t *tx) {
			t.puts(func(next put) put {
				return func(key, value []byte) error {
					t.notified = false
					return next(key, value)
				}
			})
		}),
	},
	{
		name:   "a Delete of a key of the log is not notified",
		breaks: watches,
		caught: "optional/watch",
		fault: inUpdates(func(t *tx) {
			next := t.delete
			t.delete = func(key []byte) error {
				notified := t.notified
				err := next(key)
				t.notified = notified
				return err
			}
		}),
	},
	{
		name:   "each Update is notified",
		breaks: rarely,
		caught: "optional/watch",
		fault: func(d *driver) {
			d.commit = func(t *tx) error {
				t.notified = true
				return d.soundCommit(t)
			}
		},
	},
	{
		name:   "only the opening that was opened last is notified",
		breaks: watches,
		caught: "optional/watch",
		fault: func(d *driver) {
			d.notify = func() {
				all := d.m.living()
				last := all[len(all)-1]
				for _, changed := range d.m.watchers(func(o *driver) bool { return o != d && o == last }) {
					go changed()
				}
			}
		},
	},
	{
		name:   "only the opening that has changed the log is notified",
		breaks: watches,
		caught: "optional/watch",
		fault: func(d *driver) {
			d.notify = func() {
				for _, changed := range d.m.watchers(func(o *driver) bool { return o == d }) {
					go changed()
				}
			}
		},
	},
	{
		name:   "when an opening has ended, none is notified any more",
		breaks: watches,
		caught: "optional/watch",
		fault: func(d *driver) {
			d.notify = func() {
				if len(d.m.living()) == d.m.count() {
					d.soundNotify()
				}
			}
		},
	},
	{
		name:   "an opening that has changed the log itself is not notified any more",
		breaks: watches,
		caught: "optional/watch",
		fault: func(d *driver) {
			d.notify = func() {
				d.m.mu.Lock()
				d.changed = nil
				d.m.mu.Unlock()
				d.soundNotify()
			}
		},
	},
	{
		name:   "a change while changed runs is not notified",
		breaks: watches,
		caught: "optional/watch",
		fault: func(d *driver) {
			running := false
			set := func(to bool) (was bool) {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				was, running = running, to
				return was
			}
			d.watch = func(changed func()) {
				d.soundWatch(func() {
					if !set(true) {
						changed()
						set(false)
					}
				})
			}
		},
	},
	{
		name:   "Watch returns at the first change",
		breaks: "Watch does not block",
		caught: "optional/watch",
		fault: func(d *driver) {
			d.watch = func(changed func()) {
				first := make(chan struct{})
				once := sync.OnceFunc(func() { close(first) })
				d.soundWatch(func() {
					once()
					changed()
				})
				d.m.wait(context.Background(), first)
			}
		},
	},
}
