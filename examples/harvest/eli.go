package main

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/discover"
)

// paired returns targets with -protocol eli: of two of which one names a feed, the other
// is the sitemap to which the feed belongs.
func paired(targets []target) []target {
	if len(targets) != 2 || namesFeed(targets[0].url) == namesFeed(targets[1].url) {
		return targets
	}
	sitemap, feed := targets[0], targets[1]
	if namesFeed(sitemap.url) {
		sitemap, feed = feed, sitemap
	}
	sitemap.feed = feed.url
	return []target{sitemap}
}

// namesFeed reports whether a URL looks like that of a feed.
func namesFeed(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	name := strings.ToLower(path.Base(u.Path))
	return strings.HasSuffix(name, ".atom") || strings.Contains(name, "feed")
}

// legislation returns the Source of a sitemap and its update feed.
func (p *program) legislation(t target) *eli.Source {
	s := &eli.Source{Sitemap: t.url, Feed: t.feed, Extractors: []eli.Extractor{&rdfa.Extractor{}, &jsonld.Extractor{}}}
	if p.rate > 0 {
		s.Interval = time.Duration(max(1, min(float64(time.Second)/p.rate, float64(24*time.Hour))))
	}
	return s
}

// pairs returns the Sources of the sitemaps of legislation that a target names or leads
// to, each with its update feed. They are found out once, as in discovered.
func (p *program) pairs(ctx context.Context, t target) ([]harvest.Source, error) {
	if t.feed != "" {
		return []harvest.Source{p.legislation(t)}, nil
	}
	offers := p.remembered(ctx, t)
	if len(offers) == 0 {
		result, err := (&discover.Finder{Fetcher: p.client}).Find(ctx, t.url)
		if err != nil {
			return nil, err
		}
		if offers = legislative(result); len(offers) == 0 {
			return nil, noLegislation(result)
		}
		p.announcePairs(t, offers)
		p.remember(ctx, t, offers)
	}
	return p.sourcesOf(offers), nil
}

// legislative returns the pairs that were found. A sitemap that was named itself is one,
// also if there are only weak signs.
func legislative(r *discover.Result) (pairs []discover.Offer) {
	for _, o := range r.Offers {
		if o.Protocol == discover.Sitemap && o.URL == r.URL {
			o.Protocol = discover.ELI
		}
		if o.Protocol == discover.ELI {
			pairs = append(pairs, o)
		}
	}
	return pairs
}

// noLegislation returns the error for a target that leads to no pair.
func noLegislation(r *discover.Result) error {
	var tried []string
	for _, t := range r.Tried {
		tried = append(tried, t.String())
	}
	return fmt.Errorf("%s leads to no sitemap of legislation: %w; tried: %s", websync.RedactURL(r.URL), websync.ErrNotFound, strings.Join(tried, "; "))
}

// announcePairs says which lists are harvested, if they are not simply those that were
// named.
func (p *program) announcePairs(t target, offers []discover.Offer) {
	for _, o := range offers {
		feed := "without an update feed: none was found"
		if o.Feed != "" {
			feed = "with the update feed " + websync.RedactURL(o.Feed)
		}
		fmt.Fprintf(p.errOut, "harvest: %s: harvesting the sitemap %s, %s\n", websync.RedactURL(t.url), websync.RedactURL(o.URL), feed)
	}
}
