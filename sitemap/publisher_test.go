package sitemap_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

// numbered returns resources site+"/first" to site+"/last".
func numbered(first, last int) (all []websync.Resource) {
	for i := first; i <= last; i++ {
		all = append(all, websync.Resource{ID: fmt.Sprintf("%s/%d", site, i)})
	}
	return all
}

// render gets a document again until the Catalog does not change while it is written.
func render(t require.TestingT, p *sitemap.Publisher, path string) (*websync.Document, []byte) {
	for {
		doc, err := p.Document(context.Background(), path)
		require.NoError(t, err, path)
		var b bytes.Buffer
		err = doc.Write(context.Background(), &b)
		if errors.Is(err, websync.ErrConflict) {
			continue
		}
		require.NoError(t, err, path)
		return doc, b.Bytes()
	}
}

func paths(t require.TestingT, p *sitemap.Publisher) (all []string) {
	for path, err := range p.Documents(context.Background()) {
		require.NoError(t, err)
		all = append(all, path)
	}
	return all
}

// read returns the entries of a document, which must have no findings.
func read(t require.TestingT, doc []byte) []sitemap.Entry {
	r := sitemap.NewReader(bytes.NewReader(doc))
	r.Report = func(f websync.Finding) {
		if f.Rule != "sitemap-empty" {
			assert.Fail(t, f.String())
		}
	}
	entries, err := readAll(r)
	require.NoError(t, err)
	return entries
}

func locs(entries []sitemap.Entry) (all []string) {
	for _, e := range entries {
		all = append(all, strings.TrimPrefix(e.Loc, site))
	}
	return all
}

// requireFlawless checks that a document of p has no findings and is valid by the schema.
func requireFlawless(t *testing.T, url string, doc []byte) {
	t.Helper()
	sum, err := sitemap.Validate(bytes.NewReader(doc), sitemap.ValidateOptions{Extensions: google.Extensions(), Document: url, Report: func(f websync.Finding) {
		assert.Fail(t, f.String())
	}})
	require.NoError(t, err)
	if z, err := gzip.NewReader(bytes.NewReader(doc)); err == nil {
		doc, err = io.ReadAll(z)
		require.NoError(t, err)
	}
	testkit.Lint(t, map[sitemap.Kind]string{sitemap.URLSet: "sitemap.xsd", sitemap.Index: "siteindex.xsd"}[sum.Kind], doc)
}

func TestPublisher(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a",
		websync.Resource{ID: site + "/stated", Modified: datetime(t, "2025-12-24"), Elements: []websync.Element{
			{Space: sitemap.Namespace, Local: "changefreq", XML: `<changefreq xmlns="` + sitemap.Namespace + `">daily</changefreq>`},
			{Space: sitemap.Namespace, Local: "priority", XML: `<priority xmlns="` + sitemap.Namespace + `">0.8</priority>`},
		}},
		websync.Resource{ID: site + "/year", Modified: datetime(t, "2024")},
		websync.Resource{ID: site + "/silent"})
	s.Put("b", websync.Resource{ID: site + "/other?a=1&b=2"}, websync.Resource{ID: site + "/deleted"})
	s.Delete("b", site+"/deleted")
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}}
	doc, body := render(t, p, "/sitemap.xml")
	testkit.Golden(t, "testdata/publisher/urlset.xml", body)
	requireFlawless(t, p.URL(), body)
	assert.Equal(t, "application/xml", doc.Type)
	assert.Empty(t, doc.Encoding)
	assert.False(t, doc.Final)
	assert.Equal(t, s.Clock, doc.Modified)
	assert.Equal(t, []string{"/sitemap.xml", "/robots.txt"}, paths(t, p))

	_, body = render(t, &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/", Sources: []string{"b"}}}, "/sitemap.xml")
	assert.Equal(t, []string{"/other?a=1&b=2"}, locs(read(t, body)))

	_, again := render(t, p, "/sitemap.xml.gz")
	zipped, body := render(t, p, "/sitemap.xml.gz")
	assert.Equal(t, again, body)
	assert.Equal(t, "application/gzip", zipped.Type)
	assert.Empty(t, zipped.Encoding)
	assert.NotEqual(t, doc.ETag, zipped.ETag)
	requireFlawless(t, p.URL()+".gz", body)
}

// A sitemap without entries says so, and robots.txt names it only once it had some.
func TestPublisherWithoutResources(t *testing.T) {
	s := testkit.NewStore(t)
	var findings []websync.Finding
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/", Report: func(f websync.Finding) { findings = append(findings, f) }}}
	doc, body := render(t, p, "/sitemap.xml")
	assert.Empty(t, read(t, body))
	assert.NotEmpty(t, doc.ETag)
	assert.True(t, doc.Modified.IsZero())
	require.Len(t, findings, 1)
	assert.Equal(t, "sitemap-empty", findings[0].Rule)
	assert.Equal(t, p.URL(), findings[0].Document)
	robots, body := render(t, p, "/robots.txt")
	assert.Empty(t, body)

	s.Put("a", numbered(1, 1)...)
	_, body = render(t, p, "/sitemap.xml")
	assert.Len(t, read(t, body), 1)
	named, body := render(t, p, "/robots.txt")
	assert.Contains(t, string(body), p.URL())
	assert.NotEqual(t, robots.ETag, named.ETag)
	require.Len(t, findings, 1)

	s.Delete("a", site+"/1")
	_, body = render(t, p, "/sitemap.xml")
	assert.Empty(t, read(t, body))
	assert.Len(t, findings, 2)
	_, body = render(t, p, "/robots.txt")
	assert.Contains(t, string(body), p.URL(), "readers learn that the last one is gone")
}

