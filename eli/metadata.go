package eli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/syntax"
)

// A Text is a text with its language tag, which may be empty.
type Text struct{ Value, Lang string }

// An Entity is a resource of a Graph: the access to its properties by their names.
type Entity struct {
	// URI names the entity. It is empty for a blank node.
	URI string

	// Types are the names of its classes in the ontology, such as "LegalResource", and
	// the IRIs of others.
	Types []string

	graph *Graph
	node  rdf.Term
}

// Values returns the values of a property, each once, in the order of the page. It is the
// name of a property of the ontology, such as "title", or an absolute IRI. If the
// ontology has an inverse of the property, what links to the entity by that is a value,
// too. For a Legislation, LegislationObject or MediaObject of schema.org, the values of a
// property that the page does not state are those of what stands for it there.
func (e *Entity) Values(property string) []rdf.Term {
	if e.graph == nil {
		return nil
	}
	inverse := ontology.inverse[property]
	if syntax.Scheme(property) == 0 {
		property = Ontology + property
	}
	var values []rdf.Term
	for _, i := range e.graph.bySubject[e.node] {
		if t := e.graph.triples[i]; t.Predicate.Value == property {
			values = append(values, t.Object)
		}
	}
	if inverse != "" {
		values = e.inverseOf(inverse, values)
	}
	if len(values) == 0 && e.ofSchema() {
		return e.schemaOf(strings.TrimPrefix(property, Ontology), inverse)
	}
	return values
}

// inverseOf adds to values what links to the entity by the inverse of their property.
func (e *Entity) inverseOf(inverse string, values []rdf.Term) []rdf.Term {
	known := make(map[rdf.Term]bool)
	for _, v := range values {
		known[v] = true
	}
	for _, i := range e.graph.byObject[e.node] {
		if t := e.graph.triples[i]; t.Predicate.Value == Ontology+inverse && !known[t.Subject] {
			known[t.Subject] = true
			values = append(values, t.Subject)
		}
	}
	return values
}

// Texts returns the literals among the values of a property.
func (e *Entity) Texts(property string) []Text {
	var texts []Text
	for _, v := range e.Values(property) {
		if v.Kind == rdf.KindLiteral {
			texts = append(texts, Text{Value: strings.TrimSpace(v.Value), Lang: v.Lang})
		}
	}
	return texts
}

// Strings returns the values of a property as IRIs and texts. It leaves out blank nodes.
func (e *Entity) Strings(property string) []string {
	var all []string
	for _, v := range e.Values(property) {
		if v.Kind != rdf.KindBlank {
			all = append(all, strings.TrimSpace(v.Value))
		}
	}
	return all
}

// first returns the first of Strings, or "".
func (e *Entity) first(property string) string {
	for _, s := range e.Strings(property) {
		if s != "" {
			return s
		}
	}
	return ""
}

// Date returns the first value of a property that is a date; the zero Datetime if none
// is.
func (e *Entity) Date(property string) websync.Datetime {
	for _, v := range e.Values(property) {
		if v.Kind != rdf.KindLiteral {
			continue
		}
		d, departure, err := parseDate(v.Value)
		switch {
		case err != nil:
			e.graph.add(ruleDate, property, v.Value, "the value is not a date: "+err.Error())
			continue
		case departure != "" && !isSchemaDate(v.Value):
			e.graph.add(ruleDate, property, v.Value, "the date must have the form 2006-01-02: "+departure)
		}
		return d
	}
	return websync.Datetime{}
}

// parseDatetime reads a time as publishers of legislation write it. If day and month may
// be meant the other way round, as in 05-01-2024, the day comes first.
func parseDatetime(s string) (d websync.Datetime, departure string, err error) {
	d, departure, err = websync.ParseDatetimeLenient(s)
	if err != nil {
		for _, separator := range [...]string{"-", "/"} {
			other, how, fault := websync.ParseDatetimeLenient(strings.Replace(s, separator, ".", 2))
			if fault == nil {
				d, departure, err = other, how, nil
			}
		}
	}
	return d, departure, err
}

