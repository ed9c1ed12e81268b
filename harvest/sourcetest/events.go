package sourcetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

// A step is one event of a recording.
type step struct {
	harvest.Event
	l       *recording
	n       int              // of the event, counted from 1
	time    websync.Datetime // of the change, as far as it is stated
	was     bool             // a snapshot has begun, and not ended, before the event
	inside  bool             // a snapshot has begun, and not ended, with the event
	problem bool             // it is a Problem or comes after one

	last map[string]websync.Datetime // for the check's own use
	seen map[string]int
}

// change reports whether the event is a Put or a Delete.
func (s *step) change() bool { return s.Kind <= harvest.Delete }

// eachEvent returns a rule about every event of some passes. fault returns what is wrong
// with an event.
func eachEvent(name, sentence string, passes func(*tester) []*recording, fault func(s *step) string) rule {
	return newRule(name, sentence, func(t *tester) {
		for _, l := range passes(t) {
			s := step{l: l, last: map[string]websync.Datetime{}, seen: map[string]int{}}
			for i, ev := range l.events {
				s.Event, s.n, s.time, s.was = ev, i+1, timeOf(&ev), s.inside
				s.inside = ev.Kind == harvest.SnapshotStart || s.inside && ev.Kind != harvest.SnapshotEnd
				s.problem = s.problem || ev.Kind == harvest.Problem
				if bad := fault(&s); bad != "" {
					t.Fatalf("%s: event %d, %v, %s", l.name, s.n, ev.Kind, bad)
				}
			}
		}
	})
}

// timeOf returns the time of the change of an event, as far as it is stated.
func timeOf(ev *harvest.Event) websync.Datetime {
	if ev.At.IsZero() {
		return ev.Resource.Modified
	}
	return ev.At
}

