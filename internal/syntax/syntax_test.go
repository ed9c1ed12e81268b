package syntax

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// syntaxCases are what a check takes, and what it refuses.
type syntaxCases struct {
	check func(string) string
	good  []string
	bad   []string
}

var syntaxTests = map[string]syntaxCases{
	"IRI": {IRIFault[string], []string{
		"ftp://ftp.is.co.za/rfc/rfc1808.txt", "http://www.ietf.org/rfc/rfc2396.txt", "ldap://[2001:db8::7]/c=GB?objectClass?one",
		"mailto:John.Doe@example.com", "news:comp.infosystems.www.servers.unix", "tel:+1-816-555-1212", "telnet://192.0.2.16:80/",
		"urn:oasis:names:specification:docbook:dtd:xml:4.1.2", "tag:example.org,2003:3.2397", "http://résumé.example.org/ä?ö#ü",
		"http://example.org/%7Efoo/../a;b=c?d=e&f#g?/", "http://user:pw@example.org:8080", "http://:@host/", "http://@host/", "x:", "file:///etc/hosts",
		"http://[::ffff:192.0.2.1]:8/", "http://[v1.a:b]/", "http://example.org/?\ue000", "http://例え.テスト/引き割り.html", "http://example.org/\U00020000",
	}, []string{
		"", "a", "/a", "a/b:c", "//example.org/", "1:a", ":a", "http:/example.org", "http:example.org", "http://", "https:///a", "http://:80/", "http://@/", "http://:@/", "http://a:b@:80/",
		"http://exa mple.org/", "http://example.org/a b", "http://example.org/<a>", "http://example.org/\"", "http://example.org/{a}",
		"http://example.org/a|b", "http://example.org/a\\b", "http://example.org/^`", "http://example.org/%", "http://example.org/%4",
		"http://example.org/%zz", "http://example.org:80a/", "http://[::1/", "http://[]/", "http://[192.0.2.1]/", "http://[fe80::1%25a]/", "http://[", "http://[::1]a/", "http://a[b]/", "http://example.org/[a]",
		"urn:a#b#c", "urn:a\x00", "urn:a\n", "urn:\xff", "urn:\ufffe", "urn:\ue000", "urn:\U0001fffe", "urn:\U000f0000", "urn:\u0080", "http://a@b@c/",
	}},
	"reference": {ReferenceFault[string], []string{"", "a", "/a", "./a:b", "a/b:c", "?a:b", "#a:b", "//example.org/", "../a?b#c", "//[::1]", "ä"},
		[]string{":a", "1:a", "a b", "é:b", "http:", "%", "a#b#c", "//a:b/"}},
	"id of a scheme": {SchemeFault[string], []string{
		"tag:example.org,2024:1", "tag:a.b-c.example,2024-05-01:", "TAG:ann.b_c-d@example.org,2024-05:a:b,c?d", "tag:x,2024:", "urn:isbn:0451450523",
		"URN:example:a/b?+c?=d#e", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "urn:UUID:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", "http://e/", "x:", "a",
	}, []string{
		"tag:", "tag:example.org", "tag:example.org:2024", "tag:example.org,2024", "tag:,2024:1", "tag:@example.org,2024:1", "tag:ann@,2024:1", "tag:-a,2024:1",
		"tag:a-,2024:1", "tag:a..b,2024:1", "tag:a.,2024:1", "tag:a_b,2024:1", "tag:a,24:1", "tag:a,2024-5:1", "tag:a,2024-13:1", "tag:a,2024-05-32:1", "tag:a,2024-05-01T00:00:1",
		"urn:", "urn:a", "urn:a:b", "urn:ab", "urn:ab:", "urn:ab:?=c", "urn:ab:#c", "urn:ab:/c", "urn:-ab:c", "urn:ab-:c", "urn:a.b:c", "urn:" + strings.Repeat("a", 33) + ":c",
		"urn:uuid:1", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf", "urn:uuid:{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}", "urn:uuid:g81d4fae-7dec-11d0-a765-00a0c91e6bf6", "urn:uuid:f81d4fae07dec011d00a765000a0c91e6bf6",
	}},
	"URL": {URLFault[string], []string{
		"http://example.org", "HTTPS://example.org/a?b#c", "http://u:p@example.org:80/", "http://[::1]:65535/", "http://a%C3%A4/", "http://a:/", "http://a/%41",
	}, []string{
		"", "ftp://a/", "http:a", "http://", "http:///a", "http://?a", "http://#a", "http://:80/", "http://u@/", "http://a b/", "http://a/ b", "http://a/ä", "http://ä/", "http://a/%", "http://a/%4g",
		"http://a/[", "http://a/#b#c", "http://a:b/", "http://a:65536/", "http://a:99999999999999999999/", "http://%41/", "http://[v1.a:b]/", "http://[::1/", "http://a]/", "http://u[@a/", "http://u@v@a/", "http://a/<b>",
	}},
	"normal": {NormalFault[string], []string{
		"http://example.org/", "http://example.org/%C3%A4?%2F", "urn:a%2Fb", "http://example.org:8080/", "http://example.org/a..b/.c/...",
		"tag:Example.org,2000:A", "mailto:A@B", "file:///A", "http://User@example.org/A", "ftp://example.org", "https://example.org:80/",
		"http://[::1]/", "x:", "http://example.org/?a/../b#c/./d", "http://a%C3%A4/", "ftp://a:70000/",
	}, []string{
		"HTTP://example.org/", "http://Example.org/", "http://example.org", "http://example.org?a", "http://example.org:80/", "https://example.org:443/",
		"http://example.org:/", "http://example.org/%7Efoo", "http://example.org/%c3%A4", "http://example.org/%C3%a4", "http://example.org/a/../b",
		"http://example.org/.", "http://example.org/..", "http://example.org/./a", "urn:%61", "urn:%2f",
	}},
	"language": {LanguageFault[string], []string{
		"de", "fr", "ja", "i-enochian", "zh-Hant", "sr-Latn", "zh-cmn-Hans-CN", "cmn-Hans-CN", "yue-HK", "sr-Latn-RS", "sl-rozaj", "sl-rozaj-biske",
		"sl-rozaj-biske-1994", "de-CH-1901", "sl-IT-nedis", "hy-Latn-IT-arevela", "es-419", "de-CH-x-phonebk", "az-Arab-x-AZE-derbend", "x-whatever",
		"qaa-Qaaa-QM-x-southern", "en-US-u-islamcal", "zh-CN-a-myext-x-private", "en-a-myext-b-another", "EN-gb-OED", "I-KLINGON", "sgn-BE-FR", "en-1-ab",
		"zh-min-nan", "english", "de-1996", "x-a",
	}, []string{
		"", "a", "de_DE", "de-", "-de", "de--CH", "a-DE", "de-a", "de-x", "x", "x-", "i-unknown", "en-a-b", "de-419-DE", "toolonglanguage", "de-abcdefghi",
		"de DE", "de-u", "de-DE-DE", "1a", "ä", "de-é", "en-x-123456789", "en-a-x-b", "zh-aaa-bbb-ccc-ddd",
	}},
	"digest": {DigestFault[string], []string{
		"md5:900150983cd24fb0d6963f7d28e17f72", "MD5:900150983CD24FB0D6963F7D28E17F72", "md2:8350e5a3e24c153df2275c9f80692773",
		"sha-224:" + strings.Repeat("0", 56), "sha-384:" + strings.Repeat("f", 96), "crc32:0", "sha3-256:abc",
	}, []string{
		"", "md5", "md5:", ":00", "md5:00", "md5:900150983cd24fb0d6963f7d28e17f7g", "md5:kAFQmDzST7DWlj99KOF/cg==", "sha-224:00", "crc32:", "crc32:xyz",
		"a b:00", "a/b:00", "crc32:00 ", "crc:1:2",
	}},
	"entity tag": {EntityTagFault[string], []string{`"x"`, `""`, `W/""`, `W/"x y"`, `"a\"b"`, `"ä"`},
		[]string{"", "x", "W/", "W/x", `"`, `"x`, `x"`, `w/"x"`, `"x" `, `"x""y"`, `"x\"`, `W/W/"x"`}},
	"media type": {MediaTypeFault[string], []string{
		"text/html", "application/atom+xml;type=feed", "text/html; charset=utf-8", "text/html ; charset=\"a \\\" b\" ; x=y", "application/vnd.a-b.c+json", "A/B",
	}, []string{
		"", "text", "text/", "/html", "text/html/x", "text html", "text/html;", "text/html; charset", "text/html; charset=", "text/html; =utf-8", "text/html; a=\"b",
		"text/ html", " text/html", "text/html x", "text/html\"", "text/*;é=1", "html", "text/html; a=\"b\\", "text/html; a=\"b\nc\"",
	}},
	"e-mail": {EmailFault[string], []string{
		"a@b", "a.b@example.org", "a+b@example.org", "\"a b\"@example.org", "\"a\\\"b\"@example.org", "a@[192.0.2.1]", "a@[IPv6:::1]", "ä@example.org", "a@exämple.org",
		"!#$%&'*+-/=?^_`{|}~@example.org",
	}, []string{
		"", "a", "@", "a@", "@b", "a b@c", "a..b@c", ".a@b", "a.@b", "a@b.", "a@.b", "a@b c", "a@b@c", "A <a@b>", "\"a@b", "a@[b", "a@[]", "a@[b]c", "a@[b\\]", "mailto:a@b", " a@b",
		"a@b..c", "\"a\"b@c",
	}},
	"relation": {RelationFault[string], []string{"alternate", "a-b", "http://example.org/a", "urn:a", "hub", "a@b", "ä", "openid2.provider"},
		[]string{"", "a b", "a/b", "1:b", "?a", "#a", "a?b", "http://a b/", "é:a"}},
	"length": {func(s string) string { _, fault := Length(s); return fault }, []string{"0", "1", "00", "999999999999999999", "9223372036854775807", "0009223372036854775807"}, []string{"", "-1", "+1", "1.0", "1 ", "a", "9223372036854775808", "92233720368547758070"}},
	"Base64": {Base64Fault[string], []string{"", "AAAA", "AAA=", "AA==", " \n AAAA\nAA==\n ", "+/+/", "AAAA\nAAAA"},
		[]string{"A", "AA", "AAA", "AA=", "A===", "AAAA=", "AA==AA", "AA-_", "AA AA", "AAAA\n\nAAAA", "AA\tAA", "====", "AAAA\r\nAAAA"}},
}

