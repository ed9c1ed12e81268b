package xmlscan_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/xmlscan"
)

func TestWriter(t *testing.T) {
	write := func(w *xmlscan.Writer) {
		w.Declaration()
		w.Start("urlset")
		w.Attr("xmlns", sitemapNS)
		w.Attr("xmlns:rs", "http://www.openarchives.org/rs/terms/")
		w.Start("rs:md")
		w.Attr("at", "2024")
		w.End()
		w.Start("url")
		w.Element("loc", "https://example.org/?a&b=<>\"'")
		w.Element("empty", "")
		w.Start("p")
		w.Text("mixed ")
		w.Element("b", "text\r\n\t")
		w.Text(" ]]> é")
		w.End()
		w.Raw(`<x:y xmlns:x="u"><z/> </x:y>`)
		w.End()
		w.Start("q")
		w.Attr("r", "a\t\n\r\"'<>&😀")
		w.End()
		w.End()
	}
	for _, c := range []struct {
		indent bool
		want   string
	}{
		{false, `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
			`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/"><rs:md at="2024"/>` +
			`<url><loc>https://example.org/?a&amp;b=&lt;&gt;"'</loc><empty/><p>mixed <b>text&#13;` + "\n\t" + `</b> ]]&gt; é</p>` +
			`<x:y xmlns:x="u"><z/> </x:y></url><q r="a&#9;&#10;&#13;&quot;'&lt;>&amp;😀"/></urlset>` + "\n"},
		{true, `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">
  <rs:md at="2024"/>
  <url>
    <loc>https://example.org/?a&amp;b=&lt;&gt;"'</loc>
    <empty/>
    <p>mixed <b>text&#13;
	</b> ]]&gt; é</p>
    <x:y xmlns:x="u"><z/> </x:y>
  </url>
  <q r="a&#9;&#10;&#13;&quot;'&lt;>&amp;😀"/>
</urlset>
`},
	} {
		var b bytes.Buffer
		w := xmlscan.NewWriter(&b)
		w.Indent = c.indent
		for range 2 { // the second time after Reset
			b.Reset()
			w.Reset(&b)
			write(w)
			require.NoError(t, w.Close())
			assert.Equal(t, c.want, b.String())
			_, err := trace(newReader(b.String()))
			assert.NoError(t, err)
		}
	}
}

