package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

var errReading = errors.New("the connection was lost")

// losing makes the first read of each function fail: it is called again then.
func losing(run runner) runner {
	return func(ctx context.Context, fn func(t *tx) error) error {
		lost := false
		try := func(t *tx) error {
			if lost {
				return fn(t)
			}
			fails := func() error {
				lost = true
				return errReading
			}
			t.get = func([]byte) ([]byte, error) { return nil, fails() }
			t.prefetch = func([][]byte) error { return fails() }
			t.scan = func(_, _ []byte, _ int, _ visit) error { return fails() }
			err := fn(t)
			if lost {
				return errReading
			}
			return err
		}
		err := run(ctx, try)
		if lost && err == errReading {
			err = run(ctx, try)
		}
		return err
	}
}

var errNever = errors.New("a caller never does this")

// strict makes t return errors for what callers never do.
func strict(t *tx) {
	scans := 0
	t.each(func() error {
		if scans > 0 {
			return errNever
		}
		return nil
	})
	t.visits(func(fn visit) visit {
		return func(key, value []byte) bool {
			scans++
			defer func() { scans-- }()
			return fn(key, value)
		}
	})
	fits := func(key []byte) bool { return len(key) > 0 && len(key) <= 5<<10 }
	t.puts(func(next put) put {
		return func(key, value []byte) error {
			if !fits(key) || len(value) == 0 {
				return errNever
			}
			return next(key, value)
		}
	})
	absent := t.absent
	t.absent = func(key []byte) {
		if value, _ := t.get(key); value != nil {
			panic(errNever)
		}
		absent(key)
	}
}

// nameAllowed reports whether CreateBlob may be given name, which is used then.
func nameAllowed(used map[string]bool, name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789."
	again := used[name]
	used[name] = true
	return !again && name != "" && len(name) <= 64 && strings.Trim(name, letters) == ""
}

