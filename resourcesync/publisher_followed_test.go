package resourcesync_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
)

// A live is a Fetcher of what a Publisher has at the moment. It checks that documents
// with one ETag have the same bytes, and that a closed one never changes.
type live struct {
	t       *testing.T
	mu      sync.Mutex
	p       websync.Publisher
	base    string // if empty, www
	now     func() time.Time
	between func() // if set, it is called before each request
	asked   []string
	bytes   map[string]string
	closed  map[string]string
}

func render(t *testing.T, doc *websync.Document) []byte {
	var b bytes.Buffer
	if doc.Open != nil {
		r, err := doc.Open(t.Context())
		require.NoError(t, err)
		defer r.Close()
		_, err = io.Copy(&b, r)
		require.NoError(t, err)
		return b.Bytes()
	}
	require.NoError(t, doc.Write(t.Context(), &b))
	return b.Bytes()
}

func (l *live) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, req.URL)
	if l.between != nil {
		l.between()
	}
	path, ok := strings.CutPrefix(req.URL, strings.TrimSuffix(cmp.Or(l.base, www), "/"))
	if !ok {
		return nil, fmt.Errorf("%s: %w", req.URL, websync.ErrGone)
	}
	doc, err := l.p.Document(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", req.URL, websync.ErrGone)
	}
	text := render(l.t, doc)
	if before, known := l.bytes[path+doc.ETag]; known {
		require.Equal(l.t, before, string(text), path)
	}
	if before, known := l.closed[path]; known {
		require.Equal(l.t, before, string(text), path)
	}
	l.bytes[path+doc.ETag] = string(text)
	if doc.Final {
		l.closed[path] = string(text)
	}
	resp := &harvest.Response{URL: req.URL, Status: 200, Header: map[string][]string{
		"Content-Type": {doc.Type}, "Date": {l.now().Format("Mon, 02 Jan 2006 15:04:05 GMT")},
	}}
	resp.Validator = harvest.Validator{URL: req.URL, ETag: `"` + doc.ETag + `"`}
	if req.Validator.ETag == resp.Validator.ETag {
		resp.Status, resp.NotModified = 304, true
		return resp, nil
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return resp, nil
}

// A library is a Store of own resources and the Publisher of it.
type library struct {
	t     *testing.T
	store *harvest.Catalog
	clock time.Time
	truth map[string]string
	*resourcesync.Publisher
	*live
}

func newLibrary(t *testing.T, p *resourcesync.Publisher) *library {
	l := &library{t: t, store: harvest.NewCatalog(memstore.New()), clock: time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC), truth: make(map[string]string)}
	p.Catalog, p.Base = l.store, cmp.Or(p.Base, www)
	p.Locator = websync.PathLocator{Base: p.Base, Own: []string{"own"}, Reserved: p.Reserved}
	p.Report = func(f websync.Finding) { assert.Fail(t, f.String()) }
	l.Publisher = p
	l.live = &live{t: t, p: publish.Join(p, publish.Bodies(l.store, p.Locator)), now: time.Now,
		bytes: make(map[string]string), closed: make(map[string]string)}
	return l
}

// put puts a resource; an empty text deletes it.
func (l *library) put(name, text string) {
	l.clock = l.clock.Add(time.Second)
	id := l.Publisher.Base + name
	ev := harvest.Event{Resource: websync.Resource{ID: id, Modified: websync.NewDatetime(l.clock), Content: websync.Link{Type: "text/plain"}}, Open: harvest.OpenBytes([]byte(text))}
	if l.truth[name] = text; text == "" {
		delete(l.truth, name)
		ev = harvest.Event{Kind: harvest.Delete, At: websync.NewDatetime(l.clock), Resource: websync.Resource{ID: id}}
	}
	_, err := (&harvest.Harvester{Sample: -1, Catalog: l.store}).Run(l.t.Context(), harvest.Of("own", ev))
	require.NoError(l.t, err)
}

// change creates, updates or deletes one of n resources.
func (l *library) change(random *rand.Rand, n int) {
	text := fmt.Sprint("text ", random.IntN(1000))
	name := fmt.Sprint("r", random.IntN(n))
	if random.IntN(3) == 0 && l.truth[name] != "" {
		text = ""
	}
	l.put(name, text)
}

