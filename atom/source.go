package atom

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/document"
)

// A Parser reads a document that is not Atom; document is its URL. It returns what it
// says as a feed and its items, in their order, and passes departures to report, which is
// never nil. An error that matches [websync.ErrNotDocument] says that it is none that the
// Parser knows. The same bytes give the same items each time: a Source reads them more
// than once. Feed.Skipped says how many items it had to leave out.
type Parser func(src io.Reader, document string, report func(websync.Finding)) (*Feed, []Item, error)

// A Source harvests one feed, from its subscription document on, as one set of resources.
// Each entry becomes a resource with its atom:id as ID and atom:updated as the time of
// the change; each tombstone a deletion. What an entry carries inline is kept without a
// request.
//
// What the subscription document says of itself decides how it is read:
//
//   - A complete feed (fh:complete, RFC 5005 §2) is a snapshot: what it does not list is
//     gone. One with a link to another document of the feed (first, last, next, previous
//     or prev, current, prev-archive, next-archive), or that is an archive document, is a
//     page and not the whole: it deletes nothing, and a finding says so.
//   - An archived feed (prev-archive, RFC 5005 §4) is walked from the newest document to
//     the oldest, down to one that an earlier run has read, and then yielded from the
//     oldest to the newest, the latest state of each id only. Each document that is
//     yielded moves the checkpoint.
//   - A paged feed (next, RFC 5005 §3) is walked likewise, down to a page that goes from
//     the newest entry to the oldest and has one that is older than what was yielded
//     before. Pages in another order are all read, each time, and so are those of a feed
//     that had no pages the last time. Pages change while they are read, so a walk whose
//     first page has changed meanwhile begins anew, a few times; if it changes again,
//     that is a hole.
//   - Any other feed is a window.
//
// If nothing in a feed is known from the last run, entries may have passed unseen in
// between: a finding says so.
//
// Times are instants, and compared exactly. A date without a time, or a time without
// seconds, which RFC 3339 does not have, stands for all of its day or minute. Event.At is
// the instant, to the nanosecond, and Resource.Modified the time as stated. Of two states
// of one id the one with the later time is the newer, and of two with one time, or of
// which one states none, or one more than a day after the server's own, that in the newer
// document. In one document a tombstone is newer than an entry of the same time, and of
// two entries of one time the first counts. So an entry wins over a tombstone of its own
// time if it was published again in a later document, and otherwise the tombstone does.
//
// A tombstone without a time that can be read (RFC 6721 §3) deletes nothing. It counts as
// skipped, as do entries that can't be read: the next Mark or SnapshotEnd says how many.
// A subscription document with any is read again in each run; those of a document that is
// not read again count in each run until a full pass. Inline content that can't be
// decoded fails as any body does.
//
// A document of an archive, or a page, is a hole if it can't be read, belongs to another
// feed, links back into the chain or to two documents at once, or if its server redirects
// to another one of the chain. A hole is a Problem. What is newer is yielded, but the
// checkpoint stays before the hole, and so does what the server said of the subscription
// document: each run walks again until the document is back or AcceptGaps is set. If the
// archive is exchanged for another in mid-walk, the walk begins anew, a few times; one
// that was exchanged between two runs is read to its end.
//
// Departures of the documents go to [harvest.Run.Report].
type Source struct {
	// URL is that of the subscription document. It is required.
	URL string

	// Name is the Source's key in a Store. The default is URL.
	Name string

	// FeedID, if set, is the atom:id that the feed must have. If it is not set, the first
	// one that was met must stay: a feed that comes with another is a Problem, and
	// nothing of it is yielded until FeedID accepts it.
	FeedID string

	// Content selects what a resource's content is.
	Content Selection

	// ViaID makes the target of an entry's or a tombstone's via link, if it has one, the
	// ID of the resource. IDs then survive any number of republications. A tombstone
	// without via deletes the entry with its ref if one run reads both, and what has its
	// ref as ID. It is a finding and counts as skipped, for an entry of an earlier run
	// with a via is not found.
	ViaID bool

	// AcceptGaps takes what could be read of the feed for all there is. Each gap is a
	// finding.
	AcceptGaps bool

	// Dir is a directory that keeps the documents of an archive until all are yielded, so
	// that a walk that was killed needs no second request for them. After one that ended
	// at a hole they are asked for again, conditionally, in each run, for the hole may be
	// the fault of any of them; a run with [harvest.Run.Full] uses none. Dir is made if
	// need be, and several Sources may share it. If empty, documents are kept for one
	// run.
	Dir string

	// Parser, if set, reads documents that are not Atom; anyfeed.Parse is one for RSS and
	// JSON Feed. Atom that is damaged is not given to it.
	Parser Parser

	// MaxDocuments limits the documents of one walk: what is beyond is a hole. 0: 50,000;
	// negative: no limit.
	MaxDocuments int

	// MaxBytes limits each document, decompressed. 0: 1 GiB; negative: no limit.
	MaxBytes int64

	// MaxContent limits the inline content of an entry, MaxValue any other value in it,
	// and MaxDepth how deep its elements are nested, as in [Reader]. An entry that passes
	// one of them counts as skipped.
	MaxContent, MaxValue int
	MaxDepth             int
}

