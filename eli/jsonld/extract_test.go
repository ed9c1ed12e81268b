package jsonld_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdf"
)

const base = "https://law.example/dir/doc"

var abbreviations = strings.NewReplacer(
	"<"+rdf.Type+">", "a", "<"+rdf.Namespace, "<rdf:", "<"+rdf.XSD, "<xsd:", "<"+base, "<", "<https://law.example/", "<l:",
	"<http://data.europa.eu/eli/ontology#", "<eli:", "<http://schema.org/", "<schema:", "<http://e.example/", "<e:")

// extract returns the triples in a short form, and the findings.
func extract(t *testing.T, x *jsonld.Extractor, doc, media string) ([]string, []websync.Finding) {
	t.Helper()
	var findings []websync.Finding
	triples, err := x.Extract(strings.NewReader(doc), base, media, func(f websync.Finding) { findings = append(findings, f) })
	require.NoError(t, err)
	lines := []string{}
	for _, t := range triples {
		lines = append(lines, strings.TrimSuffix(abbreviations.Replace(t.String()), " ."))
	}
	return lines, findings
}

func script(json string) string {
	return "<!DOCTYPE html>\n<html><head><title>T</title>\n<script type=\"application/ld+json\">" + json + "</script></head><body></body></html>"
}

// JSON-LD as a whole document.
func TestTriples(t *testing.T) {
	const ns = `"e":"http://e.example/"`
	for _, c := range []struct {
		name, doc string
		want      []string
		findings  []string
	}{
		{"nothing", `{}`, nil, []string{"jsonld-empty"}},
		{"an empty array", `[]`, nil, nil},
		{"identifiers", `{"@context":{` + ns + `},"@id":"","e:p":[{"@id":"x"},{"@id":"/y"},{"@id":"_:b"},{"@id":"e:z"}],"e:q":{"@id":"_:b"}}`,
			[]string{`<> <e:p> <l:dir/x>`, `<> <e:p> <l:y>`, `<> <e:p> _:b1`, `<> <e:p> <e:z>`, `<> <e:q> _:b1`}, nil},
		{"a node without one", `{"@context":{` + ns + `},"@type":"e:T","e:p":{"e:q":"v"}}`,
			[]string{`_:b1 a <e:T>`, `_:b2 <e:q> "v"`, `_:b1 <e:p> _:b2`}, nil},
		{"literals", `{"@context":{` + ns + `,"xsd":"http://www.w3.org/2001/XMLSchema#"},"@id":"","e:a":["v",true,-7,0.5,1e30,-0,12345678901],"e:b":{"@value":"2026-01-01","@type":"xsd:date"},"e:c":{"@value":"x","@language":"fr-BE"},"e:d":{"@value":5,"@type":"xsd:double"},"e:e":null}`,
			[]string{`<> <e:a> "v"`, `<> <e:a> "true"^^<xsd:boolean>`, `<> <e:a> "-7"^^<xsd:integer>`, `<> <e:a> "5.0E-1"^^<xsd:double>`, `<> <e:a> "1.0E30"^^<xsd:double>`,
				`<> <e:a> "0"^^<xsd:integer>`, `<> <e:a> "12345678901"^^<xsd:integer>`, `<> <e:b> "2026-01-01"^^<xsd:date>`, `<> <e:c> "x"@fr-be`, `<> <e:d> "5.0E0"^^<xsd:double>`}, nil},
		{"a literal of JSON", `{"@context":{"p":{"@id":"http://e.example/p","@type":"@json"}},"@id":"","p":{"b":1,"a":[null]}}`,
			[]string{`<> <e:p> "{\"a\":[null],\"b\":1}"^^<rdf:JSON>`}, nil},
		{"languages", `{"@context":{"t":{"@id":"http://e.example/t","@container":"@language"}},"@id":"","t":{"sv":"Lag","fi":["Laki"],"@none":"X"}}`,
			[]string{`<> <e:t> "X"`, `<> <e:t> "Laki"@fi`, `<> <e:t> "Lag"@sv`}, nil},
		{"no language", `{"@context":{` + ns + `},"@id":"","e:p":{"@value":"x","@language":"_"}}`, []string{`<> <e:p> "x"`}, []string{"jsonld-lang"}},
		{"a list of nothing", `{"@context":{"@base":null,"p":{"@id":"http://e.example/p","@type":"@id","@container":"@list"}},"@id":"e:x","p":["y","e:z"]}`,
			[]string{`_:b1 <rdf:first> <e:z>`, `_:b1 <rdf:rest> <rdf:nil>`, `_:b2 <rdf:rest> _:b1`, `<e:x> <e:p> _:b2`}, nil},
		{"lists", `{"@context":{` + ns + `},"@id":"","e:p":{"@list":[1,{"@list":[]}]},"e:q":{"@list":[]}}`,
			[]string{`_:b1 <rdf:first> <rdf:nil>`, `_:b1 <rdf:rest> <rdf:nil>`, `_:b2 <rdf:first> "1"^^<xsd:integer>`, `_:b2 <rdf:rest> _:b1`, `<> <e:p> _:b2`, `<> <e:q> <rdf:nil>`}, nil},
		{"reverse", `{"@context":{` + ns + `},"@id":"x","@reverse":{"e:p":[{"@id":"y"},{"@id":"z","e:q":"v"}]}}`,
			[]string{`<l:dir/y> <e:p> <l:dir/x>`, `<l:dir/z> <e:q> "v"`, `<l:dir/z> <e:p> <l:dir/x>`}, nil},
		{"a graph", `{"@context":{` + ns + `},"@graph":[{"@id":"x","e:p":"v"},{"@id":"y","e:p":"v"}]}`,
			[]string{`<l:dir/x> <e:p> "v"`, `<l:dir/y> <e:p> "v"`}, nil},
		{"a named graph", `{"@context":{` + ns + `},"@id":"g","@graph":[{"@id":"x","e:p":"v"}]}`, []string{`<l:dir/x> <e:p> "v"`}, []string{"jsonld-graph"}},
		{"included", `{"@context":{` + ns + `},"@id":"x","@included":{"@id":"y","e:p":"v"}}`, []string{`<l:dir/y> <e:p> "v"`}, nil},
		{"statements once", `[{"@context":{` + ns + `},"@id":"x","e:p":["v","v"]},{"@id":"x","http://e.example/p":"v"}]`, []string{`<l:dir/x> <e:p> "v"`}, nil},
		{"blank nodes of an array", `[{"@id":"_:x","http://e.example/p":"v"},{"@id":"_:x","http://e.example/q":"v"}]`, []string{`_:b1 <e:p> "v"`, `_:b1 <e:q> "v"`}, nil},
		{"base", `{"@context":{"@base":"/other/",` + ns + `},"@id":"x","e:p":{"@id":""}}`, []string{`<l:other/x> <e:p> <l:other/>`}, nil},
		{"an empty step after a base", `[{"@context":{"@base":"http://b.example/x/"},"@id":"/a//b","http://e.example/p":{"@context":{"@base":"y/"},"@id":"z"}},{"@id":"/a//b","http://e.example/q":1}]`,
			[]string{`<http://b.example/a//b> <e:p> <http://b.example/x/y/z>`, `<l:a//b> <e:q> "1"^^<xsd:integer>`}, nil},
		{"no base", `{"@context":[{"@base":"b/"},{"@base":null}],"@id":"x","http://e.example/p":1,"http://e.example/q":{"@id":"e:y","http://e.example/p":2}}`, []string{`<e:y> <e:p> "2"^^<xsd:integer>`}, nil},
		{"a wrong base", `{"@context":{"@base":5},"http://e.example/p":1}`, nil, []string{"jsonld-invalid", "jsonld-empty"}},
		{"a keyword as a type", `{"@context":{"g":{"@id":"http://e.example/g","@container":"@type"}},"@id":"","g":{"@id":"x"}}`, []string{`<> <e:g> <l:dir/x>`}, nil},
		{"vocab", `{"@context":{"@vocab":"http://e.example/"},"@id":"","@type":"T","p":"v"}`, []string{`<> a <e:T>`, `<> <e:p> "v"`}, nil},
		{"a type without vocab", `{"@id":"","@type":"T"}`, []string{`<> a <l:dir/T>`}, nil},
		{"characters", `{"@context":{` + ns + `},"@id":"a b","e:p q":{"@id":"http://e.example/{x}"}}`, []string{`<l:dir/a%20b> <e:p%20q> <e:%7Bx%7D>`}, []string{"jsonld-iri", "jsonld-iri", "jsonld-iri"}},
		{"a scoped context", `{"@context":{"p":{"@id":"http://e.example/p","@context":{"q":"http://e.example/q"}}},"@id":"","p":{"@id":"x","q":"v"}}`,
			[]string{`<l:dir/x> <e:q> "v"`, `<> <e:p> <l:dir/x>`}, nil},
		{"two number signs", `{"@id":"#a#b","@reverse":{"http://e.example/p":{"@id":"y"}}}`, []string{`<l:dir/y> <e:p> <#a%23b>`}, []string{"jsonld-iri"}},
		{"a character of a datatype", `{"@id":"","http://e.example/p":{"@value":"v","@type":"http://e.example/a b"}}`, []string{`<> <e:p> "v"^^<e:a%20b>`}, []string{"jsonld-iri"}},
		{"several datatypes", `{"@id":"","http://e.example/p":{"@value":"v","@type":["e:a","e:b"]}}`, []string{`<> <e:p> "v"`}, []string{"jsonld-datatype"}},
		{"one datatype as an array", `{"@id":"","http://e.example/p":{"@value":"v","@type":["e:a"]}}`, []string{`<> <e:p> "v"^^<e:a>`}, []string{"jsonld-datatype"}},
		{"null", `{"@context":{` + ns + `},"@id":null,"@type":null,"e:p":"v"}`, []string{`_:b1 <e:p> "v"`}, []string{"jsonld-null", "jsonld-null"}},
		{"a node that is none", `[{"@id":5},{"@id":"x","http://e.example/p":"v"}]`, []string{`<l:dir/x> <e:p> "v"`}, []string{"jsonld-invalid"}},
		{"a byte-order mark", "\ufeff" + `{"@id":"","http://e.example/p":"v"}`, []string{`<> <e:p> "v"`}, nil},

		{"schema.org", `{"@context":"https://schema.org","@type":"Legislation","@id":"1","name":"Lag","legislationDate":"2026-01-01","legislationChanges":"2","workExample":{"@type":"Legislation","inLanguage":"sv"}}`,
			[]string{`<l:dir/1> a <schema:Legislation>`, `<l:dir/1> <schema:legislationChanges> "2"`, `<l:dir/1> <schema:legislationDate> "2026-01-01"^^<schema:Date>`, `<l:dir/1> <schema:name> "Lag"`,
				`_:b1 a <schema:Legislation>`, `_:b1 <schema:inLanguage> "sv"`, `<l:dir/1> <schema:workExample> _:b1`}, nil},
		{"only what may be a URL is a link", `{"@context":"https://schema.org","@id":"1","citation":"Law 12/2020","about":"salt","hasPart":"Annex","legislationLegalForce":"InForce","workExample":"sv","translationOfWork":"x","encodesCreativeWork":"y","license":"by","url":"a","sameAs":"b","contentUrl":"c","isPartOf":{"@id":"d"}}`,
			[]string{`<l:dir/1> <schema:about> "salt"`, `<l:dir/1> <schema:citation> "Law 12/2020"`, `<l:dir/1> <schema:contentUrl> <l:dir/c>`, `<l:dir/1> <schema:encodesCreativeWork> "y"`, `<l:dir/1> <schema:hasPart> "Annex"`,
				`<l:dir/1> <schema:isPartOf> <l:dir/d>`, `<l:dir/1> <schema:legislationLegalForce> "InForce"`, `<l:dir/1> <schema:license> <l:dir/by>`, `<l:dir/1> <schema:sameAs> <l:dir/b>`,
				`<l:dir/1> <schema:translationOfWork> "x"`, `<l:dir/1> <schema:url> <l:dir/a>`, `<l:dir/1> <schema:workExample> "sv"`}, nil},
		{"the ontology", `{"@context":["http://schema.org/",{"@language":"sv"},"https://data.europa.eu/eli/ontology#"],"id":"1","type":"LegalResource","eli:date_document":"2026-01-01","is_realized_by":{"id":"1/sv","title":"Lag"}}`,
			[]string{`<l:dir/1> a <eli:LegalResource>`, `<l:dir/1> <eli:date_document> "2026-01-01"^^<xsd:date>`, `<l:dir/1/sv> <eli:title> "Lag"@sv`, `<l:dir/1> <eli:is_realized_by> <l:dir/1/sv>`}, nil},
		{"an import", `{"@context":{"@version":1.1,"@import":"http://data.europa.eu/eli/ontology","number":null},"id":"1","number":"7","id_local":"8"}`, []string{`<l:dir/1> <eli:id_local> "8"`}, nil},
		{"an unknown context", `{"@context":["/context.jsonld",{` + ns + `}],"@id":"","@type":["T","e:T"],"p":"v","e:p":"v"}`, []string{`<> a <e:T>`, `<> <e:p> "v"`}, []string{"jsonld-context", "jsonld-type"}},
		{"an unknown import", `{"@context":{"@import":"http://e.example/c",` + ns + `},"@id":"","e:p":"v"}`, []string{`<> <e:p> "v"`}, []string{"jsonld-context"}},
		{"an unknown scoped context", `{"@context":{"p":{"@id":"http://e.example/p","@context":"http://e.example/c"}},"@id":"","p":"v"}`, []string{`<> <e:p> "v"`}, []string{"jsonld-context"}},
		{"nothing but an unknown context", `{"@context":"http://e.example/c","@id":"","p":"v"}`, nil, []string{"jsonld-context", "jsonld-empty"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, findings := extract(t, new(jsonld.Extractor), c.doc, "application/ld+json")
			assert.Equal(t, strings.Join(c.want, "\n"), strings.Join(got, "\n"))
			var names []string
			for _, f := range findings {
				names = append(names, f.Rule)
				assert.Equal(t, base, f.Document)
				assert.Equal(t, 1, f.Line)
			}
			assert.Equal(t, c.findings, names, findings)
		})
	}
}
