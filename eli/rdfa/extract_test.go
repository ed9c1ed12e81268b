package rdfa_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const base = "https://law.example/dir/doc"

// hosts are the host languages: their media types, and what stands around the body.
var hosts = map[string]struct{ media, before, after string }{
	"html5":  {"text/html", "<!DOCTYPE html><html>", "</html>"},
	"xhtml5": {"application/xhtml+xml", `<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">`, "</html>"},
	"xhtml1": {"application/xhtml+xml", `<?xml version="1.0"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML+RDFa 1.1//EN" "http://www.w3.org/MarkUp/DTD/xhtml-rdfa-2.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">`, "</html>"},
	"xml": {"application/xml", `<doc xmlns="http://www.w3.org/1999/xhtml">`, "</doc>"},
	"svg": {"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg">`, "</svg>"},
}

// extract returns the triples in a short form, sorted, and the findings.
func extract(t *testing.T, doc, media string) ([]string, []websync.Finding) {
	t.Helper()
	var findings []websync.Finding
	var x rdfa.Extractor
	triples, err := x.Extract(strings.NewReader(doc), base, media, func(f websync.Finding) { findings = append(findings, f) })
	require.NoError(t, err)
	return short(triples), findings
}

var abbreviations = strings.NewReplacer(
	"<"+rdf.Type+">", "a", "<"+rdf.Namespace, "<rdf:", "<"+rdf.XSD, "<xsd:", "<"+base, "<",
	"<http://e.example/", "<e:", "<http://www.w3.org/1999/xhtml/vocab#", "<xhv:",
	"<http://xmlns.com/foaf/0.1/", "<foaf:", "<http://purl.org/dc/terms/", "<dc:", "<http://www.w3.org/ns/rdfa#", "<rdfa:")

func short(triples []rdf.Triple) []string {
	lines := []string{}
	for _, t := range triples {
		lines = append(lines, strings.TrimSuffix(abbreviations.Replace(t.String()), " ."))
	}
	slices.Sort(lines)
	return lines
}

// A step is one document, its host languages (all but SVG if there are none), and its
// triples.
type step struct {
	name, hosts, body string
	want              []string
}

func check(t *testing.T, steps []step) {
	for _, s := range steps {
		names := strings.Fields(s.hosts)
		if len(names) == 0 {
			names = []string{"html5", "xhtml5", "xhtml1", "xml"}
		}
		for _, name := range names {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				host := hosts[name]
				doc := s.body
				if name != "xml" {
					doc = strings.Replace(doc, "<html", strings.TrimSuffix(host.before, ">"), 1)
				}
				if !strings.Contains(doc, "<html") && !strings.Contains(doc, "<doc") && !strings.Contains(doc, "<svg") {
					if !strings.Contains(doc, "<body") {
						doc = "<body>" + doc + "</body>"
					}
					doc = host.before + doc + host.after
				}
				got, _ := extract(t, doc, host.media)
				want := slices.Clone(s.want)
				slices.Sort(want)
				assert.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"), doc)
			})
		}
	}
}

// RDFa Core §7.5, step by step.
func TestSequence(t *testing.T) {
	check(t, []step{
		{"nothing", "", `<p>text <b class="x">bold</b></p>`, nil},

		{"1/parent subject is the base", "", `<p property="dc:title">T</p>`, []string{`<> <dc:title> "T"`}},

		{"2/vocab", "", `<div vocab="http://e.example/"><p property="p">T</p></div>`,
			[]string{`<> <rdfa:usesVocabulary> <e:>`, `<> <e:p> "T"`}},
		{"2/vocab is for terms only", "", `<div vocab="http://e.example/" about="a"><p property="dc:p a/b">T</p></div>`,
			[]string{`<> <rdfa:usesVocabulary> <e:>`, `<https://law.example/dir/a> <dc:p> "T"`, `<https://law.example/dir/a> <e:a/b> "T"`}},
		{"2/vocab before the terms of the initial context", "", `<div vocab="http://e.example/"><a rel="license" href="#l">L</a></div>`,
			[]string{`<> <rdfa:usesVocabulary> <e:>`, `<> <e:license> <#l>`}},
		{"2/empty vocab", "", `<div vocab="http://e.example/"><p vocab="" property="p describedby">T</p></div>`,
			[]string{`<> <rdfa:usesVocabulary> <e:>`, `<> <http://www.w3.org/2007/05/powder-s#describedby> "T"`}},
		{"2/relative vocab", "", `<p vocab="v#" property="p">T</p>`,
			[]string{`<> <rdfa:usesVocabulary> <https://law.example/dir/v#>`, `<> <https://law.example/dir/v#p> "T"`}},

		{"3/prefix", "", `<p prefix="e: http://e.example/ f: http://f.example/" property="e:a f:b">T</p>`,
			[]string{`<> <e:a> "T"`, `<> <http://f.example/b> "T"`}},
		{"3/xmlns", "", `<p xmlns:e="http://e.example/" property="e:a">T</p>`, []string{`<> <e:a> "T"`}},
		{"3/prefix before xmlns", "", `<p xmlns:e="http://f.example/" prefix="e: http://e.example/" property="e:a">T</p>`, []string{`<> <e:a> "T"`}},
		{"3/the last one counts", "", `<p prefix="e: http://f.example/ e: http://e.example/" property="e:a">T</p>`, []string{`<> <e:a> "T"`}},
		{"3/inner one counts", "", `<div prefix="e: http://f.example/"><p prefix="e: http://e.example/" property="e:a">T</p><p property="e:a">U</p></div>`,
			[]string{`<> <e:a> "T"`, `<> <http://f.example/a> "U"`}},
		{"3/case of prefixes", "", `<p prefix="EE: http://e.example/" property="eE:a">T</p>`, []string{`<> <e:a> "T"`}},
		{"3/underscore", "", `<p prefix="_: http://e.example/" property="_:a">T</p>`, nil},
		{"3/empty prefix", "", `<p prefix=": http://e.example/" property=":a">T</p>`, []string{`<> <xhv:a> "T"`}},
		{"3/initial context", "", `<p property="foaf:name">T</p>`, []string{`<> <foaf:name> "T"`}},
		{"3/initial context overridden", "", `<p prefix="foaf: http://e.example/" property="foaf:name">T</p>`, []string{`<> <e:name> "T"`}},
		{"3/relative IRI", "", `<p prefix="e: ns#" property="e:a">T</p>`, []string{`<> <https://law.example/dir/ns#a> "T"`}},

		{"4/xml:lang", "xhtml1 xhtml5 xml html5", `<div xml:lang="sv"><p property="dc:title">T</p></div>`, []string{`<> <dc:title> "T"@sv`}},
		{"4/lang", "html5 xhtml1 xhtml5", `<div lang="sv"><p property="dc:title">T</p></div>`, []string{`<> <dc:title> "T"@sv`}},
		{"4/no lang in XML", "xml", `<div lang="sv"><p property="dc:title">T</p></div>`, []string{`<> <dc:title> "T"`}},
		{"4/xml:lang before lang", "xhtml1 xhtml5", `<p lang="en" xml:lang="sv" property="dc:title">T</p>`, []string{`<> <dc:title> "T"@sv`}},
		{"4/lang after xml:lang", "xhtml1 xhtml5", `<p xml:lang="sv" lang="en" property="dc:title">T</p>`, []string{`<> <dc:title> "T"@sv`}},
		{"4/empty lang", "html5 xhtml1 xhtml5", `<div lang="sv"><p lang="" property="dc:title">T</p></div>`, []string{`<> <dc:title> "T"`}},
		{"4/default language", "html5 xhtml5", `<html><head><meta http-equiv="Content-Language" content="a, b"/><meta http-equiv="content-language" content=" sv x "/><meta http-equiv="content-language" content="de"/></head><body><p property="dc:a">T</p><p lang="" property="dc:b">T</p><p xml:lang="en" property="dc:c">T</p></body></html>`,
			[]string{`<> <dc:a> "T"@sv`, `<> <dc:b> "T"`, `<> <dc:c> "T"@en`}},
		{"4/no default language", "xhtml1 xml", `<html><head><meta http-equiv="content-language" content="sv"/></head><body><p property="dc:a">T</p></body></html>`, []string{`<> <dc:a> "T"`}},
		{"4/no tag", "html5 xhtml1 xhtml5", `<div lang="sv_SE"><p property="dc:title">T</p></div>`, []string{`<> <dc:title> "T"`}},

		{"5.1/about", "", `<div about="#a"><p about="#b" property="dc:title">T</p></div>`, []string{`<#b> <dc:title> "T"`}},
		{"5.1/parent object", "", `<div about="#a"><p property="dc:title">T</p></div>`, []string{`<#a> <dc:title> "T"`}},
		{"5.1/resource is the value", "", `<p property="dc:subject" resource="#r">T</p>`, []string{`<> <dc:subject> <#r>`}},
		{"5.1/resource before href before src", "", `<p property="dc:a" resource="#r" href="#h" src="#s"/><p property="dc:b" href="#h" src="#s"/><p property="dc:c" src="#s"/>`,
			[]string{`<> <dc:a> <#r>`, `<> <dc:b> <#h>`, `<> <dc:c> <#s>`}},
		{"5.1/resource does not chain", "", `<div property="dc:a" resource="#r"><p property="dc:b">T</p></div>`, []string{`<> <dc:a> <#r>`, `<> <dc:b> "T"`}},
		{"5.1/typeof chains", "", `<div property="dc:a" resource="#r" typeof="foaf:Person"><p property="dc:b">T</p></div>`,
			[]string{`<> <dc:a> <#r>`, `<#r> a <foaf:Person>`, `<#r> <dc:b> "T"`}},
		{"5.1/typeof with a new blank node", "", `<div property="dc:a" typeof="foaf:Person"><p property="dc:b">T</p></div>`,
			[]string{`<> <dc:a> _:b1`, `_:b1 a <foaf:Person>`, `_:b1 <dc:b> "T"`}},
		{"5.1/typeof with about", "", `<p about="#a" property="dc:a" typeof="foaf:Person">T</p>`, []string{`<#a> a <foaf:Person>`, `<#a> <dc:a> "T"`}},
		{"5.1/typeof with about that is ignored", "", `<p about="[]" property="dc:a" typeof="foaf:Person">T</p>`, []string{`_:b1 a <foaf:Person>`, `<> <dc:a> "T"`}},

		{"5.2/resource as subject", "", `<p property="dc:a" content="C" resource="#r">T</p>`, []string{`<#r> <dc:a> "C"`}},
		{"5.2/href as subject", "", `<p property="dc:a" datatype="" href="#r">T</p>`, []string{`<#r> <dc:a> "T"`}},
		{"5.2/about before the others", "", `<p about="#a" property="dc:a" content="C" resource="#r" href="#h" src="#s">T</p>`, []string{`<#a> <dc:a> "C"`}},
		{"5.2/plain link is a subject", "", `<a href="#h"><b property="dc:a">T</b></a>`, []string{`<#h> <dc:a> "T"`}},
		{"5.2/plain image is a subject", "", `<div about="#a" rel="dc:a"><img src="#s"/></div>`, []string{`<#a> <dc:a> <#s>`}},
		{"5.2/typeof", "", `<div typeof="foaf:Person dc:X"><p property="dc:a">T</p></div>`,
			[]string{`_:b1 a <foaf:Person>`, `_:b1 a <dc:X>`, `_:b1 <dc:a> "T"`}},
		{"5.2/typeof and resource", "", `<div resource="#r" typeof="foaf:Person"/>`, []string{`<#r> a <foaf:Person>`}},
		{"5.2/empty typeof makes a blank node", "", `<div typeof=""><p property="dc:a">T</p></div>`, []string{`_:b1 <dc:a> "T"`}},
		{"5.2/resource that is ignored", "", `<div about="#a"><p resource="[]" href="#h"><b property="dc:a">T</b></p></div>`, []string{`<#h> <dc:a> "T"`}},

		{"6/rel and href", "", `<a rel="dc:a dc:b" href="x">T</a>`,
			[]string{`<> <dc:a> <https://law.example/dir/x>`, `<> <dc:b> <https://law.example/dir/x>`}},
		{"6/rev", "", `<a about="#a" rev="dc:a" resource="#r">T</a>`, []string{`<#r> <dc:a> <#a>`}},
		{"6/rel and rev", "", `<a about="#a" rel="dc:a" rev="dc:b" src="#r">T</a>`, []string{`<#a> <dc:a> <#r>`, `<#r> <dc:b> <#a>`}},
		{"6/typeof is the object's", "", `<div rel="dc:a" typeof="foaf:Person"/>`, []string{`<> <dc:a> _:b1`, `_:b1 a <foaf:Person>`}},
		{"6/typeof is that of about", "", `<div about="#a" rel="dc:a" resource="#r" typeof="foaf:Person"/>`, []string{`<#a> a <foaf:Person>`, `<#a> <dc:a> <#r>`}},
		{"6/about that is ignored", "", `<div about="[]" rel="dc:a" resource="#r" typeof="foaf:Person"/>`, []string{`<> <dc:a> <#r>`, `<#r> a <foaf:Person>`}},
		{"6/chaining", "", `<div rel="dc:a" resource="#r"><p property="dc:b">T</p><p rel="dc:c" resource="#s"/></div>`,
			[]string{`<> <dc:a> <#r>`, `<#r> <dc:b> "T"`, `<#r> <dc:c> <#s>`}},

		{"9/no relation without a term", "", `<div rel="nonsense" resource="#r"><p property="dc:b">T</p></div>`, []string{`<#r> <dc:b> "T"`}},
		{"10/hanging rel", "", `<div rel="dc:a"><p about="#x">X</p><p about="#y"/></div>`, []string{`<> <dc:a> <#x>`, `<> <dc:a> <#y>`}},
		{"10/a change of language alone completes nothing", "", `<div about="#a" rel="dc:a"><b xml:lang="sv"><p about="#x"/></b></div>`, []string{`<#a> <dc:a> <#x>`}},
		{"10/hanging rev", "", `<div about="#a" rev="dc:a"><p><a href="#x">X</a></p></div>`, []string{`<#x> <dc:a> <#a>`}},
		{"10/hanging rel with a literal", "", `<div rel="dc:a"><p property="dc:b">T</p><p property="dc:c">U</p></div>`,
			[]string{`<> <dc:a> _:b1`, `<> <dc:a> _:b1`, `_:b1 <dc:b> "T"`, `_:b1 <dc:c> "U"`}},
		{"10/hanging rel and typeof without a value", "", `<div rel="dc:a"><p typeof=""><b property="dc:b">T</b></p></div>`, []string{`<> <dc:a> _:b2`, `_:b2 <dc:b> "T"`}},
		{"10/nothing hangs without predicates", "", `<div about="#a"><div rel="nonsense"><p property="dc:b">T</p></div></div>`, []string{`<#a> <dc:b> "T"`}},
		{"10/hanging rels in each other", "", `<div about="#a" rel="dc:a"><div rel="dc:b"><p about="#x"/></div></div>`,
			[]string{`<#a> <dc:a> _:b1`, `_:b1 <dc:b> <#x>`}},
		{"10/property and typeof below a hanging rel", "", `<dl><dt rel="dc:a"><b typeof="foaf:X" property="dc:b">T</b></dt></dl>`,
			[]string{`<> <dc:a> _:b1`, `_:b1 <dc:b> _:b2`, `_:b2 a <foaf:X>`}},

		{"11/content", "", `<p property="dc:a" content="C">T</p>`, []string{`<> <dc:a> "C"`}},
		{"11/empty content", "", `<p property="dc:a" content="">T</p>`, []string{`<> <dc:a> ""`}},
		{"11/no content", "", `<p property="dc:a"></p>`, []string{`<> <dc:a> ""`}},
		{"11/text of all elements", "", `<p property="dc:a">a <b> b<i>c</i></b>&amp;&#233;
d</p>`, []string{`<> <dc:a> "a  bc&é\nd"`}},
		{"11/datatype", "", `<p property="dc:a" datatype="xsd:integer">1<b>2</b></p>`, []string{`<> <dc:a> "12"^^<xsd:integer>`}},
		{"11/datatype and content", "html5 xhtml1 xhtml5", `<p lang="sv" property="dc:a" datatype="xsd:date" content="2020-01-02">T</p>`, []string{`<> <dc:a> "2020-01-02"^^<xsd:date>`}},
		{"11/xsd:string", "", `<p property="dc:a" datatype="xsd:string">T</p>`, []string{`<> <dc:a> "T"`}},
		{"11/rdf:langString", "html5 xhtml1 xhtml5", `<p lang="sv" property="dc:a" datatype="rdf:langString">T</p><p property="dc:b" datatype="rdf:langString">T</p>`, []string{`<> <dc:a> "T"@sv`, `<> <dc:b> "T"`}},
		{"11/empty datatype", "html5 xhtml1 xhtml5", `<p lang="sv" property="dc:a" datatype="" resource="#r">T</p>`, []string{`<#r> <dc:a> "T"@sv`}},
		{"11/datatype that stands for nothing", "html5 xhtml1 xhtml5", `<p lang="sv" property="dc:a" datatype="nonsense">T</p>`, []string{`<> <dc:a> "T"@sv`}},
		{"11/datatype in a vocabulary", "", `<p vocab="http://e.example/" property="a" datatype="b">T</p>`, []string{`<> <rdfa:usesVocabulary> <e:>`, `<> <e:a> "T"^^<e:b>`}},
		{"11/empty property", "", `<p property="">T</p><p property="nonsense">T</p>`, nil},
		{"11/property and rel", "", `<p property="dc:a" rel="dc:b" resource="#r">T</p>`, []string{`<> <dc:a> "T"`, `<> <dc:b> <#r>`}},
		{"11/nested properties", "", `<p property="dc:a">A<b property="dc:b">B</b></p>`, []string{`<> <dc:a> "AB"`, `<> <dc:b> "B"`}},
		{"11/resource that is ignored", "", `<p property="dc:a" resource="[nonsense]" href="#h">T</p>`, []string{`<> <dc:a> <#h>`}},
		{"11/absolute IRI as property", "", `<p property="http://e.example/a">T</p>`, []string{`<> <e:a> "T"`}},
		{"11/spaces around values", "", `<p about=" #a " property="
dc:a	dc:b ">T</p>`, []string{`<#a> <dc:a> "T"`, `<#a> <dc:b> "T"`}},

		{"12/completed by a subject with the parent's name", "", `<div about="#a" rel="dc:a"><p about="#a" property="dc:b">T</p></div>`, []string{`<#a> <dc:a> <#a>`, `<#a> <dc:b> "T"`}},

		{"14/list of literals", "", `<p property="dc:a" inlist="">A</p><div><p property="dc:a" inlist="">B</p></div>`,
			[]string{`<> <dc:a> _:b1`, `_:b1 <rdf:first> "A"`, `_:b1 <rdf:rest> _:b2`, `_:b2 <rdf:first> "B"`, `_:b2 <rdf:rest> <rdf:nil>`}},
		{"14/list of both kinds", "", `<p property="dc:a" inlist="">A</p><a rel="dc:a" inlist="" href="#h">B</a>`,
			[]string{`<> <dc:a> _:b1`, `_:b1 <rdf:first> "A"`, `_:b1 <rdf:rest> _:b2`, `_:b2 <rdf:first> <#h>`, `_:b2 <rdf:rest> <rdf:nil>`}},
		{"14/empty list", "", `<p rel="dc:a" inlist=""/>`, []string{`<> <dc:a> <rdf:nil>`}},
		{"14/hanging list", "", `<ol about="#a" rel="dc:a" inlist=""><li><a href="#x">X</a></li><li resource="#y"/></ol>`,
			[]string{`<#a> <dc:a> _:b2`, `_:b2 <rdf:first> <#x>`, `_:b2 <rdf:rest> _:b3`, `_:b3 <rdf:first> <#y>`, `_:b3 <rdf:rest> <rdf:nil>`}},
		{"14/two subjects, two lists", "", `<div about="#a"><p property="dc:a" inlist="">A</p><p about="#b" property="dc:a" inlist="">B</p></div>`,
			[]string{`<#b> <dc:a> _:b1`, `_:b1 <rdf:first> "B"`, `_:b1 <rdf:rest> <rdf:nil>`, `<#a> <dc:a> _:b2`, `_:b2 <rdf:first> "A"`, `_:b2 <rdf:rest> <rdf:nil>`}},
		{"14/lists of a subject and of its object", "", `<div about="#a"><p property="dc:a" inlist="">A</p><div rel="dc:b" resource="#b"><i property="dc:a" inlist="">B</i><i property="dc:a" inlist="">C</i></div><p property="dc:a" inlist="">D</p></div>`,
			[]string{`<#a> <dc:a> _:b3`, `<#a> <dc:b> <#b>`, `<#b> <dc:a> _:b1`, `_:b1 <rdf:first> "B"`, `_:b1 <rdf:rest> _:b2`, `_:b2 <rdf:first> "C"`, `_:b2 <rdf:rest> <rdf:nil>`,
				`_:b3 <rdf:first> "A"`, `_:b3 <rdf:rest> _:b4`, `_:b4 <rdf:first> "D"`, `_:b4 <rdf:rest> <rdf:nil>`}},
		{"14/a list of a hanging object", "", `<div about="#a" rel="dc:b"><i property="dc:a" inlist="">B</i></div>`,
			[]string{`<#a> <dc:b> _:b1`, `_:b1 <dc:a> _:b2`, `_:b2 <rdf:first> "B"`, `_:b2 <rdf:rest> <rdf:nil>`}},
		{"14/a list of a typed object", "", `<div about="#a"><div property="dc:b" resource="#b" typeof="dc:T"><i property="dc:a" inlist="">B</i></div></div>`,
			[]string{`<#a> <dc:b> <#b>`, `<#b> a <dc:T>`, `<#b> <dc:a> _:b1`, `_:b1 <rdf:first> "B"`, `_:b1 <rdf:rest> <rdf:nil>`}},
		{"14/rev makes no list", "", `<a rel="dc:a" rev="dc:b" inlist="" href="#h">B</a>`,
			[]string{`<> <dc:a> _:b1`, `_:b1 <rdf:first> <#h>`, `_:b1 <rdf:rest> <rdf:nil>`, `<#h> <dc:b> <>`}},
	})
}

