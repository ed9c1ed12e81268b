package endtoend

import (
	"fmt"
	"github.com/websync-go/websync/internal/testing/racing"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
)

// carries is what arrives of a set of resources.
type carries struct {
	IDs       bool // the ids, or a link via to them
	Bytes     bool
	Digests   bool // are stated before the bytes are fetched
	Deletions bool
	Times     bool // of the resources, as their publisher states them
}

// then returns what arrives by two protocols in a row. Digests that the first one does
// not state are computed.
func (c carries) then(d carries) carries {
	return carries{c.IDs && d.IDs, c.Bytes && d.Bytes, d.Digests, c.Deletions && d.Deletions, c.Times && d.Times}
}

var all = carries{IDs: true, Bytes: true, Digests: true, Deletions: true, Times: true}

// A way is a protocol, or one of its forms, with what it carries from a Publisher to a
// Source with default settings. It is the table of docs/crossbar.md.
type way struct {
	name    string
	carries carries
	note    string
	// dated: the times of resources are those of the commits, and their own ones are
	// beside them; undated: a Publisher lists only the former
	dated, undated bool
	entry          string // path of the document that a Source begins with
	open           func(url string) harvest.Source
	publish        func(t *testing.T, c websync.Catalog, base string, own []string, report func(websync.Finding)) lister
	// pack, if set, is called after each change
	pack func(t *testing.T, l lister)
	// full: deletions are found by full passes only
	full bool
	// redated: what comes back after a deletion has the time of the commit
	redated bool
	// refuses is why a Publisher lists nothing that was harvested; empty: it does
	refuses string
}

// A lister is a Publisher of a protocol's documents.
type lister interface {
	websync.Publisher
	Reserved(path string) bool
	Check() error
}

var author = websync.Person{Name: "Crossbar"}

func locator(base string, own []string, l func() lister) websync.PathLocator {
	return websync.PathLocator{Base: base, Own: own, Reserved: func(path string) bool { return l().Reserved(path) }}
}