var (
	_ harvest.Source = (*Source)(nil)
)

// Key returns Name, or URL if there is none.
func (s *Source) Key() string {
	if s.Name != "" {
		return s.Name
	}
	return s.URL
}

// Check reports what is wrong with the settings.
func (s *Source) Check() error {
	if s.URL == "" {
		return errors.New("atom: Source.URL is empty")
	}
	return nil
}

// Root returns URL.
func (s *Source) Root() string { return s.URL }

// Events implements [harvest.Source].
func (s *Source) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		err := s.walk(ctx, run, func(o outcome) bool { return yield(o.Event, nil) })
		if err != nil {
			yield(harvest.Event{}, err)
		}
	}
}

// walk hands all that a run yields to yield, until that returns false.
func (s *Source) walk(ctx context.Context, run *harvest.Run, yield func(outcome) bool) error {
	if err := s.Check(); err != nil {
		return err
	}
	w := &walk{source: s, run: run.WithDefaults(), yield: yield, cache: newDocCache(s.Dir, s.Key())}
	err := w.begin()
	if err == nil {
		err = errors.Join(w.all(ctx), w.forget())
	}
	if w.done {
		err = errors.Join(err, w.cache.empty())
	}
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// All returns an iterator over the entries of a feed, without a Store: url is that of the
// subscription document. An archived or paged feed is read to its end, and each entry
// comes once, in its newest state, from the oldest document to the newest. What a
// tombstone deletes does not come.
//
// The documents are read, into a temporary file, before the first entry comes. An error
// is the last thing yielded, with an empty Entry: after the entries of the documents that
// could be read, if it is only some document or entry that could not. Without an error
// the entries are all there are. The iterator can be ranged over again, which fetches all
// anew.
//
// Package harvest/fetch has the Fetcher for HTTP. For options, and for what departs from
// the specifications, see [Source.All]; for a single document, [Reader.All].
func All(ctx context.Context, fetcher harvest.Fetcher, url string) iter.Seq2[Entry, error] {
	return (&Source{URL: url}).All(ctx, &harvest.Run{Fetcher: fetcher})
}

// All returns an iterator over the entries that a run from the beginning yields, without
// a Store, as the function All does. Of run, only Fetcher is required. Dir is not used.
func (s *Source) All(ctx context.Context, run *harvest.Run) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		source, run := *s, run.WithDefaults()
		source.Dir, run.From = "", harvest.Checkpoint{}
		var missing []error
		skipped, stopped := 0, false
		err := source.walk(ctx, run, func(o outcome) bool {
			if o.Kind == harvest.Problem {
				missing = append(missing, o.Err)
			}
			skipped += o.Skipped
			stopped = o.entry != nil && !yield(*o.entry, nil)
			return !stopped
		})
		if skipped > 0 {
			missing = append(missing, named(s.URL, fmt.Errorf("%d entries can't be read, or may be lost in what is damaged", skipped)))
		}
		if err := errors.Join(append(missing, err)...); err != nil && !stopped {
			yield(Entry{}, err)
		}
	}
}

// An outcome is an event of a walk, with the entry that it was made of, if there is one.
type outcome struct {
	harvest.Event
	entry *Entry
}

