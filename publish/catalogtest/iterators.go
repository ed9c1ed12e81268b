package catalogtest

import (
	"context"
	"fmt"
	"iter"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/suite"
)

func iteratorRules() []rule {
	return []rule{
		{Name: "inside", Check: func(t *tester) { t.Inside(t.stocked(), t.use) },
			Rule: "Any method may be called inside the loop."},
		{Name: "paused", Rule: "A paused loop blocks no other call.", Check: func(t *tester) { t.Paused(t.stocked(), t.use) }},
		{Name: "many", Check: func(t *tester) { t.Nested(t.stocked(), t.use) },
			Rule: "Dozens of paused loops hold no connection: everything else continues."},
		{Name: "break", Check: func(t *tester) { t.BrokenOff(t.stocked(), t.use) },
			Rule: "Breaking out of a loop releases everything."},
		{Name: "again", Check: func(t *tester) { t.TwiceAtOnce(t.stocked()) },
			Rule: "Two loops at once do not disturb each other, and each yields the same."},
		{Name: "context", Check: func(t *tester) { t.Cancelled(t.stocked(), t.use) },
			Rule: "When its context ends an iterator ends; an error is the last thing it yields."},
		{Name: "arguments", Rule: "Arguments and results are copied: the caller may change them.", Check: iteratorArguments},
	}
}

// walks returns the iterators over everything and over each source.
func (t *tester) walks() []suite.Walk {
	id := func(it websync.Item) string { return fmt.Sprint(it.Source, " ", it.Resource.ID, " ", it.Seq) }
	ranges := []websync.Range{{}}
	for source := range t.head().Live {
		ranges = append(ranges, websync.Range{Sources: []string{source}})
	}
	var walks []suite.Walk
	for _, r := range ranges[:min(3, len(ranges))] {
		resources := func(ctx context.Context) iter.Seq2[string, error] { return suite.IDs(t.Resources(ctx, r), id) }
		changes := func(ctx context.Context) iter.Seq2[string, error] { return suite.IDs(t.Changes(ctx, r), id) }
		walks = append(walks,
			suite.Walk{Name: fmt.Sprintf("Resources of %q", r.Sources), IDs: resources},
			suite.Walk{Name: fmt.Sprintf("Changes of %q", r.Sources), IDs: changes})
	}
	return walks
}

// stocked returns the walks with what they yield. It skips the case if there is nothing.
func (t *tester) stocked() []suite.Walk {
	t.Helper()
	t.some(t.live(websync.Range{}), "resources")
	walks := t.walks()
	for i := range walks {
		walks[i].Want = suite.Collect(&t.Tester, walks[i].Name, walks[i].IDs(t.Ctx))
	}
	return walks
}

// answers holds what the methods return.
type answers struct {
	Head      websync.Head
	Get       []websync.Item
	Resources []websync.Item
	Changes   []websync.Item
}

func iteratorArguments(t *tester) {
	first := t.some(t.live(websync.Range{}), "resources")[0]
	source, id := first.Source, first.Resource.ID
	ask := func() answers {
		return answers{t.head(), t.get(source, id), t.live(websync.Range{}), t.log(websync.Range{})}
	}
	before := suite.Copy(ask())
	got := ask()
	suite.Scribble(&got)
	t.Same(before, ask(), "the answers after the caller has changed earlier ones: ")

	for _, walk := range []func(context.Context, websync.Range) iter.Seq2[websync.Item, error]{t.Resources, t.Changes} {
		sources := []string{source}
		want := suite.Collect(&t.Tester, "an iterator", walk(t.Ctx, websync.Range{Sources: []string{source}}))
		items := walk(t.Ctx, websync.Range{Sources: sources})
		sources[0] = "unknown source"
		t.Same(want, suite.Collect(&t.Tester, "an iterator", items), "an iterator after the caller has changed its Range: ")
	}
}

func growthRules() []rule {
	return []rule{
		{Name: "appends", Lack: aChange, Check: growthAppends,
			Rule: "A change moves Head and appends to the log; what was there stays."},
		{Name: "replaced", Lack: aReplacement, Check: growthReplaced,
			Rule: "An entry that a later one replaces stays as it was, with its bodies."},
		{Name: "ends", Lack: aChange, Check: growthEnds,
			Rule: "A loop that adds to the Catalog ends where the log ended when the loop began."},
		{Name: "at-once", Lack: aChange, Check: growthAtOnce,
			Rule: "While the log grows every reader sees dense numbers, at least up to the Head it has read."},
	}
}

func growthAppends(t *tester) {
	for range 3 {
		before, head, live := t.log(websync.Range{}), t.head(), t.live(websync.Range{})
		t.OK(t.change(), "Options.Change")
		after := t.log(websync.Range{})
		t.CheckLog(t.head(), after)
		if len(after) <= len(before) {
			t.Fatalf("after Options.Change the log has %d entries, want more than %d", len(after), len(before))
		}
		t.Same(before, after[:len(before)], "the entries that were in the log before: ")
		t.Same(head.Generation, t.head().Generation, "Generation")
		now := t.live(websync.Range{})
		t.Same(live, now[:min(len(live), len(now))], "the resources that were in the Catalog before: ")
	}
}

func growthReplaced(t *tester) {
	for n := range 3 {
		before := t.log(websync.Range{})
		t.OK(t.options.Replace(t.Catalog, n), "Options.Replace")
		after := t.log(websync.Range{})
		t.CheckLog(t.head(), after)
		if len(after) <= len(before) || after[len(after)-1].Prior == 0 {
			t.Fatalf("after Options.Replace the log has %d entries, and the last has the Prior %d: "+
				"want more than %d, and the number of another one",
				len(after), after[len(after)-1].Prior, len(before))
		}
		t.Same(before, after[:len(before)], "the entries that were in the log before: ")
	}
}

func growthEnds(t *tester) {
	for i := range t.stocked() {
		walk := t.stocked()[i]
		var seen []string
		for id, err := range walk.IDs(t.Ctx) {
			t.OK(err, "%s", walk.Name)
			seen = append(seen, id)
			if len(seen) > len(walk.Want)+10 {
				t.Fatalf("%s does not end if its last steps call Options.Change", walk.Name)
			}
			if len(seen)+5 > len(walk.Want) {
				t.OK(t.change(), "Options.Change")
			}
		}
		t.Same(walk.Want, seen, "what %s yields while its loop adds to the Catalog: ", walk.Name)
	}
}

func growthAtOnce(t *tester) {
	done := make(chan struct{})
	t.Together(4, func(i int) error {
		if i > 0 {
			return t.watch(done)
		}
		defer close(done)
		for range 30 {
			if err := t.change(); err != nil {
				return err
			}
		}
		return nil
	})
	t.CheckLog(t.head(), t.log(websync.Range{}))
}

// watch reads the log until done.
func (t *tester) watch(done <-chan struct{}) error {
	for {
		select {
		case <-done:
			return nil
		default:
		}
		h, err := t.Head(t.Ctx)
		if err != nil {
			return err
		}
		var last websync.Seq
		for it, err := range t.Changes(t.Ctx, websync.Range{}) {
			if err != nil {
				return err
			}
			if it.Seq != last+1 {
				return fmt.Errorf("entry %d comes after entry %d, want dense numbers", it.Seq, last)
			}
			last = it.Seq
		}
		if last < h.Last {
			return fmt.Errorf("the log ends with entry %d, want at least %d, the Last of an earlier Head", last, h.Last)
		}
	}
}
