package atom

import (
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// A holding says what an element holds, and with that how it is read.
type holding uint8

const (
	holdsText    holding = iota // a text construct
	holdsContent                // atom:content
	holdsPerson
	holdsDate
	holdsID
	holdsIRI // a reference
	holdsName
	holdsEmail
	holdsGenerator
	holdsCategory
	holdsLink
	holdsSource
	holdsEntry
	holdsTombstone
	holdsNothing // a mark: fh:complete, fh:archive
)

// ownAttributes are those in no namespace that an element may have.
var ownAttributes = [...][]string{
	holdsText:      {"type"},
	holdsContent:   {"type", "src", "hash", "etag", "modified", "accessed"},
	holdsGenerator: {"uri", "version"},
	holdsCategory:  {"term", "scheme", "label"},
	holdsLink:      {"href", "rel", "type", "hreflang", "title", "length", "hash", "etag", "modified", "accessed"},
	holdsTombstone: {"ref", "when"},
	holdsNothing:   nil,
}

// A childModel is what Atom says of one element inside another.
type childModel struct {
	space, local string
	holds        holding
	least, most  int // how many of them; most 0: any number
}

// An elementModel is what Atom says of an element that holds others.
type elementModel struct {
	name     string
	children []childModel
	surplus  *Rule // one too many of an element
	lacks    *Rule // one of the required elements is missing
}

const maxChildren = 16 // of an elementModel

func (m *elementModel) find(name xmlscan.Name) int {
	for i := range m.children {
		if c := &m.children[i]; c.local == name.Local && c.space == name.Space {
			return i
		}
	}
	return -1
}

// metadata is what a feed and the source of an entry have in common.
var metadata = []childModel{
	{Namespace, "id", holdsID, 1, 1},
	{Namespace, "title", holdsText, 1, 1},
	{Namespace, "updated", holdsDate, 1, 1},
	{Namespace, "author", holdsPerson, 0, 0},
	{Namespace, "category", holdsCategory, 0, 0},
	{Namespace, "contributor", holdsPerson, 0, 0},
	{Namespace, "generator", holdsGenerator, 0, 1},
	{Namespace, "icon", holdsIRI, 0, 1},
	{Namespace, "link", holdsLink, 0, 0},
	{Namespace, "logo", holdsIRI, 0, 1},
	{Namespace, "rights", holdsText, 0, 1},
	{Namespace, "subtitle", holdsText, 0, 1},
	{HistoryNamespace, "complete", holdsNothing, 0, 0},
	{HistoryNamespace, "archive", holdsNothing, 0, 0},
}

var feedModel = elementModel{"feed", append([]childModel{
	{Namespace, "entry", holdsEntry, 0, 0},
	{TombstoneNamespace, "deleted-entry", holdsTombstone, 0, 0},
}, metadata...), &ruleFeedChild, &ruleFeedChild}

var sourceModel = elementModel{"source", metadata, &ruleSourceChild, &ruleSourceLacks}

var entryModel = elementModel{"entry", []childModel{
	{Namespace, "id", holdsID, 1, 1},
	{Namespace, "title", holdsText, 1, 1},
	{Namespace, "updated", holdsDate, 1, 1},
	{Namespace, "link", holdsLink, 0, 0},
	{Namespace, "content", holdsContent, 0, 1},
	{Namespace, "summary", holdsText, 0, 1},
	{Namespace, "author", holdsPerson, 0, 0},
	{Namespace, "category", holdsCategory, 0, 0},
	{Namespace, "contributor", holdsPerson, 0, 0},
	{Namespace, "published", holdsDate, 0, 1},
	{Namespace, "rights", holdsText, 0, 1},
	{Namespace, "source", holdsSource, 0, 1},
}, &ruleEntryChild, &ruleEntryChild}

var tombstoneModel = elementModel{"deleted-entry", []childModel{
	{TombstoneNamespace, "by", holdsPerson, 0, 1},
	{TombstoneNamespace, "comment", holdsText, 0, 1},
	{Namespace, "link", holdsLink, 0, 0},
	{Namespace, "source", holdsSource, 0, 1},
}, &ruleTombstoneChild, &ruleTombstoneChild}

var personModel = elementModel{"person", []childModel{
	{Namespace, "name", holdsName, 1, 1},
	{Namespace, "uri", holdsIRI, 0, 1},
	{Namespace, "email", holdsEmail, 0, 1},
}, &rulePersonChild, &rulePersonChild}

// Scopes are open at once: of a feed, an entry, a source and a person.
const maxScopes = 4

// A scope is what was seen of an open element that holds others.
type scope struct {
	model  *elementModel
	name   string // its local name
	at     spot
	counts [maxChildren]int

	id                   []byte
	updated, published   websync.Datetime
	updatedAt, publishAt spot

	alternates hashSet
	alternate  bool // there is one

	content      spot
	elsewhere    bool // content with src
	binary       bool // content in Base64
	sourceAuthor bool // the source has an author
}

// enter opens a scope for the element whose Start is current.
func (v *validator) enter(m *elementModel, at spot) *scope {
	s := &v.scopes[v.open]
	v.open++
	*s = scope{model: m, name: v.r.Name().Local, at: at, id: s.id[:0], alternates: s.alternates.emptied()}
	return s
}

// leave closes the innermost scope and checks that nothing is missing. An entry without
// an id is lost.
func (v *validator) leave(s *scope) {
	v.open--
	for i := range s.model.children {
		c := &s.model.children[i]
		switch {
		case s.counts[i] >= c.least:
		case c.holds == holdsID && s.model == &entryModel:
			v.reportLoss(*s.model.lacks, s.at, s.name, nil, "no "+c.local)
		default:
			v.report(*s.model.lacks, s.at, s.name, nil, "no "+c.local)
		}
	}
}

// has tells how many children of a name the scope has.
func (s *scope) has(local string) int {
	return s.counts[s.model.find(xmlscan.Name{Space: Namespace, Local: local})]
}

// children reads the children of a scope, up to its End.
func (v *validator) children(s *scope) error {
	text := func(line, column int, text []byte) {
		v.report(ruleTextBetween, spot{line, column}, "", text, "text between the elements")
	}
	for {
		kind, err := v.r.NextTagAndText(text)
		if err != nil {
			return err
		}
		if v.inItem && v.sum256 != nil {
			v.digest(kind)
		}
		if kind == xmlscan.End {
			return nil
		}
		if err := v.child(s); err != nil {
			return err
		}
	}
}

// child reads one child of a scope.
func (v *validator) child(s *scope) error {
	name, at := v.name(), v.spot()
	i := s.model.find(name)
	if i < 0 {
		v.foreign(s, name, at)
		return v.skip()
	}
	c := &s.model.children[i]
	if s.counts[i]++; c.most > 0 && s.counts[i] == c.most+1 {
		v.report(*s.model.surplus, at, c.local, nil, "a second "+c.local)
	}
	if s.model == &feedModel && c.holds != holdsEntry && s.counts[0] > 0 {
		v.report(ruleFeedOrder, at, c.local, nil, "after an entry")
	}
	switch c.holds {
	case holdsEntry:
		return v.entry(s, at)
	case holdsTombstone:
		return v.tombstone(s, at)
	}
	v.attributes(c.holds, at)
	return v.value(s, c, at)
}

// value reads an element that is no entry and no tombstone.
func (v *validator) value(s *scope, c *childModel, at spot) error {
	switch c.holds {
	case holdsText:
		return v.textConstruct(s, c.local, at)
	case holdsContent:
		return v.contentElement(s, at)
	case holdsPerson:
		return v.person(at)
	case holdsSource:
		return v.source(s, at)
	case holdsCategory:
		return v.category(at)
	case holdsLink:
		return v.link(s, at)
	case holdsGenerator:
		return v.generator(at)
	case holdsNothing:
		return v.historyMark(s, c.local, at)
	}
	text, err := v.plain(c.local, ruleValueElement)
	if err != nil {
		return err
	}
	switch c.holds {
	case holdsDate:
		v.dateOf(s, c.local, text, at)
	case holdsID:
		v.id(s, text, at)
	case holdsIRI:
		v.reference(ruleIRI, c.local, "", text, at)
	case holdsName:
		if isBlank(text) {
			v.report(rulePersonName, at, c.local, nil, "an empty name")
		}
	case holdsEmail:
		if fault := syntax.EmailFault(text); fault != "" {
			v.report(ruleEmail, at, c.local, text, fault)
		}
	}
	return nil
}

// plain reads the text of an element that has no elements in it. The text is valid until
// the next call.
func (v *validator) plain(element string, rule Rule) ([]byte, error) {
	v.buf = v.buf[:0]
	for told := false; ; {
		kind, err := v.next()
		if err != nil {
			return nil, err
		}
		switch kind {
		case xmlscan.Text:
			if len(v.buf) < maxChecked {
				v.buf = append(v.buf, v.r.Text()...)
			}
		case xmlscan.End:
			return v.buf, nil
		case xmlscan.Start:
			if !told {
				v.report(rule, v.spot(), element, []byte(v.r.Name().Local), "an element where only text may be")
				told = true
			}
			if err := v.skip(); err != nil {
				return nil, err
			}
		}
	}
}

// undefined reads the content of a link or category, which means nothing, but may not
// have elements of Atom.
func (v *validator) undefined(element string) error {
	for {
		kind, err := v.next()
		if err != nil || kind == xmlscan.End {
			return err
		}
		if kind != xmlscan.Start {
			continue
		}
		if name := v.name(); name.Space == Namespace {
			v.report(ruleValueElement, v.spot(), element, []byte(name.Local), "an element of Atom inside of it")
		}
		if err := v.skip(); err != nil {
			return err
		}
	}
}

const signatureNamespace = "http://www.w3.org/2000/09/xmldsig#"

// foreign reports an element that Atom does not have in this place.
func (v *validator) foreign(s *scope, name xmlscan.Name, at spot) {
	report := func(rule Rule, message string) { v.report(rule, at, name.Local, nil, message) }
	tombstone := s.model == &tombstoneModel
	switch name.Space {
	case Namespace:
		if tombstone {
			report(ruleTombstoneElement, "tombstones have no such element")
			return
		}
		report(ruleUnknown, fmt.Sprintf("%s has no element %.100q", s.name, name.Local))
	case TombstoneNamespace:
		if name.Local == "deleted-entry" {
			report(ruleTombstonePlace, "a tombstone in "+s.name)
			return
		}
		report(ruleTombstoneElement, "tombstones have no such element, or not in this place")
	case HistoryNamespace:
		if name.Local == "complete" || name.Local == "archive" {
			report(ruleHistoryElement, "not in the metadata of a feed")
			return
		}
		report(ruleHistoryUnknown, "RFC 5005 has no such element")
	case GDataNamespace, FeedSyncNamespace:
		if s.model == &entryModel && (name.Local == "deleted" || name.Local == "sync") {
			report(ruleForm, "a deletion in the form of another specification")
		}
	case "":
		report(ruleNoNamespace, "an element without a namespace")
	case signatureNamespace:
		if name.Local == "Signature" && (s.model == &personModel || s.model == &sourceModel) {
			report(ruleSignature, "a signature of a "+s.name)
		}
	}
}

// attributes checks the attributes of the current element that have nothing to do with
// what it is.
func (v *validator) attributes(h holding, at spot) {
	attrs := v.r.Attrs()
	if len(attrs) == 0 {
		return
	}
	known := ownAttributes[h]
	local := v.r.Name().Local
next:
	for _, a := range attrs {
		switch a.Name.Space {
		case xmlNamespace:
			v.xmlAttribute(local, a, at)
		case "":
			for _, name := range known {
				if name == a.Name.Local {
					continue next
				}
			}
			if a.Name.Local == "media" && (h == holdsLink || h == holdsContent) {
				v.report(ruleLinkExtension, at, local, a.Value, "no attribute \"media\" in the last draft of the link extensions")
				continue
			}
			v.report(ruleUnknownAttr, at, local, a.Value, fmt.Sprintf("no attribute %.100q", a.Name.Local))
		case Namespace, TombstoneNamespace, HistoryNamespace:
			v.report(ruleUnknownAttr, at, local, a.Value, fmt.Sprintf("the attribute %.100q has no namespace", a.Name.Local))
		case LinkExtNamespace:
			if h != holdsLink && h != holdsContent || !isLinkExtension(a.Name.Local) {
				v.report(ruleLinkExtension, at, local, a.Value, fmt.Sprintf("no attribute %.100q of link extensions", a.Name.Local))
			}
		}
	}
}

func (v *validator) xmlAttribute(local string, a xmlscan.Attr, at spot) {
	switch a.Name.Local {
	case "lang":
		if fault := syntax.LanguageFault(a.Value); fault != "" && len(a.Value) > 0 { // empty: not known (XML 1.0 §2.12)
			v.report(ruleLang, at, local, a.Value, fault)
		}
	case "base":
		if fault := syntax.ReferenceFault(a.Value); fault != "" {
			v.report(ruleBase, at, local, a.Value, fault)
		}
	}
}

// attr returns an attribute without a namespace, and whether there is one. It is valid
// until the next token.
func (v *validator) attr(local string) ([]byte, bool) { return v.r.Attr("", local) }

// baseOf returns what relative references of the current element are resolved against.
func (v *validator) baseOf(outer string) string {
	base, ok := v.r.Attr(xmlNamespace, "base")
	if !ok {
		return outer
	}
	return string(syntax.AppendResolved(nil, outer, base))
}

// trimmed returns a value without the white space around it, and reports that.
func (v *validator) trimmed(element string, value []byte, at spot) []byte {
	trimmed := xmlscan.Trim(value)
	if len(trimmed) < len(value) {
		v.report(ruleSpace, at, element, value, "white space around it")
	}
	return trimmed
}

// reference checks an IRI, absolute or relative. attribute is empty if it is the
// element's text.
func (v *validator) reference(rule Rule, element, attribute string, value []byte, at spot) {
	if fault := syntax.ReferenceFault(v.trimmed(element, value, at)); fault != "" {
		if attribute != "" {
			fault = attribute + ": " + fault
		}
		v.report(rule, at, element, value, fault)
	}
}

// id checks an id and keeps it.
func (v *validator) id(s *scope, text []byte, at spot) {
	text = v.trimmed("id", text, at)
	if s.has("id") == 1 {
		s.id = append(s.id, text...)
	}
	if fault := syntax.IRIFault(text); len(text) == 0 {
		v.reportLoss(ruleID, at, "id", text, fault)
	} else if fault != "" {
		v.report(ruleID, at, "id", text, fault)
	} else {
		v.idForm("id", text, at)
	}
}

// idForm checks what an id, which is an absolute IRI, should be besides.
func (v *validator) idForm(element string, id []byte, at spot) {
	if fault := syntax.NormalFault(id); fault != "" {
		v.report(ruleIDNormal, at, element, id, fault)
	}
	if fault := syntax.SchemeFault(id); fault != "" {
		v.report(ruleIDScheme, at, element, id, fault)
	}
}

// dateOf checks a date and keeps it.
func (v *validator) dateOf(s *scope, element string, text []byte, at spot) {
	d := v.date(ruleDate, element, text, at)
	if element == "published" {
		s.published, s.publishAt = d, at
	} else if s.has("updated") == 1 {
		s.updated, s.updatedAt = d, at
	}
}

// date reads a date: what the rule demands, or at least means.
func (v *validator) date(rule Rule, element string, text []byte, at spot) websync.Datetime {
	text = v.trimmed(element, text, at)
	if len(v.lastText) == 0 || string(text) != string(v.lastText) {
		v.lastText = append(v.lastText[:0], text...)
		v.lastDate, v.lastMiss = date3339(text)
	}
	d := v.lastDate
	if v.lastMiss != "" {
		v.report(rule, at, element, text, v.lastMiss)
	}
	if !d.IsZero() && !v.o.Now.IsZero() && isFuture(d, v.o.Now) {
		v.report(ruleDateFuture, at, element, text, "more than a day ahead")
	}
	return d
}

// person reads a person construct.
func (v *validator) person(at spot) error {
	s := v.enter(&personModel, at)
	if err := v.children(s); err != nil {
		return err
	}
	v.leave(s)
	return nil
}

func (v *validator) category(at spot) error {
	if term, ok := v.attr("term"); !ok {
		v.report(ruleCategory, at, "category", nil, "no term")
	} else if isBlank(term) {
		v.report(ruleTerm, at, "category", term, "an empty term")
	}
	if scheme, ok := v.attr("scheme"); ok {
		if fault := syntax.IRIFault(v.trimmed("category", scheme, at)); fault != "" {
			v.report(ruleCategory, at, "category", scheme, "scheme: "+fault)
		}
	}
	return v.undefined("category")
}

func (v *validator) generator(at spot) error {
	if uri, ok := v.attr("uri"); ok {
		v.reference(ruleIRI, "generator", "uri", uri, at)
	}
	text, err := v.plain("generator", ruleValueElement)
	if err == nil && isBlank(text) {
		v.report(ruleGenerator, at, "generator", nil, "no name")
	}
	return err
}
