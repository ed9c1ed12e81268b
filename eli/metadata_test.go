package eli_test

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// graph returns the Graph of statements in a short form: terms of the ontology have no
// namespace, other IRIs are relative to law.example, and quoted values are literals.
func graph(t *testing.T, report func(websync.Finding), statements ...string) *eli.Graph {
	t.Helper()
	term := func(s string) rdf.Term {
		switch value, quoted := strings.CutPrefix(s, `"`); {
		case quoted:
			value, lang, _ := strings.Cut(value, "@")
			return rdf.Text(strings.TrimSuffix(value, `"`), lang)
		case strings.HasPrefix(s, "_:"):
			return rdf.Blank(s[2:])
		case strings.Contains(s, ":"):
			return rdf.IRI(s)
		}
		return rdf.IRI("https://law.example/" + s)
	}
	var triples []rdf.Triple
	for _, s := range statements {
		parts := strings.SplitN(s, " ", 3)
		require.Len(t, parts, 3, s)
		triple := rdf.Triple{Subject: term(parts[0]), Predicate: term(parts[1]), Object: term(parts[2])}
		switch {
		case parts[1] == "a":
			triple.Predicate = rdf.IRI(rdf.Type)
			if !strings.Contains(parts[2], ":") {
				triple.Object = rdf.IRI(eli.Ontology + parts[2])
			}
		case !strings.Contains(parts[1], ":"):
			triple.Predicate = rdf.IRI(eli.Ontology + parts[1])
		}
		triples = append(triples, triple)
	}
	return eli.NewGraph(triples, report)
}

func resource(t *testing.T, g *eli.Graph) *eli.LegalResource {
	t.Helper()
	r, err := g.Resource("https://law.example/1")
	require.NoError(t, err)
	return r
}

// The namespaces that publishers write.
func TestNamespaces(t *testing.T) {
	for iri, want := range map[string]string{
		"http://data.europa.eu/eli/ontology#title":     "",
		"https://data.europa.eu/eli/ontology#title":    "eli-namespace",
		"HTTP://Data.Europa.EU/eli/ontology#title":     "eli-namespace",
		"http://data.europa.eu/eli/ontology#,title":    "eli-namespace",
		"http://data.europa.eu/eli/ontology#;title":    "eli-namespace",
		"http://data.europa.eu/eli/ontology/title":     "eli-namespace",
		"http://data.europa.eu/eli/ontologytitle":      "eli-namespace",
		"http://data.europa.eu//eli/ontology/#title":   "eli-namespace",
		"http://data.europa.eu/eli/ontology#%20title":  "eli-namespace",
		"http://eur-lex.europa.eu/eli/ontology#title":  "eli-namespace",
		"http://data.europa.eu/eli/ontology/1.3#title": "eli-namespace",
		"eli:title": "eli-prefix",
		"ELI:title": "eli-prefix",
		"http://data.europa.eu/eli/ontology#Title":         "eli-spelling",
		"http://data.europa.eu/eli/ontology#ti-tle":        "eli-spelling",
		"https://data.europa.eu/eli/ontology#TITLE":        "eli-namespace eli-spelling",
		"eli:act/2016/501":                                 "other",
		"eli:":                                             "other",
		"http://law.example/eli/ontology#title":            "other",
		"http://data.europa.eu.law.example/eli/ontology#a": "other",
		"http://data.europa.eu/eli/ontology#":              "other",
		"http://data.europa.eu/eli/ontology#title/x":       "other",
		"http://data.europa.eu/eli/reg/2016/679/oj":        "other",
		"http://purl.org/dc/terms/title":                   "other",
	} {
		t.Run(iri, func(t *testing.T) {
			var findings []websync.Finding
			g := graph(t, func(f websync.Finding) { findings = append(findings, f) }, `1 `+iri+` "T"`)
			got := g.Triples()[0].Predicate.Value
			if want == "other" {
				assert.Equal(t, iri, got)
				assert.Empty(t, findings)
				return
			}
			assert.Equal(t, eli.Ontology+"title", got)
			assert.Equal(t, strings.Fields(want), append([]string{}, testkit.Rules(findings)...))
			for _, f := range findings {
				assert.Equal(t, iri, f.Value)
			}
		})
	}
}