// options is a fingerprint of what decides what is yielded.
func (s *Source) options() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %t", s.URL, s.Content, s.ViaID))
	return hex.EncodeToString(sum[:8])
}

// A walk is one run over the documents of a feed.
type walk struct {
	source *Source
	run    *harvest.Run
	yield  func(outcome) bool

	from checkpoint
	next checkpoint

	file    pageFile // the documents
	cache   docCache
	recheck bool    // the server is asked for what the cache has, too
	pages   []*page // those that are in youths, the newest first
	youths  *youngest
	asked   map[string]bool     // URLs of documents, also those that they redirect to
	last    [2]websync.Datetime // times of the last entry and the last tombstone that have one
	floor   websync.Datetime    // of the oldest entry of the pages before
	rises   bool                // an item is younger than the one of its kind before it, or than floor
	ended   bool                // the walk came to the end of the chain
	reached bool                // the archive document that the checkpoint names
	now     time.Time           // by the server's clock; zero: not stated
	pending int                 // bytes of inline content since the last Mark
	done    bool                // all that was read has been yielded
}

// errStopped: the engine wants no more events.
var errStopped = errors.New("stopped")

// begin takes over what earlier runs have left.
func (w *walk) begin() error {
	options := w.source.options()
	if w.run.From.Version == checkpointVersion {
		c, ok := decodeCheckpoint(w.run.From.Data)
		if id := w.source.FeedID; ok && c.Options == options && (id == "" || id == c.ID) {
			w.from = c
		}
	}
	w.next = w.from
	w.next.Options, w.next.Ordered = options, false
	w.next.settle("", "")
	w.recheck = w.cache.inDoubt()
	if w.run.Full {
		return w.cache.empty()
	}
	return nil
}

// forget removes what the walk has read so far.
func (w *walk) forget() error {
	err := errors.Join(w.youths.close(), w.file.close())
	w.file.end, w.pages, w.asked, w.ended = 0, nil, nil, false
	w.last, w.floor, w.rises = [2]websync.Datetime{}, websync.Datetime{}, false
	return err
}

