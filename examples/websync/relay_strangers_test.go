package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/pgstore"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/internal/testing/pgtest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
)

var strangerHistories = flag.Int("strangers", racing.Some(200), "how many histories of sources that state the same ids")

const (
	honest  = "https://honest.example/feed"
	hostile = "https://hostile.example/feed"
	neutral = "https://neutral.example/feed" // lists what is on others' hosts, too
)

// sharedIDs are ids that all three sources state: on the host of each, on none, and two
// that are no IRIs, of which each source has its own.
var sharedIDs = []string{
	"https://honest.example/1", "https://honest.example/2", "https://hostile.example/1", "https://neutral.example/1",
	"urn:example:1", "https://elsewhere.example/1", "news-1", "2",
}

// strangersStores are what all that strangers do is tried on.
var strangersStores = []struct {
	name string
	open func(*testing.T) harvest.Store
}{
	{"memory", func(*testing.T) harvest.Store { return memstore.New() }},
	{"SQLite", func(t *testing.T) harvest.Store {
		db, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), nil)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, db.Close()) })
		return db
	}},
	{"PostgreSQL", func(t *testing.T) harvest.Store {
		dsn := pgtest.Server(t)
		db, err := pgstore.Open(t.Context(), dsn, &pgstore.Options{Schema: pgtest.Schema(t, dsn)})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, db.Close()) })
		return db
	}},
}

// onEachStore tries an attack.
func onEachStore(t *testing.T, attack func(*testing.T, *harvest.Catalog)) {
	for _, on := range strangersStores {
		t.Run(on.name, func(t *testing.T) { attack(t, harvest.NewCatalog(on.open(t))) })
	}
}

// A claim is what a source states about an id.
type claim struct {
	source string
	live   bool
	text   string
}

// A strangersWorld is a store that three sources fill, one of them hostile, and readers of
// what is published of it, by each protocol that states deletions.
type strangersWorld struct {
	*testing.T
	store   *harvest.Catalog
	merger  *merger
	members map[string]union.Member
	hidden  map[string]bool // quarantined sources
	readers map[string]*reader
	claims  map[string][]*claim // by id, the first one first
	entries []string            // URLs of lists
	cut     atomic.Int64        // descriptions that are published in part, by all protocols
}

func newStrangersWorld(t *testing.T, store *harvest.Catalog, members map[string]union.Member) *strangersWorld {
	w := &strangersWorld{
		T: t, store: store, members: members,
		readers: map[string]*reader{}, claims: map[string][]*claim{},
	}
	w.merger = &merger{
		catalog: w.store, fail: func(err error) { t.Log(err) },
		known:  func() []string { return []string{honest, hostile, neutral} },
		member: func(source string) (union.Member, bool) { return w.members[source], !w.hidden[source] },
	}
	server := httptest.NewUnstartedServer(nil)
	base := "http://" + server.Listener.Addr().String() + "/"
	site := &publish.Site{Catalog: w.store, Base: base, Sources: []string{mergedKey}, Report: func(f websync.Finding) {
		switch f.Rule {
		case "publish-long":
			w.cut.Add(1)
		case "resourcesync-left-out": // of one that is long all the same
		default:
			t.Error(f)
		}
	}}
	var lists []*cli.Publication
	var publishers []websync.Publisher
	for _, protocol := range []string{"resourcesync", "atom", "rinfo", "atompmh"} {
		p := &cli.Publication{Protocol: protocol, Path: protocol + ".xml"}
		lists, publishers = append(lists, p), append(publishers, p.Publisher(base))
	}
	handler := site.Handler(publishers...)
	require.NoError(t, handler.Check())
	server.Config.Handler = handler
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(func() { handler.Close() })
	for _, p := range lists {
		w.entries = append(w.entries, p.Entry())
		source := map[string]harvest.Source{
			"resourcesync": &resourcesync.Source{URL: p.Entry()}, "atom": &atom.Source{URL: p.Entry()},
			"rinfo": &rinfo.Source{URL: p.Entry()}, "atompmh": &atompmh.Source{URL: p.Entry(), AllFormats: true},
		}[p.Protocol]
		w.readers[p.Protocol] = newReader(source)
		w.readers[p.Protocol].harvester.MaxDelete = -1
	}
	return w
}

