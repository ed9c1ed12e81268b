package atom

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/xmlscan"
)

// A walk is one run over the documents of a feed. It reads them from the newest to the
// oldest. Then it yields the latest states in each, from the oldest document to the
// newest.
type walk struct {
	*docfetch.Pass
	source *Source
	each   func(*Entry) error // if set, gets the entries instead of events being yielded

	from checkpoint
	next checkpoint

	file    spool.File // the documents
	held    int        // bytes of what they state of themselves
	cache   docfetch.Cache
	recheck bool    // cached documents are requested again, too
	pages   []*page // those added to latest, the newest first
	latest  *latest
	set     docfetch.Set
	// times of the last entry and the last tombstone that have one
	last  [2]websync.Datetime
	floor websync.Datetime // of the oldest entry of the earlier pages
	// an item is later than the one of its kind before it, or than floor
	rises bool
	// times of the newest and the oldest item of the pages
	newest, lowest websync.Datetime
	// a page has an item that is later than one on a newer page
	disorder bool

	// what the documents list counts, whatever its time
	current bool

	ended   bool      // the walk has reached the end of the chain
	reached bool      // the walk has reached the archive document in the checkpoint
	now     time.Time // by the server's clock; zero: not stated
	done    bool      // all that was read has been yielded

	open    bool           // linked content may change while its entry stays as it is
	tally   docfetch.Tally // of the entries that were yielded
	inline  spool.File     // long inline content of the entries since the last Mark
	pending int            // bytes of all inline content since then
	given   int            // events since then
}

// A page is one document of a walk.
type page struct {
	docfetch.Document
	n int // in the walk, from 0, the subscription document

	foreign  bool // not Atom
	id       string
	updated  websync.Datetime // of the feed
	whole    bool             // fh:complete
	archived bool             // fh:archive
	// why the document is only a page although it is marked as complete; "" if it is not
	part       string
	self       string
	prev, next string            // prev-archive and next
	forks      map[string]string // by relation: the second target, if there are two
	newer      []string          // targets of next-archive, previous and prev
	inherited  *Feed             // what the entries inherit; documents may share it
	fault      error             // from SourceProfile.Feed
	size       int64             // decompressed
	items      int

	last  [2]websync.Datetime // those of the walk before the first item
	rises bool

	known  int                 // items that an earlier run has yielded
	oldest [2]websync.Datetime // of the entries and of the tombstones
	newest websync.Datetime    // of both
}

func newPage(url string, n int) *page {
	return &page{Document: docfetch.Document{URL: url}, n: n}
}

// isPaged reports whether a subscription document is the first of several pages.
func (p *page) isPaged() bool { return p.prev == "" && p.next != "" }

// run yields the feed, and removes its temporary files.
func (w *walk) run(ctx context.Context) error {
	err := w.begin()
	if err == nil {
		err = errors.Join(w.all(ctx), w.forget())
	}
	if w.inline.Size() > 0 && !errors.Is(err, docfetch.ErrStopped) {
		// inline content can't be opened afterwards
		err = errors.Join(err, w.mark(0))
	}
	err = errors.Join(err, w.inline.Close())
	if w.done {
		err = errors.Join(err, w.cache.Empty())
	}
	return err
}

// begin restores the state that earlier runs have left.
func (w *walk) begin() error {
	options := w.source.options()
	var c checkpoint
	id := w.source.FeedID
	if docfetch.ReadCheckpoint(w.From, checkpointVersion, &c) && c.Options == options && (id == "" || id == c.ID) {
		w.from = c
	}
	w.next = w.from
	w.next.Options, w.next.Ordered, w.next.Validators = options, false, docfetch.Validators{}
	w.recheck = w.cache.InDoubt()
	if w.Full {
		return w.cache.Empty()
	}
	return nil
}

// forget removes what the walk has read so far.
func (w *walk) forget() error {
	err := errors.Join(w.latest.close(), w.file.Close())
	w.pages, w.set, w.held, w.ended = nil, docfetch.Set{}, 0, false
	w.last, w.floor, w.rises = [2]websync.Datetime{}, websync.Datetime{}, false
	w.newest, w.lowest, w.disorder, w.open = websync.Datetime{}, websync.Datetime{}, false, false
	return err
}

// all yields the feed. An error ends the run.
func (w *walk) all(ctx context.Context) error {
	const most = 3 // passes, if the feed is replaced while it is read
	for n := 1; ; n++ {
		again, err := w.pass(ctx, n < most)
		if err != nil || !again {
			return err
		}
		if err := w.forget(); err != nil {
			return err
		}
	}
}

// pass reads the feed once and yields it. It returns true if the feed was replaced
// meanwhile and must be read again.
func (w *walk) pass(ctx context.Context, mayAgain bool) (again bool, err error) {
	w.latest = newLatest()
	head, err := w.head(ctx)
	if err != nil {
		return false, err
	}
	if head == nil {
		w.done = true
		return false, w.Mark(w.From, w.from.Skipped)
	}
	if fault := cmp.Or(head.fault, w.otherFeed(head)); fault != nil {
		return false, w.Problem(fault)
	}
	if head.archived && head.Final != head.URL {
		return false, w.Problem(w.Named(head.URL, fmt.Errorf("redirects to %s, which is an archive document", head.Final)))
	}
	w.next.ID = head.id
	switch {
	case head.whole && head.part == "":
		return false, w.snapshot(head)
	case head.whole && head.part == prevArchive && w.source.archivesChange():
		return false, w.wholeArchive(ctx, head)
	case head.whole:
		w.Report(ruleCompletePaged.Finding(head.URL, 0, 0, "complete", nil,
			"a complete feed with "+head.part+" is read as one of several documents, and deletes nothing"))
	}
	w.checkNewer(head)
	switch {
	case head.prev != "":
		return w.archive(ctx, head, mayAgain)
	case head.isPaged():
		return w.paged(ctx, head, mayAgain)
	}
	return false, w.yieldPages(nil)
}

