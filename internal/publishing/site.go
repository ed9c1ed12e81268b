// Package publishing holds what the Publishers of all protocols have in common. A
// Publisher states which ranges of the Catalog make its documents, and writes them; this
// package does the rest.
//
//   - A [Site] checks the settings, makes the paths of documents, reads the Catalog, and
//     describes errors.
//   - A [PartList] is the live resources in documents, each of a fixed range of Born, and
//     an index of them: sitemaps and Resource Lists.
//   - A [Chain] is the log in documents, each of a fixed range of its numbers, and an
//     open one at the end: archived feeds and Change Lists.
//   - A [Linker] makes the links of published resources, of the publisher's own and of
//     those harvested from other publishers.
//   - An [Overlap] finds ids that two sources have.
//   - [Inert] leaves out markup of others on which a browser may act.
package publishing

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// Settings are the fields that the Publishers of all protocols have in common, under the
// same names.
type Settings struct {
	Package string // of the Publisher, for errors
	websync.Place
	Path     string                 // of the root document
	Reserved func(path string) bool // the Publisher's method
}

// A Site holds the checked settings of a Publisher. It is safe for concurrent use.
type Site struct {
	// Err is the first fault of the settings. If it is set, only URL, Check and
	// ParseNumbered may be called.
	Err error

	Catalog websync.Catalog
	Sources []string // sorted, each once; none: all
	Locator websync.Locator
	Origin  string // scheme and authority: what stands before every path
	Root    string // the path of the root document

	settings  Settings
	stem, ext string // of the paths of numbered documents
	longest   int    // MaxDescription, or that of no limit

	mu       sync.Mutex
	reported map[int64]struct{} // times of items of which something is left out
}

// New returns the Site of a Publisher with these settings.
func New(s Settings) *Site {
	name := strings.TrimPrefix(s.Path, "/")
	host, end := syntax.SplitHTTP(s.Base)
	l := &Site{
		Catalog: s.Catalog, Sources: slices.Compact(slices.Sorted(slices.Values(s.Sources))), Locator: s.Locator,
		Origin: s.Base[:end], Root: s.Base[end:] + name, settings: s, longest: cmp.Or(s.MaxDescription, defaultDescription),
	}
	if l.Locator == nil {
		l.Locator = websync.PathLocator{Base: s.Base, Own: s.Own, Reserved: s.Reserved}
	}
	if l.longest < 0 {
		l.longest = math.MaxInt
	}
	l.ext = path.Ext(name)
	l.stem = strings.TrimSuffix(l.Root, l.ext)
	url := l.URL()
	switch {
	case s.Catalog == nil:
		l.Err = fmt.Errorf("%s: Publisher.Catalog is nil", s.Package)
	case strings.Contains(s.Base[host:end], "@"):
		l.Err = fmt.Errorf("%s: Publisher.Base must not hold a user or a password", s.Package)
	case !strings.HasSuffix(s.Base[end:], "/") || end == 0 || syntax.HasEmptyPort(s.Base):
		l.Err = fmt.Errorf("%s: Publisher.Base %.200q must be an http(s) URL ending in \"/\"", s.Package, s.Base)
	case syntax.URLFault(url) != "":
		l.Err = fmt.Errorf("%s: Publisher.Base and Path make %.200q, which must be a URL: %s",
			s.Package, url, syntax.URLFault(url))
	case strings.ContainsAny(url, "?#") || path.Clean(l.Root) != l.Root:
		l.Err = fmt.Errorf("%s: Publisher.Base and Path make %.200q, "+
			"which must be the clean URL of a document, without query and fragment", s.Package, url)
	}
	return l
}

// At returns the Site of another root document of the same Publisher, which lists other
// sources: a Publisher of several sets has one for each list of each set.
func (s *Site) At(path string, sources ...string) *Site {
	settings := s.settings
	settings.Path, settings.Sources, settings.Locator = path, sources, s.Locator
	return New(settings)
}

// URL returns the URL of the root document.
func (s *Site) URL() string { return s.Origin + s.Root }

// Beside returns the path of the root document with a name before its extension.
func (s *Site) Beside(name string) string { return s.stem + "-" + name + s.ext }

// Numbered returns the path of the document n of a list with an id. n counts from 1.
func (s *Site) Numbered(id string, n uint64) string {
	return s.Beside(id + "-" + strconv.FormatUint(n, 10))
}

