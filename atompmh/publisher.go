package atompmh

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

// A Publisher publishes a [websync.Catalog] as a feed of Atom-PMH: an archived feed with
// deletion entries, or with Complete a complete feed without. Its documents, their URLs
// and their times are those of an [atom.Publisher], with these differences:
//
//   - A deletion is an entry with an empty content and without an alternate link. So is,
//     in an archived feed, a resource of which there is no representation: its readers
//     must not take an earlier one for the present one. A complete feed leaves it out.
//   - Each body that is kept is an alternate link with its media type, the content first;
//     there is no atom:content. Alternate links to other places are "related" then, since
//     nobody here knows whether they lead to the record. Atom allows one alternate link
//     of a media type and language: more of them are "related", too. A type that is not
//     known is application/octet-stream.
//   - Every document has a link current.
//
// Set the fields before first use. A Publisher is safe for concurrent use; it must not be
// copied.
type Publisher struct {
	websync.Place

	// Path is that of the subscription document, relative to Base. If empty, it is
	// "feed.atom".
	Path string

	// ID is the feed's atom:id, an absolute IRI, and Title its title. If empty, they are
	// the URL of the subscription document.
	ID, Title string

	// Author is the feed's author, which Atom demands. Its Name is required.
	Author websync.Person

	// ArchiveSize is how many numbers of the log an archive document covers. If zero or
	// negative, it is 1,000. If there is an ArchivePeriod, it is a limit.
	ArchiveSize int

	// ArchivePeriod, if positive, makes archive documents cover periods of commit times,
	// as in [atom.Publisher].
	ArchivePeriod time.Duration

	// History is the time before the last commit that the subscription document covers at
	// least. If zero or negative, there is no such minimum.
	History time.Duration

	// LatestOnly drops historical entries from archive documents, which then change.
	LatestOnly bool

	// Complete publishes one document of all live resources, with fh:complete and without
	// deletion entries: the second deletion option. It is for small sets.
	Complete bool

	// MaxEntries limits a complete document, which is [websync.ErrLimit] beyond it. If
	// zero, it is 50,000; if negative, there is no limit.
	MaxEntries int

	// Hubs are the URLs of the WebSub hubs that are notified of changes.
	Hubs []string

	once sync.Once
	atom *atom.Publisher
}

var _ websync.Publisher = (*Publisher)(nil)

// open prepares the fields at first use.
func (p *Publisher) open() *atom.Publisher {
	p.once.Do(func() {
		a := &atom.Publisher{
			Place: p.Place, Path: p.Path, ID: p.ID, Title: p.Title, Author: p.Author,
			ArchiveSize: p.ArchiveSize, ArchivePeriod: p.ArchivePeriod, History: p.History, LatestOnly: p.LatestOnly,
			Complete: p.Complete, MaxEntries: p.MaxEntries, Hubs: p.Hubs,
			Profile: "atompmh 1", Feed: writeFeed, Item: p.writeItem,
		}
		if a.Locator == nil {
			a.Locator = websync.PathLocator{Base: p.Base, Own: p.Own, Reserved: a.Reserved}
		}
		p.atom = a
	})
	return p.atom
}

// Check returns what is wrong with the settings.
func (p *Publisher) Check() error { return p.open().Check() }

// URL returns the URL of the subscription document.
func (p *Publisher) URL() string { return p.open().URL() }

// Reserved reports whether a path, from the root of the host and escaped, can be that of
// one of the documents. It is meant for PathLocator.Reserved.
func (p *Publisher) Reserved(path string) bool { return p.open().Reserved(path) }

// Document implements [websync.Publisher].
func (p *Publisher) Document(ctx context.Context, path string) (*websync.Document, error) {
	return p.open().Document(ctx, path)
}

// Documents implements [websync.Publisher]: it yields the archive documents, the oldest
// first, then the subscription document.
func (p *Publisher) Documents(ctx context.Context) iter.Seq2[string, error] {
	return p.open().Documents(ctx)
}

// writeFeed adds the link current to a subscription document.
func writeFeed(f *atom.Feed) {
	if _, ok := f.Link("current"); !ok {
		current, _ := f.Link("self")
		current.Rel = "current"
		f.Links = append(f.Links, current)
	}
}

// writeItem makes what a document lists for an item.
func (p *Publisher) writeItem(item *websync.Item, as *atom.Item) error {
	if t := as.Tombstone; t != nil {
		e := atom.Entry{ID: t.Ref, Updated: t.When, Links: t.Links}
		e.Title = atom.Text{Type: atom.PlainText, Value: item.Resource.Title}
		*as = atom.Item{Entry: deletionOf(e)}
		return nil
	}
	e := as.Entry
	p.represent(e, item)
	switch {
	case len(alternates(e.Links)) > 0:
	case p.Complete:
		as.Entry = nil
	default:
		as.Entry = deletionOf(*e)
	}
	return nil
}

// deletionOf returns the deletion entry of the record of an entry.
func deletionOf(e atom.Entry) *atom.Entry {
	if strings.TrimSpace(e.Title.Value) == "" {
		e.Title = atom.Text{Type: atom.PlainText, Value: e.ID}
	}
	e.Content = atom.Content{Link: websync.Link{Type: atom.PlainText}}
	return &e
}

// represent replaces the content of an entry by alternate links to the kept bodies, the
// content first.
func (p *Publisher) represent(e *atom.Entry, item *websync.Item) {
	kept := make(map[string]bool)
	for i := range item.Bodies {
		if b := &item.Bodies[i]; !b.Key.IsZero() {
			kept[p.atom.Locator.URL(item, b.Name)] = true
		}
	}
	content, links := e.Content.Link, slices.Clone(e.Links)
	if content.Href != "" && item.Resource.Summary == "" {
		e.Summary = atom.Text{} // which only atom:content demands
	}
	url := cmp.Or(content.Href, p.atom.Locator.URL(item, websync.ContentName))
	if i := slices.IndexFunc(links, func(l websync.Link) bool { return l.Href == url && (content.Href != "" || kept[url]) }); i >= 0 {
		content = links[i] // with the length, which no atom:content has
		links = slices.Delete(links, i, i+1)
	}
	if content.Href != "" {
		content.Rel = "alternate"
		links = slices.Insert(links, 0, content)
	}
	e.Content, e.Links = atom.Content{}, links
	type variant struct{ mediaType, lang string }
	seen := make(map[variant]bool)
	for i := range links {
		l := &links[i]
		switch {
		case kept[l.Href]:
			l.Rel = "alternate"
		case !isAlternate(l):
			continue
		case len(kept) > 0:
			l.Rel = "related"
			continue
		}
		l.Type = cmp.Or(l.Type, "application/octet-stream")
		v := variant{strings.ToLower(l.Type), strings.ToLower(l.Lang)}
		if seen[v] {
			l.Rel = "related"
		}
		seen[v] = true
	}
}
