package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

// asCommand, if set, makes the test binary websync itself.
const asCommand = "WEBSYNC_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asCommand) != "":
		main()
	case os.Getenv(millionEnv) != "":
		publishMillion(os.Getenv(millionEnv))
	case os.Getenv(exportEnv) != "":
		exportMillion(os.Getenv(exportEnv))
	default:
		os.Exit(m.Run())
	}
}

// process returns websync as a process of its own.
func process(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "GOGC=100") // as users run it
	return cmd
}

// An answer is the output of the command.
type answer struct {
	code           int
	stdout, stderr string
}

// callHarvest runs the command in this process, without retries.
func callHarvest(t *testing.T, args ...string) answer {
	t.Helper()
	return callHarvestContext(t.Context(), args...)
}

func callHarvestContext(ctx context.Context, args ...string) answer {
	var stdout, stderr bytes.Buffer
	p := &harvestCommand{Console: cli.NewConsole("harvest", &stdout, &stderr), attempts: -1}
	code := p.run(ctx, args)
	return answer{code, stdout.String(), stderr.String()}
}

func (a answer) is(t *testing.T, code int) {
	t.Helper()
	require.Equal(t, code, a.code, "%s\n%s", a.stdout, a.stderr)
}

// A web is a server whose answers can be changed.
type web struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]http.HandlerFunc
	asked map[string]int
}

func newWeb(t *testing.T) *web {
	w := &web{pages: map[string]http.HandlerFunc{}, asked: map[string]int{}}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	return w
}

func (w *web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked[r.URL.Path]++
	page := w.pages[r.URL.Path]
	w.mu.Unlock()
	if page == nil {
		page = http.NotFound
	}
	page(rw, r)
}

func (w *web) set(path string, h http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[path] = h
}

// text answers with 200 and a body.
func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprintf("%x", websync.SHA256([]byte(body)).Sum[:8])))
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
	}
}

