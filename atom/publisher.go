package atom

import (
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
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/internal/syntax"
)

// A Publisher publishes a [websync.Catalog] as an archived feed (RFC 5005 §4) with
// tombstones (RFC 6721), in these documents:
//
//	Base + "feed.atom"                 the subscription document
//	Base + "feed-1-1f3a9c02-7.atom"    the archive documents, from 1, the oldest
//
// An archive document lists what happened in a fixed range of the numbers of the log.
// Once the log has passed the end of the range, the document never changes, unless
// LatestOnly or InlineBytes is set: its bytes depend on log entries and settings only,
// and its URL names the generation of the log, the settings and the commit at its end.
// Document returns [websync.ErrGone] for a path that names others. The subscription
// document begins at the same number as the latest archive document, to which no
// document links yet. So it always lists recent changes, and no number is in two
// documents of the chain. Archive documents link to the one before, to the subscription
// document and to themselves, not to the one after.
//
// When the log is compacted, the subscription document switches to the chain of the new
// generation in one step. The archive documents of an older generation stay available
// until the Catalog drops it.
//
// A document lists the latest state of each id only: tombstones, then entries, the latest
// first. Updated and when are the times of the commits, which order the log. The time
// that a resource states is beside them: as modified of its content, or of its via link
// if it was harvested. The feed's updated is the time of the last commit of its range.
// With Complete there is one document instead, which lists all live resources in the
// order of Born (RFC 5005 §2).
//
// An entry is what [EntryOf] makes of the resource, with these differences:
//
//   - The body named "content", if it is kept, is the content, at the URL that Locator
//     gives it and with its length and digests; of a composite media type it is the first
//     alternate link, since Atom has no such content (RFC 4287 §4.1.3.1). Content that is
//     not kept is an alternate link to where it is. A resource without content has the
//     first of its bodies.
//   - Links keep their targets, so alternate and canonical lead to the page of the
//     original. Other bodies that are kept have links of their own beside them, by
//     default alternate. Only the relations in Followed of a Profile lead to these bodies
//     instead.
//   - A resource of a source that the Locator does not own was harvested. If it has no
//     via link it gets one, to its id at its first publisher with the type, length,
//     digests and time stated there. If it has one, links that state the digests of its
//     content, as of a copy at another publisher, are left out.
//   - An entry without authors has the feed's. One with a blank title has its id there,
//     and one that needs a summary and has none its title. A source without a title has
//     its id there, and one without a time that of the entry; one without an id is left
//     out.
//   - A time of publication after that of the commit, elements without a namespace or not
//     well-formed, those of RFC 5005 and 6721, other marks of a deletion (gd:deleted,
//     sx:sync), signatures, which no longer hold, and markup on which a browser may act
//     are left out.
//
// A resource whose id is no absolute IRI, such as the number of an item in a feed, has
// the atom:id of [websync.TagURI]. One that was harvested under an id that is a URL of
// own resources is not listed: readers would take it for the publisher's own.
//
// A Publisher knows an ETag without reading what the document lists. For that it keeps 8
// bytes for each archive document of the newest generation. A document holds at most
// twice ArchiveSize entries in memory while it is written, or those of History.
//
// Set the fields before first use. A Publisher is safe for concurrent use; it must not be
// copied.
type Publisher struct {
	websync.Place

	// Path is that of the subscription document, relative to Base. If empty, it is
	// "feed.atom". With different Paths several Publishers can share a Base.
	Path string

	// ID is the feed's atom:id, an absolute IRI. If empty, it is the URL of the
	// subscription document.
	ID string

	// Title is the feed's title. If empty, it is the URL of the subscription document.
	Title string

	// Author is the feed's author, and that of entries without one. Its Name is required.
	Author websync.Person

	// ArchiveSize is how many numbers of the log an archive document covers. If zero or
	// negative, it is that of the Profile, or else 1,000. If there is an ArchivePeriod,
	// it is a limit.
	ArchiveSize int

	// ArchiveBytes limits the descriptions of ArchiveSize entries in a document, in bytes,
	// as [websync.Resource.Size] counts them, without those of own sources. A quarter is
	// for any of them, the rest for each alike, so that long ones leave room for others.
	// What does not fit is left out, as with MaxDescription. If zero, it is 16 MiB; if
	// negative, there is no limit.
	ArchiveBytes int

	// InlineBytes publishes content that came inline, as text, HTML or XHTML, inline again
	// if it has at most so many bytes, for readers that show feeds to people. It keeps its
	// language, and its references lead where they led. If zero or negative, all content
	// is at a URL. HTML is escaped text, which readers must sanitize, as that of any feed;
	// XHTML is part of the document, and stays at a URL if it does more than format, link
	// and show images. So do characters that XML does not have, and in archive documents
	// what the Catalog no longer holds: archive documents are not final then, and their
	// ETags come from their bytes.
	InlineBytes int

	// ArchivePeriod, if positive, makes archive documents cover periods of commit times,
	// counted from the zero time.Time: those of 24 hours are days in UTC. A document is
	// closed by the first commit after its period, and a period without commits has no
	// document.
	ArchivePeriod time.Duration

	// LatestOnly leaves an item out of an archive document as soon as a later one of its
	// id exists: what was changed or deleted is no longer listed, a deletion is, until
	// the id is published again. Readers miss nothing, since the later item is in a later
	// document. But archive documents then change, and each commit gives all of them
	// another ETag.
	LatestOnly bool

	// History is the time before the last commit that the subscription document covers at
	// least, for readers that do not follow archive documents. If zero or negative, there
	// is no such minimum.
	History time.Duration

	// Complete publishes one document of all live resources, without history. It is for
	// small sets.
	Complete bool

	// MaxEntries limits a complete document, which is [websync.ErrLimit] beyond it. If
	// zero, it is that of the Profile, or else 50,000; if negative, there is no limit.
	MaxEntries int

	// LegacyMD5 also writes MD5 digests in le:md5, for readers that know only the older
	// drafts of the link extensions.
	LegacyMD5 bool

	// Hubs are the URLs of the WebSub hubs that are notified of changes. They are in the
	// subscription document and in its HTTP header (WebSub §4).
	Hubs []string

	// Profile, if set, makes the documents those of a profile of Atom, such as that of
	// package rinfo or atompmh.
	Profile *Profile

	once    sync.Once
	site    *publishing.Site
	log     publishing.Chain
	profile Profile // the zero value if there is none
}