// checkNewer reports links from the subscription document to newer documents.
func (w *walk) checkNewer(head *page) {
	for _, to := range head.newer {
		if to != "" && to != head.URL && to != head.Final {
			w.Report(ruleUnread.Finding(head.URL, 0, 0, "link", []byte(to),
				"a newer document is not read: only links to older ones are followed"))
		}
	}
}

// otherFeed returns an error if a document belongs to another feed than the one that is
// harvested.
func (w *walk) otherFeed(p *page) error {
	want := cmp.Or(w.source.FeedID, w.next.ID)
	if want != "" && p.id != want {
		return w.Named(p.URL,
			fmt.Errorf("the feed id is %.200q, and must be %.200q", websync.RedactURL(p.id), websync.RedactURL(want)))
	}
	return nil
}

// archive walks an archived feed and yields it.
func (w *walk) archive(ctx context.Context, head *page, mayAgain bool) (again bool, err error) {
	if mended, err := w.isMended(ctx); err != nil {
		return false, err
	} else if mended {
		w.from.Archive = "" // so that the walk reads all documents
	}
	hole, err := w.followArchive(ctx, head)
	if err != nil {
		return false, err
	}
	if errors.Is(hole, errMoved) && mayAgain {
		return true, nil
	}
	if hole != nil && mayAgain {
		now, err := w.headAgain(ctx, head)
		if err != nil && !docfetch.IsOfDocument(err) {
			return false, err
		}
		if now != nil && now.prev != head.prev {
			return true, nil
		}
	}
	return false, w.yieldPages(hole)
}

// followArchive is follow for an archived feed. An archive that changes while it is read
// is a hole, which is errMoved.
func (w *walk) followArchive(ctx context.Context, head *page) (hole, err error) {
	hole, err = w.follow(ctx, head, prevArchive)
	if hole != nil || err != nil || !w.source.archivesChange() {
		return hole, err
	}
	p, err := w.gained(ctx)
	switch {
	case docfetch.IsOfDocument(err):
		return err, nil
	case p != nil && err == nil:
		return w.Named(p.URL, errMoved), nil
	}
	return nil, err
}

var errMoved = errors.New("the archive changes while it is read: entries may have moved out of sight")

// gained returns an archive document that has gained an item since it was read, one that
// the walk does not have; nil if there is none. The item was in an older document then,
// and no longer when that was read. A document is not requested if the next older one is
// as it was when the walk began.
func (w *walk) gained(ctx context.Context) (*page, error) {
	for k := 1; k+1 < len(w.pages); k++ {
		if modified, err := time.Parse(docfetch.HTTPDate, w.pages[k+1].LastModified); err == nil && modified.Before(w.now) {
			continue
		}
		more := false
		p := newPage(w.pages[k].URL, k)
		err := w.load(ctx, p, w.pages[k].Validators, func(p *page) error {
			_, err := w.parse(p, nil, func(i int, c *candidate) error {
				lacks, err := w.latest.lacks(c.id, c.state(p, i))
				more = more || lacks
				return err
			})
			return err
		})
		if err != nil || more {
			return p, err
		}
	}
	return nil, nil
}

// wholeArchive walks an archived feed whose subscription document is marked as complete,
// and yields it. What no document lists is gone if no older document has a live entry
// that the subscription document lacks.
func (w *walk) wholeArchive(ctx context.Context, head *page) error {
	hole, err := w.followArchive(ctx, head)
	if err != nil {
		return err
	}
	elsewhere, err := w.latest.hasEntryAfter(head.n)
	switch {
	case err != nil:
		return err
	case elsewhere:
		w.Report(ruleCompletePaged.Finding(head.URL, 0, 0, "complete", nil,
			"a complete feed that lacks entries of its archive is read as one of several documents, and deletes nothing"))
	case hole == nil:
		return w.snapshot(head)
	}
	return w.yieldPages(hole)
}

// paged walks a paged feed and yields it.
func (w *walk) paged(ctx context.Context, head *page, mayAgain bool) (again bool, err error) {
	if w.isKnownAfter(head) {
		return false, w.yieldPages(nil)
	}
	hole, err := w.follow(ctx, head, nextPage)
	if err != nil {
		return false, err
	}
	changed, err := w.hasChanged(ctx, head)
	switch {
	case err != nil && !docfetch.IsOfDocument(err):
		return false, err
	case changed && mayAgain:
		return true, nil
	case changed && w.source.AcceptGaps:
		w.Report(rulePages.Finding(head.URL, 0, 0, "feed", nil, changing))
	case changed:
		err = w.Named(head.URL, errors.New(changing))
	}
	if hole == nil {
		hole = err
	}
	return false, w.yieldPages(hole)
}

const changing = "the feed changes while its pages are read: entries may have moved out of sight"

