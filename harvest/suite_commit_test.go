package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

func commitRules() []rule {
	return []rule{
		withWriter("conflicts", "If a Base does not match, nothing is applied, and all ids that do not match are returned without an error; the Batch can be repaired and sent again, with its bodies.", func(w *writer) {
			b := w.conflicting()
			bodies := shortAndLong(1)
			for _, data := range bodies {
				b.Bodies = append(b.Bodies, w.body(data))
				b.Puts[1].Record.Bodies = append(b.Puts[1].Record.Bodies, websync.Body{Name: sizeID(data), Key: websync.SHA256(data)})
			}
			for range 2 {
				w.conflict(b, uri1, uri2, uri3, uri4)
			}
			for _, cs := range [][]harvest.Change{b.Puts, b.Touches} {
				for i := range cs {
					cs[i].Base = w.record("a", cs[i].Record.Resource.ID).Seq
				}
			}
			w.apply(b)
			for _, r := range w.lookup("a", uri1, uri3, uri4, uri5) {
				w.ErrorIf(!r.Known() || r.Resource.Title == "first" || r.Resource.Title == "second", "%q: the repaired Batch was not applied", r.Resource.ID)
			}
			w.holds(bodies...)
			w.Same(harvest.Checkpoint{Version: 2, Data: []byte("too far")}, w.checkpoint("a"), "checkpoint")
			w.update(uri5, "next")
			w.checkLog()
		}),
		withWriter("half-way-body", "A body that is missing in the last Put leaves nothing of the whole Batch.", func(w *writer) {
			b := w.failing()
			b.Puts = append(b.Puts, bodyChange(uri4, 0, "no such body", []byte("never written")))
			w.refuses(b, harvest.ErrNoBody, func() { b.Puts = b.Puts[:2] })
		}),
		withWriter("half-way-id", "An id that is not allowed in the last Task leaves nothing of the whole Batch.", func(w *writer) {
			b := w.failing()
			b.Tasks = append(b.Tasks, task("a", "", time.Time{}))
			w.refuses(b, harvest.ErrBatch, func() { b.Tasks = b.Tasks[:1] })
		}),
		withWriter("half-way-context", "Wherever its context ends, a Batch is applied whole or not at all, and can be sent again.", func(w *writer) {
			w.create(uri1)
			entries := 1
			for calls, whole := 0, false; !whole && calls < 500; calls += 1 + calls/3 {
				title := strconv.Itoa(calls)
				b := w.full()
				for i, id := range []string{uri1, uri2} {
					b.Puts[i] = w.change(id, websync.Updated, title)
				}
				before := w.contents()
				f, cancel := newFuse(w.Ctx, calls)
				conflicts, err := w.Commit(f, w.c, b)
				cancel()
				w.FatalIf(len(conflicts) > 0, "Commit with a context that ends: conflicts %q", conflicts)
				whole = err == nil
				if w.record("a", uri1).Resource.Title != title {
					w.FatalIf(whole, "Commit with a context that ends succeeded and did not apply the Batch")
					w.Same(before, w.contents(), "after a Commit whose context ended: ")
				}
				w.apply(b)
				entries += 2
				suite.Exactly(w, entries, w.checkLog(), "entries of the log, after the Batch was sent again")
				for _, r := range w.lookup("a", uri1, uri2) {
					w.Same(title, r.Resource.Title, "title of %s", r.Resource.ID)
				}
			}
		}),
		withWriter("at-once", "A reader sees all of a Batch or nothing of it.", func(w *writer) {
			ids := []string{uri1, uri2, uri3}
			w.create(ids...)
			done := make(chan struct{})
			w.Together(2, func(i int) (err error) {
				if i == 1 {
					return w.watchThrees(ids, done)
				}
				defer close(done)
				for n := 1; n <= 25 && err == nil; n++ {
					b := w.batch(harvest.Batch{Checkpoint: &harvest.Checkpoint{Version: n}})
					for i, id := range ids {
						b.Puts = append(b.Puts, change(id, websync.Seq(3*n-2+i), websync.Updated, strconv.Itoa(n)))
					}
					err = w.tryCommit(w.c, b)
				}
				return err
			})
		}),
		withWriter("twice", "An id twice among Puts and Touches is ErrBatch.", func(w *writer) {
			w.create(uri1)
			one, other := w.change(uri1, websync.Updated, "one"), w.change(uri1, websync.Updated, "other")
			for _, b := range []harvest.Batch{
				{Puts: []harvest.Change{one, other}},
				{Touches: []harvest.Change{one, other}},
				{Puts: []harvest.Change{one}, Touches: []harvest.Change{other}},
			} {
				w.fails(w.c, w.batch(b), harvest.ErrBatch, "an id in %d Puts and %d Touches", len(b.Puts), len(b.Touches))
			}
			w.update(uri1, "next")
		}),
		withWriter("put-and-task", "A record and a task may have the same id in one Batch.", func(w *writer) {
			w.send(harvest.Batch{
				Puts:  []harvest.Change{change(uri1, 0, websync.Created, "")},
				Tasks: []harvest.Task{task("a", uri1, time.Time{})},
			})
			w.Same([]string{uri1}, ids(w.tasks("a", "")), "tasks")
			w.update(uri1, "a Put alone leaves the task")
			w.Same([]string{uri1}, ids(w.tasks("a", "")), "tasks")
		}),
		withWriter("zero-id", "A Batch without an ID is not taken for a repetition on a new name.", func(w *writer) {
			b := &harvest.Batch{Source: "a", Puts: []harvest.Change{change(uri1, 0, websync.Created, "")}}
			if _, err := w.Commit(w.Ctx, w.c, b); err != nil {
				w.Is(err, harvest.ErrBatch, "a Batch without an ID")
			} else if r := w.record("a", uri1); !r.Known() {
				w.Error("Commit of a Batch without an ID succeeded and did not apply it")
			}
		}),
		withWriter("checkpoint", "The checkpoint is zero at first, is kept with its version, even a megabyte, stays where a Batch has none, and can be reset.", func(w *writer) {
			w.Same(harvest.Checkpoint{}, w.checkpoint("a"), "the checkpoint before the first Commit")
			one := &harvest.Checkpoint{Version: 1, Data: []byte("one")}
			binary := &harvest.Checkpoint{Version: 1 << 30, Data: pattern(5000, 3)}
			large := &harvest.Checkpoint{Version: 2, Data: pattern(1<<20, 73)}
			bare, zero := &harvest.Checkpoint{Version: 7}, &harvest.Checkpoint{}
			var want harvest.Checkpoint
			for i, c := range []*harvest.Checkpoint{nil, one, nil, binary, nil, large, binary, large, bare, zero, one} {
				w.send(harvest.Batch{Checkpoint: c})
				if c != nil {
					want = *c
				}
				w.Same(want, w.checkpoint("a"), "the checkpoint after Commit %d: ", i+1)
			}
			w.writer("b").send(harvest.Batch{})
			w.Same(harvest.Checkpoint{}, w.checkpoint("b"), "the checkpoint of another source")
			w.Same(harvest.Checkpoint{}, w.checkpoint("never seen"), "the checkpoint of an unknown source")
		}),
		withWriter("large", "A Batch of many hundreds of Puts, Touches, Tasks, Done and State is applied whole.", func(w *writer) {
			const n = 1100
			b := harvest.Batch{State: map[string][]byte{}}
			for i := range n {
				b.Puts = append(b.Puts, change(fmt.Sprintf("put %04d", i), 0, websync.Created, ""))
				b.Touches = append(b.Touches, change(fmt.Sprintf("touch %04d", i), 0, websync.Deleted, ""))
				b.Tasks = append(b.Tasks, task("a", fmt.Sprintf("task %04d", i), now()))
				b.State[fmt.Sprint(i)] = []byte("one")
			}
			w.send(b)
			titled := func(title string) {
				w.Helper()
				for _, r := range suite.Exactly(w, 2*n, w.records("a", ""), "records") {
					w.Same(title, r.Resource.Title, "title of %q", r.Resource.ID)
				}
			}
			titled("")
			suite.Exactly(w, n, w.tasks("a", ""), "tasks")
			b = harvest.Batch{State: map[string][]byte{}}
			for _, r := range w.records("a", "") {
				b.Touches = append(b.Touches, change(r.Resource.ID, r.Seq, r.Kind, "touched"))
			}
			for i := range n {
				b.Done = append(b.Done, harvest.TaskRef{ID: fmt.Sprintf("task %04d", i)})
				b.State[fmt.Sprint(i)] = nil
			}
			w.send(b)
			titled("touched")
			suite.Exactly(w, 0, w.tasks("a", ""), "tasks after Done")
			suite.Exactly(w, 0, w.due("a", now(), 2*n), "due tasks after Done")
			suite.Exactly(w, n, w.checkLog(), "entries of the log")
			for i := range n {
				w.Same("", string(w.state(fmt.Sprint(i))), "State of %d", i)
			}
		}),
		withWriter("sources", "Sources share the log and nothing else.", func(a *writer) {
			b := a.writer("b")
			a.put(change(uri1, 0, websync.Created, "of a"))
			b.put(change(uri1, 0, websync.Created, "of b"))
			c := change(uri2, 0, websync.Created, "says it is of another")
			c.Record.Source = "elsewhere"
			a.put(c)
			a.delete(uri1)
			b.addTasks(task("b", uri1, time.Time{}))
			a.Same("of b", b.record("b", uri1).Resource.Title, "title of the other source's record")
			for source, n := range map[string]int{"a": 2, "b": 1, "elsewhere": 0} {
				for _, r := range suite.Exactly(a, n, a.records(source, ""), "records of "+source) {
					a.Same(source, r.Source, "source of a record of %s", source)
				}
			}
			a.Same(0, len(a.tasks("a", "")), "tasks of a")
			var log []string
			for _, it := range a.changes(websync.Range{}) {
				log = append(log, it.Source+" "+it.Kind.String())
			}
			a.Same([]string{"a created", "b created", "a created", "a deleted"}, log, "log")
			a.Same(map[string]int64{"a": 1, "b": 1}, a.head().Live, "Head.Live")
		}),
		withWriter("arguments", "If the caller changes its arguments or results later, the Store does not change.", func(w *writer) {
			w.create(uri5)
			b := w.full()
			key := b.Puts[0].Record.Bodies[0].Key
			b.Puts[0].Record = w.filled(1, uri1)
			b.Puts[0].Record.Bodies[0].Key = key
			b.Touches = []harvest.Change{{Base: 1, Record: w.filled(2, uri5)}}
			suite.Fill(w, 3, &b.Tasks[0])
			b.Tasks[0].Resource.ID, b.Tasks[0].N = uri4, 0
			b.Tasks[0].Kind, b.Tasks[0].Parked = harvest.TaskGet, false
			w.apply(b)
			before := suite.Copy(w.contents())
			for _, argument := range []any{&b.Checkpoint, &b.Puts, &b.Touches, &b.Tasks, &b.Done, &b.State} {
				suite.Scribble(argument)
			}
			w.Same(before, w.contents(), "after the Batch was changed by its owner: ")
			got := w.contents()
			suite.Scribble(&got)
			w.Same(before, w.contents(), "after results were changed by their owner: ")
		}),
	}
}

