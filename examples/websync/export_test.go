package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// hold returns a Store that holds one body for each id of a source: the id itself.
func hold(t *testing.T, sources map[string][]string) *harvest.Catalog {
	return holdIn(t, memstore.New(), sources)
}

func holdIn(t *testing.T, db harvest.Store, sources map[string][]string) *harvest.Catalog {
	store := harvest.NewCatalog(db)
	h := &harvest.Harvester{Catalog: store}
	for source, ids := range sources {
		var events []harvest.Event
		for _, id := range ids {
			events = append(events, harvest.Event{Resource: websync.Resource{ID: id}, Open: harvest.OpenBytes([]byte(id))})
		}
		report, err := h.Run(t.Context(), harvest.Of(source, events...))
		require.NoError(t, err)
		require.True(t, report.InStep())
	}
	return store
}

// filesIn returns the files below dir by slashed path, without INDEX and the export's
// own.
func filesIn(t *testing.T, dir string) map[string]string {
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".websync" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	delete(all, indexName)
	return all
}

func indexLines(t *testing.T, dir string) []string {
	data, err := os.ReadFile(filepath.Join(dir, indexName))
	require.NoError(t, err)
	return slices.DeleteFunc(strings.Split(string(data), "\n"), func(s string) bool { return s == "" })
}

func TestExportNames(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, test := range []struct{ uri, want string }{
		{"https://Example.org/a/b.html", "example.org/a/b.html"},
		{"https://example.org", "example.org/index.html"},
		{"https://example.org/", "example.org/index.html"},
		{"https://example.org/docs/", "example.org/docs/index.html"},
		{"https://example.org/docs/?page=2", "example.org/docs/index.html%3Fpage=2"},
		{"https://example.org/a?b=c/d&e", "example.org/a%3Fb=c%2Fd&e"},
		{"https://example.org/a#part", "example.org/a#part"},
		{"http://127.0.0.1:8080/a", "127.0.0.1_8080/a"},
		{"http://[::1]:80/a", "%3A%3A1_80/a"},
		{"https://example.org/../../etc/passwd", "example.org/%2E%2E/%2E%2E/etc/passwd"},
		{"https://example.org/%2e%2e/%2F/x", "example.org/%2e%2e/%2F/x"},
		{"https://../x", "%2E%2E/x"},
		{"https://example.org//a//b", "example.org/_/a/_/b"},
		{"https://example.org/C:/x", "example.org/C%3A/x"},
		{`https://example.org/a\..\b`, "example.org/a%5C..%5Cb"},
		{"https://example.org/con.txt", "example.org/_con.txt"},
		{"https://example.org/LPT1", "example.org/_LPT1"},
		{"https://example.org/console", "example.org/console"},
		{"https://example.org/end.", "example.org/end%2E"},
		{"https://example.org/ü", "example.org/%C3%BC"},
		{"https://example.org/.websync-1.tmp", "example.org/_.websync-1.tmp"},
		{"https://index/x", "_index/x"},
		{"https://.WebSync/manifest", "_.websync/manifest"},
		{"tag:example.org,2026:a/b", "other/tag%3Aexample.org,2026%3Aa%2Fb"},
		{"a\x00b", "other/a%00b"},
		{"https://example.org/" + long + ".pdf", "example.org/" + long[:keptPart] + "~0ef8be9a4d4aeaa6ddcac81e0df14b2e.pdf"},
	} {
		got := filePath(&liveBody{id: test.uri, body: websync.Body{Name: websync.ContentName}})
		if strings.Contains(test.want, "~") {
			head, _, _ := strings.Cut(test.want, "~")
			assert.Regexp(t, "^"+head+"~[0-9a-f]{32}\\.pdf$", got)
		} else {
			assert.Equal(t, test.want, got, test.uri)
		}
		assert.True(t, fs.ValidPath(got), got)
		assert.True(t, filepath.IsLocal(filepath.FromSlash(got)), got)
	}
	deep := filePath(&liveBody{id: "https://example.org/" + strings.Repeat("deep/", 500)})
	assert.Less(t, len(deep), maxPath)
	other := filePath(&liveBody{id: "https://example.org/a", body: websync.Body{Name: "alternate text/plain"}})
	assert.Equal(t, "example.org/a~alternate%20text%2Fplain", other)
}

