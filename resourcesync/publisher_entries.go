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
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/sitemap"
)

// A lister writes the entries of one list of a Publisher.
type lister struct {
	describer
	out     *Writer
	head    Head
	url     string
	overlap publishing.Overlap

	// log is the part of the log that a list of changes has; nil for a Resource List.
	log     *publishing.Segment
	holders holders                     // nil if not known yet
	gone    map[websync.Seq]websync.Seq // by Born: the entry of the log that deletes the resource
	silent  func(websync.Seq) bool      // reports whether an item needs no report

	// perEntry limits the bytes of the entries on average, so that a list never becomes
	// too long. If zero, there is no limit.
	perEntry int64
	items    int64 // that were added

	pack *bitstreams // of which package the list is the manifest; nil if it is none

	entry Entry
}

// newLister returns the lister of a list with a part of the log, or of a Resource List if
// log is nil.
func (p *Publisher) newLister(
	dst io.Writer, head Head, url string, log *publishing.Segment, silent func(websync.Seq) bool,
) *lister {
	l := &lister{describer: p.newDescriber(), out: NewWriter(dst), head: head, url: url, log: log, silent: silent}
	_ = l.out.WriteHead(&head) // its error sticks
	l.changes = log != nil
	if p.Report == nil {
		l.silent = func(websync.Seq) bool { return true }
	}
	report := func(item *websync.Item, message string) { l.report(ruleNotListed, item, message) }
	l.overlap = publishing.Overlap{Site: p.site, Report: report}
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
	for items, err := range publishing.Batches(all) {
		if err == nil {
			err = l.addBatch(ctx, items)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addBatch adds the entries of items.
func (l *lister) addBatch(ctx context.Context, items []*websync.Item) error {
	priors := make([]*websync.Item, len(items))
	if l.log != nil {
		var err error
		if priors, err = l.log.Priors(ctx, items); err != nil {
			return err
		}
	}
	for i, item := range items {
		if err := l.add(ctx, item, priors[i]); err != nil {
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

// add writes the entries of an item: those of URLs that its resource no longer has, and
// then that of its new state. Prior is the state before; nil if it is not known.
func (l *lister) add(ctx context.Context, item, prior *websync.Item) error {
	l.items++
	if isUnknown(item) {
		return l.addDeletions(ctx, item)
	}
	report := l.publisher.Report
	if l.silent(item.Seq) {
		report = nil
	}
	item = publishing.Inert(item, l.url, report)
	old := ""
	if prior != nil {
		old = l.urlOf(prior)
	}
	url, err := l.describe(item, prior, &l.entry)
	if err != nil {
		l.refuse(item, err)
	}
	if prior != nil && old != url {
		l.entry.setCreated()
		if err := l.release(ctx, item, prior, old); err != nil {
			return err
		}
	}
	// QUIRK: the reference client, resync 2.0.1, reads the last entry that it has seen
	// again, and ignores a resource that is created and deleted from there on: it keeps
	// that. Nobody needs what is deleted later in the same list.
	if url == "" || item.Seq < l.gone[item.Born] {
		return nil
	}
	return l.write(item, &l.entry)
}

// write writes an entry, without what no valid entry can have.
func (l *lister) write(item *websync.Item, e *Entry) error {
	if l.pack != nil && item.Kind != websync.Deleted {
		e.Metadata.Path = l.pack.path()
	}
	for escaped := false; ; {
		err := l.put(e)
		refused, _ := err.(*websync.EntryError)
		switch {
		case err == nil:
			if e.Metadata.Path != "" {
				l.pack.add(item, e.LastMod)
			}
			return nil
		case refused != nil && refused.Element == "loc" && !escaped:
			e.Loc, escaped = syntax.EscapeURL(e.Loc), true
		case refused == nil && (l.perEntry == 0 || !errors.Is(err, websync.ErrLimit)):
			return err
		case !l.leaveOut(item, e, err, refused):
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
func (l *lister) leaveOut(item *websync.Item, e *Entry, err error, refused *websync.EntryError) bool {
	what, links := "", len(e.Links)
	switch {
	case refused != nil && refused.Element == "loc":
	case refused != nil && refused.Element == "ln":
		e.Links = slices.DeleteFunc(e.Links, func(link Link) bool { return l.isRefused(e, link) })
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

// isRefused reports whether an entry can't have a link.
func (l *lister) isRefused(e *Entry, link Link) bool {
	w := NewWriter(io.Discard)
	var refused *websync.EntryError
	one := Entry{Entry: sitemap.Entry{Loc: e.Loc, LastMod: e.LastMod}, Metadata: e.Metadata, Links: []Link{link}}
	return errors.As(cmp.Or(w.WriteHead(&l.head), w.Write(&one)), &refused)
}