func TestSyntax(t *testing.T) {
	for name, test := range syntaxTests {
		for _, s := range test.good {
			assert.Empty(t, test.check(s), "%s %q", name, s)
		}
		for _, s := range test.bad {
			assert.NotEmpty(t, test.check(s), "%s %q", name, s)
		}
	}
}

func TestMediaTypes(t *testing.T) {
	for s, want := range map[string][3]bool{
		"text/html":                       {},
		"application/xml":                 {true},
		"APPLICATION/RDF+XML; a=b":        {true},
		"text/xml":                        {true},
		"application/xml-dtd":             {true},
		"application/xml-x":               {},
		"+xml":                            {},
		"application/json;x=a/xml":        {},
		"multipart/mixed":                 {false, true},
		"Message/RFC822":                  {false, true},
		"application/multipart":           {},
		"text/xml-external-parsed-entity": {true},
	} {
		assert.Equal(t, want[0], IsXML(s), s)
		assert.Equal(t, want[1], IsComposite(s), s)
	}
	assert.True(t, IsText("TEXT/plain"))
	assert.False(t, IsText("application/text"))
	assert.Equal(t, "text/html", Essence("text/html ; a=b"))
	assert.True(t, IsRelation("Prev-Archive"))
	assert.False(t, IsRelation("friend"))
}

