package harvest_test

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

func logRules() []rule {
	return []rule{
		withWriter("dense", "Numbers are 1, 2, 3 … over all sources, in the order of the Commits and of the Puts in each.", func(a *writer) {
			b := a.writer("b")
			a.Same(0, len(a.checkLog()), "entries of a new log")
			a.create("3", "1", "2")
			b.create("9", "8")
			a.put(a.change("2", websync.Deleted, ""), a.change("3", websync.Updated, ""))
			log := suite.Exactly(a, 7, a.checkLog(), "entries of the log")
			a.Same([]string{"3", "1", "2", "9", "8", "2", "3"}, ids(log), "ids of the log")
			for _, it := range log[3:] {
				r := a.record(it.Source, it.Resource.ID)
				a.Same(r.Item, it, "the record of %s %s is not its last entry: ", it.Source, it.Resource.ID)
			}
		}),
		withStore("concurrent", "Under concurrent Commits of several sources numbers stay dense and times strictly increasing; a reader that has seen a number never sees a smaller one appear later.", func(s *store) {
			const sources, rounds = 4, 10
			tail := make(chan error, 1)
			go func() { tail <- suite.Safely(func() error { return s.follow(sources * rounds * 3) }) }()
			s.hammer(sources, rounds)
			s.Within("to follow the log", func() error { return <-tail })
			log := suite.Exactly(s, sources*rounds*3, s.checkLog(), "entries of the log")
			next := map[string]int{}
			for i, it := range log {
				s.FatalIf(it.Born != it.Seq, "entry %d, the first of its id, has Born %d", it.Seq, it.Born)
				n := next[it.Source]
				next[it.Source]++
				if want := fmt.Sprintf("%s %d %d", it.Source[len("source "):], n/3, n%3); it.Resource.ID != want {
					s.Fatalf("entry %d of %s is %q, want %q: out of order", n, it.Source, it.Resource.ID, want)
				}
				s.FatalIf(i%3 > 0 && it.Source != log[i-1].Source, "entry %d stands inside a Batch of another source", it.Seq)
			}
			for i := range sources {
				s.Same(int64(rounds*3), s.head().Live["source "+strconv.Itoa(i)], "live records of source %d", i)
			}
		}),
		withClock("times", "The time of an entry is max(clock, last + 1 µs), also within a Batch and after the clock stepped back.", func(s *store, now *clock) {
			w := s.writer("a")
			start := now.Now()
			w.create("1", "2", "3")
			w.create("4")
			later := now.step(time.Second)
			w.create("5", "6")
			now.step(999 * time.Nanosecond)
			w.create("7")
			now.step(-24 * time.Hour)
			w.create("8", "9")
			now.step(-24 * time.Hour)
			w.update("1", "again")
			again := now.step(72 * time.Hour)
			w.delete("2")
			w.hasTimes(slices.Concat(microseconds(start, 4), microseconds(later, 6), []time.Time{again.Truncate(time.Microsecond)}))
		}),
		withWriter("whole-microseconds", "Commit times are whole microseconds in UTC, strictly increasing, and the same in records and log.", func(w *writer) {
			before := time.Now().Truncate(time.Microsecond)
			for i := range 5 {
				w.create(fmt.Sprint(i), fmt.Sprint(i, "b"))
			}
			log := suite.Exactly(w, 10, w.checkLog(), "entries of the log")
			coarse := 0
			for _, it := range log {
				w.Same(it.Time, w.record("a", it.Resource.ID).Time, "time of the record of entry %d", it.Seq)
				if it.Time.Nanosecond()%1_000_000 == 0 {
					coarse++
				}
			}
			if d := log[0].Time.Sub(before); w.options.OpenClock == nil && (d < 0 || d > time.Minute) {
				w.Errorf("the first commit time is %v away from the clock", d)
			}
			if coarse > 5 { // one in a thousand times ends in three zeros by chance
				w.Errorf("%d of %d commit times are whole milliseconds: want microseconds", coarse, len(log))
			}
		}),
		withWriter("born", "Born numbers are dense, and an id keeps its own through deletion and return.", func(a *writer) {
			b := a.writer("b")
			a.create("1", "2")
			b.create("1")
			a.delete("1")
			a.create("3")
			a.create("1")
			a.update("2", "again")
			for i, id := range []string{"1", "2", "3"} {
				a.Same([]websync.Seq{1, 2, 4}[i], a.record("a", id).Born, "Born of %s", id)
			}
			a.Same(websync.Seq(3), b.record("b", "1").Born, "Born of the other source's 1")
			a.Same(websync.Seq(4), a.head().Born, "Head.Born")
			var log []websync.Seq
			for _, it := range a.checkLog() {
				log = append(log, it.Born)
			}
			a.Same([]websync.Seq{1, 2, 3, 1, 4, 1, 2}, log, "Born in the log")
			a.Same([]string{"1", "2", "1", "3"}, ids(a.resources(websync.Range{})), "ids in the order of Born")
		}),
		withWriter("prior", "The Prior of an entry is the number of the state that it replaced, in the log and in the record; 0 if there was none.", func(a *writer) {
			b := a.writer("b")
			a.create("1", "2")
			b.create("1")
			a.delete("1")
			a.touch(a.change("1", websync.Deleted, "touched"), a.change("2", websync.Updated, "touched"), change("3", 0, websync.Deleted, "numberless"))
			a.create("1")
			a.update("2", "again")
			a.create("3")
			var log []websync.Seq
			for _, it := range a.checkLog() {
				log = append(log, it.Prior)
			}
			a.Same([]websync.Seq{0, 0, 0, 1, 4, 2, 0}, log, "Prior in the log")
			a.touch(a.change("1", websync.Updated, "touched"))
			for i, id := range []string{"1", "2", "3"} {
				want := []websync.Seq{4, 2, 0}[i]
				a.Same(want, a.record("a", id).Prior, "Prior of the record of %s", id)
				a.Same(want, a.get("a", id)[0].Prior, "Prior of %s by Get", id)
				a.Same(want, a.resources(websync.Range{Sources: []string{"a"}})[i].Prior, "Prior of %s by Resources", id)
			}
		}),
		withWriter("superseded", "Every Put and deletion stays in the log, each as the description was at that change.", func(w *writer) {
			data := []byte("of the first state")
			first := bodyChange(uri1, 0, "one", data)
			first.Record.At = datetime(w, "2024-05")
			first.Record.Resource.Links = []websync.Link{{Rel: "via", Href: uri2, Length: 12}}
			var want []websync.Item
			for i, c := range []harvest.Change{first,
				change(uri1, 1, websync.Updated, "two"), change(uri1, 2, websync.Deleted, ""), change(uri1, 3, websync.Created, "three"),
			} {
				b := harvest.Batch{Puts: []harvest.Change{c}}
				if i == 0 {
					b.Bodies = []harvest.BodyWriter{w.body(data)}
				}
				w.send(b)
				want = append(want, w.record("a", uri1).Item)
			}
			log := suite.Exactly(w, 4, w.checkLog(), "entries of the log")
			w.Same(want, log, "the log, compared with the record as it was: ")
			bodies := suite.Exactly(w, 1, log[0].Bodies, "bodies of the first entry")
			w.Same(websync.SHA256(data), bodies[0].Key, "the body that the first entry names")
		}),
		withWriter("touch", "A Touch leaves no entry and changes none.", func(w *writer) {
			w.create(uri1, uri2)
			w.delete(uri2)
			before, head := w.checkLog(), w.head()
			w.touch(w.change(uri1, websync.Updated, "touched"), w.change(uri2, websync.Deleted, "touched"), change(uri3, 0, websync.Deleted, "touched"))
			w.Same(before, w.checkLog(), "the log after Touches: ")
			w.Same(head, w.head(), "Head after Touches: ")
			w.Same("touched", w.record("a", uri1).Resource.Title, "title of the record")
			w.create(uri4)
			w.Same(websync.Seq(4), w.record("a", uri4).Seq, "the number after Touches")
			w.Same(websync.Seq(3), w.record("a", uri4).Born, "Born after Touches")
		}),
		withWriter("range", "A Range of Changes yields the entries with After < Seq <= Until of its sources.", func(a *writer) {
			b, c := a.writer("b"), a.writer("c")
			for i := range 4 {
				for _, w := range []*writer{a, b, c} {
					w.create(fmt.Sprint(w.source, i))
				}
			}
			for _, r := range []struct {
				r    websync.Range
				want []string
			}{
				{websync.Range{After: 10}, []string{"b3", "c3"}},
				{websync.Range{Until: 2}, []string{"a0", "b0"}},
				{websync.Range{After: 2, Until: 5}, []string{"c0", "a1", "b1"}},
				{websync.Range{After: 2, Until: 5, Generation: a.head().Generation}, []string{"c0", "a1", "b1"}},
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
				a.Same(r.want, ids(a.changes(r.r)), "Changes of %+v: ", r.r)
			}
		}),
		withWriter("long", "A log of many pages is whole and in order, for all sources and for each.", func(a *writer) {
			all := a.createMany(1200)
			a.writer("b").createMany(3)
			var puts []harvest.Change
			for _, r := range suite.Exactly(a, 1200, a.records("a", ""), "records")[100:200] {
				puts = append(puts, change(r.Resource.ID, r.Seq, websync.Deleted, ""))
			}
			a.put(puts...)
			log := suite.Exactly(a, 1303, a.checkLog(), "entries of the log")
			a.Same(slices.Concat(all, all[100:200]), ids(a.changes(websync.Range{Sources: []string{"a"}})), "the log of one source")
			a.Same(all[:3], ids(a.changes(websync.Range{Sources: []string{"b"}})), "the log of the other source")
			a.Same(log[600:1250], a.changes(websync.Range{After: 600, Until: 1250}), "a part of the log: ")
		}),
	}
}