// all tells the feed. The error is for what ends the run.
func (w *walk) all(ctx context.Context) error {
	const most = 3 // passes, if the feed is exchanged while it is read
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

// pass reads the feed once and tells it. It returns true if the feed was exchanged
// meanwhile and is to be read again.
func (w *walk) pass(ctx context.Context, mayAgain bool) (again bool, err error) {
	w.youths = newYoungest()
	head, err := w.head(ctx)
	if err != nil {
		return false, err
	}
	if head == nil {
		w.done = true
		return false, w.mark(w.run.From, w.from.Skipped)
	}
	if fault := w.otherFeed(head); fault != nil {
		return false, w.problem(fault)
	}
	if head.archived && head.final != head.url {
		return false, w.problem(named(head.url, fmt.Errorf("redirected to %s, which is an archive document", head.final)))
	}
	w.next.ID = head.id
	switch {
	case head.whole && head.part == "":
		return false, w.snapshot(head)
	case head.whole:
		w.run.Report(ruleCompletePaged.Finding(head.url, 0, 0, "complete", nil,
			"a complete feed with "+head.part+": it is read as one of several documents, and deletes nothing"))
	}
	switch {
	case head.prev != "":
		return w.archive(ctx, head, mayAgain)
	case head.isPaged():
		return w.paged(ctx, head, mayAgain)
	}
	return false, w.tell(nil)
}

// otherFeed returns what is wrong if a document is of another feed than the one that is
// harvested.
func (w *walk) otherFeed(p *page) error {
	want := w.source.FeedID
	if want == "" {
		want = w.next.ID
	}
	if want != "" && p.id != want {
		return named(p.url, fmt.Errorf("the feed %.200q, not %.200q", websync.RedactURL(p.id), websync.RedactURL(want)))
	}
	return nil
}

// snapshot tells a complete feed.
func (w *walk) snapshot(head *page) error {
	if err := w.yields(harvest.Event{Kind: harvest.SnapshotStart}); err != nil {
		return err
	}
	if err := w.tellPage(head); err != nil {
		return err
	}
	w.done, w.next.Skipped = true, 0
	w.keepValidator(head)
	return w.yields(harvest.Event{Kind: harvest.SnapshotEnd, Complete: true, Skipped: head.skipped,
		Options: w.next.Options, Resume: w.resume()})
}

// archive walks an archived feed and tells it.
func (w *walk) archive(ctx context.Context, head *page, mayAgain bool) (again bool, err error) {
	hole, err := w.follow(ctx, head, true)
	if err != nil {
		return false, err
	}
	if hole != nil && mayAgain {
		now, err := w.headAgain(ctx, head)
		if err != nil && !isBroken(err) {
			return false, err
		}
		if now != nil && now.prev != head.prev {
			return true, nil
		}
	}
	return false, w.tell(hole)
}

// paged walks a paged feed and tells it.
func (w *walk) paged(ctx context.Context, head *page, mayAgain bool) (again bool, err error) {
	if w.met(head) {
		return false, w.tell(nil)
	}
	hole, err := w.follow(ctx, head, false)
	if err != nil {
		return false, err
	}
	changed, err := w.hasChanged(ctx, head)
	switch {
	case err != nil && !isBroken(err):
		return false, err
	case changed && mayAgain:
		return true, nil
	case changed && w.source.AcceptGaps:
		w.run.Report(rulePages.Finding(head.url, 0, 0, "feed", nil, changing))
	case changed:
		err = named(head.url, errors.New(changing))
	}
	if hole == nil {
		hole = err
	}
	return false, w.tell(hole)
}

// met reports whether what comes after a page of a paged feed is known: the pages go from
// the young to the old, far enough. A tombstone does not tell how far, for the old ones
// may all stand on the first page.
func (w *walk) met(p *page) bool {
	return w.from.Ordered && !w.rises && p.oldest[0].Before(w.from.Time)
}

const changing = "the feed changes while its pages are read: entries may have moved out of sight"

// follow walks on from head, over prev-archive or over next, until it meets what an
// earlier run has dealt with, or the chain ends. A hole is why it could not; the error is
// for what ends the run.
func (w *walk) follow(ctx context.Context, head *page, archive bool) (hole, err error) {
	limit := w.source.MaxDocuments
	if limit == 0 {
		limit = 50_000
	}
	w.asked = map[string]bool{head.url: true, head.final: true}
	var redirected *page // the first one but head
	for p := head; ; {
		link, rel := p.next, "next"
		if archive {
			link, rel = p.prev, "prev-archive"
		}
		switch {
		case p.forks[rel] != "":
			return named(p.url, fmt.Errorf("two links %s: to %s and to %s", rel, link, p.forks[rel])), nil
		case archive && link != "" && link == w.from.Archive:
			w.reached = true
			return nil, nil
		case archive && link == "" && w.from.Archive != "" && redirected != nil:
			return named(redirected.url, fmt.Errorf("redirected to %s, and the archive ends without %s, which was read before",
				redirected.final, w.from.Archive)), nil
		case link == "":
			w.ended = true
			return nil, nil
		case !archive && w.met(p):
			return nil, nil
		case w.asked[link]:
			return named(p.url, fmt.Errorf("%s leads back to %s", rel, link)), nil
		case limit > 0 && len(w.pages) >= limit:
			return named(p.url, fmt.Errorf("more than %d documents: %w", limit, websync.ErrLimit)), nil
		}
		w.asked[link] = true
		if p, err = w.older(ctx, link, archive); isBroken(err) {
			return err, nil
		}
		if err != nil {
			return nil, err
		}
		w.asked[p.final] = true
		if redirected == nil && p.final != p.url {
			redirected = p
		}
	}
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
	_, err = w.parse(p, nil, func(_ int, s *sighting) error {
		_, err := fmt.Fprintf(h, "%q %v %t\n", s.id, s.at, s.deleted)
		return err
	})
	return [sha256.Size]byte(h.Sum(nil)), err
}

// head reads the subscription document; nil if it has not changed since the last run.
func (w *walk) head(ctx context.Context) (*page, error) {
	p := &page{url: w.source.URL}
	v := harvest.Validator{URL: p.url, ETag: w.from.ETag, LastModified: w.from.LastModified}
	if unchanged, err := w.fetch(ctx, p, v); unchanged || err != nil {
		return nil, err
	}
	return p, w.read(p)
}

// headAgain reads the subscription document once more, beside the first time; nil if it
// has not changed.
func (w *walk) headAgain(ctx context.Context, head *page) (*page, error) {
	p := &page{url: head.url}
	v := harvest.Validator{URL: p.url, ETag: head.etag, LastModified: head.lastModified}
	if unchanged, err := w.fetch(ctx, p, v); unchanged || err != nil {
		return nil, err
	}
	r, err := w.parse(p, nil, func(int, *sighting) error { return nil })
	if err != nil {
		return nil, err
	}
	p.describe(r)
	return p, nil
}

// older reads a later document of a walk. One of an archive, which never changes, is not
// asked for if an earlier run has read it, unless that run ended at a hole: then the
// publisher may have mended any of them. What is kept serves where the server has nothing
// better.
func (w *walk) older(ctx context.Context, url string, archive bool) (*page, error) {
	var kept *page
	if archive {
		kept = w.kept(url)
	}
	if kept != nil && !w.recheck {
		if err := w.read(kept); !isBroken(err) {
			return kept, err
		}
		kept = nil
	}
	p := &page{url: url, n: len(w.pages)}
	var v harvest.Validator
	if kept != nil {
		v = harvest.Validator{URL: url, ETag: kept.etag, LastModified: kept.lastModified}
	}
	unchanged, err := w.fetch(ctx, p, v)
	if err == nil && !unchanged {
		err = w.read(p)
	}
	switch {
	case kept != nil && (unchanged || isBroken(err)):
		return kept, w.read(kept)
	case err != nil || !archive:
		return p, err
	}
	head := docHeader{Final: p.final, ETag: p.etag, LastModified: p.lastModified}
	return p, w.cache.put(url, head, w.file.page(p.span))
}

// kept returns a document that an earlier run has read; nil if it has not, or none is
// left.
func (w *walk) kept(url string) *page {
	at, head, ok := w.cache.take(url, &w.file)
	if !ok {
		return nil
	}
	return &page{url: url, n: len(w.pages), span: at, final: head.Final, etag: head.ETag, lastModified: head.LastModified}
}

// A brokenPage is the error of one document that can't be had, or is not what it should
// be.
type brokenPage struct{ err error }

func (e *brokenPage) Error() string { return e.err.Error() }
func (e *brokenPage) Unwrap() error { return e.err }

func isBroken(err error) bool {
	var broken *brokenPage
	return errors.As(err, &broken)
}

// fetch gets a document to its end. An error that is the document's is a *brokenPage.
func (w *walk) fetch(ctx context.Context, p *page, v harvest.Validator) (unchanged bool, err error) {
	limit := w.source.MaxBytes
	if limit == 0 {
		limit = document.DefaultBytes
	}
	resp, err := w.run.Fetcher.Fetch(ctx, &harvest.Request{
		URL:       p.url,
		Accept:    "application/atom+xml, application/xml;q=0.9, text/xml;q=0.8, */*;q=0.5",
		Validator: v,
		MaxBytes:  limit,
		Spool:     true,
	})
	switch {
	case ctx.Err() != nil:
		if err == nil && resp.Body != nil {
			resp.Body.Close()
		}
		return false, ctx.Err()
	case err != nil:
		return false, &brokenPage{fmt.Errorf("atom: %w", err)} // which names the URL
	case resp.NotModified:
		return true, nil
	}
	p.etag, p.lastModified = resp.Validator.ETag, resp.Validator.LastModified
	p.final = cmp.Or(resp.URL, p.url)
	if p.n == 0 {
		w.now = responseDate(resp)
	}
	return false, w.keep(p, resp.Body)
}

// keep copies the body of a response into the walk's file and closes it.
func (w *walk) keep(p *page, body io.ReadCloser) (err error) {
	if body == nil {
		body = io.NopCloser(bytes.NewReader(nil))
	}
	src := &failing{src: body}
	p.span, err = w.file.add(src)
	err = errors.Join(err, body.Close())
	if src.err != nil {
		return &brokenPage{named(p.url, src.err)}
	}
	return err
}

// A failing reader remembers the error of its source.
type failing struct {
	src io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.src.Read(p)
	if err != io.EOF {
		f.err = err
	}
	return n, err
}

// responseDate returns the server's clock; zero if it is not stated.
func responseDate(resp *harvest.Response) time.Time {
	if dates := resp.Header["Date"]; len(dates) > 0 {
		if t, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", dates[0]); err == nil {
			return t
		}
	}
	return time.Time{}
}

