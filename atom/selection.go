package atom

import "github.com/websync-go/websync"

// A Selection says which representation of an entry is the content of a resource.
type Selection uint8

const (
	// ContentOrAlternate is atom:content, inline or by its src; without one, the first
	// alternate link.
	ContentOrAlternate Selection = iota
	// ContentOnly is atom:content. An entry without one is a description only.
	ContentOnly
	// Alternate is the first alternate link; without one, atom:content.
	Alternate
	// Enclosure is the first enclosure link; without one, as ContentOrAlternate.
	Enclosure
)

// of returns the link that is selected, and whether it stands for the entry's inline
// content.
func (s Selection) of(e *Entry) (link websync.Link, inline bool) {
	content := !e.Content.IsZero()
	for _, rel := range s.links(content) {
		if l, ok := e.Link(rel); ok {
			return l, false
		}
	}
	return e.content(), content && e.Content.Href == ""
}

// links returns the relations of links that are selected before atom:content, in their
// order.
func (s Selection) links(content bool) []string {
	switch {
	case s == Alternate, s == ContentOrAlternate && !content:
		return []string{"alternate"}
	case s == Enclosure && content:
		return []string{"enclosure"}
	case s == Enclosure:
		return []string{"enclosure", "alternate"}
	}
	return nil
}
