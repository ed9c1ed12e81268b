package harvest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/websync-go/websync"
)

// planBatch is how many events are compared with the Store at once.
const planBatch = 256

// planner is the state of the second stage.
type planner struct {
	// by id: the slot on its way; others of the id wait in its later
	flying map[string]*slot
	// back, the first one for the longest time; they are in flying
	held []*slot
	// slots that are not finished: those that wait, but not those that are held back
	inflight int
	gets     int // those of them that were queued for get
	// so many may be; the rest of the window is for what needs no get
	maxGets  int
	patience time.Duration // left; if negative, without end
	snap     *snapshot     // nil outside of one
	broken   bool          // a Problem came: no later checkpoint counts
	// nor does one after bytes that came along and could not be read
	stuck bool
}

// plan is the second stage: it compares events with the Store, in batches, and sends each
// on its way.
func (p *pipe) plan(ctx context.Context) error {
	defer p.queue.close()
	var control *slot // that waits until nothing is in flight
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
		began, timer := p.tire(in == nil)
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
		p.lose(began)
	}
}

// planInline plans in the goroutine of feed. Only a dry run does: it gets nothing, so
// nothing is in flight when an event is decided.
func (p *pipe) planInline(ctx context.Context, feed feedFunc) error {
	var batch []*slot
	flush := func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		defer func() { batch = batch[:0] }()
		return p.planEvents(ctx, batch)
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
		if err := flush(); err != nil {
			return err
		}
		p.drain(ctx, s)
		return p.control(ctx, s)
	})
	if failed {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	p.drain(ctx, nil)
	p.endListing()
	return err
}

// endListing reports a snapshot that the source did not end.
func (p *pipe) endListing() {
	if p.snap != nil {
		p.problem(errors.New("the source began a snapshot and did not end it"))
		p.snap = nil
	}
}

// room returns how many events can be taken: while there is patience, no more than could
// be got soon.
func (p *pipe) room() int {
	room := min(planBatch, p.window-p.inflight)
	if p.patience != 0 {
		room = min(room, p.maxGets-p.gets)
	}
	return room
}

// tire returns a timer for the patience that is left when listing waits for getting, and
// when the wait began.
func (p *pipe) tire(waiting bool) (began time.Time, timer <-chan time.Time) {
	if !waiting || p.gets == 0 || p.patience <= 0 {
		return time.Time{}, nil
	}
	return time.Now(), time.After(p.patience)
}

// lose takes the time since began off the patience.
func (p *pipe) lose(began time.Time) {
	if !began.IsZero() {
		p.patience = max(0, p.patience-time.Since(began))
	}
}

// withdraw turns what waits for get into tasks.
func (p *pipe) withdraw() {
	for _, s := range p.queue.withdraw() {
		p.getting.Add(-1)
		p.postpone(s)
		p.finished <- s
	}
}

// gather takes a batch of events, beginning with first, and plans them. It returns the
// event that ends it, if that one must wait until nothing is in flight.
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
	ask := make([]*slot, 0, len(batch))
	for _, s := range batch {
		if s.task == nil {
			p.report.event()
			p.checkTime(s)
		}
		if s.ev.Kind == Put {
			if p.snap == nil && s.task == nil {
				// an event of a log is a change, and this is its time
				s.ev.At = s.ev.time()
			}
			s.stated = fingerprint(&s.ev.Resource, s.ev.Tag)
		}
		if !p.recognise(s) {
			ask = append(ask, s)
		}
	}
	if err := p.lookup(ctx, ask); err != nil {
		return err
	}
	for _, s := range batch {
		if len(ask) > 0 && s == ask[0] {
			ask = ask[1:]
			p.place(ctx, s)
			if s.task == nil {
				p.resume(s)
			}
		} else {
			p.outcome(s.id(), OutcomeUnchanged, nil)
			p.resume(s)
			s.recycle()
		}
	}
	return nil
}

// checkTime reports an event that lies in the future.
func (p *pipe) checkTime(s *slot) {
	if t := s.ev.time(); p.isFuture(t) {
		p.finding(websync.Finding{Document: p.key, Rule: "future-time", Value: t.String(),
			Message: fmt.Sprintf("%q is stated to have changed more than a day after %s, by the publisher's clock: its time is not used",
				s.id(), p.clock().UTC().Format(time.RFC3339))})
	}
}

// recognise reports whether the event, by the snapshot's table, states nothing new. An id
// that is listed again may have changed since the table was filled.
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
	same, again := p.snap.table.see(id, p.snap.table.state(&s.ev, s.stated, p.wantsContent(&s.ev)))
	s.listed = !again
	return same && !again && !p.h.Recheck && !p.dry.audits()
}

// lookup fills in the records of slots, and the tasks that wait for their ids. What comes
// from a task that is not there any more is done with: it was ended, or replaced, by what
// came after it.
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
	tasks, err := p.tasksOf(ctx, ids)
	if err != nil {
		return err
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

// place decides about a slot, or lets it wait behind the one of its id that is on its
// way.
func (p *pipe) place(ctx context.Context, s *slot) {
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
		return
	}
	p.flying[s.id()] = s
	p.dispatch(ctx, s)
}

// resume notes the checkpoint that came with a slot. Inside a snapshot and after a
// Problem there can be none.
func (p *pipe) resume(s *slot) {
	if !s.ev.Resume.IsZero() && p.snap == nil && !p.broken && !p.stuck {
		p.ledger.resume(s.n, s.ev.Resume)
	}
}

