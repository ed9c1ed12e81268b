package harvest

import (
	"bytes"

	"github.com/websync-go/websync/internal/syntax"
)

const (
	// maxAlone is how many resources in a row a run finds on hosts that it leaves alone
	// before it ends getting.
	maxAlone = 512
	// maxLeft is how many tasks a worker leaves as they are because of that. Others get a
	// later Due, so that the next run begins with those of other hosts.
	maxLeft = maxAlone / 2
)

// overdone reports whether getting ends: the budget is spent, or the hosts of the last
// resources are left alone.
func (r *run) overdone() bool { return r.spent() || r.aloneInRow.Load() >= maxAlone }

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
		s.keepsTask = s.meansTask() && bytes.Equal(s.waiting.Hint, s.ev.Hint)
	}
	if !s.keepsTask {
		s.todo = p.retryTask(s, err)
	}
}

// leaves reports whether the task of id stays as it is, and does not take it again then.
func (w *worker) leaves(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.left) == maxLeft {
		return false
	}
	w.left[taskHash(id)] = true
	return true
}
