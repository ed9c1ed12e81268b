package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
)

func TestSource(t *testing.T) {
	pages := ""
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/pages.json" {
			fmt.Fprint(w, pages)
			return
		}
		fmt.Fprint(w, "text of ", r.URL.Path)
	}))
	defer site.Close()
	catalog := harvest.NewCatalog(memstore.New())
	client := fetch.New(catalog)
	client.Rate, client.IgnoreRobots = -1, true
	run := func(format string, args ...any) [3]int64 {
		pages = fmt.Sprintf(format, args...)
		h := &harvest.Harvester{Catalog: catalog, Fetcher: client, Sample: -1}
		report, err := h.Run(t.Context(), list(site.URL+"/pages.json"))
		require.NoError(t, err)
		require.True(t, report.InStep(), "%+v", report)
		return [3]int64{report.Created, report.Updated + report.Touched, report.Deleted}
	}
	const page = `{"url": %q, "changed": %q}`
	a, b := site.URL+"/a", site.URL+"/b"
	assert.Equal(t, [3]int64{2, 0, 0}, run("["+page+","+page+"]", a, "2026-01-01T12:00:00Z", b, "2026-01-01T12:00:00Z"))
	assert.Equal(t, [3]int64{0, 0, 0}, run("["+page+","+page+"]", a, "2026-01-01T12:00:00Z", b, "2026-01-01T12:00:00Z"))
	assert.Equal(t, [3]int64{0, 0, 1}, run("["+page+"]", a, "2026-01-01T12:00:00Z"))
	pages = "[{"
	_, err := (&harvest.Harvester{Catalog: catalog, Fetcher: client}).Run(t.Context(), list(site.URL+"/pages.json"))
	assert.Error(t, err)
}
