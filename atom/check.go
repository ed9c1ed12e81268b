package atom

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// The methods below are called by the Reader. The current token is the Start of the
// element that they are about, or its End where they get its value.

// child asks about the element that is a child of s.
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

// attributes asks about the attributes of an element, but not about their values.
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
		if fault := syntax.LanguageFault(a.Value); fault != "" && len(a.Value) > 0 { // empty: not known (XML 1.0 §2.12)
			report(ruleLang, a, fault)
		}
	case "base":
		if fault := syntax.ReferenceFault(a.Value); fault != "" {
			report(ruleBase, a, fault)
		}
	}
}

const signatureNamespace = "http://www.w3.org/2000/09/xmldsig#"

// foreign asks about an element that has no meaning as a child of s.
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

// lacking reports the required children that s does not have.
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

// id asks about an id or a ref that can be used.
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

// scheme asks about the scheme of a category.
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

// construct asks about a text construct.
func (c *checker) construct(s *scope, t *textView) {
	c.markup(t.Type, t.Value)
	if local := c.r.scan.Name().Local; s.model == &entryModel && local != "rights" && isEmpty(t.Type, t.Value) {
		c.r.reportChild(ruleEntryText, nil, "an empty "+local)
	}
}

// markup asks about the markup in a text.
func (c *checker) markup(form string, value []byte) {
	if form == HTML && !c.r.mixed {
		if fault := c.html.fault(value); fault != "" {
			c.r.reportChild(ruleHTML, value, fault)
		}
	}
}

// isEmpty reports whether there is nothing in a text.
func isEmpty(form string, value []byte) bool {
	if form != XHTML {
		return isBlank(value)
	}
	_, start := tagEnd(value, 1)
	end := bytes.LastIndex(value, []byte("</"))
	return end < start || isBlank(value[start:end])
}

// inDiv returns what a Reader's Stop is while a div is read: it asks about each element
// inside, too.
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

// contentType asks about the media type of content. It returns false if it is none.
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

// contentElsewhere asks about content that is elsewhere, and about its type if that can
// be a media type.
func (c *checker) contentElsewhere(isMedia bool) {
	c.item.content, c.item.elsewhere = c.r.at, true
	if mediaType, ok := c.r.scan.Attr("", "type"); ok && isMedia {
		c.contentType(mediaType)
	} else if !ok {
		c.r.reportChild(ruleContentSrcType, nil, "content with src should have a type")
	}
}

// content asks about inline content.
func (c *checker) content(v *contentView, form string) {
	c.markup(form, v.Value)
	if isEmpty(form, v.Value) {
		c.r.reportChild(ruleEntryText, nil, "an empty content")
	}
}

// base64 asks about content in Base64.
func (c *checker) base64(text []byte) {
	c.item.content, c.item.binary = c.r.at, true
	if fault := syntax.Base64Fault(text); fault != "" {
		c.r.reportChild(ruleContentBase64, nil, fault)
	}
}

// link asks about a link.
func (c *checker) link(s *scope, l *linkView) {
	r := c.r
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
	if _, ok := r.scan.Attr("", "length"); !ok && string(l.Rel) == "enclosure" {
		r.reportChild(ruleEnclosure, nil, "an enclosure should have a length")
	}
	if rel, ok := r.scan.Attr("", "rel"); string(l.Rel) == "alternate" && !(ok && isBlank(rel)) {
		c.alternate(s, mediaType, hreflang)
	}
	if s.model == &feedModel {
		c.feedLink(l, !typed || syntax.EqualFold(syntax.Essence(mediaType), feedType))
	}
}

// relation asks about the relation of a link.
func (c *checker) relation(rel []byte) {
	name := bytes.TrimPrefix(rel, []byte(registered))
	if fault := syntax.RelationFault(rel); fault != "" {
		c.r.reportAttr(ruleRel, "rel", rel, fault)
	} else if syntax.Scheme(name) == 0 && !syntax.IsRelation(name) {
		c.r.reportChild(ruleRelUnknown, rel, "rel should be a registered name or an IRI")
	}
}

// alternate asks whether an alternate link is the only one of its type and language.
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

// linkExtensions asks about the attributes of link extensions that a Reader does not
// read: those of the last draft, and of older ones in their namespace.
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
				c.r.checkDigest(field, true)
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

// conflict asks whether the last digest contradicts one of the same algorithm among those
// from the given index on.
func (c *checker) conflict(from int) {
	digests := c.r.view.digests[from:]
	last := digests[len(digests)-1]
	for _, d := range digests[:len(digests)-1] {
		if d.Algorithm == last.Algorithm {
			if !bytes.Equal(d.Sum, last.Sum) {
				d, other := last.digest(), d.digest()
				c.r.reportChild(ruleHashConflict, []byte(d.String()), "another digest is "+other.String())
			}
			return
		}
	}
}

// isBlank reports whether text is only white space.
func isBlank(text []byte) bool { return len(xmlscan.Trim(text)) == 0 }
