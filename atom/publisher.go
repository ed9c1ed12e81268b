package atom

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/site"
	"github.com/websync-go/websync/internal/syntax"
)

// A Publisher publishes a [websync.Catalog] as an archived feed (RFC 5005 §4) with
// tombstones (RFC 6721), in these documents:
//
//	Base + "feed.atom"                 the subscription document
//	Base + "feed-1-1f3a9c02-7.atom"    the archive documents, from 1, the oldest
//
// An archive document lists what happened in a fixed range of the numbers of the log.
// Once the log has passed its end it is there for good: its bytes are made of log entries
// and settings only, and its URL names the generation of the log, the settings and the
// commit at its end. One that names others is [websync.ErrGone] rather than a document
// with other entries. The subscription document lists what happened after the last
// archive document but one, which it links to, so that it never begins afresh and no
// number is in two documents of the chain. Closed documents link to the one before, to
// the subscription document and to themselves, not to the one after.
//
// When the log is compacted the subscription document changes to the chain of the new
// generation in one step. The archive documents of an older generation answer until the
// Catalog drops it.
//
// Of the states of one id a document lists the youngest only: tombstones, then entries,
// the youngest first. Updated and when are the times of the commits, which order the log,
// whatever the resource says; the feed's are those of the last commit of its range. With
// Complete there is one document instead, which lists all live resources in the order of
// Born (RFC 5005 §2).
//
// An entry says what [EntryOf] makes of the resource, with these differences:
//
//   - The body named "content", if it is kept, is the content, at the URL that Locator
//     gives it and with its length and digests; of a composite media type it is an
//     alternate link, since Atom has no such content (RFC 4287 §4.1.3.1). Other bodies
//     that are kept are links, by default alternate. Content that is not kept is an
//     alternate link to where it is.
//   - A resource of a source that the Locator does not own was harvested. If it has no
//     via link it gets one, to its id at its first publisher with what that stated of
//     type, length, digests and time. Links that hold for the original only are left out:
//     collection, canonical, duplicate, memento, timegate, timemap and patch.
//   - A link to where a body that is kept came from leads to where it is here. So do, in
//     an entry whose content is kept, links to the ids of other resources, for whoever
//     keeps one is taken to keep the others.
//   - An entry without authors of its own has the feed's, one with a blank title its id
//     there, and one that needs a summary and has none its title. A source without a
//     title has its id there, and one without a time that of the entry; one without an id
//     is left out.
//   - A time of publication after that of the commit, elements without a namespace or not
//     well-formed, those of RFC 5005 and 6721, other marks of a deletion (gd:deleted,
//     sx:sync), and signatures, which no longer hold, are left out.
//
// An id that is no absolute IRI can't be an atom:id: such a resource is not listed. Nor
// is one that was harvested under an id that is a URL of own resources: readers would
// take it for what the publisher says itself.
//
// An ETag is known without reading what a document lists. For that, a Publisher keeps 8
// bytes for each archive document of the newest generation. A document holds at most
// twice ArchiveSize entries in memory while it is written.
//
// Set the fields before first use. A Publisher is safe for concurrent use; it must not be
// copied.
type Publisher struct {
	// Catalog is what to publish. It is required.
	Catalog websync.Catalog

	// Base is the absolute URL under which the documents lie. It ends in a slash. It is
	// required.
	Base string

	// Path is that of the subscription document, relative to Base. The default is
	// "feed.atom". With different Paths several Publishers can share a Base.
	Path string

	// Sources are the sources whose changes are listed; no two of them should have an id
	// in common. None: all.
	Sources []string

	// Locator gives bodies their URLs. It has to be the one with which they are served.
	// Nil: a [websync.PathLocator] with Base and Reserved, to which no source is own.
	Locator websync.Locator

	// ID is the feed's atom:id, an absolute IRI. The default is the URL of the
	// subscription document.
	ID string

	// Title is the feed's title. The default is its URL.
	Title string

	// Author is the feed's author, and that of entries without one. Its Name is required.
	Author websync.Person

	// ArchiveSize is how many numbers of the log an archive document covers. 0 and
	// negative: 1,000.
	ArchiveSize int

	// Complete publishes one document of all live resources, without history: for small
	// sets.
	Complete bool

	// MaxEntries limits a complete document, which is [websync.ErrLimit] beyond it. 0:
	// 50,000; negative: no limit.
	MaxEntries int

	// LegacyMD5 states MD5 digests in le:md5 as well, for readers of the older drafts of
	// the link extensions.
	LegacyMD5 bool

	// Hubs are the URLs of the WebSub hubs that are told of changes. They are in the
	// subscription document and in its HTTP header (WebSub §4).
	Hubs []string

	// Report, if set, receives a finding for each resource that can't be listed, when the
	// document that it is missing in is written for the first time. It may be called from
	// several goroutines.
	Report func(websync.Finding)

	once sync.Once
	site layout

	mu  sync.Mutex
	log logView
}

