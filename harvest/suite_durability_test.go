package harvest_test

import (
	"errors"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func durabilityRules() []rule {
	return []rule{
		withReopen("everything", "Records, log, tasks, checkpoints, State and Head are the same after Reopen.", func(w *writer) {
			w.live()
			s := w.store
			for range 2 {
				s = s.reopenSame()
				s.checkLog()
				s.Same([]string{uri4, "due"}, ids(s.due("a", now(), 10)), "due tasks after Reopen: ")
			}
		}),
		withReopen("bodies", "Bodies are there after Reopen, even next to one that was never committed.", func(w *writer) {
			bodies := shortAndLong(67)
			for _, data := range bodies {
				w.keep(sizeID(data), data)
			}
			w.body(pattern(1<<20, 71)) // waits for a Commit that does not come
			s := w.reopen()
			s.holds(bodies...)
			s.vacuum(0)
			s.holds(bodies...)
		}),
		withReopen("counters", "Numbers, Born and times go on after Reopen, and numbers of tasks do not come again.", func(w *writer) {
			w.create(uri1, uri2)
			w.delete(uri2)
			seen := map[uint64]bool{}
			w.addTasks(task("a", uri1, now()))
			w.newN(seen)
			w.done(harvest.TaskRef{ID: uri1})
			w.release(w.c)
			head := w.head()
			w = w.reopen().writer("a")
			w.create(uri3)
			w.addTasks(task("a", uri1, now()))
			r := w.record("a", uri3)
			w.Same([]websync.Seq{4, 3}, []websync.Seq{r.Seq, r.Born}, "number and Born of a new record")
			w.ErrorIf(!r.Time.After(head.LastTime), "the time after Reopen, %v, is not after %v", r.Time, head.LastTime)
			w.newN(seen)
			w.checkLog()
		}),
		withReopen("claims", "After Reopen a holder that lost its claim is still fenced, and the next Epoch is higher.", func(w *writer) {
			w.send(harvest.Batch{})
			zombie := *w.c
			w.release(w.c)
			held := w.claim("a")
			w.commit(held, harvest.NewBatch("a"))
			released := w.claim("b")
			w.commit(released, harvest.NewBatch("b"))
			w.release(released)

			s := w.reopen()
			s.refused(&zombie, "a zombie's claim after Reopen")
			s.claimAfter(released, "after Reopen")
			s.refused(released, "a claim that was released before Reopen")
			// The holder of the other claim may or may not be known to be dead.
			next, err := s.Claim(s.Ctx, "source/a", time.Hour)
			if errors.Is(err, harvest.ErrHeld) {
				s.commit(held, harvest.NewBatch("a"))
				return
			}
			s.OK(err, "Claim after Reopen")
			s.ErrorIf(next.Epoch <= held.Epoch, "taken over after Reopen: Epoch %d after %d", next.Epoch, held.Epoch)
			s.refused(held, "a claim that was taken over after Reopen")
			s.commit(next, harvest.NewBatch("a"))
		}),
		withReopen("repeat", "A Batch that was applied before Reopen succeeds again and changes nothing.", func(w *writer) {
			b := w.full()
			w.apply(b)
			w.release(w.c)
			w = w.reopenSame().writer("a")
			b.Bodies = nil // a writer belongs to the Store that made it
			w.unchanged("a repetition", func() { w.apply(b) })
			w.create("next")
		}),
		withReopen("base", "Bases are compared after Reopen as before.", func(w *writer) {
			w.create(uri1, uri2)
			w.update(uri2, "again")
			w.release(w.c)
			w = w.reopen().writer("a")
			b := w.batch(harvest.Batch{Puts: []harvest.Change{
				change(uri1, 1, websync.Updated, "fits"), change(uri2, 2, websync.Updated, "is too old"),
			}})
			w.conflict(b, uri2)
			b.Puts[1].Base = 3
			w.apply(b)
		}),
		withReopen("generations", "Generations are the same after Reopen, dropped ones stay dropped.", func(w *writer) {
			w.wear()
			first := w.head().Generation
			second := w.compact()
			third := w.compact()
			w.drop(second)
			old := w.changes(websync.Range{Generation: second})
			s := w.reopenSame()
			s.Same(third, s.head().Generation, "Head.Generation")
			s.Same(old, s.changes(websync.Range{Generation: second}), "the second generation after Reopen: ")
			s.NoGeneration(s, first, "a generation that was dropped before Reopen")
			s.writer("a").create("next")
			s.checkLog()
		}),
		withReopen("failed", "Nothing of a Batch that failed appears after Reopen.", func(w *writer) {
			b := w.failing()
			b.Puts = append(b.Puts, bodyChange(uri4, 0, "no such body", []byte("never written")))
			w.fails(w.c, b, harvest.ErrNoBody, "a Batch that names an unknown body")
			w.reopenSame()
		}),
	}
}

// reopenSame opens the Store again, and checks that it holds what it did.
func (s *store) reopenSame() *store {
	s.Helper()
	before := s.contents()
	s = s.reopen()
	s.Same(before, s.contents(), "after Reopen: ")
	return s
}

// live fills the Store with one of everything.
func (w *writer) live() {
	w.Helper()
	w.apply(w.full())
	w.create("deleted")
	w.delete("deleted")
	w.update(uri2, "again")
	parked := task("a", "parked", now())
	parked.Parked, parked.Error, parked.Attempts = true, "gave up", 9
	w.send(harvest.Batch{
		Tasks: []harvest.Task{parked, task("a", "done", now()), task("a", "due", now())},
		State: map[string][]byte{"deleted": []byte("soon")},
	})
	w.done(harvest.TaskRef{ID: "done"})
	w.swap("deleted", []byte("soon"), nil)
	w.swap("swapped", nil, []byte("value"))
	other := w.writer("b")
	r := w.filled(1, uri1)
	for i := range r.Bodies {
		r.Bodies[i].Key = websync.SHA256(theBody)
	}
	other.put(harvest.Change{Record: r})
	other.create(oddIDs()...)
}
