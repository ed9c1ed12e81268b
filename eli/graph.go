package eli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/eliterms"
	"github.com/websync-go/websync/internal/syntax"
)

// A Graph is the triples of one page, normalised. It is not safe for concurrent use.
type Graph struct {
	triples   []rdf.Triple
	bySubject map[rdf.Term][]int32 // positions in triples
	byObject  map[rdf.Term][]int32 // likewise, of what is not a literal

	formats map[rdf.Term]Format
	// variants are other forms of URIs, of which the page states metadata, too
	variants map[rdf.Term]rdf.Term

	document string // of findings; may be empty
	report   func(websync.Finding)
	reported map[reported]bool
}

type reported struct{ rule, cause string }

// maxReported is how many findings of one Graph are reported at most.
const maxReported = 200

// NewGraph returns the Graph of triples, in their order, each once. It normalises them,
// and reports each kind of departure once to report, which may be nil:
//
//   - Terms of the ontology whose namespace or name is spelled otherwise, or whose prefix
//     eli was not declared, become terms of [Ontology].
//   - For realizes and embodies, is_realized_by and is_embodied_by are added.
//   - HTTP URLs in literals become IRIs where the ontology wants a resource.
//   - Of URIs that differ only by http and https, by www, by a slash at the end or by
//     escapes, all become the one that is described first, if any is described.
//
// All other triples remain as they are. Normalising what is normalised changes nothing.
func NewGraph(triples []rdf.Triple, report func(websync.Finding)) *Graph {
	return newGraph(triples, len(triples), "", "", report)
}

// newGraph returns a Graph in which a legal resource has its URI, if that is known, and
// no variant of it. The first triples, a number of them, are those of RDFa.
func newGraph(triples []rdf.Triple, first int, document, uri string, report func(websync.Finding)) *Graph {
	g := &Graph{
		bySubject: make(map[rdf.Term][]int32), byObject: make(map[rdf.Term][]int32), formats: make(map[rdf.Term]Format),
		variants: make(map[rdf.Term]rdf.Term), document: document, report: report, reported: make(map[reported]bool),
	}
	known := make(map[rdf.Triple]bool, len(triples))
	add := func(t rdf.Triple) {
		if known[t] {
			return
		}
		known[t] = true
		at := int32(len(g.triples))
		g.triples = append(g.triples, t)
		g.bySubject[t.Subject] = append(g.bySubject[t.Subject], at)
		if t.Object.Kind != rdf.KindLiteral {
			g.byObject[t.Object] = append(g.byObject[t.Object], at)
		}
	}
	normal := make([]rdf.Triple, len(triples))
	for i, t := range triples {
		normal[i] = g.normalise(t)
	}
	names := g.unify(normal, uri)
	ofRDFa := 0
	for i, t := range normal {
		if i == first {
			ofRDFa = len(g.triples)
		}
		if s, o := cmp.Or(names[t.Subject], t.Subject), cmp.Or(names[t.Object], t.Object); s != o {
			t.Subject, t.Object = s, o
		}
		add(t)
	}
	if first < len(normal) {
		g.compareDates(ofRDFa)
	}
	for _, t := range g.triples {
		name := termName(t.Predicate)
		if name != "realizes" && name != "embodies" || t.Object.Kind == rdf.KindLiteral {
			continue
		}
		forward := ontology.inverse[name]
		t = rdf.Triple{Subject: t.Object, Predicate: rdf.IRI(Ontology + forward), Object: t.Subject}
		if !known[t] {
			g.addOnce(ruleInverse, name, name, t.Object.Value,
				"only the lower level links to the upper one: "+forward+" is added")
			add(t)
		}
	}
	return g
}

// compareDates reports the dates that RDFa, in the first triples, states otherwise than
// the others. Those of RDFa count, because they come first.
func (g *Graph) compareDates(first int) {
	type of struct {
		subject  rdf.Term
		property string
	}
	stated := make(map[of][]websync.Datetime) // by RDFa
	for i, t := range g.triples {
		name := termName(t.Predicate)
		if !slices.Contains(dates, name) {
			continue
		}
		d, _, err := parseDate(t.Object.Value)
		if err != nil {
			continue
		}
		key := of{t.Subject, name}
		own := stated[key]
		switch {
		case i < first && len(own) < maxOfFormat:
			stated[key] = append(own, d)
		case i < first, len(own) == 0:
		case !slices.ContainsFunc(own, func(x websync.Datetime) bool { return x == d || x.Overlaps(d) }):
			g.add(ruleDates, name, t.Object.Value, fmt.Sprintf("RDFa states %v, which counts", own[0]))
		}
	}
}

