package harvest_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/sitemap"
)

// TestZeroRun passes Runs with missing fields to every Source of the module.
func TestZeroRun(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o600))
	w := newWorld(t)
	w.page("a")
	w.run(snapshot(put("a", day(1))))
	sources := map[string]harvest.Source{
		"sitemap": &sitemap.Source{URL: base + "sitemap.xml"},
		"atom":    &atom.Source{URL: base + "feed.atom"},
		"dir":     &dirsource.Source{Dir: dir, Base: base},
		"union":   &union.Source{Name: "union", Members: []union.Member{{Catalog: w.store, Source: src}}},
		"of":      harvest.Of(src, put("a", day(1))),
	}
	site := newSite()
	site.set(base+"sitemap.xml", `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>`+base+
		`a</loc><priority>9</priority></url></urlset>`)
	site.set(base+"feed.atom", `<feed xmlns="http://www.w3.org/2005/Atom"><id>f</id><entry><id>`+base+`a</id></entry></feed>`)
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			count := func(run *harvest.Run) (puts int, failed error) {
				for e, err := range source.Events(t.Context(), run) {
					if failed = errors.Join(failed, err, e.Err); err == nil && e.Kind == harvest.Put {
						puts++
					}
				}
				return puts, failed
			}
			puts, err := count(&harvest.Run{Fetcher: site})
			require.NoError(t, err)
			require.Equal(t, 1, puts)

			for _, run := range []*harvest.Run{nil, {}} {
				puts, err := count(run)
				if name == "sitemap" || name == "atom" {
					require.ErrorContains(t, err, "harvest: Run.Fetcher is nil")
					continue
				}
				require.NoError(t, err)
				require.Equal(t, 1, puts)
			}
		})
	}
}

func TestRunWithDefaults(t *testing.T) {
	var findings int
	given := &harvest.Run{From: checkpoint("c"), Full: true, Report: func(websync.Finding) { findings++ }}
	run := given.WithDefaults()
	run.Report(websync.Finding{})
	run.Expect(1)
	run.Document(harvest.ListedDocument{})
	run.Log.Info("dropped")
	require.Equal(t, 1, findings)
	require.Equal(t, given.From, run.From)
	require.True(t, run.Full)
	require.Nil(t, given.Fetcher)
}

// TestMissingSettings names what is missing, from every method that takes a Source.
func TestMissingSettings(t *testing.T) {
	h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New())}
	methods := map[string]func(*harvest.Harvester, harvest.Source) (*harvest.Report, error){
		"Run":  func(h *harvest.Harvester, s harvest.Source) (*harvest.Report, error) { return h.Run(t.Context(), s) },
		"List": func(h *harvest.Harvester, s harvest.Source) (*harvest.Report, error) { return h.List(t.Context(), s) },
		"Work": func(h *harvest.Harvester, s harvest.Source) (*harvest.Report, error) { return h.Work(t.Context(), s) },
		"Approve": func(h *harvest.Harvester, s harvest.Source) (*harvest.Report, error) {
			return h.Approve(t.Context(), s)
		},
		"Plan": func(h *harvest.Harvester, s harvest.Source) (*harvest.Report, error) {
			return h.Plan(t.Context(), s, nil)
		},
		"Audit": func(h *harvest.Harvester, s harvest.Source) (*harvest.Report, error) {
			return h.Audit(t.Context(), s, nil)
		},
	}
	for name, call := range methods {
		t.Run(name, func(t *testing.T) {
			for _, missing := range []struct {
				h   *harvest.Harvester
				src harvest.Source
				err string
			}{
				{&harvest.Harvester{}, harvest.Of(src), "harvest: Harvester.Catalog is nil"},
				{h, nil, "harvest: the Source is nil"},
				{h, &sitemap.Source{}, "sitemap: Source.URL is empty"},
				{h, &atom.Source{}, "atom: Source.URL is empty"},
				{h, harvest.Of(""), "harvest: the Key of the Source, a *harvest.fixed, is empty"},
			} {
				r, err := call(missing.h, missing.src)
				require.EqualError(t, err, missing.err)
				require.NotNil(t, r)
				require.False(t, r.InStep())
			}
		})
	}
	r, err := h.Run(t.Context(), &sitemap.Source{URL: base + "sitemap.xml"})
	if err == nil {
		require.NotEmpty(t, r.Problems)
		err = errors.New(r.Problems[0].Error)
	}
	require.ErrorContains(t, err, "harvest: Harvester.Fetcher is nil")
}
