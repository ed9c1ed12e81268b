package jsonld

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/piprate/json-gold/ld"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/survive"
	"github.com/websync-go/websync/internal/syntax"
)

const rdfJSON = rdf.Namespace + "JSON"

// offline refuses to load documents.
type offline struct{}

func (offline) LoadDocument(url string) (*ld.RemoteDocument, error) {
	return nil, fmt.Errorf("%s is not fetched", url)
}

// expand adds the triples of the nodes of one script.
func (d *extraction) expand(nodes []any) error {
	bases := make([]string, len(nodes))
	longest := 0
	for i, node := range nodes {
		d.nodeBase = d.base
		d.takeBase(node)
		bases[i] = d.nodeBase
		longest = max(longest, len(d.nodeBase))
		d.prepare(node)
	}
	if err := d.check(nodes, longest); err != nil {
		return err
	}
	c := converter{extraction: d, labels: make(map[string]rdf.Term)}
	for i, node := range nodes {
		d.nodeBase = bases[i]
		expanded, err := expandNode(node)
		if err != nil {
			text := err.Error()
			if fault, ok := errors.AsType[*ld.JsonLdError](err); ok {
				text = fmt.Sprintf("%.200s", fault.Error())
			}
			d.add(ruleInvalid, "", "", "a node is ignored: "+text)
			continue
		}
		for _, v := range expanded {
			c.resource(v)
		}
		if c.err != nil {
			return c.err
		}
	}
	return nil
}

// expandNode expands one node without a base: relative IRIs remain.
func expandNode(node any) (expanded []any, err error) {
	options := ld.NewJsonLdOptions("")
	options.DocumentLoader = offline{}
	err = survive.Panic("json-gold", func() (err error) {
		expanded, err = ld.NewJsonLdProcessor().Expand(node, options)
		return err
	})
	return expanded, err
}

// A converter makes triples of expanded nodes (JSON-LD 1.1 API §7.2, §8).
type converter struct {
	*extraction
	labels map[string]rdf.Term // blank nodes of the script
	err    error               // ends conversion
}

func (c *converter) emit(subject rdf.Term, predicate string, object rdf.Term) {
	if subject.Kind == 0 || object.Kind == 0 || c.err != nil {
		return
	}
	t := rdf.Triple{Subject: subject, Predicate: rdf.IRI(rdf.EscapeIRI(predicate)), Object: object}
	if t.Predicate.Check() != nil || c.known[t] {
		return
	}
	if len(c.triples) >= c.maxTriples {
		c.err = fmt.Errorf("more than %d triples: %w", c.maxTriples, websync.ErrLimit)
		return
	}
	if c.known == nil {
		c.known = make(map[rdf.Triple]bool)
	}
	c.known[t] = true
	c.triples = append(c.triples, t)
}

func (c *converter) newBlank() rdf.Term {
	c.blanks++
	return rdf.Blank("b" + strconv.Itoa(c.blanks))
}

// node returns the term for an @id; the zero Term if it is no IRI.
func (c *converter) node(id string) rdf.Term {
	if strings.HasPrefix(id, "_:") {
		t, ok := c.labels[id]
		if !ok {
			t = c.newBlank()
			c.labels[id] = t
		}
		return t
	}
	iri := resolve(c.nodeBase, id)
	clean := rdf.EscapeIRI(iri)
	if clean != iri {
		c.add(ruleIRI, "@id", iri, "a character that no IRI has is percent-encoded")
	}
	if t := rdf.IRI(clean); t.Check() == nil {
		return t
	}
	return rdf.Term{}
}

// resource adds the triples of a node object, and returns its term.
func (c *converter) resource(v any) rdf.Term {
	node, ok := v.(object)
	if !ok || c.err != nil {
		return rdf.Term{}
	}
	if _, isValue := node["@value"]; isValue {
		return rdf.Term{}
	}
	var subject rdf.Term
	if id, ok := node["@id"].(string); ok {
		subject = c.node(id)
	} else {
		subject = c.newBlank()
	}
	for _, t := range list(node["@type"]) {
		if name, ok := t.(string); ok {
			c.emit(subject, rdf.Type, c.class(name))
		}
	}
	for _, property := range slices.Sorted(maps.Keys(node)) {
		c.property(subject, node, property)
	}
	return subject
}

