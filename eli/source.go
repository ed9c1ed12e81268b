package eli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/sitemap"
)

// A Source harvests one publisher of legislation: the legal resources of a sitemap and
// its update feed (annex 4.1). Each becomes a resource with its URI as ID and the later
// of the dates of sitemap and feed as Modified.
//
// The first run reads the feed, all of the sitemap, and the feed once more. Later runs
// read the feed. They read the sitemap again if the feed no longer has anything that it
// had in the last run, so that changes may be missing, and after SitemapEvery, because no
// feed has deletions: what neither the sitemap nor the feed lists is deleted, unless it
// has changed since the latest date in the sitemap. If that date is earlier than the
// oldest entry of such a feed, changes in between may be missing: that is a Problem, in
// each run until the sitemap is newer.
//
// URIs that differ only by http and https, by www, and by a slash at the end of the path
// are those of one act. Its ID is the URI of the sitemap; if the sitemap has several, it
// is the one with the form of most of them. A URI of the feed becomes that of the
// sitemap, or gets the form that most URIs of its host have there. If more than 256 URIs
// of the sitemap have other forms than most, each run reads it.
//
// The date of an act in the sitemap is compared with its last one in the sitemap, and
// that in the feed with its last one in the feed, because they are often those of
// different clocks: of different zones, or of publication. Any other date, also an
// earlier one, states a change. A list that states an act for the first time states no
// change if its date is coarser than the one of the other list, such as a day, and
// overlaps it. An entry without a date is asked for conditionally in each run that lists
// it. If a sitemap that can't be read is needed, or a feed, or a part of
// either, that is a Problem, as in [sitemap.Source] and [atom.Source]; nothing is
// deleted, and the next run reads it again.
//
// Get obtains the page of a resource, extracts its metadata, and obtains the full text:
//
//   - The body "graph" has the triples as N-Quads, as the graph with the URI's name.
//   - The body "content" has the full text that Preferences choose (annex 4.2). Others
//     that they choose are alternates, with the names that [websync.Resource.BodyName]
//     returns.
//   - Title, Lang, Content and Links of the resource are those of the metadata; Links has
//     all formats.
//
// They become visible together. A page that is not HTML, has no metadata, or describes
// other resources only is an error: the resource stays as it is, and a task is stored. So
// does a page of which only a redirect in HTML is left, unless that leads to the
// metadata. A page with status 404 or 410 is [websync.ErrGone]. A format with such a
// status is left out, and the next one is tried; any other failure of a format is an
// error. If no format is there, the resource has the metadata only; if formats are stated
// and none is among those to choose, that is a finding with the reason.
//
// Departures from the specification go to [harvest.Run.Report].
type Source struct {
	// Sitemap is the URL of the sitemap, or of the index of several. It is required.
	Sitemap string

	// Feed is the URL of the update feed. If empty, each run reads the sitemap.
	Feed string

	// Name is the Source's key in a Catalog. If empty, it is Sitemap.
	Name string

	// FeedID, if set, is the atom:id that the feed must have. If it is empty, the feed
	// must keep the first one that it had.
	FeedID string

	// Preferences choose the full texts. What the Store holds is not obtained anew when
	// they change, unless [harvest.Harvester.Recheck] is set.
	Preferences Preferences

	// Linked requests the pages of the expressions that the page of a resource only links
	// to, and adds their metadata (§3.2.2): 100 of a resource at most, in each Get. What
	// the Store holds is not obtained anew when it changes, unless Recheck is set.
	Linked bool

	// Extractors extract the metadata, as in ReadPage. If empty, it is RDFa only, with
	// MaxPage as its limit.
	Extractors []Extractor

	// Interval is the least time between two requests to a host, for lists, pages and
	// full texts. If zero, it is 5 seconds, as annex 4.1 wants; if negative, it is that
	// of the Fetcher.
	Interval time.Duration

	// SitemapEvery is how long the feed alone is read before the sitemap is read again.
	// If zero, it is 30 days; if negative, the sitemap is read again only if changes may
	// be missing in the feed.
	SitemapEvery time.Duration

	// ResyncEvery is how often all of the sitemap is read and every page is asked for
	// once more, conditionally (annex 4.1, step 5), because publishers change the
	// metadata of all pages without stating it (§3.3.3). If zero or negative, it is
	// never; [harvest.Harvester.Recheck] does the same on request.
	ResyncEvery time.Duration

	// Include chooses the URIs to yield. The others don't count as skipped. If nil, it is
	// those whose path has a step "eli".
	Include func(uri string) bool

	// Profile names what Include does. When it changes, everything is read again, and
	// what is no longer yielded is not deleted without approval.
	Profile string

	// MaxUpdates limits the entries of the feed; all of them are kept in memory. If zero,
	// it is 1,000,000; if negative, there is no limit, else also one of 128 MiB for ids.
	MaxUpdates int

	// MaxDocuments limits the documents of the sitemap. If zero, it is 50,000; if
	// negative, there is no limit.
	MaxDocuments int

	// MaxBytes limits the feed and each document of the sitemap, decompressed. If zero,
	// it is 1 GiB; if negative, there is no limit.
	MaxBytes int64

	// MaxPage limits each page, which is read into memory. The metadata of one page at a
	// time is extracted, for all Sources of a process, and takes up to five times as
	// much. If zero, it is 12 MiB; if negative, there is no limit. Extractors have limits
	// of their own.
	MaxPage int64
}