var ways = []way{
	{
		name: "sitemap", entry: "sitemap.xml", undated: true, carries: carries{Bytes: true, Times: true},
		note: "what it omits is deleted if Source.Complete is set.",
		open: func(url string) harvest.Source { return &sitemap.Source{URL: url} },
		publish: func(t *testing.T, c websync.Catalog, base string, own []string, report func(websync.Finding)) (l lister) {
			l = &sitemap.Publisher{Place: websync.Place{Catalog: c, Base: base, Report: report, Locator: locator(base, own, func() lister { return l })}, PartSize: 3}
			return l
		},
	},
	{
		name: "Atom, archived", entry: "feed.atom", dated: true, carries: all,
		open: func(url string) harvest.Source { return &atom.Source{URL: url} },
		publish: func(t *testing.T, c websync.Catalog, base string, own []string, report func(websync.Finding)) (l lister) {
			l = &atom.Publisher{Place: websync.Place{Catalog: c, Base: base, Report: report, Locator: locator(base, own, func() lister { return l })}, Author: author, ArchiveSize: 3}
			return l
		},
	},
	{
		name: "Atom, complete", entry: "feed.atom", dated: true, carries: all,
		open: func(url string) harvest.Source { return &atom.Source{URL: url} },
		publish: func(t *testing.T, c websync.Catalog, base string, own []string, report func(websync.Finding)) (l lister) {
			l = &atom.Publisher{Place: websync.Place{Catalog: c, Base: base, Report: report, Locator: locator(base, own, func() lister { return l })}, Author: author, Complete: true}
			return l
		},
	},
	{
		name: "ResourceSync, lists", entry: "capabilitylist.xml", carries: all,
		open: func(url string) harvest.Source { return &resourcesync.Source{URL: url, NoDumps: true} },
		publish: func(t *testing.T, c websync.Catalog, base string, own []string, report func(websync.Finding)) (l lister) {
			l = &resourcesync.Publisher{Place: websync.Place{Catalog: c, Base: base, Report: report, Locator: locator(base, own, func() lister { return l })}, PartSize: 3, ListSize: 3}
			return l
		},
	},
	{
		name: "ResourceSync, dumps", entry: "capabilitylist.xml", carries: all,
		open: func(url string) harvest.Source { return &resourcesync.Source{URL: url} },
		publish: func(t *testing.T, c websync.Catalog, base string, own []string, report func(websync.Finding)) (l lister) {
			dumps := &resourcesync.Dumps{Dir: t.TempDir(), State: c.(websync.State), MaxEntries: 3}
			l = &resourcesync.Publisher{Place: websync.Place{Catalog: c, Base: base, Report: report, Locator: locator(base, own, func() lister { return l })}, Dumps: dumps}
			return l
		},
		pack: func(t *testing.T, l lister) { require.NoError(t, l.(*resourcesync.Publisher).Pack(t.Context())) },
	},
	{
		name: "Atom-PMH", entry: "feed.atom", dated: true, carries: all,
		open: func(url string) harvest.Source { return &atompmh.Source{URL: url} },
		publish: func(t *testing.T, c websync.Catalog, base string, own []string, report func(websync.Finding)) (l lister) {
			l = &atom.Publisher{Profile: atompmh.Profile(), Place: websync.Place{Catalog: c, Base: base, Report: report, Locator: locator(base, own, func() lister { return l })}, Author: author, ArchiveSize: 3}
			return l
		},
	},
	{
		name: "rinfo", entry: "feed.atom", dated: true, carries: all,
		open: func(url string) harvest.Source { return &rinfo.Source{URL: url} },
		publish: func(t *testing.T, c websync.Catalog, base string, own []string, report func(websync.Finding)) (l lister) {
			l = &atom.Publisher{Profile: rinfo.Profile(), Place: websync.Place{Catalog: c, Base: base, Report: report, Locator: locator(base, own, func() lister { return l })}, Author: author, ArchiveSize: 3}
			return l
		},
	},
	{
		name: "ELI", entry: "eli/sitemap.xml", undated: true, full: true, redated: true, carries: carries{IDs: true, Bytes: true, Deletions: true, Times: true},
		refuses: "of its own host and directory",
		note:    "what the sitemap omits is deleted when that is read, by default once in 30 days. An act that comes back after a deletion has the time of the commit.",
		open: func(url string) harvest.Source {
			return &eli.Source{Sitemap: url, Feed: strings.Replace(url, "sitemap.xml", "eli-update-feed.atom", 1), Interval: -1}
		},
		publish: func(t *testing.T, c websync.Catalog, base string, own []string, report func(websync.Finding)) (l lister) {
			l = &eli.Publisher{Place: websync.Place{Catalog: c, Base: base, Report: report, Locator: locator(base, own, func() lister { return l }), Sources: own}, Author: author}
			return l
		},
	},
}

// directory is a directory of files as what is harvested.
var directory = way{name: "directory", carries: carries{IDs: true, Bytes: true, Deletions: true, Times: true}}

// A world is what the first publisher has, by id.
type world map[string]act

type act struct {
	text     string
	modified websync.Datetime
}

// worlds are the states of a set of resources: two are changed, one is deleted and one is
// new in the second, and one that was deleted comes back in the third.
func worlds(t *testing.T, base string) []world {
	at := func(day int) websync.Datetime { return testkit.Date(t, fmt.Sprintf("2025-03-%02dT10:20:30Z", day)) }
	first := world{}
	for n := range 8 {
		first[fmt.Sprintf("%seli/act/%d", base, n)] = act{page(base, n, "first"), at(1 + n)}
	}
	second := maps.Clone(first)
	delete(second, base+"eli/act/2")
	second[base+"eli/act/1"] = act{page(base, 1, "second"), at(11)}
	second[base+"eli/act/5"] = act{page(base, 5, "second"), at(12)}
	second[base+"eli/act/8"] = act{page(base, 8, "second"), at(13)}
	third := maps.Clone(second)
	delete(third, base+"eli/act/8")
	third[base+"eli/act/2"] = act{page(base, 2, "third"), at(14)}
	return []world{first, second, third}
}

