package sourcetest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func eventCases() []rule {
	return []rule{
		{Name: "undisturbed", Rule: "Undisturbed, a Source yields a Put, without an error and without a Problem.", Check: eventUndisturbed},
		{Name: "kinds", Rule: "An event has one of the kinds there are, and no fields but those of its kind.", Check: eventKinds},
		{Name: "ids", Rule: "Put and Delete name an id of 1 to MaxID bytes, the same from pass to pass.", Check: eventIDs},
		{Name: "id-case", Rule: "An id is kept as it is written: no letter changes its case.", Check: eventIDCase},
		{Name: "newest-last", Rule: "When an id comes twice in a pass, the second state is not older than the first.", Check: eventNewestLast},
		{Name: "instant", Rule: "Of an id's states at one instant, a Source yields only the last: an id comes once at each time, and once without a time in a snapshot.", Check: eventInstant},
		{Name: "baseline", Rule: "A Source that also has a log begins its first pass with a Mark that carries the log's position, before the snapshot.", Check: eventBaseline},
		{Name: "described", Rule: "The same state of a resource is described in the same words, from whatever checkpoint the pass begins.", Check: eventDescribed},
		{Name: "skipped", Rule: "Entries that can't be read are counted, all of them, in Skipped.", Check: eventSkipped},
		{Name: "order", Rule: "Outside of snapshots, events come oldest first.", Check: eventOrder},
		{Name: "snapshots", Rule: "Each SnapshotStart has its SnapshotEnd, and none begins inside another, unless an error ends the pass.", Check: eventSnapshots},
		{Name: "resume", Rule: "No event carries Resume from SnapshotStart until its SnapshotEnd, nor from a Problem on. A Checkpoint has a Version.", Check: eventResume},
		{Name: "complete", Rule: "After a Problem no snapshot ends Complete.", Check: eventComplete},
		{Name: "error-last", Rule: "An error is the last thing that is yielded.", Check: eventErrorLast},
		{Name: "same", Rule: "The same documents give the same events in the same order, however long each takes to come.", Check: eventSame},
		{Name: "kept", Rule: "What an event holds does not change after the yield: the engine keeps it.", Check: eventKept},
		{Name: "findings", Rule: "A finding names its document and its rule, and describes itself; Expect is never given a negative number.", Check: eventFindings},
	}
}

// plain returns passes over each state: from the beginning, from its own checkpoint, and
// from that of the state before.
func (t *tester) plain() (all []*recording) {
	t.Helper()
	var before harvest.Checkpoint
	for state := range t.states() {
		first := t.listen(pass{state: state})
		all = append(all, first)
		own := first.resume(harvest.Checkpoint{})
		if !before.IsZero() {
			next := t.listen(pass{state: state, from: before})
			all = append(all, next)
			own = next.resume(before)
		}
		if !own.IsZero() {
			all = append(all, t.listen(pass{state: state, from: own}))
		}
		before = own
	}
	return all
}

// every returns the plain passes and those in which a document fails, in two of the ways.
func (t *tester) every() []*recording {
	t.Helper()
	all := t.plain()
	t.failing([]Failure{ServerError, Cut}, func(_ failed, l *recording) { all = append(all, l) })
	return all
}

func eventUndisturbed(t *tester) {
	listed := false
	for _, l := range t.plain() {
		for _, err := range l.troubles() {
			t.Errorf("%s: %v", l.name, err)
		}
		for _, ev := range l.events {
			listed = listed || ev.Kind == harvest.Put
		}
	}
	if !listed {
		t.Error("nothing is put in any state: there is nothing to check")
	}
}

func eventKinds(t *tester) {
	for _, l := range t.every() {
		for i, ev := range l.events {
			if bad := odd(&ev); bad != "" {
				t.Fatalf("%s: event %d, %v, has %s", l.name, i+1, ev.Kind, bad)
			}
		}
	}
}

// odd returns what an event has, or lacks, against its kind.
func odd(ev *harvest.Event) string {
	of := func(kinds ...harvest.EventKind) bool {
		for _, k := range kinds {
			if ev.Kind == k {
				return true
			}
		}
		return false
	}
	switch {
	case ev.Kind > harvest.Problem:
		return "a kind that does not exist"
	case ev.Resource.ID != "" && !of(harvest.Put, harvest.Delete):
		return "a resource"
	case ev.Open != nil && !of(harvest.Put):
		return "bytes"
	case !ev.At.IsZero() && !of(harvest.Put, harvest.Delete, harvest.SnapshotStart):
		return "a time"
	case (ev.Complete || ev.Options != "") && !of(harvest.SnapshotEnd):
		return "Complete or Options"
	case ev.Skipped != 0 && !of(harvest.SnapshotEnd, harvest.Mark):
		return "Skipped"
	case ev.Skipped < 0:
		return "a negative number of skipped entries"
	case ev.Err != nil && !of(harvest.Problem):
		return "an error"
	case ev.Err == nil && of(harvest.Problem):
		return "no error"
	}
	return ""
}