func TestPublisherParts(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 3)...)
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/docs/"}, Path: "maps/all.xml", PartSize: 3}
	_, body := render(t, p, "/docs/maps/all.xml")
	assert.Equal(t, []string{"/1", "/2", "/3"}, locs(read(t, body)))

	single, _ := render(t, p, "/docs/maps/all.xml")
	_, err := p.Document(t.Context(), "/docs/maps/all-"+single.ETag[:8]+"-1.xml")
	assert.ErrorIs(t, err, websync.ErrNotFound, "there are no parts yet")

	s.Put("a", numbered(4, 9)...)
	s.Put("b", numbered(10, 10)...)
	s.Delete("a", site+"/4", site+"/5", site+"/6", site+"/8")
	all := paths(t, p)
	require.Len(t, all, 5, "three parts that are not empty, the root and robots.txt")
	assert.Regexp(t, `^/docs/maps/all-[0-9a-f]{8}-1\.xml$`, all[0])
	assert.Equal(t, []string{"/docs/maps/all.xml", "/robots.txt"}, all[3:])
	id := all[0][len("/docs/maps/all-"):][:8]
	part := func(id string, n any) string { return fmt.Sprintf("/docs/maps/all-%s-%v.xml", id, n) }
	assert.Equal(t, []string{part(id, 1), part(id, 3), part(id, 4)}, all[:3])

	doc, body := render(t, p, "/docs/maps/all.xml")
	requireFlawless(t, p.URL(), body)
	assert.True(t, doc.Modified.IsZero(), "a new generation is another index without a commit")
	entries := read(t, body)
	assert.Equal(t, all[:3], locs(entries))
	for i, want := range [][]string{{"/1", "/2", "/3"}, {"/7", "/9"}, {"/10"}} {
		doc, body := render(t, p, all[i])
		assert.Equal(t, want, locs(read(t, body)))
		assert.Equal(t, roundedUp(websync.NewDatetime(doc.Modified)), entries[i].LastMod.String())
		assert.True(t, strings.HasSuffix(entries[i].LastMod.String(), "Z"), entries[i].LastMod)
		_, body = render(t, p, all[i]+".gz")
		assert.Equal(t, want, locs(read(t, body)))
	}
	_, body = render(t, p, part(id, 2))
	assert.Empty(t, read(t, body), "a part that was emptied is there for those who have an older index")

	for path, want := range map[string]error{
		part("00000000", 1): websync.ErrGone, part("00000000", 99): websync.ErrGone, part(id, 5): websync.ErrNotFound,
		part("00000000", 1) + ".gz": websync.ErrGone,
		part(id, 0):                 websync.ErrNotFound, part(id, "01"): websync.ErrNotFound, part(id, "+1"): websync.ErrNotFound,
		part(id, "99999999999999999999"): websync.ErrNotFound, part(id, "1.gz"): websync.ErrNotFound, part("0000000g", 1): websync.ErrNotFound,
		part(id, 1) + ".gz.gz": websync.ErrNotFound, part("000000001", 1): websync.ErrNotFound, part(id, 1) + "x": websync.ErrNotFound,
		"/docs/maps/": websync.ErrNotFound, "/sitemap.xml": websync.ErrNotFound, "": websync.ErrNotFound, "/robots.txt.gz": websync.ErrNotFound,
	} {
		_, err := p.Document(t.Context(), path)
		assert.ErrorIs(t, err, want, path)
		assert.Equal(t, want == websync.ErrGone || path == part(id, 5), p.Reserved(path), path)
	}

	zipped := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: p.Base}, Path: p.Path, PartSize: 3, Gzip: true, NoRobots: true}
	all = paths(t, zipped)
	require.Len(t, all, 4)
	_, body = render(t, zipped, all[3])
	assert.Equal(t, all[:3], locs(read(t, body)))
	for _, path := range all[:3] {
		doc, body := render(t, zipped, path)
		assert.Equal(t, "application/gzip", doc.Type)
		requireFlawless(t, site+"/"+path[len("/docs/maps/"):], body)
	}
	for name, other := range map[string]*sitemap.Publisher{
		"Gzip":     p,
		"PartSize": {Place: websync.Place{Catalog: s, Base: p.Base}, Path: p.Path, PartSize: 2, Gzip: true},
		"Sources":  {Place: websync.Place{Catalog: s, Base: p.Base, Sources: []string{"a"}}, Path: p.Path, PartSize: 3, Gzip: true},
		"Locator":  {Place: websync.Place{Catalog: s, Base: p.Base, Locator: upper{}}, Path: p.Path, PartSize: 3, Gzip: true},
	} {
		_, err = other.Document(t.Context(), all[0])
		assert.ErrorIs(t, err, websync.ErrGone, name)
	}
}

// Sources that are not published only advance the numbers of Born.
func TestPublisherOfOneSourceAmongMany(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 2)...)
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/", Sources: []string{"a", "a"}}, PartSize: 2}
	list, _ := render(t, p, "/sitemap.xml")
	s.Put("b", numbered(3, 6)...)
	index, body := render(t, p, "/sitemap.xml")
	assert.Len(t, read(t, body), 1)
	assert.NotEqual(t, list.ETag, index.ETag, "another document, though nothing of it has changed")
	s.Put("b", numbered(3, 9)...)
	same, _ := render(t, p, "/sitemap.xml")
	assert.Equal(t, index.ETag, same.ETag)
	s.Put("a", numbered(10, 10)...)
	_, body = render(t, p, "/sitemap.xml")
	assert.Len(t, read(t, body), 2)
}

func TestPublisherRobots(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 1)...)
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/docs/"}}
	doc, body := render(t, p, "/robots.txt")
	assert.Equal(t, "Sitemap: "+site+"/docs/sitemap.xml\n", string(body))
	assert.Equal(t, "text/plain; charset=utf-8", doc.Type)
	assert.NotEmpty(t, doc.ETag)
	assert.False(t, p.Reserved("/robots.txt"), "it belongs to the host")

	p = &sitemap.Publisher{Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site + "/docs/"}, NoRobots: true}
	_, err := p.Document(t.Context(), "/robots.txt")
	assert.ErrorIs(t, err, websync.ErrNotFound)
	assert.False(t, p.Reserved("/robots.txt"))
	assert.Equal(t, []string{"/docs/sitemap.xml"}, paths(t, p))
}

