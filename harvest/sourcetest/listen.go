package sourcetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A pass is one walk along a Source, without the engine.
type pass struct {
	what   string // how it differs from others, for messages
	state  int
	source harvest.Source  // nil: a new one
	ctx    context.Context // nil: the case's
	from   harvest.Checkpoint
	stop   int // break after so many events; 0: never
	hook   hook
	// called inside yield; it may set l.stop; an error breaks off and ends the case
	each func(l *recording, ev *harvest.Event) error
}

type hook = func(ctx context.Context, n int, req *harvest.Request, doc Document) (Document, error)

// A recording is what a Source yielded in one pass, and what else it did.
type recording struct {
	pass
	name   string
	events []harvest.Event
	err    error // that it yielded

	lists *Fetcher
	key   string // label of the goroutines that the pass has started

	mu       sync.Mutex
	over     bool
	late     []string // what it did after the end of the pass
	after    []string // what it yielded after an error
	findings []websync.Finding
	total    int64    // the least that it expected
	texts    []string // the events, and the error, as they were yielded
}

var passes atomic.Int64

// passLabel marks all goroutines that a pass starts, and those that they start.
const passLabel = "sourcetest"

// listen makes a pass. It ends the case if the Source does not come to its end.
func (t *tester) listen(p pass) *recording {
	t.Helper()
	l, err := t.tryListen(p)
	t.OK(err, "%s", l.name)
	return l
}

// tryListen is listen for goroutines that must not end the case.
func (t *tester) tryListen(p pass) (*recording, error) {
	t.enter(p.state)
	l := &recording{
		pass:  p,
		name:  "a pass over " + stateName(p.state),
		lists: &Fetcher{Site: t.options.Sites[p.state], Hook: p.hook},
		key:   fmt.Sprint(passes.Add(1)),
	}
	if !p.from.IsZero() {
		l.name += " from a checkpoint"
	}
	l.name += p.what
	ctx, source := cmp.Or(p.ctx, t.Ctx), p.source
	if source == nil {
		source = t.options.Source()
	}
	err := t.Await(func() (fault error) {
		pprof.Do(ctx, pprof.Labels(passLabel, l.key), func(ctx context.Context) { fault = l.walk(ctx, source) })
		return fault
	})
	return l, err
}

func (l *recording) walk(ctx context.Context, source harvest.Source) (fault error) {
	run := &harvest.Run{
		From:    harvest.Checkpoint{Version: l.from.Version, Data: bytes.Clone(l.from.Data)},
		Fetcher: l,
		Report:  func(f websync.Finding) { l.note("reports a finding", func() { l.findings = append(l.findings, f) }) },
		Expect:  func(n int64) { l.note("calls Expect", func() { l.total = min(l.total, n) }) },
		Log:     slog.New(slog.DiscardHandler),
	}
	defer l.note("", func() { l.over = true })
	broken := false
	source.Events(ctx, run)(func(ev harvest.Event, err error) bool {
		switch {
		case broken:
			l.note("", func() { l.late = append(l.late, "yields after a break") })
			return false
		case l.err != nil:
			l.after = append(l.after, describe(&ev, err))
			return true
		case err != nil:
			l.err, l.texts = err, append(l.texts, describe(&ev, err))
			return true // no caller would, but then the Source may yield more
		}
		l.events = append(l.events, ev)
		l.texts = append(l.texts, describe(&ev, nil))
		if l.each != nil {
			fault = l.each(l, &ev)
		}
		broken = fault != nil || len(l.events) == l.stop
		return !broken
	})
	return fault
}

// note records something that the Source does, and that it must not do after the pass.
func (l *recording) note(what string, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over && what != "" {
		l.late = append(l.late, what)
	}
	f()
}

// Fetch implements [harvest.Fetcher] for the Source's Run.
func (l *recording) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	l.note("requests "+req.URL, func() {})
	return l.lists.Fetch(ctx, req)
}

