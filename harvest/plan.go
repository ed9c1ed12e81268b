package harvest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// How many events are compared with the Store at once: fewer of long descriptions, whose
// records are probably as long.
const (
	planBatch = 256
	planBytes = 1 << 20
)

// planner is the state of the second stage.
type planner struct {
	// flying has the slot of each id that is on its way. Later slots of the id wait in
	// its field later.
	flying map[string]*slot
	// waiting has the slots that are held back, oldest first. They are in flying, too.
	waiting []*slot
	// control is an event that is neither a put nor a deletion, and waits until nothing
	// is in flight.
	control *slot
	// allListed is set if no other event will come.
	allListed bool
	// inflight counts the slots that are not finished, without those that are held back.
	inflight int
	// gets counts those of them that were queued for get, at most maxGets. The rest of
	// the window is for slots that need no get.
	gets, maxGets int
	// patience is how long listing may still wait for getting. If negative, there is no
	// limit.
	patience time.Duration
	// snap is the snapshot that is being listed; nil outside of one.
	snap *snapshot
	// broken: a Problem came, or bytes that came with an event could not be read. No
	// later checkpoint is used.
	broken bool
}

// plan is the second stage: it compares events with the Store, in batches, and sends each
// on its way.
func (p *pipe) plan(ctx context.Context) error {
	defer p.queue.close()
	for {
		if err := p.takeBack(ctx); err != nil {
			return err
		}
		if err := p.pause(ctx); err != nil {
			return err
		}
		if p.allListed && p.inflight == 0 {
			if p.snap != nil {
				p.problem(errors.New("the source began a snapshot and did not end it"))
				p.snap = nil
			}
			return nil
		}
		if err := p.proceed(ctx); err != nil {
			return err
		}
	}
}

// drains reports whether plan takes no events until nothing is in flight.
func (p *planner) drains() bool { return p.control != nil || p.allListed }

// pause carries out the control event once nothing is in flight.
func (p *pipe) pause(ctx context.Context) error {
	if !p.drains() {
		return nil
	}
	if err := p.drain(ctx); err != nil {
		return err
	}
	if p.inflight == 0 && p.control != nil {
		if err := p.sampleKept(ctx); err != nil {
			return err
		}
	}
	if p.inflight == 0 && p.control != nil {
		if err := p.carryOut(ctx, p.control); err != nil {
			return err
		}
		p.control = nil
	}
	if p.drains() && p.patience == 0 {
		p.withdraw()
	}
	return nil
}

// proceed waits for the next event, for slots that commit returns, or until the patience
// is used up.
func (p *pipe) proceed(ctx context.Context) error {
	in := p.in
	if p.drains() || p.room() <= 0 {
		in = nil
	}
	if err := p.drainAlike(ctx, in == nil); err != nil {
		return err
	}
	began, timer := p.startWait(in == nil)
	defer func() {
		if !began.IsZero() {
			p.patience = max(0, p.patience-time.Since(began))
		}
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.wake:
	case <-timer:
	case s, ok := <-in:
		if ok {
			return p.gather(ctx, s)
		}
		p.allListed = true
	}
	return nil
}

