package jsonld_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// FuzzExtract: for all bytes, N-Quads can carry the triples, limits hold, and errors and
// findings name the document.
func FuzzExtract(f *testing.F) {
	for _, s := range []string{
		`{"@context":["https://schema.org",{"p":{"@id":"eli:title","@container":["@graph","@id"],"@context":{"q":null}}}],"@type":["Legislation"],"p":{"x":{"q":1}}}`,
		`{"@context":{"@vocab":"v/","@base":"b","t":{"@reverse":"p","@container":"@index"},"n":"@nest","g":"@graph"},"t":{"a":{"@id":"_:a"}},"n":{"x":[{"@list":[1,[2]]}]},"g":[{}]}`,
		`{"@context":{"@propagate":false,"@protected":true,"a:b":{"@id":"a:b"},"a":"http://a/#","j":{"@id":"a:j","@type":"@json"}},"j":[{}],"@included":[{"@id":"x"}],"@reverse":{"a:b":{}}}`,
		`[{"@value":1},{"@set":[]},{"@id":null},{"@language":"x"},null,"http://a/"]`,
		`{"@context":{"@import":"http://data.europa.eu/eli/ontology","title":{"@nest":"@nest"}},"title":{"@value":"x","@direction":"rtl","@language":"en"}}`,
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(script(s)), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, isJSON bool) {
		const most = 500
		media := "text/html"
		if isJSON {
			media = "application/ld+json"
		}
		x := jsonld.Extractor{MaxTriples: most, MaxBytes: 1 << 20}
		triples, err := x.Extract(bytes.NewReader(data), base, media, func(f websync.Finding) {
			require.Equal(t, base, f.Document)
			require.NotEmpty(t, f.Message)
		})
		testkit.CheckParseError(t, "jsonld", err)
		require.LessOrEqual(t, len(triples), most)
		w := rdf.NewWriter(new(bytes.Buffer))
		for _, triple := range triples {
			require.NoError(t, w.Write(rdf.Quad{Triple: triple}))
		}
	})
}

// mostAllocated limits what one document may allocate, in MiB.
var mostAllocated uint64 = 800