// ParseNumbered is the inverse of Numbered.
func (s *Site) ParseNumbered(path string) (id string, n uint64, ok bool) {
	rest, begins := strings.CutPrefix(path, s.stem+"-")
	rest, ends := strings.CutSuffix(rest, s.ext)
	dash := strings.LastIndexByte(rest, '-')
	if !begins || !ends || dash < 0 {
		return "", 0, false
	}
	id = rest[:dash]
	n, err := strconv.ParseUint(rest[dash+1:], 10, 64)
	return id, n, err == nil && n > 0 && s.Numbered(id, n) == path
}

const hashLength = 8

// Hash returns eight hexadecimal digits that identify everything that a document depends
// on.
func Hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:hashLength/2])
}

// IsHash reports whether s can be a result of Hash.
func IsHash(s string) bool {
	return len(s) == hashLength && strings.Trim(s, "0123456789abcdef") == ""
}

// Key returns a text that changes with MaxDescription, and when the Locator gives other
// URLs, as far as that is visible: the URL of one body, and the String of a Locator that
// is a [fmt.Stringer].
func (s *Site) Key() string {
	any := websync.Item{Resource: websync.Resource{ID: "urn:websync:any"}}
	key := s.Locator.URL(&any, "content")
	if named, ok := s.Locator.(fmt.Stringer); ok {
		key += " " + named.String()
	}
	return key + " " + strconv.Itoa(s.longest)
}

// Check returns Err, or an error if the Locator gives the URL of the root document to a
// body as well.
func (s *Site) Check() error {
	if s.Err != nil {
		return s.Err
	}
	id, body, found := s.Locator.Find(s.Root)
	if !found {
		return nil
	}
	return fmt.Errorf(
		"%s: Publisher.Locator has %q for the body %q of %.200q: its Reserved must know the paths of all Publishers",
		s.settings.Package, s.URL(), body, id)
}

var errTaken = errors.New(
	"its URL is reserved for the publisher's own resources, bodies and documents, but its source is not own")

// Refusal returns why an item must not be listed; nil if it may be listed. An item is
// refused if its id is taken: readers would attribute it to the publisher. It is also
// refused if it is long although nothing is left to leave out.
func (s *Site) Refusal(item *websync.Item) error {
	if s.isLong(item, s.longest) {
		return errLong
	}
	return s.Taken(item, item.Resource.ID)
}

// Taken returns an error if an item must not be listed with a URL that its publisher has
// chosen. That is so if its source is not own, and the URL is one that the Locator
// reserves for resources of own sources, or gives to a body of another item, or that of a
// document of the Publisher.
func (s *Site) Taken(item *websync.Item, url string) error {
	path, under := strings.CutPrefix(url, s.Origin)
	if !under || s.Locator.Owns(item.Source) {
		return nil
	}
	if s.settings.Reserved != nil && s.settings.Reserved(path) {
		return errTaken
	}
	if id, body, found := s.Locator.Find(path); found && (id != item.Resource.ID || s.Locator.URL(item, body) != url) {
		return errTaken
	}
	return nil
}

// LastMod returns the time that an item states, or else that of its commit. What is later
// than its commit can't be true, and a reader that continues from the latest time that it
// has seen would miss all changes until then.
func LastMod(item *websync.Item) websync.Datetime {
	commit := websync.NewDatetime(item.Time)
	if stated := item.Resource.Modified; !stated.IsZero() && !stated.Time().After(item.Time) {
		return stated
	}
	return commit
}

// Items yields items of the Catalog, each checked, and as long as MaxDescription allows.
// An item is valid until the next one. An error is the last that it yields.
type Items = iter.Seq2[*websync.Item, error]

// A Refuse receives an item that must not be listed, and why.
type Refuse = func(item *websync.Item, why error)

// Resources yields the live resources of a range of Born, of the sources of the Site,
// each checked. An item is valid until the next one. An item that must not be listed is
// passed to refuse instead, with the reason; if refuse is nil, it is yielded.
func (s *Site) Resources(ctx context.Context, r websync.Range, refuse Refuse) Items {
	r.Sources = s.Sources
	return s.Items(s.Catalog.Resources(ctx, r), s.CatalogError, refuse)
}

// Items yields the items of all, as Resources does. fail turns an error of the Catalog
// into one of the Publisher.
func (s *Site) Items(all iter.Seq2[websync.Item, error], fail func(error) error, refuse Refuse) Items {
	return func(yield func(*websync.Item, error) bool) {
		var item websync.Item // reused for all items: a Locator gets its address
		for next, err := range all {
			if item = next; err == nil {
				err = item.Check()
			}
			if err != nil {
				yield(nil, fail(err))
				return
			}
			s.fit(&item, s.longest)
			if refuse != nil {
				if why := s.Refusal(&item); why != nil {
					refuse(&item, why)
					continue
				}
			}
			if !yield(&item, nil) {
				return
			}
		}
	}
}

