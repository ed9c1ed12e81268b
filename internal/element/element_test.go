package element_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/element"
)

func TestCheck(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`<a xmlns="urn:x">`, n) + strings.Repeat("</a>", n) }
	for name, test := range map[string]struct{ xml, fault string }{
		"an element":        {`<a xmlns="urn:x"/>`, ""},
		"a prefix":          {`<p:a xmlns:p="urn:x" p:b="c"><p:d>e</p:d></p:a>`, ""},
		"no namespace":      {`<a xmlns="urn:x"><b xmlns=""/></a>`, ""},
		"white space after": {"<a xmlns='urn:x'/>\n", "not one element"},
		"deep":              {deep(252), ""},
		"text alone":        {`<a xmlns="urn:x">b é</a>`, ""},
		"text and a prefix": {`<p:a xmlns:p="urn:x">b</p:a>`, ""},
		"text and xml":      {`<xml:a xmlns:xml="urn:x">b</xml:a>`, "xml"},
		"text and xmlns":    {`<xmlns:a xmlns:xmlns="urn:x">b</xmlns:a>`, "xml"},
		"another end":       {`<a xmlns="urn:x">b</b>`, "xml"},
		"another prefix":    {`<p:a xmlns:q="urn:x">b</p:a>`, "xml"},
		"a prefix at start": {`<p:a xmlns:p="urn:x">b</a>`, "xml"},
		"a half tag":        {`<a xmlns="urn:x">b</a`, "xml"},
		"two with text":     {`<a xmlns="urn:x">b</a><a xmlns="urn:x">b</a>`, "not one element"},
		"text in a control": {"<a xmlns=\"urn:x\">b\x01</a>", "xml"},
		"text, not UTF-8":   {"<a xmlns=\"urn:x\">b\xff</a>", "xml"},
		"a bad end in text": {`<a xmlns="urn:x">b]]></a>`, "xml"},
		"a space":           {" ", "not one element"},
		"nothing":           {"", "not one element"},
		"text":              {"a", "not one element"},
		"a declaration":     {`<?xml version="1.0"?><a xmlns="urn:x"/>`, "not one element"},
		"a DOCTYPE":         {`<!DOCTYPE a><a xmlns="urn:x"/>`, "not one element"},
		"a mark":            {"\ufeff<a xmlns='urn:x'/>", "not one element"},
		"UTF-16":            {"<\x00a\x00/\x00>\x00", "xml"},
		"two":               {`<a xmlns="urn:x"/><a xmlns="urn:x"/>`, "not one element"},
		"text after":        {`<a xmlns="urn:x"/>b`, "not one element"},
		"open":              {`<a xmlns="urn:x">`, "xml"},
		"closes too much":   {`<a xmlns="urn:x"/></w>`, "xml"},
		"closes and opens":  {`<a xmlns="urn:x"/></w><w>`, "xml"},
		"inherits":          {`<a/>`, "without a namespace"},
		"a child inherits":  {`<p:a xmlns:p="urn:x"><b/></p:a>`, "without a namespace"},
		"a foreign prefix":  {`<p:a/>`, "prefix p is not declared"},
		"a control":         {"<a xmlns='urn:x'>\x01</a>", "xml"},
		"not UTF-8":         {"<a xmlns='urn:x'>\xff</a>", "xml"},
		"too deep":          {deep(253), "xml"},
		"another name":      {`<b xmlns="urn:x"/>`, "its name is {urn:x}b"},
		"another namespace": {`<a xmlns="urn:y"/>`, "its name is {urn:y}a"},
	} {
		t.Run(name, func(t *testing.T) {
			x := websync.Element{Space: "urn:x", Local: "a", XML: test.xml}
			err := element.Check(&x)
			_, parseErr := element.Parse(&x)
			assert.Equal(t, err, parseErr)
			if test.fault == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.fault)
			}
		})
	}
}

func TestParse(t *testing.T) {
	n, err := element.Parse(&websync.Element{Space: "urn:x", Local: "a", XML: `<p:a xmlns:p="urn:x" xmlns:q="urn:y" b=" c " p:b="d"> e <q:f>no</q:f><p:f>yes</p:f><!-- g --> &amp;h </p:a>`})
	require.NoError(t, err)
	assert.Equal(t, &element.Node{
		Space: "urn:x", Local: "a", Text: "e  &h", Attrs: []websync.Attr{{Local: "b", Value: " c "}, {Space: "urn:x", Local: "b", Value: "d"}},
		Children: []element.Node{{Space: "urn:y", Local: "f", Text: "no"}, {Space: "urn:x", Local: "f", Text: "yes"}},
	}, n)
	assert.Equal(t, " c ", n.Attr("b"))
	assert.Empty(t, n.Attr("c"))
	assert.Equal(t, "yes", n.Child("f").Text)
	assert.Empty(t, n.Child("g"))
}

func TestBuilder(t *testing.T) {
	m := element.New("p", "urn:x?a&b", "a")
	m.Attr("b", `"c"`)
	m.Attr("none", "")
	m.Child("d", "<e>")
	m.Child("none", "")
	m.Start("f")
	m.Attr("g", "h")
	m.End("")
	m.Start("i")
	m.Child("j", "k")
	x, err := m.Element()
	require.NoError(t, err)
	assert.Equal(t, websync.Element{
		Space: "urn:x?a&b", Local: "a",
		XML: `<p:a xmlns:p="urn:x?a&amp;b" b="&quot;c&quot;"><p:d>&lt;e&gt;</p:d><p:f g="h"/><p:i><p:j>k</p:j></p:i></p:a>`,
	}, x)
	require.NoError(t, element.Check(&x))

	x, err = element.Text("urn:x", "a", "b & c")
	require.NoError(t, err)
	assert.Equal(t, `<a xmlns="urn:x">b &amp; c</a>`, x.XML)
	_, err = element.Text("urn:x", "a", "\x00")
	require.ErrorContains(t, err, "U+0000")
}

func FuzzCheck(f *testing.F) {
	f.Add("urn:x", "a", `<a xmlns="urn:x"><b xmlns="">c</b></a>`)
	f.Add("urn:x", "a", `<p:a xmlns:p="urn:x">b</p:a>`)
	f.Add("http://www.w3.org/2000/xmlns/", "a", `<p:a xmlns:p="http://www.w3.org/2000/xmlns/">b</p:a>`)
	f.Add("http://www.w3.org/XML/1998/namespace", "a", `<a xmlns="http://www.w3.org/XML/1998/namespace">b</a>`)
	f.Add("about:blank", "a", `<a xmlns="about:blank">b</a>`)
	f.Add("a\"b", "a", `<a xmlns="a"b">b</a>`)
	f.Fuzz(func(t *testing.T, space, local, xml string) {
		x := websync.Element{Space: space, Local: local, XML: xml}
		err := element.Check(&x)
		_, parseErr := element.Parse(&x)
		require.Equal(t, err == nil, parseErr == nil)
		if err == nil {
			outer := websync.Element{Space: "urn:outer", Local: "o", XML: `<o xmlns="urn:outer">` + xml + `</o>`}
			n, err := element.Parse(&outer)
			require.NoError(t, err)
			require.Len(t, n.Children, 1)
			require.Equal(t, local, n.Children[0].Local)
		}
	})
}
