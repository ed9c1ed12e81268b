package publishing

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// A Linker makes the links of resources. It reuses its memory, and is not safe for
// concurrent use.
type Linker struct {
	// Site has the Catalog and the Locator.
	Site *Site

	wanted  []string            // targets to look up
	sources map[string][]string // by target: the sources that have it as an id
	links   []websync.Link      // of the last call
}

// IsKept reports whether the bytes of a body are kept here.
func IsKept(b *websync.Body) bool { return !b.Key.IsZero() }

// KeptContent returns the content of an item if its bytes are kept here.
func KeptContent(item *websync.Item) (websync.Body, bool) {
	b, ok := item.Body(websync.ContentName)
	return b, ok && IsKept(&b)
}

// ItemURL returns the URL of an item in lists that identify resources by URL: that of its
// content here, if it is kept, or else that of its Content, or else its ID, which may not
// be a URL.
func (s *Site) ItemURL(item *websync.Item) string {
	if _, kept := KeptContent(item); kept {
		return s.Locator.URL(item, websync.ContentName)
	}
	if _, end := syntax.SplitHTTP(item.Resource.Content.Href); end > 0 {
		return item.Resource.Content.Href
	}
	return item.Resource.ID
}

// DeletedURLs returns the URLs under which a deleted item may have been listed. Since its
// bodies are gone, it is not known whether its content was kept. Deleting a URL that a
// reader does not have changes nothing; deleting one that is taken would change what it
// holds of another resource.
func (s *Site) DeletedURLs(item *websync.Item) []string {
	urls := []string{s.Locator.URL(item, websync.ContentName)}
	bare := *item
	bare.Bodies = nil
	if url := s.ItemURL(&bare); url != urls[0] && s.Taken(item, url) == nil {
		urls = append(urls, url)
	}
	return urls
}

// Forget drops all targets.
func (l *Linker) Forget() {
	l.wanted = l.wanted[:0]
	l.sources = make(map[string][]string)
}

// Want adds the target of a link to those that Find looks up.
func (l *Linker) Want(target string) {
	if _, asked := l.sources[target]; !asked {
		l.sources[target] = nil
		l.wanted = append(l.wanted, target)
	}
}

// Find looks up which of the wanted targets are ids in the given sources of the Catalog.
// If sources is nil, they are those of the Site, or else all that have live resources.
// Ids with a Born above born do not count; if born is 0, there is no limit.
//
// An id keeps its Born when its resource is deleted. So the result changes only when the
// greatest Born does, and with a limit it never changes.
func (l *Linker) Find(ctx context.Context, sources []string, born websync.Seq) error {
	const batch = 1000
	if len(l.wanted) == 0 {
		return nil
	}
	if sources == nil {
		var err error
		if sources, err = siteSources(ctx, l.Site); err != nil {
			return err
		}
	}
	for _, source := range sources {
		for ids := range slices.Chunk(l.wanted, batch) {
			found, err := l.Site.Catalog.Get(ctx, source, ids)
			if err != nil {
				return l.Site.CatalogError(err)
			}
			for i := range found {
				if b := found[i].Born; b > 0 && (born == 0 || b <= born) {
					l.sources[ids[i]] = append(l.sources[ids[i]], source)
				}
			}
		}
	}
	return nil
}

// siteSources returns the sources of a Site, or all that have live resources.
func siteSources(ctx context.Context, s *Site) ([]string, error) {
	if len(s.Sources) > 0 {
		return s.Sources, nil
	}
	head, err := s.Head(ctx)
	return slices.Sorted(maps.Keys(head.Live)), err
}

// FindLinks looks up which links of items lead to resources in the sources of these
// items, up to a Born. A closed document can rely on the result, since it never changes.
func (l *Linker) FindLinks(ctx context.Context, items []*websync.Item, born websync.Seq) error {
	l.Forget()
	var sources []string
	for _, item := range items {
		if _, kept := KeptContent(item); !kept {
			continue
		}
		if len(sources) == 0 || sources[len(sources)-1] != item.Source {
			sources = append(sources, item.Source)
		}
		for i := range item.Resource.Links {
			l.Want(item.Resource.Links[i].Href)
		}
	}
	slices.Sort(sources)
	return l.Find(ctx, slices.Compact(sources), born)
}

