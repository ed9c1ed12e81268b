package storetest_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync/harvest"
)

// A feature is an optional interface, or two that belong together.
type feature int

const (
	nothing feature = iota
	prefetching
	watching
	blobbing
	notErasing
	owning
	resting
	everything
)

var errOver = errors.New("the test is over")

// A visit is what Scan calls.
type visit = func(key, value []byte) bool

type entry struct{ key, value []byte }

// A state is all keys with their values, in order. It is never changed.
type state []entry

func (s state) search(key []byte) (int, bool) {
	return slices.BinarySearchFunc(s, key, func(e entry, key []byte) int { return bytes.Compare(e.key, key) })
}

func (s state) get(key []byte) []byte {
	if i, ok := s.search(key); ok {
		return s[i].value
	}
	return nil
}

func (s state) between(from, to []byte) []entry {
	i, _ := s.search(from)
	j, _ := s.search(to)
	return s[i:max(i, j)]
}

// A write is one Set or Delete.
type write struct {
	key, value []byte // no value for a Delete
	absent     bool   // Absent of key was called before
}

// with returns the state after writes.
func (s state) with(writes []write) state {
	if len(writes) == 0 {
		return s
	}
	last := map[string][]byte{}
	for _, w := range writes {
		last[string(w.key)] = w.value
	}
	merged := make(state, 0, len(s)+len(last))
	for _, key := range slices.Sorted(maps.Keys(last)) {
		i, found := s.search([]byte(key))
		merged = append(merged, s[:i]...)
		if s = s[i:]; found {
			s = s[1:]
		}
		if value := last[key]; value != nil {
			merged = append(merged, entry{slices.Clip([]byte(key)), value})
		}
	}
	return append(merged, s...)
}

// A medium is what outlives its openings, such as a disk or a server.
type medium struct {
	turn chan struct{} // holds an element while no Update runs
	over chan struct{} // closed when the test ends: nobody waits any longer

	mu       sync.Mutex
	state    state // the newest
	durable  state // what is there after the next Reopen
	blobs    map[string]*blob
	openings []*driver // those that have not ended
	opened   int
}

func newMedium() *medium {
	m := &medium{turn: make(chan struct{}, 1), over: make(chan struct{}), blobs: map[string]*blob{}}
	m.turn <- struct{}{}
	return m
}

// wait waits for an element of c.
func (m *medium) wait(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	default:
	}
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-m.over:
		return errOver
	}
}

func (m *medium) newest() state {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// replace makes the newest state another one, and durable.
func (m *medium) replace(by func(s state) state) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = by(m.state)
	m.durable = m.state
}

// end ends an opening; what is not durable is lost.
func (m *medium) end(d *driver) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.openings = slices.DeleteFunc(m.openings, func(o *driver) bool { return o == d })
	m.state = m.durable
	maps.DeleteFunc(m.blobs, func(_ string, b *blob) bool { return b.complete && !b.durable })
}

// count returns how many openings there were.
func (m *medium) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.opened
}

// living returns the openings that have not ended.
func (m *medium) living() []*driver {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.openings)
}

// watchers returns what Watch was given by those openings for which is returns true.
func (m *medium) watchers(is func(o *driver) bool) (all []func()) {
	for _, o := range m.living() {
		m.mu.Lock()
		changed := o.changed
		m.mu.Unlock()
		if changed != nil && is(o) {
			all = append(all, changed)
		}
	}
	return all
}

// A runner is View or Update.
type runner = func(ctx context.Context, fn func(t *tx) error) error

// A driver is an opening of a medium. What it does are fields, for a fault to replace.
type driver struct {
	m       *medium
	number  int
	lacks   feature
	changed func()

	view, update runner
	viewing      func(t *tx)                     // alters each Reader of a View
	updating     func(t *tx)                     // alters each Tx
	enter        func(ctx context.Context) error // waits for other Updates
	leave        func()
	apply        func(s state, writes []write) state
	commit       func(t *tx) error
	notify       func() // after an Update that has changed the log

	createBlob func(ctx context.Context, name string) (io.WriteCloser, error)
	openBlob   func(ctx context.Context, name string) (io.ReadSeekCloser, error)
	removeBlob func(ctx context.Context, name string) error
	eraseBlob  func(ctx context.Context, name string, offset, size int64) error
	listBlobs  func(ctx context.Context, fn func(name string, modified time.Time) bool) error

	naming func(number int) string // names the openings
	owner  func() string
	dead   func(owner string) bool
	rest   func(ctx context.Context) error
	watch  func(changed func())
}

