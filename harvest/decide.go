package harvest

import (
	"cmp"
	"slices"
	"time"

	"github.com/websync-go/websync"
)

// A decision is what to do about one event: nothing if it has neither get, change nor
// todo.
type decision struct {
	outcome Outcome
	get     bool    // the bodies are needed before the change is known
	change  *change // a Put if the outcome leaves an entry in the log, otherwise a Touch
	todo    *Task   // to be stored
}

// publicTime returns the time of the change that a Catalog has.
func (r *Record) publicTime() websync.Datetime { return cmp.Or(r.At, r.Resource.Modified) }

// decide compares an event with the record of its id, and with the task of its id. It
// stores nothing and depends only on its slot, the snapshot and the Harvester's settings,
// so that a plan and the run after it decide alike.
//
// A task to get stands for a later state than the record, so the event is compared with
// it as well. An event that may mean the state of the task is taken for that change, with
// everything that the task has of it.
func (p *pipe) decide(s *slot) decision {
	s.ask = false
	means := s.meansTask()
	switch {
	case s.task != nil && s.task.lags() && !s.ended && p.restates(s):
		s.ask = true
		return p.obtain(s)
	case s.task != nil && s.task.lags():
		return decision{outcome: OutcomeHistory} // the record has another state by now
	case s.ended, s.awaits() && !s.ev.isCurrent() && p.isOlder(s, s.waiting.time(), s.waiting.Run == p.id) && !(means && s.listed):
		return decision{outcome: OutcomeHistory}
	case means && p.rests(s):
		return p.rest(s)
	case means:
		t := s.waiting
		s.ev.At, s.ev.Tag, s.ev.Resource, s.stated = t.At, t.Tag, t.Resource, fingerprint(&t.Resource, t.Tag)
		s.ask, s.listed = true, false
		return p.obtain(s)
	case s.task != nil && s.task.Base == s.rec.Seq:
		s.ask = true // this was decided when the task was stored
		return p.obtain(s)
	case !p.isRelisted(s) && p.isOlder(s, s.ordering(), p.snap == nil || s.rec.Seq > p.snap.last):
		return decision{outcome: OutcomeHistory}
	case s.ev.Kind == Delete:
		return decideDelete(&s.ev, s.rec)
	case s.rec.Live() && p.isUnchanged(s):
		if s.ask = p.asksAgain(s); s.ask {
			return p.obtain(s)
		}
		return decision{outcome: OutcomeUnchanged}
	case p.confirms(s):
		if s.ask = p.asksAgain(s); s.ask {
			return p.obtain(s)
		}
		return decision{outcome: OutcomeTouched, change: p.touch(s)}
	case p.isSwept(s):
		return decision{outcome: OutcomeHistory}
	}
	return p.obtain(s)
}

// isOlder reports whether the event is older than a state with the time known. In a log
// it is if its time is earlier; without times the order decides. In a snapshot it is if
// the state is not before the moment that the snapshot describes and the event does not
// state a later time. A state that is new since the snapshot began, and an id that it
// lists again, are compared as in a log. What the source shows now is not older than a
// live record.
func (p *pipe) isOlder(s *slot, known websync.Datetime, isNew bool) bool {
	known = p.believed(known)
	t := p.timeOf(s)
	if s.listed && !isNew {
		return !s.ev.Apart && notBefore(known, p.snap.moment()) && !t.After(known)
	}
	return t.Before(known)
}

// ordering returns the time of the record as far as it orders the event: a put that is
// Current is older only than a deletion that states its time.
func (s *slot) ordering() websync.Datetime {
	switch {
	case !s.ev.isCurrent():
		return s.rec.Stated.time()
	case s.rec.Live():
		return websync.Datetime{}
	}
	return s.rec.Stated.At
}

// isRelisted reports whether a snapshot lists what an earlier one, which describes the
// same moment, did not: the listing has changed since, and its moment has not.
func (p *pipe) isRelisted(s *slot) bool {
	held := &s.rec.Stated
	swept := s.rec.Kind == websync.Deleted && held.Hash == hashUnlisted
	return swept && s.listed && s.rec.Seq <= p.snap.last && held.At == p.snap.moment()
}

