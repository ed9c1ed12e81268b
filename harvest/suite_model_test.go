package harvest_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"iter"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A model is the simplest checkedCatalog that keeps the contract: maps under a mutex.
// It proves that the suite can be passed.
type model struct {
	mu    sync.Mutex
	now   func() time.Time
	stamp func(now, last time.Time) time.Time // of the next entry

	newest      uint64
	logs        map[uint64][]websync.Item
	seq, born   websync.Seq
	taskN       uint64
	records     map[string]map[string]harvest.Record
	tasks       map[string]map[string]harvest.Task
	checkpoints map[string]harvest.Checkpoint
	states      map[string][]byte
	claims      map[string]*standing
	key         harvest.FingerprintKey
	bodies      map[websync.Digest]*stored

	left *harvest.Batch // the Batch that a broken store applies at Reopen
}

// A standing is the state of a claim. Its holder may have ended.
type standing struct {
	epoch, n uint64
	expires  time.Time
	ttl      time.Duration
	last     [16]byte // the Batch that was applied last
	applied  bool
}

type stored struct {
	data []byte
	at   time.Time
}

var (
	_ checkedCatalog = (*model)(nil)
)

func newModel(now func() time.Time) *model {
	m := &model{
		now:         now,
		stamp:       nextTime,
		newest:      1,
		logs:        map[uint64][]websync.Item{1: nil},
		records:     map[string]map[string]harvest.Record{},
		tasks:       map[string]map[string]harvest.Task{},
		checkpoints: map[string]harvest.Checkpoint{},
		states:      map[string][]byte{},
		claims:      map[string]*standing{},
		bodies:      map[websync.Digest]*stored{},
	}
	rand.Read(m.key[:])
	return m
}

func nextTime(now, last time.Time) time.Time {
	now = now.UTC().Truncate(time.Microsecond)
	if soonest := last.Add(time.Microsecond); soonest.After(now) {
		return soonest
	}
	return now
}

func (m *model) Claim(_ context.Context, name string, ttl time.Duration) (*harvest.Claim, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := m.claims[name]
	if st == nil {
		st = &standing{}
		m.claims[name] = st
	}
	if left := st.expires.Sub(m.now()); left > 0 && left <= 2*st.ttl {
		return nil, harvest.ErrHeld
	}
	st.epoch++
	st.expires, st.ttl = m.now().Add(ttl), ttl
	return &harvest.Claim{Name: name, Epoch: st.epoch, N: st.n, TTL: ttl, Expires: st.expires}, nil
}

func (m *model) Renew(_ context.Context, c *harvest.Claim) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c == nil {
		return harvest.ErrFenced
	}
	st := m.claims[c.Name]
	if st == nil || st.epoch != c.Epoch {
		return harvest.ErrFenced
	}
	st.expires, st.ttl = m.now().Add(c.TTL), c.TTL
	c.Expires = st.expires
	return nil
}

func (m *model) Release(_ context.Context, c *harvest.Claim) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c == nil {
		return harvest.ErrFenced
	}
	if st := m.claims[c.Name]; st != nil && st.epoch == c.Epoch {
		st.expires = time.Time{}
	}
	return nil
}

func (m *model) Commit(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c == nil {
		return nil, harvest.ErrFenced
	}
	st := m.claims[c.Name]
	if st == nil || st.epoch != c.Epoch {
		return nil, harvest.ErrFenced
	}
	if st.applied && st.last == b.ID {
		c.N = st.n
		return nil, nil
	}
	if st.n != c.N {
		return nil, harvest.ErrFenced
	}
	if conflicts, err := m.check(b); err != nil || len(conflicts) > 0 {
		return conflicts, err
	}
	m.apply(b)
	st.n++
	st.last, st.applied = b.ID, true
	c.N = st.n
	return nil, nil
}

