package sitemap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/internal/syntax"
)

// A listing is one document of a Publisher, in the state that its ETag names.
type listing struct {
	publisher *Publisher
	url       string
	zipped    bool
	part      publishing.Part
	head      Head
}

// describe returns the Head of the document, without elements.
func (d *listing) describe() Head {
	h := Head{Kind: d.kind(), URL: d.url, At: websync.NewDatetime(d.part.At)}
	if root := d.publisher.site.Root; h.Kind == URLSet && d.part.Path != root {
		h.Index = d.publisher.site.Origin + root
	}
	return h
}

func (d *listing) document() *websync.Document {
	doc := &websync.Document{Type: "application/xml", Write: d.write}
	more := ""
	if d.zipped {
		doc.Type, more = "application/gzip", "-gzip"
	}
	if h := &d.head; len(h.Elements)+len(h.Attrs)+len(h.Namespaces) > 0 {
		more += "-" + publishing.Hash(fmt.Append(nil, h.Elements, h.Attrs, h.Namespaces))
	}
	doc.ETag = d.part.ETag(more)
	if !d.part.DependsOnIDs() {
		doc.Modified = d.part.Modified()
	}
	return doc
}

// writer returns a Writer of the document, whose head it has written.
func (d *listing) writer(w io.Writer) (*Writer, error) {
	out := NewWriter(w)
	out.Gzip, out.Extensions = d.zipped, d.publisher.Extensions
	h := d.head
	h.Kind = d.kind()
	return out, out.WriteHead(&h)
}

func (d *listing) kind() Kind {
	if d.part.Index {
		return Index
	}
	return URLSet
}

// write implements Document.Write.
func (d *listing) write(ctx context.Context, w io.Writer) error {
	out, err := d.writer(w)
	switch {
	case err != nil:
	case d.part.Index:
		err = d.writeIndex(ctx, out)
	default:
		err = newLister(d, out).writeAll(ctx)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return err
	}
	return d.part.Finish(ctx)
}

func (d *listing) writeIndex(ctx context.Context, out *Writer) error {
	p := d.publisher
	listed, err := p.list.Listed(ctx)
	if err != nil {
		return err
	}
	for _, part := range listed {
		modified := websync.NewDatetime(part.Modified())
		e := Entry{Loc: p.site.Origin + part.Path + p.partSuffix(), LastMod: wholeSecond(modified)}
		if err := out.Write(&e); err != nil {
			return err
		}
	}
	return nil
}

// bound returns how many bytes the entry of an item takes at most, and whether it has
// alternates, whose targets depend on the ids that there are.
func (p *Publisher) bound(item *websync.Item) (bytes int64, links bool) {
	const around, link = 300, 200 // bytes of the elements themselves
	r := &item.Resource
	n := around + len("&amp;")*min(max(len(r.ID), len(r.Content.Href))+len(p.Base), maxLoc)
	elements := 0
	for i := range r.Elements {
		switch x := &r.Elements[i]; {
		case x.Space == XHTMLNamespace:
			elements += 3*len(x.XML) + len(p.Base) + link
		case extensions(p.Extensions).belongs(x.Space, x.Local):
			elements += len(x.XML)
		}
	}
	if p.Item != nil {
		e := Entry{Loc: p.site.ItemURL(item)}
		if p.Item(item, &e) == nil {
			for i := range e.Elements {
				elements += len(e.Elements[i].XML)
			}
		}
	}
	return int64(n + min(elements, maxElements)), hasAlternates(item)
}

// measure returns the length of a part, or MaxBytes if it is longer.
func (p *Publisher) measure(ctx context.Context, part *publishing.Part) (int64, error) {
	d := &listing{publisher: p, url: p.site.Origin + part.Path, part: *part}
	d.head = p.head(d.describe())
	out, err := d.writer(io.Discard)
	if err != nil {
		return 0, err
	}
	l := newLister(d, out)
	l.silent = true
	err = l.writeAll(ctx)
	if errors.Is(err, errFull) {
		return MaxBytes, nil
	}
	return l.out.Bytes(), err
}

