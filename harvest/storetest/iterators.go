package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

func iteratorCases() []rule {
	return []rule{
		{Name: "empty", Rule: "Nothing to yield is no error.", Check: iteratorEmpty},
		{Name: "inside", Rule: "Any method may be called inside the loop.", Check: iteratorInside},
		{Name: "paused", Rule: "A paused loop blocks no other call: others read and commit.", Check: iteratorPaused},
		{Name: "many", Rule: "Dozens of paused loops hold no connection: everything else continues.", Check: iteratorMany},
		{Name: "break", Rule: "Breaking out of a loop releases everything.", Check: iteratorBreak},
		{Name: "again", Rule: "Two loops at once do not disturb each other.", Check: iteratorAgain},
		{Name: "while-others-commit", Rule: "Resources, Records and Tasks see once, in order, what is there throughout, while the loop commits.", Check: iteratorWhileOthersCommit},
		{Name: "log-grows", Rule: "Changes has no gap, while others commit.", Check: iteratorLogGrows},
		{Name: "long", Rule: "Loops of thousands of items are whole and in order.", Check: iteratorLong},
		{Name: "filtered", Rule: "A loop over one source yields all entries of the source and no others, even with thousands of others in between and at the end.", Check: iteratorFiltered},
		{Name: "ends", Rule: "A loop that commits in every step ends: it yields nothing that was added since it began.", Check: iteratorEnds},
		{Name: "arguments", Rule: "If the caller changes the Range meanwhile, the loop does not change.", Check: iteratorArguments},
		{Name: "context", Rule: "When its context ends, an iterator ends; an error is the last thing it yields.", Check: iteratorContext},
	}
}

// walks returns the iterators, which are expected to yield want.
func (s *store) walks(want []string) []suite.Walk {
	record := func(r harvest.Record) string { return r.Resource.ID }
	item := func(it websync.Item) string { return it.Resource.ID }
	task := func(t harvest.Task) string { return t.Resource.ID }
	ofA := websync.Range{Sources: []string{"a"}}
	walks := []suite.Walk{
		{Name: "Records", IDs: func(ctx context.Context) iter.Seq2[string, error] { return suite.IDs(s.Records(ctx, "a", ""), record) }},
		{Name: "Resources", IDs: func(ctx context.Context) iter.Seq2[string, error] {
			return suite.IDs(s.Resources(ctx, websync.Range{}), item)
		}},
		{Name: "Changes", IDs: func(ctx context.Context) iter.Seq2[string, error] {
			return suite.IDs(s.Changes(ctx, websync.Range{}), item)
		}},
		{Name: "Resources of a source", IDs: func(ctx context.Context) iter.Seq2[string, error] { return suite.IDs(s.Resources(ctx, ofA), item) }},
		{Name: "Changes of a source", IDs: func(ctx context.Context) iter.Seq2[string, error] { return suite.IDs(s.Changes(ctx, ofA), item) }},
		{Name: "Tasks", IDs: func(ctx context.Context) iter.Seq2[string, error] { return suite.IDs(s.Tasks(ctx, "a", ""), task) }},
	}
	for i := range walks {
		walks[i].Want = want
	}
	return walks
}

func iteratorEmpty(t *tester) {
	s := t.open()
	for _, walk := range s.walks(nil) {
		for id, err := range walk.IDs(t.Ctx) {
			t.Errorf("%s of an empty Store yields %q, %v", walk.Name, id, err)
		}
	}
	t.Same(websync.Head{Generation: s.head().Generation}, s.head(), "Head of an empty Store")
	t.Same(0, len(s.due("a", now(), 10)), "due tasks of an empty Store")
}

// stocked returns a writer to a Store with n ids, each with a task, and a body of the
// first.
func (t *tester) stocked(n int) (*writer, []string) {
	t.Helper()
	w := t.open().writer("a")
	ids := w.createMany(n)
	b := w.batch()
	for _, id := range ids {
		b.Tasks = append(b.Tasks, task("a", id, now()))
	}
	w.apply(b)
	w.touchBody(ids[0])
	return w, ids
}

var theBody = []byte("of the first")

func (w *writer) touchBody(id string) {
	w.t.Helper()
	b := w.batch()
	b.Touches = []harvest.Change{bodyChange(id, w.record("a", id).Seq, id, websync.SHA256(theBody))}
	b.Bodies = []harvest.BodyWriter{w.body(theBody)}
	w.apply(b)
}

