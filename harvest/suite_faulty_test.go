package harvest_test

import (
	"context"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A faulty is a model with some methods replaced, or with its batches and answers spoilt.
type faulty struct {
	*model

	claim   func(name string, ttl time.Duration) (*harvest.Claim, error)
	renew   func(c *harvest.Claim) error
	release func(c *harvest.Claim) error
	commit  func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error)
	// spoils a copy of what is committed
	batch     func(b *harvest.Batch)
	committed func(c *harvest.Claim, b *harvest.Batch) // after success, under the lock
	conflict  func(c *harvest.Claim, b *harvest.Batch) // after conflicts, under the lock
	failed    func(c *harvest.Claim, b *harvest.Batch) // after an error, under the lock

	checkpoint  func(c harvest.Checkpoint) harvest.Checkpoint
	lookup      func(source string, ids []string) ([]harvest.Record, error)
	head        func(h *websync.Head)
	record      func(r *harvest.Record)
	brief       func(b *harvest.Brief)
	prints      func(f *harvest.Fingerprints)
	entry       func(it *websync.Item)
	task        func(t *harvest.Task)
	records     func(recs []harvest.Record) []harvest.Record
	resources   func(r websync.Range, items []websync.Item) []websync.Item
	changes     func(r websync.Range, items []websync.Item, err error) ([]websync.Item, error)
	tasks       func(tasks []harvest.Task) []harvest.Task
	byID        func(source string, tasks []harvest.Task) []harvest.Task
	due         func(source string, now time.Time, n int) []harvest.Task
	loop        func(yes func() bool) bool // around every step of every loop
	offset      int                        // page length of loops that page by offset
	taskPages   int                        // page length of Tasks, if it pages by offset
	taskByTask  bool                       // Tasks looks for the next task in every step
	sharesRange bool                       // loops look at their caller's Range
	// Resources pages by Born, as if Compact did not change it
	byBorn   bool
	quiet    bool // loops end without the error of their context
	stubborn bool // loops go on after it

	open    func(key websync.Digest) (io.ReadSeekCloser, error)
	newBody func() harvest.BodyWriter
	state   func(key string) []byte
	swap    func(key string, old, new []byte) error

	compact func() (uint64, error)
	drop    func(before uint64) error
	vacuum  func(grace time.Duration) (int, error)
}

