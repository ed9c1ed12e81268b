package rdfa

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/webpage"
)

// A host is the host language of a document. It decides which of the rules apply that
// the host languages add to RDFa Core.
type host uint8

const (
	xml    host = iota // XML and SVG: RDFa Core §4.3
	xhtml1             // XHTML+RDFa 1.1
	xhtml5             // HTML+RDFa 1.1 in XML
	html5              // HTML+RDFa 1.1; HTML 4 as well
)

// isHTML reports whether the elements head and body, @lang and <base> have the meaning
// that they have in HTML.
func (h host) isHTML() bool { return h != xml }

// hasHTMLRules reports whether the rules of HTML+RDFa 1.1 apply.
func (h host) hasHTMLRules() bool { return h >= xhtml5 }

// A processor extracts the triples of one document.
type processor struct {
	host       host
	fromHTML   bool   // the tree is from an HTML parser
	url        string // of the document, without a fragment
	root       *html.Node
	maxTriples int
	maxText    int // bytes of literals and IRIs that may still be copied
	report     func(r Rule, element, value, message string)

	triples    []rdf.Triple
	items      int  // of lists, times two
	copies     bool // there is a triple with rdfa:copy
	blanks     map[string]rdf.Term
	blankCount int
	langs      map[string]string
	buf, ref   []byte
	elements   []*element // those that are processed, by depth, and later ones that are used again
	depth      int
	err        error // ends processing
}

// A context is the evaluation context of an element (RDFa Core §7.5): what it inherits.
type context struct {
	scope      *scope
	lang       string
	subject    rdf.Term // the parent subject
	object     rdf.Term // the parent object; the zero Term is null
	implicit   bool     // the parent object is the base, because nothing names another one
	incomplete []incomplete
	lists      *lists
}

// An incomplete is a triple without the resource at its other end, which is found further
// down in the document.
type incomplete struct {
	predicate string
	list      *list // that the resource belongs to, or nil
	reverse   bool
}

// lists are the lists of one subject, by predicate.
type lists struct {
	all   []*list
	known map[string]*list
}

type list struct {
	predicate string
	items     []rdf.Term
}

// of returns the list of a predicate, which may be a new one.
func (l *lists) of(predicate string) *list {
	held := l.known[predicate]
	if held == nil {
		if l.known == nil {
			l.known = make(map[string]*list)
		}
		held = &list{predicate: predicate}
		l.known[predicate] = held
		l.all = append(l.all, held)
	}
	return held
}

func (p *processor) emit(subject rdf.Term, predicate string, object rdf.Term) {
	if len(p.triples) >= p.maxTriples {
		p.failTriples()
		return
	}
	p.copies = p.copies || predicate == rdfaCopy
	p.triples = append(p.triples, rdf.Triple{Subject: subject, Predicate: rdf.IRI(predicate), Object: object})
}

// addItem adds an item to a list, which makes two triples later.
func (p *processor) addItem(l *list, item rdf.Term) {
	if p.items += 2; p.items > p.maxTriples {
		p.failTriples()
		return
	}
	l.items = append(l.items, item)
}

func (p *processor) failTriples() {
	p.fail(fmt.Errorf("more than %d triples: %w", p.maxTriples, websync.ErrLimit))
}

func (p *processor) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// children processes the elements inside of n.
func (p *processor) children(n *html.Node, c *context) {
	if p.isTemplate(n) {
		return
	}
	for child := n.FirstChild; child != nil && p.err == nil; child = child.NextSibling {
		if child.Type == html.ElementNode {
			p.element(child, c)
		}
	}
}

// isTemplate reports whether the children of n are not in the document: those of
// <template> are in a fragment of their own (HTML §4.12.3).
func (p *processor) isTemplate(n *html.Node) bool {
	return p.host.isHTML() && is(n, "template")
}

// is reports whether n is the element of HTML with a name, with or without a prefix.
func is(n *html.Node, name string) bool {
	if len(n.Data) <= len(name) {
		return n.Data == name
	}
	return n.Namespace == xhtmlSpace && strings.HasSuffix(n.Data, name) && local(n.Data) == name
}