// A Profile is how a [Publisher] writes a profile of Atom. Publishers may share it. Set
// the fields before first use.
type Profile struct {
	// Name is that of the profile, with its version. It is required. The results of the
	// functions must depend only on Name, on their arguments and on the log: another Name
	// gives archive documents other URLs.
	Name string

	// ArchiveSize and MaxEntries are what those of a Publisher are if they are zero. If
	// zero, they are as without a Profile.
	ArchiveSize, MaxEntries int

	// Mutable says that an archive document may change although the log does not. It is
	// not final then, and its ETag comes from its bytes.
	Mutable bool

	// Followed are the relations of the links whose targets readers of the profile fetch.
	// If a body that is kept came from there, the link leads to where it is here.
	Followed []string

	// Feed, if set, changes the metadata of a document before they are written. It may
	// add elements, for example.
	Feed func(f *Feed)

	// Prepare, if set, is called with items of which a document of p is about to list the
	// entries, some hundreds at a time. It may change their Resources, but not the ids,
	// and the Links of their Bodies. An error ends the writing of the document.
	Prepare func(ctx context.Context, p *Publisher, entry EntryFunc, items []*websync.Item) error

	// Item, if set, changes what a document of p lists for an item of the Catalog: the
	// Entry of a live one, the Tombstone of a deleted one. It may replace a Tombstone by
	// an Entry, but not an Entry by a Tombstone. If it removes both, or returns an error,
	// nothing is listed; the error is reported.
	Item func(p *Publisher, item *websync.Item, as *Item) error
}

// follows returns the function that applies Followed; nil if there are none.
func (p *Profile) follows() func(*websync.Link, *websync.Body) bool {
	if p.Followed == nil {
		return nil
	}
	return func(l *websync.Link, _ *websync.Body) bool {
		return slices.Contains(p.Followed, cmp.Or(syntax.RelationName(l.Rel), "alternate"))
	}
}

// An EntryFunc returns the entry of the log with a number, such as the Prior of an item;
// nil if there is none.
type EntryFunc func(ctx context.Context, seq websync.Seq) (*websync.Item, error)

var _ websync.Publisher = (*Publisher)(nil)

const (
	defaultArchiveSize = 1000
	defaultMaxEntries  = 50_000
	defaultBytes       = 16 << 20
	documentType       = feedType + "; charset=utf-8"

	// rendering must be raised when the same entries of the log are written differently:
	// their documents then need other URLs.
	rendering = 6
)

// open prepares the fields at first use.
func (p *Publisher) open() *publishing.Site {
	p.once.Do(func() {
		p.site = publishing.New(publishing.Settings{
			Package: "atom", Place: p.Place, Path: cmp.Or(strings.TrimPrefix(p.Path, "/"), "feed.atom"), Reserved: p.Reserved,
		})
		if p.Profile != nil {
			p.profile = *p.Profile
		}
		size := websync.Seq(max(p.ArchiveSize, 0))
		if size == 0 {
			size = websync.Seq(cmp.Or(p.profile.ArchiveSize, defaultArchiveSize))
		}
		p.log = publishing.Chain{Site: p.site, Size: size, Period: max(p.ArchivePeriod, 0), Settings: p.settings(size)}
		if p.site.Err == nil {
			p.site.Err = p.checkFeed()
		}
	})
	return p.site
}