// TestSyntaxMemory: the checks need none.
func TestSyntaxMemory(t *testing.T) {
	iri, lang, mediaType := []byte("http://résumé.example.org/ä?ö#ü"), []byte("sl-rozaj-biske-1994"), []byte("text/html; charset=utf-8")
	email, url := []byte("a.b@example.org"), []byte("https://user@www.example.org:8080/a/b?c=%C3%A4#d")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if IRIFault(iri)+NormalFault(iri)+LanguageFault(lang)+MediaTypeFault(mediaType)+EmailFault(email)+URLFault(url) != "" || !IsRelation("self") {
			panic("a fault")
		}
	}))
}

// FuzzSyntax: no check looks beyond its end, and an absolute IRI of ASCII that has no
// fault is a URL for net/url.
func FuzzSyntax(f *testing.F) {
	for _, test := range syntaxTests {
		for _, s := range append(test.good, test.bad...) {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, test := range syntaxTests {
			if name != "normal" {
				test.check(s)
			}
		}
		checkCommonURL(t, s)
		if fault := IRIFault(s); fault != IRIFault([]byte(s)) || fault != "" {
			return
		}
		NormalFault(s)
		if strings.IndexFunc(s, func(r rune) bool { return r > '~' }) >= 0 || strings.Contains(s, "%") || strings.Contains(s, "[v") || strings.Contains(s, "[V") {
			return
		}
		_, err := url.Parse(s)
		require.NoError(t, err)
	})
}

