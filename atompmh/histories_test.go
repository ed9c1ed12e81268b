package atompmh_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/naive"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
)

// A history is a publisher that changes at random, on a server, and a store that follows.
type history struct {
	t      *testing.T
	rnd    *rand.Rand
	store  *testkit.Store
	server *httptest.Server
	host   string
	name   string              // what feeds have as their id
	feedID string              // what the reader accepts
	live   map[string][]string // formats of the live records, by id
	made   int                 // versions

	mu       sync.Mutex
	handler  *publish.Handler
	feed     *atom.Publisher
	requests int
	trouble  func(n int, w http.ResponseWriter, isList bool) bool
}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), store: testkit.NewStore(t), live: map[string][]string{}, name: "urn:feed:0", feedID: "urn:feed:0"}
	h.server = httptest.NewServer(h)
	t.Cleanup(h.server.Close)
	h.host = h.server.URL + "/"
	h.reconfigure()
	return h
}

// ServeHTTP serves the present configuration, with the present trouble.
func (h *history) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.requests++
	feed, handler, trouble, n := h.feed, h.handler, h.trouble, h.requests
	h.mu.Unlock()
	if trouble == nil || !trouble(n, w, feed.Reserved(r.URL.EscapedPath())) {
		handler.ServeHTTP(w, r)
	}
}

// reconfigure draws another configuration of the publisher.
func (h *history) reconfigure() {
	p := &atom.Publisher{
		Profile: atompmh.Profile(),
		Place:   websync.Place{Catalog: h.store, Base: h.host}, Author: websync.Person{Name: "a"}, ID: h.name, ArchiveSize: 1 + h.rnd.IntN(5),
		LatestOnly: h.rnd.IntN(2) == 0, Complete: h.rnd.IntN(4) == 0, Path: "feed",
	}
	if h.rnd.IntN(3) == 0 {
		p.ArchivePeriod = time.Duration(1+h.rnd.IntN(5)) * time.Second
	}
	p.Locator = websync.PathLocator{Base: h.host, Own: []string{"own"}, Reserved: p.Reserved}
	handler := &publish.Handler{Publishers: []websync.Publisher{p, publish.Bodies(h.store, p.Locator)}}
	h.t.Cleanup(func() { handler.Close() })
	h.mu.Lock()
	defer h.mu.Unlock()
	h.feed, h.handler = p, handler
}

// change creates, updates or deletes a record, or more than one in the same second.
func (h *history) change() {
	id := fmt.Sprintf("urn:record:%d", h.rnd.IntN(9))
	if _, ok := h.live[id]; ok && h.rnd.IntN(3) == 0 {
		delete(h.live, id)
		h.store.Delete("own", id)
		return
	}
	h.made++
	item := websync.Item{Resource: websync.Resource{ID: id, Title: fmt.Sprint("version ", h.made)}}
	var texts, all []string
	for i, format := range []string{"text/a", "text/b"} {
		if i > 0 && h.rnd.IntN(2) == 0 {
			break
		}
		name := []string{"content", "alternate " + format}[i]
		text := fmt.Sprintf("%s as %s, version %d", id, format, h.made)
		key := websync.SHA256([]byte(text))
		item.Bodies = append(item.Bodies, websync.Body{Name: name, Key: key, Link: websync.Link{Type: format, Length: int64(len(text)), Digests: websync.Digests{key}}})
		texts, all = append(texts, text), append(all, name+": "+text)
	}
	slices.Sort(all)
	h.live[id] = all
	if h.rnd.IntN(3) == 0 {
		h.store.Clock = h.store.Clock.Add(-time.Second) // the same second again
	}
	h.store.Fill("own", texts, item)
}

// step makes one random step of the publisher.
func (h *history) step() {
	switch n := h.rnd.IntN(20); {
	case n < 14:
		h.change()
	case n < 16:
		h.store.Clock = h.store.Clock.Add(time.Duration(h.rnd.IntN(9)) * time.Second)
	case n < 17:
		generation, err := h.store.Compact(context.Background())
		require.NoError(h.t, err)
		if h.rnd.IntN(2) == 0 {
			require.NoError(h.t, h.store.Drop(context.Background(), generation))
		}
	case n < 19:
		h.reconfigure()
	default:
		h.name = fmt.Sprint("urn:feed:", h.made)
		h.reconfigure()
	}
}

// want returns what the reader must have.
func (h *history) want() map[string]string {
	all := map[string]string{}
	for id, texts := range h.live {
		all[strings.TrimPrefix(id, "urn:")] = strings.Join(texts, ", ")
	}
	return all
}

func (h *history) harvester(store *harvest.Catalog) *harvest.Harvester {
	return &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &fetch.Client{Rate: -1, PerHost: 8, Attempts: 1, IgnoreRobots: true, AllowPrivate: true}, MaxDelete: -1, Attempts: -1}
}

func (h *history) source() *atompmh.Source {
	return &atompmh.Source{URL: h.host + "feed", FeedID: h.feedID, AllFormats: true}
}