// useAll calls every method of the Store once.
func (w *writer) useAll(round string) error {
	ctx := w.t.Ctx
	b := w.batch()
	b.Puts = []harvest.Change{change("zzz "+round, 0, websync.Created, "")}
	b.Tasks = []harvest.Task{task(w.source, "zzz "+round, now())}
	if conflicts, err := w.Commit(ctx, w.c, b); err != nil || len(conflicts) > 0 {
		return fmt.Errorf("store: Commit: %w, conflicts %q", err, conflicts)
	}
	_, headErr := w.Head(ctx)
	_, getErr := w.Get(ctx, w.source, []string{uri1})
	_, lookupErr := w.Lookup(ctx, w.source, []string{uri1})
	_, tasksErr := w.LookupTasks(ctx, w.source, []string{uri1})
	_, checkpointErr := w.Checkpoint(ctx, w.source)
	_, dueErr := w.Due(ctx, w.source, now(), 1)
	_, stateErr := w.State(ctx, "key")
	swapErr := w.Swap(ctx, "key "+round, nil, []byte("value"))
	renewErr := w.Renew(ctx, w.c)
	errs := []error{headErr, getErr, lookupErr, tasksErr, checkpointErr, dueErr, stateErr, swapErr, renewErr}
	errs = append(errs, w.useBodies(), w.useClaim(round))
	for _, walk := range w.walks(nil) {
		for _, err := range walk.IDs(ctx) {
			errs = append(errs, err)
			break
		}
	}
	return errors.Join(errs...)
}

func (w *writer) useBodies() error {
	r, err := w.Open(w.t.Ctx, websync.Body{Key: websync.SHA256(theBody)})
	if err != nil {
		return fmt.Errorf("store: Open: %w", err)
	}
	_, err = io.Copy(io.Discard, r)
	body, newErr := w.NewBody(w.t.Ctx)
	if newErr == nil {
		newErr = body.Discard()
	}
	return errors.Join(err, r.Close(), newErr)
}

func (w *writer) useClaim(name string) error {
	c, err := w.Claim(w.t.Ctx, "source/of "+name, time.Hour)
	if err != nil {
		return fmt.Errorf("store: Claim: %w", err)
	}
	return w.Release(w.t.Ctx, c)
}

func iteratorInside(t *tester) {
	w, ids := t.stocked(5)
	t.Inside(w.walks(ids), w.useAll)
}

func iteratorPaused(t *tester) {
	w, ids := t.stocked(5)
	t.Paused(w.walks(ids), w.writer("b").useAll)
}

func iteratorMany(t *tester) {
	w, ids := t.stocked(3)
	t.Nested(w.walks(ids), w.useAll)
}

func iteratorBreak(t *tester) {
	w, ids := t.stocked(5)
	t.BrokenOff(w.walks(ids), w.useAll)
}

func iteratorAgain(t *tester) {
	w, ids := t.stocked(5)
	t.TwiceAtOnce(w.walks(ids))
}

func iteratorWhileOthersCommit(t *tester) {
	deleted := func(id string) bool { return strings.HasSuffix(id, "4") }
	for _, i := range []int{0, 1, 5} { // Records, Resources and Tasks
		w, ids := t.stocked(1300)
		walk := w.walks(ids)[i]
		want := slices.DeleteFunc(slices.Clone(ids), deleted)
		var seen []string
		n := 0
		for id, err := range walk.IDs(t.Ctx) {
			t.OK(err, "%s", walk.Name)
			if n%250 == 100 {
				w.disturb(ids[n-100 : min(n+300, len(ids))])
			}
			n++
			if !deleted(id) && !strings.HasSuffix(id, "added") {
				seen = append(seen, id)
			}
		}
		t.Same(want, seen, "what %s yields of what is there throughout: ", walk.Name)
	}
}

