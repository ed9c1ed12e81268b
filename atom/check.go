package atom

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// The Reader calls the methods below. The current token is the Start of the element that
// they check, or its End if they get its value.

// child checks the current element, a child of s.
func (c *checker) child(s *scope, child children) {
	if s.model == &feedModel {
		c.feedOrder(c.r.scan.Name().Local, c.r.at)
	}
	c.attributes(child, c.r.at)
	switch {
	case child == childUpdated && s.model == &feedModel && c.head.updated == (position{}):
		c.head.updated = c.r.at
	case child == childPublished && c.item.published == (position{}):
		c.item.published = c.r.at
	}
}

// attributesOf returns the attributes in no namespace that an element may have.
func attributesOf(child children) []string {
	switch child {
	case childTitle, childSubtitle, childSummary, childRights, childComment:
		return []string{"type"}
	case childContent:
		return []string{"type", "src", "hash", "etag", "modified", "accessed"}
	case childGenerator:
		return []string{"uri", "version"}
	case childCategory:
		return []string{"term", "scheme", "label"}
	case childLink:
		return []string{"href", "rel", "type", "hreflang", "title", "length", "hash", "etag", "modified", "accessed"}
	case childTombstone:
		return []string{"ref", "when"}
	}
	return nil
}

// attributes checks which attributes an element has, but not their values.
func (c *checker) attributes(child children, at position) {
	attrs := c.r.scan.Attrs()
	if len(attrs) == 0 {
		return
	}
	local := c.r.scan.Name().Local
	report := func(rule Rule, a *xmlscan.Attr, fault string) {
		c.r.report(rule, at, local, a.Value, fmt.Sprintf("%.100s: %s", a.Name.Local, fault))
	}
	isLink := child&(childLink|childContent) != 0
	for i := range attrs {
		a := &attrs[i]
		switch a.Name.Space {
		case xmlNamespace:
			c.xmlAttribute(a, report)
		case "":
			switch {
			case slices.Contains(attributesOf(child), a.Name.Local):
			case a.Name.Local == "media" && isLink:
				report(ruleLinkExtension, a, "the last draft of the link extensions has no such attribute")
			default:
				report(ruleUnknownAttr, a, local+" has no such attribute")
			}
		case Namespace, TombstoneNamespace, HistoryNamespace:
			report(ruleUnknownAttr, a, "the attributes of Atom have no namespace")
		case LinkExtNamespace:
			if !isLink || !slices.Contains(linkExtensions, a.Name.Local) {
				report(ruleLinkExtension, a, "the link extensions have no such attribute of "+local)
			}
		}
	}
}

func (c *checker) xmlAttribute(a *xmlscan.Attr, report func(Rule, *xmlscan.Attr, string)) {
	switch a.Name.Local {
	case "lang":
		// empty: not known (XML 1.0 §2.12)
		if fault := syntax.LanguageFault(a.Value); fault != "" && len(a.Value) > 0 {
			report(ruleLang, a, fault)
		}
	case "base":
		if fault := syntax.ReferenceFault(a.Value); fault != "" {
			report(ruleBase, a, fault)
		}
	}
}

const signatureNamespace = "http://www.w3.org/2000/09/xmldsig#"

// foreign checks an element that has no meaning as a child of s.
func (c *checker) foreign(s *scope, name xmlscan.Name) {
	report := func(rule Rule, message string) { c.r.reportChild(rule, nil, message) }
	switch {
	case c.r.own(name.Space):
		report(ruleTombstoneElement, fmt.Sprintf("%s has no element %.100q", s.name, name.Local))
	case isTombstone(name):
		report(ruleTombstonePlace, "a tombstone must be a child of the feed, or the document, not of "+s.name)
	case name.Space == TombstoneNamespace:
		report(ruleTombstoneElement, fmt.Sprintf("RFC 6721 has no element %.100q in %s", name.Local, s.name))
	case name.Space == HistoryNamespace && (name.Local == "complete" || name.Local == "archive"):
		report(ruleHistoryElement, name.Local+" must be a child of the feed")
	case name.Space == HistoryNamespace:
		report(ruleHistoryUnknown, fmt.Sprintf("RFC 5005 has no element %.100q", name.Local))
	case name.Space == "":
		report(ruleNoNamespace, "an element should have a namespace")
	case name.Space == signatureNamespace && name.Local == "Signature" && (s.model == &personModel || s.model == &sourceModel):
		report(ruleSignature, "a signature is for the document or an entry, not for "+s.name)
	}
}

