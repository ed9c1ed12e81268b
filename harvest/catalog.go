package harvest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

// A Catalog keeps in a [Store], for each source, the current record of every id and the
// tasks that are left, and over all sources a log of changes. It is a [websync.Catalog]
// of what was committed, and a [websync.State]. All methods may be called from several
// goroutines. Its fields must not change while it is in use.
//
// Iterators keep the contract of websync.Catalog: they hold nothing across a yield, and
// end even if their loop commits in each step. Records yields no record whose Born was
// assigned since it began, except for tombstones without a number, and Tasks no task of
// an id that had none. Resources, Records and Tasks yield at least what exists from their
// beginning to their end.
//
// The numbers of the log are dense, 1, 2, 3 … within a generation, in the order in which
// readers see them. So are Born numbers, which stay with their id. Times are whole
// microseconds UTC, and increase strictly over the log, whatever the clock does:
// max(clock, last + 1 µs). An id is any string of bytes up to [MaxID].
type Catalog struct {
	// Now is the clock. If nil, it is time.Now.
	Now func() time.Time
	// ChunkSize limits the bytes of a body that wait in memory for their Update. A longer
	// body is written as it comes, to Blobs or in pieces of this size. The bodies of an
	// Update that are longer only together are one blob, if Blobs is an [Eraser]. If zero,
	// it is 128 KiB; if negative, there is no limit.
	ChunkSize int
	// Blobs keeps long bodies beside the Store. If nil, the Store keeps them. NewCatalog
	// sets it for a Store that is [Blobs] itself; then it must not be changed. For any
	// other Store it may be set even if that holds bodies already, which stay there; once
	// it has kept bodies it must always be set. No two Stores may share Blobs: Vacuum
	// removes those that no body of its own Store names.
	Blobs Blobs

	store Store
	// planned: this is the Catalog of a dry run, whose records name bodies that nobody
	// has obtained.
	planned bool
	// importing: this is the Catalog of an Import, which writes to an unfinished Store.
	importing bool
	// upgrades bring a Store to this layout, the last one from the layout before it.
	upgrades []upgrade

	mu      sync.Mutex
	writing map[string]struct{} // blobs that this process still writes
	changed chan struct{}       // closed when the log changes; nil if nobody waits
	sources map[string]source   // as they were when last read, by name
	watch   sync.Once

	compacting sync.Mutex
	onePage    bool // a step of maintenance has one page, and no rest follows it
}

var (
	_ websync.Catalog = (*Catalog)(nil)
	_ websync.State   = (*Catalog)(nil)
)

// NewCatalog returns a Catalog on store. A process makes one for each Store: two are like
// two processes. Several processes may use one Store if it allows it.
func NewCatalog(store Store) *Catalog {
	blobs, _ := store.(Blobs)
	return &Catalog{store: store, Blobs: blobs, upgrades: upgrades[:]}
}

// now returns microseconds since 1970.
func (s *Catalog) now() int64 {
	if s.Now != nil {
		return s.Now().UnixMicro()
	}
	return time.Now().UnixMicro()
}

