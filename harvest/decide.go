package harvest

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/websync-go/websync"
)

// A decision is what to do about one event: nothing if it has neither get, change nor
// todo.
type decision struct {
	outcome Outcome
	get     bool    // the bodies are needed before the change is known
	change  *Change // a Put if the outcome leaves an entry in the log, otherwise a Touch
	todo    *Task   // to be stored
}

// publicTime returns the time of the change that a Catalog has.
func (r *Record) publicTime() websync.Datetime { return cmp.Or(r.At, r.Resource.Modified) }

// decide compares an event with the record of its id, and with the task that waits for
// it. It stores nothing, and depends on nothing else than its slot, the snapshot it
// belongs to and the Harvester's settings: a plan and the run that follows it decide
// alike.
//
// A task to get stands for a change that came already: it is compared as the record is.
// An event that can mean the state that is to be got is that change once more, with all
// that is known of it.
func (p *pipe) decide(s *slot) decision {
	s.ask = false
	means := s.meansTask()
	switch {
	case s.ended, s.awaits() && p.isOlder(s, s.waiting.time(), s.waiting.Run == p.id) && !(means && s.listed):
		return decision{outcome: OutcomeHistory}
	case means && p.rests(s):
		return p.rest(s)
	case means:
		t := s.waiting
		s.ev.At, s.ev.Tag, s.ev.Resource, s.stated = t.At, t.Tag, t.Resource, fingerprint(&t.Resource, t.Tag)
		s.ask, s.listed = true, false
		return p.obtain(s)
	case s.task != nil && s.task.Base == s.rec.Seq:
		s.ask = true // decided when the task was stored
		return p.obtain(s)
	case p.isOlder(s, s.rec.Stated.time(), p.snap == nil || s.rec.Seq > p.snap.last):
		return decision{outcome: OutcomeHistory}
	case s.ev.Kind == Delete:
		return decideDelete(&s.ev, s.rec)
	case s.rec.Live() && p.isUnchanged(s):
		if s.ask = p.asksAgain(s); s.ask {
			return p.obtain(s)
		}
		return decision{outcome: OutcomeUnchanged}
	case p.isSwept(s):
		return decision{outcome: OutcomeHistory}
	}
	return p.obtain(s)
}

// isOlder reports whether the event is of an earlier state than what is known, by the
// times of both. In a log its time is earlier; without times the order decides. In a
// snapshot different is enough, unless what is known came at the moment that the snapshot
// describes or after it, and the event does not state a later time. What came since the
// snapshot began, and what it lists twice, is judged as in a log.
func (p *pipe) isOlder(s *slot, known websync.Datetime, isNew bool) bool {
	known = p.believed(known)
	t := p.timeOf(s)
	if s.listed && !isNew {
		return notBefore(known, p.snap.moment()) && !t.After(known)
	}
	return t.Before(known)
}

// isSwept reports whether a snapshot has swept the record, and the event is of a log and
// states no later time than was stated before: it must not revive it.
func (p *pipe) isSwept(s *slot) bool {
	held, t := &s.rec.Stated, p.timeOf(s)
	swept := s.rec.Kind == websync.Deleted && held.At.IsZero()
	modified := p.believed(held.Modified)
	return swept && !s.listed && !t.IsZero() && !modified.IsZero() && !t.After(modified)
}

// timeOf returns the time of a slot's event, as far as it can be believed.
func (p *pipe) timeOf(s *slot) websync.Datetime { return p.believed(s.ev.time()) }

// awaits reports whether a change of the id is to be got.
func (s *slot) awaits() bool { return s.waiting != nil && s.waiting.Kind == TaskGet }

// known returns the time that was stated last of the id.
func (s *slot) known() websync.Datetime {
	if s.awaits() {
		return s.waiting.time()
	}
	return s.rec.Stated.time()
}

// restates reports whether a put states of a live record what was stated of it last.
func (s *slot) restates() bool {
	return s.ev.Kind == Put && s.rec.Live() && s.stated == s.rec.Stated.Hash && s.ev.Resource.Modified == s.rec.Stated.Modified
}

// meansTask reports whether a put can mean the state that is to be got: it describes the
// same, and states the same time or a coarser one.
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

// notBefore reports whether the time of a change is stated, and not before at.
func notBefore(t, at websync.Datetime) bool {
	return !t.IsZero() && !at.IsZero() && !t.Before(at)
}

// isUnchanged reports whether the record has what the event states.
func (p *pipe) isUnchanged(s *slot) bool {
	stated, held := s.ev.Resource.Modified, s.rec.Stated.Modified
	known := s.stated == s.rec.Stated.Hash || s.isOfTheRecord() && s.ev.Tag == "" && saysLess(&s.ev.Resource, &s.rec.Resource)
	if !known || p.keepsContent(s.rec) != p.wantsContent(&s.ev) {
		return false
	}
	if stated == held || stated.IsZero() {
		return s.ev.isConclusive() && s.statesNoLaterChange()
	}
	return mayMean(stated, held)
}

