package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/websync-go/websync"
)

// Freeze returns a Catalog that stays in the state that catalog has now, while catalog
// goes on changing. Publishers of it can be exported by [WriteDir] during a harvest: all
// their lists and bodies are of one state.
//
// It holds no transaction. It reads older states from the log, so catalog must know the
// Prior of each entry. It keeps some 60 bytes for each resource that has changed since,
// and up to 120 if these are few among many.
//
// It cannot keep catalog from forgetting. Once the log has a new generation, Head, Get
// and Resources return [websync.ErrConflict], as the last two do for a Prior that catalog
// does not know. Open returns [websync.ErrNotFound] for a body that catalog no longer
// keeps: of a Store, one that was replaced or deleted and then removed by Vacuum.
func Freeze(ctx context.Context, catalog websync.Catalog) (websync.Catalog, error) {
	head, err := catalog.Head(ctx)
	if err == nil {
		err = head.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("publish: the catalog: %w", err)
	}
	bodies, err := holdsBodies(ctx, catalog)
	return &frozen{
		Catalog: catalog, head: head, bodies: bodies, read: head.Last,
		priors: map[websync.Seq]websync.Seq{}, born: map[websync.Seq][]websync.Seq{},
	}, err
}

// A frozen is a Catalog in one state of another one. Open is that of the other one.
type frozen struct {
	websync.Catalog
	head   websync.Head
	bodies bool // there were any

	mu     sync.Mutex
	read   websync.Seq                   // up to which the log is read
	priors map[websync.Seq]websync.Seq   // by Born: the entry of what has changed since
	born   map[websync.Seq][]websync.Seq // the keys of priors, by their number of frozenPage
}

// frozenPage is how many items are read before the log is.
const frozenPage = 256

// Head implements [websync.Catalog].
func (f *frozen) Head(ctx context.Context) (websync.Head, error) {
	err := f.catchUp(ctx)
	head := f.head
	head.Live = maps.Clone(head.Live)
	return head, err
}

// catchUp reads what is new in the log. So everything that was read from the Catalog
// before is either as it was, or its Born is in f.priors.
func (f *frozen) catchUp(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	head, err := f.Catalog.Head(ctx)
	if err != nil {
		return err
	}
	if head.Generation != f.head.Generation {
		return fmt.Errorf("publish: the log has the new generation %d, but generation %d is frozen: %w",
			head.Generation, f.head.Generation, websync.ErrConflict)
	}
	if head.Last == f.read {
		return nil
	}
	for item, err := range f.Catalog.Changes(ctx, websync.Range{Generation: head.Generation, After: f.read, Until: head.Last}) {
		if err != nil {
			return err
		}
		if _, known := f.priors[item.Born]; !known && item.Born > 0 && item.Born <= f.head.Born {
			f.priors[item.Born] = item.Prior
			f.born[item.Born/frozenPage] = append(f.born[item.Born/frozenPage], item.Born)
		}
		f.read = item.Seq
	}
	return nil
}

// prior returns the number of the entry that the resource with a Born had; changed is
// false if it still has it. It is valid after catchUp.
func (f *frozen) prior(born websync.Seq) (seq websync.Seq, changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seq, changed = f.priors[born]
	return seq, changed
}

// entry returns an entry of the log.
func (f *frozen) entry(ctx context.Context, seq websync.Seq) (websync.Item, error) {
	if seq > 0 {
		for item, err := range f.Catalog.Changes(ctx, websync.Range{Generation: f.head.Generation, After: seq - 1, Until: seq}) {
			return item, err
		}
	}
	return websync.Item{}, fmt.Errorf("publish: the catalog has no entry %d, the Prior of a later one: %w",
		seq, websync.ErrConflict)
}

