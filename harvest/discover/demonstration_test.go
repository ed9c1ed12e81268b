package discover_test

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/discover"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
)

// A lister is a Publisher of lists.
type lister interface {
	websync.Publisher
	URL() string
	Reserved(path string) bool
}

// publishers make the Publisher of each protocol.
var publishers = map[string]func(store websync.Catalog, base string, locator websync.Locator) lister{
	discover.Sitemap: func(store websync.Catalog, base string, locator websync.Locator) lister {
		return &sitemap.Publisher{Place: websync.Place{Catalog: store, Base: base, Locator: locator}}
	},
	discover.Atom: func(store websync.Catalog, base string, locator websync.Locator) lister {
		return &atom.Publisher{Place: websync.Place{Catalog: store, Base: base, Locator: locator}, Author: websync.Person{Name: "A"}}
	},
	discover.AtomPMH: func(store websync.Catalog, base string, locator websync.Locator) lister {
		return &atom.Publisher{Profile: atompmh.Profile(), Place: websync.Place{Catalog: store, Base: base, Locator: locator}, Author: websync.Person{Name: "A"}}
	},
	discover.Rinfo: func(store websync.Catalog, base string, locator websync.Locator) lister {
		return &atom.Publisher{Profile: rinfo.Profile(), Place: websync.Place{Catalog: store, Base: base, Locator: locator}, Author: websync.Person{Name: "A"}}
	},
	discover.ELI: func(store websync.Catalog, base string, locator websync.Locator) lister {
		return &eli.Publisher{Place: websync.Place{Catalog: store, Base: base, Locator: locator}, Author: websync.Person{Name: "A"}}
	},
	discover.ResourceSync: func(store websync.Catalog, base string, locator websync.Locator) lister {
		return &resourcesync.Publisher{Place: websync.Place{Catalog: store, Base: base, Locator: locator}, Robots: true}
	},
}

// An impatient is a Fetcher without intervals.
type impatient struct{ *fetch.Client }

func (f impatient) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	req.Interval = 0
	return f.Client.Fetch(ctx, req)
}

// law returns the page of an act, which is its own full text.
func law(base, number string) string {
	uri := base + "eli/law/" + number + ".html"
	return `<!doctype html><html prefix="eli: http://data.europa.eu/eli/ontology#"><body><div about="` + uri + `" typeof="eli:LegalResource">
<div rel="eli:is_realized_by"><div about="` + uri + `#en" typeof="eli:LegalExpression"><span property="eli:title">Act ` + number + `</span>
<div rel="eli:is_embodied_by"><div about="` + uri + `" typeof="eli:Format"></div></div></div></div></div></body></html>`
}

// demonstrate publishes a directory by a protocol, and returns the URL of the server and
// that of the entry document.
func demonstrate(t *testing.T, protocol string) (base, entry string) {
	dir := t.TempDir()
	handler := &publish.Handler{Dir: t.TempDir()}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	base = server.URL + "/"
	files := map[string]string{"a.txt": "a", "b.html": "<p>b", "c.pdf": "%PDF"}
	if protocol == discover.ELI {
		files = map[string]string{"eli/law/1.html": law(base, "1"), "eli/law/2.html": law(base, "2"), "eli/law/3.html": law(base, "3")}
	}
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	store := harvest.NewCatalog(memstore.New())
	src := &dirsource.Source{Dir: dir, Base: base, MD5: protocol == discover.Rinfo}
	_, err := (&harvest.Harvester{Sample: -1, Catalog: store}).Run(t.Context(), src)
	require.NoError(t, err)
	var list lister
	locator := websync.PathLocator{Base: base, Own: []string{src.Key()}, Reserved: func(path string) bool { return list.Reserved(path) }}
	list = publishers[protocol](store, base, locator)
	handler.Publishers = []websync.Publisher{list, publish.Bodies(store, locator)}
	return base, list.URL()
}

// TestDemonstrations: each protocol of the Publishers is found by its entry document and
// by its host, and the Source harvests all.
func TestDemonstrations(t *testing.T) {
	for protocol := range publishers {
		t.Run(protocol, func(t *testing.T) {
			base, entry := demonstrate(t, protocol)
			for _, url := range []string{entry, base} {
				client := fetch.New(nil)
				client.Rate = -1
				r, err := (&discover.Finder{Fetcher: client}).Find(t.Context(), url)
				require.NoError(t, err)
				chosen, err := r.Choose()
				require.NoError(t, err)
				require.Len(t, chosen, 1)
				assert.Equal(t, protocol, chosen[0].Protocol, "%v", chosen[0].Evidence)
				assert.Equal(t, entry, chosen[0].URL)
				assert.Equal(t, protocol == discover.ELI, chosen[0].Feed == base+"eli/eli-update-feed.atom")
				h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Fetcher: impatient{client}}
				report, err := h.Run(t.Context(), chosen[0].Source())
				require.NoError(t, err)
				assert.True(t, report.InStep())
				assert.EqualValues(t, 3, report.Created)
			}
		})
	}
}