// answerWith answers with an error, and headers as name and value.
func answerWith(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// urlset returns a sitemap of paths of the server.
func (w *web) urlset(paths ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, p := range paths {
		fmt.Fprintf(&b, "<url><loc>%s%s</loc></url>\n", w.URL, p)
	}
	b.WriteString("</urlset>")
	return b.String()
}

func (w *web) sitemapindex(paths ...string) string {
	s := strings.NewReplacer("<urlset", "<sitemapindex", "</urlset", "</sitemapindex", "<url>", "<sitemap>", "</url>", "</sitemap>")
	return s.Replace(w.urlset(paths...))
}

// serve gives the server n pages and returns their paths.
func (w *web) serve(prefix string, n int) (paths []string) {
	for i := range n {
		path := fmt.Sprintf("/%s/%03d", prefix, i)
		w.set(path, text("text of "+path))
		paths = append(paths, path)
	}
	return paths
}

func storeFlag(t *testing.T) string {
	return "-store=sqlite:" + filepath.Join(t.TempDir(), "store.db")
}

func openStore(t *testing.T, flag string) (*harvest.Catalog, io.Closer) {
	t.Helper()
	db, err := sqlitestore.Open(t.Context(), strings.TrimPrefix(flag, "-store=sqlite:"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return harvest.NewCatalog(db), db
}

func head(t *testing.T, flag string) websync.Head {
	t.Helper()
	s, db := openStore(t, flag)
	h, err := s.Head(t.Context())
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return h
}

func TestDemonstration(t *testing.T) {
	a := callHarvest(t)
	a.is(t, exitDone)
	assert.Empty(t, a.stderr)
	for _, want := range []string{
		"312 listed: 312 created.",
		"312 listed: 312 unchanged.",
		`17 requests, 15 of them answered with "not modified", no body fetched`,
		"In step: 312 held, nothing new.",
		"311 listed: 5 created, 9 updated, 6 deleted, 296 unchanged, 1 failed.",
		"311 listed: 1 updated, 310 unchanged.",
		"The store holds 311 resources and a log of 333 changes.",
	} {
		assert.Contains(t, a.stdout, want)
	}
	_, where, _ := strings.Cut(a.stdout, "The store is sqlite:")
	where, _, _ = strings.Cut(where, "\n")
	assert.NoFileExists(t, strings.TrimSuffix(where, "."))
}

func TestDemonstrationAsJSON(t *testing.T) {
	dir := t.TempDir()
	a := callHarvest(t, "-json", "-store=mem", "-export", dir)
	a.is(t, exitDone)
	var got summary
	require.NoError(t, json.Unmarshal([]byte(a.stdout), &got))
	assert.Equal(t, "mem", got.Store)
	assert.True(t, got.InStep)
	require.Len(t, got.Reports, 4)
	assert.EqualValues(t, 312, got.Reports[1].Unchanged, "those of parts that are not read, too")
	assert.EqualValues(t, 0, got.Reports[1].Fetched)
	assert.EqualValues(t, 311, got.Export.Bodies)
	assert.FileExists(t, filepath.Join(dir, indexName))
	assert.Contains(t, a.stderr, "/pages/011.html")
}

func TestHarvestUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct {
		args string
		want string
	}{
		{"-nonsense", "-nonsense"},
		{"-protocol gopher", "gopher"},
		{"-store disk", "disk"},
		{"-store sqlite:", "sqlite:"},
		{"-store mem:x", "mem:x"},
		{"-max-delete 1.5", "max-delete"},
		{"-max-delete NaN", "max-delete"},
		{"-max-delete -0.1", "max-delete"},
		{"-rate -1", "rate"},
		{"-rate Inf", "rate"},
		{"-rate fast", "rate"},
		{"-concurrency -1", "concurrency"},
		{"example", "http://"},
		{"ftp://example.org/", "http://"},
		{"http://example.org/ -nonsense", "-nonsense"},
	} {
		t.Run(test.args, func(t *testing.T) {
			a := callHarvest(t, strings.Fields(test.args)...)
			a.is(t, exitFailed)
			assert.Empty(t, a.stdout)
			assert.Contains(t, a.stderr, test.want)
			assert.Contains(t, a.stderr, "usage: websync harvest ")
		})
	}
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Empty(t, entries, "usage errors touch nothing")
}

// A database that can't be opened is a failure in one line, without the password.
func TestDatabase(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, store := range []string{
		"postgres:host=127.0.0.1 port=1 password=secret", "postgres://u:secret@127.0.0.1:1/x", "postgresql://u:secret@127.0.0.1:1/x", "postgres:port=secret",
		"mysql://u:secret@127.0.0.1/x",
	} {
		t.Run(store, func(t *testing.T) {
			a := callHarvest(t, "-store", store, "http://127.0.0.1:1/sitemap.xml")
			a.is(t, exitFailed)
			assert.Empty(t, a.stdout)
			assert.Contains(t, a.stderr, "store ")
			assert.NotContains(t, a.stderr, "secret")
		})
	}
}

func TestHarvestHelp(t *testing.T) {
	a := callHarvest(t, "-h")
	a.is(t, exitDone)
	assert.Contains(t, a.stdout, "sqlite:websync.db")
	assert.Empty(t, a.stderr)
}

func TestStorePersistsBetweenProcesses(t *testing.T) {
	w := newWeb(t)
	w.set("/sitemap.txt", text(w.URL+"/a\n"+w.URL+"/b\n"))
	w.set("/a", text("A"))
	w.set("/b", text("B"))
	dir := t.TempDir()
	run := func() summary {
		cmd := process("harvest", "-json", w.URL+"/sitemap.txt")
		cmd.Dir = dir
		out, err := cmd.Output()
		require.NoError(t, err)
		var s summary
		require.NoError(t, json.Unmarshal(out, &s))
		return s
	}
	first, second := run(), run()
	assert.Equal(t, "sqlite:websync.db", first.Store)
	assert.EqualValues(t, 2, first.Reports[0].Created)
	assert.EqualValues(t, 0, second.Reports[0].Created)
	assert.EqualValues(t, 0, second.Reports[0].Fetched)
	assert.True(t, second.InStep)
	assert.FileExists(t, filepath.Join(dir, "websync.db"))
}

func TestSeveralURLs(t *testing.T) {
	w := newWeb(t)
	w.serve("a", 3)
	w.serve("b", 2)
	w.set("/robots.txt", text("User-agent: *\nDisallow: /none\nSitemap: "+w.URL+"/a.xml\n"))
	w.set("/a.xml", text(w.urlset("/a/000", "/a/001", "/a/002")))
	w.set("/b.xml", text(w.urlset("/b/000", "/b/001")))
	a := callHarvest(t, "-store=mem", "-json", w.URL+"/robots.txt", w.URL+"/login", w.URL+"/b.xml", w.URL+"/b.xml")
	a.is(t, exitFailed)
	var got summary
	require.NoError(t, json.Unmarshal([]byte(a.stdout), &got))
	require.Len(t, got.Reports, 3)
	assert.False(t, got.InStep)
	assert.EqualValues(t, 3, got.Reports[0].Created)
	assert.Contains(t, got.Reports[1].Error, "404")
	assert.EqualValues(t, 2, got.Reports[2].Created)
	assert.Contains(t, a.stderr, w.URL+"/login")
}

func TestCredentialsStayOutOfTheStore(t *testing.T) {
	w := newWeb(t)
	w.set("/a", text("A"))
	list := text(w.urlset("/a"))
	w.set("/sitemap.xml", func(rw http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "hush" {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		list(rw, r)
	})
	a := callHarvest(t, "-store=mem", "-json", strings.Replace(w.URL, "//", "//me:hush@", 1)+"/sitemap.xml")
	a.is(t, exitDone)
	assert.NotContains(t, a.stdout+a.stderr, "hush")
	assert.Contains(t, a.stdout, w.URL+"/sitemap.xml")
}

func TestDeletions(t *testing.T) {
	for _, test := range []struct {
		flags string
		gone  int
		code  int
		live  int64
	}{
		{"", 5, exitDone, 20},
		{"-complete", 5, exitDone, 15},
		{"-complete", 15, exitLeft, 20},
		{"-complete -max-delete 1", 15, exitDone, 5},
		{"-complete -max-delete 0.2", 5, exitLeft, 20},
		{"-complete -max-delete 0", 1, exitLeft, 20},
	} {
		t.Run(fmt.Sprintf("%s %d", test.flags, test.gone), func(t *testing.T) {
			w := newWeb(t)
			store := storeFlag(t)
			paths := w.serve("p", 20)
			args := append(strings.Fields(test.flags), "-rate=1e6", store, w.URL+"/sitemap.xml")
			w.set("/sitemap.xml", text(w.urlset(paths...)))
			callHarvest(t, args...).is(t, exitDone)
			w.set("/sitemap.xml", text(w.urlset(paths[test.gone:]...)))
			a := callHarvest(t, args...)
			a.is(t, test.code)
			assert.Equal(t, test.live, head(t, store).Total())
			if test.code == exitLeft {
				assert.Contains(t, a.stdout, "Deletions are withheld")
				callHarvest(t, append(args, "-approve")...).is(t, exitDone)
				assert.EqualValues(t, 20-test.gone, head(t, store).Total())
			}
		})
	}
}

// filesBelow returns the bytes of every file below dir.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	}))
	return files
}

func TestPlanAndAudit(t *testing.T) {
	w := newWeb(t)
	dir := t.TempDir()
	store := "-store=sqlite:" + filepath.Join(dir, "store.db")
	args := []string{"-complete", "-rate=1e6", store, w.URL + "/sitemap.xml"}
	paths := w.serve("p", 12)
	w.set("/sitemap.xml", text(w.urlset(paths...)))

	a := callHarvest(t, append(args, "-plan")...)
	a.is(t, exitDone)
	assert.Contains(t, a.stdout, "created   "+w.URL+"/p/007\n")
	assert.Contains(t, a.stdout, "Nothing was written.")
	assert.Empty(t, filesBelow(t, dir), "not even an empty store")
	assert.Zero(t, w.asked["/p/007"])
	callHarvest(t, append(args, "-audit")...).is(t, exitLeft)
	assert.Empty(t, filesBelow(t, dir))

	callHarvest(t, args...).is(t, exitDone)
	callHarvest(t, append(args, "-audit")...).is(t, exitDone)

	more := w.serve("q", 1)
	w.set("/sitemap.xml", text(w.urlset(append(more, paths[2:]...)...)))
	was := filesBelow(t, dir)
	for _, flag := range []string{"-plan", "-audit"} {
		a = callHarvest(t, append(args, flag)...)
		assert.Contains(t, a.stdout, "created   "+w.URL+"/q/000\n")
		assert.Contains(t, a.stdout, "deleted   "+w.URL+"/p/000\n")
		assert.Contains(t, a.stdout, "deleted   "+w.URL+"/p/001\n")
		assert.Equal(t, flag == "-plan", strings.Contains(a.stdout, "ask       "+w.URL+"/p/002\n"))
		assert.Equal(t, was, filesBelow(t, dir), "byte for byte")
	}
	a.is(t, exitLeft)

	a = callHarvest(t, append(args, "-plan", "-json")...)
	a.is(t, exitDone)
	var got summary
	require.NoError(t, json.Unmarshal([]byte(a.stdout), &got))
	assert.EqualValues(t, 1, got.Reports[0].Created)
	assert.EqualValues(t, 2, got.Reports[0].Deleted)
	assert.Contains(t, got.Reports[0].Decisions, plannedJSON{"deleted", w.URL + "/p/001", false})
	assert.False(t, got.InStep)

	w.set("/sitemap.xml", text(w.urlset(paths[11:]...)))
	a = callHarvest(t, append(args, "-plan")...)
	a.is(t, exitLeft)
	assert.Contains(t, a.stdout, "withheld  "+w.URL+"/p/000\n")

	w.set("/sitemap.xml", text(w.urlset(append(more, paths[2:]...)...)))
	callHarvest(t, args...).is(t, exitDone)
	assert.EqualValues(t, 11, head(t, store).Total())
	require.NoError(t, json.Unmarshal([]byte(callHarvest(t, append(args, "-plan", "-json")...).stdout), &got))
	assert.True(t, got.InStep)
}

func TestFull(t *testing.T) {
	w := newWeb(t)
	w.set("/1.xml", text(w.urlset(w.serve("p", 2)...)))
	w.set("/sitemap.xml", text(w.sitemapindex("/1.xml")))
	flag := storeFlag(t)
	for _, test := range []struct {
		flag string
		want int64 // entries listed
	}{{"-full=false", 2}, {"-full=false", 0}, {"-full", 2}} {
		a := callHarvest(t, "-json", flag, test.flag, w.URL+"/sitemap.xml")
		a.is(t, exitDone)
		var got summary
		require.NoError(t, json.Unmarshal([]byte(a.stdout), &got))
		assert.Equal(t, test.want, got.Reports[0].Events)
	}
}

// With -recheck the command requests pages again that the publisher states as unchanged.
func TestRecheck(t *testing.T) {
	w := newWeb(t)
	w.set("/a", text("old"))
	w.set("/1.xml", text(strings.ReplaceAll(w.urlset("/a"), "</loc>", "</loc><lastmod>2020-01-01</lastmod>")))
	store := storeFlag(t)
	callHarvest(t, store, w.URL+"/1.xml").is(t, exitDone)
	w.set("/a", text("new"))
	callHarvest(t, store, w.URL+"/1.xml").is(t, exitDone)
	assert.Equal(t, 1, w.asked["/a"])
	a := callHarvest(t, store, "-recheck", w.URL+"/1.xml")
	a.is(t, exitDone)
	assert.Equal(t, 2, w.asked["/a"])
	assert.Contains(t, a.stdout, "updated    1")
	a = callHarvest(t, store, "-recheck", w.URL+"/1.xml")
	a.is(t, exitDone)
	assert.Equal(t, 3, w.asked["/a"])
	assert.NotContains(t, a.stdout, "fetched")
}

// listing returns a sitemap of paths of the server that were changed on a day.
func (w *web) listing(day string, paths ...string) http.HandlerFunc {
	return text(strings.ReplaceAll(w.urlset(paths...), "</loc>", "</loc><lastmod>"+day+"</lastmod>"))
}

// A run asks for a sample of what the publisher states as unchanged, unless -sample turns
// that off.
func TestSample(t *testing.T) {
	for flag, asked := range map[string]int{"-sample=0": 2, "-sample=1": 2, "-sample=-1": 1} {
		t.Run(flag, func(t *testing.T) {
			w := newWeb(t)
			store := storeFlag(t)
			w.set("/a", text("old"))
			w.set("/b", text("b"))
			w.set("/1.xml", w.listing("2020-01-01", "/a"))
			callHarvest(t, store, "-rate=1e6", flag, w.URL+"/1.xml").is(t, exitDone)
			w.set("/a", text("new"))
			w.set("/1.xml", w.listing("2020-01-01", "/a", "/b"))
			a := callHarvest(t, store, "-rate=1e6", flag, w.URL+"/1.xml")
			a.is(t, exitDone)
			assert.Equal(t, asked, w.asked["/a"])
			assert.Equal(t, asked == 2, strings.Contains(a.stdout, "  rechecked  1 of what seemed unchanged asked for again: 1 had changed\n"), a.stdout)
		})
	}
}

// A run is in step with a page whose server still sends the bytes from before its change.
func TestLagging(t *testing.T) {
	w := newWeb(t)
	store := storeFlag(t)
	w.set("/a", text("old"))
	w.set("/1.xml", w.listing("2020-01-01", "/a"))
	callHarvest(t, store, w.URL+"/1.xml").is(t, exitDone)
	w.set("/1.xml", w.listing("2020-01-09", "/a"))
	a := callHarvest(t, store, w.URL+"/1.xml")
	a.is(t, exitDone)
	assert.Contains(t, a.stdout, "  left       1 asked for again later, because their server may lag\n")
	assert.Contains(t, a.stdout, "  In step: ")
}

// Bodies that all become equal to each other are withheld until -approve.
func TestEqualBodies(t *testing.T) {
	w := newWeb(t)
	store := storeFlag(t)
	paths := w.serve("p", 20)
	w.set("/1.xml", w.listing("2020-01-01", paths...))
	callHarvest(t, store, "-rate=1e6", w.URL+"/1.xml").is(t, exitDone)
	for _, path := range paths {
		w.set(path, text("Please log in"))
	}
	w.set("/1.xml", w.listing("2020-01-09", paths...))
	a := callHarvest(t, store, "-rate=1e6", w.URL+"/1.xml")
	a.is(t, exitLeft)
	assert.Contains(t, a.stdout, "  guard      New bodies are withheld: most of the bodies that would replace others have become equal to each other")
	assert.Contains(t, a.stdout, " If the new bodies are right, -approve accepts them.\n")
	assert.NotContains(t, strings.ToLower(a.stdout), "deletions")
	a = callHarvest(t, store, "-rate=1e6", "-approve", w.URL+"/1.xml")
	a.is(t, exitDone)
	assert.Contains(t, a.stdout, "  updated    20\n")
}

func TestHeld(t *testing.T) {
	w := newWeb(t)
	w.set("/sitemap.txt", text(w.URL+"/a\n"))
	flag := storeFlag(t)
	s, _ := openStore(t, flag)
	w.set("/a", text("a"))
	_, release, err := s.Hold(t.Context(), "source/"+w.URL+"/sitemap.txt", time.Minute)
	require.NoError(t, err)
	until := "its claim expires at 20.*Z"
	a := callHarvest(t, flag, w.URL+"/sitemap.txt")
	a.is(t, exitFailed)
	assert.Contains(t, a.stderr, "Another process is harvesting this source")
	assert.Regexp(t, until, a.stderr)

	ctx, cancel := context.WithCancel(t.Context())
	p := &harvestCommand{Console: cli.NewConsole("harvest", io.Discard, cancels{"waiting: ", cancel})}
	assert.Equal(t, exitLeft, p.run(ctx, []string{"-wait", flag, w.URL + "/sitemap.txt"}), "a signal ends the wait")
	p.Console = cli.NewConsole("harvest", io.Discard, cancels{"waiting: ", release})
	assert.Equal(t, exitDone, p.run(t.Context(), []string{"-wait", flag, w.URL + "/sitemap.txt"}), "the holder ends")
}

// A cancels calls f when a text is written.
type cancels struct {
	text string
	f    func()
}

func (c cancels) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(c.text)) {
		c.f()
	}
	return len(b), nil
}

