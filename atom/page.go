package atom

import (
	"errors"
	"io"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

// A page is one document of a walk.
type page struct {
	n            int // in the walk, from 0, the subscription document
	url          string
	final        string // after redirects
	place        place  // in walk.file
	etag         string
	lastModified string

	foreign    bool // not Atom
	id         string
	complete   bool
	prev, next string // prev-archive and next
	authors    []websync.Person
	lang, base string
	size       int64 // decompressed
	items      int
	skipped    int

	known  int                 // items that an earlier run has told
	oldest [2]websync.Datetime // of the entries and of the tombstones
}

// isPaged reports whether a subscription document is the first of several pages.
func (p *page) isPaged() bool {
	return p.prev == "" && p.next != "" && p.next != p.url && p.next != p.final
}

// read checks a document, reports its departures and takes it among the pages. If it is broken, nothing of it is left.
func (w *walk) read(p *page) error {
	r, err := w.parse(p, w.run.Report, func(i int, s *sighting) error { return w.see(p, i, s) })
	p.describe(r)
	if err == nil && p.n > 0 {
		if fault := w.otherFeed(p); fault != nil {
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
	prev, _ := r.feed.Link("prev-archive")
	next, _ := r.feed.Link("next")
	p.id, p.complete, p.prev, p.next = r.feed.ID, r.feed.Complete, prev.Href, next.Href
	p.authors, p.lang, p.base = r.feed.Authors, r.feed.Lang, r.feed.Base
	p.foreign, p.size, p.skipped = r.foreign, r.size, r.skipped
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
	return w.youths.see(s.id, state{document: p.n, item: i, time: s.at, tombstone: s.deleted})
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
			return w.youths.see(s.id, state{document: p.n, item: i, time: s.at, tombstone: s.deleted})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A sighting is an item as parse comes by it, valid until the next one.
type sighting struct {
	id      []byte // of the resource
	at      websync.Datetime
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

// A reading is what parse has learned of a document.
type reading struct {
	feed    *Feed
	foreign bool
	size    int64
	skipped int
}

// parse calls each for every item of a document that can be told; i counts all. What is wrong with the document is a *brokenPage.
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
	r := NewReader(w.file.page(p.place))
	r.Document, r.MaxBytes, r.Report, r.Now = p.final, w.source.MaxBytes, report, w.now
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
		s = sighting{id: w.viewID(v), at: v.Updated, deleted: v.Deleted, view: v}
		if !w.usable(p, &s, report) {
			got.skipped++
		} else if err := each(i, &s); err != nil {
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
	feed, items, err := w.source.Parser(w.file.page(p.place), p.final, report)
	if err != nil {
		return reading{}, &brokenPage{named(p.url, err)}
	}
	got := reading{feed: feed, foreign: true, size: p.place.size}
	if feed == nil {
		got.feed = new(Feed)
	}
	for i, item := range items {
		if item.Entry == nil && item.Tombstone == nil {
			continue
		}
		s := sighting{id: []byte(w.itemID(item)), at: item.Time(), deleted: item.Tombstone != nil, own: item}
		if !w.usable(p, &s, report) {
			got.skipped++
		} else if err := each(i, &s); err != nil {
			return got, err
		}
	}
	return got, nil
}

// viewID returns the id of the resource that a view is about.
func (w *walk) viewID(v *View) []byte {
	if w.source.ViaID {
		for i := range v.Links {
			if l := &v.Links[i]; string(l.Rel) == "via" && len(l.Href) > 0 {
				return l.Href
			}
		}
	}
	return v.ID
}

// itemID is viewID for an item of a Parser.
func (w *walk) itemID(item Item) string {
	if w.source.ViaID {
		var links []websync.Link
		if item.Tombstone != nil {
			links = item.Tombstone.Links
		} else {
			links = item.Entry.Links
		}
		if via, ok := findLink(links, "via"); ok && via.Href != "" {
			return via.Href
		}
	}
	return item.ID()
}
