package jsonld

import (
	"cmp"
	"errors"
	"fmt"
	"math"
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

// sameDocument is what json-gold makes of a reference that is empty, as distinct from one
// that stands for nothing. It resolves no others against it.
const sameDocument = "\x7f"

// expand adds the triples of the nodes of one script.
func (d *extraction) expand(nodes []any) error {
	bases := make([]string, len(nodes))
	parts := make([]map[string]string, len(nodes))
	d.longest, d.pointers = len(d.base), 0
	for i, node := range nodes {
		d.bases = make(map[string]string)
		bases[i] = d.prepare(node, &scope{base: d.base}).base
		parts[i] = d.bases
	}
	if err := d.check(nodes, d.longest); err != nil {
		return err
	}
	options := ld.NewJsonLdOptions(sameDocument)
	options.DocumentLoader = offline{}
	c := converter{extraction: d, labels: make(map[string]rdf.Term)}
	for i, node := range nodes {
		d.nodeBase, d.bases = bases[i], parts[i]
		if options.ExpandedElementHandler = nil; len(d.bases) > 0 {
			options.ExpandedElementHandler = d.markBase
		}
		expanded, err := expandNode(node, options)
		if err != nil && d.mend(node, ld.NewContext(nil, options)) {
			expanded, err = expandNode(node, options)
		}
		if err != nil {
			expanded = d.expandParts(node, options, err)
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

// markBase notes the base of a part of a node in the part.
func (d *extraction) markBase(pointer string, part any) {
	for ; pointer != ""; pointer = pointer[:strings.LastIndexByte(pointer, '/')] {
		if base, ok := d.bases[pointer]; ok {
			part.(object)["@base"] = base
			return
		}
	}
}

// expandNode expands one node. Relative IRIs remain.
func expandNode(node any, options *ld.JsonLdOptions) (expanded []any, err error) {
	err = survive.Panic("json-gold", func() (err error) {
		expanded, err = ld.NewJsonLdProcessor().Expand(node, options)
		return err
	})
	return expanded, err
}

// reason returns what json-gold says.
func reason(err error) string {
	if fault, ok := errors.AsType[*ld.JsonLdError](err); ok {
		return fmt.Sprintf("%.200s", fault.Error())
	}
	return err.Error()
}

// A converter makes triples of expanded nodes (JSON-LD 1.1 API §7.2, §8).
type converter struct {
	*extraction
	labels map[string]rdf.Term // blank nodes of the script
	err    error               // ends conversion
}

func (c *converter) emit(subject, predicate, object rdf.Term) {
	t := rdf.Triple{Subject: subject, Predicate: predicate, Object: object}
	if subject.Kind == 0 || predicate.Kind == 0 || object.Kind == 0 || c.err != nil || c.known[t] {
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

// iri returns the term for an IRI; the zero Term if it is none.
func (c *converter) iri(element, iri string) rdf.Term {
	clean := rdf.EscapeIRI(iri)
	if path, fragment, _ := strings.Cut(clean, "#"); strings.Contains(fragment, "#") {
		clean = path + "#" + strings.ReplaceAll(fragment, "#", "%23")
	}
	if clean != iri {
		c.add(ruleIRI, element, iri, "a character that no IRI has is percent-encoded")
	}
	if t := rdf.IRI(clean); t.Check() == nil {
		return t
	}
	return rdf.Term{}
}

// node returns the term for an @id; the zero Term if it is no IRI.
func (c *converter) node(id string) rdf.Term {
	switch {
	case id == "":
		c.add(ruleReserved, "@id", "", "a reserved name, or a term without a meaning: ignored")
		return rdf.Term{}
	case id == sameDocument:
		id = ""
	case strings.HasPrefix(id, "_:"):
		t, ok := c.labels[id]
		if !ok {
			t = c.newBlank()
			c.labels[id] = t
		}
		return t
	}
	return c.iri("@id", resolve(c.nodeBase, id))
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
	outer := c.nodeBase
	if base, ok := node["@base"].(string); ok {
		c.nodeBase = base
	}
	var subject rdf.Term
	if id, ok := node["@id"].(string); ok {
		subject = c.node(id)
	} else {
		subject = c.newBlank()
	}
	for _, t := range list(node["@type"]) {
		if name, ok := t.(string); ok {
			c.emit(subject, rdf.IRI(rdf.Type), c.class(name))
		}
	}
	for _, property := range keys(node) {
		c.property(subject, node, property)
	}
	c.nodeBase = outer
	return subject
}

// property adds the triples of one property of a node object.
func (c *converter) property(subject rdf.Term, node object, property string) {
	switch {
	case property == "@reverse":
		reverse, _ := node[property].(object)
		for _, name := range keys(reverse) {
			predicate := c.iri("@reverse", name)
			for _, v := range list(reverse[name]) {
				c.emit(c.resource(v), predicate, subject)
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
		predicate := c.iri("property", property)
		for _, v := range list(node[property]) {
			c.emit(subject, predicate, c.value(v))
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
	terms := []rdf.Term{}
	for _, item := range list(items) {
		terms = append(terms, c.value(item))
	}
	head := rdf.IRI(rdf.Nil)
	for i := len(terms) - 1; i >= 0; i-- {
		cell := c.newBlank()
		c.emit(cell, rdf.IRI(rdf.First), terms[i])
		c.emit(cell, rdf.IRI(rdf.Rest), head)
		head = cell
	}
	return head
}

// literal returns the literal of a value object.
func (c *converter) literal(node object, value any) rdf.Term {
	datatype, _ := node["@type"].(string)
	if types, isArray := node["@type"].([]any); isArray {
		c.add(ruleDatatype, "@type", fmt.Sprint(types...), "a value must have one datatype, and no array of them")
		if len(types) == 1 {
			datatype, _ = types[0].(string)
		}
	}
	if datatype == "@json" {
		return jsonLiteral(value)
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
	if datatype != "" {
		datatype = c.iri("@type", datatype).Value
	}
	return rdf.Literal(text, datatype)
}

// jsonLiteral returns JSON in its canonical form (RFC 8785). Json-gold makes that in
// conversions only, and of objects only.
func jsonLiteral(value any) rdf.Term {
	const name = "urn:x:json"
	literal := object{"@type": "@json", "@value": object{"": value}}
	set := ld.NewRDFDataset()
	set.GraphToRDF("", object{name: object{"@id": name, name: []any{literal}}}, ld.NewIdentifierIssuer(""), false)
	text := set.GetQuads("")[0].Object.GetValue()
	return rdf.Literal(text[len(`{"":`):len(text)-1], rdfJSON)
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
