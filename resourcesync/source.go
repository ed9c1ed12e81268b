package resourcesync

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/sitemap"
)

// A Source harvests one set of resources: what one Capability List offers.
//
// The first run makes a baseline of the Resource List, or of an index and all that it
// lists: a snapshot, so that what it does not list is deleted. Then, and in every later
// run, the Change Lists say what has changed since. They are followed as Z39.99 §12
// describes: a list that is open is read again, conditionally; after one that is closed
// come those that the index or the Capability List names next. If nothing is new, the
// Capability List is asked, too: a publisher may have left an open list behind. The order
// of the entries is what counts: a time that is before that of an earlier entry stands
// for the same moment as that one, and a datetime that is so is a finding. But in doubt
// nothing is deleted: a deletion with a datetime before that of an earlier entry, or
// before the interval of its list, is not carried out if it is also more than an hour
// before the at of the baseline. It counts as an entry that can't be read. One in that
// hour is carried out only if the server has nothing at the URI, or the baseline does not
// list it.
//
// A list with many such times is not in the order of the changes, and may have the newest
// first: then the times show which change of a resource is the last, which is one
// finding. Nothing is requested for the changes of it that are held, and it is read again
// as long as its latest time may still be that of another change.
//
// If many changes are new, the packages of a Change Dump that are cheaper than a request
// for each are used (§13). A Change Dump without a Change List is followed in its place:
// the manifests of its packages are the log. A manifest beside a package is read in the
// place of the one in it, unless it is not as the dump states.
//
// The position in the log survives lists that grow, are rewritten, split or moved to an
// index, entries of one time, and entries without any. A list that begins later than its
// index states shows that the publisher has closed others since the index was read. Then
// the index is read again, up to three times in a run, and only the lists after those
// that were read. If they still do not fit, that is a Problem: the changes before it are
// yielded, and the next run continues after them.
//
// If the oldest list begins after the position, changes may have passed unseen: that is a
// finding, and a new baseline is made. So is one if a list still begins later than its
// index states after a run that could read none before it; if the publisher's clock was
// set back, and neither the entries nor the intervals of the lists say which changes are
// new; and one in each run if no Change List is offered.
//
// A document that can't be read is a Problem: what comes after it is yielded, but the
// checkpoint stays before it. Entries that can't be read count as skipped, those of a
// Change List in each run until the next baseline. While one of an index can't be read,
// each run reads all lists after the position again.
//
// Departures of the documents go to [harvest.Run.Report].
type Source struct {
	// URL is that of the Capability List, or of a Source Description that names only one.
	// It is required.
	URL string

	// Name is the Source's key in a Catalog. If empty, it is URL.
	Name string

	// Include, if set, chooses the resources to yield by their URI. Deletions of the
	// others are not yielded either, and they don't count as skipped.
	Include func(uri string) bool

	// Collections, if not empty, chooses the resources to yield by their membership:
	// those with a link collection to one of these URIs (Z39.99 §14.7). A change of a
	// resource without such a link deletes it from the Store, so all lists of a publisher
	// must state the memberships. Resources that are not members don't count as skipped.
	Collections []string

	// Profile names the choices that Include and Select make. When it changes everything
	// is read anew, and what is no longer yielded is not deleted without approval.
	Profile string

	// Types are the media types in which the content of a resource is wanted, the best
	// first; image/* stands for all images (Z39.99 §14.3). If empty, the content is what
	// loc leads to. Otherwise it is the best of what the entry describes: loc, or an
	// alternate, which is verified by what its link states. If none of them has a wanted
	// type, loc without a stated type and the generic URI of a link canonical are
	// requested with an Accept header. If they do not have a wanted type either, the
	// content is what loc leads to. An error that may be temporary fails the attempt: the
	// next one begins again with the best.
	//
	// What the Store holds is not obtained anew when Types changes, unless
	// [harvest.Harvester.Recheck] is set.
	Types []string

	// DescribedBy also obtains the metadata documents of a resource: what its links
	// describedby lead to on the web (Z39.99 §14.5). Each is a body beside the content,
	// with the name that [websync.Resource.BodyName] returns, such as "describedby
	// application/xml". Content and metadata become visible together: if a document can't
	// be obtained, the attempt fails, and what the Store holds stays.
	//
	// The pair is obtained anew when the entry of the resource states something else,
	// such as another time or digest of the link describedby. If the publisher changes a
	// metadata document and not the entry of the resource, the pair stays as it is until
	// [harvest.Harvester.Recheck]. A metadata document that is listed itself is also a
	// resource of its own, which is always in step; its link describes leads to the
	// resource.
	DescribedBy bool

	// Select, if set, decides by its metadata documents whether the content of a resource
	// is wanted. It is called with each of them, verified, and its link. The content is
	// obtained if Select returns true for one of them, or if there are none; otherwise
	// the record has the metadata and no content. An error fails the attempt. Select
	// implies DescribedBy, and is called from several goroutines. It decides again when
	// the pair is obtained anew.
	Select func(r *websync.Resource, link websync.Link, metadata io.Reader) (bool, error)

	// Versions chooses among the versions of a resource over time. It does not concern
	// bytes that come in a package, which are of the announced version.
	Versions Versions

	// MaxMementos limits the mementos of one resource that EveryVersion yields. If zero,
	// it is 10,000; if negative, there is no limit. More are a finding, and count as
	// skipped.
	MaxMementos int

	// NoDumps makes every run fetch resources one by one, although dumps of them are
	// offered besides lists. By default the first baseline is made of the Resource Dump,
	// and later ones, of which little is new, of the Resource List. Packages of the
	// Change Dump are used where they are cheaper than one request for each of their
	// changes.
	NoDumps bool

	// Parallel is how many documents are fetched ahead. If zero or negative, it is 4.
	Parallel int

	// MaxDocuments limits the documents of one run. If zero, it is 50,000; if negative,
	// there is no limit.
	MaxDocuments int

	// MaxBytes limits each document, decompressed. If zero, it is 1 GiB; if negative,
	// there is no limit.
	MaxBytes int64

	// MaxPackage limits each package of a dump, in bytes. If zero, it is 64 GiB; if
	// negative, there is no limit. A package is kept in a temporary file while its
	// resources are read.
	MaxPackage int64

	root string // that led to URL
}

