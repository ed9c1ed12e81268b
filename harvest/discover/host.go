package discover

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

// Paths at which many hosts have something, and do not always say so: sitemaps, for which
// each host is asked that states nothing better, and feeds, for which it is asked one
// after the other while nothing else is found.
var (
	sitemapPaths = []string{
		"/sitemap.xml", "/sitemap_index.xml", "/wp-sitemap.xml", "/sitemap-index.xml", "/sitemap.xml.gz", "/sitemap.txt",
	}
	feedPaths = []string{"/feed.atom", "/atom.xml", "/feed"}
)

// hosts returns the host of the URL and the one to which its document redirects, in the
// order in which they are to be asked.
func (s *search) hosts(start *answer) []string {
	all := []string{onHost(s.root, "")}
	if other := onHost(start.final, ""); keyOf(other) != keyOf(all[0]) {
		all = append(all, other)
		if isSameSite(all[0], other) {
			slices.Reverse(all) // it will redirect all requests
		}
	}
	return all
}

// isSameSite reports whether two hosts differ in the scheme, or in "www." before the
// name.
func isSameSite(a, b string) bool {
	name := func(host string) string {
		_, name := syntax.Origin(strings.ToLower(host)).Split()
		return strings.TrimPrefix(name, "www.")
	}
	return name(a) == name(b)
}

// stated looks where hosts say what they offer. It asks one host after the other, until
// one of them offers something.
func (s *search) stated(ctx context.Context, hosts []string) {
	for _, host := range hosts {
		if s.ask(ctx, lead{url: host + resourcesync.WellKnown, only: ResourceSync}); s.ask(ctx, lead{url: host + "/robots.txt"}) {
			return
		}
	}
}

// guessed looks at the places at which many hosts have sitemaps: all of those on the host
// that the user has named, and others only while nothing is found.
func (s *search) guessed(ctx context.Context, hosts []string) {
	for i, host := range hosts {
		if slices.ContainsFunc(s.offers, func(o *Offer) bool { return o.grade == everything }) {
			return
		}
		s.ask(ctx, lead{url: host + eliPath(s.root), only: ELI, guess: true})
		for _, path := range sitemapPaths {
			if len(s.offers) > 0 && (i > 0 || !isHost(s.root)) {
				return
			}
			s.ask(ctx, lead{url: host + path, guess: true})
		}
	}
}

// guessedFeeds looks at the places at which many hosts have feeds.
func (s *search) guessedFeeds(ctx context.Context, hosts []string) {
	for _, host := range hosts {
		for _, path := range feedPaths {
			if len(s.offers) > 0 {
				return
			}
			s.ask(ctx, lead{url: host + path, guess: true})
		}
	}
}

// ask looks at a document that a host may have. A host that asks for patience is not asked
// again. It reports whether anything was found so far.
func (s *search) ask(ctx context.Context, l lead) bool {
	host := onHost(l.url, "")
	if !s.busy[host] {
		l.place, l.evidence = ofHost, []Evidence{{s.root, "hosts may have " + pathOf(l.url)}}
		s.look(ctx, l)
		if errors.Is(s.get(ctx, l.url).err, harvest.ErrTemporary) {
			s.busy[host] = true
		}
	}
	return len(s.offers) > 0
}

// robots returns what the Sitemap lines of a robots.txt file lead to. Those that lead to
// sitemaps are one set.
func (s *search) robots(ctx context.Context, l lead, a *answer) (found []*Offer) {
	const most = 5 // lines that are looked at
	lines, err := sitemap.Sitemaps(a.reader())
	if docfetch.IsHTML(a.header) && len(lines) == 0 {
		a.page()
		return nil
	}
	a.is("a robots.txt file with %s", count(len(lines), "Sitemap line", "Sitemap lines"))
	a.noteFault(err)
	var lists []*Offer
	for i, line := range lines {
		if i == most {
			break
		}
		to := l.to(webpage.Resolve(a.final, line), l.url, "it is %s, and one of them names the document", a.what)
		if to.url == "" {
			continue
		}
		for _, o := range s.look(ctx, to) {
			if o.Protocol == Sitemap {
				lists = append(lists, o)
			} else {
				found = append(found, o)
			}
		}
	}
	if len(lists) == 0 || len(lines) == 1 && l.place != itself {
		return append(found, lists...)
	}
	s.offers = slices.DeleteFunc(s.offers, func(o *Offer) bool { return slices.Contains(lists, o) })
	o := Offer{Protocol: Sitemap, URL: l.url, grade: listing}
	o.Topic, o.Hubs = a.channel(nil)
	set := s.offer(l, o, "it is %s, which are one set; %d of the first %d lead to sitemaps",
		a.what, len(lists), min(most, len(lines)))
	return append(found, set...)
}
