package harvest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// A decision is what to do about one event: nothing if it has neither get, change nor
// todo.
type decision struct {
	outcome Outcome
	ask     bool    // for the bytes, whatever is held
	get     bool    // the bodies are needed before the change is known
	change  *change // a Put if the outcome leaves an entry in the log, otherwise a Touch
	todo    *Task   // to be stored
	// keepsTask is set if the task of the id stays as it is, except for its hint.
	keepsTask bool
}

// dispatch decides about a slot and hands it to the next stage.
func (p *pipe) dispatch(ctx context.Context, s *slot) {
	p.noteBack(s)
	s.decision = p.decide(s)
	p.noteTask(s)
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
			next.held = s.held
			p.dispatch(ctx, next)
		}
		return
	}
	s.done = p.ref(s)
	p.finish(ctx, s)
}

// noteBack notes the time of the record if the snapshot states an earlier one.
func (p *pipe) noteBack(s *slot) {
	t, was := p.timeOf(s), s.rec.Stated.time()
	if s.listed && s.rec.Live() && !t.IsZero() && t.Before(was) && len(p.snap.back) < maxNotes {
		p.snap.back[nanoseconds(was)] = true
	}
}

// decide judges an event and returns what to do about it. It depends only on the slot,
// the snapshot and the Harvester's settings, so that a plan and the run after it decide
// alike. It sets the slot's aim.
func (p *pipe) decide(s *slot) decision {
	m := p.moment()
	s.aim = &s.statement
	return p.act(s, judge(&s.statement, &s.held, &m))
}

// moment returns the present moment.
func (p *pipe) moment() moment {
	m := moment{run: p.id, began: p.began, latest: p.latest()}
	if p.snap != nil {
		m.last, m.described = p.snap.last, p.snap.moment()
	}
	return m
}

// act returns what the run does after a verdict about an event, as its settings demand.
// An event that means the state of a task is taken for that change.
func (p *pipe) act(s *slot, v verdict) decision {
	ask := v == verdictTask || v == verdictDue
	switch v {
	case verdictHistory:
		return decision{outcome: OutcomeHistory}
	case verdictDeleted:
		return decideDelete(&s.ev, s.rec)
	case verdictTask:
		if p.waits(s.waiting, &s.ev) {
			return keepTask(s.waiting, &s.ev)
		}
		s.aim = p.stateOf(s)
	case verdictHeld, verdictConfirmed:
		if ask = p.asksAgain(s); ask {
			break
		}
		if v == verdictHeld {
			return decision{outcome: OutcomeUnchanged}
		}
		return decision{outcome: OutcomeTouched, change: p.touch(s)}
	}
	d := p.obtain(s, ask)
	d.ask = ask
	return d
}

// waits reports whether the task that an event means stays as it is: it is parked, or not
// due yet. With Recheck, or if the event brings the bytes, it is tried nevertheless.
func (p *pipe) waits(t *Task, ev *Event) bool {
	return !p.h.Recheck && ev.Open == nil && (t.Parked || t.Due.After(p.report.Started))
}

// keepTask leaves a task as it is, except for its hint.
func keepTask(t *Task, ev *Event) decision {
	d := decision{outcome: OutcomeDeferred, keepsTask: true}
	if t.isGone() {
		d.outcome = OutcomeGone
	}
	if !bytes.Equal(t.Hint, ev.Hint) {
		hinted := *t
		hinted.Hint = ev.Hint
		d.todo = &hinted
	}
	return d
}

// stateOf returns the state of the task that an event means, with everything that the
// task has of it.
func (p *pipe) stateOf(s *slot) *statement {
	t, st := s.waiting, s.statement
	st.ev.At, st.ev.Tag, st.ev.Resource = t.At, t.Tag, t.Resource
	st.listed = false
	p.describe(&st)
	return &st
}