var (
	_ harvest.Source = (*Source)(nil)
	_ harvest.Getter = (*Source)(nil)
)

// Key returns Name, or URL if there is none.
func (s *Source) Key() string { return cmp.Or(s.Name, s.URL) }

// Check reports what is wrong with the settings.
func (s *Source) Check() error {
	return errors.Join(docfetch.CheckURL("resourcesync", s.URL), checkTypes(s.Types))
}

// Root returns URL or, if Discover has found it, the URL that Discover was given: what a
// publisher links to is nobody's to trust.
func (s *Source) Root() string { return cmp.Or(s.root, s.URL) }

// options is a fingerprint of what decides what is yielded.
func (s *Source) options() string {
	return docfetch.Fingerprint("%q %t %q %q %t", s.URL, s.Include != nil, s.Profile, s.Collections, s.Versions == EveryVersion)
}

// accept is the Accept header of requests for documents.
const accept = "application/xml, text/xml;q=0.9, */*;q=0.5"

// Events implements [harvest.Source].
func (s *Source) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	pass := docfetch.Pass{Format: "resourcesync", Accept: accept}
	return pass.Events(run, func(p *docfetch.Pass) error {
		if err := s.Check(); err != nil {
			return err
		}
		return newWalk(s, p).run(ctx)
	})
}

// Payload returns a Source that yields the changes of a Change Notification: a small
// Change List that a hub of WebSub sends (ResourceSync Change Notification 1.0.1). It
// fits schedule.PayloadSource. The notification is refused if it is not a whole Change
// List, if its link up leads elsewhere than to URL, if an entry is not a change of a
// resource with a time and a URI that a Store takes, or if a change lies more than an
// hour ahead of the local clock.
//
// The run ends in an error unless earlier runs have made a baseline and followed Change
// Lists with times, and all changes are later than those: earlier ones may come again, or
// come too late. It leaves the checkpoint where it is. So the next run of s reads the
// same changes in the Change Lists, finds them known, and corrects what came in another
// order.
func (s *Source) Payload(body []byte) (harvest.Source, error) {
	p := &payload{s, body}
	if err := p.check(time.Now()); err != nil {
		return nil, err
	}
	return p, nil
}

