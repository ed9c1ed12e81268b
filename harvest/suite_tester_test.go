package harvest_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

// A tester runs one case.
type tester struct {
	suite.Tester
	options suiteOptions
}

func newTester(t testing.TB, o suiteOptions) *tester {
	return &tester{suite.NewTester(t, o.Patience), o}
}

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

func (t *tester) wrap(s checkedCatalog) *store {
	t.Helper()
	t.FatalIf(s == nil, "the function of the suiteOptions that opens a Store returned nil")
	return &store{s, t}
}

// A clock is set by the case. The Store may read it from any goroutine.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)}
}

func (c *clock) Now() time.Time { return c.step(0) }

// step moves the clock by d, which may be negative, and returns the new time.
func (c *clock) step(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

// A store is the Store under test. Its lower-case methods end the case if a call fails.
type store struct {
	checkedCatalog
	*tester
}

func (s *store) reopen() *store {
	s.Helper()
	return s.wrap(s.options.Reopen(s.TB, s.checkedCatalog))
}

func (s *store) claim(source string) *harvest.Claim {
	s.Helper()
	c, err := s.Claim(s.Ctx, "source/"+source, time.Hour)
	s.OK(err, "Claim %.100q", source)
	s.FatalIf(c == nil, "Claim returned neither a claim nor an error")
	return c
}

// isHeld checks that nobody else gets the claim of source.
func (s *store) isHeld(source, when string, args ...any) {
	s.Helper()
	_, err := s.Claim(s.Ctx, "source/"+source, time.Hour)
	s.Is(err, harvest.ErrHeld, "Claim %q %s", source, fmt.Sprintf(when, args...))
}

func (s *store) release(c *harvest.Claim) {
	s.Helper()
	s.OK(s.Release(s.Ctx, c), "Release")
}

// commit applies b, and ends the case unless that succeeds.
func (s *store) commit(c *harvest.Claim, b *harvest.Batch) {
	s.Helper()
	s.OK(s.tryCommit(c, b), "Commit")
}

// errConflicts is the error of tryCommit for conflicts.
var errConflicts = errors.New("conflicts")

// tryCommit is commit for goroutines, which must not end the case.
func (s *store) tryCommit(c *harvest.Claim, b *harvest.Batch) error {
	conflicts, err := s.Commit(s.Ctx, c, b)
	if err == nil && len(conflicts) > 0 {
		err = fmt.Errorf("%w: %.200q", errConflicts, conflicts)
	}
	return err
}

// unchanged checks that f, which does what is described, changes nothing.
func (s *store) unchanged(what string, f func()) {
	s.Helper()
	before := s.contents()
	f()
	s.Same(before, s.contents(), "after %s: ", what)
}

// fails checks that a Commit of b returns the error want and leaves nothing. It returns
// the conflicts.
func (s *store) fails(c *harvest.Claim, b *harvest.Batch, want error, what string, args ...any) (conflicts []string) {
	s.Helper()
	what = "Commit of " + fmt.Sprintf(what, args...)
	s.unchanged(what, func() {
		s.Helper()
		var err error
		conflicts, err = s.Commit(s.Ctx, c, b)
		s.Is(err, want, "%s", what)
	})
	return conflicts
}

func (s *store) head() websync.Head {
	s.Helper()
	h, err := s.Head(s.Ctx)
	s.OK(err, "Head")
	return h
}

func (s *store) checkpoint(source string) harvest.Checkpoint {
	s.Helper()
	c, err := s.Checkpoint(s.Ctx, source)
	s.OK(err, "Checkpoint of %q", source)
	return c
}

// answers returns the answers of Lookup, Get or LookupTasks, one for each id.
func answers[V any](s *store, what string, ask func(context.Context, string, []string) ([]V, error), source string, ids []string) []V {
	s.Helper()
	vs, err := ask(s.Ctx, source, ids)
	s.OK(err, "%s in %q", what, source)
	return suite.Exactly(s, len(ids), vs, "answers of "+what)
}

func (s *store) lookup(source string, ids ...string) []harvest.Record {
	s.Helper()
	return answers(s, "Lookup", s.Lookup, source, ids)
}

func (s *store) record(source, id string) harvest.Record {
	s.Helper()
	return s.lookup(source, id)[0]
}

func (s *store) get(source string, ids ...string) []websync.Item {
	s.Helper()
	return answers(s, "Get", s.Get, source, ids)
}

func (s *store) lookupTasks(source string, ids ...string) []harvest.Task {
	s.Helper()
	return answers(s, "LookupTasks", s.LookupTasks, source, ids)
}

func (s *store) records(source, after string) []harvest.Record {
	s.Helper()
	recs := suite.Collect(&s.Tester, "Records", s.Records(s.Ctx, source, after))
	want := make([]harvest.Brief, 0, len(recs))
	for i := range recs {
		want = append(want, recs[i].Brief())
	}
	briefs := suite.Collect(&s.Tester, "Briefs", s.Briefs(s.Ctx, source, after))
	s.Same(want, append(make([]harvest.Brief, 0, len(briefs)), briefs...), "Briefs beside Records: ")
	if after == "" {
		s.checkFingerprints(source, want)
	}
	return recs
}

// checkFingerprints compares the Fingerprints of a source with all of its records.
func (s *store) checkFingerprints(source string, records []harvest.Brief) {
	s.Helper()
	f, err := s.Fingerprints(s.Ctx, source)
	s.OK(err, "Fingerprints of %q", source)
	want := []harvest.Fingerprint{}
	others := int64(0)
	for i := range records {
		if records[i].Live() {
			print := f.Key.Of(&records[i])
			print.Born = records[i].Born
			want = append(want, print)
		} else {
			others++
		}
	}
	got := append([]harvest.Fingerprint{}, suite.Collect(&s.Tester, "Fingerprints", f.All)...)
	byID := func(a, b harvest.Fingerprint) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(want, byID)
	slices.SortFunc(got, byID)
	s.Same(want, got, "Fingerprints beside Records: ")
	s.Same(others, f.Others, "Fingerprints.Others")
}

func (s *store) tasks(source, after string) []harvest.Task {
	s.Helper()
	return suite.Collect(&s.Tester, "Tasks", s.Tasks(s.Ctx, source, after))
}

func (s *store) due(source string, now time.Time, n int) []harvest.Task {
	s.Helper()
	tasks, err := s.Due(s.Ctx, source, now, n)
	s.OK(err, "Due of %q", source)
	return tasks
}

func (s *store) changes(r websync.Range) []websync.Item {
	s.Helper()
	return suite.Collect(&s.Tester, "Changes", s.Changes(s.Ctx, r))
}

func (s *store) resources(r websync.Range) []websync.Item {
	s.Helper()
	return suite.Collect(&s.Tester, "Resources", s.Resources(s.Ctx, r))
}

// checkLog checks what holds for every log: dense numbers, strictly increasing times, and
// a Head that fits. It returns the log.
func (s *store) checkLog() []websync.Item {
	s.Helper()
	log := s.changes(websync.Range{})
	s.CheckLog(s.head(), log)
	return log
}

func (s *store) state(key string) []byte {
	s.Helper()
	v, err := s.State(s.Ctx, key)
	s.OK(err, "State of %q", key)
	return v
}

func (s *store) swap(key string, old, new []byte) {
	s.Helper()
	s.OK(s.Swap(s.Ctx, key, old, new), "Swap of %q", key)
}

// body returns a finished writer that holds data.
func (s *store) body(data []byte) harvest.BodyWriter {
	s.Helper()
	w, err := s.NewBody(s.Ctx)
	s.OK(err, "NewBody")
	s.Cleanup(func() { w.Discard() })
	n, err := w.Write(data)
	if err == nil && n != len(data) {
		err = io.ErrShortWrite
	}
	s.OK(err, "BodyWriter.Write")
	s.finish(w, data)
	return w
}

// finish finishes a writer and checks its answer: it holds data.
func (s *store) finish(w harvest.BodyWriter, data []byte) {
	s.Helper()
	key, size, err := w.Finish()
	s.OK(err, "BodyWriter.Finish")
	if want := websync.SHA256(data); key != want || size != int64(len(data)) {
		s.Fatalf("BodyWriter.Finish: got %v and %d bytes, want %v and %d", key, size, want, len(data))
	}
}

// read returns the bytes of a body.
func (s *store) read(key websync.Digest) ([]byte, error) {
	r, err := s.Open(s.Ctx, websync.Body{Name: "content", Key: key})
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

// holds checks that the Store has exactly the bytes of each body.
func (s *store) holds(bodies ...[]byte) {
	s.Helper()
	for _, data := range bodies {
		got, err := s.read(websync.SHA256(data))
		s.OK(err, "Open a body of %d bytes", len(data))
		s.FatalIf(!bytes.Equal(got, data), "a body of %d bytes came back with %d bytes, or with others", len(data), len(got))
	}
}

// lacks checks that the Store has none of the bodies.
func (s *store) lacks(bodies ...[]byte) {
	s.Helper()
	for _, data := range bodies {
		_, err := s.read(websync.SHA256(data))
		s.Is(err, websync.ErrNotFound, "Open a body of %d bytes that is discarded or removed", len(data))
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
	s.Helper()
	return &writer{s, source, s.claim(source)}
}

// batch returns b with the source of w and an ID of its own.
func (w *writer) batch(b harvest.Batch) *harvest.Batch {
	b.ID, b.Source = harvest.NewBatch(w.source).ID, w.source
	return &b
}

func (w *writer) apply(b *harvest.Batch) {
	w.Helper()
	w.commit(w.c, b)
}

// send applies a batch with the contents of b.
func (w *writer) send(b harvest.Batch) {
	w.Helper()
	w.apply(w.batch(b))
}

// conflict checks that a Commit of b returns the conflicts want, sorted, and leaves
// nothing.
func (w *writer) conflict(b *harvest.Batch, want ...string) {
	w.Helper()
	w.Same(want, sorted(w.fails(w.c, b, nil, "a Batch with conflicts")), "conflicts")
}

// change returns a change of id whose Base is the record's present number.
func (w *writer) change(id string, kind websync.ChangeKind, title string) harvest.Change {
	w.Helper()
	return change(id, w.record(w.source, id).Seq, kind, title)
}

// put commits changes as one batch of Puts.
func (w *writer) put(changes ...harvest.Change) {
	w.Helper()
	w.send(harvest.Batch{Puts: changes})
}

// touch commits changes as one batch of Touches.
func (w *writer) touch(changes ...harvest.Change) {
	w.Helper()
	w.send(harvest.Batch{Touches: changes})
}

// create creates ids, all at once.
func (w *writer) create(ids ...string) {
	w.Helper()
	var puts []harvest.Change
	for _, r := range w.lookup(w.source, ids...) {
		puts = append(puts, change(ids[len(puts)], r.Seq, websync.Created, "created"))
	}
	w.put(puts...)
}

func (w *writer) update(id, title string) {
	w.Helper()
	w.put(w.change(id, websync.Updated, title))
}

func (w *writer) delete(id string) {
	w.Helper()
	w.put(w.change(id, websync.Deleted, ""))
}

// addTasks commits tasks.
func (w *writer) addTasks(tasks ...harvest.Task) {
	w.Helper()
	w.send(harvest.Batch{Tasks: tasks})
}

// done commits that tasks are done.
func (w *writer) done(refs ...harvest.TaskRef) {
	w.Helper()
	w.send(harvest.Batch{Done: refs})
}

// createMany creates n ids in a few batches and returns them in byte order, which is the
// order of Born too.
func (w *writer) createMany(n int) []string {
	w.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("https://example.com/%06d", i)
	}
	for part := range slices.Chunk(ids, 500) {
		var puts []harvest.Change
		for _, id := range part {
			puts = append(puts, change(id, 0, websync.Created, id))
		}
		w.put(puts...)
	}
	return ids
}

// bodyBatch returns a batch that puts id with the body data, and that brings bodies.
func (w *writer) bodyBatch(id string, data []byte, bodies ...harvest.BodyWriter) *harvest.Batch {
	w.Helper()
	put := bodyChange(id, w.record(w.source, id).Seq, "", data)
	return w.batch(harvest.Batch{Puts: []harvest.Change{put}, Bodies: bodies})
}

// keep commits data as the body of id.
func (w *writer) keep(id string, data []byte) {
	w.Helper()
	w.apply(w.bodyBatch(id, data, w.body(data)))
}

// touchBody gives id the body data by a Touch.
func (w *writer) touchBody(id string, data []byte) {
	w.Helper()
	touch := bodyChange(id, w.record(w.source, id).Seq, id, data)
	w.send(harvest.Batch{Touches: []harvest.Change{touch}, Bodies: []harvest.BodyWriter{w.body(data)}})
}

// change returns a change with a small description.
func change(id string, base websync.Seq, kind websync.ChangeKind, title string) harvest.Change {
	return harvest.Change{Base: base, Record: harvest.Record{Item: websync.Item{
		Kind:     kind,
		Resource: websync.Resource{ID: id, Title: title},
	}}}
}

// bodyChange returns a change with one body.
func bodyChange(id string, base websync.Seq, title string, data []byte) harvest.Change {
	c := change(id, base, websync.Updated, title)
	c.Record.Bodies = []websync.Body{{Name: "content", Link: websync.Link{Href: id, Type: "text/plain"}, Key: websync.SHA256(data)}}
	return c
}

func task(source, id string, due time.Time) harvest.Task {
	return harvest.Task{Source: source, Resource: websync.Resource{ID: id}, Due: due}
}

// now is a moment for tasks.
func now() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 891_234_000, time.UTC) }

