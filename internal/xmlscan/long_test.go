package xmlscan_test

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/xmlscan"
)

// traceJoined is trace with the pieces of a text joined.
func traceJoined(r *xmlscan.Reader) (string, error) {
	var b strings.Builder
	var text []byte
	for {
		k, err := r.Next()
		if k == xmlscan.Text {
			text = append(text, r.Text()...)
			continue
		}
		if len(text) > 0 {
			fmt.Fprintf(&b, "%q", text)
			text = text[:0]
		}
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return b.String(), err
		}
		b.WriteString(token(r, k))
	}
}

// The Reader omits what exceeds a limit, and nothing around it.
func TestOverLimits(t *testing.T) {
	long := strings.Repeat("0123456789", 20)
	attrs := ""
	for i := range 20 {
		attrs += fmt.Sprintf(" a%d='<'", i)
	}
	attrs = strings.ReplaceAll(attrs, "<", ">/")
	cases := map[string]struct {
		doc, want string
		cut       int
		fault     string
	}{
		"text":                   {"<a>é" + long + "&amp;" + long + "\r\n" + long + "</a>", "<a>\"é" + long + "&" + long + `\n` + long + `"</a>`, 0, ""},
		"CDATA":                  {"<a>x<![CDATA[]]" + long + "<b>é" + long + "]]]>y</a>", "<a>\"x]]" + long + "<b>é" + long + `]y"</a>`, 0, ""},
		"comment":                {"<!--" + long + "--><a>x<!--é- " + long + "-->y</a><!--" + long + "-->", `<a>"xy"</a>`, 0, ""},
		"processing instruction": {"<?p " + long + "?><a>x<?q " + long + "? >é?>y</a><?r " + long + "?>", `<a>"xy"</a>`, 0, ""},
		"tag":                    {"<a><b c='/>" + long + "' d=\"/\"><c/></b>y</a>", `<a><b><c></c></b>"y"</a>`, 1, "1:4 token longer than 100 bytes"},
		"empty tag":              {"<a><b c='" + long + "' /><c/></a>", `<a><b></b><c></c></a>`, 1, "1:4 token longer than 100 bytes"},
		"root":                   {"<?xml version='1.0'?><a c='" + long + "'/>", `<a></a>`, 1, "1:22 token longer than 100 bytes"},
		"attributes":             {"<a><b" + attrs + "/><c d='e'/></a>", `<a><b></b><c d="e"></c></a>`, 1, "1:4 more than 10 attributes"},
		"too deep": {
			"<a><a><a><a>b<c d='/>'>e<f/><g></g ><!-- </c> - --><![CDATA[</c>]]]]><?h </c>?></c>i<j/></a></a><k/></a></a>",
			`<a><a><a><a>"bi"</a></a><k></k></a></a>`, 2, "1:14 elements nested deeper than 4",
		},
		"too deep and long": {
			"<a><a><a><a><c d='" + long + "'>" + long + "<e/><!--" + long + "--></c></a></a></a></a>",
			`<a><a><a><a></a></a></a></a>`, 1, "1:13 elements nested deeper than 4",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
				r := xmlscan.NewReader(wrap(strings.NewReader(c.doc)))
				r.MaxToken, r.MaxAttrs, r.MaxDepth = 100, 10, 4
				var faults []string
				r.Recover = func(line, col int, msg string) { faults = append(faults, fmt.Sprintf("%d:%d %s", line, col, msg)) }
				got, err := traceJoined(r)
				require.NoError(t, err)
				assert.Equal(t, c.want, got)
				assert.Equal(t, xmlscan.Losses{Cut: c.cut}, r.Losses())
				if c.cut > 0 {
					assert.Equal(t, c.fault, faults[0])
				}
			}
			if c.cut == 0 {
				return
			}
			r := newReader(c.doc)
			r.MaxToken, r.MaxAttrs, r.MaxDepth = 100, 10, 4
			_, err := trace(r)
			assert.ErrorIs(t, err, xmlscan.ErrLimit, "without Recover")
		})
	}
}

// Only the value that exceeds a limit is lost. The next value is read.
func TestValuesOverTheLimit(t *testing.T) {
	doc := "<a><b>0123456789<c/>0</b><b>0123456789</b><b>0123456789A</b><b><c>012345</c></b><b/></a>"
	read := func(value func(*xmlscan.Reader) ([]byte, error)) (got []string, cut int) {
		r := xmlscan.NewReader(iotest.OneByteReader(strings.NewReader(doc)))
		r.Recover = func(int, int, string) {}
		r.MaxValue = 10
		nextStart(t, r, "a")
		for {
			k, err := r.NextTag()
			require.NoError(t, err)
			if k == xmlscan.End {
				return got, r.Losses().Cut
			}
			v, err := value(r)
			require.NoError(t, err)
			require.Equal(t, "b", r.Name().Local)
			got = append(got, string(v))
		}
	}
	got, cut := read((*xmlscan.Reader).ElementText)
	assert.Equal(t, []string{"", "0123456789", "", "", ""}, got)
	assert.Equal(t, 2, cut)
	got, cut = read(func(r *xmlscan.Reader) ([]byte, error) { return r.AppendElement(nil) })
	assert.Equal(t, []string{"", "", "", "", `<b xmlns=""/>`}, got)
	assert.Equal(t, 4, cut)
}