func TestPublisherSettings(t *testing.T) {
	for name, p := range map[string]*sitemap.Publisher{
		"no Catalog":          {Place: websync.Place{Base: site + "/"}},
		"no Base":             {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New())}},
		"no slash":            {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site}},
		"no slash at its end": {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site + "/docs"}},
		"relative":            {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: "/docs/"}},
		"another scheme":      {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: "ftp://www.example.com/"}},
		"a user":              {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: "https://u:p@www.example.com/"}},
		"no port":             {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: "https://www.example.com:/"}},
		"a query":             {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site + "/?a/"}},
		"dots":                {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site + "/"}, Path: "../a.xml"},
		"two slashes":         {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site + "/"}, Path: "a//b.xml"},
		"a directory":         {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site + "/"}, Path: "a/"},
		"a space":             {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site + "/"}, Path: "a b.xml"},
		"a fragment":          {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site + "/"}, Path: "a#b.xml"},
		"robots.txt":          {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site + "/"}, Path: "robots.txt"},
		"compressed":          {Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site + "/"}, Path: "sitemap.xml.gz"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := p.Document(t.Context(), "/robots.txt")
			require.Error(t, err)
			assert.Equal(t, err, p.Check())
			assert.NotErrorIs(t, err, websync.ErrNotFound)
			assert.NotContains(t, err.Error(), "u:p")
			for _, listed := range p.Documents(t.Context()) {
				assert.Equal(t, err, listed)
			}
		})
	}
	for _, path := range []string{"", "sitemap.xml", "/sitemap.xml"} {
		p := &sitemap.Publisher{Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site + "/"}, Path: path, PartSize: 1 << 30}
		assert.Equal(t, []string{"/sitemap.xml", "/robots.txt"}, paths(t, p))
	}
	for size, split := range map[int]int{0: 10_001, -1: 10_001, 7: 8, 50_000: 50_001, 1 << 30: 50_001} {
		p := &sitemap.Publisher{Place: websync.Place{Catalog: bornCatalog{harvest.NewCatalog(memstore.New()), websync.Seq(split)}, Base: site + "/"}, PartSize: size}
		doc, err := p.Document(t.Context(), "/sitemap.xml")
		require.NoError(t, err)
		assert.Contains(t, doc.ETag, "index", size)
		p = &sitemap.Publisher{Place: websync.Place{Catalog: bornCatalog{harvest.NewCatalog(memstore.New()), websync.Seq(split - 1)}, Base: site + "/"}, PartSize: size}
		doc, err = p.Document(t.Context(), "/sitemap.xml")
		require.NoError(t, err)
		assert.NotContains(t, doc.ETag, "index", size)
	}
	p := &sitemap.Publisher{Place: websync.Place{Catalog: testkit.NewStore(t), Base: site + "/"}, Path: "sitemap", PartSize: 1}
	p.Catalog.(*testkit.Store).Put("a", numbered(1, 2)...)
	_, body := render(t, p, paths(t, p)[1])
	assert.Equal(t, []string{"/2"}, locs(read(t, body)), "a Path without an extension")
}

// A Catalog that the Publisher refuses: its links would have no target.
func TestPublisherRefusesCatalogs(t *testing.T) {
	s := testkit.NewStore(t)
	keep(s, site+"/a")
	p := &sitemap.Publisher{Place: websync.Place{Catalog: md5Catalog{s}, Base: site + "/"}}
	require.NoError(t, p.Check())
	doc, err := p.Document(t.Context(), "/sitemap.xml")
	require.NoError(t, err)
	err = doc.Write(t.Context(), io.Discard)
	assert.ErrorIs(t, err, websync.ErrCatalog)
	assert.ErrorContains(t, err, `body "content" of "`+site+`/a" has the key "md5:`)

	p = &sitemap.Publisher{Place: websync.Place{Catalog: headCatalog{s, websync.Head{}}, Base: site + "/"}}
	_, err = p.Document(t.Context(), "/sitemap.xml")
	assert.ErrorIs(t, err, websync.ErrCatalog)
	assert.ErrorContains(t, err, "Head.Generation is 0")
}

func TestPublisherChecksItsLocator(t *testing.T) {
	p := &sitemap.Publisher{Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site + "/"}}
	p.Locator = websync.PathLocator{Base: site + "/", Own: []string{"a"}}
	assert.ErrorContains(t, p.Check(), `"`+site+`/sitemap.xml"`)
	p = &sitemap.Publisher{Place: websync.Place{Catalog: harvest.NewCatalog(memstore.New()), Base: site + "/"}}
	p.Locator = websync.PathLocator{Base: site + "/", Own: []string{"a"}, Reserved: p.Reserved}
	assert.NoError(t, p.Check())
}

// An md5Catalog names bodies by their MD5.
type md5Catalog struct{ websync.Catalog }

func (c md5Catalog) Resources(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return func(yield func(websync.Item, error) bool) {
		for item, err := range c.Catalog.Resources(ctx, r) {
			item.Bodies[0].Key = websync.Digest{Algorithm: "md5", Sum: strings.Repeat("x", 16)}
			if !yield(item, err) {
				return
			}
		}
	}
}

type headCatalog struct {
	websync.Catalog
	head websync.Head
}

func (c headCatalog) Head(context.Context) (websync.Head, error) { return c.head, nil }

// A bornCatalog has given out numbers of Born without an entry.
type bornCatalog struct {
	websync.Catalog
	born websync.Seq
}

func (c bornCatalog) Head(ctx context.Context) (websync.Head, error) {
	head, err := c.Catalog.Head(ctx)
	head.Born = c.born
	return head, err
}