// parseDate is parseDatetime for dates: a time of midnight that is not a W3C datetime, as
// one without a zone, stands for the date.
func parseDate(s string) (d websync.Datetime, departure string, err error) {
	d, departure, err = parseDatetime(s)
	hour, minute, second := d.Time().Clock()
	if departure != "" && d.Precision() > websync.PrecisionDay && hour+minute+second+d.Time().Nanosecond() == 0 {
		d = d.WithPrecision(websync.PrecisionDay)
	}
	return d, departure, err
}

// isSchemaDate reports whether s is a date with a zone, which an xsd:date may have.
func isSchemaDate(s string) bool {
	const date = len("2006-01-02")
	if len(s) <= date {
		return false
	}
	_, err := websync.ParseDatetime(s[:date] + "T00:00:00" + s[date:])
	return err == nil
}

// IsA reports whether the entity has one of the classes.
func (e *Entity) IsA(classes ...string) bool {
	return slices.ContainsFunc(e.Types, func(t string) bool { return slices.Contains(classes, t) })
}

// A LegalResource is the description of a legal resource in a page: an act, for example.
// Fields that the page does not state are zero. Values has properties without a field.
//
// The values of TypeDocument, InForce and Version are URIs of tables, or texts.
type LegalResource struct {
	Entity

	Titles, TitlesShort, TitlesAlternative []Text // of the resource itself; see AllTitles

	TypeDocument, InForce, Version, URISchema string
	IDLocal, Number                           []string

	DateDocument, DatePublication, DateApplicability        websync.Datetime
	FirstDateEntryInForce, DateNoLongerInForce, VersionDate websync.Datetime

	IsMemberOf, HasMember, IsPartOf, HasPart        []string
	Consolidates, ConsolidatedBy                    []string
	Changes, ChangedBy, Amends, AmendedBy           []string
	Repeals, RepealedBy, Corrects, CorrectedBy      []string
	Cites, CitedBy, BasedOn, BasisFor               []string
	Transposes, TransposedBy, IsAbout, Jurisdiction []string
	PassedBy, ResponsibilityOf, Publisher           []string

	// Expressions are in the order of the page: those that it describes, then those that
	// it only links to.
	Expressions []Expression
}

// An Expression is a legal expression: the text of a legal resource in one language.
type Expression struct {
	Entity

	// Language is the BCP 47 tag of the language, such as "fr"; "" if it is not known. If
	// the expression has several, such as a text in two columns, it is the first of
	// Languages.
	Language  string
	Languages []string

	Titles, TitlesShort, TitlesAlternative []Text
	Publisher                              []string
	DatePublication, VersionDate           websync.Datetime

	// Linked reports that the page only links to the expression.
	Linked bool

	Formats []Format
}

// A Format is a file with the text of an expression.
type Format struct {
	Entity

	// MediaType is the media type, in lower case and without parameters; "" if it is not
	// known.
	MediaType string

	// Stated is what the page states as media_type, or else as format; "" if neither is
	// stated, and MediaType is what the URI ends in.
	Stated string

	// ExemplifiedBy are the URLs of the file. If there is none, it is the URI.
	ExemplifiedBy []string

	LegalValue string
	Publisher  []string

	types []statedType
}

// A statedType is a value of media_type or format.
type statedType struct {
	property string
	value    rdf.Term
	media    string // "" if not known
}

// maxOfFormat is how many types and URLs of a format count: pages may link to one format
// from many expressions.
const maxOfFormat = 16

// AllTitles returns the titles of the resource and of its expressions.
func (r *LegalResource) AllTitles() []Text {
	var titles []Text
	known := make(map[Text]bool)
	add := func(t Text, lang string) {
		if t.Lang == "" {
			t.Lang = lang
		}
		if !known[t] {
			known[t] = true
			titles = append(titles, t)
		}
	}
	for _, t := range r.Titles {
		add(t, "")
	}
	for i := range r.Expressions {
		for _, t := range r.Expressions[i].Titles {
			add(t, r.Expressions[i].Language)
		}
	}
	return titles
}

