// Package site holds what the Publishers of all protocols do in the same way.
package site

import (
	"fmt"
	"strings"

	"github.com/websync-go/websync"
)

// LocatorKey returns a text that is another one when the locator gives other URLs, as far
// as that can be known: the URL of one body, and the settings of a Locator that is a
// [fmt.Stringer].
func LocatorKey(l websync.Locator) string {
	any := websync.Item{Resource: websync.Resource{ID: "urn:websync:any"}}
	key := l.URL(&any, "content")
	if s, ok := l.(fmt.Stringer); ok {
		key += " " + s.String()
	}
	return key
}

// CheckLocator returns an error of a package if a Locator gives the URL of a Publisher's
// document, origin and path, to a body as well.
func CheckLocator(l websync.Locator, pkg, origin, path string) error {
	id, body, found := l.Find(path)
	if !found {
		return nil
	}
	return fmt.Errorf("%s: Publisher.Locator has %q for the body %q of %.200q: its Reserved must know the paths of all Publishers",
		pkg, origin+path, body, id)
}

// Usurps reports whether an item of a source that is not own has an id that is a URL of
// the publisher's own: one that the Locator keeps for resources of own sources. origin is
// the scheme and the authority of the site.
func Usurps(l websync.Locator, origin string, item *websync.Item) bool {
	path, under := strings.CutPrefix(item.Resource.ID, origin)
	if !under || l.Owns(item.Source) {
		return false
	}
	id, _, found := l.Find(path)
	return found && id == item.Resource.ID
}
