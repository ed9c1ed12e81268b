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
)

func iteratorCases() []rule {
	return []rule{
		{Name: "empty", Rule: "Nothing to yield is no error.", check: iteratorEmpty},
		{Name: "inside", Rule: "Any method may be called inside the loop.", check: iteratorInside},
		{Name: "paused", Rule: "A loop that stands still holds up nobody: others read and commit.", check: iteratorPaused},
		{Name: "many", Rule: "Dozens of loops that stand still hold no connection: everything else goes on.", check: iteratorMany},
		{Name: "break", Rule: "To break off a loop releases everything.", check: iteratorBreak},
		{Name: "again", Rule: "Two loops at once do not disturb each other.", check: iteratorAgain},
		{Name: "while-others-commit", Rule: "Resources, Records and Tasks see once, in order, what is there throughout, while the loop commits.", check: iteratorWhileOthersCommit},
		{Name: "log-grows", Rule: "Changes has no gap, while others commit.", check: iteratorLogGrows},
		{Name: "long", Rule: "Loops of thousands of items are whole and in order.", check: iteratorLong},
		{Name: "filtered", Rule: "A loop over one source yields all that is its own and nothing else, though thousands of foreign entries come in between and at the end.", check: iteratorFiltered},
		{Name: "ends", Rule: "A loop that commits in every step ends: it sees nothing that came since it began.", check: iteratorEnds},
		{Name: "arguments", Rule: "A Range that its owner changes meanwhile does not change the loop.", check: iteratorArguments},
		{Name: "context", Rule: "When its context ends an iterator comes to an end; an error is the last thing it yields.", check: iteratorContext},
	}
}

// A walk is one of the iterators, reduced to the ids it yields.
type walk struct {
	name string
	ids  func(ctx context.Context, s *store) iter.Seq2[string, error]
}

func walks() []walk {
	return []walk{
		{"Records", func(ctx context.Context, s *store) iter.Seq2[string, error] {
			return idsOf(s.Records(ctx, "a", ""), func(r harvest.Record) string { return r.Resource.ID })
		}},
		{"Resources", func(ctx context.Context, s *store) iter.Seq2[string, error] {
			return idsOf(s.Resources(ctx, websync.Range{}), func(it websync.Item) string { return it.Resource.ID })
		}},
		{"Changes", func(ctx context.Context, s *store) iter.Seq2[string, error] {
			return idsOf(s.Changes(ctx, websync.Range{}), func(it websync.Item) string { return it.Resource.ID })
		}},
		{"Resources of a source", func(ctx context.Context, s *store) iter.Seq2[string, error] {
			return idsOf(s.Resources(ctx, websync.Range{Sources: []string{"a"}}), func(it websync.Item) string { return it.Resource.ID })
		}},
		{"Changes of a source", func(ctx context.Context, s *store) iter.Seq2[string, error] {
			return idsOf(s.Changes(ctx, websync.Range{Sources: []string{"a"}}), func(it websync.Item) string { return it.Resource.ID })
		}},
		{"Tasks", func(ctx context.Context, s *store) iter.Seq2[string, error] {
			return idsOf(s.Tasks(ctx, "a", ""), func(t harvest.Task) string { return t.Resource.ID })
		}},
	}
}

func idsOf[V any](seq iter.Seq2[V, error], id func(V) string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		seq(func(v V, err error) bool { return yield(id(v), err) })
	}
}

func iteratorEmpty(t *tester) {
	s := t.open()
	for _, walk := range walks() {
		for id, err := range walk.ids(t.Ctx, s) {
			t.Errorf("%s of an empty Store yields %q, %v", walk.name, id, err)
		}
	}
	t.Same(websync.Head{Generation: s.head().Generation}, s.head(), "Head of an empty Store")
	t.Same(0, len(s.due("a", now(), 10)), "due tasks of an empty Store")
}

