package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/websync-go/websync/harvest"
)

func failureCases() []rule {
	return []rule{
		{Name: "reported", Rule: "A document that fails, in whatever way, is reported as a Problem or as the error of the pass, never as a collection without it; no snapshot is Complete.", Check: failureReported},
		{Name: "named", Rule: "The Problem, or the error, for a failed document names it.", Check: failureNamed},
		{Name: "nothing-of-it", Rule: "Nothing of a document that fails is yielded: it is read to its end and checked before its first event.", Check: failureNothingOfIt},
		{Name: "deletes-nothing", Rule: "A document that fails deletes nothing, and the run is not complete.", Check: failureDeletesNothing},
		{Name: "heals", Rule: "When the document is back, the next run is complete and leaves what an undisturbed one does.", Check: failureHeals},
	}
}

func failureReported(t *tester) {
	t.eachFailure(func(f failed, l *recording) {
		if !l.troubled() {
			t.Fatalf("%s: the pass does not report it", l.name)
		}
		if l.snapshotComplete() {
			t.Fatalf("%s: a snapshot ends Complete", l.name)
		}
	})
}

// eachFailure is failing. It skips the case if there is nothing to fail.
func (t *tester) eachFailure(each func(f failed, l *recording)) {
	t.Helper()
	n := 0
	t.failing(everyFailure, func(f failed, l *recording) { n++; each(f, l) })
	if n == 0 {
		t.Skip(noDocument)
	}
}

func failureNamed(t *tester) {
	t.eachFailure(func(f failed, l *recording) {
		final, _, _ := l.lists.Site.find(f.url, l.lists.Site.at(f.url))
		if f.how == Redirected {
			final = f.other
		}
		named := slices.ContainsFunc(l.troubles(), func(err error) bool { return names(err, f.url) || names(err, final) })
		if l.troubled() && !named {
			t.Fatalf("%s: the document is not named by %q", l.name, l.troubles())
		}
	})
}

// names reports whether an error names a document, in its text or by the method
// RequestURL.
func names(err error, url string) bool {
	var request interface{ RequestURL() string }
	return strings.Contains(err.Error(), url) || errors.As(err, &request) && request.RequestURL() == url
}

func failureNothingOfIt(t *tester) {
	t.eachFailure(func(f failed, l *recording) {
		without := f
		without.how = ServerError
		want := map[string]int{}
		for _, ev := range t.listen(pass{state: f.state, from: f.from, hook: without.hook}).events {
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
}

// eventText describes an event without its checkpoint.
func eventText(ev harvest.Event) string {
	ev.Resume = harvest.Checkpoint{}
	return describe(&ev, nil)
}

func failureDeletesNothing(t *tester) {
	checked := false
	for state := range t.states() {
		sound := t.listen(pass{state: state})
		stated := map[string]bool{}
		for _, ev := range sound.events {
			if ev.Kind == harvest.Delete {
				stated[ev.Resource.ID] = true
			}
		}
		for _, f := range t.fails(everyFailure, state, harvest.Checkpoint{}, sound.lists.Exchanges()) {
			checked = true
			t.deletesNothing(f, stated)
		}
	}
	if !checked {
		t.Skip(noDocument)
	}
}

// deletesNothing lets a document fail in a full pass over what was harvested before.
// Stated are the ids of deletions that the publisher states.
func (t *tester) deletesNothing(f failed, stated map[string]bool) {
	t.Helper()
	p := t.target(f.state + 1)
	before := p.contents().live()
	r := p.run(f.state, disturbance{full: true, lists: f.lists})
	if r.whole() {
		t.Fatalf("%v: the run is complete", f)
	}
	after := p.contents().live()
	for id := range before {
		if _, there := after[id]; !there && !stated[id] {
			t.Fatalf("%v: the record of %.200q is deleted", f, id)
		}
	}
}

func failureHeals(t *tester) {
	base := t.baseline()
	checked := false
	for state := range t.states() {
		for _, f := range t.fails(everyFailure, state, harvest.Checkpoint{}, base.runs[state].lists) {
			checked = true
			p := t.target(state)
			if r := p.run(state, disturbance{lists: f.lists}); r.whole() {
				t.Fatalf("%v: the run is complete", f)
			}
			p.undisturbed(state)
			if d := base.contents[state].diff(p.contents()); d != "" {
				t.Fatalf("%v, and the next run: %s", f, d)
			}
		}
	}
	if !checked {
		t.Skip(noDocument)
	}
}

// A failed is a document that fails, and how.
type failed struct {
	state int
	from  harvest.Checkpoint
	url   string
	how   Failure
	site  Site
	other string // URL of another document that the pass reads
}

func (f failed) String() string {
	return fmt.Sprintf("%s, %s: %v", stateName(f.state), f.url, f.how)
}

// lists returns the hook of a disturbance.
func (f failed) lists(context.CancelFunc) hook { return f.hook }

// hook lets the document fail.
func (f failed) hook(_ context.Context, _ int, req *harvest.Request, doc Document) (Document, error) {
	if req.URL == f.url {
		doc = f.how.of(doc, f.site, f.other)
	}
	return doc, nil
}

// tolerates reports whether a failure need not show.
func (t *tester) tolerates(url string, how Failure) bool {
	return t.options.Tolerates != nil && t.options.Tolerates(url, how)
}

// fails returns the failures of the documents that were read, but for those that need not
// show. The first document may be elsewhere, or another one, from one day to the next: it
// is not taken for another.
func (t *tester) fails(ways []Failure, state int, from harvest.Checkpoint, read []Exchange) (all []failed) {
	known := map[string]bool{}
	others := others(read)
	read = chosen(t, read)
	for _, x := range read {
		if x.Status != 200 && x.Status != 304 || known[x.URL] {
			continue
		}
		known[x.URL] = true
		for _, how := range ways {
			if other := others[x.URL]; !t.tolerates(x.URL, how) && (other != "" || how != Redirected && how != Mistaken) {
				all = append(all, failed{state, from, x.URL, how, t.options.Sites[state], other})
			}
		}
	}
	return all
}

// others returns, for each document but the first, the one that was read before it: what
// comes later in a chain nobody knows yet.
func others(read []Exchange) map[string]string {
	var urls []string
	for _, x := range read {
		if (x.Status == 200 || x.Status == 304) && !slices.Contains(urls, x.URL) {
			urls = append(urls, x.URL)
		}
	}
	others := map[string]string{}
	for i, url := range urls[min(1, len(urls)):] {
		others[url] = urls[i]
	}
	return others
}

// failing makes passes in each of which one document fails in one of the ways, in every
// state, from the beginning and from the checkpoint of the state before.
func (t *tester) failing(ways []Failure, each func(f failed, l *recording)) {
	t.Helper()
	starts := []harvest.Checkpoint{{}}
	for state := range t.states() {
		var last harvest.Checkpoint
		for _, from := range starts {
			sound := t.listen(pass{state: state, from: from})
			last = sound.resume(from)
			for _, f := range t.fails(ways, state, from, sound.lists.Exchanges()) {
				l := t.listen(pass{state: state, from: from, hook: f.hook})
				l.name += ", with " + f.url + " failing: " + f.how.String()
				each(f, l)
			}
		}
		if starts = starts[:1]; !last.IsZero() {
			starts = append(starts, last)
		}
	}
}