func TestNormalise(t *testing.T) {
	for _, c := range []struct {
		name       string
		statements []string
		want       []string // without what is unchanged
		findings   string
	}{
		{"a class", []string{"1 a eli:legalResource"}, []string{"1 a LegalResource"}, "eli-prefix eli-spelling"},
		{"an unknown class", []string{"1 a eli:Statute"}, []string{"1 a Statute"}, "eli-prefix eli-term"},
		{"an unknown property", []string{`1 eli:status "x"`}, []string{`1 status "x"`}, "eli-prefix eli-term"},
		{"a class is no property", []string{`1/pdf Format "x"`}, []string{`1/pdf format "x"`}, "eli-spelling"},
		{"an individual", []string{"1 in_force eli:InForce-inForce", "1 in_force eli:inForce"}, []string{"1 in_force " + eli.Ontology + "InForce-inForce"}, "eli-prefix eli-spelling"},
		{"individuals in other letters", []string{"1 in_force " + eli.Ontology + "InForce-NotInForce", "1 legal_value https://data.europa.eu/eli/ontology#legalvalue-Official", "2 in_force eli:NotInForce"},
			[]string{"1 in_force " + eli.Ontology + "InForce-notInForce", "1 legal_value " + eli.Ontology + "LegalValue-official", "2 in_force " + eli.Ontology + "InForce-notInForce"}, "eli-namespace eli-prefix eli-spelling"},
		{"individuals as texts", []string{`1 in_force "InForce-NotInForce"`, `2 in_force "partially in force"`, `3 in_force "yes"`, `4 in_force "InForce"`, `5 legal_value "official"`, `6 version "inForce"`},
			[]string{"1 in_force " + eli.Ontology + "InForce-notInForce", "2 in_force " + eli.Ontology + "InForce-partiallyInForce", `3 in_force "yes"`, "4 in_force " + eli.Ontology + "InForce-inForce",
				"5 legal_value " + eli.Ontology + "LegalValue-official", `6 version "inForce"`}, "eli-literal"},
		{"an individual of another property", []string{"1 http://purl.org/dc/terms/type eli:InForce-inForce"}, nil, ""},
		{"an identifier", []string{"1 cites eli:act/2"}, nil, ""},
		{"a URL in a literal", []string{`1 cites "https://law.example/2"`, `1 description "https://law.example/2"`, `1 cites "Act 2"`, `1 cites "https://law.example/a b"`},
			[]string{"1 cites 2", `1 description "https://law.example/2"`, `1 cites "Act 2"`, `1 cites "https://law.example/a b"`}, "eli-literal"},
		{"statements once", []string{"1 cites 2", "1 eli:cites 2", "1 cites 2"}, []string{"1 cites 2"}, "eli-prefix"},
		{"realizes and embodies", []string{"x realizes 1", "y embodies x", `z realizes "1"`}, []string{"x realizes 1", "y embodies x", `z realizes "1"`, "1 is_realized_by x", "x is_embodied_by y"}, "eli-inverse"},
		{"both directions", []string{"x realizes 1", "1 is_realized_by x"}, nil, ""},
		{"other inverses", []string{"2 amends 1"}, nil, ""},
		{"blank nodes", []string{"_:x realizes 1"}, []string{"_:x realizes 1", "1 is_realized_by _:x"}, "eli-inverse"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var findings []websync.Finding
			g := graph(t, func(f websync.Finding) { findings = append(findings, f) }, c.statements...)
			want := c.want
			if want == nil {
				want = c.statements
			}
			assert.Equal(t, rdfTriples(t, want...), g.Triples())
			assert.Equal(t, c.findings, strings.Join(testkit.Rules(findings), " "))

			again := eli.NewGraph(g.Triples(), func(f websync.Finding) {
				assert.Contains(t, []string{"eli-term"}, f.Rule, "a normalised Graph is normal")
			})
			assert.Equal(t, g.Triples(), again.Triples())
		})
	}
}

// rdfTriples returns the triples of statements, which are normal but for inverses.
func rdfTriples(t *testing.T, statements ...string) []rdf.Triple {
	t.Helper()
	var all []rdf.Triple
	for _, s := range statements {
		all = append(all, graph(t, nil, s).Triples()[0])
	}
	return all
}

