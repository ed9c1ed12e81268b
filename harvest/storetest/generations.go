package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

func generationCases() []rule {
	return []rule{
		{Name: "compact", Rule: "Compact writes a new generation: the latest state of every id, tombstones included, renumbered, with its commit time.", Check: generationCompact},
		{Name: "compact-keeps", Rule: "Compact keeps every field of records and tasks, what is due, checkpoints and State.", Check: generationKeeps},
		{Name: "compact-empty", Rule: "An empty log can be compacted.", Check: generationCompactEmpty},
		{Name: "born", Rule: "After Compact the Born numbers are dense, in their old order.", Check: generationBorn},
		{Name: "old-readable", Rule: "The old generation stays as it was until Drop; new entries go to the newest.", Check: generationOldReadable},
		{Name: "drop", Rule: "Drop removes the generations before the given one and no other; their Changes are ErrNotFound.", Check: generationDrop},
		{Name: "claims-end", Rule: "Compact ends all standing claims; their names are free.", Check: generationClaimsEnd},
		{Name: "base", Rule: "After Compact a change that was planned before it is a conflict, and one planned after it is none.", Check: generationBase},
		{Name: "tasks", Rule: "Tasks follow their record: one whose Base was right stays right, one whose Base was wrong stays wrong.", Check: generationTasks},
		{Name: "times-go-on", Rule: "Times after Compact go on from the last one, though the clock has stepped back.", Lack: aClock, Check: generationTimesGoOn},
		{Name: "compact-inside", Rule: "A loop that began before Compact sees what it would have seen.", Check: generationCompactInside},
		{Name: "drop-inside", Rule: "A loop over Changes whose generation is dropped sees all of it or ends in ErrNotFound.", Check: generationDropInside},
		{Name: "compact-beside-commits", Rule: "Compact beside Commits loses none that succeeded.", Check: generationCompactBesideCommits},
		{Name: "vacuum", Rule: "Vacuum removes the bodies that no current record names, and returns their number.", Check: generationVacuum},
		{Name: "vacuum-grace", Rule: "Vacuum keeps bodies that have been unnamed for less than grace.", Lack: aClock, Check: generationVacuumGrace},
		{Name: "vacuum-grace-unnamed", Rule: "Grace begins when the last record ceases to name the body, not when it was stored.", Lack: aClock, Check: generationVacuumGraceUnnamed},
		{Name: "vacuum-compacted", Rule: "Vacuum keeps the bodies of all current records after Compact and Drop.", Check: generationVacuumCompacted},
		{Name: "vacuum-pending", Rule: "Vacuum leaves a body that waits for its Commit.", Check: generationVacuumPending},
		{Name: "vacuum-pending-same", Rule: "A body that waits for its Commit is safe, also when the Store had the same bytes and Vacuum removed them.", Check: generationVacuumPendingSame},
		{Name: "vacuum-race", Rule: "When Vacuum races with a Commit that names the body, the Commit is ErrNoBody or the body is there.", Check: generationVacuumRace},
	}
}

func (s *store) compact() uint64 {
	s.t.Helper()
	m := s.maintainer()
	before := s.head().Generation
	g, err := m.Compact(s.t.Ctx)
	s.t.OK(err, "Compact")
	if g <= before {
		s.t.Fatalf("Compact returned generation %d after %d", g, before)
	}
	s.t.Same(g, s.head().Generation, "Head.Generation")
	return g
}

func (s *store) drop(before uint64) {
	s.t.Helper()
	s.t.OK(s.maintainer().Drop(s.t.Ctx, before), "Drop before %d", before)
}

func (s *store) vacuum(grace time.Duration) int {
	s.t.Helper()
	n, err := s.maintainer().Vacuum(s.t.Ctx, grace)
	s.t.OK(err, "Vacuum")
	return n
}

// worn returns writers to two sources whose log has superseded entries, a tombstone, and
// a tombstone without a number.
func (t *tester) worn() (a, b *writer) {
	t.Helper()
	s := t.open()
	s.maintainer()
	a, b = s.writer("a"), s.writer("b")
	for _, id := range []string{uri1, uri2, uri3, uri4} {
		a.create(id)
	}
	a.update(uri1, "again")
	a.delete(uri2)
	b.create(uri1)
	a.update(uri4, "again")
	a.touch(a.change(uri3, websync.Updated, "touched"), change(uri5, 0, websync.Deleted, "numberless"))
	return a, b
}

