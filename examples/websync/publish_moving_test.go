package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// A moving is a Store that changes before each View.
type moving struct {
	testkit.Watched
	catalog *harvest.Catalog // without these changes

	t      *testing.T
	base   string
	n      int               // changes
	texts  map[string]string // by id
	states map[string]bool   // all that there were
}

func newMoving(t *testing.T, base string) *moving {
	db := memstore.New()
	m := &moving{Watched: testkit.Watched{Store: db}, catalog: harvest.NewCatalog(db), t: t, base: base, texts: map[string]string{}, states: map[string]bool{}}
	for range 12 {
		m.change()
	}
	var mu sync.Mutex // an iterator reads ahead
	m.Viewing = func(context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		m.change()
		return nil
	}
	return m
}

// change creates, updates or deletes a page.
func (m *moving) change() {
	m.n++
	id := fmt.Sprint(m.base, "eli/page/", m.n%7)
	event := harvest.Event{Kind: harvest.Delete, Resource: websync.Resource{ID: id}}
	if _, ok := m.texts[id]; ok && m.n%3 == 0 {
		delete(m.texts, id)
	} else {
		text := fmt.Sprintf(pageText, id, m.n, strings.Repeat(" ", m.n%50))
		sum := md5.Sum([]byte(text))
		m.texts[id] = text
		event.Kind, event.Open = harvest.Put, harvest.OpenBytes([]byte(text))
		event.Resource.Content = websync.Link{Type: "text/html", Digests: websync.Digests{{Algorithm: "md5", Sum: string(sum[:])}}}
	}
	_, err := (&harvest.Harvester{Catalog: m.catalog, MaxDelete: -1}).Run(context.Background(), harvest.Of("own", event))
	require.NoError(m.t, err)
	m.states[stateOf(m.texts)] = true
}

// pageText is a page with the metadata that ELI demands: an id, a number and spaces.
const pageText = `<!DOCTYPE html><html prefix="eli: http://data.europa.eu/eli/ontology#"><body about="%[1]s" typeof="eli:LegalResource">
<div property="eli:is_realized_by" resource="%[1]s/en" typeof="eli:LegalExpression">
<link property="eli:language" href="http://publications.europa.eu/resource/authority/language/ENG">
<div property="eli:is_embodied_by" resource="%[1]s" typeof="eli:Format">
<link property="eli:media_type" href="https://www.iana.org/assignments/media-types/text/html"></div></div>%[2]d%[3]s</body></html>
`

// stateOf returns a text that identifies what there is.
func stateOf(texts map[string]string) string {
	return strings.Join(slices.Sorted(maps.Values(texts)), "\n")
}

// pages returns the live pages of a store by id.
func pages(t *testing.T, store *harvest.Catalog) map[string]string {
	all := map[string]string{}
	for _, item := range testkit.All(t, store.Resources(t.Context(), websync.Range{})) {
		for _, body := range item.Bodies {
			if text := testkit.Read(t, store, body); strings.HasPrefix(text, "<!DOCTYPE html>") {
				all[item.Resource.ID] = text
			}
		}
	}
	return all
}

func TestExportsOneState(t *testing.T) {
	for _, protocol := range cli.Published {
		t.Run(protocol, func(t *testing.T) {
			out := t.TempDir()
			site := httptest.NewServer(http.FileServer(http.Dir(out)))
			defer site.Close()
			store := newMoving(t, site.URL+"/")
			client := fetch.New(nil)
			defer client.CloseIdleConnections()
			client.Rate, client.IgnoreRobots = -1, true
			held := harvest.NewCatalog(memstore.New())
			h := &harvest.Harvester{Catalog: held, Fetcher: client, MaxDelete: -1}
			for range 2 {
				var stdout, stderr bytes.Buffer
				p := &publishCommand{Console: cli.NewConsole("publish", &stdout, &stderr), store: harvest.NewCatalog(store),
					publishOptions: publishOptions{SiteFlags: cli.SiteFlags{Base: store.base}, protocol: protocol, out: out, own: []string{"own"}, storeFlag: "moving"}}
				if protocol == "resourcesync" {
					p.dumps = t.TempDir()
				}
				before := store.n
				code, err := p.export(t.Context())
				require.NoError(t, err)
				require.Equal(t, exitDone, code, stderr.String())
				require.Greater(t, store.n, before+20)

				target, err := cli.ParseTarget(protocol, strings.TrimSpace(stdout.String()))
				require.NoError(t, err)
				target.Complete = true
				opener := &cli.Opener{Fetcher: client, State: held, Rate: 1000, Announce: func(string) {}}
				sources, _, err := opener.Sources(t.Context(), target)
				require.NoError(t, err)
				require.Len(t, sources, 1)
				report, err := h.Run(t.Context(), sources[0])
				require.NoError(t, err)
				require.True(t, report.InStep(), "%+v", report)
				assert.True(t, store.states[stateOf(pages(t, held))], "never the state of the Store: %q", pages(t, held))
			}
		})
	}
}
