package sitemap

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/websync-go/websync"
)

// hasLinks reports whether an item has links that may be alternates.
func hasLinks(item *websync.Item) bool {
	return slices.ContainsFunc(item.Resource.Elements, func(x websync.Element) bool { return x.Space == XHTMLNamespace })
}

// isKept reports whether the content of an item is kept, so that its alternates lead to
// where they are kept.
func isKept(item *websync.Item) bool {
	b, ok := item.Body(contentBody)
	return ok && !b.Key.IsZero()
}

// How much waits until the targets of alternates are looked up.
const (
	maxWaiting      = 500
	maxWaitingBytes = 4 << 20
)

// take writes the entry of an item, or lets it wait until the targets of its alternates
// can be looked up with those of others.
func (l *lister) take(ctx context.Context, item *websync.Item) error {
	if len(l.waiting) == 0 && !hasLinks(item) {
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

// findTargets finds out which alternates of the items that wait are ids of the Catalog,
// and in which sources. What it finds depends on the ids that the Catalog has given a
// Born only, not on what became of them: the ETag says how many there are.
func (l *lister) findTargets(ctx context.Context) error {
	var targets []string
	l.here = make(map[string][]string)
	for i := range l.waiting {
		item := &l.waiting[i]
		if !isKept(item) {
			continue
		}
		for j := range item.Resource.Elements {
			n := l.alternate(&item.Resource.Elements[j])
			if n == nil {
				continue
			}
			if href := n.href(); href != item.Resource.ID {
				if _, asked := l.here[href]; !asked {
					l.here[href] = nil
					targets = append(targets, href)
				}
			}
		}
	}
	if len(targets) == 0 {
		return nil
	}
	p := l.publisher
	sources := p.site.sources
	if len(sources) == 0 {
		head, err := p.Catalog.Head(ctx)
		if err != nil {
			return catalogError(err)
		}
		sources = slices.Sorted(maps.Keys(head.Live))
	}
	for _, source := range sources {
		for ids := range slices.Chunk(targets, maxWaiting) {
			found, err := p.Catalog.Get(ctx, source, ids)
			if err != nil {
				return catalogError(err)
			}
			for i := range found {
				if found[i].Born > 0 {
					l.here[ids[i]] = append(l.here[ids[i]], source)
				}
			}
		}
	}
	return nil
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
	href := n.href()
	to := href
	if sources := l.here[href]; href == item.Resource.ID {
		to = l.entry.Loc
	} else if len(sources) > 0 && isKept(item) {
		target := websync.Item{Source: sources[0], Resource: websync.Resource{ID: href}}
		if slices.Contains(sources, item.Source) {
			target.Source = item.Source
		}
		to = l.publisher.site.locator.URL(&target, contentBody)
	}
	if to == href {
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
	if l.isTold(item) {
		return
	}
	l.publisher.Report(wrong.rule.Finding(l.url, 0, 0, wrong.element, []byte(wrong.value), "left out of the entry of "+l.entry.Loc+": "+wrong.message))
}

// isTold reports whether what is wrong with an item was reported, or nobody wants to
// know.
func (l *lister) isTold(item *websync.Item) bool {
	return l.silent || l.publisher.Report == nil || item.Seq <= l.stamp.told
}