func TestPublisherLoc(t *testing.T) {
	long := site + "/" + strings.Repeat("x", 2047-len(site)-1)
	tests := []struct {
		name, id, href string
		want           string // empty: not listed
		rule           string
	}{
		{"a URL", site + "/a", "", site + "/a", ""},
		{"the URL of its content", "urn:x:1", site + "/b", site + "/b", ""},
		{"content elsewhere than on the web", site + "/c", "file:///c", site + "/c", ""},
		{"an IRI", site + "/é ü", "", site + "/%C3%A9%20%C3%BC", ""},
		{"a host that is not ASCII", "https://é.example/", "", "https://%C3%A9.example/", ""},
		{"what means nothing where it is", site + "/100%[a]|b?#c#d%20", "", site + "/100%25%5Ba%5D%7Cb?#c%23d%20", ""},
		{"brackets of the host", "https://[2001:db8::1]/é", "", "https://[2001:db8::1]/%C3%A9", ""},
		{"not UTF-8", site + "/\xff", "", site + "/%FF", ""},
		{"as long as can be", long, "", long, ""},
		{"too long", long + "x", "", "", "sitemap-loc-length"},
		{"too long when it is encoded", long[:2000] + "éééééééé", "", "", "sitemap-loc-length"},
		{"a URN", "urn:x:2", "", "", "sitemap-loc-syntax"},
		{"an address", "mailto:a@example.com", "", "", "sitemap-loc-syntax"},
		{"no host", "https:///a", "", "", "sitemap-loc-syntax"},
		{"a space in the host", "https://a b.example/", "", "", "sitemap-loc-syntax"},
		{"no port", "https://a.example:/", "", "", "sitemap-loc-syntax"},
		{"too short", "http://a/b", "", "", "sitemap-loc-short"},
	}
	s := testkit.NewStore(t)
	var want, rules []string
	for _, test := range tests {
		s.Put("a", websync.Resource{ID: test.id, Content: websync.Link{Href: test.href}})
		if test.want != "" {
			want = append(want, test.want)
		} else {
			rules = append(rules, test.rule)
		}
	}
	var found []string
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/", Report: func(f websync.Finding) {
		assert.Equal(t, site+"/sitemap.xml", f.Document)
		assert.Equal(t, "loc", f.Element)
		assert.NotEmpty(t, f.Value)
		assert.NotEmpty(t, f.Section)
		found = append(found, f.Rule)
	}}, Extensions: google.Extensions()}
	_, body := render(t, p, "/sitemap.xml")
	var got []string
	for _, e := range read(t, body) {
		got = append(got, e.Loc)
	}
	assert.Equal(t, want, got)
	assert.Equal(t, rules, found)
	testkit.Lint(t, "sitemap.xsd", body)

	render(t, p, "/sitemap.xml")
	s.Put("a", numbered(1, 1)...)
	render(t, p, "/sitemap.xml")
	assert.Equal(t, rules, found, "each is reported once")
	s.Put("a", websync.Resource{ID: "urn:x:2"})
	render(t, p, "/sitemap.xml")
	assert.Equal(t, append(rules, "sitemap-loc-syntax"), found, "and again when it has changed")

	// without a Report
	render(t, &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}}, "/sitemap.xml")
}

// keep commits resources whose content is kept: their ID.
func keep(s *testkit.Store, ids ...string) {
	var items []websync.Item
	for _, id := range ids {
		items = append(items, websync.Item{Kind: websync.Updated,
			Resource: websync.Resource{ID: id, Content: websync.Link{Href: "https://elsewhere.example/"}},
			Bodies:   []websync.Body{{Name: "content", Key: websync.SHA256([]byte(id))}}})
	}
	s.Fill("kept", ids, items...)
}

type upper struct{}

func (upper) URL(item *websync.Item, body string) string {
	return site + "/bodies/" + strings.ToUpper(item.Resource.ID) + "/" + body
}
func (upper) Find(string) (id, body string, found bool) { return "", "", false }
func (upper) Owns(string) bool                          { return false }

func TestPublisherLocator(t *testing.T) {
	s := testkit.NewStore(t)
	keep(s, site+"/a", "urn:x:1", site+"/sitemap.xml", site+"/robots.txt", site+"/sitemap-00000000-1.xml.gz")
	s.Fill("b", nil, websync.Item{Resource: websync.Resource{ID: site + "/verified", Content: websync.Link{Href: site + "/other"}},
		Bodies: []websync.Body{{Name: "content"}}})
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}}
	p.Locator = websync.PathLocator{Base: p.Base, Own: []string{"kept"}, Reserved: p.Reserved}
	_, body := render(t, p, "/sitemap.xml")
	requireFlawless(t, p.URL(), body)
	const r, own = "/r/", "https=3A/=2Fwww.example.com/"
	assert.Equal(t, []string{"/a", r + "urn=3Ax=3A1~content", r + own + "sitemap.xml~content", "/robots.txt",
		r + own + "sitemap-00000000-1.xml.gz~content", "/other"}, locs(read(t, body)))
	before, _ := p.Document(t.Context(), "/sitemap.xml")

	p = &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}} // no source is own
	foreign, body := render(t, p, "/sitemap.xml")
	assert.Equal(t, []string{r + own + "a~content", r + "urn=3Ax=3A1~content", r + own + "sitemap.xml~content", r + own + "robots.txt~content",
		r + own + "sitemap-00000000-1.xml.gz~content", "/other"}, locs(read(t, body)))
	assert.NotEqual(t, before.ETag, foreign.ETag)

	p = &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/", Locator: upper{}}}
	after, body := render(t, p, "/sitemap.xml")
	assert.Contains(t, locs(read(t, body)), "/bodies/URN:X:1/content")
	assert.NotEqual(t, before.ETag, after.ETag)
}

// bigImage returns an element of n bytes and some more.
func bigImage(t *testing.T, n int) websync.Element {
	x, err := google.Image{Loc: site + "/a.png"}.Element()
	require.NoError(t, err)
	x.XML = strings.Replace(x.XML, "><", ">"+strings.Repeat(" ", n)+"<", 1)
	return x
}

