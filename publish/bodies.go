package publish

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

// Bodies returns a Publisher of the bodies of live records, at the URLs that locator
// gives them. If no sources are given, it publishes all that have live records.
//
// Sources that are published together should have no id in common. If bodies of several
// sources have the same URL, Bodies serves that of an own source, or otherwise that of
// the source that had the id first: no source can take over a URL by listing its id
// later.
//
// A body has the type and the coding it was received with and is not compressed further.
// Its ETag is its digest. Last-Modified is the time of the commit. For the first state
// of a resource it is the time that the resource states, if that has seconds and is not
// after the commit: a later state may state no later time than the one before, so that
// If-Modified-Since would find it unmodified (RFC 9110 §8.8.2.2). Document returns
// [websync.ErrGone] for a body of a deleted record, and [websync.ErrNotFound] for one
// that is not stored.
func Bodies(catalog websync.Catalog, locator websync.Locator, sources ...string) websync.Publisher {
	b := &bodies{catalog: catalog, locator: locator, sources: sources}
	b.ended, _ = catalog.(ended)
	return b
}

type bodies struct {
	catalog websync.Catalog
	locator websync.Locator
	sources []string
	ended   ended // the Catalog; nil if it is none

	mu    sync.Mutex
	known map[string]*websync.Document // by path: some of those found when the log ended at
	at    logEnd
}

// An ended is a Catalog that knows where its log ends without reading more.
type ended interface {
	End(ctx context.Context) (generation uint64, last websync.Seq, err error)
}

// A logEnd is where a log ends.
type logEnd struct {
	generation uint64
	last       websync.Seq
}

// Limits of the documents that are known: they take a few MB.
const (
	maxKnown     = 4096
	maxKnownLink = 512 // bytes
)

// Document implements [websync.Publisher].
func (b *bodies) Document(ctx context.Context, path string) (*websync.Document, error) {
	if b.ended == nil {
		doc, _, err := b.find(ctx, path)
		return doc, err
	}
	var at logEnd
	var err error
	if at.generation, at.last, err = b.ended.End(ctx); err != nil {
		return nil, err
	}
	if doc := b.knownAt(at, path); doc != nil {
		return doc, nil
	}
	doc, size, err := b.find(ctx, path)
	if err == nil && size <= maxKnownLink {
		b.note(at, path, doc)
	}
	return doc, err
}

// knownAt returns a document that was found when the log ended there, or later.
func (b *bodies) knownAt(at logEnd, path string) *websync.Document {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at != at {
		b.at, b.known = at, nil
	}
	return b.known[path]
}

// note notes a document that was found when the log ended there, or later.
func (b *bodies) note(at logEnd, path string, doc *websync.Document) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at != at {
		return
	}
	if b.known == nil || len(b.known) == maxKnown {
		b.known = make(map[string]*websync.Document)
	}
	b.known[path] = doc
}

// find looks up a document. It returns the size of what it keeps besides the path.
func (b *bodies) find(ctx context.Context, path string) (_ *websync.Document, size int, _ error) {
	id, name, ok := b.locator.Find(path)
	if !ok {
		return nil, 0, websync.ErrNotFound
	}
	sources, err := b.asked(ctx)
	if err != nil {
		return nil, 0, err
	}
	missing := websync.ErrNotFound
	var found websync.Item
	var kept websync.Body
	for _, source := range sources {
		items, err := b.catalog.Get(ctx, source, []string{id})
		if err != nil {
			return nil, 0, err
		}
		item := items[0]
		if err := item.Check(); err != nil {
			return nil, 0, err
		}
		if item.Seq == 0 || urlPath(b.locator.URL(&item, name)) != path {
			continue // with this id, a resource of this source has another URL
		}
		if item.Kind == websync.Deleted {
			missing = websync.ErrGone
			continue
		}
		body, ok := item.Body(name)
		if ok && !body.Key.IsZero() && (kept.Key.IsZero() || item.Born < found.Born) {
			found, kept = item, body
		}
		if !kept.Key.IsZero() && b.locator.Owns(source) {
			break
		}
	}
	if kept.Key.IsZero() {
		return nil, 0, missing
	}
	return b.document(&found, kept), kept.Link.Size(), nil
}

