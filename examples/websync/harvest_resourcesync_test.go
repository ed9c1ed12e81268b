package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/resourcesync"
)

// resourceSync serves two sets of resources.
func resourceSync(t *testing.T) *web {
	w := newWeb(t)
	document := func(capability string, entries ...string) http.HandlerFunc {
		return text(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/"><rs:md ` +
			capability + "/>" + strings.Join(entries, "") + "</urlset>")
	}
	entry := func(path, md string) string {
		return "<url><loc>" + w.URL + path + "</loc><rs:md " + md + "/></url>"
	}
	w.set(resourcesync.WellKnown, document(`capability="description"`, entry("/1/list", `capability="capabilitylist"`), entry("/2/list", `capability="capabilitylist"`)))
	for _, set := range []string{"/1", "/2"} {
		w.set(set+"/list", document(`capability="capabilitylist"`, entry(set+"/resources", `capability="resourcelist"`), entry(set+"/changes", `capability="changelist"`)))
		w.set(set+"/resources", document(`capability="resourcelist" at="2025-01-02T00:00:00Z"`, entry(set+"/a", `length="1"`), entry(set+"/b", `length="1"`)))
		w.set(set+"/changes", document(`capability="changelist" from="2025-01-01T00:00:00Z"`, entry(set+"/b", `change="deleted" datetime="2025-01-03T00:00:00Z"`)))
		w.set(set+"/a", text("a"))
		w.set(set+"/b", text("b"))
	}
	return w
}

func TestResourceSync(t *testing.T) {
	w := resourceSync(t)
	for name, test := range map[string]struct {
		args []string
		sets int
	}{
		"the well-known URI":  {[]string{w.URL + resourcesync.WellKnown}, 2},
		"the host":            {[]string{"-protocol", "resourcesync", w.URL + "/"}, 2},
		"one Capability List": {[]string{"-protocol", "resourcesync", w.URL + "/2/list"}, 1},
		"both, one by one":    {[]string{"-protocol", "resourcesync", w.URL + "/1/list", w.URL + "/2/list"}, 2},
		"a resource":          {[]string{"-protocol", "resourcesync", w.URL + "/1/a"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			store := storeFlag(t)
			args := append([]string{store, "-rate", "1000"}, test.args...)
			r := callHarvest(t, args...)
			require.Equal(t, exitDone, r.code, r.stderr)
			assert.Len(t, head(t, store).Live, test.sets, r.stdout)
			again := callHarvest(t, args...)
			require.Equal(t, exitDone, again.code, again.stderr)
			assert.Contains(t, again.stdout, "held, nothing new")
		})
	}
	r := callHarvest(t, "-protocol", "resourcesync", "-store", "mem", newWeb(t).URL+"/nothing")
	assert.Equal(t, exitFailed, r.code)
	assert.Contains(t, r.stderr, "404")
}