// locked runs f under the model's lock.
func (m *model) locked(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (f *faulty) Claim(ctx context.Context, name string, ttl time.Duration) (*harvest.Claim, error) {
	if f.claim != nil {
		return f.claim(name, ttl)
	}
	return f.model.Claim(ctx, name, ttl)
}

func (f *faulty) Renew(ctx context.Context, c *harvest.Claim) error {
	if f.renew != nil {
		return f.renew(c)
	}
	return f.model.Renew(ctx, c)
}

func (f *faulty) Release(ctx context.Context, c *harvest.Claim) error {
	if f.release != nil {
		return f.release(c)
	}
	return f.model.Release(ctx, c)
}

func (f *faulty) Commit(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
	if f.batch != nil {
		spoilt := clone(*b)
		spoilt.Bodies = b.Bodies
		f.batch(&spoilt)
		b = &spoilt
	}
	commit := f.commit
	if commit == nil {
		commit = f.model.Commit
	}
	conflicts, err := commit(ctx, c, b)
	after := f.committed
	if err != nil {
		after = f.failed
	} else if len(conflicts) > 0 {
		after = f.conflict
	}
	if after != nil {
		f.locked(func() { after(c, b) })
	}
	return conflicts, err
}

func (f *faulty) Checkpoint(ctx context.Context, source string) (harvest.Checkpoint, error) {
	c, err := f.model.Checkpoint(ctx, source)
	if f.checkpoint != nil {
		c = f.checkpoint(c)
	}
	return c, err
}

func (f *faulty) Lookup(ctx context.Context, source string, ids []string) ([]harvest.Record, error) {
	if f.lookup != nil {
		return f.lookup(source, ids)
	}
	recs, err := f.model.Lookup(ctx, source, ids)
	spoil(recs, f.record)
	return recs, err
}

func (f *faulty) Get(ctx context.Context, source string, ids []string) ([]websync.Item, error) {
	recs, err := f.Lookup(ctx, source, ids)
	items := make([]websync.Item, len(recs))
	for i, r := range recs {
		items[i] = r.Item
	}
	return items, err
}

func (f *faulty) Head(ctx context.Context) (websync.Head, error) {
	h, err := f.model.Head(ctx)
	if f.head != nil {
		f.head(&h)
	}
	return h, err
}

func (f *faulty) Records(ctx context.Context, source, after string) iter.Seq2[harvest.Record, error] {
	return spoiltList(ctx, f, func() ([]harvest.Record, error) {
		recs := above(f.model, f.model.records, source, after)
		spoil(recs, f.record)
		if f.records != nil {
			recs = f.records(recs)
		}
		return recs, nil
	})
}

func (f *faulty) Briefs(ctx context.Context, source, after string) iter.Seq2[harvest.Brief, error] {
	return briefs(f.Records(ctx, source, after), f.brief)
}

func (f *faulty) Fingerprints(ctx context.Context, source string) (*harvest.Fingerprints, error) {
	all, err := fingerprints(briefs(f.Records(ctx, source, ""), nil), f.key)
	if err == nil && f.prints != nil {
		f.prints(all)
	}
	return all, err
}

// spoilPrints spoils every Fingerprint.
func (f *faulty) spoilPrints(spoil func(*harvest.Fingerprint)) {
	f.prints = func(all *harvest.Fingerprints) {
		sound := all.All
		all.All = func(yield func(harvest.Fingerprint, error) bool) {
			for p, err := range sound {
				spoil(&p)
				if !yield(p, err) {
					return
				}
			}
		}
	}
}

func (f *faulty) Resources(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	if !f.sharesRange {
		r.Sources = slices.Clone(r.Sources)
	}
	if f.byBorn {
		return f.pagesByBorn(ctx, r)
	}
	return spoiltList(ctx, f, func() ([]websync.Item, error) {
		items, err := collect(f.model.Resources(ctx, r))
		if f.resources != nil {
			items = f.resources(r, items)
		}
		return items, err
	})
}

func (f *faulty) Changes(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	if !f.sharesRange {
		r.Sources = slices.Clone(r.Sources)
	}
	return spoiltList(ctx, f, func() ([]websync.Item, error) {
		items, err := collect(f.model.Changes(ctx, r))
		spoil(items, f.entry)
		if f.changes != nil {
			items, err = f.changes(r, items, err)
		}
		return items, err
	})
}

func (f *faulty) Tasks(ctx context.Context, source, after string) iter.Seq2[harvest.Task, error] {
	if f.taskPages > 0 {
		return pagesOf(func() ([]harvest.Task, error) { return above(f.model, f.model.tasks, source, after), nil }, f.taskPages)
	}
	if f.taskByTask {
		return f.tasksOneByOne(ctx, source, after)
	}
	return spoiltList(ctx, f, func() ([]harvest.Task, error) {
		tasks := above(f.model, f.model.tasks, source, after)
		spoil(tasks, f.task)
		if f.tasks != nil {
			tasks = f.tasks(tasks)
		}
		return tasks, nil
	})
}

func (f *faulty) LookupTasks(ctx context.Context, source string, ids []string) ([]harvest.Task, error) {
	tasks, err := f.model.LookupTasks(ctx, source, ids)
	spoil(tasks, f.task)
	if f.byID != nil {
		tasks = f.byID(source, tasks)
	}
	return tasks, err
}

func (f *faulty) Due(ctx context.Context, source string, now time.Time, n int) ([]harvest.Task, error) {
	if f.due != nil {
		return f.due(source, now, n), nil
	}
	tasks, err := f.model.Due(ctx, source, now, n)
	spoil(tasks, f.task)
	return tasks, err
}

func (f *faulty) Open(ctx context.Context, b websync.Body) (io.ReadSeekCloser, error) {
	if f.open != nil {
		return f.open(b.Key)
	}
	return f.model.Open(ctx, b)
}

func (f *faulty) NewBody(ctx context.Context) (harvest.BodyWriter, error) {
	if f.newBody != nil {
		return f.newBody(), nil
	}
	return f.model.NewBody(ctx)
}

func (f *faulty) State(ctx context.Context, key string) ([]byte, error) {
	if f.state != nil {
		return f.state(key), nil
	}
	return f.model.State(ctx, key)
}

func (f *faulty) Swap(ctx context.Context, key string, old, new []byte) error {
	if f.swap != nil {
		return f.swap(key, old, new)
	}
	return f.model.Swap(ctx, key, old, new)
}

func (f *faulty) Compact(ctx context.Context) (uint64, error) {
	if f.compact != nil {
		return f.compact()
	}
	return f.model.Compact(ctx)
}

func (f *faulty) Drop(ctx context.Context, before uint64) error {
	if f.drop != nil {
		return f.drop(before)
	}
	return f.model.Drop(ctx, before)
}

func (f *faulty) Vacuum(ctx context.Context, grace time.Duration) (int, error) {
	if f.vacuum != nil {
		return f.vacuum(grace)
	}
	return f.model.Vacuum(ctx, grace)
}

// taskOf returns the task of an id.
func (f *faulty) taskOf(source, id string) (t harvest.Task) {
	f.locked(func() { t = f.model.tasks[source][id] })
	return t
}

func spoil[V any](vs []V, f func(*V)) {
	if f == nil {
		return
	}
	for i := range vs {
		f(&vs[i])
	}
}

func collect[V any](seq iter.Seq2[V, error]) (vs []V, err error) {
	for v, err := range seq {
		if err != nil {
			return vs, err
		}
		vs = append(vs, v)
	}
	return vs, nil
}

// spoiltList is list, with the faults that loops have.
func spoiltList[V any](ctx context.Context, f *faulty, get func() ([]V, error)) iter.Seq2[V, error] {
	inner := list(ctx, get)
	switch {
	case f.offset > 0:
		inner = pagesOf(get, f.offset)
	case f.quiet:
		inner = quiet(inner)
	case f.stubborn:
		inner = stubborn(inner)
	}
	if f.loop == nil {
		return inner
	}
	return func(yield func(V, error) bool) {
		for v, err := range inner {
			if !f.loop(func() bool { return yield(v, err) }) {
				return
			}
		}
	}
}

func (f *faulty) tasksOneByOne(ctx context.Context, source, after string) iter.Seq2[harvest.Task, error] {
	return func(yield func(harvest.Task, error) bool) {
		for {
			tasks := above(f.model, f.model.tasks, source, after)
			if len(tasks) == 0 || !yield(tasks[0], ctx.Err()) || ctx.Err() != nil {
				return
			}
			after = tasks[0].Resource.ID
		}
	}
}

func (f *faulty) pagesByBorn(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return func(yield func(websync.Item, error) bool) {
		for {
			items, err := collect(f.model.Resources(ctx, r))
			if err != nil || len(items) == 0 {
				return
			}
			for _, it := range items[:min(100, len(items))] {
				if !yield(it, nil) {
					return
				}
				r.After = it.Born
			}
		}
	}
}

// pages asks again for every n values, and skips as many as it has yielded.
func pagesOf[V any](get func() ([]V, error), n int) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		for at := 0; ; at += n {
			vs, err := get()
			if err != nil {
				yield(*new(V), err)
				return
			}
			for _, v := range vs[min(at, len(vs)):min(at+n, len(vs))] {
				if !yield(v, nil) {
					return
				}
			}
			if at+n >= len(vs) {
				return
			}
		}
	}
}

func quiet[V any](inner iter.Seq2[V, error]) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		for v, err := range inner {
			if err != nil || !yield(v, nil) {
				return
			}
		}
	}
}

func stubborn[V any](inner iter.Seq2[V, error]) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		for v, err := range inner {
			if !yield(v, err) || err != nil && !yield(v, nil) {
				return
			}
		}
	}
}
