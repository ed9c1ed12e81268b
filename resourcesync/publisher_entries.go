package resourcesync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/republish"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/sitemap"
)

// A lister writes the entries of one list of a Publisher.
type lister struct {
	publisher *Publisher
	out       *Writer
	url       string
	linker    republish.Linker
	overlap   republish.Overlap
	silent    func(websync.Seq) bool // reports whether an item needs no report

	// perEntry limits the bytes of the entries on average, so that a list never becomes
	// too long. If zero, there is no limit.
	perEntry int64
	items    int64 // that were added

	pack *bitstreams // of which package the list is the manifest; nil if it is none

	entry Entry
	links []Link
}

func (p *Publisher) newLister(dst io.Writer, head Head, url string, silent func(websync.Seq) bool) *lister {
	l := &lister{publisher: p, out: NewWriter(dst), url: url, linker: republish.Linker{Site: p.site}, silent: silent}
	l.out.Head = head
	if p.Report == nil {
		l.silent = func(websync.Seq) bool { return true }
	}
	l.overlap = republish.Overlap{Site: p.site, Report: func(item *websync.Item, message string) { l.report(ruleNotListed, item, message) }}
	return l
}

// report reports what is wrong with an item, unless that was reported before.
func (l *lister) report(rule Rule, item *websync.Item, message string) {
	if !l.silent(item.Seq) {
		l.publisher.Report(rule.Finding(l.url, 0, 0, "loc", []byte(item.Resource.ID), message))
	}
}

// refuse reports that an item must not be listed.
func (l *lister) refuse(item *websync.Item, why error) { l.report(ruleNotListed, item, why.Error()) }

// addAll adds the entries of all items.
func (l *lister) addAll(ctx context.Context, all iter.Seq2[*websync.Item, error]) error {
	const batch = 500         // items, until the targets of their links are looked up
	var items []*websync.Item // of which the first are waiting
	waiting := 0
	born := websync.Seq(0) // no limit
	for item, err := range all {
		if err != nil {
			return err
		}
		if l.listsChanges() { // what comes later must not change a closed list
			born = max(born, item.Born)
		}
		if waiting == len(items) {
			items = append(items, new(websync.Item))
		}
		*items[waiting] = *item
		if waiting++; waiting < batch {
			continue
		}
		if err := l.addBatch(ctx, items[:waiting], born); err != nil {
			return err
		}
		waiting = 0
	}
	return l.addBatch(ctx, items[:waiting], born)
}

// listsChanges reports whether the entries are changes.
func (l *lister) listsChanges() bool {
	c := l.out.Head.Metadata.Capability
	return c == ChangeList || c == ChangeDumpManifest
}

// addBatch adds the entries of items, up to a Born that links may lead to.
func (l *lister) addBatch(ctx context.Context, items []*websync.Item, born websync.Seq) error {
	if err := l.linker.FindLinks(ctx, items, born); err != nil {
		return err
	}
	for _, item := range items {
		if err := l.add(item); err != nil {
			return err
		}
		if l.silent(item.Seq) || item.Kind == websync.Deleted {
			continue
		}
		if err := l.overlap.Add(ctx, item); err != nil {
			return err
		}
	}
	return nil
}

// close ends the list.
func (l *lister) close(ctx context.Context) error {
	return cmp.Or(l.overlap.Flush(ctx), l.out.Close())
}

// add writes the entry of an item, or those of its deletion.
func (l *lister) add(item *websync.Item) error {
	l.items++
	if item.Kind != websync.Deleted {
		if err := l.describe(item); err != nil {
			l.refuse(item, err)
			return nil
		}
		return l.write(item)
	}
	for _, url := range republish.DeletedURLs(l.publisher.site, item) {
		l.entry = Entry{Entry: sitemap.Entry{Loc: url}, Metadata: changeOf(item)}
		if err := l.write(item); err != nil {
			return err
		}
	}
	return nil
}

// changeOf returns the metadata of an item as a change.
func changeOf(item *websync.Item) Metadata {
	changes := [...]Change{websync.Created: Created, websync.Updated: Updated, websync.Deleted: Deleted}
	return Metadata{Change: changes[item.Kind], Datetime: websync.NewDatetime(item.Time)}
}