// open returns an opening that is altered by alter.
func (m *medium) open(lacks feature, alter func(d *driver)) *driver {
	m.mu.Lock()
	m.opened++
	d := &driver{m: m, number: m.opened, lacks: lacks}
	m.openings = append(m.openings, d)
	m.mu.Unlock()
	d.view, d.update = d.soundView, d.soundUpdate
	d.viewing, d.updating = func(*tx) {}, func(*tx) {}
	d.enter, d.leave = d.soundEnter, d.soundLeave
	d.apply = state.with
	d.commit = d.soundCommit
	d.notify = d.soundNotify
	d.createBlob, d.openBlob, d.removeBlob, d.listBlobs = d.soundCreate, d.soundOpen, d.soundRemove, d.soundList
	d.eraseBlob = d.soundErase
	d.naming, d.owner, d.dead = ownerName, d.soundOwner, d.soundDead
	d.rest = func(context.Context) error { return nil }
	d.watch = d.soundWatch
	alter(d)
	return d
}

// opening is what every Store here implements.
type opening interface {
	harvest.Store
	self() *driver
}

func (d *driver) self() *driver { return d }

type erasing interface {
	harvest.Blobs
	harvest.Eraser
}

// db returns d without the interfaces that it lacks.
func (d *driver) db() harvest.Store {
	type (
		b = erasing
		o = harvest.Owners
		r = harvest.Rester
		w = harvest.Watcher
	)
	switch d.lacks {
	case notErasing:
		return struct {
			opening
			harvest.Blobs
			o
			r
			w
		}{d, d, d, d, d}
	case blobbing:
		return struct {
			opening
			o
			r
			w
		}{d, d, d, d}
	case owning:
		return struct {
			opening
			b
			r
			w
		}{d, d, d, d}
	case resting:
		return struct {
			opening
			b
			o
			w
		}{d, d, d, d}
	case watching:
		return struct {
			opening
			b
			o
			r
		}{d, d, d, d}
	case everything:
		return struct{ opening }{d}
	}
	return d
}

func (d *driver) View(ctx context.Context, fn func(harvest.Reader) error) error {
	return d.view(ctx, func(t *tx) error { return fn(t.reader()) })
}

func (d *driver) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	return d.update(ctx, func(t *tx) error { return fn(t.writer()) })
}

func (d *driver) soundView(ctx context.Context, fn func(t *tx) error) error {
	return fn(d.beginView(ctx, d.m.newest()))
}

func (d *driver) soundUpdate(ctx context.Context, fn func(t *tx) error) error {
	if err := d.enter(ctx); err != nil {
		return err
	}
	defer d.leave()
	t := d.beginUpdate(ctx, d.m.newest())
	if err := fn(t); err != nil {
		return err
	}
	return d.commit(t)
}

func (d *driver) soundEnter(ctx context.Context) error { return d.m.wait(ctx, d.m.turn) }
func (d *driver) soundLeave()                          { d.m.turn <- struct{}{} }

func (d *driver) soundCommit(t *tx) error {
	d.m.replace(func(s state) state { return d.apply(s, t.writes) })
	if t.notified {
		d.notify()
	}
	return nil
}

func (d *driver) soundNotify() {
	for _, changed := range d.m.watchers(d.isOther) {
		go changed()
	}
}

func (d *driver) isOther(o *driver) bool { return o != d }

func (d *driver) soundWatch(changed func()) {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	d.changed = changed
}

func (d *driver) Watch(changed func())           { d.watch(changed) }
func (d *driver) Rest(ctx context.Context) error { return d.rest(ctx) }
func (d *driver) Owner() string                  { return d.owner() }
func (d *driver) Dead(owner string) bool         { return d.dead(owner) }

func ownerName(number int) string { return fmt.Sprintf("opening%d", number) }

