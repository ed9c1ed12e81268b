package sourcetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A pass is one walk along a Source, without the engine.
type pass struct {
	state  int
	source harvest.Source  // nil: a new one
	ctx    context.Context // nil: the case's
	from   harvest.Checkpoint
	stop   int // break after so many events; 0: never
	hook   hook
	// called while yield runs; an error breaks off and, but for errBreak, ends the case
	each func(l *recording, ev *harvest.Event) error
}

// errBreak breaks off a pass.
var errBreak = errors.New("break")

type hook = func(ctx context.Context, n int, req *harvest.Request, doc Document) (Document, error)

// A recording is what a Source yielded in one pass, and what it did besides.
type recording struct {
	name   string
	events []harvest.Event
	err    error // that it yielded

	lists *Fetcher
	key   string // label of the goroutines that the pass has started

	mu       sync.Mutex
	over     bool
	late     []string // what it did when it was over
	after    []string // what it yielded after an error
	findings []websync.Finding
	totals   []int64
	texts    []string // the events as they were yielded
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
	if p.ctx == nil {
		p.ctx = t.Ctx
	}
	if p.source == nil {
		p.source = t.options.Source()
	}
	l := &recording{
		name:  "a pass over " + stateName(p.state),
		lists: &Fetcher{Site: t.options.Sites[p.state], Hook: p.hook},
		key:   strconv.FormatInt(passes.Add(1), 10),
	}
	if !p.from.IsZero() {
		l.name += " from a checkpoint"
	}
	err := t.Await(func() (fault error) {
		pprof.Do(p.ctx, pprof.Labels(passLabel, l.key), func(ctx context.Context) { fault = l.walk(ctx, p) })
		return fault
	})
	if err == errBreak {
		err = nil
	}
	return l, err
}

func (l *recording) walk(ctx context.Context, p pass) (fault error) {
	run := &harvest.Run{
		From:    harvest.Checkpoint{Version: p.from.Version, Data: bytes.Clone(p.from.Data)},
		Fetcher: l,
		Report:  func(f websync.Finding) { l.note("reports a finding", func() { l.findings = append(l.findings, f) }) },
		Expect:  func(n int64) { l.note("calls Expect", func() { l.totals = append(l.totals, n) }) },
		Log:     slog.New(slog.DiscardHandler),
	}
	defer l.note("", func() { l.over = true })
	broken := false
	p.source.Events(ctx, run)(func(ev harvest.Event, err error) bool {
		switch {
		case broken:
			l.note("", func() { l.late = append(l.late, "yields after a break") })
			return false
		case l.err != nil:
			l.after = append(l.after, describe(&ev, err))
			return true
		case err != nil:
			l.err = err
			return true // nobody would, but then it shows what more it yields
		}
		l.events = append(l.events, ev)
		l.texts = append(l.texts, describe(&ev, nil))
		if p.each != nil {
			fault = p.each(l, &ev)
		}
		broken = fault != nil || len(l.events) == p.stop
		return !broken
	})
	return fault
}

// note takes down something that the Source does, and that it must not do when the pass
// is over.
func (l *recording) note(what string, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over && what != "" {
		l.late = append(l.late, what)
	}
	f()
}

// Fetch is that of the Source's Run.
func (l *recording) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	l.note("asks for "+req.URL, func() {})
	return l.lists.Fetch(ctx, req)
}

// resume returns the last checkpoint that the Source gave; from if there is none.
func (l *recording) resume(from harvest.Checkpoint) harvest.Checkpoint {
	for _, ev := range slices.Backward(l.events) {
		if !ev.Resume.IsZero() {
			return ev.Resume
		}
	}
	return from
}

// troubled reports whether the Source yielded a Problem or an error.
func (l *recording) troubled() bool { return len(l.troubles()) > 0 }

// troubles returns its Problems and its error.
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

// snapshotComplete reports whether a snapshot ended Complete.
func (l *recording) snapshotComplete() bool {
	return slices.ContainsFunc(l.events, func(ev harvest.Event) bool { return ev.Complete })
}

// goroutines returns the stacks of those that the pass has started and that are still
// there.
func (l *recording) goroutines() (stacks []string) {
	var all bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&all, 1)
	mark := fmt.Sprintf("%q:%q", passLabel, l.key)
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, mark) {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// released ends the case if a pass that is over has left something behind, after it has
// come to rest.
func (t *tester) released(l *recording) {
	t.Helper()
	var left []string
	if !t.soon(func() bool { left = l.goroutines(); return len(left) == 0 }) {
		t.Fatalf("%s: goroutines are left:\n%s", l.name, strings.Join(left, "\n"))
	}
	if streams, spools := l.lists.Open(); streams+spools > 0 {
		t.Fatalf("%s: not closed: %d bodies, %d spools", l.name, streams, spools)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.late) > 0 {
		t.Fatalf("%s: when it is over the Source %s", l.name, l.late[0])
	}
}

// describe returns all fields of an event, in one line.
func describe(ev *harvest.Event, err error) string {
	if err != nil {
		return fmt.Sprintf("error %q", err)
	}
	var b strings.Builder
	b.WriteString(ev.Kind.String())
	if !reflect.ValueOf(ev.Resource).IsZero() {
		text, _ := json.Marshal(ev.Resource)
		fmt.Fprintf(&b, " %q %s", ev.Resource.ID, text)
	}
	if !ev.At.IsZero() {
		fmt.Fprintf(&b, " at %v", ev.At)
	}
	if ev.Open != nil {
		b.WriteString(" with bytes")
	}
	if ev.Complete {
		b.WriteString(" complete")
	}
	if ev.Skipped != 0 {
		fmt.Fprintf(&b, " skipped %d", ev.Skipped)
	}
	if ev.Options != "" {
		fmt.Fprintf(&b, " options %q", ev.Options)
	}
	if ev.Err != nil {
		fmt.Fprintf(&b, " %q", ev.Err)
	}
	if !ev.Resume.IsZero() {
		fmt.Fprintf(&b, " resume %d %q", ev.Resume.Version, ev.Resume.Data)
	}
	return b.String()
}

// differ returns where two tales part, "" if they don't.
func differ(want, got *recording) string {
	for i := range min(len(want.texts), len(got.texts)) {
		if want.texts[i] != got.texts[i] {
			return fmt.Sprintf("event %d: got %.300s, want %.300s", i+1, got.texts[i], want.texts[i])
		}
	}
	if len(want.texts) != len(got.texts) {
		return fmt.Sprintf("got %d events, want %d", len(got.texts), len(want.texts))
	}
	if fmt.Sprint(want.err) != fmt.Sprint(got.err) {
		return fmt.Sprintf("got the error %v, want %v", got.err, want.err)
	}
	return ""
}
