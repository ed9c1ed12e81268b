package atom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/site"
)

// A listing is one document of a Publisher, in the state that its ETag names.
type listing struct {
	publisher *Publisher
	url       string
	archive   bool
	after     websync.Seq // the number after which it begins: the end of the archive document before
	stamp     stamp       // its end
	born      websync.Seq // the greatest of that state; 0: not known
}

func (d *listing) document() *websync.Document {
	p := d.publisher
	doc := &websync.Document{Type: documentType, Modified: d.stamp.time, Final: d.archive, Write: d.write}
	if d.archive {
		doc.ETag = fmt.Sprintf("%s-%d", p.site.id(d.stamp), d.stamp.seq)
		doc.Links = []websync.Link{selfLink(d.url), {Rel: "current", Href: p.URL(), Type: feedType}}
	} else {
		doc.ETag = fmt.Sprintf("%s-%d", p.site.id(d.stamp, p.Hubs...), d.stamp.seq)
		doc.Links = p.headLinks()
	}
	return doc
}

// write is Document.Write. All but a complete document are made of the log alone, up to a
// number: nothing can change meanwhile.
func (d *listing) write(ctx context.Context, w io.Writer) error {
	p := d.publisher
	f, err := d.feed(ctx)
	if err != nil {
		return err
	}
	l := lister{listing: d, out: NewWriter(w), born: d.born}
	l.out.LegacyMD5 = p.LegacyMD5
	if err := l.out.WriteFeed(f); err != nil {
		return err
	}
	if p.Complete {
		err = l.writeLive(ctx)
	} else {
		err = l.writeChanges(ctx)
	}
	if err == nil {
		err = l.out.Close()
	}
	if err == nil && p.Complete {
		err = d.settle(ctx)
	}
	if err == nil {
		p.tell(d)
	}
	return err
}

// settle tells whether nothing has changed since the document was asked for.
func (d *listing) settle(ctx context.Context) error {
	head, err := d.publisher.head(ctx)
	if err != nil {
		return err
	}
	if s := d.stamp; head.Generation != s.generation || head.Last != s.seq || !head.LastTime.Equal(s.time) {
		return fmt.Errorf("atom: %s: %w", d.url, websync.ErrConflict)
	}
	return nil
}

// feed returns the metadata.
func (d *listing) feed(ctx context.Context) (*Feed, error) {
	p := d.publisher
	f := p.site.feed
	f.Updated, f.Complete, f.Archive = websync.NewDatetime(d.stamp.time), p.Complete, d.archive
	if f.Updated.IsZero() {
		f.Updated = epoch
	}
	f.Links = d.document().Links
	if d.after > 0 {
		before, err := p.archivePath(ctx, d.stamp.generation, d.after)
		if err != nil {
			return nil, d.logError(err)
		}
		f.Links = append(f.Links, websync.Link{Rel: "prev-archive", Href: p.site.origin + before, Type: feedType})
	}
	return &f, nil
}

// writeChanges writes the youngest state of each id in the range of the document.
func (l *lister) writeChanges(ctx context.Context) error {
	items, err := l.changes(ctx)
	if err != nil {
		return err
	}
	var live []*websync.Item
	seen := make(map[string]bool, len(items))
	for i := len(items) - 1; i >= 0; i-- {
		item := &items[i]
		l.born = max(l.born, item.Born)
		switch {
		case l.usurps(item), seen[item.Resource.ID]:
			continue
		case item.Kind != websync.Deleted:
			live = append(live, item)
		default:
			if err := l.writeTombstone(item); err != nil {
				return err
			}
		}
		seen[item.Resource.ID] = true
	}
	return l.writeEntries(ctx, live)
}

// changes reads the range of the document.
func (l *lister) changes(ctx context.Context) (items []websync.Item, err error) {
	if l.stamp.seq == 0 {
		return nil, nil // and not a range without an end
	}
	p := l.publisher
	r := websync.Range{Sources: p.site.sources, Generation: l.stamp.generation, After: l.after, Until: l.stamp.seq}
	items = make([]websync.Item, 0, min(l.stamp.seq-l.after, 2*defaultArchiveSize))
	for item, err := range p.Catalog.Changes(ctx, r) {
		if err == nil {
			err = item.Check()
		}
		if err != nil {
			return nil, l.logError(err)
		}
		items = append(items, item)
	}
	return items, nil
}

// logError returns the error of a Catalog that was asked for what an archive document is
// made of, which may be gone since.
func (d *listing) logError(err error) error {
	if d.archive && errors.Is(err, websync.ErrNotFound) {
		return fmt.Errorf("atom: %s: %w", d.url, websync.ErrGone)
	}
	return catalogError(err)
}

