package atompmh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
)

// A Source harvests the records of one feed, starting at its subscription document. Each
// record becomes a resource with its atom:id as ID, the time of its last event as
// Modified and the chosen formats as bodies.
//
// Of the entries of an id the one with the latest time counts. With alternate links and
// without content it is the active entry of a record; with an empty content and without
// such links it deletes the record; so does a tombstone (RFC 6721). An entry that has
// both, or neither, or whose content or links are damaged, changes nothing and counts as
// skipped: the run is not in step.
//
// A complete feed (fh:complete) deletes what it does not list. An archived feed is walked
// to the first document whose entries are all older than the latest one of the last run,
// and yielded from the oldest document to the newest. Nothing else is assumed of archive
// documents: they and their URLs may change. If they are not in the order of their times,
// or the server does not state its Date, all are read in each run. If entries move
// between them during a walk, it starts again. A complete feed with archive documents is
// read with them, and deletes nothing if they have an active entry that it lacks. Links
// between pages (next and so on) are not followed. For what a document that can't be read
// means, see [atom.Source].
//
// If the links of an entry are answered with 404 or 410, the subscription document is
// read again, once in a run. If it deletes the record or does not list it, the answer
// is [websync.ErrGone]; see [harvest.Harvester.DeleteGone]. If it has a later entry, the
// next run obtains that. If it has the same entry, the attempt has failed, as it does
// after any other answer.
//
// Set the fields before first use. A Source must not be copied.
type Source struct {
	// URL is that of the subscription document. It is required.
	URL string

	// Name is the Source's key in a Catalog. If empty, it is URL.
	Name string

	// FeedID, if set, is the atom:id that the feed must have, as in [atom.Source].
	FeedID string

	// Formats are the media types in which records are wanted, the best first; image/*
	// stands for all images. Parameters make no difference. The content of a record is
	// the best of its alternate links that leads to something. An alternate link without
	// a type is of no format but */*. If Formats is empty, the first alternate link is
	// the best.
	Formats []string

	// AllFormats obtains every alternate link that Formats allows, and not only the best:
	// the best is the content, and each other one a body with the name that
	// [websync.Resource.BodyName] returns. If one can't be obtained, the attempt fails,
	// and the record stays as it is. What the Store holds is not obtained anew when
	// AllFormats changes, unless [harvest.Harvester.Recheck] is set.
	AllFormats bool

	// Unwanted decides about a record that has, or is left with, no format of Formats. If
	// zero, it is deleted. That holds for records that lose their format because Formats
	// changes, too: [harvest.Harvester.Plan] shows what a run would delete.
	Unwanted UnwantedPolicy

	// AcceptGaps treats the documents that could be read as the whole feed, as in
	// [atom.Source].
	AcceptGaps bool

	// Dir is a directory that keeps the documents of an archive until all are yielded, as
	// in [atom.Source]. They are requested again, conditionally.
	Dir string

	// Repair reads documents with damaged tags, as in [atom.Reader]. Some of the examples
	// of the specification have them. What such a tag costs counts as skipped.
	Repair bool

	// MaxDocuments limits the documents of one walk. If zero, it is 50,000; if negative,
	// there is no limit.
	MaxDocuments int

	// MaxBytes limits each document, decompressed. If zero, it is 1 GiB; if negative,
	// there is no limit.
	MaxBytes int64

	again again
}

// An UnwantedPolicy decides about records without a wanted format (Atom-PMH 1.0,
// Processing deleted formats).
type UnwantedPolicy uint8

const (
	DeleteUnwanted   UnwantedPolicy = iota // they are deleted
	DescribeUnwanted                       // they have no bodies
	KeepUnwanted                           // they keep the bodies that the Store holds
)

var (
	_ harvest.Source = (*Source)(nil)
	_ harvest.Getter = (*Source)(nil)
)

// Key returns Name, or URL if there is none.
func (s *Source) Key() string { return cmp.Or(s.Name, s.URL) }

// Root returns URL.
func (s *Source) Root() string { return s.URL }

// Check returns an error if the settings are not valid.
func (s *Source) Check() error {
	if s.Unwanted > KeepUnwanted {
		return fmt.Errorf("atompmh: Source.Unwanted is %d; it must be one of the constants", s.Unwanted)
	}
	return errors.Join(docfetch.CheckURL("atompmh", s.URL), checkFormats(s.Formats))
}