// asksAgain reports whether to ask for bytes that seem unchanged: for all of them with
// Recheck, but once if there are two lists; for those of an event with Recheck; for those
// that were obtained too early, once the period of their time is over or a log states
// that time again; and for those of the sample. If there are two lists, the second one
// does not ask for what the first one has just got.
func (p *pipe) asksAgain(s *slot) bool {
	inLog := p.snap == nil
	switch justGot := p.twoLists && s.listed && s.rec.Seq > p.began; {
	case p.h.Bodies == SkipBodies, p.getter == nil && !s.ev.hasContent(), justGot:
		return false
	case s.sample != nil, p.h.Recheck && (s.listed || inLog && !p.twoLists):
		return true
	case s.ev.identifies():
		return false
	}
	return s.ev.Recheck || s.rec.Early && (inLog || p.isOver(&s.rec.Stated, p.clock()))
}

// touch returns the change to the record that gives it the event's time only.
func (r *run) touch(s *slot) *change {
	next := *s.rec
	next.Stated = r.putOf(s).Record.Stated
	return &change{Base: s.rec.Seq, Record: next}
}

// obtain decides how to carry out a put that states something new: with a get, unless the
// record has the bytes already. Bodies that the event no longer states are not kept.
func (p *pipe) obtain(s *slot, ask bool) decision {
	b, ok := websync.Body{}, false
	if !ask {
		b, ok = p.stillStated(s)
	}
	if !ok && p.h.Bodies != SkipBodies && (p.getter != nil || s.aim.ev.hasContent()) {
		return decision{get: true}
	}
	change := p.putOf(s)
	next := &change.Record
	if ok {
		next.Bodies, next.Validators = []websync.Body{b}, s.rec.Validators
		next.Early = s.rec.Early && !s.aim.ev.identifies()
	}
	p.complete(s, next)
	return p.decideChange(s.rec, change, s.aim.ev.At)
}

// stillStated returns the content of the record, if the event states the same bytes.
func (p *pipe) stillStated(s *slot) (websync.Body, bool) {
	ev := &s.aim.ev
	content := &ev.Resource.Content
	b, ok := s.rec.Body(websync.ContentName)
	holds := ok && s.rec.Live() && s.held.content && p.getter == nil
	if !holds || !ev.hasContent() || ev.Tag != "" || contradicts(*content, b.Link) {
		return websync.Body{}, false
	}
	if ev.Open != nil && content.Type != "" { // no server states another
		b.Link.Type = content.Type
	}
	if _, ok := content.Digests.Strongest(); ok {
		return b, true // contradicts found it among the digests of b
	}
	sameTime := !ev.Resource.Modified.IsZero() && ev.Resource.Modified == s.rec.Stated.Modified
	sameURL := content.Href == s.rec.Resource.Content.Href
	return b, sameTime && sameURL && !ev.Recheck && !s.aim.isLater(s.rec)
}

// putOf returns the change to the record that the event leads to, without bodies. Of two
// lists, what the other one stated last stays.
func (r *run) putOf(s *slot) *change {
	ev, held := &s.aim.ev, &s.rec.Stated
	at := ev.time()
	stated := Stated{s.aim.hash, at, ev.Resource.Modified}
	if r.twoLists {
		stated.Modified = cmp.Or(ev.Listed, held.Modified, stated.Modified)
		if ev.Listed == ev.Resource.Modified { // the log has no later time
			stated.At = cmp.Or(held.At, at)
		}
	}
	return &change{Base: s.rec.Seq, Record: Record{Item: websync.Item{At: at, Resource: ev.Resource}, Stated: stated}}
}

