package xmlscan_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/xmlscan"
)

// TestEntities: references to internal entities that are text are decoded. Others, and
// those to external ones, stay as they are.
func TestEntities(t *testing.T) {
	for _, c := range []struct {
		name, subset, content, want string
		references                  int
	}{
		{"text", `<!ENTITY a "b c"><!ENTITY d 'é"'>`, "&a;&d;", `"b cé\""`, 0},
		{"in an attribute", "<!ENTITY a 'b\tc&#38;#10;d'>", "<x y='1&a;2'/>", `<x y="1b c d2"></x>`, 0},
		{"white space in text", "<!ENTITY a 'b\tc'>", "&a;", `"b\tc"`, 0},
		{"references in values", `<!ENTITY a "&#60;&amp;"><!ENTITY b "&#38;lt;&#38;#38;&#x26;amp;"><!ENTITY c "[&b;&b;]">`, "&b;&c;", `"<&&[<&&<&&]"`, 0},
		{"markup", `<!ENTITY a "<b/>"><!ENTITY c "&#60;b>">`, "&a;&c;", `"&a;&c;"`, 2},
		{"an entity of HTML", `<!ENTITY nbsp "x">`, "&nbsp;&eacute;", `"xé"`, 0},
		{"one of XML stays", `<!ENTITY amp "x">`, "&amp;", `"&"`, 0},
		{"the first counts", `<!ENTITY a "1"><!ENTITY a "2">`, "&a;", `"1"`, 0},
		{"declared later, itself, unknown", `<!ENTITY a "&b;"><!ENTITY b "&b;"><!ENTITY c "&x;"><!ENTITY d "&">`, "&a;&b;&c;&d;", `"&a;&b;&c;&d;"`, 4},
		{"external", `<!ENTITY a SYSTEM "file:///etc/passwd"><!ENTITY b PUBLIC "-//b" 'http://x/>'><!ENTITY c SYSTEM "c" NDATA gif>`, "&a;&b;&c;", `"&a;&b;&c;"`, 3},
		{"parameter entities", `<!ENTITY % a "<!ENTITY b 'c'>"><!ENTITY % HTMLlat1 PUBLIC "-//W3C" "http://x/a.ent"> %HTMLlat1; <!ELEMENT p (%a;)><!ENTITY d "e">`, "&b;&d;&agrave;", `"&b;eà"`, 1},
		{"a character that XML forbids", `<!ENTITY a "x&#0;">`, "&a;", `"&a;"`, 1},
	} {
		for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader} {
			r := xmlscan.NewReader(wrap(strings.NewReader("<!DOCTYPE r [" + c.subset + "]><r>" + c.content + "</r>")))
			r.Entities, r.Recover = true, func(int, int, string) {}
			got, err := trace(r)
			require.NoError(t, err, c.name)
			assert.Equal(t, "<r>"+c.want+"</r>", got, c.name)
			assert.Equal(t, xmlscan.Losses{References: c.references}, r.Losses(), c.name)
		}
	}
}

// TestEntityFaults: what is wrong with declarations ends reading, and so do the limits.
func TestEntityFaults(t *testing.T) {
	var many, laughs, nested strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&many, "<!ENTITY e%d ''>", i)
	}
	laughs.WriteString("<!ENTITY l0 'ha'>")
	for i := range 40 {
		fmt.Fprintf(&laughs, "<!ENTITY l%d '&l%d;&l%d;'>", i+1, i, i)
	}
	fmt.Fprintf(&nested, "<!ENTITY x '%s'><!ENTITY y '&x;&x;'>", strings.Repeat("x", 20<<10))
	for _, c := range []struct {
		subset, content string
		want            string
		limit           bool
	}{
		{many.String(), "", "more than 1000 entities", true},
		{laughs.String(), "", "an entity of more than 65536 bytes", true},
		{nested.String(), strings.Repeat("&y;", 30), "references to entities stand for more than 1048576 bytes", true},
		{"<!ENTITYa 'b'>", "", "syntax error in the internal subset", false},
		{"<!ENTITY <", "", "invalid name", false},
		{"<!ENTITY a 'b' <!", "", "syntax error in the internal subset", false},
		{"%a b", "", "syntax error in the internal subset", false},
		{"%", "", "invalid name", false},
	} {
		r := newReader("<!DOCTYPE r [" + c.subset + "]><r>" + c.content + "</r>")
		r.Entities, r.Recover = true, func(int, int, string) {}
		_, err := trace(r)
		var syntax *xmlscan.SyntaxError
		require.ErrorAs(t, err, &syntax)
		assert.ErrorContains(t, err, c.want)
		assert.Equal(t, c.limit, syntax.Err == xmlscan.ErrLimit, c.want)
	}
	r := newReader("<!DOCTYPE r [<!ENTITY a 'b'>]><r>&a;</r>")
	r.Entities = true
	got, err := trace(r)
	require.NoError(t, err)
	assert.Equal(t, `<r>"b"</r>`, got)
	r.Reset(strings.NewReader("<r>&a;</r>"))
	_, err = trace(r)
	assert.ErrorContains(t, err, "undefined entity a", "that of another document")
}

// FuzzEntities: declarations of entities are read alike wherever the input is cut, and
// what they stand for has a limit.
func FuzzEntities(f *testing.F) {
	for _, subset := range []string{
		`<!ENTITY a "b&#38;c;">`, `<!ENTITY % a 'b'> %a; <!ENTITY c SYSTEM "d" NDATA e>`, `<!ENTITY a '&#60;b>'><!ENTITY c "&a;">`,
		`<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY c "&b;&b;&#xD800;">`, `<!ENTITY`, `<!ELEMENT a (%b;)>`,
	} {
		f.Add(subset, "&a;<b c='&c;'/>&b;")
	}
	f.Fuzz(func(t *testing.T, subset, content string) {
		doc := "<!DOCTYPE r [" + subset + "]><r>" + content + "</r>"
		read := func(src io.Reader) string {
			r := xmlscan.NewReader(src)
			r.Entities, r.Recover = true, func(int, int, string) {}
			tokens, err := trace(r)
			return fmt.Sprintf("%s %v %v", tokens, r.Losses(), err)
		}
		want := read(strings.NewReader(doc))
		if got := read(iotest.OneByteReader(strings.NewReader(doc))); got != want {
			t.Fatalf("%q: %s\n%s", doc, got, want)
		}
		if len(want) > 2<<20+10*len(doc) {
			t.Fatalf("%d bytes of %d", len(want), len(doc))
		}
	})
}
