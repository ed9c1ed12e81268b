package sitemap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/parts"
	"github.com/websync-go/websync/internal/republish"
	"github.com/websync-go/websync/internal/syntax"
)

// A listing is one document of a Publisher, in the state that its ETag names.
type listing struct {
	publisher *Publisher
	url       string
	zipped    bool
	part      parts.Part
}

func (d *listing) document() *websync.Document {
	doc := &websync.Document{Type: "application/xml", ETag: d.part.ETag(""), Write: d.write}
	if d.zipped {
		doc.Type, doc.ETag = "application/gzip", d.part.ETag("-gzip")
	}
	if !d.part.DependsOnIDs() {
		doc.Modified = d.part.Modified()
	}
	return doc
}

// write is Document.Write.
func (d *listing) write(ctx context.Context, w io.Writer) (err error) {
	out := NewWriter(w)
	out.Gzip = d.zipped
	if d.part.Index {
		err = d.writeIndex(ctx, out)
	} else {
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
	out.Kind = Index
	listed, err := p.list.Listed(ctx)
	if err != nil {
		return err
	}
	for _, part := range listed {
		e := Entry{Loc: p.site.Origin + part.Path + p.partSuffix(), LastMod: websync.NewDatetime(part.Modified())}
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
		case isExtension(x):
			elements += len(x.XML)
		}
	}
	return int64(n + min(elements, maxElements)), hasAlternates(item)
}

// measure returns the length of a part, or MaxBytes if it is longer.
func (p *Publisher) measure(ctx context.Context, part *parts.Part) (int64, error) {
	l := newLister(&listing{publisher: p, part: *part}, NewWriter(io.Discard))
	l.silent = true
	err := l.writeAll(ctx)
	if errors.Is(err, errFull) {
		return MaxBytes, nil
	}
	return l.out.Bytes(), err
}

// writeAll writes the entries of a part.
func (l *lister) writeAll(ctx context.Context) error {
	if err := l.out.begin(); err != nil {
		return err
	}
	var item websync.Item // one for all: a Locator is handed its address
	for next, err := range l.publisher.Catalog.Resources(ctx, l.part.Range()) {
		if item = next; err == nil {
			err = item.Check()
		}
		if err != nil {
			return l.publisher.site.CatalogError(err)
		}
		if err := l.take(ctx, &item); err != nil {
			return err
		}
	}
	return l.drain(ctx)
}

// A lister writes the entries of a urlset.
type lister struct {
	*listing
	out    *Writer
	linker republish.Linker
	entry  Entry
	news   int // articles so far

	tree  treeReader
	texts map[string]string // of the same few elements that come again and again

	waiting      []websync.Item // until the targets of alternates are looked up
	waitingBytes int
	silent       bool // nothing is reported
}

const maxTexts = 1000

func newLister(d *listing, out *Writer) *lister {
	return &lister{listing: d, out: out, linker: republish.Linker{Site: d.publisher.site}, texts: make(map[string]string)}
}

// add writes the entry of an item: without the extension elements that are not valid, and
// not at all, if there is no loc for it.
func (l *lister) add(item *websync.Item) error {
	e := &l.entry
	*e = Entry{Loc: l.loc(item), LastMod: item.Resource.Modified, Elements: e.Elements[:0]}
	if e.LastMod.IsZero() {
		e.LastMod = websync.NewDatetime(item.Time)
	}
	escaped, filtered := false, false
	if hasAlternates(item) && syntax.URLFault(e.Loc) != "" { // one of them should be the loc as it is written
		e.Loc, escaped = syntax.EscapeURL(e.Loc), true
	}
	l.addElements(item)
	for {
		err := l.out.encode(e)
		refused, _ := err.(*EntryError)
		switch {
		case err == nil:
			return l.put()
		case refused == nil:
			return err
		case refused.Element != "loc" && !filtered:
			l.filter(item)
			filtered = true
		case refused.Element != "loc":
			e.Elements = e.Elements[:0] // can't be: filter knows what encode does
		case !escaped:
			e.Loc, escaped = syntax.EscapeURL(e.Loc), true
		default:
			l.refuse(item, refused)
			return nil
		}
	}
}

