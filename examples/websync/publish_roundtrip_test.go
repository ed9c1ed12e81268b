package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/sitemap"
)

// A folder is a directory of files that changes at random.
type folder struct {
	t     *testing.T
	dir   string
	rnd   *rand.Rand
	files map[string]string // path below dir, content
	made  int
}

// name returns a path that is not in use.
func (f *folder) name() string {
	odd := []string{"plain", "with space", "a&b", "c%20d", "100%", "\u00e5\u00e4\u00f6", "q?x=1", "h#f", "semi;colon", "plus+", "til~de",
		"r", "=41", "quote\"'", "new\nline", "\xff\xfe", "index.html", "sitemap.xml", "back\\slash", "\u65e5\u672c"}
	f.made++
	pick := func() string { return odd[f.rnd.IntN(len(odd))] }
	return filepath.Join(fmt.Sprintf("d%d", f.rnd.IntN(9)), pick(), fmt.Sprintf("%s %d%s", pick(), f.made, []string{"", ".html", ".pdf", ".xml"}[f.rnd.IntN(4)]))
}

func (f *folder) write(name string) {
	content := fmt.Sprintf("%s %d", strings.Repeat("x", f.rnd.IntN(2000)), f.rnd.Uint64())
	path := filepath.Join(f.dir, name)
	require.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(f.t, os.WriteFile(path, []byte(content), 0o644))
	f.files[name] = content
}

func (f *folder) any() string {
	names := make([]string, 0, len(f.files))
	for name := range f.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names[f.rnd.IntN(len(names))]
}

// change creates, updates, deletes or renames a file.
func (f *folder) change() {
	switch f.rnd.IntN(5) {
	case 0, 1:
		f.write(f.name())
	case 2:
		f.write(f.any())
	case 3:
		name := f.any()
		require.NoError(f.t, os.Remove(filepath.Join(f.dir, name)))
		delete(f.files, name)
	default:
		from, to := f.any(), f.name()
		require.NoError(f.t, os.MkdirAll(filepath.Dir(filepath.Join(f.dir, to)), 0o755))
		require.NoError(f.t, os.Rename(filepath.Join(f.dir, from), filepath.Join(f.dir, to)))
		f.files[to] = f.files[from]
		delete(f.files, from)
	}
}

// folderContents returns what a store holds: the time and the digest of the bytes, which
// are read, by the name of each resource.
func folderContents(t *testing.T, store *harvest.Catalog, name func(*websync.Item) string) map[string]string {
	all := map[string]string{}
	for item, err := range store.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		body, ok := item.Body(websync.ContentName)
		require.True(t, ok, item.Resource.ID)
		r, err := store.Open(t.Context(), body)
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		all[name(&item)] = modified(item.Resource.Modified.Time()) + " " + websync.SHA256(data).String()
	}
	return all
}

// TestRoundTrip takes a directory that changes over a store, its sitemap and HTTP into a
// second store.
func TestRoundTrip(t *testing.T) {
	f := &folder{t: t, dir: t.TempDir(), rnd: rand.New(rand.NewPCG(1, 2)), files: map[string]string{}}
	for range 200 {
		f.write(f.name())
	}
	first, second := harvest.NewCatalog(memstore.New()), harvest.NewCatalog(memstore.New())
	handler := &publish.Handler{}
	server := httptest.NewServer(handler)
	defer server.Close()
	defer handler.Close()
	base := server.URL + "/"
	list := &sitemap.Publisher{Place: websync.Place{Catalog: first, Base: base}, PartSize: 50}
	files := &dirsource.Source{Dir: f.dir, Base: base}
	locator := websync.PathLocator{Base: base, Own: []string{files.Key()}, Reserved: list.Reserved}
	url := func(item *websync.Item) string { return locator.URL(item, websync.ContentName) }
	id := func(item *websync.Item) string { return item.Resource.ID }
	list.Locator = locator
	handler.Publishers = []websync.Publisher{list, publish.Bodies(first, locator)}

	client := fetch.New(nil)
	client.Rate = -1
	in := &harvest.Harvester{Catalog: first}
	out := &harvest.Harvester{Catalog: second, Fetcher: client}
	step := func() {
		runSource(t, in, files)
		follow(t, out, &sitemap.Source{URL: base + "sitemap.xml", Complete: true})
		want := folderContents(t, first, url)
		require.Len(t, want, len(f.files))
		require.Equal(t, want, folderContents(t, second, id))
	}
	step()
	for range 10 {
		for range 100 {
			f.change()
		}
		step()
	}
	before, err := second.Head(t.Context())
	require.NoError(t, err)
	step()
	after, err := second.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, before, after, "nothing has changed")

	var want []string
	for name, content := range f.files {
		info, err := os.Stat(filepath.Join(f.dir, name))
		require.NoError(t, err)
		want = append(want, modified(info.ModTime())+" "+websync.SHA256([]byte(content)).String())
	}
	require.ElementsMatch(t, want, slices.Collect(maps.Values(folderContents(t, second, id))))
}

// modified returns a time as a sitemap has it: rounded up to a second.
func modified(at time.Time) string {
	return at.UTC().Add(time.Second - time.Nanosecond).Truncate(time.Second).Format(time.RFC3339)
}

// follow runs a Source of lists that have changed within the last second, and so have no
// Last-Modified: one that lost its newest entry might be an older one.
func follow(t *testing.T, h *harvest.Harvester, src harvest.Source) {
	t.Helper()
	report, err := h.Run(t.Context(), src)
	require.NoError(t, err)
	if report.Guard != nil {
		require.Equal(t, "document", report.Guard.Rule)
		_, err = h.Approve(t.Context(), src)
		require.NoError(t, err)
	}
	runSource(t, h, src)
}

func runSource(t *testing.T, h *harvest.Harvester, src harvest.Source) {
	t.Helper()
	report, err := h.Run(context.WithoutCancel(t.Context()), src)
	require.NoError(t, err)
	require.True(t, report.InStep(), "%+v", report)
}