// lacking reports the required children that s lacks.
func (c *checker) lacking(s *scope, required children) {
	for _, child := range [...]struct {
		children
		local string
	}{{childID, "id"}, {childTitle, "title"}, {childUpdated, "updated"}} {
		if required&child.children&^s.seen != 0 {
			c.r.report(*s.lacks, s.at, s.name, nil, fmt.Sprintf("%s must have the element %s", s.name, child.local))
		}
	}
}

// id checks an id or a ref that is usable.
func (c *checker) id(rule *Rule, id []byte) {
	if fault := syntax.IRIFault(id); fault != "" {
		c.r.reportChild(*rule, id, fault)
		return
	}
	if fault := syntax.NormalFault(id); fault != "" && rule == &ruleID {
		c.r.reportChild(ruleIDNormal, id, fault)
	}
	if fault := syntax.SchemeFault(id); fault != "" {
		c.r.reportChild(ruleIDScheme, id, fault)
	}
}

// scheme checks the scheme of a category.
func (c *checker) scheme(iri []byte) {
	if fault := syntax.IRIFault(iri); fault != "" {
		c.r.reportAttr(ruleCategory, "scheme", iri, fault)
	}
}

func (c *checker) email(text []byte) {
	if fault := syntax.EmailFault(text); fault != "" {
		c.r.reportChild(ruleEmail, text, fault)
	}
}

// construct checks a text construct.
func (c *checker) construct(s *scope, t *textView) {
	value := c.r.view.buf.Of(t.Value)
	c.markup(t.Type, value)
	if local := c.r.scan.Name().Local; s.model == &entryModel && local != "rights" && isEmpty(t.Type, value) {
		c.r.reportChild(ruleEntryText, nil, "an empty "+local)
	}
}

// markup checks the markup in a text.
func (c *checker) markup(form string, value []byte) {
	if form == HTML && !c.r.mixed {
		if fault := c.html.fault(value); fault != "" {
			c.r.reportChild(ruleHTML, value, fault)
		}
	}
}

// isEmpty reports whether a text is empty.
func isEmpty(form string, value []byte) bool {
	if form != XHTML {
		return isBlank(value)
	}
	_, start := tagEnd(value, 1)
	end := bytes.LastIndex(value, []byte("</"))
	return end < start || isBlank(value[start:end])
}

// inDiv returns the Stop of the Reader while it reads a div. It also checks each element
// inside.
func (c *checker) inDiv(local string) func(xmlscan.Name) bool {
	reported := false
	return func(name xmlscan.Name) bool {
		fault := ""
		switch {
		case name.Space == xhtmlNamespace && isOutsideDiv([]byte(name.Local)):
			fault = "xhtml must have no element that can't stand in a div"
		case name.Space == Namespace, name.Space == "":
			fault = "xhtml must have elements of XHTML only"
		}
		if fault != "" && !reported {
			reported = true
			c.r.report(ruleXHTMLMarkup, c.r.position(), local, []byte(name.Local), fault)
		}
		return c.r.stops(name)
	}
}

// contentType checks the media type of content. It returns false if that is not a media
// type.
func (c *checker) contentType(mediaType []byte) bool {
	fault := syntax.MediaTypeFault(mediaType)
	if fault == "" && syntax.IsComposite(mediaType) {
		fault = "must not be a composite media type"
	}
	if fault != "" {
		c.r.reportAttr(ruleContentType, "type", mediaType, fault)
	}
	return fault == ""
}

