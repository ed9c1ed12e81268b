package harvest

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

// An overlay is a store for one dry run. It reads from the Store below, which it never
// changes, and keeps what was committed of the last maxPlanned ids in memory.
type overlay struct {
	store

	mu      sync.Mutex
	last    websync.Seq // the last number, greater than all numbers below
	changed map[string]change
	state   map[string][]byte
	ended   map[uint64]bool // tasks below that a sweep ended, by N
	due     string          // the last id that Due has looked at
}

// A change is what was committed of one id.
type change struct {
	record *Record // if nil, the one below counts
	task   *Task
	noTask bool // the task was ended
}

// maxPlanned is how many ids an overlay keeps. When there are more, it drops all of them.
const maxPlanned = 1 << 16

func newOverlay(below store) *overlay {
	return &overlay{store: below, last: 1 << 62, changed: map[string]change{}, state: map[string][]byte{}, ended: map[uint64]bool{}}
}

var errOverlay = errors.New("a plan writes nothing")

func (o *overlay) Claim(_ context.Context, name string, ttl time.Duration) (*Claim, error) {
	return &Claim{Name: name, TTL: ttl}, nil
}

func (o *overlay) Renew(context.Context, *Claim) error                { return nil }
func (o *overlay) Release(context.Context, *Claim) error              { return nil }
func (o *overlay) NewBody(context.Context) (BodyWriter, error)        { return nil, errOverlay }
func (o *overlay) Swap(context.Context, string, []byte, []byte) error { return errOverlay }

// Commit keeps the batch in memory. It never returns conflicts: commits of others to the
// Store below do not matter to a dry run.
func (o *overlay) Commit(_ context.Context, _ *Claim, b *Batch) (conflicts []string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.changed) >= maxPlanned {
		clear(o.changed)
	}
	set := func(id string, f func(c *change)) {
		c := o.changed[id]
		f(&c)
		o.changed[id] = c
	}
	for _, put := range b.Puts {
		o.last++
		put.Record.Seq = o.last
		set(put.Record.Resource.ID, func(c *change) { c.record = &put.Record })
	}
	for _, touch := range b.Touches {
		set(touch.Record.Resource.ID, func(c *change) { c.record = &touch.Record })
	}
	for _, done := range b.Done {
		set(done.ID, func(c *change) { c.task, c.noTask = nil, true })
	}
	for _, t := range b.Tasks {
		set(t.Resource.ID, func(c *change) { c.task, c.noTask = &t, false })
	}
	maps.Copy(o.state, b.State)
	return nil, nil
}

