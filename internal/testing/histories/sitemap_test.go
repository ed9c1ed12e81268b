package histories

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/sitemap"
)

const sitemapURL = base + "sitemap.xml"

// A page is a page of a site.
type page struct {
	url     string
	version int
	lastmod websync.Datetime // zero if the publisher states none
	part    int
}

func (p *page) content() string { return fmt.Sprintf("<p>%s, version %d</p>", short(p.url), p.version) }

// A site publishes a sitemap: a urlset, or an index with parts.
type site struct {
	h        *history
	pages    map[string]*page
	made     int
	limit    int // of pages
	parts    int // 0: a urlset
	complete bool
	noDates  bool // no page has a lastmod
	// the lastmod of each part, and that which the index has; the index states none if
	// bare is set, and never another than the first if frozen is set
	changed, indexed []websync.Datetime
	bare, frozen     bool
}

func newSite(h *history, rng *rand.Rand) *site {
	s := &site{h: h, pages: map[string]*page{}, complete: rng.IntN(2) == 0, noDates: slices.Contains(h.kinds, "no-dates"), bare: rng.IntN(5) == 0}
	if s.parts = max(0, rng.IntN(5)-1); s.parts == 1 || h.only("list-swapped", "index-lags", "index-frozen", "move") {
		s.parts = 2 + rng.IntN(3)
	}
	s.frozen = slices.Contains(h.kinds, "index-frozen") && rng.IntN(2) == 0 || h.only("index-frozen")
	s.bare = s.bare && !h.only("index-frozen", "index-lags")
	// What only the bytes show is found by a sample, which has at least 10 of a run.
	s.limit = 10
	if !h.hides() && rng.IntN(2) == 0 {
		s.limit = 40
	}
	s.changed = make([]websync.Datetime, max(1, s.parts))
	for i := range s.changed {
		s.changed[i] = h.now()
	}
	for i := range s.limit/3 + rng.IntN(s.limit/2) {
		if s.add(rng); !h.event(fmt.Sprint("page ", i)) {
			delete(s.pages, fmt.Sprintf("%sp/%d", base, s.made))
		}
	}
	s.indexed = slices.Clone(s.changed)
	return s
}

func (s *site) String() string {
	return fmt.Sprintf("sitemap: %d parts, complete %v, no lastmod of pages %v, of parts %v, index frozen %v",
		s.parts, s.complete, s.noDates, s.bare, s.frozen)
}

func (s *site) source() harvest.Source { return &sitemap.Source{URL: sitemapURL, Complete: s.complete} }
func (s *site) deletes() bool          { return s.complete }
func (s *site) log() bool              { return false }
func (s *site) tombstoned(string) bool { return false }

func (s *site) now() websync.Datetime {
	if s.noDates {
		return websync.Datetime{}
	}
	return s.h.now()
}

func (s *site) add(rng *rand.Rand) string {
	s.made++
	p := &page{url: fmt.Sprintf("%sp/%d", base, s.made), version: 1, lastmod: s.now(), part: rng.IntN(max(1, s.parts))}
	s.pages[p.url] = p
	s.touch(p.part)
	return "adds " + short(p.url)
}

func (s *site) touch(part int) { s.changed[part] = s.h.now() }

func (s *site) change(rng *rand.Rand, label string) string {
	urls := slices.Sorted(maps.Keys(s.pages))
	action := rng.IntN(10)
	if len(urls) == 0 || action < 2 && len(urls) < s.limit {
		return s.add(rng)
	}
	p := s.pages[urls[rng.IntN(len(urls))]]
	switch {
	case action < 4 && len(urls) > 2:
		delete(s.pages, p.url)
		s.touch(p.part)
		s.h.srv.remove(p.url)
		return "removes " + short(p.url)
	case action < 5 && s.parts > 0:
		to := rng.IntN(s.parts)
		s.touch(p.part)
		s.touch(to)
		p.part = to
		return fmt.Sprintf("moves %s to part %d", short(p.url), to)
	}
	p.version++
	if p.lastmod.IsZero() {
		return "changes " + short(p.url)
	}
	if s.h.happens("date-same", label) {
		return "changes the bytes of " + short(p.url)
	}
	s.touch(p.part)
	p.lastmod = s.now()
	if s.h.happens("date-back", label) {
		p.lastmod = s.h.earlier(p.lastmod, rng)
	}
	return fmt.Sprintf("changes %s, lastmod %s", short(p.url), p.lastmod)
}