// A payload is a Source of what a Change Notification lists.
type payload struct {
	*Source
	body []byte
}

var _ harvest.Getter = (*payload)(nil)

// Events implements [harvest.Source].
func (p *payload) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	pass := docfetch.Pass{Format: "resourcesync", Accept: accept}
	return pass.Events(run, func(pass *docfetch.Pass) error { return newWalk(p.Source, pass).notification(p) })
}

// Channel returns where changes of the set are announced: the URLs that WebSub calls
// topic and hub. They are those of the links with the relations self and hub of the
// Capability List or, if it does not have both, of its Change List; links in HTTP headers
// come before those in the document. Hubs of https come first, because only such hubs
// sign what they send. If nothing is announced, both are empty.
func (s *Source) Channel(ctx context.Context, fetcher harvest.Fetcher) (topic string, hubs []string, err error) {
	if err := s.Check(); err != nil {
		return "", nil, err
	}
	run := (&harvest.Run{Fetcher: &rooted{fetcher, s.Root()}}).WithDefaults()
	return newWalk(s, &docfetch.Pass{Run: run, Format: "resourcesync", Accept: accept}).channel(ctx)
}

// list yields a Resource List, or all that an index lists, as a snapshot.
func (w *walk) list(ctx context.Context, url string) error {
	l := &resourceList{walk: w, stated: make(map[docfetch.Key]websync.Datetime), made: make(map[docfetch.Key]websync.Datetime)}
	source := &sitemap.Source{
		URL: url, Complete: true, Extend: l.extend, Profile: w.source.Profile,
		Parallel: w.source.Parallel, MaxDepth: 1, MaxDocuments: w.source.MaxDocuments, MaxBytes: w.source.MaxBytes,
	}
	if w.source.Include != nil {
		source.Include = func(loc string) bool { return w.source.Include(loc) }
	}
	run := *w.Run
	run.Document = func(doc harvest.ListedDocument) {
		l.mu.Lock()
		if at := l.made[docfetch.KeyOf(doc.URL)]; !at.IsZero() {
			doc.Made = at.Time()
		}
		l.mu.Unlock()
		w.Document(doc)
	}
	run.Known = nil // which records a part lists is not kept: with a new At all of them are read
	run.From = harvest.Checkpoint{}
	if !w.from.Stale {
		run.From = harvest.Checkpoint(w.from.List)
	}
	next, stop := iter.Pull2(source.Events(ctx, &run))
	defer stop()
	start, err, ok := next()
	if err != nil || !ok {
		return err
	}
	if start.Kind == harvest.Mark {
		return w.unchanged(ctx, start.Skipped)
	}
	return w.snapshot(ctx, w.baselineTime(url, l.at), func() (skipped int, err error) {
		defer l.end(url)
		for {
			ev, err, ok := next()
			if err != nil || !ok {
				return 0, err
			}
			if ev.Kind == harvest.SnapshotEnd {
				if l.twice == 0 { // which the checkpoint of a sitemap does not know
					w.next.List = listCheckpoint(ev.Resume)
				}
				return ev.Skipped + l.twice, nil
			}
			ev.Document = ""
			if err := w.yieldListed(ev); err != nil {
				return 0, err
			}
		}
	})
}

// unchanged goes on after a Resource List that is still the one of the last baseline.
func (w *walk) unchanged(ctx context.Context, skipped int) error {
	skipped += w.hidden
	if w.next.Root == "" {
		return w.Mark(w.From, skipped)
	}
	w.next.Log, w.next.List = w.from.Log, w.from.List
	w.countListed(skipped)
	since, err := w.sinceBaseline(ctx)
	if err != nil {
		return err
	}
	return w.yieldQueue(ctx, since)
}

// countListed notes how many entries of the baseline could not be read.
func (w *walk) countListed(skipped int) {
	w.next.Skipped += skipped
	if w.next.Damaged = skipped > 0; !w.next.Damaged && w.next.Root != "" {
		w.next.List = listCheckpoint{}
	}
}

// A listCheckpoint is the checkpoint of a Resource List in a checkpoint.
type listCheckpoint harvest.Checkpoint

// maxID limits the bytes of a URI.
const maxID = harvest.MaxID