var (
	_ harvest.Source = (*Source)(nil)
	_ harvest.Getter = (*Source)(nil)
)

// Key returns Name, or Sitemap if there is none.
func (s *Source) Key() string { return cmp.Or(s.Name, s.Sitemap) }

// Root returns Sitemap.
func (s *Source) Root() string { return s.Sitemap }

// Check returns an error if the settings are not valid.
func (s *Source) Check() error {
	switch s.Sitemap {
	case "":
		return errors.New("eli: Source.Sitemap is empty")
	case s.Feed:
		return fmt.Errorf("eli: Source.Sitemap and Source.Feed are both %q; they are two documents", websync.RedactURL(s.Feed))
	}
	return s.Preferences.Check()
}

// TwoLists reports whether there is a feed beside the sitemap.
func (s *Source) TwoLists() bool { return s.Feed != "" }

// interval returns what Interval stands for.
func (s *Source) interval() time.Duration { return max(0, cmp.Or(s.Interval, 5*time.Second)) }

// includes reports whether a URI is to be yielded.
func (s *Source) includes(uri string) bool {
	if s.Include == nil {
		return IsELI(uri)
	}
	return s.Include(uri)
}

// options returns a fingerprint of the settings that change what is yielded.
func (s *Source) options() string {
	return docfetch.Fingerprint("%q %q %t %q", s.Sitemap, s.Feed, s.Include != nil, s.Profile)
}

// Events implements [harvest.Source].
func (s *Source) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	pass := docfetch.Pass{Format: "eli"}
	return pass.Events(run, func(p *docfetch.Pass) error {
		if err := s.Check(); err != nil {
			return err
		}
		w := newWalk(s, p)
		defer w.listing.file.Close()
		if s.Feed == "" {
			return w.list(ctx)
		}
		return w.run(ctx)
	})
}

// A walk is one run over the lists of a Source.
type walk struct {
	*docfetch.Pass
	source *Source
	inner  *harvest.Run // of the Sources of the lists, without a checkpoint
	lists  *polite

	from, next checkpoint

	updates *updates // of the feed before the sitemap; nil: not read, or not changed
	listing listing  // of the sitemap
	listed  bool     // the sitemap was read, or reading has ended with listErr
	listErr error
	feedErr error // the feed can't be read
	whole   bool  // all of the sitemap was read, or it has not changed
}

func newWalk(s *Source, pass *docfetch.Pass) *walk {
	lists := &polite{Fetcher: pass.Fetcher, interval: s.interval()}
	w := &walk{
		Pass: pass, source: s, lists: lists,
		inner: &harvest.Run{Full: pass.Full, Fetcher: lists, Report: pass.Report, Log: pass.Log},
	}
	options := s.options()
	var c checkpoint
	if docfetch.ReadCheckpoint(pass.From, checkpointVersion, &c) && c.Options == options {
		w.from = c
	}
	if s.FeedID != "" && s.FeedID != w.from.FeedID {
		w.from = checkpoint{FeedID: s.FeedID}
	}
	w.from.Options = options
	w.next = w.from
	return w
}

func (w *walk) resume() harvest.Checkpoint { return docfetch.Checkpoint(checkpointVersion, w.next) }

// run yields what is new in the feed and, if that is not enough, in the sitemap. If the
// forms of its URIs are not known, the sitemap is read before anything is yielded.
func (w *walk) run(ctx context.Context) error {
	if err := w.follow(ctx); err != nil {
		return err
	}
	if !w.next.needsSitemap() && !w.isDue(w.source.sitemapEvery(), w.from.Listed) && !w.isResync() {
		return nil
	}
	return w.list(ctx)
}

