package jsonld

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/piprate/json-gold/ld"

	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/eliterms"
	"github.com/websync-go/websync/internal/syntax"
)

// object is a JSON object.
type object = map[string]any

// keys returns the keys of an object in order.
func keys(o object) []string {
	names := slices.AppendSeq(make([]string, 0, len(o)), maps.Keys(o))
	slices.Sort(names)
	return names
}

const schema = "http://schema.org/"

// Terms of schema.org that are links, because URL is in their range, and dates. All
// others are texts, or have objects as their values.
const (
	schemaLinks = `acquireLicensePage additionalType archivedAt contentUrl discussionUrl downloadUrl embedUrl image isBasedOn
		isPartOf license logo mainEntityOfPage publishingPrinciples sameAs sdLicense thumbnailUrl url usageInfo`
	schemaDates = `dateCreated dateModified datePublished expires legislationDate legislationDateOfApplicability
		legislationDateVersion temporalCoverageDate`
)

// newSchemaContext returns a context with the vocabulary of schema.org.
func newSchemaContext() object {
	c := object{
		"@vocab": schema, "schema": schema, "type": "@type", "id": "@id",
		"eli": eliterms.Namespace, "rdf": rdf.Namespace, "xsd": rdf.XSD,
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
		"@vocab": eliterms.Namespace, "eli": eliterms.Namespace, "type": "@type", "id": "@id",
		"rdf": rdf.Namespace, "xsd": rdf.XSD, "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
		"dcterms": "http://purl.org/dc/terms/", "dct": "http://purl.org/dc/terms/", "schema": schema,
	}
	for name := range strings.FieldsSeq(eliterms.Resources) {
		c[name] = object{"@id": eliterms.Namespace + name, "@type": "@id"}
		c["eli:"+name] = c[name]
	}
	for name := range strings.FieldsSeq(eliterms.Dates) {
		c[name] = object{"@id": eliterms.Namespace + name, "@type": rdf.XSD + "date"}
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

// context returns a context without references to others. URL is that of the document
// that it is in. Inside are the keys of the contexts that it is a part of, with "" where
// one of them begins in the definition of a term.
func (d *extraction) context(v any, url string, inside []string) any {
	switch v := v.(type) {
	case string:
		if held, ok := d.remote(v, url, inside); ok {
			return held
		}
		return []any{}
	case []any:
		all := make([]any, 0, len(v))
		for _, item := range v {
			switch item := d.context(item, url, inside).(type) {
			case []any:
				all = append(all, item...)
			default:
				all = append(all, item)
			}
		}
		return all
	case object:
		nested := v["@context"]
		if nested == nil {
			return d.localContext(v, url, inside)
		}
		d.add(ruleTerm, "@context", "@context", "a context inside of a context: it counts instead of what is beside it")
		return d.context(nested, url, inside)
	}
	return v
}

// localContext returns a context that is an object without references to others.
func (d *extraction) localContext(v object, url string, inside []string) object {
	local := make(object, len(v))
	if name, ok := v["@import"]; ok {
		d.importContext(local, name, url, inside)
	}
	for _, key := range keys(v) {
		value := v[key]
		term, isTerm := value.(object)
		switch {
		case key == "@import", key == "@base" && len(inside) > 0: // a remote context has no say in the base
		case key == "", key == "@type" && isTerm && len(term) == 0:
			d.add(ruleTerm, "@context", key, "no context may define it like this: ignored")
		case isReserved(key), !ld.IsKeyword(key) && reserves(value):
			d.add(ruleReserved, "@context", key, "a name of letters after an @ is reserved: the definition is ignored")
			local[key] = "@reserved" // which json-gold ignores
		default:
			if isNull(value) && key[0] != '@' && (v["@protected"] == true || term["@protected"] == true) {
				d.sealed[key] = true
			}
			local[key] = value
			if scoped, ok := term["@context"]; ok {
				local[key] = d.scopedTerm(key, term, scoped, url, inside)
			}
		}
	}
	return local
}

// importContext adds the definitions of another context (JSON-LD 1.1 §4.1.10).
func (d *extraction) importContext(local object, name any, url string, inside []string) {
	text, ok := name.(string)
	if !ok {
		d.add(ruleTerm, "@import", "", "the value must be a string: ignored")
		return
	}
	held, ok := d.remote(text, url, inside)
	if !ok {
		return
	}
	imported, isObject := held.(object)
	if !isObject {
		d.add(ruleTerm, "@import", text, "it must refer to one context: ignored")
	}
	maps.Copy(local, imported)
}

// scopedTerm returns the definition of a term with a context of its own.
func (d *extraction) scopedTerm(name string, term object, scoped any, url string, inside []string) object {
	if len(inside) > 0 {
		inside = append(slices.Clip(inside), "")
	}
	scoped = d.context(scoped, url, inside)
	contexts, isArray := scoped.([]any)
	if !isArray {
		contexts = []any{scoped}
	}
	if slices.Contains(contexts, nil) && term["@container"] != nil {
		// Json-gold looks up the container in the term's own context.
		scoped = append(slices.Clip(contexts), object{name: object{"@id": "_:" + name, "@container": term["@container"]}})
	}
	local, _ := scoped.(object)
	d.scoped = d.scoped || local["@base"] != nil || local["@vocab"] != nil
	term = maps.Clone(term)
	term["@context"] = scoped
	return term
}

// reserves reports whether a definition maps a term to a reserved name.
func reserves(definition any) bool {
	term, _ := definition.(object)
	return isReserved(definition) || isReserved(term["@id"]) || isReserved(term["@reverse"])
}

// isReserved reports whether v is a name that looks like a keyword, and is none.
func isReserved(v any) bool {
	name, _ := v.(string)
	if len(name) < 2 || name[0] != '@' || ld.IsKeyword(name) {
		return false
	}
	for i := range len(name) - 1 {
		if !syntax.IsAlpha(name[i+1]) {
			return false
		}
	}
	return true
}

// isNull reports whether a definition leaves a term without a meaning.
func isNull(definition any) bool {
	term, isTerm := definition.(object)
	id, ok := term["@id"]
	return !isTerm && definition == nil || ok && id == nil
}

// remote returns the context that a URL refers to.
func (d *extraction) remote(url, base string, inside []string) (any, bool) {
	url = resolve(base, strings.TrimSpace(url))
	key := contextKey(url)
	if held := builtin(key); held != nil && d.contexts[key] == nil {
		return held, true
	}
	if held, ok := d.prepared[key]; ok && len(inside) == 0 {
		return held, true
	}
	held, ok := d.contexts[key]
	if at := slices.Index(inside, key); at >= 0 {
		if slices.Contains(inside[at:], "") {
			return []any{}, true // it applies there already
		}
		ok = false
	}
	if !ok {
		d.undefined = true
		d.add(ruleContext, "@context", url, "the context is not built in, and remote contexts are not fetched")
		return nil, false
	}
	held = d.context(held, url, append(slices.Clip(inside), key))
	if len(inside) == 0 {
		d.prepared[key] = held
	}
	return held, true
}
