package atom

import (
	"cmp"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// entry returns the entry of an item.
func (l *lister) entry(item *websync.Item) Entry {
	r := item.Resource
	r.Content, r.Links = l.content(item), l.links(item)
	if r.Published.Time().After(item.Time) {
		r.Published = websync.Datetime{}
	}
	if slices.ContainsFunc(r.Elements, isLeftOut) {
		r.Elements = slices.DeleteFunc(slices.Clone(r.Elements), isLeftOut)
	}
	e := l.maker.entry(&r, websync.NewDatetime(item.Time), websync.Person{})
	e.Source = wholeSource(e.Source, cmp.Or(r.Modified, e.Updated))
	if e.Title.isBlank() {
		e.Title = Text{Type: PlainText, Value: r.ID}
	}
	if e.Summary.isBlank() {
		e.Summary = Text{}
		if e.Content.Href != "" {
			e.Summary = e.Title // one is demanded, and should not be blank
		}
	}
	return e
}

// wholeSource returns a source with all that one should have (RFC 4287 §4.2.11), nil if
// it does not say what it is. updated is that of the entry, which its feed was updated
// with.
func wholeSource(f *Feed, updated websync.Datetime) *Feed {
	if f == nil || f.ID == "" {
		return nil
	}
	if f.Title.isBlank() {
		f.Title = Text{Type: PlainText, Value: f.ID}
	}
	f.Updated = cmp.Or(f.Updated, updated)
	return f
}

func (t *Text) isBlank() bool { return strings.TrimSpace(t.Value) == "" }

// isLeftOut tells whether an element means something else, or nothing, in an entry that
// was made anew.
func isLeftOut(x websync.Element) bool {
	switch x.Space {
	case "", HistoryNamespace, TombstoneNamespace, signatureNamespace:
		return true
	case GDataNamespace:
		return x.Local == "deleted"
	case FeedSyncNamespace:
		return x.Local == "sync"
	}
	return false
}

// content returns the link to the content: where it is kept, or an alternate.
func (l *lister) content(item *websync.Item) websync.Link {
	b, kept := keptBody(item, contentBody)
	if !kept {
		c := item.Resource.Content
		c.Rel = cmp.Or(c.Rel, "alternate")
		return c
	}
	c := l.bodyLink(item, &b)
	if syntax.MediaTypeFault(c.Type) != "" {
		c.Type = "application/octet-stream"
	}
	if c.Rel = ""; syntax.IsComposite(c.Type) {
		c.Rel = "alternate"
	}
	return c
}

// bodyLink returns a link to a body that is kept.
func (l *lister) bodyLink(item *websync.Item, b *websync.Body) websync.Link {
	link := b.Link
	link.Href = l.publisher.site.locator.URL(item, b.Name)
	if _, stated := link.Digests.Get(b.Key.Algorithm); !stated {
		link.Digests = append(slices.Clip(link.Digests), b.Key)
	}
	return link
}

// links returns the links of an item: its own, as far as they hold here, then its other
// bodies, then a via link. They are good until the next call.
func (l *lister) links(item *websync.Item) []websync.Link {
	r := &item.Resource
	own := l.publisher.site.locator.Owns(item.Source)
	links := l.buf[:0]
	needsVia := !own
	for _, link := range r.Links {
		switch {
		case isVia(link.Rel):
			needsVia = false
			links = append(links, link)
		case own || !isOfOriginal(link.Rel):
			links = append(links, l.local(item, link))
		}
	}
	for i := range item.Bodies {
		if b := &item.Bodies[i]; b.Name != contentBody && !b.Key.IsZero() {
			links = l.addBody(links, item, b)
		}
	}
	if needsVia {
		c := &r.Content
		links = append(links, websync.Link{Rel: "via", Href: r.ID, Type: c.Type, Encoding: c.Encoding, Length: c.Length,
			Digests: c.Digests, Modified: r.Modified})
	}
	l.buf = links
	return links
}

// addBody adds a link to a body, unless there is one.
func (l *lister) addBody(links []websync.Link, item *websync.Item, b *websync.Body) []websync.Link {
	link := l.bodyLink(item, b)
	if slices.ContainsFunc(links, func(other websync.Link) bool { return other.Href == link.Href }) {
		return links
	}
	return append(links, link)
}

// local returns a link that leads to where its target is kept, if it is.
func (l *lister) local(item *websync.Item, link websync.Link) websync.Link {
	for i := range item.Bodies {
		b := &item.Bodies[i]
		if b.Key.IsZero() || b.Link.Href == "" || b.Link.Href != link.Href {
			continue
		}
		here := l.bodyLink(item, b)
		here.Rel, here.Title, here.Attrs = link.Rel, link.Title, link.Attrs
		here.Type, here.Lang = cmp.Or(here.Type, link.Type), cmp.Or(here.Lang, link.Lang)
		return here
	}
	if _, kept := keptBody(item, contentBody); !kept {
		return link
	}
	if sources := l.here[link.Href]; len(sources) > 0 {
		target := websync.Item{Source: sources[0], Resource: websync.Resource{ID: link.Href}}
		if slices.Contains(sources, item.Source) {
			target.Source = item.Source
		}
		link.Href = l.publisher.site.locator.URL(&target, contentBody)
	}
	return link
}

func isVia(rel string) bool { return strings.TrimPrefix(rel, registered) == "via" }

// resourceSyncTerms makes an IRI of the relations that ResourceSync defines itself
// (Z39.99 §6).
const resourceSyncTerms = "http://www.openarchives.org/rs/terms/"

// isOfOriginal tells whether a relation says something of a resource that does not hold
// for a copy of it.
func isOfOriginal(rel string) bool {
	rel = strings.TrimPrefix(strings.TrimPrefix(rel, registered), resourceSyncTerms)
	switch rel {
	case "collection", "canonical", "duplicate", "memento", "timegate", "timemap", "patch":
		return true
	}
	return false
}
