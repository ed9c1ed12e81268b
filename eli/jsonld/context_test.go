package jsonld_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/eli/jsonld"
)

// Bases and vocabularies that are relative, or none.
func TestScopes(t *testing.T) {
	const p = `"http://e.example/p"`
	for _, c := range []struct{ name, doc, want, findings string }{
		{"the page as the vocabulary", `{"@context":{"@vocab":""},"@id":"","@type":"T","p":"v"}`, `<> a <T>; <> <p> "v"`, ""},
		{"its terms", `{"@context":{"@vocab":"#"},"@id":"","@type":"T","p":"v"}`, `<> a <#T>; <> <#p> "v"`, ""},
		{"a path", `{"@context":{"@vocab":"/ns/"},"@id":"","p":"v"}`, `<> <l:ns/p> "v"`, ""},
		{"relative to a new base", `{"@context":{"@vocab":"#","@base":"http://e.example/a/b"},"@id":"","p":"v"}`, `<e:a/b> <e:a/b#p> "v"`, ""},
		{"added to a vocabulary", `{"@context":[{"@vocab":"http://e.example/"},{"@vocab":"ns#"}],"@id":"","p":"v"}`, `<> <e:ns#p> "v"`, ""},
		{"in a node inside", `{` + p + `:{"@context":{"@vocab":"#"},"p":"v"}}`, `_:b2 <#p> "v"; _:b1 <e:p> _:b2`, ""},
		{"after none", `{"@context":[{"@vocab":"http://e.example/"},{"@vocab":null},{"@vocab":"#"}],"@id":"","p":"v"}`, `<> <#p> "v"`, ""},
		{"without a base", `{"@context":{"@base":null,"@vocab":"#"},"@id":"e:x","p":"v","e:p":"v"}`, `<e:x> <e:p> "v"`, ""},
		{"a term as the vocabulary", `{"@context":[{"ns":"http://e.example/ns#"},{"@vocab":"ns"}],"@id":"","p":"v"}`, `<> <e:ns#p> "v"`, ""},
		{"a compact IRI", `{"@context":[{"ns":"http://e.example/ns#"},{"@vocab":"ns:a/"}],"@id":"","p":"v"}`, `<> <e:ns#a/p> "v"`, ""},
		{"of the context of a term", `{"@context":{"x":{"@id":"e:x","@context":{"@vocab":"#"}}},"@id":"","x":{"@id":"y","p":"v"}}`, `<l:dir/y> <#p> "v"; <> <e:x> <l:dir/y>`, ""},
		{"the base of the context of a term", `{"@context":[{"@base":"a/"},{"x":{"@id":"e:x","@context":{"@base":"b/","@vocab":"#"}}}],"@id":"","x":{"@id":"y","p":"v"}}`,
			`<l:dir/a/b/y> <l:dir/a/b/#p> "v"; <l:dir/a/> <e:x> <l:dir/a/b/y>`, ""},
		{"a reserved name as a base", `{"@context":{"@base":"@a/"},"@id":"b",` + p + `:1}`, `<l:dir/@a/b> <e:p> "1"^^<xsd:integer>`, ""},

		{"no base inside", `{"@id":"",` + p + `:{"@context":{"@base":null},"@id":"x",` + p + `:{"@id":"e:y",` + p + `:{"@id":"z"}}}}`, "", "jsonld-empty"},
		{"no base in a sibling", `{"@id":"",` + p + `:[{"@context":{"@base":null},"@id":"x"},{"@id":"y"}]}`, `<> <e:p> <l:dir/y>`, ""},
		{"the base of the page again", `{"@context":{"@base":"http://e.example/"},"@id":"a",` + p + `:{"@context":null,"@id":"b",` + p + `:{"@id":"c"}}}`,
			`<l:dir/b> <e:p> <l:dir/c>; <e:a> <e:p> <l:dir/b>`, ""},
		{"bases inside of each other", `{"@id":"",` + p + `:{"@context":{"@base":"a/"},"@id":"",` + p + `:{"@context":[{"@base":"b//"},{"@base":"c"}],"@id":"",` + p + `:{"@id":"d"}}}}`,
			`<l:dir/a/b//c> <e:p> <l:dir/a/b//d>; <l:dir/a/> <e:p> <l:dir/a/b//c>; <> <e:p> <l:dir/a/>`, ""},
		{"keys with marks of pointers", `{"@id":"","http://e.example/a~b":{"@context":{"@base":"http://e.example/"},"@id":"x","@type":"T"}}`, `<e:x> a <e:T>; <> <e:a~b> <e:x>`, ""},
		{"a base of a list", `{"@id":"",` + p + `:{"@list":[{"@context":{"@base":"http://e.example/"},"@id":"x"},{"@id":"x"}]}}`,
			`_:b1 <rdf:first> <l:dir/x>; _:b1 <rdf:rest> <rdf:nil>; _:b2 <rdf:first> <e:x>; _:b2 <rdf:rest> _:b1; <> <e:p> _:b2`, ""},
		{"a base of a set", `{"@id":"",` + p + `:{"@context":{"@base":"http://e.example/"},"@set":[{"@id":"x"},{"@id":"y",` + p + `:1}]}}`,
			`<> <e:p> <e:x>; <e:y> <e:p> "1"^^<xsd:integer>; <> <e:p> <e:y>`, ""},
		{"a relative base without one", `{"@context":[{"@base":null},{"@base":"x/"}],"@id":"e:x",` + p + `:1}`, "", "jsonld-invalid jsonld-empty"},

		{"a reserved name as an id", `{"@id":"",` + p + `:[{"@id":"@about"},{"@id":"@"},{"@id":"@a.b"},{"@id":""}]}`, `<> <e:p> <l:dir/@>; <> <e:p> <l:dir/@a.b>; <> <e:p> <>`, "jsonld-reserved"},
		{"a reserved name of a term's type", `{"@context":"https://schema.org","@id":"","sameAs":["@example","x"],"name":"@example"}`, `<> <schema:name> "@example"; <> <schema:sameAs> <l:dir/x>`, "jsonld-reserved"},
		{"a reserved name as a subject and a type", `[{"@id":"@about",` + p + `:1},{"@id":"","@type":"@about"}]`, "", "jsonld-reserved jsonld-empty"},

		{"a context in JSON", `{"@context":{"p":{"@id":` + p + `,"@type":"@json"}},"@id":"","p":[{"@context":"e:c","@id":null}]}`, `<> <e:p> "[{\"@context\":\"e:c\",\"@id\":null}]"^^<rdf:JSON>`, ""},
		{"canonical JSON", `{"@id":"","http://e.example/p":{"@type":"@json","@value":{"\ufb33":-0,"\ud83d\ude02":"<&>\u2028\u007f\u0001\n\"\\","a":[1e21,1e-7,0.10,333333333.33333329,true,null]}}}`,
			"<> <e:p> \"{\\\"a\\\":[1e+21,1e-7,0.1,333333333.3333333,true,null],\\\"😂\\\":\\\"<&>\u2028\\u007F\\\\u0001\\\\n\\\\\\\"\\\\\\\\\\\",\\\"\ufb33\\\":0}\"^^<rdf:JSON>", ""},
		{"JSON that is no object", `{"@id":"","http://e.example/p":[{"@type":"@json","@value":"</a>"},{"@type":"@json","@value":null},{"@type":"@json","@value":-0}]}`,
			`<> <e:p> "\"</a>\""^^<rdf:JSON>; <> <e:p> "null"^^<rdf:JSON>; <> <e:p> "0"^^<rdf:JSON>`, ""},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, new(jsonld.Extractor), c.doc, c.want, c.findings) })
	}
}

