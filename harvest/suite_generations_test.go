package harvest_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

func generationRules() []rule {
	return []rule{
		withWriter("compact", "Compact writes a new generation: the latest state of every id, tombstones included, renumbered, without a Prior, with its commit time.", func(w *writer) {
			w.wear()
			var want []websync.Item
			for _, ref := range [][2]string{{"a", uri3}, {"a", uri1}, {"a", uri2}, {"b", uri1}, {"a", uri4}} {
				want = append(want, w.record(ref[0], ref[1]).Item)
			}
			before := w.contents()
			g := w.compact()
			log := suite.Exactly(w, len(want), w.checkLog(), "entries of the new generation")
			for i, it := range log {
				want[i].Seq, want[i].Prior = websync.Seq(i+1), 0
				want[i].Born = it.Born
				w.Same(want[i], it, "entry %d of the new generation: ", i+1)
				w.Same(it, w.record(it.Source, it.Resource.ID).Item, "the record of entry %d: ", i+1)
			}
			w.Same(log, w.changes(websync.Range{Generation: g}), "the new generation, asked by its number: ")
			w.Same(ids(before.Live), ids(w.resources(websync.Range{})), "Resources")
			w.Same(before.Head.Live, w.head().Live, "Head.Live: ")
			w.Same(ids(before.Records), ids(w.contents().Records), "Records")
			numberless := w.record("a", uri5)
			w.ErrorIf(numberless.Seq != 0 || numberless.Kind != websync.Deleted || numberless.Resource.Title != "numberless", "the tombstone without a number: got number %d, %v, %q", numberless.Seq, numberless.Kind, numberless.Resource.Title)
			w.Same("touched", w.record("a", uri3).Resource.Title, "title that a Touch has set")
		}),
		withWriter("compact-keeps", "Compact keeps every field of records and tasks, what is due, checkpoints and State.", func(w *writer) {
			w.wear()
			for i, id := range []string{uri1, uri2, uri4, uri5} {
				r, now := w.filled(100*i, id), w.record("a", id)
				r.Kind = now.Kind
				w.touch(harvest.Change{Base: now.Seq, Record: r})
			}
			tasks := w.filledTasks(4)
			tasks[2].Parked = true
			tasks[3].Kind = harvest.TaskWithheld
			w.send(harvest.Batch{
				Checkpoint: &harvest.Checkpoint{Version: 3, Data: []byte("position")},
				State:      map[string][]byte{"key": []byte("value")},
				Tasks:      tasks,
			})
			before, due := w.contents(), w.due("a", now(), 10)
			suite.Exactly(w, 2, due, "tasks that are due")
			w.compact()
			w.Same(unnumbered(before), unnumbered(w.contents()), "after Compact: ")
			w.Same(ids(due), ids(w.due("a", now(), 10)), "due after Compact: ")
		}),
		withStore("compact-empty", "An empty log can be compacted.", func(s *store) {
			s.compact()
			s.compact()
			s.Same(0, len(s.checkLog()), "entries of the log")
			s.writer("a").create(uri1)
			s.Same(1, len(s.checkLog()), "entries of the log")
		}),
		withWriter("born", "After Compact the Born numbers are dense, in their old order.", func(w *writer) {
			w.wear()
			w.compact()
			live := []string{uri1, uri3, uri4, uri1}
			w.Same(live, ids(w.resources(websync.Range{})), "ids in the order of Born")
			var born []websync.Seq
			for _, it := range w.changes(websync.Range{}) {
				if it.Born > 0 {
					born = append(born, it.Born)
				} else if it.Kind != websync.Deleted {
					w.Errorf("%s is live and has no Born", it.Resource.ID)
				}
			}
			slices.Sort(born)
			for i, n := range born {
				w.FatalIf(n != websync.Seq(i+1), "Born numbers after Compact: got %v, want 1 to %d", born, len(born))
			}
			w.Same(websync.Seq(len(born)), w.head().Born, "Head.Born")
			w.claimAgain()
			w.create("new")
			w.Same(websync.Seq(len(born)+1), w.record("a", "new").Born, "Born of a new id")
			w.Same(append(live, "new"), ids(w.resources(websync.Range{})), "ids in the order of Born")
		}),
		withWriter("old-readable", "The old generation stays as it was until Drop; new entries go to the newest.", func(w *writer) {
			w.wear()
			old, g := suite.Exactly(w, 8, w.changes(websync.Range{}), "entries of the log"), w.head().Generation
			next := w.compact()
			w.Same(old, w.changes(websync.Range{Generation: g}), "the old generation: ")
			w.claimAgain()
			last := w.head().Last
			w.put(w.change(uri1, websync.Updated, "in the new one"), change("new", 0, websync.Created, ""))
			w.Same(old, w.changes(websync.Range{Generation: g}), "the old generation, after a Commit: ")
			w.Same(old[3:5], w.changes(websync.Range{Generation: g, After: 3, Until: 5}), "a part of the old generation: ")
			w.Same(ids(old[6:7]), ids(w.changes(websync.Range{Generation: g, Sources: []string{"b"}})), "a source of the old generation")
			log := suite.Exactly(w, int(last)+2, w.checkLog(), "entries of the log")
			w.Same([]string{uri1, "new"}, ids(log[last:]), "new entries")
			w.Same(len(log), len(w.changes(websync.Range{Generation: next})), "entries of the new generation")
		}),
		withWriter("drop", "Drop removes the generations before the given one and no other; their Changes are ErrNotFound.", func(w *writer) {
			w.wear()
			first := w.head().Generation
			old := w.changes(websync.Range{})
			w.drop(first)
			w.Same(old, w.changes(websync.Range{Generation: first}), "the only generation, after Drop of what is before it: ")
			second := w.compact()
			third := w.compact()
			w.drop(first)
			w.Same(old, w.changes(websync.Range{Generation: first}), "the first generation, after Drop of what is before it: ")
			w.drop(second)
			w.NoGeneration(w, first, "a dropped generation")
			w.Same(5, len(w.changes(websync.Range{Generation: second})), "entries of the second generation")
			w.drop(third)
			w.drop(third)
			w.NoGeneration(w, first, "a dropped generation")
			w.NoGeneration(w, second, "a dropped generation")
			w.Same(5, len(w.checkLog()), "entries of the newest generation")
			w.Same(4, len(w.resources(websync.Range{})), "resources")
			w.Same(5, len(w.records("a", "")), "records")
			w.claimAgain()
			w.create("new")
			w.Same(third, w.head().Generation, "Head.Generation")
		}),
		withWriter("claims-end", "Compact ends all standing claims; their names are free.", func(a *writer) {
			b := a.wear()
			a.compact()
			a.refused(a.c, "a claim from before Compact")
			b.refused(b.c, "another claim from before Compact")
			a.Is(a.Renew(a.Ctx, b.c), harvest.ErrFenced, "Renew a claim from before Compact")
			next := a.claimAfter(a.c, "after Compact")
			a.refused(a.c, "a claim from before Compact, after the next was given")
			a.commit(next, harvest.NewBatch("a"))
		}),
		withWriter("base", "After Compact a change that was planned before it is a conflict, and one planned after it is none.", func(w *writer) {
			w.wear()
			// uri3 had number 3, uri4 had 8; now they have 1 and 5.
			three, four := change(uri3, 3, websync.Updated, "planned before"), change(uri4, 8, websync.Updated, "planned before")
			w.compact()
			w.claimAgain()
			b := w.batch(harvest.Batch{
				Puts:    []harvest.Change{three, w.change(uri1, websync.Updated, "planned after"), change(uri5, 0, websync.Created, "planned before")},
				Touches: []harvest.Change{four},
			})
			w.conflict(b, uri3, uri4)
			b.Puts[0].Base, b.Touches[0].Base = 1, 5
			w.apply(b)
		}),
		withWriter("tasks", "Tasks follow their record: one whose Base was right stays right, one whose Base was wrong stays wrong.", func(w *writer) {
			w.wear()
			// Compact changes the numbers: uri1 5 to 2, uri2 6 to 3, uri3 3 to 1,
			// uri4 8 to 5.
			for id, base := range map[string]websync.Seq{uri1: 5, uri2: 2, uri3: 1, uri4: 5, "unknown": 9} {
				task := task("a", id, now())
				task.Kind, task.Base = harvest.TaskWithheld, base
				w.addTasks(task)
			}
			before := w.tasks("a", "")
			w.compact()
			after := suite.Exactly(w, len(before), w.tasks("a", ""), "tasks")
			for i, task := range after {
				id := task.Resource.ID
				r := w.record("a", id)
				if right := task.Base == r.Seq; right != (id == uri1) {
					w.Errorf("%s: the Base of the task was %d and is %d, the record has number %d now", id, before[i].Base, task.Base, r.Seq)
				}
				task.Base, task.N = before[i].Base, before[i].N
				w.Same(before[i], task, "the task of %s: ", id)
			}
			w.claimAgain()
			w.done(harvest.TaskRef{ID: uri1, N: after[0].N})
			w.Same(4, len(w.tasks("a", "")), "tasks, after one was done")
		}),
		withClock("times-go-on", "Times after Compact go on from the last one, though the clock has stepped back.", func(s *store, now *clock) {
			w := s.writer("a")
			start := now.Now()
			w.create(uri1)
			w.create(uri2)
			now.step(-time.Hour)
			w.compact()
			w.claimAgain()
			w.create(uri3)
			w.hasTimes(microseconds(start, 3))
		}),
		{Name: "compact-inside", Rule: "A loop that began before Compact sees what it would have seen.", Check: func(t *tester) {
			for i := range 4 { // Records, Briefs, Resources, Changes
				s := t.open()
				w := s.writer("a")
				all := w.halfDeleted()
				want := [][]string{all, all, all[600:], slices.Concat(all, all[:600])}[i]
				walk := w.walks(want)[i]
				n := 0
				for id, err := range walk.IDs(t.Ctx) {
					t.OK(err, "%s", walk.Name)
					t.FatalIf(n >= len(want) || id != want[n], "%s after Compact inside its loop: %q at position %d", walk.Name, id, n)
					if n++; n == 10 {
						w.compact()
					}
				}
				t.Same(len(want), n, "number that %s yields", walk.Name)
			}
		}},
		withWriter("drop-inside", "A loop over Changes whose generation is dropped sees all of it or ends in ErrNotFound.", func(w *writer) {
			w.halfDeleted()
			var last websync.Seq
			for it, err := range w.Changes(w.Ctx, websync.Range{}) {
				if err != nil {
					w.Is(err, websync.ErrNotFound, "Changes of a generation that was dropped inside the loop")
					return
				}
				w.FatalIf(it.Seq != last+1, "entry %d comes after entry %d", it.Seq, last)
				if last = it.Seq; last == 10 {
					w.drop(w.compact())
				}
			}
			w.Same(websync.Seq(1800), last, "the last entry")
		}),
		withWriter("compact-beside-commits", "Compact beside Commits loses none that succeeded.", func(w *writer) {
			var done atomic.Bool
			succeeded := 0
			w.Together(2, func(i int) (err error) {
				if i == 0 {
					succeeded, err = w.commitUntil(&done)
					return err
				}
				for n := 0; n < 4 && err == nil; n++ {
					_, err = w.Compact(w.Ctx)
				}
				done.Store(true)
				return err
			})
			w.Same(succeeded, len(w.checkLog()), "entries of the log, compared with Commits that succeeded")
			w.Same(succeeded, len(w.records("a", "")), "records, compared with Commits that succeeded")
			w.Same(int64(succeeded), w.head().Total(), "live records")
		}),
		withWriter("vacuum", "Vacuum removes the bodies that no current record names, and returns their number.", func(w *writer) {
			for i, size := range []int{10, 1 << 20} {
				id := func(name string) string { return fmt.Sprint(name, i) }
				data := make([][]byte, 6)
				for n := range data {
					data[n] = pattern(size, uint64(10*i+n))
				}
				w.keep(id("updated"), data[1])
				w.keep(id("updated"), data[2])
				w.keep(id("deleted"), data[3])
				w.delete(id("deleted"))
				w.keep(id("touched"), data[4])
				w.touchBody(id("touched"), data[5])
				w.keep(id("shared by one that is gone"), data[2])
				w.delete(id("shared by one that is gone"))

				log := w.changes(websync.Range{})
				w.Same(0, w.vacuum(time.Hour), "bodies that Vacuum removed within grace")
				w.holds(data[1:]...)
				w.Same(3, w.vacuum(0), "bodies that Vacuum removed")
				w.lacks(data[1], data[3], data[4])
				w.holds(data[2], data[5])
				w.Same(0, w.vacuum(0), "bodies that Vacuum removed the second time")
				w.Same(log, w.changes(websync.Range{}), "the log after Vacuum: ")
				w.fails(w.c, w.bodyBatch(id("too late"), data[1]), harvest.ErrNoBody, "a Put that names a body which Vacuum has removed")
				w.keep(id("again"), data[1])
				w.holds(data[1])
			}
		}),
		withClock("vacuum-grace", "Vacuum keeps bodies until grace has passed since the last record ceased to name them, whenever they were stored.", func(s *store, now *clock) {
			w := s.writer("a")
			for _, data := range shortAndLong(101) {
				of := func(what string) []byte { return append([]byte(what), data...) }
				for _, id := range []string{"deleted", "touched", "replaced"} {
					w.keep(id, of(id))
				}
				now.step(24 * time.Hour)
				w.delete("deleted")
				w.touch(w.change("touched", websync.Updated, ""))
				w.keep("replaced", of("newer"))
				now.step(59 * time.Minute)
				w.Same(0, w.vacuum(time.Hour), "bodies removed after 59 minutes")
				w.holds(of("deleted"), of("touched"), of("replaced"))
				now.step(2 * time.Minute)
				w.Same(3, w.vacuum(time.Hour), "bodies removed after 61 minutes")
				w.lacks(of("deleted"), of("touched"), of("replaced"))
				w.holds(of("newer"))
				w.delete("replaced")
				w.vacuum(0)
			}
		}),
		withWriter("vacuum-compacted", "Vacuum keeps the bodies of all current records after Compact and Drop.", func(w *writer) {
			old, current := []byte("old"), shortAndLong(47)
			w.keep(uri1, old)
			w.keep(uri1, current[0])
			w.keep(uri2, current[1])
			w.drop(w.compact())
			w.Same(1, w.vacuum(0), "bodies that Vacuum removed")
			w.holds(current...)
			w.lacks(old)
		}),
		withWriter("vacuum-pending", "Vacuum leaves a body that waits for its Commit, also when it removes the same bytes from the Store.", func(w *writer) {
			for _, data := range shortAndLong(53) {
				id := sizeID(data)
				b := w.bodyBatch(id, data, w.body(data))
				w.vacuum(0)
				w.apply(b)
				w.vacuum(0)
				w.holds(data)
				b = w.bodyBatch(id, data, w.body(data))
				b.Puts[0].Base++
				w.delete(id)
				w.Same(1, w.vacuum(0), "bodies that Vacuum removed")
				w.apply(b)
				w.holds(data)
			}
		}),
		withWriter("vacuum-race", "When Vacuum races with a Commit that names the body, the Commit is ErrNoBody or the body is there.", func(w *writer) {
			bodies := [][]byte{[]byte("small"), pattern(300_000, 61)}
			for round := range 12 {
				data := bodies[round%2]
				w.keep(uri1, data)
				w.delete(uri1)
				b := w.bodyBatch(uri1, data)
				w.Together(2, func(i int) error {
					if i == 1 {
						_, err := w.Vacuum(w.Ctx, 0)
						return err
					}
					// The Commit comes at another moment of Vacuum in each round.
					time.Sleep(time.Duration(round) * 100 * time.Microsecond)
					_, err := won(w.tryCommit(w.c, b), harvest.ErrNoBody)
					return err
				})
				if r := w.record("a", uri1); r.Live() {
					w.holds(data)
					w.vacuum(0)
					w.holds(data)
				}
			}
		}),
	}
}

