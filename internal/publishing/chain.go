package publishing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

// A Chain is the log of one Catalog in documents, such as the archive documents of Atom
// or Change Lists: closed ones, each of a fixed range of its numbers, and an open one at
// its end. A Chain decides what its documents list and which paths they have; a Publisher
// writes them.
//
// A Chain keeps 8 bytes for each closed document of the newest generation, and up to 64
// bytes if there is a Period. It is safe for concurrent use; it must not be copied.
type Chain struct {
	// Site has the Catalog and the Sources.
	Site *Site

	// Size is how many numbers of the log a closed document covers, at most if there is a
	// Period.
	Size websync.Seq

	// Period, if positive, makes closed documents cover periods of commit times. Periods
	// are counted from the zero time.Time, so those of 24 hours are days in UTC. A
	// document ends with the last entry of its period, or earlier with Size numbers. It
	// is closed when the log has an entry after it. A period without entries has no
	// document.
	Period time.Duration

	// AfterBaseline makes the documents of the newest generation begin after the Baseline
	// of its Head.
	AfterBaseline bool

	// Settings identifies everything besides the log and the Locator that changes closed
	// documents. Other Settings give them other paths.
	Settings string

	mu   sync.Mutex
	view view
}

// A view is what a Chain knows of the newest generation of the log.
type view struct {
	generation uint64
	first      time.Time   // of the generation: another log can have the same number
	start      websync.Seq // its documents list what is after it
	last       websync.Seq // in the latest Head
	// times of the commits at multiples of Size, in microseconds; if 0, not known
	times []int64
	// by the number of their end: closed documents of a Chain with a Period
	cuts map[websync.Seq]cut

	// the range of numbers whose refused items were reported
	reportedAfter, reported websync.Seq
}

// A cut is where a closed document begins, and the time of the commit at its end, in
// microseconds.
type cut struct {
	after websync.Seq
	micro int64
}

// A Segment is the part of the log that one document of a Chain lists, in the state that
// its ETag names: the entries with After < Seq <= Last. If Last is 0, the log is empty.
type Segment struct {
	Generation  uint64
	After, Last websync.Seq
	Time        time.Time // of the commit Last; zero if the log is empty
	Closed      bool      // no entry will be added to the range

	// State is the end of the log when the document was requested.
	State Position

	start websync.Seq // of the chain: no document lists an entry up to it
	chain *Chain
}

// head returns the Head of the log. If the log has been replaced, it drops the view.
func (c *Chain) head(ctx context.Context) (websync.Head, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	head, err := c.Site.Head(ctx)
	if err != nil {
		return head, err
	}
	v := &c.view
	if v.generation != head.Generation || !v.first.Equal(head.FirstTime) || v.last > head.Last {
		*v = view{generation: head.Generation, first: head.FirstTime}
	}
	v.last = head.Last
	if c.AfterBaseline {
		v.start = head.Baseline
	}
	return head, nil
}

// start returns the number up to which no document of a generation lists entries.
func (c *Chain) start(generation uint64) websync.Seq {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.view.generation != generation {
		return 0
	}
	return c.view.start
}

// Whole returns the document of the whole log, and the Head of the log.
func (c *Chain) Whole(ctx context.Context) (Segment, websync.Head, error) {
	head, err := c.head(ctx)
	d := Segment{Generation: head.Generation, Last: head.Last, Time: head.LastTime, State: end(head), chain: c}
	if c.AfterBaseline {
		d.start = head.Baseline
	}
	d.After = d.start
	return d, head, err
}

// Open returns the open document. It begins at the same number as the latest closed
// document, so that it always lists recent entries. If history is positive, it begins
// early enough to list all entries of that time before the last commit.
func (c *Chain) Open(ctx context.Context, history time.Duration) (Segment, error) {
	d, head, err := c.Whole(ctx)
	if err != nil || head.Last == 0 {
		return d, err
	}
	after, err := c.begin(ctx, d.Generation, d.Last)
	d.After = max(after, d.start)
	if err == nil && d.HasPrevious() && d.Last-d.After < c.Size {
		var latest Segment
		latest, err = c.at(ctx, d.Generation, d.After)
		d.After = latest.After
	}
	for err == nil && d.HasPrevious() && history > 0 {
		var before Segment
		before, err = c.at(ctx, d.Generation, d.After)
		if before.Time.Before(head.LastTime.Add(-history)) {
			break
		}
		d.After = before.After
	}
	if err != nil {
		return d, c.Site.CatalogError(err)
	}
	return d, nil
}