// state lets a source state an id; without a text it deletes it.
func (w *strangersWorld) state(source, id, text string) {
	e := harvest.Event{Resource: websync.Resource{ID: id, Title: text, Content: websync.Link{Type: "text/plain"}}, Open: harvest.OpenBytes([]byte(text))}
	if text == "" {
		e = harvest.Event{Kind: harvest.Delete, Resource: websync.Resource{ID: id}}
	}
	_, err := (&harvest.Harvester{Catalog: w.store, MaxDelete: -1}).Run(context.Background(), harvest.Of(source, e))
	require.NoError(w, err)
	at := slices.IndexFunc(w.claims[id], func(c *claim) bool { return c.source == source })
	switch {
	case at >= 0:
		w.claims[id][at].live, w.claims[id][at].text = text != "", text
	case text != "":
		w.claims[id] = append(w.claims[id], &claim{source, true, text})
	}
}

// want returns what readers must hold: for each id what its owner states.
func (w *strangersWorld) want() map[string]string {
	all := map[string]string{}
	for id, claims := range w.claims {
		claims = slices.DeleteFunc(slices.Clone(claims), func(c *claim) bool { return w.hidden[c.source] })
		if !strings.Contains(id, ":") {
			for _, c := range claims {
				if c.live {
					all[websync.TagURI(c.source, id)] = c.text
				}
			}
			continue
		}
		var best *claim
		bestAt := 0
		for scoped := range 2 { // first what counts if nobody has the id in its scope
			if scoped == 1 && !slices.ContainsFunc(claims, func(c *claim) bool { return w.inScope(c.source, id) }) {
				break
			}
			best = nil
			for at, c := range claims {
				m := w.members[c.source]
				if !c.live || (scoped == 1 || len(m.Scope) > 0) && !w.inScope(c.source, id) {
					continue
				}
				if best == nil || m.Rank > w.members[best.source].Rank {
					best, bestAt = c, at
				}
			}
		}
		if best != nil {
			all[id] = claims[bestAt].text
		}
	}
	return all
}

func (w *strangersWorld) inScope(source, id string) bool {
	scope := w.members[source].Scope
	if len(scope) == 0 {
		return strings.HasPrefix(id, strings.TrimSuffix(source, "feed"))
	}
	return slices.ContainsFunc(scope, func(prefix string) bool { return prefix == union.Everything || strings.HasPrefix(id, prefix) })
}

// check publishes, and compares what the readers hold, and a new one of each kind.
func (w *strangersWorld) check() {
	w.Helper()
	require.NoError(w, w.merger.step(w.Context()))
	want := w.want()
	for protocol, r := range w.readers {
		require.True(w, r.run(w.T), protocol)
		require.Equal(w, want, texts(w.T, r.store), protocol)
		fresh := newReader(r.source)
		require.True(w, fresh.run(w.T), protocol)
		require.Equal(w, want, texts(w.T, fresh.store), "a new reader by %s", protocol)
	}
}

// TestDeletionByAStranger: a source lists ids of another, with other content, and deletes
// them again. Nobody who reads the other one notices.
func TestDeletionByAStranger(t *testing.T) { onEachStore(t, deletionByAStranger) }

func deletionByAStranger(t *testing.T, store *harvest.Catalog) {
	w := newStrangersWorld(t, store, nil)
	ids := []string{"https://honest.example/1", "https://honest.example/2", "https://elsewhere.example/1", "urn:example:1"}
	for _, id := range ids {
		w.state(honest, id, "honest "+id)
	}
	w.check()
	for _, id := range ids {
		w.state(hostile, id, "bait "+id)
	}
	w.check()
	for _, id := range ids {
		w.state(hostile, id, "")
	}
	w.check()
	assert.Len(t, w.want(), len(ids))
}