// A resourceList reads what the documents of a Resource List have besides a sitemap.
type resourceList struct {
	*walk
	mu       sync.Mutex
	rooted   bool                              // the root, which comes first, was read
	at       websync.Datetime                  // of the root
	earliest websync.Datetime                  // of all the documents
	stated   map[docfetch.Key]websync.Datetime // at of the parts, as their index says
	made     map[docfetch.Key]websync.Datetime // at of the documents
	twice    int                               // entries with two md
}

// end moves the position back to the moment of the earliest document.
func (l *resourceList) end(url string) {
	if l.earliest.Before(l.at) {
		l.reportOlder(url, l.earliest, l.at)
		l.older = true
	}
	l.begin(l.earliest)
}

// begin moves the position back to the moment of the earliest document of a baseline.
func (w *walk) begin(earliest websync.Datetime) {
	if log := &w.next.Log; earliest.Before(log.Time) {
		log.At, log.Time = earliest, earliest
	}
}

// reportOlder reports that a part of a baseline is from before the moment of the whole.
func (w *walk) reportOlder(document string, earliest, at websync.Datetime) {
	w.Report(ruleContents.Finding(document, 0, 0, "md", []byte(earliest.String()),
		fmt.Sprintf("a part of it is of %v, before the at of the whole, %v: changes are read since then", earliest, at)))
}

// extend is sitemap.Source.Extend.
func (l *resourceList) extend(r *sitemap.Reader) sitemap.Extended {
	s := newScanner(r.Document, r.Document)
	s.reports.To = r.Report
	r.Take = s.take
	return sitemap.Extended{
		Entry: func(v *sitemap.View, ev *harvest.Event) {
			if view := s.turn(v); !view.twice {
				e := view.Clone()
				describe(&ev.Resource, &e)
			}
		},
		Part: func(v *sitemap.View) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.stated[docfetch.KeyOf(string(v.Loc))] = s.turn(v).Metadata.At
		},
		End: func() error {
			s.end()
			if c := s.head.Metadata.Capability; c != ResourceList {
				return fmt.Errorf("the capability %.100q, not that of a Resource List: %w", c, websync.ErrNotDocument)
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.twice += s.twice
			at := s.head.Metadata.At
			l.made[docfetch.KeyOf(r.Document)] = at
			if stated := l.stated[docfetch.KeyOf(r.Document)]; !at.IsZero() && at.Before(stated) {
				return fmt.Errorf("at %v is before %v, which the index states: it may be an old copy", at, stated)
			}
			if !l.rooted {
				l.rooted, l.at, l.earliest = true, at, at
			} else if !at.IsZero() && at.Before(l.earliest) {
				l.earliest = at
			}
			return nil
		},
	}
}

// snapshot yields what list yields as a snapshot, and then what has changed since the
// moment that it describes.
func (w *walk) snapshot(ctx context.Context, at websync.Datetime, list func() (skipped int, err error)) error {
	if err := w.Mark(w.before(at), 0); err != nil {
		return err
	}
	if err := w.Yield(harvest.Event{Kind: harvest.SnapshotStart, At: at, Followed: w.next.Root != ""}); err != nil {
		return err
	}
	defer w.notes.close()
	skipped, err := list()
	if err != nil {
		return err
	}
	var since *changeQueue
	if w.next.Root != "" { // a Problem of the log comes before the end of the snapshot: nothing is deleted
		if since, err = w.sinceBaseline(ctx); err != nil {
			return err
		}
		defer since.Close()
	}
	versions, err := w.listedVersions(ctx, since)
	if err != nil {
		return err
	}
	skipped += w.hidden
	w.countListed(skipped)
	w.counted = skipped
	skipped += versions
	if again := w.from.Options != "" || w.Full; again && since != nil && (at.IsZero() || w.older) {
		skipped++ // what the log has put may be later than the list: its absence deletes nothing
	}
	end := harvest.Event{Kind: harvest.SnapshotEnd, Complete: true, Skipped: skipped, Options: w.next.Options, Resume: w.resume()}
	if err := w.Yield(end); err != nil || since == nil {
		return err
	}
	return w.yieldQueue(ctx, since)
}