func eventIDs(t *tester) {
	for _, l := range t.every() {
		for i, id := range l.ids() {
			if id == "" || len(id) > harvest.MaxID {
				t.Fatalf("%s: id %d has %d bytes", l.name, i+1, len(id))
			}
		}
	}
	for state := range t.states() {
		known := map[string]bool{}
		for _, id := range t.listen(pass{state: state}).ids() {
			known[id] = true
		}
		for _, id := range t.listen(pass{state: state}).ids() {
			if !known[id] {
				t.Fatalf("%s: another pass has %.200q, which the first does not", stateName(state), id)
			}
		}
	}
}

func eventIDCase(t *tester) {
	for state := range t.states() {
		var text strings.Builder
		for _, doc := range t.options.Sites[state] {
			text.WriteString(doc.Body + "\n")
		}
		written, folded := text.String(), strings.ToLower(text.String())
		for _, id := range t.listen(pass{state: state}).ids() {
			if !strings.Contains(written, id) && strings.Contains(folded, strings.ToLower(id)) {
				t.Fatalf("%s: the documents have no id %.200q but in other letters", stateName(state), id)
			}
		}
	}
}

// timeOf returns the time of the change of an event, as far as it is stated.
func timeOf(ev *harvest.Event) websync.Datetime {
	if ev.At.IsZero() {
		return ev.Resource.Modified
	}
	return ev.At
}

func eventNewestLast(t *tester) {
	for _, l := range t.plain() {
		last := map[string]websync.Datetime{}
		for i, ev := range l.events {
			at := timeOf(&ev)
			if ev.Kind > harvest.Delete || at.IsZero() {
				continue
			}
			id := ev.Resource.ID
			if was, ok := last[id]; ok && at.Before(was) {
				t.Fatalf("%s: event %d is of %.200q at %v, after its state of %v", l.name, i+1, id, at, was)
			}
			last[id] = at
		}
	}
}

func eventInstant(t *tester) {
	for _, l := range t.plain() {
		inside, seen := false, map[string]int{}
		for i, ev := range l.events {
			switch at := timeOf(&ev); {
			case ev.Kind == harvest.SnapshotStart, ev.Kind == harvest.SnapshotEnd:
				inside = ev.Kind == harvest.SnapshotStart
				clear(seen)
			case ev.Kind > harvest.Delete, at.IsZero() && !inside:
			default:
				key := fmt.Sprint(ev.Resource.ID, " ", at)
				if n, ok := seen[key]; ok {
					t.Fatalf("%s: events %d and %d are both of %.200q at %q", l.name, n, i+1, ev.Resource.ID, at)
				}
				seen[key] = i + 1
			}
		}
	}
}

func eventBaseline(t *tester) {
	first := t.listen(pass{state: 0})
	from, started := first.resume(harvest.Checkpoint{}), false
	for _, ev := range first.events {
		if started = ev.Kind == harvest.SnapshotStart; started || !ev.Resume.IsZero() {
			break
		}
	}
	if !started {
		return // there is no snapshot, or something comes before it
	}
	for state := range t.states() {
		if from.IsZero() {
			return
		}
		l := t.listen(pass{state: state, from: from})
		inside := false
		for i, ev := range l.events {
			switch {
			case ev.Kind == harvest.SnapshotStart, ev.Kind == harvest.SnapshotEnd:
				inside = ev.Kind == harvest.SnapshotStart
			case ev.Kind <= harvest.Delete && !inside:
				t.Fatalf("%s: event %d is of a log, and %s begins with the snapshot: what changes until it ends may be lost", l.name, i+1, first.name)
			}
		}
		from = l.resume(from)
	}
}

func eventDescribed(t *tester) {
	var before harvest.Checkpoint
	for state := range t.states() {
		whole := t.listen(pass{state: state})
		known := map[string]string{}
		for _, ev := range whole.events {
			known[stateOf(&ev)] = eventText(ev)
		}
		for _, from := range []harvest.Checkpoint{before, whole.resume(harvest.Checkpoint{})} {
			if from.IsZero() {
				continue
			}
			l := t.listen(pass{state: state, from: from})
			for i, ev := range l.events {
				want := known[stateOf(&ev)]
				if got := eventText(ev); ev.Kind <= harvest.Delete && want != "" && got != want {
					t.Fatalf("%s: event %d is %.300s, and from the beginning it is %.300s", l.name, i+1, got, want)
				}
			}
		}
		before = whole.resume(before)
	}
}

// stateOf names one state of one resource.
func stateOf(ev *harvest.Event) string { return fmt.Sprint(ev.Kind, ev.Resource.ID, " ", timeOf(ev)) }

func eventSkipped(t *tester) {
	if t.options.Skipped == nil {
		t.Skip("not checked: Options.Skipped is not set")
	}
	for state, want := range t.options.Skipped {
		got := 0
		for _, ev := range t.listen(pass{state: state}).events {
			got += int(ev.Skipped)
		}
		if got != want {
			t.Errorf("%s: %d entries count as skipped, want %d", stateName(state), got, want)
		}
	}
}