// RDFa Core §6 and §7.4: CURIEs and IRIs.
func TestCURIE(t *testing.T) {
	check(t, []step{
		{"blank nodes", "", `<p about="_:x" rel="dc:a" resource="[_:y]"/><p about="_:y" property="dc:b">T</p><p about="_:" typeof="_:x"/>`,
			[]string{`_:b1 <dc:a> _:b2`, `_:b2 <dc:b> "T"`, `_:b3 a _:b1`}},
		{"blank nodes are no predicates", "", `<p property="_:x" datatype="_:y" rel="_:z" resource="#r">T</p>`, nil},
		{"safe CURIE", "", `<p about="[dc:x]" property="dc:b">T</p>`, []string{`<dc:x> <dc:b> "T"`}},
		{"safe CURIE without a prefix", "", `<div about="#a"><p about="[x]" property="dc:b">T</p></div>`, []string{`<#a> <dc:b> "T"`}},
		{"CURIE without brackets", "", `<p about="dc:x" property="dc:b">T</p>`, []string{`<dc:x> <dc:b> "T"`}},
		{"two slashes are no reference", "", `<p prefix="http: http://e.example/" about="http://f.example/" property="http:b">T</p>`, []string{`<http://f.example/> <e:b> "T"`}},
		{"undeclared prefix is a scheme", "", `<p about="eli:x" property="eli:title">T</p>`, []string{`<eli:x> <eli:title> "T"`}},
		{"colons in a reference", "", `<p property="dc:a:b">T</p>`, []string{`<> <dc:a:b> "T"`}},
		{"empty reference", "", `<p property="dc:">T</p>`, []string{`<> <dc:> "T"`}},
		{"default prefix", "", `<a rel=":next" href="#h">T</a>`, []string{`<> <xhv:next> <#h>`}},
		{"safe CURIE is no property", "", `<p property="[dc:a]">T</p>`, nil},
		{"relative IRI is no property", "", `<p property="/a #b ../c">T</p>`, nil},
		{"CURIE is no href", "", `<a rel="dc:a" href="dc:x">T</a><a rel="dc:b" href="[dc:x]">T</a>`, []string{`<> <dc:a> <dc:x>`, `<> <dc:b> <https://law.example/dir/[dc:x]>`}},
		{"references", "", `<p about="" property="dc:a">1</p><p about="?q" property="dc:a">2</p><p about="../x" property="dc:a">3</p><p about="//h/y" property="dc:a">4</p><p about="/z/./w" property="dc:a">5</p>`,
			[]string{`<> <dc:a> "1"`, `<?q> <dc:a> "2"`, `<https://law.example/x> <dc:a> "3"`, `<https://h/y> <dc:a> "4"`, `<https://law.example/z/w> <dc:a> "5"`}},
		{"dot segments of absolute IRIs", "", `<a about="http://a.example/b/../c" rel="dc:a" href="http://a.example/b/.." resource="[dc:x/../y]"/><a rel="dc:b" href="urn:a/../b"/><a rel="dc:b" href="http://a.example/b?c/../d"/>`,
			[]string{`<http://a.example/c> <dc:a> <dc:x/../y>`, `<> <dc:b> <urn:a/../b>`, `<> <dc:b> <http://a.example/b?c/../d>`}},
		{"prefixes that begin with xml", "", `<p xmlns:xmlzz="http://e.example/" property="xmlzz:a">T</p>`, []string{`<> <e:a> "T"`}},
		{"corners of resolution", "", `<a rel="dc:a" href="../.././#"/><a rel="dc:b" href="..."/><a rel="dc:c" href="?a=b../c"/><a rel="dc:d" href="x/../../.../.h"/><a rel="dc:e" href="./"/>`,
			[]string{`<> <dc:a> <https://law.example/#>`, `<> <dc:b> <https://law.example/dir/...>`, `<> <dc:c> <?a=b../c>`, `<> <dc:d> <https://law.example/.../.h>`, `<> <dc:e> <https://law.example/dir/>`}},
		{"empty rel", "", `<div about="#a" rel="dc:a"><a rel="" href="#h">H</a></div>`, []string{`<#a> <dc:a> _:b1`}},
		{"terms in any case", "", `<a rel="License" href="#h">T</a>`, []string{`<> <xhv:license> <#h>`}},
		{"characters that no IRI has", "", `<a rel="dc:a" href="a b{c}\d">T</a>`, []string{`<> <dc:a> <https://law.example/dir/a%20b%7Bc%7D%5Cd>`}},
	})
}