func generationCompact(t *tester) {
	w, _ := t.worn()
	var want []websync.Item
	for _, ref := range [][2]string{{"a", uri3}, {"a", uri1}, {"a", uri2}, {"b", uri1}, {"a", uri4}} {
		want = append(want, w.record(ref[0], ref[1]).Item)
	}
	before := w.contents([]string{"a", "b"}, nil)
	g := w.compact()
	log := w.checkLog()
	for i, it := range log {
		if i >= len(want) {
			t.Fatalf("the new generation has %d entries, want %d", len(log), len(want))
		}
		want[i].Seq = websync.Seq(i + 1)
		want[i].Born = it.Born
		t.Same(want[i], it, "entry %d of the new generation: ", i+1)
		t.Same(it, w.record(it.Source, it.Resource.ID).Item, "the record of entry %d: ", i+1)
	}
	t.Same(len(want), len(log), "entries of the new generation")
	t.Same(log, w.changes(websync.Range{Generation: g}), "the new generation, asked by its number: ")
	t.Same(itemIDs(before.Live), itemIDs(w.resources(websync.Range{})), "Resources")
	t.Same(before.Head.Live, w.head().Live, "Head.Live: ")
	t.Same(recordIDs(before.Records["a"]), recordIDs(w.records("a", "")), "Records")
	numberless := w.record("a", uri5)
	if numberless.Seq != 0 || numberless.Kind != websync.Deleted || numberless.Resource.Title != "numberless" {
		t.Errorf("the tombstone without a number: got number %d, %v, %q", numberless.Seq, numberless.Kind, numberless.Resource.Title)
	}
	t.Same("touched", w.record("a", uri3).Resource.Title, "title that a Touch has set")
}

func generationKeeps(t *tester) {
	w, _ := t.worn()
	for i, id := range []string{uri1, uri2, uri4} {
		r := t.filled(100*i, id)
		r.Kind = w.record("a", id).Kind
		w.touch(harvest.Change{Base: w.record("a", id).Seq, Record: r})
	}
	numberless := t.filled(300, uri5)
	numberless.Kind = websync.Deleted
	w.touch(harvest.Change{Record: numberless})
	b := w.batch()
	b.Checkpoint = &harvest.Checkpoint{Version: 3, Data: []byte("position")}
	b.State = map[string][]byte{"key": []byte("value")}
	for i := range 4 {
		var task harvest.Task
		suite.Fill(t, 400+100*i, &task)
		task.Source, task.Resource.ID, task.N = "a", fmt.Sprint(i), 0
		task.Kind, task.Parked = harvest.TaskGet, i == 2
		if i == 3 {
			task.Kind = harvest.TaskWithheld
		}
		b.Tasks = append(b.Tasks, task)
	}
	w.apply(b)
	keys := []string{"key"}
	before, due := w.contents([]string{"a", "b"}, keys), w.due("a", now(), 10)
	suite.Exactly(t, 2, due, "tasks that are due")
	w.compact()
	after := w.contents([]string{"a", "b"}, keys)
	t.Same(unnumbered(before), unnumbered(after), "after Compact: ")
	t.Same(taskIDs(due), taskIDs(w.due("a", now(), 10)), "due after Compact: ")
}

// unnumbered returns the parts of c that Compact does not change.
func unnumbered(c contents) contents {
	c.Head, c.Log = websync.Head{}, nil
	for i := range c.Live {
		c.Live[i].Seq = 0
	}
	for source := range c.Records {
		for i := range c.Records[source] {
			c.Records[source][i].Seq = 0
		}
		for i := range c.Tasks[source] {
			c.Tasks[source][i].Base, c.Tasks[source][i].N = 0, 0
		}
	}
	return c
}

func generationCompactEmpty(t *tester) {
	s := t.open()
	s.maintainer()
	s.compact()
	s.compact()
	t.Same(0, len(s.checkLog()), "entries of the log")
	w := s.writer("a")
	w.create(uri1)
	t.Same(1, len(s.checkLog()), "entries of the log")
}