func (m *model) check(b *harvest.Batch) (conflicts []string, err error) {
	seen := map[string]bool{}
	for i, ch := range slices.Concat(b.Puts, b.Touches) {
		id := ch.Record.Resource.ID
		held := m.records[b.Source][id]
		switch {
		case !allowed(id) || seen[id]:
			return nil, harvest.ErrBatch
		case held.Seq != ch.Base, ch.Task != 0 && m.tasks[b.Source][id].N != ch.Task:
			conflicts = append(conflicts, id)
		case i >= len(b.Puts) && !held.Known() && ch.Record.Kind != websync.Deleted:
			return nil, harvest.ErrBatch
		}
		seen[id] = true
		for _, body := range ch.Record.Bodies {
			if !body.Key.IsZero() && m.bodies[body.Key] == nil && !slices.ContainsFunc(b.Bodies, holds(body.Key)) {
				return nil, harvest.ErrNoBody
			}
		}
	}
	for _, t := range b.Tasks {
		if !allowed(t.Resource.ID) {
			return nil, harvest.ErrBatch
		}
	}
	return conflicts, nil
}

func allowed(id string) bool { return id != "" && len(id) <= harvest.MaxID }

func holds(key websync.Digest) func(harvest.BodyWriter) bool {
	return func(w harvest.BodyWriter) bool { return !w.(*bodyWriter).discarded && w.(*bodyWriter).key() == key }
}

func (m *model) apply(b *harvest.Batch) {
	for _, w := range b.Bodies {
		if w := w.(*bodyWriter); !w.discarded {
			m.bodies[w.key()] = &stored{slices.Clone(w.data.Bytes()), m.now()}
		}
	}
	records, tasks := of(m.records, b.Source), of(m.tasks, b.Source)
	for _, ch := range slices.Concat(b.Puts, b.Touches) {
		for _, body := range records[ch.Record.Resource.ID].Bodies {
			if held := m.bodies[body.Key]; held != nil {
				held.at = m.now()
			}
		}
	}
	for _, ch := range b.Puts {
		r, held := clone(ch.Record), records[ch.Record.Resource.ID]
		m.seq++
		r.Seq, r.Born, r.Prior, r.Source = m.seq, held.Born, held.Seq, b.Source
		if r.Born == 0 {
			m.born++
			r.Born = m.born
		}
		r.Time = m.stamp(m.now(), m.lastTime())
		records[r.Resource.ID] = r
		m.logs[m.newest] = append(m.logs[m.newest], r.Item)
	}
	for _, ch := range b.Touches {
		r, held := clone(ch.Record), records[ch.Record.Resource.ID]
		r.Seq, r.Born, r.Prior, r.Time, r.Source, r.Kind = held.Seq, held.Born, held.Prior, held.Time, b.Source, held.Kind
		if !held.Known() {
			r.Kind = websync.Deleted
		}
		records[r.Resource.ID] = r
	}
	for _, ref := range b.Done {
		if t, ok := tasks[ref.ID]; ok && (ref.N == 0 || ref.N == t.N) {
			delete(tasks, ref.ID)
		}
	}
	for _, t := range b.Tasks {
		if t.N != 0 && tasks[t.Resource.ID].N != t.N {
			continue
		}
		m.taskN++
		t = clone(t)
		t.N, t.Source, t.Due = m.taskN, b.Source, t.Due.UTC().Truncate(time.Microsecond)
		tasks[t.Resource.ID] = t
	}
	if b.Checkpoint != nil {
		m.checkpoints[b.Source] = clone(*b.Checkpoint)
	}
	for key, v := range b.State {
		m.set(key, v)
	}
}

func (m *model) lastTime() (last time.Time) {
	if log := m.logs[m.newest]; len(log) > 0 {
		last = log[len(log)-1].Time
	}
	return last
}

func (m *model) set(key string, v []byte) {
	if len(v) == 0 {
		delete(m.states, key)
		return
	}
	m.states[key] = slices.Clone(v)
}

func (m *model) Checkpoint(_ context.Context, source string) (harvest.Checkpoint, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return clone(m.checkpoints[source]), nil
}

func (m *model) Lookup(_ context.Context, source string, ids []string) ([]harvest.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	recs := make([]harvest.Record, len(ids))
	for i, id := range ids {
		recs[i] = clone(m.records[source][id])
	}
	return recs, nil
}

func (m *model) LookupTasks(_ context.Context, source string, ids []string) ([]harvest.Task, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	tasks := make([]harvest.Task, len(ids))
	for i, id := range ids {
		tasks[i] = clone(m.tasks[source][id])
	}
	return tasks, nil
}

func (m *model) Get(ctx context.Context, source string, ids []string) ([]websync.Item, error) {
	recs, _ := m.Lookup(ctx, source, ids)
	items := make([]websync.Item, len(recs))
	for i, r := range recs {
		items[i] = r.Item
	}
	return items, nil
}