func TestHosts(t *testing.T) {
	check(t, []step{
		{"head and body have the subject of html", "html5 xhtml1 xhtml5", `<html about="#a"><head><title property="dc:title">T</title><meta property="dc:b" content="B"/><link rel="license" href="#l"/></head><body typeof="foaf:X"><p property="dc:c">C</p></body></html>`,
			[]string{`<#a> <dc:title> "T"`, `<#a> <dc:b> "B"`, `<#a> <xhv:license> <#l>`, `<#a> a <foaf:X>`, `<#a> <dc:c> "C"`}},
		{"they have not in XML", "xml", `<doc about="#a"><body typeof="foaf:X"><p property="dc:c">C</p></body></doc>`, []string{`_:b1 a <foaf:X>`, `_:b1 <dc:c> "C"`}},
		{"root element", "html5", `<html typeof="foaf:X" property="dc:a" lang="sv">T</html>`, []string{`<> a <foaf:X>`, `<> <dc:a> <>`}},
		{"root element with rel", "html5", `<html rel="dc:a"><body about="#x"></body></html>`, []string{`<> <dc:a> <#x>`, `<> <dc:a> _:b1`}},
		{"base element", "html5 xhtml1 xhtml5", `<html about=""><head><base href="../b/c#d"/><title property="dc:title">T</title></head><body><p about="#x" property="dc:a">A</p></body></html>`,
			[]string{`<https://law.example/b/c> <dc:title> "T"`, `<https://law.example/b/c#x> <dc:a> "A"`}},
		{"base without its fragment", "html5 xhtml1 xhtml5", `<html><head><base href="b#c"/></head><body vocab="http://e.example/"><p property="a">A</p></body></html>`,
			[]string{`<https://law.example/dir/b> <rdfa:usesVocabulary> <e:>`, `<https://law.example/dir/b> <e:a> "A"`}},
		{"the first base with href counts", "html5", `<html><head><base target="x"><base href="/b"><base href="/c"></head><body><p property="dc:a">A</p></body></html>`, []string{`<https://law.example/b> <dc:a> "A"`}},
		{"base is nothing in XML", "xml", `<doc><base href="/b"/><p property="dc:a">A</p></doc>`, []string{`<> <dc:a> "A"`}},
		{"xml:base in XML", "xml svg", `<g xml:base="/b/"><p about="c" property="dc:a">A</p><p xml:base="d/e#f" about="c" property="dc:b">B</p><p xml:base="" about="" property="dc:c">C</p></g>`,
			[]string{`<https://law.example/b/c> <dc:a> "A"`, `<https://law.example/b/d/c> <dc:b> "B"`, `<https://law.example/b/> <dc:c> "C"`}},
		{"xml:base where nothing names a subject", "xml", `<doc xml:base="http://a.example/"><p xml:base="http://b.example/" property="dc:a">A</p><b><p xml:base="c" rel="dc:b" resource="d"/></b><div about=""><p xml:base="http://b.example/" property="dc:c">C</p></div></doc>`,
			[]string{`<http://b.example/> <dc:a> "A"`, `<http://a.example/c> <dc:b> <http://a.example/d>`, `<http://a.example/> <dc:c> "C"`}},
		{"xml:base below a hanging rel", "xml", `<doc xml:base="http://a.example/" rel="dc:a"><p xml:base="http://b.example/" property="dc:b">B</p></doc>`,
			[]string{`<http://a.example/> <dc:a> _:b1`, `_:b1 <dc:b> "B"`}},
		{"xml:base in XHTML5", "xhtml5", `<html><head><base href="/b/"/></head><body><p xml:base="c/" about="d" property="dc:a">A</p><p property="dc:b">B</p></body></html>`,
			[]string{`<https://law.example/b/c/d> <dc:a> "A"`, `<https://law.example/b/> <dc:b> "B"`}},
		{"xml:base is nothing in HTML and XHTML 1", "html5 xhtml1", `<p xml:base="/b/" about="c" property="dc:a">A</p>`, []string{`<https://law.example/dir/c> <dc:a> "A"`}},
		{"terms of XHTML", "xhtml1", `<a rel="next P3Pv1" href="#h">N</a>`, []string{`<> <xhv:next> <#h>`, `<> <xhv:p3pv1> <#h>`}},
		{"no terms of XHTML", "html5 xhtml5 xml svg", `<a rel="next stylesheet" href="#h">N</a>`, nil},
		{"terms in rel beside property", "html5 xhtml5", `<a property="dc:a" rel="license dc:b" href="#h">N</a><a property="dc:c" rel="license" rev="license" href="#h">N</a>`,
			[]string{`<> <dc:a> "N"`, `<> <dc:b> <#h>`, `<> <dc:c> <#h>`}},
		{"terms in rel beside property count in XHTML 1 and XML", "xhtml1 xml", `<a property="dc:c" rel="license" href="#h">N</a>`, []string{`<> <xhv:license> <#h>`, `<> <dc:c> "N"`}},
		{"svg", "svg", `<g about="#a" typeof="foaf:X"><title property="dc:title">T</title></g>`, []string{`<#a> a <foaf:X>`, `<#a> <dc:title> "T"`}},
		{"template", "html5 xhtml5", `<div property="dc:a">A<template><p property="dc:b">B</p></template></div>`, []string{`<> <dc:a> "A"`}},
		{"noscript", "html5", `<noscript><p property="dc:b">B</p></noscript>`, []string{`<> <dc:b> "B"`}},
		{"svg in HTML", "html5", `<svg about="#a" xml:lang="sv"><title property="dc:title">T</title></svg>`, []string{`<#a> <dc:title> "T"@sv`}},
	})
	got, _ := extract(t, `<html><body lang="sv" property="dc:a">A</body></html>`, "application/xhtml+xml")
	assert.Equal(t, []string{`<> <dc:a> "A"@sv`}, got, "XHTML without its namespace")
	got, _ = extract(t, `<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:head><h:base href="b"/><h:meta http-equiv="content-language" content="sv"/></h:head><h:body typeof="foaf:X"><h:time property="dc:a">2012</h:time><x:time xmlns:x="x:" property="dc:b">2012</x:time></h:body></h:html>`, "application/xhtml+xml")
	assert.Equal(t, []string{`<https://law.example/dir/b> <dc:a> "2012"^^<xsd:gYear>`, `<https://law.example/dir/b> <dc:b> "2012"@sv`, `<https://law.example/dir/b> a <foaf:X>`}, got, "XHTML with a prefix")
	got, _ = extract(t, `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body lang="sv" property="dc:a">A</body></html>`, "application/xml")
	assert.Equal(t, []string{`<> <dc:a> "A"@sv`}, got, "the root element is that of XHTML")
	for _, c := range []struct {
		start  string // of an XHTML document
		xhtml1 bool
	}{
		{"<html>", false},
		{"<!DOCTYPE html><html>", false},
		{`<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html>`, false},
		{`<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML+RDFa 1.0//EN" "x"><html>`, true},
		{`<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML+RDFa 1.1//EN" "x"><html>`, true},
		{`<html version="XHTML+RDFa 1.1">`, true},
		{`<html version="HTML+RDFa 1.1">`, false},
	} {
		want := []string{`<> <dc:a> "2012"^^<xsd:gYear>`}
		if c.xhtml1 {
			want = []string{`<> <dc:a> "2012"`, `<> <xhv:next> <#h>`}
		}
		doc := strings.Replace(c.start, "<html", `<html xmlns="http://www.w3.org/1999/xhtml"`, 1) + `<body><time property="dc:a">2012</time><a rel="next" href="#h">N</a></body></html>`
		for _, media := range []string{"application/xhtml+xml", "application/xml"} {
			got, _ = extract(t, doc, media)
			assert.Equal(t, want, got, "%s: %s", media, c.start)
		}
		got, _ = extract(t, strings.Replace(doc, "</a>", "<br></a>", 1), "application/xhtml+xml")
		assert.Equal(t, want, got, "%s: read as HTML, with the rules of XHTML", c.start)
		got, _ = extract(t, doc, "text/html")
		assert.Equal(t, []string{`<> <dc:a> "2012"^^<xsd:gYear>`}, got, "text/html: %s", c.start)
	}
	for _, media := range []string{"", "text/plain; charset=utf-8", "application/octet-stream"} {
		got, _ = extract(t, `<?xml version="1.0"?><doc><body xml:lang="sv" property="dc:a">A</body></doc>`, media)
		assert.Equal(t, []string{`<> <dc:a> "A"@sv`}, got, media)
		got, _ = extract(t, `<p property="dc:a">A`, media)
		assert.Equal(t, []string{`<> <dc:a> "A"`}, got, media)
	}
}

