package sitemap

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
)

// A memory is what a run has found of its documents, for the checkpoint.
type memory struct {
	changed []*part        // those whose entries are not the known ones, to be judged
	trusted []*part        // those that are trusted to be unchanged
	sums    map[uint64]int // number of documents with these entries

	// the lastmod of a document in an index has proved wrong in this run
	wrong bool
}

// trust notes that a part need not be asked for.
func (w *walk) trust(p *part) {
	w.trusted = append(w.trusted, p)
	w.sums[p.known.sum]++
}

// checkTrusted asks for a random sample of the parts that are trusted to be unchanged.
// If a lastmod in the index is wrong, it asks for all of them.
func (w *walk) checkTrusted(ctx context.Context) error {
	all := w.trusted
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	n := w.SampleSize(len(all))
	if err := w.list(ctx, docfetch.Each(all[:n])); err != nil {
		return err
	}
	if w.wrong {
		return w.list(ctx, docfetch.Each(all[n:]))
	}
	for _, p := range all[n:] {
		p.unchanged = true
		w.remember(p)
	}
	return nil
}

// remember records what the next run needs to know of a document.
func (w *walk) remember(p *part) {
	key := keyOf(p.URL)
	if w.source.Complete {
		if p.unchanged {
			w.next.remember(key, p.unchangedNote())
		} else if p.kind != Index {
			w.next.remember(key, p.changedNote())
		}
		return
	}
	if p.trusted {
		w.sums[p.known.sum]--
	}
	switch {
	case p.Skipped > 0:
		w.keep(p)
	case p.unchanged || p.noted && p.known.sum == p.listed.Sum:
		w.sums[p.known.sum]++
		w.next.remember(key, p.unchangedNote())
	default:
		p.hosts, p.ContentType = nil, ""
		w.sums[p.listed.Sum]++
		w.changed = append(w.changed, p)
		w.wrong = w.wrong || p.isWrong()
	}
}

// keep records what was known of a document that is in doubt. The next run asks for it
// unconditionally.
func (w *walk) keep(p *part) {
	if p.noted {
		n := p.known
		n.flags |= noteUnasked
		w.next.remember(keyOf(p.URL), n)
	}
}

// unchangedNote returns the note of a document that has the known entries. If its lastmod
// in the index is another one, the answer may be that of a cache: the next run asks
// again.
func (p *part) unchangedNote() partNote {
	n := p.known
	n.flags &^= noteUnasked
	if p.open {
		n.flags |= noteUnasked
	}
	if !p.Validators.IsZero() {
		n.Validators = p.Validators
	}
	if n.isOf(p.lastMod) && p.lastMod.IsOver(p.Date) {
		n.flags |= noteOver
	}
	return n
}

// changedNote returns the note of a document whose entries are not the known ones.
func (p *part) changedNote() partNote {
	newest := p.listed.Newest
	n := partNote{Validators: p.Validators, lastMod: p.lastMod.String(), sum: p.listed.Sum, newest: newest}
	if p.kind == Index {
		n.flags |= noteIndex
	}
	if p.open {
		n.flags |= noteUnasked
	}
	if p.lastMod.IsOver(p.Date) {
		n.flags |= noteOver
	}
	// a document from a cache may be older than its lastmod in the index
	current := newest.Overlaps(p.lastMod) || !p.Made().Before(p.lastMod.Time().Truncate(time.Second))
	if p.dated && current && !newest.After(p.lastMod) && !p.isWrong() {
		n.flags |= noteShown
	}
	return n
}

// isWrong reports whether the lastmod in the index of a document that has changed can't
// be true: it is the same as before, or an entry is later.
func (p *part) isWrong() bool {
	if p.kind == Index || p.lastMod.IsZero() {
		return false
	}
	return p.known.isOf(p.lastMod) && p.known.has(noteOver) || isLater(p.listed.Newest, p.lastMod)
}

// isLater reports whether a lastmod is later than another one, in whatever zone those
// without a time are.
func isLater(a, b websync.Datetime) bool {
	slack := time.Duration(0)
	if min(a.Precision(), b.Precision()) <= websync.PrecisionDay {
		slack = 24 * time.Hour
	}
	return a.After(b) && !b.End().Add(slack).After(a.Time())
}

// provenAfter is how many changes in a row an index must state truthfully after a wrong
// lastmod.
const provenAfter = 10

