package chaos

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

const (
	ownKey = "own"
	// how many resources the publisher begins with, and how many it then changes at once
	first, later = 150, 30
)

// A site is a publisher of a set that changes, over HTTP, and a Store that follows it
// undisturbed.
type site struct {
	t     *testing.T
	way   *way
	rnd   *rand.Rand
	clock atomic.Int64 // of the publisher, in seconds
	wrong atomic.Int64 // how far the clock of its HTTP server is off, as a Duration

	store *harvest.Catalog // what it publishes
	lists lister
	base  string
	place place

	live map[string]bool
	made int

	requests atomic.Int64
	answer   atomic.Pointer[answerFunc] // nil: requests are answered as usual

	calm  *harvest.Catalog // follows the publisher undisturbed
	first cost             // of the first undisturbed harvest
	spent cost             // of the last one
}

// An answerFunc answers request n; serve does it as usual.
type answerFunc func(n int64, rw http.ResponseWriter, r *http.Request, serve http.HandlerFunc)

func (s *site) setAnswer(f answerFunc) { s.answer.Store(&f) }

// A cost is what a harvest does.
type cost struct{ requests, marks int64 }

// newSite returns a site that publishes nothing yet.
func newSite(t *testing.T, w *way, seed uint64) *site {
	s := &site{t: t, way: w, rnd: rand.New(rand.NewPCG(seed, 0)), store: harvest.NewCatalog(memstore.New()), live: map[string]bool{}}
	s.calm = harvest.NewCatalog(marked{memstore.New(), func() { atomic.AddInt64(&s.spent.marks, 1) }})
	s.clock.Store(epoch.Unix())
	s.store.Now = s.now
	s.place.Dir = t.TempDir()
	if w.entry == "" {
		s.base = "http://localhost:8080/"
		s.place.URL = s.base
		return s
	}
	var h http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		n := s.requests.Add(1)
		rw.Header().Set("Date", s.now().Add(time.Duration(s.wrong.Load())).Format(http.TimeFormat))
		if answer := s.answer.Load(); answer != nil {
			(*answer)(n, rw, r, h.ServeHTTP)
			return
		}
		h.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	s.base = server.URL + "/"
	s.place.URL = s.base + w.entry
	h = w.handler(s)
	return s
}

// now returns the time at the publisher.
func (s *site) now() time.Time { return time.Unix(s.clock.Load(), 0).UTC() }

func (s *site) locator() websync.Locator {
	return websync.PathLocator{Base: s.base, Own: []string{ownKey}, Reserved: func(path string) bool { return s.lists != nil && s.lists.Reserved(path) }}
}

// report receives what the Publisher leaves out: nothing.
func (s *site) report(f websync.Finding) { s.t.Error(f.String()) }

// change creates, changes and deletes some resources, and lets the undisturbed Store
// follow.
func (s *site) change() {
	s.t.Helper()
	n := later
	if s.made == 0 {
		n = first
	}
	var events []harvest.Event
	for range n {
		s.clock.Add(60)
		ids := slices.Sorted(maps.Keys(s.live))
		kind := s.rnd.IntN(4)
		switch {
		case len(ids) < first/2 || kind < 2 && len(ids) < 2*first: // a new one
			s.made++
			events = append(events, s.put(fmt.Sprintf("%seli/act/%d", s.base, s.made)))
		case kind < 3 || s.way.keeps:
			events = append(events, s.put(ids[s.rnd.IntN(len(ids))]))
		default:
			id := ids[s.rnd.IntN(len(ids))]
			delete(s.live, id)
			events = append(events, harvest.Event{Kind: harvest.Delete, At: websync.NewDatetime(s.now()), Resource: websync.Resource{ID: id}})
		}
	}
	if s.way.entry == "" {
		s.write(events)
	} else {
		report, err := (&harvest.Harvester{Sample: -1, Catalog: s.store, Window: 1}).Run(s.t.Context(), harvest.Of(ownKey, events...))
		require.NoError(s.t, err)
		require.Zero(s.t, report.Failed)
		s.clock.Add(60)
		if p, ok := s.lists.(interface{ Pack(context.Context) error }); ok && s.way.name == "resourcesync dumps" {
			require.NoError(s.t, p.Pack(s.t.Context()))
		}
	}
	s.follow()
}

// put returns a new state of a resource: mostly short, sometimes so long that it is kept
// apart.
func (s *site) put(id string) harvest.Event {
	s.live[id] = true
	n := s.rnd.IntN(2_000)
	switch s.rnd.IntN(30) {
	case 0:
		n = 130_000 + s.rnd.IntN(200_000)
	case 1, 2, 3:
		n = 20_000 + s.rnd.IntN(20_000)
	}
	title := fmt.Sprintf("Act %s, %x", id[strings.LastIndexByte(id, '/')+1:], s.rnd.Uint64())
	text := []byte(page(id, title, fmt.Sprintf("<p>%x</p>\n", s.rnd.Uint64()), n))
	return harvest.Event{Kind: harvest.Put, Open: harvest.OpenBytes(text), Resource: websync.Resource{
		ID: id, Title: title, Modified: websync.NewDatetime(s.now()),
		Content: websync.Link{Href: id, Type: "text/html", Digests: websync.Digests{websync.SHA256(text)}},
	}}
}

// write carries out changes in a directory.
func (s *site) write(events []harvest.Event) {
	for _, e := range events {
		file := filepath.Join(s.place.Dir, strings.TrimPrefix(e.Resource.ID, s.base))
		require.NoError(s.t, os.MkdirAll(filepath.Dir(file), 0o755))
		if e.Kind == harvest.Delete {
			require.NoError(s.t, os.Remove(file))
			continue
		}
		text, err := e.Open()
		require.NoError(s.t, err)
		to, err := os.Create(file)
		require.NoError(s.t, err)
		_, err = to.ReadFrom(text)
		require.NoError(s.t, err)
		require.NoError(s.t, to.Close())
		require.NoError(s.t, os.Chtimes(file, time.Time{}, e.Resource.Modified.Time()))
	}
}

// follow harvests into the undisturbed Store.
func (s *site) follow() {
	s.t.Helper()
	before := s.requests.Load()
	s.spent = cost{}
	p := s.place
	if s.way.entry != "" {
		p.Dir = s.t.TempDir()
	}
	c := &reader{Way: s.way.name, Place: p}
	report, err := c.harvest(s.t.Context(), s.calm)
	require.NoError(s.t, err)
	require.True(s.t, report.InStep(), "%+v", report)
	s.spent.requests = s.requests.Load() - before
	if s.first == (cost{}) {
		s.first = s.spent
	}
}