// TestPublisherFollowed: a Destination follows a Publisher, whatever changes.
func TestPublisherFollowed(t *testing.T) {
	for seed := range histories() {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 5))
			l := newLibrary(t, &resourcesync.Publisher{PartSize: 1 + random.IntN(6), ListSize: 1 + random.IntN(6), MaxLists: random.IntN(4)})
			change := func() { l.change(random, 12) }
			store := harvest.NewCatalog(memstore.New())
			for round := range 15 {
				for range random.IntN(9) {
					change()
				}
				for _, moving := range []bool{true, false} {
					if l.between = nil; moving {
						l.between = func() {
							if random.IntN(4) == 0 {
								change()
							}
						}
					}
					h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: l, MaxDelete: 1, Recheck: !moving}
					report, err := h.Run(t.Context(), &resourcesync.Source{URL: l.URL()})
					require.NoError(t, err)
					require.True(t, moving || report.InStep(), report)
					if moving && round > 0 && l.MaxLists <= 0 {
						require.Zero(t, report.Snapshots, "a new baseline, although nothing is dropped")
					}
				}
				require.Equal(t, maps.Clone(l.truth), testkit.Live(t, store))
				open := func(url string) (io.ReadCloser, error) {
					resp, err := l.Fetch(t.Context(), &harvest.Request{URL: url})
					if err != nil {
						return nil, err
					}
					return resp.Body, nil
				}
				resourcesync.ValidateTree(www+".well-known/resourcesync", open, resourcesync.TreeOptions{Report: func(f websync.Finding) {
					if f.Severity >= websync.SeverityError {
						t.Error(f)
					}
				}})
			}
		})
	}
}

// A Destination that began when there was nothing follows the changes: no gap makes it
// begin again.
func TestPublisherFollowedFromEmpty(t *testing.T) {
	l := newLibrary(t, &resourcesync.Publisher{ListSize: 2})
	_, err := (&harvest.Harvester{Catalog: l.store}).Run(t.Context(), harvest.Of("own"))
	require.NoError(t, err)
	store := harvest.NewCatalog(memstore.New())
	for i := range 6 {
		var findings []string
		h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: l, Hooks: testkit.OnFinding(func(f websync.Finding) { findings = append(findings, f.Rule) })}
		report, err := h.Run(t.Context(), &resourcesync.Source{URL: l.URL()})
		require.NoError(t, err)
		require.True(t, report.InStep(), report)
		assert.NotContains(t, strings.Join(findings, " "), "gap")
		assert.Equal(t, i == 0, report.Snapshots > 0, "only the first run reads the Resource List")
		assert.Equal(t, l.truth, testkit.Live(t, store))
		l.put(fmt.Sprint("r", i), "text")
	}
}

// A shifting is a Catalog that calls during while it is read.
type shifting struct {
	websync.Catalog
	during func()
}

func (c shifting) each(seq iter.Seq2[websync.Item, error]) iter.Seq2[websync.Item, error] {
	return func(yield func(websync.Item, error) bool) {
		for item, err := range seq {
			if c.during(); !yield(item, err) {
				return
			}
		}
	}
}

func (c shifting) Resources(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return c.each(c.Catalog.Resources(ctx, r))
}

func (c shifting) Changes(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return c.each(c.Catalog.Changes(ctx, r))
}

