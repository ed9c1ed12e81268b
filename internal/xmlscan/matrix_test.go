package xmlscan_test

import (
	"bytes"
	"encoding/xml"
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

const (
	sitemapNS = "http://www.sitemaps.org/schemas/sitemap/0.9"
	rsNS      = "http://www.openarchives.org/rs/terms/"
	atomNS    = "http://www.w3.org/2005/Atom"
)

// samples returns documents of n entries: a sitemap, a Resource List and an Atom feed.
func samples(n int) (docs [][]byte) {
	for _, s := range []struct{ root, entry string }{
		{`urlset xmlns="` + sitemapNS + `"`, "<url>\n  <loc>https://example.org/%d?a=b&amp;c=d</loc>\n  <lastmod>2024-01-02T13:00:00Z</lastmod>\n</url>\n"},
		{`urlset xmlns="` + sitemapNS + `" xmlns:rs="` + rsNS + `"`,
			"<url><loc>https://example.org/%d</loc><rs:md hash=\"md5:%[1]032x\" length=\"3\"/><rs:ln rel='up' href=\"?a&amp;b\"/></url>\n"},
		{`feed xmlns="` + atomNS + `"`, "<entry><id>tag:example.org,2024:%d</id><title>ändring &lt;%[1]d&gt; &#8364;</title><link href=\"/a\" rel=\"up\"/></entry>\n"},
	} {
		b := []byte(xml.Header + "<" + s.root + ">\n")
		for i := range n {
			b = fmt.Appendf(b, s.entry, i)
		}
		docs = append(docs, append(b, "</"+strings.Fields(s.root)[0]+">\n"...))
	}
	return docs
}

// trace reads a whole document and prints its tokens: <{space}local {space}attr="value">,
// "text", </>.
func trace(r *xmlscan.Reader) (string, error) {
	var b strings.Builder
	for {
		k, err := r.Next()
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return b.String(), err
		}
		b.WriteString(token(r, k))
	}
}

// token prints the current token.
func token(r *xmlscan.Reader, k xmlscan.Kind) string {
	switch k {
	case xmlscan.Text:
		return fmt.Sprintf("%q", r.Text())
	case xmlscan.End:
		return "</" + braced(r.Name()) + ">"
	}
	var b strings.Builder
	b.WriteString("<" + braced(r.Name()))
	for _, a := range r.Attrs() {
		fmt.Fprintf(&b, " %s=%q", braced(a.Name), a.Value)
	}
	b.WriteString(">")
	return b.String()
}

func braced(n xmlscan.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return "{" + n.Space + "}" + n.Local
}

// encodingXMLAccepts reports whether encoding/xml reads the document to its end without
// an error.
func encodingXMLAccepts(doc string) bool {
	d := xml.NewDecoder(strings.NewReader(doc))
	for {
		if _, err := d.Token(); err != nil {
			return err == io.EOF
		}
	}
}

func utf16le(s string) string { return utf16doc(s, 0, 1) }
func utf16be(s string) string { return utf16doc(s, 1, 0) }

func utf16doc(s string, lo, hi int) string {
	var b []byte
	for _, c := range s {
		units := []rune{c}
		if c > 0xFFFF {
			c -= 0x10000
			units = []rune{0xD800 + c>>10, 0xDC00 + c&0x3FF}
		}
		for _, u := range units {
			var two [2]byte
			two[lo], two[hi] = byte(u), byte(u>>8)
			b = append(b, two[:]...)
		}
	}
	return string(b)
}

func nested(n int) string { return strings.Repeat("<a>", n) + strings.Repeat("</a>", n) }

