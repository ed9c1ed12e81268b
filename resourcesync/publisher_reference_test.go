package resourcesync_test

import (
	"compress/gzip"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
)

// TestPublisherReferenceClient: by default a Publisher offers what the client of the
// standard's authors needs: one Capability List, a lastmod of each resource, one Change
// List at a fixed place with a datetime of each change, times in Z, no white space in a
// loc, all of them under one prefix, and no gzip unless it is asked for.
func TestPublisherReferenceClient(t *testing.T) {
	store := testkit.NewStore(t)
	web := httptest.NewUnstartedServer(nil)
	base := "http://" + web.Listener.Addr().String() + "/"
	p := &resourcesync.Publisher{Place: websync.Place{Catalog: store, Base: base}}
	p.Locator = websync.PathLocator{Base: base, Own: []string{"own"}, Reserved: p.Reserved}
	handler := &publish.Handler{Publishers: []websync.Publisher{p, publish.Bodies(store, p.Locator)}, Dir: t.TempDir()}
	defer handler.Close()
	web.Config.Handler = handler
	web.Start()
	defer web.Close()
	for _, name := range []string{"plain", "with%20space", "größe", "gone"} {
		text := "text of " + name
		own := websync.Resource{ID: base + name}
		if name == "plain" {
			own.Modified = testkit.Date(t, "2026-01-01T10:00:00+05:30")
		}
		store.Fill("own", []string{text}, keptItem(own, text))
		store.Fill("theirs", []string{text}, keptItem(websync.Resource{ID: "https://theirs.example.net/" + name + " x"}, text))
	}
	store.Delete("own", base+"gone")
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	get := func(url, accept string) (*http.Response, []byte) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		require.NoError(t, err)
		if accept != "" {
			req.Header.Set("Accept-Encoding", accept)
		}
		resp, err := client.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, resp.StatusCode, url)
		return resp, text
	}
	read := func(url string) (doc reading) {
		resp, text := get(url, "")
		assert.Empty(t, resp.Header.Get("Content-Encoding"), url)
		require.NoError(t, xml.Unmarshal(text, &doc))
		assert.Equal(t, "urlset", doc.XMLName.Local, "no index")
		for _, e := range doc.URLs {
			assert.Equal(t, strings.Join(strings.Fields(e.Loc), ""), e.Loc)
			assert.True(t, strings.HasPrefix(e.Loc, base), e.Loc)
			for _, at := range []string{doc.MD.At, doc.MD.From, e.LastMod, e.MD.Datetime} {
				assert.True(t, at == "" || strings.HasSuffix(at, "Z"), at)
			}
		}
		return doc
	}
	description := read(base + ".well-known/resourcesync")
	require.Len(t, description.URLs, 1)
	offered := make(map[string]string)
	for _, e := range read(description.URLs[0].Loc).URLs {
		offered[e.MD.Capability] = e.Loc
	}
	assert.Equal(t, base+"resourcelist.xml", offered["resourcelist"])
	assert.Equal(t, base+"changelist.xml", offered["changelist"])
	resources := read(offered["resourcelist"])
	require.Len(t, resources.URLs, 7)
	for _, e := range resources.URLs {
		assert.NotEmpty(t, e.LastMod, e.Loc)
		_, text := get(e.Loc, "")
		assert.Contains(t, string(text), "text of ")
	}
	changes := read(offered["changelist"])
	require.GreaterOrEqual(t, len(changes.URLs), 8)
	for _, e := range changes.URLs {
		assert.NotEmpty(t, e.MD.Datetime, e.Loc)
		assert.NotEmpty(t, e.MD.Change, e.Loc)
	}
	for _, list := range offered {
		resp, text := get(list, "gzip")
		if assert.Equal(t, "gzip", resp.Header.Get("Content-Encoding"), list) {
			z, err := gzip.NewReader(strings.NewReader(string(text)))
			require.NoError(t, err)
			unzipped, err := io.ReadAll(z)
			require.NoError(t, err)
			_, plain := get(list, "")
			assert.Equal(t, string(plain), string(unzipped))
		}
	}
}
