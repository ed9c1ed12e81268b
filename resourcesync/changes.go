package resourcesync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
)

// A changeQueue is what of the log is still to be yielded: change lists that were read to
// their end and checked.
type changeQueue struct {
	lists      []*changeList
	root       string // what the Capability List names, or what replaced it
	packed     bool   // root is a Change Dump
	validators docfetch.Validators
	end        cursor // the position after the lists
	next       cursor // the position that the next run goes on from: end, unless readAgain
	skipped    int    // entries that can't be read, of indexes and of lists that are read again

	entries int              // of the lists
	latest  map[uint64]int   // the last certain entry of each URI
	clock   websync.Datetime // the latest time of an entry
	set     docfetch.Set

	bytes     *changeBytes // of some changes; nil if there are none
	doubt     error        // why changes may be missing that the lists do not have
	readAgain bool         // the next run reads some of the lists again
	idle      bool         // the log moved on before a list could be read

	rootLists      // the lists of the root
	repeats   bool // there may be changes that were yielded before
}

// A rootLists is what is known of the lists that a document is or names, and of what was
// read before them.
type rootLists struct {
	from       cursor           // the position before them
	before     int              // how many lists of the queue are before them
	unread     int              // entries of the index that can't be read
	positioned bool             // it is certain which of their entries are after the position
	newest     websync.Datetime // the latest time of one
	unordered  bool             // one states a time before that of an earlier one
	oldCopy    error            // why they may be an old copy
}

// Close removes the documents.
func (b *changeQueue) Close() {
	for _, l := range b.lists {
		l.Close()
	}
	b.bytes.Close()
}

// newEntries returns how many entries are new.
func (b *changeQueue) newEntries() (n int) {
	for _, l := range b.lists {
		n += l.entries - l.first
	}
	return n
}

// changed returns how many URIs have a new entry. Only the first list may begin with
// others.
func (b *changeQueue) changed() (n int) {
	if len(b.lists) == 0 {
		return 0
	}
	for _, i := range b.latest {
		if i >= b.lists[0].first {
			n++
		}
	}
	return n
}

// A gapError says that changes may be missing between a moment and those that a document
// lists.
type gapError struct {
	document string
	since    websync.Datetime
	// Late: the list begins later than its index states. Unstated: its index does not
	// state when it begins. The log may have moved on since the index was read.
	late, unstated bool
}

func (l *changeList) gap(since websync.Datetime) error {
	return &gapError{l.URL, since, l.late, l.unstated}
}

func (e *gapError) Error() string {
	return fmt.Sprintf("changes after %v, up to when they were harvested, may be missing", e.since)
}

// overlap is how much before the moment of a baseline changes are read: publishers list
// some late, and set their clocks back.
const overlap = time.Hour

// since returns the moment before which the baseline has all changes; zero if that is not
// known.
func (b *changeQueue) since() time.Time {
	if b.end.At.IsZero() {
		return time.Time{}
	}
	return b.end.At.Time().Add(-overlap)
}

// sinceOf returns the moment before which the baseline has all changes of a list; zero if
// the times of the list do not show that.
func (b *changeQueue) sinceOf(l *changeList) time.Time {
	if l.ordered && (b.end.URL == "" || l.order != byList) {
		return b.since()
	}
	return time.Time{}
}

// readQueue reads the lists with the changes after the position. One that can't be read
// is a Problem. The error is a *gapError if there is a gap.
func (w *walk) readQueue(ctx context.Context) (*changeQueue, error) {
	b := &changeQueue{root: w.next.Root, packed: w.next.Packed, validators: w.next.Validators, end: w.next.Log, next: w.next.Log}
	for visited := make(map[docfetch.Key]bool); ; {
		visited[docfetch.KeyOf(b.root)] = true
		successor, err := w.readRoot(ctx, b)
		visited[docfetch.KeyOf(b.root)] = true // where it is now
		if err != nil && successor != "" && !visited[docfetch.KeyOf(successor)] {
			err = nil
		}
		if err == nil && successor == "" {
			successor, err = w.moved(ctx, b)
		}
		ended := successor == "" || visited[docfetch.KeyOf(successor)]
		if err == nil && ended && b.oldCopy != nil {
			err = w.Problem(b.oldCopy)
		}
		if err != nil {
			b.Close()
			return nil, err
		}
		if ended {
			return b, nil
		}
		b.root, b.packed, b.validators = successor, false, docfetch.Validators{}
	}
}