// Whatever is refused, nothing comes out that a Reader would refuse.
func TestWriterRefuses(t *testing.T) {
	cases := []struct {
		name  string
		write func(*xmlscan.Writer)
		want  string
	}{
		{"nothing", func(w *xmlscan.Writer) {}, "no root element"},
		{"only a declaration", func(w *xmlscan.Writer) { w.Declaration() }, "no root element"},
		{"late declaration", func(w *xmlscan.Writer) { w.Start("a"); w.Declaration() }, "not at the start"},
		{"two declarations", func(w *xmlscan.Writer) { w.Declaration(); w.Declaration() }, "not at the start"},
		{"open element", func(w *xmlscan.Writer) { w.Start("a") }, "element a is open"},
		{"end without a start", func(w *xmlscan.Writer) { w.End() }, "end without a start"},
		{"two roots", func(w *xmlscan.Writer) { w.Element("a", ""); w.Element("b", "") }, "after the root"},
		{"two roots, raw", func(w *xmlscan.Writer) { w.Raw("<a/>"); w.Raw("<b/>") }, "after the root"},
		{"text outside", func(w *xmlscan.Writer) { w.Text("a") }, "outside the root"},
		{"text after", func(w *xmlscan.Writer) { w.Element("a", ""); w.Text("a") }, "outside the root"},
		{"empty name", func(w *xmlscan.Writer) { w.Start("") }, "bad name"},
		{"name with a space", func(w *xmlscan.Writer) { w.Start("a b") }, "bad name"},
		{"name with markup", func(w *xmlscan.Writer) { w.Start("a><b") }, "bad name"},
		{"name with two colons", func(w *xmlscan.Writer) { w.Start("a:b:c") }, "bad name"},
		{"name that is not UTF-8", func(w *xmlscan.Writer) { w.Start("a\xFF") }, "bad name"},
		{"attribute name", func(w *xmlscan.Writer) { w.Start("a"); w.Attr("1", "") }, "bad name"},
		{"attribute name without local part", func(w *xmlscan.Writer) { w.Start("a"); w.Attr("xmlns:", "u") }, "bad name"},
		{"declared name", func(w *xmlscan.Writer) { w.Start("a"); w.Attr("xmlns:a b", "u") }, "bad name"},
		{"attribute outside a tag", func(w *xmlscan.Writer) { w.Start("a"); w.Text("b"); w.Attr("c", "") }, "outside a tag"},
		{"attribute after the end", func(w *xmlscan.Writer) { w.Element("a", ""); w.Attr("c", "") }, "outside a tag"},
		{"attribute twice", func(w *xmlscan.Writer) { w.Start("a"); w.Attr("b", ""); w.Attr("b", "") }, "twice"},
		{"attribute twice, in different strings", func(w *xmlscan.Writer) {
			w.Start("a")
			w.Attr("bcd", "")
			w.Attr("e", "")
			w.Attr(strings.Clone("bcd"), "")
		}, "attribute bcd twice"},
		{"long attribute twice", func(w *xmlscan.Writer) {
			long := strings.Repeat("b", 100)
			w.Start("a")
			w.Attr(long, "")
			w.Attr(long, "")
		}, "twice"},
		{"attribute twice among more than are remembered", func(w *xmlscan.Writer) {
			w.Start("a")
			for i := range 10_000 {
				w.Attr(fmt.Sprint("b", i), "")
			}
			w.Attr("b0", "")
		}, "attribute b0 twice"},
		{"declaration twice", func(w *xmlscan.Writer) { w.Start("a"); w.Attr("xmlns", "u"); w.Attr("xmlns", "v") }, "twice"},
		{"attribute twice by namespace", func(w *xmlscan.Writer) {
			w.Start("a")
			w.Attr("xmlns:p", "u")
			w.Attr("xmlns:q", "u")
			w.Attr("p:b", "")
			w.Attr("q:b", "")
			w.End()
		}, "twice"},
		{"undeclared prefix", func(w *xmlscan.Writer) { w.Element("p:a", "") }, "prefix p is not declared"},
		{"undeclared prefix of an attribute", func(w *xmlscan.Writer) { w.Start("a"); w.Attr("p:b", ""); w.Text("c") }, "prefix p is not declared"},
		{"prefix out of scope", func(w *xmlscan.Writer) {
			w.Start("a")
			w.Start("b")
			w.Attr("xmlns:p", "u")
			w.End()
			w.Element("p:c", "")
			w.End()
		}, "prefix p is not declared"},
		{"prefix xmlns", func(w *xmlscan.Writer) { w.Start("a"); w.Attr("xmlns:xmlns", "u") }, "xmlns"},
		{"prefix xmlns of an element", func(w *xmlscan.Writer) { w.Element("xmlns:a", "") }, "xmlns"},
		{"prefix xml rebound", func(w *xmlscan.Writer) { w.Start("a"); w.Attr("xmlns:xml", "u") }, "bound to u"},
		{"prefix undeclared", func(w *xmlscan.Writer) { w.Start("a"); w.Attr("xmlns:p", "") }, "empty"},
		{"control character", func(w *xmlscan.Writer) { w.Element("a", "b\x00c") }, "U+0000"},
		{"control character in an attribute", func(w *xmlscan.Writer) { w.Start("a"); w.Attr("b", "\x1F"); w.End() }, "U+001F"},
		{"noncharacter", func(w *xmlscan.Writer) { w.Element("a", "é\uFFFF") }, "U+FFFF"},
		{"bad UTF-8", func(w *xmlscan.Writer) { w.Element("a", "é\xC3") }, "0xc3 is not UTF-8"},
		{"raw text", func(w *xmlscan.Writer) { w.Start("a"); w.Raw("b") }, "raw element"},
		{"raw nothing", func(w *xmlscan.Writer) { w.Start("a"); w.Raw("") }, "raw element"},
		{"raw with an open element", func(w *xmlscan.Writer) { w.Start("a"); w.Raw("<b>") }, "raw element"},
		{"raw that closes too much", func(w *xmlscan.Writer) { w.Start("a"); w.Raw("</a><a>") }, "raw element"},
		{"raw with two elements", func(w *xmlscan.Writer) { w.Start("a"); w.Raw("<b/><b/>") }, "raw element"},
		{"raw with a prefix of its surroundings", func(w *xmlscan.Writer) { w.Start("a"); w.Attr("xmlns:p", "u"); w.Raw("<p:b/>") }, "raw element"},
		{"raw with a declaration", func(w *xmlscan.Writer) { w.Start("a"); w.Raw("<?xml version='1.0'?><b/>") }, "not one element"},
		{"raw with a DOCTYPE", func(w *xmlscan.Writer) { w.Start("a"); w.Raw("<!DOCTYPE b><b/>") }, "not one element"},
		{"raw with a mark", func(w *xmlscan.Writer) { w.Start("a"); w.Raw("\uFEFF<b/>") }, "not one element"},
		{"raw in UTF-16", func(w *xmlscan.Writer) { w.Start("a"); w.Raw(utf16le("<b/>")) }, "not one element"},
		{"raw in another encoding", func(w *xmlscan.Writer) { w.Start("a"); w.Raw("<b>\xE9</b>") }, "raw element"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			w := xmlscan.NewWriter(&b)
			c.write(w)
			err := w.Close()
			require.ErrorContains(t, err, c.want)
			assert.Equal(t, err, w.Err())
			w.Element("more", "")
			assert.Equal(t, err, w.Close())
			assert.Empty(t, b.String())
		})
	}
}