// page is an act with its metadata.
func page(base string, n int, version string) string {
	return fmt.Sprintf(`<!DOCTYPE html>
<html lang="en" prefix="eli: http://data.europa.eu/eli/ontology#"><head><title>Act %[2]d</title></head>
<body about="%[1]seli/act/%[2]d" typeof="eli:LegalResource">
<div property="eli:is_realized_by" resource="%[1]seli/act/%[2]d/en" typeof="eli:LegalExpression">
<link property="eli:language" href="http://publications.europa.eu/resource/authority/language/ENG">
<h1 property="eli:title" lang="en">Act %[2]d</h1>
<div property="eli:is_embodied_by" resource="%[1]seli/act/%[2]d" typeof="eli:Format">
<link property="eli:media_type" href="https://www.iana.org/assignments/media-types/text/html"></div>
</div><p>%[3]s</p></body></html>
`, base, n, version)
}

// A first publisher has a set of resources, and publishes it at a base.
type first struct {
	base   string
	source func() harvest.Source
	set    func(world)
}

const ownKey = "own"

// site serves a handler that is made when its URL is known.
func serve(t *testing.T, handler func(base string) http.Handler) (base string) {
	var h http.Handler
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) }))
	t.Cleanup(s.Close)
	h = handler(s.URL + "/")
	return s.URL + "/"
}

// listed publishes a store by a protocol, over HTTP.
func listed(t *testing.T, w *way, store *harvest.Catalog, own []string, report func(websync.Finding)) (base string, changed func()) {
	var l lister
	base = serve(t, func(base string) http.Handler {
		l = w.publish(t, store, base, own, report)
		h := &publish.Handler{Publishers: []websync.Publisher{l, publish.Bodies(store, locator(base, own, func() lister { return l }))}}
		t.Cleanup(func() { h.Close() })
		require.NoError(t, h.Check())
		return h
	})
	return base, func() {
		if w.pack != nil {
			w.pack(t, l)
		}
	}
}

// firstBy returns a first publisher that uses a protocol.
func firstBy(t *testing.T, w *way) first {
	store, changed := harvest.NewCatalog(memstore.New()), func() {}
	var base string
	base, changed = listed(t, w, store, []string{ownKey}, func(f websync.Finding) { assert.Fail(t, f.String()) })
	return first{base, func() harvest.Source { return w.open(base + w.entry) }, func(now world) {
		events := []harvest.Event{{Kind: harvest.SnapshotStart}}
		for _, id := range slices.Sorted(maps.Keys(now)) {
			a := now[id]
			events = append(events, harvest.Event{Kind: harvest.Put, Open: harvest.OpenBytes([]byte(a.text)), Resource: websync.Resource{
				ID: id, Title: "An act", Modified: a.modified, Content: websync.Link{Href: id, Type: "text/html", Digests: websync.Digests{websync.SHA256([]byte(a.text))}},
			}})
		}
		events = append(events, harvest.Event{Kind: harvest.SnapshotEnd, Complete: true})
		mustHarvest(t, store, nil, harvest.Of(ownKey, events...))
		changed()
	}}
}

// firstDir returns a first publisher that is a directory.
func firstDir(t *testing.T) first {
	dir, base := t.TempDir(), "http://localhost:8080/"
	file := func(id string) string { return filepath.Join(dir, strings.TrimPrefix(id, base)) }
	return first{base, func() harvest.Source { return &dirsource.Source{Dir: dir, Base: base} }, func(now world) {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "eli")))
		for id, a := range now {
			require.NoError(t, os.MkdirAll(filepath.Dir(file(id)), 0o755))
			require.NoError(t, os.WriteFile(file(id), []byte(a.text), 0o644))
			require.NoError(t, os.Chtimes(file(id), time.Time{}, a.modified.Time()))
		}
	}}
}