// writeAll writes the entries of a part.
func (l *lister) writeAll(ctx context.Context) error {
	for item, err := range l.part.Resources(ctx, nil) {
		if err != nil {
			return err
		}
		if err := l.take(ctx, item); err != nil {
			return err
		}
		if l.isReported(item) {
			continue
		}
		if err := l.overlap.Add(ctx, item); err != nil {
			return err
		}
	}
	if err := l.overlap.Flush(ctx); err != nil {
		return err
	}
	if err := l.drain(ctx); err != nil {
		return err
	}
	if l.part.Path == l.publisher.site.Root && l.out.Entries() == 0 && l.publisher.Report != nil && !l.silent {
		l.publisher.Report(ruleEmpty.Finding(l.url, 0, 0, "urlset", nil,
			"nothing is published: the document has no entries, which its schema does not allow"))
	}
	return nil
}

// A lister writes the entries of a urlset.
type lister struct {
	*listing
	out     *Writer
	linker  publishing.Linker
	overlap publishing.Overlap
	entry   Entry
	exts    extensions
	count   []int // elements of each extension so far

	texts element.Texts

	waiting      []websync.Item // until they are prepared and their targets looked up
	waitingBytes int
	silent       bool // reports nothing
}

func newLister(d *listing, out *Writer) *lister {
	s, exts := d.publisher.site, d.publisher.Extensions
	l := &lister{
		listing: d, out: out, linker: publishing.Linker{Site: s}, exts: exts, count: make([]int, len(exts)),
		texts: make(element.Texts),
	}
	report := func(item *websync.Item, message string) {
		l.publisher.Report(ruleLocTwice.Finding(l.url, 0, 0, "loc", []byte(item.Resource.ID), message))
	}
	l.overlap = publishing.Overlap{Site: s, Report: report}
	return l
}

// add writes the entry of an item without the extension elements that are not valid. It
// writes nothing if the item has no valid loc.
func (l *lister) add(item *websync.Item) error {
	e := &l.entry
	*e = Entry{Loc: l.publisher.site.ItemURL(item), LastMod: wholeSecond(publishing.LastMod(item)), Elements: e.Elements[:0]}
	escaped, filtered := false, false
	// one of the alternates should equal the loc as it is written
	if hasAlternates(item) && syntax.URLFault(e.Loc) != "" {
		e.Loc, escaped = syntax.EscapeURL(e.Loc), true
	}
	l.addElements(item)
	if p := l.publisher; p.Item != nil {
		if err := p.Item(item, e); err != nil {
			l.refuse(item, ruleProfile, err)
			return nil
		}
		if e.Loc == "" {
			return nil
		}
	}
	for {
		err := l.out.encode(e)
		refused, _ := err.(*websync.EntryError)
		switch {
		case err == nil:
			return l.put()
		case refused == nil:
			return err
		case refused.Element != "loc" && !filtered:
			l.filter(item)
			filtered = true
		case refused.Element != "loc":
			e.Elements = e.Elements[:0] // impossible: filter makes the checks of encode
		case !escaped:
			e.Loc, escaped = syntax.EscapeURL(e.Loc), true
		default:
			l.refuse(item, locRule(refused.Err), refused.Err)
			return nil
		}
	}
}

// wholeSecond returns a lastmod without a fraction of a second, rounded up. A popular
// reader drops a lastmod with a fraction of other than three digits. Rounded down, it
// would be before a reading of the second in which the resource changes again: who
// requests only what is later than their last reading would miss that change. Rounded up,
// it is the Last-Modified of the same change, too, and that of a part is not before those
// of its entries.
func wholeSecond(d websync.Datetime) websync.Datetime {
	cut := d.WithPrecision(min(d.Precision(), websync.PrecisionSecond))
	if cut.Time().Equal(d.Time()) {
		return cut
	}
	// in the last second of the year 9999 there is no later one
	return cmp.Or(websync.NewDatetime(cut.Time().Add(time.Second)), cut)
}