// disturbed runs with an error or a cut document at a random request of a document, with
// a stop, or while the publisher changes.
func (h *history) disturbed(store *harvest.Catalog) {
	at, kind := h.rnd.IntN(8), h.rnd.IntN(4)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h.mu.Lock()
	h.requests = 0
	h.trouble = func(n int, w http.ResponseWriter, isList bool) bool {
		if n != at || kind < 2 && !isList { // a second failure of a record would have to wait
			return false
		}
		switch kind {
		case 0:
			w.WriteHeader(http.StatusInternalServerError)
			return true
		case 1:
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "<feed")
			return true
		case 2:
			cancel()
		default:
			h.step()
		}
		return false
	}
	h.mu.Unlock()
	_, err := h.harvester(store).Run(ctx, h.source())
	if kind > 2 {
		require.NoError(h.t, err)
	}
	h.mu.Lock()
	h.trouble = nil
	h.mu.Unlock()
}

// get returns the bytes at a URL.
func (h *history) get(url string) []byte {
	resp, err := h.server.Client().Get(url)
	require.NoError(h.t, err)
	defer resp.Body.Close()
	require.Equal(h.t, 200, resp.StatusCode, url)
	data, err := io.ReadAll(resp.Body)
	require.NoError(h.t, err)
	return data
}

// A plainFeed is a document as encoding/xml reads it.
type plainFeed struct {
	Links   []plainLink `xml:"http://www.w3.org/2005/Atom link"`
	Entries []struct {
		ID      string      `xml:"http://www.w3.org/2005/Atom id"`
		Updated time.Time   `xml:"http://www.w3.org/2005/Atom updated"`
		Links   []plainLink `xml:"http://www.w3.org/2005/Atom link"`
		Content *struct{}   `xml:"http://www.w3.org/2005/Atom content"`
	} `xml:"http://www.w3.org/2005/Atom entry"`
}

type plainLink struct {
	Rel  string `xml:"rel,attr"`
	Href string `xml:"href,attr"`
	Type string `xml:"type,attr"`
}

// replay reads the whole feed and replays its entries in the order of their times.
func (h *history) replay() map[string]string {
	type event struct {
		id    string
		at    time.Time
		texts []string
	}
	var events []event
	for url := h.host + "feed"; url != ""; {
		var f plainFeed
		data := h.get(url)
		require.Empty(h.t, naive.Faults(data))
		require.NoError(h.t, xml.Unmarshal(data, &f))
		url = ""
		for _, l := range f.Links {
			if l.Rel == "prev-archive" {
				url = l.Href
			}
		}
		for _, e := range f.Entries {
			ev := event{id: strings.TrimPrefix(e.ID, "urn:"), at: e.Updated}
			for _, l := range e.Links {
				if l.Rel == "alternate" {
					ev.texts = append(ev.texts, l.Type+" "+l.Href)
				}
			}
			require.Equal(h.t, e.Content != nil, ev.texts == nil)
			events = append(events, ev)
		}
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	all := map[string]string{}
	for _, ev := range events {
		delete(all, ev.id)
		if ev.texts == nil {
			continue
		}
		var texts []string
		for i, text := range ev.texts {
			mediaType, url, _ := strings.Cut(text, " ")
			name := "content: "
			if i > 0 {
				name = "alternate " + mediaType + ": "
			}
			texts = append(texts, name+url)
		}
		all[ev.id] = strings.Join(texts, "\n")
	}
	for id, links := range all { // of what is left
		texts := strings.Split(links, "\n")
		for i, text := range texts {
			name, url, _ := strings.Cut(text, ": ")
			texts[i] = name + ": " + string(h.get(url))
		}
		slices.Sort(texts)
		all[id] = strings.Join(texts, ", ")
	}
	return all
}

var histories = flag.Uint64("histories", racing.Some[uint64](300), "how many histories TestHistories has")

// TestHistories: after any history of a publisher, followed over HTTP with any
// interruptions, the store equals the publisher's state and a naive replay of its
// documents, which are valid.
func TestHistories(t *testing.T) {
	for seed := range *histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := newHistory(t, seed)
			store := harvest.NewCatalog(memstore.New())
			for range 2 + h.rnd.IntN(4) {
				for range h.rnd.IntN(12) {
					h.step()
				}
				for range h.rnd.IntN(3) {
					h.disturbed(store)
					if h.rnd.IntN(2) == 0 {
						h.step()
					}
				}
				if h.name != h.feedID {
					r, err := h.harvester(store).Run(t.Context(), h.source())
					require.NoError(t, err)
					require.NotEmpty(t, r.Problems, "another feed")
					h.feedID = h.name
				}
				r, err := h.harvester(store).Run(t.Context(), h.source())
				require.NoError(t, err)
				if len(r.Problems) > 0 || r.Left.Waiting > 0 {
					t.Logf("%v %v", r.Problems, r.Failures)
					r, err = h.harvester(store).Run(t.Context(), h.source())
					require.NoError(t, err)
				}
				require.Empty(t, r.Problems)
				require.Equal(t, h.want(), contents(t, store))
				if !h.feed.Complete || len(h.live) > 0 {
					require.True(t, r.InStep(), "%v %v", r.Failures, r.Left)
				}
				require.Equal(t, h.want(), h.replay())
			}
			v := atompmh.NewChainValidator()
			v.Report = func(f websync.Finding) { require.Less(t, f.Severity, websync.SeverityWarning, f.String()) }
			sum := v.Walk(h.feed.URL(), func(url string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(h.get(url))), nil })
			require.True(t, sum.Whole)
		})
	}
}