// TestPublisherFollowedOverHTTP: a Destination follows a Publisher through a Handler, and
// through the files of an export and a server of files. The Catalog also changes between
// the requests, and while a document is written.
func TestPublisherFollowedOverHTTP(t *testing.T) {
	changes := racing.Some(1000)
	const names = 80
	for name, files := range map[string]bool{"Handler": false, "files": true} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, 7))
			var mu sync.Mutex // of all below that changes
			var serve http.Handler
			export, odds, moving, done := func() {}, 8, false, 0
			var since, throughout map[string]string // what has not changed since the Store was in step, and during a run
			web := httptest.NewUnstartedServer(nil)
			l := newLibrary(t, &resourcesync.Publisher{Place: websync.Place{Base: "http://" + web.Listener.Addr().String() + "/"}, PartSize: 10, ListSize: 25})
			change := func() {
				l.change(random, names)
				done++
				for _, all := range []map[string]string{since, throughout} {
					maps.DeleteFunc(all, func(name, text string) bool { return l.truth[name] != text })
				}
			}
			disturb := func(odds int, after func()) { // one time in odds
				if !mu.TryLock() {
					return
				}
				defer mu.Unlock()
				if moving && random.IntN(odds) == 0 {
					change()
					after()
				}
			}
			l.Publisher.Catalog = shifting{l.store, func() { disturb(100, func() {}) }}
			handler := &publish.Handler{Publishers: []websync.Publisher{l.live.p}, Dir: t.TempDir()}
			defer handler.Close()
			serve = handler
			if files {
				dir := t.TempDir()
				serve, odds = http.FileServer(http.Dir(dir)), 16 // an export takes long
				export = func() {
					_, err := publish.WriteDir(context.Background(), dir, l.live.p)
					assert.NoError(t, err)
				}
			}
			web.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				disturb(odds, export)
				serve.ServeHTTP(w, r)
			})
			web.Start()
			defer web.Close()
			store, inStep := harvest.NewCatalog(memstore.New()), 0
			client := fetch.New(nil)
			client.Rate, client.IgnoreRobots = -1, true
			defer client.CloseIdleConnections()
			src := &resourcesync.Source{URL: l.URL()}
			run := func(h *harvest.Harvester) (*harvest.Report, map[string]string) {
				mu.Lock()
				throughout, moving = maps.Clone(l.truth), !h.Recheck
				mu.Unlock()
				report, err := h.Run(t.Context(), src)
				mu.Lock()
				defer mu.Unlock()
				moving = false
				require.NoError(t, err)
				held := make(map[string]string)
				for url, text := range testkit.Live(t, store) {
					held[strings.TrimPrefix(url, l.Publisher.Base)] = text
				}
				for name, text := range since {
					require.Equal(t, text, held[name], "%s has not changed since the Store was in step", name)
				}
				if report.InStep() {
					for name, text := range throughout {
						require.Equal(t, text, held[name], "%s has not changed during the run", name)
					}
				}
				return report, held
			}
			for done < changes {
				for range 1 + random.IntN(60) {
					change()
				}
				export()
				if report, _ := run(&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: client, MaxDelete: 1}); report.InStep() {
					inStep++
				}
				export()
				h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: client, MaxDelete: 1, Recheck: true}
				report, held := run(h)
				require.True(t, report.InStep(), report)
				require.Equal(t, l.truth, held)
				report, err := h.Audit(t.Context(), src, nil)
				require.NoError(t, err)
				require.True(t, report.InStep(), report)
				require.Zero(t, report.Differences())
				since = maps.Clone(l.truth)
			}
			assert.True(t, racing.Few() || inStep > 0)
		})
	}
}

// TestPublisherFollowedPastAList: between the requests of a run, the open Change List
// leaves out what the index has not named yet. The lists were closed within the second
// that the header Date states.
func TestPublisherFollowedPastAList(t *testing.T) {
	for at := range 9 {
		l := newLibrary(t, &resourcesync.Publisher{ListSize: 2})
		l.store.Now = func() time.Time { return firstCommit }
		l.live.now = func() time.Time { return firstCommit }
		h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Fetcher: l}
		src := &resourcesync.Source{URL: l.URL()}
		_, err := h.Run(t.Context(), src)
		require.NoError(t, err)
		for i := range 5 {
			l.put(fmt.Sprint("r", i), "text")
		}
		before, requests := maps.Clone(l.truth), 0
		l.between = func() {
			if requests++; requests == at {
				l.put("new", "text")
			}
		}
		report, err := h.Run(t.Context(), src)
		require.NoError(t, err)
		held := testkit.Live(t, h.Catalog)
		for name, text := range before {
			require.True(t, !report.InStep() || held[name] == text, "request %d: %s is missed, and the run in step", at, name)
		}
		l.between = nil
		report, err = h.Run(t.Context(), src)
		require.NoError(t, err)
		require.True(t, report.InStep())
		require.Equal(t, l.truth, testkit.Live(t, h.Catalog))
	}
}
