package eli

import (
	"strings"

	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/eliterms"
	"github.com/websync-go/websync/internal/syntax"
)

// Ontology is the namespace of the ELI ontology. The names of its terms follow it.
const Ontology = eliterms.Namespace

// otherNames are spellings of terms, folded, that folding does not make equal.
const otherNames = `isrealisedby is_realized_by  realises realizes  isembodiedin is_embodied_by  shorttitle title_short
	titleshort title_short  alternativetitle title_alternative  license licence  mediatype media_type
	dateentryinforce first_date_entry_in_force  firstdateentryinforce first_date_entry_in_force
	datenolongerinforce date_no_longer_in_force  typeofdocument type_document  rightholder rightsholder`

// vocabulary is an index of the ontology's terms.
type vocabulary struct {
	properties map[string]bool   // whether their values are resources
	classes    map[string]bool   // and individuals
	folded     map[string]string // properties by their folded names and other spellings
	classFold  map[string]string
	inverse    map[string]string
}

var ontology = newVocabulary()

func newVocabulary() *vocabulary {
	v := &vocabulary{
		properties: make(map[string]bool), classes: make(map[string]bool), folded: make(map[string]string),
		classFold: make(map[string]string), inverse: make(map[string]string),
	}
	for name := range strings.FieldsSeq(eliterms.Classes + " " + eliterms.Individuals) {
		v.classes[name] = true
		v.classFold[fold(name)] = name
	}
	for name := range strings.FieldsSeq(eliterms.Resources + " " + eliterms.Values) {
		v.properties[name] = true
	}
	for name := range strings.FieldsSeq(eliterms.Texts + " " + eliterms.Dates) {
		v.properties[name] = false
	}
	for name := range v.properties {
		v.folded[fold(name)] = name
	}
	for pairs := strings.Fields(otherNames); len(pairs) > 0; pairs = pairs[2:] {
		v.folded[pairs[0]] = pairs[1]
	}
	for pairs := strings.Fields(eliterms.Inverse); len(pairs) > 0; pairs = pairs[2:] {
		v.inverse[pairs[0]], v.inverse[pairs[1]] = pairs[1], pairs[0]
	}
	return v
}

// fold returns a name without what spellings of it differ in.
func fold(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// property returns the ontology's spelling of the name of a property, or "".
func (v *vocabulary) property(name string) string {
	if _, ok := v.properties[name]; ok {
		return name
	}
	return v.folded[fold(name)]
}

// ownTables are the properties whose values are individuals of the ontology, each with
// their table.
var ownTables = map[string]string{"in_force": "InForce", "legal_value": "LegalValue"}

// individual returns the individual of the ontology's own tables that a value of a
// property stands for, in whatever letters, and with or without the name of its table;
// "" if it is none.
func individual(property string, value rdf.Term) string {
	table := ownTables[property]
	name := strings.TrimSpace(value.Value)
	if value.Kind == rdf.KindIRI {
		name, _ = cutOntology(name)
	}
	if table == "" || name == "" || value.Kind == rdf.KindBlank {
		return ""
	}
	folded := fold(strings.ReplaceAll(name, " ", ""))
	for _, key := range [...]string{folded, fold(table) + folded} {
		if own := ontology.classFold[key]; strings.HasPrefix(own, table+"-") {
			return own
		}
	}
	return ""
}

// class does the same for a class or an individual.
func (v *vocabulary) class(name string) string {
	if v.classes[name] {
		return name
	}
	return v.classFold[fold(name)]
}

// A spelling is how an IRI writes the namespace of the ontology.
type spelling uint8

const (
	notOntology spelling = iota
	exact
	otherNamespace
	noNamespace // the prefix eli, which is not declared
)

// cutOntology returns the name of a term of the ontology, and how its IRI spells the
// namespace.
func cutOntology(iri string) (name string, s spelling) {
	if name, ok := strings.CutPrefix(iri, Ontology); ok && isName(name) {
		return name, exact
	}
	if len(iri) > 4 && strings.EqualFold(iri[:4], "eli:") && isName(iri[4:]) {
		return iri[4:], noNamespace
	}
	host, end := syntax.SplitHTTP(iri)
	if end == 0 || !isEuropa(iri[host:end]) {
		return "", notOntology
	}
	path, ok := strings.CutPrefix(strings.TrimLeft(iri[end:], "/"), "eli/ontology")
	if !ok {
		return "", notOntology
	}
	if at := strings.LastIndexByte(path, '#'); at >= 0 {
		path = path[at+1:]
	}
	name = strings.Trim(path, "#/,;:.%20\"'")
	if !isName(name) {
		return "", notOntology
	}
	return name, otherNamespace
}

// isEuropa reports whether a host is one of the EU's.
func isEuropa(host string) bool {
	host = strings.ToLower(host)
	return host == "europa.eu" || strings.HasSuffix(host, ".europa.eu")
}

// isName reports whether s may be the name of a term.
func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !syntax.IsAlpha(c) && (i == 0 || c != '_' && c != '-' && !syntax.IsDigit(c)) {
			return false
		}
	}
	return s != ""
}
