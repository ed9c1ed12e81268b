package rinfo

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/syntax"
)

// A Publisher publishes a [websync.Catalog] as a feed of the legal information system: a
// depot of an authority, or the aggregate of many. Its documents, their URLs and the
// order of their entries are those of an [atom.Publisher], with these differences:
//
//   - Each kept body has its MD5 beside its SHA-256, its length and its media type
//     (§3.3.6). A type that is not known is application/octet-stream.
//   - Each entry has a time of publication (§4.1): the one that its resource states,
//     unless that is after the commit, and otherwise that of the commit with which the
//     resource appeared, or appeared again after a deletion.
//   - A resource that has an Origin, or whose source is not own, has a via link to its
//     content at its first publisher, and not to its id, which is the same everywhere.
//
// # Times
//
// The times of entries and tombstones are those of the commits, which increase strictly,
// and never the times of the sources (§3.2, §8.1). The original ones are beside them:
// atom:source has the id, the title and the URL of the feed that the resource is from, as
// a [Source] keeps them, and as its updated the original time of the entry. So has the
// via link, as modified. The time of the source's feed as a whole is not kept, since it
// changes with every entry.
//
// # Tombstones
//
// A deletion is listed for ever, or, with LatestOnly, until its id is published again
// (§4.2.1). In a complete feed a resource is deleted by its absence (§5).
//
// # Compaction
//
// LatestOnly drops what has been superseded from the archive documents, which keep their
// URLs (§6.1.1). Re-indexing makes new archive documents with new URLs:
//
//	generation, err := store.Compact(ctx) // now the feed leads to the new documents
//	… at least as long as a reader may take for one walk …
//	err = store.Drop(ctx, generation) // the old documents are gone
//
// Until Drop the old documents stay as they are, so a reader that is amidst them reads
// them to their end, and finds the changes since in the subscription document. A reader
// whose documents are dropped amidst a walk finds a hole, and begins again.
//
// # MD5
//
// A body whose source stated no MD5 is read to compute it, whenever a document that
// lists it is written. The last few thousand sums are remembered. To avoid that, use
// sources that state MD5: a [Source], or a dirsource.Source with its field MD5. The
// bytes of a superseded entry may be gone; it has no MD5 then. So an archive document
// may lose hashes that nobody uses: readers never get the bodies of a superseded entry
// (§8.3). Therefore no archive document is final, and its ETag comes from its bytes.
//
// Set the fields before first use. A Publisher is safe for concurrent use; it must not be
// copied.
type Publisher struct {
	// A depot has a [Locator], whose own sources are those that it has approved: they
	// choose ids below Base.
	websync.Place

	// Path is that of the subscription document, relative to Base. If empty, it is
	// "feed.atom".
	Path string

	// ID is the feed's atom:id, an absolute IRI that never changes (§3.1.1). If empty, it
	// is the URL of the subscription document.
	ID string

	// Title is the feed's title. If empty, it is the URL of the subscription document.
	Title string

	// Author is who is responsible for the feed (§3.1.4). Its Name is required; its Email
	// should be that of a function rather than a person.
	Author websync.Person

	// ArchiveSize is how many numbers of the log an archive document covers. If zero or
	// negative, it is 300. If there is an ArchivePeriod, it is a limit.
	ArchiveSize int

	// ArchivePeriod, if positive, makes archive documents cover periods of commit times,
	// as in [atom.Publisher].
	ArchivePeriod time.Duration

	// LatestOnly drops superseded entries and tombstones from archive documents, which
	// then change (§6.1.1).
	LatestOnly bool

	// History is the time before the last commit that the subscription document covers at
	// least. If zero or negative, there is no such minimum.
	History time.Duration

	// Complete publishes one document of all live resources (§5). It is for small sets.
	Complete bool

	// MaxEntries limits a complete document, which is [websync.ErrLimit] beyond it. If
	// zero, it is 1,000; if negative, there is no limit.
	MaxEntries int

	// LegacyMD5 also writes MD5 in the older form le:md5 (§3.3.6).
	LegacyMD5 bool

	// Hubs are the URLs of the WebSub hubs that are notified of changes. Collectors that
	// are pinged (§9) need none: see publish.Pinger.
	Hubs []string

	once sync.Once
	atom *atom.Publisher
	sums sums
}