// sitemapEvery returns what SitemapEvery stands for; 0: never.
func (s *Source) sitemapEvery() time.Duration { return max(0, cmp.Or(s.SitemapEvery, 30*24*time.Hour)) }

// isDue reports whether something that was last done at a time has to be done again. If
// every is zero, it never has. If the time has not come yet, the clock was ahead.
func (w *walk) isDue(every time.Duration, last time.Time) bool {
	since := w.lists.now().Sub(last)
	return every > 0 && (since >= every || since < 0)
}

// isResync reports whether each page is to be asked for again.
func (w *walk) isResync() bool {
	return !w.from.Resynced.IsZero() && w.isDue(max(0, w.source.ResyncEvery), w.from.Resynced)
}

// follow yields the entries of the feed as a log. All are yielded, since a publisher may
// have added some late; the engine knows those of earlier runs.
func (w *walk) follow(ctx context.Context) error {
	u, err := w.readFeed(ctx, w.from.Feed)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		w.feedErr = err
		return w.Problem(err)
	case u == nil:
		return w.Mark(w.From, 0)
	}
	w.updates = u
	if w.from.Forms == nil {
		err := w.readSitemap(ctx)
		if _, alone := errors.AsType[*sitemapError](err); err != nil && !alone {
			return err
		}
	}
	if !w.from.Position.IsZero() && !w.from.continues(u) {
		w.Report(ruleGap.Finding(w.source.Feed, 0, 0, "feed", nil, fmt.Sprintf(
			"nothing that the feed had in the last run, up to %v, is still in it: the sitemap is read", w.from.Position)))
	}
	return w.log(u, u.ordered(), u.skipped)
}

// log yields some entries of the feed, and a Mark with the position after them.
func (w *walk) log(u *updates, some []update, skipped int) error {
	w.ExpectMore(len(some))
	for _, x := range some {
		id := w.name(&x)
		if id != x.id {
			u.variants.add(x.id)
		}
		ev := resourceEvent(id, x.at)
		if x.deleted {
			ev = harvest.Event{Kind: harvest.Delete, At: x.at, Resource: websync.Resource{ID: id, Modified: x.at}}
		}
		if err := w.Yield(ev); err != nil {
			return err
		}
	}
	u.variants.report(w, ruleVariant, w.source.Feed, "id", "are variants of URIs that the sitemap has, or of other entries")
	w.next.follow(u)
	return w.Mark(w.resume(), skipped)
}

// name returns the URI of an entry of the feed as the sitemap has it, or would have it.
func (w *walk) name(x *update) string {
	known := w.from.Forms
	if now := w.listing.forms; now != nil && len(now.Hosts) > 0 && (known == nil || !w.Incomplete()) {
		known = now
	}
	return cmp.Or(x.as, known.name(x.id))
}

// resourceEvent returns the event that says that a resource is there. Nothing of it but
// the time depends on which list has the resource. The page that is there now is never
// older than what is known, whatever its date.
func resourceEvent(id string, at websync.Datetime) harvest.Event {
	return harvest.Event{Kind: harvest.Put, Current: true,
		Resource: websync.Resource{ID: id, Modified: at, Content: websync.Link{Href: id}}}
}

// readFeed reads the feed; nil if it has not changed since from.
func (w *walk) readFeed(ctx context.Context, from inner) (*updates, error) {
	s := w.source
	u := &updates{byID: make(map[string]int32), limit: cmp.Or(s.MaxUpdates, 1_000_000)}
	feed := &atom.Source{
		URL: s.Feed, FeedID: cmp.Or(s.FeedID, w.next.FeedID), Content: []string{}, MaxBytes: s.MaxBytes,
		Profile: atom.SourceProfile{
			Name: "eli/1",
			Feed: func(feed *atom.Feed, report atom.ReportFunc) error {
				u.feedID = feed.ID
				return readFeed(feed, report)
			},
			Item: s.readItem,
		},
	}
	run := *w.inner
	run.From = harvest.Checkpoint(from)
	for ev, err := range feed.Events(ctx, &run) {
		if err = cmp.Or(err, ev.Err); err != nil {
			return nil, err
		}
		switch ev.Kind {
		case harvest.Put, harvest.Delete:
			if err := u.add(ev.Resource.ID, ev.Resource.Modified, ev.Kind == harvest.Delete); err != nil {
				return nil, w.Named(s.Feed, err)
			}
		case harvest.Mark:
			u.skipped += ev.Skipped
			if !ev.Resume.IsZero() {
				u.inner = inner(ev.Resume)
			}
		}
	}
	if w.lists.unchanged(s.Feed) {
		return nil, nil
	}
	u.now, u.read = w.lists.date(), w.lists.now()
	return u, nil
}

