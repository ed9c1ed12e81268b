package atom

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
)

// An Origin is where a document comes from.
type Origin struct {
	URL         string // or a file name: after redirects
	ContentType string // the header of that name; empty if none is known
}

// A Parser reads a document that a [Reader] refuses. It returns the content as a feed and
// its items, in their order, and passes departures to report, which is never nil. An
// error that matches [websync.ErrNotDocument] means that the Parser does
// not know the format. A Parser must return the same items for the same bytes, because a
// Source reads a document more than once. Of items that have one id, differ, and have no
// times that tell which is the newer one, it keeps one. Feed.Skipped is the number of
// items that it had to leave out.
type Parser func(src io.Reader, origin Origin, report func(websync.Finding)) (*Feed, []Item, error)

// A Source harvests one feed, starting at its subscription document, as one set of
// resources. Each entry becomes a resource with its atom:id as ID and atom:updated as the
// time of the change; each tombstone a deletion. What an entry carries inline is kept
// without a request.
//
// What the subscription document states about itself decides how the feed is read:
//
//   - A complete feed (fh:complete, RFC 5005 §2) is a snapshot: what it does not list is
//     deleted. If it links to another document of the feed (first, last, next, previous
//     or prev, current, prev-archive, next-archive), or is an archive document, it is a
//     page and not the whole: it deletes nothing, which a finding reports.
//   - An archived feed (prev-archive, RFC 5005 §4) is walked from the newest document to
//     the oldest, down to one that an earlier run has read, and then yielded from the
//     oldest to the newest, the latest state of each id only. The checkpoint advances
//     with each document that is yielded; in a walk of more than 16, with several that are
//     short.
//   - A paged feed (next, RFC 5005 §3) is walked likewise, down to a page whose entries
//     go from the newest to the oldest and include one older than those yielded before.
//     If the pages have another order, or the feed had no pages in the last run, all
//     pages are read. Pages can change while they are read: if the first page has changed
//     by the end of a walk, the walk starts again, at most twice. If it changes each
//     time, that is a hole.
//   - Any other feed is a window.
//
// Links to newer documents (previous, prev, next-archive) are not followed. If the
// subscription document has one, that is a finding.
//
// If a feed lists nothing that the last run has yielded, entries in between may have been
// missed. A finding reports that.
//
// The times of an archived feed order its states in later runs, too. In any other feed,
// and in a run with [harvest.Run.Full], what the documents list counts, although its time
// may have moved back; so does an entry that states no time but that of its publication
// (harvest.Event.Current). Resource.Modified of such an entry is its time of publication.
// A tombstone with a later time counts nevertheless.
//
// Times are instants, and compared exactly. A date without a time, or a time without
// seconds, is not RFC 3339 and stands for the whole day or minute. Event.At is the
// instant, to the nanosecond, and Resource.Modified the time as stated. Of two states of
// one id the one with the later time is the newer. If their times are equal, or one has
// no time, or one that is more than a day after the server's own, the state in the newer
// document is the newer. Within one document a tombstone is newer than an entry of the
// same time, and of two entries of one time the first counts. So of an entry and a
// tombstone with the same time, the entry counts if it was published again in a later
// document, and otherwise the tombstone.
//
// A tombstone without a readable time (RFC 6721 §3) deletes nothing. It counts as
// skipped, as do entries that can't be read: the next Mark or SnapshotEnd states their
// number. A document with skipped items is requested again in each run, unconditionally,
// because bytes that were damaged on their way come with the validators of the whole
// document. If an archive document has changed, the whole archive is read; until then its
// skipped items count in each run. If the first page of a paged feed has skipped items,
// the next run reads all pages.
// Inline content that can't be decoded fails like any other body.
//
// A document of an archive, or a page, is a hole if it can't be read, belongs to another
// feed, links back into the chain or to two documents at once, or if its server redirects
// to another one of the chain. A hole is a Problem. Newer documents are yielded, but the
// checkpoint and the validators of the subscription document do not advance: each run
// walks again until the document is readable or AcceptGaps is set. If the archive is
// replaced by another during a walk, the walk starts again, at most twice. An archive
// that was replaced between two runs is read to its end.
//
// Departures of the documents go to [harvest.Run.Report].
type Source struct {
	// URL is that of the subscription document. It is required.
	URL string

	// Name is the Source's key in a Catalog. If empty, it is URL.
	Name string

	// FeedID, if set, is the atom:id that the feed must have. If it is empty, the feed
	// must keep the first one that it had: a feed with another atom:id is a Problem, and
	// nothing of it is yielded until FeedID is set to that id.
	FeedID string

	// Content is what the content of a resource may be, the first of them that the entry
	// has: "content" is atom:content, inline or by its src, anything else the first link
	// with that relation. If nil, it is {"content", "alternate"}. An entry without any is
	// a description only.
	Content []string

	// ViaID makes the target of an entry's or a tombstone's via link, if it has one, the
	// ID of the resource. IDs then survive any number of republications. A tombstone
	// without via deletes the entry with its ref if one run reads both, and the resource
	// whose ID is its ref. It can't delete an entry with a via from an earlier run, so it
	// is a finding and counts as skipped.
	ViaID bool

	// AcceptGaps treats the documents that could be read as the whole feed. Each gap is a
	// finding.
	AcceptGaps bool

	// Dir is a directory that keeps the documents of an archive until all are yielded, so
	// that a walk that was killed does not request them again. After a walk that ended at
	// a hole, each run requests them again, conditionally, because any of them may have
	// caused the hole. A run with [harvest.Run.Full] uses none of them. Dir is created if
	// it does not exist, and several Sources may share it. If empty, documents are kept
	// for one run.
	Dir string

	// Repair reads documents with damaged tags, as in [Reader].
	Repair bool

	// Parser, if set, reads documents that a [Reader] refuses: what is not Atom, what
	// fails before the end of the root's start tag, such as a DOCTYPE that declares
	// entities, and what has an attribute twice. anyfeed.Parse is one for such feeds, RSS
	// and JSON Feed. It never gets Atom that is damaged otherwise.
	Parser Parser

	// Profile is for the packages of profiles of Atom. The zero Profile is Atom itself.
	Profile SourceProfile

	// MaxDocuments limits the documents of one walk: the first one beyond it is a hole.
	// If zero, it is 50,000; if negative, there is no limit.
	MaxDocuments int

	// MaxBytes limits each document, decompressed. If zero, it is 1 GiB; if negative,
	// there is no limit.
	MaxBytes int64

	// MaxContent limits the inline content of an entry, MaxValue any other value in it,
	// and MaxDepth how deep its elements are nested, as in [Reader]. An entry that passes
	// one of them counts as skipped.
	MaxContent, MaxValue int
	MaxDepth             int
}

