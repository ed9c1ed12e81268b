package rinfo

import (
	"context"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/syntax"
)

// Profile makes an [atom.Publisher] publish a feed of the legal information system: a
// depot of an authority, or the aggregate of many. A depot has a [Locator], whose own
// sources are those that it has approved: they choose ids below Base. Its Author is who
// is responsible for the feed (§3.1.4); the Email should be that of a function rather
// than a person. Its ID must never change (§3.1.1). An archive document covers 300
// numbers of the log, unless ArchiveSize is set, and a complete feed (§5) has at most
// 1,000 entries, unless MaxEntries is set. LegacyMD5 also writes MD5 in the older form
// (§3.3.6). Collectors that are pinged (§9) need no Hubs: see publish.Pinger.
//
// Entries differ from those without a Profile:
//
//   - Each kept body has its MD5 beside its SHA-256, its length and its media type
//     (§3.3.6). A type that is not known is application/octet-stream.
//   - An alternate or enclosure whose document is kept leads to where it is kept, since
//     collectors download it from there (§3.3.7). Other links keep their targets.
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
//	done, err := catalog.Retain(ctx, harvest.Retention{}) // once a day, as a schedule.Scheduler does
//
// When it is worth it, the feed then leads to the new documents. The next day the old
// ones are gone. Until then the old documents stay as they are, so a reader that is
// amidst them reads them to their end, and finds the changes since in the subscription
// document. A reader whose documents are dropped amidst a walk finds a hole, and begins
// again.
//
// # MD5
//
// A body whose source stated no MD5 is read to compute it, whenever a document that
// lists it is written. The last few thousand sums are remembered. To avoid that, use
// sources that state MD5: a [Source], or a dirsource.Source with its field MD5. The
// bytes of a superseded entry may be gone; it has no MD5 then. So an archive document
// may lose hashes that nobody uses: readers never get the bodies of a superseded entry
// (§8.3). Therefore no archive document is final, and its ETag comes from its bytes.
func Profile() *atom.Profile {
	s := new(sums)
	return &atom.Profile{
		Name: "rinfo 1", ArchiveSize: defaultArchiveSize, MaxEntries: defaultMaxEntries, Mutable: true, // it may lose hashes
		Followed: []string{relAlternate, relEnclosure},
		Prepare:  s.prepare, Item: writeItem,
	}
}

const (
	defaultArchiveSize = 300
	defaultMaxEntries  = 1000
)

// prepare is atom.Profile.Prepare: it adds what the profile demands.
func (s *sums) prepare(ctx context.Context, p *atom.Publisher, entry atom.EntryFunc, items []*websync.Item) error {
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
			if err := s.add(ctx, p.Catalog, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeItem is atom.Profile.Item.
func writeItem(_ *atom.Publisher, item *websync.Item, as *atom.Item) error {
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
		as.Entry.Links = append(links, websync.Link{
			Rel: "via", Href: c.Href, Type: c.Type, Length: c.Length, Digests: c.Digests, Modified: r.Modified,
		})
	}
	return nil
}