// readFeed is atom.SourceProfile.Feed. An update feed has one document or several pages
// (RFC 5005 §3), and is never the whole.
func readFeed(feed *atom.Feed, report atom.ReportFunc) error {
	if feed.Complete || feed.Archive {
		report(ruleFeedPart, "complete", "", "an update feed is neither complete nor an archive document: nothing is deleted")
	}
	feed.Complete, feed.Archive = false, false
	feed.Links = slices.DeleteFunc(feed.Links, func(l websync.Link) bool { return l.Rel != "next" })
	return nil
}

// readItem is atom.SourceProfile.Item. It leaves the URI and the time of an entry.
func (s *Source) readItem(item *atom.Item, report atom.ReportFunc) error {
	if t := item.Tombstone; t != nil {
		t.Ref = repairURI(t.Ref)
		if !s.includes(t.Ref) {
			item.Tombstone = nil
		}
		return nil
	}
	e := item.Entry
	id, link := repairURI(e.ID), ""
	if l, ok := e.Link("alternate"); ok {
		link = repairURI(l.Href)
	}
	switch {
	case id != e.ID:
		report(ruleMalformed, "id", e.ID, "two slashes and a host do not follow the scheme: "+id+" is meant")
	case !s.includes(id) && s.includes(link):
		report(ruleFeedURI, "id", e.ID, "the id is not the ELI: that of the link is taken")
		id = link
	case !s.includes(id):
		report(ruleOther, "id", e.ID, "not an ELI: the entry is left out")
		item.Entry = nil
		return nil
	case link != "" && link != id:
		report(ruleFeedURI, "link", link, "the link is not the ELI, "+id)
	}
	if !s.includes(id) {
		item.Entry = nil
		return nil
	}
	if e.UpdatedText != "" && e.Updated.IsZero() {
		e.Updated, _, _ = parseDatetime(e.UpdatedText) // Atom has reported it
	}
	item.Entry = &atom.Entry{ID: id, Updated: e.Updated, UpdatedText: e.UpdatedText, Line: e.Line, Column: e.Column}
	return nil
}

// list yields the sitemap, merged with the feed, as a snapshot, and then what is new in
// the feed.
func (w *walk) list(ctx context.Context) error {
	if w.source.Feed != "" && w.updates == nil && w.feedErr == nil {
		u, err := w.readFeed(ctx, inner{})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			w.feedErr = err
			if err := w.Problem(err); err != nil {
				return err
			}
		}
		w.updates = u
	}
	l := &w.listing
	err := w.readSitemap(ctx)
	var alone *sitemapError
	switch {
	case errors.As(err, &alone) && (w.source.Feed == "" || w.feedErr != nil):
		return alone.err
	case alone != nil:
		return w.Problem(alone.err)
	case err != nil:
		return err
	case l.unchanged:
		w.whole = true
		w.next.list(w.lists.now())
	default:
		if err := w.snapshot(l); err != nil {
			return err
		}
	}
	return w.followAgain(ctx, l)
}

// A sitemapError is why the sitemap could not be read.
type sitemapError struct{ err error }

func (e *sitemapError) Error() string { return e.err.Error() }

// readSitemap reads the sitemap, once. It is conditional unless all pages are to be asked
// for, or the forms of its URIs are not known.
func (w *walk) readSitemap(ctx context.Context) error {
	if !w.listed {
		w.listed, w.listErr = true, w.readListing(ctx, &w.listing)
	}
	if w.listErr != nil {
		return w.listErr
	}
	return w.adopt(w.updates)
}

// adopt lets the entries of the feed have the URIs of the sitemap. Updates may be nil.
func (w *walk) adopt(u *updates) error {
	if u == nil || len(u.all) == 0 {
		return nil
	}
	return w.listing.each(func(id string, _ websync.Datetime) error {
		if x := u.find(id); x != nil {
			x.listed, x.as = true, id
		}
		return nil
	})
}

