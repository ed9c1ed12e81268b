package sourcetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync/harvest"
)

func releaseCases() []rule {
	return []rule{
		{Name: "end", Rule: "After a pass no body or spool is open, no goroutine is left, and the Source is silent.", Check: releaseEnd},
		{Name: "break", Rule: "After a break, whatever the event, no body or spool is open, no goroutine is left, and the Source is silent.", Check: releaseBreak},
		{Name: "pending", Rule: "A break gives up the requests that are under way: nobody waits for their answers.", Check: releasePending},
		{Name: "failure", Rule: "After a pass in which a document failed, no body or spool is open, no goroutine is left, and the Source is silent.", Check: releaseFailure},
		{Name: "yield", Rule: "While yield runs, which may take days, no body is open but spools: the Source holds no connection.", Check: releaseYield},
	}
}

func releaseEnd(t *tester) {
	for _, l := range t.plain() {
		t.released(l)
	}
}

func releaseBreak(t *tester) {
	t.eachStart(func(state int, from harvest.Checkpoint, events int) {
		for _, n := range t.positions(events) {
			l := t.listen(pass{state: state, from: from, stop: n})
			l.name += fmt.Sprintf(" that is left after event %d", n)
			t.released(l)
		}
	})
}

// eachStart calls f for every state, from the beginning and from the checkpoint of the
// state before, with how many events a pass gives.
func (t *tester) eachStart(f func(state int, from harvest.Checkpoint, events int)) {
	t.Helper()
	var before harvest.Checkpoint
	for state := range t.states() {
		whole := t.listen(pass{state: state})
		f(state, harvest.Checkpoint{}, len(whole.events))
		if !before.IsZero() {
			whole = t.listen(pass{state: state, from: before})
			f(state, before, len(whole.events))
		}
		before = whole.resume(before)
	}
}

func releasePending(t *tester) {
	t.eachStart(func(state int, from harvest.Checkpoint, _ int) {
		sound := t.listen(pass{state: state, from: from})
		for k := range min(6, len(sound.lists.Exchanges())) {
			p := &pending{k: k + 1, begun: make(chan struct{}), over: t.Ctx.Done()}
			l := t.listen(pass{state: state, from: from, hook: p.hook, each: p.each})
			l.name += fmt.Sprintf(" that is left while document %d is under way", k+1)
			t.released(l)
		}
	})
}

// A pending request waits. When an event comes meanwhile, the pass is left, and the
// request ends with its context; when none comes, because the Source waits, too, it is
// answered.
type pending struct {
	k       int
	begun   chan struct{} // closed when the request is there
	decided atomic.Bool   // which of the two it is
	over    <-chan struct{}
}

const pendingWait = 20 * time.Millisecond

func (p *pending) hook(ctx context.Context, n int, _ *harvest.Request, doc Document) (Document, error) {
	if n != p.k {
		return doc, nil
	}
	close(p.begun)
	select {
	case <-time.After(pendingWait):
		if p.decided.CompareAndSwap(false, true) {
			return doc, nil
		}
	case <-ctx.Done():
	}
	select {
	case <-ctx.Done():
	case <-p.over:
	}
	return doc, context.Canceled
}

// each leaves the pass if the request is under way, or begins right now.
func (p *pending) each(l *recording, _ *harvest.Event) error {
	select {
	case <-p.begun:
	case <-time.After(pendingWait / time.Duration(10*len(l.events))):
		return nil
	}
	if p.decided.CompareAndSwap(false, true) {
		return errBreak
	}
	return nil
}

func releaseFailure(t *tester) {
	t.eachFailure(func(_ failed, l *recording) { t.released(l) })
}

func releaseYield(t *tester) {
	t.eachStart(func(state int, from harvest.Checkpoint, _ int) {
		t.listen(pass{state: state, from: from, each: func(l *recording, _ *harvest.Event) error {
			if t.soon(func() bool { return l.lists.openStreams() == 0 }) {
				return nil
			}
			return fmt.Errorf("while event %d is yielded %d bodies are open that are no spools", len(l.events), l.lists.openStreams())
		}})
	})
}
