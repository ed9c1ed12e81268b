package webpage

import (
	"net/url"
	"slices"
	"strings"

	"github.com/websync-go/websync"
)

// Links returns the links of a document that is no page in the form of those of a page.
func Links(links []websync.Link) (all []Link) {
	for _, l := range links {
		all = append(all, Link{Target: l.Href, Params: []LinkParam{{Name: "rel", Value: l.Rel}}})
	}
	return all
}

// Channel returns where the changes of a document are announced (WebSub §4): its topic,
// the target of the first link self, and its hubs, those of https first, because only
// they sign what they send. Of each relation the links in the HTTP header count, or those
// in the document if the header has none that can be used. All links must be absolute.
func Channel(header, document []Link) (topic string, hubs []string) {
	if topics := targets("self", header, document); len(topics) > 0 {
		topic = topics[0]
	}
	hubs = targets("hub", header, document)
	slices.SortStableFunc(hubs, func(a, b string) int { return strings.Compare(scheme(b), scheme(a)) })
	return topic, hubs
}

func scheme(link string) string {
	name, _, _ := strings.Cut(link, ":")
	return strings.ToLower(name)
}

// targets returns the targets of a relation that WebSub can use, in the first of the
// lists that has any.
func targets(rel string, lists ...[]Link) (all []string) {
	for _, links := range lists {
		for i := range links {
			l := &links[i]
			if l.HasRel(rel) && isRequestable(l.Target) && !slices.Contains(all, l.Target) {
				all = append(all, l.Target)
			}
		}
		if len(all) > 0 {
			break
		}
	}
	return all
}

// isRequestable reports whether a link is a URL of http or https with nothing in it that
// a request does not have.
func isRequestable(link string) bool {
	u, err := url.Parse(link)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.Fragment == ""
}