// moved returns the URL of the log if the Capability List names another one than when it
// was read last. A publisher may leave an open list behind: the Capability List is asked
// if nothing is new in it, if it does not continue at the position, or if it is closed
// and its end lies in the future.
func (w *walk) moved(ctx context.Context, b *changeQueue) (url string, err error) {
	if w.Incomplete() || b.doubt != nil {
		return "", nil
	}
	if w.offers == nil && (b.newEntries() == 0 || b.repeats || b.readAgain) {
		err = w.readCapabilities(ctx, w.next.Capabilities)
	}
	switch now := w.log(); {
	case err != nil && ctx.Err() == nil:
		b.doubt = err
	case err != nil:
		return "", err
	case w.offers != nil && now == "": // Change Lists are not offered any more
		return "", &gapError{document: w.source.URL, since: b.end.Time}
	case w.offers != nil && now != cmp.Or(w.next.Named, now):
		return now, nil
	}
	return "", nil
}

// yieldQueue yields the changes of a queue, and moves the position to its end.
func (w *walk) yieldQueue(ctx context.Context, b *changeQueue) error {
	defer b.Close()
	w.next.Root, w.next.Packed, w.next.Idle = b.root, b.packed, b.idle
	w.named()
	w.planBytes(ctx, b)
	w.ExpectMore(b.changed())
	for _, l := range b.lists {
		if err := w.yieldList(ctx, b, l); err != nil {
			return err
		}
		if err := w.changedVersions(ctx, b); err != nil {
			return err
		}
		w.next.Log = l.end
		w.next.Skipped += l.passed
		if err := w.Mark(w.resume(), 0); err != nil {
			return err
		}
	}
	w.ExpectMore(0)
	b.bytes.check(w.Report)
	w.next.Validators = b.validators
	if b.readAgain {
		w.next.Validators = docfetch.Validators{}
	}
	if err := w.Mark(w.resume(), w.next.Skipped+w.next.Log.Skipped+b.skipped-w.counted); err != nil || b.doubt == nil {
		return err
	}
	return w.Problem(b.doubt)
}

// maxRereads is how often a run reads an index again because the log has moved on.
const maxRereads = 3

// readRoot reads the lists that the document at b.root is or names. A successor is the
// URL of what may have the changes after them, or with a *gapError, before them.
func (w *walk) readRoot(ctx context.Context, b *changeQueue) (successor string, err error) {
	b.rootLists = rootLists{from: b.end, before: len(b.lists)}
	root, err := w.readNamed(ctx, b)
	var gap *gapError
	for attempt := 1; ; attempt++ {
		if !errors.As(err, &gap) || !gap.late && !gap.unstated || b.continues() && b.end.Until.IsZero() {
			break
		}
		if attempt > maxRereads {
			return "", w.stopReading(b, gap, !root.NotModified)
		}
		b.validators = docfetch.Validators{}
		if !root.NotModified { // otherwise it is not known what it states
			b.validators = root.Validators.Kept()
		}
		if root, err = w.readNamed(ctx, b); err == nil && root.NotModified {
			return "", w.stopReading(b, gap, !root.NotModified)
		}
	}
	switch {
	case docfetch.IsOfDocument(err):
		return "", w.Problem(err)
	case errors.As(err, &gap) && root != nil && root.isList() && root.head.Href("index") != "": // which names the lists before it
		return root.head.Href("index"), err
	case err != nil || w.Incomplete():
		return "", err
	}
	return w.successor(ctx, b, root)
}

// stopReading ends the reading of a log that moves on while it is read. The position
// stays after the lists that were read, so that the next run continues there. It returns
// the gap if no reading has brought anything new: then the changes are not to be had.
func (w *walk) stopReading(b *changeQueue, gap *gapError, moves bool) error {
	if err := w.checkPosition(b); err != nil {
		return err
	}
	if b.oldCopy != nil { // the lists that show what of them is new are still to come
		if b.before > 0 {
			return gap
		}
		b.Close()
		b.lists, b.entries, b.end, b.next, b.readAgain, b.skipped, b.oldCopy = nil, 0, b.from, b.from, false, 0, nil
	}
	reads := len(b.lists) > b.before
	switch {
	case gap.late && (reads || !w.next.Idle), moves && reads:
	default:
		return gap
	}
	b.idle = !reads
	b.validators = docfetch.Validators{}
	b.doubt = w.Named(gap.document, fmt.Errorf(
		"it begins later than its index states: the log has moved on, and the next run reads the changes after %v", gap.since))
	return nil
}