// admit gives an item to each, unless it can't be yielded. What is skipped, or may delete
// nothing for want of a via, is counted.
func (w *walk) admit(p *page, i int, s *sighting, report func(websync.Finding), each func(int, *sighting) error) (skipped int, err error) {
	find := func(rule Rule, element, message string) {
		if report != nil {
			report(rule.Finding(p.final, 0, 0, element, s.entry, message))
		}
	}
	switch {
	case len(s.id) == 0:
		return 1, nil
	case len(s.id) > harvest.MaxID:
		find(ruleElementSize, "id", "longer than any store takes: skipped")
		return 1, nil
	case s.deleted && s.at.IsZero():
		if s.view == nil { // a Reader has reported it
			find(ruleTombstoneWhen, "deleted-entry", "a deletion that does not say when: skipped")
		}
		return 1, nil
	case s.deleted && w.source.ViaID && !s.via:
		find(ruleTombstoneVia, "deleted-entry", "a deletion without via: a resource that is named by the via of its entry is not found")
		skipped = 1
	}
	if s.age = s.at; !w.now.IsZero() && isFuture(s.at, w.now) {
		s.age = websync.Datetime{} // it must not win over what corrects it
	}
	return skipped, each(i, s)
}

// tell tells the documents that were read, the oldest first. Each moves the checkpoint,
// if there is no hole.
func (w *walk) tell(hole error) error {
	head := w.pages[0]
	if hole != nil && w.source.AcceptGaps {
		w.run.Report(ruleHole.Finding(head.url, 0, 0, "", nil, "a gap that is accepted: "+hole.Error()))
		hole = nil
	}
	if hole == nil {
		w.checkGap(head)
	} else if err := errors.Join(w.cache.doubt(), w.problem(hole)); err != nil {
		return err
	}
	w.run.Expect(int64(w.youths.len()))
	if w.ended { // all that was counted before is read again
		w.next.Skipped = 0
	}
	before := w.next.Skipped
	for _, p := range slices.Backward(w.pages) {
		if err := w.tellPage(p); err != nil {
			return err
		}
		skipped := p.skipped
		if p == head {
			skipped += before
		} else {
			w.next.Skipped += skipped
		}
		resume := harvest.Checkpoint{}
		switch {
		case hole != nil:
		case p == head:
			w.settle(head)
			resume = w.resume()
		case head.prev != "":
			w.next.Archive = p.url
			resume = w.resume()
		}
		if err := w.mark(resume, skipped); err != nil {
			return err
		}
	}
	w.done = hole == nil
	return nil
}