// conflicting returns a batch in which the Bases of uri1 to uri4 do not match their
// records, and that of uri5 does.
func (w *writer) conflicting() *harvest.Batch {
	w.Helper()
	for _, id := range []string{uri1, uri2, uri4} {
		w.put(change(id, 0, websync.Created, "first"))
	}
	stale := w.record("a", uri4).Seq
	w.update(uri4, "second")
	return w.batch(harvest.Batch{
		Checkpoint: &harvest.Checkpoint{Version: 2, Data: []byte("too far")},
		Puts: []harvest.Change{
			change(uri5, 0, websync.Created, "fits"),
			change(uri1, 0, websync.Updated, "takes it for new"),
			change(uri3, 1, websync.Updated, "takes it for known"),
			change(uri4, stale, websync.Updated, "takes it for older"),
		},
		Touches: []harvest.Change{change(uri2, w.record("a", uri2).Seq+100, websync.Updated, "takes it for newer")},
		Tasks:   []harvest.Task{task("a", uri1, time.Time{})},
		State:   map[string][]byte{"key": []byte("too early")},
	})
}

// failing stores a record and a task, and returns a batch that would change both and
// everything else.
func (w *writer) failing() *harvest.Batch {
	w.Helper()
	w.create(uri1)
	w.addTasks(task("a", uri5, time.Time{}))
	b := w.full()
	b.Puts = []harvest.Change{w.change(uri1, websync.Deleted, ""), bodyChange(uri2, 0, "two", theBody)}
	b.Done = []harvest.TaskRef{{ID: uri5}}
	return b
}