// Local returns the URL at which the target of a link of item is kept, if it is an id of
// the Catalog and the content of item is kept. It assumes that the content of the target
// is kept, too.
func (l *Linker) Local(item *websync.Item, target string) (url string, ok bool) {
	sources := l.sources[target]
	if len(sources) == 0 {
		return "", false
	}
	if _, kept := KeptContent(item); !kept {
		return "", false
	}
	other := websync.Item{Source: sources[0], Resource: websync.Resource{ID: target}}
	if slices.Contains(sources, item.Source) {
		other.Source = item.Source
	}
	return l.Site.Locator.URL(&other, websync.ContentName), true
}

// Body returns a link to a body that is kept, with its digest. Without digest and length,
// if its URL is that of a document of the host: package publish joins that with those of
// other Publishers.
func (l *Linker) Body(item *websync.Item, b *websync.Body) websync.Link {
	link := b.Link
	link.Href = l.Site.Locator.URL(item, b.Name)
	if path, here := strings.CutPrefix(link.Href, l.Site.Origin); here && syntax.OfHost(path) {
		link.Digests, link.Length = nil, 0
		return link
	}
	if _, stated := link.Digests.Get(b.Key.Algorithm); !stated {
		link.Digests = append(slices.Clip(link.Digests), b.Key)
	}
	return link
}

// Links returns the links of an item: its own, without those that hold only for the
// original, then its bodies other than the content, then a via link if the item was
// harvested and has none. The result is valid until the next call.
func (l *Linker) Links(item *websync.Item) []websync.Link {
	own := l.Site.Locator.Owns(item.Source)
	links := l.links[:0]
	needsVia := !own
	for _, link := range item.Resource.Links {
		switch {
		case IsVia(link.Rel):
			needsVia = false
			links = append(links, link)
		case own || !isOfOriginal(link.Rel):
			links = append(links, l.relocated(item, link))
		}
	}
	for i := range item.Bodies {
		if b := &item.Bodies[i]; b.Name != websync.ContentName && IsKept(b) {
			link := l.Body(item, b)
			link.Rel = cmp.Or(link.Rel, "alternate")
			links = addBody(links, link)
		}
	}
	if needsVia {
		links = append(links, via(&item.Resource))
	}
	l.links = links
	return links
}

// addBody adds a link to a body, unless links has one already.
func addBody(links []websync.Link, body websync.Link) []websync.Link {
	if slices.ContainsFunc(links, func(other websync.Link) bool { return other.Href == body.Href }) {
		return links
	}
	return append(links, body)
}

// via returns the link to a resource at its first publisher, with the type, length,
// digests and time stated there.
func via(r *websync.Resource) websync.Link {
	c := &r.Content
	return websync.Link{Rel: "via", Href: r.ID, Type: c.Type, Encoding: c.Encoding, Length: c.Length,
		Digests: c.Digests, Modified: cmp.Or(c.Modified, r.Modified)}
}

// relocated returns a link whose target is replaced by the URL where it is kept, if it
// is.
func (l *Linker) relocated(item *websync.Item, link websync.Link) websync.Link {
	for i := range item.Bodies {
		b := &item.Bodies[i]
		if !IsKept(b) || b.Link.Href == "" || b.Link.Href != link.Href {
			continue
		}
		here := l.Body(item, b)
		here.Rel, here.Title, here.Attrs = link.Rel, link.Title, link.Attrs
		here.Type, here.Lang = cmp.Or(here.Type, link.Type), cmp.Or(here.Lang, link.Lang)
		return here
	}
	if url, ok := l.Local(item, link.Href); ok {
		link.Href = url
	}
	return link
}

// resourceSyncTerms makes an IRI of the relations that ResourceSync defines itself
// (Z39.99 §6).
const resourceSyncTerms = "http://www.openarchives.org/rs/terms/"

// IsVia reports whether a relation is via.
func IsVia(rel string) bool { return syntax.RelationName(rel) == "via" }

// isOfOriginal reports whether a link with this relation holds only for the original of a
// resource, not for a copy.
func isOfOriginal(rel string) bool {
	rel = strings.TrimPrefix(syntax.RelationName(rel), resourceSyncTerms)
	switch rel {
	case "collection", "canonical", "duplicate", "memento", "timegate", "timemap", "patch":
		return true
	}
	return false
}