var soundDrivers = []soundDriver{
	{name: "implements all", alter: func(*driver) {}},
	{name: "lacks Prefetcher", lacks: prefetching, alter: func(*driver) {}},
	{name: "lacks Watcher", lacks: watching, alter: func(*driver) {}},
	{name: "lacks Blobs", lacks: blobbing, alter: func(*driver) {}},
	{name: "lacks Eraser", lacks: notErasing, alter: func(*driver) {}},
	{name: "lacks Owners", lacks: owning, alter: func(*driver) {}},
	{name: "lacks Rester", lacks: resting, alter: func(*driver) {}},
	{name: "lacks all that is optional", lacks: everything, alter: func(*driver) {}},
	{
		name:   "Scan in an Update includes what the Update has written",
		allows: "In a Tx, Scan need not include what the same Tx has written",
		alter: inUpdates(func(t *tx) {
			t.scans(func(from, to []byte) []entry { return t.base.with(t.writes).between(from, to) })
		}),
	},
	{
		name:   "the state of a View is that of its first read",
		allows: oneState,
		alter: inViews(func(t *tx) {
			begun := false
			t.eachAndScans(func() error {
				if !begun {
					t.base, begun = t.d.m.newest(), true
				}
				return nil
			})
		}),
	},
	{
		name:   "Update calls fn twice",
		allows: fromTheStart,
		alter: func(d *driver) {
			d.update = func(ctx context.Context, fn func(t *tx) error) error {
				return d.soundUpdate(ctx, func(t *tx) error {
					if err := fn(d.beginUpdate(ctx, t.base)); err != nil {
						return err
					}
					return fn(t)
				})
			}
		},
	},
	{
		name:   "Updates run at the same time, and fn is called again after a conflict",
		allows: fromTheStart,
		alter:  optimistic(anyChange, afresh),
	},
	{
		name:   "the first read of each function fails, and it is called again",
		allows: "If reading fails, View may call fn again; a Store that loses its connection may call fn again",
		alter:  around(losing),
	},
	{
		name:   "memory is used for something else when fn has returned",
		allows: "What Get returns and what Scan calls fn with is valid until the function returns",
		alter: around(func(run runner) runner {
			return func(ctx context.Context, fn func(t *tx) error) error {
				return run(ctx, func(t *tx) error {
					var given [][]byte
					give := func(b []byte) []byte {
						given = append(given, bytes.Clone(b))
						return given[len(given)-1]
					}
					t.copies(func(_, value []byte) []byte { return give(value) })
					t.visits(func(fn visit) visit {
						return func(key, value []byte) bool { return fn(give(key), give(value)) }
					})
					defer func() {
						for _, g := range given {
							copy(g, bytes.Repeat([]byte{'#'}, len(g)))
						}
					}()
					return fn(t)
				})
			}
		}),
	},
	{
		name:   "nothing is kept of what Set is given",
		allows: "The caller does not change key and value afterwards: a Store may keep them",
		alter: inUpdates(func(t *tx) {
			t.puts(func(next put) put {
				return func(key, value []byte) error { return next(bytes.Clone(key), bytes.Clone(value)) }
			})
		}),
	},
	{
		name:   "when the context has ended, all is an error and nothing is applied",
		allows: "A context that ends may end the wait for other Updates; it need not end anything else",
		alter: func(d *driver) {
			ended := func(t *tx) { t.eachAndScans(t.ctx.Err) }
			d.viewing, d.updating = ended, ended
			d.commit = func(t *tx) error {
				if err := t.ctx.Err(); err != nil {
					return err
				}
				return d.soundCommit(t)
			}
		},
	},
	{
		name:   "when the context has ended, Update returns its error though all is applied",
		allows: "If Update returns an error of its own after fn has returned nil, either all is applied or nothing",
		alter: func(d *driver) {
			d.commit = func(t *tx) error {
				return errors.Join(d.soundCommit(t), t.ctx.Err())
			}
		},
	},
	{
		name:   "the end of a context ends nothing",
		allows: "A context that ends need not end anything else",
		alter: func(d *driver) {
			d.enter = func(ctx context.Context) error { return d.soundEnter(context.WithoutCancel(ctx)) }
		},
	},
	{
		name:   "changed is called at once, after each Update, and twice",
		allows: "changed is called when the Store may have missed a change",
		alter: func(d *driver) {
			d.watch = func(changed func()) {
				d.soundWatch(changed)
				go changed()
			}
			d.notify = func() {
				for _, changed := range d.m.watchers(func(*driver) bool { return true }) {
					go changed()
					go changed()
				}
			}
		},
	},
	{
		name:   "an Update waits until changed has returned",
		allows: "changed returns at once",
		alter: func(d *driver) {
			d.notify = func() {
				for _, changed := range d.m.watchers(d.isOther) {
					changed()
				}
			}
		},
	},
	{
		name:   "an owner has no name",
		allows: "Owner returns \"\" if others can't detect whether it has ended",
		alter: func(d *driver) {
			d.owner = func() string { return "" }
			d.dead = func(string) bool { return false }
		},
	},
	{
		name:   "a blob is durable with the next Update only",
		allows: isDurable,
		alter: func(d *driver) {
			created(func(d *driver, b *blob, w *blobWriter) {
				next := w.close
				w.close = func() error {
					err := next()
					d.m.mu.Lock()
					defer d.m.mu.Unlock()
					b.durable = false
					return err
				}
			})(d)
			d.commit = func(t *tx) error {
				d.m.mu.Lock()
				for _, b := range d.m.blobs {
					b.durable = b.complete
				}
				d.m.mu.Unlock()
				return d.soundCommit(t)
			}
		},
	},
	{
		name:   "Close is an error when the context of the blob has ended",
		allows: "If ctx has ended before Close, the bytes are not needed",
		alter: func(d *driver) {
			d.createBlob = func(ctx context.Context, name string) (io.WriteCloser, error) {
				w, err := d.soundCreate(ctx, name)
				b := w.(*blobWriter)
				next := b.close
				b.close = func() error {
					if err := ctx.Err(); err != nil {
						return err
					}
					return next()
				}
				return b, err
			}
		},
	},
	{
		name:   "ListBlobs yields blobs in another order, and none that is removed meanwhile",
		allows: "ListBlobs may leave out blobs that are created or removed meanwhile",
		alter: func(d *driver) {
			d.listBlobs = func(_ context.Context, fn func(name string, modified time.Time) bool) error {
				all := d.m.list()
				slices.Reverse(all)
				for _, l := range all {
					if slices.ContainsFunc(d.m.list(), func(other listed) bool { return other.name == l.name }) && !fn(l.name, l.modified) {
						break
					}
				}
				return nil
			}
		},
	},
	{
		name:   "what callers never do is an error",
		allows: "neither keys nor values are empty; Get is not called while a Scan runs; names are never used again",
		alter: func(d *driver) {
			around(func(run runner) runner {
				return func(ctx context.Context, fn func(t *tx) error) error {
					return run(ctx, func(t *tx) error {
						over := false
						strict(t)
						t.eachAndScans(func() error {
							if over {
								return errNever
							}
							return nil
						})
						defer func() { over = true }()
						return fn(t)
					})
				}
			})(d)
			used := map[string]bool{}
			d.createBlob = func(ctx context.Context, name string) (io.WriteCloser, error) {
				d.m.mu.Lock()
				allowed := nameAllowed(used, name)
				d.m.mu.Unlock()
				if !allowed {
					return nil, errNever
				}
				return d.soundCreate(ctx, name)
			}
		},
	},
	{
		name:   "the memory of a key goes on into its value",
		allows: "The caller neither changes nor appends to what Get and Scan yield",
		alter: inBoth(func(t *tx) {
			t.visits(func(fn visit) visit {
				return func(key, value []byte) bool {
					both := append(slices.Clip(key), value...)
					return fn(both[:len(key)], both[len(key):])
				}
			})
		}),
	},
	{
		name:   "a tenth View at a time waits for the end of another",
		allows: "A Store may limit the number of Views that run at a time",
		alter: func(d *driver) {
			slots := make(chan struct{}, 9)
			for range cap(slots) {
				slots <- struct{}{}
			}
			d.view = func(ctx context.Context, fn func(t *tx) error) error {
				if err := d.m.wait(ctx, slots); err != nil {
					return err
				}
				defer func() { slots <- struct{}{} }()
				return d.soundView(ctx, fn)
			}
		},
	},
	{
		name:   "View wraps fn's error",
		allows: "View returns fn's error, or one that wraps it",
		alter: func(d *driver) {
			d.view = func(ctx context.Context, fn func(t *tx) error) error {
				if err := d.soundView(ctx, fn); err != nil {
					return fmt.Errorf("view: %w", err)
				}
				return nil
			}
		},
	},
	{
		name:   "Update wraps fn's error",
		allows: "Update returns fn's error, or one that wraps it",
		alter: afterwards(func(err error) error {
			if err != nil {
				return fmt.Errorf("update: %w", err)
			}
			return nil
		}),
	},
	{
		name:   "Prefetch of no keys is an error",
		allows: "Prefetch reads one key or more",
		alter: inBoth(func(t *tx) {
			next := t.prefetch
			t.prefetch = func(keys [][]byte) error {
				if len(keys) == 0 {
					return errors.New("syntax error at or near \")\"")
				}
				return next(keys)
			}
		}),
	},
	{
		name:   "a blob can be opened before its Close",
		allows: "Once Close has returned nil the blob can be opened",
		alter: func(d *driver) {
			d.openBlob = func(ctx context.Context, name string) (io.ReadSeekCloser, error) {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				if b, ok := d.m.blobs[name]; ok {
					return readerOf(b.data), nil
				}
				return nil, notExist(name)
			}
		},
	},
	{
		name:   "RemoveBlob while ListBlobs runs waits for its end",
		allows: "The function of ListBlobs calls no method of Blobs",
		alter: func(d *driver) {
			turn := make(chan struct{}, 1)
			turn <- struct{}{}
			d.listBlobs = func(ctx context.Context, fn func(name string, modified time.Time) bool) error {
				if err := d.m.wait(ctx, turn); err != nil {
					return err
				}
				defer func() { turn <- struct{}{} }()
				return d.soundList(ctx, fn)
			}
			d.removeBlob = func(ctx context.Context, name string) error {
				if err := d.m.wait(ctx, turn); err != nil {
					return err
				}
				defer func() { turn <- struct{}{} }()
				return d.soundRemove(ctx, name)
			}
		},
	},
}
