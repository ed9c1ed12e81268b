package harvest

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"github.com/websync-go/websync"
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

// admit decides about a slot. If another slot of its id is on its way, it waits for that.
func (p *pipe) admit(ctx context.Context, s *slot) error {
	if p.dry != nil {
		if err := p.dry.renew(ctx, p, s); err != nil {
			return err
		}
	}
	// those of a log that are held back and have an earlier time are the last of their ids
	for s.task == nil && p.snap == nil && len(p.waiting) > 0 && p.timeOf(p.waiting[0]).Before(p.timeOf(s)) {
		p.release(ctx)
	}
	p.ledger.enter(s)
	p.move(s, slotPlanned)
	first := p.flying[s.id()]
	if first != nil && p.snap != nil {
		p.snap.members.again(s.id(), first.document)
		p.snap.members.again(s.id(), s.document)
	}
	switch {
	case first == nil:
	case first.state == slotHeld:
		p.unhold(first, slotPlanned)
		s.listed = s.ev.Kind == Put && (s.listed || first.listed)
		s = p.winner(first, s)
	default:
		first.later = append(first.later, s)
		return nil
	}
	p.flying[s.id()] = s
	p.dispatch(ctx, s)
	return nil
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
	p.keepQuota(s)
	switch {
	case s.get && p.dry == nil:
		p.sendToGet(s)
		return
	case s.todo != nil:
		p.finish(ctx, s)
		return
	case s.change == nil && s.task == nil && !p.endsTask(s):
		if p.relists(s) {
			p.finish(ctx, s)
			return
		}
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
// alike. It sets the slot's aim and document.
func (p *pipe) decide(s *slot) decision {
	s.aim = &s.statement
	if s.outcome == OutcomeExcluded {
		return decision{outcome: OutcomeExcluded}
	}
	p.place(s)
	m := p.moment()
	d := p.act(s, judge(&s.statement, &s.held, &m))
	states := d.get || d.outcome != OutcomeUnchanged
	if s.document == severalDocuments && s.task == nil && s.sample == nil && states && !d.keepsTask {
		p.snap.members.partial = true // another document may state something else
	}
	return d
}

// place notes which document lists the resource of a slot.
func (p *pipe) place(s *slot) {
	switch {
	case s.task != nil:
		s.document = s.task.Document
		return
	case p.snap == nil || s.ev.Kind != Put || s.document == 0:
		return
	}
	m := p.snap.members
	if p.h.Bodies != SkipBodies && (s.rec.Early || !s.ev.isConclusive()) {
		m.ask(s.ev.Document)
	}
	inThisSnapshot := s.rec.Live() && s.rec.Seq > p.snap.last || s.waiting != nil && s.waiting.Run == p.id
	if !s.listed || inThisSnapshot {
		m.again(s.id(), s.document)
	}
	if s.waiting != nil && s.waiting.Document != s.document {
		m.partial = true
	}
}

// moment returns the present moment.
func (p *pipe) moment() moment {
	m := moment{run: p.id, began: p.began, horizon: p.horizon()}
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
		switch {
		case !s.ev.Unsure || !s.rec.Live():
			return decideDelete(&s.ev, s.rec)
		case p.h.Bodies == SkipBodies:
			return decision{outcome: OutcomeHistory}
		}
		s.aim, ask = p.present(s), true
	case verdictTask:
		if p.waits(s.waiting, &s.ev) {
			return keepTask(s)
		}
		s.aim = p.stateOf(s)
	case verdictHeld, verdictConfirmed:
		if ask = p.asksAgain(s); ask {
			break
		}
		if v == verdictHeld {
			return decision{outcome: OutcomeUnchanged}
		}
		next := *s.rec // with the event's time only
		next.Stated = p.putOf(s).Record.Stated
		return decision{outcome: OutcomeTouched, change: &change{Base: s.rec.Seq, Record: next}}
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

// keepTask leaves the task that a slot means as it is, except for its hint and for the
// document that lists the resource.
func keepTask(s *slot) decision {
	t, d := s.waiting, decision{outcome: OutcomeDeferred, keepsTask: true}
	if t.isGone() {
		d.outcome = OutcomeGone
	}
	if !bytes.Equal(t.Hint, s.ev.Hint) || s.document != 0 && t.Document != s.document {
		hinted := *t
		hinted.Hint, hinted.Document = s.ev.Hint, cmp.Or(s.document, t.Document)
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

// present returns the statement that the record is still as it is.
func (r *run) present(s *slot) *statement {
	st := s.statement
	st.ev = Event{Kind: Put, At: s.rec.Stated.At, Resource: s.rec.Resource}
	st.ev.Resource.Modified = s.rec.Stated.Modified
	r.describe(&st)
	st.hash = s.rec.Stated.Hash
	return &st
}

// asksAgain reports whether to ask for bytes that seem unchanged: for all of them with
// Recheck, but once if there are two lists; for those of an event with Recheck; for those
// that were obtained too early, if a log states their time again, if it is a second of
// the last minute, which may be rounded up, or once its period is over; and for those of
// the sample. If there are two lists, the second one does not ask for what the first one
// has just got.
func (p *pipe) asksAgain(s *slot) bool {
	inLog := p.snap == nil
	switch justGot := p.twoLists && s.listed && s.rec.Seq > p.began; {
	case p.h.Bodies == SkipBodies, !p.hasBodies(&s.ev), justGot:
		return false
	case s.sample != nil, p.rechecks() && (s.listed || inLog && !p.twoLists):
		return true
	case !inLog && s.listed && s.task == nil && p.samples(s): // another document lists it than before
		return true
	case s.ev.identifies():
		return false
	}
	if s.ev.Recheck || !s.rec.Early || inLog {
		return s.ev.Recheck || s.rec.Early
	}
	at, now := s.rec.Stated.time(), p.clock()
	recent := at.Precision() >= websync.PrecisionSecond && !at.Time().After(now.Add(time.Second))
	return recent || p.isOver(&s.rec.Stated, now)
}

// obtain decides how to carry out a put that states something new: with a get, unless the
// record has the bytes already. Bodies that the event no longer states are not kept.
func (p *pipe) obtain(s *slot, ask bool) decision {
	b, ok := websync.Body{}, false
	if !ask && len(p.alsoOf(&s.aim.ev.Resource)) == 0 {
		b, ok = p.stillStated(s)
	}
	if !ok && p.h.Bodies != SkipBodies && p.hasBodies(&s.aim.ev) {
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
	if !holds || !ev.hasContent() || ev.Tag != "" || !s.rec.agrees(&b, content) {
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

// hasBodies reports whether there may be bodies to get.
func (r *run) hasBodies(ev *Event) bool {
	return r.getter != nil || ev.hasContent() || len(r.alsoOf(&ev.Resource)) > 0
}

// noteTask notes that a task stays as it is. The snapshot does not end it later, since it
// lists the id.
func (p *pipe) noteTask(s *slot) {
	if s.keepsTask && p.snap != nil {
		p.snap.tasks[s.id()] = true
	}
}

// endsTask reports whether an event that changes nothing ends the task of its id: the
// source has taken back the change that the task was to get. Of two lists, the other one
// says nothing about it.
func (r *run) endsTask(s *slot) bool {
	ends := (s.outcome == OutcomeUnchanged || s.outcome == OutcomeExcluded) && s.waiting != nil && !s.waiting.lags()
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