func TestPublisherElements(t *testing.T) {
	own := func(local, text string) websync.Element {
		return websync.Element{Space: sitemap.Namespace, Local: local, XML: "<" + local + ` xmlns="` + sitemap.Namespace + `">` + text + "</" + local + ">"}
	}
	element := func(x interface {
		Element() (websync.Element, error)
	}) websync.Element {
		e, err := x.Element()
		require.NoError(t, err)
		return e
	}
	image := element(google.Image{Loc: site + "/a.png"})
	video := element(google.Video{Thumbnail: site + "/t.png", Title: "T", Description: "D", Content: site + "/v.mp4"})
	news := element(google.News{Publication: "P", Language: "en", Published: datetime(t, "2026-01-01"), Title: "T"})
	self := element(sitemap.Alternate{Lang: "de", Href: site + "/page"})
	other := element(sitemap.Alternate{Lang: "fr", Href: site + "/fr"})
	foreign := websync.Element{Space: "http://www.openarchives.org/rs/terms/", Local: "md", XML: `<rs:md xmlns:rs="http://www.openarchives.org/rs/terms/"/>`}
	again := element(sitemap.Alternate{Lang: "FR", Href: site + "/fr2"})
	third := element(sitemap.Alternate{Lang: "it", Href: site + "/it"})
	phone := element(sitemap.Alternate{Media: "print", Href: site + "/print"})
	big := bigImage(t, 600_000)
	broken := websync.Element{Space: google.ImageNamespace, Local: "image", XML: "<image"}
	nameless := websync.Element{Space: google.ImageNamespace, Local: "loc", XML: `<loc xmlns="` + google.ImageNamespace + `"/>`}
	loc := websync.Element{Space: google.ImageNamespace, Local: "image", XML: `<image xmlns="` + google.ImageNamespace + `"><loc>no</loc></image>`}

	for name, test := range map[string]struct {
		elements []websync.Element
		want     sitemap.Entry
	}{
		"those of the protocol":   {[]websync.Element{own("changefreq", " weekly "), own("priority", "0.30")}, sitemap.Entry{ChangeFreq: sitemap.Weekly, Priority: 0.3}},
		"stated as zero":          {[]websync.Element{own("priority", "0")}, sitemap.Entry{Priority: websync.StatedZero}},
		"no values":               {[]websync.Element{own("changefreq", "often"), own("priority", "2"), own("lastmod", "soon")}, sitemap.Entry{}},
		"not well-formed":         {[]websync.Element{{Space: sitemap.Namespace, Local: "priority", XML: "0.5"}}, sitemap.Entry{}},
		"extensions":              {[]websync.Element{image, video, news, self, other}, sitemap.Entry{Elements: []websync.Element{image, video, news, self, other}}},
		"foreign ones":            {[]websync.Element{foreign, image, nameless}, sitemap.Entry{Elements: []websync.Element{image}}},
		"one that is not valid":   {[]websync.Element{image, loc, own("priority", "0.5")}, sitemap.Entry{Priority: 0.5, Elements: []websync.Element{image}}},
		"one that is broken":      {[]websync.Element{broken, image}, sitemap.Entry{Elements: []websync.Element{image}}},
		"alternates of others":    {[]websync.Element{image, other, phone}, sitemap.Entry{Elements: []websync.Element{image, phone}}},
		"one language twice":      {[]websync.Element{self, other, again, third}, sitemap.Entry{Elements: []websync.Element{self, other, third}}},
		"two articles":            {[]websync.Element{news, news, image}, sitemap.Entry{Elements: []websync.Element{news, image}}},
		"more than there is room": {[]websync.Element{big, big, image}, sitemap.Entry{Elements: []websync.Element{big, image}}},
		"1,001 images":            {slices.Repeat([]websync.Element{image}, 1001), sitemap.Entry{Elements: slices.Repeat([]websync.Element{image}, 1000)}},
	} {
		t.Run(name, func(t *testing.T) {
			s := testkit.NewStore(t)
			s.Put("a", websync.Resource{ID: site + "/page", Modified: datetime(t, "2026-01-01"), Elements: test.elements})
			var found []websync.Finding
			p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/", Own: []string{"a"}, Report: func(f websync.Finding) { found = append(found, f) }}, Extensions: google.Extensions(), PartSize: sitemap.MaxEntries}
			_, body := render(t, p, "/sitemap.xml")
			requireFlawless(t, p.URL(), body)
			got := read(t, body)
			require.Len(t, got, 1)
			missing := 0
			for _, x := range test.elements {
				if x.Space != sitemap.Namespace && x.Space != foreign.Space {
					missing++
				}
			}
			assert.Len(t, found, missing-len(got[0].Elements), "each that is left out is reported: %v", found)
			for _, f := range found {
				assert.Contains(t, f.Message, "left out of the entry of "+site+"/page: ")
			}
			test.want.Loc, test.want.LastMod = site+"/page", datetime(t, "2026-01-01")
			got[0].Line, got[0].Column = 0, 0
			assert.Equal(t, test.want, got[0])
		})
	}

	s := testkit.NewStore(t)
	articles := numbered(1, 1100)
	for i := range articles {
		articles[i].Elements = []websync.Element{news}
	}
	s.Put("a", articles...)
	p := &sitemap.Publisher{Extensions: google.Extensions(), Place: websync.Place{Catalog: s, Base: site + "/"}}
	_, body := render(t, p, "/sitemap.xml")
	requireFlawless(t, p.URL(), body)
	assert.Equal(t, 1000, bytes.Count(body, []byte("<news:news ")))
	assert.Len(t, read(t, body), 1100)
}

// Readers and caches keep URLs and ETags of documents. Equal documents keep them from
// version to version, and different documents never share them.
func TestPublisherURLsLast(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 3)...)
	for want, exts := range map[string][]sitemap.Extension{"a836ad5a": nil, "6d3af641": google.Extensions()} {
		p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}, Extensions: exts, PartSize: 2, NoRobots: true}
		assert.Equal(t, []string{"/sitemap-" + want + "-1.xml", "/sitemap-" + want + "-2.xml", "/sitemap.xml"}, paths(t, p))
		doc, err := p.Document(t.Context(), "/sitemap.xml")
		require.NoError(t, err)
		assert.Equal(t, want+"-3-index", doc.ETag)
	}
}