// settle notes that all of the feed is yielded. That the first of several pages has not
// changed says something about the others only if whatever comes next has its place on
// the first one.
func (w *walk) settle(head *page) {
	paged := head.isPaged()
	w.next.Ordered = paged && !w.rises
	goesDown := head.oldest[0].Before(w.next.Time) || head.oldest[1].Before(w.next.Time)
	if !paged || w.next.Ordered && goesDown {
		w.keepValidator(head)
	}
}

// keepValidator notes what the server said of the subscription document. With skipped
// entries in it, the next run reads it again, to say so again.
func (w *walk) keepValidator(head *page) {
	if head.skipped == 0 {
		w.next.settle(head.etag, head.lastModified)
	}
}

// checkGap reports that entries may have passed unseen between two runs.
func (w *walk) checkGap(head *page) {
	items, known := 0, 0
	for _, p := range w.pages {
		items += p.items
		known += p.known
	}
	if !w.reached && known == 0 && items > 0 && !w.from.Time.IsZero() {
		w.run.Report(ruleGap.Finding(head.url, 0, 0, "feed", nil,
			"nothing in the feed is as old as what was read the last time, at "+websync.NewDatetime(w.from.Time.Time()).String()+": entries in between may be lost"))
	}
}

func (w *walk) resume() harvest.Checkpoint {
	return harvest.Checkpoint{Version: checkpointVersion, Data: w.next.encode()}
}