// A SourceProfile is how a profile of Atom reads feeds. To change resources, a profile
// changes the events of Source.Events. To fetch more than the content of a resource, it
// implements [harvest.Getter].
type SourceProfile struct {
	// Name names what the other fields do. When it changes, everything is read again, and
	// what is no longer yielded is not deleted without approval.
	Name string

	// Feed, if set, is called with the metadata of each document. It may change them: a
	// link that it removes is not followed. If it returns an error, the document is a
	// Problem, and nothing of it is yielded.
	//
	// Item, if set, is called with each item of a document before it is compared with
	// others. It may change the item: give an entry another ID, remove links, or replace
	// it by the tombstone that the profile means. An item without entry and tombstone is
	// left out and does not count as skipped. If Item returns an error, that is a
	// finding, and the item counts as skipped. Item is called more than once for an item,
	// and must do the same each time; only what the first call reports goes to
	// [harvest.Run.Report].
	//
	// Both report departures from the profile as those of [ValidateOptions] do, so that
	// the checks of a profile are written once.
	Feed func(feed *Feed, report ReportFunc) error
	Item func(item *Item, report ReportFunc) error

	// Archives is what may happen to archive documents. If zero, they never change.
	Archives ArchivePolicy

	// InOrder yields the items of a document of more than 4 MiB in the order of their
	// times, too. That takes another reading of the document for each 500 of them. If
	// false, they come in the order of the document.
	InOrder bool
}

// An ArchivePolicy is what may happen to the archive documents of a feed.
type ArchivePolicy uint8

const (
	// ArchivesStay: they never change, and keep their URLs (RFC 5005 §4).
	ArchivesStay ArchivePolicy = iota

	// ArchivesChange: they may change. An archived feed is walked to a document whose
	// items are all older than the latest of those yielded before, and at least to one
	// that links to the newest archive document of the last run. If the documents are not
	// in the order of their times, all are read each time, and also if one of them had
	// items that were skipped, or the server does not state its Date, without which a
	// time in the future would hide others. Documents that Source.Dir keeps are requested
	// again, conditionally. A complete feed may have an archive: its documents are read,
	// and what the complete document does not list is deleted unless they list it.
	//
	// At the end of a walk an archive document is requested again, conditionally, if the
	// one before it may have changed since the walk began. If it has gained items that
	// the walk does not have, the walk starts again, at most twice, and then it is a
	// hole.
	ArchivesChange

	// ArchivesMove: they may change, and may get other URLs at any time. A walk ends by
	// the times alone.
	ArchivesMove
)

