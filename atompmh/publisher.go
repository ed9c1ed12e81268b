package atompmh

import (
	"cmp"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

// Profile makes an [atom.Publisher] publish a feed of Atom-PMH: an archived feed with
// deletion entries, or with Complete a complete feed without, which is the second
// deletion option. LatestOnly drops historical entries from archive documents. These are
// the differences to a feed without a Profile:
//
//   - A deletion is an entry with an empty content and without an alternate link. So is,
//     in an archived feed, a resource of which there is no representation: its readers
//     must not take an earlier one for the present one. A complete feed leaves it out.
//   - Each body that is kept is an alternate link with its media type, the content first;
//     there is no atom:content. It takes the place of the link to where it came from.
//     Alternate links to other places are "related" then, since nobody here knows whether
//     they lead to the record. Atom allows one alternate link of a media type and
//     language: more of them are "related", too. A type that is not known is
//     application/octet-stream.
//   - Every document has a link current.
func Profile() *atom.Profile {
	return &atom.Profile{Name: "atompmh 1", Followed: []string{"alternate"}, Feed: writeFeed, Item: writeItem}
}

// writeFeed is atom.Profile.Feed: it adds the link current to a subscription document.
func writeFeed(f *atom.Feed) {
	if _, ok := f.Link("current"); !ok {
		current, _ := f.Link("self")
		current.Rel = "current"
		f.Links = append(f.Links, current)
	}
}

// writeItem is atom.Profile.Item.
func writeItem(p *atom.Publisher, item *websync.Item, as *atom.Item) error {
	if t := as.Tombstone; t != nil {
		e := atom.Entry{ID: t.Ref, Updated: t.When, Links: t.Links}
		e.Title = atom.Text{Type: atom.PlainText, Value: item.Resource.Title}
		*as = atom.Item{Entry: deletionOf(e)}
		return nil
	}
	e := as.Entry
	represent(e, p, item)
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
func represent(e *atom.Entry, p *atom.Publisher, item *websync.Item) {
	kept := make(map[string]bool)
	for i := range item.Bodies {
		if b := &item.Bodies[i]; !b.Key.IsZero() {
			kept[p.BodyURL(item, b.Name)] = true
		}
	}
	content, links := e.Content.Link, slices.Clone(e.Links)
	if content.Href != "" && item.Resource.Summary == "" {
		e.Summary = atom.Text{} // which only atom:content demands
	}
	url := cmp.Or(content.Href, p.BodyURL(item, websync.ContentName))
	isContent := func(l websync.Link) bool { return l.Href == url && (content.Href != "" || kept[url]) }
	if i := slices.IndexFunc(links, isContent); i >= 0 {
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