func generationBorn(t *tester) {
	w, _ := t.worn()
	w.compact()
	t.Same([]string{uri1, uri3, uri4, uri1}, itemIDs(w.resources(websync.Range{})), "ids in the order of Born")
	var born []websync.Seq
	for _, it := range w.changes(websync.Range{}) {
		if it.Born > 0 {
			born = append(born, it.Born)
		} else if it.Kind != websync.Deleted {
			t.Errorf("%s is live and has no Born", it.Resource.ID)
		}
	}
	slices.Sort(born)
	for i, n := range born {
		if n != websync.Seq(i+1) {
			t.Fatalf("Born numbers after Compact: got %v, want 1 to %d", born, len(born))
		}
	}
	t.Same(websync.Seq(len(born)), w.head().Born, "Head.Born")
	w.c = w.claim("a")
	w.create("new")
	t.Same(websync.Seq(len(born)+1), w.record("a", "new").Born, "Born of a new id")
	t.Same([]string{uri1, uri3, uri4, uri1, "new"}, itemIDs(w.resources(websync.Range{})), "ids in the order of Born")
}

func generationOldReadable(t *tester) {
	w, _ := t.worn()
	old, g := suite.Exactly(t, 8, w.changes(websync.Range{}), "entries of the log"), w.head().Generation
	next := w.compact()
	t.Same(old, w.changes(websync.Range{Generation: g}), "the old generation: ")
	w.c = w.claim("a")
	last := w.head()
	w.put(w.change(uri1, websync.Updated, "in the new one"), change("new", 0, websync.Created, ""))
	t.Same(old, w.changes(websync.Range{Generation: g}), "the old generation, after a Commit: ")
	t.Same(old[3:5], w.changes(websync.Range{Generation: g, After: 3, Until: 5}), "a part of the old generation: ")
	t.Same(itemIDs(old[6:7]), itemIDs(w.changes(websync.Range{Generation: g, Sources: []string{"b"}})), "a source of the old generation")
	log := suite.Exactly(t, int(last.Last)+2, w.checkLog(), "entries of the log")
	t.Same([]string{uri1, "new"}, itemIDs(log[last.Last:]), "new entries")
	t.Same(len(log), len(w.changes(websync.Range{Generation: next})), "entries of the new generation")
}

func generationDrop(t *tester) {
	w, _ := t.worn()
	first := w.head().Generation
	old := w.changes(websync.Range{})
	w.drop(first)
	t.Same(old, w.changes(websync.Range{Generation: first}), "the only generation, after Drop of what is before it: ")
	second := w.compact()
	third := w.compact()
	w.drop(first)
	t.Same(old, w.changes(websync.Range{Generation: first}), "the first generation, after Drop of what is before it: ")
	w.drop(second)
	t.NoGeneration(w, first, "a dropped generation")
	t.Same(5, len(w.changes(websync.Range{Generation: second})), "entries of the second generation")
	w.drop(third)
	w.drop(third)
	t.NoGeneration(w, first, "a dropped generation")
	t.NoGeneration(w, second, "a dropped generation")
	t.Same(5, len(w.checkLog()), "entries of the newest generation")
	t.Same(4, len(w.resources(websync.Range{})), "resources")
	t.Same(5, len(w.records("a", "")), "records")
	w.c = w.claim("a")
	w.create("new")
	t.Same(third, w.head().Generation, "Head.Generation")
}

func generationClaimsEnd(t *tester) {
	a, b := t.worn()
	a.compact()
	a.refused(a.c, "a claim from before Compact")
	b.refused(b.c, "another claim from before Compact")
	t.Is(a.Renew(t.Ctx, b.c), harvest.ErrFenced, "Renew a claim from before Compact")
	next := a.claim("a")
	if next.Epoch <= a.c.Epoch {
		t.Errorf("claimed after Compact: Epoch %d after %d", next.Epoch, a.c.Epoch)
	}
	a.refused(a.c, "a claim from before Compact, after the next was given")
	a.commit(next, a.batch())
}