// client gets documents over HTTP.
func client(t *testing.T) harvest.Fetcher {
	c := fetch.New(harvest.NewCatalog(memstore.New()))
	c.Rate, c.AllowPrivate, c.IgnoreRobots = -1, true, true
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// An arrival is what a store holds of a set of resources, by their first ids.
type arrival struct {
	live   map[string]arrived
	ids    bool
	digest bool
}

type arrived struct {
	text string
	at   time.Time
}

// arrivals returns what a store holds of a source. A resource whose first id is not known
// has the key of its content.
func arrivals(t *testing.T, store *harvest.Catalog, key string, now world) arrival {
	a := arrival{live: map[string]arrived{}, ids: true, digest: true}
	byText := map[string]string{}
	for id, act := range now {
		byText[act.text] = id
	}
	for rec, err := range store.Records(t.Context(), key, "") {
		require.NoError(t, err)
		if !rec.Live() {
			continue
		}
		body, ok := rec.Body(websync.ContentName)
		require.True(t, ok, rec.Resource.ID)
		held := arrived{testkit.Read(t, store, body), rec.Resource.Modified.Time()}
		if c := rec.Resource.Content.Modified; !c.IsZero() {
			held.at = c.Time()
		}
		id := rec.Resource.ID
		if via, ok := rec.Resource.Via(); ok {
			id = via.Href
			if !via.Modified.IsZero() {
				held.at = via.Modified.Time()
			}
		}
		if _, known := now[id]; !known && byText[held.text] != "" {
			id, a.ids = byText[held.text], false
		}
		a.live[id] = held
		a.digest = a.digest && len(rec.Resource.Content.Digests) > 0
	}
	return a
}

// measure compares what has arrived with the worlds so far.
func (a arrival) measure(now world) carries {
	c := carries{IDs: a.ids, Digests: a.digest, Bytes: true, Times: true}
	c.Deletions = len(a.live) == len(now)
	for id, want := range now {
		got, ok := a.live[id]
		c.Bytes = c.Bytes && ok && got.text == want.text
		c.Times = c.Times && ok && got.at.Equal(want.modified.Time())
	}
	return c
}

// stores are what a set of resources is harvested into.
var stores = map[string]func(t *testing.T) *harvest.Catalog{
	"memory": func(*testing.T) *harvest.Catalog { return harvest.NewCatalog(memstore.New()) },
	"SQLite": func(t *testing.T) *harvest.Catalog {
		db, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), nil)
		require.NoError(t, err)
		t.Cleanup(func() { db.Close() })
		s := harvest.NewCatalog(db)
		return s
	},
}

// TestCrossbar harvests a set of resources by each protocol into each Store, publishes it
// by each protocol, and harvests that into a second Store. What arrives there is what
// both protocols carry.
func TestCrossbar(t *testing.T) {
	rows := append([]way{directory}, ways...)
	for i := range rows {
		from := &rows[i]
		for kind, open := range stores {
			if racing.Few() && kind != "memory" {
				continue
			}
			for k := range ways {
				to := &ways[k]
				t.Run(from.name+" to "+to.name+" through "+kind, func(t *testing.T) {
					t.Parallel()
					cross(t, from, to, open(t))
				})
			}
		}
	}
}

func cross(t *testing.T, from, to *way, store *harvest.Catalog) {
	var origin first
	if from.publish == nil {
		origin = firstDir(t)
	} else {
		origin = firstBy(t, from)
	}
	refused := make(chan websync.Finding, 1000)
	base, changed := listed(t, to, store, nil, func(f websync.Finding) { refused <- f })
	second := harvest.NewCatalog(memstore.New())
	web := client(t)
	for n, now := range worlds(t, origin.base) {
		origin.set(now)
		source := origin.source()
		run := func(store *harvest.Catalog, w *way, src harvest.Source) {
			report, err := (&harvest.Harvester{Catalog: store, Fetcher: web, Full: w.full}).Run(t.Context(), src)
			require.NoError(t, err)
			require.True(t, report.InStep(), "%+v", report)
		}
		run(store, from, source)
		changed()
		sink := to.open(base + to.entry)
		run(second, to, sink)

		name := fmt.Sprintf("state %d", n+1)
		want := from.carries
		want.Deletions = want.Deletions || n == 0 // there is none yet
		want.IDs = true                           // the first publisher's own
		want.Times = want.Times && !(from.redated && n == 2)
		assert.Equal(t, want, arrivals(t, store, source.Key(), now).measure(now), "%s after %s", name, from.name)
		if to.refuses != "" {
			assert.Empty(t, arrivals(t, second, sink.Key(), now).live)
			require.NotEmpty(t, refused)
			for len(refused) > 0 {
				if f := <-refused; f.Rule != "sitemap-empty" {
					assert.Contains(t, f.Message, to.refuses)
				}
			}
			continue
		}
		for len(refused) > 0 {
			assert.Fail(t, (<-refused).String())
		}
		want = want.then(to.carries)
		want.Times = want.Times && !(from.dated && to.undated)
		want.Deletions = want.Deletions || n == 0
		assert.Equal(t, want, arrivals(t, second, sink.Key(), now).measure(now), "%s after %s", name, to.name)
	}
}

