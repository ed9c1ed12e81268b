package rinfo_test

import (
	"context"
	"crypto/md5"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/naive"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/rinfo"
)

// A depot publishes a Store over HTTP.
type depot struct {
	*testkit.Store
	t       *testing.T
	base    string
	mu      sync.Mutex
	before  func() // each answer, unless nil
	handler atomic.Pointer[publish.Handler]

	atom.Publisher // its settings; never used itself
	current        *atom.Publisher
	version        int
}

func newDepot(t *testing.T) *depot {
	d := &depot{Store: testkit.NewStore(t), t: t}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		if d.before != nil {
			d.before()
		}
		d.mu.Unlock()
		d.handler.Load().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	d.base = server.URL + "/"
	d.ArchiveSize, d.Path, d.Title = 3, "feed.atom", "A feed"
	d.open()
	return d
}

// open serves the depot with its settings.
func (d *depot) open() {
	p := &atom.Publisher{
		Profile: rinfo.Profile(),
		Place:   websync.Place{Catalog: d.Store, Base: d.base}, Path: d.Path, ID: "tag:example.se,2026:feed", Title: d.Title,
		Author: websync.Person{Name: "Agency", Email: "rinfo@example.se"}, ArchiveSize: d.ArchiveSize,
		LatestOnly: d.LatestOnly, Complete: d.Complete, LegacyMD5: d.LegacyMD5,
	}
	locator := rinfo.Locator{PathLocator: websync.PathLocator{Base: d.base, Own: []string{"own", "approved"}, Reserved: p.Reserved}}
	p.Locator = locator
	handler := &publish.Handler{Publishers: []websync.Publisher{p, publish.Bodies(d.Store, locator)}}
	require.NoError(d.t, handler.Check())
	if old := d.handler.Swap(handler); old != nil {
		old.Close()
	}
	d.current = p
}

// set sets what is called before each answer.
func (d *depot) set(before func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = before
}

var depotSources = []string{"own", "approved", "stranger"}

// id returns an id of a source.
func (d *depot) id(source string, n int) string {
	if source == "stranger" {
		return fmt.Sprintf("https://authority.example/publ/%d", n)
	}
	return fmt.Sprintf("%spubl/%s/2026:%d", d.base, source, n)
}

// put commits a new state of a resource, without a step of the clock.
func (d *depot) put(source string, n int, random *rand.Rand) {
	d.version++
	r := websync.Resource{ID: d.id(source, n), Title: fmt.Sprintf("Act %d", n)}
	item := websync.Item{}
	var texts []string
	add := func(rel, mediaType, name string, attrs ...websync.Attr) {
		text := fmt.Sprintf("%s %d of %s", name, d.version, r.ID)
		link := websync.Link{Rel: rel, Href: fmt.Sprintf("https://www.example.se/%d/%s", n, name), Type: mediaType, Attrs: attrs}
		if rel == "" {
			r.Content = link
		} else {
			r.Links = append(r.Links, link)
		}
		kept := link
		kept.Length = int64(len(text))
		if random.IntN(2) == 0 {
			sum := md5.Sum([]byte(text))
			kept.Digests = websync.Digests{{Algorithm: "md5", Sum: string(sum[:])}}
		}
		body := map[string]string{"": "content", "alternate": "alternate " + mediaType, "enclosure": "enclosure " + name}[rel]
		item.Bodies = append(item.Bodies, websync.Body{Name: body, Link: kept, Key: websync.SHA256([]byte(text))})
		texts = append(texts, text)
	}
	if random.IntN(4) > 0 {
		add("", "application/pdf", "act.pdf")
	}
	add("alternate", "application/rdf+xml", "act.rdf")
	if random.IntN(2) == 0 {
		add("enclosure", "application/pdf", "bilaga_1.pdf", websync.Attr{Space: rinfo.DCTermsNamespace, Local: "isFormatOf", Value: r.ID + "#bilaga_1"})
	}
	if r.Content.Href != "" && random.IntN(3) == 0 {
		add("enclosure", "text/plain", "notes.txt")
	}
	if random.IntN(2) == 0 {
		r.Published = websync.NewDatetime(d.Clock.Add(-time.Hour))
	}
	item.Resource = r
	testkit.Fill(d.t, d.Store.Plain(), source, texts, item)
}

