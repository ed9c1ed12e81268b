package webpage

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/websync-go/websync/internal/charset"
)

const whiteSpace = " \t\n\r\f"

// A decoder decodes one document.
type decoder struct{ report func(value, message string) }

// Decode returns an HTML document in UTF-8. A byte-order mark counts first, then stated,
// the charset of the HTTP header, then that of a <meta>. If none is stated, it is UTF-8
// if all bytes are, else Windows-1252. Report receives values and what is wrong with
// them.
func Decode(data []byte, stated string, report func(value, message string)) []byte {
	d := decoder{report: report}
	if e, mark := charset.Sniff(data); mark > 0 {
		return d.decode(data[mark:], e)
	}
	for _, label := range [...]string{stated, metaCharset(data)} {
		label = strings.Trim(label, whiteSpace)
		switch e := charset.Lookup(label); {
		case label == "":
		case e == charset.Encoding{}:
			d.report(label, "the encoding is not known, or not supported")
		case e.IsWide(): // a header in ASCII contradicts it: HTML §13.2.3.2
			return d.decode(data, charset.UTF8)
		default:
			return d.decode(data, e)
		}
	}
	if utf8.Valid(data) {
		return data
	}
	return d.decode(data, charset.Lookup("windows-1252"))
}

// decode replaces what is not in the encoding by U+FFFD.
func (d *decoder) decode(data []byte, e charset.Encoding) []byte {
	if e != charset.UTF8 {
		data, _ = io.ReadAll(charset.NewReader(nil, charset.Choice{Encoding: e}, data, io.EOF))
	}
	if utf8.Valid(data) {
		return data
	}
	d.report("", fmt.Sprintf("bytes that are not %s become U+FFFD", e))
	return bytes.ToValidUTF8(data, []byte("\uFFFD"))
}

// metaCharset returns the encoding that a <meta> at the start of a page declares. HTML
// allows 1,024 bytes before it; pages have more.
func metaCharset(data []byte) string {
	const prescan = 8 << 10
	z := html.NewTokenizer(bytes.NewReader(data[:min(len(data), prescan)]))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			switch string(name) {
			case "body":
				return ""
			case "meta":
				if label := metaTag(z, more); label != "" {
					return label
				}
			}
		}
	}
}

func metaTag(z *html.Tokenizer, more bool) string {
	var content string
	var declares bool
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "charset":
			return string(value)
		case "http-equiv":
			declares = strings.EqualFold(string(value), "content-type")
		case "content":
			content = string(value)
		}
	}
	if !declares {
		return ""
	}
	at := strings.Index(strings.ToLower(content), "charset")
	if at < 0 {
		return ""
	}
	value, ok := strings.CutPrefix(strings.Trim(content[at+len("charset"):], whiteSpace), "=")
	if !ok {
		return ""
	}
	value, _, _ = strings.Cut(value, ";")
	return strings.Trim(value, whiteSpace+`"'`)
}

// ContainsFold reports whether b contains s in any case of ASCII. S is in lower case.
func ContainsFold(b []byte, s string) bool {
	first := s[:1]
	if upper := strings.ToUpper(first); upper != first {
		first += upper
	}
	for {
		at := bytes.IndexAny(b, first)
		if at < 0 || len(b)-at < len(s) {
			return false
		}
		if strings.EqualFold(string(b[at:at+len(s)]), s) {
			return true
		}
		b = b[at+1:]
	}
}
