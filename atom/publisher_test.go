package atom_test

import (
	"bytes"
	"cmp"
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
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const (
	pubSite  = "https://www.example.com"
	pubFirst = "https://first.example.org"
)

// A pubStore is a Store that is filled by hand.
type pubStore struct{ *testkit.Store }

func newPubStore(t testkit.T) *pubStore { return &pubStore{testkit.NewStore(t)} }

// commit puts items in one source. A body whose Key is set has its name as bytes.
func (s *pubStore) commit(source string, items ...websync.Item) {
	var texts []string
	for _, item := range items {
		for _, body := range item.Bodies {
			if !body.Key.IsZero() {
				texts = append(texts, body.Name)
			}
		}
	}
	s.Fill(source, texts, items...)
}

// Put puts resources one after the other.
func (s *pubStore) Put(source string, resources ...websync.Resource) {
	for _, r := range resources {
		s.Store.Put(source, r)
	}
}

// Delete deletes resources one after the other.
func (s *pubStore) Delete(source string, ids ...string) {
	for _, id := range ids {
		s.Store.Delete(source, id)
	}
}

// pubKept returns a body that is kept, with the link as received.
func pubKept(name string, link websync.Link) websync.Body {
	key := websync.SHA256([]byte(name))
	link.Length, link.Digests = int64(len(name)), append(link.Digests, key)
	return websync.Body{Name: name, Link: link, Key: key}
}

// pubNumbered returns resources pubSite+"/first" to pubSite+"/last".
func pubNumbered(first, last int) (all []websync.Resource) {
	for i := first; i <= last; i++ {
		all = append(all, websync.Resource{ID: fmt.Sprintf("%s/%d", pubSite, i)})
	}
	return all
}

func newPublisher(c websync.Catalog, size int) *atom.Publisher {
	return &atom.Publisher{Place: websync.Place{Catalog: c, Base: pubSite + "/"}, Author: websync.Person{Name: "Office"}, ArchiveSize: size}
}

// ownPublisher returns a Publisher to which the source "laws" is own.
func ownPublisher(c websync.Catalog, size int) *atom.Publisher {
	p := newPublisher(c, size)
	p.Locator = websync.PathLocator{Base: p.Base, Own: []string{"laws"}}
	return p
}

// pubRender renders a document. A change of the Catalog meanwhile must be no error.
func pubRender(t require.TestingT, p websync.Publisher, path string) (*websync.Document, []byte) {
	doc, err := p.Document(context.Background(), path)
	require.NoError(t, err, path)
	var b bytes.Buffer
	require.NoError(t, doc.Write(context.Background(), &b), path)
	return doc, b.Bytes()
}

func pubPaths(t require.TestingT, p websync.Publisher) (all []string) {
	for path, err := range p.Documents(context.Background()) {
		require.NoError(t, err)
		all = append(all, path)
	}
	return all
}

// pubRead returns the feed and the items of a document, which must have no findings.
func pubRead(t require.TestingT, url string, doc []byte) (*atom.Feed, []atom.Item) {
	_, err := atom.Validate(bytes.NewReader(doc), atom.ValidateOptions{Document: url, Report: func(f websync.Finding) {
		assert.Fail(t, f.String())
	}})
	require.NoError(t, err, url)
	r := atom.NewReader(bytes.NewReader(doc))
	r.Document = url
	r.Report = func(f websync.Finding) { assert.Fail(t, f.String()) }
	items, err := readAllItems(r)
	require.NoError(t, err, url)
	return r.Feed(), items
}

// pubList returns the ids of items without the site, of tombstones with a minus.
func pubList(items []atom.Item) (all []string) {
	for _, item := range items {
		id := strings.TrimPrefix(item.ID(), pubSite)
		if item.Tombstone != nil {
			id = "-" + id
		}
		all = append(all, id)
	}
	return all
}

// requireChain checks the whole chain, which must have no findings.
func requireChain(t require.TestingT, p *atom.Publisher) atom.ChainSummary {
	v := atom.ChainValidator{Report: func(f websync.Finding) { assert.Fail(t, f.String()) }}
	sum := v.Walk(p.URL(), func(url string) (io.ReadCloser, error) {
		_, body := pubRender(t, p, strings.TrimPrefix(url, pubSite))
		return io.NopCloser(bytes.NewReader(body)), nil
	})
	require.True(t, sum.Whole)
	return sum
}

// pubGazette fills a Store with resources that use every field: laws of the publisher's
// own, and harvested ones.
func pubGazette(t *testing.T) *pubStore {
	s := newPubStore(t)
	law := websync.Resource{
		ID: pubSite + "/2026/1", Title: "Law 1", Summary: "On laws", Lang: "en", Published: written(t, "2026-01-01"),
		Modified: written(t, "2026-01-01T12:00:00+01:00"), Authors: []websync.Person{{Name: "Parliament", URI: pubSite + "/parliament"}},
		Links: []websync.Link{
			{Rel: "canonical", Href: pubSite + "/2026/1"},
			{Rel: "related", Href: pubSite + "/2026/2"},
		},
	}
	law.Elements = (&atom.Entry{Categories: []atom.Category{{Term: "law"}}, Rights: plainText("Free")}).Resource(nil).Elements
	text := pubKept("content", websync.Link{Href: pubSite + "/2026/1", Type: "text/html"})
	md5 := websync.Digest{Algorithm: "md5", Sum: strings.Repeat("\x07", 16)}
	pdf := pubKept("alternate application/pdf", websync.Link{Href: pubSite + "/2026/1.pdf", Type: "application/pdf", Digests: websync.Digests{md5}})
	s.commit("laws", websync.Item{Resource: law, Bodies: []websync.Body{text, pdf}})
	s.Put("laws", websync.Resource{ID: pubSite + "/2026/2", Title: "Law 2", Published: written(t, "2027-01-01")})
	s.Put("laws", websync.Resource{ID: pubSite + "/2026/3", Title: "Law 3"})
	s.Delete("laws", pubSite+"/2026/3")

	page := pubFirst + "/docs/a"
	found := websync.Resource{
		ID: page, Title: "Found", Modified: written(t, "2025-12-24"),
		Content: websync.Link{Href: page, Type: "text/plain", Length: 99, Digests: websync.Digests{md5}},
		Links: []websync.Link{
			{Rel: "canonical", Href: page}, {Rel: "collection", Href: pubFirst + "/docs/"},
			{Rel: "alternate", Href: page + ".xml", Type: "application/xml"}, {Rel: "related", Href: pubFirst + "/docs/b"},
			{Rel: "related", Href: pubFirst + "/docs/unknown"},
		},
		Origin: &websync.Origin{ID: "urn:ex:first", Title: "First", Updated: written(t, "2025-12-31T00:00:00Z"), Authors: []websync.Person{{Name: "First"}}},
	}
	xml := pubKept("alternate application/xml", websync.Link{Href: page + ".xml", Type: "application/xml"})
	relayed := websync.Resource{ID: pubFirst + "/docs/b", Links: []websync.Link{{Rel: "via", Href: "https://zero.example.net/b"}}}
	plain := pubKept("content", websync.Link{Href: page, Type: "text/plain"})
	s.commit("found", websync.Item{Resource: relayed})
	s.commit("found", websync.Item{Resource: found, Bodies: []websync.Body{plain, xml}})
	relayed.Links = append(relayed.Links, websync.Link{Rel: "related", Href: page})
	s.commit("found", websync.Item{Kind: websync.Deleted, Resource: relayed})
	s.Put("found", websync.Resource{ID: "urn:ex:mail"})
	s.commit("found", websync.Item{Resource: websync.Resource{ID: "urn:ex:mail"}, Bodies: []websync.Body{pubKept("content", websync.Link{Type: "message/rfc822"})}})
	return s
}

func TestPublisher(t *testing.T) {
	s := pubGazette(t)
	p := ownPublisher(s, 3)
	p.Title, p.ID, p.Hubs = "Gazette", "tag:example.com,2026:gazette", []string{"https://hub.example.com/?a=1&b=2"}
	all := pubPaths(t, p)
	require.Len(t, all, 4)
	for i, path := range all[:3] {
		doc, body := pubRender(t, p, path)
		testkit.Golden(t, fmt.Sprintf("testdata/publisher/archive-%d.xml", i+1), body)
		requireWellFormed(t, body)
		assert.True(t, doc.Final)
		feed, _ := pubRead(t, pubSite+path, body)
		assert.True(t, feed.Archive)
		assert.Equal(t, feed.Updated, websync.NewDatetime(doc.Modified))
		assert.Equal(t, []websync.Link{
			{Rel: "self", Href: pubSite + path, Type: "application/atom+xml"},
			{Rel: "current", Href: p.URL(), Type: "application/atom+xml"},
		}, doc.Links)
	}
	doc, body := pubRender(t, p, "/feed.atom")
	testkit.Golden(t, "testdata/publisher/subscription.xml", body)
	requireWellFormed(t, body)
	assert.Equal(t, "application/atom+xml; charset=utf-8", doc.Type)
	assert.Empty(t, doc.Encoding)
	assert.False(t, doc.Final)
	assert.Equal(t, s.Clock, doc.Modified)
	assert.Equal(t, []websync.Link{
		{Rel: "self", Href: pubSite + "/feed.atom", Type: "application/atom+xml"},
		{Rel: "hub", Href: "https://hub.example.com/?a=1&b=2"},
	}, doc.Links)
	assert.Equal(t, 3, requireChain(t, p).Documents)

	whole := ownPublisher(s, 3)
	whole.Complete, whole.LegacyMD5 = true, true
	doc, body = pubRender(t, whole, "/feed.atom")
	testkit.Golden(t, "testdata/publisher/complete.xml", body)
	requireWellFormed(t, body)
	pubRead(t, p.URL(), body)
	assert.False(t, doc.Final)
	assert.Equal(t, s.Clock, doc.Modified)
	assert.Equal(t, []string{"/feed.atom"}, pubPaths(t, whole))
	_, err := whole.Document(t.Context(), all[0])
	assert.ErrorIs(t, err, websync.ErrNotFound)
}

func TestPublisherWithoutResources(t *testing.T) {
	for _, complete := range []bool{false, true} {
		p := newPublisher(harvest.NewCatalog(memstore.New()), 0)
		p.Complete = complete
		doc, body := pubRender(t, p, "/feed.atom")
		feed, items := pubRead(t, p.URL(), body)
		assert.Empty(t, items)
		assert.Equal(t, "1970-01-01T00:00:00Z", feed.Updated.String())
		assert.NotEmpty(t, doc.ETag)
		assert.True(t, doc.Modified.IsZero())
		assert.Equal(t, []string{"/feed.atom"}, pubPaths(t, p))
	}
}

// A document that is opened while the log is empty stays empty.
func TestPublisherEmptyState(t *testing.T) {
	s := newPubStore(t)
	p := newPublisher(s, 0)
	doc, err := p.Document(t.Context(), "/feed.atom")
	require.NoError(t, err)
	s.Put("a", pubNumbered(1, 2)...)
	var b bytes.Buffer
	require.NoError(t, doc.Write(t.Context(), &b))
	_, items := pubRead(t, p.URL(), b.Bytes())
	assert.Empty(t, items)
}

// The window of the subscription document begins at the last boundary but one, so that no
// entry is in two documents.
func TestPublisherWindow(t *testing.T) {
	s := newPubStore(t)
	p := newPublisher(s, 3)
	for last, want := range []struct {
		first     int // in the subscription document
		documents int
	}{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {4, 2}, {4, 2}, {4, 2}, {7, 3}} {
		if last > 0 {
			s.Put("a", pubNumbered(last, last)...)
		}
		_, body := pubRender(t, p, "/feed.atom")
		_, items := pubRead(t, p.URL(), body)
		assert.Len(t, items, last-want.first+1, "with %d numbers", last)
		sum := requireChain(t, p)
		assert.Equal(t, want.documents, sum.Documents, "with %d numbers", last)
		assert.Equal(t, last, sum.Entries)
		assert.Len(t, pubPaths(t, p), last/3+1, "with the one that is not linked to yet")
	}
}

// A document lists the latest state of each id in its range, and others what came before
// and after.
func TestPublisherLatest(t *testing.T) {
	s := newPubStore(t)
	all := pubNumbered(0, 4)
	s.Put("a", all[1], all[2], all[1], all[3])
	s.Delete("a", all[2].ID, all[3].ID)
	s.Put("a", all[3])
	s.Delete("a", all[1].ID)
	p := newPublisher(s, 4)
	paths := pubPaths(t, p)
	var listed [][]string
	for _, path := range paths {
		_, body := pubRender(t, p, path)
		_, items := pubRead(t, pubSite+path, body)
		listed = append(listed, pubList(items))
	}
	assert.Equal(t, [][]string{{"/3", "/1", "/2"}, {"-/1", "-/2", "/3"}, {"-/1", "-/2", "/3"}}, listed)
}

func TestPublisherSources(t *testing.T) {
	s := newPubStore(t)
	all := pubNumbered(0, 5)
	s.Put("a", all[1])
	s.Put("b", all[2], all[3])
	s.Put("a", all[4], all[5])
	p := newPublisher(s, 2)
	p.Sources = []string{"b", "b"}
	paths := pubPaths(t, p)
	listed := map[int][]string{}
	for i, path := range paths {
		doc, body := pubRender(t, p, path)
		feed, items := pubRead(t, pubSite+path, body)
		listed[i] = pubList(items)
		assert.Equal(t, websync.NewDatetime(doc.Modified), feed.Updated)
	}
	assert.Equal(t, map[int][]string{0: {"/2"}, 1: {"/3"}, 2: {"/3"}}, listed)
	requireChain(t, p)

	p.Complete = true
	whole := newPublisher(s, 2)
	whole.Sources, whole.Complete, whole.MaxEntries = []string{"b"}, true, 2
	_, body := pubRender(t, whole, "/feed.atom")
	_, items := pubRead(t, whole.URL(), body)
	assert.Equal(t, []string{"/2", "/3"}, pubList(items))
	s.Put("b", pubNumbered(6, 6)...)
	_, err := whole.Document(t.Context(), "/feed.atom")
	assert.ErrorIs(t, err, websync.ErrLimit)
}

// The settings that decide the bytes are in the URL.
func TestPublisherArchiveURL(t *testing.T) {
	s := newPubStore(t)
	s.Put("a", pubNumbered(1, 4)...)
	path := pubPaths(t, newPublisher(s, 2))[0]
	assert.Regexp(t, `^/feed-1-[0-9a-f]{8}-1\.atom$`, path)

	for name, change := range map[string]func(*atom.Publisher){
		"size":    func(p *atom.Publisher) { p.ArchiveSize = 1 },
		"title":   func(p *atom.Publisher) { p.Title = "Other" },
		"id":      func(p *atom.Publisher) { p.ID = "urn:ex:other" },
		"author":  func(p *atom.Publisher) { p.Author.URI = pubSite },
		"sources": func(p *atom.Publisher) { p.Sources = []string{"a"} },
		"md5":     func(p *atom.Publisher) { p.LegacyMD5 = true },
		"locator": func(p *atom.Publisher) { p.Locator = websync.PathLocator{Base: pubSite + "/other/"} },
		"own": func(p *atom.Publisher) {
			p.Locator = websync.PathLocator{Base: pubSite + "/", Own: []string{"laws", "a"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(s, 2)
			change(p)
			_, err := p.Document(t.Context(), path)
			assert.ErrorIs(t, err, websync.ErrGone)
			first := pubPaths(t, p)[0]
			assert.NotEqual(t, path, first)
			_, err = newPublisher(s, 2).Document(t.Context(), first)
			assert.ErrorIs(t, err, websync.ErrGone)
		})
	}
	t.Run("another store", func(t *testing.T) {
		other := newPubStore(t)
		other.Clock = other.Clock.Add(time.Hour)
		other.Put("a", pubNumbered(1, 4)...)
		_, err := newPublisher(other, 2).Document(t.Context(), path)
		assert.ErrorIs(t, err, websync.ErrGone)
	})
	t.Run("what does not matter", func(t *testing.T) {
		p := newPublisher(s, 2)
		before, _ := pubRender(t, p, "/feed.atom")
		p = newPublisher(s, 2)
		p.Hubs = []string{"https://hub.example.com/"}
		after, _ := pubRender(t, p, "/feed.atom")
		assert.Equal(t, path, pubPaths(t, p)[0])
		assert.NotEqual(t, before.ETag, after.ETag)
	})
	for _, unknown := range []string{
		"/", "/feed", "/other.atom", "/feed-1.atom", "/feed.atom.gz",
		strings.Replace(path, "-1.atom", "-3.atom", 1), strings.Replace(path, "-1.atom", "-0.atom", 1),
		strings.Replace(path, "-1.atom", "-01.atom", 1), strings.Replace(path, "-1.atom", "-9223372036854775809.atom", 1),
		strings.Replace(path, "-1.atom", "-18446744073709551615.atom", 1),
		strings.Replace(path, "feed-1-", "feed-0-", 1), strings.Replace(path, "feed-1-", "feed-2-", 1),
		strings.Replace(path, "feed-1-", "feed-x-", 1), strings.ToUpper(path),
	} {
		_, err := newPublisher(s, 2).Document(t.Context(), unknown)
		assert.ErrorIs(t, err, websync.ErrNotFound, unknown)
		assert.NotErrorIs(t, err, websync.ErrGone, unknown)
	}
}

// When the log is compacted the subscription document changes to a new chain. The old one
// stays until it is dropped.
func TestPublisherCompact(t *testing.T) {
	s := newPubStore(t)
	all := pubNumbered(1, 4)
	s.Put("a", all...)
	s.Put("a", all...)
	p := newPublisher(s, 2)
	old := pubPaths(t, p)
	bytesOf := map[string]string{}
	for _, path := range old {
		_, body := pubRender(t, p, path)
		bytesOf[path] = string(body)
	}
	before, _ := pubRender(t, p, "/feed.atom")
	generation, err := s.Compact(t.Context())
	require.NoError(t, err)
	assert.Len(t, pubPaths(t, p), 3)
	assert.Equal(t, 4, requireChain(t, p).Entries)
	after, body := pubRender(t, p, "/feed.atom")
	assert.NotEqual(t, before.ETag, after.ETag)
	assert.NotEqual(t, bytesOf["/feed.atom"], string(body))
	for _, p := range []*atom.Publisher{p, newPublisher(s, 2)} {
		for _, path := range old[:4] {
			doc, body := pubRender(t, p, path)
			assert.Equal(t, bytesOf[path], string(body))
			assert.True(t, doc.Final)
		}
		_, err = p.Document(t.Context(), strings.Replace(old[3], "-4.atom", "-5.atom", 1))
		assert.ErrorIs(t, err, websync.ErrNotFound)
	}
	var docs []*websync.Document
	for _, path := range old[:2] {
		doc, err := p.Document(t.Context(), path)
		require.NoError(t, err)
		docs = append(docs, doc)
	}
	require.NoError(t, s.Drop(t.Context(), generation))
	for _, doc := range docs {
		assert.ErrorIs(t, doc.Write(t.Context(), io.Discard), websync.ErrGone, "before it is written")
	}
	for _, path := range old[:4] {
		_, err := p.Document(t.Context(), path)
		assert.ErrorIs(t, err, websync.ErrGone, path)
	}
	requireChain(t, p)
}

func TestPublisherDocumentsConflict(t *testing.T) {
	s := newPubStore(t)
	s.Put("a", pubNumbered(1, 4)...)
	n := 0
	for path, err := range newPublisher(s, 2).Documents(t.Context()) {
		if n++; n == 1 {
			require.NoError(t, err)
			_, err = s.Compact(t.Context())
			require.NoError(t, err)
			continue
		}
		assert.Empty(t, path)
		assert.ErrorIs(t, err, websync.ErrConflict)
	}
	assert.Equal(t, 2, n)
}

// A complete document is the one of its ETag, or an error.
func TestPublisherCompleteConflict(t *testing.T) {
	s := newPubStore(t)
	s.Put("a", pubNumbered(1, 600)...)
	s.Delete("a", pubSite+"/7")
	p := newPublisher(s, 0)
	p.Complete = true
	doc, body := pubRender(t, p, "/feed.atom")
	_, items := pubRead(t, p.URL(), body)
	require.Len(t, items, 599)
	assert.Equal(t, "/8", pubList(items)[6])
	s.Put("a", pubNumbered(601, 601)...)
	var late bytes.Buffer
	assert.ErrorIs(t, doc.Write(t.Context(), &late), websync.ErrConflict)
	assert.Contains(t, late.String(), "</feed>")
}

// A Catalog that the Publisher refuses: its links would have no target.
func TestPublisherRefusesCatalogs(t *testing.T) {
	s := newPubStore(t)
	body := pubKept("content", websync.Link{})
	body.Key.Algorithm = "sha-512"
	s.Put("a", websync.Resource{ID: pubSite + "/1"})
	for _, complete := range []bool{false, true} {
		p := newPublisher(bodyCatalog{s, body}, 1)
		p.Complete = complete
		doc, err := p.Document(t.Context(), "/feed.atom")
		require.NoError(t, err)
		assert.ErrorIs(t, doc.Write(t.Context(), io.Discard), websync.ErrCatalog)
	}
	p := newPublisher(headCatalog{s}, 1)
	_, err := p.Document(t.Context(), "/feed.atom")
	assert.ErrorIs(t, err, websync.ErrCatalog)
	assert.ErrorContains(t, err, "Head.Generation is 0")

	assert.ErrorContains(t, ownPublisher(s, 1).Check(), `"`+pubSite+`/feed.atom"`, "the locator gives it to a body, too")
}

type headCatalog struct{ websync.Catalog }

func (headCatalog) Head(context.Context) (websync.Head, error) { return websync.Head{}, nil }

// A bodyCatalog adds a body to each item.
type bodyCatalog struct {
	websync.Catalog
	body websync.Body
}

func (c bodyCatalog) Changes(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return c.with(c.Catalog.Changes(ctx, r))
}

func (c bodyCatalog) Resources(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return c.with(c.Catalog.Resources(ctx, r))
}

func (c bodyCatalog) with(items iter.Seq2[websync.Item, error]) iter.Seq2[websync.Item, error] {
	return func(yield func(websync.Item, error) bool) {
		for item, err := range items {
			if item.Bodies = []websync.Body{c.body}; !yield(item, err) {
				return
			}
		}
	}
}

func TestPublisherSettings(t *testing.T) {
	s := harvest.NewCatalog(memstore.New())
	for name, change := range map[string]func(*atom.Publisher){
		"no catalog":           func(p *atom.Publisher) { p.Catalog = nil },
		"no base":              func(p *atom.Publisher) { p.Base = "" },
		"base without slash":   func(p *atom.Publisher) { p.Base = pubSite },
		"base of another kind": func(p *atom.Publisher) { p.Base = "ftp://www.example.com/" },
		"base with a user":     func(p *atom.Publisher) { p.Base = "https://a:b@www.example.com/" },
		"base without a host":  func(p *atom.Publisher) { p.Base = "https:///" },
		"base with a colon":    func(p *atom.Publisher) { p.Base = "https://www.example.com:/" },
		"base not a URL":       func(p *atom.Publisher) { p.Base = "https://[/" },
		"path with a query":    func(p *atom.Publisher) { p.Path = "feed?a" },
		"path with a fragment": func(p *atom.Publisher) { p.Path = "feed#a" },
		"path with an umlaut":  func(p *atom.Publisher) { p.Path = "föd.atom" },
		"path with a space":    func(p *atom.Publisher) { p.Path = "a feed.atom" },
		"path of a directory":  func(p *atom.Publisher) { p.Path = "feeds/" },
		"path with dots":       func(p *atom.Publisher) { p.Path = "../feed" },
		"relative id":          func(p *atom.Publisher) { p.ID = "feed" },
		"no author":            func(p *atom.Publisher) { p.Author = websync.Person{URI: pubSite} },
		"author's email":       func(p *atom.Publisher) { p.Author.Email = "nobody" },
		"title":                func(p *atom.Publisher) { p.Title = "\x00" },
		"hub":                  func(p *atom.Publisher) { p.Hubs = []string{"hub"} },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(s, 0)
			change(p)
			_, err := p.Document(t.Context(), "/feed.atom")
			require.ErrorContains(t, err, "atom: ")
			assert.Equal(t, err, p.Check())
			assert.NotContains(t, err.Error(), "a:b@")
			assert.NotErrorIs(t, err, websync.ErrNotFound)
			for path, err := range p.Documents(t.Context()) {
				assert.Empty(t, path)
				assert.Error(t, err)
			}
			assert.False(t, p.Reserved("/x"))
		})
	}
	p := newPublisher(s, -1)
	p.Base, p.Path = pubSite+":8080/a%20b/", "/all/changes"
	assert.Equal(t, pubSite+":8080/a%20b/all/changes", p.URL())
	assert.True(t, p.Reserved("/a%20b/all/changes"))
	assert.True(t, p.Reserved("/a%20b/all/changes-1-01234567-12"))
	assert.False(t, p.Reserved("/a%20b/all/changes-1-0123456-12"))
	assert.False(t, p.Reserved("/a b/all/changes"))
	pubRender(t, p, "/a%20b/all/changes")
}

