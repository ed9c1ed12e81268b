package resourcesync_test

import (
	"bytes"
	"encoding/hex"
	"encoding/xml"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
)

var replayed = flag.Uint64("replayed", racing.Some[uint64](50), "how many random histories TestPublisherReplayed has")

// A reading is a document as encoding/xml reads it.
type reading struct {
	XMLName xml.Name
	MD      metadataRead `xml:"http://www.openarchives.org/rs/terms/ md"`
	LN      []linkRead   `xml:"http://www.openarchives.org/rs/terms/ ln"`
	URLs    []entryRead  `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 url"`
	Lists   []entryRead  `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 sitemap"`
}

type entryRead struct {
	Loc     string       `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 loc"`
	LastMod string       `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 lastmod"`
	MD      metadataRead `xml:"http://www.openarchives.org/rs/terms/ md"`
	LN      []linkRead   `xml:"http://www.openarchives.org/rs/terms/ ln"`
}

type linkRead struct {
	Rel      string `xml:"rel,attr"`
	Href     string `xml:"href,attr"`
	Hash     string `xml:"hash,attr"`
	Length   string `xml:"length,attr"`
	Type     string `xml:"type,attr"`
	Modified string `xml:"modified,attr"`
}

type metadataRead struct {
	Capability string `xml:"capability,attr"`
	At         string `xml:"at,attr"`
	From       string `xml:"from,attr"`
	Until      string `xml:"until,attr"`
	Change     string `xml:"change,attr"`
	Datetime   string `xml:"datetime,attr"`
	Hash       string `xml:"hash,attr"`
	Length     string `xml:"length,attr"`
	Type       string `xml:"type,attr"`
}

// A fixity is what a document states of a representation.
type fixity struct{ hash, length, mediaType string }

func (m metadataRead) fixity() fixity { return fixity{m.Hash, m.Length, m.Type} }

// A reader is a Destination that was written after the standard alone: it shares no code
// with package resourcesync. It remembers what it holds, and the time up to which that
// has all changes (Z39.99 §12.1).
type reader struct {
	t         require.TestingT
	get       func(url string) ([]byte, error)
	root      string // the Capability List
	holds     map[string]fixity
	upTo      time.Time
	baselines int
	moving    bool // a URL may become that of a resource in another part meanwhile
}

// when reads a time in the only form that the standard recommends.
func (r *reader) when(text string) time.Time {
	at, err := time.Parse("2006-01-02T15:04:05.999999999Z", text)
	require.NoError(r.t, err)
	return at
}

// read gets a document of a capability.
func (r *reader) read(url, capability string) (doc reading, err error) {
	text, err := r.get(url)
	if err != nil {
		return doc, err
	}
	require.NoError(r.t, xml.Unmarshal(text, &doc), url)
	require.Equal(r.t, capability, doc.MD.Capability, url)
	return doc, nil
}

// offered returns the URL of the document of a capability.
func (r *reader) offered(capability string) (url string) {
	doc, err := r.read(r.root, "capabilitylist")
	require.NoError(r.t, err)
	for _, e := range doc.URLs {
		if e.MD.Capability == capability {
			require.Empty(r.t, url, "a capability has one entry (§9)")
			url = e.Loc
		}
	}
	require.NotEmpty(r.t, url)
	return url
}

// baseline makes a copy of the Resource List (§10). A part that has moved makes it begin
// again.
func (r *reader) baseline() {
	r.baselines++
	for {
		list, err := r.read(r.offered("resourcelist"), "resourcelist")
		require.NoError(r.t, err)
		all := list.URLs
		for _, part := range list.Lists {
			var doc reading
			if doc, err = r.read(part.Loc, "resourcelist"); err != nil {
				break
			}
			require.False(r.t, r.when(doc.MD.At).Before(r.when(list.MD.At)), "a part is read after its index")
			all = append(all, doc.URLs...)
		}
		if err != nil {
			continue
		}
		r.holds = make(map[string]fixity)
		for _, e := range all {
			if !r.moving {
				require.NotContains(r.t, r.holds, e.Loc, "twice in the Resource List")
			}
			r.holds[e.Loc] = e.MD.fixity()
		}
		r.upTo = r.when(list.MD.At)
		return
	}
}

// follow applies the changes since upTo (§12). It reports false if they are not all
// listed any more.
func (r *reader) follow() bool {
	url := r.offered("changelist")
	for {
		list, err := r.read(url, "changelist")
		require.NoError(r.t, err)
		switch {
		case r.misses(list):
			return false
		case list.XMLName.Local == "urlset":
			r.apply(list)
			return true
		case r.applyAll(list):
			return true
		}
	}
}

