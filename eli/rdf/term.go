package rdf

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/websync-go/websync/internal/syntax"
)

// IRIs of the RDF vocabulary and of XML Schema's datatypes.
const (
	Namespace  = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	Type       = Namespace + "type"
	First      = Namespace + "first"
	Rest       = Namespace + "rest"
	Nil        = Namespace + "nil"
	LangString = Namespace + "langString"
	XMLLiteral = Namespace + "XMLLiteral"
	HTML       = Namespace + "HTML"

	XSD       = "http://www.w3.org/2001/XMLSchema#"
	XSDString = XSD + "string"
)

// A Kind is the kind of a [Term].
type Kind uint8

const (
	KindIRI     Kind = iota + 1 // an absolute IRI
	KindBlank                   // a blank node
	KindLiteral                 // a literal
)

// String returns "IRI", "blank node", "literal", or "no term" for the zero Kind.
func (k Kind) String() string {
	switch k {
	case KindIRI:
		return "IRI"
	case KindBlank:
		return "blank node"
	case KindLiteral:
		return "literal"
	}
	return "no term"
}

// A Term is an IRI, a blank node or a literal (RDF 1.1 Concepts §3). The zero Term is
// none of them. Terms made by the functions of this package are equal if and only if they
// are the same term, but for the case of language tags.
type Term struct {
	Kind  Kind
	Value string // the IRI, the label of the blank node, or the lexical form of the literal

	// Lang is the language tag of a literal; if it is set, the datatype is
	// rdf:langString.
	Lang string

	// Datatype is the IRI of a literal's datatype. Empty means xsd:string, or
	// rdf:langString with a language.
	Datatype string
}

// IRI returns the term for an absolute IRI. It does not check it.
func IRI(iri string) Term { return Term{Kind: KindIRI, Value: iri} }

// Blank returns the blank node with a label, which is written without "_:".
func Blank(label string) Term { return Term{Kind: KindBlank, Value: label} }

// Literal returns a literal with a datatype. An empty datatype means xsd:string.
func Literal(value, datatype string) Term {
	if datatype == XSDString {
		datatype = ""
	}
	return Term{Kind: KindLiteral, Value: value, Datatype: datatype}
}

// Text returns a literal with a language tag. An empty one makes it an xsd:string.
func Text(value, lang string) Term {
	return Term{Kind: KindLiteral, Value: value, Lang: lang}
}

// DatatypeIRI returns the datatype of a literal in full; "" for other terms.
func (t Term) DatatypeIRI() string {
	switch {
	case t.Kind != KindLiteral:
		return ""
	case t.Lang != "":
		return LangString
	case t.Datatype == "":
		return XSDString
	}
	return t.Datatype
}

// String returns the term as N-Triples writes it, also one that no document may have. It
// is "" for the zero Term.
func (t Term) String() string {
	if t.Kind == 0 {
		return ""
	}
	return string(appendTerm(nil, t))
}

// A Triple is one statement (RDF 1.1 Concepts §3.1).
type Triple struct{ Subject, Predicate, Object Term }

// String returns the triple as N-Triples writes it, without a line feed.
func (t Triple) String() string { return Quad{Triple: t}.String() }

// A Quad is a triple with the name of the graph that it is in. The zero Graph is the
// default graph.
type Quad struct {
	Triple
	Graph Term
}

// String returns the quad as N-Quads writes it, without a line feed.
func (q Quad) String() string { return strings.TrimSuffix(string(appendQuad(nil, q)), "\n") }

// Check returns an error that says why N-Quads can't carry the term, or nil.
func (t Term) Check() error {
	if fault := t.fault(); fault != "" {
		return fmt.Errorf("rdf: the %s %.80q is %s", t.Kind, t, fault)
	}
	return nil
}

func (t Term) fault() string {
	switch t.Kind {
	case KindIRI:
		return iriFault(t.Value)
	case KindBlank:
		if !isLabel(t.Value) {
			return "a label that no blank node has"
		}
	case KindLiteral:
		switch {
		case !utf8.ValidString(t.Value):
			return "a literal that is not UTF-8"
		case t.Lang != "" && t.Datatype != "" && t.Datatype != LangString:
			return "a literal with a language and a datatype"
		case t.Lang != "" && !isLangTag(t.Lang):
			return "a literal with a language that is no tag"
		case t.Lang == "" && t.Datatype == LangString:
			return "an rdf:langString without a language"
		case t.Lang == "" && t.Datatype != "":
			return iriFault(t.Datatype)
		}
	default:
		return "none of the three kinds"
	}
	return ""
}

// iriFault checks an IRI as N-Quads does: it is absolute, and has no character that must
// be escaped in one.
func iriFault(s string) string {
	switch {
	case syntax.Scheme(s) == 0:
		return "not an absolute IRI"
	case !utf8.ValidString(s):
		return "not UTF-8"
	}
	for i := range len(s) {
		if notInIRI(s[i]) {
			return "an IRI with a character that no IRI has"
		}
	}
	return ""
}

// EscapeIRI returns an IRI with a percent-encoding for each character that no IRI has.
func EscapeIRI(iri string) string {
	for i := range len(iri) {
		if notInIRI(iri[i]) || iri[i] == 0x7F {
			return syntax.Escape(iri, func(c byte) bool { return !notInIRI(c) && c != 0x7F })
		}
	}
	return iri
}
