package sourcetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/websync-go/websync/harvest"
)

func stopCases() []rule {
	return []rule{
		{Name: "before", Rule: "When the context has ended before it begins, a pass yields the context's error or, if it needs nobody, the whole recording.", Check: stopBefore},
		{Name: "during", Rule: "When the context ends after an event, the pass ends with its error or yields the rest as ever; no document is called a Problem. All is released.", Check: stopDuring},
		{Name: "waiting", Rule: "When the context ends while a document is waited for, the pass ends, with the context's error.", Check: stopWaiting},
	}
}

// stopped checks a pass whose context has ended.
func (t *tester) stopped(whole, l *recording) {
	t.Helper()
	for _, ev := range l.events {
		if ev.Kind == harvest.Problem && errors.Is(ev.Err, context.Canceled) {
			t.Fatalf("%s: the end of the context is called a Problem: %v", l.name, ev.Err)
		}
	}
	if l.err == nil {
		if d := differ(whole, l); d != "" {
			t.Fatalf("%s: it ends without an error, but not rightly: %s", l.name, d)
		}
	} else if !errors.Is(l.err, context.Canceled) {
		t.Fatalf("%s: it ends with %q, not with the context's error", l.name, l.err)
	}
	t.released(l)
}

func stopBefore(t *tester) {
	ctx, cancel := context.WithCancel(t.Ctx)
	cancel()
	t.eachStart(func(state int, from harvest.Checkpoint, _ int) {
		whole := t.listen(pass{state: state, from: from})
		l, err := t.tryListen(pass{state: state, from: from, ctx: ctx})
		l.name += " whose context has ended before"
		t.OK(err, "%s", l.name)
		t.stopped(whole, l)
	})
}

func stopDuring(t *tester) {
	t.eachStart(func(state int, from harvest.Checkpoint, events int) {
		whole := t.listen(pass{state: state, from: from})
		for _, n := range t.positions(events) {
			ctx, cancel := context.WithCancel(t.Ctx)
			l, err := t.tryListen(pass{state: state, from: from, ctx: ctx, each: func(l *recording, _ *harvest.Event) error {
				if len(l.events) == n {
					cancel()
				}
				return nil
			}})
			cancel()
			l.name += fmt.Sprintf(" whose context ends after event %d", n)
			t.OK(err, "%s", l.name)
			t.stopped(whole, l)
		}
	})
}

func stopWaiting(t *tester) {
	checked := false
	t.eachStart(func(state int, from harvest.Checkpoint, _ int) {
		whole := t.listen(pass{state: state, from: from})
		for _, k := range t.positions(len(whole.lists.Exchanges())) {
			checked = true
			ctx, cancel := context.WithCancel(t.Ctx)
			l, err := t.tryListen(pass{state: state, from: from, ctx: ctx, hook: t.hang(k, cancel)})
			cancel()
			l.name += fmt.Sprintf(" whose context ends while document %d is waited for", k)
			t.OK(err, "%s", l.name)
			t.stopped(whole, l)
		}
	})
	if !checked {
		t.Skip(noDocument)
	}
}

// hang lets request k end the context, and wait until its own has ended.
func (t *tester) hang(k int, cancel context.CancelFunc) hook {
	return func(ctx context.Context, n int, _ *harvest.Request, doc Document) (Document, error) {
		if n != k {
			return doc, nil
		}
		cancel()
		select {
		case <-ctx.Done():
			return doc, ctx.Err()
		case <-t.Ctx.Done():
			return doc, t.Ctx.Err()
		}
	}
}
