package eli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/eliterms"
	"github.com/websync-go/websync/internal/syntax"
)

// The properties of schema.org that stand for those of the ontology, each followed by the
// latter.
const schemaProperties = `name title  headline title  alternateName title_alternative  legislationIdentifier id_local
	legislationType type_document  legislationDate date_document  datePublished date_publication
	legislationDateOfApplicability date_applicability  legislationDateVersion version_date
	legislationLegalForce in_force  legislationLegalValue legal_value  legislationJurisdiction jurisdiction
	jurisdiction jurisdiction  legislationPassedBy passed_by  legislationResponsible responsibility_of_agent
	legislationCountersignedBy countersigned_by  legislationChanges changes  legislationAmends amends
	legislationRepeals repeals  legislationCommences commences  legislationCorrects corrects
	legislationConsolidates consolidates  legislationApplies applies  legislationTransposes transposes
	legislationEnsuresImplementationOf ensures_implementation_of  description description  abstract description
	about is_about  citation cites  isBasedOn based_on  isPartOf is_part_of  hasPart has_part  license licence
	publisher publisher_agent  workExample is_realized_by  exampleOfWork realizes  encoding is_embodied_by
	associatedMedia is_embodied_by  encodesCreativeWork embodies  inLanguage language  encodingFormat media_type
	fileFormat media_type  contentUrl is_exemplified_by  translationOfWork is_translation_of
	workTranslation has_translation`

// The individuals of schema.org, each followed by that of the ontology.
const schemaIndividuals = `InForce InForce-inForce  NotInForce InForce-notInForce
	PartiallyInForce InForce-partiallyInForce  AuthoritativeLegalValue LegalValue-authoritative
	DefinitiveLegalValue LegalValue-definitive  OfficialLegalValue LegalValue-official
	UnofficialLegalValue LegalValue-unofficial`

var (
	schemaNames  = pairsOf(schemaProperties)
	schemaValues = pairsOf(schemaIndividuals)
)

// pairsOf returns a map from each first name to the second.
func pairsOf(text string) map[string]string {
	m := make(map[string]string)
	for some := range slices.Chunk(strings.Fields(text), 2) {
		m[some[0]] = some[1]
	}
	return m
}

// schemaName returns the name of a term of schema.org, or "".
func schemaName(iri string) string {
	host, end := syntax.SplitHTTP(iri)
	if end == 0 || strings.TrimPrefix(strings.ToLower(iri[host:end]), "www.") != "schema.org" {
		return ""
	}
	return strings.Trim(iri[end:], "/")
}

// isSchema reports whether a triple gives a class of schema.org that stands for one of
// the ontology.
func isSchema(t rdf.Triple) bool {
	name := schemaName(t.Object.Value)
	return t.Predicate.Value == rdf.Type && t.Object.Kind == rdf.KindIRI && (name == "Legislation" || name == "LegislationObject")
}

// ofSchema reports whether an entity is one of schema.org that stands for a legal
// resource, an expression or a format.
func (e *Entity) ofSchema() bool {
	return slices.ContainsFunc(e.Types, func(t string) bool {
		name := schemaName(t)
		return name == "Legislation" || name == "LegislationObject" || name == "MediaObject"
	})
}

// schemaOf returns the values of the properties of schema.org that stand for a property
// of the ontology, or for its inverse.
func (e *Entity) schemaOf(property, inverse string) (values []rdf.Term) {
	for _, i := range e.graph.bySubject[e.node] {
		t := e.graph.triples[i]
		if schemaNames[schemaName(t.Predicate.Value)] == property {
			values = append(values, e.graph.schemaValue(property, t.Object))
		}
	}
	known := make(map[rdf.Term]bool)
	for _, v := range values {
		known[v] = true
	}
	for _, i := range e.graph.byObject[e.node] {
		t := e.graph.triples[i]
		if inverse != "" && schemaNames[schemaName(t.Predicate.Value)] == inverse && !known[t.Subject] {
			known[t.Subject] = true
			values = append(values, t.Subject)
		}
	}
	return values
}

// schemaValue returns a value of schema.org as the ontology would have it: texts and
// objects with a name become URIs where the ontology has a table.
func (g *Graph) schemaValue(property string, v rdf.Term) rdf.Term {
	if v.Kind == rdf.KindBlank && slices.Contains(tables, property) {
		for _, name := range [...]string{"alternateName", "name"} {
			for _, i := range g.bySubject[v] {
				if t := g.triples[i]; schemaName(t.Predicate.Value) == name && t.Object.Kind == rdf.KindLiteral {
					return g.schemaValue(property, t.Object)
				}
			}
		}
	}
	name := schemaName(v.Value)
	switch {
	case v.Kind == rdf.KindLiteral:
		return ofText(property, name, v)
	case schemaValues[name] != "":
		return rdf.IRI(Ontology + schemaValues[name])
	}
	return v
}

// ofText is schemaValue for a literal. Name is that of the term of schema.org that it is
// the URI of, or "".
func ofText(property, name string, v rdf.Term) rdf.Term {
	text := strings.TrimSpace(v.Value)
	tag := languageTag(text)
	switch {
	case (property == "in_force" || property == "legal_value") && schemaValues[cmp.Or(name, text)] != "":
		return rdf.IRI(Ontology + schemaValues[cmp.Or(name, text)])
	case property == "language" && tag != "" && !strings.Contains(tag, "-"):
		return rdf.IRI(inTable(tag))
	case property == "media_type" && isMediaType(text):
		return rdf.IRI(registry + strings.ToLower(text))
	case ontology.properties[property] && isURL(text):
		return rdf.IRI(text)
	}
	return v
}

// tables are the properties whose values are those of tables and agents.
var tables = strings.Fields(eliterms.Values)