var _ harvest.Source = (*Source)(nil)

// Key returns Name, or URL if there is none.
func (s *Source) Key() string { return cmp.Or(s.Name, s.URL) }

// Check returns an error if the settings are not valid.
func (s *Source) Check() error { return docfetch.CheckURL("atom", s.URL) }

// Root returns URL.
func (s *Source) Root() string { return s.URL }

// Events implements [harvest.Source].
func (s *Source) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return s.events(ctx, run, nil)
}

// events is Events. If each is set, it gets the entries, and no events are yielded.
func (s *Source) events(ctx context.Context, run *harvest.Run, each func(*Entry) error) iter.Seq2[harvest.Event, error] {
	pass := docfetch.Pass{Format: "atom", Accept: "application/atom+xml, application/xml;q=0.9, text/xml;q=0.8, */*;q=0.5"}
	return pass.Events(run, func(p *docfetch.Pass) error {
		if err := s.Check(); err != nil {
			return err
		}
		w := &walk{Pass: p, source: s, each: each, cache: docfetch.NewCache(s.Dir, s.Key())}
		return w.run(ctx)
	})
}

// All returns an iterator over the entries of a feed, without a Store: url is that of the
// subscription document. An archived or paged feed is read to its end, and each entry is
// yielded once, in its newest state, from the oldest document to the newest. Deleted
// entries are left out.
//
// All documents are read, into a temporary file, before the first entry is yielded. An
// error is the last thing yielded, with an empty Entry. If only some document or entry
// can't be read, the entries of the others are yielded before. Without an error the
// entries are complete. Ranging over the iterator again fetches everything again.
//
// Package harvest/fetch has the Fetcher for HTTP. For options, and for reports of
// departures from the specifications, see [Source.All]; for a single document, see
// [Reader.All].
func All(ctx context.Context, fetcher harvest.Fetcher, url string) iter.Seq2[Entry, error] {
	return (&Source{URL: url}).All(ctx, &harvest.Run{Fetcher: fetcher})
}

// All returns an iterator over the entries that a run from the beginning yields, without
// a Store, as the function All does. Of run, only Fetcher is required. Dir is not used.
func (s *Source) All(ctx context.Context, run *harvest.Run) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		source, run := *s, run.WithDefaults()
		source.Dir, run.From = "", harvest.Checkpoint{}
		skipped, stopped := 0, false
		events := source.events(ctx, run, func(e *Entry) error {
			if stopped = !yield(*e, nil); stopped {
				return docfetch.ErrStopped
			}
			return nil
		})
		var missing []error
		for ev, err := range events {
			if err = cmp.Or(err, ev.Err); err != nil {
				missing = append(missing, err)
			}
			skipped += ev.Skipped
		}
		if skipped > 0 {
			missing = append(missing, docfetch.Skipped("atom", s.URL, skipped))
		}
		if err := errors.Join(missing...); err != nil && !stopped {
			yield(Entry{}, err)
		}
	}
}

// options returns a fingerprint of the settings that change what is yielded.
func (s *Source) options() string {
	profile := s.Profile.Name
	if s.archivesChange() {
		profile += " archives change"
	}
	return docfetch.Fingerprint("%q %q %t %q", s.URL, s.Content, s.ViaID, profile)
}

// archivesChange reports whether archive documents may change.
func (s *Source) archivesChange() bool { return s.Profile.Archives != ArchivesStay }

// content returns the content of an entry, and whether it is inline.
func (s *Source) content(e *Entry) (link websync.Link, inline bool) {
	choice := s.Content
	if choice == nil {
		choice = []string{"content", "alternate"}
	}
	for _, rel := range choice {
		if rel == "content" && !e.Content.IsZero() {
			return e.content(), e.Content.Href == ""
		}
		if l, ok := e.Link(rel); ok {
			return l, false
		}
	}
	return websync.Link{}, false
}