// A wrong entry of a context costs itself only.
func TestWrongTerms(t *testing.T) {
	const rest = `"e":"http://e.example/","good":"e:good"`
	const body = `"@id":"","good":"v","bad":"w"`
	for _, c := range []struct{ name, entry, want, findings string }{
		{"a reserved @reverse", `"bad":{"@reverse":"@x"}`, "", "jsonld-reserved"},
		{"a reserved @id", `"bad":{"@id":"@x"}`, "", "jsonld-reserved"},
		{"a reserved name", `"bad":"@x"`, "", "jsonld-reserved"},
		{"the definition of a reserved name", `"@x":"e:x"`, "", "jsonld-reserved"},
		{"a reserved name beside a vocabulary", `"@vocab":"http://e.example/","bad":{"@reverse":"@x"}`, `<> <e:bad> "w"`, "jsonld-reserved"},
		{"a number", `"bad":7`, "", "jsonld-term"},
		{"an array", `"bad":["e:bad"]`, "", "jsonld-term"},
		{"an @id that is no string", `"bad":{"@id":5}`, "", "jsonld-term"},
		{"a relative IRI", `"bad":"bad2"`, "", "jsonld-term"},
		{"no IRI", `"bad":{"@type":"@id"}`, "", "jsonld-term"},
		{"@context by another name", `"bad":"@context"`, "", "jsonld-term"},
		{"a keyword", `"@id":"e:bad"`, "", "jsonld-term"},
		{"a datatype that is no IRI", `"bad":{"@id":"e:bad","@type":"date"}`, "", "jsonld-term"},
		{"a blank node as a datatype", `"bad":{"@id":"e:bad","@type":"_:b"}`, "", "jsonld-term"},
		{"an unknown container", `"bad":{"@id":"e:bad","@container":"@bag"}`, "", "jsonld-term"},
		{"a container that is no string", `"bad":{"@id":"e:bad","@container":5}`, "", "jsonld-term"},
		{"@reverse and @id", `"bad":{"@id":"e:bad","@reverse":"e:bad"}`, "", "jsonld-term"},
		{"an unknown key", `"bad":{"@id":"e:bad","@typ":"@id"}`, "", "jsonld-term"},
		{"a language that is no string", `"bad":{"@id":"e:bad","@language":5}`, "", "jsonld-term"},
		{"@protected that is no boolean", `"bad":{"@id":"e:bad","@protected":"yes"}`, "", "jsonld-term"},
		{"an IRI that stands for another", `"e:bad":"e:other"`, "", "jsonld-term"},
		{"two", `"bad":7,"worse":8`, "", "jsonld-term jsonld-term"},
		{"a prefix that others have", `"ns":5,"bad":"ns:bad"`, `<> <ns:bad> "w"`, "jsonld-term"},
		{"the empty name", `"":"e:x"`, "", "jsonld-term"},
		{"an empty definition of @type", `"@type":{}`, "", "jsonld-term"},
		{"@version as a string", `"@version":"1.1"`, "", "jsonld-term"},
		{"@vocab as an array", `"@vocab":[]`, "", "jsonld-term"},
		{"@language as a number", `"@language":5`, "", "jsonld-term"},
		{"@import as an object", `"@import":{}`, "", "jsonld-term"},
		{"@import of an array", `"@import":"https://law.example/array"`, "", "jsonld-term"},
		{"in the context of a term", `"x":{"@id":"e:x","@context":{"bad":7,"good":"e:better"}},"bad":null`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := jsonld.Extractor{Contexts: map[string][]byte{"https://law.example/array": []byte(`{"@context":[{"bad":"http://e.example/bad"}]}`)}}
			want := []string{`<> <e:good> "v"`}
			if c.want != "" {
				want = append(want, c.want)
			}
			slices.Sort(want)
			check(t, &x, `{"@context":{`+c.entry+","+rest+`},`+body+`}`, strings.Join(want, "; "), c.findings)
			check(t, &x, `{"@context":["https://schema.org",{"@vocab":null},[{`+c.entry+","+rest+`}]],`+body+`}`, strings.Join(want, "; "), c.findings)
		})
	}
}

