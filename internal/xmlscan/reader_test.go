package xmlscan_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/xmlscan"
)

func newReader(doc string) *xmlscan.Reader { return xmlscan.NewReader(strings.NewReader(doc)) }

// nextStart advances to the next Start of the given local name.
func nextStart(t *testing.T, r *xmlscan.Reader, local string) {
	t.Helper()
	for {
		k, err := r.NextTag()
		require.NoError(t, err)
		if k == xmlscan.Start && r.Name().Local == local {
			return
		}
	}
}

func TestPosition(t *testing.T) {
	doc := "\uFEFF<a>\n é<b\n c='d'/>\r\n&amp;<!-- \n --><![CDATA[x]]></a>"
	want := []string{"1:1 1 Start", "1:4 1 Text", "2:4 2 Start", "2:4 2 End", "3:9 1 Text", "5:18 1 End"}
	for _, src := range []io.Reader{strings.NewReader(doc), iotest.OneByteReader(strings.NewReader(doc))} {
		r := xmlscan.NewReader(src)
		var got []string
		for {
			k, err := r.Next()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			line, col := r.Position()
			got = append(got, fmt.Sprintf("%d:%d %d %v", line, col, r.Depth(), k))
		}
		assert.Equal(t, want, got)
	}
}

// Position returns the position of the current token even after the buffer has moved on.
func TestPositionOfLongRun(t *testing.T) {
	piece := strings.Repeat("x", 20_000) + "\n<!-- -->"
	r := xmlscan.NewReader(iotest.HalfReader(strings.NewReader("<a>\n <b>" + strings.Repeat(piece, 10) + "</b></a>")))
	nextStart(t, r, "b")
	k, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, xmlscan.Text, k)
	assert.Len(t, r.Text(), 200_010)
	line, col := r.Position()
	assert.Equal(t, []int{2, 5}, []int{line, col})
	_, err = r.Next()
	require.NoError(t, err)
	line, col = r.Position()
	assert.Equal(t, []int{12, 9}, []int{line, col})
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("connection reset")
	for _, doc := range []string{"", "<a>", "<a>text", "<a/>", "<a/>\n<!-- "} {
		src := io.MultiReader(strings.NewReader(doc), iotest.ErrReader(broken))
		_, err := trace(xmlscan.NewReader(src))
		require.ErrorIs(t, err, broken, "%q", doc)
		var syntax *xmlscan.SyntaxError
		assert.False(t, errors.As(err, &syntax))
	}
	_, err := trace(xmlscan.NewReader(iotest.DataErrReader(strings.NewReader("<a/>"))))
	assert.NoError(t, err)
	r := newReader("<a><b></a>")
	_, err = trace(r)
	require.Error(t, err)
	_, again := r.Next()
	assert.Same(t, err, again, "errors stick")
}