func generationBase(t *tester) {
	w, _ := t.worn()
	// uri3 had number 3, uri4 had 8; now they have 1 and 5.
	three, four := change(uri3, 3, websync.Updated, "planned before"), change(uri4, 8, websync.Updated, "planned before")
	w.compact()
	w.c = w.claim("a")
	b := w.batch()
	b.Puts = []harvest.Change{three, w.change(uri1, websync.Updated, "planned after"), change(uri5, 0, websync.Created, "planned before")}
	b.Touches = []harvest.Change{four}
	conflicts, err := w.Commit(t.Ctx, w.c, b)
	t.OK(err, "Commit")
	t.Same([]string{uri3, uri4}, sorted(conflicts), "conflicts")
	b.Puts[0].Base, b.Touches[0].Base = 1, 5
	w.apply(b)
}

func generationTasks(t *tester) {
	w, _ := t.worn()
	task := func(id string, base websync.Seq) harvest.Task {
		task := task("a", id, now())
		task.Kind, task.Base = harvest.TaskWithheld, base
		return task
	}
	// uri1 has number 5 and gets 2, uri2 has 6 and gets 3, uri3 has 3 and gets 1; uri4
	// has 8 and gets 5.
	w.addTasks(task(uri1, 5), task(uri2, 2), task(uri3, 1), task(uri4, 5), task("unknown", 9))
	before := w.tasks("a", "")
	w.compact()
	after := suite.Exactly(t, len(before), w.tasks("a", ""), "tasks")
	t.Same(taskIDs(before), taskIDs(after), "Tasks")
	for i, task := range after {
		id := task.Resource.ID
		r := w.record("a", id)
		if right := task.Base == r.Seq; right != (id == uri1) {
			t.Errorf("%s: the Base of the task was %d and is %d, the record has number %d now", id, before[i].Base, task.Base, r.Seq)
		}
		task.Base, task.N = before[i].Base, before[i].N
		t.Same(before[i], task, "the task of %s: ", id)
	}
	w.c = w.claim("a")
	w.done(harvest.TaskRef{ID: uri1, N: after[0].N})
	t.Same(4, len(w.tasks("a", "")), "tasks, after one was done")
}

func generationTimesGoOn(t *tester) {
	now := newClock()
	w := t.openClock(now).writer("a")
	w.maintainer()
	start := now.Now()
	w.create(uri1)
	w.create(uri2)
	now.step(-time.Hour)
	w.compact()
	w.c = w.claim("a")
	w.create(uri3)
	for i, it := range w.checkLog() {
		t.Same(start.Add(time.Duration(i)*time.Microsecond), it.Time, "time of entry %d", i+1)
	}
}

// halfDeleted returns a writer to a Store of 1,200 ids, of which the first half is
// deleted.
func (t *tester) halfDeleted() (w *writer, ids []string) {
	t.Helper()
	s := t.open()
	s.maintainer()
	w = s.writer("a")
	ids = w.createMany(1200)
	b := w.batch()
	for i, id := range ids[:600] {
		b.Puts = append(b.Puts, change(id, websync.Seq(i+1), websync.Deleted, ""))
	}
	w.apply(b)
	return w, ids
}

func generationCompactInside(t *tester) {
	for i := range 3 { // Records, Resources, Changes
		w, ids := t.halfDeleted()
		walk := w.walks(nil)[i]
		want := [][]string{ids, ids[600:], append(ids[:1200:1200], ids[:600]...)}[i]
		n := 0
		for id, err := range walk.IDs(t.Ctx) {
			t.OK(err, "%s", walk.Name)
			if n >= len(want) || id != want[n] {
				t.Fatalf("%s after Compact inside its loop: %q at position %d", walk.Name, id, n)
			}
			if n++; n == 10 {
				w.compact()
			}
		}
		t.Same(len(want), n, "number that %s yields", walk.Name)
	}
}

func generationDropInside(t *tester) {
	w, _ := t.halfDeleted()
	var last websync.Seq
	for it, err := range w.Changes(t.Ctx, websync.Range{}) {
		if err != nil {
			t.Is(err, websync.ErrNotFound, "Changes of a generation that was dropped inside the loop")
			return
		}
		if it.Seq != last+1 {
			t.Fatalf("entry %d comes after entry %d", it.Seq, last)
		}
		if last = it.Seq; last == 10 {
			w.drop(w.compact())
		}
	}
	t.Same(websync.Seq(1800), last, "the last entry")
}