// pubEntry publishes one item and returns its entry.
func pubEntry(t *testing.T, item websync.Item, more ...websync.Resource) *atom.Entry {
	s := newPubStore(t)
	s.Put("a", more...)
	s.commit(cmp.Or(item.Source, "a"), item)
	p := newPublisher(s, 0)
	if item.Source != "" {
		p = ownPublisher(s, 0)
	}
	p.Report = func(f websync.Finding) { assert.Fail(t, f.String()) }
	_, body := pubRender(t, p, "/feed.atom")
	_, items := pubRead(t, p.URL(), body)
	require.NotEmpty(t, items)
	return items[0].Entry
}

// A harvested resource makes no entry and no tombstone of the publisher's own resources.
func TestPublisherStrangers(t *testing.T) {
	s := newPubStore(t)
	s.Put("laws", websync.Resource{ID: pubSite + "/1", Title: "ours"})
	s.Put("feed", websync.Resource{ID: pubSite + "/1", Title: "theirs"}, websync.Resource{ID: pubFirst + "/2", Title: "theirs"})
	s.Put("feed", websync.Resource{ID: pubSite + "/never", Title: "theirs"}, websync.Resource{ID: pubSite + "/r/x", Title: "theirs"})
	s.Delete("feed", pubSite+"/1")
	for _, complete := range []bool{false, true} {
		found := 0
		p := ownPublisher(s, 0)
		p.Complete, p.Report = complete, func(f websync.Finding) {
			assert.Contains(t, f.Message, "its source is not own")
			found++
		}
		_, body := pubRender(t, p, "/feed.atom")
		_, items := pubRead(t, p.URL(), body)
		var got []string
		for _, item := range items {
			require.NotNil(t, item.Entry, "a tombstone of ours")
			got = append(got, item.Entry.Title.Value+" "+item.Entry.ID)
		}
		assert.ElementsMatch(t, []string{"ours " + pubSite + "/1", "theirs " + pubFirst + "/2", "theirs " + pubSite + "/r/x"}, got)
		assert.NotZero(t, found)
	}
	_, body := pubRender(t, newPublisher(s, 0), "/feed.atom") // no source is own
	assert.Contains(t, string(body), "deleted-entry")
}