// A ResourceError is why a page has no description of a legal resource. Err is
// ErrNoMetadata or ErrNotDescribed.
type ResourceError struct {
	URI       string   // of the legal resource
	Described []string // URIs of the legal resources that the page describes, 10 at most
	Err       error
}

// Error returns, for example, "eli: https://law.example/eli/1: the page does not describe
// it, but https://law.example/eli/2".
func (e *ResourceError) Error() string {
	text := fmt.Sprintf("eli: %s: %v", websync.RedactURL(e.URI), e.Err)
	for i, uri := range e.Described {
		separator := ", "
		if i == 0 {
			separator = ", but "
		}
		text += separator + websync.RedactURL(uri)
	}
	return text
}

// Unwrap returns e.Err.
func (e *ResourceError) Unwrap() error { return e.Err }

// Resource returns the description of a legal resource. The error is a [*ResourceError]
// if there is none.
//
// A page may describe the URI with another scheme, with or without www, with or without
// a slash at the end, or with other escapes, or say that another one is the same
// (owl:sameAs): that is a finding. So are formats that are linked from the legal resource
// itself, which is then one of its expressions.
func (g *Graph) Resource(uri string) (*LegalResource, error) {
	node, err := g.find(uri)
	if err != nil {
		return nil, err
	}
	e := g.entity(node)
	if !slices.ContainsFunc(g.bySubject[node], func(i int32) bool { return isOntology(g.triples[i]) }) {
		g.add(ruleSchema, "", uri, "the terms must be those of the ELI ontology, not of schema.org alone")
	}
	r := &LegalResource{
		Entity: e,
		Titles: e.Texts("title"), TitlesShort: e.Texts("title_short"), TitlesAlternative: e.Texts("title_alternative"),
		TypeDocument: e.first("type_document"), InForce: e.first("in_force"), Version: e.first("version"),
		URISchema: e.first("uri_schema"), IDLocal: e.Strings("id_local"), Number: e.Strings("number"),

		DateDocument: e.Date("date_document"), DatePublication: e.Date("date_publication"),
		DateApplicability: e.Date("date_applicability"), FirstDateEntryInForce: e.Date("first_date_entry_in_force"),
		DateNoLongerInForce: e.Date("date_no_longer_in_force"), VersionDate: e.Date("version_date"),

		IsMemberOf: e.Strings("is_member_of"), HasMember: e.Strings("has_member"),
		IsPartOf: e.Strings("is_part_of"), HasPart: e.Strings("has_part"),
		Consolidates: e.Strings("consolidates"), ConsolidatedBy: e.Strings("consolidated_by"),
		Changes: e.Strings("changes"), ChangedBy: e.Strings("changed_by"),
		Amends: e.Strings("amends"), AmendedBy: e.Strings("amended_by"),
		Repeals: e.Strings("repeals"), RepealedBy: e.Strings("repealed_by"),
		Corrects: e.Strings("corrects"), CorrectedBy: e.Strings("corrected_by"),
		Cites: e.Strings("cites"), CitedBy: e.Strings("cited_by"),
		BasedOn: e.Strings("based_on"), BasisFor: e.Strings("basis_for"),
		Transposes: e.Strings("transposes"), TransposedBy: e.Strings("transposed_by"),
		IsAbout: e.Strings("is_about"), Jurisdiction: e.Strings("jurisdiction"), PassedBy: e.Strings("passed_by"),
		ResponsibilityOf: append(e.Strings("responsibility_of"), e.Strings("responsibility_of_agent")...),
		Publisher:        append(e.Strings("publisher"), e.Strings("publisher_agent")...),
	}
	nodes := e.resources("is_realized_by")
	switch formats := e.resources("is_embodied_by"); {
	case len(nodes) > 0:
		if len(formats) > 0 {
			g.add(ruleLevel, "is_embodied_by", e.URI, "formats must be linked from an expression, not from the legal resource")
			nodes = append(nodes, node)
		}
	case len(formats) > 0:
		g.add(ruleLevel, "is_embodied_by", e.URI,
			"formats must be linked from an expression: the legal resource is taken as its own")
		nodes = []rdf.Term{node}
	}
	var linked []Expression
	for _, n := range nodes {
		if x := g.expression(n); x.Linked {
			linked = append(linked, x)
		} else {
			r.Expressions = append(r.Expressions, x)
		}
	}
	r.Expressions = append(r.Expressions, linked...)
	return r, nil
}