func (w *walk) readListing(ctx context.Context, l *listing) error {
	s := w.source
	run := *w.inner
	run.Document, run.Known = w.Document, nil
	if !w.isResync() && (s.Feed == "" || w.from.Forms != nil) {
		run.From = harvest.Checkpoint(w.from.Sitemap)
	}
	l.unchanged = true
	var others, malformed oddities
	source := &sitemap.Source{URL: s.Sitemap, Complete: true, Profile: "eli/2", MaxDocuments: s.MaxDocuments,
		MaxBytes: s.MaxBytes, Extend: func(*sitemap.Reader) sitemap.Extended { return sitemap.Extended{Entry: readLastMod} }}
	for ev, err := range source.Events(ctx, &run) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return &sitemapError{err}
		}
		switch ev.Kind {
		case harvest.SnapshotStart:
			l.unchanged = false
		case harvest.Problem:
			if err := w.Problem(ev.Err); err != nil {
				return err
			}
		case harvest.Put:
			id := repairURI(ev.Resource.ID)
			if id != ev.Resource.ID {
				malformed.add(ev.Resource.ID)
			}
			if !s.includes(id) {
				others.add(id)
				continue
			}
			l.add(id, ev.Resource.Modified, w.lists.date())
		case harvest.SnapshotEnd, harvest.Mark:
			l.skipped += ev.Skipped
			l.inner = inner(ev.Resume)
		}
	}
	if err := l.finish(); err != nil {
		return err
	}
	others.report(w, ruleOther, s.Sitemap, "loc", "are not ELIs and are left out")
	malformed.report(w, ruleMalformed, s.Sitemap, "loc", "lack the two slashes before the host, which are added")
	l.variants.report(w, ruleVariant, s.Sitemap, "loc", "are variants of URIs that are listed, too: they count as one act")
	return nil
}

// readLastMod reads a lastmod that has several meanings, as publishers of legislation
// mean it.
func readLastMod(v *sitemap.View, ev *harvest.Event) {
	if v.LastMod.IsZero() {
		ev.Resource.Modified, _, _ = parseDatetime(string(v.LastModText)) // the sitemap's Reader has reported it
	}
}

// oddities counts the entries of a list that break a rule.
type oddities struct {
	first string
	n     int
}

func (o *oddities) add(uri string) {
	if o.n++; o.n == 1 {
		o.first = uri
	}
}

// report reports the entries, if there are any, in one finding.
func (o *oddities) report(w *walk, r Rule, list, element, what string) {
	if o.n > 0 {
		w.Report(r.Finding(list, 0, 0, element, []byte(o.first), fmt.Sprintf("%d entries %s", o.n, what)))
	}
}

// snapshot yields the entries of the sitemap, each with the later of its dates in sitemap
// and feed, and then the entries that only the feed has. The snapshot describes the
// moment of the latest date in the sitemap. If that was later at the last reading, what
// is known to be deleted may have a date that was since corrected: its entries count
// although their dates are earlier.
func (w *walk) snapshot(l *listing) error {
	w.ExpectMore(int(l.n) + w.updates.unlisted())
	start := harvest.Event{Kind: harvest.SnapshotStart}
	if w.source.Feed != "" {
		start.At, start.Followed = l.moment, true
	}
	if err := w.Yield(start); err != nil {
		return err
	}
	tag, corrected := w.tag(), l.moment.Before(w.from.Moment)
	give := func(id string, listed, at websync.Datetime) error {
		ev := resourceEvent(id, at)
		if w.source.Feed != "" {
			ev.Listed = listed
		}
		ev.Apart = !l.moment.IsZero() && (corrected || at.After(l.moment))
		// What has just changed gets no tag, since a tag says that the page can't change
		// without a change of its date.
		if at.IsOver(w.lists.now()) {
			ev.Tag = tag
		}
		return w.Yield(ev)
	}
	if err := w.merge(l, give); err != nil {
		return err
	}
	w.ExpectMore(0)
	if w.whole = !w.Incomplete() && l.skipped == 0; w.whole {
		now := w.lists.now()
		w.next.read(l, now)
		if w.from.Resynced.IsZero() || tag != "" {
			w.next.Resynced = now
		}
	}
	return w.Yield(harvest.Event{
		Kind: harvest.SnapshotEnd, Complete: true, Skipped: l.skipped, Options: w.next.Options, Resume: w.resume(),
	})
}

// merge gives each act of the sitemap with the newest date that sitemap and feed state,
// and then the acts that only the feed lists.
func (w *walk) merge(l *listing, give func(id string, listed, at websync.Datetime) error) error {
	err := l.each(func(id string, at websync.Datetime) error {
		listed := at
		if x := w.updates.find(id); x != nil {
			if x.deleted && (at.IsZero() || isSurelyAfter(x.at, at)) {
				return nil
			}
			if !x.deleted {
				at = newest(at, x.at)
			}
		}
		return give(id, listed, at)
	})
	if err != nil {
		return err
	}
	if w.updates == nil {
		return nil
	}
	for _, x := range w.updates.all {
		if x.listed || x.deleted {
			continue
		}
		if err := give(w.name(&x), websync.Datetime{}, x.at); err != nil {
			return err
		}
	}
	return nil
}