// admit passes an item to each, unless it can't be yielded. It returns 1 for an item that
// counts as skipped, which includes a tombstone that may delete nothing because it has no
// via.
func (w *walk) admit(
	p *page, i int, c *candidate, report func(websync.Finding), each func(int, *candidate) error,
) (skipped int, err error) {
	at := c.position()
	find := func(rule Rule, element, message string) {
		if report != nil {
			report(rule.Finding(p.Final, at.line, at.column, element, c.entry, message))
		}
	}
	if c.view == nil {
		if fault := c.take(w.source, reporter(p.Final, at, c.element(), report)); fault != nil {
			find(ruleProfile, "", fault.Error())
			return 1, nil
		}
	}
	switch {
	case c.isNothing():
		return 0, nil
	case len(c.id) == 0:
		return 1, nil
	case len(c.id) > harvest.MaxID:
		find(ruleElementSize, "id", "longer than any Store accepts: skipped")
		return 1, nil
	case c.deleted && c.at.IsZero():
		if !c.read {
			find(ruleTombstoneWhen, "deleted-entry", "a deletion must state its time: skipped")
		}
		return 1, nil
	case c.deleted && w.source.ViaID && !c.via:
		find(ruleTombstoneVia, "deleted-entry",
			"a deletion without via does not delete a resource whose ID is the via of its entry")
		skipped = 1
	}
	if c.age = c.at; !w.now.IsZero() && isFuture(c.at, w.now) {
		c.age = websync.Datetime{} // a later correction must supersede it
	}
	return skipped, each(i, c)
}

// snapshot yields a complete feed.
func (w *walk) snapshot(head *page) error {
	list := func() error {
		if err := w.yieldPage(head); err != nil {
			return err
		}
		w.Document(w.tally.Document(head.URL, head.made()))
		if w.inline.Size() == 0 {
			return nil
		}
		return w.mark(0)
	}
	w.current, w.tally = true, docfetch.Tally{}
	return w.Snapshot(list, func() harvest.Event {
		w.done, w.next.Skipped = true, 0
		w.keepValidators(head)
		return harvest.Event{Complete: true, Skipped: head.Skipped, Options: w.next.Options, Resume: w.resume()}
	})
}

// made returns when a document was made: the time that it states of itself, or its
// Last-Modified.
func (p *page) made() time.Time {
	if !p.updated.IsZero() {
		return p.updated.Time()
	}
	return p.Made()
}

func (w *walk) resume() harvest.Checkpoint {
	return docfetch.Checkpoint(checkpointVersion, w.next.bounded())
}

// An outcome is an event of a walk, with the entry it was made from, if there is one.
type outcome struct {
	harvest.Event
	entry *Entry
}