// put writes the entry that was encoded.
func (l *lister) put() error {
	if !l.out.fits() {
		return fmt.Errorf("sitemap: %s: the part needs a smaller PartSize: %w", l.url, errFull)
	}
	for i := range l.entry.Elements {
		if l.entry.Elements[i].Space == NewsNamespace {
			l.news++
		}
	}
	return l.out.put()
}

// refuse reports that an item is not listed, unless that is known.
func (l *lister) refuse(item *websync.Item, refused *EntryError) {
	if l.isReported(item) {
		return
	}
	rule := ruleLocSyntax
	switch refused.Err {
	case errLong:
		rule = ruleLocLength
	case errShort:
		rule = ruleLocShort
	}
	l.publisher.Report(rule.Finding(l.url, 0, 0, "loc", []byte(refused.Loc), "not listed: "+refused.Err.Error()))
}

// loc returns the URL of an item, or an IRI, or what can't be one.
func (l *lister) loc(item *websync.Item) string {
	r := &item.Resource
	if _, kept := republish.KeptContent(item); kept {
		return l.publisher.site.Locator.URL(item, republish.Content)
	}
	if _, end := syntax.SplitHTTP(r.Content.Href); end > 0 {
		return r.Content.Href
	}
	return r.ID
}

// addElements adds what search engines take. What is not a value of changefreq or
// priority is left out.
func (l *lister) addElements(item *websync.Item) {
	e := &l.entry
	for i := range item.Resource.Elements {
		switch x := &item.Resource.Elements[i]; {
		case x.Space == Namespace && x.Local == "changefreq":
			e.ChangeFreq, _ = parseChangeFreq([]byte(l.text(x)))
		case x.Space == Namespace && x.Local == "priority":
			e.Priority, _ = parsePriority([]byte(l.text(x)))
		case x.Space == NewsNamespace && l.news >= maxNews:
			l.leaveOut(item, &fault{ruleNewsCount, x.Local, "", "more than 1,000 news articles in one document"})
		case isExtension(x):
			e.Elements = append(e.Elements, l.relocated(item, x))
		case extensionOf(x.Space) != nil:
			l.leaveOut(item, &fault{ruleExtPlace, x.Local, "", "the extension has no such element in an entry"})
		}
	}
}

// isExtension reports whether x is one of the extension elements that belong into an
// entry.
func isExtension(x *websync.Element) bool {
	if known := extensionOf(x.Space); known != nil {
		return x.Local == known.local
	}
	return x.Space == XHTMLNamespace && x.Local == "link"
}

// text returns the text of an element of the protocol.
func (l *lister) text(x *websync.Element) string {
	text, ok := l.texts[x.XML]
	if ok {
		return text
	}
	if n, err := l.tree.read([]byte(x.XML)); err == nil {
		text = n.text
	}
	if len(l.texts) < maxTexts {
		l.texts[x.XML] = text
	}
	return text
}

// hasAlternates reports whether an item has links that may be alternates.
func hasAlternates(item *websync.Item) bool {
	return slices.ContainsFunc(item.Resource.Elements, func(x websync.Element) bool { return x.Space == XHTMLNamespace })
}

// How much waits until the targets of alternates are looked up.
const (
	maxWaiting      = 500
	maxWaitingBytes = 4 << 20
)

