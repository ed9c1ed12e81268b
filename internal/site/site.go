// Package site holds what the Publishers of all protocols do in the same way.
package site

import (
	"fmt"

	"github.com/websync-go/websync"
)

// LocatorKey returns a text that is another one when the locator gives other URLs, as far as that can be known: the URL
// of one body, and the settings of a Locator that is a [fmt.Stringer].
func LocatorKey(l websync.Locator) string {
	any := websync.Item{Resource: websync.Resource{ID: "urn:websync:any"}}
	key := l.URL(&any, "content")
	if s, ok := l.(fmt.Stringer); ok {
		key += " " + s.String()
	}
	return key
}