func TestStoredGraph(t *testing.T) {
	g := graph(t, nil, "1 a LegalResource", `1 title "Lag "om allt""@sv`, "x realizes 1", "_:f embodies x")
	var b bytes.Buffer
	require.NoError(t, g.WriteQuads(&b, "https://law.example/1"))
	for line := range strings.Lines(b.String()) {
		assert.True(t, strings.HasSuffix(line, " <https://law.example/1> .\n"), line)
	}
	held, uri, err := eli.ReadGraph(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, "https://law.example/1", uri)
	assert.Equal(t, g.Triples(), held.Triples())
	assert.Len(t, resource(t, held).Expressions, 1)

	held, uri, err = eli.ReadGraph(strings.NewReader(""))
	require.NoError(t, err)
	assert.Empty(t, uri)
	_, err = held.Resource("https://law.example/1")
	assert.ErrorIs(t, err, eli.ErrNoMetadata)

	for doc, want := range map[string]error{
		"<a:b> <a:b> <a:b> .\n":                                  websync.ErrNotDocument,
		"<a:b> <a:b> <a:b> <a:c> .\n<a:b> <a:b> <a:b> <a:d> .\n": websync.ErrNotDocument,
		"<a:b> <a:b> <a:b> _:g .\n":                              websync.ErrNotDocument,
		"<a:b> <a:b>":                                            websync.ErrTruncated,
	} {
		_, _, err := eli.ReadGraph(strings.NewReader(doc))
		assert.ErrorIs(t, err, want, doc)
	}
	assert.ErrorContains(t, g.WriteQuads(io.Discard, "law 1"), `eli: the graph of law 1: rdf: the graph "<law\\u00201>" is not an absolute IRI`)
}

func TestResource(t *testing.T) {
	for _, c := range []struct {
		name, statement, want, findings string
	}{
		{"exact", "https://law.example/1 a LegalResource", "https://law.example/1", ""},
		{"one statement is enough", "https://law.example/1 id_local 1", "https://law.example/1", ""},
		{"http", "http://law.example/1 a LegalResource", "http://law.example/1", "eli-uri"},
		{"www", "https://www.law.example/1 a LegalResource", "https://www.law.example/1", "eli-uri"},
		{"a slash", "https://law.example/1/ a LegalResource", "https://law.example/1/", "eli-uri"},
		{"an escape", "https://law.example/%31 a LegalResource", "https://law.example/%31", "eli-uri"},
		{"case of the host and the default port", "https://LAW.example:443/1 a LegalResource", "https://LAW.example:443/1", "eli-uri"},
		{"the same", "https://law.example/abc a LegalResource\nhttps://law.example/abc http://www.w3.org/2002/07/owl#sameAs https://law.example/1", "https://law.example/abc", "eli-uri"},
		{"the same, the other way round", "https://law.example/abc a LegalResource\nhttps://law.example/1 http://www.w3.org/2002/07/owl#sameAs https://law.example/abc", "https://law.example/abc", "eli-uri"},
		{"the same, but not described", "2 a LegalResource\nhttps://law.example/1 http://www.w3.org/2002/07/owl#sameAs https://law.example/abc", "!2", ""},
		{"another one", "2 a LegalResource", "!2", ""},
		{"no more than ten others", strings.Repeat("% a LegalResource\n", 12), "!20 21 22 23 24 25 26 27 28 29", ""},
		{"only expressions of others", "2/en a LegalExpression", "!", ""},
		{"only a blank node", "_:x a LegalResource", "!", ""},
		{"only an object", "2 cites 1", "!", ""},
		{"a path in another case", "https://law.example/a/B a LegalResource", "!a/B", ""},
		{"metadata of other vocabularies", `1 http://purl.org/dc/terms/title "T"`, "?", ""},
		{"other types", `1 a http://schema.org/Book`, "?", ""},
		{"schema.org", `1 a http://schema.org/Legislation`, "https://law.example/1", "eli-schema"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var statements []string
			for i, s := range strings.Split(strings.TrimSpace(c.statement), "\n") {
				statements = append(statements, strings.ReplaceAll(s, "% ", strconv.Itoa(20+i)+" "))
			}
			var findings []websync.Finding
			g := graph(t, func(f websync.Finding) { findings = append(findings, f) }, statements...)
			r, err := g.Resource("https://law.example/1")
			assert.Equal(t, c.findings, strings.Join(testkit.Rules(findings), " "))
			others, isOther := strings.CutPrefix(c.want, "!")
			if !isOther && c.want != "?" {
				require.NoError(t, err)
				assert.Equal(t, c.want, r.URI)
				return
			}
			var fault *eli.ResourceError
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, "https://law.example/1", fault.URI)
			if !isOther {
				assert.ErrorIs(t, err, eli.ErrNoMetadata)
				assert.EqualError(t, err, "eli: https://law.example/1: no ELI metadata")
				return
			}
			assert.ErrorIs(t, err, eli.ErrNotDescribed)
			assert.Equal(t, strings.Fields(others), strings.Fields(strings.ReplaceAll(strings.Join(fault.Described, " "), "https://law.example/", "")))
		})
	}
}

