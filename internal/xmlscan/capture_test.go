package xmlscan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/xmlscan"
)

func TestAppendElement(t *testing.T) {
	cases := []struct{ name, doc, want string }{
		{"as it is", `<a><x b="c">d</x></a>`, `<x xmlns="" b="c">d</x>`},
		{"empty", `<a><x></x></a>`, `<x xmlns=""/>`},
		{"default namespace", `<a xmlns="u"><x><y/></x></a>`, `<x xmlns="u"><y/></x>`},
		{"prefixes used inside", `<a xmlns:p="u" xmlns:q="v" xmlns:r="w"><p:x><y q:b="c"/></p:x></a>`,
			`<p:x xmlns:p="u" xmlns="" xmlns:q="v"><y q:b="c"/></p:x>`},
		{"own declarations", `<a xmlns:p="u"><p:x xmlns:p="v" xmlns="w"><y/></p:x></a>`, `<p:x xmlns:p="v" xmlns="w"><y/></p:x>`},
		{"prefix rebound inside", `<a xmlns:p="u"><x><p:b xmlns:p="v"/><p:b/></x></a>`, `<x xmlns="" xmlns:p="u"><p:b xmlns:p="v"/><p:b/></x>`},
		{"default undeclared inside", `<a xmlns="u"><x><y xmlns=""/></x></a>`, `<x xmlns="u"><y xmlns=""/></x>`},
		{"prefix of a descendant only, default not needed", `<a xmlns="u" xmlns:p="v"><p:x><p:y/></p:x></a>`, `<p:x xmlns:p="v"><p:y/></p:x>`},
		{"xml prefix", `<a xmlns:p="u"><p:x xml:lang="sv"/></a>`, `<p:x xmlns:p="u" xml:lang="sv"/>`},
		{"escapes", "<a xmlns='u&amp;v'><x b='&#10;&quot;\">&lt;'>&lt;&#13;<![CDATA[&]]>]]&gt;\r\n</x></a>",
			"<x xmlns=\"u&amp;v\" b=\"&#10;&quot;&quot;>&lt;\">&lt;&#13;&amp;]]&gt;\n</x>"},
		{"comments dropped", "<a xmlns='u'><x><!-- b -->c<?d?></x></a>", `<x xmlns="u">c</x>`},
		{"white space and quotes", "<a><x  b = '1'\n c=\"2\" ><y /><z d='3'></z ><w\n></w><v  e=\"4\"/><u\nf=\"5\" />></x ></a>",
			`<x xmlns="" b="1" c="2"><y/><z d="3"/><w/><v e="4"/><u f="5"/>&gt;</x>`},
		{"not ASCII", "<a xmlns='u'><x ø='å'><é>😀</é></x></a>", `<x xmlns="u" ø="å"><é>😀</é></x>`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for size := range 9 { // the buffer ends everywhere
				r := xmlscan.NewReader(chunkReader{strings.NewReader(c.doc), size + 1})
				nextStart(t, r, "x")
				got, err := r.AppendElement([]byte("kept"))
				require.NoError(t, err)
				assert.Equal(t, "kept"+c.want, string(got), "%d bytes a read", size+1)
			}
			r := newReader(c.doc)
			nextStart(t, r, "x")
			got, err := r.AppendElement([]byte("kept"))
			require.NoError(t, err)
			assert.Equal(t, "kept"+c.want, string(got))
			assert.Equal(t, "x", r.Name().Local)
			assert.Equal(t, 2, r.Depth())
			again, err := recapture(got[len("kept"):])
			require.NoError(t, err)
			assert.Equal(t, c.want, again, "stable")
		})
	}
}

func recapture(doc []byte) (string, error) {
	r := newReader(string(doc))
	if _, err := r.Next(); err != nil {
		return "", err
	}
	got, err := r.AppendElement(nil)
	return string(got), err
}

func TestAppendElementFails(t *testing.T) {
	r := newReader("<a><b>text<c></b></a>")
	nextStart(t, r, "b")
	got, err := r.AppendElement([]byte("kept"))
	assert.Error(t, err)
	assert.Equal(t, "kept", string(got))

	r = newReader("<a>" + strings.Repeat("<b/>", 100) + "</a>")
	r.MaxValue = 100
	nextStart(t, r, "a")
	_, err = r.AppendElement(nil)
	assert.ErrorIs(t, err, xmlscan.ErrLimit)
}

// A captured element is well-formed even if Recover received its faults.
func TestAppendElementRecovered(t *testing.T) {
	r := newReader("<a><p:x q:b='&nbsp;&'>\x01]]>\xFF</p:x></a>")
	r.Recover = func(int, int, string) {}
	nextStart(t, r, "x")
	got, err := r.AppendElement(nil)
	require.NoError(t, err)
	assert.Equal(t, "<p:x xmlns:p=\"p\" xmlns:q=\"q\" q:b=\"\u00a0&amp;\">]]&gt;\uFFFD</p:x>", string(got))
	_, err = trace(newReader(string(got)))
	assert.NoError(t, err)
}

// TestAppendElementWithManyOuterPrefixes: AppendElement finds a declaration in constant
// time, and writes it once even if the Reader dropped the names in between.
func TestAppendElementWithManyOuterPrefixes(t *testing.T) {
	racing.Skip(t)
	const levels, each = 200, 200
	var b, use strings.Builder
	for i := range levels {
		b.WriteString("<a")
		for j := range each {
			fmt.Fprintf(&b, " xmlns:p%d_%d='u'", i, j)
			fmt.Fprintf(&use, "<p%d_%d:c/>", i, j)
		}
		b.WriteString(">")
	}
	b.WriteString("<b><q:x/>" + use.String() + use.String() + "<q:x/></b>" + strings.Repeat("</a>", levels))
	r := newReader(b.String())
	r.Recover = func(int, int, string) {}
	nextStart(t, r, "b")
	got, err := r.AppendElement(nil)
	require.NoError(t, err)
	assert.Equal(t, levels*each+1, strings.Count(string(got), "xmlns:"))
	again := xmlscan.NewReader(strings.NewReader(string(got)))
	again.MaxAttrs = -1
	_, err = trace(again)
	assert.NoError(t, err)
}

// A prefix is declared as what it stands for at each element.
func TestAppendElementPrefixes(t *testing.T) {
	r := newReader(`<a xmlns:p="u"><p:x/><b xmlns:p="v"><p:x/></b><p:x/><c xmlns:p="w"><p:x/></c></a>`)
	for _, space := range []string{"u", "v", "u", "w"} {
		nextStart(t, r, "x")
		got, err := r.AppendElement(nil)
		require.NoError(t, err)
		assert.Equal(t, `<p:x xmlns:p="`+space+`"/>`, string(got))
	}
}
