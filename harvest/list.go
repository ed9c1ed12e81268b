package harvest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/websync-go/websync"
)

// list is the first stage: it walks the Source and feeds its events to the others.
func (r *run) list(ctx context.Context, patience time.Duration) error {
	if err := r.choose(ctx); err != nil {
		return err
	}
	from, err := r.catalog.Checkpoint(ctx, r.key)
	if err != nil {
		return err
	}
	r.report.From = from
	if err := r.checkLog(ctx); err != nil {
		return err
	}
	if r.isFull() {
		from = Checkpoint{}
	}
	if err := r.readMembership(ctx); err != nil {
		return err
	}
	if err := r.findTasks(ctx); err != nil {
		return err
	}
	r.report.Complete = true
	err = r.pipe(ctx, patience, func(ctx context.Context, give func(*slot) error) error {
		return r.walk(ctx, from, give)
	})
	if err != nil {
		return err
	}
	return r.chosen(ctx)
}

// checkLog notes where the log ends, and reports one whose last entry lies ahead of the
// clock: the clock is wrong, or was once.
func (r *run) checkLog(ctx context.Context) error {
	head, err := r.catalog.Head(ctx)
	if err != nil {
		return &StoreError{err}
	}
	r.began = head.Last
	if head.LastTime.After(r.report.Started.Add(maxLead)) {
		r.report.LogAhead = head.LastTime
		r.log.Warn("the store's log is ahead of the clock", "source", r.key, "last", head.LastTime)
	}
	return nil
}

// maxLead is how far clocks may differ without being reported.
const maxLead = time.Minute

// maxGiven limits about how many bytes of descriptions are on their way at once, whatever
// the window: one description may have megabytes.
const maxGiven = 4 << 20

// walk hands the Source's events to give, which waits while the window is full and, at a
// Mark, until everything is finished. After maxGiven bytes walk adds a Mark. A panic of
// the Source is a Problem and ends the run.
func (r *run) walk(ctx context.Context, from Checkpoint, give func(*slot) error) (err error) {
	pass := &Run{
		Sample:   r.h.Sample,
		From:     from,
		Full:     r.isFull(),
		Fetcher:  r.lists,
		Report:   r.finding,
		Expect:   func(total int64) { r.expect.Store(total) },
		Document: r.docs.add,
		Known:    r.isKnown,
		Samples:  r.takesSamples(),
		Log:      r.log,
	}
	inSource := true
	defer func() {
		if !inSource {
			return // a panic of the engine goes on
		}
		if v := recover(); v != nil {
			err = r.endOfSource(r.panicError(v))
		}
	}()
	var n int64
	hand := func(ev Event) error {
		n++
		inSource = false
		err := give(newSlot(n, ev))
		inSource = true
		return err
	}
	given := 0
	for ev, err := range r.src.Events(ctx, pass) {
		if err != nil {
			r.logPanic("", err)
			return &sourceError{err}
		}
		size := ev.Resource.Size() + len(ev.Hint)
		if given += size; given > maxGiven {
			if err := hand(Event{Kind: Mark}); err != nil {
				return err
			}
			given = size
		}
		if err := hand(ev); err != nil {
			return err
		}
	}
	return nil
}

// maxHint is how long an Event.Hint may be, in bytes: tasks are stored by the million.
const maxHint = 64 << 10

// newSlot returns a slot for an event of a Source. An event that breaks the contract
// becomes a Problem.
func newSlot(n int64, ev Event) *slot {
	problem := func(format string, args ...any) Event {
		return Event{Kind: Problem, Err: fmt.Errorf(format, args...)}
	}
	switch id := ev.Resource.ID; {
	case int(ev.Kind) >= len(eventKinds):
		ev = problem("the source yielded an %v", ev.Kind)
	case (ev.Kind == Put || ev.Kind == Delete) && (id == "" || len(id) > MaxID):
		ev = problem("an id of %d bytes (%.60q…): 1 to %d can be stored", len(id), websync.RedactURL(id), MaxID)
	case ev.Kind == Put && len(ev.Hint) > maxHint:
		ev = problem("the Hint of %.200q has %d bytes: at most %d can be stored", websync.RedactURL(id), len(ev.Hint), maxHint)
	case ev.Kind == Problem && ev.Err == nil:
		ev.Err = errors.New("a problem that the source does not name")
	}
	s := slots.Get().(*slot)
	s.n, s.ev = n, ev
	if ev.Kind == Mark {
		s.reached = make(chan struct{})
	}
	return s
}

// give hands a slot to plan. After a Mark it waits until everything before it is
// finished.
func (p *pipe) give(ctx context.Context, s *slot) error {
	reached := s.reached
	select {
	case p.in <- s:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if reached == nil {
		return nil
	}
	select {
	case <-reached:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A sourceError ends a run: the source can't be read, or not further.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

func (r *run) window() int { return cmp.Or(max(r.h.Window, 0), 1024) }
