package patch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/beevik/etree"
)

// locate returns the one node of the document that a selector of an operation locates
// (§4.1, §4.2).
func locate(doc *etree.Document, op *etree.Element, selector string) (node, error) {
	s := &scanner{rest: strings.TrimSpace(selector), op: op}
	nodes, err := s.path(doc)
	switch {
	case err != nil:
		return node{}, err
	case len(nodes) != 1:
		return node{}, fmt.Errorf("it locates %d nodes; it must locate one", len(nodes))
	}
	return nodes[0], nil
}

// A scanner reads a selector: the part of XPath 1.0 that §4.1 and §8 allow.
type scanner struct {
	rest string
	op   *etree.Element // whose prefixes the selector uses
}

func (s *scanner) skip(prefix string) bool {
	rest, ok := strings.CutPrefix(s.rest, prefix)
	s.rest = rest
	return ok
}

func (s *scanner) path(doc *etree.Document) ([]node, error) {
	nodes := []node{{parent: &doc.Element}}
	if s.skip("id(") {
		id, err := s.literal()
		if err != nil || !s.skip(")") {
			return nil, errors.New("id() must have one literal")
		}
		if nodes = byID(&doc.Element, id, nil); s.rest == "" {
			return nodes, nil
		}
		if !s.skip("/") {
			return nil, s.unexpected()
		}
	} else if s.skip("/"); s.rest == "" {
		return nodes, nil
	}
	for {
		step, last, err := s.step()
		if err != nil {
			return nil, err
		}
		tests, err := s.predicates()
		if err != nil {
			return nil, err
		}
		var found []node
		for _, n := range nodes {
			of := step(n.element())
			for _, test := range tests {
				of = test(of)
			}
			found = append(found, of...)
		}
		switch nodes = found; {
		case s.rest == "":
			return nodes, nil
		case last || !s.skip("/"):
			return nil, s.unexpected()
		}
	}
}

func (s *scanner) unexpected() error {
	return fmt.Errorf("the selector can't be read from %.100q", s.rest)
}

// A step returns the nodes that one step of a selector leads to from an element.
type step func(e *etree.Element) []node

// step reads one step. It is the last if it leads to what has no children.
func (s *scanner) step() (_ step, last bool, err error) {
	switch {
	case s.skip("*"):
		return func(e *etree.Element) []node { return elements(e, func(*etree.Element) bool { return true }) }, false, nil
	case s.skip("text()"):
		return texts, true, nil
	case s.skip("comment()"):
		return func(e *etree.Element) []node {
			return tokens(e, func(t etree.Token) bool { return kindOf(t) == comment })
		}, true, nil
	case s.skip("processing-instruction("):
		var target string
		if s.rest != "" && s.rest[0] != ')' {
			if target, err = s.literal(); err != nil {
				return nil, true, err
			}
		}
		if !s.skip(")") {
			return nil, true, s.unexpected()
		}
		return func(e *etree.Element) []node {
			return tokens(e, func(t etree.Token) bool {
				pi, ok := t.(*etree.ProcInst)
				return ok && (target == "" || pi.Target == target)
			})
		}, true, nil
	case s.skip("namespace::"):
		prefix, err := s.name()
		return func(e *etree.Element) []node {
			return attributes(e, func(a etree.Attr) bool { return a.Space == "xmlns" && a.Key == prefix })
		}, true, err
	case s.skip("@"):
		of, err := s.attribute()
		return of, true, err
	}
	is, err := s.element()
	return func(e *etree.Element) []node { return elements(e, is) }, false, err
}

// element reads the name of elements.
func (s *scanner) element() (is func(*etree.Element) bool, err error) {
	name, err := s.name()
	if err != nil {
		return nil, err
	}
	prefix, local, ok := strings.Cut(name, ":")
	if !ok {
		prefix, local = "", name
	}
	space := namespace(s.op, prefix) // without a prefix, the default namespace of the patch (§4.2.2)
	if space == "" && prefix != "" {
		return nil, fmt.Errorf("the prefix %.100q is not declared", prefix)
	}
	return func(e *etree.Element) bool { return e.Tag == local && namespace(e, e.Space) == space }, nil
}

// name reads a name with or without a prefix.
func (s *scanner) name() (string, error) {
	end := strings.IndexAny(s.rest, "/[]()@='\" \t\r\n*")
	if end < 0 {
		end = len(s.rest)
	}
	name := s.rest[:end]
	if name == "" || strings.Contains(name, "::") {
		return "", s.unexpected()
	}
	s.rest = s.rest[end:]
	return name, nil
}

func (s *scanner) literal() (string, error) {
	if s.rest != "" && (s.rest[0] == '\'' || s.rest[0] == '"') {
		if value, rest, ok := strings.Cut(s.rest[1:], s.rest[:1]); ok {
			s.rest = rest
			return value, nil
		}
	}
	return "", s.unexpected()
}