func (m *model) Records(ctx context.Context, source, after string) iter.Seq2[harvest.Record, error] {
	return list(ctx, func() ([]harvest.Record, error) {
		return above(m, m.records, source, after), nil
	})
}

func (m *model) Briefs(ctx context.Context, source, after string) iter.Seq2[harvest.Brief, error] {
	return briefs(m.Records(ctx, source, after), nil)
}

func (m *model) Fingerprints(ctx context.Context, source string) (*harvest.Fingerprints, error) {
	return fingerprints(m.Briefs(ctx, source, ""), m.key)
}

// fingerprints returns the Fingerprints of records.
func fingerprints(records iter.Seq2[harvest.Brief, error], key harvest.FingerprintKey) (*harvest.Fingerprints, error) {
	briefs, err := collect(records)
	if err != nil {
		return nil, err
	}
	f := &harvest.Fingerprints{Key: key}
	for _, b := range briefs {
		if !b.Live() {
			f.Others++
		}
	}
	f.All = func(yield func(harvest.Fingerprint, error) bool) {
		for i := range briefs {
			print := key.Of(&briefs[i])
			print.Born = briefs[i].Born
			if briefs[i].Live() && !yield(print, nil) {
				return
			}
		}
	}
	return f, nil
}

// briefs yields the Briefs of records, after it has spoilt them.
func briefs(records iter.Seq2[harvest.Record, error], spoil func(*harvest.Brief)) iter.Seq2[harvest.Brief, error] {
	return func(yield func(harvest.Brief, error) bool) {
		for rec, err := range records {
			b := rec.Brief()
			if spoil != nil {
				spoil(&b)
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

func (m *model) Tasks(ctx context.Context, source, after string) iter.Seq2[harvest.Task, error] {
	return list(ctx, func() ([]harvest.Task, error) { return above(m, m.tasks, source, after), nil })
}

func (m *model) Due(_ context.Context, source string, now time.Time, n int) ([]harvest.Task, error) {
	due := slices.DeleteFunc(above(m, m.tasks, source, ""), func(t harvest.Task) bool {
		return t.Kind != harvest.TaskGet || t.Parked || t.Due.After(now)
	})
	slices.SortStableFunc(due, func(a, b harvest.Task) int { return a.Due.Compare(b.Due) })
	return due[:min(n, len(due))], nil
}

func (m *model) Head(context.Context) (websync.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := websync.Head{Generation: m.newest, Born: m.born, Live: map[string]int64{}}
	if log := m.logs[m.newest]; len(log) > 0 {
		first, last := log[0], log[len(log)-1]
		h.First, h.FirstTime, h.Last, h.LastTime = first.Seq, first.Time, last.Seq, last.Time
	}
	for source, records := range m.records {
		for _, r := range records {
			if r.Live() {
				h.Live[source]++
			}
		}
	}
	return h, nil
}

func (m *model) Resources(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	r = clone(r)
	return list(ctx, func() (items []websync.Item, _ error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, records := range m.records {
			for _, rec := range records {
				if rec.Live() && in(r, rec.Source, rec.Born) {
					items = append(items, clone(rec.Item))
				}
			}
		}
		slices.SortFunc(items, func(a, b websync.Item) int { return cmp.Compare(a.Born, b.Born) })
		return items, nil
	})
}

func (m *model) Changes(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	r = clone(r)
	return list(ctx, func() (items []websync.Item, _ error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		log, ok := m.logs[cmp.Or(r.Generation, m.newest)]
		if !ok {
			return nil, websync.ErrNotFound
		}
		for _, it := range log {
			if in(r, it.Source, it.Seq) && !it.Time.Before(r.Since) {
				items = append(items, clone(it))
			}
		}
		return items, nil
	})
}

func in(r websync.Range, source string, n websync.Seq) bool {
	return n > r.After && (r.Until == 0 || n <= r.Until) && (len(r.Sources) == 0 || slices.Contains(r.Sources, source))
}

func (m *model) Open(_ context.Context, b websync.Body) (io.ReadSeekCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body := m.bodies[b.Key]
	if body == nil {
		return nil, websync.ErrNotFound
	}
	return reader{bytes.NewReader(body.data)}, nil
}

type reader struct{ *bytes.Reader }

func (reader) Close() error { return nil }

func (m *model) NewBody(context.Context) (harvest.BodyWriter, error) { return &bodyWriter{}, nil }

type bodyWriter struct {
	data      bytes.Buffer
	discarded bool
}

func (w *bodyWriter) Write(p []byte) (int, error) { return w.data.Write(p) }

func (w *bodyWriter) key() websync.Digest { return websync.SHA256(w.data.Bytes()) }

func (w *bodyWriter) Finish() (websync.Digest, int64, error) {
	return w.key(), int64(w.data.Len()), nil
}

func (w *bodyWriter) Discard() error {
	w.discarded = true
	return nil
}

func (m *model) State(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.states[key]), nil
}

func (m *model) Swap(_ context.Context, key string, old, new []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !bytes.Equal(m.states[key], old) {
		return websync.ErrConflict
	}
	m.set(key, new)
	return nil
}

func (m *model) Compact(context.Context) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var latest []harvest.Record
	for _, records := range m.records {
		for _, r := range records {
			if r.Seq > 0 {
				latest = append(latest, r)
			}
		}
	}
	slices.SortFunc(latest, func(a, b harvest.Record) int { return cmp.Compare(a.Seq, b.Seq) })
	m.newest++
	m.logs[m.newest] = nil
	m.seq = 0
	for _, r := range latest {
		m.seq++
		id := r.Resource.ID
		if t, ok := m.tasks[r.Source][id]; ok {
			t.Base = follow(t.Base, r.Seq, m.seq)
			m.tasks[r.Source][id] = t
		}
		r.Seq, r.Prior = m.seq, 0
		m.records[r.Source][id] = r
		m.logs[m.newest] = append(m.logs[m.newest], clone(r.Item))
	}
	for _, st := range m.claims {
		st.epoch++
		st.expires = time.Time{}
	}
	return m.newest, nil
}

// follow returns the new number for a task's Base; 0, which no numbered record has, if it
// was not that of the record.
func follow(base, old, new websync.Seq) websync.Seq {
	if base == old {
		return new
	}
	return 0
}

func (m *model) Drop(_ context.Context, before uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.logs, func(g uint64, _ []websync.Item) bool { return g < before && g != m.newest })
	return nil
}

func (m *model) Vacuum(_ context.Context, grace time.Duration) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	named := map[websync.Digest]bool{}
	for _, records := range m.records {
		for _, r := range records {
			for _, b := range r.Bodies {
				named[b.Key] = true
			}
		}
	}
	before := len(m.bodies)
	maps.DeleteFunc(m.bodies, func(key websync.Digest, b *stored) bool {
		return !named[key] && m.now().Sub(b.at) >= grace
	})
	return before - len(m.bodies), nil
}