func TestLegalResource(t *testing.T) {
	r := resource(t, graph(t, nil,
		"1 a LegalResource", "1 a http://schema.org/Legislation", "1 a _:x", `1 title " T "@en`, `1 title_short "S"`, `1 title_alternative "A"`,
		"1 type_document types/law", `1 version "v2"`, "1 version versions/2", `1 date_document "2016"`, `1 date_publication "soon"`, `1 date_publication "2016-03-08"`,
		`1 date_applicability "2016-03-09T00:00:00Z"`, "1 date_no_longer_in_force dates/1", "1 has_member 1/a", "2 is_member_of 1", "1/a is_member_of 1", "_:y is_member_of 1",
		`1 publisher "P"`, "1 publisher_agent agents/p", `1 responsibility_of "R"`, "1 http://purl.org/dc/terms/creator agents/c",
		"1 is_realized_by 1/only-linked", "1/only-linked realizes 1", "1 is_realized_by 1/en", "1/en a LegalExpression", `1/en title "T"@en`, `1/en title "T2"`, `1/en language "en"`,
	))
	assert.Equal(t, []string{"LegalResource", "http://schema.org/Legislation"}, r.Types)
	assert.True(t, r.IsA("Work", "LegalResource"))
	assert.False(t, r.IsA("LegalExpression"))
	assert.Equal(t, []eli.Text{{Value: "T", Lang: "en"}}, r.Titles)
	assert.Equal(t, []eli.Text{{Value: "S"}}, r.TitlesShort)
	assert.Equal(t, []eli.Text{{Value: "A"}}, r.TitlesAlternative)
	assert.Equal(t, []eli.Text{{Value: "T", Lang: "en"}, {Value: "T2", Lang: "en"}}, r.AllTitles())
	assert.Equal(t, "https://law.example/types/law", r.TypeDocument)
	assert.Equal(t, "v2", r.Version)
	assert.Equal(t, "2016", r.DateDocument.String())
	assert.Equal(t, "2016-03-08", r.DatePublication.String(), "the first that is a date")
	assert.Equal(t, "2016-03-09T00:00:00Z", r.DateApplicability.String())
	assert.True(t, r.DateNoLongerInForce.IsZero())
	assert.Equal(t, []string{"https://law.example/1/a", "https://law.example/2"}, r.HasMember)
	assert.Len(t, r.Values("has_member"), 3)
	assert.Equal(t, []string{"P", "https://law.example/agents/p"}, r.Publisher)
	assert.Equal(t, []string{"R"}, r.ResponsibilityOf)
	assert.Equal(t, []string{"https://law.example/agents/c"}, r.Strings("http://purl.org/dc/terms/creator"))
	assert.Empty(t, r.Values("no_such_term"))
	assert.Empty(t, new(eli.Entity).Values("title"))
	require.Len(t, r.Expressions, 2)
	assert.Equal(t, "https://law.example/1/en", r.Expressions[0].URI, "what is described comes first")
	assert.True(t, r.Expressions[1].Linked)
}