// TestCrossbarDocument compares docs/crossbar.md with what the tests assert.
func TestCrossbarDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(crossbarHead)
	yes := func(is bool) string {
		if is {
			return "yes"
		}
		return "no"
	}
	for i := range ways {
		w := &ways[i]
		times := yes(w.carries.Times)
		switch {
		case w.dated:
			times = "beside those of the commits"
		case w.undated:
			times = "as the store states them"
		}
		published := "yes"
		if w.refuses != "" {
			published = "on its own host only"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", w.name, published, yes(w.carries.IDs), yes(w.carries.Bytes), yes(w.carries.Digests), yes(w.carries.Deletions), times)
	}
	b.WriteString(crossbarNotes)
	for i := range ways {
		if w := &ways[i]; w.note != "" {
			fmt.Fprintf(&b, "- **%s**: %s\n", w.name, w.note)
		}
	}
	b.WriteString(crossbarCells)
	for i := range ways {
		fmt.Fprintf(&b, " %s |", ways[i].name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(ways)) + "\n")
	for _, from := range append([]way{directory}, ways...) {
		fmt.Fprintf(&b, "| **%s** |", from.name)
		for k := range ways {
			fmt.Fprintf(&b, " %s |", from.lost(&ways[k]))
		}
		b.WriteString("\n")
	}
	testkit.Golden(t, filepath.Join("..", "..", "..", "docs", "crossbar.md"), []byte(b.String()))
}

// lost returns what does not arrive from one protocol by another.
func (w *way) lost(to *way) string {
	if to.refuses != "" {
		return "refused"
	}
	c := w.carries
	c.IDs = true // the first publisher's own
	c = c.then(to.carries)
	c.Times = c.Times && !(w.dated && to.undated)
	var lost []string
	for _, x := range []struct {
		name    string
		arrives bool
	}{{"ids", c.IDs}, {"digests", c.Digests}, {"deletions", c.Deletions}, {"times", c.Times}} {
		if !x.arrives {
			lost = append(lost, x.name)
		}
	}
	if len(lost) == 0 {
		return "all"
	}
	return "no " + strings.Join(lost, ", ")
}

const crossbarHead = `# What each protocol carries

A Store takes what any Source yields, and any Publisher lists it. What arrives at the other end is what both protocols
carry. This page is made from the test that harvests a set of resources by each protocol, publishes it by each protocol and
harvests it again, and compares: internal/testing/endtoend, TestCrossbar.

- **Published** says whether a harvested set can be published by the protocol.
- **Ids**: a harvested resource has another URL at the publisher that republishes it. Its first id arrives if the protocol
  has a place for it, as a via link.
- **Bytes** arrive unchanged.
- **Digests** are stated, so that a reader verifies what it fetches. Where a Source states none, the Store computes them.
- **Deletions** arrive with default settings.
- An id that is no IRI, such as the number of an item in a feed, arrives as the tag URI of its source and itself
  (websync.TagURI), where a protocol has ids; by ResourceSync and in sitemaps a resource has its URL here.
- **Times** are those that the first publisher states for its resources.

| protocol | published | ids | bytes | digests | deletions | times |
|---|---|---|---|---|---|---|
`

const crossbarNotes = `
"Beside those of the commits": what orders a log is the time of each commit; the resource's own time is the modified of its
content, or of its via link. "As the store states them": only the record's own time is listed, and for what came by a
protocol of the former kind, that is the time of the commit at its first publisher.

`

const crossbarCells = `
## From one to another

Rows are what was harvested from its first publisher, columns are how it was published again. A cell says what does not
arrive.

| from \ to |`