// Alternates point to where their targets are kept: to the entry itself, and to other
// resources of any part and source.
func TestPublisherAlternates(t *testing.T) {
	const first = "https://first.example.org"
	s := testkit.NewStore(t)
	links := func(hrefs ...string) (all []websync.Element) {
		for i, href := range hrefs {
			x, err := sitemap.Alternate{Lang: []string{"de", "fr", "it", "en"}[i], Href: href}.Element()
			require.NoError(t, err)
			all = append(all, x)
		}
		return all
	}
	keep := func(source, path string, elements []websync.Element) {
		s.Fill(source, []string{path}, websync.Item{Resource: websync.Resource{ID: first + path, Elements: elements},
			Bodies: []websync.Body{{Name: "content", Key: websync.SHA256([]byte(path))}}})
	}
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/", Report: func(f websync.Finding) { assert.Fail(t, f.String()) }}, Extensions: google.Extensions(), PartSize: 1}
	hrefs := func(path string) (all []string) {
		_, body := render(t, p, path)
		// a resource that is listed under its own URL is on another host
		if bytes.Contains(body, []byte("<loc>"+site)) {
			requireFlawless(t, site+path, body)
		}
		alternates, err := read(t, body)[0].Alternates()
		require.NoError(t, err)
		for _, a := range alternates {
			all = append(all, strings.TrimPrefix(a.Href, site))
		}
		return all
	}
	const r = "/r/https=3A/=2Ffirst.example.org"
	keep("a", "/de", links(first+"/de", first+"/fr", first+"/it", first+"/en"))
	keep("a", "/fr", links(first+"/de", first+"/fr"))
	s.Put("a", websync.Resource{ID: first + "/bare", Elements: links(first+"/bare", first+"/fr")})
	parts := paths(t, p)
	assert.Equal(t, []string{r + "/de~content", r + "/fr~content", first + "/it", first + "/en"}, hrefs(parts[0]))
	assert.Equal(t, []string{r + "/de~content", r + "/fr~content"}, hrefs(parts[1]))
	assert.Equal(t, []string{first + "/bare", first + "/fr"}, hrefs(parts[2]), "whose content is not kept")

	before, err := p.Document(t.Context(), parts[0])
	require.NoError(t, err)
	assert.Zero(t, before.Modified)
	keep("b", "/it", nil) // in another part and source
	after, err := p.Document(t.Context(), parts[0])
	require.NoError(t, err)
	assert.NotEqual(t, before.ETag, after.ETag)
	assert.ErrorIs(t, before.Write(t.Context(), io.Discard), websync.ErrConflict)
	assert.Equal(t, r+"/it~content", hrefs(parts[0])[2])
	keep("b", "/it", []websync.Element{})
	again, err := p.Document(t.Context(), parts[0])
	require.NoError(t, err)
	assert.Equal(t, after.ETag, again.ETag, "no id is new")

	p = &sitemap.Publisher{Extensions: google.Extensions(), Place: websync.Place{Catalog: s, Base: site + "/", Sources: []string{"a"}}, PartSize: 1}
	assert.Equal(t, first+"/it", hrefs(paths(t, p)[0])[2], "it is not published")
}

// The alternates that wait are limited, so that memory holds them.
func TestPublisherManyAlternates(t *testing.T) {
	s := testkit.NewStore(t)
	batch := numbered(1, 1200)
	for i := range batch {
		for lang, href := range map[string]string{"de": batch[i].ID, "fr": batch[i^1].ID} {
			x, err := sitemap.Alternate{Lang: lang, Href: href}.Element()
			require.NoError(t, err)
			batch[i].Elements = append(batch[i].Elements, x)
		}
	}
	batch[6].Elements, batch[7].Elements = nil, nil
	s.Put("a", batch...)
	p := &sitemap.Publisher{Extensions: google.Extensions(), Place: websync.Place{Catalog: s, Base: site + "/"}}
	_, body := render(t, p, "/sitemap.xml")
	requireFlawless(t, p.URL(), body)
	got := read(t, body)
	require.Len(t, got, len(batch))
	for i := range got {
		assert.Equal(t, batch[i].ID, got[i].Loc, "the order stays")
	}
}

// A part that would be too long makes all parts smaller: no entry and no element is lost.
func TestPublisherFits(t *testing.T) {
	racing.Long(t)
	const n = 120
	big := bigImage(t, 900_000)
	batch := numbered(1, n)
	for i := range batch {
		batch[i].Elements = []websync.Element{big}
	}
	s := testkit.NewStore(t)
	s.Put("a", batch...)
	p := &sitemap.Publisher{Extensions: google.Extensions(), Place: websync.Place{Catalog: s, Base: site + "/", MaxDescription: -1}}
	all := paths(t, p)
	require.Greater(t, len(all), 4)
	assert.Equal(t, all, paths(t, &sitemap.Publisher{Extensions: google.Extensions(), Place: websync.Place{Catalog: s, Base: site + "/", MaxDescription: -1}}), "another process cuts alike")
	var got []string
	for _, path := range all[:len(all)-2] {
		_, body := render(t, p, path)
		assert.LessOrEqual(t, len(body), sitemap.MaxBytes)
		for _, e := range read(t, body) {
			assert.Len(t, e.Elements, 1)
			got = append(got, strings.TrimPrefix(e.Loc, site))
		}
	}
	assert.Len(t, got, n)
	_, index := render(t, p, "/sitemap.xml")
	assert.Equal(t, all[:len(all)-2], locs(read(t, index)))

	for i := range batch {
		batch[i].Elements = nil
	}
	s.Put("a", batch...)
	_, body := render(t, p, "/sitemap.xml")
	assert.Equal(t, all[:len(all)-2], locs(read(t, body)), "they stay small")
}

