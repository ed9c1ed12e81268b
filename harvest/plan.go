package harvest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// planBatch is how many events are compared with the Store at once.
const planBatch = 256

// planner is the state of the second stage.
type planner struct {
	// flying has the slot of each id that is on its way. Later slots of the id wait in
	// its field later.
	flying map[string]*slot
	// held has the slots that are held back, oldest first. They are in flying, too.
	held []*slot
	// inflight counts the slots that are not finished, without those in held.
	inflight int
	// gets counts those of them that were queued for get, at most maxGets. The rest of
	// the window is for slots that need no get.
	gets, maxGets int
	// patience is how long listing may still wait for getting. If negative, there is no
	// limit.
	patience time.Duration
	// snap is the snapshot that is being listed; nil outside of one.
	snap *snapshot
	// broken: a Problem came. No later checkpoint is used.
	broken bool
	// stuck: bytes that came with an event could not be read. No later checkpoint is
	// used.
	stuck bool
}

// plan is the second stage: it compares events with the Store, in batches, and sends each
// on its way.
func (p *pipe) plan(ctx context.Context) error {
	defer p.queue.close()
	var control *slot // waits until nothing is in flight
	ended := false
	for {
		if err := p.takeBack(ctx); err != nil {
			return err
		}
		if control != nil || ended {
			p.drain(ctx, control)
		}
		if p.inflight == 0 && control != nil {
			if err := p.control(ctx, control); err != nil {
				return err
			}
			control = nil
		}
		if p.inflight == 0 && ended {
			p.endListing()
			return nil
		}
		draining := control != nil || ended
		if draining && p.patience == 0 {
			p.withdraw()
		}
		in := p.in
		if draining || p.room() <= 0 {
			in = nil
		}
		if err := p.drainAlike(ctx, in == nil); err != nil {
			return err
		}
		began, timer := p.startWait(in == nil)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.wake:
		case <-timer:
		case s, ok := <-in:
			if !ok {
				ended = true
				break
			}
			var err error
			if control, err = p.gather(ctx, s); err != nil {
				return err
			}
		}
		p.endWait(began)
	}
}

// planInline plans in the goroutine of feed, and commits what each batch has decided
// before the next one. Only a dry run does: it gets nothing.
func (p *pipe) planInline(ctx context.Context, feed feedFunc) error {
	var batch []*slot
	flush := func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		defer func() { batch = batch[:0] }()
		if err := p.planEvents(ctx, batch); err != nil {
			return err
		}
		return p.dry.commit(ctx, p)
	}
	drain := func(control *slot) error {
		if err := flush(); err != nil {
			return err
		}
		p.drain(ctx, control)
		return p.dry.commit(ctx, p)
	}
	failed := false
	err := feed(ctx, func(s *slot) (err error) {
		defer func() { failed = failed || err != nil }()
		if s.ev.Kind <= Delete {
			if batch = append(batch, s); len(batch) < planBatch {
				return nil
			}
			return flush()
		}
		if err := drain(s); err != nil {
			return err
		}
		return p.control(ctx, s)
	})
	if failed {
		return err
	}
	if err := drain(nil); err != nil {
		return err
	}
	p.endListing()
	return err
}

// endListing reports a snapshot that the source began and did not end.
func (p *pipe) endListing() {
	if p.snap != nil {
		p.problem(errors.New("the source began a snapshot and did not end it"))
		p.snap = nil
	}
}

// room returns how many events plan may take. While listing waits for getting, these are
// no more than the gets that may still be queued.
func (p *pipe) room() int {
	room := min(planBatch, p.window-p.inflight)
	if p.patience != 0 {
		room = min(room, p.maxGets-p.gets)
	}
	return room
}

// startWait returns when a wait began, and a timer that ends it when the patience is used
// up. Both are zero if listing does not wait for getting.
func (p *pipe) startWait(waiting bool) (began time.Time, timer <-chan time.Time) {
	if !waiting || p.gets == 0 || p.patience <= 0 {
		return time.Time{}, nil
	}
	return time.Now(), time.After(p.patience)
}

// endWait subtracts the time since began from the patience.
func (p *pipe) endWait(began time.Time) {
	if !began.IsZero() {
		p.patience = max(0, p.patience-time.Since(began))
	}
}

// withdraw stores the slots that wait for get as tasks.
func (p *pipe) withdraw() {
	for _, s := range p.queue.withdraw() {
		p.getting.Add(-1)
		p.postpone(s)
		p.finished <- s
	}
}