// readNamed reads the document at b.root, and the lists that it is or names. The error is
// a *gapError if there is a gap.
func (w *walk) readNamed(ctx context.Context, b *changeQueue) (root *changeList, err error) {
	if root, err = w.root(ctx, b); err != nil {
		return root, err
	}
	var lists []*changeList
	switch {
	case root.isList() && b.continues(): // it was an index before
		root.Close()
		return root, &gapError{document: root.URL, since: b.end.Time}
	case root.isList():
		lists = []*changeList{root}
	case !root.NotModified:
		defer root.Close()
		if lists, err = w.listed(ctx, b, root); err != nil {
			return root, err
		}
		root.grows = b.packed && slices.ContainsFunc(lists, (*changeList).growsUnseen)
	case !b.packed && b.end.URL != b.root && !b.continues(): // an index: the list that was read last may have more
		lists = []*changeList{newChangeList(b.end.URL)}
		lists[0].indexed = true
	}
	return root, w.readLists(ctx, b, lists)
}

// isList reports whether a document was read and is one Change List.
func (l *changeList) isList() bool {
	return !l.NotModified && l.head.Metadata.Capability == ChangeList && !l.head.Index
}

// successor returns the URL of what may have the changes after the lists that a document
// is or names.
func (w *walk) successor(ctx context.Context, b *changeQueue, root *changeList) (url string, err error) {
	if err := w.checkPosition(b); err != nil {
		return "", err
	}
	if !root.NotModified {
		b.validators = root.Validators.Kept()
		if b.packed && root.head.Index || root.grows {
			b.validators = docfetch.Validators{}
		}
	}
	single := root.isList() || root.NotModified && b.end.URL == b.root
	switch {
	case b.packed && (root.head.Index || root.head.Metadata.Until.IsZero()), !b.packed && !single, b.end.Until.IsZero():
		return "", nil
	case b.packed: // a closed dump: it is read again until there is another one
		b.validators = docfetch.Validators{}
	}
	if index := root.head.Href("index"); index != "" {
		return index, nil
	}
	if err := w.capabilities(ctx); err != nil {
		return "", err
	}
	return w.log(), nil
}

// root reads the document at b.root, or where the Capability List says that it is now.
func (w *walk) root(ctx context.Context, b *changeQueue) (*changeList, error) {
	root := newChangeList(b.root)
	err := w.read(ctx, b, root, b.validators, ChangeList, ChangeDump)
	if errors.Is(err, websync.ErrGone) && w.offers == nil {
		if err := w.capabilities(ctx); err != nil {
			return nil, err
		}
		switch moved := w.log(); moved {
		case "": // Change Lists are not offered any more
			return nil, &gapError{document: b.root, since: b.end.Time}
		case b.root:
		default:
			b.root, b.packed, b.validators = moved, false, docfetch.Validators{}
			return w.root(ctx, b)
		}
	}
	if err == nil && !root.NotModified {
		b.packed = root.head.Metadata.Capability == ChangeDump
	}
	return root, err
}

// listed returns those of the lists of an index, or of the packages of a Change Dump,
// that may have changes after the position.
func (w *walk) listed(ctx context.Context, b *changeQueue, index *changeList) (lists []*changeList, err error) {
	entries, err := w.indexEntries(b, index)
	if err != nil {
		return nil, err
	}
	if b.packed {
		if lists, err = w.packages(ctx, index, entries); err != nil {
			return nil, err
		}
	} else {
		for i := range entries {
			lists = append(lists, newChangeList(entries[i].Loc))
			lists[i].from, lists[i].until = entries[i].Metadata.From, entries[i].Metadata.Until
		}
	}
	for _, l := range lists {
		l.indexed = true
	}
	lists, certain := inOrder(lists)
	if !certain && !w.next.Stale {
		return nil, &gapError{document: index.URL, since: b.end.Time}
	}
	return b.after(lists, index.head.Metadata.From), nil
}

// indexEntries returns the entries of an index, or of a Change Dump, each URL once.
func (w *walk) indexEntries(b *changeQueue, index *changeList) (entries []Entry, err error) {
	r, err := w.again(&index.Document)
	if err != nil {
		return nil, err
	}
	named := make(map[string]bool)
	var kept holding
	for e, err := range r.All() {
		if err != nil {
			return nil, err
		}
		if named[e.Loc] {
			continue
		}
		if err := kept.add(index.URL, &e); err != nil {
			return nil, err
		}
		named[e.Loc] = true
		entries = append(entries, e)
	}
	if n := r.Skipped(); n > 0 { // each may name a list that comes before any of the others
		b.skipped, b.readAgain, b.unread = b.skipped+n-b.unread, true, n
	}
	return entries, nil
}