var eventRules = []rule{
	newRule("undisturbed", "Undisturbed, a Source yields a Put, and neither an error nor a Problem.", func(t *tester) {
		listed := false
		for _, l := range t.plain() {
			for _, err := range l.troubles() {
				t.Errorf("%s: %v", l.name, err)
			}
			listed = listed || slices.ContainsFunc(l.events, func(ev harvest.Event) bool { return ev.Kind == harvest.Put })
		}
		if !listed {
			t.Error("no pass yields a Put: there is nothing to check")
		}
	}),
	eachEvent("kinds", "An event has one of the kinds there are, and no fields but those of its kind.",
		(*tester).every, func(s *step) string {
			end := s.Kind == harvest.SnapshotEnd
			for what, has := range map[string]bool{
				"a kind that does not exist": s.Kind > harvest.Unchanged,
				"a resource":                 s.Resource.ID != "" && !s.change(),
				"bytes":                      s.Open != nil && s.Kind != harvest.Put,
				"a time":                     !s.At.IsZero() && !s.change() && s.Kind != harvest.SnapshotStart,
				"Complete, Whole or Options": (s.Complete || s.Whole || s.Options != "") && !end,
				"Skipped":                    s.Skipped != 0 && !end && s.Kind != harvest.Mark,
				"a negative Skipped":         s.Skipped < 0,
				"a document":                 s.Document != "" && s.Kind != harvest.Unchanged && s.Kind != harvest.Put,
				"no document":                s.Document == "" && s.Kind == harvest.Unchanged,
				"an error":                   s.Err != nil && s.Kind != harvest.Problem,
				"no error":                   s.Err == nil && s.Kind == harvest.Problem,
			} {
				if has {
					return "has " + what
				}
			}
			return ""
		}),
	newRule("ids", "Put and Delete name an id of 1 to MaxID bytes, the same from pass to pass.", func(t *tester) {
		for _, l := range t.every() {
			for i, id := range l.ids() {
				if id == "" || len(id) > harvest.MaxID {
					t.Fatalf("%s: id %d has %d bytes, want 1 to %d", l.name, i+1, len(id), harvest.MaxID)
				}
			}
		}
		for state := range t.options.Sites {
			first, second := t.listen(pass{state: state}).ids(), t.listen(pass{state: state}).ids()
			if !slices.Equal(first, second) {
				t.Fatalf("%s: a pass has the ids %.300q, and the next one %.300q", stateName(state), first, second)
			}
		}
	}),
	newRule("id-case", "An id is kept as it is written: no letter changes its case.", func(t *tester) {
		for state := range t.options.Sites {
			var text strings.Builder
			for _, doc := range t.options.Sites[state] {
				text.WriteString(doc.Body + "\n")
			}
			written, folded := text.String(), strings.ToLower(text.String())
			for _, id := range t.listen(pass{state: state}).ids() {
				if !strings.Contains(written, id) && strings.Contains(folded, strings.ToLower(id)) {
					t.Fatalf("%s: the documents write the id %.200q with other upper and lower case", stateName(state), id)
				}
			}
		}
	}),
	eachEvent("newest-last", "When an id comes twice in a pass, the second state is not older than the first.",
		(*tester).plain, func(s *step) string {
			if !s.change() || s.time.IsZero() {
				return ""
			}
			id := s.Resource.ID
			if was := s.last[id]; s.time.Before(was) {
				return fmt.Sprintf("is of %.200q at %v, after its state of %v", id, s.time, was)
			}
			s.last[id] = s.time
			return ""
		}),
	eachEvent("instant", "Of an id's states at one instant, a Source yields only the last: an id comes once at each time, "+
		"and once without a time in a snapshot.",
		(*tester).plain, func(s *step) string {
			if s.was != s.inside {
				clear(s.seen)
			}
			if !s.change() || s.time.IsZero() && !s.inside {
				return ""
			}
			key := fmt.Sprint(s.Resource.ID, " ", s.time)
			if n, ok := s.seen[key]; ok {
				return fmt.Sprintf("is of %.200q at %q, as event %d is", s.Resource.ID, s.time, n)
			}
			s.seen[key] = s.n
			return ""
		}),
	eachEvent("baseline", "A Source that also has a log begins its first pass with a Mark that carries the log's position, "+
		"before the snapshot.",
		afterSnapshot, func(s *step) string {
			if s.change() && !s.inside {
				return "is of a log, and the first pass begins with the snapshot: changes during the snapshot may be lost"
			}
			return ""
		}),
	newRule("described", "The same state of a resource is described in the same words, from whatever checkpoint the pass "+
		"begins.",
		func(t *tester) {
			known := map[string]string{} // from the beginning, by id and time
			for _, l := range t.plain() {
				if l.from.IsZero() {
					clear(known)
				}
				for i, ev := range l.events {
					key, got := fmt.Sprint(ev.Kind, ev.Resource.ID, " ", timeOf(&ev)), eventText(ev)
					if l.from.IsZero() {
						known[key] = got
					} else if want := known[key]; ev.Kind <= harvest.Delete && want != "" && got != want {
						t.Fatalf("%s: event %d is %.300s, and from the beginning it is %.300s", l.name, i+1, got, want)
					}
				}
			}
		}),
	newRule("skipped", "Entries that can't be read are counted, all of them, in Skipped.", func(t *tester) {
		if t.options.Skipped == nil {
			t.Skip("not checked: Options.Skipped is not set")
		}
		for state, want := range t.options.Skipped {
			got := 0
			for _, ev := range t.listen(pass{state: state}).events {
				got += ev.Skipped
			}
			if got != want {
				t.Errorf("%s: %d entries count as skipped, want %d", stateName(state), got, want)
			}
		}
	}),
	eachEvent("order", "Outside of snapshots, events come oldest first.", (*tester).plain, func(s *step) string {
		last := s.last[""]
		switch {
		case s.was != s.inside:
			clear(s.last)
		case s.inside || !s.change() || s.time.IsZero():
		case s.time.Before(last):
			return fmt.Sprintf("is of %v, after one of %v", s.time, last)
		default:
			s.last[""] = s.time
		}
		return ""
	}),
	eachEvent("snapshots", "Each SnapshotStart has its SnapshotEnd, and none begins inside another, unless an error ends the "+
		"pass.",
		(*tester).every, func(s *step) string {
			switch {
			case s.Kind == harvest.SnapshotStart && s.was:
				return "begins a snapshot inside a snapshot"
			case s.Kind == harvest.SnapshotEnd && !s.was:
				return "ends a snapshot that was not begun"
			case s.inside && s.n == len(s.l.events) && s.l.err == nil:
				return "is the last, and the snapshot has not ended"
			}
			return ""
		}),
	eachEvent("resume", "No event carries Resume from SnapshotStart until its SnapshotEnd, nor from a Problem on. A "+
		"Checkpoint has a Version.",
		(*tester).every, func(s *step) string {
			switch {
			case s.Resume.IsZero():
			case s.inside:
				return "carries Resume inside a snapshot"
			case s.problem:
				return "carries Resume after a Problem"
			case s.Resume.Version < 1:
				return fmt.Sprintf("carries a checkpoint of version %d, want at least 1", s.Resume.Version)
			}
			return ""
		}),
	eachEvent("complete", "After a Problem no snapshot ends Complete.", (*tester).every, func(s *step) string {
		if s.problem && s.Complete {
			return "is Complete after a Problem"
		}
		return ""
	}),
	newRule("error-last", "An error is the last thing that is yielded.", func(t *tester) {
		for _, l := range t.every() {
			if len(l.after) > 0 {
				t.Fatalf("%s: after the error %q it yields %s", l.name, l.err, l.after[0])
			}
		}
	}),
	newRule("same", "The same documents give the same events in the same order, however long each takes to come.",
		func(t *tester) {
			for state := range t.options.Sites {
				want := t.listen(pass{state: state})
				for first, what := range []string{", with every other document late", ", with the others late", " again"} {
					l := t.listen(pass{state: state, hook: slowly(want.lists.Exchanges(), first), what: what})
					if d := differ(want, l); d != "" {
						t.Fatalf("%s: %s", l.name, d)
					}
				}
			}
		}),
	eachEvent("kept", "What an event holds does not change after the yield: the engine keeps it.",
		(*tester).plain, func(s *step) string {
			if was, is := s.l.texts[s.n-1], describe(&s.Event, nil); was != is {
				return fmt.Sprintf("was %.300s and became %.300s", was, is)
			}
			return ""
		}),
	newRule("findings", "A finding has its document, its rule, and a message or a section; the number given to Expect is not "+
		"negative.",
		func(t *tester) {
			for _, l := range t.every() {
				for _, f := range l.findings {
					if f.Document == "" || f.Rule == "" || f.Message == "" && f.Section == "" {
						t.Fatalf("%s: a finding lacks Document, Rule, or both Message and Section: %+v", l.name, f)
					}
				}
				if l.total < 0 {
					t.Fatalf("%s: Expect(%d), want no negative number", l.name, l.total)
				}
			}
		}),
}

