package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

func iteratorRules() []rule {
	return []rule{
		withStore("empty", "Nothing to yield is no error.", func(s *store) {
			for _, walk := range s.walks(nil) {
				for id, err := range walk.IDs(s.Ctx) {
					s.Errorf("%s of an empty Store yields %q, %v", walk.Name, id, err)
				}
			}
			s.Same(websync.Head{Generation: s.head().Generation}, s.head(), "Head of an empty Store")
			s.Same(0, len(s.due("a", now(), 10)), "due tasks of an empty Store")
		}),
		withWriter("inside", "Any method may be called inside the loop.", func(w *writer) { w.Inside(w.walks(w.stock(5)), w.useAll) }),
		withWriter("paused", "A paused loop blocks no other call: others read and commit.", func(w *writer) { w.Paused(w.walks(w.stock(5)), w.writer("b").useAll) }),
		withWriter("many", "Dozens of paused loops hold no connection: everything else continues.", func(w *writer) { w.Nested(w.walks(w.stock(3)), w.useAll) }),
		withWriter("break", "Breaking out of a loop releases everything.", func(w *writer) { w.BrokenOff(w.walks(w.stock(5)), w.useAll) }),
		withWriter("again", "Two loops at once do not disturb each other.", func(w *writer) { w.TwiceAtOnce(w.walks(w.stock(5))) }),
		withWriter("context", "When its context ends, an iterator ends; an error is the last thing it yields.", func(w *writer) { w.Cancelled(w.walks(w.stock(600)), w.useAll) }),
		{Name: "while-others-commit", Rule: "Resources, Records, Briefs and Tasks see once, in order, what is there throughout, while the loop commits.", Check: func(t *tester) {
			deleted := func(id string) bool { return strings.HasSuffix(id, "4") }
			t.eachWalk(1300, []string{"Records", "Briefs", "Resources", "Tasks"}, func(w *writer, walk suite.Walk) {
				var seen []string
				n := 0
				for id, err := range walk.IDs(t.Ctx) {
					t.OK(err, "%s", walk.Name)
					if n%250 == 100 {
						w.disturb(walk.Want[n-100 : min(n+300, len(walk.Want))])
					}
					n++
					if !deleted(id) && !strings.HasSuffix(id, "added") {
						seen = append(seen, id)
					}
				}
				want := slices.DeleteFunc(slices.Clone(walk.Want), deleted)
				t.Same(want, seen, "what %s yields of what is there throughout: ", walk.Name)
			})
		}},
		withWriter("log-grows", "Changes has no gap, while others commit.", func(w *writer) {
			w.stock(600)
			began := w.head().Last
			var last websync.Seq
			for it, err := range w.Changes(w.Ctx, websync.Range{}) {
				w.OK(err, "Changes")
				w.FatalIf(it.Seq != last+1, "entry %d comes after entry %d", it.Seq, last)
				last = it.Seq
				if last%100 == 50 && last <= began {
					w.create(fmt.Sprintf("added %d", last))
				}
			}
			w.ErrorIf(last < began, "Changes ended with %d, want at least %d", last, began)
		}),
		withWriter("long", "Loops of thousands of items are whole and in order, those of Records from any id on.", func(w *writer) {
			list := w.stock(2300)
			for _, walk := range w.walks(list) {
				w.Same(list, suite.Collect(&w.Tester, walk.Name, walk.IDs(w.Ctx)), "%s: ", walk.Name)
			}
			for _, after := range []string{list[1299], list[1299] + "x"} {
				w.Same(list[1300:], ids(w.records("a", after)), "Records after %q", after)
			}
		}),
		withWriter("filtered", "A loop over one source yields all entries of the source and no others, even with thousands of others in between and at the end.", func(a *writer) {
			is := func(what string, want ...string) {
				a.Helper()
				for _, sources := range [][]string{{"a"}, {"a", "unknown"}, {"a", "never"}} {
					r := websync.Range{Sources: sources}
					a.Same(want, ids(a.resources(r)), "Resources of %q, %s: ", sources, what)
					a.Same(want, ids(a.changes(r)), "Changes of %q, %s: ", sources, what)
				}
			}
			a.create(uri1, uri2, uri3)
			a.writer("b").createMany(2300)
			a.writer("never").send(harvest.Batch{})
			is("with foreign entries at the end", uri1, uri2, uri3)
			a.create(uri4)
			is("with foreign entries in between", uri1, uri2, uri3, uri4)
		}),
		{Name: "ends", Rule: "A loop that commits in every step ends: it yields nothing that was added since it began.", Check: func(t *tester) {
			t.eachWalk(5, nil, func(w *writer, walk suite.Walk) {
				var seen []string
				for id, err := range walk.IDs(t.Ctx) {
					t.OK(err, "%s", walk.Name)
					seen = append(seen, id)
					if len(seen) > 3*len(walk.Want) {
						t.Errorf("%s, whose loop commits in every step, does not end", walk.Name)
						break
					}
					next := fmt.Sprint(id, " ", len(seen))
					w.send(harvest.Batch{
						Puts:  []harvest.Change{change(next, 0, websync.Created, "")},
						Tasks: []harvest.Task{task("a", next, now()), task("a", walk.Want[len(walk.Want)-1], now())},
					})
				}
				t.Same(walk.Want, seen, "what %s yields while its loop adds to it: ", walk.Name)
			})
		}},
		withWriter("arguments", "If the caller changes the Range meanwhile, the loop does not change.", func(a *writer) {
			want := a.createMany(1200)
			a.writer("b").create("of b")
			for name, walk := range map[string]func(context.Context, websync.Range) iter.Seq2[websync.Item, error]{
				"Resources": a.Resources, "Changes": a.Changes,
			} {
				sources := []string{"a"}
				items := walk(a.Ctx, websync.Range{Sources: sources})
				sources[0] = "b"
				a.Same(want, ids(suite.Collect(&a.Tester, name, items)), "%s, whose Range was changed by its owner: ", name)
			}
		}),
	}
}