// after returns those of the lists of an index, in their order, that may have changes
// after the position. From is when the index begins.
func (b *changeQueue) after(lists []*changeList, from websync.Datetime) []*changeList {
	if at := b.reached(lists); at >= 0 {
		return lists[at:]
	}
	if len(lists) > 0 && lists[0].from.IsZero() {
		lists[0].from = from
	}
	if isAscending(lists) && !b.end.Time.IsZero() {
		for at := len(lists) - 1; at > 0; at-- {
			if from := lists[at].from; !from.IsZero() && from.Time().Before(b.end.Time.Time().Add(-overlap)) {
				return lists[at:]
			}
		}
	}
	return lists
}

// reached returns the index of the list that has the position, or of the one after it; -1
// if the lists do not show where the position is.
func (b *changeQueue) reached(lists []*changeList) int {
	log := &b.end
	at := slices.IndexFunc(lists, func(l *changeList) bool { return l.URL == log.URL })
	if at < 0 {
		return -1
	}
	if from := lists[at].from; from.After(log.From) && !from.Time().Before(log.Time.Time()) {
		// A later list has its URL. It may be under another one, and be split.
		return slices.IndexFunc(lists, func(l *changeList) bool {
			return !l.from.IsZero() && l.from.Time().Equal(log.From.Time())
		})
	}
	p := lists[at].pack
	unchanged := p != nil && !p.Metadata.Until.IsZero() && p.Metadata.Until == log.Until && p.sum() == log.Package
	if unchanged || b.continues() && !log.Until.IsZero() { // nothing was added to it
		at++
	}
	return at
}

// continues reports whether the lists before the position were read in this run, from the
// same index.
func (b *changeQueue) continues() bool { return b.positioned || len(b.lists) > b.before }

// inOrder returns lists in the order of their changes: the latest comes last in an index
// (Z39.99 §12.2). If their intervals follow each other in another order only, it is that
// one. It is not certain if they do so in none: the publisher's clock was set back
// between two lists, or the index has no order.
func inOrder(lists []*changeList) (ordered []*changeList, certain bool) {
	noFrom := func(l *changeList) bool { return l.from.IsZero() }
	if slices.ContainsFunc(lists, noFrom) || isAscending(lists) || follow(lists) {
		return lists, true
	}
	sorted := slices.Clone(lists)
	slices.SortStableFunc(sorted, byFrom)
	if follow(sorted) {
		return sorted, true
	}
	return lists, false
}

func byFrom(a, b *changeList) int { return a.from.Time().Compare(b.from.Time()) }

// isAscending reports whether all lists state when they begin, and none begins before an
// earlier one.
func isAscending(lists []*changeList) bool {
	return !slices.ContainsFunc(lists, func(l *changeList) bool { return l.from.IsZero() }) && slices.IsSortedFunc(lists, byFrom)
}

// follow reports whether each list begins when the one before it ends.
func follow(lists []*changeList) bool {
	for i := range len(lists) - 1 {
		until, from := lists[i].until, lists[i+1].from
		if until.IsZero() || from.Before(until) || from.Time().After(until.End()) {
			return false
		}
	}
	return true
}

// readLists reads lists that follow each other, the first of which may continue the one
// that was read last.
func (w *walk) readLists(ctx context.Context, b *changeQueue, lists []*changeList) error {
	if len(lists) == 0 {
		return nil
	}
	for _, l := range lists {
		b.set.Ask(docfetch.KeyOf(l.URL))
	}
	others := lists
	if !b.continues() {
		if ok, err := w.readFirst(ctx, b, lists); !ok {
			return err
		}
		others = lists[1:]
	}
	ahead := docfetch.Ahead[*changeList]{
		Parallel: w.source.Parallel,
		Next:     docfetch.Each(others),
		Ready:    func(*changeList) bool { return false },
		Get:      func(ctx context.Context, l *changeList) { l.err = w.fetch(ctx, l, docfetch.Validators{}) },
		Close:    func(l *changeList) { l.Close() },
	}
	for l := range ahead.All(ctx) {
		if l.err == nil {
			l.err = w.checkList(b, l)
		}
		if l.err == nil && w.skips(b, l) {
			l.Close()
			return l.gap(b.end.Time)
		}
		if ok, err := w.isRead(l.err); err != nil {
			return err
		} else if ok {
			b.add(l, 0)
		}
	}
	return ctx.Err()
}