// If ElementText or AppendElement exceeds a limit, the error sticks.
func TestHelperErrorsStick(t *testing.T) {
	r := newReader("<a>" + strings.Repeat("text<b/>", 10) + "</a>")
	r.MaxValue = 20
	nextStart(t, r, "a")
	_, err := r.ElementText()
	require.ErrorIs(t, err, xmlscan.ErrLimit)
	_, again := r.Next()
	assert.Same(t, err, again)
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestNoProgress(t *testing.T) {
	_, err := xmlscan.NewReader(stuck{}).Next()
	assert.ErrorIs(t, err, io.ErrNoProgress)
}

func TestLimits(t *testing.T) {
	racing.Skip(t)
	manyAttrs := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " a%d=''", i)
		}
		return "<a" + b.String() + "/>"
	}
	cases := []struct {
		name string
		set  func(*xmlscan.Reader)
		fits string
		over string
	}{
		{"depth", func(r *xmlscan.Reader) { r.MaxDepth = 300 }, nested(300), nested(301)},
		{"depth by default", func(r *xmlscan.Reader) {}, nested(256), nested(257)},
		{"text", func(r *xmlscan.Reader) { r.MaxToken = 10 }, "<a>0123456789A<![CDATA[0123456789A]]><!--0123456789A--><?a 0123456789A?></a>", ""},
		{"tag", func(r *xmlscan.Reader) { r.MaxToken = 11 }, "<a b='56'/>", "<a b='567'/>"},
		{"end tag", func(r *xmlscan.Reader) { r.MaxToken = 10 }, "<a></a     >", "<a></a        >"},
		{"doctype", func(r *xmlscan.Reader) { r.MaxToken = 12 }, "<!DOCTYPE a><a/>", "<!DOCTYPE a ><a/>"},
		{"attributes", func(r *xmlscan.Reader) { r.MaxAttrs = 5 }, manyAttrs(5), manyAttrs(6)},
		{"attributes by default", func(r *xmlscan.Reader) {}, manyAttrs(256), manyAttrs(257)},
		{"size", func(r *xmlscan.Reader) { r.MaxSize = 20 }, "<a>0123456789012</a>", "<a>01234567890123</a>"},
		{"text of any size", func(r *xmlscan.Reader) { r.MaxToken, r.MaxAttrs, r.MaxDepth = -1, -1, -1 }, "<a>" + strings.Repeat("x", 9<<20) + "</a>", ""},
		{"attributes of any number", func(r *xmlscan.Reader) { r.MaxAttrs = -1 }, manyAttrs(5000), ""},
		{"depth of any number", func(r *xmlscan.Reader) { r.MaxDepth = -1 }, nested(5000), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, wrap := range []func(io.Reader) io.Reader{iotest.HalfReader, iotest.DataErrReader} {
				r := xmlscan.NewReader(wrap(strings.NewReader(c.fits)))
				c.set(r)
				_, err := trace(r)
				require.NoError(t, err)
				if c.over == "" {
					continue
				}
				r = xmlscan.NewReader(wrap(strings.NewReader(c.over)))
				c.set(r)
				_, err = trace(r)
				require.ErrorIs(t, err, xmlscan.ErrLimit)
				var syntax *xmlscan.SyntaxError
				assert.ErrorAs(t, err, &syntax)
			}
		})
	}
}

func TestRecover(t *testing.T) {
	cases := []struct {
		name   string
		doc    string
		want   string
		faults []string
	}{
		{"raw ampersand", `<a b="c&d=e">f & g&</a>`, `<a b="c&d=e">"f & g&"</a>`,
			[]string{"1:8 '&' does not start a reference", "1:16 '&' does not start a reference", "1:19 '&' does not start a reference"}},
		{"HTML entity", "<a>b&nbsp;c&eacute;&hellip;&thetasym;</a>", `<a>"b\u00a0cé…ϑ"</a>`,
			[]string{"1:5 undefined entity nbsp", "1:12 undefined entity eacute", "1:20 undefined entity hellip", "1:28 undefined entity thetasym"}},
		{"unknown entity", "<a>&foo;&a:b;</a>", `<a>"&foo;&a:b;"</a>`, []string{"1:4 undefined entity foo", "1:9 undefined entity a:b"}},
		{"control characters", "<a b='\x01'>b\x00c\x1Fd</a>", `<a b="">"bcd"</a>`,
			[]string{"1:7 control character U+0001", "1:11 control character U+0000", "1:13 control character U+001F"}},
		{"reference to a control character", "<a>b&#0;c&#xD800;</a>", `<a>"bc"</a>`,
			[]string{"1:5 reference to a character that XML forbids: &#0;", "1:10 reference to a character that XML forbids: &#xD800;"}},
		{"bad UTF-8", "<a>é\xE9\n</a>", "<a>\"é�\\n\"</a>", []string{"1:6 byte that is not UTF-8"}},
		{"noncharacter", "<a>\uFFFE</a>", "<a></a>", []string{"1:4 character U+FFFE"}},
		{"']]>'", "<a>b]]>c</a>", `<a>"b]]>c"</a>`, []string{`1:5 "]]>" in text`}},
		{"undeclared prefix", "<a>\n<p:b q:c='d'/></a>", `<a>"\n"<{p}b {q}c="d"></{p}b></a>`, []string{"2:1 prefix q is not declared", "2:1 prefix p is not declared"}},
		{"white space before the declaration", "\n<?xml version='1.0' encoding='iso-8859-1'?><a>\xE9</a>", `<a>"é"</a>`,
			[]string{"2:1 white space before the XML declaration"}},
		{"late declaration", "<!-- --><?xml version='1.0'?><a/>", `<a></a>`, []string{"1:9 XML declaration is not at the start of the document"}},
		{"faulty declaration", "<?xml encoding='iso-8859-1'?><a>\xE9</a>", `<a>"é"</a>`, []string{"1:1 invalid XML declaration"}},
		{"second mark", "\uFEFF\uFEFF<?xml version='1.0'?><a/>", `<a></a>`,
			[]string{"1:1 second byte-order mark", "1:4 white space before the XML declaration"}},
		{"utf-16 declared, UTF-8 sent", "<?xml version='1.0' encoding='utf-16'?><a>ø</a>", `<a>"ø"</a>`,
			[]string{"1:1 declared encoding utf-16, but the document is in UTF-8"}},
		{"lone surrogate", "\xFE\xFF" + utf16be("<a>") + "\xD8\x00" + utf16be("</a>"), `<a>"�"</a>`, []string{"1:4 byte that is not UTF-16"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader} {
				var faults []string
				r := xmlscan.NewReader(wrap(strings.NewReader(c.doc)))
				r.Recover = func(line, col int, msg string) { faults = append(faults, fmt.Sprintf("%d:%d %s", line, col, msg)) }
				got, err := trace(r)
				require.NoError(t, err)
				assert.Equal(t, c.want, got)
				assert.Equal(t, c.faults, faults)
			}
		})
	}
}

