package dirsource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A Source harvests the regular files below a directory as one set. A run yields one
// snapshot of all of them; their bytes are read by Get. It is safe for concurrent use as
// long as its fields stay as they are.
type Source struct {
	// Dir is the directory. It is required. Dir itself may be a symbolic link; none below
	// it is followed.
	Dir string

	// Base is the URL that stands for Dir, and that all ids start with: absolute, without
	// a query or a fragment, and with a slash at its end. It is required.
	Base string

	// Name is the Source's key in a Store. The default is Base.
	Name string

	// Include, if not empty, chooses the files to show: those whose path below Dir
	// matches one of the patterns.
	//
	// A pattern is made of elements with slashes between them. The element ** stands for
	// any number of path elements, none included; every other one matches one path
	// element as [path.Match] does. A pattern without a slash matches in every directory,
	// so that *.html is **/*.html; a slash at its beginning ties it to Dir, as in
	// /index.html. One that ends in a slash, has an empty element, or is malformed
	// otherwise, is an error.
	Include []string

	// Exclude leaves out the files, and the directories with all that is in them, that
	// match one of the patterns. It has precedence over Include. A program that writes
	// below Dir itself finds the pattern of what it writes with [PatternOf].
	Exclude []string

	// Hidden shows files and directories whose names begin with a dot, too.
	Hidden bool

	// Types are media types by extension, in lower case and with its dot, such as ".ttl".
	// They have precedence over the table of the package; an empty one leaves it to the
	// bytes.
	Types map[string]string

	// MD5 states the MD5 of the bytes in Resource.Content.Digests, for readers that know
	// no better one. The SHA-256 is always that of the body.
	MD5 bool

	now func() time.Time // nil: time.Now
}

var _ harvest.Getter = (*Source)(nil)

// Key returns Name, or Base if there is none.
func (s *Source) Key() string {
	if s.Name != "" {
		return s.Name
	}
	return s.Base
}

// Events implements [harvest.Source].
func (s *Source) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		w := &walk{source: s, run: run.WithDefaults(), yield: yield}
		if err := w.all(ctx); err != nil {
			yield(harvest.Event{}, err)
		}
	}
}

// check returns what is wrong with the fields that are required.
func (s *Source) check() error {
	if s.Dir == "" {
		return errors.New("dirsource: there is no Dir")
	}
	u, err := url.Parse(s.Base)
	if err != nil || u.Scheme == "" || !strings.HasPrefix(u.Path, "/") || !strings.HasSuffix(s.Base, "/") ||
		strings.ContainsAny(s.Base, "?#") {
		return fmt.Errorf("dirsource: Base %.200q is not an absolute URL that ends in a slash", s.Base)
	}
	return nil
}

// options is a fingerprint of what decides which files are shown, and under which ids.
func (s *Source) options() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %t", s.Base, s.Include, s.Exclude, s.Hidden))
	return hex.EncodeToString(sum[:8])
}

func (s *Source) clock() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}

// typeByName returns the media type that the extension of a name tells, "" if it tells
// none.
func (s *Source) typeByName(name string) string {
	ext := strings.ToLower(path.Ext(name))
	if t, ok := s.Types[ext]; ok {
		return t
	}
	return typeByExtension(ext)
}

// resource returns what can be told of a file without reading it.
func (s *Source) resource(id string, e *entry) websync.Resource {
	return websync.Resource{ID: id, Modified: e.modified, Content: websync.Link{Type: s.typeByName(e.name)}}
}