// changedVersions yields the versions of resources that have changed. Their times are not
// in the order of the log, so they come as a snapshot, one that deletes nothing.
func (w *walk) changedVersions(ctx context.Context, b *changeQueue) error {
	if w.notes.file.Size() == 0 {
		return nil
	}
	defer w.notes.close()
	if err := w.Yield(harvest.Event{Kind: harvest.SnapshotStart}); err != nil {
		return err
	}
	skipped, err := w.yieldVersions(ctx, b.names)
	if err != nil {
		return err
	}
	return w.Yield(harvest.Event{Kind: harvest.SnapshotEnd, Skipped: skipped, Options: w.next.Options})
}

// abandon ends a snapshot before its end: it deletes nothing.
func (w *walk) abandon() error {
	return w.Yield(harvest.Event{Kind: harvest.SnapshotEnd, Options: w.next.Options})
}

// baselineTime returns the moment that a document states for its baseline; zero, which is
// reported, if it states none or one that lies ahead of the server's clock.
func (w *walk) baselineTime(document string, at websync.Datetime) websync.Datetime {
	const most = 24 * time.Hour
	switch {
	case at.IsZero():
		w.Report(ruleTimeMissing.Finding(document, 0, 0, "", nil, "no at: all changes that are listed are taken for later ones"))
	case !w.date.IsZero() && at.Time().After(w.date.Add(most)):
		w.Report(ruleAhead.Finding(document, 0, 0, "", nil,
			fmt.Sprintf("at %v is more than a day after %v, by the server's clock", at, w.date)))
		return websync.Datetime{}
	}
	return at
}

// before returns the checkpoint for a baseline that begins: the changes since the moment
// that it describes, or since that of an earlier one that was not completed, are still to
// be yielded.
func (w *walk) before(at websync.Datetime) harvest.Checkpoint {
	w.next.Log = cursor{At: at, Time: at}
	if known := w.from.Log.Clock; !at.After(known) {
		w.next.Log.Clock = known // some records may have a later time than the baseline
	}
	if from := w.from.Log.Time; !w.from.Listed && !from.IsZero() && from.Before(at) {
		w.next.Log.At, w.next.Log.Time = from, from
	}
	begun := w.next
	begun.Listed = false
	return docfetch.Checkpoint(checkpointVersion, &begun)
}

func (w *walk) resume() harvest.Checkpoint { return docfetch.Checkpoint(checkpointVersion, &w.next) }

// includes reports whether a resource is to be yielded.
func (w *walk) includes(uri []byte) bool {
	return len(uri) <= maxID && (w.source.Include == nil || w.source.Include(string(uri)))
}

// change returns the event of an entry of a Change List.
func (w *walk) change(v *View, at websync.Datetime) harvest.Event {
	if w.source.removes(v) {
		unsure := isBefore(at, w.next.Log.At.Time())
		return harvest.Event{Kind: harvest.Delete, At: at, Resource: websync.Resource{ID: string(v.Loc)}, Unsure: unsure}
	}
	e, r := changed(v)
	if at == r.Modified {
		at = websync.Datetime{} // as in a Resource List
	}
	return harvest.Event{Kind: harvest.Put, At: at, Resource: r, Hint: hintOf(&e)}
}

// putChange yields the event of an entry of a Change List. A change is new if it is later
// than those that earlier runs have yielded, or at the time of the last of those.
func (w *walk) putChange(v *View, at websync.Datetime, open func() (io.ReadCloser, error)) error {
	ev := w.change(v, at)
	if ev.Kind == harvest.Put {
		ev.Open = open
		ev.Recheck = w.from.Log.URL != "" && !at.Before(w.from.Log.Clock)
	}
	return w.Yield(ev)
}

// putAnnounced yields the event of an entry of a Change Notification, which no earlier
// run has read.
func (w *walk) putAnnounced(v *View, at websync.Datetime) error {
	ev := w.change(v, at)
	ev.Recheck = ev.Kind == harvest.Put
	return w.Yield(ev)
}

// changed returns the resource of a change.
func changed(v *View) (e Entry, r websync.Resource) {
	e = v.Clone()
	r = resource(&e)
	if r.Modified.IsZero() {
		r.Modified = e.Metadata.Datetime
	}
	return e, r
}