// The documents that must be refused. peer is the recorded answer of encoding/xml; if it
// accepts, it is wrong.
var rejected = []struct {
	name      string
	doc       string
	is        error
	line, col int
	peer      bool // encoding/xml accepts: wrong
}{
	{"mismatched tags", "<a>\n<b></a></b>", nil, 2, 4, false},
	{"mismatched tag, prefix of the name", "<ab></a>", nil, 1, 5, false},
	{"mismatched tag, longer name", "<a></ab>", nil, 1, 4, false},
	{"mismatched prefix, same namespace", `<p:a xmlns:p="u" xmlns:q="u"></q:a>`, nil, 1, 30, false},
	{"end tag with an attribute", `<a></a b="c">`, nil, 1, 8, false},
	{"end tag without a name", `<a></>`, nil, 1, 4, false},
	{"end tag first", `</a>`, nil, 1, 2, false},
	{"unclosed element", "<a><b></b>", xmlscan.ErrTruncated, 1, 11, false},
	{"truncated in a tag", "<a><b", xmlscan.ErrTruncated, 1, 6, false},
	{"truncated in an attribute", `<a b="c`, xmlscan.ErrTruncated, 1, 8, false},
	{"truncated in text", "<a>text", xmlscan.ErrTruncated, 1, 8, false},
	{"truncated after <", "<a><", xmlscan.ErrTruncated, 1, 5, false},
	{"truncated in an end tag", "<a></a", xmlscan.ErrTruncated, 1, 7, false},
	{"truncated in an empty-element tag", "<a/", xmlscan.ErrTruncated, 1, 4, false},
	{"truncated in a comment", "<a><!-- ", xmlscan.ErrTruncated, 1, 9, false},
	{"truncated in a comment after the root", "<a/><!-- ", xmlscan.ErrTruncated, 1, 10, false},
	{"truncated in a PI", "<a><?b ", xmlscan.ErrTruncated, 1, 8, false},
	{"truncated in a DOCTYPE", "<!DOCTYPE a [", xmlscan.ErrTruncated, 1, 14, false},
	{"truncated in the XML declaration", `<?xml version="1.0"`, xmlscan.ErrTruncated, 1, 20, false},
	{"only an XML declaration", `<?xml version="1.0"?>`, xmlscan.ErrTruncated, 1, 22, true},
	{"only a comment", `<!-- -->`, xmlscan.ErrTruncated, 1, 9, true},
	{"unclosed CDATA", "<a><![CDATA[x]]</a>", xmlscan.ErrTruncated, 1, 20, false},
	{"undefined entity", "<a>&nbsp;</a>", nil, 1, 4, false},
	{"undefined entity in an attribute", `<a b="x&nbsp;"/>`, nil, 1, 8, false},
	{"bare ampersand", "<a>b & c</a>", nil, 1, 6, false},
	{"bare ampersand in an attribute", `<a b="c&d=e"/>`, nil, 1, 8, false},
	{"ampersand before the end", "<a>b&</a>", nil, 1, 5, false},
	{"entity without semicolon", "<a>&amp</a>", nil, 1, 4, false},
	{"upper-case hexadecimal marker", "<a>&#X41;</a>", nil, 1, 4, false},
	{"empty character reference", "<a>&#;</a>", nil, 1, 4, false},
	{"character reference &#0;", "<a>&#0;</a>", nil, 1, 4, false},
	{"character reference to a control character", "<a>&#x1F;</a>", nil, 1, 4, false},
	{"character reference to a surrogate", "<a>&#xD800;</a>", nil, 1, 4, true},
	{"character reference over the last character", "<a>&#x110000;</a>", nil, 1, 4, false},
	{"character reference that overflows", "<a>&#x100000041;</a>", nil, 1, 4, false},
	{"character reference to U+FFFE", "<a>&#xFFFE;</a>", nil, 1, 4, false},
	{"bad UTF-8 in text", "<a>b\xFFc</a>", nil, 1, 5, false},
	{"bad UTF-8 in an attribute", "<a b='c\xC3'/>", nil, 1, 8, false},
	{"bad UTF-8 in a name", "<a\xC3/>", nil, 1, 2, false},
	{"bad UTF-8 in a comment", "<a><!--\xFF--></a>", nil, 1, 8, true},
	{"bad UTF-8 in CDATA", "<a><![CDATA[\xFF]]></a>", nil, 1, 13, false},
	{"overlong UTF-8", "<a>\xC0\x80</a>", nil, 1, 4, false},
	{"surrogate in UTF-8", "<a>\xED\xA0\x80</a>", nil, 1, 4, false},
	{"cut UTF-8 before a tag", "<a>\xE2\x82</a>", nil, 1, 4, false},
	{"U+FFFF in text", "<a>\uFFFF</a>", nil, 1, 4, false},
	{"U+FFFE in an attribute", "<a b='\uFFFE'/>", nil, 1, 7, false},
	{"control character in text", "<a>b\x01</a>", nil, 1, 5, false},
	{"NUL in text", "<a>b\x00</a>", nil, 1, 5, false},
	{"control character in an attribute", "<a b='\x0B'/>", nil, 1, 7, false},
	{"control character in a comment", "<a><!--\x01--></a>", nil, 1, 8, true},
	{"control character in a PI", "<a><?b \x01?></a>", nil, 1, 8, true},
	{"NUL in a tag", "<a \x00>", nil, 1, 4, false},
	{"NUL after the root", "<a/>\x00", nil, 1, 5, false},
	{"two roots", "<a/><b/>", nil, 1, 5, true},
	{"text after the root", "<a/>b", nil, 1, 5, true},
	{"entity after the root", "<a/>&#32;", nil, 1, 5, true},
	{"CDATA after the root", "<a/><![CDATA[]]>", nil, 1, 5, true},
	{"DOCTYPE after the root", "<a/><!DOCTYPE a>", nil, 1, 5, true},
	{"text before the root", "<!-- -->x<a/>", nil, 1, 9, true},
	{"empty", "", xmlscan.ErrEmpty, 1, 1, true},
	{"only white space", " \n ", xmlscan.ErrEmpty, 2, 2, true},
	{"only a byte-order mark", "\uFEFF", xmlscan.ErrEmpty, 1, 1, true},
	{"plain text", "hello <a/>", xmlscan.ErrNotXML, 1, 1, true},
	{"fewer than four bytes", "{}", xmlscan.ErrNotXML, 1, 1, true},
	{"JSON after white space", "\n {}", xmlscan.ErrNotXML, 2, 2, true},
	{"gzip", "\x1f\x8b\x08\x00\x00", xmlscan.ErrNotXML, 1, 1, false},
	{"duplicate attribute", `<a b="1" b="2"/>`, xmlscan.ErrAttribute, 1, 10, true},
	{"duplicate attribute by namespace", `<a xmlns:p="u" xmlns:q="u" p:b="1" q:b="2"/>`, xmlscan.ErrAttribute, 1, 1, true},
	{"duplicate declaration", `<a xmlns="u" xmlns="u"/>`, xmlscan.ErrAttribute, 1, 14, true},
	{"unquoted attribute", `<a b=c/>`, nil, 1, 6, false},
	{"attribute without value", `<a b/>`, nil, 1, 5, false},
	{"attribute without equals sign", `<a b "c"/>`, nil, 1, 6, false},
	{"no space between attributes", `<a b="1"c="2"/>`, nil, 1, 9, true},
	{"no space between name and attribute", `<a"b"/>`, nil, 1, 3, false},
	{"'<' in an attribute", `<a b="<"/>`, nil, 1, 7, false},
	{"'<' in a tag", `<a <b/>`, nil, 1, 4, false},
	{"'<' and a space", `<a>1 < 2</a>`, nil, 1, 6, false},
	{"slash in a tag", `<a / b="c">`, nil, 1, 5, false},
	{"slash and space before '>'", `<a/ >`, nil, 1, 4, false},
	{"']]>' in text", "<a>b]]>c</a>", nil, 1, 5, false},
	{"']]>' in text outside ASCII", "<a>é]]>c</a>", nil, 1, 6, false},
	{"'--' in a comment", "<a><!-- b -- c --></a>", nil, 1, 11, false},
	{"'--->' at the end of a comment", "<a><!-- b ---></a>", nil, 1, 11, false},
	{"comment that runs on", "<a><!-- b -><c/><!-- d --></a>", nil, 1, 19, false},
	{"comment that runs on before the root", "<!-- b ><c/><!-- d --><a/>", nil, 1, 15, false},
	{"'<!-->' is no comment", "<a><!--></a>", xmlscan.ErrTruncated, 1, 13, false},
	{"markup declaration in content", "<a><!ELEMENT b></a>", nil, 1, 4, true},
	{"DOCTYPE in content", "<a><!DOCTYPE a></a>", nil, 1, 4, true},
	{"bad name, digit", "<1a/>", nil, 1, 2, false},
	{"bad name, hyphen", "<-a/>", nil, 1, 2, false},
	{"bad name, space", "< a/>", nil, 1, 2, false},
	{"bad name, multiplication sign", "<×/>", nil, 1, 2, false},
	{"bad name, two colons", "<a:b:c xmlns:a='u'/>", nil, 1, 2, false},
	{"bad name, colon first", "<:a/>", nil, 1, 2, true},
	{"bad name, colon last", "<a:/>", nil, 1, 2, true},
	{"bad name, local part", "<a:1 xmlns:a='u'/>", nil, 1, 2, true},
	{"bad attribute name", "<a 1='2'/>", nil, 1, 4, false},
	{"unbound prefix", "<p:a/>", nil, 1, 1, true},
	{"unbound prefix of an attribute", "<a p:b='c'/>", nil, 1, 1, true},
	{"prefix out of scope", "<a><b xmlns:p='u'/><p:c/></a>", nil, 1, 20, true},
	{"prefix undeclared", "<a xmlns:p=''/>", nil, 1, 4, true},
	{"prefix xmlns declared", "<a xmlns:xmlns='u'/>", nil, 1, 4, true},
	{"prefix xmlns on an element", "<xmlns:a/>", nil, 1, 1, true},
	{"prefix xml bound elsewhere", "<a xmlns:xml='u'/>", nil, 1, 4, true},
	{"other prefix bound to the xml namespace", "<a xmlns:p='http://www.w3.org/XML/1998/namespace'/>", nil, 1, 4, true},
	{"default bound to the xml namespace", "<a xmlns='http://www.w3.org/XML/1998/namespace'/>", nil, 1, 4, true},
	{"prefix bound to the xmlns namespace", "<a xmlns:p='http://www.w3.org/2000/xmlns/'/>", nil, 1, 4, true},
	{"late XML declaration", "\n<?xml version='1.0'?><a/>", nil, 2, 1, true},
	{"XML declaration in content", "<a><?xml version='1.0'?></a>", nil, 1, 4, true},
	{"XML declaration twice", "<?xml version='1.0'?><?xml version='1.0'?><a/>", nil, 1, 22, true},
	{"XML declaration without version", "<?xml encoding='UTF-8'?><a/>", nil, 1, 1, true},
	{"XML declaration of version 2.0", "<?xml version='2.0'?><a/>", nil, 1, 1, false},
	{"XML declaration in the wrong order", "<?xml version='1.0' standalone='no' encoding='UTF-8'?><a/>", nil, 1, 1, true},
	{"XML declaration with something else", "<?xml version='1.0' a='b'?><a/>", nil, 1, 1, true},
	{"XML declaration in capitals", "<?XML version='1.0'?><a/>", nil, 1, 1, true},
	{"PI without a target", "<a><? b?></a>", nil, 1, 4, false},
	{"PI with a bad target", "<a><?b+c?></a>", nil, 1, 4, true},
	{"internal entity", `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`, xmlscan.ErrEntity, 1, 14, false},
	{"internal entity, not used", `<!DOCTYPE a [<!ENTITY b "c">]><a/>`, xmlscan.ErrEntity, 1, 14, true},
	{"external entity", `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a/>`, xmlscan.ErrEntity, 1, 14, true},
	{"unparsed entity", `<!DOCTYPE a [<!ENTITY b SYSTEM "c" NDATA d>]><a/>`, xmlscan.ErrEntity, 1, 14, true},
	{"parameter entity", `<!DOCTYPE a [<!ENTITY % b "c">]><a/>`, xmlscan.ErrEntity, 1, 14, true},
	{"parameter entity reference", `<!DOCTYPE a [ %b; ]><a/>`, xmlscan.ErrEntity, 1, 15, true},
	{"parameter entity reference in a declaration", `<!DOCTYPE a [<!ELEMENT a %b;>]><a/>`, xmlscan.ErrEntity, 1, 26, true},
	{"entity after a harmless declaration", "<!DOCTYPE a [\n<!ELEMENT a ANY>\n<!ENTITY b 'c'>]><a/>", xmlscan.ErrEntity, 3, 1, true},
	{"entity behind an external identifier", `<!DOCTYPE a SYSTEM "d" [<!ENTITY b "c">]><a/>`, xmlscan.ErrEntity, 1, 25, true},
	{"DOCTYPE without a name", "<!DOCTYPE><a/>", nil, 1, 10, true},
	{"DOCTYPE twice", "<!DOCTYPE a><!DOCTYPE a><a/>", nil, 1, 13, true},
	{"DOCTYPE with PUBLIC alone", `<!DOCTYPE a PUBLIC "b"><a/>`, nil, 1, 23, true},
	{"DOCTYPE with rubbish in its subset", `<!DOCTYPE a [ b ]><a/>`, nil, 1, 15, true},
	{"DOCTYPE with a tag in its subset", `<!DOCTYPE a [<0ELEMENT>]><a/>`, nil, 1, 14, true},
	{"DOCTYPE in small letters", `<!doctype html><a/>`, nil, 1, 1, true},
	{"nesting past the limit", nested(257), xmlscan.ErrLimit, 1, 256*3 + 1, true},
	{"unknown encoding", `<?xml version="1.0" encoding="x-unknown"?><a/>`, xmlscan.ErrEncoding, 1, 1, false},
	{"byte that Windows-1253 lacks", "<?xml version='1.0' encoding='windows-1253'?><a>\xAA</a>", nil, 1, 49, false},
	{"UTF-32", "\x00\x00\x00<\x00\x00\x00a", xmlscan.ErrEncoding, 1, 1, false},
	{"UTF-16 with a lone surrogate", "\xFF\xFE" + utf16le("<a>") + "\x00\xD8" + utf16le("</a>"), nil, 1, 4, false},
	{"UTF-16 with an odd byte", "\xFE\xFF" + utf16be("<a/>") + "\x00", nil, 1, 5, false},
}