// TestTakeOver: ids that can be foreseen are listed by a stranger before their publisher
// lists them. The publisher gets them.
func TestTakeOver(t *testing.T) { onEachStore(t, takeOver) }

func takeOver(t *testing.T, store *harvest.Catalog) {
	w := newStrangersWorld(t, store, nil)
	ids := []string{"https://honest.example/1", "https://honest.example/2"}
	for _, id := range ids {
		w.state(hostile, id, "bait "+id)
	}
	w.check()
	for _, id := range ids {
		w.state(honest, id, "honest "+id)
	}
	w.check()
	for _, id := range ids {
		assert.Equal(t, "honest "+id, w.want()[id])
		w.state(hostile, id, "more bait")
	}
	w.check()
	w.state(honest, ids[0], "")
	w.check()
	assert.Equal(t, map[string]string{ids[1]: "honest " + ids[1]}, w.want(), "withdrawn, whatever others list")
}

// TestScopeKeepsAStrangerOut: what a source states outside its scope is held, and not
// published.
func TestScopeKeepsAStrangerOut(t *testing.T) { onEachStore(t, scopeKeepsAStrangerOut) }

func scopeKeepsAStrangerOut(t *testing.T, store *harvest.Catalog) {
	w := newStrangersWorld(t, store, map[string]union.Member{hostile: {Scope: []string{"https://hostile.example/"}, Rank: 9}})
	w.state(hostile, "urn:example:1", "bait")
	w.state(hostile, "https://hostile.example/1", "its own")
	w.check()
	assert.Equal(t, map[string]string{"https://hostile.example/1": "its own"}, w.want())
	require.NoError(t, w.merger.recount(t.Context()))
	assert.Equal(t, []union.Conflict{{Other: hostile, IDs: 1, Example: "urn:example:1"}}, w.merger.Conflicts())
	w.members = nil
	w.check()
	assert.Len(t, w.want(), 2, "with other settings it is")
}

// TestQuarantine: nothing of a source is published while it is in quarantine, and all of it
// afterwards.
func TestQuarantine(t *testing.T) { onEachStore(t, quarantine) }

func quarantine(t *testing.T, store *harvest.Catalog) {
	w := newStrangersWorld(t, store, nil)
	w.state(hostile, "urn:example:1", "bait")
	w.state(hostile, "https://hostile.example/1", "its own")
	w.state(honest, "urn:example:1", "later, and honest")
	w.check()
	w.hidden = map[string]bool{hostile: true}
	w.check()
	assert.Equal(t, map[string]string{"urn:example:1": "later, and honest"}, w.want())
	w.hidden = map[string]bool{hostile: true, honest: true, neutral: true}
	w.check()
	assert.Empty(t, w.want())
	w.hidden = nil
	w.check()
	assert.Equal(t, "bait", w.want()["urn:example:1"], "which had it first")
}

// TestHugeTitles: a stranger's titles make lists whose compressed form readers refuse. They
// are sent as they are.
func TestHugeTitles(t *testing.T) {
	racing.Skip(t)
	w := newStrangersWorld(t, harvest.NewCatalog(memstore.New()), nil)
	w.state(honest, "https://honest.example/1", "honest")
	for i := range 3 {
		w.state(hostile, fmt.Sprint("https://hostile.example/", i), strings.Repeat("a", 4_000_000))
	}
	w.check()
	assert.Equal(t, "honest", w.want()["https://honest.example/1"])
}

