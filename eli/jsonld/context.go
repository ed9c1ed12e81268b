package jsonld

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/syntax"
)

// object is a JSON object.
type object = map[string]any

const schema = "http://schema.org/"

// Terms of schema.org that are links, and dates. All others are texts, or have objects as
// their values.
const (
	schemaLinks = `about additionalType citation contentUrl encodesCreativeWork exampleOfWork hasPart isBasedOn isPartOf
		legislationAmends legislationApplies legislationChanges legislationCommences legislationConsolidates
		legislationCorrects legislationCountersignedBy legislationEnsuresImplementationOf legislationLegalForce
		legislationLegalValue legislationRepeals legislationTransposes license mainEntityOfPage sameAs
		translationOfWork url workExample workTranslation image logo`
	schemaDates = `dateCreated dateModified datePublished expires legislationDate legislationDateOfApplicability
		legislationDateVersion temporalCoverageDate`
)

// newSchemaContext returns a context with the vocabulary of schema.org.
func newSchemaContext() object {
	c := object{
		"@vocab": schema, "schema": schema, "type": "@type", "id": "@id",
		"eli": rdf.ELI, "rdf": rdf.Namespace, "xsd": rdf.XSD,
		"rdfs": "http://www.w3.org/2000/01/rdf-schema#", "owl": "http://www.w3.org/2002/07/owl#",
		"dcterms": "http://purl.org/dc/terms/", "dct": "http://purl.org/dc/terms/",
		"skos": "http://www.w3.org/2004/02/skos/core#",
	}
	for name := range strings.FieldsSeq(schemaLinks) {
		c[name] = object{"@id": schema + name, "@type": "@id"}
	}
	for name := range strings.FieldsSeq(schemaDates) {
		c[name] = object{"@id": schema + name, "@type": schema + "Date"}
	}
	return c
}

// newOntologyContext returns a context with the terms of the ELI ontology. Values of its
// tables are often given as texts, which remain so.
func newOntologyContext() object {
	c := object{
		"@vocab": rdf.ELI, "eli": rdf.ELI, "type": "@type", "id": "@id",
		"rdf": rdf.Namespace, "xsd": rdf.XSD, "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
		"dcterms": "http://purl.org/dc/terms/", "dct": "http://purl.org/dc/terms/", "schema": schema,
	}
	for name := range strings.FieldsSeq(rdf.ELIResources) {
		c[name] = object{"@id": rdf.ELI + name, "@type": "@id"}
		c["eli:"+name] = c[name]
	}
	for name := range strings.FieldsSeq(rdf.ELIDates) {
		c[name] = object{"@id": rdf.ELI + name, "@type": rdf.XSD + "date"}
		c["eli:"+name] = c[name]
	}
	return c
}

// The built-in contexts, which are not modified.
var (
	schemaContext   = newSchemaContext()
	ontologyContext = newOntologyContext()
)

// contextKey returns the same string for URLs that stand for the same context: with http
// or https, with or without www, and with a slash or number sign at the end or without.
func contextKey(url string) string {
	key := strings.ToLower(strings.TrimSpace(url))
	if at := syntax.HTTPHost(key); at > 0 {
		key = strings.TrimPrefix(key[at:], "www.")
	}
	return strings.TrimRight(key, "/#")
}

// builtin returns a built-in context, or nil.
func builtin(key string) any {
	switch key {
	case "schema.org", "schema.org/docs/jsonldcontext.json", "schema.org/docs/jsonldcontext.jsonld":
		return schemaContext
	case "data.europa.eu/eli/ontology", "data.europa.eu/eli/ontology/context.jsonld", "data.europa.eu/eli/ontology.jsonld":
		return ontologyContext
	}
	return nil
}

// addContext adds a context of the user.
func (d *extraction) addContext(url string, text []byte) error {
	if err := checkDepth(text); err != nil {
		return fmt.Errorf("jsonld: the context %s: %w", url, err)
	}
	var doc object
	if err := json.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("jsonld: the context %s must be a JSON object: %w", url, err)
	}
	if doc["@context"] == nil {
		return fmt.Errorf("jsonld: the context %s must have @context", url)
	}
	d.contexts[contextKey(url)] = doc["@context"]
	return nil
}

// takeBase sets the base of a node to the @base of its context, and removes that: IRIs
// are resolved after the expansion, because json-gold changes their paths.
func (d *extraction) takeBase(node any) {
	top, _ := node.(object)
	contexts, isArray := top["@context"].([]any)
	if !isArray {
		contexts = []any{top["@context"]}
	}
	for _, context := range contexts {
		local, _ := context.(object)
		base, ok := local["@base"]
		if !ok {
			continue
		}
		switch base := base.(type) {
		case nil:
			d.nodeBase = ""
		case string:
			d.nodeBase = resolve(d.nodeBase, base)
		default:
			continue // which is an error
		}
		delete(local, "@base")
	}
}

// prepare replaces the remote contexts in a node and below it by what they contain. What
// is not known goes.
func (d *extraction) prepare(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			d.prepare(item)
		}
	case object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			value := v[key]
			switch {
			case key == "@context":
				v[key] = d.context(value, nil)
			case (key == "@id" || key == "@type") && value == nil:
				d.add(ruleNull, key, "", "the value must be a string: ignored")
				delete(v, key)
			default:
				d.prepare(value)
			}
		}
	}
}

// context returns a context without references to others. Inside are the URLs of the
// contexts that it is a part of.
func (d *extraction) context(v any, inside []string) any {
	switch v := v.(type) {
	case string:
		if held, ok := d.remote(v, inside); ok {
			return held
		}
		return []any{}
	case []any:
		all := make([]any, 0, len(v))
		for _, item := range v {
			switch item := d.context(item, inside).(type) {
			case []any:
				all = append(all, item...)
			default:
				all = append(all, item)
			}
		}
		return all
	case object:
		return d.localContext(v, inside)
	}
	return v
}

// localContext returns a context that is an object without references to others.
func (d *extraction) localContext(v object, inside []string) object {
	local := make(object, len(v))
	if name, ok := v["@import"].(string); ok {
		if held, ok := d.remote(name, inside); ok {
			imported, _ := held.(object)
			maps.Copy(local, imported)
		}
	}
	for key, value := range v {
		term, isTerm := value.(object)
		switch {
		case key == "@import":
		case key == "@base" && inside == nil:
			if base, ok := value.(string); ok {
				value = resolve(d.nodeBase, base)
			}
			local[key] = value
		case isTerm && term["@context"] != nil:
			scoped := maps.Clone(term)
			scoped["@context"] = d.context(term["@context"], inside)
			local[key] = scoped
		default:
			local[key] = value
		}
	}
	return local
}

// remote returns the context that a URL refers to.
func (d *extraction) remote(url string, inside []string) (any, bool) {
	url = resolve(d.base, strings.TrimSpace(url))
	key := contextKey(url)
	if held := builtin(key); held != nil && d.contexts[key] == nil {
		return held, true
	}
	if held, ok := d.prepared[key]; ok && len(inside) == 0 {
		return held, true
	}
	held, ok := d.contexts[key]
	for _, outer := range inside {
		ok = ok && outer != key
	}
	if !ok {
		d.undefined = true
		d.add(ruleContext, "@context", url, "the context is not built in, and remote contexts are not fetched")
		return nil, false
	}
	held = d.context(held, append(inside, key))
	if len(inside) == 0 {
		d.prepared[key] = held
	}
	return held, true
}
