package resourcesync

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
)

// A changeList is one document of the log, or an index of such, or the manifest of a
// package of a Change Dump.
type changeList struct {
	docfetch.Document
	pack *dumpPackage // nil if it is no manifest
	err  error        // of getting it ahead

	until   websync.Datetime // as its index or its dump says
	indexed bool             // an index or a dump names it
	grows   bool             // it is a dump with a package that may grow unseen

	// What the first reading finds.
	head      Head
	from      websync.Datetime // as the document says, or else its index
	late      bool             // that is later than its index says
	unstated  bool             // its index does not say
	entries   int
	skipped   int
	base      int              // how many entries of the queue are before it
	latest    map[uint64]int   // the last certain entry of each URI, until the queue has it
	order     order            // of the entries
	unclear   bool             // no entry is later than the one before, and one at most is earlier
	ordered   bool             // no lastmod without datetime is before an earlier time or from
	shifted   bool             // an entry stands for a later time than it states
	unordered bool             // an entry states a datetime before that of an earlier one
	begins    websync.Datetime // the earliest time of an entry
	untimed   bool             // an entry has no time
	clock     websync.Datetime // the latest one, unless the server's clock says that it is wrong
	sum       uint64           // of the entries
	last      uint64           // of the last one
	prefix    bool             // it begins with the entries that were yielded before
	afterLast int              // the entry after the last one that was yielded before; 0 if that is not here

	// What is to be yielded.
	first    int              // the first entry
	since    time.Time        // if set, entries before it are not
	before   websync.Datetime // the latest time of the lists before it
	firstNew int              // the first entry that is certainly after the position; -1 if none is
	floor    websync.Datetime // that entry is not before it
	end      cursor           // the position that a run that ends after the list leaves
	passed   int              // skipped entries of the list before it
}

func newChangeList(url string) *changeList {
	return &changeList{Document: docfetch.Document{URL: url}}
}

// packageList returns the manifest of a package as a list.
func packageList(p *dumpPackage) *changeList {
	l := newChangeList(p.manifest.URL)
	l.pack, l.from, l.until = p, p.Metadata.From, p.Metadata.Until
	p.manifest = &l.Document
	return l
}

// growsUnseen reports whether a package may grow and its Change Dump stay as it is.
func (l *changeList) growsUnseen() bool {
	m := &l.pack.Metadata
	return m.Until.IsZero() && m.Length == 0 && len(m.Digests) == 0
}

// Close removes the document and its package.
func (l *changeList) Close() {
	l.Document.Close()
	if l.pack != nil {
		l.pack.Close()
	}
}

// fetch gets a list, or the manifest of a package, unless it is still the known one. It
// may be called from several goroutines, for one list each.
func (w *walk) fetch(ctx context.Context, l *changeList, known docfetch.Validators) error {
	if l.pack == nil {
		return w.get(ctx, &l.Document, known)
	}
	err := l.pack.begin(ctx, known)
	if err != nil {
		l.Close() // the package may be there, and its manifest not
	}
	return err
}

// readList is read, for a document that must not be an index.
func (w *walk) readList(ctx context.Context, b *changeQueue, l *changeList, known docfetch.Validators) error {
	if err := w.fetch(ctx, l, known); err != nil || l.NotModified {
		return err
	}
	return w.checkList(b, l)
}

func (w *walk) checkList(b *changeQueue, l *changeList) error {
	want := ChangeList
	if l.pack != nil {
		want = ChangeDumpManifest
	}
	err := w.check(b, l, want)
	if err == nil && l.head.Index {
		l.Close()
		err = fmt.Errorf("an index of the capability %q, where a list of changes must be", want)
		err = &docfetch.Error{Err: w.Named(l.URL, err)}
	}
	return err
}

// read gets a list, or an index, unless it is still the known one, and reads it to its
// end.
func (w *walk) read(ctx context.Context, b *changeQueue, l *changeList, known docfetch.Validators, want ...Capability) error {
	if err := w.fetch(ctx, l, known); err != nil || l.NotModified {
		return err
	}
	return w.check(b, l, want...)
}