func TestLanguages(t *testing.T) {
	const authority = "http://publications.europa.eu/resource/authority/language/"
	for _, c := range []struct{ statements, want, findings string }{
		{"language " + authority + "FRA", "fr", ""},
		{"language " + authority + "HRV", "hr", ""},
		{"language " + authority + "GLE", "ga", ""},
		{"language " + authority + "NOB", "nb", ""},
		{"language " + authority + "LTZ", "lb", ""},
		{"language " + authority + "SQI", "sq", ""},
		{"language " + authority + "EUS", "eu", ""},
		{"language " + authority + "MUL", "mul", ""},
		{"language " + authority + "fra", "fr", "eli-language"},
		{"language https://publications.europa.eu/resource/authority/language/FRA", "fr", "eli-language"},
		{"language http://id.loc.gov/vocabulary/iso639-2/fre", "fr", "eli-language"},
		{"language http://lexvo.org/id/iso639-3/sme/", "se", "eli-language"},
		{"language http://law.example/languages#gsw", "gsw", "eli-language"},
		{`language "FR"`, "fr", "eli-language"},
		{`language "fra"`, "fr", "eli-language"},
		{`language "ger"`, "de", "eli-language"},
		{`language "fr_be"`, "fr-BE", "eli-language"},
		{`language "sr-latn-rs"`, "sr-Latn-RS", "eli-language"},
		{`language "French"`, "", "eli-language"},
		{`language ""`, "", "eli-language"},
		{`language "xx-!"`, "", "eli-language"},
		{"language _:x", "", "eli-language"},
		{"language " + authority + "XXXX\nlanguage " + authority + "SWE", "sv", "eli-language"},
		{`title "T"@de-AT`, "de-AT", "eli-language"},
		{"language " + authority + "POR", "pt", ""},
		{"language " + authority + "PRT", "pt", "eli-language"},
		{"language " + authority + "DNK", "da", "eli-language"},
		{"language " + authority + "GER", "de", "eli-language"},
		{"language " + authority + "PT", "pt", "eli-language"},
		{`language "por"`, "pt", "eli-language"},
		{"language " + authority + "FRA\nlanguage " + authority + "NLD", "fr nl", ""},
		{`language "fr, NLD; de-BE"`, "fr nl de-BE", "eli-language"},
		{`language "fr"` + "\nlanguage " + authority + "FRA\nlanguage " + authority + "XX", "fr", "eli-language"},
		{`title "T"`, "", ""},
	} {
		t.Run(c.statements, func(t *testing.T) {
			statements := []string{"1 is_realized_by 1/x1"}
			for s := range strings.SplitSeq(c.statements, "\n") {
				statements = append(statements, "1/x1 "+s)
			}
			var findings []websync.Finding
			r := resource(t, graph(t, func(f websync.Finding) { findings = append(findings, f) }, statements...))
			assert.Equal(t, c.want, strings.Join(r.Expressions[0].Languages, " "))
			first, _, _ := strings.Cut(c.want, " ")
			assert.Equal(t, first, r.Expressions[0].Language)
			assert.Equal(t, c.findings, strings.Join(testkit.Rules(findings), " "))
		})
	}
	r := resource(t, graph(t, nil, "1 is_realized_by 1/pol", "1 is_realized_by 1/sv", "1 is_realized_by 1/pdf", "1 is_realized_by _:x"))
	var tags []string
	for _, x := range r.Expressions {
		tags = append(tags, x.Language)
	}
	assert.Equal(t, []string{"pl", "sv", "", ""}, tags, "by the last step of the URI")
}

func TestMediaTypes(t *testing.T) {
	const iana = "https://www.iana.org/assignments/media-types/"
	const files = "http://publications.europa.eu/resource/authority/file-type/"
	for _, c := range []struct{ statement, want, findings string }{
		{"media_type " + iana + "text/html", "text/html", ""},
		{"format " + iana + "application/pdf", "application/pdf", ""},
		{"media_type http://www.iana.org/assignments/media-types/text/html", "text/html", "eli-media-type"},
		{"media_type http://iana.org/assignments/media-types/text/html", "text/html", "eli-media-type"},
		{"media_type " + iana + "Text/HTML", "text/html", "eli-media-type"},
		{"media_type " + iana + "text/html;type=generated", "text/html", "eli-media-type"},
		{"media_type " + iana + "text/html%3Btype=generated", "text/html", "eli-media-type"},
		{"media_type " + iana + "html", "", "eli-media-type"},
		{"media_type https://law.example/media-types/text/html", "", "eli-media-type"},
		{"media_type " + files + "PDF", "application/pdf", "eli-media-type"},
		{"media_type " + files + "pdfa1b", "application/pdf", "eli-media-type"},
		{"media_type " + files + "HTML", "text/html", "eli-media-type"},
		{"media_type " + files + "HTML_SIMPL", "text/html", "eli-media-type"},
		{"media_type " + files + "XHTML", "application/xhtml+xml", "eli-media-type"},
		{"media_type " + files + "FMX4", "application/xml", "eli-media-type"},
		{"media_type " + files + "DOCX", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "eli-media-type"},
		{`media_type "text/html"`, "text/html", "eli-media-type"},
		{`media_type "Application/PDF; version=1.7"`, "application/pdf", "eli-media-type"},
		{`media_type "PDF"`, "application/pdf", "eli-media-type"},
		{`media_type ".html"`, "text/html", "eli-media-type"},
		{`media_type "` + iana + `text/html"`, "text/html", "eli-media-type"},
		{`media_type "a nice page"`, "", "eli-media-type"},
		{"media_type _:x", "application/pdf", "eli-media-type"},
	} {
		t.Run(c.statement, func(t *testing.T) {
			var findings []websync.Finding
			r := resource(t, graph(t, func(f websync.Finding) { findings = append(findings, f) },
				"1 is_realized_by 1/x1", "1/x1 is_embodied_by 1/x1.pdf", "1/x1.pdf "+c.statement))
			assert.Equal(t, c.want, r.Expressions[0].Formats[0].MediaType)
			assert.Equal(t, c.findings, strings.Join(testkit.Rules(findings), " "))
		})
	}
}