// Many changes do not make a part larger: a resource that was written often is not long.
func TestPublisherMeasures(t *testing.T) {
	s := testkit.NewStore(t)
	big := bigImage(t, 900_000)
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}}
	for range 70 {
		s.Put("a", websync.Resource{ID: site + "/1", Elements: []websync.Element{big}}, websync.Resource{ID: site + "/2"})
	}
	assert.Equal(t, []string{"/sitemap.xml", "/robots.txt"}, paths(t, p))
	_, body := render(t, p, "/sitemap.xml")
	assert.Equal(t, []string{"/1", "/2"}, locs(read(t, body)))
}

// URLs that need many escapes also make parts smaller.
func TestPublisherFitsLongURLs(t *testing.T) {
}

func TestPublisherReadsNoMoreThanItMust(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 100)...)
	m := &testkit.Catalog{Catalog: s}
	p := &sitemap.Publisher{Place: websync.Place{Catalog: m, Base: site + "/"}, PartSize: 10}
	all := paths(t, p)
	require.Len(t, all, 12)
	assert.Equal(t, 100, m.Count("Changes"))
	assert.Zero(t, m.Count("Resources"), "the log states which parts are empty, unless the last change was a deletion")

	m.Reset()
	for _, path := range all {
		_, err := p.Document(t.Context(), path)
		require.NoError(t, err)
	}
	assert.Equal(t, len(all), m.Count("Head"))
	assert.Zero(t, m.Count("Changes"))
	assert.Zero(t, m.Count("Resources"))

	s.Delete("a", site+"/15", site+"/25")
	m.Reset()
	for range 2 {
		_, body := render(t, p, "/sitemap.xml")
		assert.Len(t, read(t, body), 10)
	}
	assert.Equal(t, 2, m.Count("Changes"))
	assert.Equal(t, 2, m.Count("Resources"), "one of each part that lost something, once")

	m.Reset()
	_, body := render(t, p, all[1])
	assert.Len(t, read(t, body), 9)
	assert.Equal(t, 9, m.Count("Resources"))
	assert.Zero(t, m.Count("Changes"))
}

func TestPublisherFailures(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 20)...)
	broken := errors.New("broken")
	m := &testkit.Catalog{Catalog: s}
	p := &sitemap.Publisher{Place: websync.Place{Catalog: m, Base: site + "/"}, PartSize: 10}
	at := func(what string, n int, err error) {
		m.Reset()
		m.Before = func(w string, i int) error {
			if w == what && i >= n {
				return err
			}
			return nil
		}
	}
	for _, err := range []error{broken, context.Canceled} {
		at("Head", 1, err)
		_, got := p.Document(t.Context(), "/sitemap.xml")
		assert.ErrorIs(t, got, err)
	}
	for i, err := range []error{broken, websync.ErrNotFound, websync.ErrGone} {
		at("Changes", 2, err)
		_, got := p.Document(t.Context(), "/sitemap.xml")
		require.Error(t, got)
		assert.Equal(t, err == broken, errors.Is(got, err), "what the Catalog lacks is not what was asked for")
		if i == 0 {
			assert.Equal(t, 2, m.Count("Changes"))
		}
	}
	m.Before = nil
	m.Reset()
	doc, err := p.Document(t.Context(), "/sitemap.xml")
	require.NoError(t, err)
	assert.Less(t, m.Count("Changes"), 20, "what was read before is not read again")
	all := paths(t, p)
	require.Len(t, all, 4)

	part, err := p.Document(t.Context(), all[0])
	require.NoError(t, err)
	for _, err := range []error{broken, websync.ErrNotFound, websync.ErrConflict} {
		at("Resources", 3, err)
		got := part.Write(t.Context(), io.Discard)
		require.Error(t, got)
		assert.Equal(t, err == broken, errors.Is(got, err))
	}
	at("Head", 1, broken)
	assert.ErrorIs(t, part.Write(t.Context(), io.Discard), broken, "nobody knows whether the document is right")
	assert.ErrorIs(t, doc.Write(t.Context(), io.Discard), broken)
	for _, listed := range p.Documents(t.Context()) {
		assert.ErrorIs(t, listed, broken)
	}
	m.Before = nil
	s.Delete("a", site+"/1")
	doc, err = p.Document(t.Context(), "/sitemap.xml")
	require.NoError(t, err)
	at("Resources", 1, broken)
	assert.ErrorIs(t, doc.Write(t.Context(), io.Discard), broken)
	m.Before = nil
	for _, d := range []*websync.Document{doc, part} {
		assert.ErrorIs(t, d.Write(t.Context(), brokenWriter{}), io.ErrClosedPipe)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A document that changes while it is written is written to its end nevertheless.
func TestPublisherConflict(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 20)...)
	m := &testkit.Catalog{Catalog: s}
	p := &sitemap.Publisher{Place: websync.Place{Catalog: m, Base: site + "/"}, PartSize: 10}
	all := paths(t, p)
	write := func(path string, inside func()) ([]byte, error) {
		doc, err := p.Document(t.Context(), path)
		require.NoError(t, err)
		m.Reset()
		m.Before = func(method string, n int) error {
			if method == "Resources" && n == 5 {
				inside()
			}
			return nil
		}
		defer func() { m.Before = nil }()
		if !strings.Contains(path, "-") {
			inside()
		}
		var b bytes.Buffer
		err = doc.Write(t.Context(), &b)
		return b.Bytes(), err
	}
	for _, path := range all[:3] {
		body, err := write(path, func() { s.Put("a", numbered(7, 7)...) })
		assert.Equal(t, path == all[1], err == nil, "%s: %v", path, err)
		if err != nil {
			assert.ErrorIs(t, err, websync.ErrConflict)
		}
		assert.NotEmpty(t, read(t, body))
	}
	_, err := write(all[1], func() {
		_, err := s.Compact(t.Context())
		require.NoError(t, err)
	})
	assert.ErrorIs(t, err, websync.ErrConflict, "another generation")
	_, err = p.Document(t.Context(), all[1])
	assert.ErrorIs(t, err, websync.ErrGone)
}