// put writes the entry that was encoded.
func (l *lister) put() error {
	if !l.out.fits() {
		return fmt.Errorf("sitemap: %s: Publisher.PartSize must be smaller: %w", l.url, errFull)
	}
	for i := range l.entry.Elements {
		if known := l.exts.of(l.entry.Elements[i].Space); known >= 0 {
			l.count[known]++
		}
	}
	return l.out.put()
}

// refuse reports that an item is not listed, unless that was reported before.
func (l *lister) refuse(item *websync.Item, rule Rule, err error) {
	if !l.isReported(item) {
		l.publisher.Report(rule.Finding(l.url, 0, 0, "loc", []byte(l.entry.Loc), "not listed: "+err.Error()))
	}
}

// locRule returns the rule that a refused loc breaks.
func locRule(fault error) Rule {
	switch fault {
	case errLong:
		return ruleLocLength
	case errShort:
		return ruleLocShort
	}
	return ruleLocSyntax
}

// addElements adds the elements that search engines accept. It leaves out invalid values
// of changefreq and priority.
func (l *lister) addElements(item *websync.Item) {
	e := &l.entry
	for i := range item.Resource.Elements {
		switch x := &item.Resource.Elements[i]; {
		case x.Space == Namespace && x.Local == "changefreq":
			text, _ := l.texts.Of(x)
			e.ChangeFreq, _ = parseChangeFreq([]byte(text))
		case x.Space == Namespace && x.Local == "priority":
			text, _ := l.texts.Of(x)
			e.Priority, _ = parsePriority([]byte(text))
		case l.isFull(x.Space):
			l.leaveOut(item, x, l.exts[l.exts.of(x.Space)].DocumentRule, "", "")
		case l.exts.belongs(x.Space, x.Local) && publishing.IsActive(x):
			l.leaveOut(item, x, publishing.RuleActive, "", "")
		case l.exts.belongs(x.Space, x.Local):
			e.Elements = append(e.Elements, l.relocated(item, x))
		case l.exts.of(x.Space) >= 0:
			l.leaveOut(item, x, ruleExtPlace, "", "the extension has no element "+shorten(x.Local)+" in an entry")
		}
	}
}

// isFull reports whether the document has the maximum number of elements of a namespace.
func (l *lister) isFull(space string) bool {
	i := l.exts.of(space)
	return i >= 0 && l.exts[i].PerDocument > 0 && l.count[i] >= l.exts[i].PerDocument
}

// hasAlternates reports whether an item has links that may be alternates.
func hasAlternates(item *websync.Item) bool {
	return slices.ContainsFunc(item.Resource.Elements, func(x websync.Element) bool { return x.Space == XHTMLNamespace })
}

// Limits of the items that wait.
const (
	maxWaiting      = 500
	maxWaitingBytes = 4 << 20
)

// take writes the entry of an item, or lets it wait until it can be prepared, and the
// targets of its alternates looked up, with others.
func (l *lister) take(ctx context.Context, item *websync.Item) error {
	if len(l.waiting) == 0 && !hasAlternates(item) && l.publisher.Prepare == nil {
		return l.add(item)
	}
	l.waiting = append(l.waiting, *item)
	for i := range item.Resource.Elements {
		l.waitingBytes += len(item.Resource.Elements[i].XML)
	}
	if len(l.waiting) < maxWaiting && l.waitingBytes < maxWaitingBytes {
		return nil
	}
	return l.drain(ctx)
}

// drain writes the entries that wait.
func (l *lister) drain(ctx context.Context) error {
	if err := l.prepare(ctx); err != nil {
		return err
	}
	if err := l.findTargets(ctx); err != nil {
		return err
	}
	for i := range l.waiting {
		if err := l.add(&l.waiting[i]); err != nil {
			return err
		}
	}
	clear(l.waiting)
	l.waiting, l.waitingBytes = l.waiting[:0], 0
	return nil
}

// prepare calls Publisher.Prepare with the items that wait.
func (l *lister) prepare(ctx context.Context) error {
	prepare := l.publisher.Prepare
	if prepare == nil || len(l.waiting) == 0 {
		return nil
	}
	items := make([]*websync.Item, len(l.waiting))
	for i := range l.waiting {
		items[i] = &l.waiting[i]
	}
	return prepare(ctx, l.part.Generation, items)
}