func (d *depot) remove(source string, n int) {
	held, err := d.Get(d.t.Context(), source, []string{d.id(source, n)})
	require.NoError(d.t, err)
	if held[0].Seq > 0 && held[0].Kind != websync.Deleted {
		testkit.Fill(d.t, d.Store.Plain(), source, nil, websync.Item{Kind: websync.Deleted, Resource: websync.Resource{ID: d.id(source, n)}})
	}
}

// change changes one resource. Half of the changes fall into one second.
func (d *depot) change(random *rand.Rand) {
	if random.IntN(2) == 0 {
		d.Clock = d.Clock.Add(time.Second)
	}
	source, n := depotSources[random.IntN(3)], random.IntN(4)
	if random.IntN(3) == 0 {
		d.remove(source, n)
	} else {
		d.put(source, n, random)
	}
}

// stateOf returns what a Catalog has: the time, and the names and texts of the bodies,
// by id. For ids elsewhere the names are left out: their bodies have other URLs.
func stateOf(t *testing.T, c websync.Catalog, base string, timeOf func(*websync.Item) time.Time) map[string]string {
	all := map[string]string{}
	for item, err := range c.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		var bodies []string
		for _, b := range item.Bodies {
			text := testkit.Read(t, c, b)
			if strings.HasPrefix(item.Resource.ID, base) {
				text = b.Name + ": " + text
			}
			bodies = append(bodies, text)
		}
		slices.Sort(bodies)
		all[item.Resource.ID] = timeOf(&item).UTC().Format(time.RFC3339Nano) + " " + strings.Join(bodies, "; ")
	}
	return all
}