// element processes one element and what it contains, which may have no meaning itself.
func (p *processor) element(n *html.Node, c *context) {
	if len(n.Attr) > maxAttrs {
		p.fail(webpage.ErrAttrs)
		return
	}
	if p.depth == len(p.elements) {
		p.elements = append(p.elements, new(element))
	}
	e := p.elements[p.depth]
	if e.set != 0 || e.scope != nil { // it was used before, and clearing it has a cost
		*e = element{}
	}
	e.node, e.outer = n, c
	e.read(n, p.host)
	e.inherits = p.host.isHTML() && (is(n, "head") || is(n, "body"))
	if n != p.root && !e.inherits && !e.matters(n, c) {
		p.children(n, c)
		return
	}
	p.depth++
	p.local(e) // steps 2 to 4
	p.steps(e)
	p.depth--
}

// steps makes the triples of an element and of what it contains: steps 5 to 14 of RDFa
// Core §7.5.
func (p *processor) steps(e *element) {
	c := e.outer
	switch { // steps 5 and 6
	case e.has(attrRel | attrRev):
		p.linked(e)
	case e.has(attrProperty) && !e.has(attrContent|attrDatatype):
		p.described(e)
	default:
		p.placed(e)
	}
	if e.typed.Kind != 0 { // step 7
		for v, rest := cutValue(e.typeof); v != ""; v, rest = cutValue(rest) {
			if t := p.typeOf(e.scope, v); t.Kind != 0 {
				p.emit(e.typed, rdf.Type, t)
			}
		}
	}
	e.lists = c.lists
	fresh := e.subject.Kind != 0 && e.subject != c.object // step 8
	if fresh {
		e.lists = new(lists)
	}
	p.relations(e) // steps 9 and 10
	if e.has(attrProperty) {
		p.property(e) // step 11
	}
	if !e.skip && e.subject.Kind != 0 {
		p.complete(c, e.subject) // step 12
	}
	e.enter() // step 13
	p.children(e.node, &e.inner)
	if e.inner.lists != e.lists { // step 14
		p.finish(e.inner.object, e.inner.lists)
	}
	if fresh {
		p.finish(e.subject, e.lists)
	}
}

// local sets the local values with which an element begins: its scope, its language and
// the context around it.
func (p *processor) local(e *element) {
	c := e.outer
	e.scope = p.scope(e.node, &e.attributes, c.scope)
	if c.implicit && e.scope.base != c.scope.base {
		// below an xml:base, the document that nothing names is that of the new base
		rebased := *c
		rebased.object = rdf.IRI(e.scope.base)
		e.outer = &rebased
	}
	e.lang = c.lang
	if e.has(attrLang) {
		e.lang = p.lang(e.attributes.lang)
	}
	if e.has(attrProperty) && p.host.hasHTMLRules() {
		e.muteTerms()
	}
}

// complete makes the triples of a context that lack the resource at their other end.
func (p *processor) complete(c *context, resource rdf.Term) {
	for _, t := range c.incomplete {
		switch {
		case t.list != nil:
			p.addItem(t.list, resource)
		case t.reverse:
			p.emit(resource, t.predicate, c.subject)
		default:
			p.emit(c.subject, t.predicate, resource)
		}
	}
}

// enter sets the context of the elements inside.
func (e *element) enter() {
	c := e.outer
	e.inner = context{scope: e.scope, lang: e.lang, lists: e.lists, implicit: c.implicit}
	inner := &e.inner
	if e.skip {
		inner.subject, inner.object, inner.incomplete = c.subject, c.object, c.incomplete
		return
	}
	inner.implicit = e.implicit && e.object.Kind == 0
	inner.incomplete = e.incomplete
	inner.subject = or(e.subject, c.subject)
	inner.object = or(or(e.object, e.subject), c.subject)
	if inner.object != e.subject {
		// The elements inside have the object as their subject, so lists of their own.
		// The text of step 8 keeps those of the subject, which mixes two resources.
		inner.lists = new(lists)
	}
}

func or(t, other rdf.Term) rdf.Term {
	if t.Kind != 0 {
		return t
	}
	return other
}