// A document has the same tokens wherever it is cut into two reads.
func TestEverySplit(t *testing.T) {
	split := func(doc string) {
		if len(doc) > 1000 {
			return
		}
		for _, recover := range []bool{false, true} {
			want := readAll(strings.NewReader(doc), recover)
			for i := range doc {
				got := readAll(io.MultiReader(strings.NewReader(doc[:i]), strings.NewReader(doc[i:])), recover)
				require.Equal(t, want, got, "%q + %q", doc[:i], doc[i:])
			}
		}
	}
	for _, c := range rejected {
		split(c.doc)
	}
	for _, c := range accepted {
		split(c.doc)
	}
}

// The faults that end reading even with Recover.
func TestRecoverNot(t *testing.T) {
	for _, c := range rejected {
		switch c.name {
		case "'--' in a comment", "'--->' at the end of a comment", "comment that runs on", "comment that runs on before the root", "mismatched tags", "unclosed element", "truncated in text", "unclosed CDATA", "two roots", "text after the root", "empty", "plain text",
			"duplicate attribute", "unquoted attribute", "no space between attributes", "'<' in an attribute", "'<' and a space", "bad UTF-8 in a name",
			"internal entity", "parameter entity", "unknown encoding", "prefix xmlns on an element", "NUL in a tag":
			r := newReader(c.doc)
			r.Recover = func(int, int, string) {}
			_, err := trace(r)
			assert.Error(t, err, c.name)
		}
	}
}

func TestSkip(t *testing.T) {
	r := newReader("<a><b><c><d/>x</c></b><e/><f>y</f></a>")
	nextStart(t, r, "c")
	require.NoError(t, r.Skip())
	assert.Equal(t, "c", r.Name().Local)
	require.NoError(t, r.Skip())
	assert.Equal(t, "b", r.Name().Local, "after an End, Name is that of the element around it")
	nextStart(t, r, "e")
	require.NoError(t, r.Skip())
	assert.Equal(t, "e", r.Name().Local)
	nextStart(t, r, "f")
	require.NoError(t, r.Skip())
	require.NoError(t, r.Skip())
	assert.Equal(t, "a", r.Name().Local)
	assert.Equal(t, 1, r.Depth())
	_, err := r.Next()
	assert.Equal(t, io.EOF, err)
}

func TestParent(t *testing.T) {
	r := newReader("<a xmlns='urn:a'><b/></a>")
	nextStart(t, r, "a")
	assert.Zero(t, r.Parent())
	nextStart(t, r, "b")
	assert.Equal(t, xmlscan.Name{Space: "urn:a", Local: "a"}, r.Parent())
	require.NoError(t, r.Skip())
	assert.Zero(t, r.Parent(), "an End has no Parent")
}

