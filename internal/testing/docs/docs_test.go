package docs_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
)

var (
	root = filepath.Join("..", "..", "..")
	dir  = filepath.Join(root, "docs")
)

// A page shows how to harvest and to publish by one protocol.
type page struct {
	entry   string // what harvest is called with, below the base
	harvest func(ctx context.Context, h *harvest.Harvester, url string) (*harvest.Report, error)
	publish func(catalog websync.Catalog, base string, own ...string) *publish.Handler
	// late: the next run does not find deletions yet
	late bool
}

var pages = map[string]page{
	"sitemap":      {entry: "sitemap.xml", harvest: harvestSitemap, publish: publishSitemap},
	"atom":         {entry: "feed.atom", harvest: harvestAtom, publish: publishAtom},
	"resourcesync": {harvest: harvestResourceSync, publish: publishResourceSync},
	"eli":          {harvest: harvestELI, publish: publishELI, late: true},
	"atompmh":      {entry: "feed.atom", harvest: harvestAtomPMH, publish: publishAtomPMH},
	"rinfo":        {entry: "feed.atom", harvest: harvestRinfo, publish: publishRinfo},
}

// TestPages publishes a directory as each page does, harvests that as the page does, and
// again after one file was changed and another one deleted.
func TestPages(t *testing.T) {
	for name, p := range pages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := newFiles(t)
			store := harvest.NewCatalog(memstore.New())
			base := serve(t, func(base string) *publish.Handler { return p.publish(store, base, base) })
			files.harvest(t, store, base)

			mirror := harvest.NewCatalog(memstore.New())
			h := &harvest.Harvester{Catalog: mirror, Fetcher: newClient(t)}
			for range 2 {
				report, err := p.harvest(t.Context(), h, base+p.entry)
				require.NoError(t, err)
				require.True(t, report.InStep(), "%+v", report)
				assert.Equal(t, files.want(base), texts(t, mirror))
			}
			files.write(t, 1, "as amended")
			files.remove(t, 2)
			files.harvest(t, store, base)
			report, err := p.harvest(t.Context(), h, base+p.entry)
			require.NoError(t, err)
			require.True(t, report.InStep(), "%+v", report)
			assert.EqualValues(t, 1, report.Updated)
			if p.late {
				assert.Zero(t, report.Deleted)
			} else {
				assert.Equal(t, files.want(base), texts(t, mirror))
			}
		})
	}
}

// TestDirectoryPage writes a directory as the files of a site, and harvests these.
func TestDirectoryPage(t *testing.T) {
	files, store, out := newFiles(t), harvest.NewCatalog(memstore.New()), t.TempDir()
	base := serve(t, func(string) http.Handler { return http.FileServer(http.Dir(out)) })
	for range 2 {
		files.harvest(t, store, base)
		require.NoError(t, publishDirectory(t.Context(), store, out, base, base))
		mirror := harvest.NewCatalog(memstore.New())
		report, err := harvestSitemap(t.Context(), &harvest.Harvester{Catalog: mirror, Fetcher: newClient(t)}, base+"sitemap.xml")
		require.NoError(t, err)
		require.True(t, report.InStep(), "%+v", report)
		assert.Equal(t, files.want(base), texts(t, mirror))
		files.write(t, 1, "as amended")
		files.remove(t, 2)
	}
}

// TestPageCode compares the code of each page with the file of that name, and builds the
// program that docs/README.md shows around it.
func TestPageCode(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(dir, "*.md"))
	require.NoError(t, err)
	var withCode int
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		before, code, ok := strings.Cut(string(text), "```go\n")
		if !ok {
			continue
		}
		code, after, ok := strings.Cut(code, "```\n")
		require.True(t, ok, name)
		require.NotContains(t, after, "```go", "%s: one block of code", name)
		if filepath.Base(name) == "README.md" {
			build(t, code)
			continue
		}
		withCode++
		want, err := os.ReadFile(strings.TrimSuffix(filepath.Base(name), ".md") + "_test.go")
		require.NoError(t, err)
		shown := strings.Replace(string(want), "package docs_test\n", "package main\n", 1)
		testkit.Golden(t, name, []byte(before+"```go\n"+shown+"```\n"+after))
	}
	assert.Equal(t, len(pages)+1, withCode)
}

// build builds the program of docs/README.md with the code of the page that it names.
func build(t *testing.T, program string) {
	work := t.TempDir()
	code, err := os.ReadFile("sitemap_test.go")
	require.NoError(t, err)
	files := map[string]string{"main.go": program, "sitemap.go": strings.Replace(string(code), "package docs_test\n", "package main\n", 1)}
	args := []string{"build", "-o", filepath.Join(work, "program")}
	for name, text := range files {
		args = append(args, filepath.Join(work, name))
		require.NoError(t, os.WriteFile(filepath.Join(work, name), []byte(text), 0o644))
	}
	out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

var link = regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)