// check reads a document to its end. It must have one of the capabilities.
func (w *walk) check(b *changeQueue, l *changeList, want ...Capability) (err error) {
	defer func() {
		if err != nil {
			l.Close()
			err = &docfetch.Error{Err: w.Named(l.URL, err)}
		}
	}()
	if l.pack == nil {
		if err := b.set.Add(&l.Document); err != nil {
			return err
		}
	}
	if l.order, err = w.orderOf(b, l); err != nil {
		return err
	}
	r := w.reader(&l.Document, w.Report)
	if l.head, err = r.Head(); err != nil {
		return err
	}
	if c := l.head.Metadata.Capability; !slices.Contains(want, c) {
		return fmt.Errorf("the capability %.100q, which must be one of %q: %w", c, want, websync.ErrNotDocument)
	}
	l.late, l.unstated = l.indexed && l.head.Metadata.From.After(l.from), l.indexed && l.from.IsZero()
	l.from = cmp.Or(l.head.Metadata.From, l.from)
	l.ordered, l.latest = true, make(map[uint64]int)
	form, since := formOf(documentKind{l.head.Metadata.Capability, l.head.Index}), b.since()
	changes := form != nil && form.changes // otherwise they are lists or packages
	h := fnv.New64a()
	known := make(map[uint64]state)
	err = eachView(r, func(_ int, v *View) error {
		if len(v.Loc) > maxID {
			l.skipped += w.tooLong(l.Final, string(v.Loc), v.Line, v.Column)
		}
		if v.twice {
			l.skipped++
		}
		at := l.noteTime(v)
		l.last = sumOf(v)
		h.Write(binary.LittleEndian.AppendUint64(nil, l.last))
		if changes && w.doubts(l, v, at, since) {
			l.skipped++
		} else {
			l.noteLatest(known, v, at)
		}
		l.entries++
		l.comparePosition(&b.from, h.Sum64())
		return nil
	})
	if err != nil {
		return err
	}
	l.sum = h.Sum64()
	l.skipped += r.Skipped()
	return nil
}

// noteLatest notes whether the next entry is the last one of its URI so far. Known are the
// states that the list had until then.
func (l *changeList) noteLatest(known map[uint64]state, v *View, at websync.Datetime) {
	if id := idSum(v.Loc); l.order.replaces(known, id, state{at, v.Metadata.Change == Deleted}) {
		l.latest[id] = l.entries
	}
}

// comparePosition notes whether the entries so far, of which sum is a digest, are those
// before a position, and whether the last one is the last of those.
func (l *changeList) comparePosition(position *cursor, sum uint64) {
	if l.entries == position.N {
		l.prefix = sum == position.Sum
	}
	if l.afterLast == 0 && position.Last != 0 && l.last == position.Last {
		l.afterLast = l.entries
	}
}

// noteTime notes what the time of the next entry shows of the list. It returns the time
// of the change, as tick does.
func (l *changeList) noteTime(v *View) (at websync.Datetime) {
	t := changeTime(v)
	l.untimed = l.untimed || t.IsZero()
	if !t.IsZero() && (l.begins.IsZero() || t.Before(l.begins)) {
		l.begins = t
	}
	at = l.tick(v)
	l.shifted = l.shifted || at != t
	if v.Metadata.Datetime.IsZero() {
		l.ordered = l.ordered && at == t
	} else {
		l.unordered = l.unordered || l.within(t).Before(at)
	}
	return at
}

// doubts reports a change without its kind, and one whose datetime is before at, the time
// of an entry before it, or before the interval of the list. It returns true for such a
// deletion that states a time before since: if the baseline lists the resource, it is not
// known which of them is the later. So it does if the entry before is of the same
// resource, and nothing else shows which of the two is the later.
func (w *walk) doubts(l *changeList, v *View, at websync.Datetime, since time.Time) (doubt bool) {
	w.checkKind(l.Final, v)
	stated := v.Metadata.Datetime
	var rule Rule
	var what string
	switch {
	case l.within(stated).Before(at):
		rule, what = ruleOrder, fmt.Sprintf("an entry before has %v", at)
	case stated.Before(l.from):
		rule, what = ruleDatetimeOutside, fmt.Sprintf("datetime is before %v, the from of the document", l.from)
	default:
		return false
	}
	_, before := l.latest[idSum(v.Loc)]
	isOlder := isBefore(stated, since) || l.unclear && before && rule == ruleOrder
	if doubt = isOlder && w.source.removes(v) && w.includes(v.Loc); doubt {
		uri := websync.RedactURL(string(v.Loc))
		what += fmt.Sprintf(": the resource may be there since then, so the deletion of %s is not carried out", uri)
	}
	w.Report(rule.Finding(l.Final, v.Line, v.Column, "md", []byte(stated.String()), what))
	return doubt
}

// checkKind reports a change that does not say whether the resource was created, updated
// or deleted: it counts as updated.
func (w *walk) checkKind(document string, v *View) {
	m := &v.Metadata
	if m.Change == "" && !slices.ContainsFunc(m.Faulty, func(a AttrView) bool { return a.Local == "change" }) {
		w.Report(ruleChangeMissing.Finding(document, v.Line, v.Column, "md", nil,
			"an entry must have a change: it counts as updated"))
	}
}

// tick returns the time of a change that comes next: that of an earlier one, unless the
// order is not that of the list, or from, if the change says that it was before it. What
// lies in the future does not move the clock.
func (l *changeList) tick(v *View) websync.Datetime {
	t := l.within(changeTime(v))
	switch {
	case t.IsZero(), l.isAhead(t):
		return t
	case l.clock.IsZero() || t.After(l.clock):
		l.clock = t
	}
	if l.order != byList {
		return t
	}
	return l.clock
}

