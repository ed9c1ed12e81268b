package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

var failureRules = []rule{
	newRule("reported", "A document that fails, in whatever way, is reported as a Problem or as the error of the pass, never "+
		"as a collection without it; no snapshot is Complete.",
		func(t *tester) {
			t.eachFailure(func(f failed, l *recording) {
				if len(l.troubles()) == 0 {
					t.Fatalf("%s: the pass does not report it", l.name)
				}
				if slices.ContainsFunc(l.events, func(ev harvest.Event) bool { return ev.Complete }) {
					t.Fatalf("%s: a snapshot ends Complete", l.name)
				}
			})
		}),
	newRule("named", "The Problem, or the error, for a failed document names it.", func(t *tester) {
		t.eachFailure(func(f failed, l *recording) {
			final, _, _ := f.site.find(f.url, f.site.at(f.url))
			if f.how == Redirected {
				final = f.other
			}
			troubles := l.troubles()
			named := slices.ContainsFunc(troubles, func(err error) bool { return names(err, f.url) || names(err, final) })
			if len(troubles) > 0 && !named {
				t.Fatalf("%s: no error names the document: %q", l.name, troubles)
			}
		})
	}),
	newRule("nothing-of-it", "Nothing of a document that fails is yielded: it is read to its end and checked before its "+
		"first event.",
		func(t *tester) {
			t.eachFailure(func(f failed, l *recording) {
				f.how = ServerError
				without := l.pass
				without.hook = f.hook
				want := map[string]int{}
				for _, ev := range t.listen(without).events {
					want[eventText(ev)]++
				}
				for _, ev := range l.events {
					if ev.Kind > harvest.Delete {
						continue
					}
					if want[eventText(ev)]--; want[eventText(ev)] < 0 {
						t.Fatalf("%s: it yields %.300s", l.name, eventText(ev))
					}
				}
			})
		}),
	newRule("deletes-nothing", "A document that fails deletes nothing, and the run is not complete.", func(t *tester) {
		stated := map[string]bool{} // ids of deletions that the publisher states
		read := func(state int) []Exchange {
			sound := t.listen(pass{state: state})
			clear(stated)
			for _, ev := range sound.events {
				stated[ev.Resource.ID] = stated[ev.Resource.ID] || ev.Kind == harvest.Delete
			}
			return sound.lists.Exchanges()
		}
		t.eachFailed(everyFailure, read, func(f failed) {
			p := t.target(f.state + 1)
			before := p.contents().live()
			if p.run(f.state, disturbance{full: true, lists: f.hook}).whole() {
				t.Fatalf("%v: the run is complete", f)
			}
			after := p.contents().live()
			for id := range before {
				if _, ok := after[id]; !ok && !stated[id] {
					t.Fatalf("%v: the record of %.200q is deleted", f, id)
				}
			}
		})
	}),
	newRule("heals", "When the document is back, the next run is complete and leaves what an undisturbed run does.",
		func(t *tester) {
			base := t.baseline()
			t.eachFailed(everyFailure, func(state int) []Exchange { return base[state].lists }, func(f failed) {
				p := t.target(f.state)
				if p.run(f.state, disturbance{lists: f.hook}).whole() {
					t.Fatalf("%v: the run is complete", f)
				}
				p.heals(base[f.state], f.String())
			})
		}),
}

// eachFailure is failing. It skips the case if nothing can fail.
func (t *tester) eachFailure(each func(f failed, l *recording)) {
	t.Helper()
	if t.failing(everyFailure, each) == 0 {
		t.Skip(noDocument)
	}
}

// names reports whether an error names a document, in its text or by the method
// RequestURL.
func names(err error, url string) bool {
	var request interface{ RequestURL() string }
	return strings.Contains(err.Error(), url) || errors.As(err, &request) && request.RequestURL() == url
}

// A failed is a document that fails, and how.
type failed struct {
	state int
	url   string
	how   Failure
	site  Site
	other string // URL of the document that the pass reads before it; "" if it is the first
}

