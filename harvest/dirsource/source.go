package dirsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/syntax"
)

// A Source harvests the regular files below a directory as one set. A run yields one
// snapshot of all of them; Get reads their bytes. A Source is safe for concurrent use as
// long as its fields do not change.
type Source struct {
	// Dir is the directory. It is required. Dir itself may be a symbolic link; none below
	// it is followed.
	Dir string

	// Base is the URL that stands for Dir, and that all ids start with: absolute, without
	// a query or a fragment, and with a slash at its end. It is required.
	Base string

	// Name is the Source's key in a Catalog. If empty, it is Base.
	Name string

	// Include, if not empty, chooses the files to list: those whose path below Dir
	// matches one of the patterns.
	//
	// A pattern is made of elements with slashes between them. The element ** stands for
	// any number of path elements, none included; every other one matches one path
	// element as [path.Match] does. A pattern without a slash matches in every directory,
	// so that *.html is **/*.html; a slash at its beginning anchors it to Dir, as in
	// /index.html. A pattern that ends in a slash, has an empty element or is otherwise
	// malformed is an error.
	Include []string

	// Exclude leaves out the files, and the directories with all that is in them, that
	// match one of the patterns. It has precedence over Include. For a program that
	// writes below Dir itself, [PatternOf] returns the pattern of its files.
	Exclude []string

	// Hidden lists files and directories whose names begin with a dot, too.
	Hidden bool

	// Types are media types by extension, in lower case and with its dot, such as ".ttl".
	// They have precedence over the table of the package; if one is empty, the bytes
	// decide.
	Types map[string]string

	// MD5 adds the MD5 of the bytes to Resource.Content.Digests, for readers that know no
	// better digest. Body.Key is always the SHA-256.
	MD5 bool

	now func() time.Time // time.Now if nil
}

var _ harvest.Getter = (*Source)(nil)

// Key returns Name, or Base if there is none.
func (s *Source) Key() string {
	return cmp.Or(s.Name, s.Base)
}

// Events implements [harvest.Source].
func (s *Source) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return docfetch.Pass{Format: "dirsource"}.Events(run, func(p *docfetch.Pass) error {
		return (&walk{Pass: p, source: s}).all(ctx)
	})
}

// check returns what is wrong with the fields that are required.
func (s *Source) check() error {
	if s.Dir == "" {
		return errors.New("dirsource: Source.Dir is empty")
	}
	u, err := url.Parse(s.Base)
	if err != nil || u.Scheme == "" || !strings.HasPrefix(u.Path, "/") || !strings.HasSuffix(s.Base, "/") ||
		strings.ContainsAny(s.Base, "?#") {
		return fmt.Errorf("dirsource: Source.Base %.200q must be an absolute URL ending in \"/\", without query or fragment",
			s.Base)
	}
	return nil
}

func (s *Source) clock() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}

// typeByName returns the media type of the extension of a name; "" if it is not known.
func (s *Source) typeByName(name string) string {
	ext := strings.ToLower(path.Ext(name))
	if t, ok := s.Types[ext]; ok {
		return t
	}
	return typeByExtension[ext]
}

// path returns the path below Dir of an id; ok is false if no file can have this id.
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

// isName reports whether a file or directory can have this name.
func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00"+string(filepath.Separator))
}
