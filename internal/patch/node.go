package patch

import (
	"github.com/beevik/etree"
)

// A node is what a selector locates.
type node struct {
	parent *etree.Element // the element itself if attr is set, or if there are no tokens
	tokens []etree.Token  // an element, a comment, an instruction, or the pieces of a text
	attr   string         // the full name of an attribute, or of a namespace declaration
	value  string         // that of attr
}

// element returns the element, or document, that n is; nil if n is something else.
func (n *node) element() *etree.Element {
	if len(n.tokens) == 0 {
		return n.parent
	}
	e, _ := n.tokens[0].(*etree.Element)
	return e
}

func (n *node) isDocument() bool { return len(n.tokens) == 0 && n.attr == "" }

func (n *node) isText() bool { return len(n.tokens) > 0 && kindOf(n.tokens[0]) == text }

// first and last return where n is among the children of its parent.
func (n *node) first() int { return n.tokens[0].Index() }
func (n *node) last() int  { return n.tokens[len(n.tokens)-1].Index() }

func (n *node) remove() {
	for _, t := range n.tokens {
		n.parent.RemoveChild(t)
	}
}

// A tokenKind is what a token is.
type tokenKind uint8

const (
	other tokenKind = iota
	elem
	text
	comment
	instruction
)

func kindOf(t etree.Token) tokenKind {
	switch t.(type) {
	case *etree.Element:
		return elem
	case *etree.CharData:
		return text
	case *etree.Comment:
		return comment
	case *etree.ProcInst:
		return instruction
	}
	return other
}

// namespace returns what a prefix stands for at e; "" if it is not declared.
func namespace(e *etree.Element, prefix string) string {
	if prefix == "xml" {
		return "http://www.w3.org/XML/1998/namespace"
	}
	for ; e != nil; e = e.Parent() {
		for _, a := range e.Attr {
			if declared, ok := declares(a); ok && declared == prefix {
				return a.Value
			}
		}
	}
	return ""
}

// declares returns the prefix that an attribute declares; "" for the default namespace.
func declares(a etree.Attr) (prefix string, ok bool) {
	switch {
	case a.Space == "xmlns":
		return a.Key, true
	case a.Space == "" && a.Key == "xmlns":
		return "", true
	}
	return "", false
}

// rename gives an element that was copied from original, in the patch, the prefixes of
// where it is now, and declares those that have none (§4.2.3).
func rename(e, original *etree.Element) {
	e.Space = prefixOf(e, namespace(original, e.Space), e.Space)
	for i := range e.Attr {
		if _, ok := declares(e.Attr[i]); !ok && e.Attr[i].Space != "" {
			prefix := prefixOf(e, namespace(original, e.Attr[i].Space), e.Attr[i].Space)
			e.Attr[i].Space = prefix
		}
	}
	from := original.ChildElements()
	for i, child := range e.ChildElements() {
		rename(child, from[i])
	}
}

// prefixOf returns the prefix that stands for a namespace at e. It is the wanted one if
// that does already, or if none does: then it is declared. It is empty only if the wanted
// one is.
func prefixOf(e *etree.Element, space, wanted string) string {
	if namespace(e, wanted) == space {
		return wanted
	}
	for up := e; up != nil; up = up.Parent() {
		for _, a := range up.Attr {
			prefix, ok := declares(a)
			if ok && a.Value == space && namespace(e, prefix) == space && (prefix != "" || wanted == "") {
				return prefix
			}
		}
	}
	if wanted == "" {
		e.CreateAttr("xmlns", space)
	} else {
		e.CreateAttr("xmlns:"+wanted, space)
	}
	return wanted
}
