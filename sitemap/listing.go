package sitemap

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// A listing is one document of a Publisher, in the state that its ETag names.
type listing struct {
	publisher *Publisher
	url       string
	zipped    bool
	index     bool
	part      int         // that a urlset lists, from 0
	size      websync.Seq // of the parts
	id        string      // of the partition
	stamp     stamp
}

func (d *listing) document() *websync.Document {
	doc := &websync.Document{Type: "application/xml", ETag: fmt.Sprintf("%s-%d", d.id, d.stamp.seq), Write: d.write}
	if d.index {
		doc.ETag += "-index"
	}
	if d.zipped {
		doc.Type = "application/gzip"
		doc.ETag += "-gzip"
	}
	if d.stamp.born != 0 {
		doc.ETag += fmt.Sprintf("-born-%d", d.stamp.born)
	} else if d.stamp.time != 0 {
		doc.Modified = d.stamp.modified()
	}
	return doc
}

func (s stamp) modified() time.Time { return time.UnixMicro(s.time).UTC() }

// write is Document.Write.
func (d *listing) write(ctx context.Context, w io.Writer) (err error) {
	out := NewWriter(w)
	out.Gzip = d.zipped
	if d.index {
		err = d.writeIndex(ctx, out)
	} else {
		err = d.writeList(ctx, out)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return err
	}
	return d.publisher.settle(ctx, d)
}

func (d *listing) writeIndex(ctx context.Context, out *Writer) error {
	p := d.publisher
	out.Kind = Index
	t, err := p.snapshot(ctx)
	if err != nil {
		return err
	}
	for k, s := range t.stamps {
		part := listing{publisher: p, id: t.id, size: t.size, part: k, stamp: s}
		filled, err := part.isFilled(ctx)
		if err != nil {
			return err
		}
		if !filled {
			continue
		}
		e := Entry{Loc: p.site.origin + p.site.part(t.id, k+1) + p.partSuffix(), LastMod: websync.NewDatetime(s.modified())}
		if err := out.Write(&e); err != nil {
			return err
		}
	}
	return nil
}

func (d *listing) writeList(ctx context.Context, out *Writer) error {
	l := lister{listing: d, out: out, texts: make(map[string]string)}
	return l.writeAll(ctx)
}

// writeAll writes the entries of a part.
func (l *lister) writeAll(ctx context.Context) error {
	if err := l.out.begin(); err != nil {
		return err
	}
	var item websync.Item // one for all: a Locator is handed its address
	for next, err := range l.publisher.Catalog.Resources(ctx, l.publisher.rangeOf(l.size, l.part)) {
		if item = next; err == nil {
			err = item.Check()
		}
		if err != nil {
			return catalogError(err)
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
	out   *Writer
	entry Entry
	news  int // articles so far

	tree  treeReader
	texts map[string]string // of the same few elements that come again and again

	waiting      []websync.Item // until the targets of alternates are looked up
	waitingBytes int
	here         map[string][]string // the sources that have the target of an alternate as an id
	silent       bool                // nothing is reported
}

const (
	contentBody = "content" // the name of the body that a loc leads to
	maxTexts    = 1000
)

// add writes the entry of an item: without the extension elements that are not valid, and
// not at all, if there is no loc for it.
func (l *lister) add(item *websync.Item) error {
	e := &l.entry
	*e = Entry{Loc: l.loc(item), LastMod: item.Resource.Modified, Elements: e.Elements[:0]}
	if e.LastMod.IsZero() {
		e.LastMod = websync.NewDatetime(item.Time)
	}
	escaped, filtered := false, false
	if hasLinks(item) && syntax.URLFault(e.Loc) != "" { // one of them should be the loc as it is written
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
	if l.isTold(item) {
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
	if isKept(item) {
		return l.publisher.site.locator.URL(item, contentBody)
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
