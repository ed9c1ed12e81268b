package storetest

import (
	"errors"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

func durabilityCases() []rule {
	return []rule{
		{Name: "everything", Rule: "Records, log, tasks, checkpoints, State and Head are the same after Reopen.", Lack: aReopen, Check: durabilityEverything},
		{Name: "bodies", Rule: "Bodies are there after Reopen, even next to one that was never committed.", Lack: aReopen, Check: durabilityBodies},
		{Name: "counters", Rule: "Numbers, Born and times go on after Reopen, and numbers of tasks do not come again.", Lack: aReopen, Check: durabilityCounters},
		{Name: "claims", Rule: "After Reopen a holder that lost its claim is still fenced, and the next Epoch is higher.", Lack: aReopen, Check: durabilityClaims},
		{Name: "repeat", Rule: "A Batch that was applied before Reopen succeeds again and changes nothing.", Lack: aReopen, Check: durabilityRepeat},
		{Name: "base", Rule: "Bases are compared after Reopen as before.", Lack: aReopen, Check: durabilityBase},
		{Name: "generations", Rule: "Generations are the same after Reopen, dropped ones stay dropped.", Lack: aReopen, Check: durabilityGenerations},
		{Name: "failed", Rule: "Nothing of a Batch that failed appears after Reopen.", Lack: aReopen, Check: durabilityFailed},
	}
}

// lived returns a writer to a Store that has one of everything.
func (t *tester) lived() *writer {
	t.Helper()
	w := t.open().writer("a")
	w.apply(w.full())
	w.create("deleted")
	w.delete("deleted")
	w.update(uri2, "again")
	b := w.batch()
	parked := task("a", "parked", now())
	parked.Parked, parked.Error, parked.Attempts = true, "gave up", 9
	b.Tasks = []harvest.Task{parked, task("a", "done", now()), task("a", "due", now())}
	b.State = map[string][]byte{"deleted": []byte("soon")}
	w.apply(b)
	w.done(harvest.TaskRef{ID: "done"})
	w.swap("deleted", []byte("soon"), nil)
	w.swap("swapped", nil, []byte("value"))
	other := w.writer("b")
	r := t.filled(1, uri1)
	for i := range r.Bodies {
		r.Bodies[i].Key = websync.SHA256([]byte("the bytes of a body"))
	}
	other.put(harvest.Change{Record: r})
	b = other.batch()
	for _, id := range oddIDs() {
		b.Puts = append(b.Puts, change(id, 0, websync.Created, ""))
	}
	other.apply(b)
	return w
}

var livedKeys = [...]string{"key", "deleted", "swapped"}

func durabilityEverything(t *tester) {
	w := t.lived()
	before := w.contents([]string{"a", "b"}, livedKeys[:])
	s := w.reopen()
	t.Same(before, s.contents([]string{"a", "b"}, livedKeys[:]), "after Reopen: ")
	s.checkLog()
	t.Same([]string{uri4, "due"}, taskIDs(s.due("a", now(), 10)), "due tasks after Reopen: ")
	s = s.reopen()
	t.Same(before, s.contents([]string{"a", "b"}, livedKeys[:]), "after the second Reopen: ")
}

func durabilityBodies(t *tester) {
	w := t.open().writer("a")
	large := pattern(1<<20, 67)
	w.keep(uri1, []byte("small"))
	w.keep(uri2, large)
	w.body(pattern(1<<20, 71)) // waits for a Commit that does not come
	s := w.reopen()
	s.holds([]byte("small"))
	s.holds(large)
	if m, ok := s.Store.(harvest.Maintainer); ok {
		_, err := m.Vacuum(t.Ctx, 0)
		t.OK(err, "Vacuum")
		s.holds([]byte("small"))
		s.holds(large)
	}
}

func durabilityCounters(t *tester) {
	w := t.open().writer("a")
	w.create(uri1)
	w.create(uri2)
	w.delete(uri2)
	w.addTasks(task("a", uri1, now()))
	n := suite.Exactly(t, 1, w.tasks("a", ""), "tasks")[0].N
	w.done(harvest.TaskRef{ID: uri1})
	w.release(w.c)
	head := w.head()
	w = w.reopen().writer("a")
	w.create(uri3)
	w.addTasks(task("a", uri1, now()))
	r := w.record("a", uri3)
	t.Same([]websync.Seq{4, 3}, []websync.Seq{r.Seq, r.Born}, "number and Born of a new record")
	if !r.Time.After(head.LastTime) {
		t.Errorf("the time after Reopen, %v, is not after %v", r.Time, head.LastTime)
	}
	if got := suite.Exactly(t, 1, w.tasks("a", ""), "tasks")[0].N; got == n {
		t.Errorf("N is %d again after Reopen", n)
	}
	w.checkLog()
}

func durabilityClaims(t *tester) {
	s := t.open()
	lost := s.claim("a")
	s.commit(lost, harvest.NewBatch("a"))
	zombie := *lost
	s.release(lost)
	held := s.claim("a")
	s.commit(held, harvest.NewBatch("a"))
	released := s.claim("b")
	s.commit(released, harvest.NewBatch("b"))
	s.release(released)

	s = s.reopen()
	s.refused(&zombie, "a zombie's claim after Reopen")
	if next := s.claim("b"); next.Epoch <= released.Epoch {
		t.Errorf("claimed after Reopen: Epoch %d after %d", next.Epoch, released.Epoch)
	}
	s.refused(released, "a claim that was released before Reopen")
	// The holder of the other claim may or may not be known to be dead.
	next, err := s.Claim(t.Ctx, "source/a", time.Hour)
	if errors.Is(err, harvest.ErrHeld) {
		s.commit(held, harvest.NewBatch("a"))
		return
	}
	t.OK(err, "Claim after Reopen")
	if next.Epoch <= held.Epoch {
		t.Errorf("taken over after Reopen: Epoch %d after %d", next.Epoch, held.Epoch)
	}
	s.refused(held, "a claim that was taken over after Reopen")
	s.commit(next, harvest.NewBatch("a"))
}

func durabilityRepeat(t *tester) {
	w := t.open().writer("a")
	b := w.full()
	w.apply(b)
	w.release(w.c)
	before := w.contents([]string{"a"}, []string{"key"})
	w = w.reopen().writer("a")
	b.Bodies = nil // a writer belongs to the Store that made it
	w.apply(b)
	t.Same(before, w.contents([]string{"a"}, []string{"key"}), "after a repetition: ")
	w.create("next")
}

func durabilityBase(t *tester) {
	w := t.open().writer("a")
	w.create(uri1)
	w.create(uri2)
	w.update(uri2, "again")
	w.release(w.c)
	w = w.reopen().writer("a")
	b := w.batch()
	b.Puts = []harvest.Change{change(uri1, 1, websync.Updated, "fits"), change(uri2, 2, websync.Updated, "is too old")}
	conflicts, err := w.Commit(t.Ctx, w.c, b)
	t.OK(err, "Commit")
	t.Same([]string{uri2}, conflicts, "conflicts")
	b.Puts[1].Base = 3
	w.apply(b)
}

func durabilityGenerations(t *tester) {
	w, _ := t.worn()
	first := w.head().Generation
	second := w.compact()
	third := w.compact()
	w.drop(second)
	before := w.contents([]string{"a", "b"}, nil)
	old := w.changes(websync.Range{Generation: second})
	s := w.reopen()
	t.Same(before, s.contents([]string{"a", "b"}, nil), "after Reopen: ")
	t.Same(third, s.head().Generation, "Head.Generation")
	t.Same(old, s.changes(websync.Range{Generation: second}), "the second generation after Reopen: ")
	t.NoGeneration(s, first, "a generation that was dropped before Reopen")
	next := s.writer("a")
	next.create("next")
	s.checkLog()
}

func durabilityFailed(t *tester) {
	w, b := t.failing()
	b.Puts = append(b.Puts, bodyChange(uri4, 0, "no such body", websync.SHA256([]byte("never written"))))
	before := w.contents([]string{"a"}, []string{"key"})
	_, err := w.Commit(t.Ctx, w.c, b)
	t.Is(err, harvest.ErrNoBody, "Commit")
	s := w.reopen()
	t.Same(before, s.contents([]string{"a"}, []string{"key"}), "after Reopen: ")
}