func TestPublisherEntry(t *testing.T) {
	const copies = pubSite + "/r/"
	here := func(id, body string) string {
		return websync.PathLocator{Base: pubSite + "/"}.URL(&websync.Item{Resource: websync.Resource{ID: id}}, body)
	}
	other := websync.Resource{ID: pubFirst + "/other", Title: "Other"}
	kept := func(r websync.Resource, link websync.Link) websync.Item {
		return websync.Item{Resource: r, Bodies: []websync.Body{pubKept("content", link)}}
	}
	hrefs := func(e *atom.Entry) (all []string) {
		for _, l := range e.Links {
			if l.Href != e.Content.Href {
				all = append(all, l.Rel+" "+l.Href)
			}
		}
		return all
	}
	foreign := func(links ...websync.Link) websync.Resource {
		return websync.Resource{ID: pubFirst + "/1", Title: "One", Summary: "1", Links: links}
	}
	t.Run("content that is kept", func(t *testing.T) {
		e := pubEntry(t, kept(foreign(), websync.Link{Href: pubFirst + "/1.html", Type: "text/html"}))
		assert.Equal(t, here(e.ID, "content"), e.Content.Href)
		assert.Equal(t, "text/html", e.Content.Type)
		assert.Equal(t, websync.Link{Rel: "alternate", Href: e.Content.Href, Type: "text/html", Length: int64(len("content")), Digests: e.Content.Digests}, e.Links[1])
		assert.Equal(t, websync.Digests{websync.SHA256([]byte("content"))}, e.Content.Digests)
		assert.Equal(t, []string{"via " + e.ID}, hrefs(e))
	})
	t.Run("own content", func(t *testing.T) {
		item := kept(websync.Resource{ID: pubSite + "/1"}, websync.Link{Href: pubSite + "/1", Type: "text/html"})
		item.Source = "laws"
		e := pubEntry(t, item)
		assert.Equal(t, pubSite+"/1", e.Content.Href)
		assert.Equal(t, pubSite+"/1", e.Title.Value)
		assert.Equal(t, pubSite+"/1", e.Summary.Value)
		assert.Empty(t, hrefs(e))
	})
	t.Run("others' content under Base", func(t *testing.T) {
		e := pubEntry(t, kept(websync.Resource{ID: pubSite + "/robots.txt"}, websync.Link{Type: "text/plain"}))
		assert.Equal(t, copies+"https=3A/=2Fwww.example.com/robots.txt~content", e.Content.Href)
		assert.Equal(t, []string{"via " + pubSite + "/robots.txt"}, hrefs(e))
	})
	t.Run("links between sources", func(t *testing.T) {
		s := newPubStore(t)
		related := func(id string) []websync.Link { return []websync.Link{{Rel: "related", Href: id}} }
		s.commit("laws", kept(websync.Resource{ID: pubSite + "/1"}, websync.Link{Type: "text/html"}))
		s.commit("a", kept(websync.Resource{ID: pubFirst + "/2", Links: related(pubSite + "/1")}, websync.Link{Type: "text/html"}))
		s.commit("laws", kept(websync.Resource{ID: pubSite + "/3", Links: related(pubFirst + "/2")}, websync.Link{Type: "text/html"}))
		_, body := pubRender(t, ownPublisher(s, 0), "/feed.atom")
		_, items := pubRead(t, pubSite+"/feed.atom", body)
		assert.Equal(t, []string{"related " + pubFirst + "/2"}, hrefs(items[0].Entry))
		assert.Equal(t, []string{"related " + pubSite + "/1", "via " + pubFirst + "/2"}, hrefs(items[1].Entry))
	})
	t.Run("content without a type", func(t *testing.T) {
		e := pubEntry(t, kept(foreign(), websync.Link{Type: "html"}))
		assert.Equal(t, "application/octet-stream", e.Content.Type)
	})
	t.Run("content in a coding", func(t *testing.T) {
		e := pubEntry(t, kept(foreign(), websync.Link{Type: "text/html", Encoding: "gzip"}))
		assert.Zero(t, e.Content.Length)
		assert.Empty(t, e.Content.Digests)
	})
	t.Run("content of a composite type", func(t *testing.T) {
		e := pubEntry(t, kept(foreign(), websync.Link{Type: "message/rfc822"}))
		assert.True(t, e.Content.IsZero())
		assert.Equal(t, []string{"alternate " + here(e.ID, "content"), "via " + e.ID}, hrefs(e))
	})
	t.Run("content that is not kept", func(t *testing.T) {
		r := foreign()
		r.Content = websync.Link{Href: pubFirst + "/1.html", Type: "text/html", Length: 5}
		e := pubEntry(t, websync.Item{Resource: r, Bodies: []websync.Body{{Name: "content", Link: r.Content}}})
		assert.True(t, e.Content.IsZero())
		assert.Equal(t, []string{"via " + e.ID, "alternate " + pubFirst + "/1.html"}, hrefs(e))
		assert.EqualValues(t, 5, e.Links[1].Length)
	})
	t.Run("description only", func(t *testing.T) {
		e := pubEntry(t, websync.Item{Resource: foreign()})
		assert.Equal(t, []string{"via " + e.ID, "alternate " + e.ID}, hrefs(e))
	})
	t.Run("other bodies", func(t *testing.T) {
		item := kept(foreign(websync.Link{Rel: "describedby", Href: pubFirst + "/1.rdf", Title: "Metadata"},
			websync.Link{Rel: "related", Href: pubFirst + "/1.gone"}), websync.Link{Type: "text/html"})
		rdf := pubKept("graph", websync.Link{Href: pubFirst + "/1.rdf", Type: "application/rdf+xml"})
		rdf.Link.Digests = nil
		item.Bodies = append(item.Bodies, rdf, pubKept("pdf", websync.Link{Rel: "enclosure", Type: "application/pdf"}),
			pubKept("text", websync.Link{Type: "text/plain"}), websync.Body{Name: "gone", Link: websync.Link{Href: pubFirst + "/1.gone"}})
		e := pubEntry(t, item)
		assert.Equal(t, []string{"describedby " + pubFirst + "/1.rdf", "related " + pubFirst + "/1.gone", "alternate " + here(e.ID, "graph"),
			"enclosure " + here(e.ID, "pdf"), "alternate " + here(e.ID, "text"), "via " + e.ID}, hrefs(e))
		assert.Equal(t, websync.Link{Rel: "describedby", Href: pubFirst + "/1.rdf", Title: "Metadata"}, e.Links[0])
		assert.Equal(t, websync.Link{Rel: "alternate", Href: here(e.ID, "graph"), Type: "application/rdf+xml", Length: 5,
			Digests: websync.Digests{rdf.Key}}, e.Links[2])
	})
	t.Run("via", func(t *testing.T) {
		r := foreign()
		r.Modified = written(t, "2025-05-01T00:00:00Z")
		r.Content = websync.Link{Href: r.ID, Type: "text/html", Length: 7, Digests: websync.Digests{websync.SHA256(nil)}}
		e := pubEntry(t, kept(r, websync.Link{Type: "text/html"}))
		assert.Equal(t, []websync.Link{{Rel: "via", Href: r.ID, Type: "text/html", Length: 7, Digests: r.Content.Digests, Modified: r.Modified}}, e.Links[:1])
	})
	t.Run("a via that is there", func(t *testing.T) {
		for _, rel := range []string{"via", "http://www.iana.org/assignments/relation/via"} {
			e := pubEntry(t, kept(foreign(websync.Link{Rel: rel, Href: other.ID}), websync.Link{Type: "text/html"}), other)
			assert.Equal(t, []string{"via " + other.ID}, hrefs(e))
		}
	})
	t.Run("links keep their targets", func(t *testing.T) {
		var links []websync.Link
		var want []string
		for _, rel := range []string{"related", "up", "collection", "canonical", "duplicate", "memento", "timegate", "timemap",
			"http://www.openarchives.org/rs/terms/patch"} {
			links = append(links, websync.Link{Rel: rel, Href: other.ID})
			want = append(want, rel+" "+other.ID)
		}
		e := pubEntry(t, kept(foreign(links...), websync.Link{Type: "text/html"}), other)
		assert.Equal(t, append(want, "via "+e.ID), hrefs(e))
		own := kept(websync.Resource{ID: pubSite + "/1", Links: links}, websync.Link{Type: "text/html"})
		own.Source = "laws"
		assert.Equal(t, want, hrefs(pubEntry(t, own, other)))
	})
	t.Run("times", func(t *testing.T) {
		r := foreign()
		r.Published, r.Modified = written(t, "2026-01-01"), written(t, "2020")
		e := pubEntry(t, websync.Item{Resource: r})
		assert.Equal(t, "2026-01-02T03:04:06Z", e.Updated.String())
		assert.Equal(t, "2026-01-01T00:00:00Z", e.Published.String())
		r.Published = written(t, "2026-01-03")
		assert.True(t, pubEntry(t, websync.Item{Resource: r}).Published.IsZero())
	})
	t.Run("elements", func(t *testing.T) {
		r := foreign()
		r.Elements = []websync.Element{
			{Space: "urn:x", Local: "a", XML: `<a xmlns="urn:x">1</a>`},
			{Space: "urn:x", Local: "b", XML: `<b xmlns="urn:x">`},
			{Local: "c", XML: `<c xmlns=""/>`},
			{Space: atom.HistoryNamespace, Local: "archive", XML: `<archive xmlns="` + atom.HistoryNamespace + `"/>`},
			{Space: "http://www.w3.org/2000/09/xmldsig#", Local: "Signature", XML: `<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>`},
			{Space: atom.GDataNamespace, Local: "deleted", XML: `<deleted xmlns="` + atom.GDataNamespace + `"/>`},
			{Space: atom.FeedSyncNamespace, Local: "sync", XML: `<sync xmlns="` + atom.FeedSyncNamespace + `" deleted="true" id="1" updates="2"/>`},
		}
		assert.Equal(t, r.Elements[:1], pubEntry(t, websync.Item{Resource: r}).Elements)
	})
	t.Run("texts that are blank", func(t *testing.T) {
		r := foreign()
		r.Title, r.Summary = " ", "\n\t"
		e := pubEntry(t, websync.Item{Resource: r})
		assert.Equal(t, r.ID, e.Title.Value)
		assert.True(t, e.Summary.IsZero())
		e = pubEntry(t, kept(r, websync.Link{Type: "text/html"}))
		assert.Equal(t, r.ID, e.Summary.Value)
		r.Origin = &websync.Origin{ID: "urn:ex:feed", Title: " "}
		assert.Equal(t, "urn:ex:feed", pubEntry(t, websync.Item{Resource: r}).Source.Title.Value)
	})
	t.Run("the source", func(t *testing.T) {
		r := foreign()
		whole := websync.Origin{ID: "urn:ex:feed", Title: "Feed", Updated: written(t, "2025-01-01T00:00:00Z"), Self: pubFirst + "/feed"}
		lacks := whole
		lacks.Title, lacks.Updated = "", websync.Datetime{}
		nameless := whole
		nameless.ID = ""
		published := func(o websync.Origin) *atom.Feed {
			r.Origin = &o
			return pubEntry(t, websync.Item{Resource: r}).Source
		}
		source := published(whole)
		assert.Equal(t, "Feed", source.Title.Value)
		assert.Equal(t, whole.Updated, source.Updated)
		source = published(lacks)
		assert.Equal(t, "urn:ex:feed", source.Title.Value)
		assert.Equal(t, "2026-01-02T03:04:06Z", source.Updated.String(), "that of the commit")
		r.Modified = written(t, "2025-05-01T00:00:00Z")
		assert.Equal(t, r.Modified, published(lacks).Updated)
		assert.Nil(t, published(nameless))
	})
}

