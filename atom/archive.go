package atom

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/internal/syntax"
)

// An archive is one document of a Publisher, in the state that its ETag names: an archive
// document, the subscription document or the complete document.
type archive struct {
	publishing.Segment
	publisher *Publisher
	url       string
}

// epoch is the updated of a feed whose log is empty. It is the same for every request.
var epoch = websync.NewDatetime(time.Unix(0, 0).UTC())

func (d *archive) document() *websync.Document {
	p := d.publisher
	doc := &websync.Document{Type: documentType, Modified: d.Time, Write: d.write}
	if d.Closed {
		switch {
		case p.LatestOnly:
			doc.ETag, doc.Modified = d.ETag(d.State.String()), d.State.Time
		case !p.profile.Mutable && p.InlineBytes <= 0:
			doc.ETag, doc.Final = d.ETag(), true
		}
		doc.Links = []websync.Link{selfLink(d.url), {Rel: "current", Href: p.URL(), Type: feedType}}
	} else {
		depends := p.Hubs
		if p.History > 0 {
			depends = append(slices.Clip(depends), p.History.String())
		}
		doc.ETag = d.ETag(depends...)
		doc.Links = p.headLinks()
	}
	return doc
}

// dependsOnAll reports whether the document depends on the whole log. Every other one
// depends only on the log up to a number, so it can't change while it is written.
func (d *archive) dependsOnAll() bool {
	return d.publisher.Complete || d.publisher.LatestOnly && d.Closed
}

// write is Document.Write.
func (d *archive) write(ctx context.Context, w io.Writer) error {
	p := d.publisher
	f, err := d.feed(ctx)
	if err != nil {
		return err
	}
	l := lister{archive: d, out: NewWriter(w), linker: publishing.Linker{Site: p.site, Follows: p.profile.follows()}}
	l.budget = publishing.Budget{Site: p.site, Bytes: cmp.Or(p.ArchiveBytes, defaultBytes), Size: int(p.log.Size)}
	l.out.LegacyMD5 = p.LegacyMD5
	if err := l.out.WriteFeed(f); err != nil {
		return err
	}
	report := func(item *websync.Item, message string) { l.report(ruleEntryTwice, "id", item, message) }
	l.overlap = publishing.Overlap{Site: p.site, Report: report}
	if p.Complete {
		err = l.writeLive(ctx)
	} else {
		err = l.writeChanges(ctx)
	}
	if err == nil {
		err = l.overlap.Flush(ctx)
	}
	if err == nil {
		err = l.out.Close()
	}
	if err == nil && d.dependsOnAll() {
		err = d.CheckUnchanged(ctx)
	}
	if err == nil {
		d.SetReported()
	}
	return err
}

// feed returns the metadata.
func (d *archive) feed(ctx context.Context) (*Feed, error) {
	p := d.publisher
	f := p.newFeed()
	if !d.Time.IsZero() {
		f.Updated = websync.NewDatetime(d.Time)
	}
	f.Complete, f.Archive, f.Links = p.Complete, d.Closed, d.document().Links
	before, ok, err := d.Previous(ctx)
	if ok {
		f.Links = append(f.Links, websync.Link{Rel: "prev-archive", Href: p.site.Origin + before.Path(), Type: feedType})
	}
	return p.profiled(f), err
}

// A lister writes the entries of a document.
type lister struct {
	*archive
	out     *Writer
	maker   entryMaker
	linker  publishing.Linker
	overlap publishing.Overlap
	budget  publishing.Budget
	made    Entry // reused for all items: Profile.Item gets its address
}

// writeChanges writes the latest state of each id in the range of the document. Atom
// demands that tombstones come first.
func (l *lister) writeChanges(ctx context.Context) error {
	latest, err := l.Latest(ctx, l.refuseID)
	if err == nil && l.dependsOnAll() {
		latest, err = l.Current(ctx, latest)
	}
	if err != nil {
		return err
	}
	entries := latest[:0]
	for _, item := range latest {
		item = l.inert(item)
		if item.Kind == websync.Deleted {
			as := l.profiled(item, Item{Tombstone: tombstoneOf(item)})
			if as.Entry == nil {
				if err := l.writeTombstone(as.Tombstone); err != nil {
					return err
				}
				continue
			}
		}
		entries = append(entries, item)
	}
	return l.writeEntries(ctx, entries)
}

// writeLive writes all live resources.
func (l *lister) writeLive(ctx context.Context) error {
	for items, err := range publishing.Batches(l.publisher.site.Resources(ctx, websync.Range{}, l.refuseID)) {
		if err != nil {
			return err
		}
		for i := range items {
			items[i] = l.inert(items[i])
		}
		if err := l.writeEntries(ctx, items); err != nil {
			return err
		}
	}
	return nil
}

