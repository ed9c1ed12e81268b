package storetest

import (
	"fmt"
	"strconv"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

func logCases() []rule {
	return []rule{
		{Name: "dense", Rule: "Numbers are 1, 2, 3 … over all sources, in the order of the Commits and of the Puts in each.", Check: logDense},
		{Name: "concurrent", Rule: "Under concurrent Commits of several sources numbers stay dense and times strictly increasing.", Check: logConcurrent},
		{Name: "tail", Rule: "A reader that has seen a number never sees a smaller one appear later.", Check: logTail},
		{Name: "times", Rule: "The time of an entry is max(clock, last + 1 µs), also within a Batch.", Lack: aClock, Check: logTimes},
		{Name: "clock-back", Rule: "If the clock steps back, the times of the log still increase.", Lack: aClock, Check: logClockBack},
		{Name: "whole-microseconds", Rule: "Commit times are whole microseconds in UTC, strictly increasing, and the same in records and log.", Check: logWholeMicroseconds},
		{Name: "born", Rule: "Born numbers are dense, and an id keeps its own through deletion and return.", Check: logBorn},
		{Name: "superseded", Rule: "Every Put and deletion stays in the log, each as the description was at that change.", Check: logSuperseded},
		{Name: "touch", Rule: "A Touch leaves no entry and changes none.", Check: logTouch},
		{Name: "range", Rule: "A Range of Changes yields the entries with After < Seq <= Until of its sources.", Check: logRange},
		{Name: "long", Rule: "A log of many pages is whole and in order, for all sources and for each.", Check: logLong},
		{Name: "unknown-generation", Rule: "The Changes of an unknown generation are ErrNotFound.", Check: logUnknownGeneration},
	}
}

// checkLog checks what holds for every log: dense numbers, strictly increasing times, and
// a Head that fits.
func (s *store) checkLog() []websync.Item {
	s.t.Helper()
	log := s.changes(websync.Range{})
	s.t.CheckLog(s.head(), log)
	return log
}

func logDense(t *tester) {
	a := t.open().writer("a")
	b := a.writer("b")
	t.Same(0, len(a.checkLog()), "entries of a new log")
	a.put(change("3", 0, websync.Created, ""), change("1", 0, websync.Created, ""), change("2", 0, websync.Created, ""))
	b.put(change("9", 0, websync.Created, ""), change("8", 0, websync.Created, ""))
	a.put(a.change("2", websync.Deleted, ""), a.change("3", websync.Updated, ""))
	log := suite.Exactly(t, 7, a.checkLog(), "entries of the log")
	t.Same([]string{"3", "1", "2", "9", "8", "2", "3"}, itemIDs(log), "ids of the log")
	for _, it := range log[3:] {
		r := a.record(it.Source, it.Resource.ID)
		t.Same(r.Item, it, "the record of %s %s is not its last entry: ", it.Source, it.Resource.ID)
	}
}

// hammer commits from n sources at once: rounds batches of three Puts each.
func (s *store) hammer(n, rounds int) {
	s.t.Helper()
	writers := make([]*writer, n)
	for i := range writers {
		writers[i] = s.writer("source " + strconv.Itoa(i))
	}
	s.t.Together(n, func(i int) error {
		w := writers[i]
		for round := range rounds {
			b := w.batch()
			for k := range 3 {
				b.Puts = append(b.Puts, change(fmt.Sprintf("%d %d %d", i, round, k), 0, websync.Created, ""))
			}
			if conflicts, err := s.Commit(s.t.Ctx, w.c, b); err != nil || len(conflicts) > 0 {
				return fmt.Errorf("store: Commit: %w, conflicts %q", err, conflicts)
			}
		}
		return nil
	})
}

func logConcurrent(t *tester) {
	s := t.open()
	const sources, rounds = 4, 10
	s.hammer(sources, rounds)
	log := suite.Exactly(t, sources*rounds*3, s.checkLog(), "entries of the log")
	next := map[string]int{}
	for i, it := range log {
		if it.Born != it.Seq {
			t.Fatalf("entry %d, the first of its id, has Born %d", it.Seq, it.Born)
		}
		n := next[it.Source]
		next[it.Source]++
		if want := fmt.Sprintf("%s %d %d", it.Source[len("source "):], n/3, n%3); it.Resource.ID != want {
			t.Fatalf("entry %d of %s is %q, want %q: out of order", n, it.Source, it.Resource.ID, want)
		}
		if i%3 > 0 && it.Source != log[i-1].Source {
			t.Fatalf("entry %d stands inside a Batch of another source", it.Seq)
		}
	}
	for i := range sources {
		t.Same(int64(rounds*3), s.head().Live["source "+strconv.Itoa(i)], "live records of source %d", i)
	}
}

func logTail(t *tester) {
	s := t.open()
	const sources, rounds = 3, 8
	tail := make(chan error, 1)
	go func() { tail <- suite.Safely(func() error { return s.follow(sources * rounds * 3) }) }()
	s.hammer(sources, rounds)
	t.Within("to follow the log", func() error { return <-tail })
}

// follow reads the log as it grows, up to number last, and checks that each number comes
// once and in order.
func (s *store) follow(last websync.Seq) error {
	var seen websync.Seq
	for give := time.Now().Add(s.t.Patience); seen < last; {
		if time.Now().After(give) {
			return fmt.Errorf("only %d of %d entries are there", seen, last)
		}
		for it, err := range s.Changes(s.t.Ctx, websync.Range{After: seen}) {
			if err != nil {
				return err
			}
			if it.Seq != seen+1 {
				return fmt.Errorf("entry %d came after entry %d", it.Seq, seen)
			}
			seen = it.Seq
		}
	}
	return nil
}

func logTimes(t *tester) {
	now := newClock()
	w := t.openClock(now).writer("a")
	start := now.Now()
	w.put(change("1", 0, websync.Created, ""), change("2", 0, websync.Created, ""), change("3", 0, websync.Created, ""))
	w.put(change("4", 0, websync.Created, ""))
	later := now.step(time.Second)
	w.put(change("5", 0, websync.Created, ""), change("6", 0, websync.Created, ""))
	now.step(999 * time.Nanosecond)
	w.create("7")
	want := []time.Time{
		start, start.Add(1 * time.Microsecond), start.Add(2 * time.Microsecond), start.Add(3 * time.Microsecond),
		later, later.Add(1 * time.Microsecond), later.Add(2 * time.Microsecond),
	}
	for i, it := range suite.Exactly(t, len(want), w.checkLog(), "entries of the log") {
		t.Same(want[i], it.Time, "time of entry %d", it.Seq)
	}
}

func logClockBack(t *tester) {
	now := newClock()
	w := t.openClock(now).writer("a")
	start := now.Now()
	w.create("1")
	now.step(-24 * time.Hour)
	w.put(change("2", 0, websync.Created, ""), change("3", 0, websync.Created, ""))
	now.step(-24 * time.Hour)
	w.update("1", "again")
	back := now.step(72 * time.Hour)
	w.delete("2")
	want := []time.Time{
		start, start.Add(1 * time.Microsecond), start.Add(2 * time.Microsecond), start.Add(3 * time.Microsecond), back,
	}
	for i, it := range suite.Exactly(t, len(want), w.checkLog(), "entries of the log") {
		t.Same(want[i], it.Time, "time of entry %d", it.Seq)
	}
}

func logWholeMicroseconds(t *tester) {
	w := t.open().writer("a")
	before := time.Now().Truncate(time.Microsecond)
	for i := range 5 {
		w.put(change(fmt.Sprint(i), 0, websync.Created, ""), change(fmt.Sprint(i, "b"), 0, websync.Created, ""))
	}
	log := suite.Exactly(t, 10, w.checkLog(), "entries of the log")
	for _, it := range log {
		t.Same(it.Time, w.record("a", it.Resource.ID).Time, "time of the record of entry %d", it.Seq)
	}
	if d := log[0].Time.Sub(before); t.options.OpenClock == nil && (d < 0 || d > time.Minute) {
		t.Errorf("the first commit time is %v away from the clock", d)
	}
	// At most one in a thousand times ends in three zeros by chance.
	coarse := 0
	for _, it := range log {
		if it.Time.Nanosecond()%1_000_000 == 0 {
			coarse++
		}
	}
	if coarse > 5 {
		t.Errorf("%d of %d commit times are whole milliseconds: want microseconds", coarse, len(log))
	}
}

func logBorn(t *tester) {
	a := t.open().writer("a")
	b := a.writer("b")
	a.put(change("1", 0, websync.Created, ""), change("2", 0, websync.Created, ""))
	b.put(change("1", 0, websync.Created, ""))
	a.delete("1")
	a.create("3")
	a.create("1")
	a.update("2", "again")
	born := func(source, id string, want websync.Seq) {
		t.Helper()
		if got := a.record(source, id).Born; got != want {
			t.Errorf("%s of %s: Born is %d, want %d", id, source, got, want)
		}
	}
	born("a", "1", 1)
	born("a", "2", 2)
	born("b", "1", 3)
	born("a", "3", 4)
	t.Same(websync.Seq(4), a.head().Born, "Head.Born")
	var log []websync.Seq
	for _, it := range a.checkLog() {
		log = append(log, it.Born)
	}
	t.Same([]websync.Seq{1, 2, 3, 1, 4, 1, 2}, log, "Born in the log")
	t.Same([]string{"1", "2", "1", "3"}, itemIDs(a.resources(websync.Range{})), "ids in the order of Born")
}

func logSuperseded(t *tester) {
	w := t.open().writer("a")
	data := []byte("of the first state")
	b := w.batch()
	b.Puts = []harvest.Change{bodyChange(uri1, 0, "one", websync.SHA256(data))}
	b.Puts[0].Record.At = date(t, "2024-05")
	b.Puts[0].Record.Resource.Links = []websync.Link{{Rel: "via", Href: uri2, Length: 12}}
	b.Bodies = []harvest.BodyWriter{w.body(data)}
	w.apply(b)
	var want []websync.Item
	keep := func() { want = append(want, w.record("a", uri1).Item) }
	keep()
	w.update(uri1, "two")
	keep()
	w.delete(uri1)
	keep()
	w.put(w.change(uri1, websync.Created, "three"))
	keep()
	log := suite.Exactly(t, 4, w.checkLog(), "entries of the log")
	t.Same(want, log, "the log, compared with the record as it was: ")
	bodies := suite.Exactly(t, 1, log[0].Bodies, "bodies of the first entry")
	t.Same(websync.SHA256(data), bodies[0].Key, "the body that the first entry names")
}

func date(t *tester, s string) websync.Datetime {
	t.Helper()
	d, err := websync.ParseDatetime(s)
	t.OK(err, "ParseDatetime %s", s)
	return d
}

func logTouch(t *tester) {
	w := t.open().writer("a")
	w.put(change(uri1, 0, websync.Created, "one"), change(uri2, 0, websync.Created, "two"))
	w.delete(uri2)
	before, head := w.checkLog(), w.head()
	w.touch(w.change(uri1, websync.Updated, "touched"), w.change(uri2, websync.Deleted, "touched"), change(uri3, 0, websync.Deleted, "touched"))
	t.Same(before, w.checkLog(), "the log after Touches: ")
	t.Same(head, w.head(), "Head after Touches: ")
	t.Same([]string{"touched"}, []string{w.record("a", uri1).Resource.Title}, "title of the record")
	w.create(uri4)
	t.Same(websync.Seq(4), w.record("a", uri4).Seq, "the number after Touches")
	t.Same(websync.Seq(3), w.record("a", uri4).Born, "Born after Touches")
}

func logRange(t *tester) {
	a := t.open().writer("a")
	b := a.writer("b")
	c := a.writer("c")
	for i := range 4 {
		a.create(fmt.Sprintf("a%d", i))
		b.create(fmt.Sprintf("b%d", i))
		c.create(fmt.Sprintf("c%d", i))
	}
	g := a.head().Generation
	for _, r := range []struct {
		r    websync.Range
		want []string
	}{
		{websync.Range{After: 10}, []string{"b3", "c3"}},
		{websync.Range{Until: 2}, []string{"a0", "b0"}},
		{websync.Range{After: 2, Until: 5}, []string{"c0", "a1", "b1"}},
		{websync.Range{After: 2, Until: 5, Generation: g}, []string{"c0", "a1", "b1"}},
		{websync.Range{After: 5, Until: 5}, nil},
		{websync.Range{After: 6, Until: 5}, nil},
		{websync.Range{After: 12}, nil},
		{websync.Range{After: 1 << 62}, nil},
		{websync.Range{After: 11, Until: 1 << 62}, []string{"c3"}},
		{websync.Range{Sources: []string{"b"}}, []string{"b0", "b1", "b2", "b3"}},
		{websync.Range{Sources: []string{"c", "a"}, After: 3, Until: 9}, []string{"a1", "c1", "a2", "c2"}},
		{websync.Range{Sources: []string{"a", "a", "unknown"}, Until: 4}, []string{"a0", "a1"}},
		{websync.Range{Sources: []string{"unknown"}}, nil},
	} {
		t.Same(r.want, itemIDs(a.changes(r.r)), "Changes of %+v: ", r.r)
	}
}

func logLong(t *tester) {
	a := t.open().writer("a")
	b := a.writer("b")
	ids := a.createMany(1200)
	b.createMany(3)
	batch := a.batch()
	for _, r := range suite.Exactly(t, 1200, a.records("a", ""), "records")[100:200] {
		batch.Puts = append(batch.Puts, change(r.Resource.ID, r.Seq, websync.Deleted, ""))
	}
	a.apply(batch)
	log := suite.Exactly(t, 1303, a.checkLog(), "entries of the log")
	t.Same(append(ids[:1200:1200], ids[100:200]...), itemIDs(a.changes(websync.Range{Sources: []string{"a"}})), "the log of one source")
	t.Same(ids[:3], itemIDs(a.changes(websync.Range{Sources: []string{"b"}})), "the log of the other source")
	t.Same(log[600:1250], a.changes(websync.Range{After: 600, Until: 1250}), "a part of the log: ")
}

func logUnknownGeneration(t *tester) {
	w := t.open().writer("a")
	w.create(uri1)
	g := w.head().Generation
	if g == 0 {
		t.Fatal("Head.Generation is 0, which means the newest")
	}
	t.Same([]string{uri1}, itemIDs(w.changes(websync.Range{Generation: g})), "Changes of the newest generation")
	t.NoGeneration(w, g+7, "an unknown generation")
}