type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	f.n++
	return 0, io.ErrClosedPipe
}

type short struct{}

func (short) Write(p []byte) (int, error) { return len(p) / 2, nil }

func TestWriterErrors(t *testing.T) {
	f := new(failing)
	w := xmlscan.NewWriter(f)
	w.Start("a")
	for range 100_000 {
		w.Element("b", "text")
	}
	w.End()
	require.ErrorIs(t, w.Close(), io.ErrClosedPipe)
	assert.Equal(t, 1, f.n)

	w = xmlscan.NewWriter(short{})
	w.Element("b", "text")
	assert.ErrorIs(t, w.Close(), io.ErrShortWrite)
}

func TestAppendText(t *testing.T) {
	got, err := xmlscan.AppendText([]byte("x"), "<\t\r\n&>\"é")
	require.NoError(t, err)
	assert.Equal(t, "x&lt;\t&#13;\n&amp;&gt;\"é", string(got))
	got, err = xmlscan.AppendAttr([]byte("x"), "<\t\r\n&>\"é")
	require.NoError(t, err)
	assert.Equal(t, "x&lt;&#9;&#13;&#10;&amp;>&quot;é", string(got))
	got, err = xmlscan.AppendText([]byte("x"), "long enough text\x02")
	require.Error(t, err)
	assert.Equal(t, "x", string(got))
	assert.False(t, errors.Is(err, io.EOF))
}

// Writing costs no allocation for an element.
func TestWriterAllocations(t *testing.T) {
	w := xmlscan.NewWriter(io.Discard)
	count := func(n int) float64 {
		return testing.AllocsPerRun(3, func() {
			w.Reset(io.Discard)
			w.Indent = true
			w.Start("urlset")
			w.Attr("xmlns:rs", "u")
			for range n {
				w.Start("url")
				w.Element("loc", "https://example.org/?a&b")
				w.Start("rs:md")
				w.Attr("hash", "md5:…")
				w.Attr("rs:length", "1")
				w.End()
				w.Raw(`<x:y xmlns:x="u"/>`)
				w.End()
			}
			w.End()
			require.NoError(t, w.Close())
		})
	}
	assert.Equal(t, count(10), count(1000))
	assert.LessOrEqual(t, count(10), 2.0)
}

func TestLongDocument(t *testing.T) {
	var b strings.Builder
	w := xmlscan.NewWriter(&b)
	w.Start("a")
	for range 10_000 {
		w.Element("b", strings.Repeat("text ", 20))
	}
	w.End()
	require.NoError(t, w.Close())
	r := newReader(b.String())
	n := 0
	for {
		k, err := r.NextTag()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if k == xmlscan.Start {
			n++
		}
	}
	assert.Equal(t, 10_001, n)
}

