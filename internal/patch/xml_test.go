package patch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func patch(t *testing.T, doc, diff string) (string, error) {
	t.Helper()
	var b strings.Builder
	err := ApplyXML(&b, strings.NewReader(doc), strings.NewReader(diff))
	if err != nil {
		assert.Empty(t, b.String(), "written in spite of an error")
	}
	return b.String(), err
}

// The cases follow the examples of RFC 5261, appendix A.
func TestApply(t *testing.T) {
	for _, test := range []struct{ name, doc, op, want string }{
		{
			"A.1 adding an element", `<doc><note>text</note></doc>`,
			`<add sel="doc"><foo id="ert4773">new child</foo></add>`,
			`<doc><note>text</note><foo id="ert4773">new child</foo></doc>`,
		},
		{
			"A.2 adding an attribute", `<doc><foo id="ert4773">child</foo></doc>`,
			`<add sel="doc/foo[@id='ert4773']" type="@user">Bob</add>`,
			`<doc><foo id="ert4773" user="Bob">child</foo></doc>`,
		},
		{
			"A.3 adding a namespace declaration", `<doc><foo/></doc>`,
			`<add sel="doc" type="namespace::pref">urn:ns:xxx</add>`,
			`<doc xmlns:pref="urn:ns:xxx"><foo/></doc>`,
		},
		{
			"A.4 adding a comment before an element", `<doc><foo/><bar/></doc>`,
			`<add sel="doc/foo" pos="before"><!-- comment --></add>`,
			`<doc><!-- comment --><foo/><bar/></doc>`,
		},
		{
			"adding after an element", `<doc><foo/><bar/></doc>`,
			`<add sel="/doc/foo" pos="after"><x/>, </add>`,
			`<doc><foo/><x/>, <bar/></doc>`,
		},
		{
			"adding in front", `<doc>text<foo/></doc>`,
			`<add sel="*" pos="prepend"><x/></add>`,
			`<doc><x/>text<foo/></doc>`,
		},
		{
			"A.5 adding several nodes", `<doc><foo/></doc>`,
			"<add sel=\"doc\">\n  <foo id=\"2\">new</foo>\n</add>",
			"<doc><foo/>\n  <foo id=\"2\">new</foo>\n</doc>",
		},
		{
			"adding after a text", `<doc>one<x/>two</doc>`,
			`<add sel="doc/text()[2]" pos="after"><y/></add>`,
			`<doc>one<x/>two<y/></doc>`,
		},
		{
			"A.6 replacing an element", `<doc><foo a="1">this</foo></doc>`,
			"<replace sel=\"doc/foo[@a='1']\">\n  <bar b=\"2\"/>\n</replace>",
			`<doc><bar b="2"/></doc>`,
		},
		{
			"A.7 replacing the value of an attribute", `<doc a="test"/>`,
			`<replace sel="doc/@a">new value</replace>`,
			`<doc a="new value"/>`,
		},
		{
			"A.8 replacing a namespace", `<doc xmlns:pref="urn:test"><foo/></doc>`,
			`<replace sel="doc/namespace::pref">urn:new:xxx</replace>`,
			`<doc xmlns:pref="urn:new:xxx"><foo/></doc>`,
		},
		{
			"A.9 replacing a comment", `<doc a="test"><!-- This is a sample --></doc>`,
			`<replace sel="doc/comment()[1]"><!-- new --></replace>`,
			`<doc a="test"><!-- new --></doc>`,
		},
		{
			"A.10 replacing an instruction", `<doc><?test foo="bar"?></doc>`,
			`<replace sel="doc/processing-instruction('test')"><?test bar="foobar"?></replace>`,
			`<doc><?test bar="foobar"?></doc>`,
		},
		{
			"A.11 replacing a text", `<doc><foo>first<x/>second</foo></doc>`,
			`<replace sel="doc/foo/text()[1]">1 &lt; 2</replace>`,
			`<doc><foo>1 &lt; 2<x/>second</foo></doc>`,
		},
		{
			"replacing a text by nothing", `<doc>text</doc>`, `<replace sel="doc/text()"/>`, `<doc/>`,
		},
		{
			"A.12 removing an element with white space after it", "<doc>\n  <foo a=\"1\">text</foo>\n</doc>",
			`<remove sel="doc/foo[@a='1']" ws="after"/>`,
			"<doc>\n  </doc>",
		},
		{
			"with white space on both sides", "<doc>\n  <foo>text</foo>\n</doc>",
			`<remove sel="doc/foo[.='text']" ws="both"/>`,
			"<doc/>",
		},
		{
			"with white space before it", "<doc>\n  <foo>text</foo>\n</doc>",
			`<remove sel="doc/*[1]" ws="before"/>`,
			"<doc>\n</doc>",
		},
		{"A.13 removing an attribute", `<doc a="foo"/>`, `<remove sel="doc/@a"/>`, `<doc/>`},
		{
			"A.14 removing a namespace declaration", `<doc xmlns:pref="urn:test"><foo/></doc>`,
			`<remove sel="doc/namespace::pref"/>`, `<doc><foo/></doc>`,
		},
		{"A.15 removing a comment", `<doc><!-- c --><foo/></doc>`, `<remove sel="doc/comment()"/>`, `<doc><foo/></doc>`},
		{"A.16 removing an instruction", `<doc><?test?><?other x?></doc>`, `<remove sel="doc/processing-instruction('other')"/>`, `<doc><?test?></doc>`},
		{"A.17 removing a text", `<doc>a<b/>c</doc>`, `<remove sel="doc/text()[1]"/>`, `<doc><b/>c</doc>`},
		{"by the text of a child", `<doc><p><id>1</id></p><p><id>2</id><x/></p></doc>`, `<remove sel="doc/p[id='2']/x"/>`, `<doc><p><id>1</id></p><p><id>2</id></p></doc>`},
		{"by two predicates", `<doc><p k="a"/><p k="b" n="1"/><p k="b" n="2"/></doc>`, `<remove sel="doc/p[@k='b'][2]"/>`, `<doc><p k="a"/><p k="b" n="1"/></doc>`},
		{"by id", `<doc><p xml:id="x"><q/></p></doc>`, `<remove sel="id('x')/q"/>`, `<doc><p xml:id="x"/></doc>`},
		{"a literal with brackets", `<doc><p k="]/'"/></doc>`, `<remove sel='doc/p[@k="]/&apos;"]'/>`, `<doc/>`},
		{"a section is a text", `<doc>a<![CDATA[b]]><x/></doc>`, `<remove sel="doc/text()"/>`, `<doc><x/></doc>`},
		{
			"what is not touched stays", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE doc>\n<doc  a='1'>&quot;<![CDATA[<]]>é</doc>\n",
			`<add sel="doc" type="@b">2</add>`,
			"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE doc>\n<doc a=\"1\" b=\"2\">\"<![CDATA[<]]>é</doc>\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := patch(t, test.doc, "<diff>"+test.op+"</diff>")
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

// A.18, and §4.2.3: prefixes differ between the patch and the document.
func TestNamespaces(t *testing.T) {
	const doc = `<doc xmlns="urn:xxx" xmlns:y="urn:yyy" xmlns:z="urn:zzz"><note>This is a sample document</note><elem a="foo"><child/></elem>` +
		`<elem a="bar"><z:child/></elem></doc>`
	for _, test := range []struct{ name, doc, diff, want string }{
		{
			"A.18", doc,
			`<p:diff xmlns="urn:xxx" xmlns:y="urn:yyy" xmlns:x="urn:zzz" xmlns:p="urn:diff">` +
				`<p:add sel="doc/elem[@a='foo']"><child id="ert4773"><y:node/></child></p:add>` +
				`<p:replace sel="doc/note/text()">Patched doc</p:replace>` +
				`<p:remove sel="*/elem[@a='bar']/x:child"/>` +
				`<p:add sel="*/elem[@a='bar']" type="@b">new attr</p:add></p:diff>`,
			`<doc xmlns="urn:xxx" xmlns:y="urn:yyy" xmlns:z="urn:zzz"><note>Patched doc</note><elem a="foo"><child/><child id="ert4773"><y:node/></child></elem>` +
				`<elem a="bar" b="new attr"/></doc>`,
		},
		{
			"another prefix here", `<d:doc xmlns:d="urn:xxx"/>`, `<diff xmlns:e="urn:xxx"><add sel="e:doc"><e:foo e:a="1"/></add></diff>`,
			`<d:doc xmlns:d="urn:xxx"><d:foo d:a="1"/></d:doc>`,
		},
		{
			"no prefix here", `<doc/>`, `<diff xmlns:e="urn:xxx"><add sel="doc"><e:foo><e:bar/></e:foo></add></diff>`,
			`<doc><e:foo xmlns:e="urn:xxx"><e:bar/></e:foo></doc>`,
		},
		{
			"no namespace below a default one", `<doc xmlns="urn:xxx"/>`, `<diff xmlns:e="urn:xxx"><add sel="e:doc"><foo/></add></diff>`,
			`<doc xmlns="urn:xxx"><foo xmlns=""/></doc>`,
		},
		{
			"the prefix means something else here", `<e:doc xmlns:e="urn:other"/>`, `<diff xmlns:e="urn:xxx" xmlns:o="urn:other"><add sel="o:doc"><e:foo/></add></diff>`,
			`<e:doc xmlns:e="urn:other"><e:foo xmlns:e="urn:xxx"/></e:doc>`,
		},
		{
			"the added element declares its own", `<doc/>`, `<diff><add sel="doc"><e:foo xmlns:e="urn:xxx" e:a="1"/></add></diff>`,
			`<doc><e:foo xmlns:e="urn:xxx" e:a="1"/></doc>`,
		},
		{
			"a default namespace here is none for attributes", `<doc xmlns="urn:xxx"/>`, `<diff xmlns:e="urn:xxx"><add sel="e:doc"><e:foo e:a="1" b="2"/></add></diff>`,
			`<doc xmlns="urn:xxx"><e:foo e:a="1" b="2" xmlns:e="urn:xxx"/></doc>`,
		},
		{
			"an attribute with a prefix", `<doc xmlns:d="urn:xxx" d:a="1" a="2"/>`, `<diff xmlns:e="urn:xxx"><replace sel="doc/@e:a">3</replace><add sel="doc" type="@e:b">4</add></diff>`,
			`<doc xmlns:d="urn:xxx" d:a="3" a="2" d:b="4"/>`,
		},
		{
			"an attribute without a prefix has no namespace", `<doc xmlns:d="urn:xxx" d:a="1"/>`, `<diff><add sel="doc" type="@a">2</add></diff>`,
			`<doc xmlns:d="urn:xxx" d:a="1" a="2"/>`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := patch(t, test.doc, test.diff)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestErrors(t *testing.T) {
	const doc = `<doc a="1"><p/>text<p/></doc>`
	for _, test := range []struct{ name, op, want string }{
		{"nothing there", `<remove sel="doc/q"/>`, `<remove sel="doc/q">: it locates 0 nodes`},
		{"two of them", `<remove sel="doc/p"/>`, "it locates 2 nodes; it must locate one"},
		{"a position that is not there", `<remove sel="doc/p[3]"/>`, "it locates 0 nodes"},
		{"no selector", `<remove/>`, "the attribute is missing"},
		{"an operation that is none", `<move sel="doc"/>`, "must be add, replace or remove"},
		{"an undeclared prefix", `<remove sel="x:doc"/>`, `the prefix "x" is not declared`},
		{"an axis", `<remove sel="doc/child::p"/>`, `can't be read from "child::p"`},
		{"a function", `<remove sel="doc/p[last()]"/>`, `can't be read from "()]"`},
		{"a union", `<remove sel="doc/p[1]|doc/p[2]"/>`, `can't be read from "|doc`},
		{"an open literal", `<remove sel="doc/p[@a='1]"/>`, `can't be read from`},
		{"below a text", `<remove sel="doc/text()/p"/>`, `can't be read from "/p"`},
		{"an empty step", `<remove sel="doc//p"/>`, `can't be read from "/p"`},
		{"an attribute twice", `<add sel="doc" type="@a">2</add>`, `the element has the attribute "a" already`},
		{"a type that is none", `<add sel="doc" type="a">2</add>`, `type "a" must be @`},
		{"a position that is none", `<add sel="doc" pos="inside"><x/></add>`, `pos "inside" must be`},
		{"into a text", `<add sel="doc/text()"><x/></add>`, "this adds to elements only"},
		{"an attribute of a text", `<add sel="doc/text()" pos="after" type="@x">1</add>`, "attributes are added to elements only"},
		{"beside an attribute", `<add sel="doc/@a" pos="after">1</add>`, "this adds to elements only"},
		{"a text for an element", `<replace sel="doc/p[1]">text</replace>`, "by one of its kind"},
		{"two for one", `<replace sel="doc/p[1]"><x/><y/></replace>`, "by one of its kind"},
		{"an element for a text", `<replace sel="doc/text()"><x/></replace>`, "by text"},
		{"the root removed", `<remove sel="doc"/>`, "the patched document has 0 root elements"},
		{"a second root", `<add sel="doc" pos="after"><x/></add>`, "the patched document has 2 root elements"},
		{"the document removed", `<remove sel="/"/>`, "the document"},
		{"the document replaced", `<replace sel="/"><x/></replace>`, "the document"},
		{"beside the document", `<add sel="/" pos="after"><x/></add>`, "the document"},
		{"no white space", `<remove sel="doc/p[1]" ws="after"/>`, "no such white space"},
		{"ws of an attribute", `<remove sel="doc/@a" ws="after"/>`, "ws is for"},
		{"ws that is none", `<remove sel="doc/p[1]" ws="around"/>`, `ws "around" must be`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := patch(t, doc, "<diff>"+test.op+"</diff>")
			require.Error(t, err)
			assert.Contains(t, err.Error(), test.want)
		})
	}
	for _, broken := range []string{"", "<doc>", "text", "<a/><b/>"} {
		_, err := patch(t, broken, "<diff/>")
		assert.ErrorContains(t, err, "xmlpatch: document: ", "%q", broken)
		_, err = patch(t, doc, broken)
		assert.ErrorContains(t, err, "xmlpatch: patch: ", "%q", broken)
	}
}

func FuzzXML(f *testing.F) {
	f.Add(`<doc a="1" xmlns:x="u"><p k="1">text</p><x:q/></doc>`, `<diff xmlns:y="u"><replace sel="doc/p[@k='1']/text()">new</replace><add sel="doc" pos="prepend"><y:r y:s=""/></add></diff>`)
	f.Add(`<doc> <p/> </doc>`, `<diff><remove sel="id('a')/*[1][.='x']" ws="both"/><add sel="/doc/@a" type="namespace::p">u</add></diff>`)
	f.Fuzz(func(t *testing.T, doc, diff string) {
		var b strings.Builder
		if ApplyXML(&b, strings.NewReader(doc), strings.NewReader(diff)) != nil && b.Len() > 0 {
			t.Fatal("written in spite of an error")
		}
	})
}