// A name is what the path of a closed document states.
type name struct {
	generation uint64
	id         string
	n          uint64
}

// parse returns the name in a path.
func (c *Chain) parse(path string) (a name, ok bool) {
	id, n, ok := c.Site.ParseNumbered(path)
	generation, id, _ := strings.Cut(id, "-")
	a = name{id: id, n: n}
	var err error
	a.generation, err = strconv.ParseUint(generation, 10, 64)
	return a, ok && err == nil && a.generation > 0 && strconv.FormatUint(a.generation, 10) == generation && IsHash(id)
}

// IsClosed reports whether a path can be that of a closed document.
func (c *Chain) IsClosed(path string) bool {
	_, ok := c.parse(path)
	return ok
}

// Closed returns the closed document at a path. The error is ErrNotFound if there is none
// yet, and ErrGone if the log or the settings are no longer those of the path.
func (c *Chain) Closed(ctx context.Context, path string) (Segment, error) {
	a, _ := c.parse(path)
	head, err := c.head(ctx)
	if err != nil {
		return Segment{}, err
	}
	const most = 1<<63 - 1
	if a.generation > head.Generation || a.n > most/uint64(c.Size) {
		return Segment{}, c.Site.DocumentError(path, websync.ErrNotFound)
	}
	d, err := c.at(ctx, a.generation, c.numberOf(a.n))
	d.State = end(head)
	switch {
	case errors.Is(err, errOpen):
		return d, c.Site.DocumentError(path, websync.ErrNotFound)
	case errors.Is(err, websync.ErrNotFound), errors.Is(err, errInside):
		return d, c.Site.DocumentError(path, websync.ErrGone)
	case err != nil:
		return d, c.Site.CatalogError(err)
	case a.id != d.ID():
		return d, c.Site.DocumentError(path, websync.ErrGone)
	}
	return d, nil
}

var (
	// errOpen is the error for a closed document whose end the log has not reached.
	errOpen = errors.New("the log ends before the document does")
	// errInside is the error for a number at which no document ends.
	errInside = errors.New("no document ends there")
)

// numberOf returns the end of the closed document with a number in its path: the number
// of the document, or its end if there is a Period.
func (c *Chain) numberOf(n uint64) websync.Seq {
	if c.Period > 0 {
		return websync.Seq(n)
	}
	return websync.Seq(n) * c.Size
}

// at returns the closed document of a generation that ends with an entry. The error is
// errOpen, errInside or that of the Catalog, which is ErrNotFound for a dropped
// generation.
func (c *Chain) at(ctx context.Context, generation uint64, last websync.Seq) (Segment, error) {
	start := c.start(generation)
	if last <= start {
		return Segment{chain: c}, errInside
	}
	k, err := c.cut(ctx, generation, last)
	t := time.UnixMicro(k.micro).UTC()
	d := Segment{Generation: generation, After: max(k.after, start), Last: last, Time: t, Closed: true, start: start, chain: c}
	return d, err
}

// cut is at without the Segment.
func (c *Chain) cut(ctx context.Context, generation uint64, last websync.Seq) (cut, error) {
	if k, ok := c.knownCut(generation, last); ok {
		return k, nil
	}
	t, err := c.commitTime(ctx, generation, last)
	if err != nil {
		return cut{}, err
	}
	after, err := c.begin(ctx, generation, last)
	if err != nil {
		return cut{}, err
	}
	k := cut{after, t.UnixMicro()}
	if last-after == c.Size {
		c.noteCut(generation, last, k)
		return k, nil
	}
	if c.Period <= 0 {
		return k, errInside
	}
	switch next, err := c.commitTime(ctx, generation, last+1); {
	case err != nil:
		return k, err
	case next.Before(t.Truncate(c.Period).Add(c.Period)):
		return k, errInside
	}
	c.noteCut(generation, last, k)
	return k, nil
}