// tag returns the Tag by which a resynchronisation makes the states of resources new; ""
// if there is none. Get stores the state without it.
func (w *walk) tag() string {
	if !w.isResync() {
		return ""
	}
	return "resynchronised " + w.lists.now().UTC().Format(time.DateOnly)
}

// followAgain yields what is new in the feed since it was read before the sitemap, and
// reports changes that may be missing.
func (w *walk) followAgain(ctx context.Context, l *listing) error {
	if w.updates == nil {
		if l.unchanged {
			return w.Mark(w.resume(), l.skipped)
		}
		return nil
	}
	u, err := w.readFeed(ctx, w.updates.inner)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		err = w.Problem(err)
	case u == nil:
		err = w.Mark(w.resume(), 0)
	default:
		if err = w.adopt(u); err == nil {
			err = w.log(u, u.since(w.updates), max(0, u.skipped-w.updates.skipped))
		}
	}
	if err != nil || !w.whole || w.Incomplete() || !w.next.hasHole() {
		return err
	}
	return w.Problem(fmt.Errorf("eli: the latest date in the sitemap %s is %v, and the oldest in the feed was %v "+
		"when nothing in it was known: changes in between may be missing",
		websync.RedactURL(w.source.Sitemap), w.next.Moment, w.next.Since))
}

// graphName is the name of the body with the metadata.
const graphName = "graph"

// maxRefreshes limits how many redirects in HTML are followed for one resource.
const maxRefreshes = 5

// Get implements [harvest.Getter].
func (s *Source) Get(ctx context.Context, job *harvest.Job) error {
	job.Tag = "" // that of a resynchronisation is not part of the state
	p, err := s.page(ctx, job)
	if err != nil {
		return err
	}
	links := p.act.links()
	if len(links) > maxLinks {
		job.Report(ruleFormats.Finding(p.url, 0, 0, "", nil,
			fmt.Sprintf("%d formats: only the first %d are among the links", len(links), maxLinks)))
		links = links[:maxLinks]
	}
	r := &job.Resource
	r.Content = websync.Link{}
	obtained := map[string]bool{} // URLs
	lists, reasons := p.act.choose(s.Preferences)
	if len(reasons) > 0 {
		job.Report(ruleFullTextNone.Finding(p.url, 0, 0, "is_embodied_by", []byte(p.act.URI), strings.Join(reasons, "; ")))
	}
	for _, list := range lists {
		if err := s.text(ctx, job, p, list, links, obtained); err != nil {
			return err
		}
	}
	links.describe(r)
	r.Title, r.Lang = p.act.title(append([]string{r.Content.Lang}, s.Preferences.Languages...)...), r.Content.Lang
	return nil
}

// page obtains the page of a resource and keeps its graph.
func (s *Source) page(ctx context.Context, job *harvest.Job) (*page, error) {
	url := job.Resource.ID
	for n := 0; ; n++ {
		p, err := s.visit(ctx, job, url)
		switch {
		case err != nil && n > 0:
			return nil, docfetch.NewPartError("eli: page", url, err)
		case err != nil:
			return nil, fmt.Errorf("eli: page: %w", err)
		case p.held && !s.Linked:
			_, err := job.Reuse(graphName)
			return p, err
		case !p.held:
			err = p.read(job.Resource.ID, s.extractors(), job.Report)
		}
		next := ""
		if errors.Is(err, ErrNoMetadata) || errors.Is(err, ErrNotDescribed) {
			next = p.refresh()
		}
		if next == "" || n >= maxRefreshes {
			if err == nil && s.Linked {
				p, err = s.follow(ctx, job, p)
			}
			if err == nil {
				err = s.keepGraph(ctx, job, p)
			}
			return p, err
		}
		job.Report(ruleRefresh.Finding(p.final, 0, 0, "meta", []byte(next),
			"the page redirects by HTML, which clients need not follow"))
		url = next
	}
}

// maxLinked limits the pages of expressions that are requested for one resource.
const maxLinked = 100