// resources returns the values of a property that are not literals.
func (e *Entity) resources(property string) []rdf.Term {
	return slices.DeleteFunc(e.Values(property), func(t rdf.Term) bool { return t.Kind == rdf.KindLiteral })
}

func (g *Graph) entity(node rdf.Term) Entity {
	e := Entity{graph: g, node: node}
	if node.Kind == rdf.KindIRI {
		e.URI = node.Value
	}
	for _, t := range e.Values(rdf.Type) {
		name := termName(t)
		if name == "" {
			name = t.Value
		}
		if t.Kind == rdf.KindIRI {
			e.Types = append(e.Types, name)
		}
	}
	return e
}

func (g *Graph) expression(node rdf.Term) Expression {
	e := g.entity(node)
	x := Expression{
		Entity: e, Linked: !g.describes(node),
		Titles: e.Texts("title"), TitlesShort: e.Texts("title_short"), TitlesAlternative: e.Texts("title_alternative"),
		Publisher:       append(e.Strings("publisher"), e.Strings("publisher_agent")...),
		DatePublication: e.Date("date_publication"), VersionDate: e.Date("version_date"),
	}
	if x.Languages = e.languages(x.Titles); len(x.Languages) > 0 {
		x.Language = x.Languages[0]
	}
	for _, n := range e.resources("is_embodied_by") {
		x.Formats = append(x.Formats, g.format(n))
	}
	return x
}

// describes reports whether a node is the subject of more than links to other levels.
func (g *Graph) describes(node rdf.Term) bool {
	return slices.ContainsFunc(g.bySubject[node], func(i int32) bool {
		p := g.triples[i].Predicate
		name := cmp.Or(termName(p), schemaNames[schemaName(p.Value)])
		return name != "" && name != "realizes" && name != "embodies"
	})
}

// languages returns the BCP 47 tags of an expression's languages.
func (e *Entity) languages(titles []Text) (tags []string) {
	for _, v := range e.Values("language") {
		var codes []string
		switch v.Kind {
		case rdf.KindIRI:
			codes = []string{lastStep(v.Value)}
		case rdf.KindLiteral:
			codes = strings.FieldsFunc(v.Value, func(c rune) bool { return strings.ContainsRune(",;/| ", c) })
		}
		known := 0
		for _, code := range codes {
			tag := languageTag(code)
			if tag == "" {
				continue
			}
			if known++; !slices.Contains(tags, tag) && len(tags) < maxOfFormat {
				tags = append(tags, tag)
			}
			switch {
			case v.Kind == rdf.KindLiteral:
				e.graph.add(ruleLanguage, "language", v.Value, "the language must be the URI "+inTable(tag)+", not a literal")
			case v.Value != inTable(tag):
				e.graph.add(ruleLanguage, "language", v.Value, "the language must be the URI "+inTable(tag))
			}
		}
		if known < max(1, len(codes)) {
			e.graph.add(ruleLanguage, "language", v.Value, "the language is not known")
		}
	}
	if len(tags) > 0 {
		return tags
	}
	tag := ""
	if step := lastStep(e.URI); len(step) == 2 || len(step) == 3 {
		tag = languages[strings.ToLower(step)]
	}
	if tag == "" && len(titles) > 0 {
		tag = languageTag(titles[0].Lang)
	}
	if tag != "" {
		e.graph.addOnce(ruleLanguage, "", "language", e.URI,
			"an expression without a language: that of its URI or title is taken")
		tags = []string{tag}
	}
	return tags
}

// format returns the description of a format, which several expressions may have.
func (g *Graph) format(node rdf.Term) Format {
	f, ok := g.formats[node]
	if !ok {
		f = g.newFormat(node)
		g.formats[node] = f
	}
	return f
}

