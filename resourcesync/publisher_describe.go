package resourcesync

import (
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/sitemap"
)

// A describer makes the entries of resources.
type describer struct {
	publisher *Publisher
	linker    publishing.Linker
	changes   bool // the entries are changes

	links []Link // of the last entry
	texts element.Texts
}

// follows reports whether a link leads to a representation or a metadata document that
// Destinations fetch besides the content (Z39.99 §14.3, §14.5).
func follows(link *websync.Link, b *websync.Body) bool {
	rel := syntax.RelationName(link.Rel)
	return b.Name != websync.ContentName && (rel == "alternate" || rel == "describedby")
}

// newDescriber returns a describer of changes.
func (p *Publisher) newDescriber() describer {
	linker := publishing.Linker{Site: p.site, Follows: follows}
	return describer{publisher: p, linker: linker, changes: true, texts: make(element.Texts)}
}

// describe makes the entry of a resource, and returns the URL under which it is listed:
// none if it is deleted, or if Item has removed the URL. The error is why it must not be
// listed. Prior is the state before; nil if it is not known. The entry is valid until the
// next call.
func (d *describer) describe(item, prior *websync.Item, e *Entry) (url string, err error) {
	if item.Kind == websync.Deleted {
		return "", nil
	}
	p := d.publisher
	item = publishing.Inert(item, "", nil) // also a former state
	loc, err := d.loc(item)
	if err != nil {
		return "", err
	}
	d.fill(item, loc, e)
	if d.changes {
		changes := [...]Change{websync.Created: Created, websync.Updated: Updated, websync.Deleted: Deleted}
		e.Metadata.Change, e.Metadata.Datetime = changes[item.Kind], websync.NewDatetime(item.Time)
	}
	if p.Item != nil {
		if prior != nil {
			if was, err := d.loc(prior); prior.Kind == websync.Deleted || err != nil || was != loc {
				e.setCreated()
			}
		}
		if err := p.Item(item, e); err != nil {
			return "", err
		}
	}
	return listable(e.Loc), nil
}

// setCreated makes an update a creation: readers have not seen its URL.
func (e *Entry) setCreated() {
	if e.Metadata.Change == Updated {
		e.Metadata.Change = Created
	}
}

// loc returns the URL of a resource, as Item gets it. The error is why the resource must
// not be listed.
func (d *describer) loc(item *websync.Item) (string, error) {
	s := d.publisher.site
	url := s.ItemURL(item)
	if err := s.Refusal(item); err != nil {
		return "", err
	}
	return url, s.Taken(item, url)
}

// listable returns an IRI as the URL that is listed.
func listable(iri string) string {
	if iri != "" && syntax.URLFault(iri) != "" {
		return syntax.EscapeURL(iri)
	}
	return iri
}

// urlOf returns the URL under which a state of a resource is listed; none if it is not.
func (d *describer) urlOf(item *websync.Item) string {
	if item.Kind == websync.Deleted {
		return ""
	}
	var url string
	var err error
	if d.publisher.Item == nil {
		url, err = d.loc(item)
	} else {
		url, err = d.describe(item, nil, new(Entry))
	}
	if url = listable(url); err != nil || syntax.URLFault(url) != "" {
		return ""
	}
	return url
}

// fill makes the entry of a resource with a loc.
func (d *describer) fill(item *websync.Item, loc string, e *Entry) {
	p, r := d.publisher, &item.Resource
	*e = Entry{
		Entry: sitemap.Entry{Loc: loc, LastMod: websync.NewDatetime(item.Time), Elements: e.Elements[:0]},
		Links: d.links[:0],
	}
	own := p.site.Locator.Owns(item.Source)
	if own {
		e.LastMod = publishing.LastMod(item)
	}
	content := r.Content
	if b, kept := publishing.KeptContent(item); kept {
		content = d.linker.Body(item, &b)
	}
	m := &e.Metadata
	m.Type, m.Encoding, m.Length, m.Digests = content.Type, content.Encoding, content.Length, d.digests(content.Digests)
	hasVia := false
	for _, link := range d.linker.Links(item) {
		if link.Rel == "via" {
			if hasVia { // the first is that of the first publisher (Z39.99 §14.8)
				continue
			}
			hasVia = true
		}
		if !own && isOfOriginal(link.Rel) {
			continue
		}
		link.Title, link.Lang, link.Digests = "", "", d.digests(link.Digests)
		e.Links = append(e.Links, Link{Link: link})
	}
	d.links = e.Links
	for _, x := range r.Elements {
		d.element(e, x)
	}
}

// isOfOriginal reports whether a link with this relation leads to other bytes for the URL
// of the original: copies, versions and patches of it. Destinations would take them for
// those of a loc here. A canonical link holds for a copy, too (RFC 6596 §3).
func isOfOriginal(rel string) bool {
	switch strings.TrimPrefix(syntax.RelationName(rel), Namespace) {
	case "duplicate", "memento", "timegate", "timemap", "patch":
		return true
	}
	return false
}

// digests returns the digests that are listed.
func (d *describer) digests(all websync.Digests) (listed websync.Digests) {
	for _, algorithm := range []string{"md5", "sha-256"} {
		if digest, ok := all.Get(algorithm); ok && (algorithm != "md5" || d.publisher.MD5) {
			listed = append(listed, digest)
		}
	}
	return listed
}

// element adds an element of a resource. Those of a sitemap are fields of the entry.
func (d *describer) element(e *Entry, x websync.Element) {
	switch x.Space {
	case Namespace:
	case sitemap.Namespace:
		if x.Local != "changefreq" {
			return
		}
		if text, ok := d.texts.Of(&x); ok {
			e.ChangeFreq = sitemap.ChangeFreq(text)
		}
	default:
		e.Elements = append(e.Elements, x)
	}
}
