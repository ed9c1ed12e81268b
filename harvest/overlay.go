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

// An overlay is a Store over another one, which it never changes: it reads through, and
// remembers what was committed to it, up to about maxPlanned records and tasks. One run
// uses it.
type overlay struct {
	Store

	mu      sync.Mutex
	last    websync.Seq        // the greatest number; numbers given here are greater than those below
	records map[string]*Record // committed here
	tasks   map[string]*Task   // likewise; nil: the id has no task any more
	state   map[string][]byte  // likewise
	ended   func(t *Task) bool // reports whether a sweep ended a task below; may be nil
	due     string             // Due has returned the tasks up to this id
}

// maxPlanned is how many records and tasks an overlay remembers. When there are more, it
// forgets them all.
const maxPlanned = 1 << 16

func newOverlay(below Store) *overlay {
	return &overlay{Store: below, last: 1 << 62, records: map[string]*Record{}, tasks: map[string]*Task{}, state: map[string][]byte{}}
}

var errOverlay = errors.New("a plan writes nothing")

func (o *overlay) Claim(_ context.Context, name string, ttl time.Duration) (*Claim, error) {
	return &Claim{Name: name, TTL: ttl}, nil
}

func (o *overlay) Renew(context.Context, *Claim) error                { return nil }
func (o *overlay) Release(context.Context, *Claim) error              { return nil }
func (o *overlay) NewBody(context.Context) (BodyWriter, error)        { return nil, errOverlay }
func (o *overlay) Swap(context.Context, string, []byte, []byte) error { return errOverlay }

// Commit remembers the batch. There are no conflicts: what others commit below meanwhile
// is not looked at.
func (o *overlay) Commit(_ context.Context, _ *Claim, b *Batch) (conflicts []string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.records)+len(o.tasks) >= maxPlanned {
		clear(o.records)
		clear(o.tasks)
	}
	for _, c := range b.Puts {
		o.last++
		c.Record.Seq = o.last
		o.records[c.Record.Resource.ID] = &c.Record
	}
	for _, c := range b.Touches {
		o.records[c.Record.Resource.ID] = &c.Record
	}
	for _, t := range b.Done {
		o.tasks[t.ID] = nil
	}
	for _, t := range b.Tasks {
		o.tasks[t.Resource.ID] = &t
	}
	maps.Copy(o.state, b.State)
	return nil, nil
}

func (o *overlay) Head(ctx context.Context) (websync.Head, error) {
	head, err := o.Store.Head(ctx)
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
	return o.Store.State(ctx, key)
}

func (o *overlay) record(id string) (*Record, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rec, ok := o.records[id]
	return rec, ok
}

func (o *overlay) task(id string) (*Task, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t, ok := o.tasks[id]
	return t, ok
}

// latest brings what was looked up for a slot up to date.
func (o *overlay) latest(s *slot) {
	if rec, ok := o.record(s.id()); ok {
		s.rec = rec
	}
	if t, ok := o.task(s.id()); ok && s.task == nil {
		s.waiting = t
	}
}

func (o *overlay) Lookup(ctx context.Context, source string, ids []string) ([]Record, error) {
	records, err := o.Store.Lookup(ctx, source, ids)
	if err == nil && len(records) == len(ids) {
		over(records, ids, o.record)
	}
	return records, err
}

func (o *overlay) LookupTasks(ctx context.Context, source string, ids []string) ([]Task, error) {
	tasks, err := o.Store.LookupTasks(ctx, source, ids)
	for i := range tasks {
		if o.ended != nil && o.ended(&tasks[i]) {
			tasks[i] = Task{}
		}
	}
	if err == nil && len(tasks) == len(ids) {
		over(tasks, ids, o.task)
	}
	return tasks, err
}

// over replaces the values of ids that were written here.
func over[T any](values []T, ids []string, written func(id string) (*T, bool)) {
	for i, id := range ids {
		switch v, ok := written(id); {
		case v != nil:
			values[i] = *v
		case ok:
			values[i] = *new(T)
		}
	}
}

func (o *overlay) Records(ctx context.Context, source, after string) iter.Seq2[Record, error] {
	o.mu.Lock()
	ids := slices.Collect(maps.Keys(o.records))
	o.mu.Unlock()
	id := func(r *Record) string { return r.Resource.ID }
	return mergeWritten(o.Store.Records(ctx, source, after), id, after, ids, o.record)
}

func (o *overlay) Tasks(ctx context.Context, source, after string) iter.Seq2[Task, error] {
	o.mu.Lock()
	ids := slices.Collect(maps.Keys(o.tasks))
	o.mu.Unlock()
	id := func(t *Task) string { return t.Resource.ID }
	return mergeWritten(o.below(ctx, source, after), id, after, ids, o.task)
}

// below yields the tasks of the Store below that no sweep has ended.
func (o *overlay) below(ctx context.Context, source, after string) iter.Seq2[Task, error] {
	return func(yield func(Task, error) bool) {
		for t, err := range o.Store.Tasks(ctx, source, after) {
			if err == nil && o.ended != nil && o.ended(&t) {
				continue
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

// mergeWritten puts the values of ids that were written here among those below. Written
// returns nil and true for what was removed.
func mergeWritten[T any](below iter.Seq2[T, error], idOf func(*T) string, after string, ids []string, written func(id string) (*T, bool)) iter.Seq2[T, error] {
	ids = slices.DeleteFunc(ids, func(id string) bool { return id <= after })
	slices.Sort(ids)
	return func(yield func(T, error) bool) {
		ids := ids
		next := func() bool {
			v, _ := written(ids[0])
			ids = ids[1:]
			return v == nil || yield(*v, nil)
		}
		for value, err := range below {
			id := idOf(&value)
			for err == nil && len(ids) > 0 && ids[0] < id {
				if !next() {
					return
				}
			}
			if v, ok := written(id); ok && err == nil {
				if len(ids) > 0 && ids[0] == id {
					ids = ids[1:]
				}
				if v == nil {
					continue
				}
				value = *v
			}
			if !yield(value, err) || err != nil {
				return
			}
		}
		for len(ids) > 0 && next() {
		}
	}
}

// Due goes through the tasks below once, in the order of their ids: a task that it has
// returned is carried out.
func (o *overlay) Due(ctx context.Context, source string, now time.Time, n int) (due []Task, err error) {
	for t, err := range o.below(ctx, source, o.due) {
		if err != nil {
			return nil, err
		}
		o.due = t.Resource.ID
		_, changed := o.record(o.due)
		_, replaced := o.task(o.due)
		if t.Kind != TaskGet || t.Parked || t.Due.After(now) || changed || replaced {
			continue
		}
		if due = append(due, t); len(due) == n {
			break
		}
	}
	return due, nil
}
