package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/resourcesync"
)

// An answer is the output of the command.

func callPublish(t *testing.T, args ...string) answer {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := &publishCommand{Console: cli.NewConsole("publish", &stdout, &stderr)}
	code := p.run(t.Context(), args)
	return answer{code, stdout.String(), stderr.String()}
}

// directory makes a directory of files.
func directory(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

// servePublish runs the command until the test ends, and returns the URL it prints.
func servePublish(t *testing.T, args ...string) (entry string) {
	t.Helper()
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int)
	p := &publishCommand{Console: cli.NewConsole("publish", w, io.Discard)}
	go func() {
		done <- p.run(ctx, append([]string{"-addr", "127.0.0.1:0"}, args...))
		w.Close()
	}()
	t.Cleanup(func() {
		cancel()
		assert.Equal(t, exitDone, <-done)
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(data)
}

func TestServesADirectory(t *testing.T) {
	dir := directory(t, map[string]string{"a b.txt": "one", "sitemap.xml": "mine", ".hidden": "no"})
	entry := servePublish(t, "-dir", dir)
	base := strings.TrimSuffix(entry, "sitemap.xml")
	require.NotEqual(t, entry, base)

	_, list := get(t, entry)
	assert.Contains(t, list, "<loc>"+base+"a%20b.txt</loc>")
	assert.Contains(t, list, "/sitemap.xml~content</loc>", "a file in the place of a list has another URL")
	assert.NotContains(t, list, "hidden")
	_, text := get(t, base+"a%20b.txt")
	assert.Equal(t, "one", text)
	_, robots := get(t, base+"robots.txt")
	assert.Equal(t, "Sitemap: "+entry+"\n", robots)

	require.NoError(t, os.Remove(filepath.Join(dir, "a b.txt")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "new.txt"), []byte("two"), 0o644))
	assert.Eventually(t, func() bool {
		_, list := get(t, entry)
		return strings.Contains(list, base+"new.txt") && !strings.Contains(list, "a%20b")
	}, 20*time.Second, 10*time.Millisecond)
	status, _ := get(t, base+"a%20b.txt")
	assert.Equal(t, http.StatusGone, status)
	status, _ = get(t, base+"never")
	assert.Equal(t, http.StatusNotFound, status)
}

// A reader of any file finds the lists, follows them, and learns of each change.
func TestServesResourceSync(t *testing.T) {
	dir := directory(t, map[string]string{"a b.txt": "one", "robots.txt": "User-agent: *\nDisallow: /drafts/\n"})
	entry := servePublish(t, "-protocol", "resourcesync", "-dir", dir)
	base := strings.TrimSuffix(entry, "capabilitylist.xml")
	_, robots := get(t, base+"robots.txt")
	assert.Equal(t, "User-agent: *\nDisallow: /drafts/\nSitemap: "+base+"resourcelist.xml\n", robots)

	client := fetch.New(nil)
	client.Rate = -1
	sets, err := resourcesync.Discover(t.Context(), client, base+"a%20b.txt")
	require.NoError(t, err)
	require.Len(t, sets, 1)
	assert.Equal(t, entry, sets[0].CapabilityList)
	store := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: store, Fetcher: client}
	runSource(t, h, sets[0].Source())

	require.NoError(t, os.Remove(filepath.Join(dir, "a b.txt")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "new.txt"), []byte("two"), 0o644))
	assert.Eventually(t, func() bool {
		_, list := get(t, base+"changelist.xml")
		return strings.Contains(list, base+"new.txt") && strings.Contains(list, `change="deleted"`)
	}, 20*time.Second, 10*time.Millisecond)
	runSource(t, h, sets[0].Source())
	var ids []string
	for item, err := range store.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		ids = append(ids, item.Resource.ID)
	}
	assert.ElementsMatch(t, []string{base + "robots.txt", base + "new.txt"}, ids)
}

