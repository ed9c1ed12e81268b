package atom

import (
	"fmt"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// headRelations are those of a feed's links that a chain of documents, or its check,
// needs.
var headRelations = [...]string{"self", "current", "next", "previous", "prev-archive", "next-archive", "first", "last", "prev"}

const (
	relSelf = iota
	relCurrent
	relNext
	relPrevious
	relPrevArchive
	relNextArchive
	relFirst
	relLast
	relPrev // another name of previous (IANA)
)

// paging are the relations that tell of another document of the same feed.
var paging = [...]int{relNext, relPrevious, relPrev, relPrevArchive, relNextArchive}

// maxAuthorless is of how many entries without an author the place is kept.
const maxAuthorless = 100

// A feedHead is what was seen of the feed that only its end can judge.
type feedHead struct {
	base  string // what references of the feed's own links are resolved against
	links [len(headRelations)]struct {
		href   string
		at     spot
		stated bool
	}
	complete, archive spot

	latest     websync.Datetime // of the entries
	latestAt   spot
	authorless []spot // entries without an author of their own or of their source
	authorsOut int    // how many there are
	ownless    int    // entries without an author of their own
}

// feed reads a feed document.
func (v *validator) feed(at spot) error {
	v.attributes(holdsEntry, at)
	v.head.base = v.baseOf(v.o.URL)
	s := v.enter(&feedModel, at)
	if err := v.children(s); err != nil {
		return err
	}
	v.sum.ID, v.sum.Updated = string(s.id), s.updated
	v.leave(s)
	v.endFeed(s)
	return nil
}

func (v *validator) endFeed(s *scope) {
	h := &v.head
	v.sum.Self, v.sum.Current, v.sum.Next = h.links[relSelf].href, h.links[relCurrent].href, h.links[relNext].href
	v.sum.PrevArchive, v.sum.NextArchive = h.links[relPrevArchive].href, h.links[relNextArchive].href
	v.sum.Complete, v.sum.Archive = h.complete != spot{}, h.archive != spot{}
	if !h.links[relSelf].stated {
		v.report(ruleFeedSelf, s.at, s.name, nil, "no link to itself")
	}
	if !s.updated.IsZero() && s.updated.Time().Before(h.latest.Time()) {
		v.report(ruleFeedUpdated, s.updatedAt, "updated", []byte(s.updated.String()), fmt.Sprintf("older than the entry in line %d", h.latestAt.line))
	}
	if s.has("author") == 0 {
		v.missingAuthors(s)
	}
	v.history()
}

// missingAuthors reports the entries of a feed without an author: one finding for each if
// there are others, else one for all.
func (v *validator) missingAuthors(s *scope) {
	h := &v.head
	if entries := s.has("entry"); h.authorsOut == 0 || h.authorsOut == entries {
		if h.ownless > 0 {
			v.report(ruleFeedAuthor, s.at, s.name, nil, fmt.Sprintf("no author, and %d of %d entries have none of their own", h.ownless, entries))
		}
		return
	}
	for i, at := range h.authorless {
		message := "no author, and the feed has none"
		if more := h.authorsOut - maxAuthorless; i == maxAuthorless-1 && more > 0 {
			message += fmt.Sprintf(", as in %d more entries", more)
		}
		v.report(ruleEntryAuthor, at, "entry", nil, message)
	}
}

// isSelf tells whether a URL is the document's own.
func (v *validator) isSelf(url string) bool {
	url, _, _ = strings.Cut(url, "#")
	return url != "" && (url == v.head.links[relSelf].href || url == v.o.URL)
}

// history checks what a feed says of the other documents of its kind.
func (v *validator) history() {
	h := &v.head
	complete, archive := h.complete != spot{}, h.archive != spot{}
	for _, rel := range paging {
		link := &h.links[rel]
		if v.isSelf(link.href) {
			v.report(rulePagingSelf, link.at, "link", []byte(link.href), headRelations[rel]+" is the document itself")
		}
		if complete && link.stated {
			v.report(ruleCompletePaged, h.complete, "complete", nil, "a complete feed with a link "+headRelations[rel])
		}
	}
	current, known := &h.links[relCurrent], v.o.URL != "" || h.links[relSelf].href != ""
	for _, rel := range [...]int{relFirst, relLast, relCurrent} {
		if link := &h.links[rel]; complete && !archive && known && link.stated && !v.isSelf(link.href) {
			v.report(ruleCompletePaged, h.complete, "complete", []byte(link.href), "a complete feed whose "+headRelations[rel]+" is another document")
		}
	}
	switch {
	case complete && archive:
		v.report(ruleCompletePaged, h.complete, "complete", nil, "a complete feed that is an archive document")
	case archive && !current.stated:
		v.report(ruleArchiveCurrent, h.archive, "archive", nil, "no link current")
	case archive && v.isSelf(current.href):
		v.report(ruleArchiveSelf, h.archive, "archive", nil, "an archive document whose current is itself")
	case archive:
	case h.links[relNextArchive].stated:
		v.report(ruleArchiveMark, h.links[relNextArchive].at, "link", nil, "next-archive, but no fh:archive")
	case h.links[relPrevArchive].stated && current.stated && known && !v.isSelf(current.href):
		v.report(ruleArchiveMark, current.at, "link", []byte(current.href), "current is another document, but there is no fh:archive")
	}
}

// historyMark reads fh:complete or fh:archive.
func (v *validator) historyMark(s *scope, local string, at spot) error {
	text, err := v.plain(local, ruleHistoryElement)
	if err != nil {
		return err
	}
	if !isBlank(text) {
		v.report(ruleHistoryElement, at, local, text, "not empty")
	}
	if s.model != &feedModel {
		return nil // in a source, a copy
	}
	mark := &v.head.complete
	if local == "archive" {
		mark = &v.head.archive
	}
	if *mark != (spot{}) {
		v.report(ruleHistoryElement, at, local, nil, "a second "+local)
		return nil
	}
	*mark = at
	return nil
}

// headLink keeps a link of the feed itself. Only of those to a feed there may be no
// second one.
func (v *validator) headLink(rel, href []byte, feed bool, at spot) {
	i := slices.IndexFunc(headRelations[:], func(known string) bool { return syntax.EqualFold(rel, known) })
	if i < 0 {
		return
	}
	link := &v.head.links[i]
	switch {
	case !link.stated:
		link.href, link.at, link.stated = v.resolved(href), at, true
	case feed && i != relSelf && link.href != v.resolved(href):
		v.report(rulePagingTwice, at, "link", href, "a second link "+headRelations[i])
	}
}

// entry reads an entry: of the feed, or the document.
func (v *validator) entry(feed *scope, at spot) error {
	v.startItem(true)
	v.attributes(holdsEntry, at)
	s := v.enter(&entryModel, at)
	if err := v.children(s); err != nil {
		return err
	}
	v.startItem(false)
	v.leave(s)
	v.endEntry(s)
	v.entryAuthor(feed, s)
	v.met(s.id, s.updated, false, s.at)
	if feed == nil {
		v.sum.ID, v.sum.Updated = string(s.id), s.updated
	} else if v.head.latest.IsZero() || s.updated.Time().After(v.head.latest.Time()) {
		v.head.latest, v.head.latestAt = s.updated, s.at
	}
	return nil
}

func (v *validator) endEntry(s *scope) {
	if s.has("content") == 0 && !s.alternate {
		v.report(ruleEntryAlternate, s.at, s.name, nil, "neither content nor an alternate link")
	}
	if s.has("summary") == 0 && s.elsewhere {
		v.report(ruleEntrySummary, s.content, "content", nil, "content with src, but no summary")
	} else if s.has("summary") == 0 && s.binary {
		v.report(ruleEntrySummary, s.content, "content", nil, "content in Base64, but no summary")
	}
	if !s.published.IsZero() && !s.updated.IsZero() && s.published.Time().After(s.updated.Time()) {
		v.report(rulePublished, s.publishAt, "published", []byte(s.published.String()), "later than updated")
	}
}

// entryAuthor checks that somebody is the author of an entry.
func (v *validator) entryAuthor(feed, s *scope) {
	if s.has("author") > 0 {
		return
	}
	if feed == nil {
		if !s.sourceAuthor {
			v.report(ruleEntryAuthor, s.at, s.name, nil, "no author, neither of its own nor of its source")
		}
		return
	}
	h := &v.head
	h.ownless++
	if s.sourceAuthor {
		return
	}
	h.authorsOut++
	if feed.has("author") == 0 && len(h.authorless) < maxAuthorless {
		h.authorless = append(h.authorless, s.at)
	}
}

// source reads the feed that an entry or a tombstone was copied from.
func (v *validator) source(outer *scope, at spot) error {
	s := v.enter(&sourceModel, at)
	if err := v.children(s); err != nil {
		return err
	}
	outer.sourceAuthor = s.has("author") > 0
	v.leave(s)
	return nil
}

// tombstone reads a tombstone: of the feed, or the document.
func (v *validator) tombstone(feed *scope, at spot) error {
	v.startItem(true)
	v.attributes(holdsTombstone, at)
	s := v.enter(&tombstoneModel, at)
	v.ref(s)
	if when, ok := v.attr("when"); ok {
		s.updated = v.date(ruleTombstoneWhen, s.name, when, at)
	} else {
		v.report(ruleTombstoneWhen, at, s.name, nil, "no when")
	}
	if err := v.children(s); err != nil {
		return err
	}
	v.startItem(false)
	v.leave(s)
	v.met(s.id, s.updated, true, at)
	if feed == nil {
		v.sum.ID, v.sum.Updated = string(s.id), s.updated
	}
	return nil
}

// ref checks the ref of a tombstone and keeps it.
func (v *validator) ref(s *scope) {
	ref, ok := v.attr("ref")
	if ok {
		ref = v.trimmed(s.name, ref, s.at)
	}
	if len(ref) == 0 {
		v.reportLoss(ruleTombstoneRef, s.at, s.name, nil, "no ref")
		return
	}
	s.id = append(s.id, ref...)
	if fault := syntax.IRIFault(ref); fault != "" {
		v.report(ruleTombstoneRef, s.at, s.name, ref, "ref: "+fault)
	} else if fault := syntax.SchemeFault(ref); fault != "" {
		v.report(ruleIDScheme, s.at, s.name, ref, "ref: "+fault)
	}
}

// met keeps an entry or a tombstone, and compares it with what came before.
func (v *validator) met(id []byte, at websync.Datetime, dead bool, p spot) {
	if t := at.Time(); !at.IsZero() {
		if v.sum.Oldest.IsZero() || t.Before(v.sum.Oldest.Time()) {
			v.sum.Oldest = at
		}
		if v.sum.Youngest.IsZero() || t.After(v.sum.Youngest.Time()) {
			v.sum.Youngest = at
		}
	}
	if len(id) == 0 {
		return
	}
	if v.item != nil {
		v.item(id, at, dead, p)
	}
	if v.sum.Kind != FeedDocument {
		return
	}
	var found *Rule
	var line uint32
	v.ids.add(id, at, dead, p.line, func(now, before idSlot) {
		rule := comparedWith(now, before)
		if found == nil || rule.Severity > found.Severity || rule.Severity == found.Severity && rule == &ruleTombstoneLive {
			found, line = rule, before.where
		}
	})
	if found != nil {
		name := "entry"
		if dead {
			name = "deleted-entry"
		}
		v.report(*found, p, name, id, fmt.Sprintf("%s: the other is in line %d", found.Summary, line))
	}
}

// comparedWith returns what is to be said of two entries or tombstones of one id.
func comparedWith(a, b idSlot) *Rule {
	switch {
	case a.dead() && b.dead() && a.same(b):
		return &ruleTombstoneTwice
	case a.dead() && b.dead():
		return &ruleTombstoneVersions
	case !a.dead() && !b.dead() && a.same(b):
		return &ruleEntryTwice
	case !a.dead() && !b.dead():
		return &ruleEntryVersions
	case b.dead():
		a, b = b, a
	}
	if a.timed() && b.timed() && b.after(a) {
		return &ruleTombstoneRevived
	}
	return &ruleTombstoneLive
}