// starts makes undisturbed passes over each state, from the beginning and from the
// checkpoint of the state before.
func (t *tester) starts() iter.Seq[*recording] {
	return func(yield func(*recording) bool) {
		var before harvest.Checkpoint
		for state := range t.options.Sites {
			from := []harvest.Checkpoint{{}, before}
			if before.IsZero() {
				from = from[:1]
			}
			for _, from := range from {
				l := t.listen(pass{state: state, from: from})
				if before = l.resume(); !yield(l) {
					return
				}
			}
		}
	}
}

// plain returns the passes of starts, and one from the checkpoint that each of them
// gives.
func (t *tester) plain() (all []*recording) {
	t.Helper()
	for l := range t.starts() {
		all = append(all, l)
		if own := l.resume(); !own.IsZero() {
			all = append(all, t.listen(pass{state: l.state, from: own}))
		}
	}
	return all
}

// every returns the passes of plain and those in which a document fails, in two ways.
func (t *tester) every() []*recording {
	t.Helper()
	all := t.plain()
	t.failing([]Failure{ServerError, Cut}, func(_ failed, l *recording) { all = append(all, l) })
	return all
}

// resume returns the last checkpoint that the Source gave; that of the pass if it gave
// none.
func (l *recording) resume() harvest.Checkpoint {
	for _, ev := range slices.Backward(l.events) {
		if !ev.Resume.IsZero() {
			return ev.Resume
		}
	}
	return l.from
}

// troubles returns the Problems and the error that the Source yielded.
func (l *recording) troubles() (errs []error) {
	for _, ev := range l.events {
		if ev.Kind == harvest.Problem {
			errs = append(errs, ev.Err)
		}
	}
	if l.err != nil {
		errs = append(errs, l.err)
	}
	return errs
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

// released waits for the goroutines of a pass that is over. It ends the case if the pass
// has left something behind.
func (t *tester) released(l *recording) {
	t.Helper()
	var left []string
	gone := func() bool {
		var all bytes.Buffer
		pprof.Lookup("goroutine").WriteTo(&all, 1)
		mark := fmt.Sprintf("%q:%q", passLabel, l.key)
		stacks := strings.Split(all.String(), "\n\n")
		left = slices.DeleteFunc(stacks, func(stack string) bool { return !strings.Contains(stack, mark) })
		return len(left) == 0
	}
	if !t.soon(gone) {
		t.Fatalf("%s: goroutines are left:\n%s", l.name, strings.Join(left, "\n"))
	}
	if streams, spools := l.lists.Open(); streams+spools > 0 {
		t.Fatalf("%s: not closed: %d streams, %d spools", l.name, streams, spools)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.late) > 0 {
		t.Fatalf("%s: after its end the Source %s", l.name, l.late[0])
	}
}

// describe returns all fields of an event, in one line.
func describe(ev *harvest.Event, err error) string {
	if err != nil {
		return fmt.Sprintf("error %q", err)
	}
	resource, _ := json.Marshal(ev.Resource)
	return fmt.Sprintf("%v %q at %q: bytes %t, complete %t, skipped %d, options %q, error %q, resume %d %q, resource %s",
		ev.Kind, ev.Resource.ID, ev.At, ev.Open != nil, ev.Complete, ev.Skipped, ev.Options, fmt.Sprint(ev.Err),
		ev.Resume.Version, ev.Resume.Data, resource)
}

// eventText describes an event without its checkpoint.
func eventText(ev harvest.Event) string {
	ev.Resume = harvest.Checkpoint{}
	return describe(&ev, nil)
}

// differ returns where two recordings differ, "" if they don't.
func differ(want, got *recording) string {
	for i := range min(len(want.texts), len(got.texts)) {
		if want.texts[i] != got.texts[i] {
			return fmt.Sprintf("event %d: got %.300s, want %.300s", i+1, got.texts[i], want.texts[i])
		}
	}
	if len(want.texts) != len(got.texts) {
		return fmt.Sprintf("got %d events, want %d", len(got.texts), len(want.texts))
	}
	return ""
}