// A host that refuses all pages is left alone. The next run begins with one request.
func TestLeftAlone(t *testing.T) {
	w := newWeb(t)
	paths := w.serve("p", 12)
	pages := func() (n int) {
		for _, path := range paths {
			n += w.asked[path]
		}
		clear(w.asked)
		return n
	}
	for _, path := range paths {
		w.set(path, answerWith(429))
	}
	w.set("/sitemap.xml", text(w.urlset(paths...)))
	flag := storeFlag(t)
	a := callHarvest(t, "-rate=1e6", flag, w.URL+"/sitemap.xml")
	a.is(t, exitLeft)
	assert.LessOrEqual(t, pages(), 8, "5, and those on their way")
	assert.Contains(t, a.stdout, "left alone "+w.URL+" refused ")
	assert.Contains(t, a.stdout, "12 to get")
	a = callHarvest(t, "-rate=1e6", flag, w.URL+"/sitemap.xml")
	a.is(t, exitLeft)
	assert.Equal(t, 1, pages())
	assert.Contains(t, a.stdout, "left alone "+w.URL+" refused ")
}

func TestInterrupt(t *testing.T) {
	w := newWeb(t)
	flag := storeFlag(t)
	paths := w.serve("p", 10)
	w.set("/sitemap.xml", text(w.urlset(paths...)))
	ctx, cancel := context.WithCancel(t.Context())
	w.set("/p/007", func(rw http.ResponseWriter, r *http.Request) {
		time.AfterFunc(100*time.Millisecond, cancel) // by then the others are there
		<-r.Context().Done()
	})
	a := callHarvestContext(ctx, "-rate=1e6", "-concurrency=4", flag, "-export", filepath.Join(t.TempDir(), "x"), w.URL+"/sitemap.xml")
	a.is(t, exitLeft)
	assert.Contains(t, a.stderr, "the next run goes on from there")
	got := head(t, flag).Total()
	assert.Positive(t, got, "what was got is kept")

	w.set("/p/007", text("back"))
	clear(w.asked)
	callHarvest(t, "-rate=1e6", flag, w.URL+"/sitemap.xml").is(t, exitDone)
	assert.EqualValues(t, 10, head(t, flag).Total())
}

// An interrupted run of which the store failed does not claim that all it got is kept.
func TestInterruptWhileTheStoreFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &harvestCommand{harvestOptions: harvestOptions{storeFlag: "sqlite:websync.db"}}
	for _, tt := range []struct {
		err  error
		code int
		want string
	}{
		{context.Canceled, exitLeft, "s: interrupted; what was got is kept, and the next run goes on from there"},
		{errors.Join(context.Canceled, &harvest.StoreError{Err: errors.New("no connection")}), exitFailed,
			"s: interrupted, and what was got last may not be stored; the next run gets it again\nstore: no connection"},
	} {
		r := p.newResult(ctx, &harvest.Report{Source: "s"}, fmt.Errorf("harvest: s: %w", tt.err))
		assert.Equal(t, tt.want, r.Error)
		assert.Equal(t, tt.code, r.code())
	}
}

func TestSignalEndsTheProcess(t *testing.T) {
	w := newWeb(t)
	reached := make(chan struct{})
	w.set("/sitemap.txt", func(rw http.ResponseWriter, r *http.Request) {
		close(reached)
		<-r.Context().Done()
	})
	cmd := process("harvest", "-store=mem", w.URL+"/sitemap.txt")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	<-reached
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	err := cmd.Wait()
	require.Equal(t, exitLeft, cmd.ProcessState.ExitCode(), "%v: %s", err, &stderr)
	assert.Contains(t, stderr.String(), "interrupted")
}

