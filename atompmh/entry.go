package atompmh

import (
	"errors"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/syntax"
)

// isAlternate reports whether a link is an alternate link.
func isAlternate(l *websync.Link) bool {
	return l.Rel == "" || strings.EqualFold(syntax.RelationName(l.Rel), "alternate")
}

// alternates returns the alternate links among links.
func alternates(links []websync.Link) (all []websync.Link) {
	for i := range links {
		if isAlternate(&links[i]) {
			all = append(all, links[i])
		}
	}
	return all
}

// An entryKind is what an entry stands for ("Detecting entry type").
type entryKind uint8

const (
	undefined entryKind = iota
	record              // an active or a historical entry
	deletion
)

var (
	errNoLink   = errors.New("no alternate link, and no empty content: neither a record nor a deletion")
	errBoth     = errors.New("an alternate link and an empty content: it may be a record or a deletion")
	errNotEmpty = errors.New("no alternate link, and content: neither a record nor a deletion")
	errDamaged  = errors.New("the content or an alternate link is damaged: it may be something else")
)

// kindOf returns the kind of an entry, and why it has none. It reports what an entry of
// its kind must not have.
func kindOf(e *atom.Entry, report atom.ReportFunc) (entryKind, error) {
	hasLink := slices.ContainsFunc(e.Links, func(l websync.Link) bool { return isAlternate(&l) })
	hasContent := !e.Content.IsZero()
	isEmpty := hasContent && e.Content.Href == "" && strings.TrimSpace(e.Content.Value) == ""
	switch {
	case e.Damaged:
		return undefined, errDamaged
	case hasLink && !hasContent:
		return record, nil
	case hasLink && isEmpty:
		return undefined, errBoth
	case hasLink:
		report(ruleContent, "content", e.ID, "the alternate links count, not the content")
		return record, nil
	case !hasContent:
		return undefined, errNoLink
	case !isEmpty:
		return undefined, errNotEmpty
	case e.Content.Value != "":
		report(ruleDeletionContent, "content", e.ID, "the content of a deletion entry must be empty, and not white space")
	}
	return deletion, nil
}

// pagingRelations connect the pages of a paged feed, which Atom-PMH does not use.
var pagingRelations = []string{"first", "last", "next", "previous", "prev"}

// isPaging reports whether a link of a feed is one between pages.
func isPaging(l websync.Link) bool { return slices.Contains(pagingRelations, l.Rel) }