// A naiveFeed is a document as encoding/xml reads it.
type naiveFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"http://www.w3.org/2005/Atom id"`
	Links   []naiveLink `xml:"http://www.w3.org/2005/Atom link"`
	Entries []struct {
		ID        string      `xml:"http://www.w3.org/2005/Atom id"`
		Updated   time.Time   `xml:"http://www.w3.org/2005/Atom updated"`
		Published time.Time   `xml:"http://www.w3.org/2005/Atom published"`
		Content   naiveLink   `xml:"http://www.w3.org/2005/Atom content"`
		Links     []naiveLink `xml:"http://www.w3.org/2005/Atom link"`
	} `xml:"http://www.w3.org/2005/Atom entry"`
	Deleted []struct {
		Ref  string    `xml:"ref,attr"`
		When time.Time `xml:"when,attr"`
	} `xml:"http://purl.org/atompub/tombstones/1.0 deleted-entry"`
}

type naiveLink struct {
	Rel    string `xml:"rel,attr"`
	Href   string `xml:"href,attr"`
	Src    string `xml:"src,attr"`
	Type   string `xml:"type,attr"`
	Length string `xml:"length,attr"`
	Hash   string `xml:"hash,attr"`
}

type naiveState struct {
	at    time.Time
	files map[string]naiveLink
}

func get(t *testing.T, url string) []byte {
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, 200, resp.StatusCode, url)
	return data
}

// replay reads the feed as the specification describes it, with the standard library
// only, and returns the times and the texts by id.
func replay(t *testing.T, url string) map[string]string {
	states := map[string]naiveState{}
	note := func(id string, s naiveState) {
		if held, ok := states[id]; !ok || s.at.After(held.at) {
			states[id] = s
		}
	}
	feedID := ""
	for url != "" {
		data := get(t, url)
		_, err := rinfo.Validate(strings.NewReader(string(data)), atom.ValidateOptions{Document: url, Report: func(f websync.Finding) {
			require.Equal(t, "rinfo-content", f.Rule, "%v", f) // an act without a document
		}})
		require.NoError(t, err)
		require.Empty(t, naive.Faults(data))
		var feed naiveFeed
		require.NoError(t, xml.Unmarshal(data, &feed))
		if feedID != "" {
			require.Equal(t, feedID, feed.ID)
		}
		feedID = feed.ID
		for _, e := range feed.Entries {
			require.False(t, e.Published.IsZero())
			require.False(t, e.Updated.Before(e.Published))
			files := map[string]naiveLink{}
			if e.Content.Src != "" {
				files[e.Content.Src] = e.Content
			}
			for _, l := range e.Links {
				if _, known := files[l.Href]; !known && (l.Rel == "alternate" || l.Rel == "enclosure") {
					files[l.Href] = l
				}
			}
			note(e.ID, naiveState{e.Updated, files})
		}
		for _, x := range feed.Deleted {
			note(x.Ref, naiveState{x.When, nil})
		}
		url = ""
		for _, l := range feed.Links {
			if l.Rel == "prev-archive" {
				url = l.Href
			}
		}
	}
	all := map[string]string{}
	for id, s := range states {
		if s.files == nil {
			continue
		}
		var texts []string
		for url, link := range s.files {
			text := get(t, url)
			require.NotEmpty(t, link.Type)
			require.Contains(t, link.Hash, fmt.Sprintf("md5:%x", md5.Sum(text)), "%s", url)
			require.Contains(t, link.Hash, websync.SHA256(text).String())
			if link.Src == "" {
				require.Equal(t, fmt.Sprint(len(text)), link.Length)
			}
			texts = append(texts, string(text))
		}
		slices.Sort(texts)
		all[id] = s.at.UTC().Format(time.RFC3339Nano) + " " + strings.Join(texts, "; ")
	}
	return all
}

// unnamed returns a state without the names of bodies.
func unnamed(state map[string]string) map[string]string {
	all := maps.Clone(state)
	for id, text := range all {
		at, bodies, _ := strings.Cut(text, " ")
		texts := strings.Split(bodies, "; ")
		for i := range texts {
			for _, name := range []string{"content: ", "alternate application/rdf+xml: ", "enclosure bilaga_1.pdf: ", "enclosure notes.txt: "} {
				texts[i] = strings.TrimPrefix(texts[i], name)
			}
		}
		slices.Sort(texts)
		all[id] = at + " " + strings.Join(texts, "; ")
	}
	return all
}

var histories = flag.Uint64("histories", racing.Some[uint64](300), "how many histories TestHistories has")

// TestHistories: whatever happens to a depot, and however runs are interrupted, a
// harvester that reads it over HTTP has its state in the end, and so has a naive reader.
func TestHistories(t *testing.T) {
	for seed := range *histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { history(t, rand.New(rand.NewPCG(seed, 7))) })
		if t.Failed() {
			return
		}
	}
}

func history(t *testing.T, random *rand.Rand) {
	d := newDepot(t)
	db := memstore.New()
	store := harvest.NewCatalog(db)
	client := fetch.New(store)
	client.AllowPrivate, client.Rate = true, -1
	source := rinfo.Source{Name: testkit.Src, FeedID: "tag:example.se,2026:feed"}
	var oldest uint64 = 1
	for range 2 + random.IntN(4) {
		for range random.IntN(10) {
			d.change(random)
		}
		switch random.IntN(8) {
		case 0, 1:
			generation, err := d.Compact(t.Context())
			require.NoError(t, err)
			oldest = generation
		case 2:
			require.NoError(t, d.Drop(t.Context(), oldest))
		case 3:
			d.Complete = !d.Complete
		case 4:
			d.Path, d.Title = fmt.Sprintf("feed-%d.atom", d.version), fmt.Sprintf("Feed %d", d.version)
		case 5:
			d.LatestOnly = !d.LatestOnly
		}
		d.open()
		source.URL = d.current.URL()

		for range random.IntN(3) { // interrupted runs, during which the depot may change
			ctx, cancel := context.WithCancelCause(t.Context())
			left, changes := random.IntN(25), random.IntN(2) == 0
			during := rand.New(rand.NewPCG(random.Uint64(), 7)) // answers of an earlier run may still be going on
			d.set(func() {
				if left--; left == 0 {
					cancel(errors.New("stopped"))
				}
				if changes && left%7 == 0 {
					d.change(during)
				}
			})
			h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: client, MaxDelete: -1}
			if random.IntN(2) == 0 {
				h.Catalog = harvest.NewCatalog(testkit.CutAfter(db, random.IntN(6), random.IntN(2) == 0))
			}
			_, _ = h.Run(ctx, &source)
			cancel(nil)
			d.set(nil)
		}

		h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: client, MaxDelete: -1}
		testkit.MakeDue(t, store)
		report, err := h.Run(t.Context(), &source)
		require.NoError(t, err)
		if report.Left.Withheld > 0 { // the listing has another URL than the last complete one
			_, err = h.Approve(t.Context(), &source)
			require.NoError(t, err)
		} else {
			require.True(t, report.InStep(), "%+v %v", report, report.Problems)
		}
		want := stateOf(t, d.Store, d.base, func(item *websync.Item) time.Time { return item.Time })
		got := stateOf(t, store, d.base, func(item *websync.Item) time.Time { return item.Resource.Modified.Time() })
		require.Equal(t, want, got)
		require.Equal(t, unnamed(want), replay(t, d.current.URL()))
	}
}