// A resource without an id that Atom allows is left out, and reported once.
func TestPublisherReport(t *testing.T) {
	s := newPubStore(t)
	bad := websync.Resource{ID: pubSite + "/feed.atom"}
	s.Put("a", append(pubNumbered(1, 2), bad)...)
	s.Put("a", pubNumbered(4, 6)...)
	var findings []websync.Finding
	newReporter := func() *atom.Publisher {
		p := newPublisher(s, 2)
		p.Report = func(f websync.Finding) { findings = append(findings, f) }
		return p
	}
	p := newReporter()
	for range 2 {
		assert.Equal(t, 5, requireChain(t, p).Entries)
	}
	require.Len(t, findings, 1)
	assert.Contains(t, findings[0].String(), `-2.atom: error: not listed: its URL is reserved for the publisher's own`)
	for range 2 {
		for _, path := range pubPaths(t, p) {
			pubRender(t, p, path)
		}
	}
	require.Len(t, findings, 1, "in the other order")
	s.Put("a", bad)
	for range 2 {
		requireChain(t, p)
	}
	require.Len(t, findings, 2, "a new state of it")
	s.Delete("a", bad.ID)
	assert.Zero(t, requireChain(t, p).Tombstones)
	require.Len(t, findings, 3, "its deletion")

	findings = nil
	s.Put("a", bad)
	p = newReporter()
	p.Complete = true
	for range 2 {
		pubRender(t, p, "/feed.atom")
	}
	assert.Len(t, findings, 1)
}

