package webpage

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/xmlscan"
)

const whiteSpace = " \t\n\r\f"

// A decoder decodes one document.
type decoder struct{ report func(value, message string) }

// Decode returns an HTML document in UTF-8. A byte-order mark counts first, then charset,
// the encoding of the HTTP header, then that of a <meta>. If none is stated, it is UTF-8
// if all bytes are, else Windows-1252. Report receives values and what is wrong with
// them.
func Decode(data []byte, charset string, report func(value, message string)) []byte {
	d := decoder{report: report}
	switch {
	case bytes.HasPrefix(data, []byte(document.ByteOrderMark)):
		return d.valid(data[len(document.ByteOrderMark):])
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return d.decodeUTF16(data[2:], binary.BigEndian)
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return d.decodeUTF16(data[2:], binary.LittleEndian)
	}
	for _, label := range [...]string{charset, metaCharset(data)} {
		label = strings.Trim(label, whiteSpace)
		switch lower := strings.ToLower(label); {
		case label == "":
			continue
		case lower == "utf-8", lower == "utf8", lower == "unicode-1-1-utf-8":
			return d.valid(data)
		case strings.HasPrefix(lower, "utf-16"): // a header in ASCII contradicts it: HTML §13.2.3.2
			return d.valid(data)
		default:
			if web := webCharset(lower); web != nil {
				return web.decode(data)
			}
			d.report(label, "the encoding is not known, or not supported")
		}
	}
	if utf8.Valid(data) {
		return data
	}
	return webCharset("windows-1252").decode(data)
}

// valid replaces what is not UTF-8.
func (d *decoder) valid(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	d.report("", "bytes that are not UTF-8 become U+FFFD")
	return bytes.ToValidUTF8(data, []byte("\uFFFD"))
}

func (d *decoder) decodeUTF16(data []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	if len(data)%2 > 0 {
		d.report("", "half of a character at the end")
	}
	return []byte(string(utf16.Decode(units)))
}

// A charset has the character of each byte.
type charset [256]rune

// webCharset returns the table of a single-byte encoding by its label. On the web,
// ISO-8859-1 and ASCII are Windows-1252, and ISO-8859-9 is Windows-1254 (Encoding §4.2).
func webCharset(label string) *charset {
	switch label {
	case "iso-8859-1", "iso8859-1", "iso88591", "latin1", "l1", "us-ascii", "ascii":
		label = "windows-1252"
	case "iso-8859-9", "iso8859-9", "latin5":
		label = "windows-1254"
	}
	table := xmlscan.Charmap(label)
	if table == nil {
		return nil
	}
	c := new(charset)
	for i := range c {
		c[i] = table.DecodeByte(byte(i))
		if c[i] == utf8.RuneError && i < 0xA0 {
			c[i] = rune(i) // the web keeps the control characters
		}
	}
	return c
}

func (c *charset) decode(data []byte) []byte {
	out := make([]byte, 0, len(data)+len(data)/8)
	for _, b := range data {
		out = utf8.AppendRune(out, c[b])
	}
	return out
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
