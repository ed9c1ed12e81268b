package discover

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
)

// The names that ELI Pillar IV recommends (§3.2.2, §3.3.2).
const (
	eliSitemap = "sitemap.xml"
	eliFeed    = "eli-update-feed.atom"
	eliFeedID  = ":eli:eli-update-feed"
)

// A locs is what a sitemap lists, as far as it was read.
type locs struct {
	kind     sitemap.Kind
	entries  int
	elis     int
	first    string // the first entry of an index
	relation string // dct:relation: the update feed, by ELI Pillar IV §3.2.2
	err      error  // io.EOF: all of it was read; nil: it has more
}

// list reads a sitemap. Errors carry the name of the document.
func (a *answer) list(document string) (n locs) {
	r := sitemap.NewReader(a.reader())
	r.Document, r.ContentType = document, a.contentType
	for n.err == nil && n.entries < maxEntries {
		var v *sitemap.View
		if v, n.err = r.NextView(); n.err != nil {
			break
		}
		n.entries++
		loc := string(v.Loc)
		if eli.IsELI(loc) {
			n.elis++
		}
		if n.entries == 1 {
			n.first = loc
		}
	}
	n.kind = r.Kind()
	for _, attr := range r.Attrs() {
		if attr.Space == rinfo.DCTermsNamespace && attr.Local == "relation" {
			n.relation = webpage.Resolve(a.final, attr.Value)
		}
	}
	return n
}

// legislation returns the pair of ELI Pillar IV to which a sitemap belongs; nil if it
// does not, or if the signs are weak. text says then which signs there are.
func (s *search) legislation(ctx context.Context, l lead, a *answer, n locs) (found []*Offer, text string) {
	acts := n
	if n.kind == sitemap.Index {
		if n.relation == "" && !eli.IsELI(l.url) && !eli.IsELI(n.first) || n.first == "" {
			return nil, ""
		}
		part := s.get(ctx, n.first)
		if part.err != nil {
			return nil, ""
		}
		acts = part.list(part.final)
		part.is("a part of the index %s", websync.RedactURL(l.url))
		part.noteFault(acts.err)
		if n.relation == "" {
			n.relation = acts.relation
		}
	}
	if acts.elis == 0 || acts.elis*2 < acts.entries {
		return nil, ""
	}
	many := fmt.Sprintf("%d of %s have the step eli", acts.elis, count(acts.entries, "URL", "URLs"))
	if n.kind == sitemap.Index {
		many += " in its first part"
	}
	feed, because := s.updateFeed(ctx, l, n.relation)
	o := Offer{Protocol: ELI, URL: l.url, grade: everything}
	switch {
	case feed != nil:
		o.Feed, o.Title, o.Topic, o.Hubs = feed.url, feed.title, feed.topic, feed.hubs
		return s.offer(l, o, "it is %s; %s; %s (ELI Pillar IV)", a.what, many, because), ""
	case n.relation != "":
		return s.offer(l, o, "it is %s; %s; it names the update feed %s (dct:relation), which can't be read",
			a.what, many, websync.RedactURL(n.relation)), ""
	case strings.HasSuffix(pathOf(l.url), "/eli/"+eliSitemap):
		return s.offer(l, o, "it is %s; %s; it has the place that ELI Pillar IV recommends; no update feed was found",
			a.what, many), ""
	}
	return nil, "; " + many + ", as in ELI Pillar IV, but there is no update feed: that is a weak sign"
}

// An update is the update feed of a sitemap.
type update struct {
	url   string
	title string
	topic string
	hubs  []string
}

// updateFeed returns the update feed that belongs to the sitemap of a lead, and how it
// was found; nil if there is none.
func (s *search) updateFeed(ctx context.Context, l lead, relation string) (feed *update, because string) {
	for _, at := range []struct{ url, because string }{
		{l.feed, "its update feed leads to it"},
		{relation, "it names its update feed (dct:relation)"},
		{sibling(l.url, eliFeed), "its update feed is beside it"},
		{onHost(l.url, "/eli/"+eliFeed), "its update feed has the place that is recommended"},
	} {
		if syntax.HTTPHost(at.url) == 0 {
			continue
		}
		a := s.get(ctx, at.url)
		if a.err != nil {
			continue
		}
		f := a.readFeed()
		if f.kind != atom.FeedDocument || at.url != l.feed && at.url != relation && !f.isUpdates() {
			continue
		}
		a.is("an update feed of ELI Pillar IV")
		topic, hubs := a.channel(webpage.Links(f.Links))
		return &update{at.url, title(f.Feed), topic, hubs}, at.because
	}
	return nil, ""
}

// isUpdates reports whether a feed may be an update feed of ELI Pillar IV: by its id, or
// because its entries are ELIs, and it neither is complete nor has archive documents.
func (f *readItems) isUpdates() bool {
	if strings.HasSuffix(f.ID, eliFeedID) {
		return true
	}
	if _, archived := f.Link("prev-archive"); archived || f.Archive || f.Complete {
		return false
	}
	elis := 0
	for _, item := range f.items {
		if item.Entry != nil && eli.IsELI(item.Entry.ID) {
			elis++
		}
	}
	return elis > 0 && elis*2 >= len(f.items)
}

// pair returns the pair to which an update feed belongs; nil if its sitemap is not found.
func (s *search) pair(ctx context.Context, l lead, a *answer) []*Offer {
	a.is("an update feed of ELI Pillar IV")
	for _, at := range []string{sibling(l.url, eliSitemap), onHost(l.url, "/eli/"+eliSitemap)} {
		to := l.to(at, l.url, "it is %s, so there may be a sitemap", a.what)
		to.feed, to.only = l.url, ELI
		if found := s.look(ctx, to); len(found) > 0 {
			return found
		}
	}
	return nil
}

// eliPath returns the path at which the sitemap of the legislation may be that a URL
// belongs to.
func eliPath(at string) string {
	path := pathOf(at)
	if i := strings.Index(path+"/", "/eli/"); i >= 0 {
		return path[:i] + "/eli/" + eliSitemap
	}
	return "/eli/" + eliSitemap
}

// pathOf returns the path of a URL.
func pathOf(at string) string {
	_, end := syntax.OriginOf(at)
	path := syntax.PathOf(at, end)
	return path[:syntax.IndexAny(path, "?#")]
}

// sibling returns the URL of a name in the directory of a URL.
func sibling(at, name string) string {
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	return u.ResolveReference(&url.URL{Path: name}).String()
}