// isSwept reports whether a snapshot has deleted the record, and the event belongs to a
// log and states no later time than the record: it must not create the record again. One
// that is Current does.
func (p *pipe) isSwept(s *slot) bool {
	held, t := &s.rec.Stated, p.timeOf(s)
	swept := s.rec.Kind == websync.Deleted && held.At.IsZero() && !s.ev.isCurrent()
	modified := p.believed(held.Modified)
	return swept && !s.listed && !t.IsZero() && !modified.IsZero() && !t.After(modified)
}

// timeOf returns the time of a slot's event; zero if it lies in the future.
func (p *pipe) timeOf(s *slot) websync.Datetime { return p.believed(s.ev.time()) }

// awaits reports whether the id has a task to get.
func (s *slot) awaits() bool {
	return s.waiting != nil && s.waiting.Kind == TaskGet && !s.waiting.lags()
}

// known returns the time of the latest state of the id: that of its task, or of its
// record.
func (s *slot) known() websync.Datetime {
	if s.awaits() {
		return s.waiting.time()
	}
	return s.rec.Stated.time()
}

// restates reports whether a put states the same as the last event of a live record.
func (r *run) restates(s *slot) bool {
	stated, held := s.ev.Resource.Modified, &s.rec.Stated
	same := stated == held.Modified || r.twoLists && stated == held.At
	return s.ev.Kind == Put && s.rec.Live() && s.stated == held.Hash && same
}

// times returns the time that a put states, and what the last one, or the last one of the
// same list, stated.
func (r *run) times(s *slot) (stated, held websync.Datetime) {
	switch {
	case !r.twoLists:
		return s.ev.Resource.Modified, s.rec.Stated.Modified
	case s.ev.Listed.IsZero():
		return s.ev.Resource.Modified, s.rec.Stated.At
	}
	return s.ev.Listed, s.rec.Stated.Modified
}

// meansTask reports whether a put may mean the state of the task to get: it has the same
// description, or less of it, and the same time or a coarser one.
func (s *slot) meansTask() bool {
	t := s.waiting
	if s.ev.Kind != Put || !s.awaits() || s.ev.time().After(t.time()) {
		return false
	}
	stated := s.ev.Resource.Modified
	if !mayMean(stated, t.Resource.Modified) {
		return false
	}
	return fingerprint(&t.Resource, t.Tag) == s.stated || !stated.IsZero() && s.ev.Tag == "" && s.ev.hasContent() && saysLess(&s.ev.Resource, &t.Resource)
}

// mayMean reports whether d is the moment e, or less precise and overlaps it.
func mayMean(d, e websync.Datetime) bool {
	return d == e || d.Precision() < e.Precision() && d.Overlaps(e)
}

// mayMeanElsewhere reports whether a date and an instant may mean the same moment,
// whatever the zone of the date: it covers from 14 hours before to 12 hours after its
// period in UTC.
func mayMeanElsewhere(d, e websync.Datetime) bool {
	if d.Precision() > e.Precision() {
		d, e = e, d
	}
	if d.IsZero() || d.Precision() > websync.PrecisionDay || e.Precision() <= websync.PrecisionDay {
		return false
	}
	t := e.Time()
	return !t.Before(d.Time().Add(-14*time.Hour)) && t.Before(d.End().Add(12*time.Hour))
}

// notBefore reports whether both times are stated, and t is not before at.
func notBefore(t, at websync.Datetime) bool {
	return !t.IsZero() && !at.IsZero() && !t.Before(at)
}

// isUnchanged reports whether the record has everything that the event states.
func (p *pipe) isUnchanged(s *slot) bool {
	stated, held := p.times(s)
	known := s.stated == s.rec.Stated.Hash || s.isOfTheRecord() && s.ev.Tag == "" && saysLess(&s.ev.Resource, &s.rec.Resource)
	if !known || p.keepsContent(s.rec) != p.wantsContent(&s.ev) {
		return false
	}
	if stated == held || stated.IsZero() {
		return s.ev.isConclusive() && s.statesNoLaterChange()
	}
	return mayMean(stated, held)
}

// confirms reports whether an event of a log states a later change that leaves everything
// as it is: the description is that of the record, and identifies the bytes. Of two
// lists, one also confirms the change of the other one.
func (p *pipe) confirms(s *slot) bool {
	same := p.restates(s) && s.ev.identifies() || s.rec.Live() && s.stated == s.rec.Stated.Hash && p.isOfOther(s)
	return same && p.keepsContent(s.rec) == p.wantsContent(&s.ev)
}