// asked returns the sources to search, own ones first.
func (b *bodies) asked(ctx context.Context) ([]string, error) {
	sources := slices.Clone(b.sources)
	if len(sources) == 0 {
		head, err := b.catalog.Head(ctx)
		if err != nil {
			return nil, err
		}
		sources = slices.Sorted(maps.Keys(head.Live))
	}
	foreign := func(s string) int {
		if b.locator.Owns(s) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(sources, func(x, y string) int { return foreign(x) - foreign(y) })
	return sources, nil
}

func (b *bodies) document(item *websync.Item, body websync.Body) *websync.Document {
	doc := &websync.Document{
		Type:     body.Link.Type,
		Encoding: body.Link.Encoding,
		ETag:     digestTag(body.Key),
		Modified: modified(item),
	}
	doc.Open = func(ctx context.Context) (io.ReadSeekCloser, error) { return b.catalog.Open(ctx, body) }
	if body.Key.Known() {
		doc.Digests = append(doc.Digests, body.Key)
	}
	// The strongest stated digest is the one that was checked when the body came.
	if d, ok := body.Link.Digests.Strongest(); ok && d.Algorithm != body.Key.Algorithm {
		doc.Digests = append(doc.Digests, d)
	}
	return doc
}

// modified returns the time of an item for Last-Modified.
func modified(item *websync.Item) time.Time {
	stated := item.Resource.Modified
	first := item.Kind == websync.Created && item.Prior == 0
	if first && stated.Precision() >= websync.PrecisionSecond && !stated.Time().After(item.Time) {
		return stated.Time()
	}
	return item.Time
}

// digestTag returns the tag of bytes with this digest.
func digestTag(d websync.Digest) string {
	if !d.Known() {
		return d.String()
	}
	return hex.EncodeToString([]byte(d.Sum))
}

// Check implements [Checker].
func (b *bodies) Check() error {
	switch {
	case b.catalog == nil:
		return errors.New("publish: Bodies needs a Catalog, not nil")
	case b.locator == nil:
		return errors.New("publish: Bodies needs a Locator, not nil: PathLocator{Base: …} is the usual one")
	}
	return nil
}

// Documents implements [websync.Publisher]: the bodies in the order of Born.
func (b *bodies) Documents(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for found, err := range b.each(ctx) {
			if !yield(found.path, err) {
				return
			}
		}
	}
}

// A found is a body and its path.
type found struct {
	path string
	item *websync.Item // valid until the next one
	body websync.Body
}

// each yields the bodies in the order of Born.
func (b *bodies) each(ctx context.Context) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		holds, err := holdsBodies(ctx, b.catalog)
		if err != nil {
			yield(found{}, err)
		}
		if !holds {
			return
		}
		for item, err := range b.catalog.Resources(ctx, websync.Range{Sources: b.sources}) {
			if err == nil {
				err = item.Check()
			}
			if err != nil {
				yield(found{}, err)
				return
			}
			for _, body := range item.Bodies {
				if body.Key.IsZero() {
					continue
				}
				if !yield(found{urlPath(b.locator.URL(&item, body.Name)), &item, body}, nil) {
					return
				}
			}
		}
	}
}

// A bodyDocument is a document and its path.
type bodyDocument struct {
	path string
	doc  *websync.Document
}

// eachBody yields documents of bodies in the order in which the Documents of a Publisher
// yields their paths: those that it finds without looking up each of them.
func eachBody(ctx context.Context, p websync.Publisher) iter.Seq2[bodyDocument, error] {
	return func(yield func(bodyDocument, error) bool) {
		switch p := p.(type) {
		case joined:
			for _, i := range p.exportOrder() {
				for o, err := range eachBody(ctx, p[i]) {
					if !yield(o, err) {
						return
					}
				}
			}
		case *withLinks:
			for o, err := range eachBody(ctx, p.Publisher) {
				if err == nil {
					o.doc.Links = p.links
				}
				if !yield(o, err) {
					return
				}
			}
		case *bodies:
			if len(p.sources) != 1 {
				return // several may have an id
			}
			for f, err := range p.each(ctx) {
				o := bodyDocument{path: f.path}
				if err == nil {
					o.doc = p.document(f.item, f.body)
				}
				if !yield(o, err) {
					return
				}
			}
		}
	}
}

// A bodyHolder is a Catalog that knows whether it holds any body.
type bodyHolder interface {
	HoldsBodies(ctx context.Context) (bool, error)
}

// holdsBodies reports whether a Catalog may hold a body.
func holdsBodies(ctx context.Context, c websync.Catalog) (bool, error) {
	if h, ok := c.(bodyHolder); ok {
		return h.HoldsBodies(ctx)
	}
	return true, nil
}

// urlPath returns the path of an absolute URL, escaped as it is there.
func urlPath(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return "/"
}
