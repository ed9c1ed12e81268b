package naive

import (
	"crypto/md5"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
)

// A Collection is a Store that changes at random, and a server of what is published of
// it.
type Collection struct {
	Store *testkit.Store
	URL   string // of the server, with a slash at the end
	// Attachments gives some resources an enclosure.
	Attachments bool
	// Lengths, and MD5 sums, are stated of the bodies.
	Lengths, Sums bool

	r       *rand.Rand
	t       testing.TB
	handler http.Handler
	live    map[string][]string // the texts of live ids
	serial  int
	before  uint64 // generations that can be dropped
}

// NewCollection returns an empty Collection.
func NewCollection(t testing.TB, seed int) *Collection {
	s := &Collection{Store: testkit.NewStore(t), Lengths: true, r: rand.New(rand.NewPCG(uint64(seed), 2)), t: t, live: map[string][]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	s.URL = server.URL + "/"
	return s
}

// Serve serves a Publisher, and the bodies at the URLs of a Locator.
func (s *Collection) Serve(p websync.Publisher, l websync.Locator) {
	s.handler = &publish.Handler{Publishers: []websync.Publisher{p, publish.Bodies(s.Store, l)}}
}

// Change commits some changes, one or several at a time, and sometimes compacts the log.
func (s *Collection) Change() {
	for range 1 + s.r.IntN(5) {
		var items []websync.Item
		var texts []string
		for _, n := range s.r.Perm(8)[:1+s.r.IntN(3)] {
			item, bodies := s.item(fmt.Sprintf("http://first.example/publ/%d", n))
			items, texts = append(items, item), append(texts, bodies...)
		}
		s.Store.Fill("source", texts, items...)
	}
	switch s.r.IntN(6) {
	case 0:
		generation, err := s.Store.Compact(s.t.Context())
		if s.before = generation; err != nil {
			s.t.Fatal(err)
		}
	case 1:
		if err := s.Store.Drop(s.t.Context(), s.before); err != nil {
			s.t.Fatal(err)
		}
	}
}

// item returns another state of an id, and the texts of its bodies.
func (s *Collection) item(id string) (websync.Item, []string) {
	if s.live[id] != nil && s.r.IntN(3) == 0 {
		delete(s.live, id)
		return websync.Item{Kind: websync.Deleted, Resource: websync.Resource{ID: id}}, nil
	}
	s.serial++
	item := websync.Item{Resource: websync.Resource{ID: id, Title: fmt.Sprintf("No. %d & <b>", s.serial), Modified: testkit.Day(1 + s.serial%28), Published: testkit.Day(1)}}
	r := &item.Resource
	var texts []string
	add := func(name, rel, kind string) {
		text := fmt.Sprintf("%s of %s, %d", name, id, s.serial)
		if s.r.IntN(5) == 0 {
			text = ""
		}
		if rel == "alternate" && s.r.IntN(8) == 0 {
			kind = []string{"", "pdf", "text/plain; charset=utf-8"}[s.r.IntN(3)]
		}
		link := websync.Link{Rel: rel, Href: fmt.Sprintf("http://first.example/%d/%s", s.serial, strings.ReplaceAll(name, " ", "-")), Type: kind}
		if s.Lengths && text == "" {
			link.Length = websync.StatedZero
		} else if s.Lengths {
			link.Length = int64(len(text))
		}
		if s.Sums {
			sum := md5.Sum([]byte(text))
			link.Digests = websync.Digests{{Algorithm: "md5", Sum: string(sum[:])}}
		}
		if rel == "" {
			r.Content = link
		} else {
			r.Links = append(r.Links, link)
		}
		item.Bodies = append(item.Bodies, websync.Body{Name: name, Link: link, Key: websync.SHA256([]byte(text))})
		texts = append(texts, text)
	}
	if s.r.IntN(6) > 0 {
		add(websync.ContentName, "", "application/pdf")
	}
	add("alternate application/rdf+xml", "alternate", "application/rdf+xml")
	if s.Attachments && s.r.IntN(3) == 0 {
		add("enclosure a.pdf", "enclosure", "application/pdf")
	}
	s.live[id] = slices.Sorted(slices.Values(texts))
	return item, texts
}

// Truth is what a reader must hold: the texts by id.
func (s *Collection) Truth() map[string]string {
	truth := map[string]string{}
	for id, texts := range s.live {
		truth[id] = strings.Join(texts, "; ")
	}
	return truth
}