func TestRejected(t *testing.T) {
	for _, c := range rejected {
		t.Run(c.name, func(t *testing.T) {
			_, err := trace(xmlscan.NewReader(strings.NewReader(c.doc)))
			var syntax *xmlscan.SyntaxError
			require.ErrorAs(t, err, &syntax)
			assert.Equal(t, fmt.Sprint(c.line, ":", c.col), fmt.Sprint(syntax.Line, ":", syntax.Column), syntax.Msg)
			if c.is == nil {
				assert.NoError(t, syntax.Err)
			} else {
				assert.ErrorIs(t, err, c.is)
			}
			assert.Equal(t, errors.Is(err, xmlscan.ErrTruncated), errors.Is(err, io.ErrUnexpectedEOF))
			assert.Equal(t, c.peer, encodingXMLAccepts(c.doc), "recorded answer of encoding/xml")
		})
	}
}

// How encoding/xml reads the documents that must be read.
const (
	same    = iota // the same tokens, once text is joined and comments are left out
	differs        // other tokens: wrong
	refuses        // an error: wrong, or a charset that it leaves to a hook
)

var big = strings.Repeat("0123456789abcde\n", 3<<20/16)

// The documents that must be read.
var accepted = []struct {
	name string
	doc  string
	want string
	peer int
}{
	{"nothing inside", "<a></a>", "<a></a>", same},
	{"empty element", "<a/>", "<a></a>", same},
	{"empty element with space", "<a />", "<a></a>", same},
	{"empty element with attribute", "<a b='c'/>", `<a b="c"></a>`, same},
	{"slash in an attribute", "<a b='/'>x</a>", `<a b="/">"x"</a>`, same},
	{"prefix rebinding", `<p:a xmlns:p="u"><p:b xmlns:p="v"/><p:c/></p:a>`, "<{u}a><{v}b></{v}b><{u}c></{u}c></{u}a>", same},
	{"prefix declared after its use", `<a p:b="c" xmlns:p="u"/>`, `<a {u}b="c"></a>`, same},
	{"default namespace", `<a xmlns="u" b="c"><d/></a>`, `<{u}a b="c"><{u}d></{u}d></{u}a>`, same},
	{"default namespace undeclared", `<a xmlns="u"><b xmlns=""><c/></b><d/></a>`, "<{u}a><b><c></c></b><{u}d></{u}d></{u}a>", same},
	{"one namespace under two prefixes", `<p:a xmlns:p="u" xmlns:q="u"><q:b/></p:a>`, "<{u}a><{u}b></{u}b></{u}a>", same},
	{"same local name in two namespaces", `<a xmlns:p="u" xmlns:q="v" p:b="1" q:b="2" b="3"/>`, `<a {u}b="1" {v}b="2" b="3"></a>`, same},
	{"default namespace is not an attribute's", `<a xmlns="u" xmlns:p="u" b="1" p:b="2"/>`, `<{u}a b="1" {u}b="2"></{u}a>`, same},
	{"references in a namespace", `<p:a xmlns:p="u&amp;v"/>`, "<{u&v}a></{u&v}a>", same},
	{"xml prefix", `<a xml:lang="sv"/>`, `<a {http://www.w3.org/XML/1998/namespace}lang="sv"></a>`, same},
	{"xml prefix declared as itself", `<a xmlns:xml="http://www.w3.org/XML/1998/namespace" xml:lang="sv"/>`, `<a {http://www.w3.org/XML/1998/namespace}lang="sv"></a>`, same},
	{"namespace that is a relative reference", `<a xmlns="x"/>`, "<{x}a></{x}a>", same},
	{"CDATA and text joined", "<a>b<![CDATA[<c>&]]>d<![CDATA[]]>e</a>", `<a>"b<c>&de"</a>`, same},
	{"CDATA only", "<a><![CDATA[b]]></a>", `<a>"b"</a>`, same},
	{"empty CDATA", "<a><![CDATA[]]></a>", `<a></a>`, same},
	{"brackets in CDATA", "<a><![CDATA[]]]]><![CDATA[>]]]></a>", `<a>"]]>]"</a>`, same},
	{"comment inside text", "<a>b<!-- c -->d</a>", `<a>"bd"</a>`, same},
	{"comments and nothing else", "<a><!----><!-- - --></a>", `<a></a>`, same},
	{"PI inside text", "<a>b<?c d?>e</a>", `<a>"be"</a>`, same},
	{"PI without content", "<a><?c?></a>", `<a></a>`, same},
	{"PIs and comments around the root", "<?a?> <!-- b --> <c/> <!-- d --> <?e?>\n", `<c></c>`, same},
	{"PI whose target begins with xml", "<?xml-stylesheet href='a'?><b/>", `<b></b>`, same},
	{"numeric references", "<a>&#65;&#x42;&#x1F600;&#0000067;&#x10FFFF;</a>", `<a>"AB😀C\U0010ffff"</a>`, same},
	{"predefined entities", `<a b="&lt;&gt;&amp;&quot;&apos;">&lt;&gt;&amp;&quot;&apos;</a>`, `<a b="<>&\"'">"<>&\"'"</a>`, same},
	{"reference to a control character that is allowed", "<a>&#9;&#10;&#13;</a>", `<a>"\t\n\r"</a>`, same},
	{"both quotes", `<a b='"' c="'"/>`, `<a b="\"" c="'"></a>`, same},
	{"'>' in text and attribute", `<a b=">">]]b>]></a>`, `<a b=">">"]]b>]>"</a>`, same},
	{"']]>' over a CDATA section", "<a><![CDATA[]]]]>></a>", `<a>"]]>"</a>`, same},
	{"attribute white space", "<a b='\tc\n d\r\ne&#10;&#9;&#32;'/>", `<a b=" c  d e\n\t "></a>`, differs},
	{"space around the equals sign", "<a b = 'c'\n\td\r=\n'e' />", `<a b="c" d="e"></a>`, same},
	{"CRLF and CR", "<a>b\r\nc\rd\n\re</a>", `<a>"b\nc\nd\n\ne"</a>`, same},
	{"CRLF in CDATA", "<a><![CDATA[b\r\nc\rd]]></a>", `<a>"b\nc\nd"</a>`, same},
	{"CR before a reference to LF", "<a>\r&#10;</a>", `<a>"\n\n"</a>`, same},
	{"white space kept", "<a> \n\t<b> </b> </a>", `<a>" \n\t"<b>" "</b>" "</a>`, same},
	{"space in end tags", "<a><b ></b \n></a\t>", `<a><b></b></a>`, same},
	{"byte-order mark", "\uFEFF<a/>", `<a></a>`, same},
	{"byte-order mark and declaration", "\uFEFF<?xml version='1.0' encoding='utf-8'?><a/>", `<a></a>`, same},
	{"U+FEFF inside", "<a>\uFEFF</a>", `<a>"\ufeff"</a>`, same},
	{"U+FFFD inside", "<a b='\uFFFD'>\uFFFD</a>", `<a b="�">"�"</a>`, same},
	{"C1 and DEL", "<a>\u0085\u007F\u2028</a>", `<a>"\u0085\x7f\u2028"</a>`, same},
	{"white space before the root", "\n\n<a/>", `<a></a>`, same},
	{"all of the XML declaration", "<?xml version = '1.0'  encoding = \"UTF-8\" standalone='yes' ?><a/>", `<a></a>`, same},
	{"version 1.1", "<?xml version='1.1'?><a/>", `<a></a>`, refuses},
	{"harmless DOCTYPE", "<!DOCTYPE a><a/>", `<a></a>`, same},
	{"DOCTYPE with external identifier", `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"><a/>`, `<a></a>`, same},
	{"DOCTYPE with SYSTEM", `<!DOCTYPE a SYSTEM 'b>' ><a/>`, `<a></a>`, same},
	{"DOCTYPE with an internal subset", "<!DOCTYPE a SYSTEM \"x\" [ <!-- > ]> <!ENTITY ' --> <?b > ' ]?>\n<!ELEMENT a (#PCDATA)>" +
		"<!ATTLIST a b CDATA \">]>\" c CDATA '<'><!NOTATION n PUBLIC \"p\">]  >\n<a/>", `<a></a>`, refuses},
	{"names outside ASCII", "<författning ärende='1'><長い名前/><𐐀·‿/></författning>",
		"<författning ärende=\"1\"><長い名前></長い名前><𐐀·‿></𐐀·‿></författning>", refuses},
	{"names of the fifth edition", "<Ⰰ/>", "<Ⰰ></Ⰰ>", refuses},
	{"element named xmlns", "<xmlns/>", "<xmlns></xmlns>", same},
	{"depth 256", nested(256), nested(256), same},
	{"ISO-8859-1", "<?xml version='1.0' encoding='ISO-8859-1'?><a b='\xE6'>\xF8\xE5\x80</a>", `<a b="æ">"øå€"</a>`, refuses},
	{"Windows-1252", "<?xml version='1.0' encoding='windows-1252'?><a>\x80\x93\xE9\x94</a>", `<a>"€“é”"</a>`, refuses},
	{"ISO-8859-15", "<?xml version='1.0' encoding='iso_8859-15'?><a>\xA4</a>", `<a>"€"</a>`, refuses},
	{"US-ASCII", "<?xml version='1.0' encoding='us-ascii'?><a>b</a>", `<a>"b"</a>`, refuses},
	{"UTF-16LE with mark", "\xFF\xFE" + utf16le("<?xml version='1.0' encoding='UTF-16'?><a b='ø'>€😀</a>"), `<a b="ø">"€😀"</a>`, refuses},
	{"UTF-16BE with mark", "\xFE\xFF" + utf16be("<a b='ø'>€😀</a>"), `<a b="ø">"€😀"</a>`, refuses},
	{"UTF-16LE without mark", utf16le("<?xml version='1.0' encoding='UTF-16LE'?><a>€</a>"), `<a>"€"</a>`, refuses},
	{"UTF-16BE without mark", utf16be("<a>€</a>"), `<a>"€"</a>`, refuses},
	{"UTF-16 without mark after white space", utf16be("\n<a>€</a>"), `<a>"€"</a>`, refuses},
	{"utf-16 declared, UTF-8 sent", "<?xml version='1.0' encoding='utf-16'?><a>ø</a>", `<a>"ø"</a>`, refuses},
	{"UTF-8 declared, UTF-16 sent", "\xFF\xFE" + utf16le("<?xml version='1.0' encoding='UTF-8'?><a>ø</a>"), `<a>"ø"</a>`, refuses},
	{"ISO-8859-1 declared, UTF-8 mark", "\uFEFF<?xml version='1.0' encoding='iso-8859-1'?><a>ø</a>", `<a>"ø"</a>`, refuses},
	{"3 MB of text", "<a>" + big + "</a>", fmt.Sprintf("<a>%q</a>", big), same},
	{"3 MB of CDATA and text", "<a><![CDATA[" + big + "]]>&amp;" + big + "</a>", fmt.Sprintf("<a>%q</a>", big+"&"+big), same},
	{"3 MB attribute", "<a b='" + big + "'/>", fmt.Sprintf("<a b=%q></a>", strings.ReplaceAll(big, "\n", " ")), differs},
	{"3 MB comment", "<a><!--" + big + "--></a>", "<a></a>", same},
}