// begin returns the number before the first of the document that holds an entry, and, of
// this and earlier entries, no other.
func (c *Chain) begin(ctx context.Context, generation uint64, seq websync.Seq) (websync.Seq, error) {
	if c.Period <= 0 {
		return (seq - 1) / c.Size * c.Size, nil
	}
	t, err := c.commitTime(ctx, generation, seq)
	if err != nil {
		return 0, err
	}
	start := t.Truncate(c.Period)
	before, err := c.search(ctx, generation, seq-1, func(t time.Time) bool { return !t.Before(start) })
	return before + (seq-1-before)/c.Size*c.Size, err
}

// next returns the end of the closed document that begins after an entry; 0 if there is
// none yet.
func (c *Chain) next(ctx context.Context, head websync.Head, after websync.Seq) (websync.Seq, error) {
	full := after + c.Size
	if c.Period > 0 && after < head.Last {
		t, err := c.commitTime(ctx, head.Generation, after+1)
		if err != nil {
			return 0, err
		}
		end := t.Truncate(c.Period).Add(c.Period)
		last, err := c.search(ctx, head.Generation, head.Last, func(t time.Time) bool { return !t.Before(end) })
		if err != nil || last < head.Last {
			return min(full, last), err
		}
	}
	if full > head.Last {
		return 0, nil
	}
	return full, nil
}

// commitTime returns the time of a commit of a generation.
func (c *Chain) commitTime(ctx context.Context, generation uint64, seq websync.Seq) (time.Time, error) {
	if t := c.knownTime(generation, seq); t != 0 {
		return time.UnixMicro(t).UTC(), nil
	}
	for item, err := range c.Site.Catalog.Changes(ctx, websync.Range{Generation: generation, After: seq - 1, Until: seq}) {
		if err == nil {
			c.noteTime(generation, seq, item.Time.UnixMicro())
		}
		return item.Time, err
	}
	return time.Time{}, errOpen
}

// knownTime returns the time of a commit in microseconds; 0 if it is not known.
func (c *Chain) knownTime(generation uint64, seq websync.Seq) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := int(seq/c.Size) - 1
	if c.view.generation != generation || seq%c.Size != 0 || i >= len(c.view.times) {
		return 0
	}
	return c.view.times[i]
}

// noteTime records the time of a commit that ends a document.
func (c *Chain) noteTime(generation uint64, seq websync.Seq, micro int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := &c.view
	if v.generation != generation || seq%c.Size != 0 || seq > v.last {
		return
	}
	i := int(seq/c.Size) - 1
	if missing := i + 1 - len(v.times); missing > 0 {
		v.times = append(v.times, make([]int64, missing)...)
	}
	v.times[i] = micro
}

// knownCut returns a closed document that was found before.
func (c *Chain) knownCut(generation uint64, last websync.Seq) (k cut, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.view.generation == generation {
		k, ok = c.view.cuts[last]
	}
	return k, ok
}

// noteCut records a closed document.
func (c *Chain) noteCut(generation uint64, last websync.Seq, k cut) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := &c.view
	if c.Period <= 0 || v.generation != generation || last > v.last {
		return
	}
	if v.cuts == nil {
		v.cuts = make(map[websync.Seq]cut)
	}
	v.cuts[last] = k
}

// Numbered returns the paths of the closed documents of the newest generation.
func (c *Chain) Numbered(ctx context.Context) Numbered {
	generation, last := uint64(0), websync.Seq(0)
	return func(n uint64) (string, bool, error) {
		head, err := c.head(ctx)
		if n == 1 {
			generation, last = head.Generation, 0
		}
		switch {
		case err != nil:
			return "", false, err
		case head.Generation != generation:
			return "", false, c.Site.NewGeneration()
		}
		for start := last; last == start || last <= c.start(generation); {
			if last, err = c.next(ctx, head, last); err != nil {
				return "", false, c.Site.CatalogError(err)
			}
			if last == 0 {
				return "", false, nil
			}
		}
		d, err := c.at(ctx, generation, last)
		if err != nil {
			return "", false, c.Site.CatalogError(err)
		}
		return d.Path(), true, nil
	}
}

// ID returns a hash of everything that decides what the document holds: the settings, the
// state of the log, and more. The entries of a generation up to a number never change;
// the time of the commit distinguishes them from those of another Catalog.
func (d *Segment) ID(more ...string) string {
	c := d.chain
	if d.start > 0 && d.After == d.start {
		more = append(slices.Clip(more), strconv.FormatUint(uint64(d.start), 10))
	}
	return Hash(fmt.Appendf(nil, "%s %d %d %d %q %q",
		c.Settings, d.Generation, d.Last, d.Time.UnixMicro(), c.Site.Key(), more))
}