// bitstream yields the event of an entry of a manifest. If open is nil, the resource is
// fetched.
func (w *walk) bitstream(e *Entry, open func() (io.ReadCloser, error)) error {
	return w.yieldListed(harvest.Event{Kind: harvest.Put, Resource: resource(e), Open: open})
}

// yieldListed yields an event of a baseline, unless its resource is not wanted.
func (w *walk) yieldListed(ev harvest.Event) error {
	isPut := ev.Kind == harvest.Put
	if isPut && !w.source.collects(ev.Resource.Links) {
		return nil
	}
	if err := w.Yield(ev); err != nil || !isPut {
		return err
	}
	return w.noteListed(&ev.Resource)
}

// putVersion yields the event of a version of a resource.
func (w *walk) putVersion(r websync.Resource) error {
	return w.Yield(harvest.Event{Kind: harvest.Put, Resource: r, Apart: true})
}

// A hint is what a change says of how to get the resource (Z39.99 §14.4).
type hint struct {
	Patch  string          `json:"patch"` // URL
	Type   string          `json:"type"`
	Length int64           `json:"length,omitzero"`
	Hash   websync.Digests `json:"hash,omitempty"`
}

// hintOf returns the Hint of an event: the first patch that can be applied; nil if there
// is none.
func hintOf(e *Entry) []byte {
	for i := range e.Links {
		l := &e.Links[i]
		if l.Rel == RelationPatch && canPatch(l.Type) && syntax.HTTPHost(l.Href) > 0 && l.Length <= maxPatched {
			// a struct of texts and numbers can always be encoded
			data, _ := json.Marshal(hint{l.Href, l.Type, l.Length, l.Digests})
			return data
		}
	}
	return nil
}

// Get implements [harvest.Getter]. It obtains the metadata documents of a resource, if
// they are wanted, and its content: the representation that Types chooses. That at loc is
// obtained by a patch of what the Store holds, if the change came with one and states a
// digest to verify the result by (Z39.99 §14.4); else as the announced version, if
// Versions wants that (§14.6); else from its mirrors on the web, in the order of their
// pri (§14.2); else from its URI.
func (s *Source) Get(ctx context.Context, job *harvest.Job) error {
	if job.Held != nil && isMemento(&job.Resource) && !isMemento(&job.Held.Resource) {
		job.Resource = job.Held.Resource // a TimeMap named what the set lists
		return job.ReuseAll()
	}
	if wanted, err := s.describe(ctx, job); err != nil || !wanted {
		return err
	}
	came, err := job.Came()
	has := err == nil
	if has {
		err = came.Close()
	}
	for _, c := range choices(&job.Resource, s.Types) {
		if has && c.link.Href == job.Resource.Content.Href {
			continue
		}
		if err := s.choose(ctx, job, &c); err == nil || !isFinal(ctx, err) {
			return err
		}
	}
	if has {
		return errors.Join(err, job.Content(ctx))
	}
	return s.obtain(ctx, job)
}

// isFinal reports whether a later attempt at the same would fail, too, so that something
// else is to be tried.
func isFinal(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !errors.Is(err, harvest.ErrNotYet) && !errors.Is(err, harvest.ErrTemporary)
}

// obtain obtains the representation at loc.
func (s *Source) obtain(ctx context.Context, job *harvest.Job) error {
	if patched(ctx, job) {
		return nil
	}
	if s.Versions != LatestVersion {
		if err := announced(ctx, job); err == nil || !isFinal(ctx, err) {
			return err
		}
	}
	for _, link := range mirrors(&job.Resource) {
		err := job.Obtain(ctx, websync.ContentName, link)
		if err == nil || ctx.Err() != nil || errors.Is(err, harvest.ErrNotYet) {
			return err
		}
	}
	err := job.Content(ctx)
	if s.Versions == LatestVersion && errors.Is(err, websync.ErrMismatch) && announced(ctx, job) == nil {
		return nil
	}
	return err
}

// announced obtains the version of a resource that its entry announces (§14.6).
func announced(ctx context.Context, job *harvest.Job) error {
	err := errNoVersion
	if link, ok := mementoOf(&job.Resource); ok {
		link.Modified = websync.Datetime{}
		if err = job.Obtain(ctx, websync.ContentName, link); err == nil || !isFinal(ctx, err) {
			return err
		}
	}
	if gates := targets(&job.Resource, "timegate"); len(gates) > 0 && !job.Resource.Modified.IsZero() {
		err = negotiated(ctx, job, gates[0].Href)
	}
	return err
}