// contentElsewhere checks content with src, and its type if that can be a media type.
func (c *checker) contentElsewhere(isMedia bool) {
	c.item.content, c.item.elsewhere = c.r.at, true
	if mediaType, ok := c.r.scan.Attr("", "type"); ok && isMedia {
		c.contentType(mediaType)
	} else if !ok {
		c.r.reportChild(ruleContentSrcType, nil, "content with src should have a type")
	}
}

// content checks inline content.
func (c *checker) content(v *contentView, form string) {
	value := c.r.view.buf.Of(v.Value)
	c.markup(form, value)
	if isEmpty(form, value) {
		c.r.reportChild(ruleEntryText, nil, "an empty content")
	}
}

// base64 checks content in Base64.
func (c *checker) base64(text []byte) {
	c.item.content, c.item.binary = c.r.at, true
	if fault := syntax.Base64Fault(text); fault != "" {
		c.r.reportChild(ruleContentBase64, nil, fault)
	}
}

// link checks a link.
func (c *checker) link(s *scope, l *linkView) {
	r, found := c.r, string(c.r.view.buf.Of(l.Rel))
	if rel, ok := r.scan.Attr("", "rel"); ok && !isBlank(rel) {
		c.relation(rel)
	}
	mediaType, typed := r.scan.Attr("", "type")
	if fault := syntax.MediaTypeFault(mediaType); typed && fault != "" {
		r.reportAttr(ruleLinkType, "type", mediaType, fault)
	}
	hreflang, ok := r.scan.Attr("", "hreflang")
	if fault := syntax.LanguageFault(hreflang); ok && fault != "" {
		r.reportAttr(ruleHreflang, "hreflang", hreflang, fault)
	}
	if _, ok := r.scan.Attr("", "length"); !ok && found == "enclosure" {
		r.reportChild(ruleEnclosure, nil, "an enclosure should have a length")
	}
	if rel, ok := r.scan.Attr("", "rel"); found == "alternate" && !(ok && isBlank(rel)) {
		c.alternate(s, mediaType, hreflang)
	}
	if s.model == &feedModel {
		c.feedLink(l, !typed || syntax.EqualFold(syntax.Essence(mediaType), feedType))
	}
}

// relation checks the relation of a link.
func (c *checker) relation(rel []byte) {
	name := syntax.RelationName(rel)
	if fault := syntax.RelationFault(rel); fault != "" {
		c.r.reportAttr(ruleRel, "rel", rel, fault)
	} else if syntax.Scheme(name) == 0 && !syntax.IsRelation(name) {
		c.r.reportChild(ruleRelUnknown, rel, "rel should be a registered name or an IRI")
	}
}

// alternate checks that an alternate link is the only one of its type and language.
func (c *checker) alternate(s *scope, mediaType, hreflang []byte) {
	alternates := &c.item.alternates
	switch s.model {
	case &feedModel:
		alternates = &c.head.alternates
	case &sourceModel:
		alternates = &c.item.sourceAlternates
	case &tombstoneModel:
		return
	default:
		c.item.alternate = true
	}
	b := append(append(append(c.small[:0], mediaType...), 0), hreflang...)
	for i, ch := range b {
		if ch >= 'A' && ch <= 'Z' {
			b[i] = ch | 0x20
		}
	}
	c.small = b
	if !alternates.add(c.ids.hash(b)) {
		href, _ := c.r.scan.Attr("", "href")
		c.r.reportChild(ruleAlternate, href, "alternate links must differ in type or hreflang")
	}
}

// linkExtensions are the attributes that the older drafts of the link extensions have.
var linkExtensions = []string{"md5", "hash", "etag", "modified", "accessed", "media"}

