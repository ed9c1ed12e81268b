package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync/harvest"
)

var releaseRules = []rule{
	newRule("end", "After a pass no stream or spool is open, no goroutine is left, and the Source does nothing more.",
		func(t *tester) {
			for _, l := range t.plain() {
				t.released(l)
			}
		}),
	newRule("break", "After a break at any event no stream or spool is open, no goroutine is left, and the Source does "+
		"nothing more.",
		func(t *tester) {
			for sound := range t.starts() {
				for _, n := range t.positions(len(sound.events)) {
					p := sound.pass
					p.stop, p.what = n, fmt.Sprintf(" that ends in a break after event %d", n)
					t.released(t.listen(p))
				}
			}
		}),
	newRule("pending", "A break cancels the requests that are under way: the Source does not wait for their answers.",
		func(t *tester) {
			for sound := range t.starts() {
				for k := range min(6, len(sound.lists.Exchanges())) {
					w := &pending{k: k + 1, begun: make(chan struct{}), over: t.Ctx.Done()}
					p := sound.pass
					p.hook, p.each, p.what = w.hook, w.each, fmt.Sprintf(" that ends in a break while request %d waits", k+1)
					t.released(t.listen(p))
				}
			}
		}),
	newRule("failure", "After a pass in which a document failed, no stream or spool is open, no goroutine is left, and the "+
		"Source does nothing more.",
		func(t *tester) {
			t.eachFailure(func(_ failed, l *recording) { t.released(l) })
		}),
	newRule("yield", "During a yield, which may take days, no stream is open: the Source holds no connection.",
		func(t *tester) {
			for sound := range t.starts() {
				p := sound.pass
				p.each = func(l *recording, _ *harvest.Event) error {
					open := 0
					if t.soon(func() bool { open, _ = l.lists.Open(); return open == 0 }) {
						return nil
					}
					return fmt.Errorf("%d streams are open during the yield of event %d", open, len(l.events))
				}
				t.listen(p)
			}
		}),
}

// A pending request waits. If an event comes meanwhile, the pass breaks off, and the
// request ends with its context. If none comes, because the Source waits for the request,
// it is answered.
type pending struct {
	k       int
	begun   chan struct{} // closed when the request begins
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

// each breaks off if the request waits, or begins right now.
func (p *pending) each(l *recording, _ *harvest.Event) error {
	select {
	case <-p.begun:
	case <-time.After(pendingWait / time.Duration(10*len(l.events))):
		return nil
	}
	if p.decided.CompareAndSwap(false, true) {
		l.stop = len(l.events)
	}
	return nil
}

// stopped makes the pass of sound with a context that prepare ends, or sets up to be
// ended, and checks how the pass ends.
func (t *tester) stopped(sound *recording, what string, prepare func(p *pass, cancel context.CancelFunc)) {
	t.Helper()
	p := sound.pass
	ctx, cancel := context.WithCancel(t.Ctx)
	defer cancel()
	p.ctx, p.what = ctx, what
	prepare(&p, cancel)
	l := t.listen(p)
	cancel()
	for _, ev := range l.events {
		if ev.Kind == harvest.Problem && errors.Is(ev.Err, context.Canceled) {
			t.Fatalf("%s: the end of the context becomes a Problem: %v", l.name, ev.Err)
		}
	}
	if l.err == nil {
		if d := differ(sound, l); d != "" {
			t.Fatalf("%s: it ends without an error, but differs from an undisturbed pass: %s", l.name, d)
		}
	} else if !errors.Is(l.err, context.Canceled) {
		t.Fatalf("%s: it ends with %q, not with the context's error", l.name, l.err)
	}
	t.released(l)
}

var stopRules = []rule{
	newRule("before", "When the context has ended before it begins, a pass yields the context's error or, if it needs no "+
		"request, all its events.",
		func(t *tester) {
			for sound := range t.starts() {
				t.stopped(sound, " whose context has ended before", func(_ *pass, cancel context.CancelFunc) { cancel() })
			}
		}),
	newRule("during", "When the context ends after an event, the pass ends with its error or yields the other events; no "+
		"document becomes a Problem. All is released.",
		func(t *tester) {
			for sound := range t.starts() {
				for _, n := range t.positions(len(sound.events)) {
					what := fmt.Sprintf(" whose context ends after event %d", n)
					t.stopped(sound, what, func(p *pass, cancel context.CancelFunc) {
						p.each = func(l *recording, _ *harvest.Event) error {
							if len(l.events) == n {
								cancel()
							}
							return nil
						}
					})
				}
			}
		}),
	newRule("waiting", "When the context ends while a document is awaited, the pass ends, with the context's error.",
		func(t *tester) {
			for sound := range t.starts() {
				if len(sound.lists.Exchanges()) == 0 {
					t.Skip(noDocument)
				}
				for _, k := range t.positions(len(sound.lists.Exchanges())) {
					what := fmt.Sprintf(" whose context ends while document %d is awaited", k)
					t.stopped(sound, what, func(p *pass, cancel context.CancelFunc) {
						p.hook = func(ctx context.Context, n int, _ *harvest.Request, doc Document) (Document, error) {
							if n != k {
								return doc, nil
							}
							cancel()
							select {
							case <-ctx.Done():
							case <-t.Ctx.Done(): // the Source gave another context
							}
							return doc, context.Canceled
						}
					})
				}
			}
		}),
}
