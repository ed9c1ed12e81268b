package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

// A tester runs one case.
type tester struct {
	suite.Tester
	options Options
}

func newTester(t testing.TB, o Options) *tester { return &tester{suite.NewTester(t, o.Patience), o} }

// open returns a new Store.
func (t *tester) open() *store {
	t.Helper()
	return t.wrap(t.options.Open(t.TB))
}

// openClock returns a new Store that reads c.
func (t *tester) openClock(c *clock) *store {
	t.Helper()
	return t.wrap(t.options.OpenClock(t.TB, c.Now))
}

func (t *tester) wrap(s harvest.Store) *store {
	t.Helper()
	if s == nil {
		t.Fatal("there is no Store")
	}
	return &store{Store: s, t: t}
}

// A clock is set by the case. The Store may read it from any goroutine.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// step moves the clock by d, which may be negative, and returns the new time.
func (c *clock) step(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

// A store is the Store under test. Its methods end the case if a call fails.
type store struct {
	harvest.Store
	t *tester
}

func (s *store) reopen() *store {
	s.t.Helper()
	return s.t.wrap(s.t.options.Reopen(s.t.TB, s.Store))
}

// maintainer returns the Store's Maintainer. It skips the case if there is none.
func (s *store) maintainer() harvest.Maintainer {
	s.t.Helper()
	m, ok := s.Store.(harvest.Maintainer)
	if !ok {
		s.t.Skipf("not checked: %T is not a harvest.Maintainer", s.Store)
	}
	return m
}

func (s *store) claim(source string) *harvest.Claim {
	s.t.Helper()
	c, err := s.Claim(s.t.Ctx, "source/"+source, time.Hour)
	s.t.OK(err, "Claim %.100q", source)
	if c == nil {
		s.t.Fatal("Claim returned neither a claim nor an error")
	}
	return c
}

func (s *store) release(c *harvest.Claim) {
	s.t.Helper()
	s.t.OK(s.Release(s.t.Ctx, c), "Release")
}

// commit applies b, and ends the case unless that succeeds.
func (s *store) commit(c *harvest.Claim, b *harvest.Batch) {
	s.t.Helper()
	conflicts, err := s.Commit(s.t.Ctx, c, b)
	s.t.OK(err, "Commit")
	if len(conflicts) > 0 {
		s.t.Fatalf("Commit: conflicts %.200q", conflicts)
	}
}

func (s *store) head() websync.Head {
	s.t.Helper()
	h, err := s.Head(s.t.Ctx)
	s.t.OK(err, "Head")
	return h
}

func (s *store) checkpoint(source string) harvest.Checkpoint {
	s.t.Helper()
	c, err := s.Checkpoint(s.t.Ctx, source)
	s.t.OK(err, "Checkpoint of %q", source)
	return c
}

func (s *store) lookup(source string, ids ...string) []harvest.Record {
	s.t.Helper()
	recs, err := s.Lookup(s.t.Ctx, source, ids)
	s.t.OK(err, "Lookup in %q", source)
	if len(recs) != len(ids) {
		s.t.Fatalf("Lookup of %d ids returned %d records", len(ids), len(recs))
	}
	return recs
}

func (s *store) record(source, id string) harvest.Record {
	s.t.Helper()
	return s.lookup(source, id)[0]
}

func (s *store) get(source string, ids ...string) []websync.Item {
	s.t.Helper()
	items, err := s.Get(s.t.Ctx, source, ids)
	s.t.OK(err, "Get in %q", source)
	if len(items) != len(ids) {
		s.t.Fatalf("Get of %d ids returned %d items", len(ids), len(items))
	}
	return items
}

func (s *store) records(source, after string) []harvest.Record {
	s.t.Helper()
	return suite.Collect(&s.t.Tester, "Records", s.Records(s.t.Ctx, source, after))
}

func (s *store) tasks(source, after string) []harvest.Task {
	s.t.Helper()
	return suite.Collect(&s.t.Tester, "Tasks", s.Tasks(s.t.Ctx, source, after))
}

func (s *store) lookupTasks(source string, ids ...string) []harvest.Task {
	s.t.Helper()
	tasks, err := s.LookupTasks(s.t.Ctx, source, ids)
	s.t.OK(err, "LookupTasks in %q", source)
	if len(tasks) != len(ids) {
		s.t.Fatalf("LookupTasks of %d ids returned %d tasks", len(ids), len(tasks))
	}
	return tasks
}

func (s *store) due(source string, now time.Time, n int) []harvest.Task {
	s.t.Helper()
	tasks, err := s.Due(s.t.Ctx, source, now, n)
	s.t.OK(err, "Due of %q", source)
	return tasks
}

func (s *store) changes(r websync.Range) []websync.Item {
	s.t.Helper()
	return suite.Collect(&s.t.Tester, "Changes", s.Changes(s.t.Ctx, r))
}

func (s *store) resources(r websync.Range) []websync.Item {
	s.t.Helper()
	return suite.Collect(&s.t.Tester, "Resources", s.Resources(s.t.Ctx, r))
}

func (s *store) state(key string) []byte {
	s.t.Helper()
	v, err := s.State(s.t.Ctx, key)
	s.t.OK(err, "State of %q", key)
	return v
}

func (s *store) swap(key string, old, new []byte) {
	s.t.Helper()
	s.t.OK(s.Swap(s.t.Ctx, key, old, new), "Swap of %q", key)
}

// body returns a finished writer that holds data.
func (s *store) body(data []byte) harvest.BodyWriter {
	s.t.Helper()
	w, err := s.NewBody(s.t.Ctx)
	s.t.OK(err, "NewBody")
	s.t.Cleanup(func() { w.Discard() })
	n, err := w.Write(data)
	if err == nil && n != len(data) {
		err = io.ErrShortWrite
	}
	s.t.OK(err, "BodyWriter.Write")
	s.key(w, data)
	return w
}

// key returns the content address of a writer that holds data.
func (s *store) key(w harvest.BodyWriter, data []byte) websync.Digest {
	s.t.Helper()
	key, size, err := w.Finish()
	s.t.OK(err, "BodyWriter.Finish")
	if want := websync.SHA256(data); key != want || size != int64(len(data)) {
		s.t.Fatalf("BodyWriter.Finish: got %v and %d bytes, want %v and %d", key, size, want, len(data))
	}
	return key
}

// read returns the bytes of a body.
func (s *store) read(key websync.Digest) ([]byte, error) {
	r, err := s.Open(s.t.Ctx, websync.Body{Name: "content", Key: key})
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

// holds checks that the Store has exactly these bytes.
func (s *store) holds(data []byte) {
	s.t.Helper()
	got, err := s.read(websync.SHA256(data))
	s.t.OK(err, "Open a body of %d bytes", len(data))
	if !bytes.Equal(got, data) {
		s.t.Fatalf("a body of %d bytes came back with %d bytes, or with others", len(data), len(got))
	}
}

// A writer commits to one source. It starts from what the Store holds, so its Bases
// match.
type writer struct {
	*store
	source string
	c      *harvest.Claim
}

func (s *store) writer(source string) *writer {
	s.t.Helper()
	return &writer{s, source, s.claim(source)}
}

func (w *writer) batch() *harvest.Batch { return harvest.NewBatch(w.source) }

func (w *writer) apply(b *harvest.Batch) {
	w.t.Helper()
	w.commit(w.c, b)
}

// change returns a change of id whose Base is the record's present number.
func (w *writer) change(id string, kind websync.ChangeKind, title string) harvest.Change {
	w.t.Helper()
	return change(id, w.record(w.source, id).Seq, kind, title)
}

// put commits changes as one batch of Puts.
func (w *writer) put(changes ...harvest.Change) {
	w.t.Helper()
	b := w.batch()
	b.Puts = changes
	w.apply(b)
}

// touch commits changes as one batch of Touches.
func (w *writer) touch(changes ...harvest.Change) {
	w.t.Helper()
	b := w.batch()
	b.Touches = changes
	w.apply(b)
}

func (w *writer) create(id string) {
	w.t.Helper()
	w.put(w.change(id, websync.Created, "created"))
}

func (w *writer) update(id, title string) {
	w.t.Helper()
	w.put(w.change(id, websync.Updated, title))
}

func (w *writer) delete(id string) {
	w.t.Helper()
	w.put(w.change(id, websync.Deleted, ""))
}

// addTasks commits tasks.
func (w *writer) addTasks(tasks ...harvest.Task) {
	w.t.Helper()
	b := w.batch()
	b.Tasks = tasks
	w.apply(b)
}

// createMany creates n ids in a few batches and returns them in byte order, which is the
// order of Born too.
func (w *writer) createMany(n int) []string {
	w.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("https://example.com/%06d", i)
	}
	for part := range slices.Chunk(ids, 500) {
		b := w.batch()
		for _, id := range part {
			b.Puts = append(b.Puts, change(id, 0, websync.Created, id))
		}
		w.apply(b)
	}
	return ids
}

// change returns a change with a small description.
func change(id string, base websync.Seq, kind websync.ChangeKind, title string) harvest.Change {
	return harvest.Change{Base: base, Record: harvest.Record{Item: websync.Item{
		Kind:     kind,
		Resource: websync.Resource{ID: id, Title: title},
	}}}
}

// bodyChange is change with one body.
func bodyChange(id string, base websync.Seq, title string, key websync.Digest) harvest.Change {
	c := change(id, base, websync.Updated, title)
	c.Record.Bodies = []websync.Body{{Name: "content", Link: websync.Link{Href: id, Type: "text/plain"}, Key: key}}
	return c
}

func task(source, id string, due time.Time) harvest.Task {
	return harvest.Task{Source: source, Resource: websync.Resource{ID: id}, Due: due}
}

// contents are everything that a Store returns.
type contents struct {
	Head        websync.Head
	Log         []websync.Item
	Live        []websync.Item
	Records     map[string][]harvest.Record
	Tasks       map[string][]harvest.Task
	Checkpoints map[string]harvest.Checkpoint
	State       map[string]string
}

func (s *store) contents(sources, keys []string) contents {
	s.t.Helper()
	c := contents{
		Head:        s.head(),
		Log:         s.changes(websync.Range{}),
		Live:        s.resources(websync.Range{}),
		Records:     map[string][]harvest.Record{},
		Tasks:       map[string][]harvest.Task{},
		Checkpoints: map[string]harvest.Checkpoint{},
		State:       map[string]string{},
	}
	for _, source := range sources {
		c.Records[source] = s.records(source, "")
		c.Tasks[source] = s.tasks(source, "")
		c.Checkpoints[source] = s.checkpoint(source)
	}
	for _, key := range keys {
		c.State[key] = string(s.state(key))
	}
	return c
}

// The results of recordIDs and the functions below are easy to compare.
func recordIDs(recs []harvest.Record) []string {
	ids := make([]string, len(recs))
	for i, r := range recs {
		ids[i] = r.Resource.ID
	}
	return ids
}

func itemIDs(items []websync.Item) []string {
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = it.Resource.ID
	}
	return ids
}

func taskIDs(tasks []harvest.Task) []string {
	ids := make([]string, len(tasks))
	for i, t := range tasks {
		ids[i] = t.Resource.ID
	}
	return ids
}