// settings returns a text that identifies everything besides the Catalog and the Locator
// that changes archive documents of a size.
func (p *Publisher) settings(size websync.Seq) string {
	f := p.newFeed()
	latest := publishing.Word("")
	if p.LatestOnly {
		latest = "latest"
	}
	return publishing.SettingsText(struct {
		Rendering             int
		Base, Root, ID, Title string
		Author                websync.Person
		Sources               []string
		ArchiveSize           websync.Seq
		LegacyMD5, Complete   bool
		Profile               string          `settings:"omitzero"`
		ArchivePeriod         time.Duration   `settings:"omitzero"`
		LatestOnly            publishing.Word `settings:"omitzero"`
		ArchiveBytes          int             `settings:"omitzero"`
		InlineBytes           int             `settings:"omitzero"`
	}{
		rendering, p.Base, p.site.Root, f.ID, f.Title.Value, p.Author, p.site.Sources, size, p.LegacyMD5, p.Complete,
		p.profile.Name, max(p.ArchivePeriod, 0), latest, p.ArchiveBytes, max(p.InlineBytes, 0),
	})
}

// newFeed returns the metadata that all documents have in common.
func (p *Publisher) newFeed() *Feed {
	url := p.site.URL()
	return &Feed{
		ID: cmp.Or(p.ID, url), Title: Text{Type: PlainText, Value: cmp.Or(p.Title, url)}, Authors: []websync.Person{p.Author},
		Updated: epoch, Links: p.headLinks(),
	}
}

// checkFeed returns an error if no valid feed can be written with these settings.
func (p *Publisher) checkFeed() error {
	if p.Profile != nil && p.profile.Name == "" {
		return errors.New("atom: Publisher.Profile.Name is empty; it must name the profile and its version")
	}
	if err := NewWriter(io.Discard).WriteFeed(p.profiled(p.newFeed())); err != nil {
		return fmt.Errorf("atom: the settings of Publisher make no valid feed: %w", err)
	}
	return nil
}

// profiled returns f after Profile.Feed has changed it.
func (p *Publisher) profiled(f *Feed) *Feed {
	if p.profile.Feed != nil {
		p.profile.Feed(f)
	}
	return f
}

// headLinks returns the links that both the subscription document and its HTTP header
// have.
func (p *Publisher) headLinks() []websync.Link {
	links := []websync.Link{selfLink(p.site.URL())}
	for _, hub := range p.Hubs {
		links = append(links, websync.Link{Rel: "hub", Href: hub})
	}
	return links
}

func selfLink(url string) websync.Link {
	return websync.Link{Rel: "self", Href: url, Type: feedType}
}

// Check returns what is wrong with the settings. Document and Documents return the same
// error, unless it concerns the Locator.
func (p *Publisher) Check() error { return p.open().Check() }

// URL returns the URL of the subscription document.
func (p *Publisher) URL() string { return p.open().URL() }

// BodyURL returns the URL of the body of an item with a name.
func (p *Publisher) BodyURL(item *websync.Item, body string) string {
	return p.open().Locator.URL(item, body)
}

// Reserved reports whether a path, from the root of the host and escaped, can be that of
// one of the documents. It is meant for PathLocator.Reserved.
func (p *Publisher) Reserved(path string) bool {
	s := p.open()
	return path == s.Root || !p.Complete && p.log.IsClosed(path)
}

// Document implements [websync.Publisher].
func (p *Publisher) Document(ctx context.Context, path string) (*websync.Document, error) {
	s := p.open()
	d := archive{publisher: p, url: s.Origin + path}
	var err error
	switch {
	case s.Err != nil:
		err = s.Err
	case !p.Reserved(path):
		err = s.DocumentError(path, websync.ErrNotFound)
	case path != s.Root:
		d.Segment, err = p.log.Closed(ctx, path)
	case p.Complete:
		d.Segment, err = p.whole(ctx)
	default:
		d.Segment, err = p.log.Open(ctx, p.History)
	}
	if err != nil {
		return nil, err
	}
	return d.document(), nil
}

// whole returns the complete document, or an error if it is too long.
func (p *Publisher) whole(ctx context.Context) (publishing.Segment, error) {
	d, head, err := p.log.Whole(ctx)
	limit := int64(cmp.Or(p.MaxEntries, p.profile.MaxEntries, defaultMaxEntries))
	if total := head.Total(p.site.Sources...); err == nil && limit > 0 && total > limit {
		err = fmt.Errorf("atom: a complete feed of %d resources: %w", total, websync.ErrLimit)
	}
	return d, err
}

// Documents implements [websync.Publisher]: it yields the archive documents of the newest
// generation, the oldest first, then the subscription document. No document links to the
// latest archive document yet, so files written in this order form a whole feed even if
// the log has grown a little. If the generation of the log changes meanwhile, it ends
// with [websync.ErrConflict].
func (p *Publisher) Documents(ctx context.Context) iter.Seq2[string, error] {
	s := p.open()
	if p.Complete {
		return s.Documents(nil, s.Root)
	}
	return s.Documents([]publishing.Numbered{p.log.Numbered(ctx)}, s.Root)
}
