package rinfo_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"iter"
	"net/url"
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
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/rinfo"
)

const depotBase = "http://rinfo.example.se/"

func newPublisher(c websync.Catalog) *atom.Publisher {
	p := &atom.Publisher{Profile: rinfo.Profile(), Place: websync.Place{Catalog: c, Base: depotBase}, ID: "tag:example.se,2026:depot", Author: websync.Person{Name: "Depot", Email: "rinfo@example.se"}}
	p.Locator = rinfo.Locator{PathLocator: websync.PathLocator{Base: p.Base, Own: []string{"own", testkit.Src}, Reserved: p.Reserved}}
	return p
}

// listed returns what the document at a path lists, by id; it must be valid.
func listed(t *testing.T, p *atom.Publisher, path string) (feed *atom.Feed, items map[string]atom.Item) {
	doc, err := p.Document(t.Context(), path)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, doc.Write(t.Context(), &b))
	_, err = atom.Validate(bytes.NewReader(b.Bytes()), atom.ValidateOptions{Document: depotBase + path[1:], Report: func(f websync.Finding) {
		assert.Equal(t, "atom-id-scheme", f.Rule, "%v", f) // of the feed urn:feed
	}})
	require.NoError(t, err)
	r := atom.NewReader(&b)
	items = map[string]atom.Item{}
	for item, err := range r.All() {
		require.NoError(t, err)
		items[strings.TrimPrefix(item.ID(), publ)] = item
	}
	return r.Feed(), items
}

func paths(t *testing.T, p *atom.Publisher) []string {
	return testkit.All(t, p.Documents(t.Context()))
}

// TestPublisher: what was harvested is published with its origin beside it.
func TestPublisher(t *testing.T) {
	c := newCollection(t)
	report, _ := c.run(archiveStates()[0])
	require.True(t, report.InStep())
	p := newPublisher(c.store)
	require.NoError(t, p.Check())
	assert.Equal(t, depotBase+"feed.atom", p.URL())
	_, items := listed(t, p, "/feed.atom")

	e := items["a/2"].Entry
	require.NotNil(t, e)
	assert.Equal(t, moment(1), e.Published.String())
	record, err := c.store.Get(t.Context(), testkit.Src, []string{publ + "a/2"})
	require.NoError(t, err)
	assert.Equal(t, record[0].Time, e.Updated.Time(), "the time of the commit")

	require.NotNil(t, e.Source)
	assert.Equal(t, "urn:feed", e.Source.ID)
	assert.Equal(t, "Acts", e.Source.Title.Value)
	assert.Equal(t, moment(22), e.Source.Updated.String(), "the original time of the entry")
	self, _ := e.Source.Link("self")
	assert.Equal(t, feedURL, self.Href)
	via, _ := e.Link("via")
	assert.Equal(t, www+"files/a2", via.Href)
	assert.Equal(t, moment(22), via.Modified.String())

	digests := func(path string) string {
		return fmt.Sprintf("md5:%x %s", md5.Sum([]byte(path)), websync.SHA256([]byte(path)))
	}
	assert.Equal(t, publ+"a/2", e.Content.Href)
	assert.Equal(t, "application/pdf", e.Content.Type)
	assert.Equal(t, digests("files/a2"), e.Content.Digests.String())
	rdf, _ := e.Link("alternate")
	assert.Equal(t, publ+"a/2/rdf", rdf.Href)
	assert.Equal(t, digests("files/a2.rdf"), rdf.Digests.String())
	assert.EqualValues(t, len("files/a2.rdf"), rdf.Length)
	attachment, _ := e.Link("enclosure")
	assert.Equal(t, publ+"a/2/one.pdf", attachment.Href)
	assert.Equal(t, []websync.Attr{{Space: rinfo.DCTermsNamespace, Local: "isFormatOf", Value: publ + "a/2#one"}}, attachment.Attrs)

	stranger := newPublisher(c.store)
	stranger.Locator = websync.PathLocator{Base: "https://other.example/"}
	_, items = listed(t, stranger, "/feed.atom")
	require.NotNil(t, items["a/2"].Entry)
	other, _ := items["a/2"].Entry.Link("via")
	assert.Equal(t, via, other, "of a source that is not own")

	bodies := publish.Bodies(c.store, p.Locator)
	for _, link := range []websync.Link{e.Content.Link, rdf, attachment} {
		u, err := url.Parse(link.Href)
		require.NoError(t, err)
		_, err = bodies.Document(t.Context(), u.EscapedPath())
		assert.NoError(t, err, link.Href)
	}

	// a feed that gets another title changes no resource
	site := archiveStates()[0]
	for url, doc := range site {
		doc.Body = strings.Replace(doc.Body, "<title>Acts</title>", "<title>Other acts</title>", 1)
		doc.ETag = fmt.Sprintf("%q", websync.SHA256([]byte(doc.Body)))
		site[url] = doc
	}
	report, _ = c.run(site)
	assert.True(t, report.InStep())
	assert.Zero(t, report.Updated)
}