// dates are the properties whose values are dates.
var dates = strings.Fields(eliterms.Dates)

// unify returns which URIs of a page get another form, because they are variants of one
// that the page describes, or that is that of the legal resource. Those of which one
// links to the other are not one.
func (g *Graph) unify(triples []rdf.Triple, uri string) map[rdf.Term]rdf.Term {
	keys := make(map[rdf.Term]string)
	key := func(t rdf.Term) string {
		if _, ok := keys[t]; !ok && t.Kind == rdf.KindIRI {
			keys[t] = variantKey(t.Value)
		}
		return keys[t]
	}
	described := make(map[string]rdf.Term)
	linked := make(map[string]bool)
	exact := false // the page describes uri itself
	for _, t := range triples {
		k := key(t.Subject)
		if k == "" || !isMetadata(t) {
			continue
		}
		exact = exact || t.Subject == rdf.IRI(uri)
		if _, ok := described[k]; !ok {
			described[k] = t.Subject
		}
		if t.Subject != t.Object && key(t.Object) == k {
			linked[k] = true
		}
	}
	wanted := variantKey(uri)
	if _, ok := described[wanted]; ok && rdf.IRI(uri).Check() == nil {
		described[wanted] = rdf.IRI(uri)
	}
	names := make(map[rdf.Term]rdf.Term)
	for t, k := range keys {
		if own, ok := described[k]; ok && own != t && !linked[k] {
			names[t] = own
		}
	}
	if exact {
		uri = "" // nothing is there in its stead
	}
	g.noteVariants(triples, names, uri)
	return names
}

// noteVariants notes and reports the URIs that a page describes and that get another
// form. If uri is not empty, the page describes it in other forms only.
func (g *Graph) noteVariants(triples []rdf.Triple, names map[rdf.Term]rdf.Term, uri string) {
	for _, t := range triples {
		own, ok := names[t.Subject]
		switch {
		case !ok || !isMetadata(t):
			continue
		case own == rdf.IRI(uri):
			g.add(ruleURI, "", t.Subject.Value, "the page must describe the URI that was requested, "+uri)
		default:
			g.add(ruleVariant, "", t.Subject.Value, "the page describes it as "+own.Value+", too: both count as one")
		}
		g.variants[t.Subject] = own
	}
}

// add reports a departure, once for each element and value.
func (g *Graph) add(r Rule, element, value, message string) {
	g.addOnce(r, element+" "+value, element, value, message)
}

// addOnce reports a departure, once for each cause.
func (g *Graph) addOnce(r Rule, cause, element, value, message string) {
	key := reported{r.Name, cause}
	if g.report == nil || g.reported[key] || len(g.reported) >= maxReported {
		return
	}
	g.reported[key] = true
	g.report(r.Finding(g.document, 0, 0, element, []byte(value), message))
}

// normalise returns a triple with the terms of the ontology.
func (g *Graph) normalise(t rdf.Triple) rdf.Triple {
	name, s := cutOntology(t.Predicate.Value)
	switch {
	case s != notOntology:
		own := ontology.property(name)
		t.Predicate = g.term(t.Predicate.Value, name, own, s)
		if own != "" && ontology.properties[own] && t.Object.Kind == rdf.KindLiteral && isURL(t.Object.Value) &&
			own != "media_type" && own != "format" { // a literal stands for a value of a table
			g.add(ruleLiteral, own, t.Object.Value, "the value must be a URI, not a literal")
			t.Object = rdf.IRI(t.Object.Value)
		}
		if term := individual(own, t.Object); term != "" && t.Object.Kind == rdf.KindLiteral {
			g.add(ruleLiteral, own, t.Object.Value, "the value must be the URI "+Ontology+term+", not a literal")
			t.Object = rdf.IRI(Ontology + term)
		}
	case t.Predicate.Value == rdf.Type:
	default:
		return t
	}
	if t.Object.Kind != rdf.KindIRI {
		return t
	}
	if name, s = cutOntology(t.Object.Value); s == notOntology {
		return t
	}
	own := cmp.Or(individual(termName(t.Predicate), t.Object), ontology.class(name))
	if own != name && t.Predicate.Value != rdf.Type && ownTables[termName(t.Predicate)] == "" {
		return t // not a term
	}
	t.Object = g.term(t.Object.Value, name, own, s)
	return t
}