func (s *site) partURL(i int) string { return fmt.Sprintf("%spart-%d.xml", base, i) }

func (s *site) publish() {
	srv := s.h.srv
	for _, p := range s.pages { // in any order
		srv.put(p.url, []byte(p.content()), nil)
	}
	lists := make([][]entry, max(1, s.parts))
	for i := range lists {
		lists[i] = []entry{}
	}
	for _, url := range slices.Sorted(maps.Keys(s.pages)) {
		p := s.pages[url]
		lists[p.part] = append(lists[p.part], entry{id: url, time: p.lastmod})
	}
	if s.parts == 0 {
		srv.put(sitemapURL, s.render(sitemapURL, lists[0]), lists[0])
		return
	}
	var b bytes.Buffer
	b.WriteString(`<sitemapindex xmlns="` + sitemap.Namespace + `">` + "\n")
	for i, list := range lists {
		url := s.partURL(i)
		srv.put(url, s.render(url, list), list)
		if !s.frozen && !s.h.happens("index-lags", i) {
			s.indexed[i] = s.changed[i]
		}
		fmt.Fprintf(&b, "<sitemap><loc>%s</loc>", url)
		if !s.bare {
			fmt.Fprintf(&b, "<lastmod>%s</lastmod>", s.indexed[i])
		}
		b.WriteString("</sitemap>\n")
	}
	b.WriteString("</sitemapindex>\n")
	srv.put(sitemapURL, b.Bytes(), []entry{})
}

func (s *site) siblings(url string) (others []string) {
	for i := range s.parts {
		if u := s.partURL(i); u != url && url != sitemapURL {
			others = append(others, u)
		}
	}
	return others
}

func (s *site) render(url string, entries []entry) []byte {
	if s.parts > 0 && url == sitemapURL {
		return nil
	}
	var b bytes.Buffer
	b.WriteString(`<urlset xmlns="` + sitemap.Namespace + `">` + "\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "<url><loc>%s</loc>", e.id)
		if !e.time.IsZero() {
			fmt.Fprintf(&b, "<lastmod>%s</lastmod>", e.time)
		}
		b.WriteString("</url>\n")
	}
	b.WriteString("</urlset>\n")
	return b.Bytes()
}

// damage returns a document with one damaged entry or none that is readable.
func (s *site) damage(doc []byte, rng *rand.Rand) []byte {
	return damage(doc, rng, []string{"<loc>", "</loc>", "</url>", "<url>"})
}

// damage changes one byte of one of the tags, or removes it.
func damage(doc []byte, rng *rand.Rand, tags []string) []byte {
	tag := []byte(tags[rng.IntN(len(tags))])
	n := bytes.Count(doc, tag)
	if n == 0 {
		return nil
	}
	at := 0
	for i := range 1 + rng.IntN(n) {
		if i > 0 {
			at += len(tag)
		}
		at += bytes.Index(doc[at:], tag)
	}
	bad := slices.Clone(doc)
	if rng.IntN(3) == 0 {
		return slices.Delete(bad, at, at+len(tag))
	}
	bad[at+len(tag)-2] ^= 2
	return bad
}

func (s *site) listed() map[string]want {
	all := map[string]want{}
	for url, p := range s.pages {
		all[url] = want{p.lastmod, p.content()}
	}
	return all
}
