package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

func commitCases() []rule {
	return []rule{
		{Name: "conflicts", Rule: "If a Base does not match, nothing is applied, and the ids of all that do not match are returned without an error.", Check: commitConflicts},
		{Name: "repair", Rule: "A Batch with conflicts is not recorded: it can be repaired and sent again, with its bodies.", Check: commitRepair},
		{Name: "half-way-body", Rule: "A body that is missing in the last Put leaves nothing of the whole Batch.", Check: commitHalfWayBody},
		{Name: "half-way-id", Rule: "An id that is not allowed in the last Task leaves nothing of the whole Batch.", Check: commitHalfWayID},
		{Name: "half-way-context", Rule: "Wherever its context ends, a Batch is applied whole or not at all, and can be sent again.", Check: commitHalfWayContext},
		{Name: "at-once", Rule: "A reader sees all of a Batch or nothing of it.", Check: commitAtOnce},
		{Name: "twice", Rule: "An id twice among Puts and Touches is ErrBatch.", Check: commitTwice},
		{Name: "put-and-task", Rule: "A record and a task may have the same id in one Batch.", Check: commitPutAndTask},
		{Name: "zero-id", Rule: "A Batch without an ID is not taken for a repetition on a new name.", Check: commitZeroID},
		{Name: "checkpoint", Rule: "The checkpoint is zero at first, is kept with its version, stays where a Batch has none, and can be reset.", Check: commitCheckpoint},
		{Name: "large-checkpoint", Rule: "A checkpoint of a megabyte comes back.", Check: commitLargeCheckpoint},
		{Name: "large", Rule: "A Batch of many hundreds of Puts, Touches, Tasks, Done and State is applied whole.", Check: commitLarge},
		{Name: "sources", Rule: "Sources share the log and nothing else.", Check: commitSources},
		{Name: "arguments", Rule: "If the caller changes its arguments or results later, the Store does not change.", Check: commitArguments},
	}
}

const (
	uri1 = "https://example.com/1"
	uri2 = "https://example.com/2"
	uri3 = "https://example.com/3"
	uri4 = "https://example.com/4"
	uri5 = "https://example.com/5"
)

// conflicting returns a writer and a batch in which the Bases of uri1 to uri4 do not
// match their records, and that of uri5 does.
func (t *tester) conflicting() (*writer, *harvest.Batch) {
	t.Helper()
	w := t.open().writer("a")
	w.put(
		change(uri1, 0, websync.Created, "first"),
		change(uri2, 0, websync.Created, "first"),
		change(uri4, 0, websync.Created, "first"),
	)
	stale := w.record("a", uri4).Seq
	w.update(uri4, "second")
	b := w.batch()
	b.Checkpoint = &harvest.Checkpoint{Version: 2, Data: []byte("too far")}
	b.Puts = []harvest.Change{
		change(uri5, 0, websync.Created, "fits"),
		change(uri1, 0, websync.Updated, "takes it for new"),
		change(uri3, 1, websync.Updated, "takes it for known"),
		change(uri4, stale, websync.Updated, "takes it for older"),
	}
	b.Touches = []harvest.Change{change(uri2, w.record("a", uri2).Seq+100, websync.Updated, "takes it for newer")}
	b.Tasks = []harvest.Task{task("a", uri1, time.Time{})}
	b.State = map[string][]byte{"key": []byte("too early")}
	return w, b
}

func commitConflicts(t *tester) {
	w, b := t.conflicting()
	before := w.contents([]string{"a"}, []string{"key"})
	conflicts, err := w.Commit(t.Ctx, w.c, b)
	t.OK(err, "Commit with conflicts")
	t.Same([]string{uri1, uri2, uri3, uri4}, sorted(conflicts), "conflicts")
	t.Same(before, w.contents([]string{"a"}, []string{"key"}), "after conflicts: ")
	w.create(uri5)
	w.checkLog()
}