// linkExtensions checks the attributes of link extensions that a Reader does not read:
// those of the last draft, and those of older drafts in their namespace.
func (c *checker) linkExtensions(l *linkView) {
	if l.Modified != (websync.Datetime{}) {
		value, _ := c.r.scan.Attr("", "modified")
		c.r.checkFuture(l.Modified, value)
	}
	attrs := c.r.scan.Attrs()
	for i := range attrs {
		a := &attrs[i]
		if a.Name.Space != "" && a.Name.Space != LinkExtNamespace {
			continue
		}
		switch a.Name.Local {
		case "hash":
			if isBlank(a.Value) {
				c.r.reportChild(ruleHash, a.Value, "hash must not be empty")
			}
			if a.Name.Space == "" {
				continue
			}
			for field := range bytes.FieldsSeq(a.Value) {
				c.r.reportDigest(field, syntax.DigestFault(field))
			}
		case "etag":
			if fault := syntax.EntityTagFault(a.Value); fault != "" {
				c.r.reportAttr(ruleETag, "etag", a.Value, fault)
			}
		case "modified", "accessed":
			if a.Name.Space != "" || a.Name.Local == "accessed" {
				d, _ := c.r.attrDate(&ruleLinkModified, a.Name.Local, a.Value)
				c.r.checkFuture(d, a.Value)
			}
		}
	}
}

// conflict checks that the last digest does not contradict one of the same algorithm
// among those from the given index on.
func (c *checker) conflict(from int) {
	last := len(c.r.view.digests) - 1
	d := c.r.view.digest(last)
	for i := from; i < last; i++ {
		if other := c.r.view.digest(i); other.Algorithm == d.Algorithm {
			if other != d {
				c.r.reportChild(ruleHashConflict, []byte(d.String()), "another digest is "+other.String())
			}
			return
		}
	}
}

// isBlank reports whether text is only white space.
func isBlank(text []byte) bool { return len(xmlscan.Trim(text)) == 0 }

// headRelations are the relations of a feed's links that connect the documents of the
// feed.
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

// paging are the relations to another document of the same feed.
var paging = [...]int{relNext, relPrevious, relPrev, relPrevArchive, relNextArchive}

// maxAuthorless limits how many positions of entries without an author are kept.
const maxAuthorless = 100

// A feedFacts collects what is checked at the end of a feed.
type feedFacts struct {
	links [len(headRelations)]struct {
		href   string
		at     position
		stated bool
	}
	complete, archive position
	updated           position
	alternates        hashSet

	entries    int
	latest     websync.Datetime // of the entries
	latestAt   position
	authorless []position // entries without an author of their own or of their source
	authorsOut int        // how many such entries there are
	ownless    int        // entries without an author of their own
}

// An itemFacts collects what is checked at the end of an item.
type itemFacts struct {
	published, content position
	elsewhere, binary  bool // content with src, content in Base64
	alternate          bool // there is an alternate link
	sourceAuthor       bool // its source has an author

	alternates, sourceAlternates hashSet
}

// startItem prepares for an entry or a tombstone.
func (c *checker) startItem(s *scope) {
	c.item = itemFacts{alternates: c.item.alternates.emptied(), sourceAlternates: c.item.sourceAlternates}
	if s.model == &tombstoneModel {
		if c.r.isFeedChild() {
			c.feedOrder(s.name, s.at)
		}
		c.attributes(childTombstone, s.at)
		return
	}
	c.head.entries++
	c.attributes(0, s.at)
}

// feedOrder checks that a child of the feed that is not an entry stands before the
// entries.
func (c *checker) feedOrder(local string, at position) {
	if c.head.entries > 0 {
		c.r.report(ruleFeedOrder, at, local, nil, local+" should stand before the entries")
	}
}

// endItem checks an item at its end. whole is false if another item was found inside it.
func (c *checker) endItem(s *scope, whole bool) {
	v := &c.r.view
	isEntry := s.model == &entryModel
	if isEntry && whole {
		c.lacking(s, childTitle|childUpdated)
		c.endEntry(s)
	}
	if isEntry {
		c.entryAuthor(s)
		if c.head.latest.IsZero() || v.Updated.Time().After(c.head.latest.Time()) {
			c.head.latest, c.head.latestAt = v.Updated, s.at
		}
	}
	if c.r.kind != FeedDocument && c.r.entries == 1 {
		c.sum.ID, c.sum.Updated = string(v.ID), v.Updated
	}
	c.compare(v, s)
}

