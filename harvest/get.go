package harvest

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// sendToGet queues a slot for get. It stores the slot as a task if getting is too slow or
// has ended, or if its host is left alone, unless bytes came with its event.
func (p *pipe) sendToGet(s *slot) {
	late := p.patience == 0 && p.gets >= p.maxGets || p.overdone()
	alone := p.aloneOf(s)
	switch {
	case s.ev.Open != nil:
	case s.task == nil && alone != nil:
		p.leave(s, alone)
		p.finished <- s
		return
	case late:
		p.postpone(s)
		p.finished <- s
		return
	}
	p.move(s, slotQueued)
	p.getting.Add(1)
	p.queue.push(s)
}

// aloneOf returns the error of a request for a slot's content if its host is left alone,
// otherwise nil.
func (r *run) aloneOf(s *slot) *LeftAloneError {
	host, _ := syntax.OriginOf(s.aim.ev.Resource.Content.Href)
	e, _ := r.alone.Load(string(host))
	alone, _ := e.(*LeftAloneError)
	return alone
}

// leave decides about a slot that is not got because its host is left alone. What has a
// task already keeps that.
func (p *pipe) leave(s *slot, err error) {
	s.outcome = OutcomeDeferred
	switch {
	case s.task != nil:
		s.keepsTask = p.aloneInRow.Load() >= maxAlone || p.worker.leaves(s.id())
	default:
		s.keepsTask = s.meansTask() && bytes.Equal(s.waiting.Hint, s.ev.Hint) && s.waiting.Document == s.document
	}
	if !s.keepsTask {
		s.todo = p.retryTask(s, err)
	}
}

// maxAlone is how many resources in a row a run finds on hosts that it leaves alone
// before it ends getting.
const maxAlone = 512

// overdone reports whether getting ends: the budget is spent, or the hosts of the last
// resources are left alone.
func (r *run) overdone() bool { return r.spent() || r.aloneInRow.Load() >= maxAlone }

// A queue holds the slots that wait for get.
type queue struct {
	mu          sync.Mutex
	slots       []*slot
	closed      bool
	uncommitted int64         // bytes of bodies that commit has not committed
	ready       chan struct{} // holds a token while there may be something to pop
}

func (q *queue) push(s *slot) { q.change(func() { q.slots = append(q.slots, s) }) }

// hold changes the number of bytes that commit has not committed.
func (q *queue) hold(bytes int64) { q.change(func() { q.uncommitted += bytes }) }

func (q *queue) close() { q.change(func() { q.closed = true }) }

func (q *queue) change(f func()) {
	q.mu.Lock()
	f()
	q.mu.Unlock()
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// withdraw removes and returns the slots that a later run can get: those whose bytes did
// not come with the event.
func (q *queue) withdraw() (taken []*slot) {
	q.mu.Lock()
	defer q.mu.Unlock()
	kept := q.slots[:0]
	for _, s := range q.slots {
		if s.ev.Open == nil {
			taken = append(taken, s)
		} else {
			kept = append(kept, s)
		}
	}
	clear(q.slots[len(kept):])
	q.slots = kept
	return taken
}

// get is the third stage. Several goroutines run it; each obtains the bodies of one slot
// after the other.
func (p *pipe) get(ctx context.Context) error {
	for {
		s := p.queue.pop(ctx)
		if s == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := p.obtainBodies(ctx, s)
		p.worker.noteGot(s)
		if err == nil {
			err = p.pass(ctx, s)
		}
		if err != nil {
			return err
		}
	}
}

// pop returns the next slot; nil when the queue is closed or ctx has ended.
func (q *queue) pop(ctx context.Context) *slot {
	for {
		q.mu.Lock()
		var s *slot
		room := q.uncommitted < maxUncommitted
		if len(q.slots) > 0 && room {
			s, q.slots[0] = q.slots[0], nil
			q.slots = q.slots[1:]
		}
		more := len(q.slots) > 0 && room || q.closed
		q.mu.Unlock()
		if more {
			q.signal()
		}
		if s != nil || more {
			return s
		}
		select {
		case <-q.ready:
		case <-ctx.Done():
			return nil
		}
	}
}

// obtainBodies obtains the bodies of a slot and decides about it. An error ends the run.
func (p *pipe) obtainBodies(ctx context.Context, s *slot) error {
	ev := &s.aim.ev
	job := &Job{Resource: ev.Resource, Tag: ev.Tag, Hint: ev.Hint, run: p.run, open: ev.Open, fresh: s.sampled == sampledFresh}
	job.asks = s.decision.ask || s.sample != nil || p.rechecks()
	if s.rec.Live() {
		job.Held = s.rec
	}
	err := p.runJob(ctx, job)
	if p.caught.Load() != nil { // the Store or a hook panicked, perhaps in this job
		job.discard()
		return errPanic
	}
	if job.Resource.ID != s.id() {
		err = errors.Join(err, errors.New("the source's Get changed the id"))
	}
	if err != nil {
		job.discard()
		return p.fail(ctx, s, job.came && ev.Resource.Content.Href == "", err)
	}
	p.aloneInRow.Store(0)
	p.decideObtained(s, job)
	return nil
}

// runJob obtains the bodies of a job. A panic of the Getter, or of what it calls, is an
// error.
func (p *pipe) runJob(ctx context.Context, job *Job) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = p.panicError(v)
		}
	}()
	get := job.Content
	if p.getter != nil {
		get = func(ctx context.Context) error { return p.getter.Get(ctx, job) }
	}
	if err := get(ctx); err != nil {
		return err
	}
	return job.also(ctx)
}

// fail decides about a slot whose bodies could not be obtained. Most become a task. One
// that needs the bytes that came with its event can't, since a task does not hold them.
// An error ends the run.
func (p *pipe) fail(ctx context.Context, s *slot, needsCame bool, err error) error {
	var store *StoreError
	if caught, ok := errors.AsType[*websync.PanicError](err); ok {
		err = &resourcePanic{err, caught}
	}
	switch {
	case aborted(ctx, err):
		return context.Cause(ctx)
	case errors.As(err, &store):
		return err
	case needsCame:
		s.outcome, s.err, s.state = OutcomeFailed, err, slotStuck
		p.problem(err) // a later run can get the bytes that came with it from the same document only
		return nil
	case errors.Is(err, errBudget):
		p.postpone(s)
		return nil
	}
	if why, ok := errors.AsType[*QuotaError](err); ok {
		p.leaveOut(s, why)
		return nil
	}
	if alone, ok := errors.AsType[*LeftAloneError](err); ok {
		p.report.leftAlone(alone)
		p.alone.Store(alone.Host, alone)
		p.aloneInRow.Add(1)
		p.leave(s, err)
		return nil
	}
	p.aloneInRow.Store(0)
	p.logPanic(s.id(), err)
	s.err, s.todo = err, p.retryTask(s, err)
	switch {
	case s.ev.Unsure && errors.Is(err, websync.ErrGone) && p.mayDelete():
		s.decision, s.err, s.done = decideDelete(&s.ev, s.rec), nil, p.ref(s)
	case s.todo.isGone() && p.h.DeleteGone && s.rec.Live() && p.mayDelete():
		s.outcome, s.change = OutcomeDeleted, &change{Base: s.rec.Seq, Record: tombstone(s.rec, websync.Datetime{})}
	case s.todo.isGone():
		s.outcome = OutcomeGone
	case s.todo.Parked:
		s.outcome = OutcomeParked
	case errors.Is(err, ErrNotYet):
		s.outcome = OutcomeDeferred
	default:
		s.outcome = OutcomeFailed
	}
	return nil
}
