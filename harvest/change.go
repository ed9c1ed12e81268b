package harvest

import (
	"cmp"
	"slices"
	"time"

	"github.com/websync-go/websync"
)

// decideObtained decides about the change of a slot whose bodies were obtained.
func (p *pipe) decideObtained(s *slot, job *Job) {
	ev := &s.aim.ev
	change := p.putOf(s)
	next := &change.Record
	if job.Tag != ev.Tag {
		next.Stated.Hash = fingerprint(&ev.Resource, job.Tag)
	}
	next.Validators, next.Bodies = job.validators, job.bodies
	next.Resource = job.Resource
	p.complete(s, next)
	// the bytes may still change without a change of their time
	next.Early = !ev.identifies() && !next.Stated.time().IsZero() && !p.isOver(&next.Stated, job.obtained())
	s.decision = p.decideChange(s.rec, change, ev.At)
	if s.change == nil {
		job.discard() // the Catalog has the same bytes
	}
	s.bodies, s.done = job.writers, p.ref(s)
	if s.todo = p.lagging(s, next); s.todo != nil && s.task != nil {
		s.done = nil // it is replaced
	}
	if !p.keepQuota(s) {
		job.discard()
	}
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

// isOver reports whether the period of the time of a state was over, or if there are two
// lists, those of the times of both.
func (r *run) isOver(of *Stated, now time.Time) bool {
	return of.time().IsOver(now) && (!r.twoLists || of.Modified.IsZero() || of.Modified.IsOver(now))
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
	case r.horizon().isBefore(rec.publicTime()) && !r.horizon().isBefore(next.publicTime()):
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

// maxLag is how long a server is asked for bytes that are those of before a change.
const maxLag = 30 * 24 * time.Hour

// lagging returns the task that asks again for bytes that are still those of before the
// change that the event states; nil if it is not needed. Each wait is half as long as the
// time that has passed since then.
func (p *pipe) lagging(s *slot, next *Record) *Task {
	if p.h.Sample < 0 || !s.rec.Live() || s.aim.ev.identifies() || s.ev.Open != nil || len(next.Bodies) == 0 {
		return nil
	}
	before := s.lagged()
	announced := p.announces(s, next)
	same := slices.EqualFunc(s.rec.Bodies, next.Bodies, sameBytes)
	switch {
	case same && (announced || before != nil):
	case announced && before != nil: // these may be the bytes of the change before
	default:
		return nil
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	t := p.newTask(s)
	t.Attempts, t.Gone, t.Since = 0, false, now
	if before != nil && !announced {
		t.Since = before.Since
	}
	if s.task != nil {
		t.N = s.task.N // unless a later event has replaced it
	}
	age := now.Sub(t.Since)
	if age > maxLag {
		return nil
	}
	t.Due = now.Add(max(age/2, time.Microsecond))
	return t
}

// lagged returns the task that has asked so far for bytes that are those of before a
// change; nil if there is none.
func (s *slot) lagged() *Task {
	for _, t := range []*Task{s.waiting, s.task} {
		if t != nil && t.lags() {
			return t
		}
	}
	return nil
}

// announces reports whether the next state of a record is of another time than the last
// one.
func (p *pipe) announces(s *slot, next *Record) bool {
	stated, held := next.Stated.time(), s.rec.Stated.time()
	if p.twoLists {
		stated, held = s.aim.times(s.rec)
	}
	if stated.IsZero() || held.IsZero() || stated.Overlaps(held) {
		return false
	}
	mayBeOfOther := p.twoLists && s.rec.Stated.At == s.rec.Stated.Modified
	return !mayBeOfOther || !mayMeanElsewhere(stated, held)
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