func (d *driver) soundOwner() string { return d.naming(d.number) }

func (d *driver) soundDead(owner string) bool {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	for number := 1; number <= d.m.opened; number++ {
		if owner == d.naming(number) {
			return !slices.ContainsFunc(d.m.openings, func(o *driver) bool { return o.number == number })
		}
	}
	return false
}

// A tx is a Reader or a Tx. What it does are fields, for a fault to replace.
type tx struct {
	d          *driver
	ctx        context.Context
	base       state             // what it reads
	writes     []write           // in their order
	own        map[string][]byte // what writes lead to; nil for a deleted key
	prefetched map[string][]byte
	absents    map[string]bool // the next Set is after Absent
	notified   bool            // the log has changed

	get      func(key []byte) ([]byte, error)
	scan     func(from, to []byte, n int, fn visit) error
	prefetch func(keys [][]byte) error
	absent   func(key []byte)
	set      func(key, value []byte) error
	delete   func(key []byte) error
}

func (d *driver) begin(ctx context.Context, base state) *tx {
	t := &tx{d: d, ctx: ctx, base: base, own: map[string][]byte{}, prefetched: map[string][]byte{}, absents: map[string]bool{}}
	t.get, t.prefetch = t.soundGet, t.soundPrefetch
	t.scans(func(from, to []byte) []entry { return t.base.between(from, to) })
	t.absent = func(key []byte) { t.absents[string(key)] = true }
	t.set, t.delete = t.soundSet, t.soundDelete
	return t
}

func (d *driver) beginView(ctx context.Context, base state) *tx {
	t := d.begin(ctx, base)
	d.viewing(t)
	return t
}

func (d *driver) beginUpdate(ctx context.Context, base state) *tx {
	t := d.begin(ctx, base)
	d.updating(t)
	return t
}

// reader returns t without the interface that it lacks.
func (t *tx) reader() harvest.Reader {
	if t.d.lacks == prefetching || t.d.lacks == everything {
		return struct{ harvest.Reader }{t}
	}
	return struct {
		harvest.Reader
		harvest.Prefetcher
	}{t, t}
}

// writer returns t without the interface that it lacks.
func (t *tx) writer() harvest.Tx {
	if t.d.lacks == prefetching || t.d.lacks == everything {
		return struct{ harvest.Tx }{t}
	}
	return t
}

func (t *tx) Get(key []byte) ([]byte, error)              { return t.get(key) }
func (t *tx) Scan(from, to []byte, n int, fn visit) error { return t.scan(from, to, n, fn) }
func (t *tx) Prefetch(keys [][]byte) error                { return t.prefetch(keys) }
func (t *tx) Absent(key []byte)                           { t.absent(key) }
func (t *tx) Set(key, value []byte) error                 { return t.set(key, value) }
func (t *tx) Delete(key []byte) error                     { return t.delete(key) }

func (t *tx) soundGet(key []byte) ([]byte, error) {
	if value, ok := t.own[string(key)]; ok {
		return value, nil
	}
	if value, ok := t.prefetched[string(key)]; ok {
		return value, nil
	}
	return t.base.get(key), nil
}

func (t *tx) soundPrefetch(keys [][]byte) error {
	for _, key := range keys {
		t.prefetched[string(key)] = t.base.get(key)
	}
	return nil
}

// yielding returns a Scan of what find finds.
func yielding(find func(from, to []byte) []entry) func(from, to []byte, n int, fn visit) error {
	return func(from, to []byte, _ int, fn visit) error {
		for _, e := range find(from, to) {
			if !fn(e.key, e.value) {
				return nil
			}
		}
		return nil
	}
}

// scans makes Scan yield what find finds.
func (t *tx) scans(find func(from, to []byte) []entry) { t.scan = yielding(find) }

func (t *tx) record(w write) error {
	w.value = slices.Clip(w.value)
	t.notified = t.notified || w.key[0] == harvest.LogKey
	t.writes = append(t.writes, w)
	t.own[string(w.key)] = w.value
	return nil
}

func (t *tx) soundSet(key, value []byte) error {
	absent := t.absents[string(key)]
	delete(t.absents, string(key))
	return t.record(write{key, value, absent})
}