// yieldPage yields the items of one document that are the latest of their ids. It sorts
// them by time if the document is short, or if the profile wants that order.
func (w *walk) yieldPage(p *page) error {
	const long = 4 << 20
	var events []*outcome
	var times []itemTime
	err := w.eachLatest(p, func(i int, c *candidate) error {
		if p.size > long && w.source.Profile.InOrder {
			times = append(times, itemTime{c.at, i})
			return nil
		}
		ev, err := w.event(p, i, c)
		switch {
		case err != nil:
			return err
		case p.size > long:
			return w.giveLong(ev)
		}
		events = append(events, ev)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(times, func(a, b itemTime) int { return a.at.Compare(b.at) })
	for part := range slices.Chunk(times, 500) {
		if err := w.yieldPart(p, part); err != nil {
			return err
		}
	}
	return w.giveSorted(events)
}

// An itemTime is the time of an item of a document.
type itemTime struct {
	at   websync.Datetime
	item int
}

// yieldPart yields some items of a document, sorted by time.
func (w *walk) yieldPart(p *page, part []itemTime) error {
	wanted := make(map[int]bool, len(part))
	for _, one := range part {
		wanted[one.item] = true
	}
	events := make([]*outcome, 0, len(part))
	err := w.eachLatest(p, func(i int, c *candidate) error {
		if !wanted[i] {
			return nil
		}
		ev, err := w.event(p, i, c)
		events = append(events, ev)
		return err
	})
	if err == nil {
		err = w.giveSorted(events)
	}
	if err == nil && w.pending > 0 {
		err = w.mark(0)
	}
	return err
}

// eachLatest calls each for the items of a document that are the latest of their ids, and
// notes all of its items in the next checkpoint.
func (w *walk) eachLatest(p *page, each func(i int, c *candidate) error) error {
	_, err := w.parse(p, nil, func(i int, c *candidate) error {
		// a time after the server's own does not show how far the feed has been read
		if w.now.IsZero() || !c.at.Time().After(w.now) {
			w.next.advance(c.id, c.at)
		}
		if !w.latest.has(p.n, i) {
			return nil
		}
		return each(i, c)
	})
	return err
}

// giveSorted gives events, sorted by time.
func (w *walk) giveSorted(events []*outcome) error {
	slices.SortStableFunc(events, func(a, b *outcome) int { return a.At.Compare(b.At) })
	for _, ev := range events {
		if err := w.give(ev); err != nil {
			return err
		}
	}
	return nil
}

// event returns the event for item i of a document.
func (w *walk) event(p *page, i int, c *candidate) (*outcome, error) {
	id := string(c.id)
	if c.via && !c.deleted {
		held, err := w.latest.held(c.entry)
		if err != nil {
			return nil, err
		}
		// a tombstone without via is held under its ref
		if held.tombstone && !c.state(p, i).supersedes(held) {
			return deletion(id, held.time, held.time), nil
		}
	}
	item := c.item()
	if t := item.Tombstone; t != nil {
		return deletion(id, c.at, t.When), nil
	}
	return w.put(p, c, item.Entry)
}

// put returns the event for an entry of a document.
func (w *walk) put(p *page, c *candidate, e *Entry) (*outcome, error) {
	w.tally.Add(c.id, c.at)
	put := harvest.Event{Kind: harvest.Put, At: c.at, Resource: e.Resource(p.inherited), Current: w.current || c.published}
	if c.published {
		put.Resource.Modified = e.Published
	}
	link, inline := w.source.content(e)
	put.Resource.ID, put.Resource.Content = string(c.id), link
	if inline {
		if err := w.addInline(&put, p, e); err != nil {
			return nil, err
		}
	} else if _, identified := link.Digests.Strongest(); !identified && link.Href != "" {
		w.open = w.open || c.at.IsZero() || !w.now.IsZero() && !c.at.IsOver(w.now)
	}
	return &outcome{put, e}, nil
}

// addInline adds the inline content of an entry to its event.
func (w *walk) addInline(ev *harvest.Event, p *page, e *Entry) error {
	data, err := e.contentBytes(p.Final)
	if err != nil {
		w.Report(ruleContentBase64.Finding(p.Final, e.Line, e.Column, "content", nil, err.Error()))
		data = []byte(e.Content.Value)
		id := ev.Resource.ID
		ev.Open = func() (io.ReadCloser, error) {
			return nil, w.Named(p.URL, fmt.Errorf("content of %.200q: %w", websync.RedactURL(id), err))
		}
	} else if w.each == nil {
		if ev.Open, err = w.inlineBytes(data); err != nil {
			return err
		}
	}
	// the content can change while everything else stays the same
	ev.Tag = docfetch.Fingerprint("%s", data)
	return nil
}

// inlineBytes returns a function that opens inline content until the next Mark. Long
// content goes to a file.
func (w *walk) inlineBytes(data []byte) (func() (io.ReadCloser, error), error) {
	const long = 64 << 10
	w.pending += len(data)
	if len(data) <= long {
		return harvest.OpenBytes(data), nil
	}
	span, err := w.inline.Append(bytes.NewReader(data))
	return func() (io.ReadCloser, error) { return io.NopCloser(w.inline.Section(span)), nil }, err
}

func deletion(id string, at, when websync.Datetime) *outcome {
	return &outcome{Event: harvest.Event{Kind: harvest.Delete, At: at, Resource: websync.Resource{ID: id, Modified: when}}}
}

func (w *walk) give(o *outcome) error {
	w.given++
	switch {
	case w.each == nil:
		return w.Yield(o.Event)
	case o.entry == nil:
		return nil
	}
	return w.each(o.entry)
}

// giveLong gives an event of a long document. It yields a Mark when much inline content
// is pending.
func (w *walk) giveLong(ev *outcome) error {
	const much = 8 << 20
	if err := w.give(ev); err != nil || w.pending < much {
		return err
	}
	return w.mark(0)
}

// advance yields a Mark with the checkpoint.
func (w *walk) advance(skipped int) error { return w.yieldMark(w.resume(), skipped) }

// mark yields a Mark without one, so that the engine reads the inline content of the
// events so far.
func (w *walk) mark(skipped int) error { return w.yieldMark(harvest.Checkpoint{}, skipped) }

func (w *walk) yieldMark(resume harvest.Checkpoint, skipped int) error {
	err := w.Mark(resume, skipped)
	w.pending, w.given = 0, 0
	return errors.Join(err, w.inline.Close())
}