// An element is the state of an element that is processed: the local values of §7.5.
type element struct {
	attributes
	node     *html.Node
	scope    *scope
	lang     string
	outer    *context
	inherits bool // a head or body, which have the subject of html if they name none

	subject    rdf.Term // the new subject
	implicit   bool     // which is the base, because nothing names another one
	object     rdf.Term // the current object resource
	typed      rdf.Term // the typed resource
	skip       bool
	incomplete []incomplete
	lists      *lists
	inner      context // of the elements inside
}

// about returns what @about names. The root element names the base if it has none.
func (p *processor) about(e *element) rdf.Term {
	var t rdf.Term
	if e.has(attrAbout) {
		t = p.resource(e.scope, e.about, "about")
	}
	if t.Kind == 0 && e.node == p.root {
		t = rdf.IRI(e.scope.base)
		e.implicit = true
	}
	return t
}

// inherit makes the parent object the new subject, if it has none.
func (e *element) inherit() {
	if e.subject.Kind == 0 {
		e.subject, e.implicit = e.outer.object, e.outer.implicit
	}
}

// target returns what @resource, @href or @src names.
func (p *processor) target(e *element) rdf.Term {
	if e.has(attrResource) {
		if t := p.resource(e.scope, e.resource, "resource"); t.Kind != 0 {
			return t
		}
	}
	switch {
	case e.has(attrHref):
		return p.link(e.scope, e.href, "href")
	case e.has(attrSrc):
		return p.link(e.scope, e.src, "src")
	}
	return rdf.Term{}
}

// described is step 5.1: @property, whose value may be a resource.
func (p *processor) described(e *element) {
	about := p.about(e)
	e.subject = about
	e.inherit()
	if !e.has(attrTypeof) {
		return
	}
	if e.typed = about; e.typed.Kind == 0 {
		e.typed = p.target(e)
	}
	if e.typed.Kind == 0 {
		e.typed = p.newBlank()
	}
	e.object = e.typed
}

// placed is step 5.2: @property with a literal, or only a resource.
func (p *processor) placed(e *element) {
	if e.has(attrAbout) {
		e.subject = p.resource(e.scope, e.about, "about")
	}
	if e.subject.Kind == 0 {
		e.subject = p.target(e)
	}
	if e.subject.Kind == 0 {
		switch {
		case e.node == p.root:
			e.subject, e.implicit = rdf.IRI(e.scope.base), true
		case e.inherits:
			e.inherit()
		case e.has(attrTypeof):
			e.subject = p.newBlank()
		default:
			e.inherit()
			e.skip = !e.has(attrProperty)
		}
	}
	if e.has(attrTypeof) {
		e.typed = e.subject
	}
}

// linked is step 6: @rel or @rev.
func (p *processor) linked(e *element) {
	about := p.about(e)
	e.subject = about
	e.inherit()
	e.object = p.target(e)
	if !e.has(attrTypeof) {
		return
	}
	if e.has(attrAbout) && about.Kind != 0 {
		e.typed = about
		return
	}
	if e.object.Kind == 0 {
		e.object = p.newBlank()
	}
	e.typed = e.object
}

// typeOf returns one type of @typeof, or the zero Term if it is to be ignored.
func (p *processor) typeOf(s *scope, v string) rdf.Term {
	if strings.HasPrefix(v, "_:") {
		return p.blank(v)
	}
	if iri := p.expand(s, v, "typeof"); iri != "" {
		return rdf.IRI(iri)
	}
	return rdf.Term{}
}

// predicate returns the IRI of one value of @rel, @rev or @property, or "".
func (p *processor) predicate(s *scope, v, attribute string) string {
	if strings.HasPrefix(v, "_:") {
		p.report(rulePredicate, attribute, v, "a blank node is no predicate: ignored")
		return ""
	}
	return p.expand(s, v, attribute)
}