// What is no URL of the web is not left out in silence.
func TestExemplifiedBy(t *testing.T) {
	var findings []websync.Finding
	r := resource(t, graph(t, func(f websync.Finding) { findings = append(findings, f) }, "1 is_realized_by 1/x1", "1/x1 is_embodied_by 1/x1.pdf",
		"1/x1.pdf is_exemplified_by file:///etc/passwd", "1/x1.pdf is_exemplified_by https://law.example/files/1.pdf", `1/x1.pdf is_exemplified_by "files/1.pdf"`))
	assert.Equal(t, []string{"https://law.example/files/1.pdf"}, r.Expressions[0].Formats[0].ExemplifiedBy)
	var left []string
	for _, f := range findings {
		if f.Rule == "eli-file-url" {
			left = append(left, f.Value)
		}
	}
	assert.Equal(t, []string{"file:///etc/passwd", "files/1.pdf"}, left)
}

// A page with JSON-LD only, and extractors.
func TestReadPage(t *testing.T) {
	script := `<html><script type="Application/LD+JSON">{"@context":"http://data.europa.eu/eli/ontology","@id":"_:a","title":"T"}</script></html>`
	rdfaOnly := []eli.Extractor{new(rdfa.Extractor)}
	for _, extractors := range [][]eli.Extractor{nil, rdfaOnly} {
		_, err := eli.ReadPage([]byte(script), actURI, "text/html", extractors, nil)
		assert.ErrorIs(t, err, eli.ErrNoMetadata)
		assert.EqualError(t, err, "eli: "+actURI+": no ELI metadata in RDFa, but there is JSON-LD: add a jsonld.Extractor")
	}
	g, err := eli.ReadPage([]byte(script+`<p about="_:a" property="eli:title">T</p>`), actURI, "text/html", all, nil)
	require.NoError(t, err)
	require.Len(t, g.Triples(), 2)
	assert.NotEqual(t, g.Triples()[0].Subject, g.Triples()[1].Subject, "blank nodes of two extractors")

	_, err = eli.ReadPage([]byte(script+`<p property="eli:title">T</p>`), actURI, "text/html", nil, nil)
	assert.NoError(t, err, "with metadata in RDFa as well")

	g, err = eli.ReadPage([]byte(`{"@id":"`+actURI+`","http://data.europa.eu/eli/ontology#title":"T"}`), actURI, "application/ld+json", all, nil)
	require.NoError(t, err, "one of the extractors reads it")
	_, err = g.Resource(actURI)
	assert.NoError(t, err)

	_, err = eli.ReadPage([]byte("%PDF-1.7"), actURI, "application/pdf", all, nil)
	assert.ErrorIs(t, err, websync.ErrNotDocument)
	_, err = eli.ReadPage([]byte(strings.Repeat("<div>", 600)), actURI, "text/html", all, nil)
	assert.ErrorIs(t, err, websync.ErrLimit)
	_, err = eli.ReadPage([]byte("<p>"), actURI, "text/html", []eli.Extractor{&rdfa.Extractor{MaxBytes: 1}, &jsonld.Extractor{}}, nil)
	assert.ErrorIs(t, err, websync.ErrLimit, "an extractor that fails makes the page fail")
	assert.False(t, errors.Is(err, websync.ErrNotDocument))
}
