package sitemap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/site"
	"github.com/websync-go/websync/internal/syntax"
)

// A Publisher publishes a [websync.Catalog] as a sitemap, with these documents:
//
//	Base + "sitemap.xml"             one urlset, or a sitemapindex of the parts
//	Base + "sitemap-1f3a9c02-7.xml"  the parts, from 1, once there is more than one
//	the same + ".gz"                 the same, compressed
//	/robots.txt                      the Sitemap line
//
// A part lists what lies in a fixed range of Born: nothing moves from one part to another
// while a reader walks the index. Its URL names the generation of the log and the
// settings that the ranges depend on; one that names others is [websync.ErrGone] rather
// than a part with other members, which a reader of an older index would take for the one
// it is looking for. The index lists the parts that are not empty, each with the time of
// its last commit.
//
// An ETag is made of the greatest number of the log that touches a document, so it is
// known without reading what the document lists. For that a Publisher keeps some 56 bytes
// for each part; the first use reads the log of the generation once, later ones only what
// is new. That takes for granted that what the Catalog shows changes with its log only.
//
// Each live resource has an entry. Its loc is the URL that Locator gives to its body
// named "content", if that is kept, or else the URL of its Content, or else its ID; an
// IRI is percent-encoded. Its lastmod is Modified as it is stated, or else the time of
// the commit. Changefreq and priority, and the extension elements for images, videos,
// news and alternates, are taken from its Elements as a [Source] leaves them; search
// engines refuse others. An extension element that would not be valid there is left out
// alone, with a finding: one of 1,001 images of a page or articles of a document, say, or
// alternates for languages among which the page itself is missing.
//
// An alternate that is the ID of its resource leads to the loc of the entry, and one that
// is the ID of another resource of the Catalog to where that is kept, if the entry's own
// content is kept: whoever keeps one is taken to keep the others. Then an ETag depends on
// how many ids there are, too, and there is no Last-Modified.
//
// If a part would be longer than 50 MiB, all parts become smaller, at other URLs.
//
// A Catalog without resources gives a urlset without entries. Readers take it for what it
// is, though the schema demands one.
//
// The Catalog decides which URLs are listed. The protocol wants them on the host of Base
// and below the directory of the sitemap; those that bodies have by the default Locator
// are.
//
// Set the fields before first use. A Publisher is safe for concurrent use; it must not be
// copied.
type Publisher struct {
	// Catalog is what to publish. It is required.
	Catalog websync.Catalog

	// Base is the absolute URL under which the documents lie. It ends in a slash. It is
	// required.
	Base string

	// Path is that of the root document, relative to Base. The default is "sitemap.xml".
	// With different Paths several Publishers can share a Base.
	Path string

	// Sources are the sources whose resources are listed. None: all.
	Sources []string

	// Locator gives bodies their URLs. It has to be the one with which they are served.
	// Nil: a [websync.PathLocator] with Base and Reserved, to which no source is own.
	Locator websync.Locator

	// PartSize is how many numbers of Born a part covers. 0 and negative: 10,000; above
	// 50,000, the protocol's limit: 50,000. Where that makes a part longer than 50 MiB,
	// it is halved until none is.
	PartSize int

	// Gzip makes the index list the compressed parts.
	Gzip bool

	// NoRobots leaves out /robots.txt. Otherwise it holds one line that names the root
	// document.
	NoRobots bool

	// Report, if set, receives a finding for each resource that can't be listed, when the
	// part that it is missing in is written for the first time since the resource has
	// changed. It may be called from several goroutines.
	Report func(websync.Finding)

	once sync.Once
	site layout

	mu    sync.Mutex
	known partition
}

var _ websync.Publisher = (*Publisher)(nil)

const (
	defaultPartSize = 10_000
	robotsPath      = "/robots.txt"
	gzipSuffix      = ".gz"

	// rendering is raised when the same items come to be written otherwise, for then they
	// need other ETags.
	rendering = 2
)

// A layout is what the fields of a Publisher say.
type layout struct {
	err       error
	origin    string // scheme and authority: what stands before every path
	root      string // path
	stem, ext string // of the paths of parts
	size      websync.Seq
	sources   []string
	locator   websync.Locator
}