// follow adds the metadata of the expressions that a page only links to (§3.2.2). A graph
// that the Store holds may have some of them, of which it is not known whether they have
// changed: the page is requested again.
func (s *Source) follow(ctx context.Context, job *harvest.Job, p *page) (*page, error) {
	if p.held && len(p.act.Expressions) > 0 {
		again, err := s.whole(ctx, job, p)
		if err != nil {
			return nil, fmt.Errorf("eli: page: %w", err)
		}
		if err := again.read(p.uri, s.extractors(), job.Report); err != nil {
			return nil, err
		}
		p = again
	}
	all := p.graph.triples
	n := 0
	for i := range p.act.Expressions {
		x := &p.act.Expressions[i]
		if !x.Linked || syntax.HTTPHost(x.URI) == 0 || samePage(x.URI, p.url) || samePage(x.URI, p.final) {
			continue
		}
		if n++; n > maxLinked {
			job.Report(ruleLinked.Finding(p.url, 0, 0, "is_realized_by", []byte(x.URI),
				fmt.Sprintf("more than %d: the rest is left out", maxLinked)))
			break
		}
		g, err := s.linked(ctx, job, p, x.URI)
		if err != nil {
			return nil, docfetch.NewPartError("eli: page of an expression", x.URI, err)
		}
		if g != nil {
			all = appendRelabelled(all, g.triples, i+1)
		}
	}
	if n == 0 {
		return p, nil
	}
	p.graph = newGraph(all, len(all), p.final, p.uri, job.Report)
	var err error
	p.act, err = p.graph.Resource(p.uri)
	return p, err
}

// linked returns the graph of the page of an expression. It is nil, which is a finding, if
// the page is gone or does not describe the expression, unless the Store has metadata of
// the expression: then that is an error, and what is known stays.
func (s *Source) linked(ctx context.Context, job *harvest.Job, p *page, uri string) (*Graph, error) {
	req := &harvest.Request{URL: uri, Accept: typeHTML, Interval: s.interval(),
		MaxBytes: cmp.Or(s.MaxPage, document.PageBytes)}
	resp, err := job.Fetch(ctx, req)
	gone := errors.Is(err, websync.ErrGone)
	if err != nil && !gone {
		return nil, err
	}
	var g *Graph
	if !gone {
		x := &page{uri: uri, url: uri, final: cmp.Or(resp.URL, uri)}
		if err = x.receive(resp); err == nil {
			g, err = x.describing(s.extractors(), job.Report)
		}
	}
	switch {
	case err == nil:
		return g, nil
	case !gone && !errors.Is(err, websync.ErrNotDocument) && !errors.Is(err, ErrNoMetadata) && !errors.Is(err, ErrNotDescribed):
		return nil, err
	case !gone && s.knows(ctx, job, uri):
		return nil, err
	}
	job.Report(ruleLinked.Finding(p.url, 0, 0, "is_realized_by", []byte(uri), "its metadata are left out: "+err.Error()))
	return nil, nil
}

// knows reports whether the Store has metadata of an expression.
func (s *Source) knows(ctx context.Context, job *harvest.Job, uri string) bool {
	quads, err := job.Open(ctx, graphName)
	if err != nil {
		return false
	}
	defer quads.Close()
	g, _, err := ReadGraph(quads)
	if err != nil {
		return false
	}
	node, err := g.find(uri)
	return err == nil && g.describes(node)
}

func (s *Source) extractors() []Extractor {
	if len(s.Extractors) == 0 {
		return []Extractor{&rdfa.Extractor{MaxBytes: s.MaxPage}}
	}
	return s.Extractors
}

// visit requests a page. If the Store holds its graph, and the server answers "not
// modified", the page has that graph.
func (s *Source) visit(ctx context.Context, job *harvest.Job, url string) (*page, error) {
	req := job.Request(graphName, websync.Link{Href: url, Type: typeHTML})
	req.Interval, req.MaxBytes = s.interval(), cmp.Or(s.MaxPage, document.PageBytes)
	resp, err := job.Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	p := &page{uri: job.Resource.ID, url: url, final: cmp.Or(resp.URL, url)}
	if !resp.NotModified {
		return p, p.receive(resp)
	}
	if body, err := job.Open(ctx, graphName); err == nil {
		err = errors.Join(p.restore(body), body.Close())
		if err == nil {
			return p, nil
		}
	}
	return s.whole(ctx, job, p) // the Store has lost the graph
}

// whole requests a page again, unconditionally.
func (s *Source) whole(ctx context.Context, job *harvest.Job, p *page) (*page, error) {
	req := &harvest.Request{URL: p.url, Accept: typeHTML, Interval: s.interval(),
		MaxBytes: cmp.Or(s.MaxPage, document.PageBytes)}
	resp, err := job.Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	again := &page{uri: p.uri, url: p.url, final: cmp.Or(resp.URL, p.url)}
	return again, again.receive(resp)
}

// receive reads the answer to the request for a page.
func (p *page) receive(resp *harvest.Response) error {
	data, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	p.data, p.contentType = data, docfetch.ContentType(resp.Header)
	return p.check(resp.MayBeCut)
}