var _ websync.Publisher = (*Publisher)(nil)

const (
	defaultArchiveSize = 1000
	defaultMaxEntries  = 50_000
	documentType       = feedType + "; charset=utf-8"

	// rendering is raised when the same entries of the log come to be written otherwise,
	// for then they need other URLs.
	rendering = 2
)

// A layout is what the fields of a Publisher say.
type layout struct {
	err       error
	origin    string // scheme and authority: what stands before every path
	root      string // path
	stem, ext string // of the paths of archive documents
	size      websync.Seq
	sources   []string
	locator   websync.Locator
	feed      Feed   // what all documents have in common
	settings  string // all that decides, besides the log and the locator, what archive documents hold
}

func (p *Publisher) layout() *layout {
	p.once.Do(func() {
		l := &p.site
		name := cmp.Or(strings.TrimPrefix(p.Path, "/"), "feed.atom")
		if l.root, l.err = p.root(name); l.err != nil {
			return
		}
		l.origin = strings.TrimSuffix(p.Base+name, l.root)
		l.ext = path.Ext(name)
		l.stem = strings.TrimSuffix(l.root, l.ext)
		if l.size = websync.Seq(p.ArchiveSize); p.ArchiveSize <= 0 {
			l.size = defaultArchiveSize
		}
		l.sources = slices.Compact(slices.Sorted(slices.Values(p.Sources)))
		if l.locator = p.Locator; l.locator == nil {
			l.locator = websync.PathLocator{Base: p.Base, Reserved: p.Reserved}
		}
		whole := l.origin + l.root
		l.feed = Feed{
			ID: cmp.Or(p.ID, whole), Title: Text{Type: PlainText, Value: cmp.Or(p.Title, whole)}, Authors: []websync.Person{p.Author},
		}
		l.settings = fmt.Sprintf("%d %q %q %q %q %q %q %d %t %t", rendering, p.Base, l.root, l.feed.ID, l.feed.Title.Value, p.Author,
			l.sources, l.size, p.LegacyMD5, p.Complete)
		l.err = p.trial()
	})
	return &p.site
}

// Check returns what is wrong with the settings. What makes every document impossible,
// Document and Documents return, too.
func (p *Publisher) Check() error {
	l := p.layout()
	if l.err != nil {
		return l.err
	}
	return site.CheckLocator(l.locator, "atom", l.origin, l.root)
}

// root returns the path of the subscription document, if the Publisher can be there.
func (p *Publisher) root(name string) (string, error) {
	whole := p.Base + name
	u, err := url.Parse(whole)
	switch {
	case p.Catalog == nil:
		return "", errors.New("atom: Publisher.Catalog is nil")
	case err == nil && u.User != nil:
		return "", errors.New("atom: Publisher.Base must not hold a user or a password")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		strings.HasSuffix(u.Host, ":") || !strings.HasSuffix(p.Base, "/"):
		return "", fmt.Errorf("atom: Publisher.Base %.200q must be an http(s) URL ending in \"/\"", p.Base)
	case syntax.IRIFault(whole) != "" || u.String() != whole || u.EscapedPath() != path.Clean(u.EscapedPath()) || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", fmt.Errorf("atom: Publisher.Base and Path make %.200q, which is not the URL of a document", whole)
	}
	return u.EscapedPath(), nil
}

// trial returns why no feed with these settings can be written.
func (p *Publisher) trial() error {
	f := p.site.feed
	f.Updated, f.Links = epoch, p.headLinks()
	if err := NewWriter(io.Discard).WriteFeed(&f); err != nil {
		return fmt.Errorf("atom: the settings of Publisher make no valid feed: %w", err)
	}
	return nil
}

// headLinks returns the links of the subscription document that its HTTP header has, too.
func (p *Publisher) headLinks() []websync.Link {
	links := []websync.Link{selfLink(p.site.origin + p.site.root)}
	for _, hub := range p.Hubs {
		links = append(links, websync.Link{Rel: "hub", Href: hub})
	}
	return links
}

func selfLink(url string) websync.Link {
	return websync.Link{Rel: "self", Href: url, Type: feedType}
}

// An archiveName is what the path of an archive document says.
type archiveName struct {
	generation uint64
	id         string
	n          uint64 // from 1
}

// archive returns the path of an archive document.
func (l *layout) archive(a archiveName) string {
	return l.stem + "-" + strconv.FormatUint(a.generation, 10) + "-" + a.id + "-" + strconv.FormatUint(a.n, 10) + l.ext
}

