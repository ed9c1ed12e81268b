package publish

import (
	"context"
	"errors"
	"html"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// Linked returns a Publisher of the same documents, each with these links in its HTTP
// header besides its own: for example with the Link of a resourcesync.Publisher, by which
// a reader of any resource finds the Capability List that covers it (Z39.99 §6.3.3). If a
// host has several sets of resources, those of each set get the link of their own:
//
//	publish.Linked(publish.Bodies(store, locator, "maps"), maps.Link()),
//	publish.Linked(publish.Bodies(store, locator, "books"), books.Link()),
//
// If an id is in several of them, the first Bodies serves it, as with [Join].
//
// The server of the files of [WriteDir] sends the links if it includes the configuration
// that WriteDir writes. Otherwise put the result of [HTMLLink] into the pages.
func Linked(p websync.Publisher, links ...websync.Link) websync.Publisher {
	if all, ok := p.(joined); ok {
		each := make(joined, len(all))
		for i := range all {
			each[i] = Linked(all[i], links...)
		}
		return each
	}
	if p == nil {
		return nil // Join reports it
	}
	return &withLinks{p, links}
}

type withLinks struct {
	websync.Publisher
	links []websync.Link
}

// Document implements [websync.Publisher].
func (l *withLinks) Document(ctx context.Context, path string) (*websync.Document, error) {
	doc, err := l.Publisher.Document(ctx, path)
	if err != nil {
		return nil, err
	}
	with := *doc
	with.Links = slices.Concat(doc.Links, l.links)
	return &with, nil
}

// Check implements [Checker].
func (l *withLinks) Check() (err error) {
	if c, ok := l.Publisher.(Checker); ok {
		err = c.Check()
	}
	for i := range l.links {
		if formatLink(l.links[i]) == "" {
			err = errors.Join(err, errors.New("publish: Linked needs links with a Href and a Rel of printable ASCII"))
		}
	}
	return err
}

// isBodies reports whether a Publisher publishes bodies.
func isBodies(p websync.Publisher) bool {
	switch p := p.(type) {
	case *withLinks:
		return isBodies(p.Publisher)
	case *bodies:
		return true
	}
	return false
}

// HTMLLink returns a link as an element for the head of a page, in HTML and in XHTML: for
// example <link rel="resourcesync" href="https://example.org/capabilitylist.xml"/>. It
// has the Href, Rel, Type, Lang and Title of l, escaped; it is empty if Href or Rel is.
// The target is as in the HTTP header: what a URI must not have is percent-encoded. A
// template of html/template takes it as a template.HTML.
func HTMLLink(l websync.Link) string {
	if l.Href == "" || l.Rel == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("<link")
	for _, attr := range [...][2]string{
		{"rel", l.Rel}, {"href", syntax.Escape(l.Href, syntax.URI.Has)},
		{"type", l.Type}, {"hreflang", l.Lang}, {"title", l.Title},
	} {
		if name, value := attr[0], attr[1]; value != "" {
			b.WriteString(" " + name + `="` + html.EscapeString(strings.Map(visible, value)) + `"`)
		}
	}
	b.WriteString("/>")
	return b.String()
}

// visible replaces characters that no page may have.
func visible(r rune) rune {
	if r < ' ' || 0x7f <= r && r < 0xa0 {
		return '\uFFFD'
	}
	return r
}
