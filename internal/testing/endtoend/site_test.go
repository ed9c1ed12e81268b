package endtoend

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/sitemap"
)

const origin = "http://example.org"

// A site is what one publisher serves: documents and bodies by path, and the set of
// resources that they list.
type site struct {
	name  string
	files map[string]string
	// the paths of the documents that list resources, the root first
	lists []string
	truth map[string]string // body by id
	open  func(url string) harvest.Source
	// verified: the lists state the digests of the bodies
	verified bool
	relisted bool // see edition
}

// fetcher serves the site without a network.
func (s *site) fetcher() *sourcetest.Fetcher {
	f := &sourcetest.Fetcher{Site: sourcetest.Site{}}
	header := map[string][]string{"Date": {"Sun, 01 Nov 2026 12:00:00 GMT"}}
	for path, text := range s.files {
		f.Site[origin+path] = sourcetest.Document{Body: text, Header: header, ETag: etag(text)}
	}
	return f
}

func etag(text string) string { return fmt.Sprintf("\"%x\"", sha256.Sum256([]byte(text))) }

func (s *site) source() harvest.Source { return s.open(origin + s.lists[0]) }

// mediaType returns the type that a server gives for a path.
func (s *site) mediaType(path string) string {
	switch {
	case strings.HasSuffix(path, ".xml"):
		return "application/xml"
	case strings.HasSuffix(path, ".atom"):
		return "application/atom+xml"
	case strings.HasSuffix(path, ".zip"):
		return "application/zip"
	}
	return "text/plain"
}

// with returns a copy of the site in which one document has another text.
func (s *site) with(path, text string) *site {
	c := *s
	c.files = maps.Clone(s.files)
	c.files[path] = text
	return &c
}

// An edition chooses what a site lists: the resources up to end, without those in gone,
// with the bodies of those in changed rewritten.
type edition struct {
	end           int
	gone, changed []int
	part          int  // the number in each document; 0: one document has all
	base          int  // the number that are not new; for sites with Change Lists
	relisted      bool // the Resource List and the Resource Dump have all changes, too
}

func (e edition) has(n int) bool { return n < e.end && !slices.Contains(e.gone, n) }

func (e edition) numbers() (all []int) {
	for n := range e.end {
		if e.has(n) {
			all = append(all, n)
		}
	}
	return all
}

func (e edition) body(n int) string {
	if slices.Contains(e.changed, n) {
		return fmt.Sprintf("resource %d, changed\n", n)
	}
	return fmt.Sprintf("resource %d\n", n)
}

func (e edition) day(n int) string {
	if slices.Contains(e.changed, n) {
		return "2026-09-01T00:00:00Z"
	}
	return fmt.Sprintf("2026-0%d-1%dT0%d:00:00Z", 1+n%7, n%10, n%9)
}

func path(n int) string { return fmt.Sprintf("/doc/%d?a=1&b=%d", n, n) }

func escape(s string) string { return strings.ReplaceAll(s, "&", "&amp;") }

// newSite returns an empty site with the bodies of an edition.
func newSite(name string, e edition, open func(url string) harvest.Source) *site {
	s := &site{name: name, files: map[string]string{}, truth: map[string]string{}, open: open}
	for _, n := range e.numbers() {
		s.truth[origin+path(n)] = e.body(n)
		s.files[path(n)] = e.body(n)
	}
	return s
}

func (s *site) add(path, text string) {
	s.files[path] = text
	s.lists = append(s.lists, path)
}

func openSitemap(url string) harvest.Source { return &sitemap.Source{URL: url, Complete: true} }
func openAtom(url string) harvest.Source    { return &atom.Source{URL: url} }

// urlset writes entries in the forms that sitemaps have: comments, CDATA, entities,
// extensions, instructions.
func urlset(e edition, numbers []int) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- a sitemap - of documents -->\n")
	b.WriteString(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml">` + "\n")
	for k, n := range numbers {
		loc := origin + path(n)
		text := escape(loc)
		if n%3 == 1 {
			text = "<![CDATA[" + loc + "]]>"
		}
		fmt.Fprintf(&b, "<url>\n  <loc>%s</loc>\n", text)
		if n%5 == 0 {
			fmt.Fprintf(&b, "  <!-- number %d, <loc> and all -->\n", n)
		}
		if n%4 == 0 {
			fmt.Fprintf(&b, "  <xhtml:link rel=\"alternate\" hreflang=\"sv\" href=\"%s\"/>\n", escape(loc))
		}
		if n%7 == 2 {
			fmt.Fprintf(&b, "  <image:image><image:loc>%s/image/%d.png</image:loc></image:image>\n", origin, n)
		}
		fmt.Fprintf(&b, "  <lastmod>%s</lastmod><changefreq>daily</changefreq><priority>0.%d</priority>\n</url>\n", e.day(n), n%10)
		if k%10 == 9 {
			b.WriteString("<?proc instruction?>\n")
		}
	}
	b.WriteString("</urlset>\n<!-- the end -->\n")
	return b.String()
}