// isOfOther reports whether an event states the change that the other one of two lists
// stated, at the same time, and that this run has got.
func (r *run) isOfOther(s *slot) bool {
	other := s.rec.Stated.At
	if s.ev.Listed.IsZero() {
		other = s.rec.Stated.Modified
	}
	stated, _ := r.times(s)
	return r.twoLists && s.ev.Kind == Put && s.rec.Seq > r.began && !stated.IsZero() && stated == other
}

// statesNoLaterChange reports whether an event does not state a change after that of the
// record. An entry of a snapshot states no change.
func (s *slot) statesNoLaterChange() bool {
	return s.listed || !s.ev.time().After(s.rec.Stated.time())
}

// isOfTheRecord reports whether an event states the time of the record, or a coarser one
// that overlaps it.
func (s *slot) isOfTheRecord() bool {
	stated := s.ev.Resource.Modified
	return !stated.IsZero() && mayMean(stated, s.rec.Stated.Modified) && s.statesNoLaterChange()
}

// complete adds to the next state of a record what the record has of the same moment and
// the event does not state. Events with a Tag are complete as they are, and those of two
// lists, whose times are not of one clock.
func (r *run) complete(s *slot, next *Record) {
	if !s.rec.Live() || s.ev.Tag != "" || r.twoLists || !s.isOfTheRecord() {
		return
	}
	supplement(&next.Resource, &s.rec.Resource, sameBodies(s.rec.Bodies, next.Bodies))
	if s.ev.Resource.Modified != s.rec.Stated.Modified {
		next.At, next.Resource.Modified = s.rec.At, s.rec.Resource.Modified
		next.Stated.At, next.Stated.Modified = s.rec.Stated.At, s.rec.Stated.Modified
	}
}

// lacks reports whether the record misses the bytes that the event links to or brings.
func (p *pipe) lacks(s *slot) bool { return !p.keepsContent(s.rec) && s.ev.hasContent() }

// hasContent reports whether an event links to bytes or brings them.
func (e *Event) hasContent() bool { return e.Resource.Content.Href != "" || e.Open != nil }

// keepsContent reports whether a live record has the content that this run would keep. It
// is true for a Getter, which decides itself, and if the run skips bodies.
func (r *run) keepsContent(rec *Record) bool {
	b := rec.brief()
	return r.keeps(b.HasContent, b.KeepsContent)
}

// keeps is keepsContent for the HasContent and KeepsContent of a record.
func (r *run) keeps(has, keeps bool) bool {
	if r.getter != nil || r.h.Bodies == SkipBodies {
		return true
	}
	return has && (keeps || r.h.Bodies != KeepBodies)
}

// wantsContent returns what keepsContent returns of a record that has everything the
// event states.
func (r *run) wantsContent(ev *Event) bool {
	return r.getter != nil || r.h.Bodies == SkipBodies || ev.hasContent()
}

// obtain decides how to carry out a put that states something new: with a get, unless the
// record has the bytes already. Bodies that the event no longer states are not kept.
func (p *pipe) obtain(s *slot) decision {
	b, ok := p.stillStated(s)
	if !ok && p.h.Bodies != SkipBodies && (p.getter != nil || s.ev.hasContent()) {
		return decision{get: true}
	}
	change := p.putOf(s)
	next := &change.Record
	if ok {
		next.Bodies, next.Validators, next.Early = []websync.Body{b}, s.rec.Validators, s.rec.Early && !s.ev.identifies()
	}
	p.complete(s, next)
	return p.decideChange(s.rec, change, s.ev.At)
}

// putOf returns the change to the record that the event leads to, without bodies. Of two
// lists, what the other one stated last stays.
func (r *run) putOf(s *slot) *change {
	at, held := s.ev.time(), &s.rec.Stated
	stated := Stated{s.stated, at, s.ev.Resource.Modified}
	if r.twoLists {
		stated.Modified = cmp.Or(s.ev.Listed, held.Modified, stated.Modified)
		if s.ev.Listed == s.ev.Resource.Modified { // the log has no later time
			stated.At = cmp.Or(held.At, at)
		}
	}
	return &change{Base: s.rec.Seq, Record: Record{Item: websync.Item{At: at, Resource: s.ev.Resource}, Stated: stated}}
}