// describe makes the entry of a resource. The error is why it must not be listed.
func (l *lister) describe(item *websync.Item) error {
	p, r := l.publisher, &item.Resource
	url := republish.URL(p.site, item)
	if err := p.site.Taken(item, url); err != nil {
		return err
	}
	e := &l.entry
	*e = Entry{Entry: sitemap.Entry{Loc: url, LastMod: websync.NewDatetime(item.Time), Elements: e.Elements[:0]}, Links: l.links[:0]}
	if l.listsChanges() {
		e.Metadata = changeOf(item)
	}
	if !r.Modified.IsZero() && p.site.Locator.Owns(item.Source) {
		e.LastMod = r.Modified
	}
	content := r.Content
	if b, kept := republish.KeptContent(item); kept {
		content = l.linker.Body(item, &b)
	}
	m := &e.Metadata
	m.Type, m.Encoding, m.Length, m.Digests = content.Type, content.Encoding, content.Length, l.digests(content.Digests)
	for _, link := range l.linker.Links(item) {
		link.Title, link.Lang, link.Digests = "", "", l.digests(link.Digests)
		e.Links = append(e.Links, Link{Link: link})
	}
	l.links = e.Links
	for _, x := range r.Elements {
		l.element(e, x)
	}
	return nil
}

// digests returns the digests that are listed.
func (l *lister) digests(all websync.Digests) (listed websync.Digests) {
	for _, algorithm := range []string{"md5", "sha-256"} {
		if d, ok := all.Get(algorithm); ok && (algorithm != "md5" || l.publisher.MD5) {
			listed = append(listed, d)
		}
	}
	return listed
}

// element adds an element of a resource. Those of a sitemap are fields of the entry.
func (l *lister) element(e *Entry, x websync.Element) {
	switch x.Space {
	case Namespace:
	case sitemap.Namespace:
		if n, err := element.Parse(&x); err == nil && x.Local == "changefreq" {
			e.ChangeFreq = sitemap.ChangeFreq(n.Text)
		}
	default:
		e.Elements = append(e.Elements, x)
	}
}

// write writes the entry at hand, without what no valid entry can have.
func (l *lister) write(item *websync.Item) error {
	e := &l.entry
	if p := l.publisher; p.Item != nil {
		if err := p.Item(item, e); err != nil {
			l.report(ruleNotListed, item, err.Error())
			return nil
		}
		if e.Loc == "" {
			return nil
		}
	}
	if l.pack != nil && item.Kind != websync.Deleted {
		e.Metadata.Path = l.pack.path()
	}
	for escaped := false; ; {
		err := l.put(e)
		refused, _ := err.(*websync.EntryError)
		switch {
		case err == nil:
			if e.Metadata.Path != "" {
				l.pack.add(item)
			}
			return nil
		case refused != nil && refused.Element == "loc" && !escaped:
			e.Loc, escaped = syntax.EscapeURL(e.Loc), true
		case refused == nil && (l.perEntry == 0 || !errors.Is(err, websync.ErrLimit)):
			return err
		case !l.leaveOut(item, err, refused):
			l.report(ruleNotListed, item, err.Error())
			return nil
		}
	}
}

// put writes an entry, if it fits.
func (l *lister) put(e *Entry) error {
	if l.perEntry > 0 {
		l.out.MaxBytes = roomOfHead + l.perEntry*l.items
		l.out.out.MaxBytes = l.out.MaxBytes
	}
	return l.out.Write(e)
}

// roomOfHead is how many bytes a list has besides its entries, at most.
const roomOfHead = 64 << 10

// leaveOut removes from the entry what was refused, with a finding. It reports whether
// there was anything.
func (l *lister) leaveOut(item *websync.Item, err error, refused *websync.EntryError) bool {
	e := &l.entry
	what, links := "", len(e.Links)
	switch {
	case refused != nil && refused.Element == "loc":
	case refused != nil && refused.Element == "ln":
		e.Links = slices.DeleteFunc(e.Links, l.isRefused)
		what = fmt.Sprintf("%d links", links-len(e.Links))
		if links == len(e.Links) { // they are refused together
			e.Links, what = nil, "all links"
		}
	case refused != nil && refused.Element == "md" && (e.Metadata.Type != "" || e.Metadata.Encoding != ""):
		e.Metadata.Type, e.Metadata.Encoding, what = "", "", "the media type and the encoding"
	case refused != nil && refused.Element == "changefreq":
		e.ChangeFreq, what = "", "the changefreq"
	case len(e.Elements) > 0:
		e.Elements, what = nil, "elements of other namespaces"
	case links > 0:
		e.Links, what = nil, "all links"
	}
	if what != "" {
		l.report(ruleLeftOut, item, what+": "+err.Error())
	}
	return what != ""
}

// isRefused reports whether no entry can have a link.
func (l *lister) isRefused(link Link) bool {
	w := NewWriter(io.Discard)
	w.Head = l.out.Head
	var refused *websync.EntryError
	return errors.As(w.Write(&Entry{Entry: sitemap.Entry{Loc: l.entry.Loc, LastMod: l.entry.LastMod}, Metadata: l.entry.Metadata, Links: []Link{link}}), &refused)
}