func (o *overlay) Head(ctx context.Context) (websync.Head, error) {
	head, err := o.store.Head(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	head.Last = o.last
	return head, err
}

func (o *overlay) State(ctx context.Context, key string) ([]byte, error) {
	o.mu.Lock()
	value, ok := o.state[key]
	o.mu.Unlock()
	if ok {
		return value, nil
	}
	return o.store.State(ctx, key)
}

func (o *overlay) of(id string) (c change, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c, ok = o.changed[id]
	return c, ok
}

// record returns the record that was committed of id, and reports whether one was.
func (o *overlay) record(id string) (*Record, bool) {
	c, _ := o.of(id)
	return c.record, c.record != nil
}

// task returns the task that was committed of id, nil if its task was ended. It reports
// whether one or the other happened.
func (o *overlay) task(id string) (*Task, bool) {
	c, _ := o.of(id)
	return c.task, c.task != nil || c.noTask
}

// latest updates the record and the task of a slot: earlier slots of the same batch may
// have changed them.
func (o *overlay) latest(s *slot) {
	if rec, ok := o.record(s.id()); ok {
		s.rec = rec
	}
	if t, ok := o.task(s.id()); ok && s.task == nil {
		s.waiting = t
	}
}

func (o *overlay) Lookup(ctx context.Context, source string, ids []string) ([]Record, error) {
	records, err := o.store.Lookup(ctx, source, ids)
	for i := range records[:min(len(records), len(ids))] {
		if rec, ok := o.record(ids[i]); ok {
			records[i] = *rec
		}
	}
	return records, err
}

func (o *overlay) LookupTasks(ctx context.Context, source string, ids []string) ([]Task, error) {
	tasks, err := o.store.LookupTasks(ctx, source, ids)
	for i := range tasks[:min(len(tasks), len(ids))] {
		switch t, ok := o.task(ids[i]); {
		case t != nil:
			tasks[i] = *t
		case ok || o.ended[tasks[i].N]:
			tasks[i] = Task{}
		}
	}
	return tasks, err
}

func (o *overlay) Records(ctx context.Context, source, after string) iter.Seq2[Record, error] {
	return merge(o.store.Records(ctx, source, after), func(r *Record) string { return r.Resource.ID }, o.ids(after), o.record)
}

func (o *overlay) Briefs(ctx context.Context, source, after string) iter.Seq2[Brief, error] {
	return merge(o.store.Briefs(ctx, source, after), func(b *Brief) string { return b.ID }, o.ids(after), func(id string) (*Brief, bool) {
		rec, ok := o.record(id)
		if !ok {
			return nil, false
		}
		b := rec.Brief()
		return &b, true
	})
}

// Fingerprints returns those of the Store below and of the committed records.
func (o *overlay) Fingerprints(ctx context.Context, source string) (*Fingerprints, error) {
	below, err := o.store.Fingerprints(ctx, source)
	if err != nil {
		return nil, err
	}
	all := *below
	replaced := map[uint64]bool{}
	var committed []Fingerprint
	for _, id := range o.ids("") {
		rec, ok := o.record(id)
		if !ok {
			continue
		}
		b := rec.Brief()
		f := all.Key.Of(&b)
		replaced[f.ID] = true
		if b.Live() {
			committed = append(committed, f)
		} else {
			all.Others++
		}
	}
	all.All = func(yield func(Fingerprint, error) bool) {
		for f, err := range below.All {
			if err == nil && replaced[f.ID] {
				continue
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
		for _, f := range committed {
			if !yield(f, nil) {
				return
			}
		}
	}
	return &all, nil
}

func (o *overlay) Tasks(ctx context.Context, source, after string) iter.Seq2[Task, error] {
	return merge(o.below(ctx, source, after), func(t *Task) string { return t.Resource.ID }, o.ids(after), o.task)
}

// ids returns the ids after the given one of which something was committed, in byte
// order.
func (o *overlay) ids(after string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	ids := slices.Sorted(maps.Keys(o.changed))
	return slices.DeleteFunc(ids, func(id string) bool { return id <= after })
}

// below yields the tasks of the Store below, without those that a sweep has ended.
func (o *overlay) below(ctx context.Context, source, after string) iter.Seq2[Task, error] {
	return func(yield func(Task, error) bool) {
		for t, err := range o.store.Tasks(ctx, source, after) {
			if err == nil && o.ended[t.N] {
				continue
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

// merge yields the values below and the committed values of ids, in the order of their
// ids. Committed reports whether anything was committed of an id; it returns nil if the
// value was removed.
func merge[T any](below iter.Seq2[T, error], idOf func(*T) string, ids []string, committed func(id string) (*T, bool)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ids := ids
		// next yields the committed values of ids before one, or of all.
		next := func(before *string) bool {
			for len(ids) > 0 && (before == nil || ids[0] < *before) {
				v, _ := committed(ids[0])
				ids = ids[1:]
				if v != nil && !yield(*v, nil) {
					return false
				}
			}
			return true
		}
		for value, err := range below {
			if err != nil {
				yield(value, err)
				return
			}
			id := idOf(&value)
			if !next(&id) {
				return
			}
			if len(ids) > 0 && ids[0] == id {
				ids = ids[1:]
			}
			v, ok := committed(id)
			switch {
			case v != nil:
				value = *v
			case ok:
				continue
			}
			if !yield(value, nil) {
				return
			}
		}
		next(nil)
	}
}

// Due returns each task of the Store below once, in the order of the ids: the run carries
// out every task that Due returns.
func (o *overlay) Due(ctx context.Context, source string, now time.Time, n int) (due []Task, err error) {
	for t, err := range o.below(ctx, source, o.due) {
		if err != nil {
			return nil, err
		}
		o.due = t.Resource.ID
		if _, changed := o.of(o.due); changed || t.Kind != TaskGet || t.Parked || t.Due.After(now) {
			continue
		}
		if due = append(due, t); len(due) == n {
			break
		}
	}
	return due, nil
}