// TestLongDescriptions: a stranger's entries of a megabyte each, in every part of a
// description, make no long documents. Readers of every protocol get what counts of all.
func TestLongDescriptions(t *testing.T) {
	racing.Skip(t)
	const n, megabyte = 60, 1 << 20
	w := newStrangersWorld(t, harvest.NewCatalog(memstore.New()), nil)
	w.state(honest, "https://honest.example/1", "honest")
	long := strings.Repeat("Words, ", megabyte/7)
	var events []harvest.Event
	for i := range n {
		id := fmt.Sprint("https://hostile.example/", i)
		r := websync.Resource{ID: id, Content: websync.Link{Type: "text/plain"}}
		switch i % 5 {
		case 0:
			r.Title = long
		case 1:
			r.Summary = long
		case 2:
			r.Elements = []websync.Element{{Space: "urn:x", Local: "x", XML: `<x xmlns="urn:x">` + long + "</x>"}}
		case 3:
			r.Links = slices.Repeat([]websync.Link{{Rel: "related", Href: "https://hostile.example/" + strings.Repeat("a", 1000)}}, 1000)
		case 4:
			r.Authors = []websync.Person{{Name: long}}
		}
		events = append(events, harvest.Event{Resource: r, Open: harvest.OpenBytes([]byte(id))})
		w.claims[id] = []*claim{{hostile, true, id}}
	}
	_, err := (&harvest.Harvester{Catalog: w.store}).Run(t.Context(), harvest.Of(hostile, events...))
	require.NoError(t, err)
	w.check()
	lists := len(w.readers) + 1 // ResourceSync has two
	assert.EqualValues(t, n*lists, w.cut.Load(), "each is reported once by each list")
	for _, url := range w.entries {
		response, err := http.Get(url)
		require.NoError(t, err)
		size, err := io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		assert.Less(t, size, int64(n*70_000), url)
		response.Body.Close()
	}
}

// TestStrangers lets three sources with the same ids, one of them hostile, state and delete
// them at random, with any settings, which change now and then. Readers of every protocol
// hold for each id what its owner states.
func TestStrangers(t *testing.T) {
	for seed := range *strangerHistories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 31))
			settings := func() map[string]union.Member {
				all := map[string]union.Member{}
				for _, source := range []string{honest, hostile, neutral} {
					scopes := [][]string{nil, nil, nil, {union.Everything}, {"https://honest.example/"}, {"urn:", "https://hostile.example/"}}
					all[source] = union.Member{Rank: r.IntN(2), Scope: scopes[r.IntN(len(scopes))]}
				}
				return all
			}
			on := strangersStores[seed%len(strangersStores)]
			w := newStrangersWorld(t, harvest.NewCatalog(on.open(t)), settings())
			for round := range 6 {
				for n := range 1 + r.IntN(12) {
					source := []string{honest, hostile, neutral}[r.IntN(3)]
					id, text := sharedIDs[r.IntN(len(sharedIDs))], fmt.Sprintf("%d %d of %s", round, n, source)
					if r.IntN(3) == 0 {
						text = ""
					}
					w.state(source, id, text)
				}
				if r.IntN(4) == 0 {
					w.members = settings()
				}
				w.check()
			}
		})
	}
}

// TestDrippingHosts: bodies of 20 hosts come a byte at a time. An honest source that comes
// later is harvested all the same.
func TestDrippingHosts(t *testing.T) {
	ended, busy := make(chan struct{}), make(chan struct{})
	var dripping atomic.Int64 // hosts
	var urls []string
	for host := range 20 {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.%d:0", host+2))
		if err != nil {
			t.Skip("the system has one loopback address only: ", err)
		}
		drips := sync.OnceFunc(func() {
			if dripping.Add(1) == 4 { // as many as run at the same time
				close(busy)
			}
		})
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/sitemap.xml":
				fmt.Fprint(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
				for i := range 10 {
					fmt.Fprintf(w, "<url><loc>http://%s/%d</loc></url>", r.Host, i)
				}
				fmt.Fprint(w, "</urlset>")
			case "/robots.txt":
				http.NotFound(w, r)
			default: // bodies, and documents that would lead to others
				drips()
				for {
					fmt.Fprint(w, "x")
					w.(http.Flusher).Flush()
					select {
					case <-ended:
						return
					case <-r.Context().Done():
						return
					case <-time.After(time.Second):
					}
				}
			}
		}))
		server.Listener.Close()
		server.Listener = listener
		server.Start()
		defer server.Close()
		urls = append(urls, server.URL+"/sitemap.xml")
	}
	defer close(ended)
	up := newUpstream(t, "sitemap")
	up.put("a.txt", "a")
	then := func(*http.Request) { <-busy }
	up.then.Store(&then)
	r := startRelay(t, 1, append(append([]string{"-store=mem", "-as=atom", "-every=10ms"}, urls...), up.entry)...)
	reader := newReader(&atom.Source{URL: r.entries[0], Name: testkit.Src})
	eventually(t, func() bool { return reader.run(t) && texts(t, reader.store)[up.url+"a.txt"] == "a" })
	require.Equal(t, exitDone, r.stop(), r.stderr)
}

