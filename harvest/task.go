package harvest

import (
	"context"
	"errors"
	"hash/maphash"
	"math/rand/v2"
	"time"

	"github.com/websync-go/websync"
)

// pending knows, when a listing begins, the tasks that an event must know of: deletions that are withheld, and gets that
// have failed. Ids are known by a keyed hash.
type pending struct {
	seed  maphash.Seed
	tasks map[uint64]pendingTask
}

type pendingTask struct {
	withheld bool
	attempts int
	state    uint64 // of what could not be got
}

func (p *pending) load(ctx context.Context, store Store, source string) error {
	p.seed, p.tasks = maphash.MakeSeed(), map[uint64]pendingTask{}
	for t, err := range store.Tasks(ctx, source, "") {
		if err != nil {
			return err
		}
		if t.Kind == TaskWithheld || t.Attempts > 0 {
			state := p.state(fingerprint(&t.Resource, t.Tag), t.Resource.Modified)
			p.tasks[maphash.String(p.seed, t.Resource.ID)] = pendingTask{t.Kind == TaskWithheld, t.Attempts, state}
		}
	}
	return nil
}

func (p *pending) state(stated uint64, modified websync.Datetime) uint64 {
	return maphash.Comparable(p.seed, struct {
		stated   uint64
		modified websync.Datetime
	}{stated, modified})
}

func (p *pending) get(id string) (pendingTask, bool) {
	if len(p.tasks) == 0 {
		return pendingTask{}, false
	}
	t, ok := p.tasks[maphash.String(p.seed, id)]
	return t, ok
}

func (p *pending) isWithheld(id string) bool {
	t, ok := p.get(id)
	return ok && t.withheld
}

// attempts returns how often the same state of the slot's resource has been tried in vain.
func (r *run) attempts(s *slot) int {
	if s.task != nil {
		return s.task.Attempts
	}
	if t, ok := r.pending.get(s.id()); ok && t.state == r.pending.state(s.stated, s.ev.Resource.Modified) {
		return t.attempts
	}
	return 0
}

// event returns the event that a task stands for.
func (t *Task) event() Event { return Event{Kind: Put, At: t.At, Tag: t.Tag, Resource: t.Resource} }

// newTask returns the task that gets what s stands for. Its Base says against which record that was decided.
func (r *run) newTask(s *slot) *Task {
	return &Task{Source: r.key, Kind: TaskGet, Resource: s.ev.Resource, At: s.ev.At, Tag: s.ev.Tag, Base: s.rec.Seq, Run: r.id}
}

// retryTask returns the task after another failure.
func (r *run) retryTask(s *slot, err error) *Task {
	t := r.newTask(s)
	if s.task != nil {
		t.N, t.Run = s.task.N, s.task.Run // unless a later event has replaced it
	}
	t.Attempts = r.attempts(s)
	if !errors.Is(err, ErrNotYet) {
		t.Attempts++
	}
	t.Error = err.Error()
	t.Due = time.Now().Add(backoff(t.Attempts)).UTC().Truncate(time.Microsecond).Add(time.Microsecond)
	if after, ok := RetryAfter(err); ok && after.After(t.Due) {
		t.Due = after.UTC().Truncate(time.Microsecond)
	}
	limit := r.h.Attempts
	if limit == 0 {
		limit = 8
	}
	t.Parked = limit > 0 && t.Attempts >= limit
	return t
}

// backoff returns how long to wait after so many failures in a row. The first is tried again in the next run, whenever that
// is; then come about 1, 4, 16, 64 minutes and so on, up to a day.
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