func TestEscapeURI(t *testing.T) {
	for uri, want := range map[string]string{
		"https://example.org/a%20b?c=d": "https://example.org/a%20b?c=d",
		"https://example.org/ü":         "https://example.org/ü",
		"a\tb\nc d\u2028\u00a0":         "a%09b%0Ac%20d%E2%80%A8%C2%A0",
		"a\xffb\ufffd\x00\x7f":          "a%FFb%EF%BF%BD%00%7F",
	} {
		assert.Equal(t, want, escapeURI(uri))
	}
}

func TestExport(t *testing.T) {
	ids := []string{
		"https://example.org/a", "https://example.org/a/b", "https://example.org/A", "https://example.org/a/",
		"https://example.org/a/index.html", "https://example.org/x\ny", "https://example.org/", "urn:x", "\xff",
		"http://example.org/a/b", "https://example.org/../../../etc/passwd",
	}
	store := hold(t, map[string][]string{"one": ids, "two": {ids[0], "https://example.org/0", "https://zebra.example/"}, "other": {"https://not.exported/"}})
	dir := filepath.Join(t.TempDir(), "new", "dir")
	got, err := export(t.Context(), store, dir, []string{"one", "two"})
	require.NoError(t, err)
	lines := indexLines(t, dir)
	held := filesIn(t, dir)
	require.Len(t, lines, len(ids)+2)
	require.Len(t, held, len(ids)+2, "no two bodies share a file")
	assert.EqualValues(t, len(ids)+2, got.Bodies)
	assert.EqualValues(t, len(ids)+2, got.Written)
	uris := slices.Concat(ids, []string{"https://example.org/0", "https://zebra.example/"})
	slices.Sort(uris)
	for i, line := range lines {
		assert.Equal(t, escapeURI(uris[i]), strings.Split(line, "\t")[1], "in the order of URIs")
	}
	for _, line := range lines {
		f := strings.Split(line, "\t")
		require.Len(t, f, 4)
		body := held[f[3]]
		assert.Equal(t, f[1], escapeURI(body), "these bodies are their own URIs")
		assert.Equal(t, f[0], websync.SHA256([]byte(body)).String())
		assert.Equal(t, f[2], fmt.Sprint(len(body)))
	}
	assert.Equal(t, "http://example.org/a/b", held["example.org/a/b"], "the first in the order of URIs has the plain name")

	again, err := export(t.Context(), store, dir, []string{"one", "two"})
	require.NoError(t, err)
	assert.Zero(t, again.Written+again.Removed)
	assert.Equal(t, lines, indexLines(t, dir))
}

// TestExportOfStrangers: what a source states of another host takes the name of no file
// of a source there, in one export and in one after the other, and none of its bytes.
func TestExportOfStrangers(t *testing.T) {
	const host, stranger = "https://host.example/feed", "https://stranger.example/feed"
	const page, inDir = "https://host.example/page", "https://host.example/page/"
	for name, tt := range map[string]struct{ own, other, file string }{
		"the same id":            {page, page, "host.example/page"},
		"earlier in the order":   {page, "HTTPS://host.example/page", "host.example/page"},
		"a directory of its own": {page, page + "/x", "host.example/page"},
		"a file for a directory": {inDir, page, "host.example/page/index.html"},
		"the file of a name":     {page, "urn:page", "host.example/page"},
	} {
		for how, exports := range map[string][][]string{
			"at once":         {{stranger, host}},
			"and then alone":  {{host}, {stranger}},
			"after its own":   {{stranger}, {host}},
			"before, and all": {{stranger}, {stranger, host}},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				dir, store := t.TempDir(), harvest.NewCatalog(memstore.New())
				h := &harvest.Harvester{Catalog: store}
				for source, id := range map[string]string{host: tt.own, stranger: tt.other} {
					e := harvest.Event{Resource: websync.Resource{ID: id}, Open: harvest.OpenBytes([]byte("of " + source))}
					_, err := h.Run(t.Context(), harvest.Of(source, e))
					require.NoError(t, err)
				}
				for _, sources := range exports {
					_, err := export(t.Context(), store, dir, sources)
					require.NoError(t, err)
				}
				files, file := filesIn(t, dir), tt.file
				if tt.other == page+"/x" && exports[0][0] == stranger && len(exports) > 1 {
					file += "/index.html" // where servers look for it: the directory was there
				}
				assert.Equal(t, "of "+host, files[file], files)
				lines := indexLines(t, dir)
				own := 0
				for _, line := range lines {
					f := strings.Split(line, "\t")
					assert.Equal(t, f[0], websync.SHA256([]byte(files[f[3]])).String(), line)
					if f[3] == file {
						own++
						assert.Equal(t, tt.own, f[1])
					}
				}
				assert.Equal(t, 1, own, lines)
			})
		}
	}
}