func (s *store) compact() uint64 {
	s.Helper()
	before := s.head().Generation
	g, err := s.Compact(s.Ctx)
	s.OK(err, "Compact")
	s.FatalIf(g <= before, "Compact returned generation %d after %d", g, before)
	s.Same(g, s.head().Generation, "Head.Generation")
	return g
}

func (s *store) drop(before uint64) {
	s.Helper()
	s.OK(s.Drop(s.Ctx, before), "Drop before %d", before)
}

func (s *store) vacuum(grace time.Duration) int {
	s.Helper()
	n, err := s.Vacuum(s.Ctx, grace)
	s.OK(err, "Vacuum")
	return n
}

// claimAgain replaces the claim, which Compact has ended.
func (w *writer) claimAgain() {
	w.Helper()
	w.c = w.claim(w.source)
}

// wear fills the Store with a log that has superseded entries, a tombstone, and a
// tombstone without a number. It returns a writer to its second source.
func (w *writer) wear() (b *writer) {
	w.Helper()
	b = w.writer("b")
	w.create(uri1, uri2, uri3, uri4)
	w.update(uri1, "again")
	w.delete(uri2)
	b.create(uri1)
	w.update(uri4, "again")
	w.touch(w.change(uri3, websync.Updated, "touched"), change(uri5, 0, websync.Deleted, "numberless"))
	return b
}

