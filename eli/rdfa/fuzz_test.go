package rdfa_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// FuzzExtract: for all bytes and host languages, N-Quads can carry the triples, limits
// hold, and errors and findings name the document.
func FuzzExtract(f *testing.F) {
	seeds := []string{
		`<html prefix="e: http://e.example/" lang="sv"><base href="b#c"><body vocab="v#" about="[e:x]" typeof="e:A B"><p property="p" datatype="rdf:XMLLiteral">a<b x="&quot;">c</b></p>`,
		`<div rel="dc:a dc:b" rev="license" inlist resource="_:x"><a href="a b">x</a><p property="dc:c" inlist><time property="dc:t" datetime="P1Y">x</time></div>`,
		`<div resource="#p" typeof="rdfa:Pattern"><link property="rdfa:copy" href="#q"><p property="dc:a" datatype="rdf:HTML"><br>&nbsp;</div><p about="#x"><link property="rdfa:copy" href="#p">`,
		`<?xml version="1.0"?><a xml:base="/b/" xmlns:e="http://e.example/" xml:lang="x-1"><e:b property="e:p" datatype="rdf:XMLLiteral"><e:c e:d="1"/></e:b></a>`,
		`<svg><foreignObject><p property="eli:title" lang="_">x</p></foreignObject></svg><template><p property="dc:a">`,
	}
	for _, s := range seeds {
		for host := range uint8(5) {
			f.Add([]byte(s), host)
		}
	}
	media := []string{"text/html", "application/xhtml+xml", "application/xml", "image/svg+xml", "text/html; charset=iso-8859-1", ""}
	f.Fuzz(func(t *testing.T, data []byte, host uint8) {
		const most = 500
		x := rdfa.Extractor{MaxTriples: most, MaxBytes: 1 << 20}
		triples, err := x.Extract(bytes.NewReader(data), base, media[int(host)%len(media)], func(f websync.Finding) {
			require.Equal(t, base, f.Document)
			require.NotEmpty(t, f.Message)
		})
		testkit.CheckParseError(t, "rdfa", err)
		require.LessOrEqual(t, len(triples), most)
		var b bytes.Buffer
		w := rdf.NewWriter(&b)
		for _, triple := range triples {
			require.NoError(t, w.Write(rdf.Quad{Triple: triple}))
		}
		require.NoError(t, w.Flush())
		i := 0
		for q, err := range rdf.NewReader(&b).All() {
			require.NoError(t, err)
			require.Equal(t, triples[i], q.Triple)
			i++
		}
		require.Equal(t, len(triples), i)
	})
}

