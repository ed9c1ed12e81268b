package atom

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

// A page is one document of a walk.
type page struct {
	n            int // in the walk, from 0, the subscription document
	url          string
	final        string // after redirects
	span         span   // in walk.file
	etag         string
	lastModified string

	foreign    bool // not Atom
	id         string
	whole      bool              // fh:complete
	archived   bool              // fh:archive
	part       string            // why it is one of several documents all the same, if it is whole
	prev, next string            // prev-archive and next
	forks      map[string]string // relations of which there are two, with the second one
	newer      []string          // what next-archive, previous and prev say
	authors    []websync.Person
	lang, base string
	size       int64 // decompressed
	items      int
	skipped    int

	known  int                 // items that an earlier run has yielded
	oldest [2]websync.Datetime // of the entries and of the tombstones
}

// isPaged reports whether a subscription document is the first of several pages.
func (p *page) isPaged() bool { return p.prev == "" && p.next != "" }

// read checks a document, reports its departures and takes it among the pages. If it is
// broken, nothing of it is left.
func (w *walk) read(p *page) error {
	r, err := w.parse(p, w.run.Report, func(i int, s *sighting) error { return w.see(p, i, s) })
	p.describe(r)
	if err == nil && p.n > 0 {
		if fault := cmp.Or(w.otherFeed(p), w.otherDocument(p)); fault != nil {
			err = &brokenPage{fault}
		}
	}
	switch {
	case err == nil:
		w.pages = append(w.pages, p)
		w.floor = earlier(w.floor, p.oldest[0])
	case p.items > 0 && isBroken(err):
		if fault := w.seeAgain(); fault != nil {
			return fault
		}
	}
	return err
}

// describe takes over what was read.
func (p *page) describe(r reading) {
	if r.feed == nil {
		return
	}
	p.id, p.authors, p.lang, p.base = r.feed.ID, r.feed.Authors, r.feed.Lang, r.feed.Base
	p.foreign, p.size, p.skipped = r.foreign, r.size, r.skipped
	p.prev, p.next = p.leadsTo(r.feed, "prev-archive"), p.leadsTo(r.feed, "next")
	p.newer = []string{p.leadsTo(r.feed, "next-archive"), p.leadsTo(r.feed, "previous"), p.leadsTo(r.feed, "prev")}
	p.archived = r.feed.Archive
	if p.whole = r.feed.Complete; p.whole {
		p.part = p.whyPart(r.feed)
	}
}

// leadsTo returns the first link of a feed with a relation to another document. A second
// one that leads elsewhere is a fork.
func (p *page) leadsTo(f *Feed, rel string) (first string) {
	for _, l := range f.Links {
		href, _, _ := strings.Cut(l.Href, "#")
		switch {
		case l.Rel != rel || href == "":
		case first == "":
			first = href
		case href != first:
			if p.forks == nil {
				p.forks = make(map[string]string)
			}
			p.forks[rel] = href
		}
	}
	return first
}

// whyPart returns what says that a feed that is marked as complete is one of several
// documents; "" if nothing does. A link to itself does not, apart from next: it is
// nobody's next page.
func (p *page) whyPart(f *Feed) string {
	if f.Archive {
		return "archive"
	}
	self := p.leadsTo(f, "self")
	for _, rel := range headRelations {
		href := p.leadsTo(f, rel)
		isSelf := href == self || href == p.url || href == p.final
		if rel != "self" && href != "" && (!isSelf || rel == "next") {
			return rel
		}
	}
	return ""
}

// otherDocument returns what is wrong if the server redirects from one document of the
// walk to another: the one that was asked for is not read then.
func (w *walk) otherDocument(p *page) error {
	if p.final != p.url && (w.asked[p.final] || p.final == w.from.Archive || slices.Contains(p.newer, p.url)) {
		return named(p.url, fmt.Errorf("redirected to %s, which is another document of the feed", p.final))
	}
	return nil
}

// see notes an item of a document.
func (w *walk) see(p *page, i int, s *sighting) error {
	p.items++
	kind := 0
	if s.deleted {
		kind = 1
	}
	if !s.at.IsZero() {
		w.rises = w.rises || w.last[kind].Before(s.at) || w.floor.Before(s.at)
		w.last[kind] = s.at
		p.oldest[kind] = earlier(p.oldest[kind], s.at)
	}
	if w.from.knows(s.id, s.at) {
		p.known++
	}
	return w.youths.see(s.id, s.state(p, i))
}