// gather plans a batch of events that begins with first. If a control event ends the
// batch, gather returns it: it waits until nothing is in flight.
func (p *pipe) gather(ctx context.Context, first *slot) (control *slot, err error) {
	batch := make([]*slot, 0, p.room())
	for s, ok := first, true; ; {
		if s.ev.Kind > Delete {
			control = s
			break
		}
		batch = append(batch, s)
		if len(batch) == cap(batch) {
			break
		}
		select {
		case s, ok = <-p.in:
		default:
			ok = false
		}
		if !ok {
			break
		}
	}
	return control, p.planEvents(ctx, batch)
}

// planEvents plans a batch in the order of the listing.
func (p *pipe) planEvents(ctx context.Context, batch []*slot) error {
	if len(batch) == 0 {
		return nil
	}
	began := time.Now()
	ask := make([]*slot, 0, len(batch))
	for _, s := range batch {
		if s.task == nil {
			p.report.event(p.believed(s.ev.time()))
			p.checkTime(s)
		}
		if s.ev.Kind == Put {
			if p.snap == nil && s.task == nil {
				// an event of a log is a change at this time
				s.ev.At = s.ev.time()
			}
			s.stated = fingerprint(&s.ev.Resource, s.ev.Tag)
		}
	}
	if p.snap != nil {
		p.snap.table.load(batch)
	}
	for _, s := range batch {
		if !p.recognise(s) {
			ask = append(ask, s)
		}
	}
	known := slices.DeleteFunc(slices.Clone(ask), func(s *slot) bool { return s.unknown })
	if err := p.lookup(ctx, known); err != nil {
		return err
	}
	for _, s := range batch {
		if len(ask) > 0 && s == ask[0] {
			ask = ask[1:]
			if err := p.admit(ctx, s); err != nil {
				return err
			}
			if s.task == nil {
				p.resume(s)
			}
		} else {
			p.outcome(s.id(), OutcomeUnchanged, nil)
			p.resume(s)
			s.recycle()
		}
	}
	p.step(ctx, "plan", len(batch), began)
	return nil
}

// checkTime reports an event whose time lies in the future.
func (p *pipe) checkTime(s *slot) {
	if t := s.ev.time(); p.isFuture(t) {
		message := fmt.Sprintf("%q is stated to have changed more than a day after %s, by the publisher's clock: its time is not used",
			s.id(), p.clock().UTC().Format(time.RFC3339))
		p.finding(ruleFuture.Finding(p.key, 0, 0, "", []byte(t.String()), message))
	}
}

// recognise reports whether the table of the snapshot shows that the event states nothing
// new. It returns false for an id that is listed again, whose record may have changed.
func (p *pipe) recognise(s *slot) bool {
	if p.snap == nil {
		return false
	}
	id := s.id()
	p.noteEntry(s)
	if s.ev.Kind == Delete {
		p.snap.table.forget(id)
		return false
	}
	same, again, unknown := p.snap.table.see(s.hash, p.snap.table.state(&s.ev, s.stated, p.wantsContent(&s.ev)))
	s.listed = !again
	if unknown && !p.hasTasks.Load() {
		s.rec, s.unknown = new(Record), true
	}
	return same && !again && !p.h.Recheck && !p.dry.audits() && !p.samples(s)
}

// lookup sets the records of slots and the tasks of their ids. A slot that comes from a
// task has ended if the Store no longer has that task: a later event replaced or ended
// it.
func (p *pipe) lookup(ctx context.Context, slots []*slot) error {
	if len(slots) == 0 {
		return nil
	}
	ids := make([]string, len(slots))
	for i, s := range slots {
		ids[i] = s.id()
	}
	records, err := p.recordsOf(ctx, ids)
	if err != nil {
		return err
	}
	for i, s := range slots {
		s.rec, s.waiting = &records[i], nil
	}
	if !p.hasTasks.Load() {
		return nil
	}
	tasks, err := p.catalog.lookupTasks(ctx, p.key, ids)
	if err != nil {
		return &StoreError{err}
	}
	for i, s := range slots {
		switch t := &tasks[i]; {
		case s.task != nil:
			s.ended = t.N != s.task.N
		case t.Resource.ID != "":
			s.waiting = t
		}
	}
	return nil
}

// admit decides about a slot. If another slot of its id is on its way, it waits for that.
func (p *pipe) admit(ctx context.Context, s *slot) error {
	if p.dry != nil {
		if err := p.dry.renew(ctx, p, s); err != nil {
			return err
		}
	}
	if s.task == nil {
		p.releaseBefore(ctx, s)
	}
	p.ledger.enter(s)
	p.inflight++
	switch first := p.flying[s.id()]; {
	case first == nil:
	case first.held:
		s = p.replace(first, s)
	default:
		first.later = append(first.later, s)
		return nil
	}
	p.flying[s.id()] = s
	p.dispatch(ctx, s)
	return nil
}