// Batches yields the items of all in slices of up to 500, as copies. A slice and its
// items are valid until the next one.
func Batches(all Items) iter.Seq2[[]*websync.Item, error] {
	const most = 500
	return func(yield func([]*websync.Item, error) bool) {
		var items []*websync.Item // reused, with the items
		n := 0
		for item, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			if n == len(items) {
				items = append(items, new(websync.Item))
			}
			*items[n] = *item
			if n++; n < most {
				continue
			}
			if !yield(items[:n:n], nil) {
				return
			}
			n = 0
		}
		if n > 0 {
			yield(items[:n:n], nil)
		}
	}
}

// Current returns for each item the present record of its id, in one source or several.
func (s *Site) Current(ctx context.Context, items []*websync.Item) ([]websync.Item, error) {
	const most = 500
	bySource := make(map[string][]int)
	for i, item := range items {
		bySource[item.Source] = append(bySource[item.Source], i)
	}
	current := make([]websync.Item, len(items))
	for source, all := range bySource {
		for some := range slices.Chunk(all, most) {
			ids := make([]string, len(some))
			for k, i := range some {
				ids[k] = items[i].Resource.ID
			}
			found, err := s.Catalog.Get(ctx, source, ids)
			if err != nil {
				return nil, s.CatalogError(err)
			}
			for k, i := range some {
				current[i] = found[k]
			}
		}
	}
	return current, nil
}

// Head returns the Head of the Catalog, checked.
func (s *Site) Head(ctx context.Context) (websync.Head, error) {
	head, err := s.Catalog.Head(ctx)
	if err == nil {
		err = head.Check()
	}
	if err != nil {
		return head, s.CatalogError(err)
	}
	return head, nil
}

// CatalogError is the function CatalogError for the package of the Publisher.
func (s *Site) CatalogError(err error) error { return CatalogError(s.settings.Package, err) }

// CatalogError returns an error of the Catalog as one of a Publisher of a package. The
// result does not match ErrNotFound, ErrGone or ErrConflict, because it must not look
// like the answer for a document that does not exist.
func CatalogError(pkg string, err error) error {
	if errors.Is(err, websync.ErrNotFound) || errors.Is(err, websync.ErrGone) || errors.Is(err, websync.ErrConflict) {
		return fmt.Errorf("%s: the catalog: %v", pkg, err)
	}
	return fmt.Errorf("%s: the catalog: %w", pkg, err)
}

// DocumentError returns err as the error of the document at a path.
func (s *Site) DocumentError(path string, err error) error {
	return fmt.Errorf("%s: %.200q: %w", s.settings.Package, path, err)
}

// NewGeneration returns the error of a walk over documents during which the log got a new
// generation.
func (s *Site) NewGeneration() error {
	return fmt.Errorf("%s: the log has a new generation: %w", s.settings.Package, websync.ErrConflict)
}

// A Numbered returns the path of document n of a list, counted from 1. The path is empty
// if the document lists nothing. more is false if there is no document n.
type Numbered func(n uint64) (path string, more bool, err error)

// Documents yields the paths of the documents of some lists, then rest, as
// Publisher.Documents does.
func (s *Site) Documents(lists []Numbered, rest ...string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if s.Err != nil {
			yield("", s.Err)
			return
		}
		for _, numbered := range lists {
			path, more, err := numbered(1)
			for n := uint64(2); more && err == nil; n++ {
				if path != "" && !yield(path, nil) {
					return
				}
				path, more, err = numbered(n)
			}
			if err != nil {
				yield("", err)
				return
			}
		}
		for _, path := range rest {
			if !yield(path, nil) {
				return
			}
		}
	}
}

// RobotsPath is the path of robots.txt.
const RobotsPath = "/robots.txt"

// Robots returns a robots.txt whose only line names the root document as a sitemap. The
// text is empty as long as the Catalog never had a resource: search engines take a
// sitemap without entries for a mistake.
func (s *Site) Robots(ctx context.Context) (*websync.Document, error) {
	head, err := s.Head(ctx)
	if err != nil {
		return nil, err
	}
	var text []byte
	if head.Born > 0 {
		text = []byte("Sitemap: " + s.URL() + "\n")
	}
	return Fixed("text/plain; charset=utf-8", text), nil
}

// Fixed returns a document that depends on the settings only. Its ETag is a digest.
func Fixed(mediaType string, text []byte) *websync.Document {
	sum := sha256.Sum256(text)
	return &websync.Document{
		Type: mediaType,
		ETag: hex.EncodeToString(sum[:8]),
		Write: func(_ context.Context, w io.Writer) error {
			_, err := w.Write(text)
			return err
		},
	}
}