// Documents that are made to cost more than their size.
func TestHostile(t *testing.T) {
	racing.Skip(t)
	const n = 5_000
	repeat := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(format, "%", strconv.Itoa(i)))
		}
		return b.String()
	}
	nested := strings.Repeat("<div property=dc:a>", 500)
	for name, c := range map[string]struct{ doc, want string }{
		"text that nested elements repeat":     {nested + strings.Repeat("x<i></i>", n*10), "repeat too much text"},
		"markup that nested elements repeat":   {strings.ReplaceAll(nested, "dc:a", "dc:a datatype=rdf:XMLLiteral") + strings.Repeat("x<i></i>", n*10), "repeat too much text"},
		"HTML that nested elements repeat":     {strings.ReplaceAll(nested, "dc:a", "dc:a datatype=rdf:HTML") + strings.Repeat("x<i></i>", n*10), "repeat too much text"},
		"a long base":                          {"<base href='/" + strings.Repeat("x", 100_000) + "/'>" + strings.Repeat("<a rel=dc:a href=x></a>", n), "repeat too much text"},
		"a long prefix":                        {"<body prefix='e: http://e.example/" + strings.Repeat("x", 100_000) + "'>" + repeat("<p property=e:%></p>", n), "repeat too much text"},
		"a long vocabulary":                    {"<body vocab='http://e.example/" + strings.Repeat("x", 100_000) + "'>" + repeat("<p property=a%></p>", n), "repeat too much text"},
		"relations of many subjects":           {"<div rel='" + repeat("dc:% ", n) + "'>" + repeat("<p about=%></p>", n), "more than 50000 triples"},
		"lists of many subjects":               {"<div inlist rel='" + repeat("dc:% ", n) + "'>" + repeat("<p about=%></p>", n), "more than 50000 triples"},
		"copies of copies":                     {repeat("<div resource=#% typeof=rdfa:Pattern><link property=rdfa:copy href=#a>", 400) + repeat("<link property=rdfa:copy href=#%>", n), ""},
		"many attributes":                      {"<p " + repeat("xmlns:a%=x ", n) + ">", "more than 256 attributes"},
		"many prefixes":                        {"<p prefix='" + repeat("a%: http://e.example/ ", n) + "' property='" + repeat("a%:x ", n) + "'>", ""},
		"many lists":                           {repeat("<p property=dc:% inlist></p>", n), ""},
		"many findings":                        {repeat("<p property=x%></p>", n), ""},
		"patterns that copy each other":        {repeat("<div resource=#% typeof=rdfa:Pattern>"+repeat("<link property=rdfa:copy href=#%>", 300)+"</div>", 150), "more than 50000 triples with the copied ones"},
		"a base that gets longer and longer":   {"<doc>" + strings.Repeat("<a xml:base='"+strings.Repeat("x", 300)+"/'>", 500) + repeat("<b about='%' typeof='dc:a'/>", n) + strings.Repeat("</a>", 500) + "</doc>", "repeat too much text"},
		"namespaces of many ancestors":         {"<doc>" + repeat("<a xmlns:a%='http://e.example/'>", 500) + "<p property='dc:a' datatype='rdf:XMLLiteral'>" + strings.Repeat("<b/>", n) + "</p>" + strings.Repeat("</a>", 500) + "</doc>", "repeat too much text"},
		"a relation with many terms":           {"<p property=dc:a rel='" + repeat("a% ", n) + "'>", ""},
		"blank nodes":                          {repeat("<p about=_:% typeof=_:a%></p>", n), ""},
		"text after text":                      {"<doc property='dc:a'>" + strings.Repeat("x<!---->", n*10) + "</doc>", ""},
		"languages":                            {repeat("<p lang=a_% property=dc:a></p>", n), ""},
		"more elements than a tree has":        {strings.Repeat("<p>", 200_000), "the tree has more nodes"},
		"the same in XML":                      {"<doc>" + strings.Repeat("<p/>", 200_000) + "</doc>", "the tree has more nodes"},
		"more text than a tree has":            {strings.Repeat("x<!---->", 60_000) + strings.Repeat("<p>"+strings.Repeat("x", 1<<20)+"</p>", 11), "the tree has more nodes"},
		"the same text in XML":                 {"<doc>" + strings.Repeat("<p/>x", 60_000) + strings.Repeat("<p>"+strings.Repeat("x", 1<<20)+"</p>", 11) + "</doc>", "the tree has more nodes"},
		"attributes in XML":                    {"<doc>" + strings.Repeat("<p a='' b='' c='' d='' e='' f='' g='' h='' i=''/>", 40_000) + "</doc>", "the tree has more nodes"},
		"long values in XML":                   {"<doc>" + strings.Repeat("<p/>", 120_000) + strings.Repeat("<p a='"+strings.Repeat("x", 1<<20)+"'/>", 11) + "</doc>", "the tree has more nodes"},
		"plain links below a hanging relation": {"<div rel=dc:a>" + strings.Repeat("<a href=x></a>", n), ""},
	} {
		t.Run(name, func(t *testing.T) {
			media := "text/html"
			if strings.HasPrefix(c.doc, "<doc") {
				media = "application/xml"
			}
			var x rdfa.Extractor
			_, err := x.Extract(strings.NewReader(c.doc), base, media, func(websync.Finding) {})
			if c.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorIs(t, err, websync.ErrLimit)
				assert.ErrorContains(t, err, c.want)
			}
		})
	}
}