func TestElementText(t *testing.T) {
	cases := []struct{ doc, want string }{
		{"<b>text</b>", "text"},
		{"<b> text\n</b>", " text\n"},
		{"<b/>", ""},
		{"<b></b>", ""},
		{"<b><!-- --></b>", ""},
		{"<b>x<![CDATA[<y>]]>&amp;z</b >", "x<y>&z"},
		{"<b>x<c>no<d/></c>y<e/>z</b>", "xyz"},
		{"<b><c/>y</b>", "y"},
		{"<b>" + big[:200_000] + "</b>", big[:200_000]},
	}
	for _, c := range cases {
		for _, wrap := range []func(io.Reader) io.Reader{iotest.HalfReader, iotest.OneByteReader} {
			r := xmlscan.NewReader(wrap(strings.NewReader("<a>" + c.doc + "<after/></a>")))
			nextStart(t, r, "b")
			got, err := r.ElementText()
			require.NoError(t, err)
			require.True(t, string(got) == c.want, "%.50s", c.doc)
			assert.Equal(t, "b", r.Name().Local)
			nextStart(t, r, "after")
		}
	}
}

func TestElementTextReports(t *testing.T) {
	var got []string
	r := newReader("<a>\n<b>x<p:c xmlns:p='u'/>y</b></a>")
	r.Recover = func(line, col int, msg string) { got = append(got, fmt.Sprint(line, ":", col, " ", msg)) }
	nextStart(t, r, "b")
	text, err := r.ElementText()
	require.NoError(t, err)
	assert.Equal(t, "xy", string(text))
	assert.Equal(t, []string{"2:5 element p:c where only text is expected"}, got)
}

func TestAttr(t *testing.T) {
	r := newReader(`<a b="1" p:b="2" xmlns:p="u">x</a>`)
	nextStart(t, r, "a")
	v, ok := r.Attr("u", "b")
	assert.True(t, ok)
	assert.Equal(t, "2", string(v))
	v, ok = r.Attr("", "b")
	assert.True(t, ok)
	assert.Equal(t, "1", string(v))
	_, ok = r.Attr("", "c")
	assert.False(t, ok)
	_, err := r.Next()
	require.NoError(t, err)
	assert.Nil(t, r.Attrs())
	assert.Equal(t, "x", string(r.Text()))
	_, err = r.Next()
	require.NoError(t, err)
	assert.Nil(t, r.Text())
}

// Hostile names do not fill the memory, and names are correct after the Reader has
// dropped them.
func TestManyNames(t *testing.T) {
	var b strings.Builder
	b.WriteString("<p:root xmlns:p='u' xmlns='v'>")
	for i := range 20_000 {
		fmt.Fprintf(&b, "<n%d p:x%d='' xmlns:q%d='w%d'><q%d:b/></n%d>", i, i, i, i, i, i)
	}
	b.WriteString("<p:last/></p:root>")
	r := newReader(b.String())
	var seen int
	for {
		k, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if k != xmlscan.Start {
			continue
		}
		seen++
		switch n := r.Name(); {
		case n.Local == "last":
			assert.Equal(t, "u", n.Space)
		case n.Local == "root":
			assert.Equal(t, "u", n.Space)
		case n.Local == "b":
			assert.Equal(t, "w", n.Space[:1])
		default:
			assert.Equal(t, "v", n.Space)
			assert.Equal(t, "u", r.Attrs()[0].Name.Space)
		}
	}
	assert.Equal(t, 40_002, seen)
	names, bytes := xmlscan.Interned(r)
	assert.Less(t, names, 5000)
	assert.Less(t, bytes, 2<<20)
}

func TestReset(t *testing.T) {
	r := newReader("<p:a xmlns:p='u' xmlns='v'><b><c>")
	_, err := trace(r)
	require.ErrorIs(t, err, xmlscan.ErrTruncated)
	r.Reset(strings.NewReader("<b/>"))
	got, err := trace(r)
	require.NoError(t, err)
	assert.Equal(t, "<b></b>", got)
	r.Reset(strings.NewReader("<p:a/>"))
	_, err = trace(r)
	assert.ErrorContains(t, err, "prefix p is not declared")
}