// A hub is posted what has changed.
func TestNotifiesHubs(t *testing.T) {
	posted := make(chan string, 10)
	hub := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posted <- string(body)
	}))
	defer hub.Close()
	dir := directory(t, map[string]string{"old.txt": "one"})
	entry := servePublish(t, "-protocol", "resourcesync", "-dir", dir, "-rescan", "10ms", "-hub", hub.URL)
	_, list := get(t, entry)
	assert.Contains(t, list, `<rs:ln rel="hub" href="`+hub.URL+`"/>`)
	for i := 0; len(posted) == 0; i++ { // the first ones may be before the program looks
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("new", i, ".txt")), []byte("two"), 0o644))
		get(t, entry)
	}
	body := <-posted
	assert.Contains(t, body, `capability="changelist"`)
	assert.Contains(t, body, "/new")
	assert.NotContains(t, body, "old.txt")
	for args, want := range map[string]string{"-protocol sitemap": "-hub is for", "-protocol resourcesync -out x": "-hub is for"} {
		a := callPublish(t, append(strings.Fields(args), "-dir", dir, "-hub", hub.URL)...)
		assert.Equal(t, exitFailed, a.code)
		assert.Contains(t, a.stderr, want)
	}
}

// The robots.txt of a directory gets a Sitemap line and otherwise stays.
func TestKeepsRobots(t *testing.T) {
	dir := directory(t, map[string]string{"robots.txt": "User-agent: *\nDisallow: /drafts/"})
	entry := servePublish(t, "-dir", dir)
	_, robots := get(t, strings.TrimSuffix(entry, "sitemap.xml")+"robots.txt")
	assert.Equal(t, "User-agent: *\nDisallow: /drafts/\nSitemap: "+entry+"\n", robots)
}

func TestWritesFiles(t *testing.T) {
	dir := directory(t, map[string]string{"d/a b.txt": "one", "b.txt": "two"})
	out := t.TempDir()
	args := []string{"-protocol", "sitemap", "-dir", dir, "-out", out, "-base", "https://www.example.org/x"}
	a := callPublish(t, args...)
	require.Equal(t, exitDone, a.code, a.stderr)
	assert.Equal(t, "https://www.example.org/x/sitemap.xml\n", a.stdout)
	for name, want := range map[string]string{"x/d/a b.txt": "one", "x/b.txt": "two", "robots.txt": "Sitemap: https://www.example.org/x/sitemap.xml\n"} {
		data, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
	}
	list, err := os.ReadFile(filepath.Join(out, "x", "sitemap.xml"))
	require.NoError(t, err)
	assert.Contains(t, string(list), "https://www.example.org/x/d/a%20b.txt")
	assert.Contains(t, callPublish(t, args...).stderr, "0 written, 4 unchanged")
}

// TestKeepsTheCatalogue publishes a directory twice with one store: the second program
// reads no file again.
func TestKeepsTheCatalogue(t *testing.T) {
	dir := directory(t, map[string]string{"a.txt": "one"})
	store := "sqlite:" + filepath.Join(t.TempDir(), "store.db")
	out := t.TempDir()
	args := []string{"-dir", dir, "-store", store, "-out", out, "-base", "https://www.example.org/"}
	assert.Contains(t, callPublish(t, args...).stderr, "1 created")
	assert.NotContains(t, callPublish(t, args...).stderr, "created")
}

func TestServesAStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	db, err := sqlitestore.Open(t.Context(), file, nil)
	require.NoError(t, err)
	store := harvest.NewCatalog(db)
	h := &harvest.Harvester{Catalog: store}
	put := func(id, content string) harvest.Event {
		return harvest.Event{Resource: websync.Resource{ID: id, Content: websync.Link{Type: "text/plain"}}, Open: harvest.OpenBytes([]byte(content))}
	}
	_, err = h.Run(t.Context(), harvest.Of("one", put("urn:a", "first"), put("https://example.com/b?c", "second")))
	require.NoError(t, err)

	entry := servePublish(t, "-store", "sqlite:"+file)
	_, list := get(t, entry)
	var contents []string
	for _, part := range strings.Split(list, "<loc>")[1:] {
		loc, _, _ := strings.Cut(part, "</loc>")
		_, content := get(t, loc)
		contents = append(contents, content)
	}
	assert.ElementsMatch(t, []string{"first", "second"}, contents)

	_, err = h.Run(t.Context(), harvest.Of("one", put("urn:d", "third")))
	require.NoError(t, err)
	_, list = get(t, entry)
	assert.Contains(t, list, "urn=3Ad~content", "what is harvested meanwhile appears at once")

	_, err = h.Run(t.Context(), harvest.Of("two", put("urn:a", "another"), put("news-1", "of two")))
	require.NoError(t, err)
	require.NoError(t, db.Close())
	a := callPublish(t, "-store", "sqlite:"+file, "-own", "one", "-out", t.TempDir())
	assert.Equal(t, exitFailed, a.code)
	assert.Contains(t, a.stderr, `several sources state "urn:a"`)
}