// ids returns those of all puts and deletions.
func (l *recording) ids() (ids []string) {
	for _, ev := range l.events {
		if ev.Kind <= harvest.Delete {
			ids = append(ids, ev.Resource.ID)
		}
	}
	return ids
}

func eventOrder(t *tester) {
	for _, l := range t.plain() {
		inside, last := false, websync.Datetime{}
		for i, ev := range l.events {
			at := ev.At
			if at.IsZero() {
				at = ev.Resource.Modified
			}
			switch {
			case ev.Kind == harvest.SnapshotStart, ev.Kind == harvest.SnapshotEnd:
				inside, last = ev.Kind == harvest.SnapshotStart, websync.Datetime{}
			case inside, ev.Kind > harvest.Delete, at.IsZero():
			case at.Before(last):
				t.Fatalf("%s: event %d is of %v, after one of %v", l.name, i+1, at, last)
			default:
				last = at
			}
		}
	}
}

func eventSnapshots(t *tester) {
	for _, l := range t.every() {
		inside := false
		for i, ev := range l.events {
			switch {
			case ev.Kind == harvest.SnapshotStart && inside:
				t.Fatalf("%s: event %d begins a snapshot inside a snapshot", l.name, i+1)
			case ev.Kind == harvest.SnapshotEnd && !inside:
				t.Fatalf("%s: event %d ends a snapshot that was not begun", l.name, i+1)
			case ev.Kind == harvest.SnapshotStart, ev.Kind == harvest.SnapshotEnd:
				inside = ev.Kind == harvest.SnapshotStart
			}
		}
		if inside && l.err == nil {
			t.Fatalf("%s: the last snapshot does not end", l.name)
		}
	}
}

func eventResume(t *tester) {
	for _, l := range t.every() {
		inside, problem := false, false
		for i, ev := range l.events {
			switch ev.Kind {
			case harvest.SnapshotStart:
				inside = true
			case harvest.SnapshotEnd:
				inside = false
			case harvest.Problem:
				problem = true
			}
			switch {
			case ev.Resume.IsZero():
			case inside:
				t.Fatalf("%s: event %d, %v, carries Resume inside a snapshot", l.name, i+1, ev.Kind)
			case problem:
				t.Fatalf("%s: event %d, %v, carries Resume after a Problem", l.name, i+1, ev.Kind)
			case ev.Resume.Version < 1:
				t.Fatalf("%s: event %d, %v: a checkpoint of version %d", l.name, i+1, ev.Kind, ev.Resume.Version)
			}
		}
	}
}

func eventComplete(t *tester) {
	for _, l := range t.every() {
		problem := false
		for i, ev := range l.events {
			problem = problem || ev.Kind == harvest.Problem
			if problem && ev.Complete {
				t.Fatalf("%s: event %d ends a snapshot as complete after a Problem", l.name, i+1)
			}
		}
	}
}

func eventErrorLast(t *tester) {
	for _, l := range t.every() {
		if len(l.after) > 0 {
			t.Fatalf("%s: after the error %q it yields %s", l.name, l.err, l.after[0])
		}
	}
}

func eventSame(t *tester) {
	for state := range t.states() {
		want := t.listen(pass{state: state})
		if d := differ(want, t.listen(pass{state: state})); d != "" {
			t.Fatalf("%s again: %s", want.name, d)
		}
		for first := range 2 {
			slow := slowly(want.lists.Exchanges(), first)
			if d := differ(want, t.listen(pass{state: state, hook: slow})); d != "" {
				t.Fatalf("%s, when some documents come later: %s", want.name, d)
			}
		}
	}
}

// slowly lets every other document come so late that the one after it passes, beginning
// with the one at first.
func slowly(read []Exchange, first int) hook {
	slow := map[string]bool{}
	for i, x := range read {
		slow[x.URL] = i%2 == first
	}
	return func(ctx context.Context, _ int, req *harvest.Request, doc Document) (Document, error) {
		if slow[req.URL] {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
			}
		}
		return doc, nil
	}
}

func eventKept(t *tester) {
	for _, l := range t.plain() {
		for i := range l.events {
			if now := describe(&l.events[i], nil); now != l.texts[i] {
				t.Fatalf("%s: event %d was %.300s and became %.300s", l.name, i+1, l.texts[i], now)
			}
		}
	}
}

func eventFindings(t *tester) {
	for _, l := range t.every() {
		for _, f := range l.findings {
			if bad := vague(f); bad != "" {
				t.Fatalf("%s: %s: %+v", l.name, bad, f)
			}
		}
		for _, n := range l.totals {
			if n < 0 {
				t.Fatalf("%s: Expect(%d)", l.name, n)
			}
		}
	}
}

// vague returns what a finding lacks.
func vague(f websync.Finding) string {
	switch {
	case f.Document == "":
		return "a finding without its document"
	case f.Rule == "":
		return "a finding without its rule"
	case f.Message == "" && f.Section == "":
		return "a finding that does not say what it is"
	}
	return ""
}
