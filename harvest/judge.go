package harvest

import (
	"time"

	"github.com/websync-go/websync"
)

// A statement is what an event states about a resource.
type statement struct {
	ev   Event
	task *Task // the event is that of this task; if nil, the Source has yielded it
	// hash is the fingerprint of the description of a Put.
	hash uint64
	// listed is set for an entry of a snapshot that lists its id for the first time.
	listed bool
	// content reports whether the record of this state has its content, as this run would
	// keep it.
	content bool
	// twoLists is set if the log of the Source and its snapshots are two lists.
	twoLists bool
}

// held is what the Store has of an id.
type held struct {
	rec *Record // the zero Record if there is none
	// certain is set if the table of the snapshot shows that there is none: see change.New.
	certain bool
	// waiting is the task of the id. It is nil if there is none, or if the event itself
	// comes from a task.
	waiting *Task
	// ended is set if the Store no longer has the task that the event comes from.
	ended bool
	// content reports whether rec has the content that this run would keep.
	content bool
}

// A moment is when an event is judged.
type moment struct {
	run   [16]byte
	began websync.Seq // the last number of the log when the run began
	// last is the last number of the log when the snapshot began, and described the
	// moment that the snapshot describes.
	last      websync.Seq
	described websync.Datetime
	horizon   horizon
}

// A verdict is what an event means for the record of its id.
type verdict uint8

const (
	verdictNew       verdict = iota // a state that is not held
	verdictHistory                  // an earlier state than the latest one that is known
	verdictHeld                     // the state that is held
	verdictConfirmed                // a later change, which leaves the state that is held as it is
	verdictDeleted                  // the resource is gone
	verdictTask                     // the state that the task of its id is to get
	verdictDue                      // what its own task is to get: it was judged when that was stored
)

// judge compares what an event states with what is held of its id. A task to get stands
// for a later state than the record, so the event is compared with that as well.
func judge(st *statement, h *held, m *moment) verdict {
	if t := st.task; t != nil {
		switch {
		case h.ended, t.lags() && !st.restates(h.rec):
			return verdictHistory // the record has another state by now
		case t.lags(), t.Base == h.rec.Seq:
			return verdictDue
		}
	}
	if t := h.toGet(); t != nil {
		means := st.means(t)
		switch {
		case !(means && st.listed) && !st.ev.isCurrent() && m.isOlder(st, t.time(), t.Run == m.run):
			return verdictHistory
		case means:
			return verdictTask
		}
	}
	return judgeRecord(st, h, m)
}

// toGet returns the task of the id if it stands for a later state than the record;
// otherwise nil.
func (h *held) toGet() *Task {
	if h.waiting == nil || h.waiting.Kind != TaskGet || h.waiting.lags() {
		return nil
	}
	return h.waiting
}

// means reports whether a put may mean the state of a task to get: it has the same
// description, or less of it, and the same time or a coarser one.
func (st *statement) means(t *Task) bool {
	stated := st.ev.Resource.Modified
	if st.ev.Kind != Put || st.ev.time().After(t.time()) || !mayMean(stated, t.Resource.Modified) {
		return false
	}
	if fingerprint(&t.Resource, t.Tag) == st.hash {
		return true
	}
	return !stated.IsZero() && st.ev.Tag == "" && st.ev.hasContent() && saysLess(&st.ev.Resource, &t.Resource)
}

// time returns the time of the latest state of the id: that of its task, or of its
// record.
func (h *held) time() websync.Datetime {
	if t := h.toGet(); t != nil {
		return t.time()
	}
	return h.rec.Stated.time()
}

// judgeRecord compares what an event states with the record of its id.
func judgeRecord(st *statement, h *held, m *moment) verdict {
	switch {
	case !m.listsAgain(st, h.rec) && m.isOlder(st, st.orders(h.rec), h.rec.Seq > m.last):
		return verdictHistory
	case st.ev.Kind == Delete:
		return verdictDeleted
	case m.wasSwept(st, h.rec):
		return verdictHistory
	case st.isHeld(h):
		return verdictHeld
	case st.confirms(h, m):
		return verdictConfirmed
	}
	return verdictNew
}

// listsAgain reports whether a snapshot lists what an earlier one, which describes the
// same moment, did not: the listing has changed since, and its moment has not.
func (m *moment) listsAgain(st *statement, rec *Record) bool {
	unlisted := rec.Kind == websync.Deleted && rec.Stated.Hash == hashUnlisted
	return unlisted && st.listed && rec.Seq <= m.last && rec.Stated.At == m.described
}