// TestPublishSharedIDs: of sources that state one id, the one that had it first counts, in
// each export; ids that are no IRIs are those of their source.
func TestPublishSharedIDs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	update := func(source string, events ...harvest.Event) {
		db, err := sqlitestore.Open(t.Context(), file, nil)
		require.NoError(t, err)
		_, err = (&harvest.Harvester{Catalog: harvest.NewCatalog(db)}).Run(t.Context(), harvest.Of(source, events...))
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
	put := func(id, title string) harvest.Event {
		return harvest.Event{Resource: websync.Resource{ID: id, Title: title}}
	}
	update("one", put("urn:a", "first"), put("news-1", "news of one"))
	update("two", put("urn:a", "second"), put("news-1", "news of two"))
	out := t.TempDir()
	titles := func() (titles []string) {
		a := callPublish(t, "-store", "sqlite:"+file, "-protocol", "atom", "-out", out)
		require.Equal(t, exitDone, a.code, a.stderr)
		feed, err := os.ReadFile(filepath.Join(out, "feed.atom"))
		require.NoError(t, err)
		for _, entry := range strings.Split(string(feed), "<entry>")[1:] {
			_, title, _ := strings.Cut(entry, "<title>")
			title, _, _ = strings.Cut(title, "</title>")
			titles = append(titles, title)
		}
		return titles
	}
	assert.ElementsMatch(t, []string{"first", "news of one", "news of two"}, titles())
	update("one", put("urn:a", "changed"))
	assert.ElementsMatch(t, []string{"changed", "news of one", "news of two"}, titles())
	update("one", harvest.Event{Kind: harvest.Delete, Resource: websync.Resource{ID: "urn:a"}})
	assert.ElementsMatch(t, []string{"second", "news of one", "news of two"}, titles())
}

// A harvested feed cannot choose URLs of the site, unless -own names it. Documents
// without a file are reported, and all others are written.
func TestOwnSources(t *testing.T) {
	const base = "https://www.example.org/"
	file := filepath.Join(t.TempDir(), "store.db")
	db, err := sqlitestore.Open(t.Context(), file, nil)
	require.NoError(t, err)
	store := harvest.NewCatalog(db)
	h := &harvest.Harvester{Catalog: store}
	for source, paths := range map[string][]string{
		"feed": {"robots.txt", ".well-known/acme-challenge/x", "index.html", "a.php"},
		"mine": {"a", "a/", "%E9", "dir/b"},
	} {
		var events []harvest.Event
		for _, path := range paths {
			events = append(events, harvest.Event{Resource: websync.Resource{ID: base + path}, Open: harvest.OpenBytes([]byte(source + " " + path))})
		}
		_, err := h.Run(t.Context(), harvest.Of(source, events...))
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
	files := func(out string) (names []string) {
		require.NoError(t, filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
			name, _ := filepath.Rel(out, path)
			if !d.IsDir() && !strings.HasPrefix(name, ".websync") {
				names = append(names, filepath.ToSlash(name))
			}
			return err
		}))
		return names
	}
	const below = "r/https=3A/=2Fwww.example.org/"
	foreign := []string{below + "robots.txt~content", below + "=2Ewell-known/acme-challenge/x~content", below + "index.html~content", below + "a.php~content"}
	lists := []string{"robots.txt", "sitemap.xml"}

	out := t.TempDir()
	a := callPublish(t, "-store", "sqlite:"+file, "-base", base, "-out", out)
	require.Equal(t, exitDone, a.code, a.stderr)
	assert.ElementsMatch(t, append(lists, append(foreign, below+"a~content", below+"a=2F~content", below+"=25E9~content", below+"dir/b~content")...), files(out))
	robots, err := os.ReadFile(filepath.Join(out, "robots.txt"))
	require.NoError(t, err)
	assert.Equal(t, "Sitemap: "+base+"sitemap.xml\n", string(robots))

	out = t.TempDir()
	a = callPublish(t, "-store", "sqlite:"+file, "-base", base, "-own", "mine", "-out", out)
	assert.Equal(t, exitLeft, a.code)
	assert.Contains(t, a.stderr, `publish: not written: "/a/": "/a" has the same file`)
	assert.Contains(t, a.stderr, "9 written")
	assert.ElementsMatch(t, append(lists, append(foreign, "a/index.html", below+"=25E9~content", "dir/b")...), files(out))

	a = callPublish(t, "-store", "sqlite:"+file, "-own", "other", "-out", out)
	assert.Equal(t, exitFailed, a.code)
	assert.Contains(t, a.stderr, `-own "other": the store holds no such source, but ["feed" "mine"]`)
	a = callPublish(t, "-dir", out, "-own", "mine", "-out", out)
	assert.Equal(t, exitFailed, a.code)
	assert.Contains(t, a.stderr, "are your own already")
}