const (
	uri1 = "https://example.com/1"
	uri2 = "https://example.com/2"
	uri3 = "https://example.com/3"
	uri4 = "https://example.com/4"
	uri5 = "https://example.com/5"
)

// pattern returns n bytes that differ for each seed and do not repeat soon.
func pattern(n int, seed uint64) []byte {
	b := make([]byte, n)
	x := seed*0x9e3779b97f4a7c15 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}

// shortAndLong returns two bodies, for Stores that keep long bodies elsewhere.
func shortAndLong(seed uint64) [][]byte { return [][]byte{[]byte("small"), pattern(1<<20, seed)} }

// contents are everything that a Store returns of some sources, by every method that
// reads.
type contents struct {
	Head             websync.Head
	Log, Live        []websync.Item
	Records          []harvest.Record
	Tasks            []harvest.Task
	Checkpoints      []harvest.Checkpoint
	State            [][]byte
	Lookup           []harvest.Record
	Get              []websync.Item
	LookupTasks, Due []harvest.Task
}

func (s *store) contents() contents {
	s.Helper()
	c := contents{Head: s.head(), Log: s.changes(websync.Range{}), Live: s.resources(websync.Range{})}
	for _, source := range []string{"a", "b", "never"} {
		uris := []string{uri1, uri2, uri3, uri4, uri5}
		c.Records = append(c.Records, s.records(source, "")...)
		c.Tasks = append(c.Tasks, s.tasks(source, "")...)
		c.Checkpoints = append(c.Checkpoints, s.checkpoint(source))
		c.Lookup = append(c.Lookup, s.lookup(source, uris...)...)
		c.Get = append(c.Get, s.get(source, uris...)...)
		c.LookupTasks = append(c.LookupTasks, s.lookupTasks(source, uris...)...)
		c.Due = append(c.Due, s.due(source, now(), 10)...)
	}
	for _, key := range []string{"key", "deleted", "swapped"} {
		c.State = append(c.State, s.state(key))
	}
	return c
}

// ids returns the ids of records, items or tasks.
func ids[V any](vs []V) []string {
	list := make([]string, len(vs))
	for i, v := range vs {
		list[i] = idOf(v)
	}
	return list
}

func idOf[V any](v V) string {
	switch v := any(v).(type) {
	case harvest.Record:
		return v.Resource.ID
	case harvest.Brief:
		return v.ID
	case websync.Item:
		return v.Resource.ID
	case harvest.Task:
		return v.Resource.ID
	}
	panic(fmt.Sprintf("a %T has no id", v))
}

// sorted returns a sorted copy.
func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }
