package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/harvest/status"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
)

// patience is how long tests wait for what must come, on a busy machine, too.
const patience = 5 * time.Minute

// An upstream publishes its own work by one protocol.
type upstream struct {
	t       *testing.T
	url     string // ends in a slash
	entry   string
	lists   *cli.Publication
	handler atomic.Pointer[publish.Handler]
	store   *harvest.Catalog
	asked   atomic.Int64                        // requests for lists
	then    atomic.Pointer[func(*http.Request)] // before each answer
}

const ownKey = "own"

// newUpstream returns an upstream without resources, whose documents name hubs.
func newUpstream(t *testing.T, protocol string, hubs ...string) *upstream {
	u := &upstream{t: t, lists: &cli.Publication{Protocol: protocol, Hubs: hubs}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u.lists.IsList(r.URL.EscapedPath()) {
			u.asked.Add(1)
		}
		if then := u.then.Load(); then != nil {
			(*then)(r)
		}
		u.handler.Load().ServeHTTP(w, r)
	}))
	u.url = "http://" + server.Listener.Addr().String() + "/"
	u.publish(harvest.NewCatalog(memstore.New()))
	server.Start()
	t.Cleanup(server.Close)
	return u
}

// publish publishes a store, in place of the one before.
func (u *upstream) publish(store *harvest.Catalog) {
	u.store = store
	site := &publish.Site{Catalog: store, Base: u.url, Own: []string{ownKey}, Report: func(f websync.Finding) {
		if f.Rule != "sitemap-empty" { // at first
			u.t.Error(f)
		}
	}}
	handler := &publish.Handler{Publishers: site.Publishers(u.lists.Publisher(u.url))}
	require.NoError(u.t, handler.Check())
	u.t.Cleanup(func() { handler.Close() })
	u.entry = u.lists.Entry()
	u.handler.Store(handler)
}

// put publishes a resource.
func (u *upstream) put(name, text string) { u.commit(u.putting(name, text)) }

// putting is the event of put.
func (u *upstream) putting(name, text string) harvest.Event {
	id := u.url + name
	return harvest.Event{Kind: harvest.Put, Open: harvest.OpenBytes([]byte(text)), Resource: websync.Resource{
		ID: id, Title: name, Content: websync.Link{Href: id, Type: "text/plain", Digests: websync.Digests{websync.SHA256([]byte(text))}},
	}}
}

func (u *upstream) delete(name string) {
	u.commit(harvest.Event{Kind: harvest.Delete, Resource: websync.Resource{ID: u.url + name}})
}

func (u *upstream) commit(events ...harvest.Event) {
	report, err := (&harvest.Harvester{Catalog: u.store}).Run(context.WithoutCancel(u.t.Context()), harvest.Of(ownKey, events...))
	if err != nil || report.Failed > 0 {
		u.t.Errorf("%v %+v", err, report)
	}
}

// texts returns the texts that stores hold by the id of each resource at its first
// publisher.
func texts(t *testing.T, stores ...websync.Catalog) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, store := range stores {
		for item, err := range store.Resources(t.Context(), websync.Range{}) {
			require.NoError(t, err)
			if item.Source == mergedKey {
				continue
			}
			body, ok := item.Body(websync.ContentName)
			require.True(t, ok, item.Resource.ID)
			id := item.Resource.ID
			if via, ok := item.Resource.Via(); ok {
				id = via.Href
			}
			assert.NotContains(t, all, id)
			all[id] = testkit.Read(t, store, body)
		}
	}
	return all
}

// A running is the command in this process.
type running struct {
	entries []string
	stop    func() int
	stderr  *buffer
}

// startRelay runs the command until the test ends or stop is called, and waits for n
// URLs.
func startRelay(t *testing.T, n int, args ...string) *running {
	t.Helper()
	return startProgram(t, &relayCommand{}, n, args...)
}

func startProgram(t *testing.T, p *relayCommand, n int, args ...string) *running {
	t.Helper()
	read, write := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{stderr: new(buffer)}
	code := make(chan int, 1)
	go func() {
		p.Console = cli.NewConsole("relay", write, r.stderr)
		code <- p.run(ctx, append([]string{"-addr", "127.0.0.1:0", "-rate", "1e6"}, args...))
		write.Close()
	}()
	r.stop = sync.OnceValue(func() int {
		cancel()
		return <-code
	})
	t.Cleanup(func() { assert.Equal(t, exitDone, r.stop(), r.stderr) })
	for lines := bufio.NewScanner(read); len(r.entries) < n; {
		require.True(t, lines.Scan(), "%s", r.stderr)
		r.entries = append(r.entries, lines.Text())
	}
	return r
}

// A buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// eventually waits until ok.
func eventually(t *testing.T, ok func() bool, message ...any) {
	t.Helper()
	require.Eventually(t, ok, patience, 5*time.Millisecond, message...)
}

// A reader follows a relay over HTTP into a store of its own.
type reader struct {
	store     *harvest.Catalog
	source    harvest.Source
	harvester *harvest.Harvester
}

func newReader(source harvest.Source) *reader {
	client := fetch.New(nil)
	client.Rate, client.Attempts, client.IgnoreRobots = -1, -1, true
	store := harvest.NewCatalog(memstore.New())
	return &reader{store, source, &harvest.Harvester{Catalog: store, Fetcher: client, Attempts: -1}}
}

// run harvests once. It reports whether the reader is in step.
func (r *reader) run(t *testing.T) bool {
	report, err := r.harvester.Run(t.Context(), r.source)
	testkit.MakeDue(t, r.store)
	return err == nil && report.InStep()
}

// follows waits until the reader has what the upstreams have, and is in step.
func (r *reader) follows(t *testing.T, ups ...*upstream) {
	t.Helper()
	var stores []websync.Catalog
	for _, u := range ups {
		stores = append(stores, u.store)
	}
	want := texts(t, stores...)
	eventually(t, func() bool { return r.run(t) && assert.ObjectsAreEqual(want, texts(t, r.store)) })
}

// A panicking is a Source that panics, in Events or in Get.
type panicking struct {
	harvest.Source
	lists bool
}

func (p panicking) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	if p.lists {
		panic("lists on purpose")
	}
	return p.Source.Events(ctx, run)
}

func (p panicking) Get(ctx context.Context, job *harvest.Job) error {
	if strings.HasSuffix(job.Resource.ID, "/bad.txt") {
		panic("gets on purpose")
	}
	return job.Content(ctx)
}

// TestPanickingSources: a source that panics while it lists, and one of which a resource
// does, leave the others as they are.
func TestPanickingSources(t *testing.T) {
	lists, gets, good := newUpstream(t, "atom"), newUpstream(t, "atom"), newUpstream(t, "atom")
	gets.put("bad.txt", "bad")
	for _, u := range []*upstream{lists, gets, good} {
		u.put("one.txt", "one")
	}
	p := &relayCommand{wrap: func(s harvest.Source) harvest.Source { return panicking{s, s.Key() == lists.entry} }}
	r := startProgram(t, p, 1, "-store=mem", configured(t, `{
		"publish": [{"protocol": "atom"}],
		"sources": [{"url": %q, "protocol": "atom", "every": "10ms", "interval": "0s"}, {"url": %q, "protocol": "atom", "every": "10ms", "interval": "0s"},
			{"url": %q, "protocol": "atom", "every": "10ms", "interval": "0s"}]
	}`, lists.entry, gets.entry, good.entry))
	reader := newReader(&atom.Source{URL: r.entries[0], Name: testkit.Src})
	want := map[string]string{gets.url + "one.txt": "one", good.url + "one.txt": "one"}
	eventually(t, func() bool { return reader.run(t) && assert.ObjectsAreEqual(want, texts(t, reader.store)) })
	eventually(t, func() bool { return strings.Contains(r.stderr.String(), "lists on purpose") })
	good.put("two.txt", "two")
	gets.put("two.txt", "two")
	want[good.url+"two.txt"], want[gets.url+"two.txt"] = "two", "two"
	eventually(t, func() bool { return reader.run(t) && assert.ObjectsAreEqual(want, texts(t, reader.store)) })
	eventually(t, func() bool { return strings.Contains(r.stderr.String(), "gets on purpose") })
	assert.Contains(t, r.stderr.String(), "panicking.Get", "the stack is logged")
	assert.Contains(t, r.stderr.String(), "panicking.Events")
	assert.Equal(t, exitDone, r.stop(), r.stderr)
}

// TestStatusPage: the page has its own address, and shows the sources with the next runs.
func TestStatusPage(t *testing.T) {
	up := newUpstream(t, "atom")
	up.put("one.txt", "one")
	r := startRelay(t, 1, "-store=mem", "-status=127.0.0.1:0", "-protocol=atom", up.entry)
	_, rest, ok := strings.Cut(r.stderr.String(), "relay: status page at ")
	require.True(t, ok, r.stderr)
	url, _, _ := strings.Cut(rest, "\n")
	get := func(url string) (int, string) {
		resp, err := http.Get(url)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(body)
	}
	var now status.Status
	eventually(t, func() bool {
		code, body := get(url + "status.json")
		require.Equal(t, http.StatusOK, code)
		require.NoError(t, json.Unmarshal([]byte(body), &now))
		return len(now.Sources) == 1 && len(now.Sources[0].Runs) > 0 && !now.Sources[0].Next.IsZero()
	})
	assert.Equal(t, up.entry, now.Sources[0].Name)
	assert.EqualValues(t, 1, now.Sources[0].Runs[0].Created)
	assert.NotEmpty(t, now.Statuses)
	code, html := get(url)
	assert.Equal(t, http.StatusOK, code)
	assert.Contains(t, html, up.entry)
	code, _ = get(r.entries[0] + "/../status.json")
	assert.Equal(t, http.StatusNotFound, code, "readers do not get it")
	assert.Equal(t, exitDone, r.stop(), r.stderr)
}

// configured writes a configuration file and returns the flag for it.
func configured(t *testing.T, format string, args ...any) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "relay.json")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, format, args...), 0o644))
	return "-config=" + file
}

// TestRelay: two publishers by different protocols are relayed by two others, and readers
// of both follow every change.
func TestRelay(t *testing.T) {
	one, two := newUpstream(t, "resourcesync"), newUpstream(t, "atom")
	for n := range 5 {
		one.put(fmt.Sprintf("one/%d.txt", n), fmt.Sprintf("one %d", n))
		two.put(fmt.Sprintf("two/%d.txt", n), fmt.Sprintf("two %d", n))
	}
	file := filepath.Join(t.TempDir(), "relay.db")
	page := filepath.Join(t.TempDir(), "relay.html")
	r := startRelay(t, 3, "-store=sqlite:"+file, "-report="+page, configured(t, `{
		"publish": [{"protocol": "resourcesync"}, {"protocol": "atom"}, {"protocol": "rinfo", "path": "rinfo/feed.atom"}],
		"sources": [{"url": %q, "every": "10ms", "interval": "0s"}, {"url": %q, "protocol": "atom", "every": "10ms", "interval": "0s"}]
	}`, one.url, two.entry))
	readers := []*reader{
		newReader(&resourcesync.Source{URL: r.entries[0], Name: testkit.Src}), newReader(&atom.Source{URL: r.entries[1], Name: testkit.Src}),
		newReader(&atom.Source{URL: r.entries[2], Name: testkit.Src}),
	}
	follow := func() {
		for _, reader := range readers {
			reader.follows(t, one, two)
		}
	}
	follow()
	one.put("one/1.txt", "changed")
	two.delete("two/3.txt")
	follow()
	one.delete("one/0.txt")
	one.put("one/new.txt", "new")
	two.put("two/4.txt", "changed")
	two.put("two/3.txt", "again")
	follow()

	require.Equal(t, exitDone, r.stop(), r.stderr)
	db, err := sqlitestore.Open(t.Context(), file, nil)
	require.NoError(t, err)
	defer db.Close()
	store := harvest.NewCatalog(db)
	assert.Equal(t, texts(t, one.store, two.store), texts(t, store))
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(html), two.entry)
	assert.Contains(t, r.stderr.String(), "relay: "+one.url+": harvesting resourcesync "+one.entry)
	assert.Contains(t, r.stderr.String(), "relay: "+two.entry+": 5 created, 0 updated, 0 deleted. In step: 5 held. The store has what the source lists.\n")
}

// TestFoundLater: a source that is not there at the start does not keep the others
// waiting, and what the store holds is published at once.
func TestFoundLater(t *testing.T) {
	one := newUpstream(t, "sitemap")
	one.put("a.txt", "a")
	r := startRelay(t, 1, "-store=mem", "-as=atom", "-every=10ms", "http://127.0.0.1:1/nothing", one.entry)
	newReader(&atom.Source{URL: r.entries[0], Name: testkit.Src}).follows(t, one)
	eventually(t, func() bool { return strings.Contains(r.stderr.String(), "127.0.0.1:1") })
}

// TestRelayLeftBehind: a source to which its URL leads no longer is harvested as before.
func TestRelayLeftBehind(t *testing.T) {
	one, two := newUpstream(t, "atom"), newUpstream(t, "atom")
	one.put("one.txt", "one")
	two.put("two.txt", "two")
	var offered atomic.Pointer[upstream]
	offered.Store(one)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/page" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><link rel="alternate" type="application/atom+xml" href="%s">`, offered.Load().entry)
	}))
	defer page.Close()
	file := filepath.Join(t.TempDir(), "relay.db")
	args := []string{"-store=sqlite:" + file, "-allow-private", configured(t, `{
		"publish": [{"protocol": "atom"}], "sources": [{"url": %q, "every": "10ms", "interval": "0s"}]
	}`, page.URL+"/page")}
	r := startRelay(t, 1, args...)
	newReader(&atom.Source{URL: r.entries[0], Name: testkit.Src}).follows(t, one)
	require.Equal(t, exitDone, r.stop(), r.stderr)

	offered.Store(two)
	db, err := sqlitestore.Open(t.Context(), file, nil)
	require.NoError(t, err)
	store := harvest.NewCatalog(db)
	target := cli.Target{Protocol: cli.Auto, URL: page.URL + "/page"}
	(&cli.Opener{State: store}).Doubt(t.Context(), target)
	require.NoError(t, db.Close())
	one.put("one.txt", "changed")
	r = startRelay(t, 1, args...)
	newReader(&atom.Source{URL: r.entries[0], Name: testkit.Src}).follows(t, one, two)
	assert.Contains(t, r.stderr.String(), "relay: "+page.URL+"/page no longer leads to "+one.entry+": its records stay, and it is harvested as before\n")
}