// An id that is no IRI is replaced by one that stands for it in its source, in
// tombstones, too.
func TestPublisherOfIDsThatAreNoIRIs(t *testing.T) {
	s := newPubStore(t)
	s.Put("https://news.example/rss", websync.Resource{ID: "news-1", Title: "One"}, websync.Resource{ID: "news-2"})
	s.Delete("https://news.example/rss", "news-2")
	_, doc := pubRender(t, newPublisher(s, 0), "/feed.atom")
	for _, want := range []string{
		"<id>" + websync.TagURI("https://news.example/rss", "news-1") + "</id>",
		`ref="` + websync.TagURI("https://news.example/rss", "news-2") + `"`,
	} {
		assert.Contains(t, string(doc), want)
	}
}

// Each document is reported once, in whatever order the documents are written. Documents
// of an old generation are not reported.
func TestPublisherReportOrder(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {2, 0, 1}, {1, 0, 2}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			s := newPubStore(t)
			all := pubNumbered(1, 6)
			all[3].ID = pubSite + "/feed.atom"
			s.Put("a", all...)
			p := newPublisher(s, 2)
			findings := 0
			p.Report = func(websync.Finding) { findings++ }
			paths := pubPaths(t, p)
			for _, i := range order {
				pubRender(t, p, paths[i])
			}
			assert.Equal(t, 1, findings)
			s.Put("a", all...)
			_, err := s.Compact(t.Context())
			require.NoError(t, err)
			pubRender(t, p, paths[1])
			assert.Equal(t, 1, findings)
		})
	}
}

