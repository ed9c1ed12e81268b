package resourcesync

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"github.com/websync-go/websync"
)

// An order is what shows which of several changes of a resource is the last one.
type order uint8

const (
	byList      order = iota // the last entry of the list, as Z39.99 §12.1 demands
	byTime                   // the entry with the latest time
	newestFirst              // that, and the first one of several of that time
)

// A state is the latest change of a resource that was read.
type state struct {
	at      websync.Datetime
	deleted bool
}

// replaces reports whether a change is later than the one of the same resource that is
// known, and notes it. In a list without order, one that deletes nothing counts among
// those of one time.
func (o order) replaces(known map[uint64]state, id uint64, now state) bool {
	was, ok := known[id]
	switch {
	case o == byList:
		return true
	case !ok, now.at.After(was.at):
	case now.at.Before(was.at), o == newestFirst, now.deleted:
		return false
	}
	known[id] = now
	return true
}

// An ordering counts the times of entries that differ from the one before.
type ordering struct {
	earlier, later int
	last           websync.Datetime
}

// note counts the time of the next entry, and reports whether it is the first that is
// earlier than the one before.
func (o *ordering) note(t websync.Datetime) (first bool) {
	switch {
	case t.Before(o.last):
		o.earlier++
		first = o.earlier == 1
	case t.After(o.last):
		o.later++
	}
	o.last = cmp.Or(t, o.last)
	return first
}

// order returns that of a list of which all entries were noted. If a publisher's clock was
// set back, few times are earlier.
func (o *ordering) order() order {
	switch {
	case o.earlier < 2 || 2*o.earlier <= o.later:
		return byList
	case o.earlier > o.later:
		return newestFirst
	}
	return byTime
}

// orderOf returns the order of a list of changes. It is that of the times, which is a
// finding, if of those that differ from the one before two or more, and more than a third,
// are earlier, and the list has not grown at its end.
func (w *walk) orderOf(b *changeQueue, l *changeList) (order, error) {
	const enough = 100 // later times: a list that begins so is in order
	r, err := w.again(&l.Document)
	if err != nil {
		return byList, err
	}
	head, _ := r.Head() // reading it again reports errors
	if f := formOf(documentKind{head.Metadata.Capability, head.Index}); f == nil || !f.changes {
		return byList, w.Rewind(&l.Document)
	}
	var times ordering
	var found websync.Finding
	sum := fnv.New64a()
	for i := 0; times.earlier > 0 || times.later < enough; i++ {
		v, err := r.NextView()
		if err != nil {
			break
		}
		if i > 0 && i == b.from.N && sum.Sum64() == b.from.Sum {
			return byList, w.Rewind(&l.Document) // it has grown at its end
		}
		sum.Write(binary.LittleEndian.AppendUint64(nil, sumOf(v)))
		t, before := changeTime(v), times.last
		if times.note(t) {
			found = ruleOrder.Finding(l.Final, v.Line, v.Column, "md", []byte(t.String()), fmt.Sprintf(
				"an entry before has %v, and many others are out of order, too: the times show which change is the last", before))
		}
	}
	l.unclear = times.later == 0 && times.earlier < 2
	o := times.order()
	if o != byList {
		w.Report(found)
	}
	return o, w.Rewind(&l.Document)
}