// afterSnapshot returns passes over all states, each from the checkpoint of the one
// before, of a Source that begins with a snapshot.
func afterSnapshot(t *tester) (all []*recording) {
	l := t.listen(pass{state: 0})
	for _, ev := range l.events {
		if ev.Kind == harvest.SnapshotStart {
			break
		}
		if !ev.Resume.IsZero() {
			return nil
		}
	}
	for state := 0; state < len(t.options.Sites) && !l.resume().IsZero(); state++ {
		l = t.listen(pass{state: state, from: l.resume()})
		all = append(all, l)
	}
	return all
}

// slowly delays every other document, beginning with the one at first, 0 or 1, so that
// the next one overtakes it.
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

var byteRules = []rule{
	newRule("open", "The bytes of an event can be opened again and by several at once, until the yield of the next Mark "+
		"returns, or after the pass if there is none.",
		func(t *tester) {
			t.eachOpen(func(l *recording, open map[int][]byte) error {
				some := slices.Sorted(maps.Keys(open))
				return suite.Together(len(some), func(k int) error {
					i := some[k]
					if err := openAgain(&l.events[i], open[i]); err != nil {
						return fmt.Errorf("the bytes of event %d, after event %d: %w", i+1, len(l.events), err)
					}
					return nil
				})
			})
		}),
	newRule("stated", "The bytes of an event have the length and the digests that it states.", func(t *tester) {
		t.eachOpen(func(l *recording, open map[int][]byte) error {
			for i, data := range open {
				_, err := io.Copy(io.Discard, l.events[i].Resource.Content.Verify(bytes.NewReader(data)))
				if err != nil {
					return fmt.Errorf("the bytes of event %d: %w", i+1, err)
				}
			}
			return nil
		})
	}),
}

// eachOpen makes the passes of starts and reads the bytes of every event that has some,
// at once. At every Mark, and after the pass, it calls again with the bytes that can
// still be opened, by the index of their event.
func (t *tester) eachOpen(again func(l *recording, open map[int][]byte) error) {
	t.Helper()
	any := false
	for sound := range t.starts() {
		open, p := map[int][]byte{}, sound.pass
		p.each = func(l *recording, ev *harvest.Event) error {
			if n := len(l.events); ev.Open != nil {
				any = true
				data, err := readAll(ev)
				if err != nil {
					return fmt.Errorf("the bytes of event %d: %w", n, err)
				}
				open[n-1] = data
			}
			if ev.Kind != harvest.Mark {
				return nil
			}
			err := again(l, open)
			clear(open)
			return err
		}
		l := t.listen(p)
		t.OK(again(l, open), "%s", l.name)
	}
	if !any {
		t.Skip("not checked: no event has bytes")
	}
}

func readAll(ev *harvest.Event) ([]byte, error) {
	r, err := ev.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

// openAgain reads the bytes of an event twice, the second time in the middle of the
// first.
func openAgain(ev *harvest.Event, want []byte) error {
	first, err := ev.Open()
	if err != nil {
		return err
	}
	defer first.Close()
	head := make([]byte, len(want)/2)
	_, err = io.ReadFull(first, head)
	second, err2 := readAll(ev)
	rest, err3 := io.ReadAll(first)
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	if !bytes.Equal(second, want) || !bytes.Equal(append(head, rest...), want) {
		return errors.New("they differ from the first time")
	}
	return nil
}