// readFirst reads the first of some lists. It reports whether the others can be read.
func (w *walk) readFirst(ctx context.Context, b *changeQueue, lists []*changeList) (ok bool, err error) {
	first := lists[0]
	if first.Body == nil && !first.NotModified {
		var known docfetch.Validators
		if first.URL == b.end.URL {
			known = b.end.Validators
			if p := first.pack; p != nil && p.isBeside() && p.sum() != b.end.Package {
				p.inside = true // it has other bytes than then: the manifest beside it may be older
			}
		}
		if ok, err := w.isRead(w.readList(ctx, b, first, known)); !ok {
			return false, err
		}
	}
	if b.positioned = first.NotModified; b.positioned {
		return true, nil
	}
	if err := w.join(ctx, b, first, lists); err != nil {
		first.Close()
		return false, err
	}
	return true, nil
}

// skips reports whether changes between a list and the closed one before it may be
// missing. A baseline that is older than the oldest change does without them.
func (w *walk) skips(b *changeQueue, l *changeList) bool {
	known := latest(b.end.Until, b.end.Time)
	if !b.positioned {
		known = latest(known, b.from.Time)
	}
	return !w.next.Stale && !b.end.Until.IsZero() && l.from.Time().After(known.End())
}

// isRead reports whether a list was read. If it was not, that is a Problem.
func (w *walk) isRead(err error) (bool, error) {
	if docfetch.IsOfDocument(err) {
		return false, w.Problem(err)
	}
	return err == nil, err
}

// join adds the first of some lists to a queue, if nothing is missing between it and
// the position.
func (w *walk) join(ctx context.Context, b *changeQueue, first *changeList, lists []*changeList) error {
	start, ok := b.firstWanted(first)
	isLast := func(l *changeList) bool { return l.URL == b.end.URL }
	if !ok && b.end.URL != "" && !b.packed && !slices.ContainsFunc(lists, isLast) {
		// The list that was read last is not named any more, but may still be there.
		last := newChangeList(b.end.URL)
		err := w.readList(ctx, b, last, docfetch.Validators{})
		if err != nil && !docfetch.IsOfDocument(err) {
			return err
		}
		if err == nil {
			if from, ok := b.firstWanted(last); ok {
				b.add(last, from)
			} else {
				last.Close()
			}
		}
		start, ok = b.firstWanted(first)
	}
	if !ok {
		return first.gap(b.end.Time)
	}
	b.add(first, start)
	return nil
}

// firstWanted returns the first entry of a list that is to be yielded. It is false if
// changes between the position and the list may be missing.
func (b *changeQueue) firstWanted(l *changeList) (entry int, ok bool) {
	log, begins := &b.end, l.from
	switch {
	case log.shifts(l): // a change may seem older than what it changes
		return 0, false
	case l.prefix && log.repeats(l):
		return 0, true
	case l.prefix: // the list has grown
		return log.N, true
	case l.afterLast > 0, log.URL == "" && log.Time.IsZero():
		return 0, true
	case begins.IsZero(), l.URL == log.URL && log.N > 0 && !l.from.After(log.From):
		// It does not say where it begins, or says so although it has lost entries.
		begins = l.begins
	}
	return 0, !begins.IsZero() && !begins.Time().After(log.Time.Time())
}

// shifts reports whether changes that were read before stand for later times than those
// that a list states, whose times are its order.
func (c *cursor) shifts(l *changeList) bool { return l.order != byList && c.URL != "" && !c.Exact }

// repeats reports whether changes that a list had before are yielded again: what could not
// be read may be mended, others may have changed within their time, or are in the order of
// the list after all.
func (c *cursor) repeats(l *changeList) bool {
	return c.Skipped > 0 || c.Early || c.ByTime && l.entries > c.N
}

// firstNew returns the first entry of a list that is certainly after the position, -1 if
// that is not known: by the entries that were yielded before or, if the list does not
// have them, by the interval that it states.
func (b *changeQueue) firstNew(l *changeList) int {
	log := &b.end
	switch {
	case len(b.lists) == b.before && l.prefix:
		return log.N
	case l.afterLast > 0:
		return l.afterLast
	case b.positioned:
		return 0
	case len(b.lists) > b.before || log.URL == "" || l.from.IsZero():
		return -1
	case l.URL == log.URL && log.N == 0:
		return 0
	}
	ended := cmp.Or(log.Clock, log.Time)
	if !log.Until.IsZero() && log.Until.Before(ended) {
		ended = log.Until
	}
	if ended.IsZero() || l.from.Time().Before(ended.Time()) {
		return -1 // it should have the last entry that was yielded
	}
	return 0
}