func (g *Graph) newFormat(node rdf.Term) Format {
	e := g.entity(node)
	f := Format{
		Entity: e, LegalValue: e.first("legal_value"),
		Publisher: append(e.Strings("publisher"), e.Strings("publisher_agent")...),
	}
	for _, property := range [...]string{"media_type", "format"} {
		for _, v := range e.Values(property) {
			if v.Kind == rdf.KindBlank || len(f.types) >= maxOfFormat {
				continue
			}
			media, departure := mediaType(v)
			f.types = append(f.types, statedType{property, v, media})
			switch {
			case media == "":
				g.add(ruleMediaType, property, v.Value, "the media type is not known")
			case departure != "":
				g.add(ruleMediaType, property, v.Value, "the media type must be "+registry+media+": "+departure)
			}
			if f.Stated == "" || f.MediaType == "" && media != "" {
				f.Stated, f.MediaType = v.Value, media
			}
		}
	}
	if f.Stated == "" {
		f.MediaType = typeOfURI(f.URI)
		g.addOnce(ruleMediaType, "", "media_type", f.URI, "a format without a media type: the end of its URI is taken")
	}
	for _, s := range e.Strings("is_exemplified_by") {
		switch {
		case !isURL(s):
			g.add(ruleFileURL, "is_exemplified_by", s, "an absolute http or https URL must stand here")
		case len(f.ExemplifiedBy) < maxOfFormat:
			f.ExemplifiedBy = append(f.ExemplifiedBy, s)
		}
	}
	return f
}

// find returns the node of a legal resource.
func (g *Graph) find(uri string) (rdf.Term, error) {
	node := rdf.IRI(uri)
	if node = cmp.Or(g.variants[node], node); g.isDescribed(node) {
		return node, nil
	}
	if other, ok := g.sameAs(node); ok {
		g.add(ruleURI, "sameAs", other.Value, "the page must describe the URI that was requested, "+uri)
		return other, nil
	}
	page, _, _ := strings.Cut(uri, "#")
	wanted := variantKey(page)
	fault := &ResourceError{URI: uri, Err: ErrNoMetadata}
	seen := make(map[rdf.Term]bool)
	for _, t := range g.triples {
		if seen[t.Subject] || !isMetadata(t) {
			continue
		}
		seen[t.Subject] = true
		fault.Err = ErrNotDescribed
		if t.Subject.Kind != rdf.KindIRI {
			continue
		}
		page, _, _ := strings.Cut(t.Subject.Value, "#")
		if variantKey(page) == wanted && g.isDescribed(t.Subject) {
			g.add(ruleURI, "", t.Subject.Value, "the page must describe the URI that was requested, "+uri)
			return t.Subject, nil
		}
		if e := g.entity(t.Subject); len(fault.Described) < 10 &&
			(e.IsA(resourceClasses...) || len(e.Values("is_realized_by")) > 0) {
			fault.Described = append(fault.Described, t.Subject.Value)
		}
	}
	return rdf.Term{}, fault
}

// sameAs returns what a page describes instead of node, if it says that both are the
// same.
func (g *Graph) sameAs(node rdf.Term) (rdf.Term, bool) {
	const same = "http://www.w3.org/2002/07/owl#sameAs"
	for _, i := range g.byObject[node] {
		if t := g.triples[i]; t.Predicate.Value == same && t.Subject.Kind == rdf.KindIRI && g.isDescribed(t.Subject) {
			return t.Subject, true
		}
	}
	for _, i := range g.bySubject[node] {
		if t := g.triples[i]; t.Predicate.Value == same && t.Object.Kind == rdf.KindIRI && g.isDescribed(t.Object) {
			return t.Object, true
		}
	}
	return rdf.Term{}, false
}

// resourceClasses are the classes of legal resources.
var resourceClasses = []string{"LegalResource", "LegalResourceSubdivision", "ComplexWork", "Work", "WorkSubdivision"}

// isDescribed reports whether a node is the subject of metadata.
func (g *Graph) isDescribed(node rdf.Term) bool {
	return slices.ContainsFunc(g.bySubject[node], func(i int32) bool { return isMetadata(g.triples[i]) })
}
