package harvest

import "sync"

// A slot is one event on its way through the stages. Each field is written by one stage
// and read by later ones.
type slot struct {
	n    int64 // place in the listing, from 1
	ev   Event
	task *Task         // that the event comes from; if nil, from the Source
	rest chan struct{} // of a Mark: closed when everything before it is finished

	// plan
	stated uint64  // fingerprint of the description
	listed bool    // part of a snapshot, and listed for the first time in it
	rec    *Record // that it was planned against
	// of the id, as the Store has it; if nil, there is none, or the slot comes from a
	// task
	waiting *Task
	ask     bool // the bytes are to be asked for, whatever is held
	held    bool // back, until it is known whether anything else comes of its id
	alone   bool // it was held back, and nothing else came
	// the task that it comes from is not there any more: a later event ended it
	ended  bool
	queued bool    // for get
	vain   int     // conflicts that the record does not explain
	later  []*slot // events of the same id that came meanwhile, oldest first

	// plan or get
	decision
	bodies []BodyWriter
	done   *TaskRef // the task that is carried out or ended
	err    error    // of a failure
	stuck  bool     // failed without a way to try again: no checkpoint may pass

	// commit
	batched    bool
	prev, next *slot // in the ledger
}

func (s *slot) id() string { return s.ev.Resource.ID }

var slots = sync.Pool{New: func() any { return new(slot) }}

// recycle reuses a slot that stated nothing new: most slots of a long listing.
func (s *slot) recycle() {
	*s = slot{}
	slots.Put(s)
}

// A ledger keeps the slots that are on their way in the order of the listing, and so
// knows which checkpoint is covered: the last one with nothing unfinished before it.
type ledger struct {
	mu          sync.Mutex
	first, last *slot
	resumes     []resume
}

// A resume is a checkpoint that covers all events up to place n.
type resume struct {
	n  int64
	at Checkpoint
}

// enter adds the latest slot.
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

// resume notes a checkpoint, the slots up to its place having entered. Of checkpoints
// with nothing unfinished between them the last one is enough.
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

// covered returns the last checkpoint before which every slot is finished or in the batch
// that is being made, if there is one.
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

// passed forgets the checkpoints up to place n: one of them is committed.
func (l *ledger) passed(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := 0
	for i < len(l.resumes) && l.resumes[i].n <= n {
		i++
	}
	l.resumes = append(l.resumes[:0], l.resumes[i:]...)
}
