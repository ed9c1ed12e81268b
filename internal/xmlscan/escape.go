package xmlscan

import (
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/websync-go/websync/internal/syntax"
)

// AppendText appends s to dst, escaped as text. A character that XML cannot carry is an
// error; dst is then returned as it was. What is between the length and the capacity of
// the result may have been written to.
func AppendText(dst []byte, s string) ([]byte, error) { return escape(dst, view(s), inText) }

// AppendAttr appends an attribute to dst. start is all that precedes its value, such as
// ` href="`. Instead of a value that XML cannot carry it appends an empty one, and returns
// an error.
func AppendAttr(dst []byte, start, value string) ([]byte, error) {
	dst, err := escape(append(dst, start...), view(value), inValue)
	return append(dst, '"'), err
}

// IsPlain reports whether AppendText returns s as it is, and s has no line ends and tabs.
func IsPlain(s string) bool { return textStops.clean(view(s)) == len(s) }

// view returns the bytes of s, which must not be changed.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

func escape(dst, src []byte, where where) ([]byte, error) {
	from := len(dst)
	for {
		n := where.clean(src)
		dst = append(dst, src[:n]...)
		if src = src[n:]; len(src) == 0 {
			return dst, nil
		}
		switch c := src[0]; c {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '"':
			dst = append(dst, "&quot;"...)
		case '\r':
			dst = append(dst, "&#13;"...)
		case '\n': // in a value: it would become a space
			dst = append(dst, "&#10;"...)
		case '\t':
			dst = append(dst, "&#9;"...)
		default:
			return dst[:from], badCharacter(src)
		}
		src = src[1:]
	}
}

// badCharacter names the first character of b that XML cannot carry.
func badCharacter(b []byte) error {
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		if c == utf8.RuneError && n == 1 {
			return fmt.Errorf("xml: byte %#x is not UTF-8", b[0])
		}
		if !syntax.IsXMLCharacter(c) {
			return fmt.Errorf("xml: character %s is not allowed in XML", hex(c))
		}
		b = b[n:]
	}
	return nil
}
