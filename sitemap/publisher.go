package sitemap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
)

// A Publisher publishes a [websync.Catalog] as a sitemap, with these documents:
//
//	Base + "sitemap.xml"             one urlset, or a sitemapindex of the parts
//	Base + "sitemap-1f3a9c02-7.xml"  the parts, from 1, once there is more than one
//	the same + ".gz"                 the same, compressed
//	/robots.txt                      the Sitemap line, once there was a resource
//
// A part lists a fixed range of Born: nothing moves from one part to another while a
// reader walks the index. Its URL names the generation of the log and the settings that
// the ranges depend on. Document returns [websync.ErrGone] for a path that names others,
// rather than a part with other members, which a reader of an older index would mistake
// for the part it requested. The index lists the parts that are not empty, each with the
// time of its last commit.
//
// An ETag depends on the greatest number of the log that touches a document, so it is
// known without reading what the document lists. For that a Publisher keeps about 56
// bytes for each part. The first use reads the log of the generation once; later ones
// read only what is new. This assumes that every change of what the Catalog lists has a
// log entry.
//
// Each live resource has an entry. Its loc is the URL that Locator gives to its body
// named "content", if that is kept, or else the URL of its Content, or else its ID; an
// IRI is percent-encoded. Its lastmod is Modified as stated, unless that is later than
// the commit, or else the time of the commit; fractions of a second are rounded up,
// because some readers accept none. A resource that changes twice within a second can
// have the same lastmod after both changes: the ETag of the document differs.
// Changefreq, priority, alternates and the elements of Extensions are taken from its
// Elements, in the form in which a [Source] yields them. Other elements are left out,
// because search engines refuse them. An invalid extension element is left out with a
// finding, and the rest of the entry is listed: for example one of 1,001 images of a
// page, or alternates for languages that do not include the page itself.
//
// An alternate that is the ID of its resource leads to the loc of the entry. One that is
// the ID of another resource of the Catalog leads to where that is kept, if the entry's
// own content is kept. Then the ETag also depends on the number of ids, and there is no
// Last-Modified.
//
// If a part would be longer than 50 MiB, all parts become smaller, at other URLs.
//
// A Catalog without resources gives a urlset without entries, with a finding. The schema
// demands at least one entry, but only so do readers learn that the last one is gone.
//
// The protocol wants URLs on the host of Base and below the directory of the sitemap. The
// Catalog decides which are listed; those that bodies have by the default Locator comply.
//
// Set the fields before first use. A Publisher is safe for concurrent use; it must not be
// copied.
type Publisher struct {
	websync.Place

	// Path is that of the root document, relative to Base. If empty, it is "sitemap.xml".
	// With different Paths several Publishers can share a Base.
	Path string

	// PartSize is how many numbers of Born a part covers. If zero or negative, it is
	// 10,000; above 50,000, the protocol's limit, it is 50,000. While a part is longer
	// than 50 MiB, the size is halved.
	PartSize int

	// Gzip makes the index list the compressed parts.
	Gzip bool

	// NoRobots leaves out /robots.txt, which otherwise holds one line that names the root
	// document.
	NoRobots bool

	// Extensions are the extensions whose elements are listed, besides alternates: for
	// example those of package sitemap/google.
	Extensions []Extension

	// Profile names the profile of sitemaps that Head, Prepare and Item implement, with
	// its version. It is required with any of them. Their result must depend only on
	// Profile, on their arguments and on the log: another Profile gives the parts other
	// URLs.
	Profile string

	// Head, if set, adds elements and attributes to the root of each document. The ETag
	// depends on them.
	Head func(h *Head)

	// Prepare, if set, is called with items of which a document is about to list the
	// entries, some hundreds at a time. It may change their Resources, but not the ids,
	// and the Links of their Bodies. Generation is that of the log of which the document
	// is a part. If the log has a newer one meanwhile, the numbers of the items are of
	// that, and the document ends with [websync.ErrConflict]. An error ends the writing
	// of the document.
	Prepare func(ctx context.Context, generation uint64, items []*websync.Item) error

	// Item, if set, changes the entry of an item of the Catalog. It may add elements, for
	// example. If it removes Loc or returns an error, the entry is not listed; the error
	// is reported.
	Item func(item *websync.Item, e *Entry) error

	once sync.Once
	site *publishing.Site
	list publishing.PartList
}

var _ websync.Publisher = (*Publisher)(nil)

const (
	defaultPartSize = 10_000
	gzipSuffix      = ".gz"

	// rendering must be raised when the same items are written differently: their
	// documents then need other ETags.
	rendering = 4
)