// Get implements [websync.Catalog].
func (f *frozen) Get(ctx context.Context, source string, ids []string) ([]websync.Item, error) {
	items, err := f.Catalog.Get(ctx, source, ids)
	if err == nil {
		err = f.catchUp(ctx)
	}
	if err != nil {
		return nil, err
	}
	for i, item := range items {
		if item.Born > f.head.Born {
			items[i] = websync.Item{}
		} else if seq, changed := f.prior(item.Born); changed {
			if items[i], err = f.entry(ctx, seq); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// Changes implements [websync.Catalog].
func (f *frozen) Changes(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	r.Generation = cmp.Or(r.Generation, f.head.Generation)
	if r.Generation == f.head.Generation {
		if f.head.Last == 0 {
			return none
		}
		r.Until = min(cmp.Or(r.Until, f.head.Last), f.head.Last)
	}
	return f.Catalog.Changes(ctx, r)
}

// none yields nothing.
func none(func(websync.Item, error) bool) {}

// Resources implements [websync.Catalog].
func (f *frozen) Resources(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	if f.head.Born == 0 {
		return none
	}
	r.Sources, r.Generation = slices.Clone(r.Sources), 0
	r.Until = min(cmp.Or(r.Until, f.head.Born), f.head.Born)
	return func(yield func(websync.Item, error) bool) {
		var page []websync.Item
		after := r.After
		for item, err := range f.Catalog.Resources(ctx, r) {
			if err != nil {
				yield(websync.Item{}, err)
				return
			}
			if page = append(page, item); len(page) < frozenPage {
				continue
			}
			if !f.yieldPage(ctx, websync.Range{Sources: r.Sources, After: after, Until: item.Born}, page, yield) {
				return
			}
			after, page = item.Born, page[:0]
		}
		f.yieldPage(ctx, websync.Range{Sources: r.Sources, After: after, Until: r.Until}, page, yield)
	}
}

// HoldsBodies implements a bodyHolder.
func (f *frozen) HoldsBodies(context.Context) (bool, error) { return f.bodies, nil }

// Outlines implements [websync.Outliner] if the Catalog does.
func (f *frozen) Outlines(ctx context.Context, r websync.Range) iter.Seq2[websync.Outline, error] {
	return func(yield func(websync.Outline, error) bool) {
		all, ok := f.Catalog.(websync.Outliner)
		if !ok {
			yield(websync.Outline{}, errors.ErrUnsupported)
			return
		}
		if f.head.Born == 0 {
			return
		}
		r.Until = min(cmp.Or(r.Until, f.head.Born), f.head.Born)
		for o, err := range all.Outlines(ctx, r) {
			if err == nil && o.Seq > f.head.Last {
				o, err = f.outline(ctx, o.Born)
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

// outline returns the Outline of a resource that has changed since.
func (f *frozen) outline(ctx context.Context, born websync.Seq) (websync.Outline, error) {
	if err := f.catchUp(ctx); err != nil {
		return websync.Outline{}, err
	}
	seq, _ := f.prior(born)
	item, err := f.entry(ctx, seq)
	return websync.OutlineOf(&item), err
}

// yieldPage yields the resources of a range. page holds those that are live now. It
// reports whether to go on.
func (f *frozen) yieldPage(ctx context.Context, r websync.Range, page []websync.Item, yield func(websync.Item, error) bool) bool {
	if err := f.catchUp(ctx); err != nil {
		yield(websync.Item{}, err)
		return false
	}
	for _, born := range f.changed(r) {
		for len(page) > 0 && page[0].Born < born {
			if !yield(page[0], nil) {
				return false
			}
			page = page[1:]
		}
		if len(page) > 0 && page[0].Born == born {
			page = page[1:]
		}
		seq, _ := f.prior(born)
		item, err := f.entry(ctx, seq)
		if err != nil {
			yield(item, err)
			return false
		}
		listed := item.Kind != websync.Deleted && (len(r.Sources) == 0 || slices.Contains(r.Sources, item.Source))
		if listed && !yield(item, nil) {
			return false
		}
	}
	for _, item := range page {
		if !yield(item, nil) {
			return false
		}
	}
	return true
}

// changed returns the Born of what has changed in a range of Born, in order.
func (f *frozen) changed(r websync.Range) (born []websync.Seq) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := r.After / frozenPage; n <= r.Until/frozenPage; n++ {
		for _, b := range f.born[n] {
			if b > r.After && b <= r.Until {
				born = append(born, b)
			}
		}
	}
	slices.Sort(born)
	return born
}