// isKnownAfter reports whether all pages after p are known: the items so far go from the
// latest to the oldest, and p has an entry that is older than the checkpoint. The time of
// a tombstone does not count, since old tombstones may all be on the first page. If an
// item was skipped, or nothing is as late as the checkpoint because times have moved
// back, none is known.
func (w *walk) isKnownAfter(p *page) bool {
	from := &w.from
	return from.Ordered && from.Skipped == 0 && !w.rises && !w.newest.Before(from.Time) && p.oldest[0].Before(from.Time)
}

// isOlder reports whether an earlier run has yielded p and all older documents, as far as
// the times show that. If nothing is as late as what that run has yielded, or a document
// has later items than a newer one, the times show nothing. Nor do they if the server
// does not state its own: then the latest of that run may be one in the future.
func (w *walk) isOlder(p *page) bool {
	from := &w.from
	return w.source.archivesChange() && from.Ordered && from.Skipped == 0 && !w.disorder && !w.now.IsZero() &&
		!p.newest.IsZero() && p.newest.Before(from.Time) && !w.newest.Before(from.Time)
}

// The relations of the links that lead to older documents.
const (
	prevArchive = "prev-archive"
	nextPage    = "next"
)

// maxHeld limits what a walk holds of what its documents state of themselves, in bytes:
// until its end, that of all of them is in memory.
const maxHeld = 64 << 20

// hold counts what p states of itself, the document after another one, whose links are
// followed: they are forgotten, but for those of the head.
func (w *walk) hold(p, before, head *page) (hole error) {
	if before != head {
		before.id, before.self, before.prev, before.next, before.forks, before.newer = "", "", "", "", nil, nil
	}
	w.held += len(p.URL) + len(p.Final) + len(p.ContentType) + len(p.ETag) + len(p.LastModified)
	if p.inherited != before.inherited {
		w.held += inheritedSize(p.inherited)
	}
	if w.held <= maxHeld {
		return nil
	}
	const format = "the URLs and authors of the documents are longer than %d bytes: %w"
	return w.Named(p.URL, fmt.Errorf(format, maxHeld, websync.ErrLimit))
}

// A chainWalk is a walk over the documents that links of one relation lead to.
type chainWalk struct {
	*walk
	rel        string
	redirected *page // the first redirected one, without the first document, unless known
	known      bool  // a document links to the archive document in the checkpoint
}

// follow walks on from head, over prev-archive or over next, until it reaches what an
// earlier run has processed, or the end of the chain. If a hole prevents that, it returns
// the reason as hole. err ends the run.
func (w *walk) follow(ctx context.Context, head *page, rel string) (hole, err error) {
	w.set.Ask(docfetch.KeyOf(head.URL))
	w.set.Read(&head.Document)
	c := &chainWalk{walk: w, rel: rel}
	for p := head; ; {
		link, ends := p.next, c.endsPages
		if rel == prevArchive {
			link, ends = p.prev, c.endsArchive
		}
		if fork := p.forks[rel]; fork != "" {
			return w.Named(p.URL, fmt.Errorf("two links %s: to %s and to %s", rel, link, fork)), nil
		}
		if end, hole := ends(p, link); end || hole != nil {
			return hole, nil
		}
		key := docfetch.KeyOf(link)
		if w.set.Asked(key) || w.set.ReadAs(key) != "" {
			return w.Named(p.URL, fmt.Errorf("%s leads back to %s", rel, link)), nil
		}
		if hole := w.CheckLimit(p.URL, len(w.pages), w.source.MaxDocuments); hole != nil {
			return hole, nil
		}
		w.set.Ask(key)
		before := p
		if p, err = w.older(ctx, link, rel); docfetch.IsOfDocument(err) {
			return err, nil
		}
		if err != nil {
			return nil, err
		}
		if hole := w.hold(p, before, head); hole != nil {
			return hole, nil
		}
		w.set.Read(&p.Document)
		if c.redirected == nil && !c.known && p.Final != p.URL {
			c.redirected = p
		}
	}
}

// endsArchive reports whether the walk over an archive ends at p, whose link to an older
// document is link.
func (c *chainWalk) endsArchive(p *page, link string) (end bool, hole error) {
	last, policy := c.from.Archive, c.source.Profile.Archives
	if c.known = c.known || link != "" && link == last; c.known {
		c.redirected = nil
	}
	switch {
	case link != "" && link == last && policy == ArchivesStay:
		c.reached = true
	case link == "" && last != "" && c.redirected != nil:
		to := c.redirected
		return false, c.Named(to.URL,
			fmt.Errorf("redirects to %s, and the archive ends without %s, which an earlier run has read", to.Final, last))
	case link == "":
		c.ended = true
	case c.redirected == nil && (c.known || policy == ArchivesMove) && c.isOlder(p):
		c.reached = true
	default:
		return false, nil
	}
	return true, nil
}

// endsPages reports whether the walk over pages ends at p, whose link to the next one is
// link.
func (c *chainWalk) endsPages(p *page, link string) (end bool, hole error) {
	if link == "" {
		c.ended = true
	}
	return link == "" || c.isKnownAfter(p), nil
}

// hasChanged reports whether the subscription document now has other items.
func (w *walk) hasChanged(ctx context.Context, head *page) (bool, error) {
	now, err := w.headAgain(ctx, head)
	if now == nil || err != nil {
		return false, err
	}
	before, err := w.sum(head)
	if err != nil {
		return false, err
	}
	after, err := w.sum(now)
	return before != after, err
}

// sum returns a digest of the items of a document.
func (w *walk) sum(p *page) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	_, err = w.parse(p, nil, func(_ int, c *candidate) error {
		_, err := fmt.Fprintf(h, "%q %v %t\n", c.id, c.at, c.deleted)
		return err
	})
	return [sha256.Size]byte(h.Sum(nil)), err
}