// parseArchive is the inverse of archive.
func (l *layout) parseArchive(path string) (a archiveName, ok bool) {
	rest, begins := strings.CutPrefix(path, l.stem+"-")
	rest, ends := strings.CutSuffix(rest, l.ext)
	parts := strings.Split(rest, "-")
	if !begins || !ends || len(parts) != 3 || len(parts[1]) != idLength || strings.Trim(parts[1], "0123456789abcdef") != "" {
		return a, false
	}
	generation, errGeneration := strconv.ParseUint(parts[0], 10, 64)
	n, errNumber := strconv.ParseUint(parts[2], 10, 64)
	a = archiveName{generation, parts[1], n}
	return a, errGeneration == nil && errNumber == nil && generation > 0 && n > 0 && l.archive(a) == path
}

// URL returns the URL of the subscription document.
func (p *Publisher) URL() string {
	l := p.layout()
	return l.origin + l.root
}

// Reserved reports whether a path, from the root of the host and escaped, can be that of
// one of the documents. It is what PathLocator.Reserved wants.
func (p *Publisher) Reserved(path string) bool {
	l := p.layout()
	_, archive := l.parseArchive(path)
	return path == l.root || archive && !p.Complete
}

// Document implements [websync.Publisher].
func (p *Publisher) Document(ctx context.Context, path string) (*websync.Document, error) {
	l := p.layout()
	switch {
	case l.err != nil:
		return nil, l.err
	case !p.Reserved(path):
		return nil, noDocument(path, websync.ErrNotFound)
	case path != l.root:
		return p.archiveDocument(ctx, path)
	}
	head, err := p.head(ctx)
	if err != nil {
		return nil, err
	}
	d := listing{publisher: p, url: l.origin + path, stamp: stamp{head.Generation, head.Last, head.LastTime}, born: head.Born}
	if p.Complete {
		err = p.checkTotal(&head)
	} else if closed := head.Last / l.size; closed > 1 {
		d.after = (closed - 1) * l.size
	}
	if err != nil {
		return nil, err
	}
	return d.document(), nil
}

// checkTotal refuses a complete document that is too long.
func (p *Publisher) checkTotal(head *websync.Head) error {
	limit := int64(p.MaxEntries)
	if limit == 0 {
		limit = defaultMaxEntries
	}
	if total := head.Total(p.site.sources...); limit > 0 && total > limit {
		return fmt.Errorf("atom: a complete feed of %d resources: %w", total, websync.ErrLimit)
	}
	return nil
}

// archiveDocument returns an archive document, unless its path names what is not, or no
// longer, there.
func (p *Publisher) archiveDocument(ctx context.Context, path string) (*websync.Document, error) {
	l := &p.site
	a, _ := l.parseArchive(path)
	head, err := p.head(ctx)
	if err != nil {
		return nil, err
	}
	const most = 1<<63 - 1
	if a.generation > head.Generation || a.n > most/uint64(l.size) {
		return nil, noDocument(path, websync.ErrNotFound)
	}
	s, err := p.stampOf(ctx, a.generation, websync.Seq(a.n)*l.size)
	switch {
	case errors.Is(err, websync.ErrNotFound):
		return nil, noDocument(path, websync.ErrGone)
	case err != nil:
		return nil, catalogError(err)
	case s.seq == 0:
		return nil, noDocument(path, websync.ErrNotFound)
	case a.id != l.id(s):
		return nil, noDocument(path, websync.ErrGone)
	}
	d := listing{publisher: p, url: l.origin + path, stamp: s, after: s.seq - l.size, archive: true}
	return d.document(), nil
}

func noDocument(path string, err error) error {
	return fmt.Errorf("atom: %.200q: %w", path, err)
}

// Documents implements [websync.Publisher]: it yields the archive documents of the newest
// generation, the oldest first, then the subscription document. The youngest of them is
// not linked to yet, so that files written in this order are whole even if the log has
// moved on a little. If the generation of the log changes meanwhile it ends in
// [websync.ErrConflict].
func (p *Publisher) Documents(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		l := p.layout()
		if l.err != nil {
			yield("", l.err)
			return
		}
		generation := uint64(0)
		for n := websync.Seq(1); !p.Complete; n++ {
			name, err := p.nextArchive(ctx, n, &generation)
			if err != nil {
				yield("", err)
				return
			}
			if name == "" {
				break
			}
			if !yield(name, nil) {
				return
			}
		}
		yield(l.root, nil)
	}
}

// nextArchive returns the path of archive document n, empty if it is not closed yet.
// Generation is that of document 1.
func (p *Publisher) nextArchive(ctx context.Context, n websync.Seq, generation *uint64) (string, error) {
	head, err := p.head(ctx)
	if err != nil {
		return "", err
	}
	if n == 1 {
		*generation = head.Generation
	}
	if head.Generation != *generation {
		return "", fmt.Errorf("atom: the log has another generation: %w", websync.ErrConflict)
	}
	if n > head.Last/p.site.size {
		return "", nil
	}
	name, err := p.archivePath(ctx, *generation, n*p.site.size)
	if err != nil {
		return "", catalogError(err)
	}
	return name, nil
}