// earlier returns the earlier of two times; b if a is not stated.
func earlier(a, b websync.Datetime) websync.Datetime {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// seeAgain forgets a document that turned out to be broken.
func (w *walk) seeAgain() error {
	if err := w.youths.close(); err != nil {
		return err
	}
	w.youths = newYoungest()
	for _, p := range w.pages {
		_, err := w.parse(p, nil, func(i int, s *sighting) error {
			return w.youths.see(s.id, s.state(p, i))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A sighting is an item as parse comes by it, valid until the next one.
type sighting struct {
	id      []byte           // of the resource
	entry   []byte           // the atom:id, or the ref
	via     bool             // id is the target of a via link
	at      websync.Datetime // as instant returns it
	age     websync.Datetime // what makes it newer than another: at, unless that lies in the future
	deleted bool
	view    *View
	own     Item // where there is no view
}

// item returns the item in memory of its own.
func (s *sighting) item() Item {
	if s.view != nil {
		return s.view.Clone()
	}
	return s.own
}

// state returns the item's state, as item i of a document.
func (s *sighting) state(p *page, i int) state {
	return state{document: p.n, item: i, time: s.age, tombstone: s.deleted}
}

// instant returns a time of Atom as the instant that it is (RFC 3339): to the nanosecond,
// so that it is compared exactly. What has no seconds is no time of RFC 3339, and stays
// the period that it is.
func instant(d websync.Datetime) websync.Datetime {
	if d.Precision() < websync.PrecisionSecond {
		return d
	}
	return d.WithPrecision(websync.PrecisionNanosecond)
}

// A reading is what parse has learned of a document.
type reading struct {
	feed    *Feed
	foreign bool
	size    int64
	skipped int
}

// parse calls each for every item of a document that can be yielded; i counts all. What
// is wrong with the document is a *brokenPage.
func (w *walk) parse(p *page, report func(websync.Finding), each func(i int, s *sighting) error) (reading, error) {
	if p.foreign {
		return w.parseForeign(p, report, each)
	}
	r, err := w.parseAtom(p, report, each)
	if w.source.Parser == nil || !isBroken(err) || r.feed != nil || !errors.Is(err, websync.ErrNotDocument) {
		return r, err
	}
	foreign, otherErr := w.parseForeign(p, report, each)
	if errors.Is(otherErr, websync.ErrNotDocument) {
		return r, err
	}
	return foreign, otherErr
}

func (w *walk) parseAtom(p *page, report func(websync.Finding), each func(int, *sighting) error) (got reading, err error) {
	r := NewReader(w.file.page(p.span))
	r.Document, r.MaxBytes, r.Report, r.Now = p.final, w.source.MaxBytes, report, w.now
	r.MaxContent, r.MaxValue, r.MaxDepth = w.source.MaxContent, w.source.MaxValue, w.source.MaxDepth
	var s sighting
	for i := 0; ; i++ {
		v, err := r.NextView()
		if err == io.EOF {
			break
		}
		if err != nil {
			return got, &brokenPage{err}
		}
		if r.Kind() != FeedDocument {
			break
		}
		s = sighting{id: v.ID, entry: v.ID, at: instant(v.Updated), deleted: v.Deleted, view: v}
		if w.source.ViaID {
			s.follow(viewVia(v))
		}
		skipped, err := w.admit(p, i, &s, report, each)
		if got.skipped += skipped; err != nil {
			return got, err
		}
	}
	got.feed, got.size = r.Feed(), r.doc.Size()
	got.skipped += r.Skipped()
	if r.Kind() != FeedDocument {
		what := document.Kind{Name: "a feed"}.Not("a document of the kind " + r.Kind().String())
		return got, &brokenPage{named(p.url, what)}
	}
	return got, nil
}

func (w *walk) parseForeign(p *page, report func(websync.Finding), each func(int, *sighting) error) (reading, error) {
	if report == nil {
		report = func(websync.Finding) {}
	}
	feed, items, err := w.source.Parser(w.file.page(p.span), p.final, report)
	if err != nil {
		return reading{}, &brokenPage{named(p.url, err)}
	}
	got := reading{feed: feed, foreign: true, size: p.span.size}
	if feed == nil {
		got.feed = new(Feed)
	}
	got.skipped = got.feed.Skipped
	for i, item := range items {
		if item.Entry == nil && item.Tombstone == nil {
			continue
		}
		id := []byte(item.ID())
		s := sighting{id: id, entry: id, at: instant(item.Time()), deleted: item.Tombstone != nil, own: item}
		if w.source.ViaID {
			s.follow([]byte(itemVia(item)))
		}
		skipped, err := w.admit(p, i, &s, report, each)
		if got.skipped += skipped; err != nil {
			return got, err
		}
	}
	return got, nil
}

// follow makes the target of a via link the id.
func (s *sighting) follow(via []byte) {
	if len(via) > 0 {
		s.id, s.via = via, true
	}
}

// viewVia returns the target of the first via link.
func viewVia(v *View) []byte {
	for i := range v.Links {
		if l := &v.Links[i]; string(l.Rel) == "via" && len(l.Href) > 0 {
			return l.Href
		}
	}
	return nil
}

// itemVia is viewVia for an item of a Parser.
func itemVia(item Item) string {
	links := []websync.Link(nil)
	if item.Tombstone != nil {
		links = item.Tombstone.Links
	} else {
		links = item.Entry.Links
	}
	via, _ := findLink(links, "via")
	return via.Href
}