// touch returns the change to the record that gives it the event's time only.
func (r *run) touch(s *slot) *change {
	next := *s.rec
	next.Stated = r.putOf(s).Record.Stated
	return &change{Base: s.rec.Seq, Record: next}
}

// stillStated returns the content of the record, if the event states the same bytes.
func (p *pipe) stillStated(s *slot) (websync.Body, bool) {
	b, ok := s.rec.Body(websync.ContentName)
	content := &s.ev.Resource.Content
	switch {
	case s.ask, p.getter != nil, !s.rec.Live(), !ok, !s.ev.hasContent(), !p.keepsContent(s.rec), s.ev.Tag != "", contradicts(*content, b.Link):
		return websync.Body{}, false
	case s.ev.Open != nil && content.Type != "": // no server states another
		b.Link.Type = content.Type
	}
	if _, ok := content.Digests.Strongest(); ok {
		return b, true // contradicts found it among the digests of b
	}
	sameTime := !s.ev.Resource.Modified.IsZero() && s.ev.Resource.Modified == s.rec.Stated.Modified
	return b, sameTime && !s.ev.Recheck && content.Href == s.rec.Resource.Content.Href && s.statesNoLaterChange()
}

// decideChange decides about the change from a record to its next state, by an event of
// the time at. It is a Put if the bytes or the description differ, otherwise a Touch,
// which keeps the Item. Another Modified alone is a Put in four cases: the run skips
// bodies, a log states a later change, a Getter has found it, or it replaces a time in
// the future.
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
	sameBytes := sameBodies(rec.Bodies, next.Bodies) && (was.Modified == now.Modified || r.h.Bodies != SkipBodies)
	found := r.getter != nil && now.Modified.IsZero() && next.Resource.Modified != rec.Resource.Modified
	corrected := r.isFuture(rec.publicTime()) && !r.isFuture(next.publicTime())
	if !sameBytes || found || corrected || at.After(rec.Stated.time()) || fingerprint(&rec.Resource, "") != fingerprint(&next.Resource, "") {
		return decision{outcome: OutcomeUpdated, change: change}
	}
	if *was == *now && rec.Early == next.Early && slices.Equal(rec.Validators, next.Validators) {
		return decision{outcome: OutcomeUnchanged}
	}
	next.Item = rec.Item
	return decision{outcome: OutcomeTouched, change: change}
}

// sameBodies reports whether two states have the same bytes under the same names and
// types, kept or not.
func sameBodies(a, b []websync.Body) bool {
	return slices.EqualFunc(a, b, func(x, y websync.Body) bool { return sameBytes(x, y) && x.Key == y.Key && x.Link.Type == y.Link.Type })
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
	t := Record{Item: websync.Item{Kind: websync.Deleted, At: at, Resource: rec.Resource}, Stated: Stated{At: at, Modified: rec.Stated.Modified}}
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

// isEarly reports whether bodies that were obtained at this moment may still change
// without a change of their stated time.
func (r *run) isEarly(s *slot, next *Record, obtained func() time.Time) bool {
	t := next.Stated.time()
	return !s.ev.identifies() && !t.IsZero() && !r.isOver(&next.Stated, obtained())
}

// isOver reports whether the period of the time of a state was over, or if there are two
// lists, those of the times of both.
func (r *run) isOver(of *Stated, now time.Time) bool {
	return of.time().IsOver(now) && (!r.twoLists || of.Modified.IsZero() || of.Modified.IsOver(now))
}

// asksAgain reports whether to ask for bytes that seem unchanged: for all of them with
// Recheck, but once if there are two lists; for those of an event with Recheck; for those
// that were obtained too early, once the period of their time is over or a log states that
// time again; and for those of the sample. If there are two lists, the second one does not
// ask for what the first one has just got.
func (p *pipe) asksAgain(s *slot) bool {
	if p.h.Bodies == SkipBodies || p.getter == nil && !s.ev.hasContent() || p.twoLists && s.listed && s.rec.Seq > p.began {
		return false
	}
	early := s.rec.Early && (p.snap == nil || p.isOver(&s.rec.Stated, p.clock()))
	return (early || s.ev.Recheck) && !s.ev.identifies() || p.h.Recheck && (p.snap == nil && !p.twoLists || s.listed) || s.sample != nil
}

// isFull reports whether the run lists from the beginning.
func (r *run) isFull() bool { return r.h.Full || r.h.Recheck || r.dry.audits() }