// Names of any length and number, at any depth, come out as they are and are checked each
// time.
func TestWriterNames(t *testing.T) {
	var names []string
	for n := 1; n < 70; n++ {
		names = append(names, strings.Repeat("n", n), "p:"+strings.Repeat("x", n), strings.Repeat("é", n))
	}
	for i := range 1000 {
		names = append(names, fmt.Sprint("name", i))
	}
	var got, want strings.Builder
	w := xmlscan.NewWriter(&got)
	w.Indent = true
	w.Start("root")
	w.Attr("xmlns:p", "u")
	want.WriteString(`<root xmlns:p="u">`)
	for i, name := range names {
		depth := i % 12
		for d := range depth {
			w.Start(names[(i+d)%len(names)])
			want.WriteString("\n" + strings.Repeat("  ", 1+d) + "<" + names[(i+d)%len(names)] + ">")
		}
		line := "\n" + strings.Repeat("  ", 1+depth)
		w.Element(name, "text")
		want.WriteString(line + "<" + name + ">text</" + name + ">")
		w.Start(name)
		w.Attr(name, "value")
		w.End()
		want.WriteString(line + "<" + name + " " + name + `="value"/>`)
		for d := depth - 1; d >= 0; d-- {
			w.End()
			want.WriteString("\n" + strings.Repeat("  ", 1+d) + "</" + names[(i+d)%len(names)] + ">")
		}
	}
	w.End()
	require.NoError(t, w.Close())
	want.WriteString("\n</root>\n")
	require.Equal(t, want.String(), got.String())

	for _, bad := range []string{"n n", "1n", "n:", ":n", "p:1", "p::x", "n>", strings.Repeat("n", 29) + " ", strings.Repeat("n", 30) + ">", strings.Repeat("n", 60) + "\xFF"} {
		for range 2 {
			w.Reset(io.Discard)
			w.Start("n")
			w.Start(bad)
			assert.ErrorContains(t, w.Err(), "bad name", "%q", bad)
		}
	}
}

// Names that begin in the same place are not the same.
func TestWriterCutNames(t *testing.T) {
	var b strings.Builder
	w := xmlscan.NewWriter(&b)
	w.Start("root")
	for _, name := range []string{"abc", "abcd"} {
		w.Element("x", "1")
		w.Element("abcd"[:len(name)], "2")
	}
	w.End()
	require.NoError(t, w.Close())
	assert.Equal(t, "<root><x>1</x><abc>2</abc><x>1</x><abcd>2</abcd></root>\n", b.String())
}

// A Writer of ever new names forgets them, but not what the open elements declare.
func TestWriterForgets(t *testing.T) {
	var got, want strings.Builder
	w := xmlscan.NewWriter(&got)
	w.Start("p:root")
	w.Attr("xmlns:p", "u")
	want.WriteString(`<p:root xmlns:p="u">`)
	for i := range 10_000 {
		name := fmt.Sprint("p:n", i)
		w.Start(name)
		w.Attr(name, "")
		w.Attr(fmt.Sprint("xmlns:q", i), "v")
		w.Element(fmt.Sprintf("q%d:n", i), "text")
		w.End()
		fmt.Fprintf(&want, `<%s %s="" xmlns:q%d="v"><q%d:n>text</q%d:n></%s>`, name, name, i, i, i, name)
	}
	names, size := xmlscan.Remembered(w)
	assert.LessOrEqual(t, names, 5000)
	assert.LessOrEqual(t, size, 1<<20)
	w.End()
	require.NoError(t, w.Close())
	want.WriteString("</p:root>\n")
	require.Equal(t, want.String(), got.String())

	w.Reset(io.Discard)
	w.Start("root")
	for i := range 10_000 {
		w.Start("e")
		w.Attr(fmt.Sprint("xmlns:p", i), "v")
		w.End()
	}
	require.NoError(t, w.Err())
	w.Element("p1:e", "text")
	assert.ErrorContains(t, w.Err(), "prefix p1 is not declared")
}