func commitRepair(t *tester) {
	w, b := t.conflicting()
	small, large := []byte("small"), pattern(1<<20, 1)
	b.Bodies = []harvest.BodyWriter{w.body(small), w.body(large)}
	b.Puts[0].Record.Bodies = []websync.Body{
		{Name: "content", Key: websync.SHA256(small)},
		{Name: "alternate", Key: websync.SHA256(large)},
	}
	for range 2 {
		conflicts, err := w.Commit(t.Ctx, w.c, b)
		t.OK(err, "Commit with conflicts")
		t.Same(4, len(conflicts), "number of conflicts, each time")
	}
	for _, cs := range [][]harvest.Change{b.Puts, b.Touches} {
		for i := range cs {
			cs[i].Base = w.record("a", cs[i].Record.Resource.ID).Seq
		}
	}
	w.apply(b)
	for _, id := range []string{uri1, uri3, uri4, uri5} {
		if r := w.record("a", id); !r.Known() || r.Resource.Title == "first" || r.Resource.Title == "second" {
			t.Errorf("%s: the repaired Batch was not applied", id)
		}
	}
	w.holds(small)
	w.holds(large)
	t.Same(harvest.Checkpoint{Version: 2, Data: []byte("too far")}, w.checkpoint("a"), "checkpoint")
	w.update(uri5, "next")
	w.checkLog()
}

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

// failing returns a writer with a record and a task, and a batch that would change all of
// it.
func (t *tester) failing() (*writer, *harvest.Batch) {
	t.Helper()
	w := t.open().writer("a")
	w.create(uri1)
	w.addTasks(task("a", uri5, time.Time{}))
	b := w.full()
	b.Puts = []harvest.Change{
		w.change(uri1, websync.Deleted, ""),
		bodyChange(uri2, 0, "two", websync.SHA256([]byte("the bytes of a body"))),
	}
	b.Done = []harvest.TaskRef{{ID: uri5}}
	return w, b
}

// refuses checks that b fails and leaves nothing, and that it is applied by the same
// claim once repair has mended it.
func (w *writer) refuses(b *harvest.Batch, want error, repair func()) {
	w.t.Helper()
	before := w.contents([]string{"a"}, []string{"key"})
	_, err := w.Commit(w.t.Ctx, w.c, b)
	w.t.Is(err, want, "Commit")
	w.t.Same(before, w.contents([]string{"a"}, []string{"key"}), "after a Commit that failed: ")
	repair()
	w.apply(b)
	if r := w.record("a", uri1); r.Kind != websync.Deleted {
		w.t.Errorf("%s: the repaired Batch was not applied", uri1)
	}
	w.holds([]byte("the bytes of a body"))
	w.checkLog()
}

func commitHalfWayBody(t *tester) {
	w, b := t.failing()
	b.Puts = append(b.Puts, bodyChange(uri4, 0, "no such body", websync.SHA256([]byte("never written"))))
	w.refuses(b, harvest.ErrNoBody, func() { b.Puts = b.Puts[:2] })
}

func commitHalfWayID(t *tester) {
	w, b := t.failing()
	b.Tasks = append(b.Tasks, task("a", "", time.Time{}))
	w.refuses(b, harvest.ErrBatch, func() { b.Tasks = b.Tasks[:1] })
}

// A fuse is a context that ends after a number of calls of its methods.
type fuse struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func newFuse(ctx context.Context, looks int) *fuse {
	f := new(fuse)
	f.Context, f.cancel = context.WithCancel(ctx)
	f.left.Store(int64(looks))
	return f
}

func (f *fuse) look() {
	if f.left.Add(-1) < 0 {
		f.cancel()
	}
}

func (f *fuse) Err() error {
	f.look()
	return f.Context.Err()
}

func (f *fuse) Done() <-chan struct{} {
	f.look()
	return f.Context.Done()
}

