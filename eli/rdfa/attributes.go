package rdfa

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/syntax"
)

// The attributes of an element, as bits.
const (
	attrAbout = 1 << iota
	attrContent
	attrDatatype
	attrDatetime
	attrHref
	attrInlist
	attrLang
	attrPrefix
	attrProperty
	attrRel
	attrResource
	attrRev
	attrSrc
	attrTypeof
	attrVocab
	attrBase  // xml:base
	attrXMLNS // xmlns:…
)

// attributes are those of an element that have a meaning in RDFa.
type attributes struct {
	set uint32

	about, base, content, datatype, datetime, href, lang, prefix, property, rel, resource, rev, src, typeof, vocab string
}

// has reports whether the element has one of the attributes.
func (a *attributes) has(bits uint32) bool { return a.set&bits != 0 }

// read reads the attributes of n.
func (a *attributes) read(n *html.Node, h host) {
	for i := range n.Attr {
		attr := &n.Attr[i]
		key := attr.Key
		if attr.Namespace != "" {
			key = attr.Namespace + ":" + key // in SVG and MathML inside of HTML: xml:lang
		}
		bit, value := a.field(key)
		switch {
		case value != nil:
		case key == "inlist":
			bit = attrInlist
		case key == "lang" && h.isHTML() && !a.has(attrLang), key == "xml:lang":
			bit, value = attrLang, &a.lang
		case key == "xml:base" && (h == xml || h == xhtml5):
			bit, value = attrBase, &a.base
		case strings.HasPrefix(key, "xmlns:"):
			bit = attrXMLNS
		}
		a.set |= bit
		if value != nil {
			*value = attr.Val
		}
	}
}

// field returns the field of an attribute that all host languages have.
func (a *attributes) field(name string) (bit uint32, value *string) {
	switch name {
	case "about":
		return attrAbout, &a.about
	case "content":
		return attrContent, &a.content
	case "datatype":
		return attrDatatype, &a.datatype
	case "datetime":
		return attrDatetime, &a.datetime
	case "href":
		return attrHref, &a.href
	case "prefix":
		return attrPrefix, &a.prefix
	case "property":
		return attrProperty, &a.property
	case "rel":
		return attrRel, &a.rel
	case "resource":
		return attrResource, &a.resource
	case "rev":
		return attrRev, &a.rev
	case "src":
		return attrSrc, &a.src
	case "typeof":
		return attrTypeof, &a.typeof
	case "vocab":
		return attrVocab, &a.vocab
	}
	return 0, nil
}

// matters reports whether an element changes anything: its own triples, or those of what
// it contains.
func (a *attributes) matters(n *html.Node, c *context) bool {
	const alone = attrContent | attrDatatype | attrDatetime | attrInlist
	switch set := a.set &^ alone; {
	case set == 0:
		return false
	case set&^(attrHref|attrSrc) == 0: // a plain link is the subject of what it contains
		return len(c.incomplete) > 0 || hasElement(n)
	}
	return true
}

func hasElement(n *html.Node) bool {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.Type == html.ElementNode {
			return true
		}
	}
	return false
}

// muteTerms removes the terms from @rel and @rev of an element with @property, where
// they are only link relations of HTML (HTML+RDFa §3.1).
func (a *attributes) muteTerms() {
	for _, attr := range [...]struct {
		bit   uint32
		value *string
	}{{attrRel, &a.rel}, {attrRev, &a.rev}} {
		if !a.has(attr.bit) {
			continue
		}
		var kept []string
		for _, v := range strings.Fields(*attr.value) {
			if strings.Contains(v, ":") {
				kept = append(kept, v)
			}
		}
		if *attr.value = strings.Join(kept, " "); len(kept) == 0 {
			a.set &^= attr.bit
		}
	}
}

// scope returns the scope of an element (steps 2 and 3, and xml:base).
func (p *processor) scope(n *html.Node, a *attributes, outer *scope) *scope {
	if !a.has(attrVocab | attrPrefix | attrXMLNS | attrBase) {
		return outer
	}
	s := &scope{outer: outer, base: outer.base, vocab: outer.vocab}
	if a.has(attrBase) {
		if base := trim(a.base); base != "" {
			s.base = p.clean(p.baseOf(outer.base, base), "base")
		}
	}
	if a.has(attrVocab) {
		if s.vocab = trim(a.vocab); s.vocab != "" {
			s.vocab = p.clean(p.resolve(s.base, s.vocab), "vocab")
			p.emit(rdf.IRI(s.base), rdfaUsesVocabulary, rdf.IRI(s.vocab))
		}
	}
	if a.has(attrXMLNS) {
		for i := range n.Attr {
			if name, ok := strings.CutPrefix(n.Attr[i].Key, "xmlns:"); ok && name != "" {
				p.declare(s, name, n.Attr[i].Val, "xmlns:"+name)
			}
		}
	}
	if a.has(attrPrefix) {
		p.prefixes(s, a.prefix)
	}
	return s
}

// baseOf returns a new base, without a fragment.
func (p *processor) baseOf(base, ref string) string {
	ref, _, _ = strings.Cut(ref, "#")
	return p.resolve(base, ref)
}

// prefixes reads the value of @prefix: prefixes with a colon, each followed by white
// space and an IRI.
func (p *processor) prefixes(s *scope, list string) {
	for v, rest := cutValue(list); v != ""; v, rest = cutValue(rest) {
		name, ok := strings.CutSuffix(v, ":")
		if !ok {
			p.report(rulePrefix, "prefix", v, "not a prefix that ends with a colon: ignored")
			continue
		}
		iri, after := cutValue(rest)
		if iri == "" {
			p.report(rulePrefix, "prefix", v, "a prefix without an IRI: ignored")
			return
		}
		rest = after
		p.declare(s, name, iri, "prefix")
	}
}

// declare maps a prefix to an IRI, which is not processed in any way.
func (p *processor) declare(s *scope, name, iri, attribute string) {
	if name == "_" || name == "" || strings.Contains(name, ":") {
		p.report(rulePrefix, attribute, name, "a prefix that can't be declared: ignored")
		return
	}
	name = strings.ToLower(name)
	if known, ok := initialPrefixes[name]; ok && known != iri {
		p.report(ruleRedefined, attribute, name, "the prefix stands for "+known+" in the initial context")
	}
	if s.prefixes == nil {
		s.prefixes = make(map[string]string)
	}
	s.prefixes[name] = iri
}

// lang returns a language tag, or "" if v is none.
func (p *processor) lang(v string) string {
	if v = trim(v); v == "" {
		return ""
	}
	tag, known := p.langs[v]
	if !known {
		if rdf.Text("", v).Check() == nil {
			tag = v
		}
		if fault := syntax.LanguageFault(v); fault != "" {
			if tag == "" {
				fault += ": literals get none"
			}
			p.report(ruleLang, "lang", v, fault)
		}
		if p.langs == nil {
			p.langs = make(map[string]string)
		}
		p.langs[v] = tag
	}
	return tag
}