// applyAll applies what the lists of an index have. It reports false if a list has moved
// since: the index names then what is between.
func (r *reader) applyAll(list reading) bool {
	until := r.when(list.MD.From)
	for i, e := range list.Lists {
		require.True(r.t, e.MD.From != "" && !r.when(e.MD.From).After(until), "the lists of an index leave no gap")
		require.Equal(r.t, i == len(list.Lists)-1, e.MD.Until == "", "the last list is open, and no other")
		if e.MD.Until != "" {
			if until = r.when(e.MD.Until); !until.After(r.upTo) {
				continue
			}
		}
		doc, err := r.read(e.Loc, "changelist")
		if err != nil || r.misses(doc) {
			return false
		}
		if e.MD.Until != "" {
			require.Equal(r.t, e.MD.Until, doc.MD.Until)
			require.Equal(r.t, e.MD.From, doc.MD.From)
		}
		r.apply(doc)
	}
	return true
}

// misses reports whether a list begins after upTo.
func (r *reader) misses(list reading) bool {
	return !r.upTo.IsZero() && r.when(list.MD.From).After(r.upTo)
}

// apply applies the entries of one Change List that are after upTo.
func (r *reader) apply(list reading) {
	from, last := r.when(list.MD.From), r.when(list.MD.From)
	seen := make(map[string]bool)
	for _, e := range list.URLs {
		at := r.when(e.MD.Datetime)
		require.False(r.t, at.Before(from) || at.Before(last), "%s: entries are in forward chronological order (§12.1)", e.Loc)
		require.False(r.t, seen[e.Loc+e.MD.Datetime], "%s: URI and time are unique (§12.1)", e.Loc)
		seen[e.Loc+e.MD.Datetime], last = true, at
		if !at.After(r.upTo) {
			continue
		}
		switch e.MD.Change {
		case "created", "updated":
			r.holds[e.Loc] = e.MD.fixity()
		case "deleted":
			delete(r.holds, e.Loc)
		default:
			require.Failf(r.t, "no change", "%+v", e)
		}
	}
	if list.MD.Until != "" {
		require.False(r.t, r.when(list.MD.Until).Before(last))
		last = r.when(list.MD.Until)
	}
	if last.After(r.upTo) {
		r.upTo = last
	}
}

// sync brings what it holds in step.
func (r *reader) sync() {
	for r.holds == nil || !r.follow() {
		r.baseline()
	}
}

// A mutations changes a Catalog at random, and knows what a Publisher of it has to list.
// After each commit no two resources have one URL.
type mutations struct {
	*rand.Rand
	t       *testing.T
	store   *testkit.Store
	locator websync.Locator
	live    map[string]websync.Item // by source and name
	past    bool                    // resources state times before those of all commits
}

// now sets the clock forward, or not.
func (h *mutations) now() {
	if h.IntN(3) > 0 {
		h.store.Clock = h.store.Clock.Add(time.Duration(h.IntN(4000)) * time.Millisecond)
	}
}

// change commits a few changes at once.
func (h *mutations) change() {
	h.now()
	source := []string{"own", "own", "theirs", "others"}[h.IntN(4)]
	texts, items, done := []string(nil), []websync.Item(nil), make(map[string]bool)
	switch h.IntN(5) {
	case 0:
		items = h.exchange(source)
	case 1:
		items = h.rename(source)
	}
	for _, item := range items {
		done[item.Resource.ID] = true
	}
	for range 1 + h.IntN(3) {
		name := fmt.Sprint(source, h.IntN(8))
		if done[idOf(source, name)] {
			continue
		}
		done[idOf(source, name)] = true
		if old, ok := h.live[name]; ok && h.IntN(3) == 0 {
			items = append(items, h.delete(name, old))
			continue
		}
		item, text := h.item(source, name)
		h.live[name] = item
		if text != "" {
			texts = append(texts, text)
		}
		items = append(items, item)
	}
	testkit.Fill(h.t, h.store.Plain(), source, texts, items...)
}

func idOf(source, name string) string {
	if source == "own" {
		return www + name
	}
	return "https://" + source + ".example.net/" + name
}

func (h *mutations) delete(name string, item websync.Item) websync.Item {
	delete(h.live, name)
	item.Kind, item.Bodies = websync.Deleted, nil
	return item
}