// LogChanged returns a channel that is closed after the next change of the log by this
// Catalog, or by another one if the Store is a [Watcher]: see [WaitLog].
func (s *Catalog) LogChanged() <-chan struct{} {
	if w, ok := s.store.(Watcher); ok {
		s.watch.Do(func() { w.Watch(s.logChanged) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// logChanged wakes those that wait for a change of the log.
func (s *Catalog) logChanged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

func micro(t int64) time.Time { return time.UnixMicro(t).UTC() }

// noted returns a source as it was when it was last read. It is good enough to prefetch
// by.
func (s *Catalog) noted(name string) (src source, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	src, ok = s.sources[name]
	return src, ok
}

func (s *Catalog) noteSource(name string, src source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sources == nil {
		s.sources = map[string]source{}
	}
	s.sources[name] = src
}

// State implements [websync.State].
func (s *Catalog) State(ctx context.Context, key string) (value []byte, err error) {
	k := newKey(stateKey).text(key)
	err = s.view(ctx, func(r *reader) error {
		value, err = r.Get(k)
		value = bytes.Clone(value)
		return err
	}, k)
	return value, err
}

// Swap implements [websync.State].
func (s *Catalog) Swap(ctx context.Context, key string, old, new []byte) error {
	k := newKey(stateKey).text(key)
	return s.update(ctx, func(w *writer) error {
		held, err := w.Get(k)
		if err != nil {
			return err
		}
		if !bytes.Equal(held, old) {
			return websync.ErrConflict
		}
		return w.set(k, new)
	}, k)
}

// A reader is a Reader that knows the head.
type reader struct {
	Reader
	head      head
	names     map[uint32]named  // of the sources whose names have been read
	blocks    map[uint64][]byte // of the order of first appearances, as far as they are read
	lastBlock uint64            // the last one there is
}

// view calls fn in a View, after it has prefetched keys.
func (s *Catalog) view(ctx context.Context, fn func(*reader) error, keys ...key) error {
	return s.viewListed(ctx, listOf(keys), fn)
}

// viewListed calls fn in a View, after it has prefetched the keys that list adds.
func (s *Catalog) viewListed(ctx context.Context, list func(add func(key)), fn func(*reader) error) error {
	return s.upToDate(ctx, func() error {
		return s.store.View(ctx, func(db Reader) error {
			r := &reader{Reader: db}
			if err := r.open(list); err != nil {
				return err
			}
			return fn(r)
		})
	})
}

func listOf(keys []key) func(add func(key)) {
	return func(add func(key)) {
		for _, k := range keys {
			add(k)
		}
	}
}

func (r *reader) open(list func(add func(key))) error {
	hk := newKey(headKey)
	err := r.prefetch(func(add func(key)) {
		add(hk)
		list(add)
	})
	if err != nil {
		return err
	}
	r.head = head{generation: 1, clock: math.MinInt64} // of an empty Catalog
	_, err = r.get(hk, &r.head)
	r.lastBlock = blockOf(r.head.born)
	return err
}

// prefetch reads the keys that list adds, if the Reader is a Prefetcher.
func (r *reader) prefetch(list func(add func(key))) error {
	p, ok := r.Reader.(Prefetcher)
	if !ok {
		return nil
	}
	var keys [][]byte
	list(func(k key) { keys = append(keys, k) })
	if len(keys) == 0 {
		return nil
	}
	return p.Prefetch(keys)
}

// prefetchStored is prefetch for keys among which are those of records and tasks. It also
// prefetches their new numbers and, if more is not nil, what that adds of each that there
// is.
func (r *reader) prefetchStored(list func(add func(key)), more func(k key, v *stored, add func(key))) error {
	if err := r.prefetch(list); err != nil || !r.prefetches() {
		return err
	}
	var badErr error
	err := r.prefetchNumbers(func(fn func(k key, v *stored)) {
		list(func(k key) {
			var v stored
			if k[0] != recordKey && k[0] != taskKey {
				return
			}
			switch ok, err := r.get(k, &v); {
			case err != nil:
				badErr = err
			case ok:
				fn(k, &v)
			}
		})
	}, more)
	return cmp.Or(badErr, err)
}

func (r *reader) prefetches() bool {
	_, ok := r.Reader.(Prefetcher)
	return ok
}

// prefetchNumbers prefetches the new numbers of the records and tasks that each lists,
// and what more adds of each; more may be nil.
func (r *reader) prefetchNumbers(each func(fn func(k key, v *stored)), more func(k key, v *stored, add func(key))) error {
	if !r.prefetches() {
		return nil
	}
	old := false
	err := r.prefetch(func(add func(key)) {
		each(func(k key, v *stored) {
			switch {
			case !v.isOld(&r.head):
				if more != nil {
					more(k, v, add)
				}
			case k[0] == taskKey:
				old = true
				add(recordOfTask(k))
			default:
				old = true
				addBlock(v, add)
			}
		})
	})
	if err != nil || !old {
		return err
	}
	return r.prefetch(func(add func(key)) {
		each(func(k key, v *stored) {
			var rec stored
			switch {
			case !v.isOld(&r.head):
			case k[0] == taskKey:
				if ok, err := r.get(recordOfTask(k), &rec); ok && err == nil {
					addBlock(&rec, add)
				}
			case more != nil && r.renumber(k, v) == nil:
				more(k, v, add)
			}
		})
	})
}

// addBlock adds the key of the block that has the number of a record. An error is
// reported when the record is read.
func addBlock(v *stored, add func(key)) {
	if b, err := v.brief(""); err == nil && b.Born != 0 {
		add(blockKey(blockOf(b.Born)))
	}
}

// get parses the value of k into v and reports whether there is one.
func (r *reader) get(k key, v interface{ parse([]byte) error }) (bool, error) {
	b, err := r.Get(k)
	if err != nil || b == nil {
		return false, err
	}
	return true, v.parse(b)
}

// source returns the source with this name; ok is false if there is none.
func (r *reader) source(name string) (src source, ok bool, err error) {
	if ok, err = r.get(newKey(sourceKey).text(name), &src); ok && err == nil {
		r.know(&named{src.idSpace, name})
	}
	return src, ok, err
}

func (r *reader) know(v *named) {
	if r.names == nil {
		r.names = map[uint32]named{}
	}
	r.names[v.n] = *v
}

// knows reports whether the name of a source has been read.
func (r *reader) knows(n uint32) bool {
	_, ok := r.names[n]
	return ok
}

// name returns the name of a source.
func (r *reader) name(n uint32) (string, error) {
	v, err := r.named(n)
	return v.name, err
}

// named returns the name of a source and its idSpace.
func (r *reader) named(n uint32) (v named, err error) {
	if v, ok := r.names[n]; ok {
		return v, nil
	}
	v.n = n
	if _, err = r.get(newKey(nameKey).source(n), &v); err == nil {
		r.know(&v)
	}
	return v, err
}

// A writer is a Tx that knows the head and writes it when it has changed.
type writer struct {
	reader
	tx      Tx
	scratch []byte
	keyRoom key
	changed map[uint64]bool // the blocks to be written
}

// key returns a key that is valid until the next call of key.
func (w *writer) key(kind byte) key {
	if w.keyRoom == nil {
		w.keyRoom = newKey(kind)
	}
	return w.keyRoom.of(kind)
}

// update calls fn in an Update, after it has prefetched keys.
func (s *Catalog) update(ctx context.Context, fn func(*writer) error, keys ...key) error {
	return s.upToDate(ctx, func() error {
		return s.store.Update(ctx, func(tx Tx) error {
			w := &writer{reader: reader{Reader: tx}, tx: tx}
			if err := w.open(listOf(keys)); err != nil && !(s.importing && errors.Is(err, ErrUnfinished)) {
				return err
			}
			before := w.head
			if err := fn(w); err != nil {
				return err
			}
			if w.head == before {
				return nil
			}
			return w.put(newKey(headKey), &w.head)
		})
	})
}

// set copies key and value, so that the caller may use both again. An empty value
// deletes.
func (w *writer) set(k key, value []byte) error {
	if len(value) == 0 {
		return w.tx.Delete(bytes.Clone(k))
	}
	return w.tx.Set(bytes.Clone(k), bytes.Clone(value))
}

// insert is set of a key that has no value.
func (w *writer) insert(k key, value []byte) error {
	k = bytes.Clone(k)
	if p, ok := w.Reader.(Prefetcher); ok {
		p.Absent(k)
	}
	return w.tx.Set(k, bytes.Clone(value))
}

// put writes v.
func (w *writer) put(k key, v interface{ append([]byte) []byte }) error {
	w.scratch = v.append(w.scratch[:0])
	return w.set(k, w.scratch)
}

func (w *writer) delete(k key) error { return w.tx.Delete(bytes.Clone(k)) }

// present is the value of keys whose presence alone matters.
var present = []byte{1}
