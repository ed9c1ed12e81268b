package anyfeed

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"

	"github.com/websync-go/websync/internal/document"
)

var (
	declaration = regexp.MustCompile(`^<\?xml\s[^>]*\?>`)
	encoding    = regexp.MustCompile(`\sencoding\s*=\s*["']([^"'<>]*)["']`)
	reference   = regexp.MustCompile(`&#(?:[0-9]+|x[0-9a-fA-F]+);`)
)

// utf8 returns a document in UTF-8. It replaces the bytes before the first character, and
// the XML declaration, which names the old encoding, with white space. Line numbers stay
// the same.
func (p *parser) utf8(data []byte) []byte {
	data, wide := narrow(data)
	data = bytes.TrimPrefix(data, []byte(document.ByteOrderMark))
	start, end, label := prologue(data)
	blank(data[start:end])
	if at := start - len("\n"); at > 0 && len(bytes.TrimSpace(data[:at])) > 0 {
		p.find(ruleLeftOut, "", string(bytes.TrimSpace(data[:at])), "lines before the XML declaration")
		blank(data[:at])
	}
	switch e, name := charset.Lookup(label); {
	case wide, strings.HasPrefix(name, "utf-"):
	case e != nil:
		if text, err := e.NewDecoder().Bytes(data); err == nil {
			data = text
		}
	case label != "":
		p.find(ruleBytes, "", label, "an encoding that is not known; read as UTF-8")
	case !utf8.Valid(data):
		p.find(ruleBytes, "", "", "neither UTF-8 nor an encoding that is stated; read as Windows-1252")
		latin, _ := charset.Lookup("windows-1252")
		if text, err := latin.NewDecoder().Bytes(data); err == nil {
			data = text
		}
	}
	return p.clean(data)
}

// narrow turns UTF-16 into UTF-8.
func narrow(data []byte) (text []byte, wide bool) {
	order := unicode.LittleEndian
	switch {
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}), bytes.HasPrefix(data, []byte{0, '<'}):
		order = unicode.BigEndian
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{'<', 0}):
	default:
		return data, false
	}
	text, err := unicode.UTF16(order, unicode.UseBOM).NewDecoder().Bytes(data)
	if err != nil {
		return data, false
	}
	return text, true
}

// prologue finds the XML declaration near the start of a document, and the encoding that
// it names.
func prologue(data []byte) (start, end int, label string) {
	const far = 4 << 10
	head := data[:min(len(data), far)]
	start = len(head) - len(bytes.TrimLeft(head, " \t\r\n"))
	if at := bytes.Index(head, []byte("\n<?xml ")); at >= 0 && !document.StartsAsXML(head) {
		start = at + len("\n")
	}
	found := declaration.Find(head[start:])
	if m := encoding.FindSubmatch(found); m != nil {
		label = string(m[1])
	}
	return start, start + len(found), label
}

func blank(b []byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
}

// clean replaces what makes a parser fail.
func (p *parser) clean(data []byte) []byte {
	replaced := 0
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\ufffd"))
		replaced++
	}
	if bytes.ContainsFunc(data, isForbidden) {
		data = bytes.Map(func(r rune) rune {
			if isForbidden(r) {
				return utf8.RuneError
			}
			return r
		}, data)
		replaced++
	}
	if !isJSON(data) {
		data = reference.ReplaceAllFunc(data, func(ref []byte) []byte {
			if !isForbidden(referred(ref)) {
				return ref
			}
			replaced++
			return []byte("\ufffd")
		})
	}
	if replaced > 0 {
		p.find(ruleBytes, "", "", "what is no character became U+FFFD")
	}
	return data
}

// isForbidden reports whether XML does not allow a character (XML 1.0 §2.2).
func isForbidden(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff
}

// referred returns the character of a character reference; U+FFFD if there is none.
func referred(ref []byte) rune {
	digits, base := string(ref[2:len(ref)-1]), 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseInt(digits, base, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

func isJSON(text []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) }
