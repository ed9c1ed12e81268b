package publish

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/websync-go/websync/internal/syntax"
)

// private is the directory for the export's own files.
const private = ".websync"

const indexFile = "index.html"

// The longest names that every server can open below its own directory: most systems
// allow 255 bytes in one part of a path, and 4,096 in all.
const (
	maxFileName = 255
	maxFilePath = 3500
)

// fileName returns the name of the file of a path, with slashes and relative to the
// directory of the export. Different paths have different names, except "/a/" and
// "/a/index.html".
//
// A server of static files decodes the whole path and opens the file of that name. So
// fileName returns an error for a path that is escaped in any other way than
// [syntax.Escape] does it: it would be a second path of the same file.
func fileName(path string) (string, error) {
	segments, ok := strings.CutPrefix(path, "/")
	if !ok {
		return "", errors.New("not an absolute path")
	}
	var names []string
	for segment := range strings.SplitSeq(segments, "/") {
		name, err := url.PathUnescape(segment)
		if err != nil || syntax.Escape(name, syntax.Segment.Has) != segment {
			return "", fmt.Errorf("%.200q is not escaped as a server expects it", segment)
		}
		names = append(names, name)
	}
	if last := len(names) - 1; names[last] == "" {
		names[last] = indexFile
	}
	for _, name := range names {
		if err := checkFileName(name); err != nil {
			return "", err
		}
	}
	name := strings.Join(names, "/")
	switch {
	case strings.EqualFold(names[0], private):
		return "", errors.New("the export keeps its own files there")
	case len(name) > maxFilePath:
		return "", fmt.Errorf("the path has %d bytes; a server can open at most %d", len(name), maxFilePath)
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return "", errors.New("not a file name on this system")
	}
	return name, nil
}

// checkFileName returns an error if name cannot be a file name on every common system.
func checkFileName(name string) error {
	odd := func(r rune) bool { return r < ' ' || r == 0x7f || r == '/' || r == '\\' }
	switch {
	case name == "" || name == "." || name == "..":
		return fmt.Errorf("%q is not the name of a file", name)
	case len(name) > maxFileName:
		return fmt.Errorf("the name has %d bytes; a file name can have at most %d", len(name), maxFileName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%q is not UTF-8", name)
	case strings.ContainsFunc(name, odd):
		return fmt.Errorf("%q holds a control character, a slash or a backslash", name)
	}
	return nil
}
