package harvest

import (
	"context"
	"errors"
	"slices"
	"time"

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
		p.worker.noteGot(s)
		if err == nil {
			err = p.pass(ctx, s)
		}
		if err != nil {
			return err
		}
	}
}

// obtainBodies obtains the bodies of a slot and decides about its change. An error ends
// the run.
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
	change := p.putOf(s)
	next := &change.Record
	if job.Tag != ev.Tag {
		next.Stated.Hash = fingerprint(&ev.Resource, job.Tag)
	}
	next.Validators, next.Bodies = job.validators, job.bodies
	next.Resource = job.Resource
	p.complete(s, next)
	next.Early = p.isEarly(s, next, job.obtained)
	s.decision = p.decideChange(s.rec, change, ev.At)
	if !p.keepQuota(s) {
		job.discard()
		return nil
	}
	if s.change == nil {
		job.discard() // the Catalog has the same bytes
	}
	s.bodies, s.done = job.writers, p.ref(s)
	if s.todo = p.lagging(s, next); s.todo != nil && s.task != nil {
		s.done = nil // it is replaced
	}
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

// isEarly reports whether bodies that were obtained at this moment may still change
// without a change of their stated time.
func (r *run) isEarly(s *slot, next *Record, obtained func() time.Time) bool {
	t := next.Stated.time()
	return !s.aim.ev.identifies() && !t.IsZero() && !r.isOver(&next.Stated, obtained())
}

// isOver reports whether the period of the time of a state was over, or if there are two
// lists, those of the times of both.
func (r *run) isOver(of *Stated, now time.Time) bool {
	return of.time().IsOver(now) && (!r.twoLists || of.Modified.IsZero() || of.Modified.IsOver(now))
}

// maxLag is how long a server is asked for bytes that are those of before a change.
const maxLag = 30 * 24 * time.Hour

// lagging returns the task that asks again for bytes that are still those of before the
// change that the event states; nil if it is not needed. Each wait is half as long as the
// time that has passed since then.
func (p *pipe) lagging(s *slot, next *Record) *Task {
	if p.h.Sample < 0 || !s.rec.Live() || s.aim.ev.identifies() || s.ev.Open != nil || len(next.Bodies) == 0 {
		return nil
	}
	before := s.lagged()
	announced := p.announces(s, next)
	same := slices.EqualFunc(s.rec.Bodies, next.Bodies, sameBytes)
	switch {
	case same && (announced || before != nil):
	case announced && before != nil: // these may be the bytes of the change before
	default:
		return nil
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	t := p.newTask(s)
	t.Attempts, t.Gone, t.Since = 0, false, now
	if before != nil && !announced {
		t.Since = before.Since
	}
	if s.task != nil {
		t.N = s.task.N // unless a later event has replaced it
	}
	age := now.Sub(t.Since)
	if age > maxLag {
		return nil
	}
	t.Due = now.Add(max(age/2, time.Microsecond))
	return t
}

// lagged returns the task that has asked so far for bytes that are those of before a
// change; nil if there is none.
func (s *slot) lagged() *Task {
	for _, t := range []*Task{s.waiting, s.task} {
		if t != nil && t.lags() {
			return t
		}
	}
	return nil
}

// announces reports whether the next state of a record is of another time than the last
// one.
func (p *pipe) announces(s *slot, next *Record) bool {
	stated, held := next.Stated.time(), s.rec.Stated.time()
	if p.twoLists {
		stated, held = s.aim.times(s.rec)
	}
	if stated.IsZero() || held.IsZero() || stated.Overlaps(held) {
		return false
	}
	mayBeOfOther := p.twoLists && s.rec.Stated.At == s.rec.Stated.Modified
	return !mayBeOfOther || !mayMeanElsewhere(stated, held)
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