func TestProgressLines(t *testing.T) {
	now := time.Now()
	at := harvest.Progress{Source: "s", Started: now.Add(-10 * time.Second), Listed: 50, Total: 100, Done: 20, Getting: 3}
	var out bytes.Buffer
	p := newProgress(cli.NewOutput(&out), false)
	p.update(at)
	assert.Empty(t, out.String(), "the first line comes later")
	p.wrote = now.Add(-time.Minute)
	at.Waiting = map[string]time.Time{"http://slow.example": now.Add(time.Minute), "http://full.example": {}}
	p.update(at)
	assert.Regexp(t, `^s: 20 of 100 \(20%\), 2/s, 40s left, 3 to get, waiting for http://full\.example, waiting for http://slow\.example (1m0s|59s)\n$`, out.String())

	out.Reset()
	p = newProgress(cli.NewOutput(&out), true)
	at.Source = strings.Repeat("long", 100)
	at.Waiting = map[string]time.Time{"http://" + strings.Repeat("long", 100): now.Add(time.Minute)}
	p.update(at)
	for range maxLines + 3 {
		p.note("finding", "text")
	}
	p.end()
	lines := strings.Split(out.String(), "\n")
	assert.Len(t, lines, maxLines+2)
	assert.LessOrEqual(t, len(lines[0]), 2*len("\r\x1b[K")+liveWidth+len("finding: text"))
	assert.Contains(t, lines[maxLines], "not shown")
}