// complete adds to the next state of a record what the record has of the same moment and
// the event does not state. Events with a Tag are complete as they are, and those of two
// lists, whose times are not of one clock.
func (r *run) complete(s *slot, next *Record) {
	if !s.rec.Live() || s.aim.ev.Tag != "" || r.twoLists || !s.aim.isOf(s.rec) {
		return
	}
	supplement(&next.Resource, &s.rec.Resource)
	if sameBodies(s.rec.Bodies, next.Bodies) {
		supplementLink(&next.Resource.Content, &s.rec.Resource.Content)
	}
	if s.aim.ev.Resource.Modified != s.rec.Stated.Modified {
		next.At, next.Resource.Modified = s.rec.At, s.rec.Resource.Modified
		next.Stated.At, next.Stated.Modified = s.rec.Stated.At, s.rec.Stated.Modified
	}
}

// decideChange decides about the change from a record to its next state, by an event of
// the time at. It is a Put if a log states a later change or the states differ, otherwise
// a Touch, which keeps the Item.
func (r *run) decideChange(rec *Record, change *change, at websync.Datetime) decision {
	next := &change.Record
	if !rec.Live() {
		next.Kind = websync.Created
		return decision{outcome: OutcomeCreated, change: change}
	}
	next.Kind = websync.Updated
	was, now := &rec.Stated, &next.Stated
	if now.At.IsZero() {
		next.At, now.At = was.At, was.At
	}
	if at.After(was.time()) || r.differs(rec, next) {
		return decision{outcome: OutcomeUpdated, change: change}
	}
	if *was == *now && rec.Early == next.Early && slices.Equal(rec.Validators, next.Validators) {
		return decision{outcome: OutcomeUnchanged}
	}
	next.Item = rec.Item
	return decision{outcome: OutcomeTouched, change: change}
}

// differs reports whether the bytes or the descriptions of two states of a live record
// differ. Another Modified alone is a difference in three cases: the run skips bodies, a
// Getter has found it, or it replaces a time in the future.
func (r *run) differs(rec, next *Record) bool {
	switch was, now := rec.Stated.Modified, next.Stated.Modified; {
	case !sameBodies(rec.Bodies, next.Bodies), r.h.Bodies == SkipBodies && was != now:
		return true
	case r.getter != nil && now.IsZero() && next.Resource.Modified != rec.Resource.Modified:
		return true
	case r.isFuture(rec.publicTime()) && !r.isFuture(next.publicTime()):
		return true
	}
	return fingerprint(&rec.Resource, "") != fingerprint(&next.Resource, "")
}

// publicTime returns the time of the change that a Catalog has.
func (r *Record) publicTime() websync.Datetime { return cmp.Or(r.At, r.Resource.Modified) }

// sameBodies reports whether two states have the same bytes under the same names and
// types, kept or not.
func sameBodies(a, b []websync.Body) bool {
	return slices.EqualFunc(a, b, func(x, y websync.Body) bool {
		return sameBytes(x, y) && x.Key == y.Key && x.Link.Type == y.Link.Type
	})
}

// sameBytes reports whether two bodies have the same name and the same bytes.
func sameBytes(x, y websync.Body) bool {
	d, ok := x.Link.Digests.Get(keyAlgorithm)
	e, _ := y.Link.Digests.Get(keyAlgorithm)
	return ok && d == e && x.Name == y.Name
}

// decideDelete decides about a deletion that is not older than the record.
func decideDelete(ev *Event, rec *Record) decision {
	at := ev.time()
	switch {
	case !rec.Known():
		next := tombstone(&Record{Item: websync.Item{Resource: ev.Resource}, Stated: Stated{Modified: ev.Resource.Modified}}, at)
		return decision{outcome: OutcomeUnchanged, change: &change{Record: next}}
	case rec.Live():
		return decision{outcome: OutcomeDeleted, change: &change{Base: rec.Seq, Record: tombstone(rec, at)}}
	case at.After(rec.Stated.time()):
		later := Record{Item: rec.Item, Stated: Stated{At: at, Modified: rec.Stated.Modified}}
		return decision{outcome: OutcomeUnchanged, change: &change{Base: rec.Seq, Record: later}}
	}
	return decision{outcome: OutcomeUnchanged}
}