// startWait returns when a wait began, and a timer that ends it when the patience is used
// up. Both are zero if listing does not wait for getting.
func (p *pipe) startWait(waiting bool) (began time.Time, timer <-chan time.Time) {
	if !waiting || p.gets == 0 || p.patience <= 0 {
		return time.Time{}, nil
	}
	return time.Now(), time.After(p.patience)
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

// gather plans a batch of events that begins with first. A control event ends the batch.
func (p *pipe) gather(ctx context.Context, first *slot) error {
	batch, size := make([]*slot, 0, p.room()), 0
	for s, ok := first, true; ok; {
		if s.ev.Kind > Delete {
			p.control = s
			break
		}
		size += s.ev.Resource.Size()
		if batch = append(batch, s); len(batch) == cap(batch) || size >= planBytes {
			break
		}
		select {
		case s, ok = <-p.in:
		default:
			ok = false
		}
	}
	return p.planEvents(ctx, batch)
}

// planEvents plans a batch in the order of the listing.
func (p *pipe) planEvents(ctx context.Context, batch []*slot) error {
	if len(batch) == 0 {
		return nil
	}
	began := time.Now()
	for _, s := range batch {
		p.prepare(s)
	}
	if p.snap != nil {
		p.snap.table.load(batch)
	}
	news := make([]*slot, 0, len(batch))
	for _, s := range batch {
		if p.leavesOut(s) && p.hasTasks.Load() || s.outcome != OutcomeExcluded && !p.recognise(s) {
			news = append(news, s)
		}
	}
	// those that have a record are new for certain
	if err := p.lookup(ctx, slices.DeleteFunc(slices.Clone(news), func(s *slot) bool { return s.rec != nil })); err != nil {
		return err
	}
	for _, s := range batch {
		if len(news) == 0 || s != news[0] {
			p.outcome(s.id(), s.outcome, nil)
			p.resume(s)
			s.recycle()
			continue
		}
		news = news[1:]
		if err := p.admit(ctx, s); err != nil {
			return err
		}
		if s.task == nil {
			p.resume(s)
		}
	}
	p.step(ctx, "plan", len(batch), began)
	return p.dry.commit(ctx, p)
}

// prepare sets what the run derives from an event, and reports it.
func (p *pipe) prepare(s *slot) {
	if s.task == nil {
		p.report.event(p.horizon().past(s.ev.time()))
		p.checkTime(s)
	}
	if s.ev.Kind == Put {
		if p.snap == nil && s.task == nil {
			s.ev.At = s.ev.time() // an event of a log is a change at this time
		}
		p.describe(&s.statement)
	}
}

// checkTime reports an event whose time lies in the future.
func (p *pipe) checkTime(s *slot) {
	if t := s.ev.time(); p.horizon().isBefore(t) {
		const message = "%q is stated to have changed more than a day after %s, by the publisher's clock: its time is not used"
		text := fmt.Sprintf(message, s.id(), p.clock().UTC().Format(time.RFC3339))
		p.finding(ruleFuture.Finding(p.key, 0, 0, "", []byte(t.String()), text))
	}
}

// describe sets what the run derives from the event of a put.
func (r *run) describe(st *statement) {
	st.hash = fingerprint(&st.ev.Resource, st.ev.Tag)
	// what keepsContent returns of a record that has everything the event states
	st.content = r.getter != nil || r.h.Bodies == SkipBodies || st.ev.hasContent()
	st.twoLists = r.twoLists
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
		s.held = p.heldOf(&records[i])
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

// recordsOf returns the records of ids, one for each.
func (r *run) recordsOf(ctx context.Context, ids []string) ([]Record, error) {
	records, err := r.catalog.lookup(ctx, r.key, ids)
	if err != nil {
		return nil, &StoreError{err}
	}
	return records, nil
}

// heldOf returns what is held with a record.
func (r *run) heldOf(rec *Record) held {
	b := rec.brief()
	return held{rec: rec, content: r.keepsContent(b.contentMarks)}
}

// keepsContent reports whether a live record with these marks has the content that this
// run would keep. It is true for a Getter, which decides itself, and if the run skips
// bodies.
func (r *run) keepsContent(c contentMarks) bool {
	if r.getter != nil || r.h.Bodies == SkipBodies {
		return true
	}
	return c.HasContent && (c.KeepsContent || r.h.Bodies != KeepBodies)
}

// resume notes the checkpoint of a slot. It ignores one inside a snapshot or after a
// Problem.
func (p *pipe) resume(s *slot) {
	if !s.ev.Resume.IsZero() && p.snap == nil && !p.broken {
		p.ledger.resume(s.n, s.ev.Resume)
	}
}

// drain decides about all slots that are held back: the control event comes next, or the
// end of the listing.
func (p *pipe) drain(ctx context.Context) error {
	if p.control != nil && p.control.ev.Kind == SnapshotEnd && p.snap != nil {
		p.conclude(&p.control.ev)
	}
	for len(p.waiting) > 0 {
		p.release(ctx)
	}
	return p.dry.commit(ctx, p)
}

// carryOut carries out an event that is neither a put nor a deletion. The caller makes
// sure that nothing is in flight.
func (p *pipe) carryOut(ctx context.Context, s *slot) error {
	switch s.ev.Kind {
	case SnapshotStart:
		return p.startSnapshot(ctx, s)
	case SnapshotEnd:
		return p.endSnapshot(ctx, s)
	case Problem:
		p.broken = true
		p.problem(s.ev.Err)
	case Unchanged:
		p.keepDocument(&s.ev)
	case Mark:
		p.skip(s)
		p.resume(s)
		close(s.reached)
	}
	return nil
}

// withdraw stores the slots that wait for get as tasks.
func (p *pipe) withdraw() {
	for _, s := range p.queue.withdraw() {
		p.getting.Add(-1)
		p.postpone(s)
		p.finished <- s
	}
}

// takeBack takes the slots that commit returns. It plans those with a conflict again, and
// those that waited for a committed one.
func (p *pipe) takeBack(ctx context.Context) error {
	committed, conflicted, moved := p.take()
	if p.snap != nil {
		p.snap.members.move(moved)
	}
	var waiting []*slot
	for _, s := range committed {
		stuck := s.state == slotStuck
		p.broken = p.broken || stuck
		p.noteTask(s)
		if p.snap != nil && s.change != nil && s.change.Record.Early {
			p.snap.members.ask(s.ev.Document)
		}
		p.free(s)
		if next := p.lastOf(s.later); next != nil {
			p.flying[s.id()] = next
			waiting = append(waiting, next)
		}
		if !stuck { // otherwise it stays in the ledger
			s.recycle()
		}
	}
	for _, s := range conflicted {
		if s.outcome == OutcomeDeleted {
			p.deletes.Add(-1)
		}
		p.move(s, slotPlanned) // what was decided is void
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
