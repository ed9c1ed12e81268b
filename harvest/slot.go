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
	document  documentNumber
	held
	sample  *sample // it seems unchanged and is asked for as one of these
	sampled sampling
	later   []*slot // later events of the same id, oldest first
	// aim is what is carried out: what the event states, or the state of the task that it
	// means.
	aim *statement

	// plan or get
	decision
	taken  amounts // of the quota
	bodies []pendingBody
	bytes  int64    // of bodies
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
func (s *slot) meansTask() bool { return s.aim != &s.statement && s.ev.Kind == Put }

var slots = sync.Pool{New: func() any { return new(slot) }}

// recycle frees a slot for another event. No stage and no ledger has it any more.
func (s *slot) recycle() {
	*s = slot{}
	slots.Put(s)
}