// TestPublisherMD5: an MD5 that no source stated is computed once, and what is gone has
// none.
func TestPublisherMD5(t *testing.T) {
	s := testkit.NewStore(t)
	put := func(text string) {
		link := websync.Link{Href: publ + "a", Type: "application/pdf", Length: int64(len(text))}
		s.Fill("own", []string{text}, websync.Item{
			Resource: websync.Resource{ID: publ + "a", Content: link},
			Bodies:   []websync.Body{{Name: "content", Link: link, Key: websync.SHA256([]byte(text))}},
		})
	}
	catalog := &testkit.Catalog{Catalog: s}
	p := newPublisher(catalog)
	p.ArchiveSize = 1
	sumOf := func(path string) string {
		_, items := listed(t, p, path)
		sum, _ := items["a"].Entry.Content.Digests.Get("md5")
		return sum.String()
	}
	put("one")
	want := fmt.Sprintf("md5:%x", md5.Sum([]byte("one")))
	for range 3 {
		assert.Equal(t, want, sumOf("/feed.atom"))
	}
	assert.Equal(t, 1, catalog.Count("Open"))
	first := paths(t, p)[0]
	doc, err := p.Document(t.Context(), first)
	require.NoError(t, err)
	assert.False(t, doc.Final)
	assert.Empty(t, doc.ETag, "the server derives one from the bytes")

	put("two")
	s.Clock = s.Clock.Add(1000 * time.Hour)
	_, err = s.Vacuum(t.Context(), 0)
	require.NoError(t, err)
	p = newPublisher(catalog)
	p.ArchiveSize = 1
	assert.Equal(t, fmt.Sprintf("md5:%x", md5.Sum([]byte("two"))), sumOf("/feed.atom"))
	assert.Empty(t, sumOf(first), "the bytes are gone")

	broken := fmt.Errorf("broken disk: %w", websync.ErrGone)
	catalog.Before = func(method string, _ int) error {
		if method == "Open" {
			return broken
		}
		return nil
	}
	p = newPublisher(catalog)
	doc, err = p.Document(t.Context(), "/feed.atom")
	require.NoError(t, err)
	err = doc.Write(t.Context(), new(bytes.Buffer))
	assert.EqualError(t, err, "rinfo: the catalog: broken disk: gone")
	assert.NotErrorIs(t, err, websync.ErrGone, "the document itself is not gone")
}

// A fixedCatalog yields the same items each time.
type fixedCatalog struct {
	websync.Catalog
	items []websync.Item
}