// HTML+RDFa §3.1: @datetime and <time>.
func TestTime(t *testing.T) {
	for value, datatype := range map[string]string{
		"2012-03-18": "date", "2012-03-18Z": "date", "-2012-03-18+01:00": "date", "12012-03-18": "date",
		"00:00:00": "time", "23:59:59.5Z": "time", "2012-03-18T00:00:00Z": "dateTime", "2012-03-18T00:00:00-08:00": "dateTime",
		"2012-03-18T01:02:03.456": "dateTime", "2012-03": "gYearMonth", "2012": "gYear", "2012-03+01:00": "gYearMonth", "2012+01:00": "gYear",
		"P1Y": "duration", "-P1Y2M3DT4H5M6.7S": "duration", "PT1M": "duration",

		"18 March 2012": "", " 2012": "", "201": "", "2012-3-1": "", "2012-13-01": "", "2012-03-32": "", "0:00:00": "", "00:00": "",
		"24:00:00": "time", "24:00:01": "", "2012-02-29+14:00": "date", "2013-02-29": "", "12012-02-30": "", "2012-04-31T00:00:00": "", "2012-03-18+14:01": "",
		"2012-03-18T00:00Z": "", "2012-03-18 00:00:00": "", "2012-03-18T00:00:00z": "", "2012-03-18T25:00:00": "", "00:00:00.": "",
		"P": "", "PT": "", "P1": "", "P1YT": "", "P1M1Y": "", "PT1.5H": "", "P1S": "", "PT.5S": "", "": "", "-": "", "02012-01-01": "", "2012+15:00": "",
		"-00:00:00": "", "2012-03-18+1:00": "", "2012-03-": "", "2012-": "",
	} {
		want := `<> <dc:a> "` + value + `"`
		if datatype != "" {
			want += "^^<xsd:" + datatype + ">"
		} else {
			want += "@sv"
		}
		steps := []step{
			{"time element " + value, "html5 xhtml5", `<body lang="sv"><time property="dc:a">` + value + `</time></body>`, []string{want}},
			{"datetime " + value, "html5 xhtml5", `<body lang="sv"><b property="dc:a" datetime="` + value + `">x</b></body>`, []string{want}},
			{"XHTML 1 " + value, "xhtml1", `<body><time property="dc:a" datetime="">` + value + `</time></body>`, []string{`<> <dc:a> "` + value + `"`}},
		}
		check(t, steps)
	}
	check(t, []step{
		{"content", "html5 xhtml5", `<time property="dc:a" datetime="2012" content="2013">x</time>`, []string{`<> <dc:a> "2013"`}},
		{"content and text", "html5 xhtml5", `<time property="dc:a" content="2013">2012</time>`, []string{`<> <dc:a> "2013"`}},
		{"datatype", "html5 xhtml5", `<time property="dc:a" datetime="2012" datatype="xsd:date">x</time>`, []string{`<> <dc:a> "2012"^^<xsd:date>`}},
		{"datatype and content", "html5 xhtml5", `<time property="dc:a" datetime="2012" content="2013" datatype="xsd:date">x</time>`, []string{`<> <dc:a> "2013"^^<xsd:date>`}},
		{"datatype and text", "html5 xhtml5", `<time property="dc:a" datatype="xsd:dateTime"> 2012</time>`, []string{`<> <dc:a> " 2012"^^<xsd:dateTime>`}},
		{"datetime before href", "html5 xhtml5", `<a property="dc:a" datetime="2012" href="#h">x</a>`, []string{`<> <dc:a> "2012"^^<xsd:gYear>`}},
		{"time before href and typeof", "html5 xhtml5", `<time property="dc:a" typeof="foaf:X" href="#h">2012</time>`, []string{`<> <dc:a> "2012"^^<xsd:gYear>`, `<#h> a <foaf:X>`}},
	})
}