// take writes the entry of an item, or lets it wait until the targets of its alternates
// can be looked up with those of others.
func (l *lister) take(ctx context.Context, item *websync.Item) error {
	if len(l.waiting) == 0 && !hasAlternates(item) {
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

// findTargets finds out which alternates of the items that wait are ids of the Catalog.
func (l *lister) findTargets(ctx context.Context) error {
	l.linker.Forget()
	for i := range l.waiting {
		item := &l.waiting[i]
		if _, kept := republish.KeptContent(item); !kept {
			continue
		}
		for j := range item.Resource.Elements {
			if n := l.alternate(&item.Resource.Elements[j]); n != nil && n.href() != item.Resource.ID {
				l.linker.Want(n.href())
			}
		}
	}
	return l.linker.Find(ctx, nil, 0)
}

// alternate returns the node of an element that is an alternate, or nil.
func (l *lister) alternate(x *websync.Element) *node {
	if x.Space != XHTMLNamespace {
		return nil
	}
	n, err := l.tree.read([]byte(x.XML))
	if err != nil || !n.isAlternate() {
		return nil
	}
	return &n
}

func (n *node) href() string { return strings.TrimSpace(n.attr("href")) }

// relocated returns an alternate that leads to where its target is listed, if that is
// known: to the entry itself, or to another resource of the Catalog.
func (l *lister) relocated(item *websync.Item, x *websync.Element) websync.Element {
	n := l.alternate(x)
	if n == nil {
		return *x
	}
	to, found := l.linker.Local(item, n.href())
	if n.href() == item.Resource.ID {
		to, found = l.entry.Loc, true
	}
	if !found || to == n.href() {
		return *x
	}
	moved, err := Alternate{Lang: n.attr("hreflang"), Href: to, Media: n.attr("media")}.Element()
	if err != nil {
		return *x // which filter finds
	}
	return moved
}

// filter takes out of the entry each extension element that it can't have, with a
// finding.
func (l *lister) filter(item *websync.Item) {
	e := &l.entry
	all := e.Elements
	e.Elements = all[:0]
	set := alternateSet{loc: e.Loc}
	size, images, news := 0, 0, 0
	for _, x := range all {
		n, err := l.out.check.read(x)
		known := extensionOf(x.Space)
		var wrong *fault
		switch {
		case errors.As(err, &wrong):
		case err != nil:
			wrong = &fault{ruleExtUnknown, x.Local, "", err.Error()}
		case size+len(x.XML) > maxElements:
			wrong = &fault{ruleElementSize, x.Local, "", "more than 1 MiB of extension elements in one entry"}
		case known == imageExtension && images == maxImages:
			wrong = &fault{ruleImageCount, x.Local, "", "more than 1,000 images of one page"}
		case known == newsExtension && news == 1:
			wrong = &fault{ruleNewsTwice, x.Local, "", "two news elements of one page"}
		case n.isAlternate() && set.langs[strings.ToLower(n.attr("hreflang"))]:
			wrong = &fault{ruleLangTwice, x.Local, n.attr("hreflang"), "two alternates for one language"}
		}
		if wrong != nil {
			l.leaveOut(item, wrong)
			continue
		}
		size += len(x.XML)
		switch {
		case known == imageExtension:
			images++
		case known == newsExtension:
			news++
		case n.isAlternate():
			set.add(n)
		}
		e.Elements = append(e.Elements, x)
	}
	if len(set.langs) == 0 || set.self {
		return
	}
	e.Elements = slices.DeleteFunc(e.Elements, func(x websync.Element) bool {
		n := l.alternate(&x)
		if n == nil || n.attr("hreflang") == "" {
			return false
		}
		l.leaveOut(item, &fault{ruleLangSelf, x.Local, n.href(), "none of the alternates is the page itself"})
		return true
	})
}

// leaveOut reports an extension element that an entry is listed without, unless that is
// known.
func (l *lister) leaveOut(item *websync.Item, wrong *fault) {
	if l.isReported(item) {
		return
	}
	l.publisher.Report(wrong.rule.Finding(l.url, 0, 0, wrong.element, []byte(wrong.value), "left out of the entry of "+l.entry.Loc+": "+wrong.message))
}

// isReported reports whether what is wrong with an item was reported, or nobody wants to
// know.
func (l *lister) isReported(item *websync.Item) bool {
	return l.silent || l.publisher.Report == nil || l.part.IsReported(item.Seq)
}
