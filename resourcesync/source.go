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
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/sitemap"
)

// A Source harvests one set of resources: what one Capability List offers.
//
// The first run makes a baseline of the Resource List, or of an index and all that it
// lists: a snapshot, so that what it does not list is deleted. Then, and in every later
// run, the Change Lists say what has changed since. They are followed as Z39.99 §12
// describes: a list that is open is read again, conditionally; after one that is closed
// come those that the index or the Capability List names next. The order of the entries
// is what counts: a time that is before that of an earlier entry stands for the same
// moment as that one.
//
// The position in the log survives lists that grow, are rewritten, split or moved to an
// index, entries of one time, and entries without any. If the oldest list begins after
// the position, changes may have passed unseen: that is a finding, and a new baseline is
// made. So is one in each run if no Change List is offered.
//
// A document that can't be read is a Problem: what comes after it is yielded, but the
// checkpoint stays before it. Entries that can't be read count as skipped, those of a
// Change List in each run until the next baseline.
//
// Departures of the documents go to [harvest.Run.Report].
type Source struct {
	// URL is that of the Capability List, or of a Source Description that names only one.
	// It is required.
	URL string

	// Name is the Source's key in a Store. If empty, it is URL.
	Name string

	// Include, if set, chooses the resources to yield by their URI. Deletions of the
	// others are not yielded either, and they don't count as skipped.
	Include func(uri string) bool

	// Profile names the choice that Include makes. When it changes everything is read
	// anew, and what is no longer yielded is not deleted without approval.
	Profile string

	// NoDumps makes the first run read the Resource List, although a Resource Dump is
	// offered. By default the packages of the dump are fetched; later baselines, of which
	// little is new, are always made of the Resource List if there is one.
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
func (s *Source) Check() error { return docfetch.CheckURL("resourcesync", s.URL) }

// Root returns URL or, if Discover has found it, the URL that Discover was given: what a
// publisher links to is nobody's to trust.
func (s *Source) Root() string { return cmp.Or(s.root, s.URL) }

func (s *Source) maxPackage() int64 { return cmp.Or(s.MaxPackage, 64<<30) }

// options is a fingerprint of what decides what is yielded.
func (s *Source) options() string {
	return docfetch.Fingerprint("%q %t %q", s.URL, s.Include != nil, s.Profile)
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

// list yields a Resource List, or all that an index lists, as a snapshot.
func (w *walk) list(ctx context.Context, url string) error {
	l := &resourceList{walk: w}
	source := &sitemap.Source{
		URL: url, Complete: true, Extend: l.extend, Profile: w.source.Profile,
		Parallel: w.source.Parallel, MaxDepth: 1, MaxDocuments: w.source.MaxDocuments, MaxBytes: w.source.MaxBytes,
	}
	if w.source.Include != nil {
		source.Include = func(loc string) bool { return w.source.Include(loc) }
	}
	run := *w.Run
	run.From = harvest.Checkpoint(w.from.List)
	next, stop := iter.Pull2(source.Events(ctx, &run))
	defer stop()
	start, err, ok := next()
	if err != nil || !ok {
		return err
	}
	if start.Kind == harvest.Mark { // it has not changed, and there is no log
		return w.Mark(w.From, start.Skipped)
	}
	return w.snapshot(ctx, w.believed(url, l.at), func() (skipped int, err error) {
		defer l.begin()
		for {
			ev, err, ok := next()
			if err != nil || !ok {
				return 0, err
			}
			if ev.Kind == harvest.SnapshotEnd {
				if w.next.Root == "" {
					w.next.List = listCheckpoint(ev.Resume)
				}
				return ev.Skipped, nil
			}
			if err := w.Yield(ev); err != nil {
				return 0, err
			}
		}
	})
}

// A listCheckpoint is the checkpoint of a Resource List in a checkpoint.
type listCheckpoint harvest.Checkpoint

// maxID limits the bytes of a URI.
const maxID = harvest.MaxID

// A resourceList reads what the documents of a Resource List have besides a sitemap.
type resourceList struct {
	*walk
	mu       sync.Mutex
	rooted   bool             // the root, which comes first, was read
	at       websync.Datetime // of the root
	earliest websync.Datetime // of all the documents
}

// begin moves the position back to the moment of the earliest document.
func (l *resourceList) begin() {
	if log := &l.next.Log; l.earliest.Before(log.Time) {
		log.Time = l.earliest
	}
}

// extend is sitemap.Source.Extend.
func (l *resourceList) extend(r *sitemap.Reader) sitemap.Extended {
	s := newScanner(r.Document, r.Document)
	s.reports.To = r.Report
	r.Take = s.take
	return sitemap.Extended{
		Entry: func(v *sitemap.View, ev *harvest.Event) {
			e := s.turn(v).Clone()
			describe(&ev.Resource, &e)
		},
		End: func() error {
			s.end()
			if c := s.head.Metadata.Capability; c != ResourceList {
				return fmt.Errorf("the capability %.100q, not that of a Resource List: %w", c, websync.ErrNotDocument)
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			at := s.head.Metadata.At
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
	if err := w.Yield(harvest.Event{Kind: harvest.SnapshotStart, At: at}); err != nil {
		return err
	}
	skipped, err := list()
	if err != nil {
		return err
	}
	var since *backlog
	if w.next.Root != "" { // a Problem of the log comes before the end of the snapshot: nothing is deleted
		if since, err = w.sinceBaseline(ctx); err != nil {
			return err
		}
		defer since.Close()
	}
	end := harvest.Event{Kind: harvest.SnapshotEnd, Complete: true, Skipped: skipped, Options: w.next.Options, Resume: w.resume()}
	if err := w.Yield(end); err != nil || since == nil {
		return err
	}
	return w.yieldBacklog(since)
}

// abandon ends a snapshot before its end: it deletes nothing.
func (w *walk) abandon() error {
	return w.Yield(harvest.Event{Kind: harvest.SnapshotEnd, Options: w.next.Options})
}

// believed returns the moment that a document states for its baseline; zero, which is
// reported, if it states none or one that lies ahead of the server's clock.
func (w *walk) believed(document string, at websync.Datetime) websync.Datetime {
	const most = 24 * time.Hour
	switch {
	case at.IsZero():
		w.Report(ruleTimeMissing.Finding(document, 0, 0, "", nil, "no at: all changes that are listed are taken for later ones"))
	case !w.date.IsZero() && at.Time().After(w.date.Add(most)):
		w.Report(ruleAhead.Finding(document, 0, 0, "", nil, fmt.Sprintf("at %v is more than a day after %v, by the server's clock", at, w.date)))
		return websync.Datetime{}
	}
	return at
}

// before returns the checkpoint for a baseline that begins: the changes since the moment
// that it describes, or since that of an earlier one that was not completed, are still to
// be yielded.
func (w *walk) before(at websync.Datetime) harvest.Checkpoint {
	w.next.Log = cursor{Time: at}
	if from := w.from.Log.Time; !w.from.Listed && !from.IsZero() && from.Before(at) {
		w.next.Log.Time = from
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

// change yields the event of an entry of a Change List.
func (w *walk) change(v *View, at websync.Datetime) error {
	if v.Metadata.Change == Deleted {
		return w.Yield(harvest.Event{Kind: harvest.Delete, At: at, Resource: websync.Resource{ID: string(v.Loc)}})
	}
	e := v.Clone()
	r := resource(&e)
	if r.Modified.IsZero() {
		r.Modified = e.Metadata.Datetime
	}
	if at == r.Modified {
		at = websync.Datetime{} // as in a Resource List
	}
	return w.Yield(harvest.Event{Kind: harvest.Put, At: at, Resource: r, Hint: hintOf(&e)})
}

// bitstream yields the event of an entry of a manifest. If open is nil, the resource is
// fetched.
func (w *walk) bitstream(e *Entry, open func() (io.ReadCloser, error)) error {
	return w.Yield(harvest.Event{Kind: harvest.Put, Resource: resource(e), Open: open})
}

// drain lets the engine read what came along with the events so far.
func (w *walk) drain() error { return w.Mark(harvest.Checkpoint{}, 0) }

// maxMirrors limits how many mirrors of a resource are tried.
const maxMirrors = 5

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

// Get implements [harvest.Getter]. It obtains the content of a resource: by a patch of
// what the Store holds, if the change came with one and states a digest to verify the
// result by (Z39.99 §14.4); else from its mirrors on the web, in the order of their pri
// (§14.2); else from its URI. What fails is passed over, but for the last.
func (s *Source) Get(ctx context.Context, job *harvest.Job) error {
	if came, err := job.Came(); err == nil {
		return errors.Join(came.Close(), job.Content(ctx))
	}
	if patched(ctx, job) {
		return nil
	}
	for _, link := range mirrors(&job.Resource) {
		err := job.Obtain(ctx, harvest.ContentName, link)
		if err == nil || ctx.Err() != nil || errors.Is(err, harvest.ErrNotYet) {
			return err
		}
	}
	return job.Content(ctx)
}

// mirrors returns the content of a resource at its mirrors, the first to be tried first.
func mirrors(r *websync.Resource) (links []websync.Link) {
	for i := range r.Links {
		if l := r.Links[i]; l.Rel == "duplicate" && syntax.HTTPHost(l.Href) > 0 {
			links = append(links, l)
		}
	}
	const least = 999_999 // that of a link without pri
	slices.SortStableFunc(links, func(a, b websync.Link) int { return cmp.Compare(cmp.Or(a.Priority, least), cmp.Or(b.Priority, least)) })
	links = links[:min(len(links), maxMirrors)]
	for i := range links {
		at := links[i]
		links[i] = r.Content
		links[i].Href = at.Href
		if len(links[i].Digests) == 0 && links[i].Length == 0 {
			links[i].Digests, links[i].Length = at.Digests, at.Length
		}
	}
	return links
}

// patched reports whether the content could be made of what the Store holds.
func patched(ctx context.Context, job *harvest.Job) bool {
	var h hint
	content := job.Resource.Content
	if len(content.Digests) == 0 || job.Held == nil || json.Unmarshal(job.Hint, &h) != nil {
		return false
	}
	held, err := job.Open(ctx, harvest.ContentName)
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
	if applyPatch(&after, held, link.Verify(resp.Body), h.Type) != nil {
		return false
	}
	_, err = job.Keep(ctx, harvest.ContentName, content, &after)
	return err == nil
}

// Discover returns the sets of resources that url leads to (Z39.99 §6.3). It may be that
// of a document of ResourceSync, of which the links up are followed; of a page or other
// resource, whose links with the relation resourcesync lead to Capability Lists; or of a
// host, which is asked for a Source Description at [WellKnown] and, if it has none, for
// the Resource Lists that its robots.txt file names.
//
// Each set comes once, in the order in which they are found. The error is that of the
// document at url if nothing was found, or [websync.ErrNotFound].
func Discover(ctx context.Context, fetcher harvest.Fetcher, url string) ([]Set, error) {
	run := (&harvest.Run{Fetcher: &rooted{fetcher, url}}).WithDefaults()
	d := newDiscovery(docfetch.Pass{Run: run, Format: "resourcesync", Accept: accept + ", text/html;q=0.4"})
	first := d.visit(ctx, url, 0)
	if len(d.found) == 0 && ctx.Err() == nil {
		d.host(ctx, url)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(d.found) > 0:
		for i := range d.found {
			d.found[i].root = url
		}
		return d.found, nil
	case first != nil:
		return nil, first
	}
	return nil, fmt.Errorf("resourcesync: %s leads to no Capability List: %w", websync.RedactURL(url), websync.ErrNotFound)
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