// Events implements [harvest.Source].
func (s *Source) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		if err := s.Check(); err != nil {
			yield(harvest.Event{}, err)
			return
		}
		s.again.forget()
		for ev, err := range s.feed().Events(ctx, run) {
			if ev.Kind == harvest.Put {
				if chosen := s.choose(ev.Resource.Links); len(chosen) > 0 {
					ev.Resource.Content = chosen[0]
				}
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// feed returns the Source of the entries.
func (s *Source) feed() *atom.Source {
	return &atom.Source{
		URL: s.URL, Name: s.Name, FeedID: s.FeedID, Content: []string{}, AcceptGaps: s.AcceptGaps, Dir: s.Dir,
		Repair: s.Repair, MaxDocuments: s.MaxDocuments, MaxBytes: s.MaxBytes,
		Profile: atom.SourceProfile{
			Name: fmt.Sprintf("atompmh 1 %q %d", s.Formats, s.Unwanted),
			Feed: readFeed, Item: s.readItem, Archives: atom.ArchivesMove,
		},
	}
}

// readFeed removes what Atom-PMH does not use.
func readFeed(f *atom.Feed, report atom.ReportFunc) error {
	if !slices.ContainsFunc(f.Links, isPaging) {
		return nil
	}
	if _, more := f.Link("next"); more && f.Complete {
		report(ruleCompletePaged, "complete", "", "it has a link next, is read as one of several documents, and deletes nothing")
		f.Complete = false
	}
	report(rulePaged, "link", "", "links between pages are not followed")
	f.Links = slices.DeleteFunc(f.Links, isPaging)
	return nil
}

// readItem replaces a deletion entry by the tombstone that it means.
func (s *Source) readItem(item *atom.Item, report atom.ReportFunc) error {
	e := item.Entry
	if e == nil {
		report(ruleTombstone, "deleted-entry", item.ID(), "it is read as a deletion entry")
		return nil
	}
	kind, err := kindOf(e, report)
	switch {
	case err != nil:
		return err
	case kind == record && (s.Unwanted != DeleteUnwanted || len(s.choose(e.Links)) > 0):
		e.Content = atom.Content{}
		return nil
	case e.Updated.IsZero():
		return errors.New("a deletion must state its time")
	}
	item.Entry, item.Tombstone = nil, &atom.Tombstone{Ref: e.ID, When: e.Updated, Line: e.Line, Column: e.Column}
	return nil
}

// Get implements [harvest.Getter].
func (s *Source) Get(ctx context.Context, job *harvest.Job) error {
	links := s.choose(job.Resource.Links)
	if len(links) == 0 {
		if s.Unwanted == KeepUnwanted && job.Held != nil {
			return job.ReuseAll()
		}
		return nil
	}
	var gone error
	for _, link := range links {
		if !s.AllFormats {
			job.Resource.Content = link
		}
		err := job.Obtain(ctx, job.Resource.BodyName(&link), link)
		switch {
		case err == nil && !s.AllFormats:
			return nil
		case err == nil:
			continue
		case !errors.Is(err, websync.ErrGone):
			return err
		}
		if gone = cmp.Or(gone, err); s.AllFormats {
			break
		}
	}
	if gone == nil {
		return nil
	}
	job.Resource.Content = links[0]
	return s.believe(ctx, job, gone)
}

// believe returns the answer of Get for an entry whose links all lead to nothing. gone is
// the error of the first.
func (s *Source) believe(ctx context.Context, job *harvest.Job, gone error) error {
	at := job.Resource.Modified.Time().Truncate(time.Microsecond)
	now, listed, err := s.again.find(job.Resource.ID, at, func(each func(atom.Item)) error { return s.readAgain(ctx, job, each) })
	switch {
	case errors.Is(err, websync.ErrGone):
		return fmt.Errorf("atompmh: %v; and the feed can't be read: %v", gone, err)
	case err != nil:
		return fmt.Errorf("atompmh: %v; and the feed can't be read: %w", gone, err)
	case !listed:
		return fmt.Errorf("atompmh: the subscription document has no other entry of the record: %w", gone)
	case now.deleted && !now.at.Time().Before(at):
		return fmt.Errorf("atompmh: the feed deletes the record at %v: %w", now.at, gone)
	case now.at.Time().After(at):
		return job.NotYet(time.Time{}, fmt.Sprintf("atompmh: %v; the feed has a later entry, of %v", gone, now.at))
	}
	return fmt.Errorf("atompmh: %v; but the feed still lists the record", gone)
}

// readAgain reads the subscription document and passes its items to each.
func (s *Source) readAgain(ctx context.Context, job *harvest.Job, each func(atom.Item)) error {
	resp, err := job.Fetch(ctx, &harvest.Request{
		URL: s.URL, Accept: "application/atom+xml, */*;q=0.5", MaxBytes: s.MaxBytes,
	})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	r := atom.NewReader(resp.Body)
	r.Document, r.ContentType, r.MaxBytes, r.Repair = resp.URL, docfetch.ContentType(resp.Header), s.MaxBytes, s.Repair
	for {
		item, err := r.Next()
		switch {
		case err == io.EOF && r.Kind() != atom.FeedDocument:
			return fmt.Errorf("atompmh: %s is not a feed: %w", websync.RedactURL(s.URL), websync.ErrNotDocument)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if s.readItem(&item, func(atom.Rule, string, string, string) {}) == nil {
			each(item)
		}
	}
}
