package harvest

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"
)

// A pipe joins the stages for one pass. Slots go from the feed to plan, from plan to get
// or directly to commit, and from commit back to plan, where later events of the same id
// may wait.
//
// At most window slots are in flight, besides those that are held back. The channel to
// commit has room for all of them, so that no two stages wait for each other.
type pipe struct {
	*run
	window   int
	in       chan *slot
	queue    *queue
	finished chan *slot
	ledger   ledger

	planner  // touched by plan alone
	feedback // from commit to plan
}

// A feedFunc gives slots to a pipe, in the order of the listing.
type feedFunc func(ctx context.Context, give func(*slot) error) error

// pipe runs the stages on what feed gives, until all of it is finished. When feed fails,
// what it gave before is finished nevertheless. When a stage fails or ctx ends, what has
// been got is still committed. If feed panics, the panic goes on when all stages have
// ended.
func (r *run) pipe(ctx context.Context, patience time.Duration, feed feedFunc) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var err error
	if r.quota, err = r.newQuota(ctx); err != nil {
		return err
	}
	p := r.newPipe(patience)
	var before, commit sync.WaitGroup
	stage := func(wg *sync.WaitGroup, f func(context.Context) error) {
		wg.Go(func() { r.catch(stop, func() error { return f(ctx) }) })
	}
	stage(&before, p.plan)
	if r.dry == nil { // otherwise plan has nothing for them
		for range r.concurrency() {
			stage(&before, p.get)
		}
		stage(&commit, p.commit)
	}

	err = errPanic
	func() {
		defer func() {
			if err == errPanic {
				stop(err)
			}
			close(p.in)
			before.Wait()
			r.catch(stop, func() error { return p.settle(p.ending) })
			close(p.finished)
			commit.Wait()
		}()
		err = feed(ctx, func(s *slot) error { return p.give(ctx, s) })
	}()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (r *run) newPipe(patience time.Duration) *pipe {
	window := r.window()
	p := &pipe{run: r, window: window, queue: &queue{ready: make(chan struct{}, 1)}}
	p.in, p.finished = make(chan *slot, window), make(chan *slot, window+maxHeld)
	p.planner = planner{flying: map[string]*slot{}, patience: patience, maxGets: max(1, window*3/4)}
	if patience == deferAll {
		p.maxGets = 0
	}
	r.alike.size = min(alikeWindow, p.maxGets/2)
	p.wake = make(chan struct{}, 1)
	return p
}

func (r *run) concurrency() int { return cmp.Or(max(r.h.Concurrency, 0), 8) }

// aborted reports whether err only says that the run was stopped.
func aborted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}