// property adds the triples of one property of a node object.
func (c *converter) property(subject rdf.Term, node object, property string) {
	switch {
	case property == "@reverse":
		reverse, _ := node[property].(object)
		for _, name := range slices.Sorted(maps.Keys(reverse)) {
			for _, v := range list(reverse[name]) {
				c.emit(c.resource(v), name, subject)
			}
		}
	case property == "@graph", property == "@included":
		if property == "@graph" && len(node) > 1 {
			c.add(ruleGraph, "@graph", subject.Value, "the statements of the named graph count as those of the page")
		}
		for _, v := range list(node[property]) {
			c.resource(v)
		}
	case strings.HasPrefix(property, "@"), syntax.Scheme(property) == 0:
	default:
		for _, v := range list(node[property]) {
			c.emit(subject, property, c.value(v))
		}
	}
}

// list returns a value that may be an array as one.
func list(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// class returns the term for a type. If a context is not known, a type that is relative
// is one of its terms, not a URL.
func (c *converter) class(name string) rdf.Term {
	if strings.HasPrefix(name, "@") {
		return rdf.Term{} // a keyword
	}
	if c.undefined && syntax.Scheme(name) == 0 {
		c.add(ruleType, "@type", name, "the type is not defined: ignored")
		return rdf.Term{}
	}
	return c.node(name)
}

// value returns the term for a value of a property.
func (c *converter) value(v any) rdf.Term {
	node, ok := v.(object)
	if !ok {
		return rdf.Term{}
	}
	if value, ok := node["@value"]; ok {
		return c.literal(node, value)
	}
	items, ok := node["@list"]
	if !ok {
		return c.resource(v)
	}
	head := rdf.IRI(rdf.Nil)
	terms := []rdf.Term{}
	for _, item := range list(items) {
		if t := c.value(item); t.Kind != 0 {
			terms = append(terms, t)
		}
	}
	for i := len(terms) - 1; i >= 0; i-- {
		cell := c.newBlank()
		c.emit(cell, rdf.First, terms[i])
		c.emit(cell, rdf.Rest, head)
		head = cell
	}
	return head
}

// literal returns the literal of a value object.
func (c *converter) literal(node object, value any) rdf.Term {
	datatype, _ := node["@type"].(string)
	if datatype == "@json" {
		text, err := json.Marshal(value)
		if err != nil {
			return rdf.Term{}
		}
		return rdf.Literal(string(text), rdfJSON)
	}
	var text string
	switch v := value.(type) {
	case string:
		text = v
	case bool:
		text = strconv.FormatBool(v)
		datatype = cmp.Or(datatype, rdf.XSD+"boolean")
	case float64:
		v += 0 // not -0
		if v == math.Trunc(v) && math.Abs(v) < 1e21 && datatype != rdf.XSD+"double" {
			text = strconv.FormatFloat(v, 'f', 0, 64)
			datatype = cmp.Or(datatype, rdf.XSD+"integer")
		} else {
			text = canonicalDouble(v)
			datatype = cmp.Or(datatype, rdf.XSD+"double")
		}
	default:
		return rdf.Term{}
	}
	if lang, ok := node["@language"].(string); ok && datatype == "" {
		if t := rdf.Text(text, lang); t.Check() == nil {
			return t
		}
		c.add(ruleLang, "@language", lang, "not a language tag: ignored")
	}
	if datatype = rdf.EscapeIRI(datatype); datatype != "" && rdf.IRI(datatype).Check() != nil {
		datatype = ""
	}
	return rdf.Literal(text, datatype)
}

// canonicalDouble returns the canonical form of an xsd:double (JSON-LD 1.1 API §8.6).
func canonicalDouble(v float64) string {
	text := strconv.FormatFloat(v, 'E', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "E")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, err := strconv.Atoi(exponent)
	if err != nil {
		return text
	}
	return mantissa + "E" + strconv.Itoa(n)
}