func TestPublishBesideTheStore(t *testing.T) {
	dir := directory(t, map[string]string{"a.txt": "text", "sub/b.txt": "text"})
	t.Chdir(dir)
	store, out := "sqlite:sub/x.db", filepath.Join(t.TempDir(), "out")
	for _, done := range []string{"4 written, 0 unchanged, 0 removed", "0 written, 4 unchanged, 0 removed"} {
		a := callPublish(t, "-dir", ".", "-store", store, "-out", out)
		require.Equal(t, exitDone, a.code, a.stderr)
		assert.Contains(t, a.stderr, done)
	}
	for _, done := range []string{"4 written, 0 unchanged, 0 removed", "0 written, 4 unchanged, 0 removed"} {
		a := callPublish(t, "-dir", ".", "-store", store, "-out", "sub/out")
		require.Equal(t, exitDone, a.code, a.stderr)
		assert.Contains(t, a.stderr, done)
	}
}

func TestPublishUsage(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	for _, args := range []string{
		"", "-dir d x", "-store mem", "-store nothing:x", "-store sqlite:missing.db", "-dir missing", "-dir . -out o -addr localhost:1",
		"-dir . -rescan 0s", "-dir . -rescan -1s", "-dir . -addr localhost", "-dir . -base ftp://x/", "-dir . -base https://x/?y",
		"-protocol html -dir .", "-protocol eli -store sqlite:x.db", "-protocol atom -dumps x -dir .", "-protocol atom -inline -1 -dir .", "-inline 1 -dir .", "-list-size 5 -dir .", "-max-lists 5 -dir .", "-protocol resourcesync -dumps . -dir .",
		"-protocol resourcesync -max-lists -1 -dir .", "-protocol resourcesync -dumps x -repack 0s -dir .", "-dir . -addr 256.0.0.1:0", "-nonsense", "-dir . -out .", "-dir . -out ../" + filepath.Base(here),
		"-dir . -base https://x/a//b -addr 127.0.0.1:0", "-dir . -base https://x:/ -addr 127.0.0.1:0", "-dir . -base https://x/é -addr 127.0.0.1:0",
	} {
		t.Run(args, func(t *testing.T) {
			a := callPublish(t, strings.Fields(args)...)
			assert.Equal(t, exitFailed, a.code)
			assert.Empty(t, a.stdout)
			assert.True(t, strings.HasPrefix(a.stderr, "publish: "), a.stderr)
		})
	}
	a := callPublish(t, "-store", "postgres://u:secret@127.0.0.1:1/x")
	assert.Equal(t, exitFailed, a.code)
	assert.Contains(t, a.stderr, "store postgres:x at 127.0.0.1:1: ")
	assert.NotContains(t, a.stderr, "secret")
	a = callPublish(t, "-h")
	assert.Equal(t, exitDone, a.code)
	assert.Contains(t, a.stdout, "usage: websync publish")
}

// A failure to write the output is an error, and no text controls a terminal.
func TestPublishOutput(t *testing.T) {
	dir := directory(t, map[string]string{"a": "a"})
	for _, args := range [][]string{{"-h"}, {"-dir", dir, "-out", t.TempDir()}, {"-dir", dir, "-addr", "localhost:0"}} {
		var stderr bytes.Buffer
		p := &publishCommand{Console: cli.NewConsole("publish", full{}, &stderr)}
		assert.Equal(t, exitFailed, p.run(t.Context(), args))
		assert.Contains(t, stderr.String(), "publish: standard output: no space")
	}
	got := callPublish(t, "-\x1b[2J\u009b")
	assert.Equal(t, exitFailed, got.code)
	assert.Contains(t, got.stderr, `\u001b[2J\u009b`)
	assert.NotContains(t, got.stderr, "\x1b")
}