// An error of the Catalog is not ErrNotFound.
func TestPublisherCatalogError(t *testing.T) {
	s := pubGazette(t)
	for _, cause := range []error{io.ErrUnexpectedEOF, websync.ErrNotFound} {
		for _, name := range []string{"Head", "Changes", "Resources"} {
			t.Run(fmt.Sprint(name, " ", cause), func(t *testing.T) {
				bad := &testkit.Catalog{Catalog: s, Before: func(method string, _ int) error {
					if method == name {
						return cause
					}
					return nil
				}}
				p := newPublisher(bad, 0)
				p.Complete = name == "Resources"
				doc, err := p.Document(t.Context(), "/feed.atom")
				if err == nil {
					err = doc.Write(t.Context(), io.Discard)
				}
				require.Error(t, err)
				assert.NotErrorIs(t, err, websync.ErrNotFound)
				assert.NotErrorIs(t, err, websync.ErrGone)
				assert.Equal(t, cause == io.ErrUnexpectedEOF, errors.Is(err, cause))
			})
		}
	}
	broken := errors.New("broken")
	doc, err := newPublisher(s, 3).Document(t.Context(), "/feed.atom")
	require.NoError(t, err)
	assert.ErrorIs(t, doc.Write(t.Context(), writerFunc(func([]byte) (int, error) { return 0, broken })), broken)
}

// Many goroutines open and write documents at once.
func TestPublisherConcurrent(t *testing.T) {
	s := pubGazette(t)
	p := newPublisher(s, 3)
	var group sync.WaitGroup
	results := make([]string, 8)
	for i := range results {
		group.Go(func() {
			var all []byte
			for _, path := range pubPaths(t, p) {
				_, body := pubRender(t, p, path)
				all = append(all, body...)
			}
			results[i] = string(all)
		})
	}
	group.Wait()
	assert.Len(t, slices.Compact(results), 1)
}
