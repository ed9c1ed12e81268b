package publish_test

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

// What a Store holds is written as files, by two protocols.
func ExampleSite() {
	ctx := context.Background()
	catalog := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: catalog}
	_, err := h.Run(ctx, harvest.Of("files", harvest.Event{
		Resource: websync.Resource{ID: "https://example.com/hello", Title: "Hello"},
		Open:     harvest.OpenBytes([]byte("Hello.")),
	}))
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	site := &publish.Site{Catalog: catalog, Base: "https://example.com/", Own: []string{"files"}}
	me := websync.Person{Name: "The Library"}
	if _, err := site.WriteDir(ctx, dir, &sitemap.Publisher{}, &atom.Publisher{Author: me}); err != nil {
		log.Fatal(err)
	}
	for _, path := range []string{"hello", "sitemap.xml", "feed.atom"} {
		info, err := os.Stat(filepath.Join(dir, path))
		fmt.Println(path, err == nil && info.Size() > 0)
	}
	// Output:
	// hello true
	// sitemap.xml true
	// feed.atom true
}

const siteBase = "https://site.example/x/"

func newSite(t *testing.T) (*publish.Site, *testkit.Store) {
	store := testkit.NewStore(t)
	resource := websync.Resource{ID: siteBase + "a", Content: websync.Link{Href: siteBase + "a", Type: "text/plain"}}
	body := websync.Body{Name: "content", Link: resource.Content, Key: websync.SHA256([]byte("text"))}
	for _, source := range []string{"own", "other"} {
		store.Fill(source, []string{"text"}, websync.Item{Resource: resource, Bodies: []websync.Body{body}})
		resource.ID = "urn:b"
	}
	return &publish.Site{Catalog: store.Plain(), Base: siteBase, Own: []string{"own"}}, store
}

// paths returns what Documents yields.
func paths(t *testing.T, h *publish.Handler) (all []string) {
	for path, err := range publish.Join(h.Publishers...).Documents(t.Context()) {
		require.NoError(t, err)
		all = append(all, path)
	}
	return all
}

// TestSiteShares: all Publishers of a Site have its Place, and one Locator that keeps
// bodies away from all their documents.
func TestSiteShares(t *testing.T) {
	site, store := newSite(t)
	lists, feed, acts := &resourcesync.Publisher{}, &atom.Publisher{Author: websync.Person{Name: "A"}}, &eli.Publisher{Author: websync.Person{Name: "B"}}
	store.Put("own", websync.Resource{ID: siteBase + "feed.atom"}, websync.Resource{ID: siteBase + "resourcelist.xml"})
	h := site.Handler(lists, feed, acts, publish.Text("/robots.txt", "User-agent: *\n"))
	require.NoError(t, h.Check())
	for _, p := range []*websync.Place{&lists.Place, &feed.Place, &acts.Place} {
		assert.Equal(t, websync.Catalog(store.Plain()), p.Catalog)
		assert.Equal(t, siteBase, p.Base)
		assert.True(t, p.Locator.Owns("own"))
		assert.False(t, p.Locator.Owns("other"))
		for _, name := range []string{"feed.atom", "resourcelist.xml", "eli/sitemap.xml"} {
			item := &websync.Item{Source: "own", Resource: websync.Resource{ID: siteBase + name}}
			assert.NotEqual(t, siteBase+name, p.Locator.URL(item, "content"))
		}
	}
	assert.Equal(t, []string{"own"}, acts.Sources)
	assert.Empty(t, feed.Sources)
	assert.Subset(t, paths(t, h), []string{"/x/a", "/x/r/urn=3Ab~content", "/x/feed.atom", "/x/capabilitylist.xml", "/x/eli/sitemap.xml", "/robots.txt"})
	doc, err := publish.Join(h.Publishers...).Document(t.Context(), "/x/a")
	require.NoError(t, err)
	assert.Equal(t, []websync.Link{lists.Link()}, doc.Links)
}

// TestSiteLists: what a Publisher sets itself stays, and Sources limit lists and bodies.
func TestSiteLists(t *testing.T) {
	site, _ := newSite(t)
	site.Sources = []string{"other"}
	list := &sitemap.Publisher{Place: websync.Place{Base: siteBase + "deep/", Sources: []string{"own"}}}
	h := site.Handler(list)
	require.NoError(t, h.Check())
	assert.Equal(t, []string{"own"}, list.Sources)
	assert.Equal(t, siteBase+"deep/sitemap.xml", list.URL())
	assert.NotContains(t, paths(t, h), "/x/a")
}

func TestSiteRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		publishers func(site *publish.Site) []websync.Publisher
		want       string
	}{
		"a Catalog": {func(site *publish.Site) []websync.Publisher {
			return []websync.Publisher{&sitemap.Publisher{Place: websync.Place{Catalog: site.Catalog}}}
		}, "publish: a *sitemap.Publisher of a Site: Publisher.Catalog or Locator is set already"},
		"a Locator": {func(site *publish.Site) []websync.Publisher {
			return []websync.Publisher{&sitemap.Publisher{Place: websync.Place{Locator: websync.PathLocator{Base: siteBase}}}}
		}, "Publisher.Catalog or Locator is set already"},
		"a Publisher of another Site": {func(site *publish.Site) []websync.Publisher {
			list := &sitemap.Publisher{}
			site.Handler(list)
			return []websync.Publisher{list}
		}, "Publisher.Catalog or Locator is set already"},
		"the same path": {func(*publish.Site) []websync.Publisher {
			return []websync.Publisher{&sitemap.Publisher{}, &sitemap.Publisher{Gzip: true}}
		}, "two Publishers of a Site have the document https://site.example/x/sitemap.xml: one needs another Path"},
		"no author": {func(*publish.Site) []websync.Publisher { return []websync.Publisher{&atom.Publisher{}} }, "atom: "},
		"nil":       {func(*publish.Site) []websync.Publisher { return []websync.Publisher{nil} }, "nil"},
	} {
		t.Run(name, func(t *testing.T) {
			site, _ := newSite(t)
			require.ErrorContains(t, site.Handler(tt.publishers(site)...).Check(), tt.want)
			_, err := site.WriteDir(t.Context(), t.TempDir(), tt.publishers(site)...)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

type state = websync.State

// TestSiteWritesOneMoment: a Catalog that changes while files are written is written as
// it was, and packages keep their record in it.
func TestSiteWritesOneMoment(t *testing.T) {
	site, store := newSite(t)
	changing := &testkit.Catalog{Catalog: store.Plain(), Before: func(method string, n int) error {
		if method == "Resources" && n == 1 {
			store.Put("own", websync.Resource{ID: siteBase + "later"})
		}
		return nil
	}}
	site.Catalog = struct {
		*testkit.Catalog
		state
	}{changing, store.Plain()}
	dir := t.TempDir()
	lists := &resourcesync.Publisher{Dumps: &resourcesync.Dumps{Dir: t.TempDir()}}
	_, err := site.WriteDir(t.Context(), dir, lists)
	require.NoError(t, err)
	require.NoError(t, lists.Pack(t.Context()))
	text, err := fs.ReadFile(os.DirFS(dir), "x/resourcelist.xml")
	require.NoError(t, err)
	assert.Contains(t, string(text), siteBase+"a")
	assert.NotContains(t, string(text), "later")
}