// orders returns the time of the record as far as it orders the event: a put that is
// Current is older only than a deletion that states its time.
func (st *statement) orders(rec *Record) websync.Datetime {
	switch {
	case !st.ev.isCurrent():
		return rec.Stated.time()
	case rec.Live():
		return websync.Datetime{}
	}
	return rec.Stated.At
}

// isOlder reports whether an event is older than a state with the time known. In a log it
// is if its time is earlier; without times the order decides. In a snapshot it is if the
// state is not before the moment that the snapshot describes and the event does not state
// a later time. A state that is new since the snapshot began, and an id that it lists
// again, are compared as in a log. What the source shows now is not older than a live
// record.
func (m *moment) isOlder(st *statement, known websync.Datetime, isNew bool) bool {
	t, known := m.horizon.past(st.ev.time()), m.horizon.past(known)
	if st.listed && !isNew {
		return !st.ev.Apart && notBefore(known, m.described) && !t.After(known)
	}
	return t.Before(known)
}

// wasSwept reports whether a snapshot has deleted the record, and the event belongs to a
// log and states no later time than the record: it must not create the record again. One
// that is Current does.
func (m *moment) wasSwept(st *statement, rec *Record) bool {
	swept := rec.Kind == websync.Deleted && rec.Stated.At.IsZero() && !st.ev.isCurrent()
	t, known := m.horizon.past(st.ev.time()), m.horizon.past(rec.Stated.Modified)
	return swept && !st.listed && !t.IsZero() && !known.IsZero() && !t.After(known)
}

// isHeld reports whether a live record has everything that a put states.
func (st *statement) isHeld(h *held) bool {
	if !h.rec.Live() || st.content != h.content {
		return false
	}
	less := func() bool { return st.isOf(h.rec) && st.ev.Tag == "" && saysLess(&st.ev.Resource, &h.rec.Resource) }
	if st.hash != h.rec.Stated.Hash && !less() {
		return false
	}
	stated, known := st.times(h.rec)
	if stated == known || stated.IsZero() {
		return st.ev.isConclusive() && !st.isLater(h.rec)
	}
	return mayMean(stated, known)
}

// confirms reports whether a put of a log states a later change that leaves everything as
// it is: the description is that of the record, and identifies the bytes. Of two lists,
// one also confirms the change of the other one.
func (st *statement) confirms(h *held, m *moment) bool {
	if st.content != h.content {
		return false
	}
	return st.restates(h.rec) && st.ev.identifies() || h.rec.Seq > m.began && st.isOfOther(h.rec)
}

// restates reports whether a put states the same as the last event of a live record.
func (st *statement) restates(rec *Record) bool {
	stated := st.ev.Resource.Modified
	sameTime := stated == rec.Stated.Modified || st.twoLists && stated == rec.Stated.At
	return st.ev.Kind == Put && rec.Live() && st.hash == rec.Stated.Hash && sameTime
}

// isOfOther reports whether a put describes a live record, and states the change that the
// other one of two lists stated, at the same time.
func (st *statement) isOfOther(rec *Record) bool {
	if !st.twoLists || !rec.Live() || st.hash != rec.Stated.Hash {
		return false
	}
	other := rec.Stated.At
	if st.ev.Listed.IsZero() {
		other = rec.Stated.Modified
	}
	stated, _ := st.times(rec)
	return !stated.IsZero() && stated == other
}

// times returns the time that a put states, and what the last one, or the last one of the
// same list, stated.
func (st *statement) times(rec *Record) (stated, known websync.Datetime) {
	switch {
	case !st.twoLists:
		return st.ev.Resource.Modified, rec.Stated.Modified
	case st.ev.Listed.IsZero():
		return st.ev.Resource.Modified, rec.Stated.At
	}
	return st.ev.Listed, rec.Stated.Modified
}

// isOf reports whether an event states the time of the record, or a coarser one that
// overlaps it.
func (st *statement) isOf(rec *Record) bool {
	stated := st.ev.Resource.Modified
	return !stated.IsZero() && mayMean(stated, rec.Stated.Modified) && !st.isLater(rec)
}

// isLater reports whether an event states a change after that of the record. An entry of
// a snapshot states no change.
func (st *statement) isLater(rec *Record) bool {
	return !st.listed && st.ev.time().After(rec.Stated.time())
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
