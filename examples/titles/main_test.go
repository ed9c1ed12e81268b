package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

func TestTitles(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		act := "http://" + r.Host + "/eli/law/2016/1"
		switch r.URL.Path {
		case "/eli/sitemap.xml":
			fmt.Fprintf(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>%s</loc></url></urlset>`, act)
		case "/eli/law/2016/1":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, `<!DOCTYPE html><html prefix="eli: http://data.europa.eu/eli/ontology#"><body about="%s" typeof="eli:LegalResource">
				<p property="eli:title" lang="fr">Loi sur tout</p><p property="eli:title" lang="en">Act on everything</p></body></html>`, act)
		default:
			http.NotFound(w, r)
		}
	}))
	defer site.Close()
	var out strings.Builder
	source := &eli.Source{Sitemap: site.URL + "/eli/sitemap.xml", Interval: time.Millisecond, Extractors: []eli.Extractor{&rdfa.Extractor{}}}
	require.NoError(t, titles(t.Context(), &out, harvest.NewCatalog(memstore.New()), source, "en"))
	assert.Equal(t, site.URL+"/eli/law/2016/1\tAct on everything\n", out.String())
}
