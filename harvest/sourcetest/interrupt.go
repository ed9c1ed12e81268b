package sourcetest

import (
	"context"
	"fmt"

	"github.com/websync-go/websync/harvest"
)

func interruptCases() []rule {
	return []rule{
		{Name: "events", Rule: "A run that ends after any event, all before it stored, and is taken up again, leaves what an undisturbed one does.", Check: interruptEvents},
		{Name: "context", Rule: "A run whose context ends after any event, and is taken up again, leaves what an undisturbed one does.", Check: interruptContext},
		{Name: "documents", Rule: "A run in which any request for a document fails, and the next one, leave what an undisturbed one does.", Check: interruptDocuments},
		{Name: "documents-context", Rule: "A run whose context ends at any request for a document, and is taken up again, leaves what an undisturbed one does.", Check: interruptDocumentsContext},
		{Name: "again", Rule: "Runs that are interrupted again and again, each a little later, leave what an undisturbed one does in the end.", Check: interruptAgain},
		{Name: "moved-on", Rule: "When the publisher moves on before an interrupted run is taken up, the next one finds all that is there then, or is not complete.", Check: interruptMovedOn},
	}
}

// A way is one in which a run is disturbed.
type way struct {
	what string
	disturbance
}

// resumed disturbs one run in every state in every given way, takes it up again and
// compares with undisturbed runs. It skips the case if there are no ways.
func (t *tester) resumed(ways func(r *result) []way) {
	t.Helper()
	base := t.baseline()
	disturbed := false
	for state := range t.states() {
		for _, w := range ways(base.runs[state]) {
			disturbed = true
			p := t.target(state)
			p.run(state, w.disturbance)
			p.undisturbed(state)
			if d := base.contents[state].diff(p.contents()); d != "" {
				t.Fatalf("%s, interrupted %s and taken up again: %s", stateName(state), w.what, d)
			}
		}
	}
	if !disturbed {
		t.Skip(noDocument)
	}
}

func interruptEvents(t *tester) {
	t.resumed(func(r *result) []way { return t.afterEvents(r.events, stopAfter) })
}

func interruptContext(t *tester) {
	t.resumed(func(r *result) []way { return t.afterEvents(r.events, cancelAfter) })
}

// afterEvents returns disturbances after some of the events.
func (t *tester) afterEvents(events int, after func(n int) disturbance) (ways []way) {
	for _, n := range t.positions(events) {
		ways = append(ways, way{fmt.Sprintf("after event %d of %d", n, events), after(n)})
	}
	return ways
}

func interruptDocuments(t *tester) {
	t.resumed(func(r *result) []way {
		return t.atDocuments(r, func(doc Document, _ context.CancelFunc) Document { return NoAnswer.of(doc, nil, "") })
	})
}

func interruptDocumentsContext(t *tester) {
	t.resumed(func(r *result) []way {
		return t.atDocuments(r, func(_ Document, cancel context.CancelFunc) Document {
			cancel()
			return Document{Err: context.Canceled}
		})
	})
}

// atDocuments returns disturbances at some of the requests of a run.
func (t *tester) atDocuments(r *result, answer func(doc Document, cancel context.CancelFunc) Document) (ways []way) {
	for _, k := range t.positions(len(r.lists)) {
		at := disturbance{lists: func(cancel context.CancelFunc) hook {
			return func(_ context.Context, n int, req *harvest.Request, doc Document) (Document, error) {
				if n == k && !t.tolerates(req.URL, NoAnswer) {
					doc = answer(doc, cancel)
				}
				return doc, nil
			}
		}}
		ways = append(ways, way{fmt.Sprintf("at request %d of %d", k, len(r.lists)), at})
	}
	return ways
}

func interruptAgain(t *tester) {
	base := t.baseline()
	for state := range t.states() {
		p := t.target(state)
		events := base.runs[state].events
		for _, n := range t.positions(events) {
			p.run(state, stopAfter(n))
		}
		p.undisturbed(state)
		if d := base.contents[state].diff(p.contents()); d != "" {
			t.Fatalf("%s, interrupted after ever more of its %d events: %s", stateName(state), events, d)
		}
	}
}

func interruptMovedOn(t *tester) {
	if t.states() < 2 {
		t.Skip("not checked: there is one state only")
	}
	base := t.baseline()
	for state := range t.states() - 1 {
		fresh := t.target(0)
		fresh.undisturbed(state + 1)
		want := fresh.contents().live()
		for _, w := range t.afterEvents(base.runs[state].events, stopAfter) {
			p := t.target(state)
			p.run(state, w.disturbance)
			if r := p.run(state+1, disturbance{}); !r.whole() {
				continue
			}
			if d := p.lacks(want); d != "" {
				t.Fatalf("%s, interrupted %s, then %s: %s", stateName(state), w.what, stateName(state+1), d)
			}
		}
	}
}