// TestExportOfTheSameBytes: a body that several sources have is that of the one on its
// host.
func TestExportOfTheSameBytes(t *testing.T) {
	const page, stranger = "https://host.example/page", "https://stranger.example/feed"
	store := hold(t, map[string][]string{stranger: {page, "HTTPS://host.example/page"}, "https://host.example/feed": {page}})
	dir := t.TempDir()
	_, err := export(t.Context(), store, dir, []string{stranger, "https://host.example/feed"})
	require.NoError(t, err)
	assert.Equal(t, page, filesIn(t, dir)["host.example/page"])
	assert.Len(t, indexLines(t, dir), 2)
}

func TestExportAgain(t *testing.T) {
	dir := t.TempDir()
	write := func(name, data string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o666))
	}
	store := hold(t, map[string][]string{"s": {"http://h/a", "http://h/b/c", "http://h/d"}})
	do := func() exportResult {
		got, err := export(t.Context(), store, dir, []string{"s"})
		require.NoError(t, err)
		return *got
	}
	do()
	write("h/mine", "mine")
	write("h/d", "Http://h/d") // as long as it was
	event := func(kind harvest.EventKind, id string) harvest.Event {
		return harvest.Event{Kind: kind, Resource: websync.Resource{ID: id}, Open: harvest.OpenBytes([]byte(id))}
	}
	_, err := (&harvest.Harvester{Catalog: store}).Run(t.Context(), harvest.Of("s",
		event(harvest.Delete, "http://h/a"), event(harvest.Delete, "http://h/b/c"), event(harvest.Put, "http://h/a/x"), event(harvest.Put, "http://h/b")))
	require.NoError(t, err)
	got := do()
	assert.Equal(t, exportResult{Dir: dir, Bodies: 3, Bytes: 32, Written: 3, Removed: 2}, got)
	assert.Equal(t, map[string]string{"h/a/x": "http://h/a/x", "h/b/index.html": "http://h/b", "h/d": "http://h/d", "h/mine": "mine"}, filesIn(t, dir))
	for _, line := range indexLines(t, dir) {
		assert.FileExists(t, filepath.Join(dir, strings.Split(line, "\t")[3]))
	}
}

// An export writes nothing if a foreign file has one of its names. It may replace the
// filesIn of an interrupted export.
func TestExportReplacesItsOwnOnly(t *testing.T) {
	db := memstore.New()
	store := holdIn(t, db, map[string][]string{"s": {"http://h/a", "http://h/b", "http://h/c"}})
	for name, foreign := range map[string]func(string) error{
		"a file":      func(path string) error { return os.WriteFile(path, []byte("mine"), 0o666) },
		"a long file": func(path string) error { return os.WriteFile(path, []byte("HTTP://h/b"), 0o666) },
		"a link":      func(path string) error { return os.Symlink("elsewhere", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "h"), 0o777))
			if err := foreign(filepath.Join(dir, "h", "b")); err != nil {
				t.Skip(err)
			}
			_, err := export(t.Context(), store, dir, []string{"s"})
			require.ErrorContains(t, err, "h/b is in the way of /h/b: no export has written it")
			entries, err := os.ReadDir(filepath.Join(dir, "h"))
			require.NoError(t, err)
			assert.Len(t, entries, 1)
			assert.NoFileExists(t, filepath.Join(dir, indexName))
		})
	}
	t.Run("interrupted", func(t *testing.T) {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		stop := opening(db, "http://h/b", func() error {
			cancel()
			return ctx.Err()
		})
		_, err := export(ctx, stop, dir, []string{"s"})
		require.ErrorIs(t, err, context.Canceled)
		assert.FileExists(t, filepath.Join(dir, "h", "a"))
		assert.NoFileExists(t, filepath.Join(dir, indexName))

		require.NoError(t, os.WriteFile(filepath.Join(dir, "h", "a"), []byte("as it was at that time"), 0o666))
		_, err = export(t.Context(), hold(t, map[string][]string{"s": {"http://h/a", "http://h/d"}}), dir, []string{"s"})
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"h/a": "http://h/a", "h/d": "http://h/d"}, filesIn(t, dir))
	})
}