func (t *tx) soundDelete(key []byte) error { return t.record(write{key: key}) }

// A blob is guarded by the medium's mutex. Its bytes are only appended to.
type blob struct {
	data              []byte
	complete, durable bool
	modified          time.Time
}

// A blobWriter is a writer of a blob whose fields a fault may replace.
type blobWriter struct {
	write func(p []byte) (int, error)
	close func() error
}

func (w *blobWriter) Write(p []byte) (int, error) { return w.write(p) }
func (w *blobWriter) Close() error                { return w.close() }

func (d *driver) soundCreate(_ context.Context, name string) (io.WriteCloser, error) {
	b := &blob{modified: time.Now()}
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	d.m.blobs[name] = b
	return d.writerOf(b), nil
}

func (d *driver) writerOf(b *blob) *blobWriter {
	return &blobWriter{
		write: func(p []byte) (int, error) {
			d.m.mu.Lock()
			defer d.m.mu.Unlock()
			b.data, b.modified = append(b.data, p...), time.Now()
			return len(p), nil
		},
		close: func() error {
			d.m.mu.Lock()
			defer d.m.mu.Unlock()
			b.complete, b.durable = true, true
			return nil
		},
	}
}

// A blobReader is a reader of a blob whose fields a fault may replace.
type blobReader struct {
	read func(p []byte) (int, error)
	seek func(offset int64, whence int) (int64, error)
}

func (r *blobReader) Read(p []byte) (int, error)                   { return r.read(p) }
func (r *blobReader) Seek(offset int64, whence int) (int64, error) { return r.seek(offset, whence) }
func (r *blobReader) Close() error                                 { return nil }

func readerOf(data []byte) *blobReader {
	r := bytes.NewReader(data)
	return &blobReader{r.Read, r.Seek}
}

func notExist(name string) error { return fmt.Errorf("blob %s: %w", name, fs.ErrNotExist) }

func (d *driver) soundOpen(_ context.Context, name string) (io.ReadSeekCloser, error) {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	if b, ok := d.m.blobs[name]; ok && b.complete {
		return readerOf(b.data), nil
	}
	return nil, notExist(name)
}

func (d *driver) soundRemove(_ context.Context, name string) error {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	delete(d.m.blobs, name)
	return nil
}

func (d *driver) soundErase(_ context.Context, name string, offset, size int64) error {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	if b, ok := d.m.blobs[name]; ok {
		b.data = slices.Clone(b.data) // others read it
		clear(b.data[offset:][:size])
	}
	return nil
}

// A listed is what ListBlobs yields of a blob.
type listed struct {
	name     string
	modified time.Time
}

// list returns all blobs in the order of their names.
func (m *medium) list() (all []listed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, b := range m.blobs {
		all = append(all, listed{name, b.modified})
	}
	slices.SortFunc(all, func(a, b listed) int { return cmp.Compare(a.name, b.name) })
	return all
}

func (d *driver) soundList(_ context.Context, fn func(name string, modified time.Time) bool) error {
	for _, l := range d.m.list() {
		if !fn(l.name, l.modified) {
			break
		}
	}
	return nil
}

func (d *driver) CreateBlob(ctx context.Context, name string) (io.WriteCloser, error) {
	return d.createBlob(ctx, name)
}

func (d *driver) OpenBlob(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	return d.openBlob(ctx, name)
}

func (d *driver) RemoveBlob(ctx context.Context, name string) error { return d.removeBlob(ctx, name) }

func (d *driver) EraseBlob(ctx context.Context, name string, offset, size int64) error {
	return d.eraseBlob(ctx, name, offset, size)
}

func (d *driver) ListBlobs(ctx context.Context, fn func(name string, modified time.Time) bool) error {
	return d.listBlobs(ctx, fn)
}

var (
	_ harvest.Blobs      = (*driver)(nil)
	_ harvest.Eraser     = (*driver)(nil)
	_ harvest.Owners     = (*driver)(nil)
	_ harvest.Rester     = (*driver)(nil)
	_ harvest.Watcher    = (*driver)(nil)
	_ harvest.Tx         = (*tx)(nil)
	_ harvest.Prefetcher = (*tx)(nil)
)