func TestMarkupLiterals(t *testing.T) {
	check(t, []step{
		{"namespaces in scope", "xhtml1 xhtml5", `<body xmlns:e="http://e.example/" xmlns:z="z:"><p property="dc:a" datatype="rdf:XMLLiteral">a &amp; <b id="x" xmlns:z="y:"><i>b</i><br/></b><e:c/></p></body>`,
			[]string{`<> <dc:a> "a &amp; <b xmlns=\"http://www.w3.org/1999/xhtml\" xmlns:e=\"http://e.example/\" xmlns:z=\"y:\" id=\"x\"><i>b</i><br></br></b>` +
				`<e:c xmlns=\"http://www.w3.org/1999/xhtml\" xmlns:e=\"http://e.example/\" xmlns:z=\"z:\"></e:c>"^^<rdf:XMLLiteral>`}},
		{"prefixes in scope", "xhtml1 xhtml5", `<body prefix="e: http://e.example/ f: http://f.example/ xml: x: 5: http://5/" xmlns:F="u:"><p prefix="e: http://g.example/" property="dc:a" datatype="rdf:XMLLiteral"><b property="e:b">T</b></p></body>`,
			[]string{`<> <http://g.example/b> "T"`, `<> <dc:a> "<b xmlns=\"http://www.w3.org/1999/xhtml\" xmlns:F=\"u:\" xmlns:e=\"http://g.example/\" property=\"e:b\">T</b>"^^<rdf:XMLLiteral>`}},
		{"HTML", "html5", `<p property="dc:a" datatype="rdf:XMLLiteral">a &amp; b<br>&nbsp;<svg><g/></svg><b title='"'>c</b></p>`,
			[]string{`<> <dc:a> "a &amp; b<br xmlns=\"http://www.w3.org/1999/xhtml\"></br>` + "\u00A0" + `<svg xmlns=\"http://www.w3.org/2000/svg\"><g></g></svg>` +
				`<b xmlns=\"http://www.w3.org/1999/xhtml\" title=\"&quot;\">c</b>"^^<rdf:XMLLiteral>`}},
		{"svg inside", "html5", `<p property="dc:a" datatype="rdf:XMLLiteral"><i><svg><foreignobject><u></u></foreignobject></svg></i></p>`,
			[]string{`<> <dc:a> "<i xmlns=\"http://www.w3.org/1999/xhtml\"><svg xmlns=\"http://www.w3.org/2000/svg\"><foreignObject><u xmlns=\"http://www.w3.org/1999/xhtml\"></u></foreignObject></svg></i>"^^<rdf:XMLLiteral>`}},
		{"content does not count", "", `<p property="dc:a" datatype="rdf:XMLLiteral" content="C">T</p>`, []string{`<> <dc:a> "T"^^<rdf:XMLLiteral>`}},
		{"triples inside", "xml", `<p property="dc:a" datatype="rdf:XMLLiteral" about="#a"><b property="dc:b">T</b></p>`,
			[]string{`<#a> <dc:a> "<b xmlns=\"http://www.w3.org/1999/xhtml\" property=\"dc:b\">T</b>"^^<rdf:XMLLiteral>`, `<#a> <dc:b> "T"`}},
		{"canonical order and escapes", "xhtml1 xhtml5 xml", `<p xmlns:y="a:" xmlns:x="b:" property="dc:a" datatype="rdf:XMLLiteral"><b y:c="1" x:b="2" z="&#9;&gt;&#13;'" a="3" xml:lang="sv">&gt;&quot;&#13;<![CDATA[<]]><!--c--></b></p>`,
			[]string{`<> <dc:a> "<b xmlns=\"http://www.w3.org/1999/xhtml\" xmlns:x=\"b:\" xmlns:y=\"a:\" a=\"3\" z=\"&#x9;>&#xD;'\" y:c=\"1\" x:b=\"2\" xml:lang=\"sv\">&gt;\"&#xD;&lt;</b>"^^<rdf:XMLLiteral>`}},
		{"order and namespaces of HTML", "html5", `<svg xmlns="http://www.w3.org/2000/svg" property="dc:a" datatype="rdf:XMLLiteral"><rect width="300" height="100"/></svg>`,
			[]string{`<> <dc:a> "<rect xmlns=\"http://www.w3.org/2000/svg\" width=\"300\" height=\"100\"></rect>"^^<rdf:XMLLiteral>`}},
		{"svg without a declaration", "html5", `<svg property="dc:a" datatype="rdf:XMLLiteral"><rect/></svg>`, []string{`<> <dc:a> "<rect xmlns=\"http://www.w3.org/2000/svg\"></rect>"^^<rdf:XMLLiteral>`}},
		{"names and comments that XML does not have", "html5", `<p property="dc:a" datatype="rdf:XMLLiteral"><b @click="x" c="d">T</b><!-- c --><x@y>z</x@y></p>`,
			[]string{`<> <dc:a> "<b xmlns=\"http://www.w3.org/1999/xhtml\" c=\"d\">T</b>z"^^<rdf:XMLLiteral>`}},
	})
	got, _ := extract(t, `<p property="dc:a" datatype="rdf:HTML">a &amp; &lt;<b title='"&amp;&gt;'>b</b><br><!--c-->&nbsp;<script>if (a<b) c</script></p>`, "text/html")
	assert.Equal(t, []string{`<> <dc:a> "a &amp; &lt;<b title=\"&quot;&amp;&gt;\">b</b><br><!--c-->&nbsp;<script>if (a<b) c</script>"^^<rdf:HTML>`}, got)
}

