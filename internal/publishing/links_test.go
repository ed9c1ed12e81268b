package publishing_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
)

const base = "https://www.example.org/"

var locator = websync.PathLocator{Base: base, Own: []string{"own"}}

func resource(id, content string) websync.Resource {
	return websync.Resource{ID: id, Content: websync.Link{Href: content}}
}

// kept returns an item with all bodies that it has links to.
func kept(source string, r websync.Resource) websync.Item {
	item := websync.Item{Source: source, Resource: r}
	for _, l := range append([]websync.Link{r.Content}, r.Links...) {
		item.Bodies = append(item.Bodies, websync.Body{Name: r.BodyName(&l), Link: l, Key: websync.SHA256([]byte(l.Href))})
	}
	return item
}

func items() []websync.Item {
	return []websync.Item{
		kept("own", resource(base+"a", base+"a")),
		kept("own", resource(base+"b", base+"b.html")),
		kept("found", resource("https://first.example.com/c", "https://first.example.com/c.html")),
		{Source: "found", Resource: resource("https://first.example.com/d", "https://first.example.com/d.html")},
		{Source: "found", Resource: resource("urn:x:e", "https://first.example.com/e.html")},
		{Source: "found", Resource: websync.Resource{ID: "https://first.example.com/f"}},
	}
}

// document returns what a Publisher has at a path.
func document(t *testing.T, p websync.Publisher, path string) *bytes.Buffer {
	doc, err := p.Document(t.Context(), path)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, doc.Write(t.Context(), &b))
	return &b
}

func locs(t *testing.T, c websync.Catalog) (all []string) {
	p := &sitemap.Publisher{Place: websync.Place{Catalog: c, Base: base, Locator: locator}}
	for e, err := range sitemap.NewReader(document(t, p, "/sitemap.xml")).All() {
		require.NoError(t, err)
		all = append(all, e.Loc)
	}
	return all
}

// ids returns what a feed lists, in order.
func ids(t *testing.T, c websync.Catalog) (entries, tombstones []string) {
	p := &atom.Publisher{Place: websync.Place{Catalog: c, Base: base, Locator: locator}, Author: websync.Person{Name: "A"}}
	for item, err := range atom.NewReader(document(t, p, "/feed.atom")).All() {
		require.NoError(t, err)
		if item.Entry != nil {
			entries = append(entries, item.ID())
		} else {
			tombstones = append(tombstones, item.ID())
		}
	}
	slices.Sort(entries)
	slices.Sort(tombstones)
	return entries, tombstones
}

// A deletion names a resource as it was listed: by its id in a feed, and by one of
// DeletedURLs in lists of URLs.
func TestNameOfDeleted(t *testing.T) {
	log := new(websync.Log)
	log.Append(items()...)
	store := testkit.NewStore(t)
	for _, item := range items() {
		var texts []string
		for _, b := range item.Bodies {
			texts = append(texts, b.Link.Href)
		}
		store.Fill(item.Source, texts, item)
	}
	for name, test := range map[string]struct {
		catalog websync.Catalog
		delete  func(item websync.Item)
	}{
		"a Log, which needs an id only": {log, func(item websync.Item) {
			log.Append(websync.Item{Kind: websync.Deleted, Source: item.Source, Resource: websync.Resource{ID: item.Resource.ID}})
		}},
		"a Store, with the description as it was": {store, func(item websync.Item) {
			item.Kind, item.Bodies = websync.Deleted, nil
			store.Fill(item.Source, nil, item)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			listed := locs(t, test.catalog)
			require.Len(t, listed, len(items()))
			entries, _ := ids(t, test.catalog)
			for _, item := range items() {
				test.delete(item)
			}
			none, tombstones := ids(t, test.catalog)
			assert.Empty(t, none)
			assert.Equal(t, entries, tombstones)
			assert.Empty(t, locs(t, test.catalog))

			s := publishing.New(publishing.Settings{Place: websync.Place{Catalog: test.catalog, Base: base, Locator: locator}, Path: "x.xml"})
			n := 0
			for item, err := range test.catalog.Changes(t.Context(), websync.Range{}) {
				require.NoError(t, err)
				if item.Kind == websync.Deleted {
					assert.Contains(t, s.DeletedURLs(&item), listed[n])
					n++
				}
			}
			assert.Equal(t, len(listed), n)
		})
	}
}

// Two alternates of one media type are two bodies, at two URLs.
func TestBodiesOfOneType(t *testing.T) {
	r := resource("urn:x", "https://first.example.com/x")
	for _, href := range []string{"1.pdf", "2.pdf", "3.html"} {
		r.Links = append(r.Links, websync.Link{Rel: "enclosure", Href: "https://first.example.com/" + href, Type: "application/" + href[2:]})
	}
	log := new(websync.Log)
	log.Append(kept("found", r))
	p := &atom.Publisher{Place: websync.Place{Catalog: log, Base: base, Locator: locator}, Author: websync.Person{Name: "A"}}
	for item, err := range atom.NewReader(document(t, p, "/feed.atom")).All() {
		require.NoError(t, err)
		var names []string
		for _, l := range item.Entry.Links {
			if l.Rel != "enclosure" || !strings.HasPrefix(l.Href, base) {
				continue
			}
			_, name, ok := locator.Find(strings.TrimPrefix(l.Href, "https://www.example.org"))
			assert.True(t, ok)
			names = append(names, name)
		}
		assert.Equal(t, []string{"enclosure application/pdf 8fa16881", "enclosure application/pdf 32accc29", "enclosure application/html"}, names)
	}
	assert.Equal(t, []string{locator.URL(&websync.Item{Source: "found", Resource: r}, "content")}, locs(t, log), "a sitemap lists the content only")
}
