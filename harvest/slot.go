package harvest

import "sync"

// A slot is one event on its way through the stages. Each field is written by one stage
// and read by later ones.
type slot struct {
	n    int64 // position in the listing, from 1
	ev   Event
	task *Task         // the event comes from this task; if nil, from the Source
	rest chan struct{} // of a Mark: closed when everything before it is finished

	// plan
	stated uint64  // fingerprint of the description
	hash   uint64  // of the id, in the table of the snapshot
	listed bool    // its snapshot lists the id for the first time
	rec    *Record // the record when it was planned
	// unknown: it is certain that there was neither a record nor a task
	unknown bool
	// waiting is the task that the Store has for the id. It is nil if there is none, or
	// if the slot itself comes from a task.
	waiting *Task
	sample  *sample // it seems unchanged and is asked for as one of these
	typical bool    // then: its answer counts for the belief
	fresh   bool    // and it is asked for without a Validator
	ask     bool    // ask for the bytes, whatever is held
	held    bool    // it is held back: another event of its id may come
	alone   bool    // it was held back, and no other event of its id came
	ended   bool    // a later event has ended or replaced its task
	queued  bool    // for get
	later   []*slot // later events of the same id, oldest first

	// plan or get
	decision
	bodies []pendingBody
	done   *taskRef // the task that is carried out or ended
	err    error    // of a failure
	rests  bool     // the task of its id stays as it is
	stuck  bool     // it failed and cannot be tried again: no checkpoint passes it

	// commit
	batched    bool
	prev, next *slot // in the ledger
}

func (s *slot) id() string { return s.ev.Resource.ID }

var slots = sync.Pool{New: func() any { return new(slot) }}

// recycle frees a slot for another event. No stage and no ledger has it any more.
func (s *slot) recycle() {
	*s = slot{}
	slots.Put(s)
}

// A ledger holds the unfinished slots in the order of the listing. It finds the
// checkpoint that is covered: the last one with no unfinished slot before it.
type ledger struct {
	mu          sync.Mutex
	first, last *slot
	resumes     []resume
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
	case l.first == nil:
		l.resumes = l.resumes[:0]
	case k > 0 && l.last.n <= l.resumes[k-1].n:
		l.resumes = l.resumes[:k-1]
	}
	l.resumes = append(l.resumes, resume{n, at})
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