// ETag returns the ETag of the document, which also depends on more.
func (d *Segment) ETag(more ...string) string { return fmt.Sprintf("%s-%d", d.ID(more...), d.Last) }

// IndexPath returns the path of an index of the documents.
func (c *Chain) IndexPath() string { return c.Site.Beside("index") }

// Path returns the path of the document: that of the Site, unless it is closed.
func (d *Segment) Path() string {
	if !d.Closed {
		return d.chain.Site.Root
	}
	n := uint64(d.Last)
	if d.chain.Period <= 0 {
		n /= uint64(d.chain.Size)
	}
	return d.chain.Site.Numbered(strconv.FormatUint(d.Generation, 10)+"-"+d.ID(), n)
}

// HasPrevious reports whether there is a closed document that ends where this one begins.
func (d *Segment) HasPrevious() bool { return d.After > d.start }

// Previous returns the closed document that ends where this one begins. ok is false if
// there is none.
func (d *Segment) Previous(ctx context.Context) (before Segment, ok bool, err error) {
	if !d.HasPrevious() {
		return Segment{}, false, nil
	}
	before, err = d.chain.at(ctx, d.Generation, d.After)
	if err != nil {
		return Segment{}, false, d.error(err)
	}
	return before, true, nil
}

// From returns the time from which on the document lists every change: that of the last
// commit before its range. It is zero if there is none: the log lists whatever has
// changed since the beginning of time.
func (d *Segment) From(ctx context.Context) (time.Time, error) {
	if d.After == 0 {
		return time.Time{}, nil
	}
	t, err := d.chain.commitTime(ctx, d.Generation, d.After)
	if err != nil {
		return t, d.error(err)
	}
	return t, nil
}

// error returns the error for one of the Catalog: ErrGone if the generation of a closed
// document was dropped after the request.
func (d *Segment) error(err error) error {
	if d.Closed && errors.Is(err, websync.ErrNotFound) {
		return d.chain.Site.DocumentError(d.Path(), websync.ErrGone)
	}
	return d.chain.Site.CatalogError(err)
}

// Entries yields all entries in the range of the document, in their order, as
// Site.Resources does.
func (d *Segment) Entries(ctx context.Context, refuse Refuse) Items {
	s := d.chain.Site
	r := websync.Range{Sources: s.Sources, Generation: d.Generation, After: d.After, Until: d.Last}
	if d.Last == 0 { // and not a range without an end
		return func(func(*websync.Item, error) bool) {}
	}
	return s.Items(s.Catalog.Changes(ctx, r), d.error, refuse)
}

// Priors returns for each item the entry that its Prior names; nil if the Prior is 0.
func (d *Segment) Priors(ctx context.Context, items []*websync.Item) ([]*websync.Item, error) {
	var seqs []websync.Seq
	for _, item := range items {
		if item.Prior > 0 {
			seqs = append(seqs, item.Prior)
		}
	}
	found, err := d.EntriesAt(ctx, seqs)
	if err != nil {
		return nil, err
	}
	priors := make([]*websync.Item, len(items))
	for i, item := range items {
		if item.Prior == 0 {
			continue
		}
		priors[i] = found[item.Prior]
		if p := priors[i]; p == nil || p.Source != item.Source || p.Resource.ID != item.Resource.ID {
			return nil, d.error(fmt.Errorf("%w: entry %d has the Prior %d, which is no entry of %.200q",
				websync.ErrCatalog, item.Seq, item.Prior, item.Resource.ID))
		}
	}
	return priors, nil
}

// EntriesAt returns the entries with the given numbers, as far as they exist. It sorts
// the numbers.
func (d *Segment) EntriesAt(ctx context.Context, seqs []websync.Seq) (map[websync.Seq]*websync.Item, error) {
	const near = 16 // so many entries are read in less time than another range
	slices.Sort(seqs)
	found := make(map[websync.Seq]*websync.Item, len(seqs))
	for len(seqs) > 0 {
		n := 1
		for n < len(seqs) && seqs[n]-seqs[n-1] <= near {
			n++
		}
		if err := d.read(ctx, seqs[:n], found); err != nil {
			return nil, err
		}
		seqs = seqs[n:]
	}
	return found, nil
}