// disturb deletes every id that ends in 4, updates those in 5, touches those in 6, and
// adds one. Their tasks are done, put off and left.
func (w *writer) disturb(ids []string) {
	w.t.Helper()
	b := w.batch()
	added := ids[0] + " added"
	for i, r := range w.lookup("a", append(ids[:len(ids):len(ids)], added)...) {
		switch {
		case i == len(ids):
			b.Puts = append(b.Puts, change(added, r.Seq, websync.Created, ""))
			b.Tasks = append(b.Tasks, task("a", added, now()))
		case strings.HasSuffix(ids[i], "4"):
			b.Puts = append(b.Puts, change(ids[i], r.Seq, websync.Deleted, ""))
			b.Done = append(b.Done, harvest.TaskRef{ID: ids[i]})
		case strings.HasSuffix(ids[i], "5"):
			b.Puts = append(b.Puts, change(ids[i], r.Seq, websync.Updated, "updated"))
			b.Tasks = append(b.Tasks, task("a", ids[i], now().Add(time.Hour)))
		case strings.HasSuffix(ids[i], "6"):
			b.Touches = append(b.Touches, change(ids[i], r.Seq, websync.Updated, "touched"))
		}
	}
	w.apply(b)
}

func iteratorLogGrows(t *tester) {
	w, _ := t.stocked(600)
	began := w.head().Last
	var last websync.Seq
	for it, err := range w.Changes(t.Ctx, websync.Range{}) {
		t.OK(err, "Changes")
		if it.Seq != last+1 {
			t.Fatalf("entry %d comes after entry %d", it.Seq, last)
		}
		last = it.Seq
		if last%100 == 50 && last <= began {
			w.create(fmt.Sprintf("added %d", last))
		}
	}
	if last < began {
		t.Errorf("Changes ended with %d, want at least %d", last, began)
	}
}

func iteratorLong(t *tester) {
	w, ids := t.stocked(2300)
	for _, walk := range w.walks(ids) {
		t.Same(ids, suite.Collect(&t.Tester, walk.Name, walk.IDs(t.Ctx)), "%s: ", walk.Name)
	}
}

func iteratorFiltered(t *tester) {
	a := t.open().writer("a")
	b := a.writer("b")
	want := []string{uri1, uri2, uri3}
	is := func(what string) {
		t.Helper()
		for _, sources := range [][]string{{"a"}, {"a", "unknown"}, {"a", "never"}} {
			r := websync.Range{Sources: sources}
			t.Same(want, itemIDs(a.resources(r)), "Resources of %q, %s: ", sources, what)
			t.Same(want, itemIDs(a.changes(r)), "Changes of %q, %s: ", sources, what)
		}
	}
	a.put(change(uri1, 0, websync.Created, ""), change(uri2, 0, websync.Created, ""), change(uri3, 0, websync.Created, ""))
	b.createMany(2300)
	a.writer("never").apply(harvest.NewBatch("never"))
	is("with foreign entries at the end")
	a.create(uri4)
	want = append(want, uri4)
	is("with foreign entries in between")
}

func iteratorEnds(t *tester) {
	for i := range 6 {
		w, ids := t.stocked(5)
		walk := w.walks(ids)[i]
		var seen []string
		for id, err := range walk.IDs(t.Ctx) {
			t.OK(err, "%s", walk.Name)
			seen = append(seen, id)
			if len(seen) > 3*len(ids) {
				t.Errorf("%s, whose loop commits in every step, does not end", walk.Name)
				break
			}
			next := fmt.Sprint(id, " ", len(seen))
			b := w.batch()
			b.Puts = []harvest.Change{change(next, 0, websync.Created, "")}
			b.Tasks = []harvest.Task{task("a", next, now()), task("a", ids[len(ids)-1], now())}
			w.apply(b)
		}
		t.Same(ids, seen, "what %s yields while its loop adds to it: ", walk.Name)
	}
}

func iteratorArguments(t *tester) {
	a := t.open().writer("a")
	b := a.writer("b")
	ids := a.createMany(1200)
	b.create("of b")
	for _, walk := range []struct {
		name  string
		items func(context.Context, websync.Range) iter.Seq2[websync.Item, error]
	}{{"Resources", a.Resources}, {"Changes", a.Changes}} {
		sources := []string{"a"}
		items := walk.items(t.Ctx, websync.Range{Sources: sources})
		sources[0] = "b"
		t.Same(ids, itemIDs(suite.Collect(&t.Tester, walk.name, items)), "%s, whose Range was changed by its owner: ", walk.name)
	}
}

func iteratorContext(t *tester) {
	w, ids := t.stocked(600)
	t.Cancelled(w.walks(ids), w.useAll)
}
