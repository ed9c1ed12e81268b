package harvest

import (
	"slices"
	"sync"
)

// A ledgerEntry is the place of a slot in the ledger.
type ledgerEntry struct {
	batched    bool // it is in the present batch
	prev, next *slot
}

// A ledger holds the unfinished slots in the order of the listing. It finds the
// checkpoint that is covered: the last one with no unfinished slot before it.
type ledger struct {
	mu          sync.Mutex
	first, last *slot
	resumes     []resume
	end         int64 // no checkpoint from this position on counts; 0: all do
}

// A resume is a checkpoint that covers all events up to position n.
type resume struct {
	n  int64
	at Checkpoint
}

// enter adds a slot at the end.
func (l *ledger) enter(s *slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.prev = l.last; s.prev == nil {
		l.first = s
	} else {
		s.prev.next = s
	}
	l.last = s
}

// leave removes a slot that is finished.
func (l *ledger) leave(s *slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.prev == nil {
		l.first = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		l.last = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.prev, s.next = nil, nil
}

// resume adds a checkpoint; all slots before it have entered. It replaces the previous
// one if no unfinished slot is between them.
func (l *ledger) resume(n int64, at Checkpoint) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch k := len(l.resumes); {
	case l.end != 0 && n >= l.end:
		return
	case l.first == nil:
		l.resumes = l.resumes[:0]
	case k > 0 && l.last.n <= l.resumes[k-1].n:
		l.resumes = l.resumes[:k-1]
	}
	l.resumes = append(l.resumes, resume{n, at})
}

// stop makes no checkpoint from position n on count: what is there was left out.
func (l *ledger) stop(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end == 0 || n < l.end {
		l.end = n
	}
	l.resumes = slices.DeleteFunc(l.resumes, func(r resume) bool { return r.n >= l.end })
}

// covered returns the last checkpoint before which every slot is finished or in the
// present batch, and reports whether there is one.
func (l *ledger) covered() (found resume, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	open := l.first
	for open != nil && open.batched {
		open = open.next
	}
	for _, r := range l.resumes {
		if open != nil && open.n <= r.n {
			break
		}
		found, ok = r, true
	}
	return found, ok
}

// passed removes the checkpoints up to position n, after a Commit with the last of them.
func (l *ledger) passed(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := 0
	for i < len(l.resumes) && l.resumes[i].n <= n {
		i++
	}
	l.resumes = append(l.resumes[:0], l.resumes[i:]...)
}