func oneSitemap(e edition) *site {
	s := newSite("sitemap", e, openSitemap)
	s.add("/sitemap.xml", urlset(e, e.numbers()))
	return s
}

func sitemapIndex(e edition) *site {
	s := newSite("sitemap index", e, openSitemap)
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n")
	parts := slices.Collect(slices.Chunk(e.numbers(), e.part))
	for k := range parts {
		fmt.Fprintf(&b, "  <sitemap><loc>%s/part/%d.xml</loc><!-- part %d --><lastmod>2026-10-0%d</lastmod></sitemap>\n", origin, k, k, 1+k)
	}
	b.WriteString("</sitemapindex>\n")
	s.add("/sitemap.xml", b.String())
	for k, numbers := range parts {
		s.add(fmt.Sprintf("/part/%d.xml", k), urlset(e, numbers))
	}
	return s
}

func textSitemap(e edition) *site {
	s := newSite("text sitemap", e, openSitemap)
	var b strings.Builder
	for _, n := range e.numbers() {
		b.WriteString(origin + path(n) + "\n")
	}
	s.add("/sitemap.txt", b.String())
	return s
}

// A dialect is Atom, or a profile of it.
type dialect struct {
	name string
	open func(url string) harvest.Source
	// documents writes what an entry has besides an id, a time and a title
	documents func(e edition, n int) string
	deletion  string // with a %s for the id
	more      func(s *site, e edition, n int)
}

var plainAtom = dialect{
	open: openAtom,
	documents: func(_ edition, n int) string {
		return fmt.Sprintf(`<content type="text/plain" src="%s"/>`, escape(origin+path(n)))
	},
	deletion: `<at:deleted-entry ref="%s" when="2026-09-15T00:00:00Z"><at:comment>gone</at:comment></at:deleted-entry>`,
}

// site returns a site with the bodies of an edition.
func (d *dialect) site(name string, e edition) *site {
	s := newSite(d.name+name, e, d.open)
	for _, n := range e.numbers() {
		if d.more != nil {
			d.more(s, e, n)
		}
	}
	return s
}

// feed writes a document of a feed: a head, the entries, and a deletion for each resource
// that is gone.
func (d *dialect) feed(e edition, self, head string, numbers []int) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<!-- a feed - of documents -->\n")
	b.WriteString(`<feed xmlns="http://www.w3.org/2005/Atom" xmlns:fh="http://purl.org/syndication/history/1.0" xmlns:at="http://purl.org/atompub/tombstones/1.0" xmlns:dct="http://purl.org/dc/terms/">` + "\n")
	fmt.Fprintf(&b, "<id>tag:example.org,2026:feed</id><title>Documents</title><updated>2026-10-01T00:00:00Z</updated><author><name>A &amp; B</name></author>\n")
	fmt.Fprintf(&b, "<link rel=\"self\" href=\"%s%s\"/>\n%s\n", origin, self, head)
	for _, n := range numbers {
		href := escape(origin + path(n))
		if !e.has(n) {
			fmt.Fprintf(&b, d.deletion+"\n", href)
			continue
		}
		fmt.Fprintf(&b, "<entry>\n  <id>%s</id>\n  <updated>%s</updated>\n", href, e.day(n))
		if n%5 == 0 {
			fmt.Fprintf(&b, "  <!-- number %d, <entry> and all -->\n", n)
		}
		if n%4 == 0 {
			fmt.Fprintf(&b, "  <title type=\"xhtml\"><div xmlns=\"http://www.w3.org/1999/xhtml\">Number <b>%d</b></div></title>\n", n)
		} else {
			fmt.Fprintf(&b, "  <title><![CDATA[Number <%d>]]></title>\n", n)
		}
		if n%3 == 0 {
			fmt.Fprintf(&b, "  <dct:extent unit=\"pages\">%d</dct:extent>\n", n)
		}
		fmt.Fprintf(&b, "  %s\n</entry>\n", d.documents(e, n))
	}
	b.WriteString("</feed>\n<!-- the end -->\n")
	return b.String()
}

func (d *dialect) completeFeed(e edition) *site {
	s := d.site("complete feed", e)
	s.add("/feed.atom", d.feed(e, "/feed.atom", "<fh:complete/>", e.numbers()))
	return s
}

