package resourcesync_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// TestPublisherLinks publishes each kind of link of Z39.99 §14 through Item: the lists
// are valid, and a Source acts upon the links.
func TestPublisherLinks(t *testing.T) {
	var mu sync.Mutex
	asked := make(map[string]int)
	texts := map[string]string{
		"/mirror/a": "1", "/a.pdf": "PDF", "/patch": `[{"op":"replace","path":"/a","value":2}]`,
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path]++
		text, ok := texts[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, text)
	}))
	defer other.Close()
	patched := websync.SHA256([]byte(`{"a":2}`)) // what the patch makes

	h := newWebHost(t, func(h *webHost) {
		h.maps.Profile = "links 1"
		h.maps.Item = func(item *websync.Item, e *resourcesync.Entry) error {
			if e.Metadata.Change == resourcesync.Deleted {
				return nil
			}
			link := func(l websync.Link) { e.Links = append(e.Links, resourcesync.Link{Link: l}) }
			switch strings.TrimPrefix(e.Loc, h.base) {
			case "a":
				link(websync.Link{Rel: "duplicate", Href: other.URL + "/down/a", Priority: 1})
				link(websync.Link{Rel: "duplicate", Href: other.URL + "/mirror/a", Priority: 2})
				link(websync.Link{Rel: "alternate", Href: other.URL + "/a.pdf", Type: "application/pdf"})
				link(websync.Link{Rel: "describedby", Href: h.base + "about-a", Type: "text/plain"})
				link(websync.Link{Rel: "collection", Href: h.base + "all"})
				link(websync.Link{Rel: "via", Href: "https://first.example.org/a", Digests: e.Metadata.Digests})
			case "about-a":
				link(websync.Link{Rel: "describes", Href: h.base + "a"})
			case "p.json":
				if body, _ := item.Body("content"); e.Metadata.Change == resourcesync.Updated && body.Key == patched {
					link(websync.Link{Rel: resourcesync.RelationPatch, Href: other.URL + "/patch", Type: "application/json-patch"})
				}
			}
			return nil
		}
		h.maps.Report = func(f websync.Finding) { t.Error(f) }
	})
	lists := func() (all []resourcesync.Entry) {
		for _, path := range []string{"/maps/resourcelist.xml", "/maps/changelist.xml"} {
			doc, err := h.maps.Document(t.Context(), path)
			require.NoError(t, err)
			text := render(t, doc)
			resourcesync.Validate(bytes.NewReader(text), resourcesync.ValidateOptions{Document: h.base + path[1:], Report: func(f websync.Finding) {
				if f.Severity >= websync.SeverityWarning {
					t.Error(f)
				}
			}})
			for e, err := range resourcesync.NewReader(bytes.NewReader(text)).All() {
				require.NoError(t, err)
				all = append(all, e)
			}
		}
		return all
	}
	h.put("maps", "text/plain", map[string]string{"a": "1", "about-a": "about"})
	h.put("maps", "application/json", map[string]string{"p.json": `{"a":1}`})
	rels := make(map[string]int)
	for _, e := range lists() {
		for _, l := range e.Links {
			rels[l.Rel]++
		}
	}
	assert.Equal(t, map[string]int{"duplicate": 2, "alternate": 1, "describedby": 1, "collection": 1, "via": 1, "describes": 1}, rels)

	store := harvest.NewCatalog(memstore.New())
	source := &resourcesync.Source{URL: h.maps.URL(), DescribedBy: true, Types: []string{"application/pdf"}}
	own := make(map[string]int) // requests to the host itself
	fetcher := testkit.FetchFunc(func(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
		mu.Lock()
		own[strings.TrimPrefix(req.URL, h.base)]++
		mu.Unlock()
		return h.client.Fetch(ctx, req)
	})
	harvestAll := func(source *resourcesync.Source) {
		report, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher}).Run(t.Context(), source)
		require.NoError(t, err)
		require.True(t, report.InStep(), report)
	}
	bodies := func(source *resourcesync.Source) map[string]string {
		all := make(map[string]string)
		for rec, err := range store.Records(t.Context(), source.Key(), "") {
			require.NoError(t, err)
			for _, b := range rec.Bodies {
				all[strings.TrimPrefix(rec.Resource.ID, h.base)+" "+b.Name] = testkit.Read(t, store, b)
			}
		}
		return all
	}
	harvestAll(source)
	assert.Equal(t, map[string]string{
		"a content": "PDF", "a describedby text/plain": "about", "about-a content": "about", `p.json content`: `{"a":1}`,
	}, bodies(source), "the alternate is chosen, and the description comes with it")

	mirrored := &resourcesync.Source{URL: h.maps.URL(), Name: "mirrored", Collections: []string{h.base + "all"}}
	clear(own)
	harvestAll(mirrored)
	assert.Equal(t, map[string]string{"a content": "1"}, bodies(mirrored), "what is in the collection")
	assert.Positive(t, asked["/down/a"], "the best mirror is asked first")
	assert.Positive(t, asked["/mirror/a"], "then the one that works")
	assert.Zero(t, own["a"])

	clear(own)
	h.put("maps", "application/json", map[string]string{"p.json": `{"a":2}`})
	lists()
	harvestAll(source)
	assert.Equal(t, `{"a":2}`, bodies(source)["p.json content"])
	assert.Equal(t, 1, asked["/patch"])
	assert.Zero(t, own["p.json"], "the patch makes what was held what is published")
}
