package discover

import (
	"context"
	"fmt"
	"io"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/webpage"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

// sitemap returns what a urlset or a sitemapindex offers.
func (s *search) sitemap(ctx context.Context, l lead, a *answer) []*Offer {
	list := resourcesync.NewReader(a.reader())
	list.Document, list.ContentType = a.final, a.contentType
	head, err := list.Head()
	switch {
	case err != nil:
		a.is("the beginning of a sitemap")
		a.fault = err
		return nil
	case head.Metadata.Capability != "":
		return s.resourceSync(ctx, l, a, &head)
	case l.only == ResourceSync:
		a.is("a sitemap that is no document of ResourceSync")
		return nil
	}
	n := a.list(a.final)
	a.is("a sitemap of %s", entries(n.entries, n.err))
	if n.kind == sitemap.Index {
		a.is("an index of sitemaps, of %s", entries(n.entries, n.err))
	}
	a.noteFault(n.err)
	o := Offer{Protocol: Sitemap, URL: l.url, grade: listing}
	o.Topic, o.Hubs = a.channel(linksOf(&head))
	found, text := s.legislation(ctx, l, a, n)
	if len(found) == 0 {
		return s.offer(l, o, "it is %s%s%s", a.what, text, a.damage())
	}
	if len(found[0].Hubs) == 0 { // the update feed has none
		found[0].Topic, found[0].Hubs = o.Topic, o.Hubs
	}
	return found
}

// linksOf returns the links of a sitemap that is like a document of ResourceSync.
func linksOf(head *resourcesync.Head) []webpage.Link {
	var links []websync.Link
	for i := range head.Links {
		links = append(links, head.Links[i].Link)
	}
	return webpage.Links(links)
}

// entries returns the number of entries of a document in words. It has more of them
// unless reading it ended in io.EOF.
func entries(n int, err error) string {
	if err != io.EOF {
		return fmt.Sprintf("%d entries or more", n)
	}
	return count(n, "entry", "entries")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// damage says that a document can't be read to its end.
func (a *answer) damage() string {
	if a.fault == nil {
		return ""
	}
	return fmt.Sprintf("; but it can't be read to its end: %v", a.fault)
}

// resourceSync returns the sets to which a document of ResourceSync leads.
func (s *search) resourceSync(ctx context.Context, l lead, a *answer, head *resourcesync.Head) []*Offer {
	capability := head.Metadata.Capability
	a.is("a document of ResourceSync, with the capability %q", capability)
	asked := len(s.order)
	sets, err := resourcesync.Follow(ctx, s.web, l.url)
	for _, other := range s.order[asked:] {
		other.is("a document to which %s leads", websync.RedactURL(l.url))
	}
	if err == nil {
		var found []*Offer
		for i := range sets {
			o := Offer{Protocol: ResourceSync, URL: sets[i].CapabilityList, publisher: sets[i].Description}
			to := l
			if keyOf(o.URL) != keyOf(l.url) {
				to = l.to(o.URL, l.url, "it is %s, and leads to the Capability List", a.what)
			}
			found = append(found, s.offer(to, o, "it is a Capability List")...)
		}
		return found
	}
	if capability == resourcesync.ResourceList {
		o := Offer{Protocol: Sitemap, URL: l.url, grade: listing}
		o.Topic, o.Hubs = a.channel(linksOf(head))
		return s.offer(l, o, "it is a Resource List that leads to no Capability List (%v); as a sitemap it can be read", err)
	}
	a.fault = err
	return nil
}
