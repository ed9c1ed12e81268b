package harvest

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/websync-go/websync"
)

// findTasks notes whether the source has any tasks. If it has none, the run does not look
// them up.
func (r *run) findTasks(ctx context.Context) error {
	for _, err := range r.catalog.Tasks(ctx, r.key, "") {
		if err != nil {
			return err
		}
		r.hasTasks.Store(true)
		break
	}
	return nil
}

// A taskCursor finds the tasks of ids that come in byte order.
type taskCursor struct {
	next func() (Task, error, bool)
	stop func()
	at   Task
	more bool
}

func (r *run) taskCursor(ctx context.Context) *taskCursor {
	next, stop := iter.Pull2(r.catalog.Tasks(ctx, r.key, ""))
	return &taskCursor{next: next, stop: stop, more: true}
}

// find returns the task of id, nil if there is none. Ids must come in ascending order.
func (c *taskCursor) find(id string) (*Task, error) {
	for c.more && c.at.Resource.ID < id {
		var err error
		if c.at, err, c.more = c.next(); err != nil {
			return nil, err
		}
	}
	if !c.more || c.at.Resource.ID != id {
		return nil, nil
	}
	t := c.at
	return &t, nil
}

// earlier returns the task that earlier runs stored for the same state of the resource;
// the zero Task if there is none.
func (s *slot) earlier() Task {
	switch {
	case s.task != nil:
		return *s.task
	case s.meansTask():
		return *s.waiting
	}
	return Task{}
}

// isGone reports whether the task is parked because the server has removed the resource.
func (t *Task) isGone() bool { return t.Kind == TaskGet && t.Parked && t.Gone }

// lags reports whether the record already has what the server sent for the task.
func (t *Task) lags() bool { return !t.Since.IsZero() }

// time returns the time of the change that a task stands for; zero if it is not stated.
func (t *Task) time() websync.Datetime { return cmp.Or(t.At, t.Resource.Modified) }

// event returns the event that a task stands for.
func (t *Task) event() Event {
	return Event{Kind: Put, At: t.At, Tag: t.Tag, Hint: t.Hint, Resource: t.Resource}
}

// newTask returns the task to get what s states. Its Base is the number of the record
// that s was compared with.
func (r *run) newTask(s *slot) *Task {
	ev, was := &s.aim.ev, s.earlier()
	return &Task{Source: r.key, Kind: TaskGet, Resource: ev.Resource, At: ev.At, Tag: ev.Tag, Hint: ev.Hint,
		Base: s.rec.Seq, Run: r.id, Attempts: was.Attempts, Gone: was.Gone, Document: s.document}
}

// retryTask returns the task after another failure.
func (r *run) retryTask(s *slot, err error) *Task {
	t := r.newTask(s)
	if s.task != nil {
		t.N, t.Run = s.task.N, s.task.Run // unless a later event has replaced it
	}
	t.Error = err.Error()
	var wait time.Duration
	var withheld *GuardError
	var left *QuotaError
	if errors.Is(err, ErrNotYet) || errors.As(err, &withheld) || errors.As(err, &left) {
		t.Parked = s.earlier().Parked
	} else {
		r.countAttempt(t, errors.Is(err, websync.ErrGone))
		wait = backoff(t.Attempts)
	}
	t.Due = time.Now().Add(wait).UTC().Truncate(time.Microsecond).Add(time.Microsecond)
	if after, ok := RetryAfter(err); ok && after.After(t.Due) {
		t.Due = after.UTC().Truncate(time.Microsecond)
	}
	return t
}

// countAttempt counts a failed attempt. The last one parks the task. It is gone if this
// attempt and the one before found that the server has removed the resource.
func (r *run) countAttempt(t *Task, gone bool) {
	before := t.Gone
	t.Attempts++
	t.Gone = gone
	limit := cmp.Or(r.h.Attempts, 8)
	t.Parked = limit > 0 && t.Attempts >= limit
	if t.Parked && t.Attempts > 1 {
		t.Gone = gone && before
	}
}

// postpone stores a slot as a task, for a later run or for Work. One of a sample is
// unchanged instead, unless the run gets nothing itself.
func (p *pipe) postpone(s *slot) {
	if s.sample != nil && p.maxGets > 0 {
		s.outcome, s.sample = OutcomeUnchanged, nil // there will be others
		return
	}
	s.outcome = OutcomeDeferred
	if s.task == nil {
		s.todo = p.newTask(s)
	}
}

// backoff returns how long to wait after a number of failed attempts: not at all after
// the first, then about 1, 4, 16 and 64 minutes and so on, up to a day.
func backoff(attempts int) time.Duration {
	if attempts <= 1 {
		return 0
	}
	d := 24 * time.Hour
	if attempts < 8 {
		d = min(d, time.Minute<<(2*(attempts-2)))
	}
	return d/2 + rand.N(d)/2
}