// refuses checks that b fails and leaves nothing, and that it is applied by the same
// claim once it is repaired.
func (w *writer) refuses(b *harvest.Batch, want error, repair func()) {
	w.Helper()
	w.fails(w.c, b, want, "a Batch whose last part is not allowed")
	repair()
	w.apply(b)
	if r := w.record("a", uri1); r.Kind != websync.Deleted {
		w.Errorf("%s: the repaired Batch was not applied", uri1)
	}
	w.holds(theBody)
	w.checkLog()
}

// A fuse is a context that ends after a number of calls of its methods.
type fuse struct {
	context.Context
	burn func()
}

func newFuse(ctx context.Context, calls int) (fuse, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	var burnt atomic.Int64
	return fuse{ctx, func() {
		if burnt.Add(1) > int64(calls) {
			cancel()
		}
	}}, cancel
}

func (f fuse) Err() error {
	f.burn()
	return f.Context.Err()
}

func (f fuse) Done() <-chan struct{} {
	f.burn()
	return f.Context.Done()
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
		before, beforeErr := w.Checkpoint(w.Ctx, w.source)
		items, err := w.Get(w.Ctx, w.source, ids)
		after, afterErr := w.Checkpoint(w.Ctx, w.source)
		if n, _ := strconv.Atoi(items[0].Resource.Title); n < before.Version || n > after.Version {
			return fmt.Errorf("store: checkpoint %d, then change %d, then checkpoint %d: they are of one Batch", before.Version, n, after.Version)
		}
		err = errors.Join(beforeErr, err, afterErr)
		if err == nil && (items[0].Resource.Title != items[1].Resource.Title || items[1].Resource.Title != items[2].Resource.Title) {
			err = errors.New("store: Get returned a part of a Batch")
		}
		h, headErr := w.Head(w.Ctx)
		last := h.Last
		for it, changesErr := range w.Changes(w.Ctx, websync.Range{After: h.Last - 3}) {
			last = it.Seq
			err = errors.Join(err, changesErr)
		}
		if err = errors.Join(err, headErr); err == nil && (h.Last%3 != 0 || last%3 != 0) {
			err = fmt.Errorf("store: a part of a Batch: Head ends with number %d, Changes with %d", h.Last, last)
		}
		if err != nil {
			return err
		}
	}
}