// HTML+RDFa §3.5: property copying.
func TestCopying(t *testing.T) {
	check(t, []step{
		{"copy", "html5 xhtml5", `<div resource="#p" typeof="rdfa:Pattern"><p property="dc:a">A</p><p property="dc:b" typeof="foaf:X">B</p></div>
			<div about="#x"><link property="rdfa:copy" href="#p"/><p property="dc:a">own</p></div><div about="#y"><link property="rdfa:copy" href="#p"/></div>`,
			[]string{`<#x> <dc:a> "own"`, `<#x> <dc:a> "A"`, `<#x> <dc:b> _:b1`, `<#y> <dc:a> "A"`, `<#y> <dc:b> _:b1`, `_:b1 a <foaf:X>`}},
		{"chain, in any order", "html5 xhtml5", `<div about="#x"><link property="rdfa:copy" href="#p"/></div><div resource="#p" typeof="rdfa:Pattern"><link property="rdfa:copy" href="#q"/><p property="dc:a">A</p></div>
			<div resource="#q" typeof="rdfa:Pattern"><p property="dc:b">B</p></div>`,
			[]string{`<#x> <dc:a> "A"`, `<#x> <dc:b> "B"`}},
		{"circle", "html5 xhtml5", `<div about="#x"><link property="rdfa:copy" href="#p"/></div><div resource="#p" typeof="rdfa:Pattern"><link property="rdfa:copy" href="#q"/><p property="dc:a">A</p></div>
			<div resource="#q" typeof="rdfa:Pattern"><link property="rdfa:copy" href="#p"/><p property="dc:b">B</p></div>`,
			[]string{`<#x> <dc:a> "A"`, `<#x> <dc:b> "B"`}},
		{"a pattern that nobody copies stays", "html5 xhtml5", `<div resource="#p" typeof="rdfa:Pattern"><p property="dc:a">A</p></div><div about="#x"><link property="rdfa:copy" href="#q"/></div>`,
			[]string{`<#p> a <rdfa:Pattern>`, `<#p> <dc:a> "A"`, `<#x> <rdfa:copy> <#q>`}},
		{"other types are copied", "html5 xhtml5", `<div resource="#p" typeof="rdfa:Pattern foaf:X"></div><div about="#x"><link property="rdfa:copy" href="#p"/></div>`, []string{`<#x> a <foaf:X>`}},
		{"what copies a pattern can be copied", "html5 xhtml5", `<div about="#x"><link property="rdfa:copy" href="#y"/></div><div about="#y"><link property="rdfa:copy" href="#p"/><i property="dc:b">B</i></div><div resource="#p" typeof="rdfa:Pattern"><p property="dc:a">A</p></div>`,
			[]string{`<#x> <dc:a> "A"`, `<#x> <dc:b> "B"`}},
		{"a pattern that copies and is not copied is no pattern", "html5 xhtml5", `<div resource="#p" typeof="rdfa:Pattern"><link property="rdfa:copy" href="#q"/><p property="dc:a">A</p></div><div resource="#q" typeof="rdfa:Pattern"><p property="dc:b">B</p></div>`,
			[]string{`<#p> <dc:a> "A"`, `<#p> <dc:b> "B"`}},
		{"not in XML", "xml xhtml1", `<div resource="#p" typeof="rdfa:Pattern"/><div about="#x"><link property="rdfa:copy" href="#p"/></div>`,
			[]string{`<#p> a <rdfa:Pattern>`, `<#x> <rdfa:copy> <#p>`}},
	})
}