// of returns the map of a source, made if need be.
func of[V any](m map[string]map[string]V, source string) map[string]V {
	if m[source] == nil {
		m[source] = map[string]V{}
	}
	return m[source]
}

// above returns copies of what a source has above an id, in byte order.
func above[V any](m *model, all map[string]map[string]V, source, after string) (vs []V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(all[source])) {
		if id > after {
			vs = append(vs, clone(all[source][id]))
		}
	}
	return vs
}

// list yields what get returns, which holds the lock no longer than that.
func list[V any](ctx context.Context, get func() ([]V, error)) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		var zero V
		vs, err := get()
		if err != nil {
			yield(zero, err)
			return
		}
		for _, v := range vs {
			if err := ctx.Err(); err != nil {
				yield(zero, err)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// clone returns a copy that shares nothing.
func clone[V any](v V) V {
	var c V
	cloneInto(reflect.ValueOf(&c).Elem(), reflect.ValueOf(&v).Elem())
	return c
}

func cloneInto(dst, src reflect.Value) {
	dst.Set(src)
	switch src.Kind() {
	case reflect.Slice:
		if src.IsNil() {
			return
		}
		dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()))
		for i := range src.Len() {
			cloneInto(dst.Index(i), src.Index(i))
		}
	case reflect.Pointer:
		if src.IsNil() {
			return
		}
		dst.Set(reflect.New(src.Type().Elem()))
		cloneInto(dst.Elem(), src.Elem())
	case reflect.Struct:
		for i := range src.NumField() {
			if src.Type().Field(i).IsExported() {
				cloneInto(dst.Field(i), src.Field(i))
			}
		}
	}
}
