package resourcesync_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

// A webHost serves the sets "maps" and "books" of one host, each with its own tree of
// ResourceSync, and a sitemap of both, with one Locator and one Handler.
type webHost struct {
	t           *testing.T
	base        string
	store       *harvest.Catalog
	maps, books *resourcesync.Publisher
	plain       *sitemap.Publisher
	locator     websync.PathLocator
	handler     *publish.Handler
	client      *fetch.Client
	clock       time.Time // of the last change
}

func newWebHost(t *testing.T, adjust func(*webHost)) *webHost {
	h := &webHost{t: t, store: harvest.NewCatalog(memstore.New()), client: fetch.New(nil), handler: new(publish.Handler), clock: firstCommit}
	server := httptest.NewServer(h.handler)
	t.Cleanup(server.Close)
	t.Cleanup(func() { h.handler.Close() })
	h.base, h.client.Rate, h.client.AllowPrivate = server.URL+"/", -1, true
	h.maps = &resourcesync.Publisher{Path: "maps/capabilitylist.xml", Place: websync.Place{Sources: []string{"maps"}}}
	h.books = &resourcesync.Publisher{Path: "books/capabilitylist.xml", Place: websync.Place{Sources: []string{"books"}}, NoDescription: true}
	h.maps.Others = []string{h.base + h.books.Path}
	h.plain = new(sitemap.Publisher)
	h.locator = websync.PathLocator{Base: h.base, Own: []string{"maps", "books"}, Reserved: func(path string) bool {
		return h.maps.Reserved(path) || h.books.Reserved(path) || h.plain.Reserved(path)
	}}
	for _, p := range []*resourcesync.Publisher{h.maps, h.books} {
		p.Catalog, p.Base, p.Locator = h.store, h.base, h.locator
	}
	h.plain.Catalog, h.plain.Base, h.plain.Locator = h.store, h.base, h.locator
	h.handler.Publishers = []websync.Publisher{
		h.maps, h.books, h.plain,
		publish.Linked(publish.Bodies(h.store, h.locator, "maps"), h.maps.Link()),
		publish.Linked(publish.Bodies(h.store, h.locator, "books"), h.books.Link()),
	}
	if adjust != nil {
		adjust(h)
	}
	require.NoError(t, h.handler.Check())
	return h
}

// put puts own resources into a source.
func (h *webHost) put(source, mediaType string, texts map[string]string) {
	var events []harvest.Event
	h.clock = h.clock.Add(time.Hour)
	for name, text := range texts {
		events = append(events, harvest.Event{
			Resource: websync.Resource{ID: h.base + name, Modified: websync.NewDatetime(h.clock), Content: websync.Link{Type: mediaType}}, Open: harvest.OpenBytes([]byte(text)),
		})
	}
	_, err := (&harvest.Harvester{Sample: -1, Catalog: h.store}).Run(h.t.Context(), harvest.Of(source, events...))
	require.NoError(h.t, err)
}

// remove deletes resources of a source.
func (h *webHost) remove(source string, names ...string) {
	var events []harvest.Event
	for _, name := range names {
		events = append(events, harvest.Event{Kind: harvest.Delete, Resource: websync.Resource{ID: h.base + name}})
	}
	_, err := (&harvest.Harvester{Sample: -1, Catalog: h.store}).Run(h.t.Context(), harvest.Of(source, events...))
	require.NoError(h.t, err)
}

// discover returns the Capability Lists that a URL leads to, relative to the base.
func (h *webHost) discover(name string) (lists []string) {
	h.t.Helper()
	sets, err := resourcesync.Discover(h.t.Context(), h.client, h.base+name)
	if err != nil {
		return []string{"none"}
	}
	for _, s := range sets {
		lists = append(lists, strings.TrimPrefix(s.CapabilityList, h.base))
	}
	return lists
}

const mapsSet, booksSet = "maps/capabilitylist.xml", "books/capabilitylist.xml"