// Documents that are made to cost more than their size.
func TestHostile(t *testing.T) {
	racing.Skip(t)
	const n = 20_000
	repeat := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(format, "%", strconv.Itoa(i)))
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	long := "http://e.example/" + strings.Repeat("x", 100_000) + "/"
	nested := func(open, inner, shut string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
	}
	for name, c := range map[string]struct{ doc, want string }{
		"nested arrays":                     {nested("[", "1", "]", n), "nested deeper than 100"},
		"nested objects":                    {nested(`{"http://e.example/p":`, "1", "}", n), "nested deeper than 100"},
		"nested as deep as allowed":         {nested(`{"http://e.example/p":`, "1", "}", 100), ""},
		"brackets in a text":                {`{"http://e.example/p":"` + strings.Repeat(`[\"`, n) + `"}`, ""},
		"many values":                       {`{"http://e.example/p":[` + repeat("%,", 5*n+1) + "]}", "more than 100000 JSON values"},
		"as many nodes as allowed":          {`{"http://e.example/p":[` + repeat("{},", 5*n-3) + "]}", ""},
		"a long vocabulary":                 {`{"@context":{"@vocab":"` + long + `"},` + repeat(`"p%":1,`, n) + "}", "IRIs that become too long"},
		"a long prefix":                     {`{"@context":{"e":"` + long + `"},` + repeat(`"e:p%":1,`, n) + "}", "IRIs that become too long"},
		"a long base":                       {`{"@context":{"@base":"` + long + `"},"@graph":[` + repeat(`{"@id":"%"},`, n) + "]}", "IRIs that become too long"},
		"a vocabulary that gets longer":     {`{"@context":{"@vocab":"http://e.example/","p":{"@id":"http://e.example/p","@context":{"@vocab":"` + strings.Repeat("x", 3000) + `"}}},` + nested(`"p":{"q":1,`, repeat(`"a%":1,`, n/10), "}", 80) + "}", "IRIs that become too long"},
		"prefixes of prefixes":              {`{"@context":{"a":"http://e.example/",` + repeat(`"a%":"b%:x","b%":"a:y/",`, 100) + `},"a1:x":"v"}`, ""},
		"a long chain of prefixes":          {chain(n), "defined by each other"},
		"terms that stand for each other":   {`{"@context":[{"a":"b:x","b":"a:x"},{"b":"http://e.example/"}],"a:x":1}`, "defined by each other"},
		"contexts everywhere":               {`{"@graph":[` + repeat(`{"@context":"https://schema.org","name":"%"},`, n/4) + "]}", ""},
		"contexts of many terms everywhere": {`{"@context":{` + repeat(`"a%":"http://e.example/%",`, n) + `},"@graph":[` + repeat(`{"@context":{},"a%":1},`, n) + "]}", "contexts with"},
		"an array of contexts":              {`{"@context":[` + repeat(`"https://schema.org",`, n) + `],"name":1}`, "contexts with"},
		"contexts that reset":               {`{"@context":[{"@propagate":false},` + repeat("null,", n) + `],"http://e.example/p":1}`, "null or do not propagate"},
		"imports":                           {`{"@context":[` + repeat(`{"@import":"https://schema.org"},`, n) + `],"name":1}`, "with @import"},
		"contexts in definitions":           {`{"@context":{"@vocab":"http://e.example/",` + repeat(`"a%":{"@context":{}},`, n) + `},"@graph":[` + repeat(`{"a%":{"a%":1}},`, n/2) + "]}", "contexts with"},
		"types with contexts":               {`{"@context":{"@vocab":"http://e.example/",` + repeat(`"a%":{"@context":{"b%":null}},`, 1000) + `},"@graph":[` + repeat(`{"@type":"a1","b%":1},`, n/2) + "]}", "contexts with"},
		"many scripts":                      {"", "more than 100000 JSON values"},
		"many findings":                     {`{"@context":[` + repeat(`"http://e.example/%",`, n) + `]}`, ""},
		"a list":                            {`{"http://e.example/p":{"@list":[` + repeat("%,", 2*n) + "]}}", ""},
		"a long list":                       {`{"http://e.example/p":{"@list":[` + repeat("%,", 4*n) + "]}}", "more than 100000 triples"},
		"more attributes than a tag has":    {"<p" + repeat(" a%,", 300) + ">" + script(`{"http://e.example/p":1}`), "more than 256 attributes"},
		"wrong terms":                       {`{"@context":{"@vocab":"http://e.example/",` + repeat(`"a%":{"@id":%},`, n) + `},"p":1}`, ""},
		"a wrong term of many":              {`{"@context":{` + repeat(`"a%":"http://e.example/%",`, n) + `,"b":5},"p":1}`, ""},
		"wrong terms everywhere":            {`{"@context":{"@vocab":"http://e.example/",` + repeat(`"a%":"b%",`, 100) + `},"@graph":[` + repeat(`{"@context":{"a%":5},"p":1},`, n/40) + "]}", ""},
		"wrong nodes of a graph":            {`{"@context":{"@vocab":"http://e.example/",` + repeat(`"a%":"b%",`, 1000) + `},"@graph":[` + repeat(`{"@id":%},`, n) + "]}", ""},
		"bases everywhere":                  {`{"@graph":[` + repeat(`{"@context":{"@base":"http://e.example/%/"},"@id":"x","http://e.example/p":{"@context":{"@base":null}}},`, n/4) + "]}", ""},
		"bases inside of each other":        {nested(`{"@context":{"@base":"`+strings.Repeat("x", 1000)+`/"},"@id":"x","http://e.example/p":`, "1", "}", 98), ""},
		"terms that are protected and null": {`{"@context":[{"@protected":true,` + repeat(`"a%":null,`, n/10) + `},` + repeat(`{"a%":"e:x"},`, n/10) + `],"http://e.example/p":1}`, "contexts with"},
		"contexts around arrays":            {`{"@context":[` + repeat(`{"a%":"e:x"},`, n) + `],` + repeat(`"b%":[],`, n) + "}", "contexts with"},
		"bases below a long name":           {`{"` + long + `":[` + repeat(`{"@context":{"@base":"http://e.example/%/"}},`, n/2) + "]}", "names that are too long"},
		"a base beside a long name":         {`{"@graph":[{"@context":{"@base":"http://e.example/%/"}}],"` + long + `":[` + repeat(`%,`, n) + "]}", "names that are too long"},
		"equal values":                      {`{"http://e.example/p":[` + strings.Repeat("1,", 4*n) + "1]}", ""},
		"a literal of JSON":                 {`{"http://e.example/p":{"@type":"@json","@value":` + nested("[", `{"@context":null}`, "]", 90) + "}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			doc, media := c.doc, "application/ld+json"
			if doc == "" {
				doc = strings.Repeat(script(`{"http://e.example/p":[`+repeat("%,", 100)+"]}"), 1000)
			}
			if doc[0] == '<' {
				media = "text/html"
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := new(jsonld.Extractor).Extract(strings.NewReader(doc), base, media, func(websync.Finding) {})
			runtime.ReadMemStats(&after)
			if c.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorIs(t, err, websync.ErrLimit)
				assert.ErrorContains(t, err, c.want)
			}
			assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, mostAllocated, "MiB allocated in all")
		})
	}
}

// chain returns JSON-LD whose prefixes each stand for the next one.
func chain(n int) string {
	var b strings.Builder
	b.WriteString(`{"@context":{"a0":"http://e.example/"`)
	for i := range n {
		fmt.Fprintf(&b, `,"a%d":"a%d:x/"`, i+1, i)
	}
	return b.String() + `},"http://e.example/p":1}`
}