// exchange returns updates by which a few resources of a source, whose bytes are not
// kept, get the URLs of each other.
func (h *mutations) exchange(source string) (items []websync.Item) {
	var names, urls []string
	for _, name := range slices.Sorted(maps.Keys(h.live)) {
		if item := h.live[name]; item.Source == source && len(item.Bodies) == 0 {
			names, urls = append(names, name), append(urls, item.Resource.Content.Href)
		}
	}
	n := min(len(names), 2+h.IntN(3))
	for i, k := range h.Perm(len(names))[:n] {
		if i > 0 {
			urls[0], urls[k] = urls[k], urls[0]
		}
	}
	for i, name := range names {
		item := h.live[name]
		if item.Resource.Content.Href != urls[i] {
			item.Kind, item.Resource.Content.Href = websync.Updated, urls[i]
			h.live[name] = item
			items = append(items, item)
		}
	}
	h.Shuffle(len(items), func(i, k int) { items[i], items[k] = items[k], items[i] })
	return items
}

// rename returns the changes by which the id of a resource becomes another, and its URL
// stays.
func (h *mutations) rename(source string) []websync.Item {
	for _, name := range slices.Sorted(maps.Keys(h.live)) {
		old := h.live[name]
		next := strings.TrimSuffix(name, "-new")
		if next == name {
			next += "-new"
		}
		if _, there := h.live[next]; there || old.Source != source || len(old.Bodies) > 0 || h.IntN(3) > 0 {
			continue
		}
		item := old
		item.Kind, item.Resource.ID = websync.Created, idOf(source, next)
		items := []websync.Item{item, h.delete(name, old)}
		h.live[next] = item
		h.Shuffle(2, func(i, k int) { items[i], items[k] = items[k], items[i] })
		return items
	}
	return nil
}

// item returns a new state of a resource, and the bytes if they are kept.
func (h *mutations) item(source, name string) (websync.Item, string) {
	id := idOf(source, name)
	old, there := h.live[name]
	item := websync.Item{Source: source, Resource: websync.Resource{ID: id, Content: websync.Link{Href: id}}}
	if !there {
		item.Kind = websync.Created
	} else if h.IntN(2) == 0 {
		item.Resource.Content.Href = old.Resource.Content.Href
	}
	if h.IntN(4) > 0 { // at any time, before and after earlier ones
		at := time.Duration(h.IntN(1e6)) * time.Second
		if h.past {
			at = -at
		}
		item.Resource.Modified = websync.NewDatetime(firstCommit.Add(at))
	}
	text := fmt.Sprint("text ", h.IntN(1e6))
	link := &item.Resource.Content
	link.Type = []string{"text/plain", "text/html; charset=utf-8", ""}[h.IntN(3)]
	if h.IntN(3) > 0 {
		link.Length, link.Digests = int64(len(text)), websync.Digests{websync.SHA256([]byte(text))}
	}
	switch h.IntN(8) {
	case 0:
		link.Href = fmt.Sprint(id, "/moved ", h.IntN(3))
	case 1:
		if source != "own" {
			link.Href = www + "own1" // refused
		}
	}
	if (name[len(name)-1]%2 == 1) == (h.IntN(6) > 0) { // of most the bytes are always kept, or never
		b := websync.Body{Name: websync.ContentName, Link: *link, Key: websync.SHA256([]byte(text))}
		b.Link.Length = int64(len(text))
		item.Bodies = []websync.Body{b}
	}
	for n := 0; h.isTaken(name, h.url(&item)); n++ {
		item.Bodies, link.Href = nil, fmt.Sprint(id, "/", n)
	}
	if len(item.Bodies) == 0 {
		return item, ""
	}
	return item, text
}

// url returns the URL of a resource; none if it is refused.
func (h *mutations) url(item *websync.Item) string {
	if _, ok := item.Body(websync.ContentName); ok {
		return h.locator.URL(item, websync.ContentName)
	}
	if strings.HasPrefix(item.Resource.Content.Href, www) && item.Source != "own" {
		return ""
	}
	return strings.ReplaceAll(item.Resource.Content.Href, " ", "%20")
}

// isTaken reports whether a resource with another name has a URL.
func (h *mutations) isTaken(name, url string) bool {
	for other, item := range h.live {
		if url != "" && other != name && h.url(&item) == url {
			return true
		}
	}
	return false
}

// truth returns what has to be listed.
func (h *mutations) truth() map[string]fixity {
	all := make(map[string]fixity)
	for _, item := range h.live {
		url, link := h.url(&item), item.Resource.Content
		if url == "" {
			continue
		}
		if b, ok := item.Body(websync.ContentName); ok {
			link = b.Link
			link.Digests = websync.Digests{b.Key}
		}
		s := fixity{mediaType: link.Type}
		if link.Length > 0 {
			s.length = fmt.Sprint(link.Length)
		}
		if d, ok := link.Digests.Get("sha-256"); ok {
			s.hash = "sha-256:" + hex.EncodeToString([]byte(d.Sum))
		}
		all[url] = s
	}
	return all
}

