package dirsource

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/websync-go/websync/internal/syntax"
)

// path returns the path below Dir that an id stands for. Ok is false if no file has this
// id.
func (s *Source) path(id string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(id, s.Base)
	if !ok {
		return "", false
	}
	var elements []string
	for escaped := range strings.SplitSeq(rest, "/") {
		name, err := url.PathUnescape(escaped)
		if err != nil || !isName(name) || syntax.Escape(name, syntax.Segment.Has) != escaped {
			return "", false
		}
		elements = append(elements, name)
	}
	return strings.Join(elements, "/"), true
}

// isName reports whether a directory can hold something of this name.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00"+string(filepath.Separator))
}