// The names of sources are URLs, and may have secrets in them.
func TestSourcesAreRedacted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.db")
	db, err := sqlitestore.Open(context.Background(), file, nil)
	require.NoError(t, err)
	store := harvest.NewCatalog(db)
	h := &harvest.Harvester{Catalog: store, Bodies: harvest.SkipBodies}
	for _, name := range []string{"https://a.example/feed?token=s3cret", "https://b.example/feed?key=s3cret"} {
		ev := harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: "https://a.example/x?sig=s3cret"}}
		_, err := h.Run(context.Background(), harvest.Of(name, ev))
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
	for own, code := range map[string]int{"": exitDone, "https://u:s3cret@c.example/": exitFailed} {
		args := []string{"-store", "sqlite:" + file, "-out", t.TempDir()}
		if own != "" {
			args = append(args, "-own", own)
		}
		a := callPublish(t, args...)
		assert.Equal(t, code, a.code)
		assert.Contains(t, a.stderr, "https://a.example/feed?token=xxxxx")
		assert.NotContains(t, a.stdout+a.stderr, "s3cret")
	}
}

// TestDumps publishes packages, as files and served; what has changed since the first
// export comes as a package of its own.
func TestDumps(t *testing.T) {
	dir := directory(t, map[string]string{"a.txt": "one", "b.txt": "two"})
	store, out := "sqlite:"+filepath.Join(t.TempDir(), "store.db"), t.TempDir()
	args := []string{"-protocol", "resourcesync", "-dir", dir, "-store", store, "-dumps", filepath.Join(dir, "spool"), "-out", out, "-base", "https://www.example.org/"}
	packages := func() (names []string) {
		paths, err := filepath.Glob(filepath.Join(out, "*.zip"))
		require.NoError(t, err)
		for _, path := range paths {
			name := filepath.Base(path)
			names = append(names, name[:strings.Index(name, "-")])
		}
		return names
	}
	a := callPublish(t, args...)
	require.Equal(t, exitDone, a.code, a.stderr)
	assert.Equal(t, []string{"resourcedump"}, packages())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.txt"), []byte("three"), 0o644))
	a = callPublish(t, args...)
	require.Equal(t, exitDone, a.code, a.stderr)
	assert.Equal(t, []string{"changedump", "resourcedump", "resourcedump"}, packages(), "with the one that was listed before")
	assert.Contains(t, callPublish(t, args...).stderr, " 2 removed")
	list, err := os.ReadFile(filepath.Join(out, "resourcelist.xml"))
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(list), "<url>"), "packages are no files of the directory")

	entry := servePublish(t, "-protocol", "resourcesync", "-dir", dir, "-dumps", t.TempDir(), "-repack", "10ms", "-max-lists", "1", "-list-size", "1")
	_, list1 := get(t, entry)
	assert.Contains(t, list1, "/resourcedump.xml")
	assert.NotContains(t, list1, "/changedump.xml")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d.txt"), []byte("four"), 0o644))
	assert.Eventually(t, func() bool {
		_, list := get(t, entry)
		return strings.Contains(list, "/changedump.xml")
	}, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "e.txt"), []byte("five"), 0o644))
	assert.Eventually(t, func() bool {
		_, index := get(t, strings.Replace(entry, "capabilitylist", "changelist-index", 1))
		return strings.Count(index, "<sitemap>") == 2
	}, 20*time.Second, 10*time.Millisecond)
}

// What is wrong with a file of the directory is reported.
func TestPublishReportsFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "later.txt")
	require.NoError(t, os.WriteFile(file, []byte("a"), 0o644))
	at := time.Date(2099, 1, 2, 3, 4, 5, 0, time.UTC)
	require.NoError(t, os.Chtimes(file, at, at))
	a := callPublish(t, "-dir", dir, "-out", filepath.Join(t.TempDir(), "site"), "-base", "https://www.example.org/")
	require.Equal(t, exitDone, a.code, a.stderr)
	assert.Equal(t, 1, strings.Count(a.stderr, "2099-01-02T03:04:05Z"), a.stderr)
}