// inert returns an item without markup on which a browser may act.
func (l *lister) inert(item *websync.Item) *websync.Item {
	report := l.publisher.Report
	if l.isReported(item) {
		report = nil
	}
	return publishing.Inert(item, l.url, report)
}

// refuseID reports that an item is not listed because of its id.
func (l *lister) refuseID(item *websync.Item, why error) {
	l.refuse(item, &websync.EntryError{Format: "atom", Element: "id", Err: why})
}

// profiled returns what a document lists for an item, after Profile.Item has changed it.
func (l *lister) profiled(item *websync.Item, as Item) Item {
	p := l.publisher
	if p.profile.Item == nil {
		return as
	}
	wasEntry := as.Entry != nil
	err := p.profile.Item(p, item, &as)
	if err == nil && wasEntry && as.Tombstone != nil {
		err = errNoTombstone
	}
	if err != nil {
		l.refuse(item, &websync.EntryError{Format: "atom", Element: "entry", Err: err})
		return Item{}
	}
	return as
}

var errNoTombstone = errors.New("Profile.Item must not replace an Entry by a Tombstone")

// tombstoneOf returns the tombstone of an item.
func tombstoneOf(item *websync.Item) *Tombstone {
	t := &Tombstone{Ref: entryID(item), When: websync.NewDatetime(item.Time)}
	for _, via := range cleanLinks(item.Resource.Links) {
		if publishing.IsVia(via.Rel) {
			t.Links = append(t.Links, via)
		}
	}
	return t
}

// entryID returns the atom:id of an item: its ID, or a tag URI if that is no IRI.
func entryID(item *websync.Item) string {
	if syntax.IRIFault(item.Resource.ID) != "" {
		return websync.TagURI(item.Source, item.Resource.ID)
	}
	return item.Resource.ID
}

// writeTombstone writes a tombstone, if there is one. It leaves out a tombstone whose id
// no entry can have had.
func (l *lister) writeTombstone(t *Tombstone) error {
	if t == nil {
		return nil
	}
	err := l.out.WriteTombstone(t)
	if _, refused := err.(*websync.EntryError); refused {
		return nil
	}
	return err
}

func (l *lister) writeEntries(ctx context.Context, items []*websync.Item) error {
	for _, item := range items {
		l.budget.Fit(item)
	}
	if prepare := l.publisher.profile.Prepare; prepare != nil {
		if err := prepare(ctx, l.publisher, l.Entry, items); err != nil {
			return err
		}
	}
	for _, item := range items {
		if err := l.writeEntry(ctx, item); err != nil {
			return err
		}
		if l.isReported(item) {
			continue
		}
		if err := l.overlap.Add(ctx, item); err != nil {
			return err
		}
	}
	return nil
}

// writeEntry writes the entry of an item without the elements that can't be written. It
// writes nothing if the id is not valid in Atom.
func (l *lister) writeEntry(ctx context.Context, item *websync.Item) error {
	var as Item
	if item.Kind == websync.Deleted {
		as.Tombstone = tombstoneOf(item)
	} else {
		var err error
		if l.made, err = l.entry(ctx, item); err != nil {
			return err
		}
		as.Entry = &l.made
	}
	e := l.profiled(item, as).Entry
	if e == nil {
		return nil
	}
	err := l.out.WriteEntry(e)
	if _, refused := err.(*websync.EntryError); refused && len(e.Elements) > 0 {
		e.Elements = clean(e.Elements, func(c *encoder, x []websync.Element) { c.elements(x) })
		err = l.out.WriteEntry(e)
	}
	if refused, ok := err.(*websync.EntryError); ok {
		l.refuse(item, refused)
		return nil
	}
	return err
}

// isReported reports whether the faults of an item need no report: there is no Report, or
// it has received them.
func (l *lister) isReported(item *websync.Item) bool {
	return l.publisher.Report == nil || l.IsReported(item.Seq)
}

// refuse reports that an item is not listed, unless that was reported before.
func (l *lister) refuse(item *websync.Item, refused *websync.EntryError) {
	if l.isReported(item) {
		return
	}
	rule := ruleEntryChild
	if refused.Element == "id" {
		rule = ruleID
	}
	l.report(rule, refused.Element, item, "not listed: "+refused.Err.Error())
}

func (l *lister) report(r websync.Rule, element string, item *websync.Item, message string) {
	l.publisher.Report(r.Finding(l.url, 0, 0, element, []byte(item.Resource.ID), message))
}

