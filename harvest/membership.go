package harvest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/websync-go/websync"
)

// A complete snapshot need not read a document that its server has not changed, if it is
// known which records the document lists. So each document of a snapshot has a number,
// which the Store keeps with the records that it lists. What a document that is Unchanged
// lists counts as listed.

// severalDocuments is the documentNumber of an id that more than one document lists.
const severalDocuments documentNumber = math.MaxUint32

// maxSeveral limits the ids that are known to be listed by several documents.
const maxSeveral = 16_384

// A membership is what the Store keeps of the documents of a source.
type membership struct {
	// Clean is set if the last snapshot has listed each live record, each of them has the
	// number of the document that lists it, and the checkpoint is that of this snapshot.
	Clean  bool     `json:"clean"`
	Bodies BodyMode `json:"bodies"` // what the last snapshot did with bodies
	// Numbers are those of the documents, by documentKey, and Last is the greatest one
	// that was ever given.
	Numbers map[uint64]documentNumber `json:"numbers,omitempty"`
	Last    documentNumber            `json:"last"`
	// Asked are those, by documentKey, that list pages which have to be asked for:
	// neither a time nor a digest is stated of them, or they were got too early.
	Asked map[uint64]bool `json:"asked,omitempty"`
	// Several has the documents of each id whose number is severalDocuments.
	Several map[string][]documentNumber `json:"several,omitempty"`
	// Crowded is set if there were too many of these: no document is Unchanged any more.
	Crowded bool `json:"crowded,omitempty"`
}

// readMembership reads the membership of the source, and finds out which documents a
// snapshot of this run may state as Unchanged.
func (r *run) readMembership(ctx context.Context) error {
	var err error
	if r.members, err = recall[membership](ctx, r, membershipState); err != nil {
		return err
	}
	if !r.members.Clean || r.members.Bodies != r.h.Bodies || r.h.Recheck {
		return nil
	}
	known, err := recall[belief](ctx, r, beliefState)
	if err == nil && !(r.takesSamples() && known.isLost()) { // otherwise all pages are asked for
		r.known = r.members
	}
	return err
}

// isKnown implements Run.Known.
func (r *run) isKnown(url string) bool {
	key := documentKey(url)
	return r.known.Numbers[key] != 0 && !r.known.Asked[key]
}

// members are the documents of a snapshot, and what they list.
type members struct {
	held, now membership
	url       string         // of the last event
	number    documentNumber // its number
	unchanged map[documentNumber]bool
	kept      []string   // the URLs of these
	stated    bool       // an event had a Document
	moved     []listedIn // records with the document that they had before; at most maxSeveral
	manyMoved bool
	// partial is set if not all of what the documents list is known.
	partial bool
}

func newMembers(held membership, bodies BodyMode) *members {
	now := membership{Bodies: bodies, Last: held.Last, Crowded: held.Crowded,
		Numbers: map[uint64]documentNumber{}, Asked: map[uint64]bool{}, Several: map[string][]documentNumber{}}
	return &members{held: held, now: now, unchanged: map[documentNumber]bool{}}
}

// of returns the number of the document that lists an id by an event of the snapshot.
func (m *members) of(id, url string) documentNumber {
	m.stated = m.stated || url != ""
	if m.now.Crowded || url == "" {
		m.partial = true
		return 0
	}
	if url != m.url || m.number == 0 {
		m.url, m.number = url, m.numberOf(documentKey(url))
	}
	if len(m.held.Several) > 0 && m.held.Several[id] != nil {
		m.join(id, m.number)
		return severalDocuments
	}
	return m.number
}

// ask notes that the next snapshot has to list what the document at a URL lists.
func (m *members) ask(url string) {
	if url != "" && !m.now.Crowded {
		m.now.Asked[documentKey(url)] = true
	}
}

// numberOf returns the number of a document, which may be a new one; 0 if there are too
// many of them.
func (m *members) numberOf(key uint64) documentNumber {
	n := cmp.Or(m.now.Numbers[key], m.held.Numbers[key])
	switch {
	case n == 0 && len(m.now.Numbers) >= maxNotes:
		m.partial = true
		return 0
	case n == 0:
		m.now.Last++
		n = m.now.Last
	}
	m.now.Numbers[key] = n
	return n
}

// join adds a document to those of an id that several list.
func (m *members) join(id string, n documentNumber) {
	list, ok := m.now.Several[id]
	switch {
	case m.now.Crowded || slices.Contains(list, n):
	case !utf8.ValidString(id): // JSON can't hold it
		m.partial = true
	case !ok && len(m.now.Several) == maxSeveral:
		m.now.Crowded, m.partial = true, true
		m.now.Numbers, m.now.Asked, m.now.Several = nil, nil, nil
	default:
		m.now.Several[id] = append(list, n)
	}
}

// again notes that the snapshot lists an id once more, in a document with this number.
// The one before may be another one, which only the next snapshot can tell.
func (m *members) again(id string, n documentNumber) {
	if n != severalDocuments && n != 0 {
		m.join(id, n)
		m.partial = true
	}
}

// move notes the records that another document lists than before. If that is unchanged,
// both list them, which is known only at the end.
func (m *members) move(records []listedIn) {
	if m.manyMoved = m.manyMoved || len(m.moved)+len(records) > maxSeveral; !m.manyMoved {
		m.moved = append(m.moved, records...)
	}
}