func commitHalfWayContext(t *tester) {
	w := t.open().writer("a")
	w.create(uri1)
	entries := 1
	for looks, whole := 0, false; !whole && looks < 500; looks += 1 + looks/3 {
		title := strconv.Itoa(looks)
		b := w.full()
		for i, id := range []string{uri1, uri2} {
			b.Puts[i] = w.change(id, websync.Updated, title)
		}
		before := w.contents([]string{"a"}, []string{"key"})
		f := newFuse(t.Ctx, looks)
		conflicts, err := w.Commit(f, w.c, b)
		f.cancel()
		if len(conflicts) > 0 {
			t.Fatalf("Commit with a context that ends: conflicts %q", conflicts)
		}
		whole = err == nil
		if w.record("a", uri1).Resource.Title != title {
			if whole {
				t.Fatal("Commit with a context that ends: success, and it was not applied")
			}
			t.Same(before, w.contents([]string{"a"}, []string{"key"}), "after a Commit whose context ended: ")
		}
		w.apply(b)
		entries += 2
		suite.Exactly(t, entries, w.checkLog(), "entries of the log, after the Batch was sent again")
		for _, r := range w.lookup("a", uri1, uri2) {
			t.Same(title, r.Resource.Title, "title of %s", r.Resource.ID)
		}
	}
}

func commitAtOnce(t *tester) {
	w := t.open().writer("a")
	ids := []string{uri1, uri2, uri3}
	w.put(change(uri1, 0, websync.Created, "0"), change(uri2, 0, websync.Created, "0"), change(uri3, 0, websync.Created, "0"))
	done := make(chan struct{})
	t.Together(2, func(i int) error {
		if i == 1 {
			return w.watchThrees(ids, done)
		}
		defer close(done)
		for n := 1; n <= 25; n++ {
			b := w.batch()
			for i, id := range ids {
				b.Puts = append(b.Puts, change(id, websync.Seq(3*n-2+i), websync.Updated, strconv.Itoa(n)))
			}
			if conflicts, err := w.Commit(t.Ctx, w.c, b); err != nil || len(conflicts) > 0 {
				return fmt.Errorf("store: Commit: %w, conflicts %q", err, conflicts)
			}
		}
		return nil
	})
}

// watchThrees reads until done, and checks that three records always have the same title
// and that the log always has a multiple of three entries.
func (w *writer) watchThrees(ids []string, done <-chan struct{}) error {
	for {
		select {
		case <-done:
			return nil
		default:
		}
		items, err := w.Get(w.t.Ctx, w.source, ids)
		if err != nil {
			return fmt.Errorf("store: Get: %w", err)
		}
		if items[0].Resource.Title != items[1].Resource.Title || items[1].Resource.Title != items[2].Resource.Title {
			return errors.New("store: Get returned a part of a Batch")
		}
		h, err := w.Head(w.t.Ctx)
		if err != nil {
			return fmt.Errorf("store: Head: %w", err)
		}
		if h.Last%3 != 0 {
			return fmt.Errorf("store: Head has a part of a Batch: Last is %d", h.Last)
		}
		last := h.Last
		for it, err := range w.Changes(w.t.Ctx, websync.Range{After: h.Last - 3}) {
			if err != nil {
				return fmt.Errorf("store: Changes: %w", err)
			}
			last = it.Seq
		}
		if last%3 != 0 {
			return fmt.Errorf("store: Changes yields a part of a Batch: its last number is %d", last)
		}
	}
}

func commitTwice(t *tester) {
	w := t.open().writer("a")
	w.create(uri1)
	one, other := w.change(uri1, websync.Updated, "one"), w.change(uri1, websync.Updated, "other")
	for _, b := range []harvest.Batch{
		{Puts: []harvest.Change{one, other}},
		{Touches: []harvest.Change{one, other}},
		{Puts: []harvest.Change{one}, Touches: []harvest.Change{other}},
	} {
		batch := w.batch()
		batch.Puts, batch.Touches = b.Puts, b.Touches
		before := w.contents([]string{"a"}, nil)
		_, err := w.Commit(t.Ctx, w.c, batch)
		t.Is(err, harvest.ErrBatch, "an id in %d Puts and %d Touches", len(b.Puts), len(b.Touches))
		t.Same(before, w.contents([]string{"a"}, nil), "after ErrBatch: ")
	}
	w.update(uri1, "next")
}