// The log of another generation can have the same numbers.
func TestPublisherConflictOfGenerations(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 20)...)
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}, PartSize: 10}
	for i := range 3 {
		doc, err := p.Document(t.Context(), paths(t, p)[i])
		require.NoError(t, err)
		_, err = s.Compact(t.Context())
		require.NoError(t, err)
		assert.ErrorIs(t, doc.Write(t.Context(), io.Discard), websync.ErrConflict)
	}
}

// A part that has become empty does not count as one that lists resources.
func TestPublisherOfAPartThatIsEmptiedMeanwhile(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 20)...)
	m := &testkit.Catalog{Catalog: s}
	p := &sitemap.Publisher{Place: websync.Place{Catalog: m, Base: site + "/"}, PartSize: 10}
	for i := 11; i < 20; i++ {
		s.Delete("a", fmt.Sprintf("%s/%d", site, i))
	}
	doc, err := p.Document(t.Context(), "/sitemap.xml")
	require.NoError(t, err)
	m.Before = func(method string, _ int) error {
		if method == "Resources" {
			m.Before = nil
			s.Delete("a", site+"/20")
			_, err := p.Document(t.Context(), "/sitemap.xml")
			require.NoError(t, err)
		}
		return nil
	}
	assert.ErrorIs(t, doc.Write(t.Context(), io.Discard), websync.ErrConflict)
	_, body := render(t, p, "/sitemap.xml")
	assert.Len(t, read(t, body), 1)
}

func TestPublisherDocumentsAcrossGenerations(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 20)...)
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}, PartSize: 10}
	var got []string
	var last error
	for path, err := range p.Documents(t.Context()) {
		if last = err; err != nil {
			continue
		}
		got = append(got, path)
		_, err := s.Compact(t.Context())
		require.NoError(t, err)
	}
	assert.Len(t, got, 1)
	assert.ErrorIs(t, last, websync.ErrConflict)

	got = nil
	for path := range p.Documents(t.Context()) {
		if got = append(got, path); len(got) == 2 {
			s.Put("a", numbered(21, 21)...)
		}
	}
	assert.Len(t, got, 5, "a part that came meanwhile is there before the index that lists it")
	for range p.Documents(t.Context()) {
		break
	}
}

// A log that replaces another with the same generation and numbers is recognised as new.
func TestPublisherOfAnotherLog(t *testing.T) {
	tags := map[string]bool{}
	for i := range 3 {
		s := testkit.NewStore(t)
		s.Clock = s.Clock.Add(time.Duration(i) * time.Hour)
		s.Put("a", numbered(i, i)...)
		doc, _ := render(t, &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}}, "/sitemap.xml")
		tags[doc.ETag] = true
	}
	assert.Len(t, tags, 3)

	now, later := testkit.NewStore(t), testkit.NewStore(t)
	now.Put("a", numbered(1, 1)...)
	now.Put("a", numbered(2, 2)...)
	later.Put("a", numbered(3, 3)...)
	m := &testkit.Catalog{Catalog: now}
	p := &sitemap.Publisher{Place: websync.Place{Catalog: m, Base: site + "/"}}
	render(t, p, "/sitemap.xml")
	m.Catalog = later // with the same first time, and shorter
	doc, body := render(t, p, "/sitemap.xml")
	assert.Equal(t, []string{"/3"}, locs(read(t, body)))
	assert.Equal(t, later.Clock, doc.Modified)

	first := testkit.NewStore(t)
	// without an entry, then longer
	for _, next := range []*testkit.Store{testkit.NewStore(t), first, first} {
		next.Clock = next.Clock.Add(time.Hour)
		m.Catalog = next
		got, err := p.Document(t.Context(), "/sitemap.xml")
		require.NoError(t, err)
		want, err := (&sitemap.Publisher{Place: websync.Place{Catalog: next, Base: site + "/"}}).Document(t.Context(), "/sitemap.xml")
		require.NoError(t, err)
		assert.Equal(t, want.ETag, got.ETag)
		first.Put("a", numbered(1, 3)...)
	}
}

// dropping is a Catalog whose generation is compacted and dropped between Head and the
// first entry.
type dropping struct {
	*testkit.Store
	t    testing.TB
	left int
}

func (d *dropping) Changes(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	if d.left > 0 {
		d.left--
		next, err := d.Compact(ctx)
		require.NoError(d.t, err)
		require.NoError(d.t, d.Drop(ctx, next))
	}
	return d.Store.Changes(ctx, r)
}

func TestPublisherOfADroppedGeneration(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 3)...)
	p := &sitemap.Publisher{Place: websync.Place{Catalog: &dropping{s, t, 3}, Base: site + "/"}}
	_, body := render(t, p, "/sitemap.xml")
	assert.Len(t, read(t, body), 3)
}

// TestPublisherAtOnce is for the race detector.
func TestPublisherAtOnce(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", numbered(1, 30)...)
	s.Put("a", websync.Resource{ID: "urn:x"})
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/", Report: func(websync.Finding) {}}, PartSize: 10}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 5 {
				for _, path := range paths(t, p) {
					render(t, p, path)
				}
			}
		})
	}
	for i := range 20 {
		s.Put("a", numbered(i, i)...)
	}
	all.Wait()
	assert.True(t, slices.Contains(paths(t, p), "/robots.txt"))
}

func TestPublisherReportsACommonID(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("b", websync.Resource{ID: site + "/1"}, websync.Resource{ID: site + "/2"})
	s.Delete("b", site+"/2")
	var reported []string
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/", Report: func(f websync.Finding) { reported = append(reported, f.Value+" "+f.Message) }}}
	render(t, p, "/sitemap.xml")
	s.Put("a", websync.Resource{ID: site + "/1"}, websync.Resource{ID: site + "/2"})
	assert.Empty(t, reported)
	want := []string{site + `/1 the source "a" lists it, and "b" had it first: Publisher.Sources must have no common id`}
	for range 2 {
		render(t, p, "/sitemap.xml")
		assert.Equal(t, want, reported)
	}
}