// head reads the subscription document; nil if it has not changed since the last run.
func (w *walk) head(ctx context.Context) (*page, error) {
	p := newPage(w.source.URL, 0)
	if err := w.load(ctx, p, w.from.Validators, w.read); p.NotModified || err != nil {
		return nil, err
	}
	return p, nil
}

// headAgain reads the subscription document a second time; nil if it has not changed.
func (w *walk) headAgain(ctx context.Context, head *page) (*page, error) {
	p := newPage(head.URL, 0)
	err := w.load(ctx, p, head.Validators, func(p *page) error {
		r, err := w.parse(p, nil, func(int, *candidate) error { return nil })
		if err == nil {
			w.describe(p, r, nil)
		}
		return err
	})
	if p.NotModified || err != nil {
		return nil, err
	}
	return p, nil
}

// older reads the next document of a walk. An archive document never changes, so it is
// not requested if an earlier run has read it, unless that run ended at a hole: then the
// publisher may have repaired any of them. The kept document is used if the server has
// not changed it, or the new one can't be read. If archives change, it is used only if
// the server has not changed it.
func (w *walk) older(ctx context.Context, url, rel string) (*page, error) {
	var kept *page
	archive := rel == prevArchive
	if archive {
		if doc, ok := w.cache.Take(url, &w.file); ok {
			kept = &page{Document: doc, n: len(w.pages)}
		}
	}
	changes := w.source.archivesChange()
	if kept != nil && !w.recheck && !changes {
		if err := w.read(kept); !docfetch.IsOfDocument(err) {
			return kept, err
		}
		kept = nil
	}
	p := newPage(url, len(w.pages))
	var known docfetch.Validators
	if kept != nil {
		known = kept.Validators
	}
	err := w.load(ctx, p, known, w.read)
	switch {
	case kept != nil && (p.NotModified || docfetch.IsOfDocument(err) && !changes):
		return kept, w.read(kept)
	case err != nil || !archive || p.Skipped > 0:
		return p, err
	}
	return p, w.cache.Put(&p.Document)
}

// load loads a document into the walk's file and calls read. An error of the document
// itself is a *docfetch.Error.
func (w *walk) load(ctx context.Context, p *page, known docfetch.Validators, read func(*page) error) error {
	return w.Load(ctx, &p.Document, known, w.source.MaxBytes, &w.file, func() error {
		if p.n == 0 {
			w.now = p.Date
		}
		return read(p)
	})
}

// read checks a document, reports its departures and adds it to the pages. If the
// document is broken, read leaves nothing of it.
func (w *walk) read(p *page) error {
	w.latest.twins = nil
	p.last, p.rises = w.last, w.rises
	r, err := w.parse(p, w.Report, func(i int, c *candidate) error { return w.add(p, i, c) })
	w.describe(p, r, w.Report)
	if err == nil {
		err = w.compareTwins(p)
	}
	if err == nil && p.n > 0 {
		if fault := cmp.Or(p.fault, w.otherFeed(p), w.otherDocument(p)); fault != nil {
			err = &docfetch.Error{Err: fault}
		}
	}
	switch {
	case err == nil:
		w.pages = append(w.pages, p)
		w.floor = earlier(w.floor, p.oldest[0])
		w.disorder = w.disorder || !w.lowest.IsZero() && w.lowest.Before(p.newest)
		w.lowest = earlier(earlier(w.lowest, p.oldest[0]), p.oldest[1])
		w.newest = later(w.newest, p.newest)
	case p.items > 0 && docfetch.IsOfDocument(err):
		if fault := w.addAgain(); fault != nil {
			return fault
		}
	}
	return err
}

// compareTwins reports entries of a document that differ from one with the same id,
// though no time tells which is the newer one. Source.Parser has left out those of other
// formats.
func (w *walk) compareTwins(p *page) error {
	twins := w.latest.twins
	if len(twins) == 0 || p.foreign {
		return nil
	}
	type digest struct {
		sum  [sha256.Size]byte
		name string
	}
	held := make(map[int]digest)
	for _, t := range twins {
		held[t.held] = digest{}
	}
	_, err := w.parse(p, nil, func(i int, c *candidate) error {
		_, isHeld := held[i]
		isTwin := len(twins) > 0 && twins[0].item == i
		if !isHeld && !isTwin {
			return nil
		}
		sum, name := c.sum()
		if isHeld {
			held[i] = digest{sum, name}
		}
		if !isTwin {
			return nil
		}
		other := held[twins[0].held]
		if twins = twins[1:]; other.sum != sum {
			at := c.position()
			w.Report(ruleTwin.Finding(p.Final, at.line, at.column, "entry", c.id,
				name+" is left out: "+other.name+" has the same id, and no earlier time"))
		}
		return nil
	})
	return err
}