func (c *checker) endEntry(s *scope) {
	v, i := &c.r.view, &c.item
	if !s.seen.has(childContent) && !i.alternate {
		c.r.report(ruleEntryAlternate, s.at, s.name, nil, "an entry without content must have an alternate link")
	}
	if !s.seen.has(childSummary) && i.elsewhere {
		c.r.report(ruleEntrySummary, i.content, "content", nil, "an entry whose content has src must have a summary")
	} else if !s.seen.has(childSummary) && i.binary {
		c.r.report(ruleEntrySummary, i.content, "content", nil, "an entry whose content is in Base64 must have a summary")
	}
	if !v.published.IsZero() && !v.Updated.IsZero() && v.published.Time().After(v.Updated.Time()) {
		c.r.report(rulePublished, i.published, "published", []byte(v.published.String()), "later than updated")
	}
}

// entryAuthor checks that an entry has an author.
func (c *checker) entryAuthor(s *scope) {
	if s.seen.has(childAuthor) {
		return
	}
	if c.r.kind != FeedDocument {
		if !c.item.sourceAuthor {
			c.r.report(ruleEntryAuthor, s.at, s.name, nil, "an entry or its source must have an author")
		}
		return
	}
	h := &c.head
	h.ownless++
	if c.item.sourceAuthor {
		return
	}
	h.authorsOut++
	if !c.r.root.seen.has(childAuthor) && len(h.authorless) < maxAuthorless {
		h.authorless = append(h.authorless, s.at)
	}
}

// endSource checks the source of an item at its end.
func (c *checker) endSource(s *scope) {
	c.item.sourceAuthor = s.seen.has(childAuthor)
	c.item.sourceAlternates = c.item.sourceAlternates.emptied()
	c.lacking(s, s.required)
}

// endFeed checks a feed document at its end.
func (c *checker) endFeed(s *scope) {
	h, f := &c.head, &c.r.feed
	c.lacking(s, s.required)
	c.sum.ID, c.sum.Updated = f.ID, f.Updated
	c.sum.Self, c.sum.Current, c.sum.Next = h.links[relSelf].href, h.links[relCurrent].href, h.links[relNext].href
	c.sum.PrevArchive, c.sum.NextArchive = h.links[relPrevArchive].href, h.links[relNextArchive].href
	c.sum.Complete, c.sum.Archive = f.Complete, f.Archive
	if !h.links[relSelf].stated {
		c.r.report(ruleFeedSelf, s.at, s.name, nil, "a feed should have a link self")
	}
	if !f.Updated.IsZero() && f.Updated.Time().Before(h.latest.Time()) {
		c.r.report(ruleFeedUpdated, h.updated, "updated", []byte(f.Updated.String()),
			fmt.Sprintf("should not be older than the entry in line %d", h.latestAt.line))
	}
	if !s.seen.has(childAuthor) {
		c.missingAuthors(s)
	}
	c.history()
	if c.o.Feed != nil {
		c.o.Feed(f, c.reportAt(s.at, s.name))
	}
}

// missingAuthors reports the entries of a feed that have no author: each of them if other
// entries have one, and otherwise all of them in one finding.
func (c *checker) missingAuthors(s *scope) {
	h := &c.head
	if h.authorsOut == 0 || h.authorsOut == h.entries {
		if h.ownless > 0 {
			c.r.report(ruleFeedAuthor, s.at, s.name, nil,
				fmt.Sprintf("a feed must have an author, or each of its entries: %d of %d entries have none",
					h.ownless, h.entries))
		}
		return
	}
	for i, at := range h.authorless {
		message := "an entry must have an author if its feed has none"
		if more := h.authorsOut - maxAuthorless; i == maxAuthorless-1 && more > 0 {
			message += fmt.Sprintf("; %d more entries have none", more)
		}
		c.r.report(ruleEntryAuthor, at, "entry", nil, message)
	}
}

// isSelf reports whether a URL is the document's own.
func (c *checker) isSelf(url string) bool {
	url, _, _ = strings.Cut(url, "#")
	return url != "" && (url == c.head.links[relSelf].href || url == c.o.URL)
}