// checkBodies checks the bytes that are kept.
func (h *mutations) checkBodies(get func(url string) ([]byte, error)) {
	for _, item := range h.live {
		if b, ok := item.Body(websync.ContentName); ok {
			text, err := get(h.url(&item))
			require.NoError(h.t, err)
			require.Equal(h.t, b.Key, websync.SHA256(text))
		}
	}
}

// A server is the site of a Publisher for readers. It checks that what is final never
// changes.
type server struct {
	t       *testing.T
	site    websync.Publisher
	handler *publish.Handler
	between func() // before each request
	final   map[string][]byte
}

func (s *server) get(url string) ([]byte, error) {
	if s.between != nil {
		s.between()
	}
	path := strings.TrimPrefix(url, strings.TrimSuffix(www, "/"))
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		require.True(s.t, w.Code == http.StatusGone || w.Code == http.StatusNotFound, w.Code)
		return nil, websync.ErrGone
	}
	text := bytes.Clone(w.Body.Bytes())
	if before, ok := s.final[path]; ok {
		require.Equal(s.t, string(before), string(text), path)
	}
	if doc, err := s.site.Document(s.t.Context(), path); err == nil && doc.Final {
		s.final[path] = text
	} else if bytes.Contains(text, []byte(" until=")) && bytes.Contains(text, []byte("<urlset")) {
		require.Fail(s.t, "a closed Change List is not final", path)
	}
	return text, nil
}

// checkFinal gets everything that is final once more: it is the same, or gone.
func (s *server) checkFinal() {
	for _, path := range slices.Sorted(maps.Keys(s.final)) {
		s.get(www + path[1:])
	}
}

// TestPublisherReplayed: Destinations that were written after the standard alone arrive
// at the Publisher's state after each step of random histories: by the Resource List; by
// all Change Lists, from nothing; and by what is new in them, by its time.
func TestPublisherReplayed(t *testing.T) {
	for seed := range *replayed {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 11))
			store := testkit.NewStore(t)
			store.Clock = firstCommit
			p := &resourcesync.Publisher{Place: websync.Place{Catalog: store, Base: www}, PartSize: 1 + random.IntN(6), ListSize: 1 + random.IntN(6), MaxLists: max(0, random.IntN(6)-2)}
			p.Locator = websync.PathLocator{Base: www, Own: []string{"own"}, Reserved: p.Reserved}
			p.Report = func(f websync.Finding) { require.Contains(t, f.Message, "is reserved", f.String()) }
			site := publish.Join(p, publish.Bodies(store, p.Locator))
			s := &server{t: t, site: site, handler: &publish.Handler{Publishers: []websync.Publisher{site}, Dir: t.TempDir()}, final: make(map[string][]byte)}
			defer s.handler.Close()
			h := &mutations{Rand: random, t: t, store: store, locator: p.Locator, live: make(map[string]websync.Item)}
			newReader := func() *reader { return &reader{t: t, get: s.get, root: p.URL()} }
			follower, compactions := newReader(), 0
			h.change()
			for range 6 {
				for range random.IntN(8) {
					h.change()
				}
				if random.IntN(8) == 0 {
					follower.sync() // a new generation does not have the URLs of before
					generation, err := store.Compact(t.Context())
					require.NoError(t, err)
					if compactions++; random.IntN(2) == 0 {
						require.NoError(t, store.Drop(t.Context(), generation))
					}
				}
				throughout := h.truth()
				if random.IntN(2) == 0 {
					left := 30 // a log of short lists must not grow faster than it is read
					s.between = func() {
						if left > 0 && random.IntN(3) == 0 {
							left--
							h.change()
							now := h.truth()
							maps.DeleteFunc(throughout, func(url string, _ fixity) bool { _, ok := now[url]; return !ok })
						}
					}
					follower.moving = true
					follower.sync()
					follower.moving, s.between = false, nil
					for url := range throughout {
						require.Contains(t, follower.holds, url, "missed, or deleted, while the site changed")
					}
				}
				want := h.truth()
				follower.sync()
				require.Equal(t, want, follower.holds, "what is new")
				listed := newReader()
				listed.baseline()
				require.Equal(t, want, listed.holds, "the Resource List")
				if p.MaxLists == 0 {
					replay := newReader()
					replay.holds = make(map[string]fixity)
					require.True(t, replay.follow())
					require.Equal(t, want, replay.holds, "all Change Lists")
				}
				h.checkBodies(s.get)
				s.checkFinal()
			}
			if p.MaxLists == 0 && compactions == 0 {
				require.Equal(t, 1, follower.baselines, "the Change Lists suffice")
			}
		})
	}
}