// A test returns those of some nodes that a predicate is true of.
type test func([]node) []node

func (s *scanner) predicates() (tests []test, err error) {
	for s.skip("[") {
		t, err := s.predicate()
		if err != nil {
			return nil, err
		}
		if !s.skip("]") {
			return nil, s.unexpected()
		}
		tests = append(tests, t)
	}
	return tests, nil
}

// predicate reads a position, or a comparison of a text with a literal.
func (s *scanner) predicate() (test, error) {
	if end := strings.IndexByte(s.rest, ']'); end > 0 {
		if position, err := strconv.Atoi(s.rest[:end]); err == nil {
			s.rest = s.rest[end:]
			return func(nodes []node) []node {
				if position < 1 || position > len(nodes) {
					return nil
				}
				return nodes[position-1 : position]
			}, nil
		}
	}
	values, err := s.values()
	if err != nil {
		return nil, err
	}
	if !s.skip("=") {
		return nil, s.unexpected()
	}
	want, err := s.literal()
	if err != nil {
		return nil, err
	}
	return func(nodes []node) (found []node) {
		for _, n := range nodes {
			for _, value := range values(n) {
				if value == want {
					found = append(found, n)
					break
				}
			}
		}
		return found
	}, nil
}

// values reads what a predicate compares: an attribute, the node itself, child elements.
func (s *scanner) values() (func(node) []string, error) {
	switch {
	case s.skip("@"):
		of, err := s.attribute()
		return func(n node) []string { return valuesOf(of(n.element())) }, err
	case s.skip("."):
		return func(n node) []string { return []string{n.text()} }, nil
	}
	is, err := s.element()
	return func(n node) []string { return valuesOf(elements(n.element(), is)) }, err
}

func valuesOf(nodes []node) (values []string) {
	for _, n := range nodes {
		values = append(values, n.text())
	}
	return values
}

// text returns the value of an attribute, or the text of another node, with that of all
// elements in it.
func (n *node) text() string {
	if n.attr != "" {
		return n.value
	}
	var b strings.Builder
	for _, t := range n.tokens {
		appendText(&b, t)
	}
	return b.String()
}

func appendText(b *strings.Builder, t etree.Token) {
	switch t := t.(type) {
	case *etree.CharData:
		b.WriteString(t.Data)
	case *etree.Element:
		for _, child := range t.Child {
			if k := kindOf(child); k == elem || k == text {
				appendText(b, child)
			}
		}
	}
}

// tokens returns the children of e, each a node, of which is is true.
func tokens(e *etree.Element, is func(etree.Token) bool) (nodes []node) {
	if e == nil {
		return nil
	}
	for _, t := range e.Child {
		if is(t) {
			nodes = append(nodes, node{parent: e, tokens: []etree.Token{t}})
		}
	}
	return nodes
}

func elements(e *etree.Element, is func(*etree.Element) bool) []node {
	return tokens(e, func(t etree.Token) bool {
		child, ok := t.(*etree.Element)
		return ok && is(child)
	})
}

// texts returns the texts in e. Sections and texts beside each other are one.
func texts(e *etree.Element) (nodes []node) {
	if e == nil {
		return nil
	}
	before := false
	for _, t := range e.Child {
		is := kindOf(t) == text
		switch {
		case is && before:
			n := &nodes[len(nodes)-1]
			n.tokens = append(n.tokens, t)
		case is:
			nodes = append(nodes, node{parent: e, tokens: []etree.Token{t}})
		}
		before = is
	}
	return nodes
}

// attribute reads the name of an attribute. One without a prefix has no namespace.
func (s *scanner) attribute() (of step, err error) {
	name, err := s.name()
	prefix, local, ok := strings.Cut(name, ":")
	if !ok {
		return func(e *etree.Element) []node {
			return attributes(e, func(a etree.Attr) bool { return a.Space == "" && a.Key == name })
		}, err
	}
	space := namespace(s.op, prefix)
	return func(e *etree.Element) []node {
		return attributes(e, func(a etree.Attr) bool {
			return a.Key == local && a.Space != "" && namespace(e, a.Space) == space
		})
	}, err
}

// attributes returns the attributes of e of which is is true.
func attributes(e *etree.Element, is func(etree.Attr) bool) (nodes []node) {
	if e == nil {
		return nil
	}
	for _, a := range e.Attr {
		if is(a) {
			nodes = append(nodes, node{parent: e, attr: a.FullKey(), value: a.Value})
		}
	}
	return nodes
}

// byID appends the elements with an xml:id. Attributes that a DTD declares as ids are not
// known.
func byID(e *etree.Element, id string, nodes []node) []node {
	for child := range e.ChildElementsSeq() {
		if child.SelectAttrValue("xml:id", "") == id {
			nodes = append(nodes, node{parent: e, tokens: []etree.Token{child}})
		}
		nodes = byID(child, id, nodes)
	}
	return nodes
}