func commitPutAndTask(t *tester) {
	w := t.open().writer("a")
	b := w.batch()
	b.Puts = []harvest.Change{change(uri1, 0, websync.Created, "")}
	b.Tasks = []harvest.Task{task("a", uri1, time.Time{})}
	w.apply(b)
	t.Same([]string{uri1}, taskIDs(w.tasks("a", "")), "tasks")
	w.update(uri1, "a Put alone leaves the task")
	t.Same([]string{uri1}, taskIDs(w.tasks("a", "")), "tasks")
}

func commitZeroID(t *tester) {
	w := t.open().writer("a")
	b := &harvest.Batch{Source: "a", Puts: []harvest.Change{change(uri1, 0, websync.Created, "")}}
	if _, err := w.Commit(t.Ctx, w.c, b); err != nil {
		t.Is(err, harvest.ErrBatch, "a Batch without an ID")
		return
	}
	if r := w.record("a", uri1); !r.Known() {
		t.Error("a Batch without an ID was answered with success and not applied")
	}
}

func commitCheckpoint(t *tester) {
	w := t.open().writer("a")
	other := w.writer("b")
	t.Same(harvest.Checkpoint{}, w.checkpoint("a"), "the checkpoint before the first Commit")
	set := func(c *harvest.Checkpoint, want harvest.Checkpoint) {
		t.Helper()
		b := w.batch()
		b.Checkpoint = c
		w.apply(b)
		t.Same(want, w.checkpoint("a"), "checkpoint")
	}
	one := harvest.Checkpoint{Version: 1, Data: []byte("one")}
	binary := harvest.Checkpoint{Version: 1 << 30, Data: pattern(5000, 3)}
	set(nil, harvest.Checkpoint{})
	set(&one, one)
	set(nil, one)
	set(&binary, binary)
	set(nil, binary)
	bare := harvest.Checkpoint{Version: 7}
	set(&bare, bare)
	set(&harvest.Checkpoint{}, harvest.Checkpoint{})
	set(&one, one)
	other.apply(other.batch())
	t.Same(harvest.Checkpoint{}, w.checkpoint("b"), "the checkpoint of another source")
	t.Same(harvest.Checkpoint{}, w.checkpoint("never seen"), "the checkpoint of an unknown source")
}

func commitLargeCheckpoint(t *tester) {
	w := t.open().writer("a")
	large := harvest.Checkpoint{Version: 1, Data: pattern(1<<20, 73)}
	for _, c := range []harvest.Checkpoint{large, {Version: 2, Data: pattern(100, 79)}, large} {
		b := w.batch()
		b.Checkpoint = &c
		w.apply(b)
		t.Same(c, w.checkpoint("a"), "checkpoint")
	}
}

func commitLarge(t *tester) {
	const n = 1100
	w := t.open().writer("a")
	b := w.batch()
	b.State = map[string][]byte{}
	for i := range n {
		b.Puts = append(b.Puts, change(fmt.Sprintf("put %04d", i), 0, websync.Created, ""))
		b.Touches = append(b.Touches, change(fmt.Sprintf("touch %04d", i), 0, websync.Deleted, ""))
		b.Tasks = append(b.Tasks, task("a", fmt.Sprintf("task %04d", i), now()))
		b.State[fmt.Sprint(i)] = []byte("one")
	}
	w.apply(b)
	titled := func(title string) {
		t.Helper()
		for _, r := range suite.Exactly(t, 2*n, w.records("a", ""), "records") {
			t.Same(title, r.Resource.Title, "title of %q", r.Resource.ID)
		}
	}
	titled("")
	suite.Exactly(t, n, w.tasks("a", ""), "tasks")
	b = w.batch()
	b.State = map[string][]byte{}
	for i, r := range w.records("a", "") {
		c := change(r.Resource.ID, r.Seq, r.Kind, "touched")
		b.Touches = append(b.Touches, c)
		if i < n {
			b.Done = append(b.Done, harvest.TaskRef{ID: fmt.Sprintf("task %04d", i)})
			b.State[fmt.Sprint(i)] = nil
		}
	}
	w.apply(b)
	titled("touched")
	suite.Exactly(t, 0, w.tasks("a", ""), "tasks after Done")
	suite.Exactly(t, 0, w.due("a", now(), 2*n), "due tasks after Done")
	suite.Exactly(t, n, w.checkLog(), "entries of the log")
	for i := range n {
		t.Same("", string(w.state(fmt.Sprint(i))), "State of %d", i)
	}
}