// findTargets looks up which alternates of the waiting items are ids of the Catalog.
func (l *lister) findTargets(ctx context.Context) error {
	l.linker.Forget()
	for i := range l.waiting {
		item := &l.waiting[i]
		if _, kept := publishing.KeptContent(item); !kept {
			continue
		}
		for j := range item.Resource.Elements {
			if n := alternate(&item.Resource.Elements[j]); n != nil && href(n) != item.Resource.ID {
				l.linker.Want(href(n))
			}
		}
	}
	return l.linker.Find(ctx)
}

// alternate returns the Node of an element that is an alternate, or nil.
func alternate(x *websync.Element) *element.Node {
	if x.Space != XHTMLNamespace {
		return nil
	}
	n, err := element.Parse(x)
	if err != nil || !isAlternate(n) {
		return nil
	}
	return n
}

// relocated returns an alternate with the URL under which its target is listed, if the
// target is the entry itself or another resource of the Catalog.
func (l *lister) relocated(item *websync.Item, x *websync.Element) websync.Element {
	n := alternate(x)
	if n == nil {
		return *x
	}
	to, found := l.linker.Local(item, href(n))
	if href(n) == item.Resource.ID {
		to, found = l.entry.Loc, true
	}
	if !found || to == href(n) {
		return *x
	}
	moved, err := Alternate{Lang: n.Attr("hreflang"), Href: to, Media: n.Attr("media")}.Element()
	if err != nil {
		return *x // filter finds that it is not valid
	}
	return moved
}

// filter removes from the entry each extension element that it can't have, with a
// finding.
func (l *lister) filter(item *websync.Item) {
	e := &l.entry
	all := e.Elements
	e.Elements = all[:0]
	set := alternateSet{loc: e.Loc}
	size, count := 0, make([]int, len(l.exts))
	for i := range all {
		x := all[i]
		n, wrong := l.exts.refusal(&x)
		known := l.exts.of(x.Space)
		switch {
		case wrong != nil:
			l.leaveOutFor(item, *wrong)
			continue
		case size+len(x.XML) > maxElements:
			l.leaveOut(item, &x, ruleElementSize, "", "more than 1 MiB of extension elements in one entry")
			continue
		case known >= 0 && l.exts[known].PerEntry > 0 && count[known] == l.exts[known].PerEntry:
			l.leaveOut(item, &x, l.exts[known].EntryRule, "", "")
			continue
		case n != nil && set.has(n):
			l.leaveOut(item, &x, ruleLangTwice, n.Attr("hreflang"), "two alternates for one language")
			continue
		case known >= 0:
			count[known]++
		case n != nil:
			set.add(n)
		}
		size += len(x.XML)
		e.Elements = append(e.Elements, x)
	}
	if !set.lacksSelf() {
		return
	}
	e.Elements = slices.DeleteFunc(e.Elements, func(x websync.Element) bool {
		n := alternate(&x)
		if n == nil || n.Attr("hreflang") == "" {
			return false
		}
		l.leaveOut(item, &x, ruleLangSelf, href(n), "none of the alternates is the page itself")
		return true
	})
}

// leaveOut reports an extension element that was removed from an entry. If message is
// empty, it is the rule's summary.
func (l *lister) leaveOut(item *websync.Item, x *websync.Element, rule Rule, value, message string) {
	l.leaveOutFor(item, rule.Finding("", 0, 0, x.Local, []byte(value), cmp.Or(message, rule.Summary)))
}

// leaveOutFor reports the finding for which an extension element was removed, unless it
// was reported before.
func (l *lister) leaveOutFor(item *websync.Item, wrong websync.Finding) {
	if l.isReported(item) {
		return
	}
	wrong.Document, wrong.Message = l.url, "left out of the entry of "+l.entry.Loc+": "+wrong.Message
	l.publisher.Report(wrong)
}

// isReported reports whether the faults of an item need no report: there is no Report, or
// it has received them.
func (l *lister) isReported(item *websync.Item) bool {
	return l.silent || l.publisher.Report == nil || l.part.IsReported(item.Seq)
}