// open prepares the fields at first use.
func (p *Publisher) open() *publishing.Site {
	p.once.Do(func() {
		p.site = publishing.New(publishing.Settings{
			Package: "sitemap", Place: p.Place, Reserved: p.Reserved,
			Path: cmp.Or(strings.TrimPrefix(p.Path, "/"), "sitemap.xml"),
		})
		if root := p.site.Root; p.site.Err == nil && (root == publishing.RobotsPath || strings.HasSuffix(root, gzipSuffix)) {
			p.site.Err = fmt.Errorf(
				"sitemap: Publisher.Base and Path make %.200q, which must not be /robots.txt or end in \".gz\"",
				p.site.URL())
		}
		if p.site.Err == nil {
			p.site.Err = p.checkProfile()
		}
		size := min(p.PartSize, MaxEntries)
		if size <= 0 {
			size = defaultPartSize
		}
		p.list = publishing.PartList{
			Site: p.site, Size: websync.Seq(size), Settings: p.settings, MaxBytes: MaxBytes, Bound: p.bound, Measure: p.measure,
		}
		if p.Item == nil && p.Prepare == nil {
			p.list.Outlined = func(o websync.Outline) (int64, bool) { return o.Bytes, o.Links }
		}
	})
	return p.site
}

// settings returns a text that identifies everything besides the Catalog and the Locator
// that changes documents with parts of a size.
func (p *Publisher) settings(size websync.Seq) string {
	var spaces []string
	for _, x := range p.Extensions {
		spaces = append(spaces, x.Space)
	}
	return publishing.SettingsText(struct {
		Rendering  int
		URL        string
		Sources    []string
		PartSize   websync.Seq
		Gzip       bool
		Extensions publishing.Word `settings:"omitzero"`
		Profile    string          `settings:"omitzero"`
	}{rendering, p.site.URL(), p.site.Sources, size, p.Gzip, publishing.Word(strings.Join(spaces, " ")), p.Profile})
}

// checkProfile returns an error if no document can be written with these settings.
func (p *Publisher) checkProfile() error {
	if p.Profile == "" && (p.Head != nil || p.Prepare != nil || p.Item != nil) {
		return errors.New("sitemap: Publisher.Profile must name what Publisher.Head, Prepare and Item make")
	}
	d := listing{publisher: p, head: p.head(Head{Kind: URLSet, URL: p.site.URL()})}
	if _, err := d.writer(io.Discard); err != nil {
		return fmt.Errorf("sitemap: the settings of Publisher make no valid document: %w", err)
	}
	return nil
}

// head returns what the root of a document has, after Publisher.Head has added to it.
func (p *Publisher) head(h Head) Head {
	if p.Head != nil {
		p.Head(&h)
	}
	return h
}

// Check returns what is wrong with the settings. Document and Documents return the same
// error, unless it concerns the Locator.
func (p *Publisher) Check() error { return p.open().Check() }

// URL returns the URL of the root document.
func (p *Publisher) URL() string { return p.open().URL() }

// Reserved reports whether a path, from the root of the host and escaped, can be that of
// one of the documents. It is meant for PathLocator.Reserved. /robots.txt is not
// reserved: it belongs to the host, and package publish adds the lines to those of an
// existing file.
func (p *Publisher) Reserved(path string) bool {
	s := p.open()
	name := strings.TrimSuffix(path, gzipSuffix)
	return name == s.Root || p.list.IsPart(name)
}

// Document implements [websync.Publisher].
func (p *Publisher) Document(ctx context.Context, path string) (*websync.Document, error) {
	s := p.open()
	switch {
	case s.Err != nil:
		return nil, s.Err
	case path == publishing.RobotsPath && !p.NoRobots:
		return s.Robots(ctx)
	case !p.Reserved(path):
		return nil, s.DocumentError(path, websync.ErrNotFound)
	}
	name, zipped := strings.CutSuffix(path, gzipSuffix)
	d := listing{publisher: p, url: s.Origin + path, zipped: zipped}
	var err error
	if name == s.Root {
		d.part, err = p.list.Root(ctx)
	} else {
		d.part, err = p.list.Part(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	d.head = p.head(d.describe())
	return d.document(), nil
}

// Documents implements [websync.Publisher]: it yields the parts that are not empty,
// compressed if Gzip is set, then the root, then /robots.txt. If the generation of the
// log changes meanwhile, it ends with [websync.ErrConflict].
func (p *Publisher) Documents(ctx context.Context) iter.Seq2[string, error] {
	s := p.open()
	rest := []string{s.Root, publishing.RobotsPath}
	if p.NoRobots {
		rest = rest[:1]
	}
	part := p.list.Numbered(ctx)
	suffixed := func(n uint64) (string, bool, error) {
		path, more, err := part(n)
		if path != "" {
			path += p.partSuffix()
		}
		return path, more, err
	}
	return s.Documents([]publishing.Numbered{suffixed}, rest...)
}

// partSuffix returns the suffix of the paths of the parts in the index.
func (p *Publisher) partSuffix() string {
	if p.Gzip {
		return gzipSuffix
	}
	return ""
}
