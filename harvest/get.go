package harvest

import (
	"context"
	"errors"

	"github.com/websync-go/websync"
)

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
		p.worker.note(s, false)
		// before the slot is sent: commit does not flush while another one may come
		p.getting.Add(-1)
		if err != nil {
			return err
		}
		p.finished <- s
	}
}

// obtainBodies obtains the bodies of a slot and decides about its change. An error ends
// the run.
func (p *pipe) obtainBodies(ctx context.Context, s *slot) error {
	job := &Job{Resource: s.ev.Resource, Tag: s.ev.Tag, Hint: s.ev.Hint, run: p.run, open: s.ev.Open}
	if s.rec.Live() {
		job.Held = s.rec
	}
	err := p.runJob(ctx, job)
	if job.Resource.ID != s.id() {
		err = errors.Join(err, errors.New("the source's Get changed the id"))
	}
	if err != nil {
		job.discard()
		return p.fail(ctx, s, job.came && s.ev.Resource.Content.Href == "", err)
	}
	change := s.put()
	next := &change.Record
	if job.Tag != s.ev.Tag {
		next.Stated.Hash = fingerprint(&s.ev.Resource, job.Tag)
	}
	next.Validators, next.Bodies = job.validators, job.bodies
	next.Resource = job.Resource
	s.complete(next)
	next.Early = isEarly(s, next, job.obtained)
	s.decision = p.decideChange(s.rec, change, s.ev.At)
	if s.change == nil {
		job.discard() // the Store has the same bytes
	}
	s.bodies, s.done = job.writers, p.ref(s)
	return nil
}

func (p *pipe) runJob(ctx context.Context, job *Job) error {
	if p.getter != nil {
		return p.getter.Get(ctx, job)
	}
	return job.Content(ctx)
}

// fail decides about a slot whose bodies could not be obtained. Most become a task. One
// that needs the bytes that came with its event can't, since a task does not hold them.
// An error ends the run.
func (p *pipe) fail(ctx context.Context, s *slot, needsCame bool, err error) error {
	var store *StoreError
	switch {
	case aborted(ctx, err):
		return context.Cause(ctx)
	case errors.As(err, &store):
		return err
	case needsCame:
		s.outcome, s.err, s.stuck = OutcomeFailed, err, true
		p.problem(err) // a later run can get the bytes that came with it from the same document only
		return nil
	case errors.Is(err, errBudget):
		p.postpone(s)
		return nil
	}
	s.err, s.todo = err, p.retryTask(s, err)
	switch {
	case s.todo.isGone() && p.h.DeleteGone && s.rec.Live() && p.mayDelete():
		s.outcome, s.change = OutcomeDeleted, &Change{Base: s.rec.Seq, Record: tombstone(s.rec, websync.Datetime{})}
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