// archivedFeed lists everything in its archive documents. Tombstones and changed entries
// are in the subscription document, too.
func (d *dialect) archivedFeed(e edition) *site {
	s := d.site("archived feed", e)
	old := edition{end: e.end}
	var numbers []int
	for n := range e.end {
		numbers = append(numbers, n)
	}
	pages := slices.Collect(slices.Chunk(numbers, e.part))
	prev := func(k int) string {
		if k == 0 {
			return ""
		}
		return fmt.Sprintf("<link rel=\"prev-archive\" href=\"%s/archive/%d.atom\"/>", origin, k-1)
	}
	latest := slices.Concat(e.gone, e.changed)
	s.add("/feed.atom", d.feed(e, "/feed.atom", prev(len(pages)), latest))
	for k := len(pages) - 1; k >= 0; k-- {
		self := fmt.Sprintf("/archive/%d.atom", k)
		head := fmt.Sprintf("<fh:archive/><link rel=\"current\" href=\"%s/feed.atom\"/>", origin) + prev(k)
		s.add(self, d.feed(old, self, head, pages[k]))
	}
	return s
}

var shapes = []func(edition) *site{
	oneSitemap, sitemapIndex, plainAtom.completeFeed, plainAtom.archivedFeed,
	legal.completeFeed, legal.archivedFeed, metadata.completeFeed, metadata.archivedFeed,
}

// asSitemap and asArchive publish a Catalog under the root document that they return.
func asSitemap(catalog websync.Catalog) (string, websync.Publisher) {
	p := &sitemap.Publisher{Place: websync.Place{Catalog: catalog, Base: origin + "/"}, PartSize: 10}
	bodies := websync.PathLocator{Base: p.Base, Reserved: p.Reserved}
	return "/sitemap.xml", publish.Join(p, publish.Bodies(catalog, bodies))
}

func asArchive(catalog websync.Catalog) (string, websync.Publisher) {
	p := &atom.Publisher{Place: websync.Place{Catalog: catalog, Base: origin + "/"}, ArchiveSize: 10, Author: websync.Person{Name: "A"}}
	bodies := websync.PathLocator{Base: p.Base, Reserved: p.Reserved}
	return "/feed.atom", publish.Join(p, publish.Bodies(catalog, bodies))
}

// published returns two editions of a site as the Publishers of this module write them,
// from a Store that harvested both.
func published(t *testing.T, name string, open func(string) harvest.Source, as func(websync.Catalog) (string, websync.Publisher), before, after edition) (*site, *site) {
	store := harvest.NewCatalog(memstore.New())
	root, publisher := as(store)
	make := func(e edition) *site {
		original := oneSitemap(e)
		mustHarvest(t, store, original.fetcher(), original.source())
		s := newSite(name, edition{}, open)
		s.lists = []string{root}
		for path, err := range publisher.Documents(t.Context()) {
			require.NoError(t, err)
			doc, err := publisher.Document(t.Context(), path)
			require.NoError(t, err)
			s.files[path] = textOf(t, doc)
			if doc.Open == nil && path != root {
				s.lists = append(s.lists, path)
			}
		}
		copied := harvest.NewCatalog(memstore.New())
		mustHarvest(t, copied, s.fetcher(), s.source())
		s.truth = live(t, copied, s.source().Key())
		require.Len(t, s.truth, len(e.numbers()))
		return s
	}
	return make(before), make(after)
}

func mustHarvest(t *testing.T, store *harvest.Catalog, f harvest.Fetcher, src harvest.Source) {
	report, err := (&harvest.Harvester{Catalog: store, Fetcher: f}).Run(t.Context(), src)
	require.NoError(t, err)
	require.True(t, report.InStep(), "%+v", report)
}

func textOf(t *testing.T, doc *websync.Document) string {
	var text bytes.Buffer
	if doc.Write != nil {
		require.NoError(t, doc.Write(t.Context(), &text))
		return text.String()
	}
	r, err := doc.Open(t.Context())
	require.NoError(t, err)
	defer r.Close()
	_, err = text.ReadFrom(r)
	require.NoError(t, err)
	return text.String()
}

// live returns the ids and bodies that a store holds of a site; a body that is not kept
// is empty.
func live(t testing.TB, store *harvest.Catalog, key string) map[string]string {
	all := map[string]string{}
	for rec, err := range store.Records(t.Context(), key, "") {
		require.NoError(t, err)
		if !rec.Live() {
			continue
		}
		text := ""
		if b, ok := rec.Body(websync.ContentName); ok && !b.Key.IsZero() {
			text = testkit.Read(t, store, b)
		}
		all[rec.Resource.ID] = text
	}
	return all
}