func generationCompactBesideCommits(t *tester) {
	s := t.open()
	m := s.maintainer()
	var done atomic.Bool
	succeeded := 0
	t.Together(2, func(i int) (err error) {
		if i == 1 {
			for n := 0; n < 4 && err == nil; n++ {
				_, err = m.Compact(t.Ctx)
			}
			done.Store(true)
			return err
		}
		succeeded, err = s.commitOn(&done)
		return err
	})
	log := s.checkLog()
	t.Same(succeeded, len(log), "entries of the log, compared with Commits that succeeded")
	t.Same(succeeded, len(s.records("a", "")), "records, compared with Commits that succeeded")
	t.Same(int64(succeeded), s.head().Total(), "live records")
}

// commitOn creates one id after the other, claiming again whenever it is fenced, until
// done.
func (s *store) commitOn(done *atomic.Bool) (succeeded int, err error) {
	c, err := s.Claim(s.t.Ctx, "source/a", time.Hour)
	for err == nil && (succeeded < 5 || !done.Load()) {
		b := harvest.NewBatch("a")
		b.Puts = []harvest.Change{change(fmt.Sprint(succeeded), 0, websync.Created, "")}
		var conflicts []string
		switch conflicts, err = s.Commit(s.t.Ctx, c, b); {
		case errors.Is(err, harvest.ErrFenced):
			c, err = s.Claim(s.t.Ctx, "source/a", time.Hour)
		case len(conflicts) > 0:
			err = fmt.Errorf("conflicts %q", conflicts)
		case err == nil:
			succeeded++
		}
	}
	return succeeded, err
}

// gone checks that the Store no longer has data.
func (s *store) gone(data []byte) {
	s.t.Helper()
	_, err := s.read(websync.SHA256(data))
	s.t.Is(err, websync.ErrNotFound, "Open a body of %d bytes that Vacuum has removed", len(data))
}

func generationVacuum(t *tester) {
	w := t.open().writer("a")
	w.maintainer()
	for i, size := range []int{10, 1 << 20} {
		id := func(name string) string { return fmt.Sprint(name, i) }
		data := func(n int) []byte { return pattern(size, uint64(10*i+n)) }
		w.keep(id("updated"), data(1))
		w.keep(id("updated"), data(2))
		w.keep(id("deleted"), data(3))
		w.delete(id("deleted"))
		w.keep(id("touched"), data(4))
		b := w.batch()
		b.Touches = []harvest.Change{bodyChange(id("touched"), w.record("a", id("touched")).Seq, "", websync.SHA256(data(5)))}
		b.Bodies = []harvest.BodyWriter{w.body(data(5))}
		w.apply(b)
		w.keep(id("shared by one that is gone"), data(2))
		w.delete(id("shared by one that is gone"))

		log := w.changes(websync.Range{})
		t.Same(0, w.vacuum(time.Hour), "bodies that Vacuum removed within grace")
		for n := 1; n <= 5; n++ {
			w.holds(data(n))
		}
		t.Same(3, w.vacuum(0), "bodies that Vacuum removed")
		for _, n := range []int{1, 3, 4} {
			w.gone(data(n))
		}
		w.holds(data(2))
		w.holds(data(5))
		t.Same(0, w.vacuum(0), "bodies that Vacuum removed the second time")
		t.Same(log, w.changes(websync.Range{}), "the log after Vacuum: ")
		b = w.batch()
		b.Puts = []harvest.Change{bodyChange(id("too late"), 0, "", websync.SHA256(data(1)))}
		_, err := w.Commit(t.Ctx, w.c, b)
		t.Is(err, harvest.ErrNoBody, "a Put that names a body which Vacuum has removed")
		w.keep(id("again"), data(1))
		w.holds(data(1))
	}
}