var errNoVersion = errors.New("resourcesync: no link to the announced version")

// negotiated obtains the announced version of a resource from a TimeGate (RFC 7089 §4.2).
func negotiated(ctx context.Context, job *harvest.Job, timeGate string) error {
	link, modified := job.Resource.Content, job.Resource.Modified
	resp, err := job.Fetch(ctx, &harvest.Request{
		URL: timeGate, Accept: link.Type, Identity: link.Verifiable() && link.Encoding == "",
		Header: map[string][]string{"Accept-Datetime": {acceptDatetime(modified)}},
	})
	if err != nil {
		return err
	}
	text := header(resp, "Memento-Datetime")
	at, ok := mementoTime(text)
	switch {
	case !ok:
		err = fmt.Errorf("Memento-Datetime is %.100q: no version of a resource", text)
	case !link.Verifiable() && at.Time().Before(modified.Time().Truncate(time.Second)):
		err = fmt.Errorf("the version of %v is older than the announced one of %v", at, modified)
	}
	if err != nil {
		resp.Body.Close()
		return fmt.Errorf("resourcesync: TimeGate %s: %w", websync.RedactURL(timeGate), err)
	}
	link.Href = resp.URL
	return job.Receive(ctx, websync.ContentName, link, resp)
}

// choose obtains another representation of a resource as its content.
func (s *Source) choose(ctx context.Context, job *harvest.Job, c *choice) error {
	if c.accept == "" {
		return job.Obtain(ctx, websync.ContentName, c.link)
	}
	req := job.Request(websync.ContentName, c.link)
	req.Accept, req.Validator.LastModified = c.accept, ""
	resp, err := job.Fetch(ctx, req)
	if err != nil {
		return err
	}
	if t := typeOf(job, resp); c.strict && !isOneOf(t, s.Types) {
		if !resp.NotModified {
			resp.Body.Close()
		}
		return fmt.Errorf("resourcesync: %s: the type %.100q is not wanted", websync.RedactURL(c.link.Href), t)
	}
	return job.Receive(ctx, websync.ContentName, c.link, resp)
}

// typeOf returns the media type of an answer, or of the body that it confirms.
func typeOf(job *harvest.Job, resp *harvest.Response) string {
	if resp.NotModified {
		held, _ := job.Held.Body(websync.ContentName) // only what is held is asked for so
		return held.Link.Type
	}
	return header(resp, "Content-Type")
}

