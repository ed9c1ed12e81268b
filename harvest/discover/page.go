package discover

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
)

// maxLinks limits the links of one document that are followed.
const maxLinks = 100

// page reads the head of a web page.
func (a *answer) page() {
	head, err := webpage.ParseHead(a.body, a.cut, a.final, a.contentType)
	a.is("a web page")
	if head.Title != "" {
		a.is("a web page with the title %.100q", head.Title)
	}
	if a.head = head.Links; err != nil {
		a.fault = fmt.Errorf("%s: %w", websync.RedactURL(a.final), err)
	}
}

// follow looks at what the header, or the head of a web page, links to.
func (s *search) follow(ctx context.Context, l lead, a *answer) {
	if l.place = linked; isHost(s.root) {
		l.place = ofHost
	}
	links, inHeader := append(a.links(), a.head...), len(a.links())
	hub := slices.ContainsFunc(links, func(link webpage.Link) bool { return link.HasRel("hub") })
	var all, feeds []lead
	for i := range links {
		link := &links[i]
		if !leads(link, hub) {
			continue
		}
		where := "its head has"
		if i < inHeader {
			where = "its HTTP header has"
		}
		to := l.to(link.Target, l.url, "it is %s; %s %s", a.what, where, describe(link))
		if link.HasRel("resourcesync") || link.HasRel("sitemap") {
			all = append(all, to)
		} else {
			feeds = append(feeds, to)
		}
	}
	all = append(all, feeds...) // last, because there may be many
	for _, to := range all[:min(len(all), maxLinks)] {
		s.look(ctx, to)
	}
}

// leads reports whether a link of a page may lead to something that can be harvested. hub
// says that the page names a WebSub hub: then its link self is the topic.
func leads(l *webpage.Link, hub bool) bool {
	return l.HasRel("resourcesync") || l.HasRel("sitemap") || l.HasRel("feed") || hub && l.HasRel("self") ||
		l.HasRel("alternate") && isFeedType(l.Get("type"))
}

// isFeedType reports whether a media type is that of feeds.
func isFeedType(t string) bool {
	switch strings.ToLower(strings.TrimSpace(syntax.Essence(t))) {
	case "application/atom+xml", "application/rss+xml", "application/rdf+xml", "application/feed+json":
		return true
	}
	return false
}

// describe returns a link in words.
func describe(l *webpage.Link) string {
	text := fmt.Sprintf("a link with rel=%.100q", l.Get("rel"))
	for _, name := range []string{"type", "title"} {
		if value := l.Get(name); value != "" {
			text += fmt.Sprintf(" %s=%.100q", name, value)
		}
	}
	return text
}