// TestPageForm checks that pages are short, that their links lead to files, and that each
// page of a protocol links to what the protocol carries and is in the index.
func TestPageForm(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	for _, name := range []string{"README", "sitemap", "atom", "resourcesync", "eli", "atompmh", "rinfo", "directory", "monitoring"} {
		data, err := os.ReadFile(filepath.Join(dir, name+".md"))
		require.NoError(t, err)
		text := string(data)
		assert.LessOrEqual(t, strings.Count(text, "\n"), 90, name)
		assert.True(t, name == "monitoring" || strings.Contains(text, "(crossbar.md)"), name)
		assert.True(t, name == "README" || strings.Contains(string(index), "("+name+".md)"), name)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(m[1])))
			assert.NoError(t, err, name)
		}
	}
}

// files are the acts of a publisher: pages below eli/ of a directory.
type files struct {
	dir  string
	held map[int]string
}

func newFiles(t *testing.T) *files {
	f := &files{t.TempDir(), map[int]string{}}
	for n := range 4 {
		f.write(t, n, "as adopted")
	}
	return f
}

func (f *files) name(n int) string { return filepath.Join(f.dir, "eli", "act", string(rune('1'+n))) }

// write writes an act, a day later than the last time.
func (f *files) write(t *testing.T, n int, text string) {
	text = strings.ReplaceAll(act, "TEXT", text)
	day := time.Date(2026, 1, 2+n, 3, 4, 5, 0, time.UTC)
	if f.held[n] != "" {
		day = day.AddDate(0, 1, 0)
	}
	f.held[n] = text
	require.NoError(t, os.MkdirAll(filepath.Dir(f.name(n)), 0o755))
	require.NoError(t, os.WriteFile(f.name(n), []byte(text), 0o644))
	require.NoError(t, os.Chtimes(f.name(n), day, day))
}

func (f *files) remove(t *testing.T, n int) {
	if f.held[n] == "" {
		return
	}
	delete(f.held, n)
	require.NoError(t, os.Remove(f.name(n)))
}

// harvest harvests the directory as its page does.
func (f *files) harvest(t *testing.T, store *harvest.Catalog, base string) {
	report, err := harvestDirectory(t.Context(), &harvest.Harvester{Catalog: store}, f.dir, base)
	require.NoError(t, err)
	require.True(t, report.InStep(), "%+v", report)
}

// want returns the texts by the ids that they have at a base.
func (f *files) want(base string) map[string]string {
	want := map[string]string{}
	for n, text := range f.held {
		want[base+"eli/act/"+filepath.Base(f.name(n))] = text
	}
	return want
}

// act is a page with its metadata.
const act = `<!DOCTYPE html><html prefix="eli: http://data.europa.eu/eli/ontology#"><title>Act</title><body about="" typeof="eli:LegalResource">
<div property="eli:is_realized_by" resource="#en" typeof="eli:LegalExpression">
<link property="eli:language" href="http://publications.europa.eu/resource/authority/language/ENG"><h1 property="eli:title">Act</h1>
<div property="eli:is_embodied_by" resource="#html" typeof="eli:Format">
<link property="eli:media_type" href="https://www.iana.org/assignments/media-types/text/html"><link property="eli:is_exemplified_by" href="">
</div></div><p>TEXT</p></body></html>
`

// serve serves a handler that is made when its URL is known.
func serve[H http.Handler](t *testing.T, handler func(base string) H) (base string) {
	var h http.Handler
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) }))
	t.Cleanup(s.Close)
	h = handler(s.URL + "/")
	if p, ok := h.(*publish.Handler); ok {
		require.NoError(t, p.Check())
		t.Cleanup(func() { p.Close() })
	}
	return s.URL + "/"
}

// A client gets documents over HTTP without waiting between requests.
type client struct{ *fetch.Client }

func newClient(t *testing.T) client {
	c := fetch.New(harvest.NewCatalog(memstore.New()))
	c.Rate = -1
	t.Cleanup(c.CloseIdleConnections)
	return client{c}
}

// Fetch implements [harvest.Fetcher].
func (c client) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	hurried := *req
	hurried.Interval = 0
	return c.Client.Fetch(ctx, &hurried)
}

// texts returns the contents that a Store holds, by their ids.
func texts(t *testing.T, store *harvest.Catalog) map[string]string {
	all := map[string]string{}
	for item, err := range store.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		body, ok := item.Body(websync.ContentName)
		require.True(t, ok, item.Resource.ID)
		all[item.Resource.ID] = testkit.Read(t, store, body)
	}
	return all
}
