package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/sitemap"
)

// isAt reports whether a document is published at a path with an ending, before or after
// redirects.
func (k *check) isAt(s *source, ending string) bool {
	return slices.ContainsFunc([]string{s.URL, s.Name}, func(url string) bool {
		_, end := syntax.SplitHTTP(url)
		return end > 0 && strings.HasSuffix(syntax.PathOf(url, end), ending)
	})
}

// checkLocations compares the hosts of the entries with that of the sitemap.
func (k *check) checkLocations(kind sitemap.Kind) {
	l := &k.list
	k.prefixOfParts(kind)
	var hosts []string
	for _, o := range l.origins {
		_, host := o.name.Split()
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	if len(hosts) > 1 {
		at := l.origins[1].at
		k.find(ruleDomains, at, strings.Join(hosts, " "),
			fmt.Sprintf("one sitemap lists ELIs of %d hosts: each host must have a sitemap and a feed of its own", len(hosts)))
	}
	elsewhere := slices.DeleteFunc(slices.Clone(l.origins), func(o origin) bool { return o.name == l.prefix.origin })
	switch {
	case len(l.origins) == 0:
		k.skip(NeedsDocument, "The sitemap lists no ELI.", ruleCross)
	case !l.prefix.known:
		k.skip(NeedsHTTP, "The URL of the sitemap is not known.", ruleCross)
		k.note("The URL of the sitemap is not known: its entries were compared with each other.", rulePrefix)
	case len(elsewhere) == 0:
		k.checked(ruleCross)
	}
	for _, o := range elsewhere {
		message := fmt.Sprintf("%d of %d URLs are on %s, and the sitemap is on %s", o.count, l.total, o.name, l.prefix.origin)
		if !l.prefix.known {
			message = fmt.Sprintf("%d of %d URLs are on %s, and others on %s", o.count, l.total, o.name, l.prefix.origin)
			k.find(rulePrefix, o.at, o.url, message)
			continue
		}
		if k.Fetcher == nil || k.sitemap.URL == "" {
			k.skip(NeedsHTTP, "The robots.txt of the ELIs' host was not requested.", ruleCross)
			k.find(rulePrefix, o.at, o.url, message)
			continue
		}
		if fault := k.crossSubmit(o); fault != "" {
			k.find(rulePrefix, o.at, o.url, message)
			k.find(ruleCross, o.at, o.url, message+": "+fault)
			continue
		}
		k.checked(ruleCross)
		k.findAs(websync.SeverityInfo, rulePrefix, o.at, o.url, message+", which the robots.txt there allows")
	}
}

// prefixOfParts takes the location of the sitemap from the files of an index, if nothing
// else states it.
func (k *check) prefixOfParts(kind sitemap.Kind) {
	l := &k.list
	if kind != sitemap.Index || l.prefix.known || len(l.parts) == 0 || l.prefix.origin == "" {
		return
	}
	there, _ := syntax.OriginOf(l.parts[0])
	if there != l.prefix.origin {
		l.prefix.origin, l.prefix.known = there, true
	}
}

// A robots is what is known of the robots.txt of an origin.
type robots struct {
	sitemaps []string
	err      error
}

// crossSubmit returns why the sitemap may not list URLs of an origin; "" if it may: the
// robots.txt there names it, or the file of it that has the first of these URLs.
func (k *check) crossSubmit(there origin) string {
	r := k.robotsOf(there.name)
	switch {
	case errors.Is(r.err, websync.ErrGone):
		return "there is no robots.txt that names the sitemap"
	case r.err != nil:
		return "the robots.txt there can't be read: " + r.err.Error()
	case slices.ContainsFunc(r.sitemaps, func(named string) bool {
		return isOneOf(named, k.sitemap) || isOneOf(named, there.at.source)
	}):
		return ""
	case len(r.sitemaps) == 0:
		return "the robots.txt there names no sitemap"
	}
	return "the robots.txt there names other sitemaps only, such as " + websync.RedactURL(r.sitemaps[0])
}

const maxRobots = 1 << 20

func (k *check) robotsOf(there syntax.Origin) robots {
	r, ok := k.robots[string(there)]
	if ok {
		return r
	}
	url := string(there) + "/robots.txt"
	resp, err := k.Fetcher.Fetch(k.ctx, &harvest.Request{URL: url, Root: k.rootFor(url), MaxBytes: maxRobots, Spool: true})
	if r.err = err; err == nil {
		r.sitemaps, r.err = sitemap.Sitemaps(resp.Body)
		resp.Body.Close()
	}
	if k.robots == nil {
		k.robots = make(map[string]robots)
	}
	k.robots[string(there)] = r
	return r
}

// checkRelation compares dct:relation with the URL of the feed.
func (k *check) checkRelation() {
	k.checked(ruleRelation)
	s := k.sitemap
	stated, feedURL := s.relation, k.feed.URL
	if feedURL == "" {
		feedURL = k.feedFacts.self
	}
	at := position{s, 1, 0, s.local}
	switch {
	case stated == "":
	case syntax.HTTPHost(stated) == 0:
		k.findAs(asWarn, ruleRelation, at, stated, "dct:relation must be an absolute URL")
	case feedURL == "":
		k.note("The URL of the feed is not known.", ruleRelation)
	case !sameURL(stated, feedURL) && !sameURL(stated, k.feed.Name):
		k.findAs(asWarn, ruleRelation, at, stated, "dct:relation is not the URL of the feed, "+websync.RedactURL(feedURL))
	}
}

func sameURL(a, b string) bool { return syntax.Canonical(a) == syntax.Canonical(b) }

// checkRecord looks for dates that are not those of the records.
func (k *check) checkRecord() {
	const few = 20 // entries that can have one date by chance
	l := &k.list
	if l.dated >= few && !l.differ {
		k.findAs(asWarn, ruleChanged, position{source: k.sitemap}, l.first.String(),
			fmt.Sprintf("all %d entries have the same lastmod: it may be the time at which the file was written", l.dated))
	}
	k.skip(NeedsVisit,
		"Only a second visit shows whether lastmod changes with the record. Keep the profile of this visit.", ruleChanged)
}

// checkMonthly checks whether the sitemap is renewed every month.
func (k *check) checkMonthly() {
	const month = 31 * 24 * time.Hour
	l, s := &k.list, k.sitemap
	if s.Modified.IsZero() && syntax.HTTPHost(s.Name) == 0 {
		k.skip(NeedsHTTP, "A saved file does not state when it was saved.", ruleMonthly)
		return
	}
	switch newest := k.latest(s.Modified, l.indexNewest, l.newest); {
	case newest.IsZero():
		k.skip(NeedsVisit, "Nothing states when the sitemap was written.", ruleMonthly)
	case k.now.Sub(newest) >= month:
		k.find(ruleMonthly, position{source: s}, newest.UTC().Format(time.DateOnly),
			fmt.Sprintf("the newest date of the sitemap is %d days old", int(k.now.Sub(newest).Hours()/24)))
	default:
		k.checked(ruleMonthly)
	}
}