// isURL reports whether a literal is nothing but an HTTP URL that an IRI can hold.
func isURL(s string) bool {
	return syntax.IsHTTP(s) && rdf.IRI(s).Check() == nil && syntax.HTTPHost(s) > 0
}

// term returns the term of the ontology that an IRI stands for. Name is its name there,
// and own the ontology's spelling of it, "" if it has no such term.
func (g *Graph) term(iri, name, own string, s spelling) rdf.Term {
	switch s {
	case otherNamespace:
		g.addOnce(ruleNamespace, strings.TrimSuffix(iri, name), name, iri, "the namespace must be "+Ontology)
	case noNamespace:
		g.addOnce(rulePrefix, "", name, iri, "the prefix eli must be declared as "+Ontology)
	}
	switch {
	case own == "":
		g.add(ruleTerm, name, iri, "the ontology has no such term")
		own = name
	case own != name:
		g.add(ruleSpelling, name, iri, "the ontology spells it "+own)
	}
	return rdf.IRI(Ontology + own)
}

// termName returns the name of a term of the ontology, or "" for others.
func termName(t rdf.Term) string {
	if name, s := cutOntology(t.Value); s == exact && t.Kind == rdf.KindIRI {
		return name
	}
	return ""
}

// Triples returns the normalised triples, in the order of the page. It must not be
// modified.
func (g *Graph) Triples() []rdf.Triple { return g.triples }

// hasMetadata reports whether a triple has a term of the ontology, or the class
// Legislation of schema.org.
func (g *Graph) hasMetadata() bool {
	for _, t := range g.triples {
		if isMetadata(t) {
			return true
		}
	}
	return false
}

func isMetadata(t rdf.Triple) bool { return isOntology(t) || isSchema(t) }

func isOntology(t rdf.Triple) bool {
	return termName(t.Predicate) != "" || t.Predicate.Value == rdf.Type && termName(t.Object) != ""
}

// WriteQuads writes the Graph as N-Quads, as the named graph of a URI: that of the legal
// resource, which annex 4.1 recommends. Equal Graphs give equal bytes.
func (g *Graph) WriteQuads(w io.Writer, uri string) error {
	out := rdf.NewWriter(w)
	for _, t := range g.triples {
		if err := out.Write(rdf.Quad{Triple: t, Graph: rdf.IRI(uri)}); err != nil {
			return fmt.Errorf("eli: the graph of %s: %w", websync.RedactURL(uri), err)
		}
	}
	return out.Flush()
}

// ReadGraph reads a Graph that WriteQuads has written, and returns the URI that names it;
// "" if it has no triples. The error of N-Quads with several graphs, or of the default
// graph, wraps websync.ErrNotDocument.
func ReadGraph(src io.Reader) (g *Graph, uri string, err error) {
	var triples []rdf.Triple
	for q, err := range rdf.NewReader(src).All() {
		switch {
		case err != nil:
			return nil, "", err
		case q.Graph.Kind != rdf.KindIRI, len(triples) > 0 && q.Graph.Value != uri:
			return nil, "", fmt.Errorf("eli: N-Quads of one named graph: %w", websync.ErrNotDocument)
		}
		uri = q.Graph.Value
		triples = append(triples, q.Triple)
	}
	return NewGraph(triples, nil), uri, nil
}

var (
	// ErrNoMetadata: a page has no triples with terms of the ELI ontology, and nothing
	// that schema.org calls Legislation. It may be a page that scripts fill in a browser,
	// or an error page with status 200.
	ErrNoMetadata = errors.New("no ELI metadata")

	// ErrNotDescribed: a page describes other legal resources than the requested one.
	ErrNotDescribed = errors.New("the page does not describe it")
)