// describe copies the metadata of a document into p.
func (w *walk) describe(p *page, r reading, report func(websync.Finding)) {
	if r.feed == nil {
		return
	}
	if hook := w.source.Profile.Feed; hook != nil {
		if err := hook(r.feed, reporter(p.Final, position{}, "feed", report)); err != nil {
			p.fault = w.Named(p.URL, err)
		}
	}
	p.updated = r.feed.Updated
	p.id, p.inherited = r.feed.ID, w.inherited(r.feed)
	if inheritedSize(p.inherited) > maxInherited {
		p.inherited = new(Feed)
		if report != nil {
			const format = "the authors, the language and the base of the feed are longer than %d bytes: no entry inherits them"
			report(ruleElementSize.Finding(p.Final, 0, 0, "feed", nil, fmt.Sprintf(format, maxInherited)))
		}
	}
	p.foreign, p.size, p.Skipped = r.foreign, r.size, r.skipped
	p.prev, p.next = p.leadsTo(r.feed, prevArchive), p.leadsTo(r.feed, nextPage)
	p.newer = []string{p.leadsTo(r.feed, "next-archive"), p.leadsTo(r.feed, "previous"), p.leadsTo(r.feed, "prev")}
	p.self, p.archived = p.leadsTo(r.feed, "self"), r.feed.Archive
	if p.whole = r.feed.Complete; p.whole {
		p.part = p.whyPart(r.feed)
	}
}

// maxInherited limits what entries inherit, in bytes: each of them has it.
const maxInherited = 64 << 10

// inherited returns what the entries of a document inherit from its feed. Documents that
// state the same share it.
func (w *walk) inherited(f *Feed) *Feed {
	if n := len(w.pages); n > 0 {
		last := w.pages[n-1].inherited
		if slices.Equal(last.Authors, f.Authors) && last.Lang == f.Lang && last.Base == f.Base {
			return last
		}
	}
	return &Feed{Authors: f.Authors, Lang: f.Lang, Base: f.Base}
}

func inheritedSize(f *Feed) int {
	n := len(f.Lang) + len(f.Base)
	for _, a := range f.Authors {
		n += len(a.Name) + len(a.Email) + len(a.URI)
	}
	return n
}

// leadsTo returns the target of the first link of a feed with a relation. A second target
// is a fork.
func (p *page) leadsTo(f *Feed, rel string) (first string) {
	for _, l := range f.Links {
		href, _, _ := strings.Cut(l.Href, "#")
		switch {
		case l.Rel != rel || href == "":
		case first == "":
			first = href
		case href != first:
			if p.forks == nil {
				p.forks = make(map[string]string)
			}
			p.forks[rel] = href
		}
	}
	return first
}

// whyPart returns why a feed that is marked as complete is one of several documents; ""
// if it is not. A link to the document itself does not count, except next: no document is
// its own next page.
func (p *page) whyPart(f *Feed) string {
	if f.Archive {
		return "archive"
	}
	self := p.leadsTo(f, "self")
	for _, rel := range headRelations {
		href := p.leadsTo(f, rel)
		isSelf := href == self || href == p.URL || href == p.Final
		if rel != "self" && href != "" && (!isSelf || rel == nextPage) {
			return rel
		}
	}
	return ""
}

// otherDocument returns an error if the server redirects from one document of the feed to
// another: the requested one is then unknown.
func (w *walk) otherDocument(p *page) error {
	if w.isOther(p) {
		return w.Named(p.URL, fmt.Errorf("states that it is %s: a cache may have sent another document of the feed", p.self))
	}
	err := w.set.CheckNotInSet(&p.Document)
	if p.Final != p.URL && (p.Final == w.from.Archive || slices.Contains(p.newer, p.URL)) {
		err = docfetch.RedirectError(p.Final)
	}
	if err != nil {
		return w.Named(p.URL, err)
	}
	return nil
}

// isOther reports whether a document states the URL of another one as its own, although
// the subscription document states the right one. That of the subscription document does
// not count: it is a usual mistake.
func (w *walk) isOther(p *page) bool {
	head := w.pages[0]
	return p.self != "" && !p.isAt(p.self) && !head.isAt(p.self) && head.isAt(head.self)
}

// isAt reports whether a document was read from a URL.
func (p *page) isAt(url string) bool {
	key := docfetch.KeyOf(url)
	return key == docfetch.KeyOf(p.URL) || key == docfetch.KeyOf(p.Final)
}

// add adds an item of a document to the table of the latest states.
func (w *walk) add(p *page, i int, c *candidate) error {
	p.items++
	kind := 0
	if c.deleted {
		kind = 1
	}
	if !c.at.IsZero() {
		w.rises = w.rises || w.last[kind].Before(c.at) || w.floor.Before(c.at)
		w.last[kind] = c.at
		p.oldest[kind] = earlier(p.oldest[kind], c.at)
		p.newest = later(p.newest, c.at)
	}
	if w.from.knows(c.id, c.at) {
		p.known++
	}
	return w.latest.add(c.id, c.state(p, i))
}

