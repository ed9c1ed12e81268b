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
			assert.Equal(t, err, element.Attrs(&x, func(string, string, []byte, int) {}))
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

type attr struct {
	websync.Attr
	offset int
}

func attrsOf(x *websync.Element) (all []attr, err error) {
	err = element.Attrs(x, func(space, local string, value []byte, offset int) {
		all = append(all, attr{websync.Attr{Space: space, Local: local, Value: string(value)}, offset})
	})
	return all, err
}

func TestAttrs(t *testing.T) {
	xml := `<p:a xmlns:p="urn:x" b=" c " p:b = 'd' xml:lang="e&amp;&#10;` + "\n" + `&quot;" f=""><p:g h="i"/></p:a>`
	x := websync.Element{Space: "urn:x", Local: "a", XML: xml}
	all, err := attrsOf(&x)
	require.NoError(t, err)
	assert.Equal(t, []attr{
		{websync.Attr{Local: "b", Value: " c "}, strings.Index(xml, " c ")},
		{websync.Attr{Space: "urn:x", Local: "b", Value: "d"}, strings.Index(xml, "d'")},
		{websync.Attr{Space: "http://www.w3.org/XML/1998/namespace", Local: "lang", Value: "e&\n \""}, strings.Index(xml, "e&")},
		{websync.Attr{Local: "f"}, strings.Index(xml, `">`)},
	}, all)

	long := strings.Repeat("v", 100_000)
	x = websync.Element{Local: "a", XML: `<a xmlns="" b="` + long + `" c="d"/>`}
	all, err = attrsOf(&x)
	require.NoError(t, err)
	assert.Equal(t, []attr{
		{websync.Attr{Local: "b", Value: long}, len(`<a xmlns="" b="`)},
		{websync.Attr{Local: "c", Value: "d"}, len(x.XML) - len(`d"/>`)},
	}, all)

	for name, xml := range map[string]string{
		"a prefix of the document around": `<a xmlns="urn:x" p:b="c"/>`,
		"one attribute twice":             `<a xmlns="urn:x" b="c" b="d"/>`,
		"under two prefixes":              `<a xmlns="urn:x" xmlns:p="urn:y" xmlns:q="urn:y" p:b="" q:b=""/>`,
		"an unknown entity":               `<a xmlns="urn:x" b="&c;"/>`,
		"a tag in a value":                `<a xmlns="urn:x" b="<"/>`,
		"no quotes":                       `<a xmlns="urn:x" b=c/>`,
		"no white space":                  `<a xmlns="urn:x" b="c"d="e"/>`,
		"a control character":             "<a xmlns='urn:x' b='\x01'/>",
		"another name":                    `<b xmlns="urn:x" c="d"/>`,
	} {
		_, err := attrsOf(&websync.Element{Space: "urn:x", Local: "a", XML: xml})
		assert.Error(t, err, name)
	}
}

// metadata is what ResourceSync states of a resource.
var metadata = websync.Element{Space: "http://www.openarchives.org/rs/terms/", Local: "md",
	XML: `<rs:md xmlns:rs="http://www.openarchives.org/rs/terms/" at="2013-01-03T09:00:00Z" change="updated" hash="md5:1584abdf8ebdc9802ac0c6a7402c03b6" length="8876" type="text/html"/>`}

// The least of several runs counts: the collector and the race detector empty pools.
func TestAttrsAllocatesNothing(t *testing.T) {
	n, least := 0, 100.0
	for range 20 {
		least = min(least, testing.AllocsPerRun(1, func() {
			err := element.Attrs(&metadata, func(_, _ string, value []byte, _ int) { n += len(value) })
			require.NoError(t, err)
		}))
	}
	assert.Zero(t, least)
	assert.NotZero(t, n)
}

func BenchmarkAttrs(b *testing.B) {
	b.Run("attrs", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(metadata.XML)))
		for b.Loop() {
			if err := element.Attrs(&metadata, func(string, string, []byte, int) {}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(metadata.XML)))
		for b.Loop() {
			if _, err := element.Parse(&metadata); err != nil {
				b.Fatal(err)
			}
		}
	})
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

// FuzzAttrs: Attrs accepts what Parse accepts, and finds the same attributes and where
// their values start.
func FuzzAttrs(f *testing.F) {
	f.Add("urn:x", "a", `<p:a xmlns:p="urn:x" b="c" p:d='e&lt;'><f/></p:a>`)
	f.Add(metadata.Space, metadata.Local, metadata.XML)
	f.Fuzz(func(t *testing.T, space, local, xml string) {
		x := websync.Element{Space: space, Local: local, XML: xml}
		all, err := attrsOf(&x)
		n, parseErr := element.Parse(&x)
		require.Equal(t, parseErr == nil, err == nil)
		if err != nil {
			return
		}
		require.Len(t, all, len(n.Attrs))
		for i, a := range all {
			require.Equal(t, n.Attrs[i], a.Attr)
			raw, _, closed := strings.Cut(xml[a.offset:], xml[a.offset-1:a.offset])
			require.True(t, closed)
			if !strings.ContainsAny(raw, "&\t\r\n") {
				require.Equal(t, raw, a.Value)
			}
		}
	})
}