// read reads the entries with the given numbers, which are in ascending order.
func (d *Segment) read(ctx context.Context, seqs []websync.Seq, found map[websync.Seq]*websync.Item) error {
	r := websync.Range{Generation: d.Generation, After: seqs[0] - 1, Until: seqs[len(seqs)-1]}
	for item, err := range d.chain.Site.Catalog.Changes(ctx, r) {
		if err == nil {
			err = item.Check()
		}
		if err != nil {
			return d.error(err)
		}
		if _, wanted := slices.BinarySearch(seqs, item.Seq); wanted {
			d.chain.Site.fit(&item, d.chain.Site.longest)
			found[item.Seq] = &item
		}
	}
	return nil
}

// Entry returns the entry with a number; nil if there is none.
func (d *Segment) Entry(ctx context.Context, seq websync.Seq) (*websync.Item, error) {
	found := make(map[websync.Seq]*websync.Item)
	err := d.read(ctx, []websync.Seq{seq}, found)
	return found[seq], err
}

// Since returns the document of those entries that were committed at a time or later.
func (d *Segment) Since(ctx context.Context, t time.Time) (Segment, error) {
	recent := *d
	before, err := d.chain.search(ctx, d.Generation, d.Last, func(at time.Time) bool { return !at.Before(t) })
	if err != nil {
		return recent, d.error(err)
	}
	recent.After = max(d.After, before)
	return recent, nil
}

// FromStart returns the document of all entries from the first to the last of this one.
func (d *Segment) FromStart() Segment {
	all := *d
	all.After = 0
	return all
}

// Latest returns the latest entry of each id in the range of the document, the latest
// first. It passes items that must not be listed to refuse.
func (d *Segment) Latest(ctx context.Context, refuse Refuse) ([]*websync.Item, error) {
	const most = 2000
	items := make([]websync.Item, 0, min(d.Last-d.After, most))
	for item, err := range d.Entries(ctx, nil) {
		if err != nil {
			return nil, err
		}
		items = append(items, *item)
	}
	latest := make([]*websync.Item, 0, len(items))
	seen := make(map[string]bool, len(items))
	for i := len(items) - 1; i >= 0; i-- {
		item := &items[i]
		if why := d.chain.Site.Refusal(item); why != nil {
			refuse(item, why)
		} else if !seen[item.Resource.ID] {
			seen[item.Resource.ID] = true
			latest = append(latest, item)
		}
	}
	return latest, nil
}

// Current returns those of the items that no later entry of their id supersedes. Unlike
// the range of the document, the result depends on its State: call CheckUnchanged.
func (d *Segment) Current(ctx context.Context, items []*websync.Item) ([]*websync.Item, error) {
	current, err := d.chain.Site.Current(ctx, items)
	if err != nil {
		return nil, err
	}
	latest := items[:0]
	for i, item := range items {
		if !current[i].Time.After(item.Time) { // a generation keeps the times of the one before
			latest = append(latest, item)
		}
	}
	return latest, nil
}

// CheckUnchanged returns ErrConflict if the log has changed since the document was
// requested.
func (d *Segment) CheckUnchanged(ctx context.Context) error {
	head, err := d.chain.head(ctx)
	if err != nil {
		return err
	}
	if at := end(head); at.String() != d.State.String() {
		return d.chain.Site.DocumentError(d.chain.Site.Root, websync.ErrConflict)
	}
	return nil
}

// IsReported reports whether a document with the entry seq was written before, so that
// its refusal was reported. Entries of an older generation need no report.
func (d *Segment) IsReported(seq websync.Seq) bool {
	c := d.chain
	c.mu.Lock()
	defer c.mu.Unlock()
	v := &c.view
	return v.generation != d.Generation || v.reportedAfter < seq && seq <= v.reported
}

// SetReported records that the document was written. It keeps a single range, which
// suffices because documents are written one after the other, in either order.
func (d *Segment) SetReported() {
	c := d.chain
	c.mu.Lock()
	defer c.mu.Unlock()
	v := &c.view
	switch {
	case v.generation != d.Generation:
	case v.reported == 0:
		v.reportedAfter, v.reported = d.After, d.Last
	case d.After <= v.reported && v.reportedAfter <= d.Last:
		v.reportedAfter, v.reported = min(v.reportedAfter, d.After), max(v.reported, d.Last)
	}
}
