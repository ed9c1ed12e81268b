package rinfo

import (
	"fmt"
	"strings"

	"github.com/websync-go/websync"
)

// A Locator gives the bodies of own resources the URLs that the specification gives them
// (§3.3.7), so that a depot can serve them there:
//
//	content                        the id
//	alternate application/rdf+xml  the id and the extension for the type: id/rdf
//	alternate text/html sv         likewise, with the language: id/html,sv
//	enclosure bilaga_1.pdf         the AttachmentURL: id/bilaga_1.pdf
//
// All other bodies have the URLs that PathLocator gives them: those of sources that are
// not own, whatever their ids are, and those whose URL another body could have. So two
// bodies of different ids or names never share a URL.
//
// For that it must be known from a URL alone which part of it is the id: see IsEntry.
type Locator struct {
	websync.PathLocator

	// IsEntry reports whether a URL under Base has the form of the id of a resource with
	// documents of its own. It must depend on the URL only. A URL of that form is that of
	// a content; below it are the other bodies of the longest such URL. If nil, it is a
	// URL whose last segment has no dot and is not the name of an alternate. Then an
	// attachment in a directory, or without an extension, keeps the URL that PathLocator
	// gives it.
	IsEntry func(url string) bool
}

var _ websync.Locator = Locator{}

// URL implements [websync.Locator].
func (l Locator) URL(item *websync.Item, body string) string {
	foreign := l.PathLocator
	foreign.Own = nil
	if !l.Owns(item.Source) {
		return foreign.URL(item, body)
	}
	id := item.Resource.ID
	url := id
	if body != websync.ContentName {
		place := alternatePlace(body)
		if place == "" {
			place, _ = strings.CutPrefix(body, relEnclosure+" ")
		}
		url = id + "/" + place
	}
	if foundID, found, ok := l.own(url); ok && foundID == id && found == body {
		return url
	}
	return foreign.URL(item, body)
}

// Find implements [websync.Locator].
func (l Locator) Find(path string) (id, body string, ok bool) {
	id, body, ok = l.PathLocator.Find(path)
	if !ok || !l.isPlace(id, path) {
		return id, body, ok
	}
	return l.own(id)
}

// String returns the settings, but for the functions: Publishers name documents by what
// they depend on.
func (l Locator) String() string {
	return fmt.Sprintf("rinfo %v, IsEntry %t", l.PathLocator, l.IsEntry != nil)
}

// isPlace reports whether a URL is the one at a path.
func (l Locator) isPlace(url, path string) bool {
	root := strings.Index(l.Base, "://") + len("://")
	root += strings.IndexByte(l.Base[root:], '/')
	return url == l.Base[:root]+path
}

// own returns the id and the name of the body of an own resource that has a URL.
func (l Locator) own(url string) (id, body string, ok bool) {
	anyOwn := websync.Item{Resource: websync.Resource{ID: url}}
	keeps := l.PathLocator
	keeps.Own = []string{""}
	if keeps.URL(&anyOwn, websync.ContentName) != url {
		return "", "", false
	}
	isEntry := l.IsEntry
	if isEntry == nil {
		isEntry = isPlainEntry
	}
	if isEntry(url) {
		return url, websync.ContentName, true
	}
	for end := strings.LastIndexByte(url, '/'); end > len(l.Base); end = strings.LastIndexByte(url[:end], '/') {
		if id := url[:end]; isEntry(id) {
			place := url[end+1:]
			if body := alternateAt(place); body != "" {
				return id, body, true
			}
			return id, relEnclosure + " " + place, place != ""
		}
	}
	return url, websync.ContentName, true
}

// isPlainEntry is the default of Locator.IsEntry.
func isPlainEntry(url string) bool {
	last := url[strings.LastIndexByte(url, '/')+1:]
	return last != "" && !strings.Contains(last, ".") && alternateAt(last) == ""
}