func (p *Publisher) layout() *layout {
	p.once.Do(func() {
		l := &p.site
		name := strings.TrimPrefix(p.Path, "/")
		if name == "" {
			name = "sitemap.xml"
		}
		l.err = p.check(name)
		_, end := syntax.SplitHTTP(p.Base)
		l.origin, l.root = p.Base[:end], p.Base[end:]+name
		l.ext = path.Ext(name)
		l.stem = strings.TrimSuffix(l.root, l.ext)
		l.size = websync.Seq(p.PartSize)
		switch {
		case p.PartSize <= 0:
			l.size = defaultPartSize
		case p.PartSize > MaxEntries:
			l.size = MaxEntries
		}
		l.sources = slices.Compact(slices.Sorted(slices.Values(p.Sources)))
		if l.locator = p.Locator; l.locator == nil {
			l.locator = websync.PathLocator{Base: p.Base, Reserved: p.Reserved}
		}
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
	return site.CheckLocator(l.locator, "sitemap", l.origin, l.root)
}

// check returns what is wrong with the settings, of which the Locator comes last.
func (p *Publisher) check(name string) error {
	host, end := syntax.SplitHTTP(p.Base)
	whole := p.Base + name
	switch {
	case p.Catalog == nil:
		return errors.New("sitemap: Publisher.Catalog is nil")
	case end > 0 && strings.Contains(p.Base[host:end], "@"):
		return errors.New("sitemap: Publisher.Base must not hold a user or a password")
	case end == 0 || !strings.HasSuffix(p.Base[end:], "/") || syntax.HasEmptyPort(p.Base):
		return fmt.Errorf("sitemap: Publisher.Base %.200q must be an http(s) URL ending in \"/\"", p.Base)
	case syntax.URLFault(whole) != "" || strings.ContainsAny(whole, "?#"):
		return fmt.Errorf("sitemap: Publisher.Base and Path make %.200q, which is not the URL of a document", whole)
	case path.Clean(whole[end:]) != whole[end:] || whole[end:] == robotsPath || strings.HasSuffix(name, gzipSuffix):
		return fmt.Errorf("sitemap: Publisher.Base and Path make %.200q, which must be a clean URL, not /robots.txt, without \".gz\"", whole)
	}
	return nil
}

// part returns the path of a part, which is numbered from 1.
func (l *layout) part(id string, n int) string {
	return l.stem + "-" + id + "-" + strconv.Itoa(n) + l.ext
}

// parsePart is the inverse of part.
func (l *layout) parsePart(path string) (id string, n uint64, ok bool) {
	rest, begins := strings.CutPrefix(path, l.stem+"-")
	rest, ends := strings.CutSuffix(rest, l.ext)
	id, number, _ := strings.Cut(rest, "-")
	if !begins || !ends || len(id) != idLength || strings.Trim(id, "0123456789abcdef") != "" {
		return "", 0, false
	}
	n, err := strconv.ParseUint(number, 10, 64)
	return id, n, err == nil && n > 0 && strconv.FormatUint(n, 10) == number
}

// URL returns the URL of the root document.
func (p *Publisher) URL() string {
	l := p.layout()
	return l.origin + l.root
}

// Reserved reports whether a path, from the root of the host and escaped, can be that of
// one of the documents. It is what PathLocator.Reserved wants. /robots.txt is not
// reserved: it belongs to the host, and package publish adds the lines to those of the
// file that is there.
func (p *Publisher) Reserved(path string) bool {
	l := p.layout()
	name := strings.TrimSuffix(path, gzipSuffix)
	_, _, part := l.parsePart(name)
	return part || name == l.root
}

// Document implements [websync.Publisher].
func (p *Publisher) Document(ctx context.Context, path string) (*websync.Document, error) {
	l := p.layout()
	switch {
	case l.err != nil:
		return nil, l.err
	case path == robotsPath && !p.NoRobots:
		return p.robots(), nil
	case !p.Reserved(path):
		return nil, noDocument(path, websync.ErrNotFound)
	}
	name, zipped := strings.CutSuffix(path, gzipSuffix)
	id, n, _ := l.parsePart(name)
	d := listing{publisher: p, url: l.origin + path, zipped: zipped}
	err := p.current(ctx, func(t *partition) error {
		d.id, d.size = t.id, t.size
		switch {
		case name == l.root:
			d.index = t.isSplit()
		case id != t.id:
			return noDocument(path, websync.ErrGone)
		case !t.isSplit() || n > uint64(t.parts()):
			return noDocument(path, websync.ErrNotFound)
		default:
			d.part = int(n - 1)
		}
		d.stamp = t.stampOf(&d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return d.document(), nil
}

func noDocument(path string, err error) error {
	return fmt.Errorf("sitemap: %.200q: %w", path, err)
}

// robots returns the robots.txt, whose ETag is a digest.
func (p *Publisher) robots() *websync.Document {
	text := "Sitemap: " + p.URL() + "\n"
	sum := sha256.Sum256([]byte(text))
	return &websync.Document{
		Type: "text/plain; charset=utf-8",
		ETag: hex.EncodeToString(sum[:8]),
		Write: func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		},
	}
}

// Documents implements [websync.Publisher]: it yields the parts that are not empty,
// compressed if Gzip is set, then the root, then /robots.txt. If the generation of the
// log changes meanwhile it ends in [websync.ErrConflict].
func (p *Publisher) Documents(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		l := p.layout()
		if l.err != nil {
			yield("", l.err)
			return
		}
		suffix, first := p.partSuffix(), ""
		for k := 0; ; k++ {
			name, more, err := p.nextPart(ctx, k, &first)
			if err != nil {
				yield("", err)
				return
			}
			if !more {
				break
			}
			if name != "" && !yield(name+suffix, nil) {
				return
			}
		}
		if yield(l.root, nil) && !p.NoRobots {
			yield(robotsPath, nil)
		}
	}
}

// partSuffix is what the paths of the parts end in, as far as the index is concerned.
func (p *Publisher) partSuffix() string {
	if p.Gzip {
		return gzipSuffix
	}
	return ""
}

// nextPart returns the path of part k, empty if the part is, and whether there is such a
// part by now. First is the id of the partition to which part 0 belonged.
func (p *Publisher) nextPart(ctx context.Context, k int, first *string) (path string, more bool, err error) {
	d := listing{publisher: p, part: k}
	err = p.current(ctx, func(t *partition) error {
		if k == 0 {
			*first = t.id
		}
		if t.id != *first {
			return fmt.Errorf("sitemap: the log has another generation: %w", websync.ErrConflict)
		}
		d.id, d.size, d.stamp, more = t.id, t.size, t.at(k), t.isSplit() && k < t.parts()
		return nil
	})
	if err != nil || !more {
		return "", false, err
	}
	filled, err := d.isFilled(ctx)
	if err != nil || !filled {
		return "", true, err
	}
	return p.site.part(*first, k+1), true, nil
}