// entry returns the entry of an item.
func (l *lister) entry(ctx context.Context, item *websync.Item) (Entry, error) {
	r := item.Resource
	r.Content, r.Links = l.content(item), l.linker.Links(item)
	inline, err := l.inline(ctx, item)
	if err != nil {
		return Entry{}, err
	}
	if !inline.IsZero() {
		r.Content = websync.Link{}
	}
	if _, harvested := r.Via(); !harvested && r.Content.Modified.IsZero() {
		r.Content.Modified = r.Modified // updated is the time of the commit
	}
	if r.Published.Time().After(item.Time) {
		r.Published = websync.Datetime{}
	}
	if slices.ContainsFunc(r.Elements, isLeftOut) {
		r.Elements = slices.DeleteFunc(slices.Clone(r.Elements), isLeftOut)
	}
	e := l.maker.entry(&r, websync.NewDatetime(item.Time), websync.Person{})
	if !inline.IsZero() {
		e.Content = inline
	}
	e.ID = entryID(item)
	e.Source = wholeSource(e.Source, cmp.Or(r.Modified, e.Updated))
	if e.Title.isBlank() {
		e.Title = Text{Type: PlainText, Value: r.ID}
	}
	if e.Summary.isBlank() {
		e.Summary = Text{}
		if e.Content.Href != "" {
			e.Summary = e.Title // Atom demands a summary, which should not be blank
		}
	}
	return e, nil
}

// inline returns the content of an item that is part of its entry. It is the zero Content
// if the bytes did not come inline, are too many or are gone, or if they would not be
// safe, or the same, in the document.
func (l *lister) inline(ctx context.Context, item *websync.Item) (none Content, err error) {
	p, r := l.publisher, &item.Resource
	types := map[string]string{"text/plain": PlainText, "text/html": HTML, "application/xhtml+xml": XHTML}
	b, kept := publishing.KeptContent(item)
	if p.InlineBytes <= 0 || !kept || r.Content.Href != "" || types[r.Content.Type] == "" {
		return none, nil
	}
	body, err := p.Catalog.Open(ctx, b)
	if errors.Is(err, websync.ErrNotFound) { // the bytes of a state that is superseded
		return none, nil
	}
	if err != nil {
		return none, p.site.CatalogError(err)
	}
	data, err := io.ReadAll(io.LimitReader(body, int64(p.InlineBytes)+1))
	if err = errors.Join(err, body.Close()); err != nil {
		return none, p.site.CatalogError(err)
	}
	text := string(data)
	c := Content{Value: text, Link: websync.Link{Type: types[r.Content.Type], Lang: r.Content.Lang, Attrs: r.Content.Attrs}}
	div := websync.Element{Space: Namespace, Local: "content", XML: "<content xmlns=\"" + Namespace + "\">" + text + "</content>"}
	switch {
	case len(data) == 0, len(data) > p.InlineBytes:
	case c.Type == XHTML && publishing.IsActive(&div):
	case c.Type == HTML && string(absolute(data, l.url)) != text: // what base they have is not known
	case writable(&c, func(e *encoder, c *Content) { e.content(c) }):
		return c, nil
	}
	return none, nil
}

// wholeSource returns a source with the elements that it should have (RFC 4287 §4.2.11);
// nil if it has no id. updated is the time of the entry, which replaces a missing time.
func wholeSource(f *Feed, updated websync.Datetime) *Feed {
	if f == nil || f.ID == "" {
		return nil
	}
	if f.Title.isBlank() {
		f.Title = Text{Type: PlainText, Value: f.ID}
	}
	f.Updated = cmp.Or(f.Updated, updated)
	return f
}

func (t *Text) isBlank() bool { return strings.TrimSpace(t.Value) == "" }

// isLeftOut reports whether an element has another meaning, or none, in an entry of this
// publisher.
func isLeftOut(x websync.Element) bool {
	switch x.Space {
	case "", HistoryNamespace, TombstoneNamespace, signatureNamespace:
		return true
	case GDataNamespace:
		return x.Local == "deleted"
	case FeedSyncNamespace:
		return x.Local == "sync"
	}
	return false
}

// content returns the link to the content: to its body here if that is kept, or an
// alternate. A resource without any has the first of its bodies, unless readers follow
// the links to these.
func (l *lister) content(item *websync.Item) websync.Link {
	b, kept := publishing.KeptContent(item)
	if !kept && item.Resource.Content.Href == "" && l.linker.Follows == nil {
		if i := slices.IndexFunc(item.Bodies, func(b websync.Body) bool { return publishing.IsKept(&b) }); i >= 0 {
			b, kept = item.Bodies[i], true
		}
	}
	if !kept {
		c := item.Resource.Content
		c.Rel = cmp.Or(c.Rel, "alternate")
		return c
	}
	c := l.linker.Body(item, &b)
	if syntax.MediaTypeFault(c.Type) != "" {
		c.Type = "application/octet-stream"
	}
	if c.Rel = ""; syntax.IsComposite(c.Type) {
		c.Rel = "alternate"
	}
	return c
}