// earlier returns the earlier of two times; b if a is not stated.
func earlier(a, b websync.Datetime) websync.Datetime {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later returns the later of two times, of which a may be not stated.
func later(a, b websync.Datetime) websync.Datetime {
	if a.IsZero() || a.Before(b) {
		return b
	}
	return a
}

// addAgain builds the table again, without a document of which some was added.
func (w *walk) addAgain() error {
	if err := w.latest.close(); err != nil {
		return err
	}
	w.latest = newLatest()
	for _, p := range w.pages {
		_, err := w.parse(p, nil, func(i int, c *candidate) error {
			return w.latest.add(c.id, c.state(p, i))
		})
		if err != nil {
			return err
		}
	}
	w.latest.twins = nil
	return nil
}

// A candidate is an item that may be yielded. It is valid until the next one.
type candidate struct {
	id    []byte           // of the resource
	entry []byte           // the atom:id, or the ref
	via   bool             // id is the target of a via link
	at    websync.Datetime // the result of instant
	// at is the time of publication, which does not order entries
	published bool
	// the time that is compared with others: at, or zero if that is in the future
	age     websync.Datetime
	deleted bool
	read    bool  // by a Reader, which has reported its departures
	view    *View // nil if the item needs memory of its own
	own     Item  // set if view is nil
}

// item returns the item in memory of its own.
func (c *candidate) item() Item {
	if c.view != nil {
		return c.view.Clone()
	}
	return c.own
}

// sum returns a digest of an entry, and a name of it for a finding.
func (c *candidate) sum() (sum [sha256.Size]byte, name string) {
	e := *c.item().Entry
	name = fmt.Sprintf("the entry %.100q", e.Title.Value)
	if l, ok := e.Link("alternate"); ok {
		name += fmt.Sprintf(" with %.200q", websync.RedactURL(l.Href))
	}
	if e.Line > 0 {
		name += fmt.Sprintf(" in line %d", e.Line)
	}
	e.Line, e.Column = 0, 0
	data, _ := json.Marshal(e) // texts and numbers
	return sha256.Sum256(data), name
}

// state returns the item's state, as item i of a document.
func (c *candidate) state(p *page, i int) state {
	return state{document: p.n, item: i, time: c.age, published: c.published, tombstone: c.deleted}
}

// instant returns a time of Atom as an instant (RFC 3339), to the nanosecond, so that it
// is compared exactly. A time without seconds is not RFC 3339 and remains a period.
func instant(d websync.Datetime) websync.Datetime {
	if d.Precision() < websync.PrecisionSecond {
		return d
	}
	return d.WithPrecision(websync.PrecisionNanosecond)
}

// A reading is what parse returns about a document.
type reading struct {
	refused bool // a Reader can't read it, and a Parser may
	feed    *Feed
	foreign bool
	size    int64
	skipped int
}

// parse calls each for every item of a document that can be yielded; i counts all items.
// A fault of the document is a *docfetch.Error. If a Reader refuses the document, its
// items are those of Source.Parser alone.
func (w *walk) parse(p *page, report func(websync.Finding), each func(i int, c *candidate) error) (reading, error) {
	if p.foreign {
		return w.parseForeign(p, report, each)
	}
	r, err := w.parseAtom(p, report, each)
	if w.source.Parser == nil || !r.refused {
		return r, err
	}
	if p.items > 0 {
		*p, w.last, w.rises = page{Document: p.Document, n: p.n}, p.last, p.rises
		if err := w.addAgain(); err != nil {
			return r, err
		}
	}
	foreign, otherErr := w.parseForeign(p, report, each)
	if errors.Is(otherErr, websync.ErrNotDocument) {
		return r, err
	}
	return foreign, otherErr
}

func (w *walk) parseAtom(p *page, report func(websync.Finding), each func(int, *candidate) error) (got reading, err error) {
	if err := w.Rewind(&p.Document); err != nil {
		return got, err
	}
	r := NewReader(p.Body)
	r.Document, r.ContentType, r.MaxBytes, r.Report, r.Now = p.Final, p.ContentType, w.source.MaxBytes, report, w.now
	r.Repair = w.source.Repair
	r.MaxContent, r.MaxValue, r.MaxDepth = w.source.MaxContent, w.source.MaxValue, w.source.MaxDepth
	var c candidate
	for i := 0; ; i++ {
		v, err := r.NextView()
		if err == io.EOF {
			break
		}
		if err != nil {
			got.refused = r.Kind() == 0 || errors.Is(err, xmlscan.ErrAttribute)
			return got, &docfetch.Error{Err: err}
		}
		if r.Kind() != FeedDocument {
			break
		}
		if w.source.Profile.Item != nil {
			c = candidate{own: v.Clone(), read: true}
		} else {
			c = candidate{id: v.ID, entry: v.ID, deleted: v.Deleted, read: true, view: v}
			if c.date(v.Updated); v.updatedText.IsEmpty() {
				c.datePublished(v.published)
			}
			if w.source.ViaID {
				c.follow(viewVia(v))
			}
		}
		skipped, err := w.admit(p, i, &c, report, each)
		if got.skipped += skipped; err != nil {
			return got, err
		}
	}
	got.feed, got.size = r.Feed(), r.doc.Size()
	got.skipped += r.Skipped()
	if r.Kind() != FeedDocument {
		what := document.Kind{Name: "a feed"}.Not("a document of the kind " + r.Kind().String())
		return got, &docfetch.Error{Err: w.Named(p.URL, what)}
	}
	return got, nil
}

func (w *walk) parseForeign(p *page, report func(websync.Finding), each func(int, *candidate) error) (reading, error) {
	found := report
	if found == nil {
		found = func(websync.Finding) {}
	}
	size, err := p.Body.Seek(0, io.SeekEnd)
	if err = errors.Join(err, w.Rewind(&p.Document)); err != nil {
		return reading{}, err
	}
	feed, items, err := w.source.Parser(p.Body, Origin{p.Final, p.ContentType}, found)
	if err != nil {
		return reading{}, &docfetch.Error{Err: w.Named(p.URL, err)}
	}
	got := reading{feed: feed, foreign: true, size: size}
	if feed == nil {
		got.feed = new(Feed)
	}
	got.skipped = got.feed.Skipped
	for i, item := range items {
		skipped, err := w.admit(p, i, &candidate{own: item}, report, each)
		if got.skipped += skipped; err != nil {
			return got, err
		}
	}
	return got, nil
}

// isNothing reports whether a candidate has neither an entry nor a tombstone.
func (c *candidate) isNothing() bool {
	return c.view == nil && c.own.Entry == nil && c.own.Tombstone == nil
}

// position returns where the item starts.
func (c *candidate) position() position {
	switch {
	case c.view != nil:
		return position{c.view.Line, c.view.Column}
	case c.own.Entry != nil:
		return position{c.own.Entry.Line, c.own.Entry.Column}
	case c.own.Tombstone != nil:
		return position{c.own.Tombstone.Line, c.own.Tombstone.Column}
	}
	return position{}
}

// element returns the element name of the candidate's own item.
func (c *candidate) element() string {
	if c.own.Tombstone != nil {
		return "deleted-entry"
	}
	return "entry"
}

// reporter returns the function by which a profile reports on an element of a document.
// If report is nil, findings are dropped.
func reporter(url string, at position, name string, report func(websync.Finding)) ReportFunc {
	to := document.Reports{Document: url, To: report}
	return to.At(at.line, at.column, name)
}

// take applies SourceProfile.Item to the candidate's own item and sets the other fields
// from it. The error is that of SourceProfile.Item.
func (c *candidate) take(s *Source, report ReportFunc) error {
	if hook := s.Profile.Item; hook != nil && !c.isNothing() {
		c.entry = []byte(c.own.ID())
		if err := hook(&c.own, report); err != nil {
			return err
		}
	}
	if c.isNothing() {
		return nil
	}
	id := []byte(c.own.ID())
	c.id, c.entry, c.deleted = id, id, c.own.Tombstone != nil
	if e := c.own.Entry; e != nil {
		if c.date(e.Updated); e.UpdatedText == "" {
			c.datePublished(e.Published)
		}
	} else {
		c.date(c.own.Time())
	}
	if s.ViaID {
		c.follow([]byte(itemVia(c.own)))
	}
	return nil
}

// date sets the time of the candidate to that of its change.
func (c *candidate) date(updated websync.Datetime) { c.at, c.published = instant(updated), false }

// datePublished sets the time of a candidate of which no time of a change is written to
// that of its publication.
func (c *candidate) datePublished(at websync.Datetime) {
	if c.at.IsZero() && !at.IsZero() {
		c.at, c.published = instant(at), true
	}
}

// follow makes the target of a via link the id.
func (c *candidate) follow(via []byte) {
	if len(via) > 0 {
		c.id, c.via = via, true
	}
}

// viewVia returns the target of the first via link.
func viewVia(v *View) []byte {
	for i := range v.links {
		if l := &v.links[i]; string(v.buf.Of(l.Rel)) == "via" && !l.Href.IsEmpty() {
			return v.buf.Of(l.Href)
		}
	}
	return nil
}

// itemVia is viewVia for an item.
func itemVia(item Item) string {
	links := []websync.Link(nil)
	if item.Tombstone != nil {
		links = item.Tombstone.Links
	} else {
		links = item.Entry.Links
	}
	via, _ := findLink(links, "via")
	return via.Href
}

// In a long walk the checkpoint does not advance with each short document: the engine
// commits what came before it, and such a commit costs more than the document.
const (
	longWalk   = 16      // documents
	markEvents = 500     // that are yielded before the checkpoint advances
	markBytes  = 1 << 20 // of their inline content, which is in memory until then
)

// yieldPages yields the documents that were read, the oldest first. Without a hole, the
// checkpoint advances.
func (w *walk) yieldPages(hole error) error {
	head := w.pages[0]
	if hole != nil && w.source.AcceptGaps {
		w.Report(ruleHole.Finding(head.URL, 0, 0, "", nil, "a gap that is accepted: "+hole.Error()))
		hole = nil
	}
	if hole == nil {
		w.checkGap(head)
	} else if err := errors.Join(w.cache.Doubt(), w.Problem(hole)); err != nil {
		return err
	}
	w.current = hole == nil && (w.Full || head.prev == "" && !w.source.archivesChange())
	w.Expect(int64(w.latest.len()))
	w.beginNext(head)
	before, skipped := w.next.Skipped, 0
	for _, p := range slices.Backward(w.pages) {
		if err := w.yieldPage(p); err != nil {
			return err
		}
		skipped += p.Skipped
		mark := w.mark
		if p == head {
			skipped += before
			w.keepHead(head)
		} else if err := w.keepOlder(p); err != nil {
			return err
		}
		if p == head || head.prev != "" {
			mark = w.advance
		}
		if len(w.pages) > longWalk && p != head && w.given < markEvents && w.pending < markBytes {
			continue
		}
		if err := mark(skipped); err != nil {
			return err
		}
		skipped = 0
	}
	w.done = hole == nil
	return nil
}

// beginNext removes from the next checkpoint what the documents that were read state
// anew.
func (w *walk) beginNext(head *page) {
	if w.current && head.prev == "" {
		w.next.Archive = "" // if a cache has hidden the archive, all of it is read again
	}
	if w.ended { // all that was counted before is read again
		w.next.Skipped, w.next.Damaged = 0, nil
		if head.isPaged() { // times may have moved back
			w.next.Time, w.next.Border = websync.Datetime{}, nil
		}
	}
	whole := w.ended || w.reached
	w.next.Ordered = w.source.archivesChange() && !w.disorder && whole && head.Skipped == 0
}

// keepOlder records that a document was yielded that is not the subscription document.
func (w *walk) keepOlder(p *page) error {
	w.next.Skipped += p.Skipped
	if w.pages[0].prev == "" {
		return nil
	}
	w.next.Archive = p.URL
	if p.Skipped == 0 || w.source.archivesChange() || len(w.next.Damaged) > maxDamaged {
		return nil
	}
	sum, err := w.sumOfBytes(p)
	w.next.Damaged = append(w.next.Damaged, damaged{p.URL, sum})
	return err
}

// keepHead records that the whole feed was yielded. An unchanged first page implies
// unchanged other pages only if new items appear on the first page.
func (w *walk) keepHead(head *page) {
	paged := head.isPaged()
	if paged {
		w.next.Ordered = !w.rises && head.Skipped == 0
	}
	goesDown := head.oldest[0].Before(w.next.Time) || head.oldest[1].Before(w.next.Time)
	if !paged || w.next.Ordered && goesDown {
		w.keepValidators(head)
	}
}

// keepValidators records the validators of the subscription document. If any document has
// skipped entries, or content that may change at its stated time, it keeps none, so that
// the next run reads them again.
func (w *walk) keepValidators(head *page) {
	if head.Skipped == 0 && w.next.Skipped == 0 && !w.open {
		w.next.Validators = head.Kept()
	}
}

// sumOfBytes returns a digest of a document.
func (w *walk) sumOfBytes(p *page) (string, error) {
	if err := w.Rewind(&p.Document); err != nil {
		return "", err
	}
	h := sha256.New()
	if _, err := io.Copy(h, p.Body); err != nil {
		return "", &docfetch.Error{Err: w.Named(p.URL, err)}
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// isMended requests the archive documents with skipped entries again, and reports whether
// one of them has changed. It reports true if there are too many of them to know. The
// requests are not conditional: bytes that were damaged on their way came with the
// validators of the whole document.
func (w *walk) isMended(ctx context.Context) (bool, error) {
	for _, d := range w.from.Damaged {
		mended := len(w.from.Damaged) > maxDamaged
		p := newPage(d.URL, len(w.pages))
		err := w.load(ctx, p, docfetch.Validators{}, func(p *page) error {
			sum, err := w.sumOfBytes(p)
			mended = mended || sum != d.Sum
			return err
		})
		if mended || err != nil && !docfetch.IsOfDocument(err) {
			return mended, err
		}
	}
	return false, nil
}

// checkGap reports that entries between two runs may have been missed.
func (w *walk) checkGap(head *page) {
	items, known := 0, 0
	for _, p := range w.pages {
		items += p.items
		known += p.known
	}
	if !w.reached && known == 0 && items > 0 && !w.from.Time.IsZero() {
		last := websync.NewDatetime(w.from.Time.Time())
		w.Report(ruleGap.Finding(head.URL, 0, 0, "feed", nil,
			"nothing in the feed is as old as what was read the last time, at "+last.String()+": entries in between may be lost"))
	}
}

const (
	checkpointVersion = 1
	maxBorder         = 1000 // ids that a checkpoint keeps
	maxDamaged        = 100  // documents that a checkpoint keeps
)

// A damaged document has skipped items. It may be whole when it is read again.
type damaged struct {
	URL string `json:"url"`
	Sum string `json:"sum"` // of its bytes
}

// A checkpoint is how far a Source has read a feed.
type checkpoint struct {
	ID      string `json:"id"`      // of the feed
	Options string `json:"options"` // fingerprint of the Source's options
	// the newest archive document that is processed, with all older ones
	Archive string `json:"archive,omitempty"`

	// Skipped counts what was skipped in the documents that are processed and not read
	// again.
	Skipped int `json:"skipped,omitempty"`

	// Damaged are the archive documents with such items, if they never change otherwise.
	// If there are more than maxDamaged, the others are left out.
	Damaged []damaged `json:"damaged,omitempty"`

	// Time is the greatest time that was yielded, and Border holds hashes of the ids with
	// that time. If there are more than maxBorder ids, none is kept, and no item of that
	// time counts as known.
	Time   websync.Datetime `json:"time"`
	Border []uint64         `json:"border,omitempty"`

	// Ordered reports whether all pages of a paged feed are processed and were ordered
	// from the latest item to the oldest. A skipped item of the subscription document has
	// no place in that order: it may be on another page by the next run.
	Ordered bool `json:"ordered,omitempty"`

	// The validators of the subscription document, if all of it has been processed.
	docfetch.Validators
}

// bounded returns c without a Border that is too long.
func (c checkpoint) bounded() checkpoint {
	if len(c.Border) > maxBorder {
		c.Border = nil
	}
	return c
}

// advance records that an item was yielded.
func (c *checkpoint) advance(id []byte, at websync.Datetime) {
	switch {
	case at.IsZero() || at.Before(c.Time):
		return
	case c.Time.IsZero() || c.Time.Before(at):
		c.Time, c.Border = at, nil
	}
	if key := borderKey(id); len(c.Border) <= maxBorder && !slices.Contains(c.Border, key) {
		c.Border = append(c.Border, key)
	}
}

// knows reports whether an item was yielded before, as far as its time shows that.
func (c *checkpoint) knows(id []byte, at websync.Datetime) bool {
	switch {
	case at.IsZero() || c.Time.IsZero():
		return false
	case at.Before(c.Time):
		return true
	}
	return !c.Time.Before(at) && slices.Contains(c.Border, borderKey(id))
}

func borderKey(id []byte) uint64 {
	sum := sha256.Sum256(id)
	return binary.BigEndian.Uint64(sum[:])
}