func (c fixedCatalog) Changes(context.Context, websync.Range) iter.Seq2[websync.Item, error] {
	return func(yield func(websync.Item, error) bool) {
		for _, item := range c.items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// TestPublisherKeepsItems: what a Catalog yields stays as it is.
func TestPublisherKeepsItems(t *testing.T) {
	s := testkit.NewStore(t)
	link := websync.Link{Href: publ + "a"}
	key := websync.SHA256([]byte("one"))
	s.Fill("own", []string{"one"}, websync.Item{Resource: websync.Resource{ID: publ + "a", Content: link}, Bodies: []websync.Body{{Name: "content", Link: link, Key: key}}})
	c := fixedCatalog{s, testkit.Entries(t, s.Plain())}
	bodies := c.items[0].Bodies
	bodies[0].Link.Digests = append(make(websync.Digests, 0, 4), key)
	want := fmt.Sprintf("%+v", c.items)
	for range 2 {
		_, items := listed(t, newPublisher(c), "/feed.atom")
		assert.Len(t, items["a"].Entry.Content.Digests, 2)
		assert.Equal(t, want, fmt.Sprintf("%+v", c.items))
	}
}

// TestPublished: a resource without a time of publication has that of its appearance.
func TestPublished(t *testing.T) {
	s := testkit.NewStore(t)
	times := map[int]string{}
	put := func(n int, published websync.Datetime) {
		s.Put("own", websync.Resource{ID: publ + "a", Title: fmt.Sprint(n), Published: published})
		times[n] = websync.NewDatetime(s.Clock).String()
	}
	p := newPublisher(s)
	published := func() string {
		_, items := listed(t, p, "/feed.atom")
		return items["a"].Entry.Published.String()
	}
	put(1, websync.Datetime{})
	assert.Equal(t, times[1], published())
	s.Put("own", websync.Resource{ID: publ + "b"})
	put(2, websync.Datetime{})
	put(3, websync.Datetime{})
	assert.Equal(t, times[1], published())
	put(4, websync.NewDatetime(s.Clock.Add(time.Hour)))
	assert.Equal(t, times[1], published(), "stated, but after the commit")
	early := websync.NewDatetime(s.Clock.Add(-time.Hour))
	put(5, early)
	assert.Equal(t, early.String(), published())
	s.Delete("own", publ+"a")
	put(6, websync.Datetime{})
	put(7, websync.Datetime{})
	assert.Equal(t, times[6], published(), "published again after a deletion")
}

// TestTombstones: a deletion is listed for ever, or until its id is published again.
func TestTombstones(t *testing.T) {
	s := testkit.NewStore(t)
	p := newPublisher(s)
	p.ArchiveSize, p.LatestOnly = 2, true
	s.Put("own", websync.Resource{ID: publ + "a"})
	s.Delete("own", publ+"a")
	s.Put("own", websync.Resource{ID: publ + "b"}, websync.Resource{ID: publ + "c"})
	s.Put("own", websync.Resource{ID: publ + "d"})
	first := paths(t, p)[0]
	_, items := listed(t, p, first)
	require.Contains(t, items, "a")
	assert.NotNil(t, items["a"].Tombstone)
	s.Put("own", websync.Resource{ID: publ + "a"})
	_, items = listed(t, p, first)
	assert.Empty(t, items)
	_, items = listed(t, p, "/feed.atom")
	assert.NotNil(t, items["a"].Entry)
}

// TestDefaults: a complete feed is for less than a thousand entries, an archive document
// has a few hundred.
func TestDefaults(t *testing.T) {
	s := testkit.NewStore(t)
	var all []websync.Resource
	for n := range 1000 {
		all = append(all, websync.Resource{ID: fmt.Sprint(publ, n)})
	}
	s.Put("own", all...)
	p := newPublisher(s)
	assert.Len(t, paths(t, p), 1+1000/300)
	p = newPublisher(s)
	p.Complete = true
	feed, items := listed(t, p, "/feed.atom")
	assert.True(t, feed.Complete)
	assert.Len(t, items, 1000)
	s.Put("own", websync.Resource{ID: publ + "one more"})
	_, err := p.Document(t.Context(), "/feed.atom")
	assert.ErrorIs(t, err, websync.ErrLimit)
	assert.EqualError(t, (&atom.Publisher{Profile: rinfo.Profile(), Place: websync.Place{Catalog: s, Base: "https://x"}, Author: websync.Person{Name: "A"}}).Check(),
		`atom: Publisher.Base "https://x" must be an http(s) URL ending in "/"`)
}

// walk reads a feed as a simple reader does, and returns the latest title of each id.
func walk(t *testing.T, p *atom.Publisher, between func()) (titles map[string]string, err error) {
	titles = map[string]string{}
	seen := map[string]bool{}
	for url := p.URL(); url != ""; between() {
		doc, err := p.Document(t.Context(), strings.TrimPrefix(url, strings.TrimSuffix(depotBase, "/")))
		if err != nil {
			return titles, err
		}
		var b bytes.Buffer
		if err := doc.Write(t.Context(), &b); err != nil {
			return titles, err
		}
		r := atom.NewReader(&b)
		for item, err := range r.All() {
			require.NoError(t, err)
			if !seen[item.ID()] && item.Entry != nil {
				titles[item.ID()] = item.Entry.Title.Value
			}
			seen[item.ID()] = true
		}
		prev, _ := r.Feed().Link("prev-archive")
		url = prev.Href
	}
	return titles, nil
}

// titlesOf returns the title of each live resource.
func titlesOf(t *testing.T, c websync.Catalog) map[string]string {
	all := map[string]string{}
	for _, item := range testkit.All(t, c.Resources(t.Context(), websync.Range{})) {
		all[item.Resource.ID] = item.Resource.Title
	}
	return all
}

// TestReindexing: archives are made anew under new URLs while a reader walks through the
// old ones. As long as these stay, even a simple reader loses nothing. If they are
// dropped amidst the walk, it notices. Our own reader has the whole state in both cases.
func TestReindexing(t *testing.T) {
	for _, drop := range []bool{false, true} {
		for when := 1; when < 8; when++ {
			t.Run(fmt.Sprint(drop, " ", when), func(t *testing.T) {
				s := testkit.NewStore(t)
				put := func(id, title string) {
					body := websync.Body{Name: "content", Link: websync.Link{Type: "text/plain", Length: int64(len(title))}, Key: websync.SHA256([]byte(title))}
					s.Fill("own", []string{title}, websync.Item{Resource: websync.Resource{ID: publ + id, Title: title}, Bodies: []websync.Body{body}})
				}
				for n := range 30 {
					put(fmt.Sprint(n%20), fmt.Sprint("state ", n))
					if n%7 == 6 {
						s.Delete("own", fmt.Sprint(publ, n-6))
					}
				}
				p := newPublisher(s)
				p.ArchiveSize = 4
				var mu sync.Mutex
				asked := 0
				reindex := func() {
					mu.Lock()
					defer mu.Unlock()
					if asked++; asked != when {
						return
					}
					generation, err := s.Compact(t.Context())
					require.NoError(t, err)
					if drop {
						require.NoError(t, s.Drop(t.Context(), generation))
					}
					put("late", "late")
				}

				before, old := titlesOf(t, s), paths(t, p)
				titles, err := walk(t, p, reindex)
				if drop {
					require.ErrorIs(t, err, websync.ErrGone)
				} else {
					require.NoError(t, err)
					assert.Equal(t, before, titles)
				}
				for _, path := range paths(t, p) {
					assert.True(t, path == "/feed.atom" || !slices.Contains(old, path), "a new URL: %s", path)
				}
				titles, err = walk(t, p, func() {})
				require.NoError(t, err)
				assert.Equal(t, titlesOf(t, s), titles)

				asked = 0
				reader := harvest.NewCatalog(memstore.New())
				mirror := &testkit.Mirror{Publisher: publish.Join(p, publish.Bodies(s, p.Locator)), Before: reindex}
				h := &harvest.Harvester{Sample: -1, Catalog: reader, Fetcher: mirror}
				for range 2 {
					report, err := h.Run(t.Context(), &rinfo.Source{URL: p.URL()})
					require.NoError(t, err)
					assert.True(t, report.Complete, "%v", report.Problems)
				}
				assert.Equal(t, titlesOf(t, s), titlesOf(t, reader))
			})
		}
	}
}