// opening returns a Catalog that calls f when a body is opened.
func opening(db harvest.Store, body string, f func() error) *harvest.Catalog {
	sum := sha256.Sum256([]byte(body))
	return harvest.NewCatalog(openedAt{db, append([]byte{'B'}, sum[:]...), f})
}

type openedAt struct {
	harvest.Store
	key []byte
	f   func() error
}

func (s openedAt) View(ctx context.Context, fn func(harvest.Reader) error) error {
	return s.Store.View(ctx, func(r harvest.Reader) error { return fn(openedReader{r, s}) })
}

type openedReader struct {
	harvest.Reader
	at openedAt
}

func (r openedReader) Get(key []byte) ([]byte, error) {
	if bytes.Equal(key, r.at.key) {
		if err := r.at.f(); err != nil {
			return nil, err
		}
	}
	return r.Reader.Get(key)
}

func TestExportStaysInside(t *testing.T) {
	outside := t.TempDir()
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "h")); err != nil {
		t.Skip(err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(outside, "x"), []byte("x"), 0o666))
	_, err := export(t.Context(), hold(t, map[string][]string{"s": {"http://h/a"}}), dir, []string{"s"})
	assert.Error(t, err)
	assert.Equal(t, map[string]string{"x": "x"}, filesIn(t, outside))
}

// A record that changes while an export runs is neither written nor in INDEX. The next
// export has it.
func TestExportOfAStoreThatChanges(t *testing.T) {
	dir, db := t.TempDir(), memstore.New()
	store := holdIn(t, db, map[string][]string{"s": {"http://h/a", "http://h/b"}})
	h := &harvest.Harvester{Catalog: store}
	changing := opening(db, "http://h/a", func() error {
		event := harvest.Event{Resource: websync.Resource{ID: "http://h/b", Title: "new"}, Open: harvest.OpenBytes([]byte("new"))}
		_, err := h.Run(t.Context(), harvest.Of("s", event))
		return err
	})
	got, err := export(t.Context(), changing, dir, []string{"s"})
	require.NoError(t, err)
	assert.Equal(t, exportResult{Dir: dir, Bodies: 1, Bytes: 10, Written: 1}, *got)
	assert.Equal(t, map[string]string{"h/a": "http://h/a"}, filesIn(t, dir))
	got, err = export(t.Context(), store, dir, []string{"s"})
	require.NoError(t, err)
	assert.Equal(t, exportResult{Dir: dir, Bodies: 2, Bytes: 13, Written: 1, Unchanged: 1}, *got)
	assert.Equal(t, map[string]string{"h/a": "http://h/a", "h/b": "new"}, filesIn(t, dir))
	got, err = export(t.Context(), store, dir, []string{"s"})
	require.NoError(t, err)
	assert.Equal(t, exportResult{Dir: dir, Bodies: 2, Bytes: 13, Unchanged: 2}, *got)
}

func TestExportOfTheCommand(t *testing.T) {
	w := newWeb(t)
	w.serve("a", 2)
	w.serve("b", 2)
	w.set("/a.xml", text(w.urlset("/a/000", "/a/001")))
	w.set("/b.xml", text(w.urlset("/b/000", "/b/001", "/b/missing")))
	dir := t.TempDir()
	a := callHarvest(t, "-store=mem", "-export", dir, w.URL+"/a.xml", w.URL+"/b.xml")
	a.is(t, exitLeft)
	assert.Contains(t, a.stdout, "exported   4 bodies")
	host := strings.ReplaceAll(strings.TrimPrefix(w.URL, "http://"), ":", "_")
	assert.Equal(t, "text of /b/001", filesIn(t, dir)[host+"/b/001"])
	assert.Len(t, indexLines(t, dir), 4)
}