// Reading an entry allocates nothing, with or without references and attributes.
func TestNoAllocations(t *testing.T) {
	for _, doc := range samples(1000) {
		src := bytes.NewReader(doc)
		r := xmlscan.NewReader(src)
		read := func() {
			src.Reset(doc)
			r.Reset(src)
			for {
				if _, err := r.Next(); err == io.EOF {
					return
				} else if err != nil {
					t.Fatal(err)
				}
			}
		}
		read()
		assert.LessOrEqual(t, testing.AllocsPerRun(3, read), 8.0, "only the XML declaration allocates")
	}
}

// chunkReader returns size bytes a read.
type chunkReader struct {
	src  io.Reader
	size int
}

func (c chunkReader) Read(p []byte) (int, error) { return c.src.Read(p[:min(len(p), c.size)]) }

// A long token in small reads takes linear time: the Reader scans it again only when it
// has twice as many bytes.
func TestLongTokensAreLinear(t *testing.T) {
	racing.Skip(t)
	long := strings.Repeat("long enough ", 100_000)
	for _, c := range []struct{ name, doc string }{
		{"text", "<a>" + long + "</a>"},
		{"text outside ASCII", "<a>é" + long + "</a>"},
		{"CDATA", "<a><![CDATA[" + long + "]]></a>"},
		{"comment", "<a><!--" + long + "--></a>"},
		{"processing instruction", "<a><?b " + long + "?></a>"},
		{"attribute", "<a b='" + long + "'/>"},
		{"white space in a tag", "<a" + strings.Repeat(" ", len(long)) + "/>"},
		{"name", "<" + strings.Repeat("a", len(long)) + "/>"},
		{"DOCTYPE", "<!DOCTYPE a [<!--" + long + "-->]><a/>"},
		{"before the root", "<!--" + long + "--><a/>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{100, 4096, 1 << 20} {
				n, err := xmlscan.Moved(xmlscan.NewReader(chunkReader{strings.NewReader(c.doc), size}))
				require.Equal(t, io.EOF, err)
				assert.Less(t, n, 5*len(c.doc), "%d bytes a read", size)
			}
		})
	}
}

// Names that differ in one character, or in their length, are different.
func TestAlikeNames(t *testing.T) {
	for n := 1; n < 40; n++ {
		name := strings.Repeat("n", n)
		doc := fmt.Sprintf(`<%[1]s %[1]s=""><n%[1]s n%[1]s="" %[1]s=""></n%[1]s></%[1]s>`, name)
		got, err := trace(newReader(doc))
		require.NoError(t, err)
		require.Equal(t, doc, got)
		for i := range n {
			other := name[:i] + "m" + name[i+1:]
			doc := fmt.Sprintf(`<r><%[1]s></%[1]s><%[1]s></%[1]s><%[2]s %[1]s="" %[2]s=""></%[2]s></r>`, name, other)
			got, err := trace(newReader(doc))
			require.NoError(t, err)
			require.Equal(t, doc, got)
			_, err = trace(newReader("<" + name + "></" + other + ">"))
			require.ErrorContains(t, err, "end tag", "%s %s", name, other)
		}
	}
}

// TestStop: an element for which Stop returns true ends Skip, ElementText and
// AppendElement, and reading continues at its Start.
func TestStop(t *testing.T) {
	reads := map[string]func(*xmlscan.Reader) error{
		"Skip":          (*xmlscan.Reader).Skip,
		"ElementText":   func(r *xmlscan.Reader) error { _, err := r.ElementText(); return err },
		"AppendElement": func(r *xmlscan.Reader) error { _, err := r.AppendElement(nil); return err },
	}
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			r := newReader(`<r><a>text<b><stop xmlns="urn:x">1</stop></b><stop/></a><c/></r>`)
			r.Stop = func(n xmlscan.Name) bool { return n.Local == "stop" }
			for range 2 {
				_, err := r.NextTag()
				require.NoError(t, err)
			}
			require.Equal(t, xmlscan.ErrStopped, read(r))
			require.Equal(t, xmlscan.Name{Space: "urn:x", Local: "stop"}, r.Name())
			require.Equal(t, 4, r.Depth())
			text, err := r.ElementText()
			require.NoError(t, err)
			require.Equal(t, "1", string(text))
			require.NoError(t, r.Skip(), "the rest of b")
			require.Equal(t, xmlscan.ErrStopped, r.Skip(), "the rest of a")
			require.Equal(t, xmlscan.Name{Local: "stop"}, r.Name())
			require.NoError(t, r.Skip())
			require.NoError(t, r.Skip())
			require.Equal(t, xmlscan.Name{Local: "a"}, r.Name())
		})
	}
}