// hammer commits from n sources at once: rounds batches of three Puts each.
func (s *store) hammer(n, rounds int) {
	s.Helper()
	writers := make([]*writer, n)
	for i := range writers {
		writers[i] = s.writer("source " + strconv.Itoa(i))
	}
	s.Together(n, func(i int) (err error) {
		w := writers[i]
		for round := 0; round < rounds && err == nil; round++ {
			b := w.batch(harvest.Batch{})
			for k := range 3 {
				b.Puts = append(b.Puts, change(fmt.Sprintf("%d %d %d", i, round, k), 0, websync.Created, ""))
			}
			err = s.tryCommit(w.c, b)
		}
		return err
	})
}

// follow reads the log as it grows, up to number last, and checks that each number comes
// once and in order.
func (s *store) follow(last websync.Seq) error {
	var seen websync.Seq
	for end := time.Now().Add(s.Patience); seen < last; {
		if time.Now().After(end) {
			return fmt.Errorf("only %d of %d entries are there", seen, last)
		}
		for it, err := range s.Changes(s.Ctx, websync.Range{After: seen}) {
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

// microseconds returns n times that begin with start, a microsecond apart.
func microseconds(start time.Time, n int) (times []time.Time) {
	for i := range n {
		times = append(times, start.Add(time.Duration(i)*time.Microsecond))
	}
	return times
}

// hasTimes checks the times of the entries of the log.
func (s *store) hasTimes(want []time.Time) {
	s.Helper()
	for i, it := range suite.Exactly(s, len(want), s.checkLog(), "entries of the log") {
		s.Same(want[i], it.Time, "time of entry %d", it.Seq)
	}
}

func datetime(w *writer, s string) websync.Datetime {
	w.Helper()
	d, err := websync.ParseDatetime(s)
	w.OK(err, "ParseDatetime %s", s)
	return d
}