// tellPage yields what is youngest in one document: in the order of time if the document
// is not long.
func (w *walk) tellPage(p *page) error {
	const long = 4 << 20
	feed := &Feed{Authors: p.authors, Lang: p.lang, Base: p.base} // what its entries inherit
	var events []outcome
	_, err := w.parse(p, nil, func(i int, s *sighting) error {
		if !w.isAhead(s.at) {
			w.next.advance(s.id, s.at)
		}
		if !w.youths.isYoungest(p.n, i) {
			return nil
		}
		ev, err := w.event(p, feed, i, s)
		if err != nil {
			return err
		}
		if p.size > long {
			return w.giveLong(ev)
		}
		events = append(events, ev)
		return nil
	})
	if err != nil {
		return err
	}
	order := make([]int, len(events))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(events[i].At.Compare(events[j].At), cmp.Compare(i, j)) })
	for _, i := range order {
		if err := w.give(events[i]); err != nil {
			return err
		}
	}
	return nil
}

// isAhead reports whether a time is after the server's own: then it does not say how far
// the feed has been read.
func (w *walk) isAhead(at websync.Datetime) bool {
	return !w.now.IsZero() && at.Time().After(w.now)
}

// event returns the event that item i of a document is.
func (w *walk) event(p *page, feed *Feed, i int, s *sighting) (outcome, error) {
	id := string(s.id)
	if s.via && !s.deleted {
		held, err := w.youths.held(s.entry)
		if err != nil {
			return outcome{}, err
		}
		if held.tombstone && !s.state(p, i).supersedes(held) { // one without via: it is known by its ref
			return deletion(id, held.time, held.time), nil
		}
	}
	item := s.item()
	if t := item.Tombstone; t != nil {
		return deletion(id, s.at, t.When), nil
	}
	e := item.Entry
	ev := outcome{harvest.Event{Kind: harvest.Put, At: s.at, Resource: e.Resource(feed)}, e}
	link, inline := w.source.Content.of(e)
	ev.Resource.ID, ev.Resource.Content = id, link
	if !inline {
		return ev, nil
	}
	data, err := e.contentBytes(p.final)
	if err != nil {
		w.run.Report(ruleContentBase64.Finding(p.final, e.Line, e.Column, "content", nil, err.Error()))
		data = []byte(e.Content.Value)
		ev.Open = func() (io.ReadCloser, error) {
			return nil, named(p.url, fmt.Errorf("content of %.200q: %w", websync.RedactURL(id), err))
		}
	} else {
		ev.Open = harvest.Bytes(data)
	}
	sum := sha256.Sum256(data)
	ev.Tag = hex.EncodeToString(sum[:8]) // content may become another though nothing else does
	w.pending += len(data)
	return ev, nil
}

func deletion(id string, at, when websync.Datetime) outcome {
	return outcome{Event: harvest.Event{Kind: harvest.Delete, At: at, Resource: websync.Resource{ID: id, Modified: when}}}
}

func (w *walk) give(o outcome) error {
	if !w.yield(o) {
		return errStopped
	}
	return nil
}

func (w *walk) yields(ev harvest.Event) error { return w.give(outcome{Event: ev}) }

// giveLong lets the engine finish what it has whenever much inline content is under way.
func (w *walk) giveLong(ev outcome) error {
	const much = 8 << 20
	if err := w.give(ev); err != nil || w.pending < much {
		return err
	}
	return w.mark(harvest.Checkpoint{}, 0)
}

func (w *walk) mark(resume harvest.Checkpoint, skipped int) error {
	w.pending = 0
	return w.yields(harvest.Event{Kind: harvest.Mark, Resume: resume, Skipped: skipped})
}

func (w *walk) problem(err error) error {
	return w.yields(harvest.Event{Kind: harvest.Problem, Err: err})
}

// named gives an error the URL of its document.
func named(url string, err error) error {
	var parse *websync.ParseError
	if errors.As(err, &parse) && parse.Document != "" {
		return err
	}
	return &websync.ParseError{Format: "atom", Document: url, Err: err}
}