// tombstone returns the record of a deleted resource: its last description and Modified,
// and no bodies. If the time of the deletion is not stated, Stated.Modified is the last
// time that was.
func tombstone(rec *Record, at websync.Datetime) Record {
	t := Record{
		Item:   websync.Item{Kind: websync.Deleted, At: at, Resource: rec.Resource},
		Stated: Stated{At: at, Modified: rec.Stated.Modified},
	}
	t.Resource.Modified = rec.Stated.Modified
	if last := rec.Stated.time(); at.IsZero() && (t.Resource.Modified.IsZero() || last.After(t.Resource.Modified)) {
		t.Stated.Modified = last
	}
	return t
}

// hashUnlisted is the Stated.Hash of the tombstone of what a snapshot did not list.
const hashUnlisted = 1

// unlisted returns the tombstone of what a snapshot of the moment at did not list.
func unlisted(rec *Record, at websync.Datetime) Record {
	t := tombstone(rec, at)
	t.Stated.Hash = hashUnlisted
	return t
}

// noteTask notes that a task stays as it is. The snapshot does not end it later, since it
// lists the id.
func (p *pipe) noteTask(s *slot) {
	if s.keepsTask && p.snap != nil {
		p.snap.tasks[s.id()] = true
	}
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
	if s.task != nil || s.state == slotAlone || s.ask || statesNothing || s.restates(s.rec) {
		return false
	}
	known := p.past(s.held.time())
	waits := s.rec.Known() && !p.timeOf(s).After(known)
	if !s.listed {
		waits = s.outcome != OutcomeHistory && p.timeOf(s).Overlaps(known)
	}
	if !waits {
		return false
	}
	if len(p.waiting) == maxHeld {
		p.release(ctx)
	}
	p.move(s, slotHeld)
	p.waiting = append(p.waiting, s)
	return true
}

// withholdDelete turns the deletion that an event states into a task if the run has
// carried out as many as MaxDeletes allows. A deletion that was withheld and is stated
// again stays withheld.
func (p *pipe) withholdDelete(s *slot) {
	if s.outcome != OutcomeDeleted {
		return
	}
	t := s.waiting
	again := p.h.MaxDeletes > 0 && t != nil && t.Kind == TaskWithheld && t.Base == s.rec.Seq && t.At == s.ev.time()
	if !again && p.mayDelete() {
		return
	}
	const message = "the source states more than %d deletions; only Approve carries out the others"
	why := &GuardError{"number", fmt.Sprintf(message, p.h.MaxDeletes)}
	p.withhold(why)
	s.decision = decision{outcome: OutcomeWithheld, todo: p.withheldTask(s.rec, s.ev.time(), why)}
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
	p.move(s, slotQueued)
	p.getting.Add(1)
	p.queue.push(s)
}

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

// endsTask reports whether an event that changes nothing ends the task of its id: the
// source has taken back the change that the task was to get. Of two lists, the other one
// says nothing about it.
func (r *run) endsTask(s *slot) bool {
	ends := s.outcome == OutcomeUnchanged && s.waiting != nil && !s.waiting.lags()
	return ends && (!r.twoLists || s.waiting.Kind != TaskGet || s.waiting.At.IsZero() == s.aim.ev.At.IsZero())
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

// free removes a finished slot from those in flight.
func (p *pipe) free(s *slot) {
	p.move(s, slotFinished)
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

// yieldsTo reports whether a slot is history because of an earlier one of its id: its
// time is before that of the other, and orders them.
func (p *pipe) yieldsTo(s, earlier *slot) bool {
	return !(s.ev.isCurrent() && earlier.ev.Kind == Put) && p.timeOf(s).Before(p.timeOf(earlier))
}

// supersede finishes a slot as history: another slot of its id wins.
func (p *pipe) supersede(s *slot) {
	p.ledger.leave(s)
	p.move(s, slotFinished)
	p.outcome(s.id(), OutcomeHistory, nil)
}