// header returns the first value of a header, whose name is in canonical form.
func header(resp *harvest.Response, name string) string {
	if v := resp.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// describe obtains the metadata documents of a resource, and reports whether its content
// is wanted.
func (s *Source) describe(ctx context.Context, job *harvest.Job) (wanted bool, err error) {
	if !s.DescribedBy && s.Select == nil {
		return true, nil
	}
	links := descriptions(&job.Resource)
	wanted = s.Select == nil || len(links) == 0
	for _, link := range links {
		selected, err := s.description(ctx, job, link)
		if err != nil {
			return false, docfetch.NewPartError("resourcesync: describedby", link.Href, err)
		}
		wanted = wanted || selected
	}
	return wanted, nil
}

// description obtains a metadata document, and reports whether Select returns true.
func (s *Source) description(ctx context.Context, job *harvest.Job, link websync.Link) (selected bool, err error) {
	name := job.Resource.BodyName(&link)
	if s.Select == nil {
		return false, job.Obtain(ctx, name, link)
	}
	req := job.Request(name, link)
	if !req.Validator.IsZero() {
		if held, _ := job.Held.Body(name); held.Key.IsZero() {
			req.Validator = harvest.Validator{} // Select can't read what was verified and not kept
		}
	}
	resp, err := job.Fetch(ctx, req)
	if err != nil {
		return false, err
	}
	document, err := readable(ctx, job, name, link, resp)
	if err != nil {
		return false, err
	}
	defer document.Close()
	link.Length, link.Digests = 0, nil // which are verified
	if err := job.Receive(ctx, name, link, resp); err != nil {
		return false, err
	}
	if _, err := document.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	return s.Select(&job.Resource, link, document)
}

// readable returns what an answer contains, verified, or the body of that name that it
// confirms, so that it can be read more than once: Receive can still read it.
func readable(
	ctx context.Context, job *harvest.Job, name string, link websync.Link, resp *harvest.Response,
) (io.ReadSeekCloser, error) {
	if resp.NotModified {
		return job.Open(ctx, name)
	}
	document, err := spool.Read(link.Verify(resp.Body), 0)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(document)
	return document, nil
}

// patched reports whether the content could be made of what the Store holds.
func patched(ctx context.Context, job *harvest.Job) bool {
	var h hint
	content := job.Resource.Content
	if len(content.Digests) == 0 || job.Held == nil || json.Unmarshal(job.Hint, &h) != nil {
		return false
	}
	has := func(d websync.Digest) bool {
		b, _ := job.Held.Body(websync.ContentName)
		return slices.Contains(b.Link.Digests, d)
	}
	if slices.ContainsFunc(content.Digests, has) {
		return false // it is held
	}
	held, err := job.Open(ctx, websync.ContentName)
	if err != nil {
		return false
	}
	defer held.Close()
	link := websync.Link{Href: h.Patch, Type: h.Type, Length: h.Length, Digests: h.Hash}
	resp, err := job.Fetch(ctx, &harvest.Request{URL: h.Patch, Accept: h.Type, Identity: link.Verifiable(), MaxBytes: maxPatched})
	if err != nil || resp.NotModified {
		return false
	}
	defer resp.Body.Close()
	var after bytes.Buffer
	if err := applyPatch(&after, held, link.Verify(resp.Body), h.Type); err != nil {
		if caught, ok := errors.AsType[*websync.PanicError](err); ok {
			job.Log().Error("panic", "id", job.Resource.ID, "url", websync.RedactURL(h.Patch),
				"err", err, "stack", string(caught.Stack))
		}
		return false
	}
	_, err = job.Keep(ctx, websync.ContentName, content, &after)
	return err == nil
}

// Discover returns the sets of resources that url leads to (Z39.99 §6.3). It may be that
// of a document of ResourceSync, of which the links up are followed; of a page or other
// resource, whose links with the relation resourcesync lead to Capability Lists; or of a
// host, which is asked for a Source Description at [WellKnown] and, if it has none, for
// the Resource Lists that its robots.txt file names.
//
// Each set comes once, in the order in which they are found. The error is that of the
// document at url if nothing was found, [websync.ErrNotFound], or, for more than 10,000
// sets or 16 MiB of URLs, [websync.ErrLimit]. A set that an earlier call returned may be
// missing because a document is damaged or can't be read; remember the sets, and remove
// the records of one (harvest.Harvester.Remove) only if the publisher has ended it.
func Discover(ctx context.Context, fetcher harvest.Fetcher, url string) ([]Set, error) {
	d := newDiscovery(fetcher, url)
	err := d.visit(ctx, url, 0)
	if len(d.found) == 0 && ctx.Err() == nil {
		d.host(ctx, url)
	}
	return d.sets(ctx, url, err)
}

// Follow is Discover, but does not ask the host: it reads the document at url, and the
// documents of ResourceSync to which that leads.
func Follow(ctx context.Context, fetcher harvest.Fetcher, url string) ([]Set, error) {
	d := newDiscovery(fetcher, url)
	return d.sets(ctx, url, d.visit(ctx, url, 0))
}

// newDiscovery returns a discovery that begins at url.
func newDiscovery(fetcher harvest.Fetcher, url string) *discovery {
	run := (&harvest.Run{Fetcher: &rooted{fetcher, url}}).WithDefaults()
	return &discovery{
		Pass: docfetch.Pass{Run: run, Format: "resourcesync", Accept: accept + ", text/html;q=0.4"},
		read: make(map[docfetch.Key]bool), index: make(map[docfetch.Key]int),
	}
}

// A rooted is a Fetcher for what one URL leads to.
type rooted struct {
	harvest.Fetcher
	root string
}

func (r *rooted) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	req.Root = r.root
	return r.Fetcher.Fetch(ctx, req)
}