var _ websync.Publisher = (*Publisher)(nil)

const (
	defaultArchiveSize = 300
	defaultMaxEntries  = 1000
)

// open prepares the fields at first use.
func (p *Publisher) open() *atom.Publisher {
	p.once.Do(func() {
		p.atom = &atom.Publisher{
			Place: p.Place, Path: p.Path, ID: p.ID, Title: p.Title, Author: p.Author,
			ArchiveSize: p.ArchiveSize, ArchivePeriod: p.ArchivePeriod, LatestOnly: p.LatestOnly, History: p.History,
			Complete: p.Complete, MaxEntries: cmp.Or(p.MaxEntries, defaultMaxEntries), LegacyMD5: p.LegacyMD5, Hubs: p.Hubs,
			Profile: "rinfo 1", Prepare: p.prepare, Item: writeItem,
		}
		if p.ArchiveSize <= 0 {
			p.atom.ArchiveSize = defaultArchiveSize
		}
	})
	return p.atom
}

// Check returns what is wrong with the settings.
func (p *Publisher) Check() error { return p.open().Check() }

// URL returns the URL of the subscription document.
func (p *Publisher) URL() string { return p.open().URL() }

// Reserved reports whether a path, from the root of the host and escaped, can be that of
// one of the documents. It is meant for the field Reserved of a Locator.
func (p *Publisher) Reserved(path string) bool { return p.open().Reserved(path) }

// Document implements [websync.Publisher].
func (p *Publisher) Document(ctx context.Context, path string) (*websync.Document, error) {
	doc, err := p.open().Document(ctx, path)
	if err == nil && doc.Final {
		doc.Final, doc.ETag = false, "" // it may lose hashes
	}
	return doc, err
}

// Documents implements [websync.Publisher]: it yields the archive documents, the oldest
// first, then the subscription document.
func (p *Publisher) Documents(ctx context.Context) iter.Seq2[string, error] {
	return p.open().Documents(ctx)
}

// prepare is atom.Publisher.Prepare: it adds what the profile demands.
func (p *Publisher) prepare(ctx context.Context, entry atom.EntryFunc, items []*websync.Item) error {
	for _, item := range items {
		r := &item.Resource
		if r.Published.IsZero() || r.Published.Time().After(item.Time) {
			at, err := appeared(ctx, entry, item)
			if err != nil {
				return err
			}
			r.Published = websync.NewDatetime(at)
		}
		item.Bodies = slices.Clone(item.Bodies) // the Catalog may keep them
		for i := range item.Bodies {
			b := &item.Bodies[i]
			if syntax.MediaTypeFault(b.Link.Type) != "" {
				b.Link.Type = "application/octet-stream"
			}
			if err := p.sums.add(ctx, p.Catalog, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeItem is atom.Publisher.Item.
func writeItem(item *websync.Item, as *atom.Item) error {
	r := &item.Resource
	if _, stated := r.Via(); stated || as.Entry == nil || syntax.HTTPHost(r.Content.Href) == 0 {
		return nil
	}
	links := as.Entry.Links
	i := slices.IndexFunc(links, func(l websync.Link) bool { return l.Rel == "via" })
	switch {
	case i >= 0:
		links[i].Href = r.Content.Href
	case r.Origin != nil:
		c := &r.Content
		as.Entry.Links = append(links, websync.Link{Rel: "via", Href: c.Href, Type: c.Type, Length: c.Length, Digests: c.Digests, Modified: r.Modified})
	}
	return nil
}
