package patch

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/websync-go/websync/internal/jsonscan"
)

// The functions of this file take JSON that is valid and compact.

// A child is where an element or a member stands in a text.
type child struct {
	start    int // of the name; of an element, from
	from, to int // of the value
}

func (c child) name(text []byte) []byte  { return text[c.start : c.from-1] }
func (c child) value(text []byte) []byte { return text[c.from:c.to] }
func (c child) plus(n int) child         { return child{c.start + n, c.from + n, c.to + n} }

// children returns the children of an object or array.
func children(text []byte) iter.Seq[child] {
	return func(yield func(child) bool) {
		for i := 1; i < len(text)-1; i++ { // i++ passes the comma
			c := child{start: i, from: i}
			if text[0] == '{' {
				c.from = after(text, i) + 1
			}
			c.to = after(text, c.from)
			if !yield(c) {
				return
			}
			i = c.to
		}
	}
}

// after returns the position after the value that begins at i.
func after(text []byte, i int) int {
	for depth := 0; ; {
		switch text[i] {
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':':
			i++
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i++
		default:
			for i < len(text) && text[i] != ',' && text[i] != ']' && text[i] != '}' {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
}

// kind returns the first byte of a value, '0' of a number.
func kind(value []byte) byte {
	if b := value[0]; b != '-' && (b < '0' || b > '9') {
		return b
	}
	return '0'
}

// unquote returns the text of a string.
func unquote(quoted []byte) string {
	return string(jsonscan.AppendUnquoted(nil, string(quoted[1:len(quoted)-1])))
}

// quote is the reverse of unquote. It escapes only what must be.
func quote(s string) []byte {
	b := []byte{'"'}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' && bytes.IndexByte(jsonscan.Escapes[:], c) > 0:
			b = append(b, '\\', byte(bytes.IndexByte(jsonscan.Escapes[:], c)))
		case c < ' ':
			b = fmt.Appendf(b, `\u%04x`, c)
		case c == 0xed && i+2 < len(s) && s[i+1] >= 0xa0:
			b = fmt.Appendf(b, `\u%04x`, rune(c&0xf)<<12|rune(s[i+1]&0x3f)<<6|rune(s[i+2]&0x3f))
			i += 2
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// equalNumbers reports whether two numbers are equal, however they are written. An
// exponent beyond 32 bits is not compared: such numbers are equal if they are written the
// same.
func equalNumbers(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := parseNumber(a)
	y, okY := parseNumber(b)
	return okX && okY && x == y
}

// A number is ±digits·10^exponent; digits neither begin nor end with 0, and are empty for
// zero.
type number struct {
	negative bool
	digits   string
	exponent int64
}

func parseNumber(text string) (n number, ok bool) {
	rest, negative := strings.CutPrefix(text, "-")
	exponent := ""
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		rest, exponent = rest[:i], rest[i+1:]
	}
	whole, fraction, _ := strings.Cut(rest, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return number{}, true
	}
	e := int64(0)
	if exponent != "" {
		var err error
		if e, err = strconv.ParseInt(exponent, 10, 32); err != nil {
			return number{}, false
		}
	}
	e -= int64(len(fraction))
	short := strings.TrimRight(digits, "0")
	return number{negative, short, e + int64(len(digits)-len(short))}, true
}