// stocked returns a writer to a Store with n ids, each with a task, and a body of the first.
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
	for _, walk := range walks() {
		for _, err := range walk.ids(ctx, w.store) {
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
	for _, walk := range walks() {
		n := 0
		for id, err := range walk.ids(t.Ctx, w.store) {
			t.OK(err, "%s", walk.name)
			if n < len(ids) && id != ids[n] {
				t.Fatalf("%s yields %q, want %q", walk.name, id, ids[n])
			}
			if n++; n > len(ids) {
				break // what the loop itself has added
			}
			t.Within("all methods inside a loop of "+walk.name, func() error {
				return w.useAll(fmt.Sprint(walk.name, n))
			})
		}
		if n < len(ids) {
			t.Errorf("%s yields %d, want at least %d", walk.name, n, len(ids))
		}
	}
}

func iteratorPaused(t *tester) {
	w, ids := t.stocked(5)
	other := w.writer("b")
	for _, walk := range walks() {
		other.pause(walk, ids)
	}
}

// pause stands still in a loop while w uses the Store, and then goes on with it.
func (w *writer) pause(walk walk, ids []string) {
	w.t.Helper()
	next, stop := iter.Pull2(walk.ids(w.t.Ctx, w.store))
	defer stop()
	for n, want := range ids {
		id, err, more := next()
		w.t.OK(err, "%s", walk.name)
		if !more || id != want {
			w.t.Errorf("%s goes on with %q, want %q", walk.name, id, want)
		}
		if n == 0 {
			w.t.Within("all methods, while a loop of "+walk.name+" stands still", func() error {
				return w.useAll("paused " + walk.name)
			})
		}
	}
}

func iteratorMany(t *tester) {
	w, ids := t.stocked(3)
	var dozens []walk
	for range 8 {
		dozens = append(dozens, walks()...)
	}
	t.Within("all methods inside dozens of loops", func() error { return w.nest(dozens, ids) })
}

// nest runs the loops inside one another, and uses the Store inside the innermost.
func (w *writer) nest(loops []walk, ids []string) error {
	if len(loops) == 0 {
		return w.useAll("many")
	}
	n := 0
	for id, err := range loops[0].ids(w.t.Ctx, w.store) {
		if err == nil && n == 0 {
			err = w.nest(loops[1:], ids)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", loops[0].name, err)
		}
		if n < len(ids) && id != ids[n] {
			return fmt.Errorf("%s: got %q, want %q", loops[0].name, id, ids[n])
		}
		n++
	}
	if n < len(ids) {
		return fmt.Errorf("%s ended after %d of %d", loops[0].name, n, len(ids))
	}
	return nil
}

func iteratorBreak(t *tester) {
	w, _ := t.stocked(5)
	t.Within("to break off many loops", func() error {
		for range 30 {
			for _, walk := range walks() {
				steps := 0
				var err error
				walk.ids(t.Ctx, w.store)(func(_ string, e error) bool {
					steps++
					err = e
					return false
				})
				if err != nil || steps != 1 {
					return fmt.Errorf("%s: %d steps of a loop that breaks off in its first, error %w", walk.name, steps, err)
				}
			}
		}
		return nil
	})
	t.Within("all methods after loops that were broken off", func() error { return w.useAll("break") })
}

func iteratorAgain(t *tester) {
	w, ids := t.stocked(5)
	for _, walk := range walks() {
		for outer, err := range walk.ids(t.Ctx, w.store) {
			t.OK(err, "%s", walk.name)
			var inner []string
			for id, err := range walk.ids(t.Ctx, w.store) {
				t.OK(err, "%s", walk.name)
				inner = append(inner, id)
			}
			t.Same(ids, inner, "%s inside itself, at %q", walk.name, outer)
		}
	}
}

func iteratorWhileOthersCommit(t *tester) {
	deleted := func(id string) bool { return strings.HasSuffix(id, "4") }
	for _, walk := range []walk{walks()[0], walks()[1], walks()[5]} { // Records, Resources and Tasks
		w, ids := t.stocked(1300)
		want := slices.DeleteFunc(slices.Clone(ids), deleted)
		var seen []string
		n := 0
		for id, err := range walk.ids(t.Ctx, w.store) {
			t.OK(err, "%s", walk.name)
			if n%250 == 100 {
				w.disturb(ids[n-100 : min(n+300, len(ids))])
			}
			n++
			if !deleted(id) && !strings.HasSuffix(id, "added") {
				seen = append(seen, id)
			}
		}
		t.Same(want, seen, "what %s yields of what is there throughout: ", walk.name)
	}
}

// disturb deletes every id that ends in 4, updates those in 5, touches those in 6, and adds one. Their tasks are done, put
// off and left.
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
	for _, walk := range walks() {
		var seen []string
		for id, err := range walk.ids(t.Ctx, w.store) {
			t.OK(err, "%s", walk.name)
			seen = append(seen, id)
		}
		t.Same(ids, seen, "%s: ", walk.name)
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
	for _, walk := range walks() {
		w, ids := t.stocked(5)
		var seen []string
		for id, err := range walk.ids(t.Ctx, w.store) {
			t.OK(err, "%s", walk.name)
			seen = append(seen, id)
			if len(seen) > 3*len(ids) {
				t.Errorf("%s, whose loop commits in every step, does not end", walk.name)
				break
			}
			next := fmt.Sprint(id, " ", len(seen))
			b := w.batch()
			b.Puts = []harvest.Change{change(next, 0, websync.Created, "")}
			b.Tasks = []harvest.Task{task("a", next, now()), task("a", ids[len(ids)-1], now())}
			w.apply(b)
		}
		t.Same(ids, seen, "what %s yields while its loop adds to it: ", walk.name)
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
		t.Same(ids, itemIDs(all(t, walk.name, items)), "%s, whose Range was changed by its owner: ", walk.name)
	}
}

func iteratorContext(t *tester) {
	w, _ := t.stocked(600)
	for _, walk := range walks() {
		ctx, cancel := context.WithCancel(t.Ctx)
		var ended error
		n := 0
		for id, err := range walk.ids(ctx, w.store) {
			if ended != nil {
				t.Fatalf("%s yields %q after the error %v", walk.name, id, ended)
			}
			ended = err
			n++
			cancel()
		}
		cancel()
		if ended == nil && n < 600 {
			t.Errorf("%s ended after %d of 600 without an error", walk.name, n)
		}
	}
	t.Within("all methods after loops whose context ended", func() error { return w.useAll("context") })
}