// The Reader counts what it omits with Recover.
func TestLosses(t *testing.T) {
	cases := map[string]struct {
		doc  string
		want xmlscan.Losses
	}{
		"nothing":                           {"<a b='&amp;'>&nbsp; ]]> é</a>", xmlscan.Losses{}},
		"references":                        {"<a b='&x;'>&am;p & &#x;</a>", xmlscan.Losses{References: 4}},
		"characters":                        {"<a b='\xff'>\x01&#1;\ufffe\xff</a>", xmlscan.Losses{Characters: 5}},
		"a section that runs on":            {"<a><t><![CDATA[x]></t></a><a><t><![CDATA[y]]></t></a>", xmlscan.Losses{Sections: 1}},
		"a long section that runs on":       {"<a><t><![CDATA[x]></t>" + strings.Repeat("z", 500) + "</a><a><t><![CDATA[y]]></t></a>", xmlscan.Losses{Sections: 1}},
		"a section about sections":          {"<a><t><![CDATA[<script>//<![CDATA[</script>]]></t></a>", xmlscan.Losses{}},
		"an instruction that runs on":       {"<a><?x y><b/><?z?></a>", xmlscan.Losses{Instructions: 1}},
		"a long instruction that runs on":   {"<a><?x y>" + strings.Repeat("z", 500) + "<b/><?z?></a>", xmlscan.Losses{Instructions: 1}},
		"an instruction that has no other":  {"<a><?x <b/>?></a>", xmlscan.Losses{}},
		"an instruction over the root's":    {"<?x y><b/><?z?><a/>", xmlscan.Losses{Instructions: 1}},
		"a section that is over in a child": {"<a><t><![CDATA[x]]></t><t><![CDATA[y]]></t></a>", xmlscan.Losses{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader} {
				r := xmlscan.NewReader(wrap(strings.NewReader(c.doc)))
				r.Recover = func(int, int, string) {}
				r.MaxToken = 200
				if _, err := trace(r); err != nil {
					require.ErrorContains(t, err, "end tag")
				}
				assert.Equal(t, c.want, r.Losses())
				r.Reset(strings.NewReader("<a/>"))
				assert.Zero(t, r.Losses())
			}
		})
	}
}

// A long token needs no more memory than MaxToken allows.
func TestLongTokensNeedLittleMemory(t *testing.T) {
	racing.Skip(t)
	const size = 32 << 20
	for _, around := range [][2]string{{"<a>", "</a>"}, {"<a><![CDATA[", "]]></a>"}, {"<a><!--", "--></a>"}, {"<!--", "--><a/>"}, {"<a><?x ", "?></a>"}, {"<a b='", "'/>"}} {
		r := xmlscan.NewReader(io.MultiReader(strings.NewReader(around[0]), io.LimitReader(letters{}, size), strings.NewReader(around[1])))
		r.MaxToken = 1 << 16
		r.Recover = func(int, int, string) {}
		n := 0
		for {
			k, err := r.Next()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			if k == xmlscan.Text {
				n += len(r.Text())
			}
		}
		assert.Contains(t, []int{0, size}, n)
		assert.Less(t, xmlscan.Held(r), 1<<20, around[0])
	}
}

// letters is a reader of endless text.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

var longReference = regexp.MustCompile(`&[^;<]{50}`)

// FuzzPieces: with a small MaxToken, the tokens are the same in pieces, or the Reader
// reports what it has omitted.
func FuzzPieces(f *testing.F) {
	addCorpus(f)
	f.Fuzz(func(t *testing.T, doc []byte, n uint64) {
		if longReference.Match(doc) {
			return // a long reference is cut in two
		}
		read := func(src io.Reader, maxToken int) (string, xmlscan.Losses, error) {
			r := xmlscan.NewReader(src)
			r.MaxToken = maxToken
			r.Recover = func(int, int, string) {}
			got, err := traceJoined(r)
			return got, r.Losses(), err
		}
		want, wantLosses, wantErr := read(bytes.NewReader(doc), 0)
		got, losses, err := read(&splitReader{doc, n}, 100+int(n>>8%100))
		if losses.Cut > 0 || err != nil && strings.Contains(err.Error(), " longer than ") {
			return
		}
		require.Equal(t, wantErr == nil, err == nil, "%v %v", wantErr, err)
		if err == nil {
			require.Equal(t, want, got)
			require.Equal(t, wantLosses, losses)
		}
	})
}