func (f failed) String() string {
	return fmt.Sprintf("%s, %s: %v", stateName(f.state), f.url, f.how)
}

// hook lets the document fail.
func (f failed) hook(_ context.Context, _ int, req *harvest.Request, doc Document) (Document, error) {
	if req.URL == f.url {
		doc = f.how.of(doc, f.site, f.other)
	}
	return doc, nil
}

// fails returns the failures of some of the documents that were read, except those that
// need not show. The first document is not replaced with another one: it may move or
// change from one day to the next. Any other is replaced with the one read before it,
// because nobody knows yet what comes later in a chain.
func (t *tester) fails(ways []Failure, state int, read []Exchange) (all []failed) {
	urls := []string{""}
	for _, x := range read {
		if (x.Status == 200 || x.Status == 304) && !slices.Contains(urls, x.URL) {
			urls = append(urls, x.URL)
		}
	}
	for _, i := range t.positions(len(urls) - 1) {
		for _, how := range ways {
			first := i == 1 && (how == Redirected || how == Mistaken)
			if !first && !t.options.Tolerates(urls[i], how) {
				all = append(all, failed{state, urls[i], how, t.options.Sites[state], urls[i-1]})
			}
		}
	}
	return all
}

// failing makes the passes of starts once for each document and way, with the document
// failing in this way. It returns how many passes it made.
func (t *tester) failing(ways []Failure, each func(f failed, l *recording)) (n int) {
	t.Helper()
	for sound := range t.starts() {
		for _, f := range t.fails(ways, sound.state, sound.lists.Exchanges()) {
			p := sound.pass
			p.hook, p.what = f.hook, ", with "+f.url+" failing: "+f.how.String()
			each(f, t.listen(p))
			n++
		}
	}
	return n
}

// eachFailed calls do for each state, document that read returns for it, and way to fail.
// It skips the case if there are none.
func (t *tester) eachFailed(ways []Failure, read func(state int) []Exchange, do func(f failed)) {
	t.Helper()
	n := 0
	for state := range t.options.Sites {
		for _, f := range t.fails(ways, state, read(state)) {
			n++
			do(f)
		}
	}
	if n == 0 {
		t.Skip(noDocument)
	}
}

// eachGetFailure harvests every state once for each answer to a Getter and each way to
// fail, with that answer failing in this way. It calls check with the target, the result
// and the contents before the run.
func (t *tester) eachGetFailure(check func(f failed, p *target, r *result, before, undisturbed *contents)) {
	t.Helper()
	if _, ok := t.options.Source().(harvest.Getter); !ok {
		t.Skip("not checked: the Source is no Getter")
	}
	base := t.baseline()
	ways := []Failure{NotThere, ServerError, NoAnswer, Broken} // they show whatever the format is
	t.eachFailed(ways, func(state int) []Exchange { return base[state].bodies }, func(f failed) {
		p := t.target(f.state)
		before := p.contents()
		r := p.run(f.state, disturbance{bodies: f.hook})
		check(f, p, r, before, base[f.state].contents)
	})
}