// writeLive writes all live resources.
func (l *lister) writeLive(ctx context.Context) error {
	const batch = 500
	p := l.publisher
	var items []*websync.Item
	for item, err := range p.Catalog.Resources(ctx, websync.Range{Sources: p.site.sources}) {
		if err == nil {
			err = item.Check()
		}
		if err != nil {
			return catalogError(err)
		}
		if l.usurps(&item) {
			continue
		}
		if items = append(items, &item); len(items) < batch {
			continue
		}
		if err := l.writeEntries(ctx, items); err != nil {
			return err
		}
		items = items[:0]
	}
	return l.writeEntries(ctx, items)
}

// A lister writes the entries of a document.
type lister struct {
	*listing
	out   *Writer
	maker entryMaker
	born  websync.Seq         // the greatest that the document knows of
	here  map[string][]string // the sources that have a link's target as an id, in their order
	buf   []websync.Link      // of the entry at hand
}

// usurps reports whether a stranger's item has the id of what is the publisher's own,
// whose entry or tombstone it would be for a reader. It is not listed.
func (l *lister) usurps(item *websync.Item) bool {
	s := &l.publisher.site
	if !site.Usurps(s.locator, s.origin, item) {
		return false
	}
	l.refuse(item, &EntryError{Element: "id", Err: errUsurped})
	return true
}

var errUsurped = errors.New("the id is a URL of the publisher's own, and its source is not own")

// writeTombstone writes the tombstone of an id, unless there can have been no entry of
// it.
func (l *lister) writeTombstone(item *websync.Item) error {
	t := Tombstone{Ref: item.Resource.ID, When: websync.NewDatetime(item.Time)}
	for _, via := range cleanLinks(item.Resource.Links) {
		if isVia(via.Rel) {
			t.Links = append(t.Links, via)
		}
	}
	err := l.out.WriteTombstone(&t)
	if _, refused := err.(*EntryError); refused {
		return nil
	}
	return err
}

func (l *lister) writeEntries(ctx context.Context, items []*websync.Item) error {
	if err := l.findTargets(ctx, items); err != nil {
		return err
	}
	for _, item := range items {
		if err := l.writeEntry(item); err != nil {
			return err
		}
	}
	return nil
}

// writeEntry writes the entry of an item: without the elements that can't be written, and
// not at all, if it has no id for Atom.
func (l *lister) writeEntry(item *websync.Item) error {
	e := l.entry(item)
	err := l.out.WriteEntry(&e)
	if _, refused := err.(*EntryError); refused && len(e.Elements) > 0 {
		e.Elements = clean(e.Elements, func(c *encoder, x []websync.Element) { c.elements(x) })
		err = l.out.WriteEntry(&e)
	}
	if refused, ok := err.(*EntryError); ok {
		l.refuse(item, refused)
		return nil
	}
	return err
}

// refuse reports that an item is not listed, unless that is known.
func (l *lister) refuse(item *websync.Item, refused *EntryError) {
	p := l.publisher
	if p.Report == nil || p.isTold(l.stamp.generation, item.Seq) {
		return
	}
	rule := ruleEntryChild
	if refused.Element == "id" {
		rule = ruleID
	}
	p.Report(rule.Finding(l.url, 0, 0, refused.Element, []byte(item.Resource.ID), "not listed: "+refused.Err.Error()))
}

// findTargets finds out which links of items lead to resources of the Catalog.
//
// What it finds must not depend on when it looks, or an archive document would not be the
// same for ever. So it asks in the sources of the items only, not for bodies, and for
// those whose Born is not after the items': an id keeps its Born, so that holds for ever
// or never.
func (l *lister) findTargets(ctx context.Context, items []*websync.Item) error {
	const batch = 1000
	var targets, sources []string
	l.here = make(map[string][]string)
	for _, item := range items {
		if _, kept := keptBody(item, contentBody); !kept {
			continue
		}
		if len(sources) == 0 || sources[len(sources)-1] != item.Source {
			sources = append(sources, item.Source)
		}
		for _, link := range item.Resource.Links {
			if _, asked := l.here[link.Href]; !asked {
				l.here[link.Href] = nil
				targets = append(targets, link.Href)
			}
		}
	}
	slices.Sort(sources)
	for _, source := range slices.Compact(sources) {
		for ids := range slices.Chunk(targets, batch) {
			found, err := l.publisher.Catalog.Get(ctx, source, ids)
			if err != nil {
				return catalogError(err)
			}
			for i := range found {
				if born := found[i].Born; 0 < born && born <= l.born {
					l.here[ids[i]] = append(l.here[ids[i]], source)
				}
			}
		}
	}
	return nil
}

const contentBody = "content" // the name of the body that is the content of an entry

// keptBody returns the body with the given name, if its bytes were kept.
func keptBody(item *websync.Item, name string) (websync.Body, bool) {
	b, ok := item.Body(name)
	return b, ok && !b.Key.IsZero()
}