// history checks what a feed states about its other documents.
func (c *checker) history() {
	h := &c.head
	complete, archive := h.complete != position{}, h.archive != position{}
	for _, rel := range paging {
		link := &h.links[rel]
		if c.isSelf(link.href) {
			c.r.report(rulePagingSelf, link.at, "link", []byte(link.href), headRelations[rel]+" must be another document")
		}
		if complete && link.stated {
			c.r.report(ruleCompletePaged, h.complete, "complete", nil, "a complete feed should have no link "+headRelations[rel])
		}
	}
	known := c.o.URL != "" || h.links[relSelf].href != ""
	for _, rel := range [...]int{relFirst, relLast, relCurrent} {
		if link := &h.links[rel]; complete && !archive && known && link.stated && !c.isSelf(link.href) {
			c.r.report(ruleCompletePaged, h.complete, "complete", []byte(link.href),
				"a complete feed should be one document, but "+headRelations[rel]+" is another")
		}
	}
	c.archive(complete, archive, known)
}

// archive checks the mark of archive documents, and the links that go with it. known
// reports whether the document's own URL is known.
func (c *checker) archive(complete, archive, known bool) {
	h := &c.head
	current := &h.links[relCurrent]
	switch {
	case complete && archive:
		c.r.report(ruleCompletePaged, h.complete, "complete", nil, "a complete feed should be no archive document")
	case archive && !current.stated:
		c.r.report(ruleArchiveCurrent, h.archive, "archive", nil, "an archive document should have a link current")
	case archive && c.isSelf(current.href):
		c.r.report(ruleArchiveSelf, h.archive, "archive", nil, "an archive document must have another document as its current")
	case archive:
	case h.links[relNextArchive].stated:
		c.r.report(ruleArchiveMark, h.links[relNextArchive].at, "link", nil,
			"a document with next-archive should have fh:archive")
	case h.links[relPrevArchive].stated && current.stated && known && !c.isSelf(current.href):
		c.r.report(ruleArchiveMark, current.at, "link", []byte(current.href),
			"a document whose current is another should have fh:archive")
	}
}

// historyMark checks fh:complete or fh:archive.
func (c *checker) historyMark(s *scope, text []byte) {
	local := c.r.scan.Name().Local
	if !isBlank(text) {
		c.r.reportChild(ruleHistoryElement, text, local+" must be empty")
	}
	if s.model != &feedModel {
		return // a source is a copy of another feed
	}
	mark := &c.head.complete
	if local == "archive" {
		mark = &c.head.archive
	}
	if *mark != (position{}) {
		c.r.reportChild(ruleHistoryElement, nil, "a feed must have at most one "+local)
		return
	}
	*mark = c.r.at
}

// feedLink keeps a link of the feed itself. isFeed reports whether it leads to a feed;
// only such a link must be the only one of its relation.
func (c *checker) feedLink(l *linkView, isFeed bool) {
	v := &c.r.view
	i := slices.Index(headRelations[:], string(v.buf.Of(l.Rel)))
	if i < 0 {
		return
	}
	link := &c.head.links[i]
	switch {
	case !link.stated:
		link.href, link.at, link.stated = string(v.buf.Of(l.Href)), c.r.at, true
	case isFeed && i != relSelf && link.href != string(v.buf.Of(l.Href)):
		c.r.reportChild(rulePagingTwice, v.buf.Of(l.Href), "a feed must have at most one link "+headRelations[i])
	}
}

// compare keeps an item, and compares it with the earlier ones.
func (c *checker) compare(v *View, s *scope) {
	at := v.Updated
	if t := at.Time(); !at.IsZero() {
		if c.sum.Earliest.IsZero() || t.Before(c.sum.Earliest.Time()) {
			c.sum.Earliest = at
		}
		if c.sum.Latest.IsZero() || t.After(c.sum.Latest.Time()) {
			c.sum.Latest = at
		}
	}
	if len(v.ID) == 0 || c.r.kind != FeedDocument {
		return
	}
	var found *Rule
	var line uint32
	c.ids.add(v.ID, at, s.model == &tombstoneModel, s.at.line, func(now, before idSlot) {
		rule := comparedWith(now, before)
		if found == nil || rule.Severity > found.Severity || rule.Severity == found.Severity && rule == &ruleTombstoneLive {
			found, line = rule, before.where
		}
	})
	if found != nil {
		c.r.report(*found, s.at, s.name, v.ID, fmt.Sprintf("%s: the other is in line %d", found.Summary, line))
	}
}