func (s *Source) keepGraph(ctx context.Context, job *harvest.Job, p *page) error {
	var quads bytes.Buffer
	if err := p.graph.WriteQuads(&quads, graphIRI(p.uri)); err != nil {
		return err
	}
	_, err := job.Keep(ctx, graphName, websync.Link{Rel: "describedby", Href: p.url, Type: typeQuads}, &quads)
	return err
}

// text obtains the first file of a list that is there: the content of the resource or, if
// it has one, an alternate.
func (s *Source) text(ctx context.Context, job *harvest.Job, p *page, list []Candidate, links links,
	obtained map[string]bool) error {
	r := &job.Resource
	var gone error
	for i := range list {
		c := &list[i]
		if obtained[c.URL] {
			return nil
		}
		undo := links.choose(c)
		link, before := websync.Link{Href: c.URL, Type: c.MediaType, Lang: c.Lang}, r.Content
		if r.Content.Href == "" {
			r.Content = link
		} else {
			link.Rel = "alternate"
		}
		links.describe(r)
		err := s.file(ctx, job, p, r.BodyName(&link), link)
		if err == nil {
			obtained[c.URL] = true
			return nil
		}
		if !errors.Is(err, websync.ErrGone) {
			return docfetch.NewPartError("eli: full text", c.URL, err)
		}
		undo()
		r.Content, gone = before, err
	}
	if gone != nil {
		job.Report(ruleFullTextGone.Finding(p.url, 0, 0, "", []byte(list[0].URL),
			fmt.Sprintf("none of %d formats is there: %v", len(list), gone)))
	}
	return nil
}

// file obtains one file as a body. If it is the page itself, it is not requested again.
func (s *Source) file(ctx context.Context, job *harvest.Job, p *page, name string, link websync.Link) error {
	if samePage(link.Href, p.uri) || samePage(link.Href, p.url) || samePage(link.Href, p.final) {
		return s.keepPage(ctx, job, p, name, link)
	}
	req := job.Request(name, link)
	req.Interval = s.interval()
	if link.Type != "" {
		req.Accept += ", */*;q=0.5"
	}
	resp, err := job.Fetch(ctx, req)
	if err != nil {
		return err
	}
	if resp.NotModified {
		return job.Receive(ctx, name, link, resp)
	}
	body := bufio.NewReader(resp.Body)
	if _, err := body.Peek(1); err == io.EOF {
		return errors.Join(errEmpty, resp.Body.Close())
	}
	if types := resp.Header["Content-Type"]; len(types) > 0 && !isOfKind(types[0], link.Type) {
		job.Report(ruleFormatType.Finding(p.url, 0, 0, "", []byte(link.Href),
			fmt.Sprintf("stated as %s, and sent as %.100q", link.Type, types[0])))
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{body, resp.Body}
	return job.Receive(ctx, name, link, resp)
}

// keepPage keeps the page as a body. If only its graph is known, and the Store does not
// hold the page either, it is requested again.
func (s *Source) keepPage(ctx context.Context, job *harvest.Job, p *page, name string, link websync.Link) error {
	if p.data == nil {
		if b, ok := job.Held.Body(name); ok && b.Link.Href == link.Href {
			_, err := job.Reuse(name)
			return err
		}
		again, err := s.whole(ctx, job, p)
		if err != nil {
			return err
		}
		p.data, p.contentType = again.data, again.contentType
	}
	link.Type = p.contentType
	_, err := job.Keep(ctx, name, link, bytes.NewReader(p.data))
	return err
}

// A polite is a Fetcher that keeps an interval, and notes what the answers say.
type polite struct {
	harvest.Fetcher
	interval time.Duration

	mu     sync.Mutex
	latest time.Time       // Date
	same   map[string]bool // by URL: the last answer was "not modified"
}

// Fetch implements [harvest.Fetcher].
func (p *polite) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	paced := *req
	paced.Interval = max(paced.Interval, p.interval)
	resp, err := p.Fetcher.Fetch(ctx, &paced)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.same == nil {
		p.same = make(map[string]bool)
	}
	p.same[req.URL] = resp.NotModified
	if date := docfetch.Time(resp, "Date"); date.After(p.latest) {
		p.latest = date
	}
	return resp, nil
}

// unchanged reports whether the last answer for a URL was "not modified".
func (p *polite) unchanged(url string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.same[url]
}

// date returns the latest Date of the answers; zero if none had one.
func (p *polite) date() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latest
}

// now returns the time by the server's clock, or by the local one if the server states
// none.
func (p *polite) now() time.Time {
	if date := p.date(); !date.IsZero() {
		return date
	}
	return time.Now()
}