// resume notes the checkpoint of a slot. It ignores one inside a snapshot or after a
// Problem.
func (p *pipe) resume(s *slot) {
	if !s.ev.Resume.IsZero() && p.snap == nil && !p.broken && !p.stuck {
		p.ledger.resume(s.n, s.ev.Resume)
	}
}

// takeBack takes the slots that commit returns. It plans those with a conflict again, and
// those that waited for a committed one.
func (p *pipe) takeBack(ctx context.Context) error {
	committed, conflicted := p.take()
	var waiting []*slot
	for _, s := range committed {
		p.stuck = p.stuck || s.stuck
		if s.rests && p.snap != nil {
			p.snap.resting[s.id()] = true
		}
		p.free(s)
		if next := p.lastOf(s.later); next != nil {
			p.flying[s.id()] = next
			waiting = append(waiting, next)
		}
		if !s.stuck { // otherwise it stays in the ledger
			s.recycle()
		}
	}
	for _, s := range conflicted {
		if s.queued {
			s.queued = false
			p.gets--
		}
		if s.outcome == OutcomeDeleted {
			p.deletes.Add(-1)
		}
		s.decision, s.bodies, s.done, s.err = decision{}, nil, nil, nil
	}
	again := append(conflicted, waiting...)
	if err := p.lookup(ctx, again); err != nil {
		return err
	}
	for _, s := range again {
		p.dispatch(ctx, s)
	}
	return nil
}

// free removes a finished slot from those in flight.
func (p *pipe) free(s *slot) {
	p.inflight--
	if s.queued {
		p.gets--
	}
	if p.flying[s.id()] == s {
		delete(p.flying, s.id())
	}
}

// lastOf returns the slot that wins among those that waited for one id: the last one
// that does not yield to an earlier one. The others are history. A slot without
// a time cannot be compared with a later one that has a time: it wins, and the rest goes
// on waiting for it.
func (p *pipe) lastOf(waited []*slot) *slot {
	if len(waited) == 0 {
		return nil
	}
	win := waited[0]
	for i, s := range waited[1:] {
		if p.timeOf(win).IsZero() && !p.timeOf(s).IsZero() {
			win.later = waited[1+i:]
			break
		}
		lost := win
		if p.yieldsTo(s, win) {
			lost = s
		} else {
			win = s
		}
		p.supersede(lost)
	}
	return win
}

// dispatch decides about a slot and hands it to the next stage.
func (p *pipe) dispatch(ctx context.Context, s *slot) {
	p.noteBack(s)
	s.decision = p.decide(s)
	if p.holdBack(ctx, s) {
		return
	}
	p.withholdDelete(s)
	if p.dry != nil {
		p.foresee(s)
	}
	switch {
	case s.get && p.dry == nil:
		p.sendToGet(s)
		return
	case s.todo != nil:
		p.finish(ctx, s)
		return
	case s.change == nil && s.task == nil && !p.endsTask(s):
		p.ledger.leave(s)
		p.free(s)
		p.outcomeOf(ctx, s)
		if next := p.lastOf(s.later); next != nil {
			p.flying[s.id()] = next
			next.rec, next.waiting = s.rec, s.waiting
			p.dispatch(ctx, next)
		}
		return
	}
	s.done = p.ref(s)
	p.finish(ctx, s)
}

// finish hands a slot to commit.
func (p *pipe) finish(ctx context.Context, s *slot) {
	if p.dry != nil {
		p.dry.finish(ctx, p, s)
		return
	}
	p.finished <- s
}

// outcomeOf reports what becomes of a slot.
func (p *pipe) outcomeOf(ctx context.Context, s *slot) {
	if p.dry != nil {
		p.dry.done(ctx, p, s)
	}
	p.outcome(s.id(), s.outcome, s.err)
}

// endsTask reports whether an event that changes nothing ends the task of its id: the
// source has taken back the change that the task was to get. Of two lists, the other one
// says nothing about it.
func (r *run) endsTask(s *slot) bool {
	ends := s.outcome == OutcomeUnchanged && s.waiting != nil && !s.waiting.lags()
	return ends && (!r.twoLists || s.waiting.Kind != TaskGet || s.waiting.At.IsZero() == s.ev.At.IsZero())
}