// checkPosition checks whether the times of the lists show where the position is, if
// their entries do not. If the publisher's clock was set back since, they don't, and it
// returns a gap. If all of them are before the position, it sets b.oldCopy.
func (w *walk) checkPosition(b *changeQueue) error {
	switch known := b.from.Clock; {
	case b.positioned || w.next.Stale || known.IsZero() || len(b.lists) == b.before:
		return nil
	case b.newest.Before(known):
		b.oldCopy = w.Named(b.root,
			fmt.Errorf("all changes are before %v, up to when they were harvested: it may be an old copy", known))
	case b.unordered, b.from.URL != "" && b.lists[b.before].URL != b.from.URL:
		return &gapError{document: b.root, since: known}
	}
	return nil
}

// add adds a list, of which the entries from start on are to be yielded, to a queue.
func (b *changeQueue) add(l *changeList, start int) {
	l.base = b.entries
	b.entries += l.entries
	if l.base == 0 {
		b.latest = l.latest
	} else {
		for id, i := range l.latest {
			b.latest[id] = l.base + i
		}
	}
	l.latest = nil
	if len(b.lists) > 0 {
		start = 0 // what it has in common with the lists before it is yielded with it
	}
	b.unordered = b.unordered || l.unordered || l.clock.Before(b.clock)
	b.newest = latest(b.newest, l.clock)
	l.first, l.before, l.firstNew = start, b.clock, b.firstNew(l)
	if l.firstNew >= 0 {
		b.positioned, l.floor = true, b.from.Clock
	}
	b.repeats = b.repeats || !b.positioned || start < l.firstNew
	b.clock = latest(latest(b.clock, l.floor), l.clock)
	l.since = b.sinceOf(l)
	if b.end.URL != l.URL && !b.readAgain {
		l.passed = b.end.Skipped
	}
	mayGrow := l.mayGrow()
	b.end = b.endOf(l, mayGrow)
	if b.readAgain {
		b.skipped += l.skipped
	} else {
		b.next = b.end
	}
	l.end, b.readAgain = b.next, b.readAgain || mayGrow
	b.lists = append(b.lists, l)
}

// closes returns the end of the interval of a list; zero if it is open.
func (l *changeList) closes() websync.Datetime {
	until := l.head.Metadata.Until
	if l.pack != nil {
		until = cmp.Or(l.pack.Metadata.Until, until)
	}
	return until
}

// mayGrow reports whether a list that seems to be closed, or read to its end, may still
// get more: it was closed ahead of time, or it is early. A Date has whole seconds: a list
// that was closed within that second is closed.
func (l *changeList) mayGrow() bool {
	return !l.Date.IsZero() && !l.closes().Time().Before(l.Date.Add(time.Second)) || l.isEarly()
}

// isEarly reports whether a resource may change, and the list stay as it is: if it has one
// entry of a resource, as those have that are not in the order of the changes, a change
// within the period of the latest time shows nowhere.
func (l *changeList) isEarly() bool {
	mayHaveOne := l.order != byList || l.unclear && !l.indexed
	return mayHaveOne && l.closes().IsZero() && !l.clock.IsZero() && !l.Date.IsZero() && !l.clock.IsOver(l.Date)
}

// endOf returns the position after a list, which comes after those of b.
func (b *changeQueue) endOf(l *changeList, mayGrow bool) cursor {
	end := cursor{
		URL: l.URL, From: l.from, Until: l.closes(), At: b.end.At, Clock: latest(b.clock, b.from.Clock),
		N: l.entries, Sum: l.sum, Last: l.last,
		Untimed: b.end.Untimed || l.untimed, Skipped: l.skipped, Validators: l.Validators.Kept(),
		Early: l.isEarly(), ByTime: l.order != byList, Exact: l.order != byList || !l.shifted,
	}
	if mayGrow {
		end.Until, end.Validators = websync.Datetime{}, docfetch.Validators{}
	}
	end.Time = latest(cmp.Or(end.Until, l.clock, l.from, b.end.Time), b.end.At)
	if l.entries == 0 {
		end.Last = b.end.Last
	}
	if l.pack != nil {
		end.Package = l.pack.sum()
	}
	return end
}