// What is wrong in one place does not cost what is in others.
func TestWrongParts(t *testing.T) {
	const ns = `"e":"http://e.example/"`
	for _, c := range []struct{ name, doc, want, findings string }{
		{"a term of a context inside", `{"@context":{` + ns + `},"@id":"","e:p":{"@context":{"x":5,"y":"e:y"},"y":"v"},"e:q":[{"@context":[{"x":5}],"@id":"z"}]}`,
			`_:b1 <e:y> "v"; <> <e:p> _:b1; <> <e:q> <l:dir/z>`, "jsonld-term"},
		{"a term of a term's context", `{"@context":{` + ns + `,"p":{"@id":"e:p","@context":{"x":5,"y":"e:y"}}},"@id":"","p":{"@id":"z","x":1,"y":"v"}}`, `<l:dir/z> <e:y> "v"; <> <e:p> <l:dir/z>`, "jsonld-term"},
		{"a term of a type's context", `{"@context":{` + ns + `,"T":{"@id":"e:T","@context":{"x":5,"y":"e:y"}}},"@id":"","@type":"T","x":1,"y":"v"}`, `<> a <e:T>; <> <e:y> "v"`, "jsonld-term"},
		{"a context", `{"@context":[5,{` + ns + `}],"@id":"","e:p":"v"}`, `<> <e:p> "v"`, "jsonld-term"},
		{"a context inside of a context", `{"@context":{"x":"e:x","@context":{"@vocab":"#"}},"@id":"","p":"v"}`, `<> <#p> "v"`, "jsonld-term"},
		{"a protected term", `{"@context":[{"@protected":true,` + ns + `,"p":"e:p"},{"p":"e:q","q":"e:q"}],"@id":"","p":"v","q":"w"}`, `<> <e:p> "v"; <> <e:q> "w"`, "jsonld-term"},
		{"a protected term that is null", `{"@context":[{"@protected":true,` + ns + `,"p":null},{"p":"e:p"}],"@id":"","p":"v","e:q":"w"}`, `<> <e:q> "w"`, "jsonld-term"},
		{"a term that alone is protected, and null", `{"@context":[{"p":{"@id":null,"@protected":true},` + ns + `},{"p":"e:p"}],"@id":"","p":"v","e:q":{"@context":{"p":"e:p"},"p":1,"e:q":"w"}}`,
			`_:b1 <e:q> "w"; <> <e:q> _:b1`, "jsonld-term"},
		{"a term that is null, and not protected", `{"@context":[{` + ns + `,"p":null},{"p":"e:p"}],"@id":"","p":"v"}`, `<> <e:p> "v"`, ""},
		{"a protected term that stays null", `{"@context":[{"@protected":true,` + ns + `,"p":null},{"p":null}],"@id":"","p":"v","e:q":"w"}`, `<> <e:q> "w"`, ""},
		{"a node of a graph", `{"@context":{` + ns + `},"@graph":[{"@id":"x","e:p":"v"},{"@id":5},{"@id":"y","e:p":{"@value":{}}},{"@id":"z","e:p":"v"}]}`,
			`<l:dir/x> <e:p> "v"; <l:dir/z> <e:p> "v"`, "jsonld-invalid jsonld-invalid"},
		{"a node of a graph without a context", `{"@graph":[{"@id":5},{"@id":"z","e:p":"v"}]}`, `<l:dir/z> <e:p> "v"`, "jsonld-invalid"},
		{"a node of a graph with bases", `{"@graph":[{"@context":{"@base":"http://e.example/"},"@id":"x","e:p":{"@id":"y"}},{"@id":5},{"@id":"z","e:p":{"@context":{"@base":"/a/"},"@id":"b"}}]}`,
			`<e:x> <e:p> <e:y>; <l:dir/z> <e:p> <l:a/b>`, "jsonld-invalid"},
		{"a term beside a protected one that a term's context changes", `{"@context":[{"@protected":true,` + ns + `,"q":"e:q","p":{"@id":"e:p","@context":{"q":"e:r"}}},{"x":5}],"@id":"","p":{"@id":"z","q":"v"}}`,
			`<l:dir/z> <e:r> "v"; <> <e:p> <l:dir/z>`, "jsonld-term"},
		{"a container of a term whose context is null", `{"@context":{"p":{"@id":"e:p","@container":"@language","@context":null}},"@id":"","p":{"sv":"v"}}`, `<> <e:p> "v"@sv`, ""},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, new(jsonld.Extractor), c.doc, c.want, c.findings) })
	}
}