// unnumbered returns the parts of c that Compact does not change.
func unnumbered(c contents) contents {
	for i := range c.Live {
		c.Live[i].Seq, c.Live[i].Prior = 0, 0
	}
	for i := range c.Records {
		c.Records[i].Seq, c.Records[i].Prior = 0, 0
	}
	for i := range c.Tasks {
		c.Tasks[i].Base, c.Tasks[i].N = 0, 0
	}
	return contents{Live: c.Live, Records: c.Records, Tasks: c.Tasks, Checkpoints: c.Checkpoints, State: c.State}
}

// halfDeleted creates 1,200 ids and deletes the first half. It returns all.
func (w *writer) halfDeleted() []string {
	w.Helper()
	all := w.createMany(1200)
	var puts []harvest.Change
	for i, id := range all[:600] {
		puts = append(puts, change(id, websync.Seq(i+1), websync.Deleted, ""))
	}
	w.put(puts...)
	return all
}

// commitUntil creates one id after the other until done. It claims again whenever it is
// fenced.
func (w *writer) commitUntil(done *atomic.Bool) (succeeded int, err error) {
	for err == nil && (succeeded < 5 || !done.Load()) {
		id := fmt.Sprint(succeeded)
		err = w.tryCommit(w.c, w.batch(harvest.Batch{Puts: []harvest.Change{change(id, 0, websync.Created, "")}}))
		if errors.Is(err, harvest.ErrFenced) {
			w.c, err = w.Claim(w.Ctx, "source/a", time.Hour)
		} else if err == nil {
			succeeded++
		}
	}
	return succeeded, err
}