// TestPublisherDiscovered: a reader finds the Capability List of a resource by each of
// the ways of Z39.99 §6.3.
func TestPublisherDiscovered(t *testing.T) {
	fill := func(h *webHost) {
		h.put("maps", "image/png", map[string]string{"m1": "PNG", "maps/capabilitylist.xml": "in the place of a list"})
		h.put("books", "text/plain", map[string]string{"b1": "text"})
		page := "<!doctype html><html><head>" + publish.HTMLLink(h.books.Link()) + "</head><body>b2</body></html>"
		h.put("books", "text/html", map[string]string{"b2": page})
	}
	t.Run("by the HTTP header", func(t *testing.T) {
		h := newWebHost(t, nil)
		fill(h)
		assert.Equal(t, []string{mapsSet}, h.discover("m1"))
		assert.Equal(t, []string{booksSet}, h.discover("b1"))
		assert.Equal(t, []string{mapsSet}, h.discover("r/"+strings.TrimPrefix(h.locator.URL(
			&websync.Item{Source: "maps", Resource: websync.Resource{ID: h.base + mapsSet}}, "content"), h.base+"r/")))
	})
	t.Run("by the link of a page", func(t *testing.T) {
		h := newWebHost(t, func(h *webHost) {
			h.maps.NoDescription = true
			h.handler.Publishers[4] = publish.Bodies(h.store, h.locator, "books") // no header
		})
		fill(h)
		assert.Equal(t, []string{booksSet}, h.discover("b2"))
		assert.Equal(t, []string{"none"}, h.discover("b1"))
	})
	t.Run("by the well-known URI", func(t *testing.T) {
		h := newWebHost(t, nil)
		fill(h)
		assert.Equal(t, []string{mapsSet, booksSet}, h.discover("nothing"))
	})
	t.Run("by robots.txt", func(t *testing.T) {
		h := newWebHost(t, func(h *webHost) { h.maps.NoDescription, h.maps.Robots, h.books.Robots = true, true, true })
		fill(h)
		assert.Equal(t, []string{mapsSet, booksSet}, h.discover("nothing"))
	})
	t.Run("by nothing", func(t *testing.T) {
		h := newWebHost(t, func(h *webHost) { h.maps.NoDescription = true })
		fill(h)
		assert.Equal(t, []string{"none"}, h.discover("nothing"))
	})
}

// TestPublisherBesideSitemap: a plain sitemap and trees of ResourceSync share a host. No
// document takes the path of another, robots.txt names the sitemap, and also the Resource
// Lists if Robots is set.
func TestPublisherBesideSitemap(t *testing.T) {
	for _, robots := range []bool{false, true} {
		h := newWebHost(t, func(h *webHost) {
			h.maps.Robots, h.books.Robots = robots, robots
			h.maps.PartSize, h.maps.ListSize, h.books.PartSize, h.plain.PartSize = 2, 3, 2, 2
		})
		names := []string{"sitemap.xml", "sitemap-00000000-1.xml", "maps/resourcelist.xml", "books/changelist.xml", "plain.txt", "robots.txt"}
		for _, source := range []string{"maps", "books"} {
			texts := make(map[string]string)
			for _, name := range names {
				if source == "books" && name == "robots.txt" {
					continue
				}
				texts[name[:len(name)-4]+"-"+source+name[len(name)-4:]] = name
			}
			h.put(source, "text/plain", texts)
		}
		h.put("maps", "text/plain", map[string]string{
			"robots.txt": "User-agent: *\nDisallow: /x\n", "sitemap.xml": "mine", "books/changelist.xml": "mine",
		})
		owners := make(map[string]int)
		for i, p := range h.handler.Publishers {
			for path, err := range p.Documents(t.Context()) {
				require.NoError(t, err)
				if other, taken := owners[path]; taken && path != "/robots.txt" {
					t.Errorf("%s is of the Publishers %d and %d", path, other, i)
				}
				owners[path] = i
			}
			if list, ok := p.(interface{ Reserved(string) bool }); ok {
				for path, owner := range owners {
					ofHost := path == resourcesync.WellKnown
					assert.False(t, owner != i && !ofHost && list.Reserved(path), "%s of %d is reserved by %d", path, owner, i)
				}
			}
		}
		assert.Greater(t, len(owners), 25)
		get := func(path string) string {
			resp, err := http.Get(h.base + path)
			require.NoError(t, err)
			defer resp.Body.Close()
			require.Equal(t, http.StatusOK, resp.StatusCode, path)
			text, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			return string(text)
		}
		want := "User-agent: *\nDisallow: /x\n"
		if robots {
			want += fmt.Sprintf("Sitemap: %smaps/resourcelist.xml\nSitemap: %sbooks/resourcelist.xml\n", h.base, h.base)
		}
		want += fmt.Sprintf("Sitemap: %ssitemap.xml\n", h.base)
		assert.Equal(t, want, get("robots.txt"))
		assert.Contains(t, get("sitemap.xml"), "<sitemapindex")
		assert.NotContains(t, get("sitemap.xml"), "openarchives", "search engines get the elements of sitemaps only")

		// Both lead a reader to the same resources.
		var all []string
		for _, source := range []harvest.Source{
			&sitemap.Source{URL: h.plain.URL()}, &resourcesync.Source{URL: h.maps.URL()}, &resourcesync.Source{URL: h.books.URL()},
		} {
			held := harvest.NewCatalog(memstore.New())
			report, err := (&harvest.Harvester{Sample: -1, Catalog: held, Fetcher: h.client}).Run(t.Context(), source)
			require.NoError(t, err)
			require.True(t, report.InStep(), report)
			for rec, err := range held.Records(t.Context(), source.Key(), "") {
				require.NoError(t, err)
				all = append(all, rec.Resource.ID)
			}
		}
		slices.Sort(all)
		require.Len(t, all, 28)
		for i := 0; i < len(all); i += 2 {
			assert.Equal(t, all[i], all[i+1])
		}
	}
}