// relations makes the triples of @rel and @rev. Without an object they are incomplete.
func (p *processor) relations(e *element) {
	if !e.has(attrRel | attrRev) {
		return
	}
	known := e.object.Kind != 0
	for v, rest := cutValue(e.rel); v != ""; v, rest = cutValue(rest) {
		predicate := p.predicate(e.scope, v, "rel")
		switch {
		case predicate == "":
		case e.has(attrInlist) && known:
			p.addItem(e.lists.of(predicate), e.object)
		case e.has(attrInlist):
			e.incomplete = append(e.incomplete, incomplete{predicate: predicate, list: e.lists.of(predicate)})
		case known:
			p.emit(e.subject, predicate, e.object)
		default:
			e.incomplete = append(e.incomplete, incomplete{predicate: predicate})
		}
	}
	for v, rest := cutValue(e.rev); v != ""; v, rest = cutValue(rest) {
		predicate := p.predicate(e.scope, v, "rev")
		switch {
		case predicate == "":
		case known:
			p.emit(e.object, predicate, e.subject)
		default:
			e.incomplete = append(e.incomplete, incomplete{predicate: predicate, reverse: true})
		}
	}
	if len(e.incomplete) > 0 {
		e.object = p.newBlank()
	}
}

// property makes the triples of @property.
func (p *processor) property(e *element) {
	var value rdf.Term
	for v, rest := cutValue(e.property); v != ""; v, rest = cutValue(rest) {
		predicate := p.predicate(e.scope, v, "property")
		if predicate == "" {
			continue
		}
		if value.Kind == 0 {
			value = p.value(e)
		}
		if e.has(attrInlist) {
			p.addItem(e.lists.of(predicate), value)
		} else {
			p.emit(e.subject, predicate, value)
		}
	}
}

// value returns the current property value (step 11).
func (p *processor) value(e *element) rdf.Term {
	if e.has(attrDatatype) {
		return p.typedValue(e)
	}
	switch {
	case e.has(attrContent):
		return rdf.Text(e.content, e.lang)
	case !p.host.hasHTMLRules():
	case e.has(attrDatetime):
		return timeValue(e.datetime, e.lang)
	case is(e.node, "time"): // as if its text were in @datetime
		return timeValue(p.text(e.node), e.lang)
	}
	if !e.has(attrRel | attrRev) {
		if t := p.target(e); t.Kind != 0 {
			return t
		}
	}
	if e.has(attrTypeof) && !e.has(attrAbout) && e.typed.Kind != 0 {
		return e.typed
	}
	return rdf.Text(p.text(e.node), e.lang)
}

// typedValue is value for an element with @datatype. An empty one, or one that stands for
// nothing, makes a plain literal.
func (p *processor) typedValue(e *element) rdf.Term {
	datatype := trim(e.datatype)
	if datatype != "" {
		if strings.HasPrefix(datatype, "_:") {
			p.report(rulePredicate, "datatype", datatype, "a blank node is no datatype: ignored")
			datatype = ""
		} else {
			datatype = p.expand(e.scope, datatype, "datatype")
		}
	}
	var value string
	switch {
	case datatype == rdf.XMLLiteral:
		return rdf.Literal(p.xmlLiteral(e.node, e.scope), datatype)
	case datatype == rdf.HTML && p.host.hasHTMLRules():
		return rdf.Literal(p.htmlLiteral(e.node), datatype)
	case e.has(attrContent):
		value = e.content
	case e.has(attrDatetime) && p.host.hasHTMLRules():
		value = e.datetime
	default:
		value = p.text(e.node)
	}
	if datatype == "" || datatype == rdf.LangString {
		return rdf.Text(value, e.lang)
	}
	return rdf.Literal(value, datatype)
}

// finish makes the triples of the lists of a subject (step 14).
func (p *processor) finish(subject rdf.Term, ls *lists) {
	for _, l := range ls.all {
		if len(l.items) == 0 {
			p.emit(subject, l.predicate, rdf.IRI(rdf.Nil))
			continue
		}
		node := p.newBlank()
		p.emit(subject, l.predicate, node)
		for i, item := range l.items {
			p.emit(node, rdf.First, item)
			next := rdf.IRI(rdf.Nil)
			if i < len(l.items)-1 {
				next = p.newBlank()
			}
			p.emit(node, rdf.Rest, next)
			node = next
		}
	}
}