// keep counts what an unchanged document lists as listed.
func (m *members) keep(url string, table *seenTable) {
	n := m.held.Numbers[documentKey(url)]
	if m.unchanged[n] = true; !m.now.Crowded {
		m.now.Numbers[documentKey(url)] = n
	}
	m.kept, m.stated = append(m.kept, url), true
	for id, all := range m.held.Several {
		if slices.Contains(all, n) {
			m.join(id, n)
			table.see(table.hash(id), 0)
		}
	}
}

// mayList reports whether an unchanged document may list the resource of a task.
func (m *members) mayList(t *Task) bool {
	switch {
	case len(m.unchanged) == 0:
		return false
	case t.Document == severalDocuments:
		return len(m.now.Several[t.Resource.ID]) > 0
	}
	return t.Document == 0 || m.unchanged[t.Document]
}

// keeps reports whether an unchanged document may list a record with this number.
func (m *members) keeps(n documentNumber) bool {
	return m.unchanged[n] || n == severalDocuments && len(m.unchanged) > 0
}

// isKept reports whether only unchanged documents list an id with this number.
func (m *members) isKept(id string, n documentNumber) bool {
	if n != severalDocuments {
		return m.unchanged[n]
	}
	return !slices.ContainsFunc(m.now.Several[id], func(n documentNumber) bool { return !m.unchanged[n] })
}

// startMembers makes the members of a new snapshot. What the Store has of the last one is
// no longer true from the first commit on.
func (p *pipe) startMembers(ctx context.Context) (*members, error) {
	m := newMembers(p.members, p.h.Bodies)
	if !p.members.Clean {
		return m, nil
	}
	p.members.Clean = false
	b := newBatch(p.key)
	b.set(membershipState, p.members)
	_, err := p.commits.apply(ctx, b)
	return m, err
}

// noteStranger makes the membership of the source unclean if a slot changes a record and
// is of no document: the next snapshot reads all of them.
func (r *run) noteStranger(b *batch, s *slot) {
	if r.members.Clean && s.document == 0 && s.change != nil {
		unclean := r.members
		unclean.Clean = false
		b.set(membershipState, unclean)
	}
}

// endMembers adds the membership to the batch that ends the snapshot. It is clean if the
// batch also has the checkpoint of the snapshot.
func (w *sweeper) endMembers(clean bool) {
	m := w.snap.members
	m.partial = m.partial || m.manyMoved && len(m.unchanged) > 0
	for _, was := range m.moved {
		if m.unchanged[was.Document] {
			m.join(was.ID, was.Document)
			m.partial = true // by the next snapshot it is known which documents they are
			w.batch.Listed = append(w.batch.Listed, listedIn{was.ID, was.Born, severalDocuments})
		}
	}
	switch {
	case m.stated:
		m.now.Clean = clean && !m.partial
		w.batch.set(membershipState, m.now)
	case w.members.Last > 0:
		w.batch.set(membershipState, membership{})
	}
	w.members = m.now
}

// relists reports whether a slot that changes nothing is committed nevertheless, because
// another document may list its record than before.
func (p *pipe) relists(s *slot) bool { return s.document != 0 && s.rec.Live() && p.dry == nil }

// keepDocument carries out the event that a document is unchanged.
func (p *pipe) keepDocument(ev *Event) {
	if p.snap == nil || p.report.Snapshots > 1 || !p.snap.note.At.IsZero() || !p.isKnown(ev.Document) {
		p.broken = true
		const message = "%.200q is stated as unchanged outside of a first snapshot without a time, or was not known"
		p.problem(fmt.Errorf(message, websync.RedactURL(ev.Document)))
		return
	}
	before := p.snap.table.listed
	p.snap.members.keep(ev.Document, p.snap.table)
	p.report.keep(p.snap.table.listed - before)
}

// maxAbsent limits the records that a census names.
const maxAbsent = 16_384

// census finds the records that the snapshot has not listed. What an unchanged document
// lists becomes listed, and so does, in doubt, what no document is known to list.
func (w *sweeper) census(ctx context.Context) error {
	table, m := w.snap.table, w.snap.members
	if table.allSeen() {
		return nil
	}
	records, err := w.catalog.fingerprints(ctx, w.key)
	if err != nil {
		return &StoreError{err}
	}
	var absent []websync.Seq
	before, doubtful := table.listed, 0
	for f, err := range table.loading(records.All) {
		if err != nil {
			return &StoreError{err}
		}
		s, _ := table.find(table.mix(f.ID))
		switch {
		case *s == 0 || *s&seenBit != 0:
			continue
		case len(m.unchanged) > 0 && f.Document == 0:
			doubtful++
		case !m.unchanged[f.Document]:
			if len(absent) <= maxAbsent {
				absent = append(absent, f.Born)
			}
			continue
		}
		*s |= seenBit
		table.listed++
	}
	w.report.keep(table.listed - before - doubtful)
	if doubtful > 0 {
		m.partial = true
		w.report.Skipped += doubtful
		const message = "records that no document is known to list: the next run reads all documents"
		w.log.Warn(message, "source", w.key, "records", doubtful)
	}
	if len(absent) <= maxAbsent {
		w.absent, err = w.catalog.idsByBorn(ctx, w.key, absent)
	}
	if err != nil {
		return &StoreError{err}
	}
	return nil
}