// TestDecodedInTightBuffers: a document is complete even if the next decoded character
// does not fit into the rest of the buffer.
func TestDecodedInTightBuffers(t *testing.T) {
	encodings := map[string]func(string) string{
		"ISO-8859-1": func(s string) string { return "<?xml version='1.0' encoding='ISO-8859-1'?>" + s },
		"UTF-16":     func(s string) string { return "\xFE\xFF" + utf16be(s) },
	}
	for name, encode := range encodings {
		t.Run(name, func(t *testing.T) {
			for n := range 40 {
				doc := encode("<a>" + strings.Repeat("<b/>", n) + strings.Repeat("x", 32<<10) + "</a>")
				_, err := trace(xmlscan.NewReader(iotest.OneByteReader(strings.NewReader(doc))))
				require.NoError(t, err, "%d elements before the text", n)
			}
		})
	}
}

func TestLongDocument(t *testing.T) {
	r := newReader("<a>" + strings.Repeat("<b>"+strings.Repeat("text ", 20)+"</b>", 10_000) + "</a>")
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

// TestRepairTags: a start tag with a fault ends at the next '>', whatever the size of the
// reads; the fault stands if a '<' comes first, or in the root.
func TestRepairTags(t *testing.T) {
	for doc, want := range map[string]string{
		`<a><b x="1" y="/2/>` + "\n" + `<c z="3"/></a>`: "<a><b x=1></b><c z=3></c></a> 1",
		`<a><b x="1"/2/3"/><c/></a>`:                    "<a><b x=1></b><c></c></a> 1",
		`<a><b x="1"y="2">t</b></a>`:                    "<a><b x=1>t</b></a> 1",
		`<a><b x y="2">t</b></a>`:                       "<a><b>t</b></a> 1",
		`<a><b x=1/></a>`:                               "<a><b></b></a> 1",
		`<a><b x="1" x="2"/></a>`:                       "<a><b x=1></b></a> 1",
		`<a><b x="1"/ ></b></a>`:                        "<a><b x=1></b></a> 1",
		`<a><b x="1"/><c y='"'/></a>`:                   "<a><b x=1></b><c y=\"></c></a> 0",
		`<a><b x="<b/>" y="2"/></a>`:                    "error",
		`<a x=1><b/></a>`:                               "error",
		`<a><b x=1`:                                     "error",
	} {
		for _, slow := range []bool{false, true} {
			src := io.Reader(strings.NewReader(doc))
			if slow {
				src = iotest.OneByteReader(src)
			}
			r := xmlscan.NewReader(src)
			faults := 0
			r.RepairTags, r.Recover = true, func(int, int, string) { faults++ }
			var b strings.Builder
			kind, err := r.Next()
			for ; err == nil; kind, err = r.Next() {
				switch kind {
				case xmlscan.Start:
					b.WriteString("<" + r.Name().Local)
					for _, a := range r.Attrs() {
						fmt.Fprintf(&b, " %s=%s", a.Name.Local, a.Value)
					}
					b.WriteString(">")
				case xmlscan.End:
					b.WriteString("</" + r.Name().Local + ">")
				default:
					b.Write(bytes.TrimSpace(r.Text()))
				}
			}
			got := "error"
			if err == io.EOF {
				got = fmt.Sprint(b.String(), " ", faults)
				assert.Equal(t, faults, r.Losses().Cut)
			}
			assert.Equal(t, want, got, doc)
			plain := xmlscan.NewReader(strings.NewReader(doc))
			plain.Recover = func(int, int, string) {}
			for err = nil; err == nil; {
				_, err = plain.Next()
			}
			assert.Equal(t, faults == 0 && want != "error", err == io.EOF, doc)
		}
	}
}
