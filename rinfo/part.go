package rinfo

import (
	"mime"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// maxParts limits the parts of a resource that are collected.
const maxParts = 1000

// A part is a document that belongs to a resource, besides its content.
type part struct {
	rel  string // relAlternate or relEnclosure
	link websync.Link
}

// parts returns the parts of a resource that are HTTP URLs, each URL once.
func parts(r *websync.Resource) (all []part) {
	seen := map[string]bool{r.Content.Href: true}
	for _, l := range r.Links {
		rel := syntax.RelationName(l.Rel)
		if rel != relAlternate && rel != relEnclosure || seen[l.Href] || syntax.HTTPHost(l.Href) == 0 {
			continue
		}
		seen[l.Href] = true
		all = append(all, part{rel, l})
	}
	return all
}

// mediaType returns a media type in lower case without its parameters, and these.
func mediaType(text string) (kind string, params map[string]string) {
	kind, params, err := mime.ParseMediaType(text)
	if err != nil {
		return "", nil
	}
	return kind, params
}