func TestEncodings(t *testing.T) {
	page := func(head, text string) string {
		return "<html><head>" + head + "</head><body property='dc:a'>" + text + "</body></html>"
	}
	utf16 := func(s string, big bool) string {
		b := []byte{0xFF, 0xFE}
		for _, c := range s {
			b = append(b, byte(c), byte(c>>8))
		}
		if big {
			for i := 0; i < len(b); i += 2 {
				b[i], b[i+1] = b[i+1], b[i]
			}
		}
		return string(b)
	}
	for _, c := range []struct{ name, media, doc, want, rule string }{
		{"UTF-8", "text/html", page("", "é"), "é", ""},
		{"Windows-1252", "text/html", page("", "\xe9\x80"), "é€", ""},
		{"of the header", "text/html; charset=ISO-8859-1", page(`<meta charset="utf-8">`, "\xe9\x80\x81"), "é€\u0081", ""},
		{"of meta", "text/html", page(`<meta name=x><meta charset="iso-8859-2">`, "\xf5"), "ő", ""},
		{"of meta http-equiv", "text/html", page(`<meta http-equiv="Content-Type" content="text/html; charset = 'iso-8859-7'; x">`, "\xe1"), "α", ""},
		{"meta without encoding", "text/html", page(`<meta http-equiv="Content-Type" content="text/html"><meta name="a" content="charset=iso-8859-7">`, "é"), "é", ""},
		{"mark", "text/html; charset=iso-8859-1", "\uFEFF" + page("", "é"), "é", ""},
		{"UTF-16", "text/html; charset=iso-8859-1", utf16(page("", "éα"), false), "éα", ""},
		{"UTF-16BE", "text/html", utf16(page("", "éα"), true), "éα", ""},
		{"half a character", "text/html", utf16(page("", "é"), false) + "<", "é\uFFFD", "rdfa-encoding"},
		{"claimed UTF-16", "text/html", page(`<meta charset="utf-16">`, "é"), "é", ""},
		{"not UTF-8", "text/html; charset=UTF-8", page("", "a\xe9b"), "a\uFFFDb", "rdfa-encoding"},
		{"unknown", "text/html; charset=x-nonsense", page("", "é"), "é", "rdfa-encoding"},
		{"XML", "application/xml", "<?xml version='1.0' encoding='iso-8859-1'?>" + page("", "\xe9"), "é", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, findings := extract(t, c.doc, c.media)
			assert.Equal(t, []string{`<> <dc:a> "` + c.want + `"`}, got)
			assert.Equal(t, c.rule, strings.Join(testkit.Rules(findings), " "))
		})
	}
}