// ref returns the task that ends with the slot; nil if the source has none.
func (r *run) ref(s *slot) *taskRef {
	switch {
	case s.task != nil:
		return &taskRef{ID: s.id(), N: s.task.N}
	case !r.hasTasks.Load():
		return nil
	}
	return &taskRef{ID: s.id()}
}

// sendToGet queues a slot for get. It stores the slot as a task if getting is too slow or
// has ended, or if its host is left alone, unless bytes came with its event.
func (p *pipe) sendToGet(s *slot) {
	late := p.patience == 0 && p.gets >= p.maxGets || p.overdone()
	alone := p.aloneOf(s)
	switch {
	case s.ev.Open != nil:
	case s.task == nil && alone != nil:
		p.leave(s, alone)
		p.finished <- s
		return
	case late:
		p.postpone(s)
		p.finished <- s
		return
	}
	s.queued = true
	p.gets++
	p.getting.Add(1)
	p.queue.push(s)
}

// control carries out an event that is neither a put nor a deletion. The caller makes
// sure that nothing is in flight.
func (p *pipe) control(ctx context.Context, s *slot) error {
	switch s.ev.Kind {
	case SnapshotStart:
		return p.startSnapshot(ctx, s)
	case SnapshotEnd:
		return p.endSnapshot(ctx, s)
	case Problem:
		p.broken = true
		p.problem(s.ev.Err)
	case Mark:
		p.skip(s)
		p.resume(s)
		close(s.rest)
	}
	return nil
}

// maxHeld limits how many slots are held back at once. If there are more, the oldest one
// is decided as if it were the last of its id.
const maxHeld = 1024

// holdBack reports whether a slot has to wait for later events of its id, and holds it
// back then. It has to wait if it differs from the known state and its time is not later:
// the source may still state the known state, in a snapshot that lists an id twice or in
// a log that repeats an instant. Then the latest time wins, and of equal times the last.
func (p *pipe) holdBack(ctx context.Context, s *slot) bool {
	statesNothing := s.outcome == OutcomeUnchanged && s.change == nil && !s.get
	if s.task != nil || s.alone || s.ask || statesNothing || p.restates(s) {
		return false
	}
	known := p.believed(s.known())
	held := s.rec.Known() && !p.timeOf(s).After(known)
	if !s.listed {
		held = s.outcome != OutcomeHistory && p.timeOf(s).Overlaps(known)
	}
	if !held {
		return false
	}
	if len(p.held) == maxHeld {
		p.release(ctx)
	}
	s.held = true
	p.held = append(p.held, s)
	p.inflight--
	return true
}

// release decides about the slot that has been held back longest.
func (p *pipe) release(ctx context.Context) {
	s := p.held[0]
	p.unhold(s)
	s.alone = true
	p.dispatch(ctx, s)
}

// unhold removes a slot from those that are held back.
func (p *pipe) unhold(s *slot) {
	p.held = slices.Delete(p.held, slices.Index(p.held, s), slices.Index(p.held, s)+1)
	s.held = false
	p.inflight++
}

// releaseBefore decides about the slots of a log that were held back and have an earlier
// time than s.
func (p *pipe) releaseBefore(ctx context.Context, s *slot) {
	for p.snap == nil && len(p.held) > 0 && p.timeOf(p.held[0]).Before(p.timeOf(s)) {
		p.release(ctx)
	}
}

// drain decides about all slots that are held back. Control is the event that comes next;
// it is nil at the end of the listing.
func (p *pipe) drain(ctx context.Context, control *slot) {
	if control != nil && control.ev.Kind == SnapshotEnd && p.snap != nil {
		p.conclude(&control.ev)
	}
	for len(p.held) > 0 {
		p.release(ctx)
	}
}

// yieldsTo reports whether a slot is history because of an earlier one of its id: its
// time is before that of the other, and orders them.
func (p *pipe) yieldsTo(s, earlier *slot) bool {
	return !(s.ev.isCurrent() && earlier.ev.Kind == Put) && p.timeOf(s).Before(p.timeOf(earlier))
}

// replace returns the slot that wins of two slots of one id: s, unless it yields to
// first, which was held back.
func (p *pipe) replace(first, s *slot) *slot {
	p.unhold(first)
	s.listed = s.ev.Kind == Put && (s.listed || first.listed)
	win, lost := s, first
	if p.yieldsTo(s, first) {
		win, lost = first, s
	}
	p.supersede(lost)
	return win
}

// supersede finishes a slot as history: another slot of its id wins.
func (p *pipe) supersede(s *slot) {
	p.ledger.leave(s)
	p.inflight--
	p.outcome(s.id(), OutcomeHistory, nil)
}