// accept records a document that has changed, and whether its lastmod in the index is
// true.
func (w *walk) accept(p *part) {
	n := p.changedNote()
	if n.sum != 0 && w.sums[n.sum] > 1 {
		n.flags |= noteUnasked // it lists the same as another one: a cache may have sent that
	}
	w.next.remember(keyOf(p.URL), n)
	switch {
	case p.isWrong():
		w.next.trust = 1 - provenAfter
		w.Report(ruleIndexMod.Finding(p.index.Final, p.line, p.column, "lastmod", []byte(p.lastMod.String()),
			p.URL+" has changed, or has a later entry: lastmod in this index can't be believed"))
	case p.kind != Index && p.noted && p.known.lastMod != "" && !p.lastMod.IsZero() && !p.known.isOf(p.lastMod):
		w.next.trust = min(w.next.trust+1, 1)
	}
}

// judge records the documents that have changed, now that all of the set are known. A
// document in doubt counts as skipped.
func (w *walk) judge() {
	if len(w.changed) == 0 {
		return
	}
	known := make(map[uint64]bool, len(w.from.parts))
	for _, n := range w.from.parts {
		known[n.sum] = true
	}
	lostIndex := false
	for _, p := range w.changed {
		sum := p.listed.Sum
		other := sum != 0 && (w.sums[sum] > 1 || p.noted && known[sum])
		if w.judgePart(p, other) {
			lostIndex = lostIndex || p.kind == Index || p.known.has(noteIndex)
		}
	}
	if lostIndex { // what it does not list may be there again in the next run
		for key, n := range w.from.parts {
			if _, ok := w.next.parts[key]; !ok {
				w.next.remember(key, n)
			}
		}
	}
}

// judgePart records a document that has changed. It reports whether the document is in
// doubt. Other: it has the entries of another document.
func (w *walk) judgePart(p *part, other bool) (doubt bool) {
	why := w.whyDoubt(p, other)
	switch {
	case why == "" && other && p.noted: // its entries have moved
		n := p.changedNote()
		n.flags = n.flags&noteIndex | noteUnasked
		w.next.remember(keyOf(p.URL), n)
	case why == "" || len(w.from.parts) == 0 || w.isOld(p):
		w.accept(p)
	default:
		w.skipped++
		w.Report(ruleDoubt.Finding(p.Final, 0, 0, "", nil, why+": in doubt until it is the same a day later"))
		w.keep(p)
		return true
	}
	return false
}

// whyDoubt returns why a document that has changed may not be the one that was asked for;
// "" if nothing suggests that. Other: it has the entries of another document.
func (w *walk) whyDoubt(p *part, other bool) string {
	known := &p.known
	lost := known.sum != 0 && w.sums[known.sum] == 0
	made := p.Made()
	switch {
	case p.listed.Sum == 0 && known.sum != 0:
		return "no entries, and it had some before"
	case other && (lost || !p.noted):
		return "the entries of another document, and its own are nowhere"
	case !made.IsZero() && made.Before(known.Made()) && !p.listed.Newest.After(known.newest):
		return "made before the one that was read last"
	}
	return ""
}

// isOld reports whether a document in doubt has been the same for a day, by its server's
// clock. If not, it records the doubt.
func (w *walk) isOld(p *part) bool {
	const patience = 24 * time.Hour
	key := keyOf(p.URL)
	d, ok := w.from.doubts[key]
	switch since := time.Unix(d.since, 0); {
	case !ok || d.sum != p.listed.Sum || d.since == 0:
		d = doubt{sum: p.listed.Sum}
		if !p.Date.IsZero() {
			d.since = p.Date.Unix()
		}
	case !p.Date.Before(since.Add(patience)):
		return true
	}
	w.next.doubt(key, d)
	return false
}

// Flags of a partNote.
const (
	// the period of lastMod was over when the entries were read: any later change must
	// carry a newer one
	noteOver uint8 = 1 << iota
	// the document itself shows that it is not older than lastMod: it was made then, or
	// has an entry of that time, all entries are dated and none is later, and lastMod was
	// true when they changed
	noteShown
	noteIndex // it is an index
	// the next request is unconditional, so that the pages of an open document are listed
	noteUnasked
)

func (n *partNote) has(flags uint8) bool { return n.flags&flags == flags }

// isOf reports whether d is the lastmod in the index with which the entries were read.
func (n *partNote) isOf(d websync.Datetime) bool { return n.lastMod != "" && n.lastMod == d.String() }

// proves reports whether a document need not be asked for if the lastmods in the index
// are true, and d is its own.
func (n *partNote) proves(d websync.Datetime) bool {
	return n.has(noteOver|noteShown) && !n.has(noteUnasked) && n.isOf(d)
}

// usable returns the validators that a request may have.
func (n *partNote) usable() docfetch.Validators {
	if n.flags&(noteIndex|noteUnasked) != 0 {
		return docfetch.Validators{}
	}
	return n.Validators
}