// walks returns the iterators, which are expected to yield want.
func (s *store) walks(want []string) []suite.Walk {
	all, ofA := websync.Range{}, websync.Range{Sources: []string{"a"}}
	return []suite.Walk{
		walk("Records", want, func(ctx context.Context) iter.Seq2[harvest.Record, error] { return s.Records(ctx, "a", "") }),
		walk("Briefs", want, func(ctx context.Context) iter.Seq2[harvest.Brief, error] { return s.Briefs(ctx, "a", "") }),
		walk("Resources", want, func(ctx context.Context) iter.Seq2[websync.Item, error] { return s.Resources(ctx, all) }),
		walk("Changes", want, func(ctx context.Context) iter.Seq2[websync.Item, error] { return s.Changes(ctx, all) }),
		walk("Resources of a source", want, func(ctx context.Context) iter.Seq2[websync.Item, error] { return s.Resources(ctx, ofA) }),
		walk("Changes of a source", want, func(ctx context.Context) iter.Seq2[websync.Item, error] { return s.Changes(ctx, ofA) }),
		walk("Tasks", want, func(ctx context.Context) iter.Seq2[harvest.Task, error] { return s.Tasks(ctx, "a", "") }),
	}
}

func walk[V any](name string, want []string, start func(context.Context) iter.Seq2[V, error]) suite.Walk {
	return suite.Walk{Name: name, Want: want, IDs: func(ctx context.Context) iter.Seq2[string, error] {
		return suite.IDs(start(ctx), idOf[V])
	}}
}

// eachWalk calls check for each iterator, or for those named if there are any, with a
// writer to a new Store with n ids.
func (t *tester) eachWalk(n int, names []string, check func(w *writer, walk suite.Walk)) {
	t.Helper()
	for i, walk := range t.open().walks(nil) {
		if names == nil || slices.Contains(names, walk.Name) {
			w := t.open().writer("a")
			check(w, w.walks(w.stock(n))[i])
		}
	}
}

// stock creates n ids, each with a task, and a body of the first. It returns the ids.
func (w *writer) stock(n int) []string {
	w.Helper()
	list := w.createMany(n)
	var tasks []harvest.Task
	for _, id := range list {
		tasks = append(tasks, task("a", id, now()))
	}
	w.addTasks(tasks...)
	w.touchBody(list[0], theBody)
	return list
}

// useAll calls every method of the Store once.
func (w *writer) useAll(round string) error {
	ctx, unknown := w.Ctx, []string{uri1}
	errs := []error{
		w.tryCommit(w.c, w.batch(harvest.Batch{
			Puts:  []harvest.Change{change("zzz "+round, 0, websync.Created, "")},
			Tasks: []harvest.Task{task(w.source, "zzz "+round, now())},
		})),
		errorOf(w.Head(ctx)), errorOf(w.Get(ctx, w.source, unknown)),
		errorOf(w.Lookup(ctx, w.source, unknown)), errorOf(w.LookupTasks(ctx, w.source, unknown)),
		errorOf(w.Checkpoint(ctx, w.source)), errorOf(w.Due(ctx, w.source, now(), 1)),
		errorOf(w.State(ctx, "key")), w.Swap(ctx, "key "+round, nil, []byte("value")),
		w.Renew(ctx, w.c), errorOf(w.read(websync.SHA256(theBody))),
	}
	body, err := w.NewBody(ctx)
	if err == nil {
		err = body.Discard()
	}
	c, claimErr := w.Claim(ctx, "source/of "+round, time.Hour)
	if claimErr == nil {
		claimErr = w.Release(ctx, c)
	}
	errs = append(errs, err, claimErr)
	for _, walk := range w.walks(nil) {
		for _, err := range walk.IDs(ctx) {
			errs = append(errs, err)
			break
		}
	}
	return errors.Join(errs...)
}

func errorOf[V any](_ V, err error) error { return err }

// disturb deletes every id that ends in 4, updates those in 5, touches those in 6, and
// adds one. Their tasks are done, put off and left.
func (w *writer) disturb(list []string) {
	w.Helper()
	added := list[0] + " added"
	b := harvest.Batch{
		Puts:  []harvest.Change{w.change(added, websync.Created, "")},
		Tasks: []harvest.Task{task("a", added, now())},
	}
	for i, r := range w.lookup("a", list...) {
		id := list[i]
		switch id[len(id)-1] {
		case '4':
			b.Puts = append(b.Puts, change(id, r.Seq, websync.Deleted, ""))
			b.Done = append(b.Done, harvest.TaskRef{ID: id})
		case '5':
			b.Puts = append(b.Puts, change(id, r.Seq, websync.Updated, "updated"))
			b.Tasks = append(b.Tasks, task("a", id, now().Add(time.Hour)))
		case '6':
			b.Touches = append(b.Touches, change(id, r.Seq, websync.Updated, "touched"))
		}
	}
	w.send(b)
}