// statesNoLaterChange reports whether an event does not state a change after that of the
// record. An entry of a snapshot states no change.
func (s *slot) statesNoLaterChange() bool {
	return s.listed || !s.ev.time().After(s.rec.Stated.time())
}

// isOfTheRecord reports whether an event states the moment that is stated of the record,
// or less precisely one that may be it.
func (s *slot) isOfTheRecord() bool {
	stated := s.ev.Resource.Modified
	return !stated.IsZero() && mayMean(stated, s.rec.Stated.Modified) && s.statesNoLaterChange()
}

// complete gives the next state of a record what the event does not state of the same
// moment, and was stated before. Events of the same moment with different tags are
// different states.
func (s *slot) complete(next *Record) {
	if !s.rec.Live() || s.ev.Tag != "" || !s.isOfTheRecord() {
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

// hasContent reports whether there are bytes to be had.
func (e *Event) hasContent() bool { return e.Resource.Content.Href != "" || e.Open != nil }

// keepsContent reports whether a live record has the content that this run would keep. It
// is true for a Getter, which decides itself, and if the run skips bodies.
func (r *run) keepsContent(rec *Record) bool {
	if r.getter != nil || r.h.Bodies == SkipBodies {
		return true
	}
	b, ok := rec.Body(ContentName)
	return ok && (!b.Key.IsZero() || r.h.Bodies != KeepBodies)
}

// wantsContent returns what keepsContent returns of a record that has everything the
// event states.
func (r *run) wantsContent(ev *Event) bool {
	return r.getter != nil || r.h.Bodies == SkipBodies || ev.hasContent()
}

// obtain decides how a put that states something new is carried out: with a get, unless
// the bytes are those that are held. The bodies that a new description no longer states
// are not kept.
func (p *pipe) obtain(s *slot) decision {
	next := s.record()
	if b, ok := p.stillStated(s); ok {
		next.Bodies, next.Validators, next.Early = []websync.Body{b}, s.rec.Validators, s.rec.Early && !s.ev.identifies()
	} else if p.h.Bodies != SkipBodies && (p.getter != nil || s.ev.hasContent()) {
		return decision{get: true}
	}
	s.complete(&next)
	return p.changeTo(s.rec, next, s.ev.At)
}

// record returns the record that the event leads to, without bodies.
func (s *slot) record() Record {
	at := s.ev.time()
	return Record{Item: websync.Item{At: at, Resource: s.ev.Resource}, Stated: Stated{s.stated, at, s.ev.Resource.Modified}}
}

// stillStated returns the content that is held, if the event states the same bytes.
func (p *pipe) stillStated(s *slot) (websync.Body, bool) {
	b, ok := s.rec.Body(ContentName)
	content := &s.ev.Resource.Content
	switch {
	case s.ask, p.getter != nil, !s.rec.Live(), !ok, !s.ev.hasContent(), !p.keepsContent(s.rec), s.ev.Tag != "", contradicts(*content, b.Link):
		return websync.Body{}, false
	}
	if _, ok := content.Digests.Strongest(); ok {
		return b, true // it is among those of the bytes that are held
	}
	sameTime := !s.ev.Resource.Modified.IsZero() && s.ev.Resource.Modified == s.rec.Stated.Modified
	return b, sameTime && content.Href == s.rec.Resource.Content.Href && s.statesNoLaterChange()
}

// changeTo returns the change from a record to the next state, by an event of the time
// at: a put, or only a touch, which keeps the Item as it is, if the bytes and the
// description are the same, Modified apart. Another Modified is a change if no bytes are
// got, and so are a later time in a log, a Modified that only Get can find, and a time
// that replaces one in the future.
func (r *run) changeTo(rec *Record, next Record, at websync.Datetime) decision {
	if !rec.Live() {
		next.Kind = websync.Created
		return decision{outcome: OutcomeCreated, change: &Change{Base: rec.Seq, Record: next}}
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
		return decision{outcome: OutcomeUpdated, change: &Change{Base: rec.Seq, Record: next}}
	}
	if *was == *now && rec.Early == next.Early && slices.Equal(rec.Validators, next.Validators) {
		return decision{outcome: OutcomeUnchanged}
	}
	touched := Record{Item: rec.Item, Stated: *now, Validators: next.Validators, Early: next.Early}
	return decision{outcome: OutcomeTouched, change: &Change{Base: rec.Seq, Record: touched}}
}

// sameBodies reports whether two states have the same bytes under the same names and
// types, kept or not.
func sameBodies(a, b []websync.Body) bool {
	return slices.EqualFunc(a, b, func(x, y websync.Body) bool {
		d, ok := x.Link.Digests.Get(keyAlgorithm)
		e, _ := y.Link.Digests.Get(keyAlgorithm)
		return ok && d == e && x.Key == y.Key && x.Name == y.Name && x.Link.Type == y.Link.Type
	})
}

// decideDelete decides about a deletion that is not older than the record.
func decideDelete(ev *Event, rec *Record) decision {
	at := ev.time()
	switch {
	case !rec.Known():
		next := tombstone(&Record{Item: websync.Item{Resource: ev.Resource}, Stated: Stated{Modified: ev.Resource.Modified}}, at)
		return decision{outcome: OutcomeUnchanged, change: &Change{Record: next}}
	case rec.Live():
		return decision{outcome: OutcomeDeleted, change: &Change{Base: rec.Seq, Record: tombstone(rec, at)}}
	case at.After(rec.Stated.time()):
		later := Record{Item: rec.Item, Stated: Stated{At: at, Modified: rec.Stated.Modified}}
		return decision{outcome: OutcomeUnchanged, change: &Change{Base: rec.Seq, Record: later}}
	}
	return decision{outcome: OutcomeUnchanged}
}

// tombstone returns the record of a resource that is gone: its description as it was, its
// last Modified included, no bodies. Where it is not known since when, it keeps the last
// time that was stated.
func tombstone(rec *Record, at websync.Datetime) Record {
	t := Record{Item: websync.Item{Kind: websync.Deleted, At: at, Resource: rec.Resource}, Stated: Stated{At: at, Modified: rec.Stated.Modified}}
	t.Resource.Modified = rec.Stated.Modified
	if last := rec.Stated.time(); at.IsZero() && (t.Resource.Modified.IsZero() || last.After(t.Resource.Modified)) {
		t.Stated.Modified = last
	}
	return t
}

// isEarly reports whether bodies that were obtained at a moment may change again and
// still be stated to have changed at the same time.
func isEarly(s *slot, next *Record, obtained time.Time) bool {
	t := next.Stated.time()
	return !s.ev.identifies() && !t.IsZero() && !t.IsOver(obtained)
}

// asksAgain reports whether the bytes of what seems unchanged are to be asked for: all
// when rechecking, and those that were obtained too early, once their time is over or a
// log states it once more.
func (p *pipe) asksAgain(s *slot) bool {
	if p.h.Bodies == SkipBodies || p.getter == nil && !s.ev.hasContent() {
		return false
	}
	early := s.rec.Early && !s.ev.identifies() && (p.snap == nil || s.rec.Stated.time().IsOver(p.clock()))
	return early || p.h.Recheck && (p.snap == nil || s.listed)
}

// isFull reports whether the run lists from the beginning.
func (r *run) isFull() bool { return r.h.Full || r.h.Recheck || r.dry.audits() }

// saysLess reports whether known states all that r states, times apart: a description of
// the same moment that states less is not a different one. It does not ask whether r has
// content.
func saysLess(r, known *websync.Resource) bool {
	c := *r
	return supplement(&c, known, true)
}

// supplement gives r what it lacks of a known description of the same moment, and reports
// whether r stated nothing else. The content is left as it is unless the bytes are the
// same.
func supplement(r, known *websync.Resource, sameBytes bool) bool {
	return all(fillEmpty(&r.Title, known.Title), fillEmpty(&r.Summary, known.Summary), fillEmpty(&r.Lang, known.Lang),
		fillEmpty(&r.Published, known.Published),
		sameBytes && supplementLink(&r.Content, &known.Content),
		fillSlice(&r.Authors, known.Authors, slices.Equal),
		fillSlice(&r.Links, known.Links, linksSayLess),
		fillSlice(&r.Elements, known.Elements, slices.Equal),
		fillEmpty(&r.Origin, known.Origin) || reflect.DeepEqual(r.Origin, known.Origin))
}

// supplementLink does the same for links to the same URL.
func supplementLink(l, known *websync.Link) bool {
	return l.Href == known.Href && all(fillEmpty(&l.Rel, known.Rel), fillEmpty(&l.Type, known.Type), fillEmpty(&l.Lang, known.Lang),
		fillEmpty(&l.Title, known.Title), fillEmpty(&l.Encoding, known.Encoding), fillEmpty(&l.Length, known.Length),
		fillEmpty(&l.Modified, known.Modified), fillEmpty(&l.Priority, known.Priority),
		fillSlice(&l.Attrs, known.Attrs, slices.Equal), fillDigests(l, known))
}

func linksSayLess(links, known []websync.Link) bool {
	return slices.EqualFunc(links, known, func(l, known websync.Link) bool { return supplementLink(&l, &known) })
}

// fillDigests adds the known digests of other algorithms.
func fillDigests(l, known *websync.Link) bool {
	less := !slices.ContainsFunc(l.Digests, func(d websync.Digest) bool { return !slices.Contains(known.Digests, d) })
	l.Digests = slices.Clip(l.Digests)
	for _, d := range known.Digests {
		if _, ok := l.Digests.Get(d.Algorithm); !ok {
			l.Digests = append(l.Digests, d)
		}
	}
	return less
}

// fillEmpty sets *v to known if it is empty, and reports whether they are equal then.
func fillEmpty[T comparable](v *T, known T) bool {
	if *v == *new(T) {
		*v = known
	}
	return *v == known
}

// fillSlice does the same for slices.
func fillSlice[S ~[]T, T any](v *S, known S, equal func(v, known S) bool) bool {
	if len(*v) == 0 {
		*v = known
	}
	return equal(*v, known)
}

func all(conditions ...bool) bool { return !slices.Contains(conditions, false) }