func generationVacuumGrace(t *tester) {
	clock := newClock()
	w := t.openClock(clock).writer("a")
	w.maintainer()
	for _, size := range []int{10, 1 << 20} {
		old, current := pattern(size, 41), pattern(size, 43)
		w.keep(fmt.Sprint(size), old)
		w.keep(fmt.Sprint(size), current)
		clock.step(59 * time.Minute)
		t.Same(0, w.vacuum(time.Hour), "bodies removed after 59 minutes")
		w.holds(old)
		clock.step(2 * time.Hour)
		t.Same(1, w.vacuum(time.Hour), "bodies removed after three hours")
		w.gone(old)
		w.holds(current)
	}
}

func generationVacuumGraceUnnamed(t *tester) {
	clock := newClock()
	w := t.openClock(clock).writer("a")
	w.maintainer()
	for _, size := range []int{10, 1 << 20} {
		put, touched := pattern(size, 101), pattern(size, 103)
		w.keep(fmt.Sprint("put ", size), put)
		w.keep(fmt.Sprint("touched ", size), touched)
		clock.step(24 * time.Hour)
		w.delete(fmt.Sprint("put ", size))
		w.touch(w.change(fmt.Sprint("touched ", size), websync.Updated, ""))
		clock.step(30 * time.Minute)
		t.Same(0, w.vacuum(time.Hour), "bodies removed half an hour after records ceased to name them")
		w.holds(put)
		w.holds(touched)
		clock.step(time.Hour)
		t.Same(2, w.vacuum(time.Hour), "bodies removed an hour and a half after records ceased to name them")
		w.gone(put)
		w.gone(touched)
	}
}

func generationVacuumCompacted(t *tester) {
	w := t.open().writer("a")
	w.maintainer()
	small, large, old := []byte("small"), pattern(1<<20, 47), []byte("old")
	w.keep(uri1, old)
	w.keep(uri1, small)
	w.keep(uri2, large)
	w.drop(w.compact())
	t.Same(1, w.vacuum(0), "bodies that Vacuum removed")
	w.holds(small)
	w.holds(large)
	w.gone(old)
}

func generationVacuumPending(t *tester) {
	w := t.open().writer("a")
	w.maintainer()
	for _, data := range [][]byte{[]byte("small"), pattern(1<<20, 53)} {
		b := w.batch()
		b.Puts = []harvest.Change{bodyChange(fmt.Sprint(len(data)), 0, "", websync.SHA256(data))}
		b.Bodies = []harvest.BodyWriter{w.body(data)}
		w.vacuum(0)
		w.apply(b)
		w.vacuum(0)
		w.holds(data)
	}
}

func generationVacuumPendingSame(t *tester) {
	w := t.open().writer("a")
	w.maintainer()
	for _, data := range [][]byte{[]byte("small"), pattern(1<<20, 59)} {
		id := fmt.Sprint(len(data))
		w.keep(id, data)
		b := w.batch()
		b.Puts = []harvest.Change{bodyChange(id, w.record("a", id).Seq+1, "back", websync.SHA256(data))}
		b.Bodies = []harvest.BodyWriter{w.body(data)}
		w.delete(id)
		t.Same(1, w.vacuum(0), "bodies that Vacuum removed")
		w.apply(b)
		w.holds(data)
	}
}

func generationVacuumRace(t *tester) {
	w := t.open().writer("a")
	m := w.maintainer()
	small, large := []byte("small"), pattern(300_000, 61)
	for round := range 12 {
		data := [][]byte{small, large}[round%2]
		w.keep(uri1, data)
		w.delete(uri1)
		b := w.batch()
		b.Puts = []harvest.Change{bodyChange(uri1, w.record("a", uri1).Seq, "", websync.SHA256(data))}
		t.Together(2, func(i int) error {
			if i == 1 {
				_, err := m.Vacuum(t.Ctx, 0)
				return err
			}
			// to meet it elsewhere each time
			time.Sleep(time.Duration(round) * 100 * time.Microsecond)
			_, err := w.Commit(t.Ctx, w.c, b)
			if errors.Is(err, harvest.ErrNoBody) {
				return nil
			}
			return err
		})
		if r := w.record("a", uri1); r.Live() {
			w.holds(data)
			w.vacuum(0)
			w.holds(data)
		}
	}
}
