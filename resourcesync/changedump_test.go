package resourcesync_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// count returns how many of the URLs have a suffix.
func count(urls []string, suffix string) (n int) {
	for _, u := range urls {
		if strings.HasSuffix(u, suffix) {
			n++
		}
	}
	return n
}

// requested harvests a publisher, which must then be in step, and returns the URLs that
// were requested.
func requested(t *testing.T, store *harvest.Catalog, p *publisher, source *resourcesync.Source) (urls []string) {
	t.Helper()
	fetcher := &sourcetest.Fetcher{Site: p.site()}
	report, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher}).Run(t.Context(), source)
	require.NoError(t, err)
	require.True(t, report.InStep(), report)
	require.Equal(t, p.texts(), testkit.Live(t, store))
	for _, x := range fetcher.Exchanges() {
		urls = append(urls, x.URL)
	}
	return urls
}

// TestChangeDumpBesides: packages are got where they replace many requests.
func TestChangeDumpBesides(t *testing.T) {
	for _, test := range []struct {
		name              string
		changes           int
		source            resourcesync.Source
		packages, singles int
	}{
		{"many changes", 40, resourcesync.Source{}, 4, 1},
		{"few changes", 8, resourcesync.Source{}, 0, 8},
		{"no dumps", 40, resourcesync.Source{NoDumps: true}, 0, 40},
		{"a choice", 40, resourcesync.Source{Include: func(uri string) bool { return strings.HasSuffix(uri, "0") }}, 0, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPublisher()
			p.perPack, p.perList = 10, 7
			p.put("first", "text")
			p.list()
			store := harvest.NewCatalog(memstore.New())
			source := test.source
			source.URL = sourceURL
			if source.Include == nil {
				requested(t, store, p, &source)
			} else {
				_, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: p.site()}}).Run(t.Context(), &source)
				require.NoError(t, err)
			}
			for i := range test.changes {
				p.put(fmt.Sprint("new", i), fmt.Sprint("text ", i))
			}
			p.put("first", "")
			fetcher := &sourcetest.Fetcher{Site: p.site()}
			report, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher, MaxDelete: 1}).Run(t.Context(), &source)
			require.NoError(t, err)
			require.True(t, report.InStep(), report)
			if test.source.Include == nil {
				require.Equal(t, p.texts(), testkit.Live(t, store))
			}
			packages, singles := 0, 0
			for _, x := range fetcher.Exchanges() {
				switch {
				case strings.HasSuffix(x.URL, ".zip"):
					packages++
				case strings.Contains(x.URL, "/new"):
					singles++
				}
			}
			assert.Equal(t, test.packages, packages, "packages")
			assert.Equal(t, test.singles, singles, "resources")
		})
	}
}

// TestChangeDumpOnly: a Change Dump alone is a log. A package that is closed is got once.
func TestChangeDumpOnly(t *testing.T) {
	for _, contents := range []bool{false, true} {
		t.Run(fmt.Sprint("contents ", contents), func(t *testing.T) {
			p := newPublisher()
			p.perPack, p.noLog, p.contents = 4, true, contents
			p.put("a", "1")
			p.list()
			store := harvest.NewCatalog(memstore.New())
			source := &resourcesync.Source{URL: sourceURL}
			requested(t, store, p, source)
			for i := range 7 {
				p.put(fmt.Sprint("r", i), "text")
			}
			urls := requested(t, store, p, source)
			assert.Zero(t, count(urls, "/r3"), urls)
			assert.Equal(t, 1, count(urls, "changes-0.zip"), urls)
			assert.Equal(t, 1, count(urls, "changes-1.zip"), urls)
			p.put("r1", "")
			urls = requested(t, store, p, source)
			assert.Zero(t, count(urls, "changes-0.zip")+count(urls, "changes-1.zip"), urls)
			p.put("r1", "is back")
			urls = requested(t, store, p, source)
			assert.Equal(t, 1, count(urls, ".zip"), urls)
			assert.Equal(t, 1, count(urls, "changes-2.zip"), urls)
		})
	}
}

// TestListLeftBehind: a publisher begins another Change List, and leaves the open one as
// it is.
func TestListLeftBehind(t *testing.T) {
	p := newPublisher()
	p.put("a", "1")
	p.list()
	store := harvest.NewCatalog(memstore.New())
	source := &resourcesync.Source{URL: sourceURL}
	requested(t, store, p, source)
	requested(t, store, p, source)
	site := p.site()
	left := site[www+"changelist.xml"]
	p.put("a", "2")
	site = p.site()
	moved := site[www+"changelist.xml"]
	site[www+"changelist.xml"], site[www+"changes.xml"] = left, moved
	list := site[www+"capabilitylist.xml"]
	list.Body, list.ETag = strings.ReplaceAll(list.Body, "changelist.xml", "changes.xml"), `"another"`
	site[www+"capabilitylist.xml"] = list
	for range 2 {
		report, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: site}}).Run(t.Context(), source)
		require.NoError(t, err)
		require.True(t, report.InStep(), report)
		assert.Equal(t, p.texts(), testkit.Live(t, store))
	}
}