// within returns from in the place of an earlier time: the change is within the interval.
// Its lastmod may only be the time of the bytes.
func (l *changeList) within(t websync.Datetime) websync.Datetime {
	if t.Before(l.from) && !l.isAhead(l.from) {
		return l.from
	}
	return t
}

// isAhead reports whether a time lies in the future, by the server's clock.
func (l *changeList) isAhead(t websync.Datetime) bool {
	return !l.Date.IsZero() && t.Time().After(l.Date.Add(24*time.Hour))
}

// tooLong reports an entry whose URI no Store takes, and returns 1.
func (w *walk) tooLong(document, uri string, line, column int) int {
	w.Report(ruleLoc.Finding(document, line, column, "loc", []byte(uri), "longer than any Store takes: skipped"))
	return 1
}

// again returns a Reader from the beginning of a document that was read before.
func (w *walk) again(d *docfetch.Document) (*Reader, error) {
	if err := w.Rewind(d); err != nil {
		return nil, err
	}
	return w.reader(d, nil), nil
}

// changeTime returns when a change was, as its entry says; zero if it does not.
func changeTime(v *View) websync.Datetime {
	if d := v.Metadata.Datetime; !d.IsZero() {
		return d
	}
	return v.LastMod
}

// sumOf returns a digest of a change, and of what it says of the resource.
func sumOf(v *View) uint64 {
	h := fnv.New64a()
	m := &v.Metadata
	h.Write(v.Loc)
	b := append(make([]byte, 0, 128), 0)
	b, _ = m.Datetime.AppendText(b) // never an error
	b, _ = v.LastMod.AppendText(append(b, 0))
	b = append(append(b, 0), m.Change...)
	b = strconv.AppendInt(append(b, 0), m.Length, 10)
	for _, d := range m.Digests {
		b = append(append(append(b, 0), d.Algorithm...), d.Sum...)
	}
	h.Write(b)
	return h.Sum64()
}

func idSum(uri []byte) uint64 {
	h := fnv.New64a()
	h.Write(uri)
	return h.Sum64()
}

// yieldList yields the new changes of a list: those that are the last of their URI in the
// whole queue.
func (w *walk) yieldList(ctx context.Context, b *changeQueue, l *changeList) error {
	err := w.eachNew(b, l, func(v *View, at websync.Datetime, isLatest bool) error {
		if isLatest {
			if at.IsZero() && w.Incomplete() && (b.repeats || w.source.removes(v)) {
				return nil // what could not be read may come later, and say something else
			}
			if err := w.yieldChange(ctx, b, l, v, at); err != nil {
				return err
			}
		}
		return w.noteChanged(v, isLatest)
	})
	if err != nil || l.pack == nil {
		return err
	}
	if err := w.Drain(); err != nil {
		return err
	}
	w.next.Skipped += l.pack.check(w.Report)
	l.Close()
	return nil
}

// yieldChange yields a change, with what opens its bytes if they came along.
func (w *walk) yieldChange(ctx context.Context, b *changeQueue, l *changeList, v *View, at websync.Datetime) (err error) {
	var open func() (io.ReadCloser, error)
	if l.pack != nil {
		open = l.pack.opener(ctx, string(v.Metadata.Path))
	} else if open, err = w.bytesOf(ctx, b, v); err != nil {
		return err
	}
	return w.putChange(v, at, open)
}

// eachNew calls f with each new change of a list and its time. Of several changes of one
// URI in the queue, only one is the latest.
func (w *walk) eachNew(b *changeQueue, l *changeList, f func(v *View, at websync.Datetime, isLatest bool) error) error {
	r, err := w.again(&l.Document)
	if err != nil {
		return err
	}
	l.clock = l.before
	for i := 0; ; i++ {
		v, err := r.NextView()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return w.Problem(err)
		}
		if i == l.firstNew {
			l.clock = latest(l.clock, l.floor)
		}
		at := l.tick(v)
		if i < l.first || isBefore(at, l.since) || v.twice || !w.includes(v.Loc) {
			continue
		}
		if err := f(v, at, b.isLatest(l, i, v)); err != nil {
			return err
		}
	}
}

// isLatest reports whether an entry is the last certain one of its URI in the whole
// queue.
func (b *changeQueue) isLatest(l *changeList, i int, v *View) bool {
	at, ok := b.latest[idSum(v.Loc)]
	return ok && at == l.base+i
}

// latest returns the later of two times; the one that is known if the other is not.
func latest(a, b websync.Datetime) websync.Datetime {
	if a.IsZero() || b.After(a) {
		return b
	}
	return a
}

// isBefore reports whether all that t stands for is before since, if both are known.
func isBefore(t websync.Datetime, since time.Time) bool {
	return !t.IsZero() && !since.IsZero() && !t.End().After(since)
}