// Contexts of the user that refer to others.
func TestContextsOfContexts(t *testing.T) {
	x := jsonld.Extractor{Contexts: map[string][]byte{
		"https://law.example/ns/a":     []byte(`{"@context":["sub/b",{"p":{"@id":"http://e.example/p","@context":"../other#"}}]}`),
		"https://law.example/ns/sub/b": []byte(`{"@context":{"@import":"c","@base":"http://b.example/"}}`),
		"https://law.example/ns/sub/c": []byte(`{"@context":{"q":"http://e.example/q"}}`),
		"https://law.example/other":    []byte(`{"@context":{"r":"http://e.example/r"}}`),
		"https://law.example/page":     []byte(`{"@context":{"@vocab":"#"}}`),
		"https://law.example/scoped":   []byte(`{"@context":{"x":{"@id":"e:x","@context":{"@vocab":"#"}},"q":"e:q"}}`),
		"https://law.example/self":     []byte(`{"@context":{"p":{"@id":"http://e.example/p","@context":"self"},"q":"http://e.example/q"}}`),
	}}
	check(t, &x, `{"@context":[{"@base":"http://b.example/"},"../ns/a"],"@id":"x","p":{"r":"v"},"q":"w"}`, `_:b1 <e:r> "v"; <http://b.example/x> <e:p> _:b1; <http://b.example/x> <e:q> "w"`, "")
	check(t, &x, `{"@context":"/ns/a","@id":"x","q":"w"}`, `<l:dir/x> <e:q> "w"`, "")
	check(t, &x, `{"@context":[{"@protected":true,"sameAs":"e:same"},"https://schema.org"],"@id":"","sameAs":"v"}`, `<> <e:same> "v"`, "jsonld-term")
	check(t, &x, `{"@context":"https://schema.org","@id":"","sameAs":"x","name":"v"}`, `<> <schema:name> "v"; <> <schema:sameAs> <l:dir/x>`, "")
	check(t, &x, `[{"@context":[{"@base":"a"},"/page"],"@id":"","p":"v"},{"@context":[{"@base":"b"},"/page"],"@id":"","p":"v"}]`, `<l:dir/a> <l:dir/a#p> "v"; <l:dir/b> <l:dir/b#p> "v"`, "")
	check(t, &x, `[{"@context":[{"@base":"a"},"/scoped"],"@id":"","x":{"@id":"","p":"v"}},{"@context":[{"@base":"b"},"/scoped"],"@id":"","x":{"@id":"","p":"v"}}]`,
		`<l:dir/a> <l:dir/a#p> "v"; <l:dir/a> <e:x> <l:dir/a>; <l:dir/b> <l:dir/b#p> "v"; <l:dir/b> <e:x> <l:dir/b>`, "")
	check(t, &x, `[{"@context":[{"@protected":true,"q":null},"/scoped"],"@id":"","q":"v"},{"@context":"/scoped","@id":"","q":"w"}]`, `<> <e:q> "w"`, "jsonld-term")
	check(t, &x, `{"@context":"/self","p":{"p":{"q":"v"}}}`, `_:b3 <e:q> "v"; _:b2 <e:p> _:b3; _:b1 <e:p> _:b2`, "")
}

// check checks the triples of JSON-LD, and the rules of the findings.
func check(t *testing.T, x *jsonld.Extractor, doc, want, findings string) {
	t.Helper()
	got, found := extract(t, x, doc, "application/ld+json")
	var names []string
	for _, f := range found {
		names = append(names, f.Rule)
	}
	assert.Equal(t, want, strings.Join(got, "; "), found)
	assert.Equal(t, findings, strings.Join(names, " "), found)
}