// TestRelayQuota: of a source that states ever more, the relay takes as much as its quota
// allows, and says so. It deletes, and takes all of another source.
func TestRelayQuota(t *testing.T) {
	greedy, modest := newUpstream(t, "sitemap"), newUpstream(t, "atom")
	for _, name := range []string{"a", "b", "c", "d"} {
		greedy.put(name, name)
		modest.put(name, name)
	}
	r := startRelay(t, 1, configured(t, `{"store": "mem", "allow_private": true, "publish": [{"protocol": "atom"}], "quota": {"records": 2},
		"sources": [{"url": %q, "complete": true, "every": "10ms", "interval": "0s"},
			{"url": %q, "quota": {"records": 4}, "every": "10ms", "interval": "0s"}]}`, greedy.entry, modest.entry))
	reader := newReader(&atom.Source{URL: r.entries[0], Name: testkit.Src})
	reader.harvester.MaxDelete = -1
	held := func() (all map[string]string, ofGreedy int) {
		eventually(t, func() bool { return reader.run(t) })
		all = texts(t, reader.store)
		for id := range all {
			if strings.HasPrefix(id, greedy.url) {
				ofGreedy++
			}
		}
		return all, ofGreedy
	}
	eventually(t, func() bool {
		all, ofGreedy := held()
		return len(all) == 6 && ofGreedy == 2
	})
	eventually(t, func() bool {
		return strings.Contains(r.stderr.String(), "2 of at most 2 records are taken (Quota.Records)")
	})
	all, _ := held()
	for _, name := range []string{"a", "b", "c", "d"} {
		if all[greedy.url+name] != "" {
			greedy.delete(name)
			break
		}
	}
	eventually(t, func() bool {
		now, ofGreedy := held()
		return ofGreedy == 2 && !maps.Equal(all, now)
	})
	require.Equal(t, exitDone, r.stop(), r.stderr)
}

// TestSameHost: a source's list does not make a relay visit third parties, whether it is
// found out what the source offers, or harvested.
func TestSameHost(t *testing.T) {
	var visited atomic.Int64
	third := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		visited.Add(1)
		fmt.Fprint(w, "third")
	}))
	defer third.Close()
	away := strings.Replace(third.URL, "127.0.0.1", "localhost", 1)
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprintf(w, "Sitemap: %s/sitemap.xml\n", away)
		case "/sitemap.xml":
			const urlset = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://%s/page</loc></url>` +
				`<url><loc>%s/victim</loc></url><url><loc>http://%[1]s/redirect</loc></url></urlset>`
			fmt.Fprintf(w, urlset, r.Host, away)
		case "/page":
			fmt.Fprint(w, "page")
		case "/redirect":
			http.Redirect(w, r, away+"/victim", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer source.Close()
	for _, protocol := range []string{"auto", "sitemap"} {
		for _, where := range []string{`"same_host": true, "sources": [{`, `"sources": [{"same_host": true, `} {
			r := startRelay(t, 1, "-store=mem", "-allow-private", configured(t, `{%s"protocol": %q, "url": %q}]}`, where, protocol, source.URL+"/sitemap.xml"))
			eventually(t, func() bool { return strings.Contains(r.stderr.String(), ": 1 created") }, r.stderr)
			assert.Contains(t, r.stderr.String(), "not on the host of the source")
			r.stop()
		}
	}
	assert.Zero(t, visited.Load())
	r := startRelay(t, 1, "-store=mem", "-allow-private", "-protocol=sitemap", source.URL+"/sitemap.xml")
	eventually(t, func() bool { return visited.Load() > 1 }, r.stderr)
}