// comparedWith returns the rule that two items with one id break.
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

// A hashSet is a set of hashes. It holds at most maxSet of them.
type hashSet map[uint64]struct{}

const (
	maxSet = 1 << 16
	// a larger set is not reused: emptying it costs as much as filling it
	keptSet = 1024
)

// emptied returns an empty set.
func (s hashSet) emptied() hashSet {
	if len(s) > keptSet {
		return nil
	}
	clear(s)
	return s
}

// add adds a hash. It returns false if the set had it already.
func (s *hashSet) add(h uint64) bool {
	if *s == nil {
		*s = make(hashSet)
	}
	if _, ok := (*s)[h]; ok {
		return false
	}
	if len(*s) < maxSet {
		(*s)[h] = struct{}{}
	}
	return true
}

// An idTable holds the times and positions of each id. Two ids share a hash in one of two
// million full tables.
type idTable struct {
	seed  maphash.Seed
	slots []idSlot // their number is a power of two; linear probing
	n     int
}

// An idSlot is an entry or a tombstone in 24 bytes.
type idSlot struct {
	hash  uint64 // if 0, the slot is empty
	sec   int64  // Unix time
	nano  uint32 // and flags
	where uint32 // line, or number of the document
}

const (
	slotDead  = 1 << 31 // a tombstone
	slotTimed = 1 << 30 // its time is known

	maxIDs      = 4 << 20 // in a table
	maxVersions = 16      // of one id in a table
)

func (s idSlot) dead() bool  { return s.nano&slotDead != 0 }
func (s idSlot) timed() bool { return s.nano&slotTimed != 0 }

// after reports whether s is newer than o. Both must have a time.
func (s idSlot) after(o idSlot) bool {
	return s.sec > o.sec || s.sec == o.sec && s.nano&(slotTimed-1) > o.nano&(slotTimed-1)
}

// same reports whether s and o are of one kind and one time.
func (s idSlot) same(o idSlot) bool { return s.sec == o.sec && s.nano == o.nano && s.timed() }

// hash returns the hash of an id, or of anything else, which is never 0.
func (t *idTable) hash(b []byte) uint64 {
	if t.seed == (maphash.Seed{}) {
		t.seed = maphash.MakeSeed()
	}
	return max(1, maphash.Bytes(t.seed, b))
}

// add adds an entry or tombstone. It calls found, in no particular order, for each
// earlier one with the same id.
func (t *idTable) add(id []byte, at websync.Datetime, dead bool, where int, found func(now, before idSlot)) {
	if t.slots == nil {
		t.slots = make([]idSlot, 1024)
	}
	now := idSlot{hash: t.hash(id), where: uint32(where)}
	if !at.IsZero() {
		now.sec, now.nano = at.Time().Unix(), uint32(at.Time().Nanosecond())|slotTimed
	}
	if dead {
		now.nano |= slotDead
	}
	mask := uint64(len(t.slots) - 1)
	i, versions := now.hash&mask, 0
	for ; t.slots[i].hash != 0; i = (i + 1) & mask {
		if t.slots[i].hash == now.hash {
			versions++
			found(now, t.slots[i])
		}
	}
	if versions == maxVersions || t.n == maxIDs {
		return
	}
	t.slots[i] = now
	if t.n++; 4*t.n > 3*len(t.slots) {
		t.grow()
	}
}

func (t *idTable) grow() {
	old := t.slots
	t.slots = make([]idSlot, 2*len(old))
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.hash == 0 {
			continue
		}
		i := s.hash & mask
		for t.slots[i].hash != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}
