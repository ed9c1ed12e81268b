package resourcesync

import (
	"fmt"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// maxTargets limits how many mirrors, or alternates of one type, of a resource are tried.
const maxTargets = 5

// targets returns the links of a relation that lead to the web.
func targets(r *websync.Resource, rel string) (links []websync.Link) {
	for i := range r.Links {
		if l := &r.Links[i]; l.Rel == rel && syntax.HTTPHost(l.Href) > 0 {
			links = append(links, *l)
		}
	}
	return links
}

// sameBytes returns a link to another place that has the bytes of content. What content
// states of them counts first (§14.2, §14.6).
func sameBytes(content, at websync.Link) websync.Link {
	link := content
	link.Href = at.Href
	if !link.Verifiable() {
		link.Digests, link.Length, link.Encoding = at.Digests, at.Length, at.Encoding
	}
	if link.Type == "" {
		link.Type = at.Type
	}
	return link
}

// mirrors returns the content of a resource at its mirrors, the first to be tried first.
func mirrors(r *websync.Resource) []websync.Link {
	links := targets(r, "duplicate")
	const least = 999_999 // that of a link without pri
	priority := func(l websync.Link) int {
		if l.Priority == 0 {
			return least
		}
		return l.Priority
	}
	slices.SortStableFunc(links, func(a, b websync.Link) int { return priority(a) - priority(b) })
	links = links[:min(len(links), maxTargets)]
	for i := range links {
		links[i] = sameBytes(r.Content, links[i])
	}
	return links
}

// A choice is a representation of a resource that may be its content.
type choice struct {
	link websync.Link

	// accept is the header of a request that leaves the choice to the server. If empty,
	// the link leads to one representation.
	accept string

	// strict: only a representation of a wanted type counts.
	strict bool
}

// choices returns the representations of a resource to try before the one at loc, the
// best first (§14.3).
func choices(r *websync.Resource, types []string) (all []choice) {
	if len(types) == 0 {
		return nil
	}
	alternates := targets(r, "alternate")
	for _, t := range types {
		if syntax.IsOfType(r.Content.Type, t) {
			return all
		}
		n := 0
		for _, l := range alternates {
			if syntax.IsOfType(l.Type, t) && l.Href != r.Content.Href && n < maxTargets {
				all = append(all, choice{link: l})
				n++
			}
		}
	}
	generic := targets(r, "canonical")
	switch {
	case len(generic) > 0 && r.Content.Type == "":
		all = append(all, choice{r.Content, acceptOf(types), true})
	case r.Content.Type == "" && !r.Content.Verifiable(): // otherwise only one can be verified
		all = append(all, choice{r.Content, acceptOf(types) + ", */*;q=0.1", false})
	}
	if len(generic) > 0 && generic[0].Href != r.Content.Href {
		all = append(all, choice{generic[0], acceptOf(types), true})
	}
	return all
}

// acceptOf returns an Accept header for media types, the best first.
func acceptOf(types []string) string {
	var b strings.Builder
	for i, t := range types {
		if i == 0 {
			b.WriteString(t)
			continue
		}
		fmt.Fprintf(&b, ", %s;q=0.%d", t, max(2, 10-i))
	}
	return b.String()
}

// isOneOf reports whether a media type is one of the wanted ones.
func isOneOf(mediaType string, wanted []string) bool {
	return slices.ContainsFunc(wanted, func(t string) bool { return syntax.IsOfType(mediaType, t) })
}

// checkTypes returns what is wrong with Source.Types.
func checkTypes(types []string) error {
	for _, t := range types {
		if fault := syntax.MediaTypeFault(t); fault != "" {
			return fmt.Errorf("resourcesync: Source.Types has %q: %s", t, fault)
		}
	}
	return nil
}

// descriptions returns the links to the metadata documents of a resource (§14.5), each
// document once.
func descriptions(r *websync.Resource) (links []websync.Link) {
	for _, l := range targets(r, "describedby") {
		known := slices.ContainsFunc(links, func(other websync.Link) bool { return other.Href == l.Href })
		if !known && l.Href != r.Content.Href {
			links = append(links, l)
		}
	}
	return links
}

// collects reports whether a resource with these links is a member of one of the
// collections, if some are chosen (§14.7).
func (s *Source) collects(links []websync.Link) bool {
	return len(s.Collections) == 0 || slices.ContainsFunc(links, func(l websync.Link) bool {
		return l.Rel == "collection" && slices.Contains(s.Collections, l.Href)
	})
}

// removes reports whether a change removes its resource from what is yielded: it is
// deleted, or no member of the collections.
func (s *Source) removes(v *View) bool {
	return v.Metadata.Change == Deleted || len(s.Collections) > 0 && !slices.ContainsFunc(v.Links, func(l LinkView) bool {
		return string(l.Rel) == "collection" && slices.Contains(s.Collections, string(l.Href))
	})
}