// takeBack takes back what was committed and plans what waited for it.
func (p *pipe) takeBack(ctx context.Context) error {
	committed, conflicted := p.take()
	var waiting []*slot
	for _, s := range committed {
		p.stuck = p.stuck || s.stuck
		p.free(s)
		if next := p.lastOf(s.later); next != nil {
			p.flying[s.id()] = next
			waiting = append(waiting, next)
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
	if err := p.meet(ctx, conflicted); err != nil {
		return err
	}
	if err := p.lookup(ctx, waiting); err != nil {
		return err
	}
	again := append(conflicted, waiting...)
	for _, s := range again {
		p.dispatch(ctx, s)
	}
	return nil
}

// meet looks up what slots conflicted with. If nothing has changed, time and again, the
// Store is at fault.
func (p *pipe) meet(ctx context.Context, conflicted []*slot) error {
	planned := make([]websync.Seq, len(conflicted))
	for i, s := range conflicted {
		planned[i] = s.rec.Seq
	}
	if err := p.lookup(ctx, conflicted); err != nil {
		return err
	}
	for i, s := range conflicted {
		if s.rec.Seq != planned[i] || s.ended {
			continue
		}
		if s.vain++; s.vain == maxVain {
			return &storeError{fmt.Errorf("a Commit returned a conflict for %.200q %d times although its record stays number %d",
				s.id(), s.vain, planned[i])}
		}
	}
	return nil
}

// maxVain is how often a Store may return a conflict that it does not explain.
const maxVain = 5

// free gives up the place of a slot that is finished.
func (p *pipe) free(s *slot) {
	p.inflight--
	if s.queued {
		p.gets--
	}
	if p.flying[s.id()] == s {
		delete(p.flying, s.id())
	}
}

// lastOf returns the event of those that waited which the others lead to: the last one
// that is not older than an earlier one. The others are history. One without a time
// counts before what comes after it with a time: that waits on.
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
		if p.timeOf(s).Before(p.timeOf(win)) {
			lost = s
		} else {
			win = s
		}
		p.overtaken(lost)
	}
	return win
}

// dispatch sends a slot on its way, according to what is decided.
func (p *pipe) dispatch(ctx context.Context, s *slot) {
	if p.dry != nil {
		p.dry.store.latest(s)
	}
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
	case s.change == nil && s.task == nil && !s.endsTask():
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
	s.done = s.ref()
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

// endsTask reports whether an event that changes nothing ends a task: what came before is
// not so any more.
func (s *slot) endsTask() bool { return s.outcome == OutcomeUnchanged && s.waiting != nil }

// ref names the task that is done with when the slot is.
func (s *slot) ref() *TaskRef {
	if s.task != nil {
		return &TaskRef{ID: s.id(), N: s.task.N}
	}
	return &TaskRef{ID: s.id()}
}

// sendToGet queues a slot for get, or stores it as a task when getting can't keep up.
func (p *pipe) sendToGet(s *slot) {
	late := p.patience == 0 && p.gets >= p.maxGets || p.spent()
	if late && s.ev.Open == nil {
		p.postpone(s)
		p.finished <- s
		return
	}
	s.queued = true
	p.gets++
	p.getting.Add(1)
	p.queue.push(s)
}

// control carries out an event that is not a put or a deletion; nothing is in flight.
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

// maxHeld is how many slots are held back at once. Of more, the first one is decided as
// if nothing else came of its id.
const maxHeld = 1024

// holdBack lets a slot wait for what else comes of its id, and reports whether it does.
// It waits if it states something else than is known, and its time does not prove that to
// be later: a snapshot that lists an id twice may go on to say what is known, and so may
// a log that repeats an instant. The latest counts, and at one time the last.
func (p *pipe) holdBack(ctx context.Context, s *slot) bool {
	statesNothing := s.outcome == OutcomeUnchanged && s.change == nil && !s.get
	if s.task != nil || s.alone || s.ask || statesNothing || s.restates() {
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

// release decides about the slot that has been held back for the longest time.
func (p *pipe) release(ctx context.Context) {
	s := p.held[0]
	p.letGo(s)
	s.alone = true
	p.dispatch(ctx, s)
}

// letGo takes a slot out of those that are held back.
func (p *pipe) letGo(s *slot) {
	p.held = slices.Delete(p.held, slices.Index(p.held, s), slices.Index(p.held, s)+1)
	s.held = false
	p.inflight++
}

// releaseBefore decides about the slots of a log that were held back in an instant before
// that of s.
func (p *pipe) releaseBefore(ctx context.Context, s *slot) {
	for p.snap == nil && len(p.held) > 0 && p.timeOf(p.held[0]).Before(p.timeOf(s)) {
		p.release(ctx)
	}
}

// drain decides about all slots that are held back. Control is the event that nothing may
// be held back behind, nil at the end of the listing.
func (p *pipe) drain(ctx context.Context, control *slot) {
	if control != nil && control.ev.Kind == SnapshotEnd && p.snap != nil {
		p.conclude(&control.ev)
	}
	for len(p.held) > 0 {
		p.release(ctx)
	}
}

// replace returns which of two slots of one id stands for both: the later one, unless its
// time is earlier. First is held back.
func (p *pipe) replace(first, s *slot) *slot {
	p.letGo(first)
	s.listed = s.ev.Kind == Put && (s.listed || first.listed)
	win, lost := s, first
	if p.timeOf(s).Before(p.timeOf(first)) {
		win, lost = first, s
	}
	p.overtaken(lost)
	return win
}

// overtaken reports a slot whose id has a later event.
func (p *pipe) overtaken(s *slot) {
	p.ledger.leave(s)
	p.inflight--
	p.outcome(s.id(), OutcomeHistory, nil)
}