var getRules = []rule{
	newRule("failure", "When an answer that a Getter needs fails or breaks off, nothing is kept: the record is as it was, "+
		"and the task stays, or the run is incomplete if no task can repeat the event.",
		func(t *tester) {
			t.eachGetFailure(func(f failed, p *target, run *result, before, undisturbed *contents) {
				after := p.contents()
				for id, r := range after.Records {
					was, known := before.Records[id]
					want := undisturbed.Records[id]
					if suite.Diff(want.Bodies, r.Bodies) != "" && (!known || suite.Diff(was.Bodies, r.Bodies) != "") {
						t.Fatalf("%v: the record of %.200q has the bodies %+v, want %+v", f, id, r.Bodies, want.Bodies)
					}
				}
				live := after.live()
				for id := range undisturbed.live() {
					_, ok := live[id]
					if _, waits := after.Tasks[id]; !ok && !waits && run.whole() {
						t.Fatalf("%v: %.200q has neither a record nor a task, and the run is complete", f, id)
					}
				}
			})
		}),
	newRule("answer", "An answer that fails is a failed attempt: Get returns ErrGone only if the server did, and never "+
		"ErrNotYet, which would be tried again for ever.",
		func(t *tester) {
			t.eachGetFailure(func(f failed, p *target, _ *result, _, undisturbed *contents) {
				for task, err := range p.store.Tasks(t.Ctx, p.key, "") {
					t.OK(err, "Store.Tasks")
					id := task.Resource.ID
					_, same := undisturbed.Tasks[id]
					switch {
					case same: // it fails undisturbed, too
					case task.Gone && f.how != NotThere:
						t.Fatalf("%v: %.200q counts as gone: %s", f, id, task.Error)
					case task.Error != "" && task.Attempts == 0:
						t.Fatalf("%v: the attempt at %.200q is not counted: %s", f, id, task.Error)
					}
				}
			})
		}),
}

// interrupted returns a rule about runs that end with an error. It disturbs one run in
// every state in every way, and compares the next run with an undisturbed one.
func interrupted(name, sentence string, ways func(t *tester, r *result, end error) []disturbance, end error) rule {
	return newRule(name, sentence, func(t *tester) {
		for state, r := range t.baseline() {
			for _, d := range ways(t, r, end) {
				p := t.target(state)
				p.run(state, d)
				p.heals(r, "interrupted "+d.what)
			}
		}
	})
}

// afterEvents returns disturbances after some of the events of a run.
func (t *tester) afterEvents(r *result, end error) (all []disturbance) {
	for _, n := range t.positions(r.events) {
		all = append(all, disturbance{what: fmt.Sprintf("after event %d of %d", n, r.events), after: n, end: end})
	}
	return all
}

// atDocuments returns disturbances at some of the requests of a run.
func (t *tester) atDocuments(r *result, end error) (all []disturbance) {
	if len(r.lists) == 0 {
		t.Skip(noDocument)
	}
	for _, n := range t.positions(len(r.lists)) {
		all = append(all, disturbance{what: fmt.Sprintf("at request %d of %d", n, len(r.lists)), request: n, end: end})
	}
	return all
}

var interruptRules = []rule{
	interrupted("events", "A run that ends after any event, all before it stored, and the next run leave what an undisturbed "+
		"run does.",
		(*tester).afterEvents, errInterrupted),
	interrupted("context", "A run whose context ends after any event, and the next run, leave what an undisturbed run does.",
		(*tester).afterEvents, context.Canceled),
	interrupted("documents", "A run in which any request for a document fails, and the next run, leave what an undisturbed "+
		"run does.",
		(*tester).atDocuments, errNoAnswer),
	interrupted("documents-context", "A run whose context ends at any request for a document, and the next run, leave what "+
		"an undisturbed run does.",
		(*tester).atDocuments, context.Canceled),
	newRule("again", "Runs that are interrupted again and again, each a little later, leave what an undisturbed run does in "+
		"the end.",
		func(t *tester) {
			for state, r := range t.baseline() {
				p := t.target(state)
				for _, d := range t.afterEvents(r, errInterrupted) {
					p.run(state, d)
				}
				p.heals(r, fmt.Sprintf("interrupted after ever more of its %d events", r.events))
			}
		}),
	newRule("moved-on", "When the publisher moves on between an interrupted run and the next, the next finds all that is "+
		"there then, or is not complete.",
		func(t *tester) {
			if len(t.options.Sites) < 2 {
				t.Skip("not checked: there is one state only")
			}
			base := t.baseline()
			for state, r := range base[:len(base)-1] {
				for _, d := range t.afterEvents(r, errInterrupted) {
					p := t.target(state)
					p.run(state, d)
					if p.run(state+1, disturbance{}).whole() {
						p.holds(state+1, "after "+stateName(state)+" was interrupted "+d.what)
					}
				}
			}
		}),
}