func TestFindings(t *testing.T) {
	seen := map[string]bool{"rdfa-encoding": true} // of TestEncodings
	defer func() {
		for _, r := range rdfa.Rules() {
			assert.True(t, seen[r.Name], "%s has no case", r.Name)
		}
	}()
	var twice bytes.Buffer
	z := gzip.NewWriter(&twice)
	_, err := z.Write([]byte("<p>"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for _, c := range []struct{ name, media, doc, want string }{
		{"gzip", "text/html", twice.String() + "x", `https://law.example/dir/doc: warning: bytes after the end of the compressed data are left out (rdfa-gzip, RFC 1952 §2.2)`},
		{"undeclared prefix", "text/html", "<p>\n\n<b property='eli:title'>T</b><b property='eli:title'>U</b>",
			`https://law.example/dir/doc:3: warning: the prefix eli is not declared: taken as an absolute IRI: "eli:title" (rdfa-prefix-undeclared, RDFa Core §7.4)`},
		{"in XML", "application/xml", "<p>\n\n<b about='eli:x'>T</b></p>",
			`https://law.example/dir/doc:3: warning: the prefix eli is not declared: taken as an absolute IRI: "eli:x" (rdfa-prefix-undeclared, RDFa Core §7.4)`},
		{"other schemes", "text/html", "<p property='urn:x http://x/ http:x tag:y' about='mailto:x' resource='file:///'>", ""},
		{"term", "text/html", "<p property='title'>T", `https://law.example/dir/doc:1: warning: the term is not defined, and there is no default vocabulary: ignored: "title" (rdfa-term, RDFa Core §7.4.3)`},
		{"link relation", "text/html", "<link rel='stylesheet' href='x'>", `https://law.example/dir/doc:1: info: the term is not defined, and there is no default vocabulary: ignored: "stylesheet" (rdfa-link-relation, RDFa Core §7.4.3)`},
		{"no term", "text/html", "<p property='5'>T", `https://law.example/dir/doc:1: warning: neither a term nor a CURIE nor an absolute IRI: ignored: "5" (rdfa-term, RDFa Core §7.4.3)`},
		{"CURIE", "text/html", "<p about='[x]'>T", `https://law.example/dir/doc:1: warning: no CURIE in the brackets: ignored: "[x]" (rdfa-curie, RDFa Core §7.4)`},
		{"prefix redefined", "text/html", "<p prefix='dc: http://purl.org/dc/elements/1.1/ foaf: http://xmlns.com/foaf/0.1/'>T",
			`https://law.example/dir/doc:1: warning: the prefix stands for http://purl.org/dc/terms/ in the initial context: "dc" (rdfa-prefix-redefined, RDFa Core §9)`},
		{"prefix without colon", "text/html", "<p prefix='eli http://x/'>T",
			`https://law.example/dir/doc:1: warning: not a prefix that ends with a colon: ignored: "eli" (rdfa-prefix, RDFa Core §7.5 step 3)
https://law.example/dir/doc:1: warning: not a prefix that ends with a colon: ignored: "http://x/" (rdfa-prefix, RDFa Core §7.5 step 3)`},
		{"prefix without IRI", "text/html", "<p prefix='eli:'>T", `https://law.example/dir/doc:1: warning: a prefix without an IRI: ignored: "eli:" (rdfa-prefix, RDFa Core §7.5 step 3)`},
		{"reserved prefix", "text/html", "<p prefix='_: http://x/'>T", `https://law.example/dir/doc:1: warning: a prefix that can't be declared: ignored: "_" (rdfa-prefix, RDFa Core §7.5 step 3)`},
		{"IRI", "text/html", "<a rel=dc:a href='http://x/<'>T", `https://law.example/dir/doc:1: warning: a character that no IRI has is percent-encoded: "http://x/<" (rdfa-iri, RDFa Core §7.4)`},
		{"predicate", "text/html", "<p property='_:a'>T", `https://law.example/dir/doc:1: warning: a blank node is no predicate: ignored: "_:a" (rdfa-predicate, RDFa Core §7.4)`},
		{"datatype", "text/html", "<p property='dc:a' datatype='_:a'>T", `https://law.example/dir/doc:1: warning: a blank node is no datatype: ignored: "_:a" (rdfa-predicate, RDFa Core §7.4)`},
		{"lang", "text/html", "<p lang='sv_SE' property=dc:a>T", `https://law.example/dir/doc:1: warning: not a language tag: literals get none: "sv_SE" (rdfa-lang, RDFa Core §7.5 step 4)`},
		{"odd lang", "text/html", "<p lang='swedishlanguage' property=dc:a>T", `https://law.example/dir/doc:1: warning: not a language tag: "swedishlanguage" (rdfa-lang, RDFa Core §7.5 step 4)`},
		{"end", "text/html", "<HTML><p>T", `https://law.example/dir/doc: warning: a start tag of html, but no end tag: the page may be cut short (rdfa-end, HTML §13.1.2.4)`},
		{"XML", "application/xhtml+xml", "<html>\n&nonsense; &nbsp; &nbsp;</html>", `https://law.example/dir/doc:2:1: error: undefined entity nonsense (rdfa-xml, XML 1.0)
https://law.example/dir/doc:2:12: error: undefined entity nbsp (rdfa-xml, XML 1.0)`},
		{"XHTML that is not well-formed", "application/xhtml+xml", "<html>\n<p property='dc:a'>A<br></p></html>", `https://law.example/dir/doc:2:25: error: end tag "p" where element br is open: read as HTML (rdfa-xml, XML 1.0)`},
		{"XHTML with entities", "application/xhtml+xml", "<!DOCTYPE html [<!ENTITY x 'y'>]><html></html>", `https://law.example/dir/doc:1:1: error: an HTML page, not well-formed XML: read as HTML (rdfa-xml, XML 1.0)`},
		{"before XML", "application/xml", "x\n<?xml version='1.0'?><html/>", `https://law.example/dir/doc:1:1: error: a line before the XML declaration: "x" (rdfa-prologue, XML 1.0 §2.8)`},
		{"XML literal", "text/html", "<p property=dc:a datatype=rdf:XMLLiteral><b @c=d>T", `https://law.example/dir/doc:1: warning: an attribute name that XML does not have: left out: "@c" (rdfa-xml-literal, RDFa Core §7.5 step 11)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, findings := extract(t, c.doc, c.media)
			var lines []string
			for _, f := range findings {
				seen[f.Rule] = true
				lines = append(lines, f.String())
			}
			assert.Equal(t, c.want, strings.Join(lines, "\n"))
		})
	}
	_, err = new(rdfa.Extractor).Extract(strings.NewReader("<p property='eli:title' lang='_'>"), base, "", nil)
	assert.NoError(t, err, "without a report")
}

func TestErrors(t *testing.T) {
	deep := strings.Repeat("<div>", 600)
	for _, c := range []struct {
		name, base, media, doc, want string
		is                           error
	}{
		{"relative base", "doc", "text/html", "<p>", `rdfa: the base "doc" must be an absolute URL`, nil},
		{"empty base", "", "text/html", "<p>", `rdfa: the base "" must be an absolute URL`, nil},
		{"empty document", base, "text/html", " \n", "rdfa: line 1: an empty document, not a document with RDFa", websync.ErrNotDocument},
		{"JSON", base, "text/html", `{"a": "<b>"}`, "rdfa: line 1: JSON, not a document with RDFa", websync.ErrNotDocument},
		{"PDF", base, "", "%PDF-1.7 <<", "rdfa: line 1: a PDF file, not a document with RDFa", websync.ErrNotDocument},
		{"text", base, "text/html", "sorry", "rdfa: line 1: not markup, not a document with RDFa", websync.ErrNotDocument},
		{"media type", base, "application/pdf", "<p>", `rdfa: the media type "application/pdf" can't hold RDFa: not a document of this kind`, websync.ErrNotDocument},
		{"empty XML", base, "text/xml", "", "rdfa: line 1: an empty document, not well-formed XML", websync.ErrNotDocument},
		{"XHTML that ends early", base, "application/xhtml+xml", "<html><body>", "rdfa: line 1: input ended inside element body: document ends too early", websync.ErrTruncated},
		{"empty XHTML", base, "application/xhtml+xml", "", "rdfa: line 1: an empty document, not well-formed XML", websync.ErrNotDocument},
		{"JSON as XHTML", base, "application/xhtml+xml", "{}", "rdfa: line 1: JSON, not well-formed XML", websync.ErrNotDocument},
		{"too many bytes of XHTML", base, "application/xhtml+xml", "<html><p></html>" + strings.Repeat(" ", 10_000), "rdfa: more than 10000 bytes: over the limit", websync.ErrLimit},
		{"HTML as XML", base, "text/xml", "<html lang=sv>", "rdfa: line 1: an HTML page, not well-formed XML", websync.ErrNotDocument},
		{"deep HTML", base, "text/html", deep, "rdfa: html: open stack of elements exceeds 512 nodes: over the limit", websync.ErrLimit},
		{"deep XML", base, "text/xml", strings.ReplaceAll(deep, "div", "a") + strings.Repeat("</a>", 600), "rdfa: elements deeper than 512, or too many attributes: over the limit", websync.ErrLimit},
		{"XML that ends early", base, "text/xml", "<a><b>", "rdfa: line 1: input ended inside element b: document ends too early", websync.ErrTruncated},
		{"XML that is not well-formed", base, "text/xml", "<a><b></a>", `rdfa: line 1: end tag "a" where element b is open`, nil},
		{"too many bytes", base, "text/html", strings.Repeat("<p>x", 5000), "rdfa: more than 10000 bytes: over the limit", websync.ErrLimit},
		{"too many triples", base, "text/html", strings.Repeat("<p property=dc:a>", 11), "rdfa: more than 10 triples: over the limit", websync.ErrLimit},
		{"too many copies", base, "text/html", `<div resource="#p" typeof="rdfa:Pattern"><p property="dc:a">A<p property="dc:b">A<p property="dc:c">A</div><p about="#a"><link property="rdfa:copy" href="#p"><p about="#b"><link property="rdfa:copy" href="#p"><p about="#c"><link property="rdfa:copy" href="#p">`,
			"rdfa: more than 10 triples with the copied ones: over the limit", websync.ErrLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := rdfa.Extractor{MaxBytes: 10_000, MaxTriples: 10}
			triples, err := x.Extract(strings.NewReader(c.doc), c.base, c.media, nil)
			require.Error(t, err)
			assert.Nil(t, triples)
			got := strings.ReplaceAll(err.Error(), base+": ", "")
			assert.Equal(t, c.want, regexp.MustCompile(`, column \d+`).ReplaceAllString(got, ""))
			if c.is != nil {
				assert.ErrorIs(t, err, c.is)
			}
			if c.base == base {
				assert.ErrorAs(t, err, new(*websync.ParseError))
			}
		})
	}
	_, err := new(rdfa.Extractor).Extract(iotest.ErrReader(io.ErrUnexpectedEOF), base, "text/html", nil)
	assert.ErrorIs(t, err, websync.ErrTruncated)
	unlimited := rdfa.Extractor{MaxBytes: -1, MaxTriples: -1}
	triples, err := unlimited.Extract(strings.NewReader("<p property=dc:a><p about=#x resource=#p property=rdfa:copy><p about=#p property=dc:b><p about=#p typeof=rdfa:Pattern>"), base, "text/html", nil)
	require.NoError(t, err)
	assert.Len(t, triples, 2)
}

// TestPanicWhileParsing: what panics while a page is parsed is an error.
func TestPanicWhileParsing(t *testing.T) {
	var x rdfa.Extractor
	_, err := x.Extract(strings.NewReader("<html><body>cut"), base, "text/html", func(websync.Finding) { panic("on purpose") })
	assert.EqualError(t, err, "rdfa: panic: on purpose")
	_, ok := errors.AsType[*websync.PanicError](err)
	assert.True(t, ok)
}
