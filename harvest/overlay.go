package harvest

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/websync-go/websync/internal/sorted"
)

// overlaid returns the Catalog of a dry run on s: it reads what s has, and keeps in
// memory what is written.
func (s *Catalog) overlaid() *Catalog {
	over := &overlay{below: s.store}
	over.writes.Store(&writes{keys: sorted.New()})
	return &Catalog{Now: s.Now, Blobs: s.Blobs, store: over, planned: true, upgrades: s.upgrades}
}

// An overlay is a Store that reads from the Store below, which it never changes, and
// keeps in memory what is written.
type overlay struct {
	below  Store
	update sync.Mutex
	writes atomic.Pointer[writes] // after the last Update
}

// writes are the keys that were written to an overlay, with empty values for those that
// were deleted.
type writes struct {
	keys *sorted.Map
	n    int    // how many times a key was written
	head []byte // the head below on which they stand
}

// maxPlanned is how often an overlay writes before it forgets.
const maxPlanned = 1 << 18

// forget returns writes on another head below that keep only the claims and the State.
func (w *writes) forget(head []byte) *writes {
	kept := sorted.New()
	for _, kind := range [...]byte{claimKey, stateKey} {
		from := newKey(kind)
		w.keys.Scan(from, from.end(), func(k, v []byte) bool {
			kept.Set(k, v)
			return true
		})
	}
	return &writes{keys: kept, head: bytes.Clone(head)}
}

func (o *overlay) View(ctx context.Context, fn func(Reader) error) error {
	return o.below.View(ctx, func(r Reader) error {
		return fn((&overlayTx{Reader: r, writes: o.writes.Load()}).likeBelow())
	})
}

func (o *overlay) Update(ctx context.Context, fn func(Tx) error) error {
	o.update.Lock()
	defer o.update.Unlock()
	var tx *overlayTx
	err := o.below.View(ctx, func(r Reader) error {
		next := *o.writes.Load()
		next.keys = next.keys.Clone()
		tx = &overlayTx{Reader: r, writes: &next}
		return fn(tx.likeBelow())
	})
	if err == nil {
		o.writes.Store(tx.writes)
	}
	return err
}

// An overlayTx is a Tx of an overlay, and its Reader.
type overlayTx struct {
	Reader
	writes *writes
}

// An overlayPrefetcher is an overlayTx on a Prefetcher.
type overlayPrefetcher struct {
	*overlayTx
	below Prefetcher
}

func (t *overlayTx) likeBelow() Tx {
	if p, ok := t.Reader.(Prefetcher); ok {
		return overlayPrefetcher{t, p}
	}
	return t
}

func (p overlayPrefetcher) Prefetch(keys [][]byte) error { return p.below.Prefetch(keys) }
func (p overlayPrefetcher) Absent([]byte)                {}

// Get forgets what was written if others have changed the head below, which a Catalog
// reads first: the numbers of what was written may be those of what they have written. It
// also does if there is too much.
func (t *overlayTx) Get(key []byte) ([]byte, error) {
	if key[0] == headKey {
		head, err := t.Reader.Get(key)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(head, t.writes.head) || t.writes.n > maxPlanned {
			t.writes = t.writes.forget(head)
		}
	}
	switch v := t.writes.keys.Get(key); {
	case v == nil:
		return t.Reader.Get(key)
	case len(v) == 0:
		return nil, nil
	default:
		return v, nil
	}
}

func (t *overlayTx) Scan(from, to []byte, n int, fn func(key, value []byte) bool) error {
	return t.writes.keys.ScanOver(from, to, func(fn func(k, v []byte) bool) error { return t.Reader.Scan(from, to, n, fn) },
		func(k, v []byte) bool { return len(v) == 0 || fn(k, v) }, fn)
}

func (t *overlayTx) Set(key, value []byte) error {
	t.writes.n++
	t.writes.keys.Set(key, value)
	return nil
}

func (t *overlayTx) Delete(key []byte) error { return t.Set(key, []byte{}) }