func TestEscape(t *testing.T) {
	assert.Equal(t, "a%2Fb%20%C3%A4:%25", Escape("a/b ä:%", Segment.Has))
	assert.Equal(t, "a-b", Escape("a-b", Unreserved.Has))
	assert.Equal(t, "http://a[b/%25%41%5B?x=%C3%BC#y%23", EscapeURL("http://a[b/%%41[?x=ü#y#"))
	c, ok := Escaped("a%4aB", 1)
	assert.Equal(t, byte('J'), c)
	assert.True(t, ok)
	_, ok = Escaped("a%4", 1)
	assert.False(t, ok)
}

// TestClasses: each of the sets is what its RFC lists.
func TestClasses(t *testing.T) {
	const alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for class, chars := range map[Class]string{
		Alnum:      alnum,
		Unreserved: alnum + "-._~",
		Segment:    alnum + "-._~!$&'()*+,;=:@",
		URI:        alnum + "-._~!$&'()*+,;=:@/?#[]%",
	} {
		for c := range 256 {
			assert.Equal(t, c < utf8.RuneSelf && strings.IndexByte(chars, byte(c)) >= 0, class.Has(byte(c)), "%q", c)
		}
	}
}

func TestIsOfType(t *testing.T) {
	for _, test := range []struct {
		mediaType, wanted string
		want              bool
	}{
		{"text/html", "text/html", true},
		{" Text/HTML; charset=utf-8", "text/html;q=1", true},
		{"text/html", "text/plain", false},
		{"image/png", "image/*", true},
		{"image/png", "*/*", true},
		{"image/png", "text/*", false},
		{"", "*/*", false},
		{"", "text/html", false},
	} {
		assert.Equal(t, test.want, IsOfType(test.mediaType, test.wanted), "%q %q", test.mediaType, test.wanted)
	}
}

func TestCommonURL(t *testing.T) {
	for s, want := range map[string][2]bool{
		"http://ab": {true, true}, "https://a.example/b-c/_~!$'()*+,;=:@?d=e?f": {true, true}, "https://a/?b=c&d=e": {true, false}, "http://a/&": {true, false},
		"http://a/%41": {true, true}, "http://a/b?c=%d0%B7&d": {true, false},
		"http://": {}, "http://a": {}, "https:/": {}, "http:/a/b": {}, "ftp://a/": {}, "HTTP://a/": {}, "http://a:80/": {}, "http://a:/": {}, "http://u@a/": {}, "http://[::1]/": {}, "http://a?b": {},
		"http://a/#b": {}, "http://a/%4": {}, "http://a/%4g": {}, "http://a/%%41": {}, "http://%41/": {}, "http://a%41/": {}, "http://a/ä": {}, "http://a/ b": {}, "http://a/<": {}, "http://a/\"": {}, "http://a/[": {}, "http://a/\n": {}, "https://&/": {}, "": {},
	} {
		isURL, isPlain := CommonURL(s)
		assert.Equal(t, want, [2]bool{isURL, isPlain}, s)
	}
	for _, test := range syntaxTests {
		for _, s := range append(test.good, test.bad...) {
			checkCommonURL(t, s)
		}
	}
	for c := range 256 {
		for _, s := range []string{"http://x", "https://a.b/x", "http://a/b?x", "http://a/%x0%0x%41", "httpx://a/"} {
			checkCommonURL(t, strings.ReplaceAll(s, "x", string([]byte{byte(c)})))
		}
	}
}

// checkCommonURL checks what CommonURL promises of the URLs that it reports.
func checkCommonURL(t *testing.T, s string) {
	if isURL, isPlain := CommonURL(s); isURL || isPlain {
		assert.True(t, isURL, s)
		assert.Empty(t, URLFault(s), s)
		assert.Empty(t, IRIFault(s), s)
		assert.False(t, HasEmptyPort(s), s)
		assert.Equal(t, isPlain, !strings.ContainsAny(s, "&<>\""), s)
	}
}

func TestIsRegistered(t *testing.T) {
	for s, want := range map[string]bool{
		"http://a/": true, "HTTPS://a/": true, "mailto:a@b": true, "coap+tcp://a/": true, "magnet:?xt=a": true,
		"htttp://a/": false, "/a": false, "": false, "http": false, "x-own:a": false,
	} {
		assert.Equal(t, want, IsRegistered(s), s)
	}
}
