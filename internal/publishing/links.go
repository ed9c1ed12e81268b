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

	// Follows, if set, reports whether readers of the lists fetch the target of a link, of
	// which b is the kept body. Such a link leads to the body.
	Follows func(link *websync.Link, b *websync.Body) bool

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

// Find looks up which of the wanted targets are ids in the sources of the Site, or in all
// that have live resources. An id keeps its Born when its resource is deleted. So the
// result changes only when the greatest Born does.
func (l *Linker) Find(ctx context.Context) error {
	const batch = 1000
	if len(l.wanted) == 0 {
		return nil
	}
	sources, err := siteSources(ctx, l.Site)
	if err != nil {
		return err
	}
	for _, source := range sources {
		for ids := range slices.Chunk(l.wanted, batch) {
			found, err := l.Site.Catalog.Get(ctx, source, ids)
			if err != nil {
				return l.Site.CatalogError(err)
			}
			for i := range found {
				if found[i].Born > 0 {
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

// Local returns the URL at which the target of a link of item is kept, if Find has found
// it and the content of item is kept. It assumes that the content of the target is kept,
// too.
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

// Links returns the links of an item: its own, then its kept bodies other than the
// content, unless a link leads to them already, then a via link if the item was harvested
// and has none. Links that state the digests of a content that another publisher had a
// copy of are left out: they describe that copy. The result is valid until the next call.
func (l *Linker) Links(item *websync.Item) []websync.Link {
	links := l.links[:0]
	needsVia := !l.Site.Locator.Owns(item.Source)
	content, kept := KeptContent(item)
	_, copied := item.Resource.Via()
	for _, link := range item.Resource.Links {
		switch {
		case IsVia(link.Rel):
			needsVia = false
		case l.Follows != nil:
			link = l.followed(item, link)
		case kept && copied && link.Href == content.Link.Href && len(link.Digests) > 0:
			continue
		}
		links = append(links, link)
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

// followed returns a link that leads to the kept body of its target, if readers follow
// it.
func (l *Linker) followed(item *websync.Item, link websync.Link) websync.Link {
	for i := range item.Bodies {
		b := &item.Bodies[i]
		if !IsKept(b) || link.Href == "" || b.Link.Href != link.Href || !l.Follows(&link, b) {
			continue
		}
		here := l.Body(item, b)
		here.Rel, here.Title, here.Attrs = link.Rel, link.Title, link.Attrs
		here.Type, here.Lang = cmp.Or(here.Type, link.Type), cmp.Or(here.Lang, link.Lang)
		return here
	}
	return link
}

// IsVia reports whether a relation is via.
func IsVia(rel string) bool { return syntax.RelationName(rel) == "via" }