func commitSources(t *tester) {
	a := t.open().writer("a")
	b := a.writer("b")
	a.put(change(uri1, 0, websync.Created, "of a"))
	b.put(change(uri1, 0, websync.Created, "of b"))
	c := change(uri2, 0, websync.Created, "says it is of another")
	c.Record.Source = "elsewhere"
	a.put(c)
	a.delete(uri1)
	b.addTasks(task("b", uri1, time.Time{}))
	t.Same([]string{"of b"}, []string{b.record("b", uri1).Resource.Title}, "title of the other source's record")
	t.Same([]string{"a", "a"}, sourcesOf(a.records("a", "")), "sources of the records of a")
	t.Same([]string{"b"}, sourcesOf(a.records("b", "")), "sources of the records of b")
	t.Same(0, len(a.records("elsewhere", "")), "records of a source that never committed")
	t.Same(0, len(a.tasks("a", "")), "tasks of a")
	var log []string
	for _, it := range a.changes(websync.Range{}) {
		log = append(log, it.Source+" "+it.Kind.String())
	}
	t.Same([]string{"a created", "b created", "a created", "a deleted"}, log, "log")
	t.Same(map[string]int64{"a": 1, "b": 1}, a.head().Live, "Head.Live")
}

func sourcesOf(recs []harvest.Record) []string {
	var s []string
	for _, r := range recs {
		s = append(s, r.Source)
	}
	return s
}

func commitArguments(t *tester) {
	w := t.open().writer("a")
	w.create(uri5)
	b := w.full()
	key := b.Puts[0].Record.Bodies[0].Key
	b.Puts[0].Record = t.filled(1, uri1)
	b.Puts[0].Record.Bodies[0].Key = key
	b.Touches = []harvest.Change{{Base: 1, Record: t.filled(2, uri5)}}
	suite.Fill(t, 3, &b.Tasks[0])
	b.Tasks[0].Resource.ID, b.Tasks[0].N = uri4, 0
	b.Tasks[0].Kind, b.Tasks[0].Parked = harvest.TaskGet, false
	w.apply(b)
	before := suite.Copy(w.answers())
	for _, argument := range []any{&b.Checkpoint, &b.Puts, &b.Touches, &b.Tasks, &b.Done, &b.State} {
		suite.Scribble(argument)
	}
	t.Same(before, w.answers(), "after the Batch was changed by its owner: ")
	got := w.answers()
	suite.Scribble(&got)
	t.Same(before, w.answers(), "after results were changed by their owner: ")
}

// answers are what the methods that read return.
type answers struct {
	Head        websync.Head
	Checkpoint  harvest.Checkpoint
	Lookup      []harvest.Record
	Records     []harvest.Record
	Get         []websync.Item
	Resources   []websync.Item
	Changes     []websync.Item
	LookupTasks []harvest.Task
	Tasks       []harvest.Task
	Due         []harvest.Task
	State       []byte
}

func (w *writer) answers() answers {
	w.t.Helper()
	ids := []string{uri1, uri2, uri3, uri4, uri5}
	return answers{
		Head: w.head(), Checkpoint: w.checkpoint(w.source), State: w.state("key"),
		Lookup: w.lookup(w.source, ids...), Records: w.records(w.source, ""),
		Get: w.get(w.source, ids...), Resources: w.resources(websync.Range{}), Changes: w.changes(websync.Range{}),
		LookupTasks: w.lookupTasks(w.source, ids...), Tasks: w.tasks(w.source, ""), Due: w.due(w.source, now(), 10),
	}
}
