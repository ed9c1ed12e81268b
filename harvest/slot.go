package harvest

import "sync"

// A slot is one event on its way through the stages. Each field is written by one stage
// and read by later ones.
type slot struct {
	n int64 // position in the listing, from 1
	statement
	reached chan struct{} // of a Mark: closed when everything before it is finished

	// plan
	state     slotState
	tableHash uint64 // of the id, in the table of the snapshot
	held
	sample  *sample // it seems unchanged and is asked for as one of these
	sampled sampling
	later   []*slot // later events of the same id, oldest first
	// aim is what is carried out: what the event states, or the state of the task that it
	// means.
	aim *statement

	// plan or get
	decision
	bodies []pendingBody
	done   *taskRef // the task that is carried out or ended
	err    error    // of a failure

	// commit
	ledgerEntry
}

// A slotState is where a slot is. It begins as slotNew. Planner.move makes all changes
// but one: get makes slotStuck of slotQueued.
type slotState uint8

const (
	slotNew      slotState = iota
	slotPlanned            // it is decided about, or waits for an earlier slot of its id
	slotHeld               // held back: another event of its id may come
	slotAlone              // it was held back, and no other event of its id came
	slotQueued             // for get
	slotStuck              // get has failed, and can't be tried again: no checkpoint passes it
	slotFinished           // plan has it back, or it lost to another slot of its id
)

// slotCounts has how many slots in flight, and for get, a slot of each state is.
var slotCounts = [...]struct{ inflight, gets int }{
	slotPlanned: {1, 0}, slotAlone: {1, 0}, slotQueued: {1, 1}, slotStuck: {1, 1}, slotFinished: {},
}

// move changes the state of a slot, and the counts of plan with it.
func (p *planner) move(s *slot, to slotState) {
	was, is := slotCounts[s.state], slotCounts[to]
	p.inflight += is.inflight - was.inflight
	p.gets += is.gets - was.gets
	s.state = to
}

func (s *slot) id() string { return s.ev.Resource.ID }

// meansTask reports whether the event means the state of the task of its id, once that is
// decided.
func (s *slot) meansTask() bool { return s.aim != &s.statement }

var slots = sync.Pool{New: func() any { return new(slot) }}

// recycle frees a slot for another event. No stage and no ledger has it any more.
func (s *slot) recycle() {
	*s = slot{}
	slots.Put(s)
}

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