func TestText(t *testing.T) {
	assert.Empty(t, requestsText(nil))
	assert.Equal(t, "3: 1 without an answer, 2 with status 200", requestsText(map[int]int64{0: 1, 200: 2}))
	assert.Empty(t, leftText(harvest.TaskCounts{}))
	assert.Equal(t, "2 to get, 1 parked, 3 deletions withheld", leftText(harvest.TaskCounts{Waiting: 2, Parked: 1, Withheld: 3}))
	assert.Equal(t, "3 asked for again later, because their server may lag", leftText(harvest.TaskCounts{Lagging: 3}))
	assert.Equal(t, "2 to get, 1 asked for again later, because their server may lag", leftText(harvest.TaskCounts{Waiting: 2, Lagging: 1}))
	assert.Empty(t, recheckedText(&harvest.Rechecks{}))
	assert.Equal(t, "12 of what seemed unchanged asked for again: 1 had changed",
		recheckedText(&harvest.Rechecks{Times: harvest.Recheck{Asked: 10, Wrong: 1}, Digests: harvest.Recheck{Asked: 2}}))
	assert.Equal(t, "60 of what seemed unchanged asked for again: 4 had changed; the server's validators were wrong for 1; the next run asks for the other 812",
		recheckedText(&harvest.Rechecks{Times: harvest.Recheck{Asked: 60, Wrong: 4}, Validators: harvest.Recheck{Asked: 6, Wrong: 1}, Unasked: 812}))
	assert.Equal(t, "a: b", named("b", "a"))
	assert.Equal(t, "x: a: b", named("x: a: b", "a"))
}

// TestPace: a run that takes long, because it asks politely, says so once, and what makes
// it shorter.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgress(cli.NewOutput(&out), false)
		waiting := map[string]time.Time{"http://slow.example": {}}
		at := harvest.Progress{Source: "http://u:p@s/", Started: time.Now(), Total: 2000, Done: 60, Waiting: waiting}
		time.Sleep(6 * time.Second)
		p.pace(at)
		time.Sleep(6 * time.Second)
		idle, short := at, at
		idle.Waiting, short.Total = nil, 200
		p.pace(idle)
		p.pace(short)
		assert.Empty(t, out.String())
		for range 2 {
			p.pace(at)
		}
		assert.Equal(t, "http://s/: 6 min 28 s left for 1,940 entries: the site is asked slowly, out of politeness; "+
			"-rate 20 asks 20 times a second, if its owner agrees\n", out.String())
		p.end()
		p.pace(at)
		assert.Equal(t, 2, strings.Count(out.String(), "\n"), "in each run")
	})
}