func TestAccepted(t *testing.T) {
	racing.Skip(t)
	for _, c := range accepted {
		t.Run(c.name, func(t *testing.T) {
			got, err := trace(xmlscan.NewReader(strings.NewReader(c.doc)))
			require.NoError(t, err)
			if got != c.want { // testify's diff would have 3 MB
				t.Fatalf("got %.200s\nwant %.200s", got, c.want)
			}
			if len(c.doc) < 1<<20 {
				got, err = trace(xmlscan.NewReader(iotest.OneByteReader(strings.NewReader(c.doc))))
				require.NoError(t, err)
				assert.Equal(t, c.want, got, "byte by byte")
			}
			peer := same
			if got, err := traceEncodingXML([]byte(c.doc)); err != nil {
				peer = refuses
			} else if got != c.want {
				peer = differs
			}
			assert.Equal(t, c.peer, peer, "recorded answer of encoding/xml")
		})
	}
}

// traceEncodingXML is trace for encoding/xml: text joined, comments, PIs, directives and
// namespace declarations left out.
func traceEncodingXML(doc []byte) (string, error) {
	var b strings.Builder
	var text []byte
	depth := 0
	flush := func() {
		if len(text) > 0 && depth > 0 {
			fmt.Fprintf(&b, "%q", text)
		}
		text = text[:0]
	}
	d := xml.NewDecoder(bytes.NewReader(doc))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return b.String(), err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			flush()
			depth++
			b.WriteString("<" + braced(xmlscan.Name(tok.Name)))
			for _, a := range tok.Attr {
				if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
					continue
				}
				fmt.Fprintf(&b, " %s=%q", braced(xmlscan.Name(a.Name)), a.Value)
			}
			b.WriteString(">")
		case xml.EndElement:
			flush()
			depth--
			b.WriteString("</" + braced(xmlscan.Name(tok.Name)) + ">")
		case xml.CharData:
			text = append(text, tok...)
		}
	}
}
